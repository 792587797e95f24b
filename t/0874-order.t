#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# --sort: the same rows in another order, where there is such a column; --color.

# shellcheck source=t/lib/test.sh
. "${top_srcdir:-.}/t/lib/test.sh"

start_target demo
ok "'$PMP' -q -o demo.pb.gz -n 20 -F 20 -p '$target_pid'" "a profile is saved"

# rows FORMAT [OPTION...]: without what stands above them.
rows() {
	format=$1
	shift
	"$PMP" -q -f "$format" "$@" demo.pb.gz >out 2>err || diag "$(cat err)"
	case $format in
	pmp) cat out ;;
	*) sed 1,3d out ;;
	esac
}

# descending COLUMN: are the numbers of rows?
descending() {
	awk -v column="$1" 'NR > 1 && $column > last { bad = 1 } { last = $column } END { exit bad || NR < 3 }'
}

for format in flat threads pmp; do
	rows "$format" | sort >usual
	for column in usual self total samples cpu tid name state; do
		rows "$format" --sort "$column" >sorted
		ok "sort sorted | cmp - usual" "$format, $column: the same rows"
	done
done
ok "rows flat --sort total | descending 4" "flat by total"
ok "rows flat --sort self | descending 3" "flat by self"
is "$(rows flat --sort self)" "$(rows flat)" "which is the usual order"
is "$(rows flat --sort name | awk '{ print $7 }')" \
	"$(rows flat | awk '{ print $7 }' | LC_ALL=C sort)" "flat by name"
ok "rows threads --sort cpu | descending 3" "threads by CPU time"
ok "rows threads --sort samples | descending 2" "threads by samples"
is "$(rows threads --sort name | awk '{ print $8 }')" \
	"$(rows threads | awk '{ print $8 }' | LC_ALL=C sort)" "threads by name"
is "$(rows threads --sort tid)" "$(rows threads)" "threads by id, as usual"
ok "rows pmp --sort samples | descending 1" "pmp by samples"
is "$(rows pmp --sort name | sed 's/^ *[0-9]* //')" \
	"$(rows pmp | sed 's/^ *[0-9]* //' | LC_ALL=C sort)" "pmp by name"

"$PMP" -f folded --sort tid demo.pb.gz >out 2>err
is "$?" 0 "a format without such a column"
is "$(cat err)" "pmp: the format folded has no such column: --sort changes nothing
hint: formats with such columns: flat (self total name), threads (tid samples cpu name), pmp (samples name)" \
	"is reported"
is "$("$PMP" -q -f folded --sort tid demo.pb.gz 2>&1 >/dev/null)" "" "not with -q"
"$PMP" -f flat --sort name --diff demo.pb.gz demo.pb.gz >out 2>err
like "$(cat err)" '^pmp: a comparison has its own order: --sort has no effect$' \
	"a comparison, too"

"$PMP" -f folded -n 1 --sample-type cpu -p "$target_pid" >out 2>err
is "$?" 0 "--sample-type with a process"
is "$(cat err)" "pmp: --sample-type is for saved profiles and --heap: it changes nothing" \
	"--sample-type with a process: reported"

# Colours.
escape=$(printf '\033')
"$PMP" --color always none.pb.gz 2>err
like "$(cat err)" "^$escape\[1mpmp:$escape\[m cannot open none.pb.gz: " "--color=always"
like "$(cat err)" "^$escape\[1mhint:$escape\[m to profile" "also the hint"
NO_COLOR=1 "$PMP" --color always none.pb.gz 2>err
like "$(cat err)" "$escape" "even with NO_COLOR"
"$PMP" none.pb.gz 2>err
unlike "$(cat err)" "$escape" "auto: not in a file"
if command -v script >/dev/null; then
	# terminal ARG...: what pmp says on one.
	terminal() {
		TERM=xterm script -qec "$PMP -f folded $* none.pb.gz" /dev/null </dev/null
	}
	like "$(terminal)" "^$escape\[1mpmp:$escape\[m cannot" "auto: on a terminal"
	unlike "$(terminal --color never)" "$escape" "never: not there either"
	unlike "$(NO_COLOR=1 terminal)" "$escape" "auto with NO_COLOR"
	# The view: bold and reverse are no colours.
	if command -v tmux >/dev/null; then
		for when in always never; do
			tmux -L "pmp$$$when" -f /dev/null new-session -d -x 90 -y 20 \
				"TERM=xterm-256color $PMP --sort name --color $when $PWD/demo.pb.gz"
			ok "wait_for \"tmux -L pmp$$$when capture-pane -p | grep -q STACK\"" "the view, $when"
			# The last line is the last to be drawn.
			wait_for "tmux -L pmp$$$when capture-pane -p | grep -q '^? help'"
			tmux -L "pmp$$$when" capture-pane -pe >"view.$when"
			tmux -L "pmp$$$when" kill-server
		done
		like "$(cat view.always)" "$escape\[3[1-7]m" "has colours"
		unlike "$(cat view.never)" "$escape\[([0-9;]*;)?3[1-7]m" "has none"
		is "$(sed -n '/STACK/,/---/{s/^.* \([^ ]*<.*\)$/\1/p}' view.never | sed "s,<.*,,")" \
			"$(sed -n '/STACK/,/---/{s/^.* \([^ ]*<.*\)$/\1/p}' view.never | sed "s,<.*,," | LC_ALL=C sort)" \
			"the view is sorted as well"
	fi
else
	skip "no script"
fi
done_testing

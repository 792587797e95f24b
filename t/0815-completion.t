#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Completion in bash, zsh and fish: what they offer for a line of pmp, and that all three
# know each option.
#
# shellcheck disable=SC2016

# shellcheck source=t/lib/test.sh
. "${top_srcdir:-.}/t/lib/test.sh"

scripts=$top_srcdir/completion
mkdir bin files
ln -s "$PMP" bin/pmp
PATH=$tmp/bin:$PATH
export PATH
: >files/server.pb.gz
: >files/server.txt
mkdir files/older
cd files || exit 99
HOME=$tmp
XDG_CONFIG_HOME=$tmp
XDG_DATA_HOME=$tmp
export HOME XDG_CONFIG_HOME XDG_DATA_HOME

start_target demo
demo=$target_pid
pmp --help | sed -n 's/^ *\(-., \)\{0,1\} *\(--[a-z-]*\).*/\2/p' | sort >"$tmp/options"
formats=$(pmp --help | sed -n '/^Formats:/,/^$/s/^  \([a-z]*\).*/\1/p' | sort | tr '\n' ' ')
ok "[ $(wc -l <"$tmp/options") -gt 25 ]" "options were found"

is "$(pmp --list-options | awk -F '\t' 'NF != 5')" "" "--list-options: five fields each"
is "$(pmp --list-options | cut -f 2 | sort)" "$(cat "$tmp/options")" "--list-options has those of --help"
unlike "$(pmp --help)" 'list-options' "is not one of them"

# What a shell offers for a line, sorted, without descriptions: offers LINE.
bash_offers() {
	bash --norc -c '
		. "$1/pmp.bash"
		read -r -a COMP_WORDS <<<"$2"
		case $2 in *" ") COMP_WORDS+=("") ;; esac
		COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
		_pmp pmp
		printf "%s\n" "${COMPREPLY[@]%% (*}"' - "$scripts" \
		"$(echo "$1" | sed 's/\(--[a-z]*\)=/\1 = /')"
}

fish_offers() {
	fish --no-config -c '
		source $argv[1]/pmp.fish
		complete -C $argv[2]' "$scripts" "$1" 2>&1 | cut -f 1 | sed 's/^--[a-z]*=//; s,/$,,'
}

# Any user may give a process such a name: it is offered quoted, and nothing of it is run.
mkfifo "$tmp/never"
exec 7<>"$tmp/never"
for name in '$(>ran)' '`>ran`' 'a;>ran;' "a' >ran '" 'a[$(>ran)]' 'a b'; do
	sh -c 'printf %s "$1" >"/proc/$$/comm"; read line' - "$name" <&7 &
	named=$!
	test_pids="$test_pids $named"
	wait_for '[ "$(cat "/proc/$named/comm")" = "$name" ]'
	quoted=$(bash -c 'printf %q "$1"' - "$name")
	is "$(bash_offers 'pmp --name ' | grep -cFx -e "$quoted")" 1 "bash: the name $name, quoted"
	unlike "$(bash_offers "pmp -p $named"; bash_offers "pmp -p ")" '[$;`]' "bash: no id has it"
	ok "[ ! -e ran ]" "bash: nothing of $name is run"
	kill -KILL "$named"
done
exec 7<&-

# zsh completes in its line editor only: one in a terminal, which tmux plays, writes into
# a file what is added for completion.
zsh_begin() {
	cat >"$tmp/setup" <<-END
		fpath=($scripts \$fpath)
		autoload -U compinit
		compinit -u -D
		LISTMAX=9999
		compadd() {
			local -a found
			if [[ " \${(j: :)@[1,(i)--]} " != *' '-[a-zA-Z]#[OAD]' '* ]]; then
				builtin compadd -O found "\$@"
				print -rl -- \$found >>$tmp/offers
			fi
			builtin compadd "\$@"
		}
		tab() { zle complete-word; print -n >$tmp/over }
		zle -N tab
		bindkey '^I' tab
		print -n >$tmp/over
	END
	tmux -L "pmp$$" -f /dev/null new-session -d -s pmp -x 200 -y 100 "exec zsh -f -i"
	tmux -L "pmp$$" send-keys -t pmp ". $tmp/setup" Enter
	wait_for '[ -e "$tmp/over" ]'
}

zsh_offers() {
	rm -f "$tmp/over"
	: >"$tmp/offers"
	tmux -L "pmp$$" send-keys -t pmp C-c C-l
	tmux -L "pmp$$" send-keys -t pmp -l "$1"
	tmux -L "pmp$$" send-keys -t pmp Tab
	wait_for '[ -e "$tmp/over" ]'
	sed 's/[+=]$//; s,/$,,' "$tmp/offers"
}

# as_offered SHELL LINE WORDS TEXT: just these words.
as_offered() {
	is "$("$1_offers" "$2" | sort -u | grep -v '^$' | tr '\n' ' ')" "$3" "$1: $4"
}

each_test() {
	as_offered "$1" 'pmp --sto' '--stop ' "an option"
	is "$("$1_offers" 'pmp --' | grep '^--[a-z]' | sort -u)" "$(cat "$tmp/options")" \
		"$1: every option of --help"
	as_offered "$1" 'pmp --stop ' 'all auto never ' "the words of an option"
	as_offered "$1" 'pmp --stop=n' 'never ' "behind ="
	as_offered "$1" 'pmp -f ' "$formats" "formats"
	as_offered "$1" 'pmp --format s' 'speedscope svg ' "by their first letter"
	like "$("$1_offers" "pmp -p ${demo%?}")" "^$demo\$" "$1: processes behind -p"
	like "$("$1_offers" "pmp -p 1,$demo")" "^(1,)?$demo\$" "$1: the second one"
	like "$("$1_offers" "pmp -t $demo")" "^$demo\$" "$1: threads behind -t"
	like "$("$1_offers" "pmp $demo")" "^$demo\$" "$1: processes without it"
	like "$("$1_offers" 'pmp --name dem')" '^demo$' "$1: names"
	as_offered "$1" 'pmp s' 'server.pb.gz ' "saved profiles, not other files"
	as_offered "$1" 'pmp -o s' 'server.pb.gz server.txt ' "any file behind -o"
	like "$("$1_offers" 'pmp -q -- pm')" '^pmp$' "$1: a command behind --"
	unlike "$("$1_offers" 'pmp -q -- pmp s')" '^--' "$1: and what it takes"
}

for shell in bash zsh fish; do
	if ! command -v "$shell" >/dev/null; then
		skip "no $shell"
	elif [ "$shell" != zsh ]; then
		each_test "$shell"
	elif ! command -v tmux >/dev/null; then
		skip "no tmux"
	else
		zsh_begin
		each_test zsh
		tmux -L "pmp$$" kill-server
	fi
done

done_testing

#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# --kernel: above the functions of a thread that is blocked those of the kernel are the
# ones that the kernel tells, in each format, whoever may see them.
#
# shellcheck disable=SC2119 # options of capture() are optional

# shellcheck source=t/lib/test.sh
. "${top_srcdir:-.}/t/lib/test.sh"
# shellcheck source=t/lib/live.sh
. "$top_srcdir/t/lib/live.sh"

cat /proc/self/stack >/dev/null 2>&1 ||
	skip_all "no /proc/PID/stack, or not for us (CAP_SYS_ADMIN)"
module='[kernel.kallsyms]'

# kernel_of TID: its functions in the kernel, the innermost first, on one line.
kernel_of() {
	sed -n 's/^\[<[^>]*>\] \([^+]*\)+.*/\1/p' "/proc/$target_pid/task/$1/stack" | tr '\n' ' '
}

# shown TID: the same as pmp has shown them.
shown() {
	awk -v tid="$1" -v module="$module" '
	/^Thread / { here = index($0, "(LWP " tid ")") }
	here && /^#/ && $NF == module { printf "%s ", $4 }' raw
}

# order: kernel functions come first in all stacks.
order() {
	awk -v module="$module" '
	/^Thread / { user = 0 }
	/^#/ && $NF != module { user = 1 }
	/^#/ && $NF == module && user { bad = 1 }
	END { exit bad }' raw
}

# compare TEXT: each thread that was not stopped; in $compared how many.
compare() {
	compared=0
	wrong=0
	for tid in "/proc/$target_pid/task"/*; do
		tid=${tid##*/}
		awk -v tid="$tid" '/^Thread / { here = index($0, "(LWP " tid ")") }
			here && /^State / { exit !/(looked at|unchanged)/ }' raw || continue
		[ -n "$(shown "$tid")" ] || continue
		compared=$((compared + 1))
		[ "$(shown "$tid")" = "$(kernel_of "$tid")" ] && continue
		wrong=$((wrong + 1))
		diag "$tid: $(shown "$tid")"
		diag "$tid: $(kernel_of "$tid")"
	done
	ok "[ $compared -ge $2 ] && [ $wrong -eq 0 ] && order" "$1: $compared threads"
}

check_stacks() {
	start_target threads 5 1
	capture --kernel
	compare "what the kernel tells" 4
	capture --kernel -n 3 -i 20ms
	# The last snapshot.
	awk '/^--- snapshot / { text = "" } { text = text $0 "\n" } END { printf "%s", text }' \
		raw >last
	mv last raw
	compare "and once more, unchanged" 4
	capture
	unlike "$(cat raw)" 'kernel\.kallsyms' "nothing of it without the option"
	verdict "undisturbed"
}

# In D nothing is stopped or read: this is what there is to see.
check_disk() {
	start_target vforker 100000
	wait_for "grep -l '^State:.D' /proc/$target_pid/task/*/status" 5
	capture --kernel
	ok "grep -q '^State D' raw && grep -Eq 'in (kernel_clone|_do_fork|wait_for_vfork_done|__x64_sys_vfork|__do_sys_vfork|wait_for_completion[a-z_]*) ' raw" \
		"a thread in D: $(awk -v m="$module" '/^State D/ {d=1} d && $NF == m {print $4; exit}' raw)"
	stop_process "$target_pid"
}

# The leaf is in the kernel then; who waits for work is known by what is below it.
check_idle() {
	start_target threads 5 1
	for what in hide only; do
		capture --idle "$what"
		stacks | sed 's/ .*//' | sort >without
		capture --kernel --idle "$what"
		stacks | sed 's/ .*//' | sort >with
		is "$(cat with)" "$(cat without)" "--idle $what: the same threads"
	done
	capture --kernel --hide-module kernel.kallsyms
	unlike "$(cat raw)" 'kernel\.kallsyms' "--hide-module"
}

check_formats() {
	start_target threads 5 1
	"$PMP" -n 3 -i 20ms --kernel -q -p "$target_pid" -o saved.pb.gz
	name=$(capture --kernel && awk -v m="$module" '$NF == m { print $4; exit }' raw)
	for format in folded pmp pprof svg speedscope perf json flat callgraph; do
		"$PMP" -n 3 -i 20ms --kernel -q -f "$format" -p "$target_pid" -o "live.$format"
		"$PMP" -q -f "$format" saved.pb.gz -o "saved.$format"
		case $format in
		pprof) gzip -dc <live.pprof >live.text && gzip -dc <saved.pprof >saved.text ;;
		*) cp live.$format live.text && cp saved.$format saved.text ;;
		esac
		ok "grep -aq '$name' live.text && grep -aq '$name' saved.text" \
			"$format has $name, live and from a saved profile"
	done
	"$PMP" --raw -q saved.pb.gz >raw
	ok "grep -q '$name () from \[kernel' raw && order" "raw from a saved profile"
	"$PMP" -n 3 -i 20ms --kernel --no-symbols -q -f folded -p "$target_pid" >folded
	ok "grep -q '$name' folded && grep -q '+0x' folded" \
		"the kernel's own names are there without symbols, too"
	ok "[ $(grep -c "from \[kernel" raw) -gt 0 ] && \
		\"$PMP\" -q --diff saved.pb.gz -f pmp saved.pb.gz >/dev/null" "compared with itself"
	verdict "undisturbed"
}

# mixed PMP COUNT: stacks of which the kernel's part belongs to another call than the
# program's, of how many; of more than COUNT, but a busy machine is given up on at last.
mixed() {
	: >folded
	for _ in 1 2 3 4 5; do
		"$1" --kernel -q -F 1000 -d 2 --max-cpu 0 -f folded -p "$target_pid" >>folded
		[ "$(awk '/do_sys_poll|hrtimer_nanosleep/ { n += $NF } END { print n + 0 }' folded)" -le "$2" ] || break
	done
	awk '{
		poll = /do_sys_poll/
		nap = /hrtimer_nanosleep/
		all += $NF * (poll || nap)
		bad += $NF * ((poll && /via_sleep|nanosleep/) || (nap && /poll/))
	} END { print bad + 0, all + 0 }' folded
}

check_together() {
	start_target twocalls 4
	# shellcheck disable=SC2046
	set -- $(mixed "$PMP" 200)
	ok "[ $1 -eq 0 ] && [ $2 -gt 20 ]" "what belongs together: $1 of $2 stacks are mixed"
	verdict "no wait ended early"
	[ -x "$PMP_FAULTY" ] || { skip "no $PMP_FAULTY"; return; }
	start_target twocalls 4
	# shellcheck disable=SC2046
	set -- $(PMP_DEBUG=none PMP_FAULT=believe-peeks mixed "$PMP_FAULTY" 200)
	ok "[ $1 -gt 0 ]" "which is seen when peeks are just believed: $1 of $2"
}

check_nobody() {
	[ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null ||
		{ skip "not root, or no setpriv"; return; }
	chmod 711 "$tmp"
	cp "$PMP" pmp-for-all && chmod 755 pmp-for-all
	start_process setpriv --reuid=65534 --regid=65534 --clear-groups sleep 1000
	wait_for "[ \"\$(cat /proc/$target_pid/comm)\" = sleep ]" 5
	setpriv --reuid=65534 --regid=65534 --clear-groups \
		./pmp-for-all --kernel --raw -p "$target_pid" >raw 2>err
	is $? 0 "who may not see the kernel gets the rest"
	like "$(cat err)" 'cannot read functions of the kernel: Permission denied' "and a message"
	like "$(cat err)" 'hint: run it as root' "that says what to do"
	ok "grep -q '^#0' raw && ! grep -q kallsyms raw" "functions of the program only"
}

run_checks "$@"

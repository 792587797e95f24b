#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The tests themselves: faults are planted into pmp (libpmp/base/fault.h), and the test
# that is there for each has to fail. A test that a faulty pmp passes is no test.

# shellcheck source=t/lib/test.sh
. "${top_srcdir:-.}/t/lib/test.sh"
# shellcheck source=t/lib/live.sh
. "$top_srcdir/t/lib/live.sh"

[ -x "$PMP_FAULTY" ] || skip_all "no $PMP_FAULTY"

# with_fault NAMES TEST CHECK: the status of the check with these faults.
with_fault() {
	printf '#!/bin/sh\nPMP_FAULT=%s exec "%s" "$@"\n' "$1" "$PMP_FAULTY" >faulty
	chmod +x faulty
	PMP=$tmp/faulty PMP_JUDGE_FAULT=$1 PMP_REQUIRE=0 PMP_KILLS=3 timeout 120 \
		"$(sed -n "1s/^#!//p" "$top_srcdir/t/$2")" "$top_srcdir/t/$2" "$3" >log 2>&1
}

# caught FAULT[,FAULT] TEST CHECK: within three runs, for what a fault does can depend on
# the moment. no-look, as a second one, is no fault: threads that could be looked at are
# stopped.
caught() {
	if ! grep -aq "${1%,*}" "$PMP_FAULTY"; then
		ok false "$1 is planted"
		return
	fi
	for _ in 1 2 3; do
		with_fault "$1" "$2" "$3"
		grep -q '# SKIP\|^not ok' log && break
	done
	if grep -q '# SKIP' log; then
		skip "$1: $(sed -n 's/.*# SKIP //p' log | head -n 1)"
		return
	fi
	ok "grep -q '^not ok' log" "$1: $2 $3 fails" || diag "$(tail -n 30 log)"
}

check_none() {
	for pair in 0730-noharm.t:chain 0760-eintr.t:seccomp 0750-states.t:stopped; do
		ok "with_fault none ${pair%:*} ${pair#*:}" "no fault: $pair passes" ||
			diag "$(cat log)"
	done
}

check_signals() { caught detach-no-signal 0730-noharm.t signal; }
check_cont() { caught cont 0730-noharm.t waits; }
check_reap() { caught no-reap 0750-states.t reaped; }
check_late() { caught late-forget,no-look 0750-states.t late; }
check_fragile() { caught stop-fragile 0760-eintr.t asleep; }
check_seccomp() { caught stop-seccomp 0760-eintr.t seccomp; }
check_repair() { caught no-repair 0760-eintr.t race; }
check_long() { caught hold-long 0730-noharm.t waits; }
check_attach() { caught attach-stop 0730-noharm.t parent; }
check_cache() { caught stale-cache 0710-stacks.t reload; }
check_rule() { caught wrong-rule 0710-stacks.t plain; }
check_exec() { caught stale-cache 0747-unchanged.t exec; }
check_root() { caught own-root 0770-content.t mount_namespace; }
check_path() { caught believe-path 0770-content.t replaced; }
check_looks() { caught believe-looks 0746-pairs.t plain; }
check_complete() { caught no-look 0745-looks.t asleep; }
check_learn() { caught learn-anything 0745-looks.t varying; }
check_pc() { caught believe-pc 0746-pairs.t plain; }
check_close() { caught restart-close,stop-fragile 0776-close.t stopped; }
check_rest() { caught believe-rest 0746-pairs.t resting; }
check_base() { caught base-from-stop 0746-pairs.t plain; }
check_call() { caught stale-call 0746-pairs.t plain; }
check_deadline() { caught no-deadline,no-look 0750-states.t late; }

run_checks "$@"

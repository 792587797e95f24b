#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The tests of the program: as 0790, with faults planted into pmp/.

# shellcheck source=t/lib/test.sh
. "${top_srcdir:-.}/t/lib/test.sh"
# shellcheck source=t/lib/live.sh
. "$top_srcdir/t/lib/live.sh"

[ -x "$PMP_FAULTY" ] || skip_all "no $PMP_FAULTY"

# shellcheck source=t/lib/mutants.sh
. "$top_srcdir/t/lib/mutants.sh"

check_fsync() { caught no-fsync 0830-output.t '' 'a file is synced before it has its name'; }
check_in_place() { caught write-in-place 0830-output.t '' 'killed: the good file survives'; }
check_links() { caught follow-links 0830-output.t '' 'a directory that is a link'; }
check_boundary() { caught skip-boundary 0832-every.t '' 'a file each 0.2 s'; }
check_rotate() { caught rotate-newest 0832-every.t '' 'keeps the last ones'; }
check_config() {
	caught believe-config 0836-config.t '' 'root does not believe somebody else.s file'
}
check_pause() { caught no-pause 0840-signals.t '' 'TSTP: the sampler takes no snapshot'; }
check_status() { caught lose-status 0850-command.t '' 'its (status|signal): '; }
check_adopted() { caught no-adopted-reap 0855-children.t daemon 'what has ended is reaped'; }
check_hastily() { caught kill-hastily 0860-supervisor.t '' 'the sampler is stopped for a moment'; }
check_heap_reader() { caught heap-patience 0944-objects-view.t dies 'or it does not answer'; }
check_user() { caught any-user 0780-who.t name '--user (root|nobody)'; }
check_own_fetcher() {
	caught forget-own 0855-children.t fetcher 'it is not taken for a child'
}

run_checks "$@"

#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The tests of the server: as 0790, with faults planted into pmp/.

# shellcheck source=t/lib/test.sh
. "${top_srcdir:-.}/t/lib/test.sh"
# shellcheck source=t/lib/live.sh
. "$top_srcdir/t/lib/live.sh"

[ -x "$PMP_FAULTY" ] || skip_all "no $PMP_FAULTY"

# shellcheck source=t/lib/mutants.sh
. "$top_srcdir/t/lib/mutants.sh"

check_server_calls() { caught server-unfiltered 0947-serve.t '' 'and may ask the kernel for little'; }
check_writer() { caught writer-rights 0954-serve-heavy.t profile 'whoever writes it has no rights'; }
check_pages() { caught page-in-front 0954-serve-heavy.t pages "one writer made it"; }
check_heap_pages() {
	caught heap-in-front 0954-serve-heavy-heap.t "" "another process writes /heap"
}
check_names() {
	caught names-in-front 0954-serve-fetch.t "" "while a file is fetched /healthz is answered"
}
check_own() { caught forget-own 0954-serve-heavy-heap.t "" "it is not taken for a child"; }
check_alone() { caught page-alone 0954-serve-heavy.t pages "one writer made it"; }

run_checks "$@"

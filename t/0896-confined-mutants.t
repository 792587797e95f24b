#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The tests of processes without rights, and of what they read: as 0790, with faults planted into
# pmp/.

# shellcheck source=t/lib/test.sh
. "${top_srcdir:-.}/t/lib/test.sh"
# shellcheck source=t/lib/live.sh
. "$top_srcdir/t/lib/live.sh"

[ -x "$PMP_FAULTY" ] || skip_all "no $PMP_FAULTY"

# shellcheck source=t/lib/mutants.sh
. "$top_srcdir/t/lib/mutants.sh"

check_fetch() {
	caught fetch-rights 0864-confined.t fetcher_tries 'it can write nowhere else'
}
check_reader() { caught reader-lies 0859-saved-reader.t same 'raw: the same status'; }
check_reader_ends() { caught reader-crash 0859-saved-reader.t heap 'a heap: the same status'; }
check_core_reader() { caught core-lies 0858-core-reader.t same 'raw: the same status'; }
check_saved_gives() { caught give-named 0859-saved-reader.t named 'it is not given'; }
check_core_gives() { caught give-anything 0858-core-reader.t strange 'it is not given'; }
check_core_opens() { caught open-anything 0858-core-reader.t strange 'it is not opened'; }
check_core_frames() { caught all-frames 0875-hostile-cores.t deep "none does harm"; }
check_core_reader_ends() { caught reader-crash 0858-core-reader.t missing 'without its program: the same'; }
check_sampler_calls() {
	caught sampler-unfiltered 0864-confined.t sampler 'the sampler has a filter of system calls'
}
check_sampler_rights() {
	caught sampler-rights 0864-confined.t rights 'the sampler keeps six capabilities'
}
check_front_rights() {
	caught front-rights 0864-confined.t front 'a file: what is left to the front'
}
check_sampler_parses() {
	caught sampler-parses 0864-confined.t sampler_parses 'call-frame information that is packed'
}
check_unpacker() { caught unpacker-rights 0864-confined.t unpacker 'it cannot: '; }
check_fetch_path() {
	caught fetch-any-path 0864-confined.t fetcher_path 'it is not opened'
}

run_checks "$@"

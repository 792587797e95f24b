#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A close that a stop makes fail has closed its file: it is never begun again, as the
# descriptor may be another file by then.

# shellcheck source=t/lib/hangfs.sh
. "${top_srcdir:-.}/t/lib/hangfs.sh"
build closer "$live_target/closer.c" || skip_all "cannot compile a target"

# Who is asleep in close is not stopped, but with a planted fault that stops all.
check_close() {
	serve flush || { skip "no file system can be mounted here: $(head -n 1 "$target_err")"; return; }
	start_target ./closer fs/file
	ok "'$PMP' -q -f folded --stop=all -n 300 -i 1ms --max-stop 1s -p $target_pid >out 2>err" \
		"300 snapshots of a thread that closes" || diag "$(cat err)"
	ok "grep -q ';close_one;' out" "it was met there"
	verdict "nothing was closed twice"
	diag "$(grep ^closed "$target_out")"
	unserve
}

check_stopped() {
	[ -x "$PMP_FAULTY" ] || { skip "no $PMP_FAULTY"; return; }
	serve flush || { skip "no file system can be mounted here: $(head -n 1 "$target_err")"; return; }
	start_target ./closer fs/file
	PMP_FAULT=stop-disturbed${PMP_JUDGE_FAULT:+,$PMP_JUDGE_FAULT} "$PMP_FAULTY" -q -f folded \
		--stop=all -n 300 -i 1ms --max-stop 1s -p "$target_pid" >out 2>err
	verdict "nothing was closed twice by a pmp that stops it nevertheless"
	ok "! grep -q '^closed .* interrupted 0\$' '$target_out'" \
		"but some were interrupted: $(grep ^closed "$target_out")"
	unserve
}

run_checks "$@"

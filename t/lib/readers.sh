# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0-or-later
# For tests of the processes that read core files and saved profiles.

# reader_fault FILE FAULT REASON: a process that does that while it reads FILE; "" if all is
# read all the same, which is in expected.
reader_fault() {
	PMP_FAULT=$2 timeout 120 "$PMP_FAULTY" -f folded "$1" </dev/null >out 2>err
	status=$?
	if [ -z "$3" ]; then
		is "$status" 0 "$2: the attempt fails, and it goes on"
		ok "cmp -s out expected" "all is there"
		return
	fi
	is "$status" 2 "$2: status 2"
	like "$(cat err)" "cannot read .*$1: the process that reads files $3" "the reason"
	like "$(cat err)" 'no-sandbox reads it in pmp itself' "with a hint"
	is "$(wc -l <out | tr -d ' ')" 0 "nothing is written"
}

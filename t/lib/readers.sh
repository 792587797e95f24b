# shellcheck shell=sh disable=SC2154
# SPDX-License-Identifier: GPL-2.0-or-later
# For tests of the processes that read executables, core files and saved profiles.

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

# calls_after: from the file trace, of strace -f, what the first process that reads files does once
# it has its filter, with all of its threads. Into the file after; the process is in $reader. Where
# pmp is not root's, strace cannot read its memory, and so not its name: it is found by its parent.
calls_after() {
	awk -f "$top_srcdir/t/lib/calls.awk" trace >calls
	reader=$(awk '/"pmp-namers"/ { parent = $1 }
		$1 == parent && / (clone|clone3|fork)\(.* = [0-9]+$/ { print $NF; exit }' calls)
	awk -v reader="${reader:-none}" '
		BEGIN { threads[reader] = 1 }
		confined && ($1 in threads) && /^[0-9]+ +clone3?\(.*CLONE_THREAD.* = [0-9]/ { threads[$NF] = 1 }
		{ line[NR] = $0; pid[NR] = $1; since[NR] = confined }
		$1 == reader && /SECCOMP_MODE_FILTER.* = 0$/ { confined = 1 }
		END {
			for (i = 1; i <= NR; i++)
				if (since[i] && (pid[i] in threads))
					print line[i]
		}' calls >after
}

# what_gives: of the calls in after those that opened a file or a connection, changed another
# process or started one. Threads of its own it may have.
what_gives() {
	grep -v CLONE_THREAD after | grep -E '^[0-9]+ +(open|openat|openat2|open_by_handle_at|socket|connect|bind|execve|execveat|clone|clone3|fork|vfork|kill|tkill|tgkill|ptrace|pidfd_open)\(.* = [0-9]'
}

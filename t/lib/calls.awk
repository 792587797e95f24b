# SPDX-License-Identifier: GPL-2.0-or-later
# What strace -f -o has written, each call in one line. Where another process came in between
# a call is in two, of which neither has both its arguments and its result:
#
#	7 openat(AT_FDCWD, "file", O_RDONLY <unfinished ...>
#	7 <... openat resumed>) = 3
#
# The line is where the second was. A call that has not returned is written when its process
# ends, or at the end.

function left(pid)
{
	if (pid in begun)
		print begun[pid] "<unfinished ...>"
	delete begun[pid]
}

/ <unfinished [.][.][.]>$/ {
	left($1)
	begun[$1] = substr($0, 1, length($0) - length(" <unfinished ...>"))
	next
}

# Attached to a process in a call, strace has no first line.
/^[0-9]+ +<[.][.][.] [a-z0-9_]+ resumed>/ {
	print ($1 in begun ? begun[$1] : $1 " " $3 "(") substr($0, index($0, "resumed>") + 8)
	delete begun[$1]
	next
}

/^[0-9]+ +[+][+][+] (exited|killed) / {
	left($1)
}

{
	print
}

END {
	for (pid in begun)
		print begun[pid] "<unfinished ...>"
}

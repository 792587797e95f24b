#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Some hundred mutants of t/fuzz/mutants.py: a program whose files and names are damaged. And
# what that finds if pmp does what it must not.

# shellcheck source=t/lib/test.sh
. "${top_srcdir:-.}/t/lib/test.sh"
need gcc gcore objcopy python3 readelf strace strip
[ "$(uname -m)" = x86_64 ] || skip_all "not x86-64"
mutants=$top_srcdir/t/fuzz/mutants.py

count=300
[ "${PMP_LONG:-0}" = 1 ] && count=10000
timeout 3000 python3 "$mutants" "$PMP" $count >out 2>&1
is $? 0 "$count mutants"
like "$(cat out)" "^$count damaged files: 0 failures, " "none does harm"
diag "$(cat out)"

# does COMMAND: a pmp that does this with what is damaged; it is without fault before.
does() {
	printf '#!/bin/sh\nruns=$(cat "%s" 2>/dev/null)\necho $((runs + 1)) >"%s"\n' \
		"$tmp/runs" "$tmp/runs" >faulty
	printf '[ "${runs:-0}" -lt 16 ] || {\n%s\n}\nexec "%s" "$@"\n' "$1" "$PMP" >>faulty
	chmod +x faulty
	rm -f runs
	timeout 300 python3 "$mutants" "$tmp/faulty" 2 >out 2>&1
	isnt $? 0 "is seen: $1"
	like "$(cat out)" "$2" "as what it is: $1"
}
# shellcheck disable=SC2016 # for the script
does 'kill -SEGV $$' 'status -11'
does 'sleep 11' 'hangs'
echo secret >secret
does "exec 3<'$tmp/secret'" 'opens .*/secret'
ln -s secret link
does "exec 3<'$tmp/link'" 'opens .*/secret'
# shellcheck disable=SC2016 # for the script
does 'exec 3</proc/$PPID/maps' 'opens /proc/[0-9]+/maps'
# Each waits for the other, so strace writes one of these calls in two lines.
mkfifo front
ln front back
does ": >'$tmp/front' & exec 3<'$tmp/back'" 'opens .*/front'
like "$(cat out)" 'opens .*/back' "and the other one"
does 'python3 -c "import socket; socket.socket().connect_ex((\"127.0.0.1\", 1))"' 'connect\(.*AF_INET'
datagram='import socket; s = socket.socket(type=socket.SOCK_DGRAM)'
does "python3 -c '$datagram; s.sendto(b\"x\", (\"127.0.0.1\", 9))'" 'sendto\(.*AF_INET'
does "python3 -c '$datagram; s.sendmsg([b\"x\"], [], 0, (\"127.0.0.1\", 9))'" 'sendmsg\(.*AF_INET'
done_testing

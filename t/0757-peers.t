#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Other processes that threads wait for: of locks of files, pipes, sockets, children, vfork
# and semaphores, --peers finds what the programs themselves know; without it nothing of
# that is read.

# shellcheck source=t/lib/test.sh
. "${top_srcdir:-.}/t/lib/test.sh"
# shellcheck source=t/lib/live.sh
. "$top_srcdir/t/lib/live.sh"
# shellcheck source=t/lib/locks.sh
. "$top_srcdir/t/lib/locks.sh"

need python3

outside='flock|fcntl|ofd|file|pipe|fifo|unix|tcp|wait|vfork|semop|semtimedop|event|poll|queue'

# outside_kinds: those of the targets that wait for something outside, on one line.
outside_kinds() {
	"$top_builddir/t/target/locks" --list | grep -E "^($outside)" | tr '\n' ' '
}

# ready_pid KIND: of the process that waits; nothing where this kind is not to be had.
ready_pid() {
	sed -n 's/^ready //p' "$locks_said/$1"
}

# found KIND ARG...: two snapshots of it, and how they differ from what is true.
found() {
	kind=$1
	shift
	"$PMP" -f json -n 2 -i 20ms -q --peers "$@" -p "$(ready_pid "$kind")" \
		-o found.json 2>err || { cat err; return; }
	python3 "$top_srcdir/t/lib/lock-found.py" glibc 1 "$locks_said/$kind" found.json peers
}

# nothing_differs KIND ARG...: of what is found.
nothing_differs() {
	differences=$(found "$@")
	[ -z "$differences" ]
}

# all_found TEXT ARG...: every kind. On a loaded machine a thread may take longer to fall
# asleep again after a stop than pmp waits for it.
all_found() {
	text=$1
	shift
	# shellcheck disable=SC2034 # of the command below
	options=$*
	while read -r kind; do
		[ -n "$(ready_pid "$kind")" ] || continue
		wait_for 'nothing_differs "$kind" $options' 1
		is "$differences" "" "$text: $kind"
	done <locks.kinds
}

check_found() {
	# shellcheck disable=SC2046
	locks_start "$top_builddir/t/target/locks" $(outside_kinds)
	test_result $? "the targets start"
	all_found "as it is"
	all_found "stopped together" --stop=all
	kill -KILL $locks_pids
}

# same_as_said KIND: what is found of it is what it has said.
same_as_said() {
	grep -q "^ready" "$locks_said/$1" && differences=$(found "$1") && [ -z "$differences" ]
}

check_others() {
	locks_said=$(mktemp -d "$tmp/others.XXXXXX")
	for kind in $("$live_target/peers.py" --list); do
		mkdir "$locks_said/$kind.d"
		(cd "$locks_said" && exec "$live_target/peers.py" "$kind" "$kind.d") \
			>"$locks_said/$kind" 2>&1 &
		other=$!
		test_pids="$test_pids $other"
		differences="it is not ready"
		wait_for 'same_as_said "$kind"' 10
		is "$differences" "" "others: $kind" || diag "$(cat "$locks_said/$kind")"
		[ "$kind" != pipe-own ] ||
			like "$("$PMP" --locks -q -p "$(ready_pid "$kind")")" \
				'[0-9]+ "[^"]*" itself \(fd [0-9]+\) or [0-9]+ .* can write$' \
				"text: an end of its own"
		kill -KILL "$other" 2>/dev/null
		wait "$other" 2>/dev/null
	done
}

# The calls of the sampler that can only be for this.
check_default() {
	command -v strace >/dev/null || { skip "no strace"; return; }
	locks_start "$top_builddir/t/target/locks" flock pipe-read unix wait-any semop
	for kind in flock pipe-read unix wait-any semop; do
		ASAN_OPTIONS=detect_leaks=0 strace -f -o calls -e trace=file,network,semctl \
			"$PMP" -f json -n 2 -i 20ms -q --no-symbols -p "$(ready_pid "$kind")" >found.json 2>err
		is "$(grep -v '"/proc/self/fd/' calls |
			grep -E 'fdinfo|/fd[/"]|/children"|"/proc/locks"|net/(tcp|unix)|SOCK_DIAG|semctl|"/proc/?"')" \
			"" "no --peers: nothing of it is read: $kind"
		is "$(grep -c '"kind"' found.json)" 0 "no --peers: nothing of it is shown: $kind"
	done
	strace -f -o calls -e trace=file,network,semctl \
		"$PMP" -f json -n 1 -q --peers -p "$(ready_pid flock)" >found.json 2>err
	like "$(cat calls)" '"/proc/locks"' "--peers: it is read"
	ASAN_OPTIONS=detect_leaks=0 strace -f -o calls -e trace=file \
		"$PMP" -f json -n 20 -i 1ms -q --max-cpu 100 --peers -p "$(ready_pid unix)" >found.json 2>err
	ok "[ $(grep -c '"net/unix"' calls) -le 3 ]" "--peers: a socket is not asked for in each snapshot"
	is "$(grep -c '"type":"unix"' found.json)" 20 "--peers: but known in each"
	kill -KILL $locks_pids
}

# The kernel says who may see whose descriptors.
check_unprivileged() {
	[ "$(id -u)" = 0 ] || { skip "not root"; return; }
	setpriv --reuid=65534 --regid=65534 --clear-groups true 2>/dev/null || {
		skip "no setpriv"
		return
	}
	mkfifo fifo
	sleep 1000 >fifo &
	writer=$!
	setpriv --reuid=65534 --regid=65534 --clear-groups cat <fifo >said 2>&1 &
	reader=$!
	test_pids="$test_pids $writer $reader"
	wait_for 'grep -q pipe_read "/proc/$reader/wchan"'
	setpriv --reuid=65534 --regid=65534 --clear-groups \
		"$PMP" -f json -n 2 -i 20ms --peers -p "$reader" >found.json 2>err || diag "$(cat err)"
	is "$(grep -c 'processes of other users cannot be looked at' err)" 1 \
		"another user: which is said, once"
	like "$(cat found.json)" '"hidden":[1-9]' "another user: and written"
	like "$(cat found.json)" '"kind":"pipe","type":"fifo"' "another user: the FIFO"
	like "$(cat found.json)" '"sure":"unknown"' "another user: not who could write"
	"$PMP" -f json -n 1 -q --peers -p "$reader" >found.json
	like "$(cat found.json)" "\"pid\":$writer," "root: who could write"
	kill -KILL "$writer" "$reader"
}

# text KIND: -f locks without its title and the target's first thread, which waits for a
# signal; numbers of three digits and more as N, and of a stack the first function.
text() {
	"$PMP" --locks -q -p "$(ready_pid "$1")" 2>&1 | sed '1,4d
		/^  signal$/ { N; N; s/.*signalfd.*/GONE/; }
		s/pmp-locks[^,]*/FILE/; s/[0-9]\{3,\}/N/g; s/[0-9.]* s  waiter/T  waiter/; s/<.*//
		s/   *T/ T/; s/__libc_//; s/fcntl64/fcntl/; s/"waiter"/"child"/
		s/fd [0-9]*/fd F/; s/of set [0-9]*:/of set N:/; s/\(127.0.0.1\):[0-9]*/\1:N/g' |
		sed -z 's/\n\nOTHER WAITS\nGONE//; s/\nGONE//'
}

check_text() {
	# shellcheck disable=SC2046
	locks_start "$top_builddir/t/target/locks" mutex-process $(outside_kinds)
	like "$(text mutex-process)" '^HOLDER N "[a-z]+" of process N: 1 thread waits for it$' \
		"text: a thread of another process"
	is "$(text flock)" 'HOLDER process N "lockowner": 1 thread waits for it
  flock FILE, inode N, held for writing
     1 T  waiter      flock' "text: flock"
	is "$(text fcntl)" 'HOLDER process N "lockowner": 1 thread waits for it
  fcntl FILE, inode N, held for writing
     1 T  waiter      fcntl' "text: fcntl"
	is "$(text ofd)" 'HOLDER process N "lockowner": 1 thread waits for it
  fcntl (OFD) FILE, inode N, held for writing
     1 T  waiter      fcntl' "text: OFD"
	is "$(text pipe-read)" 'OTHER WAITS
  pipe
       1 T  waiter      read
          pipe N: N "peer" can write (fd F)' "text: a pipe"
	is "$(text pipe-write | tail -1)" '          pipe N: N "peer" can read (fd F)' \
		"text: a pipe that is full"
	is "$(text unix | tail -1)" '          unix socket N: N "peer" has the other end (fd F)' \
		"text: a Unix socket"
	is "$(text wait-one | tail -1)" '          the end of a child: N "child"' "text: a child"
	is "$(text wait-any | tail -1)" '          the end of any child: N "child" or N "child"' \
		"text: any child"
	is "$(text vfork | tail -1)" \
		'          a child in vfork, until it executes or ends: N "child"' "text: vfork"
	is "$(text semop | tail -1)" \
		'          semaphore 0 of set N: N "lockowner" operated on it last' "text: a semaphore"
	is "$(text poll-epoll)" 'OTHER WAITS
  poll
       1 T  waiter      epoll_pwait
          epoll of 3 descriptors, fd F' "text: epoll"
	for expected in "event:eventfd, fd F" "event-inotify:inotify, fd F" \
		"event-timer:timerfd, fd F" "event-signal:a signal" \
		"event-sleep:sleep of N.5 s" "poll-two:poll of 2 descriptors" \
		"poll-one:eventfd, fd F" "poll-select:poll" \
		"queue-posix:message queue /FILE, fd F"; do
		is "$(text "${expected%%:*}" | tail -1)" "          ${expected#*:}" \
			"text: ${expected%%:*}"
	done
	like "$(text queue-system-v | tail -1)" '^ {10}message queue [0-9N]+$' \
		"text: queue-system-v"
	like "$(text event-terminal | tail -1)" '^ {10}device /dev/pts/[0-9]+, fd F$' \
		"text: a terminal"
	"$PMP" -n 1 -q --peers -p "$(ready_pid flock)" >out
	like "$(cat out)" ', waits for flock pmp-locks[^ ]* \(deleted\) held by process [0-9]+' \
		"raw: flock"
	"$PMP" -n 1 -q --peers -p "$(ready_pid pipe-read)" >out
	like "$(cat out)" ', waits for pipe [0-9]+$' "raw: a pipe"
	"$PMP" -n 1 -q --peers -p "$(ready_pid event-sleep)" >out
	like "$(cat out)" ', waits for sleep$' "raw: a sleep"
	kill -KILL $locks_pids
}

# Processes that take a lock in turn while others wait for it: whoever is named holds it.
check_turns() {
	cat >turns.py <<-'EOF'
	import ctypes, fcntl, os, signal, sys, time
	os.close(os.open("turns", os.O_RDWR | os.O_CREAT))
	parent = os.getpid()
	def take(time_held):
	    ctypes.CDLL(None).prctl(1, signal.SIGKILL)
	    fd = os.open("turns", os.O_RDWR)
	    while os.getppid() == parent:
	        fcntl.flock(fd, fcntl.LOCK_EX)
	        time.sleep(time_held)
	        fcntl.flock(fd, fcntl.LOCK_UN)
	for i in range(3):
	    if os.fork() == 0:
	        take(0.02 * (i + 1))
	children = open("/proc/self/task/%d/children" % parent).read().split()
	print("ready", *children, flush=True)
	signal.pause()
	EOF
	: >said
	python3 turns.py >said 2>&1 &
	turns=$!
	test_pids="$test_pids $turns"
	wait_for 'grep -q ready said'
	read -r _ one two three <said
	: >found.json
	for _ in $(seq 20); do
		"$PMP" -f json -n 100 -i 5ms -q --max-cpu 100 --peers -p "$one" >>found.json 2>err
		[ "$(grep -c '"peers":' found.json)" -lt 20 ] || break
	done
	# shellcheck disable=SC2086
	found=$(python3 -c '
import json, sys
found, wrong = 0, []
for line in open("found.json"):
    for thread in json.loads(line)["threads"]:
        wait = thread.get("wait", {})
        pids = [peer["pid"] for peer in wait.get("peers", [])]
        found += bool(pids)
        if len(pids) > 1 or not set(pids) <= {int(pid) for pid in sys.argv[1:]}:
            wrong.append(wait)
print("enough" if found >= 10 else found, wrong)' $two $three 2>&1)
	is "$found" "enough []" "turns: one of the others has it, and only one"
	kill -KILL "$turns"
}

# Who waits for a FIFO waits for a writer, which closes it only after that one has run: so
# a thread that slept all the time is never shown without one. To find the writer takes long,
# as it has many descriptors before that one.
check_closes() {
	cat >closes.py <<-'EOF'
	import ctypes, os, resource, time
	parent = os.getpid()
	os.mkfifo("closes")
	heard, say = os.pipe()
	opened, has_opened = os.pipe()
	if os.fork() == 0:
	    ctypes.CDLL(None).prctl(1, 9)
	    limit = min(500, resource.getrlimit(resource.RLIMIT_NOFILE)[1])
	    resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))
	    for i in range(limit - 100):
	        os.dup(0)
	    while os.getppid() == parent:
	        fd = os.open("closes", os.O_WRONLY)
	        os.write(has_opened, b"x")
	        time.sleep(0.08)
	        os.write(fd, b"x")
	        os.read(heard, 1)
	        os.close(fd)
	        time.sleep(0.02)
	children = open("/proc/self/task/%d/children" % parent).read().split()
	print("ready", *children, flush=True)
	while True:
	    fd = os.open("closes", os.O_RDONLY)
	    os.read(opened, 1)
	    os.read(fd, 1)
	    os.write(say, b"x")
	    os.close(fd)
	EOF
	: >said
	python3 closes.py >said 2>&1 &
	reader=$!
	test_pids="$test_pids $reader"
	wait_for 'grep -q ready said'
	read -r _ writer <said
	: >found.json
	for _ in $(seq 20); do
		"$PMP" -f json -n 50 -i 5ms -q --peers -p "$reader" >>found.json 2>err
		[ "$(grep -c '"type":"fifo"' found.json)" -lt 200 ] || break
	done
	found=$(python3 -c '
import json, sys
found, wrong = 0, []
for line in open("found.json"):
    for thread in json.loads(line)["threads"]:
        wait = thread.get("wait", {})
        pids = [peer["pid"] for peer in wait.get("peers", [])]
        if wait.get("type") == "fifo":
            found += 1
            if pids != [int(sys.argv[1])]:
                wrong.append(wait)
print("enough" if found >= 5 else found, wrong[:3])' "$writer" 2>&1)
	is "$found" "enough []" "closes: who can write is found, or nothing is said"
	kill -KILL "$reader"
}

# In its own namespaces: a process that pmp sees by other numbers, and other networks.
check_namespaces() {
	unshare -pf --mount-proc true 2>/dev/null || { skip "no pid namespaces"; return; }
	for kind in wait-one flock pipe-read; do
		start_process "$(command -v unshare)" -pf --mount-proc --kill-child \
			"$top_builddir/t/target/locks" "$kind"
		wait_for "grep -q ^ready '$target_out'"
		inner=$(cat "/proc/$target_pid/task/$target_pid/children")
		inner=${inner% }
		child=$(cat "/proc/$inner/task/$inner/children")
		like "$("$PMP" -f json -n 1 -q --peers -p "$inner")" "\"peers\":\[\{\"pid\":${child% }," \
			"a pid namespace: $kind"
		kill -USR1 "$inner"
		wait "$target_pid"
	done
	command -v ip >/dev/null && unshare -n ip link set lo up 2>/dev/null || {
		skip "no network namespaces"
		return
	}
	locks_said=$(mktemp -d "$tmp/network.XXXXXX")
	for kind in tcp6 tcp-mapped unix-dgram; do
		unshare -n sh -c 'ip link set lo up && exec "$@"' sh \
			"$live_target/peers.py" "$kind" "$locks_said" >"$locks_said/$kind" 2>&1 &
		other=$!
		test_pids="$test_pids $other"
		[ "$kind" != unix-dgram ] || break
		wait_for 'same_as_said "$kind"' 10
		is "$differences" "" "a network namespace: $kind"
		kill -KILL "$other"
	done
	wait_for '"$PMP" --locks -q -p "$other" >out 2>/dev/null && grep -q socket out' 10
	like "$(cat out)" '^ +socket [0-9]+: in another network namespace$' \
		"a network namespace: what cannot be asked from here"
	kill -KILL "$other"
}

# Names that are to do harm: of a file, and of the process that has it.
check_hostile() {
	cat >hostile.py <<-'EOF'
	import fcntl, os, sys
	name = b"pipe:[1]\n\x1b[2J<b>\xff"
	fd = os.open(name, os.O_RDWR | os.O_CREAT, 0o600)
	fcntl.flock(fd, fcntl.LOCK_EX)
	if os.fork() == 0:
	    other = os.open(name, os.O_RDWR)
	    os.close(fd)
	    print("ready", os.getpid(), flush=True)
	    fcntl.flock(other, fcntl.LOCK_EX)
	open("/proc/self/comm", "w").write("a\n\x1b[2J\"")
	os.wait()
	EOF
	: >said
	python3 hostile.py >said 2>&1 &
	holder=$!
	test_pids="$test_pids $holder"
	wait_for 'grep -q ready said'
	waiter=$(sed -n 's/^ready //p' said)
	wait_for 'grep -q lock "/proc/$waiter/wchan"'
	"$PMP" --locks -q -p "$waiter" >out 2>err
	like "$(cat out)" "^HOLDER process $holder \"a" "hostile names: the holder"
	is "$(tr -d '\n -~' <out | wc -c)" 0 "hostile names: nothing raw is printed"
	"$PMP" -f json -n 1 -q --peers -p "$waiter" >found.json
	is "$(python3 -c 'import json
t = json.loads(open("found.json").read())["threads"][0]["wait"]
print(t["peers"][0]["name"] == "a\n\x1b[2J\"", t["type"])' 2>&1)" "True flock" \
		"hostile names: in JSON"
	kill -KILL "$waiter" "$holder"
}

# A lock that a child has inherited: both have it, and who took it may be gone.
check_inherited() {
	command -v flock >/dev/null || { skip "no flock"; return; }
	: >lock
	(flock 9; sleep 1000 & echo "$!" >child; exec sleep 1000) 9>lock &
	first=$!
	wait_for '[ -s child ]'
	second=$(cat child)
	flock lock true &
	waiter=$!
	test_pids="$test_pids $first $second $waiter"
	wait_for 'grep -q lock "/proc/$waiter/wchan"'
	like "$("$PMP" --locks -q -p "$waiter")" \
		'^HOLDER processes [0-9]+ "sleep" \(fd 9\) and [0-9]+ "sleep" \(fd 9\): 1 thread' \
		"inherited: both processes hold it"
	kill -KILL "$first"
	wait "$first" 2>/dev/null
	like "$("$PMP" --locks -q -p "$waiter")" "^HOLDER process $second \"sleep\": 1 thread" \
		"inherited: the other one still does"
	kill -KILL "$second"
	wait "$waiter"
	test_result $? "inherited: then it is released"
}

run_checks "$@"

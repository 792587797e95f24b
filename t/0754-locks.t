#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Who waits for whom, as pmp finds it: in each kind of lock, with and without symbols, in
# dynamic, static and musl programs, the kind, the address and the holder are those that
# the program itself knows; and -f locks says so.

# shellcheck source=t/lib/test.sh
. "${top_srcdir:-.}/t/lib/test.sh"
# shellcheck source=t/lib/live.sh
. "$top_srcdir/t/lib/live.sh"
# shellcheck source=t/lib/locks.sh
. "$top_srcdir/t/lib/locks.sh"

need python3

library=musl
getconf GNU_LIBC_VERSION >/dev/null 2>&1 && library=glibc

# ready_pid KIND: of the process that waits; nothing where this kind is not to be had.
ready_pid() {
	sed -n 's/^ready //p' "$locks_said/$1"
}

# found NAMES KIND ARG...: two snapshots of it, and how they differ from what is true. NAMES: 1 if
# functions have names.
found() {
	names=$1 kind=$2
	shift 2
	"$PMP" -f json -n 2 -i 20ms -q "$@" -p "$(ready_pid "$kind")" -o found.json 2>err ||
		{ cat err; return; }
	python3 "$top_srcdir/t/lib/lock-found.py" "$library" "$names" \
		"$locks_said/$kind" found.json
}

# nothing_differs: see found(); what differs is in $differences.
nothing_differs() {
	differences=$(found "$@")
	[ -z "$differences" ]
}

# found_asleep NAMES KIND ARG...: the same. Who was stopped has to fall asleep again, which takes
# longer under load: then once more, up to 50 times.
found_asleep() {
	for _ in $(seq 50); do
		nothing_differs "$@" && return
		grep -q '"how":"stopped"' found.json || return
	done
}

# all_found PROGRAM TEXT [NAMES [ARG...]]: every kind of it but those that match $unknown, without
# symbols and with those that it has (0: none).
unknown='^$'
all_found() {
	program=$1 text=$2 has_names=${3:-1}
	shift $(($# < 3 ? $# : 3))
	locks_start "$program"
	test_result $? "$text: the targets start"
	while read -r kind; do
		[ -n "$(ready_pid "$kind")" ] || continue
		echo "$kind" | grep -Eq "$unknown" && continue
		found_asleep 0 "$kind" --no-symbols "$@"
		is "$differences" "" "$text: $kind"
		[ "$has_names" = 0 ] || is "$(found 1 "$kind" "$@")" "" "$text: $kind with symbols"
	done <locks.kinds
	# shellcheck disable=SC2086 # a list of ids
	kill -KILL $locks_pids 2>/dev/null
	for pid in $locks_pids; do
		wait "$pid" 2>/dev/null
	done
}

check_c() {
	all_found "$top_builddir/t/target/locks" "C"
}

# A stop interrupts waits; those with a timeout come back as restart_syscall. What is proven
# of a lock after the peek, if its waiter has slept since, stays unknown.
check_stopped() {
	unknown='^(rwlock-second-writer|rwlock-reader-next|ended)$'
	all_found "$top_builddir/t/target/locks" "stopped together" 0 --stop=all
	unknown='^$'
}

check_stripped() {
	strip -o stripped "$top_builddir/t/target/locks"
	all_found ./stripped "stripped"
}

check_static() {
	locks_build static || { skip "static: cannot be built"; return; }
	strip locks-static
	all_found ./locks-static "static and stripped" 0
}

check_musl() {
	locks_build musl || {
		[ -n "$locks_missing" ] && skip "$locks_missing" || ok false "musl-gcc builds"
		return
	}
	library=musl
	all_found ./locks-musl "musl" 0
	library=glibc
}

check_cxx() {
	all_found "$top_builddir/t/target/locks-cxx" "C++"
	all_found "$top_builddir/t/target/locks-cxx" "C++, names as they are stored" 1 --no-demangle
}

check_rust() {
	locks_build rust || {
		[ -n "$locks_missing" ] && skip "$locks_missing" || ok false "rustc builds"
		return
	}
	library=rust
	all_found ./locks-rust "Rust"
	all_found ./locks-rust "Rust, names as they are stored" 1 --no-demangle
	locks_start ./locks-rust rust-rwlock-read rust-rwlock-write
	like "$(text rust-rwlock-read)" '^HOLDER UNKNOWN Rust rwlock .*RWLOCK, N: a writer holds it' \
		"Rust: a rwlock that a writer holds"
	like "$(text rust-rwlock-write)" '^HOLDER UNKNOWN Rust rwlock .*RWLOCK, N: 2 readers hold it' \
		"Rust: and one that readers hold"
	like "$(raw rust-rwlock-read)" 'rwlock X held by a writer$' "Rust, raw: a writer"
	# shellcheck disable=SC2086 # a list of ids
	kill -KILL $locks_pids
	library=glibc
}

# text KIND ARG...: -f locks without its heading, its numbers as N, times as T, and of a stack the first function. What
# locks are called is for t/0445-objects.t, how long threads sleep for t/0757-asleep.t.
text() {
	kind=$1
	shift
	"$PMP" -f locks -q -p "$(ready_pid "$kind")" "$@" 2>&1 |
		sed '/^--- snapshot/d; s/ *[0-9]*\.[0-9] s/ T s/; s/0x[0-9a-f]*/N/g; s/[0-9]\{3,\}/N/g; s/<.*//
			s/\(mutex\|rwlock\) [^:]*N[^:]*/\1 X/'
}

check_text() {
	locks_start "$top_builddir/t/target/locks" mutex-static deadlock self ended chain \
		rwlock-writer-readers condition-static deadlock-join victims before-fork deadlock-rwlock \
		barrier semaphore mutex-released
	is "$(text mutex-static | sed '/^OTHER WAITS/,$d')" 'locks [N]: 3 threads, 1 waits for locks, the holder of 1 is known
No deadlock.

HOLDER N "holder" S, asleep T s: 1 thread waits for it
    pause
  mutex X
       1 T s  waiter      pthread_mutex_lock' "a holder"
	is "$(text deadlock | sed '/^OTHER WAITS/,$d')" 'locks [N]: 3 threads, 2 wait for locks, the holder of 2 is known

DEADLOCK: 2 threads wait for each other
  N "worker-1" waits T s for mutex X
    held by N "worker-2"
    pthread_mutex_lock
  N "worker-2" waits T s for mutex X
    held by N "worker-1"
    pthread_mutex_lock' "a deadlock"
	like "$(text victims)" '^DEADLOCK: 2 threads wait for each other, 3 more wait behind them' \
		"and who waits behind it"
	like "$(text self)" 'DEADLOCK: a thread waits for itself' "a thread that waits for itself"
	like "$(text deadlock-join)" 'waits T s for the end \(join\) of N' "a deadlock with a join"
	like "$(text ended)" '^HOLDER N has ended without unlocking: 1 thread waits for it' \
		"a holder that has ended"
	like "$(text before-fork)" '^HOLDER N "holder" of process N, locked before fork: 1 thread waits for it' \
		"a holder before a fork"
	like "$(text rwlock-writer-readers)" '^HOLDER UNKNOWN rwlock X: 2 readers hold it' \
		"readers are counted"
	like "$(text chain)" '^HOLDER N "root" S, asleep T s: 3 threads wait for it' "a chain: its root"
	like "$(text chain)" 'N "third" of these: 1 waits for it' "its last link"
	like "$(text condition-static)" '^OTHER WAITS
  condition .*
 *1 T s  waiter +pthread_cond_wait' "a condition"
	is "$(text condition-static | grep -c HOLDER)" 0 "which nobody holds"
	like "$(text barrier)" '^OTHER WAITS
  barrier .*: 3 of 4 have come
 *3 T s  waiter +pthread_barrier_wait' "a barrier: how many have come"
	like "$(text semaphore)" '^  semaphore .*: its value is 0$' "a semaphore: its value"
	like "$(text mutex-released)" '^FREE mutex X: the next one has been woken' \
		"a mutex that was free from the first look on"
	like "$(text condition-static --lock-meaning 's/^(wait)_pair$/\1ing room/')" \
		'^HOLDER UNKNOWN condition .*N \(waiting room\)
 *1 T s  waiter' "--lock-meaning says what it is"
	like "$(text deadlock-rwlock --ignore '^lock_write$')" '^HOLDER N, not in this snapshot' \
		"one of its threads is hidden: the others wait for it"
	is "$(text deadlock-rwlock --ignore '^lock_write$' | grep -c 'o deadlock')" 0 \
		"and it is not denied"
	kill -KILL $locks_pids
}

check_snapshots() {
	locks_start "$top_builddir/t/target/locks" mutex-static
	"$PMP" --locks -q -n 2 -i 10ms -p "$(ready_pid mutex-static)" >out
	is "$(sed -n '/^---/s/2[0-9-]*T[0-9:]*\.[0-9]*Z/TIME/p' out)" \
		'--- snapshot 1: TIME ---
--- snapshot 2: TIME ---' "several snapshots: each has its number and its time"
	is "$(awk '/^--- snapshot 2/ { print last "." } { last = $0 }' out)" "." \
		"with an empty line before the second one"
	is "$(sed -n 's/^--- snapshot .: \(.*\) ---/\1/p' out | sort -u | grep -c .)" 2 \
		"and they are different ones"
	is "$(grep -c '^locks \[[0-9]*\]: 3 threads' out)" 2 "each has the line of its process"
	# shellcheck disable=SC2086 # a list of ids
	kill -KILL $locks_pids
}

# Whose functions they are: a plugin's, for instance.
check_modules() {
	locks_start "$top_builddir/t/target/locks" mutex-static
	"$PMP" --locks -q -p "$(ready_pid mutex-static)" >out
	unlike "$(cat out)" '\(locks\)' "modules of functions are not shown by default"
	"$PMP" --locks --module -q -p "$(ready_pid mutex-static)" >out
	like "$(cat out)" '^ .* pthread_mutex_lock\([^()<]+\)<lock\(locks\)<actor_main\(locks\)<' \
		"--module: those of a waiter"
	like "$(cat out)" '^    pause\([^()<]+\)<[^<]*\(locks\)<' "those of a holder"
	"$PMP" --locks --lines -q -p "$(ready_pid mutex-static)" >out
	like "$(cat out)" '<lock\([^()<]*locks-mutex\.c:[0-9]+\)<' "--lines: where in the source"
	# shellcheck disable=SC2086 # a list of ids
	kill -KILL $locks_pids
}

# A function of MariaDB's in a program that is called like it.
check_meaning() {
	cat >meaning.c <<-'EOF'
	#include <pthread.h>
	#include <signal.h>
	#include <stdio.h>
	#include <sys/prctl.h>
	#include <unistd.h>

	static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
	static pthread_cond_t granted = PTHREAD_COND_INITIALIZER;

	int timed_wait(void) __asm__("_ZN8MDL_wait10timed_waitEv");
	__attribute__((noinline)) int timed_wait(void)
	{
		return pthread_cond_wait(&granted, &mutex) + 1;
	}

	int main(void)
	{
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		pthread_mutex_lock(&mutex);
		printf("ready %d\n", (int)getpid());
		fflush(stdout);
		while (timed_wait())
			;
	}
	EOF
	build ./mariadbd meaning.c || { ok false "the target builds"; return; }
	start_target ./mariadbd
	wait_for 'grep -q ^futex_ /proc/$target_pid/wchan'
	for names in '' --no-demangle; do
		# shellcheck disable=SC2086
		"$PMP" --locks -q $names -p "$target_pid" >out 2>err
		like "$(cat out)" '^HOLDER UNKNOWN condition granted, 0x[0-9a-f]+ \(metadata lock\): METADATA_LOCK_INFO knows, if it is loaded; else see PROCESSLIST$' \
			"a metadata lock, and what to ask${names:+ ($names)}"
	done
	like "$("$PMP" -f json -n 1 -q -p "$target_pid" 2>err)" \
		'"meaning":"metadata lock","ask":"METADATA_LOCK_INFO","else_see":"PROCESSLIST",' \
		"so it is said in json"
}

check_terminal() {
	locks_start "$top_builddir/t/target/locks" deadlock
	pid=$(ready_pid deadlock)
	script -qfec "stty cols 40; '$PMP' --locks -q -p $pid" log </dev/null >/dev/null
	is "$(grep -c '^    pthread_mutex_lock<' log)" 2 "on a terminal there are stacks"
	is "$(grep 'pthread_mutex_lock<' log | tr -d '\r' | awk 'length > 40' | wc -l)" 0 \
		"which are cut at its width"
	"$PMP" --locks -q -p "$pid" >whole.locks
	like "$(cat whole.locks)" 'pthread_mutex_lock<lock<actor_main<start_thread' \
		"in a file nothing is cut"
	kill -KILL $locks_pids
}

# The locks of a process in a pid namespace have its own thread ids.
check_namespace() {
	unshare -pf --mount-proc true 2>/dev/null || { skip "no pid namespaces"; return; }
	start_process "$(command -v unshare)" -pf --mount-proc --kill-child \
		"$top_builddir/t/target/locks" victims
	wait_for "grep -q ^ready '$target_out'"
	inner=$(cat "/proc/$target_pid/task/$target_pid/children")
	inner=${inner% }
	like "$("$PMP" --locks -q -p "$inner")" '^DEADLOCK: 2 threads wait for each other, 3 more' \
		"a pid namespace: a deadlock"
	"$PMP" -f json -n 1 -q -p "$inner" >found.json
	own=$(sed 's/.*"tid":\([0-9]*\),"name":"worker-1".*/\1/' found.json)
	like "$(cat found.json)" "\"name\":\"worker-2\"[^{]*\"wait\":\{[^}]*\"holder\":$own," \
		"its holders are numbered as here"
	kill -USR1 "$inner"
	wait "$target_pid"
}

# raw KIND: what --raw says of waits, with locks as X and numbers as N.
raw() {
	"$PMP" --raw -q -p "$(ready_pid "$1")" 2>&1 |
		sed -n 's/^State .*, name \(.*, \(waits\|holds\)\)/\1/p' |
		sed 's/\(mutex\|rwlock\|condition\) [^ ]*/\1 X/g; s/LWP [0-9]*/LWP N/g'
}

check_raw() {
	locks_start "$top_builddir/t/target/locks" mutex-static chain deadlock self ended \
		rwlock-writer-readers deadlock-join condition-static before-fork barrier semaphore
	is "$(raw mutex-static)" '"waiter", waits for mutex X held by LWP N "holder"
"holder", holds mutex X (1 waits)' "raw: who waits, and who holds"
	is "$(raw chain)" '"last", waits for mutex X held by LWP N "third"
"third", waits for mutex X held by LWP N "second", holds mutex X (1 waits)
"second", waits for mutex X held by LWP N "root", holds mutex X (1 waits)
"root", holds mutex X (1 waits)' "both of a thread"
	is "$(raw deadlock)" '"worker-2", waits for mutex X held by LWP N "worker-1" (deadlock), holds mutex X (1 waits)
"worker-1", waits for mutex X held by LWP N "worker-2" (deadlock), holds mutex X (1 waits)' \
		"a deadlock"
	is "$(raw self)" '"self", waits for mutex X held by itself (deadlock), holds mutex X (1 waits)' \
		"a thread that waits for itself"
	is "$(raw deadlock-join)" '"joiner", waits for the end of LWP N "worker" (deadlock), holds mutex X (1 waits)
"worker", waits for mutex X held by LWP N "joiner" (deadlock)' "a join"
	is "$(raw ended)" '"waiter", waits for mutex X held by LWP N (ended)' "an ended holder"
	is "$(raw before-fork)" '"waiter", waits for mutex X held by LWP N of the process before its fork' \
		"a holder before a fork"
	is "$(raw rwlock-writer-readers)" '"waiter", waits for rwlock X held by 2 readers' "readers"
	is "$(raw condition-static)" '"waiter", waits for condition X' "a condition"
	like "$(raw barrier)" '"waiter", waits for barrier [^ ]* \(3 of 4 have come\)' "a barrier"
	like "$(raw semaphore)" '"waiter", waits for semaphore [^ ]* \(its value is 0\)' "a semaphore"
	like "$("$PMP" -f json -n 1 -q -p "$(ready_pid deadlock)")" '"deadlocks":\[\[[0-9]+,[0-9]+\]\]' \
		"json: the deadlocks of a snapshot"
	unlike "$("$PMP" -f json -n 1 -q -p "$(ready_pid chain)")" '"deadlocks"' "if there are any"
	# shellcheck disable=SC2086 # a list of ids
	kill -KILL $locks_pids
}

# What a filter hides of a deadlock ends it.
check_hidden() {
	locks_start "$top_builddir/t/target/locks" deadlock-rwlock
	like "$(text deadlock-rwlock)" '^DEADLOCK: 3 threads' "a deadlock of three"
	"$PMP" --locks -q --ignore wrlock -p "$(ready_pid deadlock-rwlock)" >out 2>err
	is "$?" 0 "one of them hidden by a filter"
	unlike "$(cat out)" '^DEADLOCK' "it is not shown as a circle"
	like "$(cat out)" '^HOLDER [0-9]+, not in this snapshot: 1 thread waits' \
		"but as a holder that is not there"
	# shellcheck disable=SC2086 # a list of ids
	kill -KILL $locks_pids
}

# checked STATUS TEXT ARG...: --locks=check, with locks as X and numbers as N on the standard error.
checked() {
	want=$1 text=$2
	shift 2
	"$PMP" --locks=check "$@" >out 2>err
	is "$?" "$want" "--locks=check: $text"
	is "$(cat out)" "" "which writes nothing"
	sed 's/\(mutex\|rwlock\) [^ ]*/\1 X/g; s/[0-9]\{3,\}/N/g' err >said
}

check_check() {
	locks_start "$top_builddir/t/target/locks" deadlock self chain deadlock-join \
		deadlock-timed
	checked 0 "no deadlock" -p "$(ready_pid chain)"
	is "$(cat said)" "" "and says nothing"
	checked 1 "a deadlock" -p "$(ready_pid deadlock)"
	is "$(cat said)" 'pmp: deadlock in locks [N]: N "worker-1" waits for mutex X held by N "worker-2", N "worker-2" waits for mutex X held by N "worker-1"' \
		"and says who waits for whom"
	checked 1 "two of three processes" -q -p "$(ready_pid self),$(ready_pid chain),$(ready_pid deadlock-join)"
	is "$(sort said)" 'pmp: deadlock in locks [N]: N "self" waits for mutex X held by itself
pmp: deadlock in locks [N]: N "worker" waits for mutex X held by N "joiner", N "joiner" waits for the end of N "worker"' \
		"each has its line"
	checked 1 "until a timeout" -p "$(ready_pid deadlock-timed)"
	like "$(cat said)" 'held by N "worker-2" until a timeout, N "worker-2"' "which is said"
	checked 1 "several snapshots" -n 3 -i 10ms --ignore lock --idle hide -p "$(ready_pid deadlock)"
	is "$(wc -l <said)" 1 "each deadlock has one line, whatever filters hide"
	if gcore -o core "$(ready_pid deadlock)" >gcore.log 2>&1; then
		checked 1 "a core file" -q core.*
		is "$(wc -l <said)" 1 "has its line as well"
	else
		skip "no gcore: $(tail -n 1 gcore.log)"
	fi
	# shellcheck disable=SC2086 # a list of ids
	kill -KILL $locks_pids
	checked 3 "no such process" -p 4194304
}

# Where only a part is seen, there may be one in the rest.
check_part() {
	locks_start "$top_builddir/t/target/locks" deadlock
	is "$(text deadlock --focus nosuch | grep deadlock)" 'No deadlock among these threads.' \
		"a filter that leaves out all stacks"
	is "$(text deadlock --not-threads worker-1 | grep deadlock)" \
		'No deadlock among these threads.' "a thread that is not looked at"
}

check_saved() {
	start_target threads 3
	"$PMP" -q -n 1 -o saved.pb.gz -p "$target_pid"
	"$PMP" --locks saved.pb.gz >out 2>err
	is "$?" 2 "of a saved profile there are no locks"
	is "$(cat err)" "pmp: the format locks is of running processes and core files: a saved profile does not say who waits for whom
hint: who waits now: pmp --locks -p PID; how long whose threads have waited: pmp -f contention saved.pb.gz" "which is said"
	is "$(cat out)" "" "and nothing is written"
	echo kept >there.locks
	"$PMP" --locks -o there.locks saved.pb.gz 2>err
	is "$(cat there.locks)" kept "a file that is there stays as it is"
}

# A lock in a shared file whose name has control characters: no terminal obeys them.
check_hostile() {
	cat >hostile.c <<-'EOF'
	#include <fcntl.h>
	#include <pthread.h>
	#include <stdio.h>
	#include <sys/mman.h>
	#include <sys/prctl.h>
	#include <signal.h>
	#include <unistd.h>

	int main(int argc, char **argv)
	{
		int fd = open(argv[argc - 1], O_RDWR | O_CREAT, 0600);
		pthread_mutexattr_t shared;
		pthread_mutex_t *mutex;

		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (fd < 0 || ftruncate(fd, 4096) != 0)
			return 1;
		mutex = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		pthread_mutexattr_init(&shared);
		pthread_mutexattr_setpshared(&shared, PTHREAD_PROCESS_SHARED);
		pthread_mutex_init(mutex, &shared);
		pthread_mutex_lock(mutex);
		printf("ready %d\n", (int)getpid());
		fflush(stdout);
		pthread_mutex_lock(mutex);
	}
	EOF
	build ./hostile hostile.c || { ok false "the target builds"; return; }
	./hostile "$(printf 'a\033[2J')" >said &
	hostile=$!
	wait_for 'grep -q ^futex_ /proc/$hostile/wchan'
	"$PMP" --locks -q -p "$hostile" >out 2>err
	like "$(cat out)" 'in shared memory .*a\\x1b\[2J$' "a path with control characters"
	is "$(tr -d '\n -~' <out | wc -c)" 0 "of which none is printed"
	kill -KILL "$hostile"
	wait "$hostile" 2>/dev/null
}

# Threads come to a barrier one by one: who sleeps there sees the others come.
check_late() {
	cat >late.c <<-'EOF'
	#include <pthread.h>
	#include <signal.h>
	#include <stdio.h>
	#include <sys/prctl.h>
	#include <unistd.h>

	static pthread_barrier_t barrier;

	static void *wait(void *arg)
	{
		pthread_barrier_wait(&barrier);
		return arg;
	}

	int main(void)
	{
		pthread_t thread;
		int i;

		prctl(PR_SET_PDEATHSIG, SIGKILL);
		pthread_barrier_init(&barrier, NULL, 9);
		for (i = 0; i < 3; i++) {
			pthread_create(&thread, NULL, wait, NULL);
			puts("one");
			fflush(stdout);
			usleep(300000);
		}
		for (;;)
			pause();
	}
	EOF
	build ./late late.c || { ok false "the target builds"; return; }
	./late >said &
	late=$!
	wait_for 'grep -q one said'
	"$PMP" -f json -q -i 100ms -d 2 -p "$late" >found.json
	is "$(sed -n '$p' found.json | grep -o '"arrived":[0-9]*,"of":[0-9]*' | sort | uniq -c | tr -s ' ')" \
		' 3 "arrived":3,"of":9' "a barrier: who came first knows of those who came later"
	kill -KILL "$late"
	wait "$late" 2>/dev/null
}

# Three wait for a word that a function makes a lock; after a while one is woken and keeps it.
check_taken() {
	cat >taken.c <<-'EOF'
	#include <linux/futex.h>
	#include <pthread.h>
	#include <signal.h>
	#include <stdio.h>
	#include <sys/prctl.h>
	#include <sys/syscall.h>
	#include <unistd.h>

	int word = 1;

	int wait_for_word(void)
	{
		return (int)syscall(SYS_futex, &word, FUTEX_WAIT, 1, NULL, NULL, 0) + 1;
	}

	static void *take(void *arg)
	{
		prctl(PR_SET_NAME, "taker");
		if (wait_for_word())
			for (;;)
				pause();
		return arg;
	}

	int main(void)
	{
		pthread_t thread;
		int i;

		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (i = 0; i < 3; i++)
			pthread_create(&thread, NULL, take, NULL);
		getchar();
		syscall(SYS_futex, &word, FUTEX_WAKE, 1, NULL, NULL, 0);
		for (;;)
			pause();
	}
	EOF
	build ./taken taken.c || { ok false "the target builds"; return; }
	mkfifo orders
	./taken <orders &
	taken=$!
	exec 8>orders
	wait_for '[ "$(grep -l ^futex_ /proc/$taken/task/*/wchan | wc -l)" = 3 ]'
	writers=
	for format in locks json; do
		"$PMP" -f $format -q -i 100ms -n 15 -p "$taken" \
			--lock-meaning 's/^wait_for_word$/word/' >"taken.$format" &
		writers="$writers $!"
	done
	wait_for 'grep -q "snapshot 2:" taken.locks && grep -q "snapshot\":2" taken.json'
	echo >&8
	# shellcheck disable=SC2086 # a list of ids
	wait $writers
	is "$(grep -c '^HOLDER UNKNOWN futex word' taken.locks)" 15 "a futex that is called a lock"
	like "$(sed -n '/^HOLDER/p' taken.locks | tail -n 1)" \
		'^HOLDER UNKNOWN futex word, 0x[0-9a-f]* \(word\): inferred: [0-9]+ "taker" took it in the last [01]\.[0-9] s$' \
		"who has left its queue is inferred to have it"
	unlike "$(sed -n '/^HOLDER/p' taken.locks | head -n 1)" "took it" "not before"
	is "$(grep -c 'the holder of [1-9]' taken.locks)" 0 "it is never counted as known"
	like "$(tail -n 1 taken.json)" '"taken_by":[0-9]+,"taken_ns":[0-9]+' "json has it"
	unlike "$(cat taken.json)" '"holder"' "and no holder"
	exec 8>&-
	kill -KILL "$taken"
	wait "$taken" 2>/dev/null
}

# A wait that ends by itself and begins again.
check_waking() {
	cat >waking.c <<-'EOF'
	#include <pthread.h>
	#include <signal.h>
	#include <sys/prctl.h>
	#include <time.h>

	static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

	int main(void)
	{
		struct timespec until;

		prctl(PR_SET_PDEATHSIG, SIGKILL);
		pthread_mutex_lock(&mutex);
		for (;;) {
			clock_gettime(CLOCK_REALTIME, &until);
			until.tv_nsec += 200000000;
			until.tv_sec += until.tv_nsec / 1000000000;
			until.tv_nsec %= 1000000000;
			pthread_mutex_timedlock(&mutex, &until);
		}
	}
	EOF
	build ./waking waking.c || { ok false "the target builds"; return; }
	./waking &
	waking=$!
	wait_for 'grep -q ^futex_ /proc/$waking/wchan'
	"$PMP" -f json -q -i 50ms -n 30 -p "$waking" >waking.json
	like "$(tail -n 1 waking.json)" '"waits_ns":[0-9]{10},' \
		"who wakes now and then has been found waiting all the time"
	unlike "$(head -n 1 waking.json)" '"waits_ns"' "which one snapshot does not say"
	kill -KILL "$waking"
	wait "$waking" 2>/dev/null
}

run_checks "$@"

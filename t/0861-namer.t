#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The process that reads executables and debug files: what rights it has, and what becomes of
# names when a file takes it over, brings it down or holds it up. Planted faults
# (pmp/namer/faults.c) do that when it reads a file with "victim" in its path.

# shellcheck source=t/lib/test.sh
. "${top_srcdir:-.}/t/lib/test.sh"
# shellcheck source=t/lib/live.sh
. "$top_srcdir/t/lib/live.sh"
# shellcheck source=t/lib/readers.sh
. "$top_srcdir/t/lib/readers.sh"
need pgrep "${CC:-cc}"

if grep -q '^PMP_CFLAGS = .*-fsanitize' "$top_builddir/Makefile" 2>/dev/null; then
	skip_all "sanitizers need more calls: nothing is confined"
fi

# field PID NAME: of /proc/PID/status
field() {
	sed -n "s/^$2:[[:space:]]*//p" "/proc/$1/status"
}

# A program whose name pmp can only have from its file.
program() {
	mkdir -p "$(dirname "$1")"
	build "$1" "$live_target/sleeper.c"
}

# start_sampling OPTION...: pmp, with the process that waits to read files in $namer.
start_sampling() {
	start_target sleeper || return
	"$PMP" -q -f folded -d 600 -o out.folded "$@" -p "$target_pid" </dev/null >out 2>err &
	pmp=$!
	test_pids="$test_pids $pmp"
	sampling "$pmp" 5
	parent=$(pgrep -x -P "$pmp" pmp-namers)
	namer=
	[ -z "$parent" ] || wait_for "namer=\$(pgrep -x -P $parent pmp-namer)"
}

# limited NAME MOST TEXT: what /proc/$namer/limits says, or less where that is all that this test
# may have.
limited() {
	most=$(sed -n "s/^$1  *[^ ]*  *\([^ ]*\) .*/\1/p" "/proc/$$/limits")
	[ "$most" != unlimited ] && [ "$most" -lt "$2" ] || most=$2
	like "$(grep "^$1 " "/proc/$namer/limits")" "^$1 +$most +$most " "$3"
}

check_rights() {
	start_sampling
	wait_for "[ \"\$(field $namer Seccomp)\" = 2 ]" 5
	is "$(field "$namer" Seccomp)" 2 "it has a filter of system calls"
	is "$(field "$namer" NoNewPrivs)" 1 "and gets no more rights by a program"
	if [ "$(id -u)" -eq 0 ]; then
		is "$(field "$namer" Uid | tr -s '\t' ' ')" "65531 65531 65531 65531" \
			"root is another user there"
		is "$(field "$namer" Groups | tr -d ' ')" "" "in no group"
		is "$(field "$namer" CapEff)" 0000000000000000 "without capabilities"
	else
		skip "not root"
		skip "not root"
		skip "not root"
	fi
	is "$(for fd in /proc/"$namer"/fd/*; do readlink "$fd"; done |
		grep -vc -e '^socket:' -e '^/dev/null$')" 0 "it has no file"
	limited 'Max address space' 2147483648 "its memory has a limit"
	limited 'Max core file size' 0 "it leaves no core"
	limited 'Max file size' 0 "it writes no file"
	limited 'Max open files' 4096 "its descriptors have a limit"
	limited 'Max cpu time' 3600 "its processor time has a limit"
	if [ "$(id -u)" -eq 0 ]; then
		limited 'Max processes' 1024 "its threads have a limit"
	else
		skip "not root: the limit would be for other processes as well"
	fi
	is "$(field "$parent" NoNewPrivs)" 1 "its parent has no rights either"
	stop_process "$pmp"
	ok "wait_for '! alive $namer && ! alive $parent'" "it ends with pmp, however that ends"
}

# What has been stopped gives no answer: by root, or by another process of its user.
check_stopped() {
	start_sampling
	kill -STOP "$parent"
	wait_for "[ \"\$(field $parent State | cut -c 1)\" = T ]"
	kill -TERM "$pmp"
	ok "wait_for '! alive $pmp' 30" "pmp does not wait for one that was stopped"
	ok "[ -s out.folded ]" "and writes what it has"
	kill -CONT "$parent"
	ok "wait_for '! alive $parent'" "that one ends once it goes on"
	alive "$pmp" && stop_process "$pmp"
}

# A service that samples without root has capabilities (pmp-examples(7)): its namer has none.
check_capabilities() {
	[ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null || { skip "not root, or no setpriv"; return; }
	start_target sleeper || return
	chmod 711 .
	mkdir -p theirs
	chmod 777 theirs
	caps=+sys_ptrace,+dac_read_search
	setpriv --reuid 65533 --regid 65533 --clear-groups --inh-caps "$caps" --ambient-caps "$caps" \
		"$PMP" -q -f folded -d 600 -o theirs/out -p "$target_pid" </dev/null >out 2>err &
	pmp=$!
	test_pids="$test_pids $pmp"
	sampling "$pmp" 5
	isnt "$(field "$test_sampler" CapEff)" 0000000000000000 "a sampler with capabilities"
	parent=$(pgrep -x -P "$pmp" pmp-namers)
	for kind in CapInh CapPrm CapEff CapAmb; do
		is "$(field "$parent" "$kind")" 0000000000000000 "who reads files has none: $kind"
	done
	stop_process "$pmp"
}

check_without() {
	start_sampling --no-sandbox
	is "$parent" "" "--no-sandbox: there is no such process"
	stop_process "$pmp"
}

# names OPTION...: of one snapshot, in out.folded
names() {
	"$PMP" -q -f folded -n 1 "$@" -p "$target_pid" -o out.folded
	sed 's/ [0-9]*$//' out.folded | sort
}

check_same() {
	start_target chain block || return
	with=$(names)
	without=$(names --no-sandbox)
	is "$with" "$without" "the names are those that pmp itself reads"
	like "$with" 'main' "there are some"
	is "$(names --lines)" "$(names --lines --no-sandbox)" "also with lines"
	is "$(names --no-inline)" "$(names --no-inline --no-sandbox)" "without inlined functions"
	is "$(names --no-symbols)" "$(names --no-symbols --no-sandbox)" "and addresses alone"
}

split='
#include <stdio.h>
#include <unistd.h>
static volatile int turns = 1000;
static inline __attribute__((always_inline)) void within(void)
{
	while (turns)
		usleep(100000);
}
static __attribute__((noinline)) void around(void) { within(); turns++; }
int main(void) { printf("ready %d\n", (int)getpid()); fflush(stdout); around(); return 0; }
'

# state_of PID: the letter of /proc/PID/status; nothing once it has been reaped.
state_of() {
	field "$1" State 2>/dev/null | cut -c 1
}

# waiting_fifo PATH: a FIFO with a process that waits to write into it, which is added to
# $writers. Opening it for reading, even for a moment, lets that process go on.
waiting_fifo() {
	mkfifo "$1"
	{ echo >"$1"; } 2>/dev/null &
	writers="$writers $!"
	test_pids="$test_pids $!"
	wait_for "[ \"\$(state_of $!)\" = S ]"
}

# still_waits PID: one that was woken runs until it ends.
still_waits() {
	wait_for "case \$(state_of $1) in R | D) false ;; esac" && [ "$(state_of "$1")" = S ]
}

# libdw opens .dwo files itself; it gets them all the same, but nothing else.
check_split() {
	writers=
	mkdir -p split
	printf '%s' "$split" >split/split.c
	(cd split && ${CC:-cc} -g -gsplit-dwarf -O2 -o split split.c) 2>/dev/null || {
		skip "no -gsplit-dwarf"
		return
	}
	start_target "$tmp/split/split" || return
	like "$(names)" 'around;within' "an inlined function out of a .dwo file"
	rm -f split/*.dwo
	waiting_fifo split/split-split.dwo || return
	waiting_fifo split/split.dwo || return
	shown=$(timeout -s KILL 60 "$PMP" -q -f folded -n 1 -p "$target_pid")
	is $? 0 "a FIFO in its place: status 0"
	like "$shown" ';main;around;usleep' "with the names that are left"
	for writer in $writers; do
		ok "still_waits $writer" "its writer still waits: it is not opened"
	done
}

check_no_open() {
	command -v strace >/dev/null 2>&1 || { skip "no strace"; return; }
	start_target sleeper || return
	strace -f -o trace "$PMP" -q -f folded -n 1 -o out.folded -p "$target_pid"
	calls_after
	ok "[ -s after ]" "strace shows what it does after it is confined"
	is "$(what_gives)" "" "and it opens no file"
}

# Calls that strace -f writes in two lines, as other processes come in between, are seen by
# what looks for them.
check_calls_seen() {
	cat >trace <<-'EOF'
		6     prctl(PR_SET_NAME, "pmp-namers") = 0
		6     clone(child_stack=NULL, flags=SIGCHLD <unfinished ...>
		7     openat(AT_FDCWD, "before", O_RDONLY) = 3
		6     <... clone resumed>)              = 7
		6     clone(child_stack=NULL, flags=SIGCHLD) = 12
		7     prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, NULL) = -1 EFAULT (Bad address)
		7     openat(AT_FDCWD, "before the filter", O_RDONLY) = 3
		7     prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, 0x7f <unfinished ...>
		12    openat(AT_FDCWD, "other", O_RDONLY <unfinished ...>
		7     <... prctl resumed>)              = 0
		7     openat(AT_FDCWD, "in two", O_RDONLY <unfinished ...>
		12    <... openat resumed>)             = 4
		7     <... openat resumed>)             = 5
		7     openat(AT_FDCWD, "refused", O_RDONLY <unfinished ...>
		12    read(4,  <unfinished ...>
		7     <... openat resumed>)             = -1 ENOENT (No such file or directory)
		7     clone(child_stack=0x7e, flags=CLONE_VM|CLONE_THREAD <unfinished ...>
		13    openat(AT_FDCWD, "of a thread", O_RDONLY <unfinished ...>
		7     <... clone resumed>, parent_tid=[13]) = 13
		12    <... read resumed>"text", 4)      = 4
		13    <... openat resumed>)             = 6</file>
		7     socket(AF_INET, SOCK_STREAM, IPPROTO_IP) = 7
		7     kill(12, SIGTERM <unfinished ...>
		13    openat(AT_FDCWD, "endless", O_RDONLY <unfinished ...>
		7     <... kill resumed>)               = 0
		13    +++ killed by SIGKILL +++
		7     execve("/bin/true", ["true"], 0x7e /* 0 vars */ <unfinished ...>
	EOF
	calls_after
	is "$(what_gives | sed 's/^[0-9]* *//')" 'openat(AT_FDCWD, "in two", O_RDONLY)             = 5
openat(AT_FDCWD, "of a thread", O_RDONLY)             = 6</file>
socket(AF_INET, SOCK_STREAM, IPPROTO_IP) = 7
kill(12, SIGTERM)               = 0' "calls in two lines are seen, also those of threads"
	like "$(cat after)" '^13 .*"endless".*<unfinished ...>$' "one that has not returned is there"
	is "$(grep -c 'before\|other' after)" 0 "but neither what comes before nor what others do"
	is "$(grep -c resumed calls)" 0 "no call is left in two lines"
}

# fault NAME REASON: a program that plays it has addresses, all else is as without.
fault() {
	program "$tmp/victim/program" || return
	start_target "$tmp/victim/program" || return
	PMP_FAULT=namer-$1 timeout 120 "$PMP_FAULTY" -f folded -n 2 -i 10ms -o out.folded \
		-p "$target_pid" </dev/null >out 2>err
	is $? 0 "$1: status 0"
	is "$(awk '{ n += $NF } END { print n }' out.folded)" 2 "all samples are there"
	if [ -z "$2" ]; then
		like "$(cat out.folded)" ';main;' "the attempt fails, and it goes on"
	else
		like "$(cat out.folded)" '\[program\+0x' "its functions are addresses"
		like "$(cat out.folded)" '__libc_start_main' "those of other files have names"
		like "$(cat err)" "victim/program.*: the process that reads files $2" "the reason"
		is "$(grep -c 'that reads files' err)" 1 "is said once"
	fi
	is "$(id -u -n):$(cat /proc/$target_pid/comm)" "$(id -u -n):program" "the target lives"
}

check_faults() {
	[ -x "$PMP_FAULTY" ] || { skip "no $PMP_FAULTY"; return; }
	fault crash 'was ended by signal 11'
	fault oom 'was ended by signal 6|was ended by signal 31|ended unexpectedly'
	fault lies 'gave no answer that makes sense'
	fault empty 'gave no answer that makes sense'
	fault open ''
	fault exec 'was ended by signal 31'
	fault net 'was ended by signal 31'
	fault kill 'was ended by signal 31'
	fault fork 'was ended by signal 31'
}

# opens_lacking WHAT: one that tries to open files, in a kernel that lacks it: pmp's status, and
# whether names are all there. An attempt that succeeds ends the process.
opens_lacking() {
	PMP_FAULT=namer-open timeout 60 python3 "$top_srcdir/t/lib/without.py" "$1" \
		"$PMP_FAULTY" -f folded -n 1 -o out.folded -p "$target_pid" </dev/null >out 2>err
	echo "$? $(grep -c ';main;' out.folded) $(grep -c 'that reads files ended' err)"
}

# Any user may read /etc/passwd: without a filter of calls only the rules for files are left.
check_rules() {
	[ -x "$PMP_FAULTY" ] || { skip "no $PMP_FAULTY"; return; }
	command -v python3 >/dev/null || { skip "no python3"; return; }
	landlock || { skip "no landlock"; return; }
	program "$tmp/victim/program" || return
	start_target "$tmp/victim/program" || return
	is "$(opens_lacking both)" "0 0 1" "where a kernel has neither filters nor rules a file is opened, which is seen"
	is "$(opens_lacking seccomp)" "0 1 0" "without a filter the rules for files refuse it"
	is "$(opens_lacking landlock)" "0 1 0" "without rules the filter does"
}

# Ten seconds each.
check_late() {
	[ -x "$PMP_FAULTY" ] || { skip "no $PMP_FAULTY"; return; }
	fault hang 'took too long'
	fault still 'gave no answer and was killed'
}

# Files are opened before their names are wanted: the one that brings the process down is to
# blame, not the one whose names are.
check_beside() {
	[ -x "$PMP_FAULTY" ] || { skip "no $PMP_FAULTY"; return; }
	mkdir -p victim
	cat >work.c <<-'EOF'
		#include <unistd.h>
		void in_library(void);
		void in_library(void) { for (;;) usleep(100000); }
	EOF
	cat >caller.c <<-'EOF'
		#include <stdio.h>
		#include <unistd.h>
		void in_library(void);
		int main(void) { printf("ready %d\n", (int)getpid()); fflush(stdout); in_library(); return 0; }
	EOF
	build victim/libwork.so -shared -fPIC work.c || return
	build caller caller.c -L"$tmp/victim" -lwork -Wl,-rpath,"$tmp/victim" || return
	start_target "$tmp/caller" || return
	PMP_FAULT=namer-crash timeout 60 "$PMP_FAULTY" -f folded -n 1 -o out.folded \
		-p "$target_pid" </dev/null >out 2>err
	is $? 0 "a library that brings down who opens it: status 0"
	like "$(cat out.folded)" '__libc_start_main.*;main;\[libwork.so\+0x' \
		"its functions are addresses, the others have names"
	is "$(grep -c 'that reads files' err)" 1 "one file is to blame" || diag "$(cat err)"
}

# One that is taken over may say a little now and then, for ever.
check_drips() {
	[ -x "$PMP_FAULTY" ] || { skip "no $PMP_FAULTY"; return; }
	program "$tmp/victim/program" || return
	start_target "$tmp/victim/program" || return
	PMP_FAULT=namer-drips timeout 60 "$PMP_FAULTY" -f folded -n 2 -i 10ms --max-wall 5 \
		-o out.folded -p "$target_pid" </dev/null >out 2>err
	is $? 1 "an answer that comes byte by byte: --max-wall ends it"
	is "$(awk '{ n += $NF } END { print n }' out.folded)" 2 "all samples are there"
	like "$(cat out.folded)" '\[program\+0x' "with addresses"
	like "$(cat err)" 'victim/program.*: the process that reads files was interrupted' "the reason"
	unlike "$(cat err)" 'is not there' "also for the files that had not been read yet"
	PMP_FAULT=namer-slow timeout 60 "$PMP_FAULTY" -f folded -d 600 --max-wall 1 \
		-o out.folded -p "$target_pid" </dev/null >out 2>err
	is $? 1 "one that takes a second or two"
	like "$(cat out.folded)" ';main;' "is waited for"
}

# deep COUNT: a program that waits in as many inlined functions, whose names have 4000 bytes.
deep() {
	awk -v count="$1" 'BEGIN {
		name = sprintf("%3990s", "")
		gsub(/ /, "x", name)
		print "#include <stdio.h>\n#include <unistd.h>"
		print "static volatile int turns = 1000;"
		inline = "static inline __attribute__((always_inline)) void "
		print inline "nap0(void) { while (turns) usleep(100000); }"
		for (i = 1; i <= count; i++)
			print inline "nap" i name "(void) { nap" i - 1 (i > 1 ? name : "") "(); }"
		print "static __attribute__((noinline)) void around(void) { nap" count name "(); turns++; }"
		print "int main(void) { printf(\"ready %d\\n\", (int)getpid()); fflush(stdout); around(); return 0; }"
	}' >deep.c
	build "deep$1" deep.c && start_target "$tmp/deep$1"
}

# A program in C++ that waits in nine inlined functions, of a type whose name has 3800 bytes.
nested() {
	awk 'BEGIN {
		print "#include <stdio.h>\n#include <unistd.h>"
		print "static volatile int turns = 1000;"
		print "template <typename...> struct all {};"
		name = sprintf("one_of_many_%48s", "")
		gsub(/ /, "x", name)
		print "struct " name " {};"
		for (i = 0; i < 60; i++)
			types = types (i ? ", " : "") name
		inline = "template <typename T, int N> __attribute__((always_inline)) inline void "
		print inline "nap(void)\n{"
		print "if constexpr (N > 1) nap<T, N - 1>(); else while (turns) usleep(100000); }"
		print "static __attribute__((noinline)) void around(void) { nap<all<" types ">, 9>(); turns++; }"
		print "int main(void) { printf(\"ready %d\\n\", (int)getpid()); fflush(stdout); around(); return 0; }"
	}' >nested.cc
	${CXX:-c++} -std=gnu++17 -g -O2 -o nested nested.cc 2>log || { diag "$(cat log)"; return 1; }
	start_target "$tmp/nested"
}

check_long_names() {
	deep 4 || return
	is "$(names | tr ';' '\n' | grep -c '^nap')" 5 "long names of inlined functions are shown"
	is "$(names)" "$(names --no-sandbox)" "with a process that reads files and without"
	deep 20 || return
	shown=$(timeout 60 "$PMP" -f folded -n 1 -p "$target_pid" 2>err)
	like "$shown" 'main;around;nap20x*;nap19x' "of 80 KiB the outermost ones"
	like "$(printf '%s\n' "$shown" | tr ';' '\n' | grep -c '^nap')" '^1[56]$' "up to 64 KiB"
	is "$(cat err)" "" "without a message"
	is "$(names)" "$(names --no-sandbox)" "the same by pmp itself"
	nested || return
	is "$(names | tr ';' '\n' | grep -c '^nap<all<one_of_many_')" 9 "long names of templates are shown"
	is "$(names)" "$(names --no-sandbox)" "with that process and without"
	# The last name of an answer fills a part of it: that is none of a process that lies.
	pids=
	for i in 1 2 3 4; do
		cp deep20 "deep-$i"
		start_target "$tmp/deep-$i" || return
		pids="$pids -p $target_pid"
	done
	# shellcheck disable=SC2086
	shown=$(timeout 60 "$PMP" -f folded -n 1 $pids 2>err)
	is $? 0 "four such programs"
	is "$(printf '%s\n' "$shown" | grep -c 'main;around')" 4 "have names"
	is "$(cat err)" "" "and no process that reads files is given up"
}

# victims COUNT: as many programs that bring down who reads them; $pids
victims() {
	pids=
	for i in $(seq "$1"); do
		program "$tmp/victim$i/program" || return
		start_target "$tmp/victim$i/program" || return
		pids="$pids -p $target_pid"
	done
}

no_more='no more files are read: the process for that has ended'

# gives_up FAULT ERE: in a row; there are no names like that
gives_up() {
	# shellcheck disable=SC2086
	PMP_FAULT=$1 "$PMP_FAULTY" -f folded -n 2 -i 10ms -o out.folded $pids \
		</dev/null >out 2>err
	is $? 0 "$1, after three deaths: status 0"
	is "$(awk '{ n += $NF } END { print n }' out.folded)" 8 "all samples are there"
	unlike "$(cat out.folded)" "$2" "there are addresses only"
	is "$(grep -c "$no_more three times in a row" err)" 1 "and pmp says so"
}

# It may die when a file is opened, or, having opened them all, when names are wanted.
check_three() {
	[ -x "$PMP_FAULTY" ] || { skip "no $PMP_FAULTY"; return; }
	victims 4 || return
	gives_up namer-crash 'main|nap'
	gives_up namer-lies ';main;'
}

pass='
#include <stdio.h>
typedef void (*pass_fn)(void *);
__attribute__((noinline)) void pass(void **rest);
void pass(void **rest)
{
	((pass_fn)rest[0])(rest + 1);
	__asm__ volatile("" ::: "memory");
}
'
calls='
#include <dlfcn.h>
#include <stdio.h>
#include <unistd.h>
static void at_end(void *rest)
{
	(void)rest;
	printf("ready %d\n", (int)getpid());
	fflush(stdout);
	for (;;)
		usleep(100000);
}
int main(int argc, char **argv)
{
	void *all[128];
	for (int i = 1; i < argc; i++)
		all[i - 1] = dlsym(dlopen(argv[i], RTLD_NOW), "pass");
	all[argc - 1] = at_end;
	((void (*)(void **))all[0])(all + 1);
	return 0;
}
'

# start_mixed COUNT: a program whose stack goes through as many libraries that bring down who
# reads them, each of which is called by another that does not.
start_mixed() {
	mkdir -p victim good
	printf '%s' "$pass" >pass.c
	printf '%s' "$calls" >calls.c
	build pass.so -shared -fPIC pass.c || return
	build calls calls.c -ldl || return
	libraries=
	for i in $(seq "$1"); do
		cp pass.so "good/good$i.so"
		cp pass.so "victim/bad$i.so"
		libraries="$libraries ./good/good$i.so ./victim/bad$i.so"
	done
	# shellcheck disable=SC2086
	start_target "$tmp/calls" $libraries
}

# Three in a row: those between which another file was read are not.
check_mixed() {
	[ -x "$PMP_FAULTY" ] || { skip "no $PMP_FAULTY"; return; }
	start_mixed 6 || return
	for what in crash lies; do
		PMP_FAULT=namer-$what timeout 120 "$PMP_FAULTY" -f folded -n 1 -o out.folded \
			-p "$target_pid" </dev/null >out 2>err
		is $? 0 "$what, six that do harm and six that do not, by turns: status 0"
		is "$(tr ';' '\n' <out.folded | grep -c '^pass')" 6 "all others have names"
		is "$(tr ';' '\n' <out.folded | grep -c '^\[bad[1-6].so+0x')" 6 \
			"and those that do harm addresses"
		like "$(cat out.folded)" ';main;' "as has the program" || diag "$(cat out.folded)"
		unlike "$(cat err)" 'no more files' "nothing is given up"
	done
}

# Each of them costs time: there is an end to it.
check_many() {
	[ -x "$PMP_FAULTY" ] || { skip "no $PMP_FAULTY"; return; }
	start_mixed 36 || return
	PMP_FAULT=namer-crash timeout 120 "$PMP_FAULTY" -f folded -n 1 -o out.folded \
		-p "$target_pid" </dev/null >out 2>err
	is $? 0 "36 that do harm and 36 that do not, by turns: status 0"
	is "$(grep -c "$no_more 30 times within an hour" err)" 1 "it is given up after 30"
	is "$(tr ';' '\n' <out.folded | grep -c -e '^pass' -e '^\[\(good\|bad\)[0-9]*.so+0x')" 72 \
		"all frames are there"
	like "$(tr ';' '\n' <out.folded | grep -c '^pass')" '^(2[0-9]|3[0-5])$' "what was read has names"
}

# A server and the live view may run for weeks: they say it at once.
check_meanwhile() {
	[ -x "$PMP_FAULTY" ] || { skip "no $PMP_FAULTY"; return; }
	# shellcheck source=t/lib/serve.sh
	. "$top_srcdir/t/lib/serve.sh"
	victims 3 || return
	PMP=$PMP_FAULTY
	# shellcheck disable=SC2086
	PMP_FAULT=namer-crash start_server serve --serve=0 $pids
	is "$(status "${url}past/folded?seconds=1")" 200 "a page of a server whose process for names dies three times"
	ok "wait_for 'grep -q \"$no_more\" serve.err'" "it says so meanwhile"
	is "$(status "${url}past/folded?seconds=1")" 200 "it goes on"
	end_server
	is "$(grep -c "$no_more" serve.err)" 1 "and says it once"
	PMP=$top_builddir/pmp/pmp
	command -v tmux >/dev/null || { skip "no tmux"; return; }
	# shellcheck source=t/lib/screen.sh
	. "$top_srcdir/t/lib/screen.sh"
	begin env PMP_FAULT=namer-crash "$PMP_FAULTY" "$pids"
	ok "shows '$no_more'" "so does the live view"
	keys q
	wait_for '[ -e over ]' 20
	ok "shows '$no_more three times'" "also after it"
	no_terminal
}

run_checks "$@"

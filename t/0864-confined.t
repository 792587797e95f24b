#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# What rights the processes of pmp have given up, by the kernel's word; and that one which is
# made to misbehave cannot. debuginfod-find is one: a server may have taken it over.

# shellcheck source=t/lib/test.sh
. "${top_srcdir:-.}/t/lib/test.sh"
# shellcheck source=t/lib/live.sh
. "$top_srcdir/t/lib/live.sh"
need pgrep strip

if grep -q '^PMP_CFLAGS = .*-fsanitize' "$top_builddir/Makefile" 2>/dev/null; then
	skip_all "sanitizers need more calls: nothing is confined"
fi

# status_of PID FIELD
status_of() {
	sed -n "s/^$2:[[:space:]]*//p" "/proc/$1/status"
}

check_sampler() {
	start_target sleeper || return
	"$PMP" -q -f folded -d 600 -o out.folded -p "$target_pid" </dev/null >out 2>err &
	pmp=$!
	test_pids="$test_pids $pmp"
	sampling "$pmp" 5
	wait_for "[ \"\$(status_of $test_sampler Seccomp)\" = 2 ]" 5
	is "$(status_of "$test_sampler" Seccomp)" 2 "the sampler has a filter of system calls"
	is "$(status_of "$test_sampler" NoNewPrivs)" 1 "and gets no more rights by a program"
	like "$(grep 'Max file size' "/proc/$test_sampler/limits")" 'size +0 +0 ' \
		"and writes to no file"
	limit=$(sed -n 's/^Max data size *\([0-9]*\) .*/\1/p' "/proc/$test_sampler/limits")
	ok "[ \"\${limit:-0}\" -ge 4294967296 ] && [ $limit -lt 8589934592 ]" \
		"and takes so much memory at most: $limit bytes"
	is "$(status_of "$pmp" Seccomp)" 0 "the front, which starts commands, has none"
	stop_process "$pmp"
}

# A process for which memory runs out is left out; others are not.
check_sampler_memory() {
	[ -x "$PMP_FAULTY" ] || { skip "no $PMP_FAULTY"; return; }
	cat >crowd.c <<'END'
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
static void *deep(void *arg)
{
	volatile char room[300 << 10];

	room[0] = 0;
	pause();
	return room[0] ? arg : NULL;
}
int main(void)
{
	pthread_attr_t attr;
	pthread_t thread;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 512 << 10);
	for (int i = 0; i < 400; i++)
		if (pthread_create(&thread, &attr, deep, NULL))
			return 1;
	puts("ready");
	fflush(stdout);
	pause();
	return 0;
}
END
	build crowd -O0 -pthread crowd.c || return
	start_target sleeper || return
	small=$target_pid
	start_target "$tmp/crowd" || return
	PMP_FAULT=sampler-small "$PMP_FAULTY" -f folded --stop=all -n 3 -p "$small,$target_pid" >out 2>err
	is $? 0 "memory of the sampler runs out over one process: status 0"
	like "$(cat err)" "^pmp: not enough memory to take a sample of $target_pid$" "which is said"
	like "$(cat out)" "^sleeper[;-].* 3$" "the other one is sampled on"
	unlike "$(cat out)" "^crowd[;-]" "it is left out"
	stop_process "$target_pid"
	stop_process "$small"
}

check_sampler_exec() {
	[ -x "$PMP_FAULTY" ] || { skip "no $PMP_FAULTY"; return; }
	start_target sleeper || return
	PMP_FAULT=sampler-exec "$PMP_FAULTY" -f folded -n 2 -o out.folded -p "$target_pid" \
		</dev/null >out 2>err
	is $? 1 "a sampler that tries to execute a program: status 1"
	like "$(cat err)" 'the sampler was ended by signal 31 \(Bad system call\)' \
		"that was its end, and pmp says so"
	ok "untouched $target_pid" "the target is as it was"
}

# Nothing that a target's file says reaches a library there.
check_sampler_parses() {
	! grep -q '^STATIC_EXE_TRUE = $' "$top_builddir/Makefile" || { skip "a static pmp"; return; }
	${CC:-cc} -D_GNU_SOURCE -O2 -shared -fPIC -o whoparses.so \
		"$top_srcdir/t/lib/whoparses.c" -ldl || { ok false "whoparses.so"; return; }
	for kind in packed frames; do
		# Call-frame information is in .debug_frame alone.
		build victim -fno-asynchronous-unwind-tables -fno-unwind-tables -gz=zlib \
			"$live_target/sleeper.c" || return
		[ "$kind" = packed ] || python3 "$top_srcdir/t/lib/hostile.py" frames victim
		start_target "$tmp/victim" || return
		LD_PRELOAD=$tmp/whoparses.so "$PMP" --raw -n 2 -i 10ms -p "$target_pid" >raw 2>err
		is $? 0 "call-frame information that is packed ($kind): status 0"
		like "$(cat raw)" ' in target_wait_end ' "a stack up to where it is needed"
		is "$(cat err)" "" "no library parses or unpacks anything in the sampler"
		stop_process "$target_pid"
	done
	build victim -fno-asynchronous-unwind-tables -fno-unwind-tables -gz=zlib -fno-omit-frame-pointer \
		"$live_target/sleeper.c" || return
	start_target "$tmp/victim" || return
	"$PMP" --raw -n 2 -i 10ms -p "$target_pid" >raw 2>err
	like "$(cat raw)" ' in main ' "with frame pointers its stacks are whole"
	unlike "$(cat raw)" 'no unwind information' "none ends before its root"
	stop_process "$target_pid"
	[ -x "$PMP_FAULTY" ] || { skip "no $PMP_FAULTY"; return; }
	start_target sleeper || return
	PMP_FAULT=sampler-parses LD_PRELOAD=$tmp/whoparses.so "$PMP_FAULTY" --raw -p "$target_pid" \
		>raw 2>err
	is $? 1 "one that has libelf read something is seen: status 1"
	like "$(cat err)" 'the sampler ended unexpectedly|the sampler was ended|status 99' "and ended"
}

# What of the rights of root is left to each process of pmp.
check_rights() {
	[ "$(id -u)" -eq 0 ] || { skip "not root"; return; }
	start_target sleeper || return
	"$PMP" --serve=0 -q -p "$target_pid" </dev/null >out 2>err &
	pmp=$!
	test_pids="$test_pids $pmp"
	sampling "$pmp" 5
	wait_for "[ \"\$(status_of $test_sampler Seccomp)\" = 2 ]" 5
	# sys_ptrace, dac_read_search, checkpoint_restore, ipc_owner, net_admin, sys_nice; and
	# sys_admin where the kernel does not know the third.
	ours=$(printf '%d' "0x$(status_of $$ CapPrm)")
	kept=$((ours & 0x10000889004))
	[ $((ours >> 40 & 1)) -eq 1 ] || kept=$((kept | ours & 0x200000))
	kept=$(printf '%016x' "$kept")
	is "$(status_of "$test_sampler" CapEff)" "$kept" "the sampler keeps six capabilities"
	is "$(status_of "$test_sampler" CapPrm)" "$kept" "and can have no others"
	is "$(status_of "$test_sampler" CapBnd)" "$kept" "by no program either"
	is "$(status_of "$test_sampler" CapInh)" 0000000000000000 "it leaves none to programs"
	is "$(status_of "$test_sampler" CapAmb)" 0000000000000000 "in neither way"
	for name in pmp-keeper pmp-server pmp-namers pmp-namer; do
		parent=$pmp
		[ "$name" != pmp-server ] || parent=$(pgrep -x -P "$pmp" pmp-keeper)
		[ "$name" != pmp-namer ] || parent=$(pgrep -x -P "$pmp" pmp-namers)
		process=
		wait_for "process=\$(pgrep -x -P $parent $name)"
		for kind in CapInh CapPrm CapEff CapBnd CapAmb; do
			is "$(status_of "$process" "$kind")" 0000000000000000 "$name has none: $kind"
		done
		is "$(status_of "$process" NoNewPrivs)" 1 "$name gets none"
		is "$(status_of "$process" Uid | tr -s '\t' ' ')" "65531 65531 65531 65531" \
			"$name is a user who owns nothing"
	done
	stop_process "$pmp"
}

# rights_of PID: all that /proc says of its rights.
rights_of() {
	grep -E '^(Cap|NoNewPrivs|Uid)' "/proc/$1/status"
}

# front_has PID MASK TEXT: of root's rights it has these, and gets no others.
front_has() {
	front_kept=$(printf '%016x' $((0x$(status_of $$ CapPrm) & $2)))
	wait_for "[ \"\$(status_of $1 NoNewPrivs)\" = 1 ]" 20
	is "$(status_of "$1" CapEff)" "$front_kept" "$3: what is left to the front"
	is "$(status_of "$1" CapPrm)" "$front_kept" "$3: it can have no others"
	is "$(status_of "$1" CapInh):$(status_of "$1" CapAmb)" 0000000000000000:0000000000000000 \
		"$3: it leaves none to programs"
	[ "$(id -u)" -ne 0 ] ||
		is "$(status_of "$1" CapBnd)" 0000000000000000 "$3: by no program either"
	is "$(status_of "$1" NoNewPrivs)" 1 "$3: and gets none"
	is "$(for task in "/proc/$1/task"/*; do status_of "${task#/proc/}" CapPrm; done | sort -u)" \
		"$front_kept" "$3: in none of its threads"
}

# on_terminal ARG...: pmp on a terminal, which script plays; its process is in $pmp.
on_terminal() {
	script -q -c "exec '$PMP' $*" /dev/null </dev/null >screen 2>&1 &
	terminal=$!
	test_pids="$test_pids $terminal"
	pmp=
	wait_for "pmp=\$(pgrep -P $terminal)"
}

# Files of others and output: dac_override, dac_read_search, fowner; sys_ptrace while it
# samples; kill, setuid and setgid for what it starts later as another user.
check_front() {
	files=0xe
	traces=0x8000e
	starts=0xe0
	samplers=0x10000889004
	[ "$((0x$(status_of $$ CapPrm) >> 40 & 1))" -eq 1 ] || samplers=$((samplers | 0x200000))
	start_target sleeper || return
	first=$target_pid
	"$PMP" -q -f folded -d 600 -o out.folded -p "$first" </dev/null >out 2>err &
	pmp=$!
	test_pids="$test_pids $pmp"
	front_has "$pmp" "$traces" "a file"
	stop_process "$pmp"
	"$PMP" -q --serve=0 -p "$first" </dev/null >out 2>err &
	pmp=$!
	test_pids="$test_pids $pmp"
	front_has "$pmp" "$((traces | starts))" "--serve"
	stop_process "$pmp"
	start_target sleeper || return
	"$PMP" -q -f pprof -d 600 -o out.pb.gz -p "$first" -p "$target_pid" </dev/null >out 2>err &
	pmp=$!
	test_pids="$test_pids $pmp"
	front_has "$pmp" "$((traces | samplers))" "two targets"
	sampling "$pmp"
	kill -INT "$pmp"
	wait "$pmp"
	command -v script >/dev/null || { skip "no script"; return; }
	on_terminal -p "$first"
	front_has "$pmp" "$((traces | samplers))" "the live view"
	stop_process "$terminal"
	on_terminal out.pb.gz
	front_has "$pmp" "$((files | starts))" "a saved profile"
	stop_process "$terminal"
}

# With a file for each target there is one more process, which waits.
check_front_waits() {
	[ "$(id -u)" -eq 0 ] || { skip "not root"; return; }
	start_target sleeper || return
	first=$target_pid
	start_target sleeper || return
	"$PMP" -q -f folded -d 600 -o 'out-%p.folded' -p "$first" -p "$target_pid" </dev/null >out 2>err &
	pmp=$!
	test_pids="$test_pids $pmp"
	front_has "$pmp" 0 "two files, who waits"
	wait_for "[ \$(pgrep -c -P $pmp) -eq 2 ]"
	for each in $(pgrep -P "$pmp"); do
		front_has "$each" 0x8000e "two files, who writes one"
	done
	stop_process "$pmp"
}

# A command is started with all that it would have without pmp.
check_command_rights() {
	cat >asks <<'END'
#!/bin/sh
grep -E '^(Cap|NoNewPrivs|Uid|Seccomp:)' /proc/self/status >"$1"
END
	chmod 755 asks
	./asks alone
	for option in "" --heap --children --max-cpu=1; do
		# shellcheck disable=SC2086
		"$PMP" -q -f pprof -o out.pb.gz $option -- ./asks "with$option" >out 2>err
		is "$(cat "with$option")" "$(cat alone)" "a command has its rights: pmp $option --"
	done
	[ -x "$PMP_FAULTY" ] || { skip "no $PMP_FAULTY"; return; }
	PMP_FAULT=front-rights "$PMP_FAULTY" -v -f folded -o out.folded -- ./asks with >out 2>err
	like "$(cat err)" '^pmp: pmp itself has more rights than it should: it has all capabilities of its user$' \
		"what pmp itself has kept -v says"
	PMP_FAULT=front-rights "$PMP_FAULTY" -f folded -o out.folded -- ./asks with >out 2>err
	unlike "$(cat err)" 'more rights' "without -v nothing is said"
}

# Containers often have root without dac_read_search: what root has instead has to do.
check_container() {
	[ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null || { skip "not root, or no setpriv"; return; }
	chmod 711 .
	cp "$live_target/sleeper" sleeper-of-theirs
	chmod 755 sleeper-of-theirs
	start_process setpriv --reuid 65533 --regid 65533 --clear-groups "$tmp/sleeper-of-theirs"
	wait_for "grep -q ^ready '$target_out'"
	setpriv --bounding-set -dac_read_search,-checkpoint_restore,-sys_admin,-net_admin \
		"$PMP" --raw -n 2 -i 10ms -p "$target_pid" >raw 2>err
	is $? 0 "root of a container, a process of another user: status 0"
	like "$(cat raw)" ' in main \(\)' "and its stack"
	setpriv --bounding-set -dac_read_search,-dac_override "$PMP" --raw -p "$target_pid" >raw 2>err
	is $? 4 "with neither right it cannot"
	like "$(cat err)" 'lacks CAP_DAC_READ_SEARCH' "and says what is missing"
}

# fetch_from PROGRAM...: what is stripped has its debug file from a server, or from a program
# of this name in bin/; its cache is in $cache.
fetch_from() {
	build whole -Wl,--build-id=0xaabbccddeeff0011 "$live_target/sleeper.c" || return
	strip -o victim whole
	start_target "$tmp/victim" || return
	victim=$target_pid
	XDG_CACHE_HOME=$tmp/cache
	DEBUGINFOD_URLS=http://127.0.0.1:1
	export XDG_CACHE_HOME DEBUGINFOD_URLS
	cache=$tmp/cache/debuginfod_client
	user=$(id -u)
	[ "$user" -ne 0 ] || { cache=$cache.pmp user=65533; }
	mkdir -p bin
	chmod 711 . bin
}

# no_rights PID: of a program of others that pmp has started
no_rights() {
	for kind in CapInh CapPrm CapEff CapAmb; do
		is "$(status_of "$1" "$kind")" 0000000000000000 "without capabilities: $kind"
	done
	is "$(status_of "$1" NoNewPrivs)" 1 "and gets none by a program"
	[ "$(id -u)" -ne 0 ] ||
		is "$(status_of "$1" CapBnd)" 0000000000000000 "nor can it get any if root has started it"
	is "$(status_of "$1" Seccomp)" 2 "it has a filter of system calls"
}

check_fetcher() {
	command -v debuginfod-find >/dev/null || { skip "no debuginfod-find"; return; }
	command -v python3 >/dev/null || { skip "no python3"; return; }
	fetch_from || return
	mkdir -p files/aabbccddeeff0011
	echo silent >files/aabbccddeeff0011/debuginfo.hang
	start_process python3 "$top_srcdir/t/lib/debuginfod.py" files
	wait_for "grep -q ^ready '$target_out'" || return
	DEBUGINFOD_URLS=http://127.0.0.1:$(sed -n 's/^ready //p' "$target_out") \
		start_pmp --debuginfod --raw -p "$victim"
	wait_for "grep -q '^hang ' '$target_out'"
	find=$(pgrep -x -P "$pmp" debuginfod-find)
	ok "[ -n '$find' ]" "debuginfod-find asks a server"
	is "$(status_of "$find" Uid | tr -s '\t' ' ')" "$user $user $user $user" \
		"as a user of its own if root has started it"
	[ "$user" -ne 65533 ] ||
		is "$(status_of "$find" Groups | tr -d ' ')" "" "in no group"
	no_rights "$find"
	like "$(grep 'Max address space' "/proc/$find/limits")" ' 2147483648 ' "its memory has a limit"
	like "$(grep 'Max core file size' "/proc/$find/limits")" 'size +0 ' "it leaves no core"
	is "$(for fd in /proc/"$find"/fd/*; do readlink "$fd"; done |
		grep -v -e '^socket:' -e '^pipe:' -e '^/dev/null$' -e "^$cache/" -e '^anon_inode:')" "" \
		"it has no descriptor of pmp's but what it writes to"
	stop_process "$pmp"
	ok "wait_for '! alive $find'" "it ends with pmp, however that ends"
	unset XDG_CACHE_HOME DEBUGINFOD_URLS
}

# lacks WHAT MESSAGE [NETWORK]: on a kernel without it there are names, and -v says what is
# missing. What fetches needs the network.
lacks() {
	python3 "$top_srcdir/t/lib/without.py" "$1" \
		"$PMP" -v -f folded -n 1 --debuginfod -p "$victim" >out 2>err
	is $? 0 "without $1: status 0"
	like "$(cat out)" '__libc_start_main' "there are names"
	signals=${3:+, signals to processes of its user}
	like "$(cat err)" "^pmp: the process that reads files has more rights than it should: it has $2$3$signals\$" \
		"and -v says what is missing"
	like "$(cat err)" "^pmp: debuginfod-find has more rights than it should: it has $2$signals\$" \
		"and what debuginfod-find has not lost"
	[ "$1" = landlock ] ||
		like "$(cat err)" '^pmp: the sampler has more rights than it should: it has no filter of system calls' \
			"and that the sampler may make any call"
	python3 "$top_srcdir/t/lib/without.py" "$1" "$PMP" -f folded -n 1 -p "$victim" >out 2>err
	unlike "$(cat err)" 'more rights' "without -v nothing is said"
}

check_missing() {
	command -v python3 >/dev/null || { skip "no python3"; return; }
	landlock || { skip "no landlock"; return; }
	fetch_from || return
	lacks landlock 'no limit to files \(landlock\)'
	lacks seccomp 'no filter of system calls \(seccomp\)'
	lacks both 'no filter of system calls \(seccomp\), no limit to files \(landlock\)' \
		', the network'
	"$PMP" -v --debuginfod -f folded -n 1 -p "$victim" >out 2>err
	unlike "$(cat err)" 'more rights' "nothing is missing: nothing is said"
	unset XDG_CACHE_HOME DEBUGINFOD_URLS
}

# kept_by WHO WHAT: -v says that and no more.
kept_by() {
	is "$(grep "more rights" err | grep -v "the process that reads files")" \
		"pmp: $1 has more rights than it should: it has $2" "-v says what $1 has not lost"
}

# Older rules of landlock know no ports, or no signals: faults play them. A filter keeps from
# both; without one the network is open, and -v says so.
check_missing_old() {
	command -v python3 >/dev/null || { skip "no python3"; return; }
	[ -x "$PMP_FAULTY" ] || { skip "no $PMP_FAULTY"; return; }
	landlock 6 || { skip "no landlock, or an old one"; return; }
	start_target sleeper || return
	head -c 100000 /dev/urandom | gzip >noise.gz
	no_filter='no filter of system calls (seccomp)'
	signals='signals to processes of its user'
	for old in "3/, the network, $signals" "5/, $signals" "6/"; do
		PMP_FAULT=landlock-${old%%/*} python3 "$top_srcdir/t/lib/without.py" seccomp \
			"$PMP_FAULTY" -v -f folded -n 1 -p "$target_pid" >out 2>err
		is "$(grep 'the process that reads files has more' err)" \
			"pmp: the process that reads files has more rights than it should: it has $no_filter${old#*/}" \
			"landlock ${old%%/*} and no seccomp: -v says what the process that reads files has"
		PMP_FAULT=landlock-${old%%/*} python3 "$top_srcdir/t/lib/without.py" seccomp \
			"$PMP_FAULTY" -v -f folded noise.gz >out 2>err
		kept_by "what looks at packed files" "$no_filter${old#*/}"
		PMP_FAULT=landlock-${old%%/*} "$PMP_FAULTY" -v -f folded -n 1 -p "$target_pid" >out 2>err
		unlike "$(cat err)" 'files has more rights' "with a filter it has no more"
	done
}

# The same of what unpacks cores, and of what looks whether a file is one.
check_missing_unpacker() {
	{ command -v zstd && command -v gcore && command -v python3; } >/dev/null ||
		{ skip "no zstd, no gcore, no python3"; return; }
	landlock || { skip "no landlock"; return; }
	unpacker || { skip "gcore writes no core"; return; }
	head -c 100000 /dev/urandom | gzip >noise.gz
	seccomp='no filter of system calls (seccomp)'
	landlock='no limit to files (landlock)'
	for missing in "landlock/$landlock" "seccomp/$seccomp" \
		"both/$seccomp, $landlock, the network, signals to processes of its user"; do
		for file in zstd/core.zst "what looks at packed files/noise.gz"; do
			python3 "$top_srcdir/t/lib/without.py" "${missing%%/*}" \
				"$PMP" -v -f folded "${file#*/}" </dev/null >out 2>err
			kept_by "${file%/*}" "${missing#*/}"
		done
	done
	for file in core.zst noise.gz; do
		"$PMP" -v -f folded $file </dev/null >out 2>err
		unlike "$(cat err)" 'more rights' "nothing is missing: nothing is said, $file"
		python3 "$top_srcdir/t/lib/without.py" both "$PMP" -f folded $file </dev/null >out 2>err
		unlike "$(cat err)" 'more rights' "without -v nothing is said, $file"
	done
	"$PMP" -v --no-sandbox -f folded core.zst </dev/null >out 2>err
	unlike "$(cat err)" 'more rights' "nor with --no-sandbox: then that is wanted"
	[ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null || { skip "not root, or no setpriv"; return; }
	setpriv --bounding-set -setuid "$PMP" -v -f folded noise.gz >out 2>err
	kept_by "what looks at packed files" "the user id of root"
	setpriv --bounding-set -setuid "$PMP" -v -f folded core.zst >out 2>err
	is $? 2 "a program that would be root's is not started: status 2"
	like "$(cat err)" 'cannot unpack core[.]zst: zstd: Operation not permitted' "and the reason"
}

# The same of the server, and with faults as if the kernel could not.
check_missing_filters() {
	start_target sleeper || return
	serving="--serve=0 -v"
	if command -v python3 >/dev/null; then
		# shellcheck disable=SC2086
		python3 "$top_srcdir/t/lib/without.py" seccomp "$PMP" $serving -p "$target_pid" \
			</dev/null >out 2>err &
		pmp=$!
		test_pids="$test_pids $pmp"
		ok "wait_for 'grep -q \"^pmp: the server has more rights than it should: it has no filter\" err'" \
			"without seccomp: -v says it of the server"
		ok "wait_for 'grep -q \"^pmp: the sampler has more rights than it should: it has no filter\" err'" \
			"and of the sampler"
		stop_process "$pmp"
	fi
	[ -x "$PMP_FAULTY" ] || { skip "no $PMP_FAULTY"; return; }
	for what in sampler server; do
		# shellcheck disable=SC2086
		PMP_FAULT=$what-unfiltered "$PMP_FAULTY" $serving -p "$target_pid" </dev/null >out 2>err &
		pmp=$!
		test_pids="$test_pids $pmp"
		ok "wait_for 'grep -q \"^pmp: the $what has more rights than it should: it has no filter of system calls (seccomp)\" err'" \
			"a $what without a filter: -v says so"
		wait_for "grep -q serving err"
		is "$(grep -c 'more rights' err)" 1 "and of nothing else"
		stop_process "$pmp"
	done
	PMP_FAULT=sampler-unfiltered "$PMP_FAULTY" -f folded -n 1 -p "$target_pid" >out 2>err
	is "$?:$(grep -c 'more rights' err)" 0:0 "without -v nothing is said"
}

# One that tries what it must not, and what it must be able to do.
check_fetcher_tries() {
	fetch_from || return
	mkdir -p open
	chmod 777 open
	echo secret >secret
	chmod 644 secret
	cat >bin/debuginfod-find <<END
#!/bin/sh
pmp=\$PPID
try() {
	if sh -c "\$1" >/dev/null 2>&1; then echo "can: \$1"; else echo "cannot: \$1"; fi >>tried
}
try ': >made'
try 'cat /etc/passwd'
try ': >$tmp/open/file'
try 'cat $tmp/secret'
try 'ls $tmp/open'
try 'ln -s /etc/passwd link'
try 'mkfifo fifo'
try 'cat /etc/shadow'
try "kill -0 \$pmp"
try 'unshare -Ur true'
echo "\$ANSWER"
END
	chmod 755 bin/debuginfod-find
	mkdir -p "$(dirname "$cache")"
	ANSWER=./made PATH=$tmp/bin:$PATH "$PMP" -q --debuginfod --raw -p "$victim" >out 2>err
	is $? 0 "a debuginfod-find that tries all sorts of things: status 0"
	tried=$(cat "$cache/tried")
	like "$tried" '^can: : >made' "it can write into its cache"
	like "$tried" '^can: cat /etc/passwd' "and read what clients of the network read"
	[ "$(id -u)" -ne 0 ] ||
		like "$tried" '^cannot: cat /etc/shadow' "it can read no secret of root"
	if landlock; then
		like "$tried" '^cannot: : >.*/open/file' "it can write nowhere else"
		like "$tried" '^cannot: cat .*/secret' "it can read nothing else"
		like "$tried" '^cannot: ls ' "it can read no names of files"
		like "$tried" '^cannot: ln ' "it can make no links"
		like "$tried" '^cannot: mkfifo' "it can make no FIFOs"
	else
		skip "no landlock"
	fi
	[ "$(id -u)" -ne 0 ] || like "$tried" '^cannot: kill' "it can send pmp no signal"
	like "$tried" '^cannot: unshare' "it can make no namespaces"
	unset XDG_CACHE_HOME DEBUGINFOD_URLS
}

# The path that it prints may lead anywhere. A FIFO whose writer waits shows whether it is
# opened.
check_fetcher_path() {
	fetch_from || return
	# shellcheck disable=SC2016 # for the program
	printf '#!/bin/sh\necho "$ANSWER"\n' >bin/debuginfod-find
	chmod 755 bin/debuginfod-find
	mkdir -p "$cache/id"
	mkfifo "$cache/id/debuginfo" outside
	ln -s "$tmp" "$cache/link"
	ln -s "$tmp/outside" "$cache/id/name"
	chown -R -h "$user" "$cache"
	echo x >"$cache/id/debuginfo" &
	within=$!
	echo x >outside &
	without=$!
	test_pids="$test_pids $within $without"
	for answer in ./id/debuginfo ./../../outside ./link/outside ./id/name "$tmp/outside"; do
		ANSWER=$answer PATH=$tmp/bin:$PATH timeout 60 "$PMP" -q --debuginfod --raw -p "$victim" \
			>out 2>err
		is "$?" 0 "debuginfod-find says $answer: status 0"
		ok "alive $within && alive $without" "it is not opened"
	done
	rm -f "$cache/id/debuginfo"
	cp whole "$cache/id/debuginfo"
	chown "$user" "$cache/id/debuginfo"
	for owner in "$user" 1; do
		[ "$(id -u)" -ne 0 ] || chown "$owner" "$cache/id/debuginfo"
		ANSWER=./id/debuginfo PATH=$tmp/bin:$PATH "$PMP" -q --debuginfod --raw -p "$victim" \
			>"out.$owner" 2>err
	done
	like "$(cat "out.$user")" ' in main \(\) ' "a file there is used"
	[ "$(id -u)" -ne 0 ] || unlike "$(cat out.1)" ' in main \(\) ' "but not that of another user"
	unset XDG_CACHE_HOME DEBUGINFOD_URLS
}

# Who has a lease on a file makes those wait who open it, for 45 s, and again and again.
check_fetcher_lease() {
	command -v perl >/dev/null || { skip "no perl"; return; }
	fetch_from || return
	cat >bin/debuginfod-find <<'END'
#!/bin/sh
perl -e '
	$SIG{IO} = "IGNORE";
	open(FILE, "<", "id/debuginfo") && fcntl(FILE, 1024, 1) or exit 1;
	open(TOLD, ">", "leased") && print(TOLD $$) && close(TOLD);
	sleep(100)' </dev/null >/dev/null 2>&1 &
for wait in $(seq 100); do [ -s leased ] || sleep 0.1; done
echo ./id/debuginfo
END
	chmod 755 bin/debuginfod-find
	mkdir -p "$cache/id"
	cp whole "$cache/id/debuginfo"
	chown -R "$user" "$cache"
	PATH=$tmp/bin:$PATH timeout -s KILL 30 "$PMP" -q --debuginfod --raw -p "$victim" >out 2>err
	is "$?" 0 "a file with a lease: pmp does not wait for it"
	[ -s "$cache/leased" ] || { skip "no lease: $(cat err)"; return; }
	ok "wait_for '! alive $(cat "$cache/leased")'" "what debuginfod-find has started ends with it"
	unset XDG_CACHE_HOME DEBUGINFOD_URLS
}

# A program that unpacks a core: $ATTEMPT is what it tries first; if it can do that, nothing
# comes of the core.
unpacker() {
	mkdir -p bin open
	chmod 711 .
	chmod 777 open
	echo secret >secret
	chmod 644 secret
	cat >bin/zstd <<END
#!/bin/sh
[ "\$ATTEMPT" != wait ] || exec sleep 600
sh -c "\$ATTEMPT" >/dev/null 2>&1 && exit 3
exec $(command -v zstd) "\$@"
END
	chmod 755 bin/zstd
	cp "$top_builddir/t/target/demo" program
	start_process "$tmp/program"
	wait_for "grep -q ^ready '$target_out'"
	"$PMP" -q -o saved.pb.gz -p "$target_pid"
	gcore -o core "$target_pid" >gcore.log 2>&1
	zstd -q -f "core.$target_pid" -o core.zst 2>zstd.log
	stop_process "$target_pid"
	[ -s core.zst ]
}

# unpack [OPTION]...: status of pmp
unpack() {
	PATH=$tmp/bin:$PATH timeout 60 "$PMP" -f folded "$@" core.zst >out 2>err
}

check_unpacker() {
	{ command -v zstd && command -v gcore; } >/dev/null || { skip "no zstd, no gcore"; return; }
	unpacker || { skip "gcore writes no core"; return; }
	export ATTEMPT
	ATTEMPT='wait'
	PATH=$tmp/bin:$PATH "$PMP" -f folded core.zst </dev/null >out 2>err &
	pmp=$!
	test_pids="$test_pids $pmp"
	find=
	wait_for "find=\$(pgrep -x -P $pmp sleep)"
	[ "$(id -u)" -ne 0 ] ||
		is "$(status_of "$find" Uid | tr -s '\t' ' ')" "65530 65530 65530 65530" \
			"what unpacks a core is a user who owns nothing, and runs nothing else"
	no_rights "$find"
	like "$(grep 'Max file size' "/proc/$find/limits")" 'size +0 ' "it writes no file"
	is "$(for fd in /proc/"$find"/fd/*; do readlink "$fd"; done |
		grep -v -e '^pipe:' -e '^/dev/null$' -e '/core.zst$')" "" "it has no other file of pmp's"
	stop_process "$pmp"
	ok "wait_for '! alive $find'" "it ends with pmp, however that ends"

	# Saved profiles that have been read: each by a process, which ends. The last may be left.
	PATH=$tmp/bin:$PATH "$PMP" -q -f folded saved.pb.gz saved.pb.gz saved.pb.gz saved.pb.gz core.zst \
		</dev/null >out 2>err &
	pmp=$!
	test_pids="$test_pids $pmp"
	wait_for "pgrep -x -P $pmp sleep"
	readers=$(pgrep -c -P "$(pgrep -x -P "$pmp" pmp-namers)")
	ok "[ $readers -le 2 ]" "of those that have read files one is left, beside one to come: $readers"
	stop_process "$pmp"

	# Who has the user of the processes that read files.
	other=1
	if [ "$(id -u)" -eq 0 ]; then
		setpriv --reuid=65531 --regid=65531 --clear-groups sleep 600 &
		other=$!
		test_pids="$test_pids $other"
	fi
	for ATTEMPT in "cat $tmp/secret" "echo x >$tmp/open/file" "ls $tmp/open" "kill -0 $$" \
		"kill -0 $other" \
		"unshare -Ur true" "python3 -c 'import socket; socket.socket().connect((\"127.0.0.1\", 22))'"; do
		case $ATTEMPT in
		kill*) [ "$(id -u)" -eq 0 ] || continue ;;
		cat* | echo* | ls*) landlock || { skip "no landlock"; continue; } ;;
		esac
		unpack
		is "$?:$(head -c 200 err)" "0:" "it cannot: ${ATTEMPT%%\'*}"
		unlike "$(cat out)" '^$' "and pmp gets its core"
	done
	if [ "$(id -u)" -eq 0 ]; then
		setpriv --reuid=65530 --regid=65530 --clear-groups sleep 600 &
	else
		sleep 600 &
	fi
	other=$!
	test_pids="$test_pids $other"
	for ATTEMPT in "kill -0 $other" "prlimit --pid $other --core=0"; do
		PATH=$tmp/bin:$PATH python3 "$top_srcdir/t/lib/without.py" landlock \
			"$PMP" -f folded core.zst >out 2>err
		is "$?:$(head -c 200 err)" "0:" "nor, without landlock, a process of its own user: $ATTEMPT"
	done
	mkdir -p pkg/bin pkg/lib linked
	echo : >pkg/lib/part
	printf '#!/bin/sh\n. "%s/pkg/lib/part"\nexec %s "$@"\n' "$tmp" "$(command -v zstd)" >pkg/bin/zstd
	chmod 755 pkg/bin/zstd
	ln -s ../pkg/bin/zstd linked/zstd
	PATH=$tmp/linked:$PATH "$PMP" -f folded core.zst >out 2>err
	is "$?:$(head -c 200 err)" "0:" "one that is a link has its libraries where it is"
	ATTEMPT="cat $tmp/secret"
	unpack --no-sandbox
	is $? 2 "with --no-sandbox it can"
	[ -x "$PMP_FAULTY" ] || { skip "no $PMP_FAULTY"; return; }
	PMP_FAULT=unpacker-rights PATH=$tmp/bin:$PATH "$PMP_FAULTY" -f folded core.zst >out 2>err
	is $? 2 "and one with the rights of pmp is seen"
	unset ATTEMPT
}

# Who looks whether a gzip file is a core, without rights.
check_judge() {
	command -v strace >/dev/null || { skip "no strace"; return; }
	head -c 100000 /dev/urandom | gzip >noise.gz
	strace -f -o trace "$PMP" -f folded noise.gz >out 2>err
	is $? 2 "something else that is packed: status 2"
	judge=$(sed -n 's/^\([0-9]*\) .*close_range(0, .*/\1/p' trace | head -n 1)
	grep "^$judge " trace | sed '1,/SECCOMP_MODE_FILTER/d' >after
	ok "[ -s after ]" "a process that has a filter of system calls looks at it"
	is "$(grep -Ev ' (brk|mmap|mprotect|munmap|mremap|madvise|futex|getrandom|exit_group)\(| <[.]{3} [a-z_]+ resumed>| exited | killed ' after)" "" \
		"and only computes"
	[ -x "$PMP_FAULTY" ] || { skip "no $PMP_FAULTY"; return; }
	PMP_FAULT=judge-still timeout 60 "$PMP_FAULTY" -f folded noise.gz >out 2>err
	is $? 2 "one that never answers is waited for, for a while: status 2"
	like "$(cat err)" 'damaged, or not a profile' "what it looked at is no core then"
}

check_no_filter() {
	[ -x "$PMP_FAULTY" ] || { skip "no $PMP_FAULTY"; return; }
	start_target sleeper || return
	PMP_FAULT=no-filter "$PMP_FAULTY" --raw -p "$target_pid" >raw 2>err
	is $? 0 "a filter cannot be installed, of a kernel that has them: status 0"
	like "$(cat err)" 'the process that reads files ended unexpectedly' "no file is read without"
	like "$(cat raw)" '^#0 ' "the stacks are there"
	unlike "$(cat raw)" ' in main ' "without names"
}

# Others cannot have root make a cache where they like.
check_fetcher_cache() {
	[ "$(id -u)" -eq 0 ] || { skip "not root"; return; }
	fetch_from || return
	printf '#!/bin/sh\nexit 1\n' >bin/debuginfod-find
	chmod 755 bin/debuginfod-find
	mkdir -p theirs elsewhere
	chown 1 theirs
	XDG_CACHE_HOME=$tmp/theirs
	PATH=$tmp/bin:$PATH HOME=$tmp "$PMP" -q --debuginfod --raw -p "$victim" >out 2>err
	is "$(ls -A theirs)" "" "root makes no cache in the folder of another user"
	XDG_CACHE_HOME=
	ln -s "$tmp/elsewhere" link
	DEBUGINFOD_CACHE_PATH=$tmp/theirs/cache PATH=$tmp/bin:$PATH \
		"$PMP" --debuginfod --raw -p "$victim" >out 2>err
	is $? 0 "nor where it is told to: status 0"
	like "$(cat err)" '^pmp: --debuginfod fetches nothing: cannot make its cache .*/theirs/cache.pmp: Operation not permitted' \
		"and the reason"
	is "$(ls -A theirs)" "" "nothing is made there"
	unset XDG_CACHE_HOME DEBUGINFOD_URLS
}

run_checks "$@"

#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Too little of something: a clear message and a status of the list, never a crash,
# and the target is left alone.

# shellcheck source=t/lib/test.sh
. "${top_srcdir:-.}/t/lib/test.sh"

# A leak checker needs processes and descriptors of its own.
ASAN_OPTIONS=detect_leaks=0:${ASAN_OPTIONS:-}
export ASAN_OPTIONS

start_target sleeper 2
target=$target_pid

# fair STATUS DESCRIPTION: it ended well, or with a message and a status of pmp(1).
fair() {
	case $1 in
	0) ok "[ -s out ]" "$2: a profile" ;;
	1) like "$(cat err)" '^pmp: .|memory' "$2: status 1 and a message" ;;
	127) like "$(cat err)" 'error while loading|cannot|memory' "$2: not loaded at all" ;;
	*) ok false "$2: status $1" || diag "$(cat err)" ;;
	esac
}

# limited OPTION LIMIT COMMAND ARG...: what is redirected was opened before.
limited() {
	sh -c 'ulimit -c 0; ulimit "$1" "$2"; shift 2; exec "$@"' sh "$@"
}

# Sanitizers reserve terabytes of addresses.
if limited -v 400000 "$PMP" -V >/dev/null 2>&1; then
	for kilobytes in 200000 60000 30000 20000 16000 12000 10000 8000 6000 4000; do
		limited -v "$kilobytes" "$PMP" -f folded -n 2 -i 10ms -p "$target" >out 2>err
		fair "$?" "$kilobytes KiB of addresses"
	done
else
	skip "this build needs more address space than can be limited"
fi

for descriptors in 3 4 5 6 7 8 9 10 12 16 32; do
	limited -n "$descriptors" "$PMP" -f folded -n 2 -i 10ms -p "$target" >out 2>err
	fair "$?" "$descriptors descriptors"
done

err=$(limited -f 0 "$PMP" -q -n 2 -i 10ms -o x.folded -p "$target" 2>&1)
is "$?" 5 "files of no size: status 5, no signal"
is "$err" "pmp: cannot write x.folded: File too large
hint: raise the limit on file sizes (ulimit -f)" "its message"
is "$(find . -name '*folded*' -o -name '.pmp*')" "" "no file is left"

if [ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null && command -v prlimit >/dev/null; then
	setpriv --reuid 65533 --clear-groups prlimit --nproc=1 \
		"$PMP" -f folded -n 1 -p "$target" >out 2>err
	is "$?" 1 "no more processes: status 1"
	is "$(cat err)" "pmp: cannot start the process that reads files: Resource temporarily unavailable" "its message"
	setpriv --reuid 65533 --clear-groups prlimit --nproc=1 \
		"$PMP" -f folded -- true >out 2>err
	is "$?" 125 "no more processes, with a command: 125"
else
	skip "needs root, setpriv and prlimit"
fi

ok "untouched $target" "the target is left alone"

# Little CPU time for many threads: the rate is lowered, and it says so.
start_target threads 400
"$PMP" -f folded -d 6 -i 500us --max-cpu 1 -p "$target_pid" >out 2>err
is "$?" 0 "--max-cpu 1 with 400 threads at 2000 Hz"
like "$(cat err)" '^pmp: sampling falls behind: 2000 Hz asked, [0-9.]+ Hz reached with 401 threads' \
	"says so"

# What the process that reads files takes counts as well: here 3 seconds for each answer.
reads_long() {
	PMP_FAULT=$1 "$PMP_FAULTY" -f folded --every 500ms -d 6 -i 20ms -o 'long-%c.folded' \
		-p "$target_pid" >out 2>err
	is "$?" 0 "$1: status 0"
}
if [ -x "$PMP_FAULTY" ] && ! grep -q '^PMP_CFLAGS = .*-fsanitize' "$top_builddir/Makefile"; then
	mkdir victim
	${CC:-cc} -g -D_GNU_SOURCE -pthread -o victim/program "$top_srcdir/t/target/sleeper.c" &&
		start_target "$tmp/victim/program"
	reads_long none
	unlike "$(cat err)" 'falls behind' "little CPU time: the rate is kept"
	reads_long namer-long
	like "$(cat err)" '^pmp: sampling falls behind: 50 Hz asked, .*, --max-cpu is 5%' \
		"the CPU time of the process that reads files counts"
	reads_long namer-long,forget-helpers
	unlike "$(cat err)" 'falls behind' "the rate is kept if it is forgotten: the fault"
	PMP_FAULT=late-first "$PMP_FAULTY" -q -f folded -d 100ms -p "$target_pid" >out 2>err
	is "$?" 0 "no processor for longer than -d, at first: status 0"
	is "$(sed 's/.* //' out)" 1 "and one snapshot is taken"
else
	skip "no $PMP_FAULTY, or sanitizers"
fi
done_testing

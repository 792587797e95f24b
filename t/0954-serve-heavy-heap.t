#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# As 0954-serve-heavy, of what a recorder of a heap has found: when that are many stacks,
# another process writes its pages, and pmp goes on.

# shellcheck source=t/lib/test.sh
. "${top_srcdir:-.}/t/lib/test.sh"
# shellcheck source=t/lib/serve.sh
. "$top_srcdir/t/lib/serve.sh"
# shellcheck source=t/lib/writers.sh
. "$top_srcdir/t/lib/writers.sh"

[ -f "$top_builddir/libpmp/heap/libpmp-heap.so" ] || skip_all "no recorder"
[ -x "$PMP_FAULTY" ] || skip_all "no $PMP_FAULTY"

# Each block has a call path of its own: the digits of its number. Then one thread sleeps, so
# that there are few stacks of threads.
cat >paths.c <<'END_C'
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define BLOCKS 25000
#define DEPTH 8

static void *volatile blocks[BLOCKS + 1];
static void go_down(int depth, unsigned long number, unsigned digits);

#define FUNCTION(name) \
	__attribute__((noinline)) static void name(int depth, unsigned long number, \
						   unsigned digits) \
	{ \
		if (depth) \
			go_down(depth - 1, number, digits / 4); \
		else \
			blocks[number] = malloc(40); \
		__asm__ volatile("" ::: "memory"); \
	}

FUNCTION(left) FUNCTION(right) FUNCTION(middle) FUNCTION(back)

static void go_down(int depth, unsigned long number, unsigned digits)
{
	void (*const ways[])(int, unsigned long, unsigned) = { left, right, middle, back };

	ways[digits % 4](depth, number, digits);
	__asm__ volatile("" ::: "memory");
}

int main(void)
{
	for (unsigned i = 0; i < BLOCKS; i++) {
		go_down(DEPTH, i, i);
		if (i % 100 == 0)
			usleep(5000);
	}
	for (;;)
		pause();
}
END_C
${CC:-cc} -g -O1 -o paths paths.c || skip_all "the target cannot be compiled"
HOME=$tmp
PMP=$PMP_FAULTY
PMP_FAULT=writer-stops${PMP_JUDGE_FAULT:+,$PMP_JUDGE_FAULT}
export HOME PMP_FAULT

start_server heavy --serve=0 --heap=exact -F 20 --max-cpu=100 -- ./paths
paths=$(pgrep -P "$server_pid" paths)

# blocks: that are known to live
blocks() {
	metric 'pmp_heap_live_blocks{.*}'
}
wait_for '[ "$(blocks)" -ge 25000 ]' 60 || diag "blocks: $(blocks)"

clients=
writers=$(metric pmp_writers_total)
for page in heap debug/pprof/heap pprof/heap memory; do
	name=$(echo "$page" | tr / -)
	fetch "$name" "$page"
	writer_writes "/$page"
	is "$(status "${url}healthz")" 200 "others are answered meanwhile"
	others_go_on "are taken, too"
	go_on
	join
	is "$(cat "$name.status")" 200 "/$page is answered"
done
is "$(metric pmp_writers_total)" $((writers + 4)) "each by a writer"
like "$(head -n 1 heap)" '^heap profile: *2[0-9]{4}: ' "with tens of thousands of blocks"
ok '[ "$(wc -l <heap)" -gt 20000 ]' "and tens of thousands of stacks"

fetch change 'debug/pprof/heap?debug=1&seconds=0.5' -D heads
writer_writes "a change"
others_go_on "are taken while a change is written"
go_on
join
is "$(cat change.status)" 200 "a change of the heap is answered"
like "$(head -n 1 change)" '^heap profile: *0: *0 \[ *0: *0\]' "nothing has changed"
like "$(tr -d '\r' <heads)" 'X-Pmp-Window: seconds=[0-9]+\.[0-9]+$' "how long that took"

fetch tree api/heap
writer_writes "the tree"
others_go_on "while the page wants a tree of the heap"
go_on
join
is "$(cat tree.status)" 200 "it is answered"

# What google-pprof asks for of such a profile.
sed -n 3p pprof-heap | grep -o '0x[0-9a-f]*' | tr '\n' + >asked
fetch names pprof/symbol -d @asked
writer_writes "names"
is "$(status "${url}healthz")" 200 "others are answered meanwhile"
others_go_on "are taken, too"
go_on
join
is "$(cat names.status)" 200 "names are answered"
like "$(cat names)" '^0x[0-9a-f]{16}.(left|right|middle|back)$' "those of functions that allocate"
like "$(cat names)" '0x[0-9a-f]{16}.main$' "up to main()"
fetch name "pprof/symbol?$(tr + '\n' <asked | tail -n 2 | head -n 1)"
writer_writes "a name"
go_on
join
is "$(cat name.status):$(wc -l <name)" 200:2 "one that stands in the address"

fetch killed heap
writer_writes "one that is killed"
kill -KILL "$(pgrep -P "$server_pid" pmp-writer)"
join
is "$(cat killed.status):$(cat killed)" "500:the answer took too long" "a writer that is killed"

fetch gone heap
writer_writes "one that is not wanted any more"
# shellcheck disable=SC2086
kill $clients
join 2>/dev/null
ok "wait_for '! pgrep -P $server_pid pmp-writer >pgrep.out'" \
	"a client that goes takes its writer along"
is "$(metric pmp_windows)" 0 "nothing is awaited any more"

# Few stacks of threads: what has no heap is written as before.
writers=$(metric pmp_writers_total)
is "$(status "${url}past/folded?seconds=10")" 200 "a profile of threads, which has few stacks"
is "$(metric pmp_writers_total)" "$writers" "needs no writer"

fetch last heap
writer_writes "the last one"
kill "$paths"
wait_for '! grep -q "^State:.*[RSD]" "/proc/$paths/status" 2>/dev/null'
go_on
join
is "$(cat last.status)" 200 "what is being written when the program ends is still sent"
wait "$server_pid" 2>/dev/null
is $? 143 "pmp ends as the program does"

# ---- with --children and --debuginfod --------------------------------------------------------

# What pmp starts for itself is none of those that the program has left to it. Names are known
# before a writer is started: it can fetch nothing.
DEBUGINFOD_URLS=file://$tmp/nothing
export DEBUGINFOD_URLS
start_server family --serve=0 --heap=exact --children --debuginfod -F 20 --max-cpu=100 -- ./paths
paths=$(pgrep -P "$server_pid" paths)
wait_for '[ "$(blocks)" -ge 25000 ]' 60 || diag "blocks: $(blocks)"
fetch heap heap
writer_writes "a heap with --children and --debuginfod"
others_go_on "are taken, too"
is "$(curl -s "${url}metrics" | grep -c '^pmp_target_up')" 1 "it is not taken for a child"
go_on
join
is "$(cat heap.status)" 200 "the heap is answered"
fetch tree api/heap
writer_writes "a tree"
go_on
join
ok "grep -q '\"left\"' tree" "which has names"
kill "$paths"
wait "$server_pid" 2>/dev/null

done_testing

#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# What a recorder has written down, over HTTP: all since the start, and what has changed for
# some seconds, to the last block; its totals as metrics; and what is said without a recorder.

# shellcheck source=t/lib/test.sh
. "${top_srcdir:-.}/t/lib/test.sh"
# shellcheck source=t/lib/serve.sh
. "$top_srcdir/t/lib/serve.sh"

[ -f "$top_builddir/libpmp/heap/libpmp-heap.so" ] || skip_all "no recorder"

# It keeps a thousand blocks of a thousand bytes at each USR1, and frees them at each USR2.
cat >keeper.c <<'END'
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define BLOCKS 1000

static void *blocks[BLOCKS];

__attribute__((noinline)) static void keep_blocks(void)
{
	for (int i = 0; i < BLOCKS; i++)
		blocks[i] = malloc(1000);
}

__attribute__((noinline)) static void drop_blocks(void)
{
	for (int i = 0; i < BLOCKS; i++)
		free(blocks[i]);
}

/* A thread of a group. */
static void *hold_block(void *block)
{
	pthread_setname_np(pthread_self(), "conn-7");
	*(void **)block = malloc(5000);
	for (;;)
		pause();
	return NULL;
}

static void *held;

int main(int argc, char **argv)
{
	pthread_t thread;
	sigset_t signals;
	char text[32];
	int fd, signal;

	(void)argc;
	sigemptyset(&signals);
	sigaddset(&signals, SIGUSR1);
	sigaddset(&signals, SIGUSR2);
	sigprocmask(SIG_BLOCK, &signals, NULL);
	pthread_create(&thread, NULL, hold_block, &held);
	while (!*(void *volatile *)&held)
		usleep(1000);
	fd = open(argv[1], O_WRONLY | O_CREAT | O_APPEND, 0600);
	if (write(fd, text, (size_t)snprintf(text, sizeof(text), "%d\n", getpid())) < 0)
		return 1;
	while (sigwait(&signals, &signal) == 0) {
		if (signal == SIGUSR1)
			keep_blocks();
		else
			drop_blocks();
		if (write(fd, ".\n", 2) < 0)
			return 1;
	}
	return 0;
}
END
${CC:-cc} -g -O1 -pthread -o keeper keeper.c || skip_all "the target cannot be compiled"
HOME=$tmp
export HOME

start_server first --serve=0 --heap=exact -F 5 -- ./keeper steps
wait_for '[ -s steps ]'
keeper=$(head -n 1 steps)

# tell SIGNAL...: and wait until it has been done
tell() {
	for signal in "$@"; do
		lines=$(wc -l <steps)
		kill "-$signal" "$keeper"
		wait_for "[ \$(wc -l <steps) -gt $lines ]"
	done
}

# metric NAME: its values
metric() {
	curl -s "${url}metrics" >metrics
	sed -n "s/^$1\({.*}\)\? //p" metrics
}

# change PAGE SIGNAL...: PAGE for two seconds, in which that is done; its answer in change
change() {
	curl -s -o change -D heads "$url$1" &
	client=$!
	test_pids="$test_pids $client"
	wait_for '[ "$(metric pmp_windows)" = 1 ]'
	shift
	tell "$@"
	wait "$client"
}

# sums: blocks and bytes that live, blocks and bytes that were allocated
sums() {
	sed -n '1s/^heap profile: *\(-\{0,1\}[0-9]*\): *\(-\{0,1\}[0-9]*\) \[ *\([0-9]*\): *\([0-9]*\)\] @ .*/\1 \2 \3 \4/p' "$1"
}

# ---- what has changed ----------------------------------------------------------------------

change 'debug/pprof/heap?debug=1&seconds=2' USR1
is "$(sums change)" "1000 1000000 1000 1000000" "blocks that were allocated, and live"
like "$(tr -d '\r' <heads)" 'X-Pmp-Window: seconds=2\.[0-9]' "how long that took"
curl -s "${url}debug/pprof/heap?debug=1" >all
like "$(sums all)" '^1[0-9]{3} [0-9]+ 1[0-9]{3} ' "without seconds all of them"
change 'debug/pprof/allocs?debug=1&seconds=2' USR2
is "$(sums change)" "-1000 -1000000 0 0" "blocks that were freed: less lives"
change 'pprof/heap?seconds=2' USR1 USR2
is "$(sums change)" "0 0 1000 1000000" "blocks that were allocated and freed, for gperftools"
curl -s "${url}pprof/heap?seconds=0.1" >change
is "$(sums change)" "0 0 0 0" "when nothing happens nothing has changed"
is "$(grep -c '@ 0x' change)" 0 "and there are no stacks"
change "pid/$keeper/heap?seconds=2" USR1
is "$(sums change)" "1000 1000000 1000 1000000" "of one process, as a format"
is "$(status "${url}pprof/growth?seconds=0.1")" 200 "how the heap has grown"
like "$(head -n 1 body)" ' growth$' "in that form"

if command -v go >/dev/null 2>&1; then
	fetch() {
		go tool pprof -sample_index="$1" -top "${url}debug/pprof/heap?seconds=2" \
			>top 2>go.err &
		client=$!
		test_pids="$test_pids $client"
		wait_for '[ "$(metric pmp_windows)" = 1 ]'
		tell "$2"
		wait "$client"
	}
	fetch inuse_space USR2
	like "$(cat top)" ' -976\.56kB .* keep_blocks$' "go tool pprof: less lives than before"
	like "$(cat top)" '^Duration: 2(\.[0-9]+)?s' "and how long that took"
	fetch alloc_objects USR1
	like "$(cat top)" ' 1000 .* keep_blocks$' "go tool pprof: what was allocated"
	go tool pprof -top "${url}debug/pprof/heap" >top 2>go.err
	unlike "$(cat top)" '^Duration' "all since the start is no change"
	like "$(cat top)" ' 976\.56kB .* keep_blocks$' "and has what lives"

	# labels PARAMETERS: of the heap
	labels() {
		curl -s -o labels.pb "${url}debug/pprof/heap?$1"
		go tool pprof -raw labels.pb >raw 2>>go.err
		grep -o '[a-z_]*:\[' raw | sort -u | tr -d ':[\n'
	}
	like "$(labels '')" '^(age)?bytespidprocessthread$' "labels, and numbers"
	like "$(cat raw)" 'thread:\[conn-N\]' "of a group"
	like "$(labels labels=group)" '^(age)?bytespidprocessthread$' "labels=group is the same"
	like "$(cat raw)" 'thread:\[conn-N\]' "of a group as well"
	like "$(labels labels=all)" '^(age)?bytespidprocessthread$' "labels=all"
	like "$(cat raw)" 'thread:\[conn-N\]' "has groups as well: so they are counted"
	is "$(labels labels=none)" "" "labels=none: none at all"
	like "$(cat raw)" '^ *[0-9]+ +[0-9]+ +1000 +1000000: ' "and the same amounts"
	is "$(status "${url}debug/pprof/heap?labels=some")" 400 "other labels there are not"
	is "$(cat body)" "labels is group, all or none" "which is said"
else
	tell USR2 USR1
	skip "no go tool pprof"
fi

# It cannot read what is less than before, but compare two profiles.
if command -v google-pprof >/dev/null 2>&1; then
	curl -s -o before.heap "${url}pprof/heap"
	change 'pprof/heap?seconds=2' USR2
	like "$(cat change)" '^# stacks that have less than before: 1; google-pprof leaves them out$' \
		"a change that google-pprof cannot read says so"
	curl -s -o after.heap "${url}pprof/heap"
	like "$(google-pprof --text --show_bytes --base=./before.heap ./keeper ./after.heap 2>/dev/null)" \
		'-1000000 .* keep_blocks$' "given two, it has the difference"
	tell USR1
else
	skip "no google-pprof"
fi

# ---- pages -----------------------------------------------------------------------------------

wait_for '[ "$(metric pmp_heap_live_blocks)" -ge 1000 ]'
is "$(status "${url}memory")" 200 "the format memory"
like "$(cat body)" "^memory of keeper \[$keeper\], .*, every call" "has totals"
like "$(cat body)" '^ *976\.56kB .* malloc < keep_blocks < main' "and stacks"
is "$(status "${url}memory?seconds=2")" 400 "it is not of some seconds"
is "$(status "${url}past/debug/pprof/heap?seconds=2")" 400 "the past of a heap is not kept"
is "$(status "${url}debug/pprof/heap?from=0")" 400 "nor is a part of it"
is "$(status "${url}feed/a/debug/pprof/allocs")" 200 "without seconds a feed has it like others"
for page in debug/pprof/heap debug/pprof/allocs pprof/heap pprof/growth memory; do
	like "$(curl -s "${url}debug/pprof/")" "href=\"../../$page\"" "the list of pages has $page"
done
unlike "$(curl -s "${url}debug/pprof/")" 'href="../../memory[?]seconds' "and not for some seconds"

# ---- metrics ----------------------------------------------------------------------------------

live=$(metric pmp_heap_live_bytes)
blocks=$(metric pmp_heap_live_blocks)
curl -s "${url}memory" >memory
is "$blocks" "$(sed -n 's/,//g; s/^  live  *[0-9]* bytes *\([0-9]*\) blocks/\1/p' memory)" \
	"blocks that live"
is "$live" "$(sed -n 's/,//g; s/^  live  *\([0-9]*\) bytes.*/\1/p' memory)" "their bytes"
ok "[ $(metric pmp_heap_peak_bytes) -ge $live ]" "the peak is not below that"
is "$(($(metric pmp_heap_allocated_bytes_total) - $(metric pmp_heap_freed_bytes_total)))" \
	"$live" "what was allocated, less what was freed"
allocated=$(metric pmp_heap_allocated_bytes_total)
tell USR2 USR1
wait_for "[ \$(metric pmp_heap_allocated_bytes_total) -ge $((allocated + 1000000)) ]"
is "$(metric pmp_heap_live_blocks)" "$blocks" "a thousand freed, a thousand allocated"
for name in resident:VmRSS resident_peak:VmHWM data:VmData; do
	is "$(metric "pmp_target_${name%:*}_bytes")" \
		"$(($(awk -v name="${name#*:}:" '$1 == name { print $2 }' "/proc/$keeper/status") * 1024))" \
		"the target's ${name#*:}"
done
is "$(sed -n "s/^pmp_heap_live_bytes\({.*}\) .*/\1/p" metrics)" "{pid=\"$keeper\",name=\"keeper\"}" \
	"whose they are"
if command -v promtool >/dev/null 2>&1; then
	is "$(promtool check metrics <metrics 2>&1)" "" "promtool"
fi

# ---- clients ------------------------------------------------------------------------------------

clients=
for _ in 1 2 3 4 5 6 7 8; do
	curl -s -o /dev/null "${url}debug/pprof/heap?seconds=60" &
	clients="$clients $!"
done
test_pids="$test_pids $clients"
wait_for '[ "$(metric pmp_windows)" = 8 ]'
is "$(status "${url}debug/pprof/heap?seconds=60")" 503 "no more than eight at once"
is "$(status "${url}debug/pprof/heap")" 200 "all since the start is still answered"
# shellcheck disable=SC2086 # one by one
kill $clients
wait_for '[ "$(metric pmp_windows)" = 0 ]'
is "$(metric pmp_windows)" 0 "clients that go take them along"
curl -s -o change -w '%{http_code}' "${url}debug/pprof/heap?debug=1&seconds=60" >code &
client=$!
test_pids="$test_pids $client"
wait_for '[ "$(metric pmp_windows)" = 1 ]'
tell USR2
wait_for "[ \$(metric pmp_heap_live_blocks) -lt $blocks ]"
kill -INT "$server_pid"
wait "$client"
is "$(cat code) $(sums change)" "200 -1000 -1000000 0 0" \
	"what is awaited when pmp ends is answered"
kill -TERM "$keeper"
wait "$server_pid"

# ---- only while it is wanted ----------------------------------------------------------------

rm steps
start_server wanted --serve=0 --heap=exact --on-demand -F 5 -- ./keeper steps
wait_for '[ -s steps ]'
keeper=$(head -n 1 steps)
for signal in USR1 USR2 USR1; do
	change 'debug/pprof/heap?debug=1&seconds=1' "$signal"
	is "$(sums change | cut -d ' ' -f 1)" "$([ "$signal" = USR1 ] || echo -)1000" \
		"--on-demand: what has changed, $signal"
done
is "$(curl -s "${url}memory" | grep -c '^memory of keeper ')" 1 "one process, which goes on"
curl -s "${url}debug/pprof/heap?debug=1" >all
like "$(sums all)" '^1[0-9]{3} ' "what lives is counted once"
kill -TERM "$keeper"
wait "$server_pid"

# ---- without a recorder ---------------------------------------------------------------------

start_target threads 2
start_server second --serve=0 -p "$target_pid"
wait_for "[ \$(status ${url}healthz) = 200 ]"
why="threads \[$target_pid\] was not started with a recorder: what it has allocated is not "
why="${why}recorded; start it with pmp --heap -- COMMAND, or see what its heap holds: "
why="${why}pmp -f objects -p $target_pid\$"
for page in debug/pprof/heap 'debug/pprof/allocs?seconds=5' memory; do
	is "$(status "$url$page")" 501 "$page without a recorder"
	like "$(cat body)" "^$why" "and what to do instead"
done
is "$(status "${url}pprof/heap")" 501 "for google-pprof as well"
like "$(cat body)" "^%warn $why" "as a warning"
is "$(metric pmp_heap_live_bytes)" "" "there are no metrics of a heap"
first_target=$target_pid
start_target threads 2
end_server
start_server third --serve=0 -p "$first_target,$target_pid"
wait_for "[ \$(status ${url}healthz) = 200 ]"
is "$(status "${url}debug/pprof/heap")" 501 "of several processes"
like "$(cat body)" '^these processes were not started with a recorder: ' "and says so"
is "$(curl -s "${url}metrics" | grep -c '^pmp_target_resident_bytes')" 2 "the memory of each"
end_server
stop_process "$first_target"
stop_process "$target_pid"

done_testing

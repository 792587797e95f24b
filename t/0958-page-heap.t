#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# A heap on the page, in a real browser: of a program that is served, which keeps and frees
# blocks at signals, and of a saved profile. Numbers are exact.

# shellcheck source=t/lib/test.sh
. "${top_srcdir:-.}/t/lib/test.sh"
# shellcheck source=t/lib/serve.sh
. "$top_srcdir/t/lib/serve.sh"

need python3
[ -f "$top_builddir/libpmp/heap/libpmp-heap.so" ] || skip_all "no recorder"
PYTHONPATH=$top_srcdir/t/lib PYTHONDONTWRITEBYTECODE=1
export PYTHONPATH PYTHONDONTWRITEBYTECODE
python3 -c 'import browser, sys; sys.exit(not browser.found())' || skip_all "no chromium"

# A thousand blocks of 1024 bytes at each USR1; the last thousand is freed at USR2. HUP ends it.
cat >keeper.c <<'END'
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define BLOCKS 1000

static void *blocks[BLOCKS];

__attribute__((noinline)) static void keep_blocks(void)
{
	for (int i = 0; i < BLOCKS; i++)
		blocks[i] = malloc(1024);
}

__attribute__((noinline)) static void use_blocks(void)
{
	void *volatile block;

	for (int i = 0; i < BLOCKS; i++) {
		block = malloc(1024);
		free(block);
	}
}

int main(int argc, char **argv)
{
	sigset_t signals;
	char text[32];
	int fd, signal;

	(void)argc;
	sigemptyset(&signals);
	sigaddset(&signals, SIGUSR1);
	sigaddset(&signals, SIGUSR2);
	sigaddset(&signals, SIGHUP);
	sigprocmask(SIG_BLOCK, &signals, NULL);
	keep_blocks();
	use_blocks();
	fd = open(argv[1], O_WRONLY | O_CREAT, 0600);
	if (write(fd, text, (size_t)snprintf(text, sizeof(text), "%d\n", getpid())) < 0)
		return 1;
	while (sigwait(&signals, &signal) == 0 && signal != SIGHUP) {
		for (int i = 0; signal == SIGUSR2 && i < BLOCKS; i++)
			free(blocks[i]);
		if (signal == SIGUSR1)
			keep_blocks();
	}
	return 0;
}
END
${CC:-cc} -g -O1 -o keeper keeper.c || skip_all "the target cannot be compiled"

# One snapshot, however long it takes: two would give kinds of time.
"$PMP" -q --heap=exact -i 1h -o saved.pb.gz -- ./keeper saved.pid &
saver=$!
test_pids="$test_pids $saver"
wait_for '[ -s saved.pid ]'
kill -HUP "$(cat saved.pid)"
wait "$saver"
"$PMP" -q -f html saved.pb.gz >saved.html
"$PMP" -q --heap=exact --heap-only -o alone.pb.gz -- ./keeper alone.pid &
saver=$!
test_pids="$test_pids $saver"
wait_for '[ -s alone.pid ]'
kill -HUP "$(cat alone.pid)"
wait "$saver"
"$PMP" -q -f html alone.pb.gz >alone.html
"$PMP" -q --diff alone.pb.gz -f html alone.pb.gz >diff.html

start_server first --serve=0 --heap=exact -F 20 -- ./keeper steps
wait_for '[ -s steps ]'
keeper=$(cat steps)

cat >steps.py <<'END'
import browser, json, os, signal, sys

keeper, root, folder = int(sys.argv[1]), sys.argv[2], sys.argv[3]
page = browser.Browser().__enter__()
def say(*words): print(*words, flush=True)
def kind(value): page.do("""(function (k) {
    k.value = %s;
    k.dispatchEvent(new Event('change'));
})(document.getElementById('kind'))""" % json.dumps(value))
def kinds(): return page.do("[...document.getElementById('kind').options].map(o => o.value).join(', ')")
def titles(): return page.do("[...document.querySelectorAll('.box')].map(b => b.title)")
def title(name): return next((t for t in titles() if t.startswith(name + " (")), None)
def has(text): return "[...document.querySelectorAll('.box')].some(b => b.title.startsWith(%s))" % json.dumps(text)
def totals(): return page.do("[...document.querySelectorAll('#states span')].map(s => s.textContent).join('; ')")

page.open(root)
page.wait("document.documentElement.classList.contains('loaded')")
say("kinds:", kinds())
page.wait("document.getElementById('timeline').classList.contains('heap')")
spoken = "document.getElementById('timeline').getAttribute('aria-valuetext').split(', ').pop()"
page.wait(spoken + ".startsWith('heap 100')")
say("spoken:", page.do(spoken)[:8])
kind("live bytes")
page.wait(has("keep_blocks ("))
say("live:", title("keep_blocks"), title("use_blocks"))
say("totals:", "live in 1,0" in totals(), "allocated" in totals())
kind("live blocks")
say("blocks:", title("keep_blocks"))
kind("allocated bytes")
say("allocated:", title("keep_blocks"), title("use_blocks"))
kind("allocations")
say("allocations:", title("use_blocks"))
page.key("2")
say("functions:", page.do("""[...document.querySelectorAll('#table-body tr')].map(r => r.textContent)
    .filter(t => t.includes('use_blocks')).length"""))
page.key("1")
kind("live bytes")
page.key("d")
page.wait("document.getElementById('tab-diff').getAttribute('aria-selected') === 'true'")
os.kill(keeper, signal.SIGUSR1)
page.wait(has("keep_blocks (1.95MB, 100.00%; +50.00%"))
say("grown:", title("keep_blocks"))
os.kill(keeper, signal.SIGUSR2)
page.wait(has("keep_blocks (1000kB"))
page.key("d")
page.wait("document.getElementById('tab-flame').getAttribute('aria-selected') === 'true'")
kind("wall")
page.wait("!document.getElementById('facts').textContent.includes('heap')")
say("threads:", "live" in page.text("#facts"), any("kB" in t or "MB" in t for t in titles()))
page.resize(390, 844, 2, True)
kind("live bytes")
page.wait(has("keep_blocks ("))
say("phone:", page.do("document.documentElement.scrollWidth"),
    page.do("document.querySelector('header').offsetHeight <= 90"))
say("messages:", page.messages)
page.resize(1280, 800)

for name in ["saved", "alone"]:
    page.messages.clear()
    page.open("file://%s/%s.html" % (folder, name))
    kind("live bytes")
    say(name + ":", title("keep_blocks"), kinds())
    kind("allocations")
    say(name + " all:", title("use_blocks"))
    say(name + " totals:", "live in 1,0" in totals(), page.messages)
page.open("file://%s/diff.html" % folder)
say("base:", page.text("#facts").split(" ")[0], page.text("#notes"))
page.__exit__()
END
python3 steps.py "$keeper" "$url" "$tmp" >seen 2>steps.err || diag "$(tail -n 3 steps.err)"
cat >want <<'END'
kinds: samples, wall, cpu, off cpu, ready, lock, disk, sleep, live bytes, live blocks, allocated bytes, allocations
spoken: heap 100
live: keep_blocks (1000kB, 100.00%) None
totals: True True
blocks: keep_blocks (1,000, 100.00%)
allocated: keep_blocks (1000kB, 50.00%) use_blocks (1000kB, 50.00%)
allocations: use_blocks (1,000, 50.00%)
functions: 1
grown: keep_blocks (1.95MB, 100.00%; +50.00%)
threads: True False
phone: 390 True
messages: []
saved: keep_blocks (1000kB, 100.00%) samples, lock, live bytes, live blocks, allocated bytes, allocations
saved all: use_blocks (1,000, 50.00%)
saved totals: True []
alone: keep_blocks (1000kB, 100.00%) live bytes, live blocks, allocated bytes, allocations
alone all: use_blocks (1,000, 50.00%)
alone totals: True []
base: inuse_space base: 1000kB
END
while read -r line; do
	is "$(grep "^${line%%:*}:" seen)" "$line" "${line%%:*}"
done <want
kill -HUP "$keeper"
wait "$server_pid"

start_target sleeper
start_server second --serve=0 -p "$target_pid"
wait_for "[ \$(status ${url}healthz) = 200 ]"
is "$(status "${url}api/heap")" 501 "without a recorder there is no tree of a heap"
like "$(cat body)" 'was not started with a recorder' "and the page says why"
like "$(curl -s "${url}api/state")" '"heap":false' "nor does it offer one"
end_server
stop_process "$target_pid"
done_testing

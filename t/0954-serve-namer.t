#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# --serve with --debuginfod: names that come late, of what was not there at first. No page
# waits for ever when the process that reads files has died, and nothing is sampled faster
# than anybody wants.

# shellcheck source=t/lib/test.sh
. "${top_srcdir:-.}/t/lib/test.sh"
# shellcheck source=t/lib/serve.sh
. "$top_srcdir/t/lib/serve.sh"
# shellcheck source=t/lib/writers.sh
. "$top_srcdir/t/lib/writers.sh"
# shellcheck source=t/lib/debuginfod.sh
. "$top_srcdir/t/lib/debuginfod.sh"
need python3 objcopy strip
command -v debuginfod-find >/dev/null || skip_all "no debuginfod-find"

id=aabbccddeeff0011223377
cat >libvictim.c <<'END_C'
#include <unistd.h>
void victim_sleep(void)
{
	usleep(1000000);
	__asm__ volatile("");
}
END_C
# What it is in changes, and no place that is called from.
cat >work.c <<'END_C'
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

void victim_sleep(void);
static void first(void)
{
	usleep(1000000);
	__asm__ volatile("");
}
static void later(void)
{
	usleep(1000000);
	__asm__ volatile("");
}
static void (*volatile now)(void) = first;
static void on_signal(int number)
{
	if (number == SIGUSR1)
		now = later;
	else
		now = victim_sleep;
}
int main(void)
{
	signal(SIGUSR1, on_signal);
	signal(SIGUSR2, on_signal);
	printf("ready %d\n", (int)getpid());
	fflush(stdout);
	for (;;)
		now();
	return 0;
}
END_C
{
	cc=${CC:-cc}
	$cc -g -O1 -fPIC -shared -o libvictim.so libvictim.c &&
		$cc -g -O1 -Wl,--build-id=0x$id,-rpath,"$tmp" -o work work.c -L. \
			-lvictim &&
		objcopy --only-keep-debug work work.debug && strip work
} 2>log || skip_all "no compiler: $(tail -n 1 log)"

HOME=$tmp
export HOME
mkdir -p files/$id
cp work.debug files/$id/debuginfo
echo held >files/$id/debuginfo.hang
debuginfod_start

# ---- a window whose time is over ----

start_target "$tmp/work" || exit 99
work=$target_pid
start_server rate --serve=0 --debuginfod -F 10 --max-cpu=100 -p "$work"
fetch fast 'folded?seconds=1&hz=200'
wait_for "grep -q '^held .*/$id/' '$requests'" || diag "$(cat "$requests")"
sleep 1.6
before=$(metric pmp_snapshots_total)
sleep 1
samples=$(($(metric pmp_snapshots_total) - before))
is "$(cat fast.status)" "" "a page waits for names"
ok "[ $samples -le 40 ]" "what it wanted more snapshots for is over: $samples in a second"
rm files/$id/debuginfo.hang
join
is "$(cat fast.status)" 200 "it comes with the file"
end_server
is $? 0 "the end is in order"
stop_process "$work"

# ---- the process that reads files dies ----

rm -rf cache
echo held >files/$id/debuginfo.hang
: >"$requests"
start_target "$tmp/work" || exit 99
work=$target_pid
[ -z "$PMP_FAULTY" ] || PMP=$PMP_FAULTY
PMP_FAULT=namer-crash start_server dead --serve=0 --debuginfod -F 50 --max-cpu=100 -p "$work"
fetch page 'past/folded?seconds=1'
wait_for "grep -q '^held .*/$id/' '$requests'" || diag "$(cat "$requests")"
# The program gets to other places while its file is fetched.
before=$(metric pmp_snapshots_total)
kill -USR1 "$work"
wait_for '[ "$(metric pmp_snapshots_total)" -gt $((before + 5)) ]'
rm files/$id/debuginfo.hang
join
is "$(cat page.status)" 200 "a page comes"
wait_for 'curl -s "${url}past/folded?seconds=1" | grep -q ";main;later"'
kill -USR2 "$work"
sleep 1.5
is "$(status "${url}past/folded?seconds=1" --max-time 10)" 200 \
	"one comes as well when the process that reads files has died"
like "$(cat body)" ';main;\[libvictim.so\+0x' "where that was there is no name"
end_server
is $? 0 "the end is in order"

ok "untouched $work" "the program was left as it was"
stop_process "$server"
done_testing

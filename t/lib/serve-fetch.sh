# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh
#
# Pages with names that have to be fetched, for 0954-serve-fetch and -fetch-end: a program,
# $work, whose debug file a server has. Sourced after test.sh, serve.sh, writers.sh and
# debuginfod.sh.
# shellcheck disable=SC2154,SC2034 # variables that come from these files and are used by them

need python3 objcopy strip
command -v debuginfod-find >/dev/null || skip_all "no debuginfod-find"

id=aabbccddeeff0011223366
cat >work.c <<'END_C'
#include <stdio.h>
#include <unistd.h>
volatile int sink;
static __attribute__((noinline)) void hidden_work(void)
{
	for (;;) {
		for (int i = 0; i < 1000000; i++)
			sink++;
		usleep(1000);
	}
}
int main(void)
{
	printf("ready %d\n", (int)getpid());
	fflush(stdout);
	hidden_work();
	return 0;
}
END_C
{
	${CC:-cc} -g -O1 -Wl,--build-id=0x$id -o whole work.c &&
		objcopy --only-keep-debug whole whole.debug && strip -o work whole
} 2>log || skip_all "no compiler: $(tail -n 1 log)"

HOME=$tmp
export HOME
mkdir -p files/$id
debuginfod_start
cp whole.debug files/$id/debuginfo
start_target "$tmp/work" || exit 99
work=$target_pid

# With a planted fault it is pmp-faulty that is judged.
[ -z "$PMP_JUDGE_FAULT" ] || PMP=$PMP_FAULTY
PMP_FAULT=$PMP_JUDGE_FAULT
export PMP_FAULT

# is_asked: the server knows that the debug file is wanted
is_asked() {
	grep -q "^$1 .*/$id/debuginfo" "$requests"
}

# again HOW: the server of files hangs so, and has been asked for nothing
again() {
	rm -rf cache
	: >"$requests"
	echo "$1" >files/$id/debuginfo.hang
}

#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The name of a lock in a library of which no code is on any stack, and which has names only in
# a debug file: fetched or on this machine, for a process, one of very many files, and a core.

# shellcheck source=t/lib/test.sh
. "${top_srcdir:-.}/t/lib/test.sh"
# shellcheck source=t/lib/debuginfod.sh
. "$top_srcdir/t/lib/debuginfod.sh"
need python3 objcopy strip

id=99aabbccddeeff0011223344
cat >library.c <<'END'
#include <pthread.h>
static struct {
	char fill[70000];
	pthread_mutex_t mutex;
} hidden_state;
pthread_mutex_t *library_mutex(void)
{
	return &hidden_state.mutex;
}
END
cat >work.c <<'END'
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
pthread_mutex_t *library_mutex(void);
static void *wait_for(void *mutex)
{
	pthread_mutex_lock(mutex);
	return NULL;
}
/* Mapped after the libraries, so below them. */
static void map_file(int i)
{
	char path[32];
	int fd;
	snprintf(path, sizeof(path), "mapped/%d", i);
	fd = open(path, O_RDWR | O_CREAT, 0755);
	if (fd < 0 || ftruncate(fd, 4096) ||
	    mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0) == MAP_FAILED)
		exit(1);
	close(fd);
}
int main(int argc, char **argv)
{
	pthread_t thread;
	for (int i = 0; argc > 1 && i < atoi(argv[1]); i++)
		map_file(i);
	pthread_mutex_lock(library_mutex());
	pthread_create(&thread, NULL, wait_for, library_mutex());
	printf("ready %d\n", (int)getpid());
	fflush(stdout);
	for (;;)
		pause();
}
END
{
	${CC:-cc} -g -O1 -fPIC -shared -Wl,--build-id=0x$id -o whole.so library.c &&
		objcopy --only-keep-debug whole.so whole.debug &&
		strip -g -o symbols.so whole.so &&
		objcopy --only-keep-debug symbols.so symbols.debug &&
		strip -o library.so whole.so &&
		${CC:-cc} -g -O1 -pthread -o work work.c ./library.so
} 2>log || skip_all "no compiler: $(tail -n 1 log)"
chmod 711 .
mkdir -p mapped files/$id debug/.build-id/99
cp whole.debug debug/.build-id/99/${id#99}.debug

# named WHAT OPTION...: pmp with these names the lock.
named() {
	named_what=$1
	shift
	rm -rf cache
	timeout 60 "$PMP" -q -f locks "$@" >out 2>err
	is $? 0 "$named_what"
	like "$(cat out)" '^  mutex hidden_state\+0x11170, 0x' "$named_what: the name of the lock" ||
		diag "$(cat out err)"
}

start_target "$tmp/work" || exit 99
few=$target_pid
start_target "$tmp/work" 600 || exit 99
many=$target_pid
wait_for "grep -q ' S ' /proc/$few/task/[0-9]*/stat"

for how in "" --no-sandbox; do
	# shellcheck disable=SC2086
	named "a file here $how" $how --debug-dir debug -p "$few"
	# shellcheck disable=SC2086
	named "a process of 600 files $how" $how --debug-dir debug -p "$many"
done
if command -v gcore >/dev/null; then
	gcore -o core "$few" >gcore.log 2>&1 || diag "$(cat gcore.log)"
	mv "core.$few" core
	named "a core" --debug-dir debug core
	named "a core without a process for it" --no-sandbox --debug-dir debug core
else
	skip "no gcore"
fi

command -v debuginfod-find >/dev/null || {
	skip "no debuginfod-find"
	done_testing
	exit
}
debuginfod_start
for file in whole symbols; do
	cp $file.debug files/$id/debuginfo
	before=$(wc -l <"$requests")
	named "$file.debug" --debuginfod -p "$few"
	is "$(tail -n +$((before + 1)) "$requests" | grep -c "/$id/")" 1 "one request for it"
	named "$file.debug, --no-sandbox" --no-sandbox --debuginfod -p "$few"
	[ ! -e core ] || named "$file.debug, a core" --debuginfod core
done
ok "untouched $few && untouched $many" "the programs were left as they were"
stop_process "$server"
done_testing

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See faults.h. An attack that succeeds ends the process with a distinct status. */
#include "namer/faults.h"

#include "base/fault.h"

#ifdef PMP_FAULTS

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "libpmp-program.h"

#define SUCCEEDED 66

static void crash(void)
{
	volatile int *volatile nowhere = NULL;

	*nowhere = 0;
}

static void hang(void)
{
	for (volatile int i = 0;; i++)
		continue;
}

/* Takes time like a large file, then goes on. */
static void work_long(void)
{
	struct timespec used = { 0 };

	while (used.tv_sec < 3)
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
}

static void pause_shortly(void)
{
	ppoll(NULL, 0, &(struct timespec){ .tv_nsec = 300000000 }, NULL);
}

static void stand_still(void)
{
	for (;;)
		ppoll(NULL, 0, NULL, NULL);
}

/* The limit is on address space. Touching all of the memory would take longer than a namer
 * may take, on some machines. */
static void eat_memory(void)
{
	volatile char *memory;

	while ((memory = malloc(64 << 20)))
		*memory = 1;
	abort();
}

static void open_secret(void)
{
	if (syscall(SYS_openat, AT_FDCWD, "/etc/shadow", O_RDONLY) >= 0 ||
	    syscall(SYS_openat, AT_FDCWD, "/etc/passwd", O_RDONLY) >= 0)
		_exit(SUCCEEDED);
}

static void execute(void)
{
	execl("/bin/true", "true", NULL);
	_exit(SUCCEEDED);
}

static void connect_out(void)
{
	socket(AF_INET, SOCK_STREAM, 0);
	_exit(SUCCEEDED);
}

static void kill_parent(void)
{
	kill(getppid(), SIGKILL);
	_exit(SUCCEEDED);
}

static void start_process(void)
{
	fork();
	_exit(SUCCEEDED);
}

static const struct {
	const char *names, *file; /* the fault's name for names, and for a file */
	void (*play)(void);
} faults[] = {
	{ "namer-crash", "reader-crash", crash },
	{ "namer-hang", "reader-hang", hang },
	{ "namer-still", "reader-still", stand_still },
	{ "namer-oom", "reader-oom", eat_memory },
	{ "namer-open", "reader-open", open_secret },
	{ "namer-exec", "reader-exec", execute },
	{ "namer-net", "reader-net", connect_out },
	{ "namer-kill", "reader-kill", kill_parent },
	{ "namer-fork", "reader-fork", start_process },
	{ "namer-long", "reader-long", work_long },
	{ "namer-slow", "reader-slow", pause_shortly },
};

/* An open() that is trapped asks the symbolizer, for which this is called again. */
void faults_play_names(struct pmp_namer *namer)
{
	static bool playing;
	const char *module = pmp_namer_module(namer);

	if (playing || !module || !strstr(module, "victim"))
		return;
	playing = true;
	for (size_t i = 0; i < sizeof(faults) / sizeof(*faults); i++)
		if (PMP_FAULT(faults[i].names))
			faults[i].play();
	playing = false;
}

void faults_play_file(void)
{
	for (size_t i = 0; i < sizeof(faults) / sizeof(*faults); i++)
		if (PMP_FAULT(faults[i].file))
			faults[i].play();
}

#else

void faults_play_names(struct pmp_namer *namer)
{
	(void)namer;
}

void faults_play_file(void)
{
}

#endif

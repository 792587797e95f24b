/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See faults.h. What succeeds ends the process with a status of its own. */
#include "namer/faults.h"

#include "base/fault.h"

#ifdef PMP_FAULTS

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
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

/* As a file with much in it does, but goes on. */
static void work_long(void)
{
	struct timespec used = { 0 };

	while (used.tv_sec < 3)
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
}

static void stand_still(void)
{
	for (;;)
		ppoll(NULL, 0, NULL, NULL);
}

static void eat_memory(void)
{
	const size_t size = 64 << 20;
	char *memory;

	while ((memory = malloc(size)))
		memset(memory, 1, size);
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

void faults_play(struct pmp_namer *namer)
{
	static const struct {
		const char *name;
		void (*play)(void);
	} faults[] = {
		{ "namer-crash", crash },	 { "namer-hang", hang },
		{ "namer-still", stand_still },	 { "namer-oom", eat_memory },
		{ "namer-open", open_secret },	 { "namer-exec", execute },
		{ "namer-net", connect_out },	 { "namer-kill", kill_parent },
		{ "namer-fork", start_process }, { "namer-long", work_long },
	};
	const char *module = pmp_namer_module(namer);

	for (size_t i = 0; i < sizeof(faults) / sizeof(*faults); i++)
		if (module && strstr(module, "victim") && PMP_FAULT(faults[i].name))
			faults[i].play();
}

#else

void faults_play(struct pmp_namer *namer)
{
	(void)namer;
}

#endif

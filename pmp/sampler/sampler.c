/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The front's handle of the sampler; process.c is the process itself. */
#include "sampler/sampler.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "run/clock.h"
#include "run/own-processes.h"
#include "sampler/process.h"
#include "say/message.h"

#define CLOSE_TIME NS_PER_S
#define CLOSE_REST (NS_PER_MS / 10) /* at first, then longer and longer */
#define SERIES_ROOM (8 << 20)	    /* bytes of snapshots in the socket */

/* While the front waits for a slow disk, snapshots queue up
 * here. Only root gets so much. */
static void widen(int fd)
{
	const int size = SERIES_ROOM;

	if (setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &size, sizeof(size)) < 0)
		setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &size, sizeof(size));
}

int sampler_start(struct sampler *sampler, const struct options *options,
		  const struct sampler_targets *targets, int exec_fd,
		  struct pmp_error *err)
{
	struct sampling sampling = {
		.options = options,
		.past = sampler->so_far,
		.recorder = sampler->recorder,
		.waiting = exec_fd >= 0,
		.exec_fd = exec_fd,
	};
	pid_t front = getpid();
	int fds[2];

	memcpy(sampling.children.helpers, sampler->helpers, sizeof(sampler->helpers));
	sampling.children.own = sampler->own;
	sampling.children.left_out = sampler->left_out;
	sampler->page = mmap(NULL, sizeof(*sampler->page), PROT_READ | PROT_WRITE,
			     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (sampler->page == MAP_FAILED) {
		sampler->page = NULL;
		return message_fill(err, PMP_ENOMEM, errno, "cannot start the sampler");
	}
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) < 0)
		return message_fill(err, PMP_ELIMIT, errno, "cannot start the sampler");
	sampler->page->heartbeat = now_ns();
	sampler->page->so_far = sampler->so_far;
	if (options->every || options->serve)
		widen(fds[1]);
	own_processes_begin(sampler->own);
	sampler->pid = fork();
	if (sampler->pid == 0) {
		sampling.page = sampler->page;
		sampling.fd = fds[1];
		process_run(&sampling, targets, front);
	}
	own_processes_add(sampler->own, sampler->pid);
	close(fds[1]);
	if (sampler->pid < 0) {
		sampler->pid = 0;
		close(fds[0]);
		return message_fill(err, PMP_ELIMIT, errno, "cannot start the sampler");
	}
	sampler->fd = fds[0];
	fcntl(sampler->fd, F_SETFL, O_NONBLOCK);
	return 0;
}

void sampler_command(struct sampler *sampler, enum sampler_command command)
{
	char byte = (char)command;

	/* An error is ignored: if the sampler is gone, the socket hangs up. */
	if (sampler->fd >= 0)
		send(sampler->fd, &byte, 1, MSG_NOSIGNAL | MSG_DONTWAIT);
}

/* Read the start of a file in the sampler's /proc directory; "" on failure. */
static void read_own(const struct sampler *sampler, const char *name, char *text,
		     size_t size)
{
	char path[64];
	ssize_t n = -1;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)sampler->pid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		n = read(fd, text, size - 1);
		close(fd);
	}
	text[n > 0 ? n : 0] = '\0';
}

/* 'R', 'S' and so on; 0: not known. */
static char state_of(const struct sampler *sampler)
{
	const char *end;
	char stat[256];

	read_own(sampler, "stat", stat, sizeof(stat));
	end = strrchr(stat, ')');
	return end && end[1] == ' ' ? end[2] : '\0';
}

void sampler_where(const struct sampler *sampler, char *where, size_t size)
{
	char state;

	where[0] = '\0';
	if (sampler->pid <= 0)
		return;
	state = state_of(sampler);
	/* 'S' as well: it blocks signals, so none wakes it. */
	if (state == 'D' || state == 'S')
		read_own(sampler, "wchan", where, size);
	/* "0" is what users without the right to read it get. */
	if (strcmp(where, "0") == 0)
		where[0] = '\0';
}

bool sampler_is_starved(const struct sampler *sampler, uint64_t *cpu)
{
	struct timespec time = { 0 };
	uint64_t before = *cpu;
	clockid_t clock;

	if (sampler->pid <= 0 || clock_getcpuclockid(sampler->pid, &clock) ||
	    clock_gettime(clock, &time) < 0)
		return false;
	*cpu = (uint64_t)time.tv_sec * NS_PER_S + (uint64_t)time.tv_nsec;
	return *cpu == before && state_of(sampler) == 'R';
}

bool sampler_held_too_long(const struct sampler *sampler)
{
	uint64_t since = sampler->page ? __atomic_load_n(&sampler->page->held_since,
							 __ATOMIC_RELAXED)
				       : 0;

	return since && now_ns() - since >= HOLD_LIMIT;
}

void sampler_kill(struct sampler *sampler)
{
	if (sampler->pid > 0)
		kill(sampler->pid, SIGKILL);
}

static void sleep_for(uint64_t time)
{
	const struct timespec rest = { (time_t)(time / NS_PER_S),
				       (long)(time % NS_PER_S) };

	nanosleep(&rest, NULL);
}

static bool reap(struct sampler *sampler)
{
	uint64_t rested = 0, rest = CLOSE_REST;

	while (rested < CLOSE_TIME) {
		pid_t pid = waitpid(sampler->pid, &sampler->status, WNOHANG);

		if (pid == sampler->pid || (pid < 0 && errno == ECHILD))
			return true;
		sleep_for(rest);
		rested += rest;
		rest += rest / 2;
	}
	return false;
}

void sampler_close(struct sampler *sampler)
{
	bool reaped = sampler->pid <= 0 || reap(sampler);

	if (!reaped) {
		sampler_kill(sampler);
		reaped = reap(sampler);
	}
	if (reaped)
		own_processes_remove(sampler->own, sampler->pid);
	else
		own_processes_abandon(sampler->own, sampler->pid);
	sampler->pid = 0;
	if (sampler->fd >= 0)
		close(sampler->fd);
	sampler->fd = -1;
	if (sampler->page) {
		sampler->taken = sampler->page->taken;
		sampler->target = sampler->page->target;
		sampler->capturing = sampler->page->capturing;
		sampler->so_far = sampler->page->so_far;
		munmap(sampler->page, sizeof(*sampler->page));
	}
	sampler->page = NULL;
}

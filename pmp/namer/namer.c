/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The front's side, see namer.h. Only one thread at a time looks up names, but several
 * symbolizers may have a process each. */
#include "namer/namer.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/fault.h"
#include "namer/parent.h"

#define DEATHS_MAX 3	 /* in a row */
#define HOUR_DEATHS 30	 /* of an hour: each may cost seconds, and what is read again */
#define HOUR 3600	 /* seconds */
#define PARENT_TIME 10	 /* seconds for an answer, which takes hardly any time */
#define END_POLL 1000000 /* ns */
#define END_POLLS_MAX 2000
#define AT_A_TIME 4 /* symbolizers: two sinks, a base, one to spare */

struct namer_process {
	int fd; /* -1: free */
	pid_t pid;
	uint64_t used; /* its CPU time at the last check, ns */
};

struct namer {
	pid_t parent;
	int socket;
	pthread_mutex_t lock;
	struct namer_process readers[AT_A_TIME];
	pid_t left;	 /* not needed any more, but not reaped yet; 0: none */
	unsigned deaths; /* in a row */
	unsigned hour_deaths;
	time_t hour; /* when the first of them was */
	/* After how many deaths no more are started; NULL: they are. */
	const char *given_up;
	bool cancelled;
	uint64_t cpu, cpu_of_ended; /* ns */
	unsigned missing;	    /* of enum confine_missing */
	struct pmp_namer_calls calls;
};

/* ---- asking the parent --------------------------------------------------------------------- */

/* *fd: the descriptor that comes with the answer, or -1. */
static bool request(const struct namer *namer, const struct parent_request *asked,
		    struct parent_answer *answer, int *fd)
{
	struct iovec part = { answer, sizeof(*answer) };
	union {
		char data[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control;
	struct msghdr message = { .msg_iov = &part,
				  .msg_iovlen = 1,
				  .msg_control = control.data,
				  .msg_controllen = CMSG_LEN(sizeof(int)) };
	const struct cmsghdr *item;
	ssize_t n;

	*fd = -1;
	if (send(namer->socket, asked, sizeof(*asked), MSG_NOSIGNAL) < 0)
		return false;
	do
		n = recvmsg(namer->socket, &message, MSG_CMSG_CLOEXEC);
	while (n < 0 && errno == EINTR);
	if (n != sizeof(*answer)) {
		/* A late answer must not be taken for that of the next request. */
		shutdown(namer->socket, SHUT_RDWR);
		return false;
	}
	item = CMSG_FIRSTHDR(&message);
	if (item && item->cmsg_type == SCM_RIGHTS)
		memcpy(fd, CMSG_DATA(item), sizeof(*fd));
	return true;
}

/* Have the parent reap a process that is not needed any more: it should have ended with its
 * socket, or is killed. */
static void end_left(struct namer *namer)
{
	const struct parent_request asked = { .kind = PARENT_END, .pid = namer->left };
	struct parent_answer answer = { 0 };
	int none;

	if (namer->left)
		request(namer, &asked, &answer, &none);
	namer->left = 0;
}

static struct namer_process *reader_of(struct namer *namer, int fd)
{
	for (size_t i = 0; i < AT_A_TIME; i++)
		if (namer->readers[i].fd == fd)
			return &namer->readers[i];
	return NULL;
}

/* CPU time so far, ns. */
static uint64_t used_by(const struct namer_process *reader)
{
	struct timespec used = { 0 };
	clockid_t clock;

	if (clock_getcpuclockid(reader->pid, &clock) == 0)
		clock_gettime(clock, &used);
	return (uint64_t)used.tv_sec * 1000000000 + (uint64_t)used.tv_nsec;
}

static int start(void *arg)
{
	const struct parent_request asked = { .kind = PARENT_START };
	struct namer *namer = arg;
	struct parent_answer answer = { 0 };
	struct namer_process *reader;
	int fd = -1;

	pthread_mutex_lock(&namer->lock);
	reader = reader_of(namer, -1);
	end_left(namer);
	if (namer->cancelled)
		fd = -ECANCELED;
	else if (reader && !namer->given_up && request(namer, &asked, &answer, &fd) &&
		 fd >= 0)
		*reader = (struct namer_process){ .fd = fd, .pid = answer.pid };
	pthread_mutex_unlock(&namer->lock);
	return fd;
}

/* Has it used CPU time since the last check? Then it is only slow. */
static bool works(void *arg, int fd)
{
	struct namer *namer = arg;
	struct namer_process *reader;
	uint64_t used;
	bool has;

	pthread_mutex_lock(&namer->lock);
	reader = reader_of(namer, fd);
	used = reader ? used_by(reader) : 0;
	has = reader && used > reader->used;
	if (reader)
		reader->used = used;
	pthread_mutex_unlock(&namer->lock);
	return has;
}

static void describe(const struct parent_answer *answer, char *text, size_t size)
{
	const int number = WTERMSIG(answer->status);

	if (answer->killed)
		snprintf(text, size, "gave no answer and was killed");
	else if (WIFEXITED(answer->status) && WEXITSTATUS(answer->status) == 0)
		/* It ended because we closed its socket. */
		snprintf(text, size, "gave no answer that makes sense");
	else if (!WIFSIGNALED(answer->status))
		snprintf(text, size, "ended unexpectedly");
	else if (number == SIGPROF || number == SIGXCPU)
		snprintf(text, size, "took too long");
	else
		snprintf(text, size, "was ended by signal %d (%s)", number,
			 strsignal(number));
}

/* A hostile target may have ever more files that do harm, with others among them. */
static void count_death(struct namer *namer)
{
	struct timespec now = { 0 };
	const char *times = NULL;

	clock_gettime(CLOCK_MONOTONIC, &now);
	if (!namer->hour_deaths || now.tv_sec - namer->hour >= HOUR) {
		namer->hour = now.tv_sec;
		namer->hour_deaths = 0;
	}
	if (++namer->hour_deaths >= HOUR_DEATHS)
		times = "30 times within an hour";
	if (__atomic_add_fetch(&namer->deaths, 1, __ATOMIC_RELAXED) >= DEATHS_MAX)
		times = "three times in a row";
	if (!namer->given_up)
		__atomic_store_n(&namer->given_up, times, __ATOMIC_RELEASE);
}

static void has_read(void *arg)
{
	struct namer *namer = arg;

	/* The holder of the lock may be waiting for a process to end. */
	__atomic_store_n(&namer->deaths, 0, __ATOMIC_RELAXED);
}

static void end(void *arg, int fd, char *reason, size_t size)
{
	struct namer *namer = arg;
	struct parent_request asked = { .kind = PARENT_END };
	struct parent_answer answer = { 0 };
	struct namer_process *reader;
	int none;

	pthread_mutex_lock(&namer->lock);
	reader = reader_of(namer, fd);
	/* Its pid is valid until its parent reaps it. */
	if (reader) {
		namer->cpu_of_ended += used_by(reader);
		reader->fd = -1;
	}
	close(fd);
	if (reader && !reason) {
		end_left(namer);
		namer->left = reader->pid;
	} else if (reader) {
		asked.pid = reader->pid;
		if (!request(namer, &asked, &answer, &none))
			answer = (struct parent_answer){ .killed = true };
	}
	if (reason && namer->cancelled) {
		snprintf(reason, size, "was interrupted");
	} else if (reason) {
		count_death(namer);
		describe(&answer, reason, size);
	}
	pthread_mutex_unlock(&namer->lock);
}

/* ---- life ----------------------------------------------------------------------------------- */

/* Limit the wait for the parent, which may have been stopped. */
static void limit_time(int socket)
{
	const struct timeval limit = { .tv_sec = PARENT_TIME };

	setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
}

/* Receive the first message of the parent: the rights that it could not drop. Signals do
 * not end the wait. NULL, or why there is no message. */
static const char *await_parent(struct namer *namer)
{
	ssize_t n;

	do
		n = recv(namer->socket, &namer->missing, sizeof(namer->missing), 0);
	while (n < 0 && errno == EINTR);
	if (n == (ssize_t)sizeof(namer->missing))
		return NULL;
	if (n >= 0)
		return "it has ended";
	return errno == EAGAIN ? "it does not answer" : strerror(errno);
}

static void explain(struct pmp_error *err, const char *reason, int number)
{
	*err = (struct pmp_error){ .code = PMP_ELIMIT, .sys_errno = number };
	snprintf(err->message, sizeof(err->message),
		 "cannot start the process that reads files: %s", reason);
}

struct namer *namer_new(struct pmp_error *err)
{
	struct namer *namer = calloc(1, sizeof(*namer));
	const pid_t front = getpid();
	const char *reason;
	int fds[2], number;

	if (!namer || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds) < 0) {
		explain(err, strerror(errno), errno);
		free(namer);
		return NULL;
	}
	namer->socket = fds[0];
	pthread_mutex_init(&namer->lock, NULL);
	for (size_t i = 0; i < AT_A_TIME; i++)
		namer->readers[i].fd = -1;
	namer->calls = (struct pmp_namer_calls){ start, works, end, namer, has_read };
	namer->parent = fork();
	if (namer->parent == 0)
		parent_run(fds[1], front);
	number = namer->parent < 0 ? errno : 0;
	close(fds[1]);
	limit_time(fds[0]);
	reason = number ? strerror(number) : await_parent(namer);
	if (reason) {
		explain(err, reason, number);
		namer_free(namer);
		return NULL;
	}
	return namer;
}

/* The parent and its children end when the socket is closed;
 * later, if it has been stopped. */
static void await_end(pid_t parent)
{
	const struct timespec poll = { .tv_nsec = END_POLL };

	for (int i = 0; i < END_POLLS_MAX && waitpid(parent, NULL, WNOHANG) == 0; i++)
		nanosleep(&poll, NULL);
}

void namer_free(struct namer *namer)
{
	if (!namer)
		return;
	close(namer->socket);
	if (namer->parent > 0)
		await_end(namer->parent);
	pthread_mutex_destroy(&namer->lock);
	free(namer);
}

static void shut_down(struct namer *namer)
{
	namer->cancelled = true;
	for (size_t i = 0; i < AT_A_TIME; i++)
		if (namer->readers[i].fd >= 0)
			shutdown(namer->readers[i].fd, SHUT_RDWR);
}

void namer_cancel(struct namer *namer)
{
	if (!namer)
		return;
	pthread_mutex_lock(&namer->lock);
	shut_down(namer);
	pthread_mutex_unlock(&namer->lock);
}

void namer_try_cancel(struct namer *namer)
{
	/* The holder of the lock may be waiting for a process to end. */
	if (!namer || pthread_mutex_trylock(&namer->lock) != 0)
		return;
	shut_down(namer);
	pthread_mutex_unlock(&namer->lock);
}

const struct pmp_namer_calls *namer_calls(const struct namer *namer)
{
	return namer ? &namer->calls : NULL;
}

pid_t namer_pid(const struct namer *namer)
{
	return namer ? namer->parent : 0;
}

uint64_t namer_cpu(struct namer *namer)
{
	if (PMP_FAULT("forget-helpers"))
		return 0;
	/* The holder of the lock may be waiting for a process to end. */
	if (!namer || pthread_mutex_trylock(&namer->lock) != 0)
		return namer ? namer->cpu : 0;
	namer->cpu = namer->cpu_of_ended;
	for (size_t i = 0; i < AT_A_TIME; i++)
		if (namer->readers[i].fd >= 0)
			namer->cpu += used_by(&namer->readers[i]);
	pthread_mutex_unlock(&namer->lock);
	return namer->cpu;
}

unsigned namer_missing(const struct namer *namer)
{
	return namer ? namer->missing : 0;
}

const char *namer_given_up(const struct namer *namer)
{
	return namer ? __atomic_load_n(&namer->given_up, __ATOMIC_ACQUIRE) : NULL;
}

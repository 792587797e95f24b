/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The front's side, see namer.h. Names are looked up by one thread at a time, but several
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

#define DEATHS_MAX 3
#define PARENT_TIME 10	 /* seconds for an answer: it has hardly anything to do */
#define END_POLL 1000000 /* ns */
#define END_POLLS_MAX 2000
#define AT_A_TIME 4 /* symbolizers: two sinks, a base, one to spare */

struct namer_process {
	int fd; /* -1: free */
	pid_t pid;
	uint64_t used; /* ns of a processor, when it was last asked for an answer */
};

struct namer {
	pid_t parent;
	int socket;
	pthread_mutex_t lock;
	struct namer_process readers[AT_A_TIME];
	pid_t left; /* not wanted any more, and not waited for; 0: none */
	unsigned deaths;
	bool cancelled;
	uint64_t cpu, cpu_of_ended; /* ns */
	unsigned missing;	    /* of enum confine_missing */
	struct pmp_namer_calls calls;
};

/* ---- asking the parent --------------------------------------------------------------------- */

/* fd: the descriptor that comes with it, or -1. */
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
		/* What comes later is no answer to the next request: there is none. */
		shutdown(namer->socket, SHUT_RDWR);
		return false;
	}
	item = CMSG_FIRSTHDR(&message);
	if (item && item->cmsg_type == SCM_RIGHTS)
		memcpy(fd, CMSG_DATA(item), sizeof(*fd));
	return true;
}

/* One that is not wanted any more has ended with its socket by now, or is killed. */
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

/* ns of a processor so far. */
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
	else if (reader && namer->deaths < DEATHS_MAX &&
		 request(namer, &asked, &answer, &fd) && fd >= 0)
		*reader = (struct namer_process){ .fd = fd, .pid = answer.pid };
	pthread_mutex_unlock(&namer->lock);
	return fd;
}

/* Has it used a processor since it was last asked? Then it is only slow. */
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
		/* It ended as its socket was closed: by us. */
		snprintf(text, size, "gave no answer that makes sense");
	else if (!WIFSIGNALED(answer->status))
		snprintf(text, size, "ended unexpectedly");
	else if (number == SIGPROF || number == SIGXCPU)
		snprintf(text, size, "took too long");
	else
		snprintf(text, size, "was ended by signal %d (%s)", number,
			 strsignal(number));
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
	/* A child of its parent until that has waited for it. */
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
		namer->deaths++;
		describe(&answer, reason, size);
	}
	pthread_mutex_unlock(&namer->lock);
}

/* ---- life ----------------------------------------------------------------------------------- */

/* The process at the other end may have been stopped: it is waited for no longer than this. */
static void limit_time(int socket)
{
	const struct timeval limit = { .tv_sec = PARENT_TIME };

	setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
}

/* Its first message says what it could not give up. A signal does not end the wait. NULL, or
 * why there is no message. */
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
	namer->calls = (struct pmp_namer_calls){ start, works, end, namer };
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

/* It ends with its socket, and its children with it; if it has been stopped, later. */
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
	/* Whoever has it may wait for a process to end. */
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
	/* Whoever has it may wait for a process to end. */
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

bool namer_has_given_up(const struct namer *namer)
{
	return namer && namer->deaths >= DEATHS_MAX;
}

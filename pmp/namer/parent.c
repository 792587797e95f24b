/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See parent.h. It reads nothing that comes from a target or from its children. */
#include "namer/parent.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fault.h"
#include "confine/await.h"
#include "confine/landlock.h"
#include "confine/rights.h"
#include "libpmp-program.h"
#include "namer/confine.h"
#include "namer/faults.h"

#define MEMORY ((uint64_t)2 << 30)
#define DESCRIPTORS 4096 /* a module has up to three */
#define WORK_TIME 8	 /* seconds of CPU time for a part of an answer */
#define WORK_IN_ALL 3600 /* the same in total */
#define THREADS 1024	 /* of all processes of that user */
#define LINGER 100	 /* ms for a process to end by itself */
#define HANGING_MAX 16	 /* processes that do not die yet; more are never reaped */

enum { SOCKET_FD = STDERR_FILENO + 1 };

/* ---- a process that reads ------------------------------------------------------------------ */

/* SIGPROF ends a process that takes longer. */
static void limit_work(void *arg)
{
	const struct itimerval limit = { .it_value.tv_sec = WORK_TIME };

	setitimer(ITIMER_PROF, &limit, NULL);
	faults_play_names(*(struct pmp_namer **)arg);
}

/* A saved profile or a core is read completely while the user waits:
 * RLIMIT_CPU is the only limit. */
static void read_whole_file(void *arg)
{
	(void)arg;
	faults_play_file();
}

__attribute__((noreturn)) static void read_files(int socket, pid_t parent)
{
	static struct pmp_namer *namer;
	const struct pmp_namer_options options = { .working = limit_work, .arg = &namer };
	const struct pmp_namer_options whole = { .working = read_whole_file };
	struct pmp_error err;
	bool can_filter;

	prctl(PR_SET_NAME, "pmp-namer");
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent || pmp_namer_new(socket, &options, &namer, &err) < 0)
		_exit(1);
	confine_limit(RLIMIT_CPU, WORK_IN_ALL);
	confine_memory(MEMORY);
	/* For any other user the limit would include that user's other processes. */
	if (geteuid() == CONFINE_NOBODY)
		confine_limit(RLIMIT_NPROC, THREADS);
	can_filter = confine_has_filters();
	if ((!confine_namer(namer) || PMP_FAULT("no-filter")) && can_filter)
		_exit(1);
	switch (pmp_namer_wanted(socket)) {
	case PMP_NAMER_NO_WORK: break;
	case PMP_NAMER_NAMES: pmp_namer_serve(namer); break;
	case PMP_NAMER_PROFILE: pmp_profile_serve(socket, &whole); break;
	case PMP_NAMER_CORE: pmp_core_serve(socket, &whole); break;
	}
	_exit(0);
}

/* ---- the parent ---------------------------------------------------------------------------- */

/* A session of its own gets no signals of the terminal; those that a service manager sends
 * to all processes of pmp are ignored: the front ends the parent. */
static void leave_signals(void)
{
	static const int ignored[] = { SIGINT,	SIGQUIT, SIGHUP,  SIGTERM,
				       SIGTSTP, SIGUSR1, SIGUSR2, SIGPIPE };
	sigset_t none;

	setsid();
	for (size_t i = 0; i < sizeof(ignored) / sizeof(*ignored); i++)
		signal(ignored[i], SIG_IGN);
	signal(SIGCHLD, SIG_DFL);
	signal(SIGPROF, SIG_DFL);
	signal(SIGALRM, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

static void leave_descriptors(int socket)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	for (int fd = 0; null >= 0 && fd <= STDERR_FILENO; fd++)
		dup2(null, fd);
	if (socket != SOCKET_FD && dup3(socket, SOCKET_FD, O_CLOEXEC) < 0)
		_exit(1);
	close_range(SOCKET_FD + 1, ~0U, 0);
}

/* A process that waits for its first request, with all slow preparations done. */
struct spare {
	pid_t pid; /* 0: none */
	int socket;
};

static void prepare_spare(struct spare *spare)
{
	const pid_t parent = getpid();
	int fds[2];

	*spare = (struct spare){ 0 };
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) < 0)
		return;
	spare->pid = fork();
	if (spare->pid == 0) {
		close(SOCKET_FD);
		close(fds[0]);
		read_files(fds[1], parent);
	}
	close(fds[1]);
	spare->socket = fds[0];
	if (spare->pid > 0)
		return;
	close(fds[0]);
	spare->pid = 0;
}

static bool answer_with(const struct parent_answer *answer, int fd)
{
	struct iovec part = { (void *)answer, sizeof(*answer) };
	union {
		char data[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control = { { 0 } };
	struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1 };
	struct cmsghdr *item;

	if (fd >= 0) {
		message.msg_control = control.data;
		message.msg_controllen = sizeof(control.data);
		item = CMSG_FIRSTHDR(&message);
		item->cmsg_level = SOL_SOCKET;
		item->cmsg_type = SCM_RIGHTS;
		item->cmsg_len = CMSG_LEN(sizeof(fd));
		memcpy(CMSG_DATA(item), &fd, sizeof(fd));
	}
	return sendmsg(SOCKET_FD, &message, MSG_NOSIGNAL) >= 0;
}

static bool start(struct spare *spare)
{
	struct parent_answer answer = { 0 };
	bool answered;

	if (!spare->pid)
		prepare_spare(spare);
	if (!spare->pid)
		return answer_with(&answer, -1);
	answer.pid = spare->pid;
	answered = answer_with(&answer, spare->socket);
	close(spare->socket);
	spare->pid = 0;
	return answered;
}

/* Processes that were killed, but hang in the kernel. */
struct hanging {
	pid_t pids[HANGING_MAX];
	size_t count;
};

static void reap(struct hanging *hanging)
{
	size_t left = 0;

	for (size_t i = 0; i < hanging->count; i++)
		if (waitpid(hanging->pids[i], NULL, WNOHANG) == 0)
			hanging->pids[left++] = hanging->pids[i];
	hanging->count = left;
}

/* End a process, and prepare a spare one, as another will be needed. */
static bool end(pid_t pid, struct spare *spare, struct hanging *hanging)
{
	struct parent_answer answer = { .pid = pid };
	enum confine_end how = CONFINE_ENDED;

	reap(hanging);
	if (pid > 0)
		how = confine_await(pid, LINGER, &answer.status);
	if (how == CONFINE_HANGS && hanging->count < HANGING_MAX)
		hanging->pids[hanging->count++] = pid;
	answer.killed = how != CONFINE_ENDED;
	if (!answer_with(&answer, -1))
		return false;
	if (!spare->pid)
		prepare_spare(spare);
	return true;
}

static unsigned give_up(pid_t front)
{
	unsigned missing = confine_drop_user();

	if (!confine_has_filters())
		missing |= CONFINE_CALLS | confine_rules_lack();
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != front)
		_exit(1);
	if (!confine_files())
		missing |= CONFINE_FILES;
	if (!confine_limit(RLIMIT_CORE, 0) || !confine_limit(RLIMIT_FSIZE, 0) ||
	    !confine_limit(RLIMIT_NOFILE, DESCRIPTORS))
		missing |= CONFINE_LIMITS;
	return missing;
}

/* False: the front is gone. */
static bool receive(struct parent_request *request)
{
	ssize_t n;

	do
		n = recv(SOCKET_FD, request, sizeof(*request), 0);
	while (n < 0 && errno == EINTR);
	return n == sizeof(*request);
}

void parent_run(int socket, pid_t front)
{
	struct parent_request request;
	struct hanging hanging = { .count = 0 };
	struct spare spare;
	unsigned missing;
	bool goes_on;

	prctl(PR_SET_NAME, "pmp-namers");
	leave_signals();
	leave_descriptors(socket);
	missing = give_up(front);
	if (PMP_FAULT("late-parent"))
		sleep(1);
	goes_on = send(SOCKET_FD, &missing, sizeof(missing), MSG_NOSIGNAL) >= 0;
	prepare_spare(&spare);
	while (goes_on && receive(&request)) {
		if (request.kind == PARENT_START)
			goes_on = start(&spare);
		else
			goes_on = end(request.pid, &spare, &hanging);
	}
	_exit(0);
}

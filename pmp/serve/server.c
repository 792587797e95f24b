/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * See server.h. The keeper waits for the server and starts the next one; it has no rights
 * either, and reads no input. Both have three descriptors: 0 listens, 1 leads to the front,
 * 2 is standard error.
 */
#include "serve/server.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "libpmp-program.h"
#include "confine/rights.h"
#include "run/clock.h"
#include "serve/confine.h"
#include "serve/connections.h"
#include "serve/counts.h"
#include "serve/protocol.h"

#define SPARED 32 /* descriptors besides those of connections */
#define DESCRIPTORS (2 * SERVE_CONNECTIONS + SPARED) /* a connection and a file of each */
/* Room for requests of all connections while the front is busy; the kernel counts a message
 * as twice its size. */
#define REQUESTS_SIZE ((int)(2 * SERVE_CONNECTIONS * sizeof(struct serve_request)))
#define MEMORY ((rlim_t)128 << 20)
#define AT_MOST 3 /* servers that may end in STARTS_TIME */
#define STARTS_TIME (60 * NS_PER_S)
#define STOP_TIME (3 * NS_PER_S)
#define STOP_REST (5 * NS_PER_MS)

enum { LISTENER_FD, FRONT_FD };

/* ---- the processes ------------------------------------------------------------------------ */

/* A session of its own gets no signals of the terminal; those that a service manager sends
 * to all processes of pmp are ignored: the front ends the server. */
static void leave_signals(void)
{
	static const int ignored[] = { SIGINT,	SIGQUIT, SIGHUP,  SIGTERM, SIGTSTP,
				       SIGUSR1, SIGUSR2, SIGPIPE, SIGXFSZ, SIGALRM };
	sigset_t none;

	setsid();
	for (size_t i = 0; i < sizeof(ignored) / sizeof(*ignored); i++)
		signal(ignored[i], SIG_IGN);
	signal(SIGCHLD, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

/* Close all descriptors of pmp but these. */
static bool keep_descriptors(int listener, int front)
{
	/* Neither is below 3: pmp has opened those first. */
	if (dup2(listener, LISTENER_FD) < 0 || dup2(front, FRONT_FD) < 0)
		return false;
	return close_range(STDERR_FILENO + 1, ~0U, 0) == 0;
}

static bool drop_rights(void)
{
	return !confine_drop_user() && confine_limit(RLIMIT_NOFILE, DESCRIPTORS) &&
	       confine_limit(RLIMIT_CORE, 0) &&
	       confine_limit(RLIMIT_FSIZE, HTTP_BODY_MAX) && confine_memory(MEMORY);
}

/* The number of connections that the limit of descriptors allows. */
static size_t count_room(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0 || limit.rlim_cur >= DESCRIPTORS)
		return SERVE_CONNECTIONS;
	return limit.rlim_cur < SPARED + 2 ? 1 : (size_t)(limit.rlim_cur - SPARED) / 2;
}

/* Called after the change of user, which resets PDEATHSIG. */
static bool end_with(pid_t parent)
{
	return prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) == 0 && getppid() == parent;
}

/* ---- the keeper --------------------------------------------------------------------------- */

struct keeping {
	struct connections_options options;
	uint64_t ends[AT_MOST]; /* when the last servers ended */
};

/* Have servers ended too often? An attacker whose request crashes the server must not have
 * any number of tries. */
static bool is_hopeless(struct keeping *keeping)
{
	const uint64_t now = now_ns();
	uint64_t *oldest = &keeping->ends[keeping->options.before % AT_MOST];
	bool hopeless = *oldest && now - *oldest < STARTS_TIME;

	*oldest = now;
	keeping->options.before++;
	return hopeless;
}

static pid_t start_one(struct keeping *keeping)
{
	pid_t keeper = getpid(), pid = fork();

	if (pid != 0)
		return pid;
	prctl(PR_SET_NAME, "pmp-server");
	if (!end_with(keeper))
		_exit(1);
	pmp_run_soon();
	keeping->options.unfiltered = !confine_server();
	_exit(connections_serve(LISTENER_FD, FRONT_FD, &keeping->options));
}

/* Restart the server until one exits normally. Returns the exit status. */
static int keep(struct keeping *keeping)
{
	for (;;) {
		pid_t pid = start_one(keeping);
		int status = 0;

		if (pid < 0)
			return 1;
		while (waitpid(pid, &status, 0) < 0)
			if (errno != EINTR)
				return 1;
		if (WIFEXITED(status))
			return WEXITSTATUS(status);
		if (is_hopeless(keeping))
			return 1;
	}
}

static void run_keeper(int listener, int front, struct keeping *keeping, pid_t parent)
{
	prctl(PR_SET_NAME, "pmp-keeper");
	leave_signals();
	if (!keep_descriptors(listener, front) || !drop_rights() || !end_with(parent))
		_exit(1);
	keeping->options.most = count_room();
	_exit(keep(keeping));
}

/* ---- the front's side --------------------------------------------------------------------- */

static int failed(struct pmp_error *err)
{
	*err = (struct pmp_error){ .code = PMP_ELIMIT, .sys_errno = errno };
	snprintf(err->message, sizeof(err->message), "cannot start the server: %s",
		 strerror(errno));
	return err->code;
}

/* Without rights, as large as the system allows. */
static void make_room(int fd)
{
	const int size = REQUESTS_SIZE;

	if (setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &size, sizeof(size)) < 0)
		setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &size, sizeof(size));
}

int server_start(struct server *server, int listener, const struct access_rules *rules,
		 bool reports, struct pmp_error *err)
{
	struct keeping keeping = {
		.options = { .rules = rules, .counts = counts_new(), .reports = reports }
	};
	pid_t front = getpid();
	int fds[2];

	*server = (struct server){ .fd = -1, .counts = keeping.options.counts };
	if (!server->counts ||
	    socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds) < 0)
		return failed(err);
	make_room(fds[0]);
	make_room(fds[1]);
	server->keeper = fork();
	if (server->keeper == 0)
		run_keeper(listener, fds[1], &keeping, front);
	close(fds[1]);
	if (server->keeper > 0) {
		server->fd = fds[0];
		return 0;
	}
	failed(err);
	server->keeper = 0;
	close(fds[0]);
	return err->code;
}

static bool has_ended(pid_t pid)
{
	const struct timespec rest = { .tv_nsec = STOP_REST };
	const uint64_t end = now_ns() + STOP_TIME;

	do {
		pid_t ended = waitpid(pid, NULL, WNOHANG);

		if (ended == pid || (ended < 0 && errno == ECHILD))
			return true;
		nanosleep(&rest, NULL);
	} while (now_ns() < end);
	return false;
}

void server_stop(struct server *server)
{
	if (server->fd >= 0)
		close(server->fd);
	server->fd = -1;
	if (server->keeper > 0 && !has_ended(server->keeper)) {
		kill(server->keeper, SIGKILL);
		has_ended(server->keeper);
	}
	server->keeper = 0;
	counts_free(server->counts);
	server->counts = NULL;
}

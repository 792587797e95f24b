/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the server may not ask of the kernel is its end; what it needs, it may. */
#include "lib/tap.h"

#include "serve/confine.h"

#include <fcntl.h>
#include <linux/netlink.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int parent, listener;

static void open_file(void)
{
	open("/etc/passwd", O_RDONLY);
}

static void make_file(void)
{
	syscall(SYS_openat, AT_FDCWD, "confined", O_CREAT | O_WRONLY, 0600);
}

static void remove_file(void)
{
	unlink("confined");
}

static void connect_out(void)
{
	socket(AF_INET, SOCK_STREAM, 0);
}

static void connect_local(void)
{
	socket(AF_UNIX, SOCK_STREAM, 0);
}

static void start_process(void)
{
	fork();
}

static void execute(void)
{
	execl("/bin/true", "true", NULL);
}

static void signal_other(void)
{
	kill(parent, 0);
}

static void trace_other(void)
{
	ptrace(PTRACE_SEIZE, parent, 0, 0);
}

static void read_other(void)
{
	char byte;
	const struct iovec here = { &byte, 1 }, there = { &parent, 1 };

	process_vm_readv(parent, &here, 1, &there, 1, 0);
}

static void run_memory(void)
{
	void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			  -1, 0);

	mprotect(page, 4096, PROT_READ | PROT_EXEC);
}

static void map_code(void)
{
	const void *page = mmap(NULL, 4096, PROT_READ | PROT_EXEC,
				MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)page;
}

/* Shut down, the socket that listens could be used for a connection of its own. */
static void connect_listener(void)
{
	struct sockaddr_in address = { .sin_family = AF_INET,
				       .sin_addr = { htonl(INADDR_LOOPBACK) } };

	shutdown(listener, SHUT_RDWR);
	sendto(listener, "x", 1, MSG_FASTOPEN, (const struct sockaddr *)&address,
	       sizeof(address));
}

static void connect_by_message(void)
{
	struct msghdr message = { 0 };

	sendmsg(listener, &message, MSG_FASTOPEN);
}

static void signal_by_file(void)
{
	fcntl(listener, F_SETOWN, parent);
}

static void signal_by_number(void)
{
	fcntl(listener, F_SETSIG, SIGKILL);
}

static void ask_routes(void)
{
	socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
}

static void gain_rights(void)
{
	if (setuid(0) < 0)
		return;
}

static void serve(void)
{
	int pair[2] = { 0, 1 };
	struct pollfd poller = { .fd = pair[0] };
	int file = memfd_create("confined", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	int netlink = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
	struct timespec now;
	char *memory = malloc(1 << 20);

	poll(&poller, 1, 0);
	clock_gettime(CLOCK_MONOTONIC, &now);
	_exit(file >= 0 && netlink >= 0 && memory && write(file, memory, 10) == 10 &&
			      lseek(file, 0, SEEK_END) == 10
		      ? 42
		      : 1);
}

/* The status of a confined process that does something. */
static int confined(void (*what)(void))
{
	int status = 0;
	pid_t pid = fork();

	if (pid == 0) {
		prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
		if (!confine_server())
			_exit(2);
		what();
		_exit(0);
	}
	waitpid(pid, &status, 0);
	return status;
}

int main(void)
{
	static const struct {
		const char *what;
		void (*does)(void);
	} forbidden[] = {
		{ "open a file", open_file },
		{ "make a file", make_file },
		{ "remove a file", remove_file },
		{ "make a socket of the Internet", connect_out },
		{ "make a socket of this machine", connect_local },
		{ "start a process", start_process },
		{ "execute a program", execute },
		{ "send a signal", signal_other },
		{ "trace a process", trace_other },
		{ "read the memory of a process", read_other },
		{ "make memory executable", run_memory },
		{ "map code", map_code },
		{ "connect what has listened", connect_listener },
		{ "connect it by a message", connect_by_message },
		{ "have a file send a signal", signal_by_file },
		{ "say which signal that is", signal_by_number },
		{ "ask for routes", ask_routes },
		{ "become another user", gain_rights },
	};
	int status;

	parent = getpid();
	listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	for (size_t i = 0; i < sizeof(forbidden) / sizeof(*forbidden); i++) {
		status = confined(forbidden[i].does);
		ok(WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS, "it cannot %s",
		   forbidden[i].what);
	}
	status = confined(serve);
	ok(WIFEXITED(status) && WEXITSTATUS(status) == 42,
	   "it can serve: sockets, memory, time, whose a connection is");
	return done_testing();
}

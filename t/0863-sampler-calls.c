/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the sampler may ask of the kernel, and what is its end or fails. */
#include "lib/tap.h"

#include "sampler/confine.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#define WORKS 42

static pid_t parent;

/* ---- what must not be possible ------------------------------------------------------ */

static void execute(void)
{
	execl("/bin/true", "true", NULL);
}

static void start_process(void)
{
	fork();
}

static void connect_out(void)
{
	socket(AF_INET, SOCK_STREAM, 0);
}

static void connect_local(void)
{
	socket(AF_UNIX, SOCK_STREAM, 0);
}

static void change_routes(void)
{
	socket(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE);
}

static void make_file(void)
{
	open("confined", O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
}

static void open_for_writing(void)
{
	open("/dev/null", O_RDWR | O_CLOEXEC);
}

static void write_to_file(void)
{
	const ssize_t n = write(STDOUT_FILENO, "", 0);

	(void)n;
}

static void write_into_memory(void)
{
	char byte = 0;
	const struct iovec here = { &byte, 1 }, there = { &parent, 1 };

	process_vm_writev(parent, &here, 1, &there, 1, 0);
}

static void change_code(void)
{
	ptrace(PTRACE_POKETEXT, parent, &parent, 0);
}

static void attach(void)
{
	ptrace(PTRACE_ATTACH, parent, 0, 0);
}

static void go_on_otherwise(void)
{
	ptrace(PTRACE_CONT, parent, 0, 0);
}

static void kill_other(void)
{
	kill(parent, SIGCONT);
}

static void kill_thread(void)
{
	syscall(SYS_tgkill, parent, parent, SIGCONT);
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

static void change_user(void)
{
	if (setuid(65534) < 0)
		return;
}

static void mount_something(void)
{
	mount("none", "/nowhere", "tmpfs", 0, NULL);
}

/* ---- what fails ------------------------------------------------------------------------ */

/* Exits as one that works if the call is not known to the kernel. */
static void expect_unknown(long result)
{
	_exit(result < 0 && errno == ENOSYS ? WORKS : 0);
}

static void remove_file(void)
{
	expect_unknown(unlink("confined"));
}

static void rename_file(void)
{
	expect_unknown(rename("confined", "renamed"));
}

static void change_mode(void)
{
	expect_unknown(chmod("/nowhere", 0777));
}

static void raise_limit(void)
{
	const struct rlimit limit = { RLIM_INFINITY, RLIM_INFINITY };

	expect_unknown(prlimit(0, RLIMIT_FSIZE, &limit, NULL));
}

static void go_elsewhere(void)
{
	expect_unknown(chroot("/"));
}

/* ---- what it needs ------------------------------------------------------------------- */

static void sample(void)
{
	char text[64];
	struct rlimit limit;
	struct stat status;
	int proc = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
	int netlink = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_GENERIC);
	void *memory = malloc(1 << 20);
	const bool works = proc >= 0 && netlink >= 0 && memory &&
			   read(proc, text, sizeof(text)) > 0 &&
			   fstat(proc, &status) == 0 && kill(parent, 0) == 0 &&
			   getrlimit(RLIMIT_NOFILE, &limit) == 0 &&
			   access("/proc", R_OK) == 0;

	free(memory);
	_exit(works ? WORKS : 1);
}

static int confined(void (*what)(void))
{
	int status = 0;
	pid_t pid = fork();

	if (pid == 0) {
		if (!confine_sampler_calls(true))
			_exit(2);
		what();
		_exit(0);
	}
	waitpid(pid, &status, 0);
	return status;
}

struct attempt {
	const char *what;
	void (*does)(void);
};

static void check_deadly(void)
{
	static const struct attempt deadly[] = {
		{ "execute a program", execute },
		{ "start a process", start_process },
		{ "make a socket of the Internet", connect_out },
		{ "make a socket of this machine", connect_local },
		{ "change routes", change_routes },
		{ "make a file", make_file },
		{ "open a file for writing", open_for_writing },
		{ "write to another file than standard error", write_to_file },
		{ "write into the memory of a process", write_into_memory },
		{ "change the code of a process", change_code },
		{ "attach to a process so that it stops", attach },
		{ "have a process go on with another signal", go_on_otherwise },
		{ "send a signal to a process", kill_other },
		{ "send a signal to a thread", kill_thread },
		{ "make memory executable", run_memory },
		{ "map executable memory", map_code },
		{ "become another user", change_user },
		{ "mount a file system", mount_something },
	};

	for (size_t i = 0; i < sizeof(deadly) / sizeof(*deadly); i++) {
		int status = confined(deadly[i].does);

		ok(WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS,
		   "the sampler cannot %s: that is its end", deadly[i].what);
	}
}

static void check_failing(void)
{
	static const struct attempt failing[] = {
		{ "remove a file", remove_file },    { "rename a file", rename_file },
		{ "change a mode", change_mode },    { "raise its limits", raise_limit },
		{ "change its root", go_elsewhere },
	};

	for (size_t i = 0; i < sizeof(failing) / sizeof(*failing); i++) {
		int status = confined(failing[i].does);

		ok(WIFEXITED(status) && WEXITSTATUS(status) == WORKS,
		   "it cannot %s: there is no such call", failing[i].what);
	}
}

int main(void)
{
	int status;

	parent = getpid();
	check_deadly();
	check_failing();
	status = confined(sample);
	ok(WIFEXITED(status) && WEXITSTATUS(status) == WORKS,
	   "it can do what it needs: read /proc, ask netlink, take memory");
	return done_testing();
}

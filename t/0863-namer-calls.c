/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a process that reads files may ask of the kernel; what is its end, or fails. */
#include "lib/tap.h"

#include "namer/confine.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "libpmp-program.h"

#define WORKS 42
#define X32 0x40000000L /* the same calls with other numbers */
#define ARG(pointer) ((long)(uintptr_t)(pointer))
#define ANONYMOUS (MAP_PRIVATE | MAP_ANONYMOUS)

struct call {
	const char *what;
	long number;
	long args[6];
};

static pid_t parent;
static int file, pair[2], expected; /* with which error a call fails */

static long make(const struct call *call)
{
	const long *args = call->args;

	return syscall(call->number, args[0], args[1], args[2], args[3], args[4],
		       args[5]);
}

/* The status of a process that does something once it is confined as one that reads files. */
static int confined(void (*what)(const struct call *), const struct call *call)
{
	const struct pmp_namer_options options = { 0 };
	struct pmp_namer *namer;
	struct pmp_error err;
	int status = 0;
	pid_t pid = fork();

	if (pid == 0) {
		if (pmp_namer_new(pair[0], &options, &namer, &err) < 0 ||
		    !confine_namer(namer))
			_exit(2);
		what(call);
		_exit(0);
	}
	waitpid(pid, &status, 0);
	return status;
}

static bool works(int status)
{
	return WIFEXITED(status) && WEXITSTATUS(status) == WORKS;
}

/* ---- its end -------------------------------------------------------------------------- */

static void only_make(const struct call *call)
{
#ifdef SYS_vfork
	/* The child would return from syscall() on the stack of the other. */
	if (call->number == SYS_vfork) {
		vfork();
		_exit(0);
	}
#endif
	make(call);
}

static void check_deadly(const struct call *calls, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const int status = confined(only_make, &calls[i]);

		ok(WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS,
		   "it cannot %s: that is its end", calls[i].what);
	}
}

static void check_memory(void)
{
	char byte = 0;
	const struct iovec vector = { &byte, 1 };
	const long here = ARG(&vector);
	const struct call calls[] = {
		{ "map executable memory",
		  SYS_mmap,
		  { 0, 4096, PROT_READ | PROT_EXEC, ANONYMOUS, -1 } },
		{ "map a file as code",
		  SYS_mmap,
		  { 0, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, file } },
		{ "make memory executable",
		  SYS_mprotect,
		  { 0, 4096, PROT_READ | PROT_EXEC } },
		{ "trace a process", SYS_ptrace, { PTRACE_SEIZE, parent } },
		{ "read the memory of a process",
		  SYS_process_vm_readv,
		  { parent, here, 1, here, 1 } },
		{ "write into the memory of a process",
		  SYS_process_vm_writev,
		  { parent, here, 1, here, 1 } },
	};

	check_deadly(calls, sizeof(calls) / sizeof(*calls));
}

static void check_processes(void)
{
	const long program = ARG("/nowhere/program");
	const struct call calls[] = {
		{ "execute a program", SYS_execve, { program } },
		{ "execute one by a descriptor", SYS_execveat, { AT_FDCWD, program } },
		{ "start a process", SYS_clone, { SIGCHLD } },
		{ "start one with its memory", SYS_clone, { CLONE_VM | SIGCHLD } },
		{ "make a namespace by that", SYS_clone, { CLONE_NEWUSER | SIGCHLD } },
#ifdef __x86_64__
		{ "fork", SYS_fork, { 0 } },
		{ "vfork", SYS_vfork, { 0 } },
		{ "make calls by the numbers of x32", X32 | SYS_getpid, { 0 } },
		{ "open a file by these",
		  X32 | SYS_openat,
		  { AT_FDCWD, ARG("/"), O_RDONLY } },
#endif
		{ "send a signal to a process", SYS_kill, { parent, 0 } },
		{ "send one to a thread", SYS_tkill, { parent, 0 } },
		{ "send one to a thread of a process",
		  SYS_tgkill,
		  { parent, parent, 0 } },
		{ "get a descriptor of a process", SYS_pidfd_open, { parent } },
		{ "send a signal by that", SYS_pidfd_send_signal, { -1, 0 } },
	};

	check_deadly(calls, sizeof(calls) / sizeof(*calls));
}

static void check_others(void)
{
	const struct call calls[] = {
		{ "make a socket of the Internet", SYS_socket, { AF_INET, SOCK_STREAM } },
		{ "make a socket of this machine", SYS_socket, { AF_UNIX, SOCK_STREAM } },
		{ "connect", SYS_connect, { pair[0] } },
		{ "bind", SYS_bind, { pair[0] } },
		{ "open a file with openat2()", SYS_openat2, { AT_FDCWD, ARG("/") } },
		{ "write to a file", SYS_write, { STDOUT_FILENO, ARG(""), 0 } },
		{ "write into a file", SYS_pwrite64, { STDOUT_FILENO, ARG(""), 0, 0 } },
		{ "mount a file system", SYS_mount, { 0 } },
		{ "make a namespace", SYS_unshare, { 0 } },
		{ "enter a namespace", SYS_setns, { -1, 0 } },
		{ "load a program into the kernel", SYS_bpf, { BPF_PROG_LOAD } },
		{ "become another user", SYS_setuid, { 65534 } },
		{ "become one again", SYS_setresuid, { -1, 0, -1 } },
		{ "get capabilities", SYS_capset, { 0 } },
	};

	check_deadly(calls, sizeof(calls) / sizeof(*calls));
}

/* ---- what fails ------------------------------------------------------------------------ */

static void fail(const struct call *call)
{
	_exit(make(call) < 0 && errno == expected ? WORKS : 0);
}

static void check_failing(const struct call *calls, size_t count, int error,
			  const char *how)
{
	expected = error;
	for (size_t i = 0; i < count; i++)
		ok(works(confined(fail, &calls[i])), "it cannot %s: %s", calls[i].what,
		   how);
}

/* What is not in the list at all. */
static void check_unknown(void)
{
	const struct rlimit limit = { RLIM_INFINITY, RLIM_INFINITY };
	const long name = ARG("/nowhere/confined");
	const struct call calls[] = {
		{ "start what a filter does not see", SYS_clone3, { 0, 0 } },
		{ "have the kernel make calls", SYS_io_uring_setup, { 0, 0 } },
		{ "make a file in memory", SYS_memfd_create, { name, 0 } },
		{ "make sockets", SYS_socketpair, { AF_UNIX, SOCK_STREAM } },
		{ "send to an address", SYS_sendto, { pair[0], name, 1 } },
		{ "take descriptors of others", SYS_pidfd_getfd, { -1, 0 } },
		{ "open a file by its handle", SYS_open_by_handle_at, { -1 } },
		{ "remove a file", SYS_unlinkat, { AT_FDCWD, name } },
		{ "make a folder", SYS_mkdirat, { AT_FDCWD, name } },
		{ "cut off a file", SYS_ftruncate, { file, 0 } },
		{ "type into a terminal", SYS_ioctl, { -1, TIOCSTI, name } },
		{ "have a file send signals", SYS_fcntl, { pair[0], F_SETOWN } },
		{ "make memory executable with a key",
		  SYS_pkey_mprotect,
		  { 0, 4096, PROT_READ | PROT_EXEC, -1 } },
		{ "handle faults of memory", SYS_userfaultfd, { 0 } },
		{ "count events", SYS_perf_event_open, { 0, 0, -1, -1 } },
		{ "read keys", SYS_keyctl, { 0 } },
		{ "change what it is", SYS_prctl, { 0 } },
		{ "change its root", SYS_chroot, { ARG("/") } },
		{ "raise its limits", SYS_prlimit64, { 0, RLIMIT_CORE, ARG(&limit) } },
	};

	check_failing(calls, sizeof(calls) / sizeof(*calls), ENOSYS,
		      "there is no such call");
}

/* All of this is there: "/". */
static void check_absent(void)
{
	static char room[4096];
	const long root = ARG("/"), buffer = ARG(room);
	const struct call calls[] = {
		{ "open a file", SYS_openat, { AT_FDCWD, root, O_RDONLY } },
		{ "open one for writing",
		  SYS_openat,
		  { AT_FDCWD, ARG("/dev/null"), O_RDWR } },
		{ "look at a file", SYS_newfstatat, { AT_FDCWD, root, buffer } },
		{ "look at it again",
		  SYS_statx,
		  { AT_FDCWD, root, 0, STATX_TYPE, buffer } },
		{ "see whether it is there", SYS_faccessat, { AT_FDCWD, root } },
		{ "say where it is", SYS_getcwd, { buffer, sizeof(room) } },
#ifdef SYS_open
		{ "open it as of old", SYS_open, { root, O_RDONLY } },
		{ "look at it as of old", SYS_stat, { root, buffer } },
		{ "look at links", SYS_lstat, { root, buffer } },
		{ "see whether it may be read", SYS_access, { root } },
#endif
	};
	const struct call link = { "follow a link",
				   SYS_readlinkat,
				   { AT_FDCWD, ARG("/proc/self/exe"), buffer,
				     sizeof(room) } };

	check_failing(calls, sizeof(calls) / sizeof(*calls), ENOENT,
		      "there is no such file");
	check_failing(&link, 1, EINVAL, "it is none");
}

/* ---- what it needs ------------------------------------------------------------------- */

static void *work(void *arg)
{
	char *memory = malloc(1 << 20);

	if (memory)
		memset(memory, 1, 1 << 20);
	free(memory);
	return memory ? arg : NULL;
}

static bool reads(void)
{
	char bytes[4];
	struct stat status;
	void *mapped = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, file, 0);

	return mapped != MAP_FAILED && memcmp(mapped, "\177ELF", 4) == 0 &&
	       munmap(mapped, 4096) == 0 && lseek(file, 0, SEEK_SET) == 0 &&
	       read(file, bytes, 4) == 4 && pread(file, bytes, 4, 1) == 4 &&
	       fstat(file, &status) == 0 && fcntl(file, F_GETFD) >= 0 && close(file) == 0;
}

static bool answers(void)
{
	char byte = 'a';
	struct iovec part = { &byte, 1 };
	struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1 };
	struct pollfd poller = { .fd = pair[1], .events = POLLIN };

	return sendmsg(pair[0], &message, MSG_NOSIGNAL) == 1 &&
	       poll(&poller, 1, -1) == 1 && recvmsg(pair[1], &message, 0) == 1;
}

static void read_files(const struct call *call)
{
	const struct itimerval limit = { .it_value.tv_sec = 8 };
	struct rlimit limits;
	struct timespec now;
	pthread_t thread;
	void *result = NULL;

	(void)call;
	if (reads() && answers() && pthread_create(&thread, NULL, work, pair) == 0 &&
	    pthread_join(thread, &result) == 0 && result &&
	    setitimer(ITIMER_PROF, &limit, NULL) == 0 && sched_yield() == 0 &&
	    clock_gettime(CLOCK_MONOTONIC, &now) == 0 &&
	    getrlimit(RLIMIT_NOFILE, &limits) == 0)
		_exit(WORKS);
}

int main(void)
{
	parent = getpid();
	file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	if (file < 0 || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
		return 99;
	check_memory();
	check_processes();
	check_others();
	check_unknown();
	check_absent();
	ok(works(confined(read_files, NULL)),
	   "it can do what it needs: read what it has open, answer, take memory, start threads");
	return done_testing();
}

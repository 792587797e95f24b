/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the sampler may ask of the kernel, and what is its end or fails. */
#include "lib/tap.h"

#include "sampler/confine.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <linux/openat2.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#define WORKS 42

#define KEPT "kept"

static pid_t parent;
static char kept[] = KEPT; /* the parent's */
static char own_file[64];  /* its path */

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

/* By the call whose flags the filter cannot see. */
static int open_unseen(const char *path, int access)
{
	const struct open_how how = { .flags = (uint64_t)access | O_CLOEXEC };

	return (int)syscall(SYS_openat2, AT_FDCWD, path, &how, sizeof(how));
}

/* That the descriptor of debug messages becomes another file must be prevented as well. */
static void write_into_opened_memory(void)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/mem", (int)parent);
	close(STDERR_FILENO);
	fd = open_unseen(path, O_RDWR);
	if (fd == STDERR_FILENO && lseek(fd, (off_t)(uintptr_t)kept, SEEK_SET) >= 0 &&
	    write(fd, "lost", strlen(KEPT)) < 0)
		return;
}

static void change_file(void)
{
	int fd = open_unseen(own_file, O_RDWR);
	char *at = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (at != MAP_FAILED)
		memcpy(at, "lost", strlen(KEPT));
}

static void write_to_error(void)
{
	const ssize_t n = write(STDERR_FILENO, "", 0);

	(void)n;
}

static void write_vector_to_error(void)
{
	const ssize_t n = writev(STDERR_FILENO, NULL, 0);

	(void)n;
}

static void change_registers(void)
{
	struct user_regs_struct regs;
	struct iovec iov = { &regs, sizeof(regs) };

#ifdef __x86_64__
	ptrace(PTRACE_SETREGSET, parent, NT_PRSTATUS, &iov);
#else
	ptrace(PTRACE_SETREGSET, parent, NT_FPREGSET, &iov);
#endif
}

#ifdef __x86_64__
static void change_program_counter(void)
{
	ptrace(PTRACE_POKEUSER, parent, offsetof(struct user, regs.rip), -514);
}

static void change_result(void)
{
	ptrace(PTRACE_POKEUSER, parent, offsetof(struct user, regs.rax), 0L);
}

static void change_half_of_result(void)
{
	ptrace(PTRACE_POKEUSER, parent, offsetof(struct user, regs.rax), 0xfffffdfeL);
}
#endif

static void attach_with_options(void)
{
	ptrace(PTRACE_SEIZE, parent, 0, PTRACE_O_TRACEEXEC);
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

/* An ioctl with the number of PROCMAP_QUERY; some file systems exchange files by it. */
static void exchange_files(void)
{
	expect_unknown(ioctl(STDOUT_FILENO, _IO('f', 17)));
}

static void write_otherwise(void)
{
	const struct iovec part = { NULL, 0 };

	if (syscall(SYS_pwritev, STDERR_FILENO, &part, 1, 0, 0) >= 0 || errno != ENOSYS ||
	    syscall(SYS_sendfile, STDERR_FILENO, STDOUT_FILENO, NULL, 0) >= 0 ||
	    errno != ENOSYS ||
	    syscall(SYS_copy_file_range, STDOUT_FILENO, NULL, STDERR_FILENO, NULL, 0,
		    0) >= 0 ||
	    errno != ENOSYS ||
	    syscall(SYS_splice, STDOUT_FILENO, NULL, STDERR_FILENO, NULL, 0, 0) >= 0 ||
	    errno != ENOSYS || syscall(SYS_io_uring_setup, 1, NULL) >= 0)
		_exit(1);
	expect_unknown(syscall(SYS_dup3, STDOUT_FILENO, STDERR_FILENO, 0));
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
	/* Its device is that of memory files of the targets. */
	const void *shared =
		mmap(NULL, 4096, PROT_NONE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	const bool works = proc >= 0 && netlink >= 0 && memory && shared != MAP_FAILED &&
			   read(proc, text, sizeof(text)) > 0 &&
			   fstat(proc, &status) == 0 && kill(parent, 0) == 0 &&
			   getrlimit(RLIMIT_NOFILE, &limit) == 0 &&
			   access("/proc", R_OK) == 0;

	free(memory);
	_exit(works ? WORKS : 1);
}

static void write_debug_message(void)
{
	_exit(write(STDERR_FILENO, "", 0) == 0 ? WORKS : 1);
}

/* It is not traced by this process: the kernel is asked, and says so. */
static void restart_call(void)
{
	ptrace(PTRACE_SEIZE, parent, 0, 0);
	errno = ESRCH;
#ifdef __x86_64__
	ptrace(PTRACE_POKEUSER, getpid(), offsetof(struct user, regs.rax), -514L);
#endif
	_exit(errno == ESRCH ? WORKS : 1);
}

static int confined(void (*what)(void), bool debugs)
{
	int status = 0;
	pid_t pid = fork();

	if (pid == 0) {
		if (!confine_sampler_calls(debugs))
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

static bool ends(void (*what)(void), bool debugs)
{
	const int status = confined(what, debugs);

	return WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS;
}

static bool works(void (*what)(void), bool debugs)
{
	const int status = confined(what, debugs);

	return WIFEXITED(status) && WEXITSTATUS(status) == WORKS;
}

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
		{ "open that memory for writing and write to it",
		  write_into_opened_memory },
		{ "change a file that it has opened and mapped", change_file },
		{ "change the registers of a thread", change_registers },
#ifdef __x86_64__
		{ "have a thread go on at another place", change_program_counter },
		{ "change the result of a system call", change_result },
		{ "change half of it", change_half_of_result },
#endif
		{ "trace more than stops", attach_with_options },
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
		ok(ends(deadly[i].does, false) && ends(deadly[i].does, true),
		   "the sampler cannot %s: that is its end", deadly[i].what);
	}
	ok(ends(write_to_error, false) && ends(write_vector_to_error, false),
	   "nor write to standard error, without debug messages");
	is_str(kept, KEPT, "the memory is as it was");
}

static void check_failing(void)
{
	static const struct attempt failing[] = {
		{ "remove a file", remove_file },
		{ "rename a file", rename_file },
		{ "change a mode", change_mode },
		{ "raise its limits", raise_limit },
		{ "change its root", go_elsewhere },
		{ "exchange files", exchange_files },
		{ "write otherwise", write_otherwise },
	};

	for (size_t i = 0; i < sizeof(failing) / sizeof(*failing); i++)
		ok(works(failing[i].does, false) && works(failing[i].does, true),
		   "it cannot %s: there is no such call", failing[i].what);
}

/* A file of one page, which has to stay as it is. Its descriptor. */
static int make_own_file(void)
{
	const int fd = memfd_create("own", MFD_CLOEXEC);

	snprintf(own_file, sizeof(own_file), "/proc/self/fd/%d", fd);
	if (fd < 0 || write(fd, KEPT, strlen(KEPT)) < 0 || ftruncate(fd, 4096) < 0)
		_exit(1);
	return fd;
}

static void check_own_file(int fd)
{
	char text[sizeof(KEPT)] = "";

	ok(pread(fd, text, strlen(KEPT), 0) > 0 && strcmp(text, KEPT) == 0,
	   "the file is as it was");
	close(fd);
}

int main(void)
{
	int own;

	parent = getpid();
	prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
	own = make_own_file();
	check_deadly();
	check_own_file(own);
	check_failing();
	ok(works(sample, false) && works(sample, true),
	   "it can do what it needs: read /proc, ask netlink, take memory");
	ok(works(restart_call, false), "attach, and restart a system call");
	ok(works(write_debug_message, true), "write debug messages, if it is to");
	return done_testing();
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Opening a process: who is refused, and whether the message tells why. */
#include "libpmp-program.h"
#include "lib/tap.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include "base/file.h"
#include "proc/process.h"
#include "proc/threads.h"
#include "lib/child.h"
#include "proc/explain.h"
#include "proc/open.h"

#define NOBODY 65534

/* What opening came to, in this process or in another user's. */
struct outcome {
	int result;
	struct pmp_error err;
};

static struct outcome try_open(pid_t pid)
{
	struct pmp_process process;
	struct outcome out = { 0 };

	out.result = pmp_process_open(pid, &process, &out.err);
	if (out.result == 0)
		pmp_process_close(&process);
	else if (process.pidfd >= 0 || process.proc >= 0 || process.mem >= 0)
		diag("descriptors are left open");
	return out;
}

/* The same after become() has changed who we are. */
static struct outcome try_open_as(bool (*become)(void), pid_t pid)
{
	struct outcome out = { .result = 1 };
	int ends[2];
	pid_t helper;

	if (pipe2(ends, O_CLOEXEC))
		return out;
	helper = fork();
	if (helper == 0) {
		if (become())
			out = try_open(pid);
		_exit(write(ends[1], &out, sizeof(out)) != sizeof(out));
	}
	close(ends[1]);
	if (read(ends[0], &out, sizeof(out)) != sizeof(out))
		out.result = 1;
	close(ends[0]);
	waitpid(helper, NULL, 0);
	return out;
}

__attribute__((format(printf, 2, 3))) static const char *text(char buffer[512],
							      const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(buffer, 512, format, args);
	va_end(args);
	return buffer;
}

/* ---- children ----------------------------------------------------------- */

static bool named(const struct child *self, void *name)
{
	(void)self;
	return prctl(PR_SET_NAME, name) == 0;
}

static void *sleep_thread(void *arg)
{
	(void)arg;
	for (;;)
		pause();
	return NULL;
}

static bool with_thread(const struct child *self, void *arg)
{
	pthread_t thread;

	(void)self;
	(void)arg;
	return pthread_create(&thread, NULL, sleep_thread, NULL) == 0;
}

/* The leader ends, the process does not. */
static bool headless(const struct child *self, void *arg)
{
	if (!with_thread(self, arg))
		return false;
	child_answer(self, true);
	pthread_exit(NULL);
}

static bool undumpable_nobody(const struct child *self, void *arg)
{
	(void)self;
	(void)arg;
	return setuid(NOBODY) == 0 && prctl(PR_SET_DUMPABLE, 0) == 0;
}

/* root's groups are kept unless group is set */
static bool dumpable_nobody(const struct child *self, void *group)
{
	(void)self;
	return (!group || setgid(NOBODY) == 0) && setuid(NOBODY) == 0 &&
	       prctl(PR_SET_DUMPABLE, 1) == 0;
}

static bool tracer(const struct child *self, void *pid)
{
	prctl(PR_SET_NAME, "debug\033ger");
	(void)self;
	return ptrace(PTRACE_SEIZE, *(pid_t *)pid, 0, 0) == 0;
}

/* mov $29,%eax; int $0x80; jmp: pause() for ever, in 32 bits. */
static bool write_program32(int fd)
{
	static const unsigned char code[] = { 0xb8, 29, 0, 0, 0, 0xcd, 0x80, 0xeb, 0xf7 };
	const Elf32_Ehdr head = {
		.e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS32, ELFDATA2LSB,
			     EV_CURRENT },
		.e_type = ET_EXEC,
		.e_machine = EM_386,
		.e_version = EV_CURRENT,
		.e_entry = 0x8048000 + sizeof(Elf32_Ehdr) + sizeof(Elf32_Phdr),
		.e_phoff = sizeof(Elf32_Ehdr),
		.e_ehsize = sizeof(Elf32_Ehdr),
		.e_phentsize = sizeof(Elf32_Phdr),
		.e_phnum = 1,
	};
	const Elf32_Phdr load = {
		.p_type = PT_LOAD,
		.p_vaddr = 0x8048000,
		.p_paddr = 0x8048000,
		.p_filesz = sizeof(head) + sizeof(load) + sizeof(code),
		.p_memsz = sizeof(head) + sizeof(load) + sizeof(code),
		.p_flags = PF_R | PF_X,
		.p_align = 4096,
	};

	return write(fd, &head, sizeof(head)) == sizeof(head) &&
	       write(fd, &load, sizeof(load)) == sizeof(load) &&
	       write(fd, code, sizeof(code)) == sizeof(code);
}

/* From memory: no file to be left behind. */
static bool program32(const struct child *self, void *arg)
{
	char path[64], *argv[] = { (char *)"small", NULL };
	int fd = memfd_create("small", 0);
	int again;

	(void)self;
	(void)arg;
	if (fd < 0 || !write_program32(fd))
		return false;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	again = open(path, O_RDONLY | O_CLOEXEC);
	close(fd); /* what is open for writing cannot be executed */
	fexecve(again, argv, environ);
	return false;
}

/* ---- who tries ---------------------------------------------------------- */

static bool become_nobody(void)
{
	return setgid(NOBODY) == 0 && setuid(NOBODY) == 0;
}

static bool drop_ptrace(bool for_ever)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2];

	if (for_ever && prctl(PR_CAPBSET_DROP, CAP_SYS_PTRACE, 0, 0, 0))
		return false;
	if (syscall(SYS_capget, &head, data))
		return false;
	data[0].effective &= ~(1u << CAP_SYS_PTRACE);
	data[0].permitted &= ~(1u << CAP_SYS_PTRACE);
	return syscall(SYS_capset, &head, data) == 0;
}

static bool become_container(void)
{
	return drop_ptrace(true);
}

static bool become_less(void)
{
	return drop_ptrace(false);
}

/* ---- tests -------------------------------------------------------------- */

static void test_numbers(void)
{
	pid_t ended = fork();
	struct outcome out;
	char want[512];

	if (ended == 0)
		_exit(0);
	waitpid(ended, NULL, 0);
	out = try_open(ended);
	is_int(out.result, PMP_ESRCH, "a pid that is not used");
	is_str(out.err.message, text(want, "no such process: %d", ended), "E1");
	is_str(out.err.hint, "", "no hint");
	is_int(try_open(0).result, PMP_EINVAL, "pid 0");
	is_int(try_open(-1).result, PMP_EINVAL, "pid -1");
	is_int(try_open(0x7fffffff).result, PMP_ESRCH, "a huge pid");
	out = try_open(getpid());
	is_int(out.result, PMP_EINVAL, "our own pid");
	is_str(out.err.message,
	       text(want, "cannot trace %d: a process cannot profile itself", getpid()),
	       "says so");
}

static void test_kernel_thread(void)
{
	struct pmp_stat stat;
	struct outcome out;

	if (pmp_stat_read(AT_FDCWD, "/proc/2/stat", &stat) || !(stat.flags & 0x200000)) {
		skip("no kernel thread to be seen");
		return;
	}
	out = try_open(2);
	is_int(out.result, PMP_ESRCH, "a kernel thread");
	is_str(out.err.message, "2 (kthreadd) is a kernel thread: it has no user stack",
	       "E6");
}

static bool is_zombie(void *pid)
{
	struct pmp_stat stat;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/stat", *(pid_t *)pid);
	return pmp_stat_read(AT_FDCWD, path, &stat) == 0 && stat.state == 'Z';
}

static void test_zombie(void)
{
	pid_t child = fork();
	struct outcome out;
	char want[512];

	if (child == 0) {
		prctl(PR_SET_NAME, "back\nup");
		_exit(0);
	}
	prctl(PR_SET_NAME, "par\033ent");
	ok(wait_until(is_zombie, &child), "a zombie");
	out = try_open(child);
	is_int(out.result, PMP_ESRCH, "is refused");
	is_str(out.err.message,
	       text(want,
		    "%d (back\\x0aup) is a zombie: it has ended and "
		    "waits for its parent %d (par\\x1bent)",
		    child, getpid()),
	       "E5");
	waitpid(child, NULL, 0);
}

/* The tid of the child's thread that is not its pid. */
static pid_t other_thread(const struct child *child)
{
	struct pmp_process process;
	size_t capacity = 0, count = 0;
	pid_t *tids = NULL, tid = 0;

	if (pmp_process_open(child->pid, &process, NULL))
		return 0;
	if (pmp_threads_list(&process, &tids, &capacity, &count) == 0 && count == 2)
		tid = tids[0] == child->pid ? tids[1] : tids[0];
	pmp_process_close(&process);
	free(tids);
	return tid;
}

static void test_tid(void)
{
	struct child child;
	struct outcome out;
	char want[512];
	pid_t tid;

	ok(child_start(&child, with_thread, NULL), "a child with a thread");
	tid = other_thread(&child);
	is_int(pmp_thread_process(tid), child.pid, "its thread belongs to it");
	is_int(pmp_thread_process(child.pid), 0, "a pid belongs to no other process");
	out = try_open(tid);
	is_int(out.result, PMP_ESRCH, "a tid is no pid");
	is_str(out.err.message, text(want, "no such process: %d", tid), "E1");
	is_str(out.err.hint,
	       text(want, "%d is a thread of %d; use -t %d", tid, child.pid, tid),
	       "the hint");
	child_end(&child);
}

static void test_open(void)
{
	struct pmp_process process, old;
	struct child child;
	uint64_t word = 0;
	static uint64_t mark = 0x1122334455667788;

	ok(child_start(&child, named, (char *)"a) \033b"), "a child");
	is_int(pmp_process_open(child.pid, &process, NULL), 0, "is opened");
	is_str(process.name, "a) \033b", "its name");
	is_int(process.uid, geteuid(), "its user");
	ok(process.ns_pid > 0 && process.start_time > 0, "its innermost pid and start");
	is_int(pmp_file_pread(process.mem, &word, sizeof(word), (uintptr_t)&mark),
	       sizeof(word), "its memory is read");
	is_int(word, mark, "rightly");
	is_int(pmp_process_reopen_mem(&process), 0, "opened again");
	ok(pmp_process_alive(&process), "it lives");
	old = process;
	old.pidfd = -1;
	ok(pmp_process_alive(&old), "also without pidfd");
	child_end(&child);
	ok(!pmp_process_alive(&process), "it has ended");
	ok(!pmp_process_alive(&old), "also without pidfd");
	is_int(pmp_process_reopen_mem(&process), -ESRCH, "it has no memory");
	is_int(pmp_process_explain(&process, process.pid, EPERM, NULL), PMP_ESRCH,
	       "explained as ended");
	pmp_process_close(&process);
	pmp_process_close(&process);
}

/* How often this thread has slept. */
static long sleeps(void)
{
	struct rusage usage = { 0 };

	getrusage(RUSAGE_THREAD, &usage);
	return usage.ru_nvcsw;
}

/* Many end at a time: none may hold up those that are sampled with it. */
static void is_seen_at_once(struct pmp_process *process, const char *what)
{
	enum { LOOKS = 100 };
	long before, alive = 0;

	before = sleeps();
	for (int i = 0; i < LOOKS; i++)
		alive += pmp_process_alive(process);
	is_int(alive, 0, "%s has ended", what);
	ok(sleeps() - before < LOOKS, "to know that takes no sleep");
}

static void test_ended(void)
{
	struct pmp_process process;
	struct child child;
	siginfo_t info;

	ok(child_start(&child, with_thread, NULL), "a child with a thread");
	is_int(pmp_process_open(child.pid, &process, NULL), 0, "is opened");
	kill(child.pid, SIGKILL);
	is_int(waitid(P_PID, (id_t)child.pid, &info, WEXITED | WNOWAIT), 0, "is killed");
	is_seen_at_once(&process, "a zombie");
	child_end(&child);
	is_seen_at_once(&process, "one that has been waited for");
	pmp_process_close(&process);
}

static void test_headless(void)
{
	struct pmp_process process;
	struct child child;
	uint64_t word;
	static uint64_t mark = 42;

	ok(child_start(&child, headless, NULL), "a process");
	ok(wait_until(is_zombie, &child.pid), "whose leader has ended");
	if (!is_int(pmp_process_open(child.pid, &process, NULL), 0, "is opened"))
		return;
	ok(pmp_file_pread(process.mem, &word, sizeof(word), (uintptr_t)&mark) ==
			   sizeof(word) &&
		   word == 42,
	   "its memory is read");
	ok(pmp_process_alive(&process), "it lives");
	process.start_time++;
	close(process.pidfd);
	process.pidfd = -1;
	ok(!pmp_process_alive(&process), "another start time is another process");
	pmp_process_close(&process);
	child_end(&child);
}

static void test_traced(void)
{
	struct child child, debugger;
	struct outcome out;
	char want[512];

	child_start(&child, named, (char *)"db");
	if (!child_start(&debugger, tracer, &child.pid)) {
		skip("ptrace is not permitted");
		goto out;
	}
	out = try_open(child.pid);
	is_int(out.result, PMP_EPERM, "a traced process");
	is_str(out.err.message,
	       text(want,
		    "cannot trace %d (db): already traced by "
		    "debug\\x1bger (pid %d)",
		    child.pid, debugger.pid),
	       "E3");
out:
	child_end(&debugger);
	child_end(&child);
}

/* The errno with which the kernel refuses such a program. */
static int refusal32(void)
{
	int status = 0;
	pid_t pid = fork();

	if (pid == 0) {
		program32(NULL, NULL);
		_exit(errno);
	}
	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 0;
}

static void test_32(void)
{
	struct child child;
	struct outcome out;
	char want[512];

	/* A kernel can be built without them: then there is none to be refused. */
	if (!child_start(&child, program32, NULL)) {
		is_int(refusal32(), ENOEXEC, "this kernel runs no 32-bit programs");
		return;
	}
	out = try_open(child.pid);
	is_int(out.result, PMP_EUNSUPPORTED, "a 32-bit program");
	diag("%s", out.err.message);
	ok(strstr(out.err.message, " is a 32-bit program; this pmp handles 64-bit ") !=
			   NULL &&
		   strncmp(out.err.message, want,
			   strlen(text(want, "%d (", child.pid))) == 0,
	   "E4");
	child_end(&child);
}

static void test_users(void)
{
	struct child root, hidden, grouped, open;
	struct outcome out;
	char want[512];

	if (geteuid() != 0) {
		skip("not root: cannot become somebody else");
		return;
	}
	ok(child_start(&root, named, (char *)"db") &&
		   child_start(&hidden, undumpable_nobody, NULL) &&
		   child_start(&grouped, dumpable_nobody, NULL) &&
		   child_start(&open, dumpable_nobody, &open),
	   "four processes");
	is_int(try_open(hidden.pid).result, 0,
	       "root may look at one that is not dumpable");
	out = try_open_as(become_nobody, root.pid);
	is_int(out.result, PMP_EPERM, "nobody may not look at root's");
	is_int(out.err.sys_errno, EACCES, "errno is kept");
	is_str(out.err.message,
	       text(want, "cannot trace %d (db, user root): permission denied", root.pid),
	       "E2");
	is_str(out.err.hint, "run as root", "the hint");
	out = try_open_as(become_nobody, hidden.pid);
	is_int(out.result, PMP_EPERM, "nor at one that is not dumpable");
	is_str(out.err.hint,
	       text(want, "%d is not dumpable (setuid or prctl): run as root",
		    hidden.pid),
	       "the hint");
	out = try_open_as(become_nobody, grouped.pid);
	is_str(out.err.hint,
	       text(want, "%d runs in another group: run as root", grouped.pid),
	       "nor at one in another group");
	out = try_open_as(become_nobody, open.pid);
	ok(out.result == 0 || strstr(out.err.hint, "ptrace_scope"),
	   "but at one of its own, unless yama forbids it: %s", out.err.message);
	out = try_open_as(become_container, root.pid);
	is_int(out.result, PMP_EPERM, "root in a container may not");
	is_str(out.err.message,
	       text(want,
		    "cannot trace %d: this container lacks "
		    "CAP_SYS_PTRACE",
		    root.pid),
	       "E7");
	ok(strstr(out.err.hint, "--cap-add=SYS_PTRACE") != NULL, "the hint");
	out = try_open_as(become_less, root.pid);
	is_str(out.err.message,
	       text(want,
		    "cannot trace %d: this process lacks "
		    "CAP_SYS_PTRACE",
		    root.pid),
	       "root without capabilities");
	child_end(&root);
	child_end(&hidden);
	child_end(&grouped);
	child_end(&open);
}

/* Rules that cannot be set up here: the texts alone. */
#define USER .pid = 4100, .name = "mariadbd", .user = "mysql"
static const struct {
	struct pmp_denial denial;
	const char *hint;
} denials[] = {
	{ { USER, .uid = 27, .euid = 27, .own_uid = 1000, .yama = -1 },
	  "run as root or as mysql" },
	{ { USER, .uid = 27, .euid = 27, .own_uid = 1000, .yama = 1 }, "run as root" },
	{ { USER, .uid = 0, .euid = 0, .own_uid = 1000, .yama = -1 }, "run as root" },
	{ { USER, .uid = 27, .euid = 27, .own_uid = 27, .yama = 1 },
	  "kernel.yama.ptrace_scope=1 lets only parents trace: run as root, or start it "
	  "with `pmp -- mariadbd`" },
	{ { USER, .uid = 27, .euid = 27, .own_uid = 27, .yama = 2 },
	  "kernel.yama.ptrace_scope=2 lets only administrators trace: run as root" },
	{ { USER, .own_ptrace = true, .own_read = true, .yama = 3 },
	  "ptrace_scope=3 forbids tracing until reboot" },
	{ { USER, .yama = 3 }, "ptrace_scope=3 forbids tracing until reboot" },
	{ { USER, .uid = 27, .euid = 27, .own_uid = 27, .hidden = true, .yama = 1 },
	  "4100 is not dumpable (setuid or prctl): run as root" },
	{ { USER, .uid = 27, .euid = 0, .own_uid = 27, .yama = -1 },
	  "4100 is not dumpable (setuid or prctl): run as root" },
	{ { USER, .uid = 27, .euid = 27, .own_uid = 27, .more_capable = true },
	  "4100 has capabilities that this user lacks: run as root" },
	{ { USER, .uid = 27, .euid = 27, .own_uid = 27, .other_userns = true },
	  "4100 is in another user namespace: run as root" },
	{ { USER, .own_ptrace = true, .own_read = true, .other_userns = true,
	    .yama = -1 },
	  "4100 is outside of this user namespace: run pmp on the host" },
	{ { USER, .own_ptrace = true, .own_read = true, .own_seccomp = true, .yama = -1 },
	  "pmp runs under a seccomp filter that may forbid ptrace: run it outside of "
	  "this container" },
	{ { USER, .own_ptrace = true, .own_read = true, .yama = -1 },
	  "a security module (SELinux, AppArmor) may forbid it: see the kernel's log" },
	{ { USER, .euid = 27, .own_uid = 27, .own_ptrace = true, .yama = -1 },
	  "a security module (SELinux, AppArmor) may forbid it: see the kernel's log" },
};

static void test_denials(void)
{
	struct pmp_denial odd = {
		.pid = 5, .name = "a\033[31m", .user = "b\nc", .yama = 3
	};
	struct pmp_error err;

	for (size_t i = 0; i < sizeof(denials) / sizeof(*denials); i++) {
		is_int(pmp_denial_explain(&denials[i].denial, &err), PMP_EPERM,
		       "cause %zu", i);
		is_str(err.message,
		       "cannot trace 4100 (mariadbd, user mysql): permission denied",
		       "its message");
		is_str(err.hint, denials[i].hint, "its hint");
	}
	is_int(pmp_denial_explain(&odd, NULL), PMP_EPERM, "nobody need listen");
	pmp_denial_explain(&(struct pmp_denial){ USER, .euid = 27, .own_uid = 1000,
						 .own_ptrace = true, .yama = 1 },
			   &err);
	is_str(err.message, "cannot trace 4100: this process lacks CAP_DAC_READ_SEARCH",
	       "CAP_SYS_PTRACE without the right to read");
	pmp_denial_explain(&(struct pmp_denial){ USER, .euid = 27, .own_uid = 27,
						 .hidden = true, .own_ptrace = true,
						 .yama = 1 },
			   &err);
	is_str(err.message, "cannot trace 4100: this process lacks CAP_DAC_READ_SEARCH",
	       "the same for one's own that is not dumpable");
	pmp_denial_explain(&odd, &err);
	is_str(err.message,
	       "cannot trace 5 (a\\x1b[31m, user b\\x0ac): permission denied",
	       "names are escaped");
}

int main(void)
{
	test_numbers();
	test_kernel_thread();
	test_zombie();
	test_tid();
	test_open();
	test_ended();
	test_headless();
	test_traced();
	test_32();
	test_users();
	test_denials();
	return done_testing();
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * See confine.h. libdw opens .dwo files itself: its open() raises SIGSYS here, whose
 * handler asks for the file and makes its descriptor the result of open(). libdw also asks
 * /proc for the path of a descriptor: the answer is the path that it has opened.
 */
#include "namer/confine.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include "confine/calls.h"
#include "libpmp-program.h"

#define ABSENT(name) \
	{ \
		.number = SYS_##name, .action = CONFINE_ABSENT \
	}
#define ASK(name) \
	{ \
		.number = SYS_##name, .action = CONFINE_TRAP \
	}

static const struct confine_call calls[] = {
	ALLOW(pread64),
	ALLOW(read),
	ALLOW(lseek),
	ALLOW(fstat),
	/* How newer libraries make fstat(). */
	ALLOW_IF(newfstatat, CONFINE_LOW(3), AT_EMPTY_PATH, AT_EMPTY_PATH),
	ABSENT(newfstatat),
	ABSENT(statx),
	ABSENT(faccessat),
	ABSENT(faccessat2),
	ABSENT(getcwd),
	ASK(openat),
	ASK(readlinkat),
#ifdef SYS_open
	ASK(open),
	ASK(readlink),
	ABSENT(stat),
	ABSENT(lstat),
	ABSENT(access),
	ALLOW(poll),
#endif
	ALLOW(ppoll),
	ALLOW(recvmsg),
	ALLOW(sendmsg),
	ALLOW(close),
	ALLOW_IF(fcntl, CONFINE_LOW(1), ~0U, F_GETFD),
	ALLOW_IF(fcntl, CONFINE_LOW(1), ~0U, F_GETFL),
	ALLOW(brk),
	ALLOW_IF(mmap, CONFINE_LOW(2), PROT_EXEC, 0),
	ALLOW_IF(mprotect, CONFINE_LOW(2), PROT_EXEC, 0),
	ALLOW(munmap),
	ALLOW(mremap),
	ALLOW(madvise),
	/* For threads that decompress. glibc falls back to clone() without clone3(), whose
	 * arguments a filter cannot see. */
	ALLOW_IF(clone, CONFINE_LOW(0), CLONE_THREAD, CLONE_THREAD),
	ALLOW(futex),
	ALLOW(set_robust_list),
	ALLOW(rseq),
	ALLOW(rt_sigprocmask),
	ALLOW(rt_sigreturn),
	ALLOW(sched_yield),
	ALLOW(sched_getaffinity),
	ALLOW(setitimer),
	ALLOW(clock_gettime),
	ALLOW(gettimeofday),
	ALLOW(getrandom),
	ALLOW(sysinfo),
	ALLOW(getpid),
	ALLOW(gettid),
	ALLOW(geteuid),
	ALLOW(getuid),
	ALLOW(restart_syscall),
	{ SYS_prlimit64,
	  CONFINE_ALLOW,
	  2,
	  { { CONFINE_LOW(2), ~0U, 0 }, { CONFINE_HIGH(2), ~0U, 0 } } },
	ALLOW(exit),
	ALLOW(exit_group),
	/* Only an attacker makes these calls. */
	END(execve),
	END(execveat),
	END(clone),
#ifdef SYS_fork
	END(fork),
	END(vfork),
#endif
	END(socket),
	END(connect),
	END(bind),
	END(kill),
	END(tkill),
	END(tgkill),
	END(pidfd_open),
	END(pidfd_send_signal),
	END(ptrace),
	END(process_vm_readv),
	END(process_vm_writev),
	END(write),
	END(pwrite64),
	END(openat2),
	END(mmap),
	END(mprotect),
	END(mount),
	END(unshare),
	END(setns),
	END(bpf),
	END(setuid),
	END(setresuid),
	END(capset),
};

/* ---- what libraries open --------------------------------------------------------------------- */

static struct pmp_namer *asked_namer;
static long asked_thread;

/* A trapped system call. */
struct trapped {
	int number;
	uintptr_t arguments[4];
};

static struct trapped trapped_call(const siginfo_t *info, const ucontext_t *context)
{
#if defined(__x86_64__)
	const greg_t *registers = context->uc_mcontext.gregs;
	const uintptr_t arguments[4] = { (uintptr_t)registers[REG_RDI],
					 (uintptr_t)registers[REG_RSI],
					 (uintptr_t)registers[REG_RDX],
					 (uintptr_t)registers[REG_R10] };
#else
	const uintptr_t *arguments = (const void *)context->uc_mcontext.regs;
#endif
	struct trapped call = { .number = info->si_syscall };

	memcpy(call.arguments, arguments, sizeof(call.arguments));
	return call;
}

static void give_back(ucontext_t *context, long result)
{
#if defined(__x86_64__)
	context->uc_mcontext.gregs[REG_RAX] = result;
#else
	context->uc_mcontext.regs[0] = (unsigned long long)result;
#endif
}

static int descriptor_of(const char *text)
{
	int fd = 0;

	for (; *text >= '0' && *text <= '9' && fd < 1000000; text++)
		fd = fd * 10 + (*text - '0');
	return *text ? -1 : fd;
}

/* Only links in /proc/self/fd exist here. */
static long link_of(const char *path, char *buffer, size_t size)
{
	static const char links[] = "/proc/self/fd/";
	const char *known = NULL;
	size_t length;

	if (strncmp(path, links, sizeof(links) - 1) == 0)
		known = pmp_namer_path(asked_namer,
				       descriptor_of(path + sizeof(links) - 1));
	if (!known)
		return -EINVAL;
	length = strlen(known);
	if (length > size)
		length = size;
	memcpy(buffer, known, length);
	return (long)length;
}

static long open_instead(const char *path)
{
	if (syscall(SYS_gettid) != asked_thread)
		return -ENOENT;
	return pmp_namer_open_split(asked_namer, path);
}

static long answer(const struct trapped *call)
{
	/* The *at calls have a directory as their first argument. */
	const size_t first = call->number == SYS_openat || call->number == SYS_readlinkat;
	const char *path = (const char *)call->arguments[first];

	if (call->number == SYS_readlinkat)
		return link_of(path, (char *)call->arguments[2], call->arguments[3]);
#ifdef SYS_open
	if (call->number == SYS_readlink)
		return link_of(path, (char *)call->arguments[1], call->arguments[2]);
#endif
	return open_instead(path);
}

static void on_call(int number, siginfo_t *info, void *arg)
{
	ucontext_t *context = arg;
	const struct trapped call = trapped_call(info, context);
	const int saved = errno;

	(void)number;
	give_back(context, answer(&call));
	errno = saved;
}

bool confine_namer(struct pmp_namer *namer)
{
	struct sigaction action = { .sa_sigaction = on_call,
				    .sa_flags = SA_SIGINFO | SA_NODEFER };

	asked_namer = namer;
	asked_thread = syscall(SYS_gettid);
	sigemptyset(&action.sa_mask);
	return sigaction(SIGSYS, &action, NULL) == 0 &&
	       confine_calls(calls, sizeof(calls) / sizeof(*calls), CONFINE_UNKNOWN);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * See confine.h. A call that would start a program, connect, write, send a signal or make
 * memory executable kills the sampler, which only reads. Any other call fails with ENOSYS:
 * another version of the C library may try a new call first, and falls back.
 */
#include "sampler/confine.h"

#include <elf.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/netlink.h>
#include <linux/nsfs.h>
#include <linux/sockios.h>
#include <signal.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <unistd.h>

#include "base/fault.h"
#include "confine/calls.h"
#include "confine/rights.h"

#define ALLOW_REQUEST(request) ALLOW_IF(ptrace, CONFINE_LOW(0), ~0U, request)
#define ALLOW_NETLINK(protocol) \
	{ \
		SYS_socket, CONFINE_ALLOW, 2, \
			{ \
				{ CONFINE_LOW(0), ~0U, AF_NETLINK }, \
				{ CONFINE_LOW(2), ~0U, protocol }, \
			}, \
	}

/* To write, create or truncate a file. O_TMPFILE needs O_RDWR or O_WRONLY as well. */
#define WRITES (O_ACCMODE | O_CREAT | O_TRUNC)
/* PROCMAP_QUERY: the ioctl's number, without the size of its struct. What takes no struct
 * is another one, which exchanges files. */
#define QUERY _IOC(_IOC_READ | _IOC_WRITE, 'f', 17, 0)
#define QUERY_MASK (~(uint32_t)(_IOC_SIZEMASK << _IOC_SIZESHIFT))
/* For the kernel: restart this call. */
#define RESTART ((uint32_t)-514)
#define SEM_COMMAND (~0x100U) /* some C libraries add IPC_64 to it */

/* The first two rows are left out for debug messages. */
enum { UNLESS_DEBUGGING = 2 };

static const struct confine_call calls[] = {
	END(write),
	END(writev),
	/* To print debug messages: so no other file may become that descriptor. */
	ALLOW_IF(write, CONFINE_LOW(0), ~0U, STDERR_FILENO),
	ALLOW_IF(writev, CONFINE_LOW(0), ~0U, STDERR_FILENO),
	{ SYS_close, CONFINE_END, 1, { { CONFINE_LOW(0), ~0U, STDERR_FILENO } } },
	/* To read stacks. */
	ALLOW(pread64),
	ALLOW(read),
	ALLOW(close),
	ALLOW_IF(openat, CONFINE_LOW(2), WRITES, O_RDONLY),
	/* The flags are in memory, where a filter cannot see them. */
	ALLOW(openat2),
	ALLOW(getdents64),
	ALLOW(readlinkat),
	ALLOW(newfstatat),
	ALLOW(fstat),
	ALLOW(statx),
	ALLOW(lseek),
	ALLOW(faccessat),
	ALLOW(faccessat2),
#ifdef SYS_readlink
	ALLOW(readlink),
	ALLOW(stat),
	ALLOW(lstat),
	ALLOW(access),
	ALLOW(poll),
	ALLOW_IF(open, CONFINE_LOW(1), WRITES, O_RDONLY),
#endif
	ALLOW(kcmp),
	ALLOW(pidfd_open),
	ALLOW(pidfd_getfd),
	ALLOW(getsockopt),
	ALLOW_IF(semctl, CONFINE_LOW(2), SEM_COMMAND, GETVAL),
	ALLOW_IF(semctl, CONFINE_LOW(2), SEM_COMMAND, GETPID),
	ALLOW_NETLINK(NETLINK_GENERIC),
	ALLOW_NETLINK(NETLINK_SOCK_DIAG),
	ALLOW_IF(ioctl, CONFINE_LOW(1), ~0U, SIOCOUTQ),
	ALLOW_IF(ioctl, CONFINE_LOW(1), QUERY_MASK, QUERY),
	ALLOW_IF(ioctl, CONFINE_LOW(1), ~0U, NS_GET_USERNS),
	/* To stop and release threads. */
	{ SYS_ptrace,
	  CONFINE_ALLOW,
	  2,
	  { { CONFINE_LOW(0), ~0U, PTRACE_SEIZE }, { CONFINE_LOW(3), ~0U, 0 } } },
	ALLOW_REQUEST(PTRACE_INTERRUPT),
	ALLOW_REQUEST(PTRACE_DETACH),
	ALLOW_REQUEST(PTRACE_GETREGSET),
	ALLOW_REQUEST(PTRACE_GETSIGINFO),
/* To restart the system call that a stop has interrupted. */
#ifdef __x86_64__
	{ SYS_ptrace,
	  CONFINE_ALLOW,
	  4,
	  { { CONFINE_LOW(0), ~0U, PTRACE_POKEUSER },
	    { CONFINE_LOW(2), ~0U, offsetof(struct user, regs.rax) },
	    { CONFINE_LOW(3), ~0U, RESTART },
	    { CONFINE_HIGH(3), ~0U, ~0U } } },
#else
	ALLOW_REQUEST(PTRACE_PEEKSIGINFO),
	{ SYS_ptrace,
	  CONFINE_ALLOW,
	  2,
	  { { CONFINE_LOW(0), ~0U, PTRACE_SETREGSET },
	    { CONFINE_LOW(2), ~0U, NT_PRSTATUS } } },
#endif
	ALLOW(wait4),
	ALLOW(waitid),
	/* To check that a process lives, and to put back a SIGCHLD that was taken. */
	ALLOW_IF(kill, CONFINE_LOW(1), ~0U, 0),
	ALLOW_IF(kill, CONFINE_LOW(1), ~0U, SIGCHLD),
	ALLOW(rt_sigprocmask),
	ALLOW(rt_sigtimedwait),
	ALLOW(rt_sigaction),
	ALLOW(rt_sigreturn),
	ALLOW(restart_syscall),
	ALLOW_IF(sched_setscheduler, CONFINE_LOW(0), ~0U, 0),
	ALLOW_IF(sched_setaffinity, CONFINE_LOW(0), ~0U, 0),
	ALLOW_IF(sched_setattr, CONFINE_LOW(0), ~0U, 0),
	ALLOW(sched_getscheduler),
	ALLOW(sched_getaffinity),
	ALLOW(sched_getparam),
	ALLOW(sched_getattr),
	ALLOW(sched_yield),
	ALLOW(timer_settime),
	ALLOW(clock_gettime),
	ALLOW(clock_nanosleep),
	ALLOW(nanosleep),
	ALLOW(gettimeofday),
	ALLOW(ppoll),
	/* To report to the front. */
	ALLOW(sendmsg),
	ALLOW(sendto),
	ALLOW(recvmsg),
	ALLOW(recvfrom),
	ALLOW(dup),
	/* libunwind creates a pipe to validate addresses of its own process. */
	ALLOW(pipe2),
	ALLOW_IF(fcntl, CONFINE_LOW(1), ~0U, F_DUPFD_CLOEXEC),
	ALLOW_IF(fcntl, CONFINE_LOW(1), ~0U, F_GETFD),
	ALLOW_IF(fcntl, CONFINE_LOW(1), ~0U, F_SETFD),
	ALLOW_IF(fcntl, CONFINE_LOW(1), ~0U, F_GETFL),
	/* Memory that is not executable, and no part of a file. */
	ALLOW(brk),
	{ SYS_mmap,
	  CONFINE_ALLOW,
	  2,
	  { { CONFINE_LOW(2), PROT_EXEC, 0 }, { CONFINE_LOW(3), MAP_SHARED, 0 } } },
	{ SYS_mmap,
	  CONFINE_ALLOW,
	  2,
	  { { CONFINE_LOW(2), PROT_EXEC, 0 },
	    { CONFINE_LOW(3), MAP_ANONYMOUS, MAP_ANONYMOUS } } },
	ALLOW_IF(mprotect, CONFINE_LOW(2), PROT_EXEC, 0),
	ALLOW(munmap),
	ALLOW(mremap),
	ALLOW(madvise),
	ALLOW(futex),
	ALLOW(getrandom),
	ALLOW(sysinfo),
	ALLOW(uname),
	ALLOW(getpid),
	ALLOW(getppid),
	ALLOW(gettid),
	ALLOW(getuid),
	ALLOW(geteuid),
	ALLOW(getgid),
	ALLOW(getegid),
	ALLOW(getrlimit),
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
	END(ptrace),
	END(process_vm_writev),
	END(kill),
	END(tkill),
	END(tgkill),
	END(pidfd_send_signal),
	END(write),
	END(writev),
	END(pwrite64),
	END(openat),
	END(mmap),
	END(mprotect),
	END(mount),
	END(unshare),
	END(setns),
	END(bpf),
	END(init_module),
	END(finit_module),
	END(setuid),
	END(setresuid),
	END(capset),
};

/* Regular files cannot be written any more, also where there is no filter; sockets, pipes
 * and what is below /proc are not limited. */
static void limit_files(void)
{
	const struct rlimit none = { 0, 0 };

	setrlimit(RLIMIT_FSIZE, &none);
}

bool confine_sampler_calls(bool debugs)
{
	const size_t skipped = debugs ? UNLESS_DEBUGGING : 0;

#ifdef PMP_FAULTS
	if (PMP_FAULT("sampler-unfiltered"))
		return false;
	/* The other faults make forbidden calls. */
	if (!PMP_FAULT("sampler-exec") && !PMP_FAULT("none"))
		return true;
#endif
	if (!debugs)
		limit_files();
	return confine_calls(calls + skipped, sizeof(calls) / sizeof(*calls) - skipped,
			     CONFINE_UNKNOWN);
}

/* ---- rights ---------------------------------------------------------------------------- */

#define BIT(capability) (UINT64_C(1) << (capability))

/* Since Linux 5.9; CAP_SYS_ADMIN does instead. */
#ifndef CAP_CHECKPOINT_RESTORE
#define CAP_CHECKPOINT_RESTORE 40
#endif

uint64_t confine_sampler_kept(bool kernel)
{
	uint64_t kept =
		/* To trace others, and see their mappings and descriptors. */
		BIT(CAP_SYS_PTRACE) |
		/* /proc/PID/mem belongs to the target's user, as
		 * may a module's directory. */
		BIT(CAP_DAC_READ_SEARCH) |
		/* To open files in /proc/PID/map_files. */
		BIT(CAP_CHECKPOINT_RESTORE) |
		/* To see who holds a System V semaphore. */
		BIT(CAP_IPC_OWNER) |
		/* To see which threads have run (taskstats). */
		BIT(CAP_NET_ADMIN) |
		/* To run at a higher priority while it holds a thread. */
		BIT(CAP_SYS_NICE);

	/* Most containers grant this one instead. */
	if (!confine_has(CAP_DAC_READ_SEARCH))
		kept |= BIT(CAP_DAC_OVERRIDE);
	/* For kernel stacks, or instead of CAP_CHECKPOINT_RESTORE. */
	if (kernel || !confine_has(CAP_CHECKPOINT_RESTORE))
		kept |= BIT(CAP_SYS_ADMIN);
	return kept;
}

bool confine_sampler_rights(bool kernel)
{
	const uint64_t kept = confine_sampler_kept(kernel);

	return PMP_FAULT("sampler-rights") || confine_keep(kept, kept);
}

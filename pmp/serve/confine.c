/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See confine.h; seccomp(2) has the form of a filter. */
#include "serve/confine.h"

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#if defined(__x86_64__)
#define ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#endif

/* Also those by which other versions of the C library do the same. socket() is another
 * matter: see below. */
static const uint32_t allowed[] = {
#ifdef SYS_poll
	SYS_poll,
#endif
	SYS_ppoll,	  SYS_read,	   SYS_write,	     SYS_writev,
	SYS_recvfrom,	  SYS_recvmsg,	   SYS_sendto,	     SYS_sendmsg,
	SYS_sendfile,	  SYS_accept4,	   SYS_shutdown,     SYS_close,
	SYS_getsockname,  SYS_getpeername, SYS_getsockopt,   SYS_setsockopt,
	SYS_lseek,	  SYS_fstat,	   SYS_newfstatat,   SYS_fcntl,
	SYS_memfd_create, SYS_brk,	   SYS_mmap,	     SYS_munmap,
	SYS_mremap,	  SYS_madvise,	   SYS_getrandom,    SYS_clock_gettime,
	SYS_gettimeofday, SYS_getpid,	   SYS_rt_sigreturn, SYS_restart_syscall,
	SYS_futex,	  SYS_exit,	   SYS_exit_group,
};

#define ALLOWED (sizeof(allowed) / sizeof(*allowed))

#define LOAD(field) \
	BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
/* The low half comes first: both architectures are little-endian. */
#define LOAD_ARGUMENT(n) \
	BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[n]))
#define SKIP_UNLESS(value, count) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, count)
#define SKIP_IF(value, count) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, count, 0)
#define RETURN(action) BPF_STMT(BPF_RET | BPF_K, action)

bool confine_calls(void)
{
#ifdef ARCHITECTURE
	enum { BEGIN = 8, END = 1 };
	struct sock_filter filter[BEGIN + 2 * ALLOWED + END] = {
		LOAD(arch),
		SKIP_IF(ARCHITECTURE, 1),
		RETURN(SECCOMP_RET_KILL_PROCESS),
		LOAD(nr),
		/* A socket of netlink says whose a connection is. */
		SKIP_UNLESS(SYS_socket, 3),
		LOAD_ARGUMENT(0),
		SKIP_UNLESS(AF_NETLINK, 1 + 2 * ALLOWED),
		RETURN(SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog program = {
		.len = sizeof(filter) / sizeof(*filter),
		.filter = filter,
	};

	for (size_t i = 0; i < ALLOWED; i++) {
		filter[BEGIN + 2 * i] = (struct sock_filter)SKIP_UNLESS(allowed[i], 1);
		filter[BEGIN + 2 * i + 1] = (struct sock_filter)RETURN(SECCOMP_RET_ALLOW);
	}
	filter[BEGIN + 2 * ALLOWED] =
		(struct sock_filter)RETURN(SECCOMP_RET_KILL_PROCESS);
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) == 0;
#else
	return false;
#endif
}

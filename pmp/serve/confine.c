/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See confine.h. */
#include "serve/confine.h"

#include <fcntl.h>
#include <linux/netlink.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include "base/fault.h"
#include "confine/calls.h"

/* Including those that other versions of the C library use for the same. */
static const struct confine_call calls[] = {
	/* Netlink tells who is at the other end of a connection. */
	{ SYS_socket,
	  CONFINE_ALLOW,
	  2,
	  { { CONFINE_LOW(0), ~0U, AF_NETLINK },
	    { CONFINE_LOW(2), ~0U, NETLINK_SOCK_DIAG } } },
#ifdef SYS_poll
	ALLOW(poll),
#endif
	ALLOW(ppoll),
	ALLOW(read),
	ALLOW(write),
	ALLOW(writev),
	ALLOW(recvfrom),
	ALLOW(recvmsg),
	/* MSG_FASTOPEN would connect, even a socket that was listening. */
	ALLOW_IF(sendto, CONFINE_LOW(3), MSG_FASTOPEN, 0),
	ALLOW_IF(sendmsg, CONFINE_LOW(2), MSG_FASTOPEN, 0),
	ALLOW(sendfile),
	ALLOW(accept4),
	ALLOW(shutdown),
	ALLOW(close),
	ALLOW(getsockname),
	ALLOW(getpeername),
	ALLOW(getsockopt),
	ALLOW(setsockopt),
	ALLOW(lseek),
	ALLOW(fstat),
	ALLOW(newfstatat),
	/* Not F_SETOWN, F_SETSIG and F_SETFL (O_ASYNC), which can send signals. */
	ALLOW_IF(fcntl, CONFINE_LOW(1), ~0U, F_GETFD),
	ALLOW_IF(fcntl, CONFINE_LOW(1), ~0U, F_SETFD),
	ALLOW_IF(fcntl, CONFINE_LOW(1), ~0U, F_GETFL),
	ALLOW(memfd_create),
	ALLOW(brk),
	ALLOW_IF(mmap, CONFINE_LOW(2), PROT_EXEC, 0),
	ALLOW(munmap),
	ALLOW(mremap),
	ALLOW(madvise),
	ALLOW(getrandom),
	ALLOW(clock_gettime),
	ALLOW(gettimeofday),
	ALLOW(getpid),
	ALLOW(rt_sigreturn),
	ALLOW(restart_syscall),
	ALLOW(futex),
	ALLOW(exit),
	ALLOW(exit_group),
};

bool confine_server(void)
{
	if (PMP_FAULT("server-unfiltered"))
		return false;
	return confine_calls(calls, sizeof(calls) / sizeof(*calls), CONFINE_END);
}

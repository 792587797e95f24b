/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See confine.h. */
#include "serve/confine.h"

#include <sys/socket.h>
#include <sys/syscall.h>

#include "base/fault.h"
#include "confine/calls.h"

/* Also those by which other versions of the C library do the same. */
static const struct confine_call calls[] = {
	/* A socket of netlink says whose a connection is. */
	{ SYS_socket, CONFINE_ALLOW, 1, { { CONFINE_LOW(0), ~0U, AF_NETLINK } } },
#ifdef SYS_poll
	ALLOW(poll),
#endif
	ALLOW(ppoll),
	ALLOW(read),
	ALLOW(write),
	ALLOW(writev),
	ALLOW(recvfrom),
	ALLOW(recvmsg),
	ALLOW(sendto),
	ALLOW(sendmsg),
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
	ALLOW(fcntl),
	ALLOW(memfd_create),
	ALLOW(brk),
	ALLOW(mmap),
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

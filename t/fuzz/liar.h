/* SPDX-License-Identifier: GPL-2.0-or-later */
/* For fuzz targets: stands in for the process that reads files, and
 * sends the fuzzer's bytes. */
#ifndef PMP_T_FUZZ_LIAR_H
#define PMP_T_FUZZ_LIAR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define LIAR_SENT_MAX ((size_t)96 << 10) /* fits into a socket's buffer */

struct liar {
	const uint8_t *data;
	size_t size;
	int other;  /* end of the socket, or -1 */
	bool again; /* it can be started a second time */
};

/* For struct pmp_namer_calls: everything is already sent when it starts. */
static inline int liar_start(void *arg)
{
	struct liar *liar = arg;
	int fds[2];

	if ((liar->other >= 0 && !liar->again) ||
	    socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds))
		return -1;
	if (send(fds[1], liar->data, liar->size, MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
		liar->size = 0;
	shutdown(fds[1], SHUT_WR);
	if (liar->other >= 0)
		close(liar->other);
	liar->other = fds[1];
	return fds[0];
}

static inline void liar_end(void *arg, int fd, char *reason, size_t size)
{
	(void)arg;
	if (reason)
		strncpy(reason, "has lied", size);
	close(fd);
}

static inline void liar_close(const struct liar *liar)
{
	if (liar->other >= 0)
		close(liar->other);
}

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A process which reads files that sends descriptors, though nobody has asked it for any, or
 * bytes without end.
 */
#include "lib/descriptors.h"
#include "lib/tap.h"

#include "base/clock.h"
#include "resolve/remote-messages.h"

#include <pthread.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#define SENT 2 /* with each part of a message */

static bool send_with(int socket, const void *data, size_t size)
{
	const int fds[SENT] = { socket, socket };
	struct iovec part = { (void *)(uintptr_t)data, size };
	union {
		struct cmsghdr align;
		char data[CMSG_SPACE(sizeof(fds))];
	} control = { .data = { 0 } };
	struct msghdr message = { .msg_iov = &part,
				  .msg_iovlen = 1,
				  .msg_control = control.data,
				  .msg_controllen = sizeof(control.data) };
	struct cmsghdr *item = CMSG_FIRSTHDR(&message);

	item->cmsg_level = SOL_SOCKET;
	item->cmsg_type = SCM_RIGHTS;
	item->cmsg_len = CMSG_LEN(sizeof(fds));
	memcpy(CMSG_DATA(item), fds, sizeof(fds));
	return sendmsg(socket, &message, 0) == (ssize_t)size;
}

/* A byte now and then, and never a message. */
static void *drip(void *arg)
{
	const int socket = *(const int *)arg;

	while (send(socket, "", 1, MSG_NOSIGNAL) == 1)
		usleep(20000);
	return NULL;
}

static void test_time(void)
{
	struct pmp_remote_patience patience = { .time = 60000,
						.until = pmp_clock() + 300 * PMP_MS };
	struct pmp_remote_message message = { .fd = -1 };
	pthread_t thread;
	int pair[2];

	if (!ok(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) == 0 &&
			pthread_create(&thread, NULL, drip, &pair[1]) == 0,
		"one that sends a byte now and then"))
		return;
	ok(!pmp_remote_receive(pair[0], &patience, &message), "is given up");
	ok(pmp_clock() >= patience.until - PMP_MS, "once its time is over");
	close(pair[0]);
	pthread_join(thread, NULL);
	close(pair[1]);
	pmp_buf_free(&message.body);
}

int main(void)
{
	const struct pmp_remote_header header = { .type = PMP_REMOTE_LOG, .length = 8 };
	const struct pmp_remote_patience patience = { .time = 1000 };
	struct pmp_remote_message message = { .fd = -1 };
	size_t before;
	int pair[2];

	if (!ok(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) == 0,
		"a socket"))
		return done_testing();
	before = count_descriptors();
	ok(send_with(pair[1], &header, sizeof(header)) &&
		   send_with(pair[1], "message", 8),
	   "two descriptors with each part of a message");
	ok(pmp_remote_receive(pair[0], &patience, &message), "it is received");
	ok(memcmp(message.body.data, "message", 8) == 0, "as it is");
	ok(count_descriptors() == before + 1, "with one descriptor at most");
	pmp_remote_drop(&message);
	ok(count_descriptors() == before, "and none is left over");
	pmp_buf_free(&message.body);
	close(pair[0]);
	close(pair[1]);
	test_time();
	return done_testing();
}

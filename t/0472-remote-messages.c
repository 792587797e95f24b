/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A process which reads files that sends descriptors, though nobody has asked it for any, or
 * bytes without end, or reads nothing of what it is sent.
 */
#include "lib/descriptors.h"
#include "lib/tap.h"

#include "base/clock.h"
#include "resolve/remote-messages.h"
#include "resolve/remote.h"

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

/* ---- one that reads nothing --------------------------------------------------------------- */

struct silent {
	unsigned asked, ended, failed;
};

static bool is_asked(void *arg, int fd)
{
	struct silent *silent = arg;

	(void)fd;
	silent->asked++;
	return false;
}

static void note_end(void *arg, int fd, char *reason, size_t size)
{
	struct silent *silent = arg;

	(void)size;
	silent->ended++;
	silent->failed += reason != NULL;
	close(fd);
}

/* The main loop closes modules that are in no stack any more: it must not wait. */
static void test_close(void)
{
	struct silent silent = { 0 };
	const struct pmp_namer_calls calls = { .works = is_asked,
					       .end = note_end,
					       .arg = &silent };
	struct pmp_remote remote = { .calls = &calls, .serial = 1 };
	struct pmp_remote_module module = { .handle = 1, .serial = 1 };
	struct pmp_remote_header header;
	int pair[2];

	if (!ok(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) == 0,
		"one that reads nothing"))
		return;
	alarm(60);
	remote.socket = pair[0];
	pmp_remote_close(&remote, &module);
	ok(remote.socket >= 0 && !module.handle, "is told which module to close");
	ok(recv(pair[1], &header, sizeof(header), MSG_DONTWAIT) == sizeof(header) &&
		   header.type == PMP_REMOTE_CLOSE && header.handle == 1 &&
		   !header.length,
	   "with its number");
	while (send(pair[0], &header, sizeof(header), MSG_DONTWAIT) > 0)
		continue;
	module = (struct pmp_remote_module){ .handle = 2, .serial = 1 };
	pmp_remote_close(&remote, &module);
	ok(remote.socket < 0 && silent.ended == 1,
	   "and is ended when there is no room to tell it of another one");
	is_int(silent.asked, 0, "nobody waits for it");
	is_int(silent.failed, 0, "none of its modules is to blame");
	pmp_remote_free(&remote);
	alarm(0);
	close(pair[1]);
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
	test_close();
	return done_testing();
}

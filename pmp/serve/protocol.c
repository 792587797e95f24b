/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "serve/protocol.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* Room for one descriptor. */
union passed_room {
	struct cmsghdr align;
	char data[CMSG_SPACE(sizeof(int))];
};

bool serve_send(int fd, const void *message, size_t size, int passed)
{
	struct iovec part = { (void *)(uintptr_t)message, size };
	union passed_room room = { 0 };
	struct msghdr header = { .msg_iov = &part, .msg_iovlen = 1 };
	struct cmsghdr *item;
	ssize_t n;

	if (passed >= 0) {
		header.msg_control = room.data;
		header.msg_controllen = sizeof(room.data);
		item = CMSG_FIRSTHDR(&header);
		item->cmsg_level = SOL_SOCKET;
		item->cmsg_type = SCM_RIGHTS;
		item->cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(item), &passed, sizeof(int));
	}
	do
		n = sendmsg(fd, &header, MSG_DONTWAIT | MSG_NOSIGNAL);
	while (n < 0 && errno == EINTR);
	return n == (ssize_t)size;
}

static int passed_of(struct msghdr *header)
{
	struct cmsghdr *item = CMSG_FIRSTHDR(header);
	int fd = -1;

	if (item && item->cmsg_level == SOL_SOCKET && item->cmsg_type == SCM_RIGHTS &&
	    item->cmsg_len == CMSG_LEN(sizeof(int)))
		memcpy(&fd, CMSG_DATA(item), sizeof(int));
	return fd;
}

int serve_receive(int fd, void *message, size_t size, int *passed)
{
	struct iovec part = { message, size };
	union passed_room room;
	/* CMSG_LEN: the padding of CMSG_SPACE would have room for a second descriptor. */
	struct msghdr header = { .msg_iov = &part,
				 .msg_iovlen = 1,
				 .msg_control = room.data,
				 .msg_controllen = CMSG_LEN(sizeof(int)) };
	ssize_t n;

	*passed = -1;
	do
		n = recvmsg(fd, &header, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return errno == EAGAIN ? 0 : -1;
	*passed = passed_of(&header);
	/* If we are out of descriptors, the message comes without the passed one. */
	if ((size_t)n == size && !(header.msg_flags & MSG_TRUNC) &&
	    !(header.msg_flags & MSG_CTRUNC && *passed >= 0))
		return 1;
	if (*passed >= 0)
		close(*passed);
	*passed = -1;
	return -1;
}

bool serve_request_ends(const struct serve_request *request)
{
	const struct selection *chosen = &request->selection;

	return memchr(request->feed, '\0', sizeof(request->feed)) &&
	       memchr(request->name, '\0', sizeof(request->name)) &&
	       memchr(request->format, '\0', sizeof(request->format)) &&
	       memchr(request->under, '\0', sizeof(request->under)) &&
	       memchr(chosen->focus, '\0', sizeof(chosen->focus)) &&
	       memchr(chosen->ignore, '\0', sizeof(chosen->ignore)) &&
	       memchr(chosen->thread, '\0', sizeof(chosen->thread)) &&
	       memchr(chosen->group, '\0', sizeof(chosen->group)) &&
	       memchr(request->query, '\0', sizeof(request->query)) &&
	       memchr(request->peer, '\0', sizeof(request->peer));
}

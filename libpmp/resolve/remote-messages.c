/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See remote-messages.h. */
#include "resolve/remote-messages.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/clock.h"

/* Room for one descriptor (SCM_RIGHTS). */
union control {
	char data[CMSG_SPACE(sizeof(int))];
	struct cmsghdr align;
};

/* Without a limit, use blocking calls. */
static bool waits(const struct pmp_remote_patience *patience)
{
	return !patience->time;
}

/* The time to wait, in ms; 0: none is left. */
static int time_left(const struct pmp_remote_patience *patience)
{
	const uint64_t now = patience->until ? pmp_clock() : 0;
	uint64_t left;

	if (!patience->until)
		return patience->time;
	left = patience->until > now ? (patience->until - now) / PMP_MS : 0;
	return left < (uint64_t)patience->time ? (int)left : patience->time;
}

static bool is_ready(int socket, short events, const struct pmp_remote_patience *patience)
{
	struct pollfd poller = { .fd = socket, .events = events };
	int n, left;

	if (waits(patience))
		return true;
	do {
		left = time_left(patience);
		if (!left)
			return false;
		n = poll(&poller, 1, left);
		if (n > 0)
			return true;
	} while (n < 0 ? errno == EINTR
		       : left < patience->time ||
				 (patience->more && patience->more(patience->arg)));
	return false;
}

static bool is_only_interrupted(void)
{
	return errno == EINTR || errno == EAGAIN;
}

/* ---- sending ---------------------------------------------------------------------------- */

static void attach(struct msghdr *message, union control *control, int fd)
{
	struct cmsghdr *item;

	memset(control, 0, sizeof(*control));
	message->msg_control = control->data;
	message->msg_controllen = sizeof(control->data);
	item = CMSG_FIRSTHDR(message);
	item->cmsg_level = SOL_SOCKET;
	item->cmsg_type = SCM_RIGHTS;
	item->cmsg_len = CMSG_LEN(sizeof(fd));
	memcpy(CMSG_DATA(item), &fd, sizeof(fd));
}

static void skip(struct msghdr *message, size_t sent)
{
	while (message->msg_iovlen && sent >= message->msg_iov->iov_len) {
		sent -= message->msg_iov->iov_len;
		message->msg_iov++;
		message->msg_iovlen--;
	}
	if (message->msg_iovlen) {
		message->msg_iov->iov_base = (char *)message->msg_iov->iov_base + sent;
		message->msg_iov->iov_len -= sent;
	}
}

struct pmp_remote_parts pmp_remote_line(const char *area, const char *line)
{
	return (struct pmp_remote_parts){
		.first = area,
		.first_size = strlen(area) + 1,
		.second = line,
		.second_size = strlen(line) + 1,
	};
}

bool pmp_remote_log(const struct pmp_log *log, const struct pmp_buf *body)
{
	const char *area = body->data, *line;
	size_t length;

	if (!body->length)
		return false;
	length = strnlen(area, body->length) + 1;
	if (length >= body->length)
		return false;
	line = area + length;
	if (!memchr(line, '\0', body->length - length))
		return false;
	PMP_LOG(log, area, "%s", line);
	return true;
}

bool pmp_remote_send(int socket, const struct pmp_remote_patience *patience,
		     struct pmp_remote_header header, const struct pmp_remote_parts *sent)
{
	const int flags = MSG_NOSIGNAL | (waits(patience) ? 0 : MSG_DONTWAIT);
	struct iovec parts[] = {
		{ &header, sizeof(header) },
		{ (void *)sent->first, sent->first_size },
		{ (void *)sent->second, sent->second_size },
	};
	struct msghdr message = { .msg_iov = parts, .msg_iovlen = 3 };
	union control control;

	header.length = (uint32_t)(sent->first_size + sent->second_size);
	if (sent->fd)
		attach(&message, &control, *sent->fd);
	while (message.msg_iovlen) {
		ssize_t n;

		if (!is_ready(socket, POLLOUT, patience))
			return false;
		n = sendmsg(socket, &message, flags);
		if (n < 0 && is_only_interrupted())
			continue;
		if (n < 0)
			return false;
		message.msg_control = NULL;
		message.msg_controllen = 0;
		skip(&message, (size_t)n);
	}
	return true;
}

bool pmp_remote_try(int socket, struct pmp_remote_header header)
{
	ssize_t n;

	header.length = 0;
	do
		n = send(socket, &header, sizeof(header), MSG_NOSIGNAL | MSG_DONTWAIT);
	while (n < 0 && errno == EINTR);
	return n == (ssize_t)sizeof(header);
}

/* ---- receiving ---------------------------------------------------------------------------- */

static void take_descriptor(struct msghdr *header, struct pmp_remote_message *message)
{
	for (struct cmsghdr *item = CMSG_FIRSTHDR(header); item;
	     item = CMSG_NXTHDR(header, item)) {
		if (item->cmsg_level != SOL_SOCKET || item->cmsg_type != SCM_RIGHTS ||
		    item->cmsg_len < CMSG_LEN(sizeof(int)))
			continue;
		pmp_remote_drop(message);
		memcpy(&message->fd, CMSG_DATA(item), sizeof(message->fd));
	}
}

/* CMSG_LEN() and not the size of the buffer: its padding has room for a second descriptor,
 * which would never be closed. */
static bool receive_bytes(int socket, const struct pmp_remote_patience *patience,
			  void *data, size_t size, struct pmp_remote_message *message)
{
	const int flags =
		MSG_CMSG_CLOEXEC | (waits(patience) ? MSG_WAITALL : MSG_DONTWAIT);
	size_t done = 0;

	while (done < size) {
		struct iovec part = { (char *)data + done, size - done };
		union control control;
		struct msghdr header = { .msg_iov = &part,
					 .msg_iovlen = 1,
					 .msg_control = control.data,
					 .msg_controllen = CMSG_LEN(sizeof(int)) };
		ssize_t got;

		if (!is_ready(socket, POLLIN, patience))
			return false;
		got = recvmsg(socket, &header, flags);
		if (got < 0 && is_only_interrupted())
			continue;
		if (got <= 0)
			return false;
		take_descriptor(&header, message);
		done += (size_t)got;
	}
	return true;
}

bool pmp_remote_receive(int socket, const struct pmp_remote_patience *patience,
			struct pmp_remote_message *message)
{
	size_t length;
	char *data;

	pmp_remote_drop(message);
	pmp_buf_clear(&message->body);
	if (!receive_bytes(socket, patience, &message->header, sizeof(message->header),
			   message))
		return false;
	length = message->header.length;
	if (length > PMP_REMOTE_MESSAGE_MAX)
		return false;
	if (length == 0)
		return true;
	data = pmp_buf_extend(&message->body, length);
	return data && receive_bytes(socket, patience, data, length, message);
}

uint32_t pmp_remote_first(int socket)
{
	struct pmp_remote_header header;
	struct iovec part = { &header, sizeof(header) };
	struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1 };
	ssize_t n;

	do
		n = recvmsg(socket, &message, MSG_PEEK | MSG_WAITALL);
	while (n < 0 && errno == EINTR);
	return n == sizeof(header) ? header.type : 0;
}

void pmp_remote_drop(struct pmp_remote_message *message)
{
	if (message->fd >= 0)
		close(message->fd);
	message->fd = -1;
}

/* ---- names ---------------------------------------------------------------------------------- */

const struct pmp_remote_name *pmp_remote_names(const struct pmp_remote_place *place)
{
	return (const struct pmp_remote_name *)(place + 1);
}

const char *pmp_remote_string(const struct pmp_remote_place *place, uint32_t offset)
{
	return offset ? (const char *)place + offset : NULL;
}

/* Is the string after the names, and does it end within the place? */
static bool is_string(const struct pmp_remote_place *place, uint32_t offset, size_t most)
{
	const size_t first =
		sizeof(*place) + place->count * sizeof(struct pmp_remote_name);
	size_t left;

	if (offset == 0)
		return true;
	if (offset < first || offset >= place->size)
		return false;
	left = place->size - offset;
	if (left > most + 1)
		left = most + 1;
	return memchr((const char *)place + offset, '\0', left);
}

/* Are all strings valid? A name that was cut has "..." appended. */
static bool are_names(const struct pmp_remote_place *place)
{
	const struct pmp_remote_name *names = pmp_remote_names(place);
	const size_t most = PMP_REMOTE_PATH_MAX + sizeof("...");

	for (size_t i = 0; i < place->count; i++) {
		if (!is_string(place, names[i].function, most) ||
		    !is_string(place, names[i].linkage, most) ||
		    !is_string(place, names[i].file, most))
			return false;
	}
	return true;
}

const struct pmp_remote_place *pmp_remote_next(const struct pmp_buf *body, size_t *at,
					       size_t count)
{
	const struct pmp_remote_place *place;
	const size_t left = body->length - *at;

	/* Memory of malloc() is aligned, and all sizes are multiples of 8. */
	if (left < sizeof(*place))
		return NULL;
	place = (const struct pmp_remote_place *)(const void *)(body->data + *at);
	if (place->size > left || place->size % 8 || place->count > PMP_PLACES_MAX ||
	    place->index >= count ||
	    place->size <
		    sizeof(*place) + place->count * sizeof(struct pmp_remote_name) ||
	    !are_names(place))
		return NULL;
	*at += place->size;
	return place;
}

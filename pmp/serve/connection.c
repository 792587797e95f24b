/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See connection.h. */
#include "serve/connection.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <time.h>
#include <unistd.h>

#include "run/clock.h"
#include "serve/compress.h"

#define PIECE_SIZE ((size_t)64 * 1024)
#define TURN_SIZE ((size_t)1024 * 1024) /* written before it is another's turn */

void connection_open(struct connection *connection, int fd,
		     const struct sockaddr_storage *peer,
		     const struct access_peer *opener)
{
	connection->fd = fd;
	connection->peer = *peer;
	connection->opener = *opener;
	connection->in_length = 0;
	connection->scan = (struct http_scan){ 0 };
	connection->body = connection->file = -1;
	connection->closes = connection->half = connection->feeds = false;
}

static void drop(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

static void drop_packed(struct connection *connection)
{
	free(connection->packed);
	connection->packed = NULL;
}

void connection_close(struct connection *connection)
{
	drop(&connection->fd);
	drop(&connection->body);
	drop(&connection->file);
	drop_packed(connection);
	connection->state = CONNECTION_FREE;
}

void connection_enter(struct connection *connection, enum connection_state state,
		      uint64_t patience)
{
	connection->state = state;
	connection->since = now_ns();
	connection->deadline =
		patience == UINT64_MAX ? UINT64_MAX : connection->since + patience;
}

/* ---- in --------------------------------------------------------------------------- */

bool connection_has_room(const struct connection *connection)
{
	return connection->in_length < sizeof(connection->in);
}

bool connection_read(struct connection *connection)
{
	ssize_t n = recv(connection->fd, connection->in + connection->in_length,
			 sizeof(connection->in) - connection->in_length, MSG_DONTWAIT);

	if (n <= 0)
		return n < 0 && (errno == EAGAIN || errno == EINTR);
	connection->in_length += (size_t)n;
	return true;
}

void connection_take(struct connection *connection, size_t length)
{
	connection->in_length -= length;
	memmove(connection->in, connection->in + length, connection->in_length);
	connection->scan = (struct http_scan){ 0 };
}

static bool keep_body(struct connection *connection, const char *data, size_t length)
{
	size_t done = 0;

	while (done < length) {
		ssize_t n = write(connection->body, data + done, length - done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		done += (size_t)n;
	}
	connection->body_left -= length;
	return true;
}

bool connection_begin_body(struct connection *connection)
{
	size_t length = connection->in_length;

	connection->body = memfd_create("pmp-body", MFD_CLOEXEC);
	connection->body_left = connection->request.length;
	if (connection->body < 0)
		return false;
	if (length > connection->body_left)
		length = (size_t)connection->body_left;
	if (!keep_body(connection, connection->in, length))
		return false;
	connection_take(connection, length);
	return true;
}

int connection_read_body(struct connection *connection)
{
	static char piece[PIECE_SIZE];
	size_t most = connection->body_left < sizeof(piece)
			      ? (size_t)connection->body_left
			      : sizeof(piece);
	ssize_t n;

	if (!most)
		return 1;
	n = recv(connection->fd, piece, most, MSG_DONTWAIT);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	if (n <= 0 || !keep_body(connection, piece, (size_t)n))
		return -1;
	return connection->body_left == 0;
}

/* ---- out -------------------------------------------------------------------------- */

static uint64_t body_length(const struct connection *connection)
{
	return connection->file >= 0 ? connection->file_length : connection->out_length;
}

/* If compression fails, the body is sent as it is. */
static void compress_body(struct connection *connection, struct http_response *response)
{
	const size_t length = (size_t)body_length(connection);
	const char *constant = NULL;
	size_t size = 0;

	if (!connection->request.takes_gzip || response->status != 200 ||
	    !compress_is_worth(response->type, length))
		return;
	if (response->is_page)
		constant = compress_constant(connection->out, length, &size);
	else if (connection->file >= 0)
		connection->packed = compress_file(connection->file, length, &size);
	else
		connection->packed = compress_bytes(connection->out, length, &size);
	if (!connection->packed && !constant)
		return;
	drop(&connection->file);
	connection->out = constant ? constant : connection->packed;
	connection->out_length = size;
	response->gzip = true;
}

void connection_respond(struct connection *connection, struct http_response *response)
{
	compress_body(connection, response);
	response->length = body_length(connection);
	response->minor = connection->request.minor;
	response->keep_alive = !connection->closes && connection->request.keep_alive;
	response->now = time(NULL);
	connection->closes = !response->keep_alive;
	connection->head_length = http_response_head(response, connection->head);
	connection->head_sent = connection->out_sent = 0;
	connection->file_sent = 0;
	if (connection->file < 0)
		connection->file_length = 0;
	if (connection->request.method != HTTP_HEAD)
		return;
	connection->out_length = 0;
	drop(&connection->file);
	drop_packed(connection);
}

/* Write data from *sent on; more: other data follows. Returns like connection_write(). */
static int write_some(int fd, const char *data, size_t length, size_t *sent, bool more)
{
	const int flags = MSG_DONTWAIT | MSG_NOSIGNAL | (more ? MSG_MORE : 0);
	const size_t end = length - *sent < TURN_SIZE ? length : *sent + TURN_SIZE;

	while (*sent < end) {
		ssize_t n = send(fd, data + *sent, end - *sent, flags);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return errno == EAGAIN ? 0 : -1;
		*sent += (size_t)n;
	}
	return end == length;
}

static int write_file(struct connection *connection)
{
	const uint64_t length = connection->file_length, from = connection->file_sent;
	const uint64_t end = length - from < TURN_SIZE ? length : from + TURN_SIZE;

	while (connection->file_sent < end) {
		off_t at = (off_t)connection->file_sent;
		ssize_t n = sendfile(connection->fd, connection->file, &at, PIECE_SIZE);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return errno == EAGAIN ? 0 : -1;
		/* The file is shorter than announced. */
		if (n == 0)
			return -1;
		connection->file_sent += (uint64_t)n;
	}
	return connection->file_sent >= length;
}

int connection_write(struct connection *connection)
{
	int done = write_some(connection->fd, connection->head, connection->head_length,
			      &connection->head_sent, body_length(connection) > 0);

	if (done == 1 && connection->file < 0)
		done = write_some(connection->fd, connection->out, connection->out_length,
				  &connection->out_sent, false);
	else if (done == 1)
		done = write_file(connection);
	if (done == 1) {
		drop(&connection->file);
		drop_packed(connection);
	}
	return done;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One connection: its bytes in and out. connections.c handles the requests. */
#ifndef PMP_SERVE_CONNECTION_H
#define PMP_SERVE_CONNECTION_H

#include "serve/access.h"
#include "serve/http.h"
#include "serve/routes.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

enum connection_state {
	CONNECTION_FREE,   /* the slot is free */
	CONNECTION_HEAD,   /* waiting for or receiving the head of a request */
	CONNECTION_BODY,   /* receiving its body */
	CONNECTION_ASKING, /* waiting for the front */
	CONNECTION_LATE,   /* the answer is delayed */
	CONNECTION_WRITING,
	CONNECTION_CLOSING, /* all is written; discarding further input */
	CONNECTION_LEAVING, /* closed, but the front does not know yet */
};

struct connection {
	enum connection_state state;
	int fd;
	struct sockaddr_storage peer;
	struct access_peer opener; /* the peer when it was accepted */
	uint64_t deadline;	   /* ns; UINT64_MAX: none */
	uint64_t since;		   /* when its state began */
	/* Received and not handled yet. */
	char in[HTTP_HEAD_MAX + 1];
	size_t in_length;
	struct http_scan scan;
	/* The request being served. */
	struct http_request request;
	struct route route;
	struct access_peer user; /* who sent it */
	bool granted;
	bool to_target; /* granted only as the user of all targets */
	uint32_t id;	/* of the request to the front */
	int body;	/* memory file, or -1 */
	uint64_t body_left;
	/* The response: its head, then text or a file. */
	char head[HTTP_RESPONSE_MAX];
	size_t head_length, head_sent;
	char text[ROUTE_REASON_SIZE + 16];
	const char *out; /* text, packed, or a borrowed string */
	size_t out_length, out_sent;
	char *packed; /* a compressed body, or NULL */
	int file;     /* memory file, or -1 */
	uint64_t file_length, file_sent;
	bool closes; /* close after the response */
	bool half;   /* the client sends no more, but waits for its response */
	bool feeds;  /* it is part of a feed: report when it has been sent */
};

void connection_open(struct connection *connection, int fd,
		     const struct sockaddr_storage *peer,
		     const struct access_peer *opener);
void connection_close(struct connection *connection);
/** Enter a state, for at most patience ns; UINT64_MAX: no limit. */
void connection_enter(struct connection *connection, enum connection_state state,
		      uint64_t patience);

/** Read input while there is room. False: the client is gone. */
bool connection_read(struct connection *connection);
/** Is there room for more input? */
bool connection_has_room(const struct connection *connection);
/** Remove the first length bytes of the input. */
void connection_take(struct connection *connection, size_t length);
/** Begin a body, and take what has come of it. False: it cannot be stored. */
bool connection_begin_body(struct connection *connection);
/** Read more of the body. 1: it is complete; 0: more is to come; -1: it has failed. */
int connection_read_body(struct connection *connection);

/** Make the head of a response whose body is in out or file; the body is compressed if the
 * client accepts that. */
void connection_respond(struct connection *connection, struct http_response *response);
/** Write the response. 1: all is written; 0: not yet; -1: the client is gone. */
int connection_write(struct connection *connection);

#endif

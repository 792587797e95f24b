/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One connection: its bytes in and out. What is asked by them, connections.c sees to. */
#ifndef PMP_SERVE_CONNECTION_H
#define PMP_SERVE_CONNECTION_H

#include "serve/access.h"
#include "serve/http.h"
#include "serve/routes.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

enum connection_state {
	CONNECTION_FREE,   /* there is none */
	CONNECTION_HEAD,   /* the head of a request is awaited, or comes */
	CONNECTION_BODY,   /* its body comes */
	CONNECTION_ASKING, /* the front is at work */
	CONNECTION_LATE,   /* the answer is held back for a while */
	CONNECTION_WRITING,
	CONNECTION_CLOSING, /* all is written; what still comes is not read by anybody */
	CONNECTION_LEAVING, /* it is closed, and the front does not know yet */
};

struct connection {
	enum connection_state state;
	int fd;
	struct sockaddr_storage peer;
	struct access_peer opener; /* whose connection it was when it was taken */
	uint64_t deadline;	   /* ns; UINT64_MAX: none */
	uint64_t since;		   /* when its state began */
	/* What has come and is not done. */
	char in[HTTP_HEAD_MAX + 1];
	size_t in_length;
	struct http_scan scan;
	/* What is being served. */
	struct http_request request;
	struct route route;
	struct access_peer user; /* who has asked */
	bool granted;		 /* and may */
	bool to_target;		 /* as the user of all targets */
	uint32_t id;		 /* of what the front was asked */
	int body;		 /* memory file, or -1 */
	uint64_t body_left;
	/* The response: its head, then text or a file. */
	char head[HTTP_RESPONSE_MAX];
	size_t head_length, head_sent;
	char text[ROUTE_REASON_SIZE + 16];
	const char *out; /* text, another one, which is borrowed, or packed */
	size_t out_length, out_sent;
	char *packed; /* a compressed body, or NULL */
	int file;     /* memory file, or -1 */
	uint64_t file_length, file_sent;
	bool closes; /* after it */
	bool half;   /* the client sends no more, and waits for what it has asked for */
	bool feeds;  /* it is a part of a feed, to be reported when it has been sent */
};

void connection_open(struct connection *connection, int fd,
		     const struct sockaddr_storage *peer,
		     const struct access_peer *opener);
void connection_close(struct connection *connection);
/** Let it have this state from now on, for so many ns at most; UINT64_MAX: any time. */
void connection_enter(struct connection *connection, enum connection_state state,
		      uint64_t patience);

/** Read what has come, as far as there is room. False: the client has gone. */
bool connection_read(struct connection *connection);
/** Is there room for more? */
bool connection_has_room(const struct connection *connection);
/** Forget the first bytes of what has come. */
void connection_take(struct connection *connection, size_t length);
/** Begin with a body, and take what of it has come. False: it cannot be kept. */
bool connection_begin_body(struct connection *connection);
/** Take more of it. 1: it is complete, 0: more is to come, -1: it is not. */
int connection_read_body(struct connection *connection);

/** Put the head of a response together, of a body that out or file has, which is compressed
 * where the client takes that. */
void connection_respond(struct connection *connection, struct http_response *response);
/** Write. 1: all of it is written, 0: not yet, -1: the client has gone. */
int connection_write(struct connection *connection);

#endif

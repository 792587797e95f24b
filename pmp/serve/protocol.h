/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Messages between server and front over a SOCK_SEQPACKET pair: requests and
 * answers. Bodies are passed as descriptors of memory files. Both ends are one
 * program, so plain structs are sent; but the server parses what strangers send, so
 * the front does not trust it.
 */
#ifndef PMP_SERVE_PROTOCOL_H
#define PMP_SERVE_PROTOCOL_H

#include "serve/routes.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define SERVE_FORMAT_SIZE 16
#define SERVE_WINDOW_SIZE 160
#define SERVE_PEER_SIZE 64
#define SERVE_CONNECTIONS 192

enum serve_message {
	SERVE_HELLO = 1, /* to the front: a server begins; id: servers before it */
	SERVE_REQUEST,
	SERVE_CANCEL,  /* the client of that id is gone */
	SERVE_WRITTEN, /* it has received all of its answer */
	SERVE_SERVED,  /* for the log: the request, in query, and its status */
	SERVE_ANSWER,  /* from the front */
	SERVE_RIGHTS,  /* from the front: the targets have changed */
};

struct serve_request {
	uint32_t message;    /* HELLO, REQUEST, CANCEL, WRITTEN, SERVED */
	uint32_t unfiltered; /* of HELLO: no filter of system calls */
	uint32_t id;
	uint32_t page;	       /* page_number() */
	int32_t pid;	       /* 0: any */
	uint32_t milliseconds; /* 0: not given */
	uint32_t past;
	uint32_t has_times, by_thread;
	int64_t from, to; /* ms, as in struct route */
	uint32_t px, nodes, hz, labels, as_text;
	uint32_t to_target; /* granted only as the user of all targets */
	struct selection selection;
	char under[ROUTE_UNDER_SIZE];
	char feed[ROUTE_FEED_SIZE];
	char name[ROUTE_NAME_SIZE];
	char format[SERVE_FORMAT_SIZE];
	char query[HTTP_LINE_MAX]; /* of PAGE_SYMBOL, unless there is a body */
	/* Of SERVED. */
	uint32_t status;
	uint32_t has_user, user;
	uint64_t length;
	char peer[SERVE_PEER_SIZE];
};

struct serve_answer {
	uint32_t message; /* ANSWER, RIGHTS */
	uint32_t id;
	uint32_t status;		/* 200: with a body */
	uint64_t length;		/* of the body */
	char reason[ROUTE_REASON_SIZE]; /* of another status */
	char window[SERVE_WINDOW_SIZE]; /* the part of the past; "": not given */
	/* Of RIGHTS. */
	uint32_t has_target;
	uint32_t target; /* the user of all targets */
};

/** Send a message without waiting, with the descriptor passed unless that is -1. False: the
 * other end is gone, or its queue is full. */
bool serve_send(int fd, const void *message, size_t size, int passed);
/** Receive a message of exactly that size, without waiting; *passed is a descriptor, owned
 * by the caller, or -1. Returns 1; 0: there is none; -1: the other end is gone, or has sent
 * something invalid. */
int serve_receive(int fd, void *message, size_t size, int *passed);
/** Are all strings of a request terminated? */
bool serve_request_ends(const struct serve_request *request);

#endif

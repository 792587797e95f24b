/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Between server and front, messages of a SOCK_SEQPACKET pair: what was asked and what the
 * answer is. Bodies are in memory files that go with them. Both are of one program, so that
 * structs go as they are; but the server reads what strangers send, so the front believes
 * nothing that it says.
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
	SERVE_HELLO = 1, /* to the front: a server begins; id: how many did before it */
	SERVE_REQUEST,
	SERVE_CANCEL,  /* the client of that id has gone */
	SERVE_WRITTEN, /* it has all of its answer */
	SERVE_SERVED,  /* for the log: what was asked, in query, and its answer */
	SERVE_ANSWER,  /* from the front */
	SERVE_RIGHTS,  /* from the front: the targets have changed */
};

struct serve_request {
	uint32_t message;    /* HELLO, REQUEST, CANCEL, WRITTEN, SERVED */
	uint32_t unfiltered; /* of HELLO: it may make any system call */
	uint32_t id;
	uint32_t page;	       /* page_number() */
	int32_t pid;	       /* 0: any */
	uint32_t milliseconds; /* 0: not given */
	uint32_t past;
	uint32_t has_times, by_thread;
	int64_t from, to; /* ms, as in struct route */
	uint32_t px, nodes, hz, labels, as_text;
	uint32_t to_target; /* granted only as to the user of all targets */
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
	uint32_t status;		/* 200: the body goes with it */
	uint64_t length;		/* of the body */
	char reason[ROUTE_REASON_SIZE]; /* of another status */
	char window[SERVE_WINDOW_SIZE]; /* what of the past it is of; "": not said */
	/* Of RIGHTS. */
	uint32_t has_target;
	uint32_t target; /* the user of all targets */
};

/** Send a message, with a descriptor unless that is -1; it does not wait. False: the other
 * end has gone, or takes nothing. */
bool serve_send(int fd, const void *message, size_t size, int passed);
/** Receive one of exactly that size, without waiting; *passed is a descriptor, which is the
 * caller's, or -1. Returns 1, 0: there is none, or -1: the other end has gone or is mad. */
int serve_receive(int fd, void *message, size_t size, int *passed);
/** Do the strings of a request end? */
bool serve_request_ends(const struct serve_request *request);

#endif

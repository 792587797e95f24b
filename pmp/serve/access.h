/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Access control. A server on loopback can be reached by all users of the machine and,
 * through their browsers, by all web pages. So each request is judged by its contents and
 * by the owner of the client's socket. Nothing here asks the kernel: peer.h does.
 */
#ifndef PMP_SERVE_ACCESS_H
#define PMP_SERVE_ACCESS_H

#include "serve/http.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define ACCESS_TOKEN_MIN 16
#define ACCESS_TOKEN_MAX 256
#define ACCESS_HOST_MAX 256
#define ACCESS_NAMES_MAX 16

struct access_rules {
	char token[ACCESS_TOKEN_MAX + 1]; /* "": no token is valid */
	/* Names of this machine, besides localhost and addresses. */
	char names[ACCESS_NAMES_MAX][ACCESS_HOST_MAX];
	size_t name_count;
	uint16_t port;	 /* 0: a unix socket; then any Host is accepted */
	uid_t own;	 /* the user who runs pmp */
	bool has_target; /* all targets have the same user, who may look at them */
	uid_t target;
};

/* The user at the other end of a connection, if the kernel knows. */
struct access_peer {
	bool known;
	uid_t user;
};

struct access_verdict {
	int status;	    /* 0: granted; else 401, 403 or 421 */
	bool guessed;	    /* a wrong token was sent: delay the answer */
	bool to_target;	    /* granted only as the user of all targets */
	const char *reason; /* for the client */
};

/** Judge a request. */
struct access_verdict access_check(const struct access_rules *rules,
				   const struct http_request *request,
				   const struct access_peer *peer);

/** Is the peer root or the user who runs pmp? */
bool access_is_own(const struct access_rules *rules, const struct access_peer *peer);

/** Is the peer currently the user of all targets? */
bool access_is_target(const struct access_rules *rules, const struct access_peer *peer);

/** Is text a token by the syntax of RFC 6750, and long enough? */
bool access_is_token(const char *text);

/** Make a token from random bytes, as URL-safe base64. */
void access_make_token(const unsigned char random[24], char token[33]);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Who may ask. A server on loopback is within reach of all users of the machine and, by
 * their browsers, of all web pages; so each request is judged by what it says and by whose
 * socket it came through. Nothing here asks the kernel: peer.h does.
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
	char token[ACCESS_TOKEN_MAX + 1]; /* "": none is right */
	/* Names of this machine, besides localhost and addresses. */
	char names[ACCESS_NAMES_MAX][ACCESS_HOST_MAX];
	size_t name_count;
	uint16_t port;	 /* 0: a unix socket, by whatever name it is asked */
	uid_t own;	 /* who runs pmp */
	bool has_target; /* all targets have the same user, who may look at them: */
	uid_t target;
};

/* Whose the other end of a connection is, as far as the kernel says so. */
struct access_peer {
	bool known;
	uid_t user;
};

struct access_verdict {
	int status;	    /* 0: granted; else 401, 403 or 421 */
	bool guessed;	    /* a wrong token was sent: the answer is to come late */
	bool to_target;	    /* granted as to the user of all targets */
	const char *reason; /* what to say */
};

/** May it be answered? */
struct access_verdict access_check(const struct access_rules *rules,
				   const struct http_request *request,
				   const struct access_peer *peer);

/** Is it root or the user who runs pmp? */
bool access_is_own(const struct access_rules *rules, const struct access_peer *peer);

/** Do all targets have this user still? */
bool access_is_target(const struct access_rules *rules, const struct access_peer *peer);

/** Is it a token as RFC 6750 has them, long enough to be one? */
bool access_is_token(const char *text);

/** A token of random bytes, in base64 for URLs. */
void access_make_token(const unsigned char random[24], char token[33]);

#endif

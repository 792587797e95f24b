/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The address of --serve, and the socket that listens there. */
#ifndef PMP_SERVE_LISTEN_H
#define PMP_SERVE_LISTEN_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include "libpmp.h"

#define LISTEN_DEFAULT "127.0.0.1:7670"
#define LISTEN_TEXT_SIZE 160

struct listen_address {
	struct sockaddr_storage address;
	socklen_t size;
	bool is_unix;
	bool passed;	/* by a service manager, which made it and removes it */
	int directory;	/* of a unix socket that listens: an open one; else 0 */
	uint64_t inode; /* of its file */
};

/** "[HOST:]PORT", "[IPV6]:PORT" or "unix:PATH", where HOST is localhost or a number. */
bool listen_parse(const char *text, struct listen_address *address);
/** Is it within reach of this machine only? */
bool listen_is_local(const struct listen_address *address);
/**
 * The socket that a service manager has passed, by the rules of sd_listen_fds(3); the address
 * becomes its own. Returns it, 0: there is none, or a negative enum pmp_status.
 */
int listen_passed(struct listen_address *address, struct pmp_error *err);
/** Listen there. Returns the socket, or a negative enum pmp_status. The port, if the system
 * was to choose it, is put into the address; so is the directory of a unix socket, which is
 * closed by listen_remove(). */
int listen_open(struct listen_address *address, struct pmp_error *err);
/** What made by listen_open() is in a file system is removed, if it is still what is there. */
void listen_remove(struct listen_address *address);
/** The port; 0: of a unix socket. */
uint16_t listen_port(const struct listen_address *address);
/** "127.0.0.1:7670", "unix:/run/pmp". Returns text, which is LISTEN_TEXT_SIZE bytes. */
const char *listen_print(const struct listen_address *address, char *text);

#endif

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
	bool passed;	/* by a service manager, which creates and removes it */
	int directory;	/* open descriptor of a unix socket's directory; else 0 */
	uint64_t inode; /* of the unix socket */
};

/** Parse "[HOST:]PORT", "[IPV6]:PORT" or "unix:PATH"; HOST is
 * localhost or a numeric address. */
bool listen_parse(const char *text, struct listen_address *address);
/** Can it only be reached from this machine? */
bool listen_is_local(const struct listen_address *address);
/**
 * The socket passed by a service manager, by the rules of sd_listen_fds(3); sets *address
 * to its address. Returns the descriptor; 0: there is none; or a negative enum pmp_status.
 */
int listen_passed(struct listen_address *address, struct pmp_error *err);
/** Listen at the address. Returns the socket, or a negative enum pmp_status. Sets in the
 * address the port, if the system has chosen it, and the directory of a unix socket, which
 * listen_remove() closes. */
int listen_open(struct listen_address *address, struct pmp_error *err);
/** Remove the unix socket that listen_open() has created, unless
 * another file took its place. */
void listen_remove(struct listen_address *address);
/** The port; 0 for a unix socket. */
uint16_t listen_port(const struct listen_address *address);
/** "127.0.0.1:7670", "unix:/run/pmp". Returns text, of LISTEN_TEXT_SIZE bytes. */
const char *listen_print(const struct listen_address *address, char *text);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whose the other end of a connection is: asked of the kernel, without any rights. */
#ifndef PMP_SERVE_PEER_H
#define PMP_SERVE_PEER_H

#include "serve/access.h"

#include <stdbool.h>
#include <sys/socket.h>

/** A socket to ask by, or -1. To be closed with close(). */
int peer_open(void);

/**
 * The user at the other end of a socket: of AF_UNIX, or of TCP from loopback to loopback, as
 * long as a process has that end open, also if it sends no more.
 * netlink: of peer_open().
 */
struct access_peer peer_find(int netlink, int fd);

/** An address of IPv4 as a socket of IPv6 has it (::ffff:127.0.0.1) becomes one of IPv4. */
void peer_unmap(struct sockaddr_storage *address);

/** Is it an address of the machine itself, or no address at all? */
bool peer_is_local(const struct sockaddr_storage *address);

/** "127.0.0.1:4711", "unix", put into text. Returns text. */
const char *peer_print(const struct sockaddr_storage *address, char text[64]);

#endif

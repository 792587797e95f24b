/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Asks the kernel for the user at the other end of a connection; that needs no rights. */
#ifndef PMP_SERVE_PEER_H
#define PMP_SERVE_PEER_H

#include "serve/access.h"

#include <stdbool.h>
#include <sys/socket.h>

/** A netlink socket to ask by, or -1. Must be closed with close(). */
int peer_open(void);

/**
 * The user at the other end of a socket: AF_UNIX, or TCP from loopback to loopback, as
 * long as a process has that end open, even if it sends no more. netlink: from peer_open().
 */
struct access_peer peer_find(int netlink, int fd);

/** Convert an IPv4-mapped IPv6 address (::ffff:127.0.0.1) to IPv4. */
void peer_unmap(struct sockaddr_storage *address);

/** Is it a loopback address, or that of a unix socket? */
bool peer_is_local(const struct sockaddr_storage *address);

/** Write "127.0.0.1:4711" or "unix" into text. Returns text. */
const char *peer_print(const struct sockaddr_storage *address, char text[64]);

#endif

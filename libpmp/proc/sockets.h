/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds the other end of a socket: for AF_UNIX the kernel tells (sock_diag), for TCP
 * within this machine it is the socket with the two addresses swapped. Each network
 * namespace has its own sockets; their inodes are unique across all.
 */
#ifndef PMP_PROC_SOCKETS_H
#define PMP_PROC_SOCKETS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PMP_ADDRESS_SIZE 56 /* "[2001:db8:...]:65535" */

/* IPv4 addresses are mapped to IPv6, because an IPv4 socket may be connected to an IPv6
 * one. */
struct pmp_tcp_end {
	unsigned char address[16];
	uint16_t port;
};

/* A row of /proc/PID/net/tcp or tcp6. */
struct pmp_tcp_row {
	struct pmp_tcp_end local, remote;
	bool listens;
	uint64_t inode; /* 0: no process has it open any more */
};

/* Pure parsers; false: not such a row. */
bool pmp_tcp_parse(const char *line, size_t length, struct pmp_tcp_row *row);
/* The inode of a line of /proc/PID/net/unix if it is a listener at this path, or 0. */
uint64_t pmp_unix_parse_listener(const char *line, size_t length, const char *path);

/* The TCP sockets of a network namespace, for many searches. All zero: empty. */
struct pmp_tcp_table {
	struct pmp_tcp_row *rows; /* sorted by inode */
	size_t count, capacity;
	size_t *by_ends; /* their indices, sorted by both ends */
};

/* Append the rows of all files, then sort before searching. 0 or PMP_ENOMEM. */
int pmp_tcp_table_add(struct pmp_tcp_table *table, const char *text, size_t length);
int pmp_tcp_table_sort(struct pmp_tcp_table *table);
void pmp_tcp_table_free(struct pmp_tcp_table *table);
/* The row with this inode, which must not be 0; NULL: none. */
const struct pmp_tcp_row *pmp_tcp_find(const struct pmp_tcp_table *table, uint64_t inode);
/* The inode of the row with the same ends swapped; 0: none. */
uint64_t pmp_tcp_find_other(const struct pmp_tcp_table *table,
			    const struct pmp_tcp_row *row);
/* The inode of a row that listens where this one connects to; 0: none. */
uint64_t pmp_tcp_find_listener(const struct pmp_tcp_table *table,
			       const struct pmp_tcp_row *row);
/* Prints "127.0.0.1:80", "[::1]:80". */
void pmp_tcp_print(const struct pmp_tcp_end *end, char text[PMP_ADDRESS_SIZE]);

/* What sock_diag tells about an AF_UNIX socket. */
struct pmp_unix_socket {
	uint64_t peer; /* inode of the other end; 0: none */
	bool listens;
	char path[109]; /* raw bytes; '@' begins an abstract one; "": unnamed */
};

/* A socket for queries, or -1. To be closed with close(). */
int pmp_unix_open(void);
/* False: there is no such socket in the network namespace of fd. */
bool pmp_unix_ask(int fd, uint64_t inode, struct pmp_unix_socket *answer);

#endif

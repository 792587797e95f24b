/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Who is at the other end of a socket: of AF_UNIX the kernel says it (sock_diag), of TCP
 * within this machine it is the one that has the two addresses exchanged. Each network
 * namespace has its own sockets; their inodes differ everywhere.
 */
#ifndef PMP_PROC_SOCKETS_H
#define PMP_PROC_SOCKETS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PMP_ADDRESS_SIZE 56 /* "[2001:db8:...]:65535" */

/* IPv4 as IPv6 maps it: a socket of either may be the other end of one of the other. */
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
/* One of /proc/PID/net/unix that listens at this path; its inode, or 0. */
uint64_t pmp_unix_parse_listener(const char *line, size_t length, const char *path);

/* Those of a network namespace, to be searched for many sockets. Zeroed, it is empty. */
struct pmp_tcp_table {
	struct pmp_tcp_row *rows; /* sorted by inode */
	size_t count, capacity;
	size_t *by_ends; /* their numbers, sorted by both ends */
};

/* Append the rows of a file, then sort all: then it may be searched. 0 or PMP_ENOMEM. */
int pmp_tcp_table_add(struct pmp_tcp_table *table, const char *text, size_t length);
int pmp_tcp_table_sort(struct pmp_tcp_table *table);
void pmp_tcp_table_free(struct pmp_tcp_table *table);
/* The row of this inode, which is not 0; NULL: none. */
const struct pmp_tcp_row *pmp_tcp_find(const struct pmp_tcp_table *table, uint64_t inode);
/* The inode of the row with the same ends exchanged; 0: none. */
uint64_t pmp_tcp_find_other(const struct pmp_tcp_table *table,
			    const struct pmp_tcp_row *row);
/* The inode of a row that listens where this one wants to be connected to; 0: none. */
uint64_t pmp_tcp_find_listener(const struct pmp_tcp_table *table,
			       const struct pmp_tcp_row *row);
/* "127.0.0.1:80", "[::1]:80" */
void pmp_tcp_print(const struct pmp_tcp_end *end, char text[PMP_ADDRESS_SIZE]);

/* What sock_diag says of a socket of AF_UNIX. */
struct pmp_unix_socket {
	uint64_t peer; /* inode of the other end; 0: none */
	bool listens;
	char path
		[109]; /* raw bytes, an abstract one begins with '@'; "": it has no name */
};

/* A socket to ask by: -1, if there is none. To be closed with close(). */
int pmp_unix_open(void);
/* False: there is no such socket in the network namespace of fd. */
bool pmp_unix_ask(int fd, uint64_t inode, struct pmp_unix_socket *answer);

#endif

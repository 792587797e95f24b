/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "proc/sockets.h"

#include <errno.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/scan.h"
#include "libpmp.h"

#define TCP_LISTEN 10	      /* as numbered by /proc and sock_diag */
#define UNIX_ACCEPTS 0x10000u /* a flag in /proc/net/unix */
#define ANSWER_SIZE 1024

/* ---- TCP ---------------------------------------------------------------------------- */

static bool hex_word(const char *digits, uint32_t *value)
{
	struct pmp_scan scan = pmp_scan_text(digits, 8);
	uint64_t number;

	if (!pmp_scan_hex(&scan, &number) || !pmp_scan_done(&scan))
		return false;
	*value = (uint32_t)number;
	return true;
}

/* "0100007F:07E8", or four times as many digits: words in memory order. */
static bool scan_end(struct pmp_scan *scan, struct pmp_tcp_end *end)
{
	static const unsigned char mapped[] = { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255 };
	struct pmp_scan port;
	const char *word;
	size_t length, words;
	uint64_t number;

	pmp_scan_blanks(scan);
	if (!pmp_scan_word(scan, &word, &length) || (length != 13 && length != 37) ||
	    word[length - 5] != ':')
		return false;
	words = length / 8;
	memcpy(end->address, mapped, sizeof(mapped));
	for (size_t i = 0; i < words; i++) {
		uint32_t value;

		if (!hex_word(word + 8 * i, &value))
			return false;
		memcpy(end->address + 16 - 4 * (words - i), &value, sizeof(value));
	}
	port = pmp_scan_text(word + length - 4, 4);
	if (!pmp_scan_hex(&port, &number) || !pmp_scan_done(&port))
		return false;
	end->port = (uint16_t)number;
	return true;
}

static bool skip_words(struct pmp_scan *scan, unsigned count)
{
	const char *word;
	size_t length;

	while (count--) {
		pmp_scan_blanks(scan);
		if (!pmp_scan_word(scan, &word, &length))
			return false;
	}
	pmp_scan_blanks(scan);
	return true;
}

/* "0: 0100007F:07E8 0100007F:C350 01 tx:rx tr:when retrnsmt uid timeout inode ..." */
bool pmp_tcp_parse(const char *line, size_t length, struct pmp_tcp_row *row)
{
	struct pmp_scan scan = pmp_scan_text(line, length);
	uint64_t number, state;

	*row = (struct pmp_tcp_row){ 0 };
	pmp_scan_blanks(&scan);
	if (!pmp_scan_u64(&scan, &number) || !pmp_scan_char(&scan, ':') ||
	    !scan_end(&scan, &row->local) || !scan_end(&scan, &row->remote))
		return false;
	pmp_scan_blanks(&scan);
	if (!pmp_scan_hex(&scan, &state) || !skip_words(&scan, 5))
		return false;
	row->listens = state == TCP_LISTEN;
	return pmp_scan_u64(&scan, &row->inode);
}

int pmp_tcp_table_add(struct pmp_tcp_table *table, const char *text, size_t length)
{
	struct pmp_scan scan = pmp_scan_text(text, length);
	struct pmp_tcp_row row;
	const char *line;
	size_t line_length;

	while (pmp_scan_line(&scan, &line, &line_length)) {
		if (!pmp_tcp_parse(line, line_length, &row) || !row.inode)
			continue;
		if (PMP_RESERVE(&table->rows, &table->capacity, table->count + 1))
			return PMP_ENOMEM;
		table->rows[table->count++] = row;
	}
	return 0;
}

static int compare_inodes(const void *a, const void *b)
{
	const struct pmp_tcp_row *one = a, *other = b;

	return (one->inode > other->inode) - (one->inode < other->inode);
}

static int compare_end(const struct pmp_tcp_end *one, const struct pmp_tcp_end *other)
{
	int by = memcmp(one->address, other->address, sizeof(one->address));

	return by ? by : one->port - other->port;
}

/* Compare the local, then the remote end. */
static int compare_ends(const void *a, const void *b, void *arg)
{
	const struct pmp_tcp_row *rows = arg;
	const struct pmp_tcp_row *one = &rows[*(const size_t *)a],
				 *other = &rows[*(const size_t *)b];
	int by = compare_end(&one->local, &other->local);

	return by ? by : compare_end(&one->remote, &other->remote);
}

int pmp_tcp_table_sort(struct pmp_tcp_table *table)
{
	if (!table->count)
		return 0;
	free(table->by_ends);
	table->by_ends = calloc(table->count, sizeof(*table->by_ends));
	if (!table->by_ends)
		return PMP_ENOMEM;
	qsort(table->rows, table->count, sizeof(*table->rows), compare_inodes);
	for (size_t i = 0; i < table->count; i++)
		table->by_ends[i] = i;
	qsort_r(table->by_ends, table->count, sizeof(*table->by_ends), compare_ends,
		table->rows);
	return 0;
}

void pmp_tcp_table_free(struct pmp_tcp_table *table)
{
	free(table->rows);
	free(table->by_ends);
	*table = (struct pmp_tcp_table){ 0 };
}

const struct pmp_tcp_row *pmp_tcp_find(const struct pmp_tcp_table *table, uint64_t inode)
{
	const struct pmp_tcp_row wanted = { .inode = inode };

	return table->count ? bsearch(&wanted, table->rows, table->count,
				      sizeof(*table->rows), compare_inodes)
			    : NULL;
}

uint64_t pmp_tcp_find_other(const struct pmp_tcp_table *table,
			    const struct pmp_tcp_row *row)
{
	size_t low = 0, high = table->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct pmp_tcp_row *found = &table->rows[table->by_ends[middle]];
		int by = compare_end(&found->local, &row->remote);

		by = by ? by : compare_end(&found->remote, &row->local);
		if (!by)
			return found->listens ? 0 : found->inode;
		if (by < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return 0;
}

static bool same_end(const struct pmp_tcp_end *a, const struct pmp_tcp_end *b)
{
	return compare_end(a, b) == 0;
}

static bool is_any(const struct pmp_tcp_end *end)
{
	size_t i = 0;

	/* "::", or 0.0.0.0 mapped to IPv6 */
	while (i < sizeof(end->address) &&
	       (!end->address[i] || ((i == 10 || i == 11) && end->address[i] == 255)))
		i++;
	return i == sizeof(end->address);
}

static bool is_listener(const struct pmp_tcp_row *row, const struct pmp_tcp_row *other)
{
	return other->listens && other->local.port == row->remote.port &&
	       (is_any(&other->local) || same_end(&other->local, &row->remote));
}

uint64_t pmp_tcp_find_listener(const struct pmp_tcp_table *table,
			       const struct pmp_tcp_row *row)
{
	for (size_t i = 0; i < table->count; i++)
		if (is_listener(row, &table->rows[i]))
			return table->rows[i].inode;
	return 0;
}

/* ---- addresses ----------------------------------------------------------------------- */

/* The longest run of at least two zero groups: RFC 5952. */
static void find_zeros(const uint16_t groups[8], size_t *start, size_t *count)
{
	*start = 8;
	*count = 1;
	for (size_t i = 0; i < 8; i++) {
		size_t n = 0;

		while (i + n < 8 && !groups[i + n])
			n++;
		if (n > *count) {
			*start = i;
			*count = n;
		}
	}
}

static size_t print_v6(const unsigned char *address, char *text, size_t size)
{
	size_t length = 0, start, count;
	uint16_t groups[8];

	for (size_t i = 0; i < 8; i++)
		groups[i] = (uint16_t)(address[2 * i] << 8 | address[2 * i + 1]);
	find_zeros(groups, &start, &count);
	for (size_t i = 0; i < 8; i++) {
		if (i == start) {
			length += (size_t)snprintf(text + length, size - length, "::");
			i += count - 1;
			continue;
		}
		length += (size_t)snprintf(text + length, size - length, "%s%x",
					   i && i != start + count ? ":" : "",
					   (unsigned)groups[i]);
	}
	return length;
}

void pmp_tcp_print(const struct pmp_tcp_end *end, char text[PMP_ADDRESS_SIZE])
{
	const unsigned char *address = end->address;
	size_t length;

	if (address[10] == 255 && address[11] == 255 && !address[0]) {
		snprintf(text, PMP_ADDRESS_SIZE, "%u.%u.%u.%u:%u", address[12],
			 address[13], address[14], address[15], (unsigned)end->port);
		return;
	}
	text[0] = '[';
	length = 1 + print_v6(address, text + 1, PMP_ADDRESS_SIZE - 1);
	snprintf(text + length, PMP_ADDRESS_SIZE - length, "]:%u", (unsigned)end->port);
}

/* ---- AF_UNIX ------------------------------------------------------------------------- */

/* "ffff9a3c: 00000002 00000000 00010000 0001 01 4711 /run/x.sock" */
uint64_t pmp_unix_parse_listener(const char *line, size_t length, const char *path)
{
	struct pmp_scan scan = pmp_scan_text(line, length);
	uint64_t flags, inode;

	if (!skip_words(&scan, 3) || !pmp_scan_hex(&scan, &flags) ||
	    !(flags & UNIX_ACCEPTS) || !skip_words(&scan, 2) ||
	    !pmp_scan_u64(&scan, &inode))
		return 0;
	pmp_scan_blanks(&scan);
	return (size_t)(scan.end - scan.at) == strlen(path) && *path &&
			       memcmp(scan.at, path, strlen(path)) == 0
		       ? inode
		       : 0;
}

int pmp_unix_open(void)
{
	return socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
}

struct unix_question {
	struct nlmsghdr header;
	struct unix_diag_req request;
};

static bool ask(int fd, uint32_t inode, uint32_t sequence)
{
	struct unix_question question = {
		.header = { .nlmsg_len = sizeof(question),
			    .nlmsg_type = SOCK_DIAG_BY_FAMILY,
			    .nlmsg_flags = NLM_F_REQUEST,
			    .nlmsg_seq = sequence },
		.request = { .sdiag_family = AF_UNIX,
			     .udiag_states = UINT32_MAX,
			     .udiag_ino = inode,
			     .udiag_show = UDIAG_SHOW_NAME | UDIAG_SHOW_PEER,
			     .udiag_cookie = { UINT32_MAX, UINT32_MAX } },
	};
	ssize_t sent;

	do
		sent = send(fd, &question, sizeof(question), MSG_DONTWAIT);
	while (sent < 0 && errno == EINTR);
	return sent == (ssize_t)sizeof(question);
}

static void take_attribute(const struct rtattr *attribute, struct pmp_unix_socket *answer)
{
	const char *data = RTA_DATA(attribute);
	size_t length = RTA_PAYLOAD(attribute);
	uint32_t peer;

	if (attribute->rta_type == UNIX_DIAG_PEER && length >= sizeof(peer)) {
		memcpy(&peer, data, sizeof(peer));
		answer->peer = peer;
	} else if (attribute->rta_type == UNIX_DIAG_NAME && length) {
		if (length >= sizeof(answer->path))
			length = sizeof(answer->path) - 1;
		memcpy(answer->path, data, length);
		if (!answer->path[0])
			answer->path[0] = '@';
	}
}

static bool take_answer(char *data, size_t got, uint32_t inode,
			struct pmp_unix_socket *answer)
{
	const struct nlmsghdr *header = (const void *)data;
	const size_t first = NLMSG_LENGTH(sizeof(struct unix_diag_msg));
	const struct unix_diag_msg *message;
	struct rtattr *attribute;
	size_t left;

	if (got < first || header->nlmsg_type != SOCK_DIAG_BY_FAMILY ||
	    header->nlmsg_len < first || header->nlmsg_len > got)
		return false;
	message = (const void *)(data + NLMSG_HDRLEN);
	if (message->udiag_ino != inode)
		return false;
	answer->listens = message->udiag_state == TCP_LISTEN;
	attribute = (void *)(data + NLMSG_ALIGN(first));
	left = header->nlmsg_len > NLMSG_ALIGN(first)
		       ? header->nlmsg_len - NLMSG_ALIGN(first)
		       : 0;
	while (left >= sizeof(*attribute) && attribute->rta_len >= sizeof(*attribute) &&
	       attribute->rta_len <= left) {
		size_t step = RTA_ALIGN(attribute->rta_len);

		take_attribute(attribute, answer);
		if (step >= left)
			break;
		left -= step;
		attribute = (void *)((char *)attribute + step);
	}
	return true;
}

bool pmp_unix_ask(int fd, uint64_t inode, struct pmp_unix_socket *answer)
{
	union {
		struct nlmsghdr align;
		char data[ANSWER_SIZE];
	} buffer;
	static const uint32_t sequence = 1;
	ssize_t got;

	*answer = (struct pmp_unix_socket){ 0 };
	if (fd < 0 || !inode || inode > UINT32_MAX || !ask(fd, (uint32_t)inode, sequence))
		return false;
	/* The kernel has answered during the send. */
	do
		got = recv(fd, buffer.data, sizeof(buffer), MSG_DONTWAIT);
	while (got < 0 && errno == EINTR);
	return got > 0 && take_answer(buffer.data, (size_t)got, (uint32_t)inode, answer);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * See peer.h. For TCP the kernel is asked for the socket with our two addresses swapped.
 * Its answer only counts for a socket that a process still has open: the rest of a closed
 * one is reported as root's.
 */
#include "serve/peer.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define ANSWER_SIZE 1024
/* TCP states, numbered as in the kernel. In the last two it sends no more, but reads. */
enum { STATE_ESTABLISHED = 1, STATE_FIN_WAIT1 = 4, STATE_FIN_WAIT2 = 5 };
#define PATIENCE_S 1

int peer_open(void)
{
	const struct timeval patience = { .tv_sec = PATIENCE_S };
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);

	if (fd >= 0)
		setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	return fd;
}

/* ---- addresses ------------------------------------------------------------------------ */

static const struct sockaddr_in *v4_of(const struct sockaddr_storage *address)
{
	return (const void *)address;
}

static const struct sockaddr_in6 *v6_of(const struct sockaddr_storage *address)
{
	return (const void *)address;
}

void peer_unmap(struct sockaddr_storage *address)
{
	struct sockaddr_in plain = { .sin_family = AF_INET };

	if (address->ss_family != AF_INET6 ||
	    !IN6_IS_ADDR_V4MAPPED(&v6_of(address)->sin6_addr))
		return;
	plain.sin_port = v6_of(address)->sin6_port;
	memcpy(&plain.sin_addr, &v6_of(address)->sin6_addr.s6_addr[12],
	       sizeof(plain.sin_addr));
	*address = (struct sockaddr_storage){ 0 };
	memcpy(address, &plain, sizeof(plain));
}

bool peer_is_local(const struct sockaddr_storage *address)
{
	if (address->ss_family == AF_INET)
		return ntohl(v4_of(address)->sin_addr.s_addr) >> 24 == 127;
	if (address->ss_family == AF_INET6)
		return IN6_IS_ADDR_LOOPBACK(&v6_of(address)->sin6_addr);
	return address->ss_family == AF_UNIX;
}

const char *peer_print(const struct sockaddr_storage *address, char text[64])
{
	char number[INET6_ADDRSTRLEN] = "?";

	if (address->ss_family == AF_INET) {
		inet_ntop(AF_INET, &v4_of(address)->sin_addr, number, sizeof(number));
		snprintf(text, 64, "%s:%u", number, ntohs(v4_of(address)->sin_port));
	} else if (address->ss_family == AF_INET6) {
		inet_ntop(AF_INET6, &v6_of(address)->sin6_addr, number, sizeof(number));
		snprintf(text, 64, "[%s]:%u", number, ntohs(v6_of(address)->sin6_port));
	} else {
		snprintf(text, 64, "unix");
	}
	return text;
}

/* Put an address and its port into an id of inet_diag. */
static void put_end(const struct sockaddr_storage *address, __be32 number[4],
		    __be16 *port)
{
	if (address->ss_family == AF_INET) {
		number[0] = v4_of(address)->sin_addr.s_addr;
		*port = v4_of(address)->sin_port;
	} else {
		memcpy(number, &v6_of(address)->sin6_addr, sizeof(struct in6_addr));
		*port = v6_of(address)->sin6_port;
	}
}

/* ---- the query -------------------------------------------------------------------------- */

struct peer_question {
	struct nlmsghdr header;
	struct inet_diag_req_v2 request;
};

/* Query the peer's socket: its own address is the peer's. */
static void make_question(const struct sockaddr_storage *own,
			  const struct sockaddr_storage *peer,
			  struct peer_question *question)
{
	struct inet_diag_sockid *id = &question->request.id;

	*question = (struct peer_question){
		.header = { .nlmsg_len = sizeof(*question),
			    .nlmsg_type = SOCK_DIAG_BY_FAMILY,
			    .nlmsg_flags = NLM_F_REQUEST },
		.request = { .sdiag_family = (__u8)peer->ss_family,
			     .sdiag_protocol = IPPROTO_TCP,
			     .idiag_states = UINT32_MAX,
			     .id = { .idiag_cookie = { INET_DIAG_NOCOOKIE,
						       INET_DIAG_NOCOOKIE } } },
	};
	put_end(peer, id->idiag_src, &id->idiag_sport);
	put_end(own, id->idiag_dst, &id->idiag_dport);
}

static bool is_open(const struct inet_diag_msg *message)
{
	return message->idiag_inode && (message->idiag_state == STATE_ESTABLISHED ||
					message->idiag_state == STATE_FIN_WAIT1 ||
					message->idiag_state == STATE_FIN_WAIT2);
}

/* Does this address of the answer match the query? An IPv6 socket that speaks IPv4 has
 * mapped addresses. */
static bool is_asked(const struct inet_diag_msg *message, const __be32 found[4],
		     __u8 family, const __be32 asked[4])
{
	const __be32 mapped[3] = { 0, 0, htonl(0xffff) };

	if (message->idiag_family == family)
		return memcmp(found, asked, sizeof(message->id.idiag_src)) == 0;
	return message->idiag_family == AF_INET6 && family == AF_INET &&
	       memcmp(found, mapped, sizeof(mapped)) == 0 && found[3] == asked[0];
}

/* The kernel may answer with a listening socket, or with the rest of a closed one. */
static bool take_answer(const void *data, size_t got,
			const struct peer_question *question, uid_t *user)
{
	const struct nlmsghdr *header = data;
	const struct inet_diag_msg *message;
	const struct inet_diag_sockid *asked = &question->request.id;
	const __u8 family = question->request.sdiag_family;

	if (got < NLMSG_LENGTH(sizeof(*message)) ||
	    header->nlmsg_type != SOCK_DIAG_BY_FAMILY || header->nlmsg_len > got)
		return false;
	message = NLMSG_DATA(header);
	if (message->id.idiag_sport != asked->idiag_sport ||
	    message->id.idiag_dport != asked->idiag_dport ||
	    !is_asked(message, message->id.idiag_src, family, asked->idiag_src) ||
	    !is_asked(message, message->id.idiag_dst, family, asked->idiag_dst))
		return false;
	*user = message->idiag_uid;
	return is_open(message);
}

static struct access_peer ask(int netlink, const struct sockaddr_storage *own,
			      const struct sockaddr_storage *peer)
{
	struct access_peer answer = { 0 };
	struct peer_question question;
	union {
		struct nlmsghdr align;
		char data[ANSWER_SIZE];
	} buffer;
	ssize_t got;

	/* Discard late answers to earlier queries. */
	while (recv(netlink, &buffer, sizeof(buffer), MSG_DONTWAIT) > 0)
		;
	make_question(own, peer, &question);
	if (send(netlink, &question, sizeof(question), 0) != (ssize_t)sizeof(question))
		return answer;
	do
		got = recv(netlink, &buffer, sizeof(buffer), 0);
	while (got < 0 && errno == EINTR);
	answer.known =
		got > 0 && take_answer(&buffer, (size_t)got, &question, &answer.user);
	return answer;
}

struct access_peer peer_find(int netlink, int fd)
{
	struct sockaddr_storage own = { 0 }, peer = { 0 };
	socklen_t own_size = sizeof(own), peer_size = sizeof(peer);
	struct ucred cred;
	socklen_t cred_size = sizeof(cred);

	if (getsockname(fd, (struct sockaddr *)&own, &own_size) < 0 ||
	    getpeername(fd, (struct sockaddr *)&peer, &peer_size) < 0)
		return (struct access_peer){ 0 };
	peer_unmap(&own);
	peer_unmap(&peer);
	if (!peer_is_local(&own) || !peer_is_local(&peer))
		return (struct access_peer){ 0 };
	if (own.ss_family != AF_UNIX)
		return ask(netlink, &own, &peer);
	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &cred_size) < 0)
		return (struct access_peer){ 0 };
	return (struct access_peer){ true, cred.uid };
}

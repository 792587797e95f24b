/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A query and its answer are one generic netlink message each. The kernel answers during
 * the send, so there is nothing to wait for. */
#include "proc/taskstats.h"

#include <errno.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <linux/taskstats.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define BODY_SIZE 2048 /* struct taskstats has 400 bytes, and grows */
#define RUNS_OFFSET offsetof(struct taskstats, cpu_count)

struct message {
	struct nlmsghdr header;
	struct genlmsghdr generic;
	unsigned char body[BODY_SIZE];
};

struct attributes {
	const unsigned char *at;
	size_t left;
};

/* The content of the first attribute of that type; false: none. */
static bool find(struct attributes all, unsigned type, struct attributes *found)
{
	struct nlattr head;

	while (all.left >= sizeof(head)) {
		size_t step;

		memcpy(&head, all.at, sizeof(head));
		if (head.nla_len < sizeof(head) || head.nla_len > all.left)
			return false;
		if ((head.nla_type & NLA_TYPE_MASK) == type) {
			found->at = all.at + sizeof(head);
			found->left = head.nla_len - sizeof(head);
			return true;
		}
		step = NLA_ALIGN(head.nla_len);
		if (step > all.left)
			return false;
		all.at += step;
		all.left -= step;
	}
	return false;
}

static bool send_question(struct pmp_taskstats *stats, uint16_t family, uint8_t command,
			  uint16_t type, const void *data, size_t length)
{
	struct message message = {
		.header = { .nlmsg_type = family, .nlmsg_flags = NLM_F_REQUEST },
		.generic = { .cmd = command, .version = 1 },
	};
	struct nlattr head = { .nla_type = type };
	ssize_t sent;

	head.nla_len = (uint16_t)(NLA_HDRLEN + length);
	memcpy(message.body, &head, sizeof(head));
	memcpy(message.body + NLA_HDRLEN, data, length);
	message.header.nlmsg_len =
		(uint32_t)NLMSG_LENGTH(GENL_HDRLEN) + (uint32_t)NLA_ALIGN(head.nla_len);
	message.header.nlmsg_seq = ++stats->sequence;
	do
		sent = send(stats->fd, &message, message.header.nlmsg_len, MSG_DONTWAIT);
	while (sent < 0 && errno == EINTR);
	return sent == (ssize_t)message.header.nlmsg_len;
}

/* Receive the answer to the last query; skips older answers that an interruption left
 * unread. */
static bool receive_answer(const struct pmp_taskstats *stats, uint16_t family,
			   struct message *message, struct attributes *all)
{
	const size_t least = NLMSG_LENGTH(GENL_HDRLEN);
	ssize_t got;

	do {
		do
			got = recv(stats->fd, message, sizeof(*message), MSG_DONTWAIT);
		while (got < 0 && errno == EINTR);
		if (got < (ssize_t)least || message->header.nlmsg_len < least ||
		    message->header.nlmsg_len > (size_t)got)
			return false;
	} while (message->header.nlmsg_seq != stats->sequence);
	all->at = message->body;
	all->left = message->header.nlmsg_len - least;
	return message->header.nlmsg_type == family;
}

bool pmp_taskstats_open(struct pmp_taskstats *stats)
{
	static const char name[] = TASKSTATS_GENL_NAME;
	struct attributes all, id;
	struct message answer;

	*stats = (struct pmp_taskstats){
		.fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_GENERIC),
	};
	if (stats->fd < 0)
		return false;
	if (!send_question(stats, GENL_ID_CTRL, CTRL_CMD_GETFAMILY, CTRL_ATTR_FAMILY_NAME,
			   name, sizeof(name)) ||
	    !receive_answer(stats, GENL_ID_CTRL, &answer, &all) ||
	    !find(all, CTRL_ATTR_FAMILY_ID, &id) || id.left < sizeof(stats->family)) {
		pmp_taskstats_close(stats);
		return false;
	}
	memcpy(&stats->family, id.at, sizeof(stats->family));
	return true;
}

void pmp_taskstats_close(struct pmp_taskstats *stats)
{
	if (stats->fd >= 0)
		close(stats->fd);
	stats->fd = -1;
}

bool pmp_taskstats_runs(struct pmp_taskstats *stats, pid_t pid, uint64_t *runs)
{
	struct attributes all, sum, numbers;
	const uint32_t tgid = (uint32_t)pid;
	struct message answer;

	if (!send_question(stats, stats->family, TASKSTATS_CMD_GET,
			   TASKSTATS_CMD_ATTR_TGID, &tgid, sizeof(tgid)) ||
	    !receive_answer(stats, stats->family, &answer, &all) ||
	    !find(all, TASKSTATS_TYPE_AGGR_TGID, &sum) ||
	    !find(sum, TASKSTATS_TYPE_STATS, &numbers) ||
	    numbers.left < RUNS_OFFSET + sizeof(*runs))
		return false;
	memcpy(runs, numbers.at + RUNS_OFFSET, sizeof(*runs));
	return true;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "write/outside-names.h"

#include <inttypes.h>
#include <string.h>

#include "base/clock.h"
#include "base/escape.h"

static const char *const types[] = {
	[PMP_OUTSIDE_NONE] = "memory",	       [PMP_OUTSIDE_FLOCK] = "flock",
	[PMP_OUTSIDE_FCNTL] = "fcntl",	       [PMP_OUTSIDE_OFD] = "ofd",
	[PMP_OUTSIDE_PIPE] = "pipe",	       [PMP_OUTSIDE_FIFO] = "fifo",
	[PMP_OUTSIDE_UNIX] = "unix",	       [PMP_OUTSIDE_TCP] = "tcp",
	[PMP_OUTSIDE_OTHER_SOCKET] = "",       [PMP_OUTSIDE_PROCESS] = "process",
	[PMP_OUTSIDE_SEMAPHORE] = "semaphore", [PMP_OUTSIDE_EPOLL] = "epoll",
	[PMP_OUTSIDE_POLL] = "poll",	       [PMP_OUTSIDE_EVENTFD] = "eventfd",
	[PMP_OUTSIDE_OTHER_EVENT] = "other",   [PMP_OUTSIDE_TIMERFD] = "timerfd",
	[PMP_OUTSIDE_SIGNALFD] = "signalfd",   [PMP_OUTSIDE_SIGNAL] = "signal",
	[PMP_OUTSIDE_SYSTEM_V_QUEUE] = "msg",  [PMP_OUTSIDE_POSIX_QUEUE] = "mq",
	[PMP_OUTSIDE_SLEEP] = "sleep",	       [PMP_OUTSIDE_REGULAR] = "file",
	[PMP_OUTSIDE_DEVICE] = "device",
};

static const char *const sures[] = {
	[PMP_SURE_UNKNOWN] = "unknown",
	[PMP_SURE_EXACT] = "exact",
	[PMP_SURE_CANDIDATES] = "candidates",
	[PMP_SURE_INFERRED] = "inferred",
};

/* Said once for several processes: "6330 "a" and 6331 "b" can write". */
static const char *const roles[] = {
	[PMP_ROLE_HOLDS] = "holds",
	[PMP_ROLE_WRITES] = "can write",
	[PMP_ROLE_READS] = "can read",
	[PMP_ROLE_OTHER_END] = "has the other end",
	[PMP_ROLE_ACCEPTS] = "can accept",
	[PMP_ROLE_CHILD] = "child",
	[PMP_ROLE_OPERATED] = "operated on it last",
};

const char *pmp_outside_type_name(const struct pmp_outside *what)
{
	return types[what->type];
}

const char *pmp_sure_name(const struct pmp_outside *what)
{
	return sures[what->sure];
}

const char *pmp_role_name(const struct pmp_other *other)
{
	return roles[other->role];
}

/* ---- what it is ----------------------------------------------------------------------- */

static void add_text(struct pmp_buf *buf, const char *text)
{
	pmp_escape_buf(buf, text, strlen(text));
}

static const char *last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

/* "flock zoo.lock, bytes 0 to 99, inode 5243021, held for writing" */
static void describe_lock(struct pmp_buf *buf, const struct pmp_outside *what,
			  const struct pmp_wait *wait, bool brief)
{
	pmp_buf_puts(buf, what->type == PMP_OUTSIDE_OFD	    ? "fcntl (OFD) "
			  : what->type == PMP_OUTSIDE_FCNTL ? "fcntl "
							    : "flock ");
	add_text(buf, last_part(what->text));
	if (brief)
		return;
	if (what->first && what->last == UINT64_MAX)
		pmp_buf_printf(buf, ", bytes from %" PRIu64 " on", what->first);
	else if (what->last != UINT64_MAX)
		pmp_buf_printf(buf, ", bytes %" PRIu64 " to %" PRIu64, what->first,
			       what->last);
	pmp_buf_printf(buf, ", inode %" PRIu64, wait->object);
	if (what->sure)
		pmp_buf_printf(buf, ", held for %s", what->write ? "writing" : "reading");
}

static void describe_socket(struct pmp_buf *buf, const struct pmp_outside *what,
			    const struct pmp_wait *wait)
{
	if (what->type == PMP_OUTSIDE_TCP) {
		pmp_buf_printf(buf, "TCP %s", what->text);
	} else {
		pmp_buf_printf(buf, "%s %" PRIu64,
			       what->type == PMP_OUTSIDE_UNIX ? "unix socket" : "socket",
			       wait->object);
		if (what->text[0])
			pmp_buf_putc(buf, ' ');
		add_text(buf, what->text);
	}
	if (what->listens)
		pmp_buf_puts(buf, ", which listens");
}

/* "epoll of 12 descriptors" */
static void describe_poll(struct pmp_buf *buf, const struct pmp_outside *what, bool brief)
{
	pmp_buf_puts(buf, what->type == PMP_OUTSIDE_EPOLL ? "epoll" : "poll");
	if (what->watched && !brief)
		pmp_buf_printf(buf, " of %" PRIu32 " descriptor%s", what->watched,
			       what->watched == 1 ? "" : "s");
}

/* "sleep of 1.5 s" */
static void describe_sleep(struct pmp_buf *buf, const struct pmp_outside *what,
			   bool brief)
{
	pmp_buf_puts(buf, "sleep");
	if (what->sleep && !brief)
		pmp_buf_printf(buf, " of %g s", (double)what->sleep / (double)PMP_S);
}

/* "file binlog.000001, inode 5243021" */
static void describe_file(struct pmp_buf *buf, const struct pmp_outside *what,
			  const struct pmp_wait *wait, bool brief)
{
	bool device = what->type == PMP_OUTSIDE_DEVICE;

	pmp_buf_puts(buf, device ? "device " : "file ");
	add_text(buf, device ? what->text : last_part(what->text));
	if (!device && !brief)
		pmp_buf_printf(buf, ", inode %" PRIu64, wait->object);
}

static void describe_event(struct pmp_buf *buf, const struct pmp_outside *what,
			   const struct pmp_wait *wait, bool brief)
{
	switch (what->type) {
	case PMP_OUTSIDE_EPOLL:
	case PMP_OUTSIDE_POLL: describe_poll(buf, what, brief); break;
	case PMP_OUTSIDE_OTHER_EVENT: add_text(buf, what->text); break;
	case PMP_OUTSIDE_SIGNAL: pmp_buf_puts(buf, "a signal"); break;
	case PMP_OUTSIDE_SYSTEM_V_QUEUE:
		pmp_buf_printf(buf, "message queue %" PRIu64, wait->object);
		break;
	case PMP_OUTSIDE_POSIX_QUEUE:
		pmp_buf_puts(buf, "message queue ");
		add_text(buf, what->text);
		break;
	case PMP_OUTSIDE_SLEEP: describe_sleep(buf, what, brief); break;
	case PMP_OUTSIDE_REGULAR:
	case PMP_OUTSIDE_DEVICE: describe_file(buf, what, wait, brief); break;
	default: pmp_buf_puts(buf, pmp_outside_type_name(what));
	}
	if (what->fd >= 0 && !brief)
		pmp_buf_printf(buf, ", fd %" PRId32, what->fd);
}

void pmp_outside_describe(struct pmp_buf *buf, const struct pmp_outside *what,
			  const struct pmp_wait *wait, bool brief)
{
	switch (what->type) {
	case PMP_OUTSIDE_FLOCK:
	case PMP_OUTSIDE_FCNTL:
	case PMP_OUTSIDE_OFD: describe_lock(buf, what, wait, brief); break;
	case PMP_OUTSIDE_PIPE: pmp_buf_printf(buf, "pipe %" PRIu64, wait->object); break;
	case PMP_OUTSIDE_FIFO:
		pmp_buf_puts(buf, "fifo ");
		add_text(buf, what->text);
		break;
	case PMP_OUTSIDE_UNIX:
	case PMP_OUTSIDE_TCP:
	case PMP_OUTSIDE_OTHER_SOCKET: describe_socket(buf, what, wait); break;
	case PMP_OUTSIDE_PROCESS:
		pmp_buf_puts(buf, wait->kind == PMP_WAIT_VFORK
					  ? "a child in vfork, until it executes or ends"
				  : what->count > 1 ? "the end of any child"
						    : "the end of a child");
		break;
	case PMP_OUTSIDE_SEMAPHORE:
		pmp_buf_printf(buf, "semaphore %" PRIu32 " of set %" PRIu64, what->number,
			       wait->object);
		break;
	default: describe_event(buf, what, wait, brief);
	}
}

/* ---- who it is ------------------------------------------------------------------------ */

static const char *not_connected(const struct pmp_outside *what)
{
	if (what->foreign)
		return "in another network namespace";
	if (what->listens)
		return "any process may connect";
	if (what->type == PMP_OUTSIDE_TCP || what->connected)
		return "no process is seen that has the other end";
	return what->type == PMP_OUTSIDE_UNIX ? "it is not connected"
					      : "its other end is not known";
}

static const char *no_other(const struct pmp_outside *what, const struct pmp_wait *wait)
{
	switch (wait->kind) {
	case PMP_WAIT_PIPE:
		return wait->flags & PMP_WAIT_WRITE ? "no process is seen that can read"
						    : "no process is seen that can write";
	case PMP_WAIT_SOCKET: return not_connected(what);
	case PMP_WAIT_SEMOP:
		return what->foreign ? "in another IPC namespace"
				     : "no process is known that operated on it";
	default: return "which is not known";
	}
}

static void add_other(struct pmp_buf *buf, const struct pmp_snapshot *snapshot,
		      const struct pmp_other *other)
{
	pmp_buf_printf(buf, "%d \"", (int)other->pid);
	add_text(buf, other->name);
	pmp_buf_putc(buf, '"');
	if (other->pid == snapshot->info.pid)
		pmp_buf_puts(buf, " itself");
}

/* All peers that are shown. word: put before the last one. */
static void add_list(struct pmp_buf *buf, const struct pmp_snapshot *snapshot,
		     const struct pmp_outside *what, const char *word)
{
	const struct pmp_other *others = snapshot->others + what->other;

	for (uint32_t i = 0; i < what->shown; i++) {
		if (i && i + 1 == what->count)
			pmp_buf_printf(buf, " %s ", word);
		else if (i)
			pmp_buf_puts(buf, ", ");
		add_other(buf, snapshot, &others[i]);
		if (what->count > 1 && others[i].fd >= 0)
			pmp_buf_printf(buf, " (fd %d)", others[i].fd);
	}
	if (what->count > what->shown)
		pmp_buf_printf(buf, " %s %" PRIu32 " more", word,
			       what->count - what->shown);
}

void pmp_outside_who(struct pmp_buf *buf, const struct pmp_snapshot *snapshot,
		     const struct pmp_outside *what, const struct pmp_wait *wait)
{
	const struct pmp_other *others = snapshot->others + what->other;

	if (!what->shown) {
		pmp_buf_puts(buf, no_other(what, wait));
		return;
	}
	add_list(buf, snapshot, what, "or");
	if (others[0].role != PMP_ROLE_CHILD)
		pmp_buf_printf(buf, " %s", roles[others[0].role]);
	if (what->count == 1 && others[0].fd >= 0)
		pmp_buf_printf(buf, " (fd %d)", others[0].fd);
}

void pmp_outside_holders(struct pmp_buf *buf, const struct pmp_snapshot *snapshot,
			 const struct pmp_outside *what)
{
	pmp_buf_puts(buf, what->count > 1 ? "processes " : "process ");
	add_list(buf, snapshot, what, "and");
}

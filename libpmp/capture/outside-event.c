/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/outside-event.h"

#include <stdio.h>
#include <string.h>

static void set(struct pmp_outsider *outsider, enum pmp_wait_kind kind,
		enum pmp_outside_type type, uint64_t object)
{
	outsider->wait.kind = (uint8_t)kind;
	outsider->wait.object = object;
	outsider->what.type = (uint8_t)type;
	outsider->what.fd = outsider->call.fd;
	if (outsider->call.timed)
		outsider->wait.flags |= PMP_WAIT_TIMED;
}

void pmp_outside_set_text(struct pmp_outside *what, const char *text)
{
	snprintf(what->text, sizeof(what->text), "%s", text);
}

/* All of these have the same inode, so the descriptor serves as the object. */
static void name_anonymous(struct pmp_outsider *outsider)
{
	static const struct {
		const char *name;
		enum pmp_wait_kind kind;
		enum pmp_outside_type type;
	} known[] = {
		{ "eventpoll", PMP_WAIT_POLL, PMP_OUTSIDE_EPOLL },
		{ "eventfd", PMP_WAIT_EVENT, PMP_OUTSIDE_EVENTFD },
		{ "timerfd", PMP_WAIT_TIMER, PMP_OUTSIDE_TIMERFD },
		{ "signalfd", PMP_WAIT_SIGNAL, PMP_OUTSIDE_SIGNALFD },
	};
	const char *name = outsider->descriptor.path;
	const uint64_t fd = (uint64_t)outsider->call.fd;

	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		if (strcmp(known[i].name, name) == 0) {
			set(outsider, known[i].kind, known[i].type, fd);
			outsider->what.watched = outsider->descriptor.watched;
			return;
		}
	set(outsider, PMP_WAIT_EVENT, PMP_OUTSIDE_OTHER_EVENT, fd);
	pmp_outside_set_text(&outsider->what, name);
}

static void name_file(struct pmp_outsider *outsider)
{
	bool device = outsider->descriptor.type == PMP_DESCRIPTOR_DEVICE;

	set(outsider, PMP_WAIT_IO, device ? PMP_OUTSIDE_DEVICE : PMP_OUTSIDE_REGULAR,
	    outsider->descriptor.inode);
	pmp_outside_set_text(&outsider->what, outsider->descriptor.path);
}

static void name_by_descriptor(struct pmp_outsider *outsider)
{
	switch (outsider->descriptor.type) {
	case PMP_DESCRIPTOR_ANONYMOUS: name_anonymous(outsider); break;
	case PMP_DESCRIPTOR_FILE:
	case PMP_DESCRIPTOR_DEVICE: name_file(outsider); break;
	default:
		if (outsider->call.polls)
			set(outsider, PMP_WAIT_POLL, PMP_OUTSIDE_POLL, 0);
	}
}

static void name_poll(struct pmp_outsider *outsider)
{
	if (outsider->call.fd >= 0) {
		name_by_descriptor(outsider);
		return;
	}
	set(outsider, PMP_WAIT_POLL, PMP_OUTSIDE_POLL, 0);
	outsider->what.watched = outsider->call.watched;
}

static void name_queue(struct pmp_outsider *outsider)
{
	if (outsider->call.fd < 0) {
		set(outsider, PMP_WAIT_QUEUE, PMP_OUTSIDE_SYSTEM_V_QUEUE,
		    (uint32_t)outsider->call.set);
	} else if (outsider->descriptor.type == PMP_DESCRIPTOR_FILE) {
		set(outsider, PMP_WAIT_QUEUE, PMP_OUTSIDE_POSIX_QUEUE,
		    outsider->descriptor.inode);
		pmp_outside_set_text(&outsider->what, outsider->descriptor.path);
	}
	if (outsider->wait.kind && outsider->call.write)
		outsider->wait.flags |= PMP_WAIT_WRITE;
}

void pmp_outside_event(struct pmp_outsider *outsider)
{
	switch (outsider->call.does) {
	case PMP_DOES_READ:
	case PMP_DOES_WRITE:
	case PMP_DOES_IO: name_by_descriptor(outsider); break;
	case PMP_DOES_POLL: name_poll(outsider); break;
	case PMP_DOES_EVENT:
		set(outsider, PMP_WAIT_EVENT, PMP_OUTSIDE_OTHER_EVENT, 0);
		pmp_outside_set_text(&outsider->what, "aio");
		break;
	case PMP_DOES_SIGNAL:
		set(outsider, PMP_WAIT_SIGNAL, PMP_OUTSIDE_SIGNAL, 0);
		break;
	case PMP_DOES_SLEEP:
		set(outsider, PMP_WAIT_SLEEP, PMP_OUTSIDE_SLEEP, 0);
		outsider->what.sleep = outsider->call.sleep;
		break;
	case PMP_DOES_QUEUE: name_queue(outsider); break;
	default: break;
	}
}

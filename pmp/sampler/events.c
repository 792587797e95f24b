/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See events.h. */
#include "sampler/events.h"

#include <string.h>
#include <unistd.h>

#include "base/fault.h"
#include "run/clock.h"
#include "say/message.h"

void events_beat(struct sampling *sampling)
{
	sampling->page->heartbeat = now_ns();
}

/* This store must come before the check of the socket: see sampling_is_detached(). */
void events_set_capturing(struct sampling *sampling, bool capturing)
{
	__atomic_store_n(&sampling->page->capturing, capturing, __ATOMIC_SEQ_CST);
}

void events_at_work(struct sampling *sampling, pid_t pid)
{
	sampling->page->target = pid;
}

void events_check_sent(int code)
{
	if (code < 0)
		_exit(PMP_EXIT_FAILED);
}

void events_send(struct sampling *sampling, enum event kind, const void *event,
		 size_t size)
{
	struct event_failed endless;
	struct pmp_error err;

	if (kind == EVENT_FAILED && PMP_FAULT("sampler-endless")) {
		memcpy(&endless, event, sizeof(endless));
		memset(endless.error.message, 'm', sizeof(endless.error.message));
		memset(endless.error.hint, 'h', sizeof(endless.error.hint));
		event = &endless;
	}
	events_check_sent(pmp_sender_note(sampling->sender, kind, event, size, &err));
	events_beat(sampling);
}

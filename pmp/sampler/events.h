/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The state of the sampler process, and what it reports to the front: events in the socket,
 * signs of life in the shared page.
 */
#ifndef PMP_SAMPLER_EVENTS_H
#define PMP_SAMPLER_EVENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#include "options/options.h"
#include "sampler/children.h"
#include "sampler/hold-timer.h"
#include "sampler/pace.h"
#include "sampler/protocol.h"

struct watched {
	pid_t pid;
	uint64_t started;	   /* as in struct pmp_target_options */
	struct pmp_target *target; /* NULL: not opened, or ended */
	struct pmp_target *left;   /* dropped, but threads of it have not stopped yet */
	bool child;		   /* of another target */
};

struct sampling {
	const struct options *options;
	struct sampler_page *page;
	int fd;
	struct pmp_sender *sender;
	struct watched *watched;
	size_t count, capacity, living;
	struct children children;
	uint64_t children_opened, children_lost;
	bool told_child;	/* reported why a child is not sampled */
	struct event_done past; /* what an earlier sampler did */
	struct pace pace;
	uint64_t paused_since;
	bool paused, finish, told_behind;
	bool waiting;	   /* for the command's exec: see begin_command() */
	int exec_fd;	   /* hangs up at that exec; -1: none */
	size_t late;	   /* threads that were asked to stop and have not yet */
	uint64_t released; /* when they were last looked at during a capture */
	struct hold_timer hold_timer;
	uint64_t stopped; /* ns, in the last snapshot */
	uint64_t threads;
	clockid_t front_clock; /* CPU time of the front */
	bool has_front_clock;
	struct pmp_recorder *recorder; /* of --heap, or NULL */
	uint64_t heap_due;	       /* when to read it next */
	struct {
		uint64_t since, cpu; /* cpu: ns that reading has taken since `since` */
		uint64_t all;	     /* the same since the start */
		uint64_t percent;    /* of a processor, in the period before */
	} heap_cost;
	uint64_t snapshots_cpu; /* ns of CPU for everything else */
};

/** Show a sign of life: slow operations call it now and then. */
void events_beat(struct sampling *sampling);
/** Set whether a thread may be held from now on. */
void events_set_capturing(struct sampling *sampling, bool capturing);
/** Set the target that is being worked on, for the front to know if the
 * sampler dies of it; 0: none. */
void events_at_work(struct sampling *sampling, pid_t pid);
/** Exit if sending has failed (code < 0): the front is gone. Our exit
 * releases whatever is held. */
void events_check_sent(int code);
/** Send an event: `kind`, then the struct of that name. */
void events_send(struct sampling *sampling, enum event kind, const void *event,
		 size_t size);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The state of the sampler's process, and what it tells the front: events in the socket,
 * signs of life in the page that both see.
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
	struct pmp_target *left;   /* dropped, but threads of it are late */
	bool child;		   /* of another one */
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
	bool told_child;	/* why one is not sampled */
	struct event_done past; /* what was done by another one */
	struct pace pace;
	uint64_t paused_since;
	bool paused, finish, told_behind;
	bool waiting; /* for the command to run: see begin_command() */
	int exec_fd;  /* hangs up when it does; -1: none */
	size_t late;  /* threads to settle */
	struct hold_timer hold_timer;
	uint64_t stopped; /* in the last snapshot */
	uint64_t threads;
	clockid_t front_clock; /* its CPU time */
	bool has_front_clock;
	struct pmp_recorder *recorder; /* of --heap, or NULL */
	uint64_t heap_due;	       /* when it is read next */
	struct {
		uint64_t since, cpu; /* ns of CPU that reading has taken since then */
		uint64_t all;	     /* and from the start on */
		uint64_t percent;    /* of a processor, in the second before */
	} heap_cost;
	uint64_t snapshots_cpu; /* ns that all but this has taken */
};

/** A sign of life: what may take long calls it now and then. */
void events_beat(struct sampling *sampling);
/** May a thread be held from now on? */
void events_set_capturing(struct sampling *sampling, bool capturing);
/** For the front, should this process not survive it; 0: at work on none. */
void events_at_work(struct sampling *sampling, pid_t pid);
/** Of what was sent: without the front there is nothing to do, and the exit of this process
 * releases whatever it holds. */
void events_check_sent(int code);
/** Send the struct of that event. */
void events_send(struct sampling *sampling, enum event kind, const void *event,
		 size_t size);

#endif

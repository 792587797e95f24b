/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the front and the sampler exchange: commands, events, a shared page. */
#ifndef PMP_SAMPLER_PROTOCOL_H
#define PMP_SAMPLER_PROTOCOL_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "libpmp.h"

/* Commands from the front, one byte each. */
enum sampler_command {
	PMP_SAMPLER_PAUSE = 'p',
	PMP_SAMPLER_RESUME = 'r',
	PMP_SAMPLER_FINISH = 'f',
	PMP_SAMPLER_NOW = 'n',	    /* take the next snapshot now */
	PMP_SAMPLER_PEERS = 'w',    /* look for peer processes in the next snapshot */
	PMP_SAMPLER_INTERVAL = 'i', /* the page has a new interval */
};

/* Events from the sampler: each number is followed by the struct of that name. */
enum event {
	EVENT_OPENED = 1,
	EVENT_FAILED,
	EVENT_ENDED,
	EVENT_BEHIND,
	EVENT_DONE,
};

/* A process to sample. */
struct sampler_target {
	pid_t pid;
	uint64_t started; /* as in struct pmp_target_options */
};

struct sampler_targets {
	struct sampler_target *all;
	size_t count;
};

#define EVENT_NAME_SIZE 64

struct event_opened {
	pid_t pid;
	bool child;		    /* of another target */
	uint64_t started;	    /* as in struct pmp_target_options */
	char name[EVENT_NAME_SIZE]; /* raw bytes */
};

/* A target cannot be opened, or cannot be sampled any more. */
struct event_failed {
	pid_t pid;
	struct pmp_error error;
};

struct event_ended {
	pid_t pid;
	bool threads_only; /* the process lives, but the threads of -t have ended */
};

/* Sampling falls behind; sent once. Times in ns. */
struct event_behind {
	uint64_t asked, reached, lowered; /* intervals; lowered is 0 if it equals asked */
	uint64_t stopped, budget;	  /* of the last snapshot */
	uint64_t cpu;			  /* of a snapshot, all processes, on average */
	uint64_t max_cpu;		  /* percent; 0: no limit */
	uint64_t threads;
};

/* The last event: no more targets, or the end of the run. */
struct event_done {
	uint64_t snapshots, missed, elapsed;
	/* Children that were opened; that could not be, as they had
	 * ended or there were too many. */
	uint64_t children, lost_children;
	uint64_t unseen; /* pmp_procwatch_unseen() */
};

/* Memory that both processes share. */
struct sampler_page {
	uint64_t held_since;	     /* see struct pmp_target_options */
	volatile uint64_t heartbeat; /* CLOCK_MONOTONIC of the last sign of life */
	volatile uint32_t capturing; /* something may be attached */
	volatile uint64_t interval;  /* that PMP_SAMPLER_INTERVAL asks for, ns */
	volatile uint64_t taken;     /* samples so far; the last may be unsent */
	volatile uint64_t helpers;   /* CPU time of pmp's other processes, ns */
	volatile pid_t target;	     /* the one that is being worked on; 0: none */
	/* Rights that it could not drop; set before the first event. */
	volatile bool keeps_rights, unfiltered;
	struct event_done so_far; /* after the last snapshot */
};

#endif

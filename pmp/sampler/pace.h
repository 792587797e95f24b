/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * When to sample: a grid of ticks, each moved by up to 10 % of the interval at
 * random so that sampling does not fall into step with what the target does.
 * Ticks that were missed are counted and skipped, never caught up. All times in ns
 * of CLOCK_MONOTONIC; no clock is read here.
 */
#ifndef PMP_SAMPLER_PACE_H
#define PMP_SAMPLER_PACE_H

#include <stdbool.h>
#include <stdint.h>

struct pace {
	uint64_t asked;	    /* interval */
	uint64_t interval;  /* the one in use, longer than asked when lowered */
	uint64_t start;	    /* of the run, moved on by pauses */
	uint64_t grid;	    /* tick in force, without its random part */
	uint64_t due;	    /* the same, with it */
	uint64_t snapshots; /* ticks used */
	uint64_t missed;
	uint64_t lowered;  /* time by which intervals were longer than asked, in all */
	uint64_t cpu;	   /* ns, at the last snapshot */
	uint64_t cpu_each; /* of a snapshot, on average of the last ones */
	uint64_t random;   /* state of the generator, not 0 */
};

/** The first tick is due at once. seed: any number. */
void pace_start(struct pace *pace, uint64_t interval, uint64_t now, uint64_t seed);

/**
 * A snapshot has been taken: set the next tick, after now. The interval is the one asked
 * for, or at_least if that is longer.
 */
void pace_next(struct pace *pace, uint64_t now, uint64_t at_least);

/** The interval that keeps time stopped within budget (0: none) for each asked one:
 * it grows in proportion. stopped: in the last snapshot. */
uint64_t pace_for_stops(const struct pace *pace, uint64_t stopped, uint64_t budget);

/**
 * The interval that keeps the CPU time within percent of one processor (0: no limit).
 * cpu: what all snapshots so far have cost, in ns. At the start there is credit, as
 * reading symbols for the first time costs more than all that comes after it.
 */
uint64_t pace_for_cpu(struct pace *pace, uint64_t now, uint64_t cpu, uint64_t percent);

/** Another interval from now on. */
void pace_change(struct pace *pace, uint64_t interval, uint64_t now);

/** A pause ends: the time since is no part of the run. */
void pace_resume(struct pace *pace, uint64_t since, uint64_t now);

/** Does the run fall behind what was asked, clearly and for some snapshots? */
bool pace_is_behind(const struct pace *pace);

#endif

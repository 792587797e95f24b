/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * When to sample: a grid of ticks, each with a random jitter of up to 10 % of the
 * interval so that sampling does not run in step with what the target does.
 * Missed ticks are counted and skipped, never caught up. All times are ns of
 * CLOCK_MONOTONIC; no clock is read here.
 */
#ifndef PMP_SAMPLER_PACE_H
#define PMP_SAMPLER_PACE_H

#include <stdbool.h>
#include <stdint.h>

struct pace {
	uint64_t asked;	    /* the interval that was asked for */
	uint64_t interval;  /* the one in use; longer if the rate is lowered */
	uint64_t start;	    /* of the run, moved on by pauses */
	uint64_t grid;	    /* the next tick, without jitter */
	uint64_t due;	    /* the same, with jitter */
	uint64_t snapshots; /* ticks used */
	uint64_t missed;
	uint64_t lowered;  /* the total by which intervals were longer than asked */
	uint64_t cpu;	   /* total ns at the last snapshot */
	uint64_t cpu_each; /* ns of a snapshot, moving average */
	uint64_t random;   /* state of the generator, not 0 */
};

/** Start; the first tick is due at once. seed: any number. */
void pace_start(struct pace *pace, uint64_t interval, uint64_t now, uint64_t seed);

/**
 * A snapshot has been taken: set the next tick, after now. The interval is the one asked
 * for, or at_least if that is longer.
 */
void pace_next(struct pace *pace, uint64_t now, uint64_t at_least);

/** The interval that keeps the time threads are stopped within budget (0: no limit) per
 * asked interval: it grows in proportion. stopped: the time in the last snapshot. */
uint64_t pace_for_stops(const struct pace *pace, uint64_t stopped, uint64_t budget);

/**
 * The interval that keeps the CPU time within percent of one processor (0: no limit).
 * cpu: the total of all snapshots so far, in ns. There is credit at the start, as
 * reading symbols for the first time costs more than everything after it.
 */
uint64_t pace_for_cpu(struct pace *pace, uint64_t now, uint64_t cpu, uint64_t percent);

/** Use another interval from now on. */
void pace_change(struct pace *pace, uint64_t interval, uint64_t now);

/** A pause ends: the time since `since` does not count as part of the run. */
void pace_resume(struct pace *pace, uint64_t since, uint64_t now);

/** Is the run clearly behind the interval that was asked for, after enough snapshots? */
bool pace_is_behind(const struct pace *pace);

#endif

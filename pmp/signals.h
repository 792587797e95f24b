/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Signals of the front. Handlers only take notes; the front reads them when its
 * poll() wakes up. The exception: a second INT, TERM or QUIT ends pmp at once.
 */
#ifndef PMP_PMP_SIGNALS_H
#define PMP_PMP_SIGNALS_H

#include <stdbool.h>
#include <stdint.h>

struct pmp_caught {
	int end;      /* the first of INT, TERM, HUP, QUIT; stays set; or 0 */
	int pass_on;  /* that for a command, which has not got it; 0 once it has */
	bool suspend; /* TSTP has come; to be cleared by who acts on it */
	bool write;   /* USR1 has; the same */
	bool again;   /* an end was asked for once more; see pmp_signals_bear() */
	bool limit;   /* the time of pmp_signals_limit() is over */
};

/**
 * Install the handlers. Returns a descriptor that is readable when there is
 * something to take, or a negative errno. SIGHUP and SIGTSTP stay ignored if they are.
 */
int pmp_signals_open(void);
/**
 * That time of CLOCK_MONOTONIC after the first call set caught.limit; 5 s later end pmp,
 * whatever it does then. To be called again in a process that is forked. False: no such
 * timer can be had.
 */
bool pmp_signals_limit(uint64_t time);
/**
 * While something may take long that is not the work itself, a second signal that asks
 * for an end does not end pmp, but is told. A third one does.
 */
void pmp_signals_bear(bool bear);
/** Add what has come since the last call. */
void pmp_signals_take(struct pmp_caught *caught);
/** Stop, as TSTP would have; returns when continued. */
void pmp_signals_suspend(void);
/** In a child that captures: block all but those that tell of a fault. */
void pmp_signals_block(void);

#endif

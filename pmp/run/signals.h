/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Signals of the front. Handlers only set flags; the front reads them when its
 * poll() wakes up. The exception: a second INT, TERM or QUIT ends pmp at once.
 */
#ifndef PMP_RUN_SIGNALS_H
#define PMP_RUN_SIGNALS_H

#include <stdbool.h>

struct caught {
	int end;      /* the first of INT, TERM, HUP, QUIT; stays set; or 0 */
	int pass_on;  /* the same, if the command has not received it yet; or 0 */
	bool suspend; /* TSTP was received; cleared by the code that acts on it */
	bool write;   /* the same for USR1 */
	bool again;   /* a second signal has asked pmp to end; see signals_bear() */
	bool limit;   /* the time of limit_start() is over */
};

/**
 * Install the handlers. Returns a descriptor that is readable when
 * signals_take() has something to report, or a negative errno. If HUP, TSTP,
 * PIPE and XFSZ are ignored, they stay so.
 */
int signals_open(void);
/** Set what restores the terminal: a handler calls it before it ends pmp at once. */
void signals_before_exit(void (*function)(void));
/** Call that function, if set. Async-signal-safe. */
void signals_restore(void);
/** Set caught.limit. Async-signal-safe. */
void signals_tell_limit(void);
/**
 * true: a second signal that asks pmp to end only sets caught.again; the third one ends
 * pmp at once. For use while something secondary may take long.
 */
void signals_bear(bool bear);
/** Add the signals received since the last call. */
void signals_take(struct caught *caught);
/**
 * Stop as this signal, TSTP or TTOU, does by default; returns when continued. False: pmp
 * did not stop, as its process group is orphaned: nothing would continue it.
 */
bool signals_suspend(int number);
/** Is this signal ignored? */
bool signals_ignore(int number);
/** In a child that captures: block all signals but those that a fault raises. */
void signals_block(void);

#endif

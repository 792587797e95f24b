/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Signals of the front. Handlers only take notes; the front reads them when its
 * poll() wakes up. The exception: a second INT, TERM or QUIT ends pmp at once.
 */
#ifndef PMP_RUN_SIGNALS_H
#define PMP_RUN_SIGNALS_H

#include <stdbool.h>

struct caught {
	int end;      /* the first of INT, TERM, HUP, QUIT; stays set; or 0 */
	int pass_on;  /* that for a command, which has not got it; 0 once it has */
	bool suspend; /* TSTP has come; to be cleared by who acts on it */
	bool write;   /* USR1 has; the same */
	bool again;   /* an end was asked for once more; see signals_bear() */
	bool limit;   /* the time of limit_start() is over */
};

/**
 * Install the handlers. Returns a descriptor that is readable when there is
 * something to take, or a negative errno. SIGHUP and SIGTSTP stay ignored if they are.
 */
int signals_open(void);
/** Have this called by a handler before it ends pmp at once: the terminal is given back. */
void signals_before_exit(void (*function)(void));
/** Call it, if there is one. From handlers. */
void signals_restore(void);
/** Set caught.limit. From handlers. */
void signals_tell_limit(void);
/**
 * While something may take long that is not the work itself, a second signal that asks
 * for an end does not end pmp, but is reported. A third one does.
 */
void signals_bear(bool bear);
/** Add what has come since the last call. */
void signals_take(struct caught *caught);
/**
 * Stop as this signal, TSTP or TTOU, does by default; returns when continued. False: it did
 * not stop, as no process could continue it (an orphaned process group).
 */
bool signals_suspend(int number);
/** Is this signal ignored? */
bool signals_ignore(int number);
/** In a child that captures: block all but those that tell of a fault. */
void signals_block(void);

#endif

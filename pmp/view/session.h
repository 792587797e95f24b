/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The live view at work: the front's samples on the one side, a terminal on the other.
 * All calls take NULL, for a run without a view, and do nothing then.
 */
#ifndef PMP_PMP_VIEW_SESSION_H
#define PMP_PMP_VIEW_SESSION_H

#include "libpmp.h"

#include <stdbool.h>
#include <stdint.h>

struct pmp_app;
struct pmp_session;

/** What the session needs of the front. Results are told by pmp_session_say(). */
struct pmp_session_host {
	void (*pause)(struct pmp_app *app, bool paused);
	void (*set_interval)(struct pmp_app *app, uint64_t interval);
	void (*sample_now)(struct pmp_app *app);
	/** Make app->profile anew. 0 or a negative code. */
	int (*reset)(struct pmp_app *app, struct pmp_error *err);
	/** Write the profile to a file, in the format of its extension. */
	int (*write)(struct pmp_app *app, const char *path, struct pmp_error *err);
	/** Write a small text to a file, whole or not at all. */
	int (*save)(struct pmp_app *app, const char *path, const char *text, size_t length,
		    struct pmp_error *err);
	void (*quit)(struct pmp_app *app);
};

/** NULL: no memory. The terminal is not touched yet. */
struct pmp_session *pmp_session_new(struct pmp_app *app, const struct pmp_session_host *host);
/** Set the lock in the options of the symbolizer. */
void pmp_session_symbolizer(struct pmp_session *session,
			    struct pmp_symbolizer_options *options);
/** The symbolizer and the profile are there: begin to name. */
void pmp_session_start(struct pmp_session *session);
void pmp_session_free(struct pmp_session *session);

/** Targets are there, or others than before: take the terminal over, if it is not yet. */
void pmp_session_show(struct pmp_session *session);
/** Give the terminal back for good; what was said meanwhile is printed. */
void pmp_session_close(struct pmp_session *session);

/** Descriptors to poll() for, -1: none; and for how long at most, in ms. */
int pmp_session_input(const struct pmp_session *session);
int pmp_session_wake(const struct pmp_session *session);
int pmp_session_timeout(const struct pmp_session *session, int most);
/** Around a poll(): names are looked up meanwhile. */
void pmp_session_unlock(struct pmp_session *session);
void pmp_session_lock(struct pmp_session *session);

/** Keys, and the screen when it is time for it. */
void pmp_session_tend(struct pmp_session *session);
/** A sample was counted. */
void pmp_session_sampled(struct pmp_session *session);
/** Saved profiles were read: show them. False: this terminal cannot be drawn on. */
bool pmp_session_show_saved(struct pmp_session *session);
/** No more samples will come; what there is stays on the screen. */
void pmp_session_end(struct pmp_session *session);
/** Does it stay after the end of sampling? */
bool pmp_session_stays(const struct pmp_session *session);

/** Give the terminal back while pmp is suspended, and take it again. */
void pmp_session_suspend(struct pmp_session *session);
void pmp_session_resume(struct pmp_session *session);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The live view at work: samples on the one side, a terminal on the other.
 * All calls take NULL, for a run without a view, and do nothing then.
 */
#ifndef PMP_VIEW_SESSION_H
#define PMP_VIEW_SESSION_H

#include "libpmp.h"

#include <stdbool.h>
#include <stdint.h>

struct session;
struct sink;

/** For a sink, which is borrowed. NULL: no memory. The terminal is not touched yet. */
struct session *session_new(struct sink *sink);
/** The symbolizer and the profile are there: begin to name. */
void session_start(struct session *session);
void session_free(struct session *session);

/** Targets are there, or others than before: take the terminal over, if it is not yet. */
void session_show(struct session *session);
/** Give the terminal back for good; what was said meanwhile is printed. */
void session_close(struct session *session);

/** Descriptors to poll() for, -1: none; and for how long at most, in ms. */
int session_input(const struct session *session);
int session_wake(const struct session *session);
int session_timeout(const struct session *session, int most);

/** Keys, and the screen when it is time for it. */
void session_tend(struct session *session);
/** A sample was counted. */
void session_sampled(struct session *session);
/** Saved profiles were read: show them. False: this terminal cannot be drawn on. */
bool session_show_saved(struct session *session);
/** No more samples will come; what there is stays on the screen. */
void session_end(struct session *session);
/** Does it stay after the end of sampling? */
bool session_stays(const struct session *session);

/** Give the terminal back while pmp is suspended, and take it again. */
void session_suspend(struct session *session);
void session_resume(struct session *session);

#endif

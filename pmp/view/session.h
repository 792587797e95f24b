/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A running live view, between sampling and the terminal. All calls accept NULL, for a
 * run without a view, and then do nothing.
 */
#ifndef PMP_VIEW_SESSION_H
#define PMP_VIEW_SESSION_H

#include "libpmp.h"

#include <stdbool.h>
#include <stdint.h>

struct session;
struct sink;

/** Make a session for a sink, which is borrowed; leaves the terminal alone. NULL:
 * no memory. */
struct session *session_new(struct sink *sink);
/** Start, once the symbolizer and the profile exist. */
void session_start(struct session *session);
void session_free(struct session *session);

/** There are targets, or different ones: take over the terminal if not done yet. */
void session_show(struct session *session);
/** Give the terminal back for good and print the messages said meanwhile. */
void session_close(struct session *session);

/** Descriptors to poll(), -1: none; and the timeout in ms, at most most. */
int session_input(const struct session *session);
int session_wake(const struct session *session);
int session_timeout(const struct session *session, int most);

/** Handle keys, and refresh the screen when due. */
void session_tend(struct session *session);
/** A sample was counted. */
void session_sampled(struct session *session);
/** Show saved profiles that have been read. False: the terminal cannot be drawn on. */
bool session_show_saved(struct session *session);
/** No more samples will come; the screen stays. */
void session_end(struct session *session);
/** Does the view stay after sampling has ended? */
bool session_stays(const struct session *session);

/** Give the terminal back while pmp is suspended, and take it over again. */
void session_suspend(struct session *session);
void session_resume(struct session *session);

#endif

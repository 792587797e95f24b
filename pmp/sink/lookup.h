/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Looks up names for the answers of a server, in a worker of its own: files may have to be
 * read or fetched, and nothing else must wait for that. So this worker releases the lock
 * meanwhile. Answers that need names wait until they are known.
 */
#ifndef PMP_SINK_LOOKUP_H
#define PMP_SINK_LOOKUP_H

#include <stdbool.h>

struct name_lookup;
struct sink;

/** NULL: no memory. */
struct name_lookup *lookup_new(struct sink *sink);
/** Takes NULL. Must be called after the worker has ended. */
void lookup_free(struct name_lookup *lookup);

/** Are all names known, except a few that take no time? Else they are being looked up, and
 * the end of that wakes the loop. */
bool lookup_is_done(struct name_lookup *lookup);
/** Are names being looked up? Then no other thread may do so. */
bool lookup_goes_on(const struct name_lookup *lookup);
/** Make sure that the names which tell of waits for locks are known. False: not yet. */
bool lookup_knows_locks(struct name_lookup *lookup);
/** The same for a caller that asks each second: also true if it takes too long. */
bool lookup_knows_locks_soon(struct name_lookup *lookup);
/** At the end: wait until nothing is being looked up. */
void lookup_await(struct name_lookup *lookup);

#endif

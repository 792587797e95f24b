/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names for the answers of a server, looked up by a worker of their own: files may have to be
 * read or fetched for them, and nothing else is to wait for that. It lets go of the lock
 * meanwhile. What needs names waits until they are there.
 */
#ifndef PMP_SINK_LOOKUP_H
#define PMP_SINK_LOOKUP_H

#include <stdbool.h>

struct name_lookup;
struct sink;

/** NULL: no memory. */
struct name_lookup *lookup_new(struct sink *sink);
/** Takes NULL. The worker has ended. */
void lookup_free(struct name_lookup *lookup);

/** Are they there, but for a few that take no time? Else they are being looked up, and the loop
 * hears when that is done. */
bool lookup_is_done(struct name_lookup *lookup);
/** Are they being looked up? Then no other thread may do that. */
bool lookup_goes_on(const struct name_lookup *lookup);
/** See to it that names have told which threads wait for locks. False: they have not yet. */
bool lookup_knows_locks(struct name_lookup *lookup);
/** The same, for whoever asks each second: true as well if it takes long. */
bool lookup_knows_locks_soon(struct name_lookup *lookup);
/** The end: wait until nothing is looked up any more. */
void lookup_await(struct name_lookup *lookup);

#endif

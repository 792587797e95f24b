/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The messages of the sampler. */
#ifndef PMP_PMP_NOTES_H
#define PMP_PMP_NOTES_H

#include "front.h"

/** Take what has arrived, a bounded number of messages. */
void pmp_notes_receive(struct pmp_app *app);
/** The sampler has ended without its last note: say why, and go on without it. */
void pmp_notes_lost(struct pmp_app *app);
/** Tell that a command has ended and what it has started has not: who does not expect
 * that would wonder why pmp does not end. */
void pmp_notes_left(struct pmp_app *app);

#endif

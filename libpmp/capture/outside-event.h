/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Waits that involve no other process: what a call and its descriptor tell about them. */
#ifndef PMP_CAPTURE_OUTSIDE_EVENT_H
#define PMP_CAPTURE_OUTSIDE_EVENT_H

#include "capture/outsider.h"

/* Fill wait and what of a waiter, whose descriptor, if any, has been read; wait.kind stays
 * 0 if it is not such a wait. */
void pmp_outside_event(struct pmp_outsider *outsider);
/* Truncates what is too long. */
void pmp_outside_set_text(struct pmp_outside *what, const char *text);

#endif

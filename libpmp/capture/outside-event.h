/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Waits that no other process has to do with: what a call and its descriptor say of them. */
#ifndef PMP_CAPTURE_OUTSIDE_EVENT_H
#define PMP_CAPTURE_OUTSIDE_EVENT_H

#include "capture/outsider.h"

/* Fill wait and what of a waiter whose descriptor has been read, if it has one; wait.kind
 * stays 0 if it is no such wait. */
void pmp_outside_event(struct pmp_outsider *outsider);
/* What is too long is cut off. */
void pmp_outside_set_text(struct pmp_outside *what, const char *text);

#endif

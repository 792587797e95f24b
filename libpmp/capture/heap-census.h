/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Captures what the heap holds, instead of threads. Nothing is stopped. */
#ifndef PMP_CAPTURE_HEAP_CENSUS_H
#define PMP_CAPTURE_HEAP_CENSUS_H

#include "capture/target.h"

/* Put a census into the capture's sample. The maps must have just been read. 0 or an
 * error; PMP_EUNSUPPORTED: not a heap that can be read. */
int pmp_heap_census(struct pmp_capture *capture, struct pmp_error *err);

#endif

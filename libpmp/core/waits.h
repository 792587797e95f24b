/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What threads of a core file wait for, and who holds it. A core shows one instant, so
 * nothing needs to be proven. */
#ifndef PMP_CORE_WAITS_H
#define PMP_CORE_WAITS_H

#include "base/reader.h"
#include "sample.h"
#include "unwind/arch.h"

/* Fill the waits of all threads of a sample, which are in order, and mark those that wait
 * for each other in a circle. 0 or PMP_ENOMEM. */
int pmp_core_waits_find(struct pmp_sample *sample, const struct pmp_arch *arch,
			const struct pmp_reader *memory);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef PMP_BASE_CLOCK_H
#define PMP_BASE_CLOCK_H

#include <stdint.h>

#define PMP_US 1000ull
#define PMP_MS 1000000ull
#define PMP_S 1000000000ull

uint64_t pmp_clock(void);	   /* CLOCK_MONOTONIC, ns */
uint64_t pmp_clock_cpu(void);	   /* CPU time of the calling thread, ns */
uint64_t pmp_clock_realtime(void); /* CLOCK_REALTIME, ns since the epoch */

#endif

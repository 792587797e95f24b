/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Planted faults: in a build with PMP_FAULTS (the tests make one beside the
 * real one) PMP_FAULT("name") is true when the environment's PMP_FAULT lists
 * that name (comma-separated); each proves that a test can fail. In every other
 * build it is the constant false.
 */
#ifndef PMP_BASE_FAULT_H
#define PMP_BASE_FAULT_H

#include <stdbool.h>

#ifdef PMP_FAULTS
bool pmp_fault(const char *name);
/* Say it on the standard error output, and end with a signal. */
void pmp_fault_stop(const char *format, ...) __attribute__((format(printf, 1, 2)));
#define PMP_FAULT(name) pmp_fault(name)
#else
#define PMP_FAULT(name) false
#endif

#endif

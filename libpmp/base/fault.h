/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Planted faults: in a build with PMP_FAULTS (made by the tests in addition to
 * the real one), PMP_FAULT("name") is true if the environment variable
 * PMP_FAULT lists that name (comma-separated); each proves that a test can
 * fail. In every other build it is the constant false.
 */
#ifndef PMP_BASE_FAULT_H
#define PMP_BASE_FAULT_H

#include <stdbool.h>

#ifdef PMP_FAULTS
bool pmp_fault(const char *name);
/* Print a message to stderr, and die by a signal. */
void pmp_fault_stop(const char *format, ...) __attribute__((format(printf, 1, 2)));
#define PMP_FAULT(name) pmp_fault(name)
#else
#define PMP_FAULT(name) false
#endif

#endif

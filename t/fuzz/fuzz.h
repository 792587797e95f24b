/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The functions that a fuzz target defines; replay.c or libFuzzer calls them. */
#ifndef PMP_T_FUZZ_H
#define PMP_T_FUZZ_H

#include <stddef.h>
#include <stdint.h>

/* Try one input; returns 0. Must not keep state between calls. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Called by libFuzzer before all others, see seeds.c; returns 0. */
int LLVMFuzzerInitialize(int *argc, char ***argv);

/*
 * Optional: valid inputs made by code instead of files in t/fuzz/corpus/NAME/.
 * Writes the n-th (0, 1, ...) into data and returns its length, 0 after the last.
 */
size_t fuzz_seed(unsigned n, uint8_t *data, size_t size) __attribute__((weak));

#endif

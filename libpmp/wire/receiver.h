/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Limits for a sender that is trusted no more than the file it reads. */
#ifndef PMP_WIRE_RECEIVER_H
#define PMP_WIRE_RECEIVER_H

#include <stddef.h>
#include <stdint.h>

struct pmp_receiver;

/* From now on accept so many bytes and modules; anything beyond is malformed. known: bytes of
 * modules that are known at one time, of all targets. */
void pmp_receiver_limit(struct pmp_receiver *receiver, uint64_t bytes, size_t modules,
			uint64_t known);

#endif

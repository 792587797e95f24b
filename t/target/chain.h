/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The functions of the chain: main calls f3, f3 calls f2, down to f0. Each adds
 * its share to the result, so that none can be a tail call.
 */
#ifndef PMP_TARGET_CHAIN_H
#define PMP_TARGET_CHAIN_H

#define CHAIN_RESULT 1111

extern volatile unsigned long chain_work;

int f0(int spin); /* gives 1 */
int f1(int spin); /* 11 */
int f2(int spin); /* 111 */
int f3(int spin); /* 1111 */

#endif

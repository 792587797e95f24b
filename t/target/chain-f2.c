/* SPDX-License-Identifier: GPL-2.0-or-later */
/* f2 of the chain: calls f1. */
#include "target.h"
#include "chain.h"

NOINLINE int f2(int spin)
{
	return f1(spin) + 100;
}

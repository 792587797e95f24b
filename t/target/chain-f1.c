/* SPDX-License-Identifier: GPL-2.0-or-later */
/* f1 of the chain: calls f0. */
#include "target.h"
#include "chain.h"

NOINLINE int f1(int spin)
{
	return f0(spin) + 10;
}

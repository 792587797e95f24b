/* SPDX-License-Identifier: GPL-2.0-or-later */
/* f3 of the chain: calls f2. */
#include "target.h"
#include "chain.h"

NOINLINE int f3(int spin)
{
	return f2(spin) + 1000;
}

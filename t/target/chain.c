/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * chain [spin|block]: the stack f0 f1 f2 f3 main, one function per file.
 * f0 computes (the default) or sleeps in poll().
 * Tests also build it without call-frame information, static, stripped, ...
 *
 * Verdict: every function came back with what it had to give.
 */
#include "target.h"
#include "chain.h"

int main(int argc, char **argv)
{
	int spin = argc < 2 || strcmp(argv[1], "spin") == 0;
	int result;

	target_begin();
	result = f3(spin);
	if (result != CHAIN_RESULT)
		target_verdict("f3 gave %d instead of %d", result, CHAIN_RESULT);
	target_verdict(NULL);
}

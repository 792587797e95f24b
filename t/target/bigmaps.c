/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bigmaps [MAPPINGS]: as many mappings as that (default 100000, less where the
 * system allows less), one thread "sleeper" in it. Prints their number.
 */
#include "target.h"

#include <poll.h>
#include <sys/mman.h>

#define PAGE 4096
#define RESERVE 200 /* mappings that others need */

static NOINLINE void sleeper_main(void *arg)
{
	for (;;)
		poll(NULL, 0, -1);
	(void)arg;
}

/* Every other page has another protection, hence a mapping of its own. */
static long make_mappings(long wanted)
{
	char *memory = mmap(NULL, (size_t)wanted * PAGE, PROT_NONE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	long made;

	if (memory == MAP_FAILED)
		target_die("mmap");
	for (made = 1; made + 2 <= wanted; made += 2)
		if (mprotect(memory + made * PAGE, PAGE, PROT_READ))
			break;
	if (made > RESERVE) /* give back what threads and libraries may need */
		munmap(memory + (made - RESERVE) * PAGE,
		       (size_t)(wanted - made + RESERVE) * PAGE);
	return made > RESERVE ? made - RESERVE : made;
}

int main(int argc, char **argv)
{
	target_begin();
	printf("mappings %ld\n", make_mappings(argc > 1 ? atol(argv[1]) : 100000));
	target_wait_asleep(target_thread("sleeper", sleeper_main, NULL));
	target_ready();
	target_wait_end();
	target_verdict(NULL);
}

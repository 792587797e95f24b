/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * execer leader|thread [N]: the program executes itself again and again, from
 * its first thread or from another one, with two more threads alive that die
 * thereby. It is ready at the first time; N is its own count.
 *
 * Verdict: it went on.
 */
#include "target.h"

#include <poll.h>

#define BYSTANDERS 2

static char **arguments;
static char number[24];

static void bystander(void *arg)
{
	for (;;)
		poll(NULL, 0, -1);
	(void)arg;
}

static NOINLINE void execute(void *arg)
{
	char *next[] = { arguments[0], arguments[1], number, NULL };

	execv("/proc/self/exe", next);
	target_die("execv");
	(void)arg;
}

int main(int argc, char **argv)
{
	unsigned long count = argc > 2 ? strtoul(argv[2], NULL, 10) : 0;
	int i;

	if (argc < 2)
		return 2;
	target_begin();
	if (count == 1) /* here it has worked once */
		target_ready();
	if (count > 1 && target_should_end()) {
		printf("executed %lu\n", count);
		target_verdict(NULL);
	}
	arguments = argv;
	snprintf(number, sizeof number, "%lu", count + 1);
	for (i = 0; i < BYSTANDERS; i++)
		target_thread("bystander", bystander, NULL);
	if (strcmp(argv[1], "leader") == 0)
		execute(NULL);
	target_thread("execer", execute, NULL);
	for (;;)
		pause();
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * blind PID CAPTURES SECONDS: do names of functions agree with what the bytes say?
 *
 * What threads wait for, and who holds it, is decided by bytes; names may say that it is
 * another kind of wait, and then the holder is dropped. In a program whose locks are those
 * that the bytes are believed to be this does not happen. Captures it every 5 ms, until there
 * were so many captures or the time is over. Prints the sums: waits, those with a holder,
 * conditions; and of those the names contradict: waits, those with a holder, and those whose
 * holder is another one with names. The status is 1 if there is any of these.
 */
#include "base/clock.h"
#include "libpmp.h"
#include "report/wait-kinds.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define PAUSE 5000 /* us between two captures */

static struct {
	unsigned long long captures, waits, holders, conditions;
	unsigned long long contradicted, dropped, other;
} sums;

static void compare(const struct pmp_report *report, const struct pmp_row *row)
{
	const struct pmp_wait *wait = &row->thread->wait;
	struct pmp_named_wait named;

	if (!wait->kind)
		return;
	pmp_report_name_row(report, row, &named);
	sums.waits++;
	sums.holders += wait->holder != 0;
	sums.conditions += wait->kind == PMP_WAIT_CONDITION;
	sums.contradicted += named.vetoed;
	sums.dropped += named.vetoed && wait->holder;
	sums.other +=
		!named.inferred && named.wait.holder && named.wait.holder != wait->holder;
	if (named.vetoed)
		printf("# thread %d \"%s\": kind %d by bytes, %s by names\n",
		       (int)row->thread->tid, row->thread->name, wait->kind, named.kind);
}

static bool run_round(struct pmp_target *target, struct pmp_profile *profile,
		      struct pmp_report **report)
{
	const struct pmp_report_options options = { .size = sizeof(options),
						    .snapshot = true };
	struct pmp_sample *sample;
	int code;

	if (pmp_target_capture(target, &sample, NULL) < 0)
		return false;
	code = pmp_profile_add(profile, sample, NULL);
	pmp_sample_free(sample);
	if (code)
		return false;
	if (*report ? pmp_report_update(*report, NULL)
		    : pmp_report_new(profile, NULL, &options, report, NULL))
		return false;
	sums.captures++;
	for (size_t i = 0; i < (*report)->snapshot->row_count; i++)
		compare(*report, &(*report)->snapshot->rows[i]);
	return true;
}

static void run(struct pmp_target *target, unsigned long long captures, uint64_t time)
{
	const struct pmp_symbolizer_options names = { .size = sizeof(names) };
	const struct pmp_profile_options options = { .size = sizeof(options),
						     .keep_snapshot = true };
	struct pmp_symbolizer *symbolizer = NULL;
	struct pmp_profile *profile = NULL;
	struct pmp_report *report = NULL;
	const uint64_t begin = pmp_clock();

	if (!pmp_symbolizer_new(&names, &symbolizer, NULL) &&
	    !pmp_profile_new(&options, symbolizer, &profile, NULL))
		while (sums.captures < captures && pmp_clock() - begin < time &&
		       run_round(target, profile, &report))
			usleep(PAUSE);
	pmp_report_free(report);
	pmp_profile_free(profile);
	pmp_symbolizer_free(symbolizer);
}

int main(int argc, char **argv)
{
	const struct pmp_target_options options = { .size = sizeof(options),
						    .stop = PMP_STOP_NEVER };
	struct pmp_target *target;
	struct pmp_error err;

	if (argc != 4)
		return 2;
	if (pmp_target_open(atoi(argv[1]), &options, &target, &err) < 0) {
		fprintf(stderr, "%s\n", err.message);
		return 2;
	}
	run(target, strtoull(argv[2], NULL, 10), strtoull(argv[3], NULL, 10) * PMP_S);
	pmp_target_close(target);
	printf("captures %llu waits %llu holders %llu conditions %llu contradicted %llu "
	       "dropped %llu other %llu\n",
	       sums.captures, sums.waits, sums.holders, sums.conditions,
	       sums.contradicted, sums.dropped, sums.other);
	return sums.contradicted || sums.other;
}

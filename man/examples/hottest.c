/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The ten most frequent stacks of a process in a second, by nothing but libpmp:
 *
 *	cc -o hottest hottest.c $(pkg-config --cflags --libs libpmp)
 *	./hottest 4100
 */
#include <err.h>
#include <libpmp.h>
#include <stdio.h>
#include <stdlib.h>

static struct pmp_error error;

static void check(int status)
{
	if (status)
		errx(1, "%s", error.message);
}

static void print_stack(const struct pmp_report *report,
			const struct pmp_stack_info *stack)
{
	struct pmp_frame_info frame = { .size = sizeof(frame) };
	char text[256];

	printf("%llu", (unsigned long long)stack->count);
	for (size_t i = 0; i < stack->location_count; i++) {
		pmp_location at = stack->locations[i];

		for (size_t k = 0; k < pmp_report_frame(report, at, k, &frame); k++)
			printf(" %s", pmp_escape(frame.function, text, sizeof(text)));
	}
	printf("%s%s\n", *stack->end ? " ..." : "", stack->end);
}

int main(int argc, char **argv)
{
	struct pmp_report_options options = { .size = sizeof(options), .sorted = true };
	struct pmp_stack_info stack = { .size = sizeof(stack) };
	struct pmp_symbolizer *symbolizer;
	struct pmp_profile *profile;
	struct pmp_target *target;
	struct pmp_report *report;
	struct pmp_sample *sample;

	if (argc != 2)
		errx(1, "usage: hottest PID");
	check(pmp_target_open((pid_t)strtol(argv[1], NULL, 10), NULL, &target, &error));
	check(pmp_symbolizer_new(NULL, &symbolizer, &error));
	check(pmp_profile_new(NULL, symbolizer, &profile, &error));
	for (int i = 0; i < 20; i++) {
		check(pmp_target_capture(target, &sample, &error));
		check(pmp_profile_add(profile, sample, &error));
		pmp_sample_free(sample);
		pmp_target_sleep(target, 50000000);
	}
	check(pmp_report_new(profile, NULL, &options, &report, &error));
	for (size_t i = 0; i < 10 && pmp_report_stack(report, i, &stack); i++)
		print_stack(report, &stack);
	pmp_report_free(report);
	pmp_profile_free(profile);
	pmp_symbolizer_free(symbolizer);
	pmp_target_close(target);
}

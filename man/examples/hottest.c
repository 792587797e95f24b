/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The ten most frequent stacks of a process in a second, by nothing but libpmp:
 *
 *	cc -o hottest hottest.c $(pkg-config --cflags --libs libpmp)
 *	./hottest 4100
 */
#include <libpmp.h>

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void print_stack(const struct pmp_report *report,
			const struct pmp_stack_info *stack)
{
	struct pmp_frame_info frame = { .size = sizeof(frame) };
	char text[256];

	printf("%llu", (unsigned long long)stack->count);
	for (size_t i = 0; i < stack->location_count; i++)
		for (size_t k = 0;
		     k < pmp_report_frame(report, stack->locations[i], k, &frame); k++)
			printf(" %s", pmp_escape(frame.function, text, sizeof(text)));
	printf("%s%s\n", *stack->end ? " ..." : "", stack->end);
}

/* Twenty snapshots, each counted and forgotten. */
static int collect(struct pmp_target *target, struct pmp_profile *profile,
		   struct pmp_error *error)
{
	struct pmp_sample *sample;
	int status = 0;

	for (int i = 0; i < 20 && status == 0; i++, usleep(50000)) {
		status = pmp_target_capture(target, &sample, error);
		if (status)
			break;
		status = pmp_profile_add(profile, sample, error);
		pmp_sample_free(sample);
	}
	return status;
}

int main(int argc, char **argv)
{
	const struct pmp_report_options options = { .size = sizeof(options),
						    .sorted = true };
	struct pmp_stack_info stack = { .size = sizeof(stack) };
	struct pmp_symbolizer *symbolizer = NULL;
	struct pmp_profile *profile = NULL;
	struct pmp_target *target = NULL;
	struct pmp_report *report = NULL;
	struct pmp_error error;

	if (pmp_target_open(argc > 1 ? (pid_t)strtol(argv[1], NULL, 10) : 0, NULL,
			    &target, &error) ||
	    pmp_symbolizer_new(NULL, &symbolizer, &error) ||
	    pmp_profile_new(NULL, symbolizer, &profile, &error) ||
	    collect(target, profile, &error) ||
	    pmp_report_new(profile, NULL, &options, &report, &error))
		fprintf(stderr, "hottest: %s\n", error.message);
	for (size_t i = 0; report && i < 10 && pmp_report_stack(report, i, &stack); i++)
		print_stack(report, &stack);
	pmp_report_free(report);
	pmp_profile_free(profile);
	pmp_symbolizer_free(symbolizer);
	pmp_target_close(target);
	while (pmp_target_reap(NULL) > 0)
		usleep(1000);
	return report ? 0 : 1;
}

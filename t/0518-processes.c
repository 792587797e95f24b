/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Very many short processes, as a build has them: what is kept of each goes when it has
 * ended, and none costs the others anything.
 */
#include <inttypes.h>
#include <time.h>

#include "base/sanitized.h"
#include "lib/saved.h"
#include "lib/tap.h"
#include "libpmp-program.h"
#include "sample.h"

#define MIB ((uint64_t)1 << 20)
#define MS UINT64_C(1000000)
#define CODE UINT64_C(0x7f0000000000)
#define PROCESSES 100000
#define PID 1000

static struct pmp_maps *maps;
static uint64_t now = 1000 * MS;

static void make_maps(void)
{
	struct pmp_module *module = pmp_module_new(1, PMP_MODULE_ANON, "");
	const struct pmp_region region = { CODE, CODE + 4096, 0, module,
					   PMP_PROT_EXEC | PMP_PROT_READ };

	maps = pmp_maps_new();
	if (!maps || !module || pmp_maps_add_module(maps, module) ||
	    pmp_maps_add_region(maps, &region))
		abort();
}

static uint64_t rss(void)
{
	unsigned long pages = 0, resident = 0;
	FILE *file = fopen("/proc/self/statm", "re");

	if (!file || fscanf(file, "%lu %lu", &pages, &resident) != 2)
		abort();
	fclose(file);
	return resident * (uint64_t)sysconf(_SC_PAGESIZE);
}

static struct saved new_profile(bool live)
{
	const struct pmp_profile_options options = {
		.size = sizeof(options),
		.details = true,
		.live = live,
		.max_memory = 8 * MIB,
	};
	struct saved saved = { 0 };

	if (pmp_symbolizer_new(NULL, &saved.symbolizer, NULL) ||
	    pmp_profile_new(&options, saved.symbolizer, &saved.profile, NULL))
		abort();
	return saved;
}

/* A snapshot of a process of one thread, which has used so much CPU time so far. */
static void add(struct saved *saved, pid_t pid, uint64_t cpu)
{
	struct pmp_sample *sample = pmp_sample_new();
	const struct pmp_raw_frame frame = { CODE + 16, PMP_FRAME_EXACT };
	struct pmp_thread *thread = sample ? pmp_sample_add_thread(sample) : NULL;

	if (!thread || pmp_sample_add_frames(sample, &frame, 1))
		abort();
	now += 5 * MS;
	sample->pid = pid;
	sample->time = sample->realtime = now;
	sample->maps = pmp_maps_ref(maps);
	snprintf(sample->name, sizeof(sample->name), "cc%d", (int)pid % 3);
	thread->tid = pid;
	thread->state = 'R';
	thread->obtained = PMP_STOPPED;
	thread->syscall = PMP_SYSCALL_UNKNOWN;
	thread->cpu = cpu;
	saved_add(saved, sample);
}

/* One after the other. */
static void test_short(bool live)
{
	struct saved saved = new_profile(live);
	uint64_t early = 0, late;
	struct saved_sums sums;
	const char *what = live ? "with a view" : "without a view";

	for (pid_t i = 0; i < PROCESSES; i++) {
		if (i == PROCESSES / 2)
			early = rss();
		add(&saved, PID + i, MS);
		add(&saved, PID + i, 3 * MS);
		pmp_profile_forget(saved.profile, PID + i);
	}
	late = rss();
	ok(SANITIZED || late < early + 8 * MIB,
	   "%s: %d processes: %" PRIu64 " MiB after a half, %" PRIu64 " at the end", what,
	   PROCESSES, early / MIB, late / MIB);
	if (live)
		ok(pmp_live_process_count(pmp_profile_live(saved.profile)) < 20000,
		   "%s: %zu processes are kept apart", what,
		   pmp_live_process_count(pmp_profile_live(saved.profile)));
	is_int(pmp_profile_divide_cpu(saved.profile), 0, "%s: CPU time is divided", what);
	sums = saved_sums(&saved);
	is_int(sums.count, 2 * PROCESSES, "%s: no stack is lost", what);
	is_int(sums.cpu, 2 * MS * PROCESSES, "%s: and no CPU time", what);
	saved_free(&saved);
}

/* An id that is given again: the new process has nothing of the old one. */
static void test_again(void)
{
	struct saved saved = new_profile(false);
	struct saved_sums sums;

	add(&saved, PID, 1000 * MS);
	add(&saved, PID, 1002 * MS);
	pmp_profile_forget(saved.profile, PID);
	now += 1000 * MS;
	add(&saved, PID, 2000 * MS);
	add(&saved, PID, 2003 * MS);
	pmp_profile_forget(saved.profile, PID + 1);
	pmp_profile_divide_cpu(saved.profile);
	sums = saved_sums(&saved);
	is_int(sums.count, 4, "an id that is given again: all stacks count");
	is_int(sums.cpu, 5 * MS, "what the new process had used before is not counted");
	saved_free(&saved);
}

/* All at once: each is found without a search of the others. */
static void test_many(void)
{
	struct saved saved = new_profile(true);
	clock_t start = clock();
	double seconds;

	for (uint64_t round = 0; round < 3; round++)
		for (pid_t i = 0; i < PROCESSES; i++)
			add(&saved, PID + i, MS * (1 + round));
	seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
	ok(SANITIZED || seconds < 20, "%d processes at once: %.1f s of CPU time",
	   PROCESSES, seconds);
	is_int(saved_sums(&saved).count, 3 * PROCESSES, "and all of them are counted");
	saved_free(&saved);
}

int main(void)
{
	make_maps();
	test_short(false);
	test_short(true);
	test_again();
	test_many();
	pmp_maps_unref(maps);
	return done_testing();
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Counting: equal stacks are one entry, what makes stacks differ, totals, the
 * distribution of stop times, the last sample kept, times used, damaged samples.
 */
#include <stddef.h>

#include "lib/tap.h"
#include "tally/profile.h"

struct fake_function {
	const char *name, *file, *module;
	unsigned line;
	bool inlined, unnamed, signal, exact;
};

static const struct fake_function fake_functions[] = {
	{ .name = "poll", .module = "/lib/libc.so.6" },
	{ .name = "work", .module = "/bin/demo" },
	{ .name = "main", .module = "/bin/demo" },
};

#include "lib/fakenames.h"

enum { POLL, WORK, MAIN };

static struct pmp_profile *new_profile(bool by_thread, bool keep_snapshot)
{
	struct pmp_profile_options options = {
		.size = sizeof(options),
		.by_thread = by_thread,
		.keep_snapshot = keep_snapshot,
		.command = "pmp -p 10",
	};
	struct pmp_profile *profile = NULL;
	struct pmp_error err;

	is_int(pmp_profile_new(&options, NULL, &profile, &err), 0, "a profile is made");
	return profile;
}

static struct pmp_sample *new_sample(pid_t pid, const char *name)
{
	struct pmp_sample *sample = pmp_sample_new();

	if (!sample)
		abort();
	sample->pid = pid;
	snprintf(sample->name, sizeof(sample->name), "%s", name);
	return sample;
}

static void add(struct pmp_profile *profile, struct pmp_sample *sample)
{
	struct pmp_error err = { .message = "" };
	int ret = pmp_profile_add(profile, sample, &err);

	if (ret)
		diag("pmp_profile_add: %d: %s", ret, err.message);
	pmp_sample_free(sample);
}

static struct pmp_profile_info info_of(const struct pmp_profile *profile)
{
	struct pmp_profile_info info = { .size = sizeof(info) };

	pmp_profile_info(profile, &info);
	return info;
}

static void add_three(struct pmp_profile *profile)
{
	struct pmp_sample *sample = new_sample(10, "demo");

	fake_thread(sample, 12, "b", FAKE_STACK(POLL, WORK, MAIN))->state = 'R';
	fake_thread(sample, 10, "a", FAKE_STACK(POLL, MAIN));
	fake_thread(sample, 11, "b", FAKE_STACK(POLL, WORK, MAIN));
	add(profile, sample);
}

static void test_merge(void)
{
	struct pmp_profile *profile = new_profile(false, false);
	const struct pmp_entry *entry;

	is_str(pmp_profile_options(profile)->command, "pmp -p 10", "the command is kept");
	is_int(pmp_profile_entry_count(profile), 0, "a new profile is empty");
	ok(!pmp_profile_entry(profile, 0), "and has no first entry");
	is_int(info_of(profile).stopped_p99, 0, "and no stop times");
	add_three(profile);
	add_three(profile);
	is_int(pmp_profile_entry_count(profile), 2,
	       "threads with equal stacks are merged");
	entry = pmp_profile_entry(profile, 0);
	is_int(entry->count, 4, "and counted");
	is_int(entry->tid, 0, "under no thread");
	is_str(entry->thread, "", "and no thread's name");
	is_str(entry->process, "demo", "of the process");
	is_int(entry->pid, 10, "and its id");
	is_int(entry->state, 'S', "the state is the most recent");
	is_int(entry->location_count, 3, "the stack has its frames");
	is_int(entry->locations[2], MAIN, "in their order");
	is_int(pmp_profile_entry(profile, 1)->count, 2, "the other stack, too");
	is_int(info_of(profile).samples, 2, "samples");
	is_int(info_of(profile).stacks, 6, "stacks");
	is_int(info_of(profile).distinct, 2, "distinct stacks");
	is_int(fake_names, 0, "no name was asked for");
	ok(!pmp_profile_snapshot(profile, 0), "no sample is kept unless wanted");
	pmp_profile_free(profile);
}

static void test_apart(void)
{
	struct pmp_profile *profile = new_profile(true, false);
	struct pmp_sample *sample;

	add_three(profile);
	add_three(profile);
	is_int(pmp_profile_entry_count(profile), 3, "by thread: threads stay apart");
	is_int(pmp_profile_entry(profile, 0)->tid, 12, "with their ids");
	is_str(pmp_profile_entry(profile, 0)->thread, "b", "and names");
	pmp_profile_free(profile);

	profile = new_profile(false, false);
	add_three(profile);
	sample = new_sample(20, "demo");
	fake_thread(sample, 20, "a", FAKE_STACK(POLL, MAIN));
	add(profile, sample);
	is_int(pmp_profile_entry_count(profile), 3, "another process is apart");
	sample = new_sample(10, "demo");
	fake_thread(sample, 10, "a", FAKE_STACK(POLL, MAIN))->end = PMP_END_DEPTH;
	add(profile, sample);
	is_int(pmp_profile_entry_count(profile), 4, "a truncated stack is apart");
	for (int i = 0; i < 2; i++) {
		struct pmp_thread *thread;

		sample = new_sample(10, "demo");
		thread = fake_thread(sample, 10, "a", FAKE_STACK(POLL, MAIN));
		thread->obtained = PMP_NOT_STOPPED;
		thread->end = PMP_END_NOT_STOPPED;
		strcpy(thread->reason, i ? "epoll_wait" : "seccomp");
		add(profile, sample);
	}
	is_int(pmp_profile_entry_count(profile), 6, "so are reasons not to stop");
	is_str(pmp_profile_entry(profile, 5)->reason, "epoll_wait", "which are kept");
	is_int(info_of(profile).truncated, 1, "truncated stacks are counted");
	is_int(info_of(profile).not_stopped, 2, "and threads not stopped");
	sample = new_sample(10, "demo");
	fake_thread(sample, 10, "a", FAKE_NOTHING);
	add(profile, sample);
	is_int(pmp_profile_entry(profile, 6)->location_count, 0,
	       "a stack without a frame");
	pmp_profile_free(profile);
}

static void test_stops(void)
{
	struct pmp_profile *profile = new_profile(false, false);
	struct pmp_profile_info info;
	struct pmp_sample *sample = new_sample(10, "demo");
	uint64_t sum = 0;

	/* 1 us, 2 us, ... 1000 us */
	for (int i = 1; i <= 1000; i++) {
		struct pmp_thread *thread = fake_thread(sample, i, "", FAKE_STACK(POLL));

		thread->stopped = i * 1000;
		sum += thread->stopped;
	}
	fake_thread(sample, 2000, "", FAKE_STACK(POLL))->obtained = PMP_NOT_STOPPED;
	sample->vanished = 3;
	sample->any_stopped = 77;
	sample->time = 5;
	add(profile, sample);
	info = info_of(profile);
	is_int(info.stops, 1000, "stops");
	is_int(info.stopped, sum, "their sum");
	is_int(info.stopped_max, 1000000, "the longest");
	ok(info.stopped_p50 >= 500000 && info.stopped_p50 <= 500000 * 17 / 16,
	   "the median, to 1/16: %llu", (unsigned long long)info.stopped_p50);
	ok(info.stopped_p99 >= 990000 && info.stopped_p99 <= 1000000,
	   "the 99th percentile: %llu", (unsigned long long)info.stopped_p99);
	is_int(info.vanished, 3, "threads that vanished");
	is_int(info.any_stopped, 77, "time in which any was stopped");
	is_int(info.first_time, 5, "the time of the first sample");

	sample = new_sample(10, "demo");
	fake_thread(sample, 1, "", FAKE_STACK(POLL))->stopped = UINT64_MAX;
	sample->time = 9;
	add(profile, sample);
	info = info_of(profile);
	ok(info.stopped_max == UINT64_MAX, "the largest of times");
	is_int(info.first_time, 5, "the first time stays");
	is_int(info.last_time, 9, "the last one moves");

	memset(&info, 0x55, sizeof(info));
	info.size = offsetof(struct pmp_profile_info, distinct);
	pmp_profile_info(profile, &info);
	is_int(info.samples, 2, "a caller with a shorter struct");
	is_int(info.distinct, 0x5555555555555555, "is not written beyond it");
	pmp_profile_free(profile);
}

/* Each value is within its bucket's width of itself. */
static void test_buckets(void)
{
	struct pmp_profile *profile;
	struct pmp_profile_info info;
	struct pmp_sample *sample;

	for (unsigned shift = 0; shift < 64; shift++) {
		uint64_t value = UINT64_C(1) << shift;

		profile = NULL;
		pmp_profile_new(NULL, NULL, &profile, NULL);
		for (int i = 0; i < 2; i++) {
			sample = new_sample(10, "demo");
			fake_thread(sample, 1, "", FAKE_STACK(POLL))->stopped =
				i ? UINT64_MAX : value;
			add(profile, sample);
		}
		info = info_of(profile);
		if (info.stopped_p50 < value || info.stopped_p50 - value > value / 16)
			ok(false, "bucket of 2^%u: %llu", shift,
			   (unsigned long long)info.stopped_p50);
		pmp_profile_free(profile);
	}
}

static void test_snapshot(void)
{
	struct pmp_profile *profile = new_profile(false, true);
	const struct pmp_snapshot *snapshot;
	struct pmp_sample *sample;

	ok(!pmp_profile_snapshot(profile, 0), "no snapshot before the first sample");
	add_three(profile);
	add_three(profile);
	snapshot = pmp_profile_snapshot(profile, 0);
	is_int(snapshot->number, 2, "the last snapshot");
	is_int(snapshot->row_count, 3, "all its threads");
	is_int(snapshot->rows[0].thread->tid, 10, "in the order of their ids");
	is_int(snapshot->rows[1].thread->tid, 11, "(second)");
	is_int(snapshot->rows[2].thread->tid, 12, "(third)");
	is_str(snapshot->info.name, "demo", "the name of the freed sample");
	is_int(snapshot->info.threads, 3, "its totals");
	is_int(snapshot->rows[0].raw[1].pc, fake_pc(MAIN), "raw frames");
	is_int(snapshot->rows[0].locations[1], MAIN, "and their locations");

	sample = new_sample(10, "demo");
	memset(fake_thread(sample, 10, "", FAKE_NOTHING)->name, 'x', PMP_NAME_SIZE);
	add(profile, sample);
	snapshot = pmp_profile_snapshot(profile, 0);
	is_int(strlen(snapshot->rows[0].thread->name), PMP_NAME_SIZE - 1,
	       "a name without an end gets one");
	is_int(pmp_profile_entry(profile, 2)->location_count, 0, "and does no harm");
	sample = new_sample(10, "demo");
	add(profile, sample);
	is_int(pmp_profile_snapshot(profile, 0)->row_count, 0,
	       "a sample without threads");
	pmp_profile_free(profile);
}

/* A sample of a process with so many threads. */
static void add_process(struct pmp_profile *profile, pid_t pid, int threads)
{
	struct pmp_sample *sample = new_sample(pid, "demo");

	for (int i = 0; i < threads; i++)
		fake_thread(sample, pid + i, "", FAKE_STACK(POLL, MAIN));
	add(profile, sample);
}

static int rows_of(const struct pmp_profile *profile, pid_t pid)
{
	const struct pmp_snapshot *snapshot = pmp_profile_snapshot(profile, pid);

	return snapshot ? (int)snapshot->row_count : -1;
}

static void test_snapshots_of_several(void)
{
	struct pmp_profile *profile = new_profile(false, true);

	add_process(profile, 30, 3);
	add_process(profile, 10, 1);
	add_process(profile, 20, 2);
	is_int(rows_of(profile, 10), 1, "several processes: the snapshot of the first");
	is_int(rows_of(profile, 20), 2, "several processes: of the second");
	is_int(rows_of(profile, 30), 3, "several processes: of the third");
	is_int(rows_of(profile, 11), -1, "several processes: not of another");
	is_int(rows_of(profile, 0), 2, "several processes: the last one");
	add_process(profile, 10, 4);
	is_int(rows_of(profile, 10), 4, "a newer one takes the place of the old one");
	is_int((long)pmp_profile_snapshot(profile, 10)->number, 4,
	       "all of them are counted");
	pmp_profile_forget(profile, 20);
	is_int(rows_of(profile, 20), -1, "the snapshot of a process that has ended goes");
	pmp_profile_forget(profile, 10);
	is_int(rows_of(profile, 0), 4, "the last one of all stays");
	add_process(profile, 30, 5);
	is_int(rows_of(profile, 10), -1, "until there is another");
	is_int(rows_of(profile, 0), 5, "which is the last one then");
	pmp_profile_forget(profile, 30);
	add_process(profile, 30, 6);
	is_int(rows_of(profile, 30), 6,
	       "another process with the number of the last one");
	pmp_profile_forget(profile, 99);
	pmp_profile_free(profile);
}

static void test_damaged(void)
{
	struct pmp_profile *profile = new_profile(false, true);
	struct pmp_raw_frame nowhere = { .pc = UINT64_MAX };
	struct pmp_sample *sample = new_sample(10, "demo");
	struct pmp_thread *thread = fake_thread(sample, 10, "a", FAKE_STACK(POLL, MAIN));
	struct pmp_error err;

	thread->frame = 1;
	is_int(pmp_profile_add(profile, sample, &err), PMP_EINVAL,
	       "frames beyond the last");
	thread->frame = SIZE_MAX;
	is_int(pmp_profile_add(profile, sample, &err), PMP_EINVAL, "far beyond");
	thread->frame = 1;
	thread->frame_count = SIZE_MAX;
	is_int(pmp_profile_add(profile, sample, &err), PMP_EINVAL, "too many");
	thread->frame = 0;
	thread->frame_count = 2;
	pmp_sample_add_frames(sample, &nowhere, 1);
	is_int(pmp_profile_add(profile, sample, &err), PMP_ENOMEM,
	       "the symbolizer has no memory");
	is_int(info_of(profile).samples, 0, "none of them was counted");
	ok(!pmp_profile_snapshot(profile, 0), "nor kept");
	pmp_sample_free(sample);
	pmp_profile_free(profile);
	pmp_profile_free(NULL);
}

/* Known stacks cost no memory. */
static void test_bounded(void)
{
	struct pmp_profile *profile = new_profile(false, false);
	const pmp_location *before;

	add_three(profile);
	before = pmp_profile_entry(profile, 0)->locations;
	for (int i = 0; i < 1000; i++)
		add_three(profile);
	is_int(pmp_profile_entry_count(profile), 2, "a thousand samples, two stacks");
	is_int(pmp_profile_entry(profile, 0)->count, 2002, "counted");
	ok(pmp_profile_entry(profile, 0)->locations == before,
	   "their frames do not move");
	pmp_profile_free(profile);
}

/* What each thread used, and since when. */
static void test_times_used(void)
{
	static const struct {
		uint64_t time, cpu;	      /* ms of the second thread */
		uint64_t want_cpu, want_wall; /* so far */
	} steps[] = {
		{ 1000, 5, 0, 0 },
		{ 1100, 25, 20, 100 },
		{ 1200, 130, 120, 200 }, /* 105 in 100: 5 are left */
		{ 1300, 130, 125, 300 },
		{ 1400, 3, 125, 400 }, /* another thread by now */
		{ 1500, 13, 135, 500 },
	};
	struct pmp_profile *profile = new_profile(true, false);
	const struct pmp_entry *entry;

	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		struct pmp_sample *sample = new_sample(10, "demo");
		struct pmp_thread *thread;

		sample->time = steps[i].time * 1000000;
		fake_thread(sample, 10, "a", FAKE_STACK(POLL))->state = 'R';
		thread = fake_thread(sample, 11, "b", FAKE_STACK(POLL));
		thread->cpu = steps[i].cpu * 1000000;
		thread->state = 'R';
		if (i > 0) {
			thread = fake_thread(sample, 12, "c", FAKE_STACK(WORK));
			thread->cpu = (10 + 90 * i) * 1000000;
			thread->state = 'R';
		}
		add(profile, sample);
		is_int(pmp_profile_divide_cpu(profile), 0, "step %zu: divided", i);
		entry = pmp_profile_entry(profile, 1);
		is_int(entry->cpu, steps[i].want_cpu * 1000000, "step %zu: CPU", i);
		is_int(entry->wall, steps[i].want_wall * 1000000, "step %zu: wall", i);
	}
	entry = pmp_profile_entry(profile, 0);
	is_int(entry->cpu, 500000000, "without schedstat, running is using the CPU");
	is_int(entry->wall, 500000000, "all the time");
	entry = pmp_profile_entry(profile, 2);
	is_int(entry->wall, 500000000, "a new thread's time begins with the last sample");
	is_int(entry->cpu, 460000000, "so does its CPU time");
	pmp_profile_free(profile);
}

/* With details, what a thread is doing makes stacks differ. */
static void test_details(void)
{
	struct pmp_profile_options options = {
		.size = sizeof(options),
		.details = true,
		.period = 7,
		.host = "db1",
	};
	struct pmp_profile *profile = NULL;
	struct pmp_sample *sample = new_sample(10, "demo");
	struct pmp_metadata metadata;
	struct pmp_thread *thread;

	pmp_profile_new(&options, NULL, &profile, NULL);
	thread = fake_thread(sample, 10, "a", FAKE_STACK(POLL));
	thread->syscall = 7;
	strcpy(thread->wchan, "do_poll");
	thread = fake_thread(sample, 10, "a", FAKE_STACK(POLL));
	thread->syscall = 99999;
	thread = fake_thread(sample, 10, "a", FAKE_STACK(POLL));
	thread->state = 'R';
	fake_thread(sample, 11, "a", FAKE_STACK(POLL));
	fake_thread(sample, 11, "a", FAKE_STACK(POLL));
	sample->realtime = 1234;
	sample->time = 5;
	add(profile, sample);
	is_int(pmp_profile_entry_count(profile), 4, "details keep stacks apart");
	is_str(pmp_profile_entry(profile, 0)->wchan, "do_poll", "by wait channel");
	ok(pmp_profile_entry(profile, 0)->syscall[0], "by system call: %s",
	   pmp_profile_entry(profile, 0)->syscall);
	is_str(pmp_profile_entry(profile, 1)->syscall, "99999", "one without a name");
	is_int(pmp_profile_entry(profile, 2)->state, 'R', "by state");
	is_int(pmp_profile_entry(profile, 3)->tid, 11, "by thread");
	sample = new_sample(10, "demo");
	sample->time = 25;
	add(profile, sample);
	pmp_profile_metadata(profile, &metadata);
	is_int(metadata.realtime, 1234, "when it began");
	is_int(metadata.duration, 20, "how long it took");
	is_int(metadata.period, 7, "the period");
	is_str(metadata.host, "db1", "the host");
	is_str(metadata.command, "", "no command");
	pmp_profile_free(profile);
}

/* Runs of equal stacks, and threads that were not there for a while. */
static void test_times(void)
{
	static const struct {
		int first, second; /* functions; -1: the thread is not there */
	} steps[] = { { POLL, WORK }, { POLL, POLL }, { POLL, -1 }, { WORK, POLL } };
	struct pmp_profile_options options = { .size = sizeof(options),
					       .details = true,
					       .times = true };
	struct pmp_profile *profile = NULL;
	const struct pmp_run *runs;
	size_t count;

	pmp_profile_new(&options, NULL, &profile, NULL);
	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		struct pmp_sample *sample = new_sample(10, "demo");

		sample->time = 100 + i;
		fake_thread(sample, 10, "a", FAKE_STACK(steps[i].first));
		if (steps[i].second >= 0)
			fake_thread(sample, 11, "b", FAKE_STACK(steps[i].second));
		add(profile, sample);
	}
	runs = pmp_profile_runs(profile, &count);
	is_int(count, 5, "equal stacks that follow each other are one run");
	is_int(runs[0].first, 100, "from its first sample");
	is_int(runs[0].last, 102, "to its last");
	is_int(runs[3].first, 103, "the next begins with its own");
	ok(runs[3].thread == runs[0].thread && !runs[3].absent, "of the same thread");
	is_int(runs[2].last, 101, "a thread that is not there has no samples");
	ok(runs[4].absent && runs[4].entry == runs[2].entry,
	   "and has been absent when it is back");
	pmp_profile_free(profile);
	profile = new_profile(true, false);
	add_three(profile);
	ok(!pmp_profile_runs(profile, &count), "no times unless wanted");
	pmp_profile_free(profile);
}

int main(void)
{
	test_merge();
	test_apart();
	test_stops();
	test_buckets();
	test_snapshot();
	test_snapshots_of_several();
	test_damaged();
	test_bounded();
	test_times_used();
	test_details();
	test_times();
	return done_testing();
}

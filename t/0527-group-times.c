/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where the time of groups of threads goes: since the start, and in windows. */
#include <inttypes.h>
#include <sys/syscall.h>

#include "lib/tap.h"
#include "libpmp-program.h"
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
	{ .name = "pthread_cond_timedwait", .module = "/lib/libc.so.6" },
	{ .name = "MDL_wait::timed_wait", .module = "/usr/sbin/mariadbd" },
};

#include "lib/fakenames.h"

enum { POLL, WORK, MAIN, CONDITION, METADATA };

#define MS UINT64_C(1000000)
#define START (1000 * 1000 * MS)

static struct pmp_profile *new_profile(uint64_t history)
{
	const struct pmp_profile_options options = { .size = sizeof(options),
						     .details = true,
						     .waits = true,
						     .history = history };
	struct pmp_profile *profile;

	if (pmp_profile_new(&options, NULL, &profile, NULL))
		abort();
	return profile;
}

/* number: 0, 1, ...; they are 100 ms apart. */
static struct pmp_sample *new_sample(uint64_t number)
{
	struct pmp_sample *sample = pmp_sample_new();

	if (!sample)
		abort();
	sample->pid = 10;
	sample->time = START + number * 100 * MS;
	snprintf(sample->name, sizeof(sample->name), "demo");
	return sample;
}

static void add(struct pmp_profile *profile, struct pmp_sample *sample)
{
	if (pmp_profile_add(profile, sample, NULL))
		abort();
	pmp_sample_free(sample);
}

/* Four threads; each computes for 10 ms of 100. */
static struct pmp_sample *four(uint64_t number)
{
	struct pmp_sample *sample = new_sample(number);
	struct pmp_thread *thread =
		fake_thread(sample, 10, "demo", FAKE_STACK(WORK, MAIN));

	thread->state = 'R';
	thread = fake_thread(sample, 11, "conn-1", FAKE_STACK(POLL, MAIN));
	thread->wait = (struct pmp_wait){ .kind = PMP_WAIT_MUTEX, .object = 4096 };
	thread = fake_thread(sample, 12, "conn-22", FAKE_STACK(POLL, MAIN));
	if (number % 2)
		thread->state = 'D';
	thread = fake_thread(sample, 13, "log", FAKE_STACK(POLL, MAIN));
	thread->syscall = SYS_fdatasync;
	for (size_t i = 0; i < 4; i++) {
		sample->threads[i].obtained = PMP_PEEKED;
		sample->threads[i].cpu = 1000 * MS + number * 10 * MS;
	}
	return sample;
}

/* The times of a group; all 0: there is none. */
static struct pmp_group_times times_of(const struct pmp_profile *profile, pid_t pid,
				       const char *name)
{
	struct pmp_group_times times = { .size = sizeof(times) };

	for (size_t i = 0; i < pmp_profile_group_count(profile); i++) {
		pmp_profile_group(profile, i, &times);
		if (times.pid == pid && strcmp(times.group, name) == 0)
			return times;
	}
	return (struct pmp_group_times){ 0 };
}

static void test_since_start(void)
{
	struct pmp_profile *profile = new_profile(1 << 20);
	struct pmp_group_times times;

	is_int(pmp_profile_group_count(profile), 0, "at first there are no groups");
	for (uint64_t i = 0; i <= 20; i++)
		add(profile, four(i));
	is_int(pmp_profile_group_count(profile), 3, "three groups");
	times = times_of(profile, 10, "demo");
	is_str(times.process, "demo", "of the process");
	is_int(times.run, 200 * MS, "what a thread has used is CPU time");
	is_int(times.ready, 1800 * MS, "found running: the rest it has waited for more");
	is_int(times.lock + times.disk + times.sleep, 0, "and nothing else");
	times = times_of(profile, 10, "conn-N");
	is_int(times.run, 400 * MS, "the CPU time of two");
	is_int(times.lock, 1800 * MS, "one waits for a lock");
	is_int(times.disk, 900 * MS, "the other for a disk, every other time");
	is_int(times.sleep, 900 * MS, "else it sleeps");
	times = times_of(profile, 10, "log");
	is_int(times.disk, 1800 * MS, "in a call that waits for a disk");
	pmp_profile_forget(profile, 10);
	is_int(pmp_profile_group_count(profile), 0, "a process that has ended has none");
	add(profile, four(21));
	times = times_of(profile, 10, "conn-N");
	is_int(times.run + times.lock + times.disk + times.sleep, 0,
	       "one with its id begins again");
	pmp_profile_free(profile);
	profile = new_profile(0);
	add(profile, four(0));
	is_int(pmp_profile_group_count(profile), 0, "they are not counted unless wanted");
	pmp_profile_free(profile);
}

/* A thread that waits for a metadata lock, and one that waits for work. */
static struct pmp_sample *two(uint64_t number)
{
	struct pmp_sample *sample = new_sample(number);
	struct pmp_thread *thread =
		fake_thread(sample, 10, "conn-1", FAKE_STACK(CONDITION, METADATA, MAIN));

	thread->syscall = SYS_futex;
	thread = fake_thread(sample, 11, "idle", FAKE_STACK(CONDITION, WORK, MAIN));
	thread->syscall = SYS_futex;
	return sample;
}

static void test_named(void)
{
	struct pmp_profile *profile = new_profile(1 << 20);
	struct pmp_group_times times;
	size_t names;

	for (uint64_t i = 0; i <= 10; i++)
		add(profile, two(i));
	times = times_of(profile, 10, "conn-N");
	is_int(times.sleep, 1000 * MS, "what looks like sleep is that at first");
	is_int(pmp_profile_name_locks(profile, NULL), 0, "names are asked");
	times = times_of(profile, 10, "conn-N");
	is_int(times.lock, 1000 * MS, "it was a lock of the program's own");
	is_int(times.sleep, 0, "and not sleep");
	times = times_of(profile, 10, "idle");
	is_int(times.sleep, 1000 * MS, "who waits for work sleeps");
	for (uint64_t i = 11; i <= 20; i++)
		add(profile, two(i));
	times = times_of(profile, 10, "conn-N");
	is_int(times.lock, 2000 * MS, "the stack is known from then on");
	names = fake_names;
	pmp_profile_name_locks(profile, NULL);
	is_int(fake_names, names, "a stack is asked once");
	pmp_profile_free(profile);
}

/* Names are asked after another process has ended, whose groups go. */
static void test_named_after_end(void)
{
	struct pmp_profile *profile = new_profile(1 << 20);

	for (uint64_t i = 0; i <= 10; i++) {
		struct pmp_sample *sample = new_sample(i);

		sample->pid = 9;
		fake_thread(sample, 9, "other", FAKE_STACK(CONDITION, WORK, MAIN));
		add(profile, sample);
		add(profile, two(i));
	}
	pmp_profile_forget(profile, 9);
	is_int(times_of(profile, 10, "conn-N").unsure, 1000 * MS,
	       "another process has ended: names are still to say what it was");
	is_int(pmp_profile_name_locks(profile, NULL), 0, "they do");
	is_int(times_of(profile, 10, "conn-N").lock, 1000 * MS, "all of it was a lock");
	is_int(times_of(profile, 10, "conn-N").sleep, 0, "and none of it sleep");
	add(profile, two(11));
	is_int(times_of(profile, 10, "conn-N").lock, 1100 * MS, "which goes on");
	is_int(times_of(profile, 10, "idle").sleep, 1100 * MS, "others are as they are");
	is_int(pmp_profile_group_count(profile), 2, "there are no more groups than that");
	pmp_profile_free(profile);
}

/* They are asked after stacks have been evicted, so that those left have other numbers. */
static void test_named_after_eviction(void)
{
	const struct pmp_profile_options options = { .size = sizeof(options),
						     .details = true,
						     .waits = true,
						     .history = 1 << 16,
						     .max_memory = 1 << 20 };
	struct pmp_profile *profile;
	struct pmp_profile_info info = { .size = sizeof(info) };
	uint64_t time = 0;

	if (pmp_profile_new(&options, NULL, &profile, NULL))
		abort();
	for (uint64_t i = 0; !info.evicted && i < 1000; i++) {
		struct pmp_sample *sample = two(i);

		/* New stacks all the time: the same under another name. */
		for (int k = 0; k < 100; k++) {
			char name[PMP_NAME_SIZE];

			snprintf(name, sizeof(name), "%c-%d", 'a' + k % 26, k);
			fake_thread(sample, 1000 + k, name, FAKE_STACK(WORK, MAIN))
				->syscall = (int)(i * 100) + k;
		}
		add(profile, sample);
		time = i * 100 * MS;
		pmp_profile_info(profile, &info);
	}
	ok(info.evicted > 0, "%" PRIu64 " stacks are evicted", info.evicted);
	is_int(times_of(profile, 10, "conn-N").unsure, (long long)time,
	       "names are still to say what one that is left was");
	is_int(pmp_profile_name_locks(profile, NULL), 0, "they do");
	is_int(times_of(profile, 10, "conn-N").lock, (long long)time,
	       "all of it was a lock");
	is_int(times_of(profile, 10, "conn-N").unsure, 0, "no more is unsure");
	pmp_profile_free(profile);
}

static void test_window(void)
{
	struct pmp_profile *profile = new_profile(1 << 20), *window;
	struct pmp_window_options options = { .size = sizeof(options),
					      .details = true,
					      .waits = true,
					      .groups = true,
					      .from = START + 500 * MS,
					      .to = START + 1500 * MS };
	struct pmp_group_times times;

	for (uint64_t i = 0; i <= 20; i++)
		add(profile, four(i));
	if (pmp_profile_window(profile, &options, &window, NULL, NULL))
		abort();
	times = times_of(window, 10, "demo");
	is_int(times.run, 100 * MS, "a window of one second: CPU time");
	is_int(times.ready, 900 * MS, "the rest");
	times = times_of(window, 10, "conn-N");
	is_int(times.run, 200 * MS, "of threads that were found asleep as well");
	is_int(times.lock, 1000 * MS, "who waits for a lock does so all the time");
	is_int(times.disk + times.sleep, 1000 * MS, "so do the others");
	pmp_profile_free(window);
	pmp_profile_free(profile);
}

/* However many names there are, there are 64 groups. */
static void test_many(void)
{
	struct pmp_profile *profile = new_profile(1 << 20);
	uint64_t sleep = 0;

	for (uint64_t i = 0; i < 2; i++) {
		struct pmp_sample *sample = new_sample(i);

		for (int k = 0; k < 200; k++) {
			const char name[] = { (char)('a' + k / 20), (char)('a' + k % 20),
					      '\0' };

			fake_thread(sample, 100 + k, name, FAKE_STACK(POLL, MAIN));
		}
		add(profile, sample);
	}
	is_int(pmp_profile_group_count(profile), 64, "200 names: 64 groups");
	is_int(times_of(profile, 10, "aa").sleep, 100 * MS, "the first one has its own");
	is_int(times_of(profile, 10, "other").sleep, 137 * 100 * MS, "others are one");
	for (size_t i = 0; i < pmp_profile_group_count(profile); i++) {
		struct pmp_group_times times = { .size = sizeof(times) };

		pmp_profile_group(profile, i, &times);
		sleep += times.sleep;
	}
	is_int(sleep, 200 * 100 * MS, "and nothing is lost");
	pmp_profile_free(profile);
}

int main(void)
{
	test_since_start();
	test_named();
	test_named_after_end();
	test_named_after_eviction();
	test_window();
	test_many();
	return done_testing();
}

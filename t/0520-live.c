/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Counting for a view: counters of threads and stacks, windows of time, rates, threads
 * that end and are put together, several processes, damaged text.
 */
#include "libpmp-program.h"
#include "lib/saved.h"
#include "lib/tap.h"

#include <sys/syscall.h>

#include "tally/profile.h"

struct fake_function {
	const char *name, *file, *module;
	unsigned line;
	bool inlined, unnamed, signal, exact;
};

static const struct fake_function fake_functions[] = {
	{ .name = "poll" },
	{ .name = "work" },
	{ .name = "main" },
};

#include "lib/fakenames.h"

enum { POLL, WORK, MAIN };

#define S UINT64_C(1000000000)

static struct pmp_profile *new_profile(void)
{
	struct pmp_profile_options options = { .size = sizeof(options), .live = true };
	struct pmp_profile *profile = NULL;

	if (pmp_profile_new(&options, NULL, &profile, NULL))
		abort();
	return profile;
}

static struct pmp_sample *sample_at(pid_t pid, uint64_t time)
{
	struct pmp_sample *sample = pmp_sample_new();

	if (!sample)
		abort();
	sample->pid = pid;
	sample->time = 1000 * S + time;
	snprintf(sample->name, sizeof(sample->name), "demo");
	return sample;
}

static void add(struct pmp_profile *profile, struct pmp_sample *sample)
{
	is_int(pmp_profile_add(profile, sample, NULL), 0, "a sample is counted");
	pmp_sample_free(sample);
}

static void add_quietly(struct pmp_profile *profile, struct pmp_sample *sample)
{
	if (pmp_profile_add(profile, sample, NULL))
		abort();
	pmp_sample_free(sample);
}

static struct pmp_live_info info_of(const struct pmp_live *live)
{
	struct pmp_live_info info = { .size = sizeof(info) };

	pmp_live_info(live, &info);
	return info;
}

static struct pmp_live_window in(const struct pmp_live *live, enum pmp_window window)
{
	struct pmp_live_window counted = { .size = sizeof(counted) };

	pmp_live_window(live, window, &counted);
	return counted;
}

static void test_counters(void)
{
	struct pmp_profile *profile = new_profile();
	const struct pmp_live *live = pmp_profile_live(profile);
	struct pmp_sample *sample;
	struct pmp_live_thread thread = { .size = sizeof(thread) };
	struct pmp_live_counter counter = { .size = sizeof(counter) };
	struct pmp_live_stack stack = { .size = sizeof(stack) };
	struct pmp_live_process process = { .size = sizeof(process) };
	struct pmp_thread *made;

	for (uint64_t i = 0; i < 3; i++) {
		sample = sample_at(10, i * S);
		made = fake_thread(sample, 10, "a", FAKE_STACK(POLL, MAIN));
		made->obtained = i ? PMP_UNCHANGED : PMP_PEEKED;
		made = fake_thread(sample, 11, "b",
				   i ? FAKE_STACK(WORK, MAIN) : FAKE_STACK(POLL, MAIN));
		made->state = 'R';
		made->cpu = S + i * S / 2;
		made->runs = 10 + i * 20;
		made->obtained = PMP_STOPPED;
		add(profile, sample);
	}
	is_int(pmp_live_thread_count(live), 2, "two threads");
	is_int(pmp_live_counter_count(live), 3, "three counters");
	is_int(pmp_live_stack_count(live), 3, "two stacks, and the one for too many");
	pmp_live_counter(live, 0, PMP_WINDOW_START, &counter);
	is_int(counter.count, 3, "unchanged is counted too");
	pmp_live_thread(live, 1, &thread);
	is_str(thread.name, "b", "its name");
	is_int(thread.state, 'R', "its state");
	is_int(thread.obtained, PMP_STOPPED, "how it was obtained");
	ok(thread.present, "it is there");
	ok(thread.cpu_share > 0.49 && thread.cpu_share < 0.51, "half a CPU");
	ok(thread.switches > 19.9 && thread.switches < 20.1, "20 switches a second");
	pmp_live_stack(live, thread.stack, &stack);
	is_int(stack.count, 2, "its stack");
	is_str(stack.end, "", "is complete");
	pmp_live_process(live, 0, PMP_WINDOW_START, &process);
	is_int(process.samples, 3, "three samples");
	is_int(process.last->n_unchanged, 1, "of the last: one thread unchanged");
	is_int(process.last->n_stopped, 1, "one stopped");
	sample = sample_at(10, 4 * S);
	fake_thread(sample, 10, "a", FAKE_NOTHING)->end = PMP_END_LOOP;
	add(profile, sample);
	pmp_live_thread(live, 1, &thread);
	ok(!thread.present, "who is not in the last sample is not there");
	pmp_live_thread(live, 0, &thread);
	pmp_live_stack(live, thread.stack, &stack);
	is_str(stack.end, pmp_end_text(PMP_END_LOOP), "a stack tells why it ends");
	pmp_profile_free(profile);
}

static void test_windows(void)
{
	struct pmp_profile *profile = new_profile();
	const struct pmp_live *live = pmp_profile_live(profile);

	for (uint64_t i = 0; i < 1000; i++) {
		struct pmp_sample *sample = sample_at(10, i * S / 10);

		fake_thread(sample, 10, "a", FAKE_STACK((int)(i / 100 % 3), MAIN));
		fake_thread(sample, 11, "b", FAKE_STACK(POLL, MAIN));
		add_quietly(profile, sample);
	}
	is_int(in(live, PMP_WINDOW_START).stacks, 2000, "all are counted");
	is_int(in(live, PMP_WINDOW_MINUTE).stacks, 2 * 601, "those of a minute");
	is_int(in(live, PMP_WINDOW_SECONDS).stacks, 2 * 101, "those of ten seconds");
	is_int(saved_live_sum(live, PMP_WINDOW_START), 2000,
	       "and the counters say the same");
	is_int(saved_live_sum(live, PMP_WINDOW_MINUTE), 2 * 601, "of a minute");
	is_int(saved_live_sum(live, PMP_WINDOW_SECONDS), 2 * 101, "of ten seconds");
	is_int(in(live, PMP_WINDOW_SECONDS).span, 10 * S, "which it covers");
	is_int(in(live, PMP_WINDOW_START).span, 999 * S / 10, "since the start");
	pmp_profile_free(profile);
}

/* Three new threads a sample for long: rows do not grow without an end. */
static void test_churn(void)
{
	struct pmp_profile *profile = new_profile();
	const struct pmp_live *live = pmp_profile_live(profile);
	struct pmp_live_info info;
	bool together = false;
	pid_t tid = 100;
	size_t most = 0;

	for (uint64_t i = 0; i < 1500; i++) {
		struct pmp_sample *sample = sample_at(10, i * S);
		char name[32];

		for (int k = 0; k < 40; k++) {
			snprintf(name, sizeof(name), "conn-%d", (int)tid);
			fake_thread(sample, tid++, name, FAKE_STACK(POLL, MAIN));
		}
		add_quietly(profile, sample);
		if (pmp_live_thread_count(live) > most)
			most = pmp_live_thread_count(live);
	}
	info = info_of(live);
	ok(most < 20000, "60000 threads: at most %zu rows", most);
	ok(info.merged > 30000, "%llu of them put together",
	   (unsigned long long)info.merged);
	is_int(saved_live_sum(live, PMP_WINDOW_START), 60000, "none is lost");
	is_int(saved_live_sum(live, PMP_WINDOW_MINUTE), 40 * 61, "the windows neither");
	is_int(saved_live_sum(live, PMP_WINDOW_SECONDS), 40 * 11, "of them");
	for (size_t i = 0; i < pmp_live_thread_count(live); i++) {
		struct pmp_live_thread thread = { .size = sizeof(thread) };

		pmp_live_thread(live, i, &thread);
		if (thread.tid == 0)
			together = strcmp(thread.name, "conn-N") == 0;
	}
	ok(together, "under the name of their group");
	pmp_profile_free(profile);
}

/* More changes than the history has room for: the windows are shorter, and right. */
static void test_full(void)
{
	struct pmp_profile *profile = new_profile();
	const struct pmp_live *live = pmp_profile_live(profile);
	struct pmp_live_window minute;

	for (uint64_t i = 0; i < 290; i++) {
		struct pmp_sample *sample = sample_at(10, i * S / 5);

		for (pid_t tid = 10; tid < 8010; tid++)
			fake_thread(sample, tid, "a", FAKE_STACK((int)(i % 2), MAIN));
		add_quietly(profile, sample);
	}
	minute = in(live, PMP_WINDOW_MINUTE);
	ok(minute.span > 40 * S && minute.span < 57 * S, "a minute is %llu ms",
	   (unsigned long long)(minute.span / 1000000));
	is_int(minute.samples, minute.span * 5 / S + 1,
	       "it has all samples of that time");
	is_int(saved_live_sum(live, PMP_WINDOW_MINUTE), 8000 * minute.samples,
	       "and its counters all threads");
	is_int(saved_live_sum(live, PMP_WINDOW_SECONDS), 8000 * 51, "10 s are 10 s");
	is_int(saved_live_sum(live, PMP_WINDOW_START), 8000 * 290, "none is lost");
	pmp_profile_free(profile);
}

/* A name that fills its field has no end. */
static void test_text(void)
{
	struct pmp_profile *profile = new_profile();
	struct pmp_live_thread thread = { .size = sizeof(thread) };
	struct pmp_sample *sample = sample_at(10, 0);
	struct pmp_thread *made = fake_thread(sample, 10, "", FAKE_STACK(POLL, MAIN));

	memset(made->name, 'x', sizeof(made->name));
	memset(made->reason, 'y', sizeof(made->reason));
	memset(made->wchan, 'z', sizeof(made->wchan));
	made->syscall = 1 << 20;
	made->obtained = 77;
	add(profile, sample);
	pmp_live_thread(pmp_profile_live(profile), 0, &thread);
	is_int(strlen(thread.name), PMP_NAME_SIZE - 1, "a name ends");
	is_int(strlen(thread.reason), PMP_REASON_SIZE - 1, "a reason ends");
	is_int(strlen(thread.wchan), PMP_WCHAN_SIZE - 1, "a place in the kernel ends");
	is_str(thread.syscall, "", "a call that does not exist has no name");
	is_int(thread.obtained, PMP_NOT_STOPPED, "nor a way to obtain");
	pmp_profile_free(profile);
}

static void test_lock(void)
{
	struct pmp_profile *profile = new_profile();
	struct pmp_live_counter counter = { .size = sizeof(counter) };
	static const struct {
		enum pmp_wait_kind kind;
		bool waits;
	} kinds[] = {
		{ PMP_WAIT_NONE, false },      { PMP_WAIT_MUTEX, true },
		{ PMP_WAIT_RWLOCK, true },     { PMP_WAIT_LATCH, true },
		{ PMP_WAIT_STDIO, true },      { PMP_WAIT_JOIN, false },
		{ PMP_WAIT_CONDITION, false }, { PMP_WAIT_FUTEX, false },
	};
	struct pmp_sample *sample = sample_at(10, 0);

	for (size_t i = 0; i < 8; i++) {
		struct pmp_thread *thread =
			fake_thread(sample, 10 + (pid_t)i, "a", FAKE_STACK(POLL, MAIN));

		/* A futex call does not say what it is for. */
		thread->syscall = SYS_futex;
		thread->args[1] = 0x80;
		thread->wait.kind = (uint8_t)kinds[i].kind;
		thread->wait.object = 0x1000;
	}
	add(profile, sample);
	for (size_t i = 0; i < 8; i++) {
		pmp_live_counter(pmp_profile_live(profile), i, PMP_WINDOW_START,
				 &counter);
		is_int(counter.waits_for_lock, kinds[i].waits, "a wait of kind %d",
		       (int)kinds[i].kind);
		is_int(counter.lock == SIZE_MAX, kinds[i].kind == PMP_WAIT_NONE,
		       "and whether there is something that it waits for");
	}
	pmp_profile_free(profile);
}

/* Thread 10 runs and holds the mutex; 11 waits for it, 12 for what 11 holds. */
static struct pmp_sample *waiting_sample(uint64_t time, bool waits)
{
	struct pmp_sample *sample = sample_at(10, time);

	for (pid_t tid = 10; tid <= 12; tid++) {
		struct pmp_thread *thread =
			fake_thread(sample, tid, "a", FAKE_STACK(POLL, MAIN));

		thread->runs = 7;
		thread->obtained = PMP_PEEKED;
		if (tid == 10 || !waits)
			continue;
		thread->wait = (struct pmp_wait){ .kind = PMP_WAIT_MUTEX,
						  .holder_is = PMP_HOLDER_THREAD,
						  .holder = tid - 1,
						  .object = 0x1000 * (uint64_t)tid };
	}
	return sample;
}

static struct pmp_live_counter counter_of(const struct pmp_live *live, size_t thread,
					  enum pmp_window window)
{
	struct pmp_live_counter counter = { .size = sizeof(counter) };

	for (size_t i = 0; i < pmp_live_counter_count(live); i++) {
		pmp_live_counter(live, i, window, &counter);
		if (counter.thread == thread && counter.lock != SIZE_MAX)
			break;
	}
	return counter;
}

static void test_waits(void)
{
	struct pmp_profile *profile = new_profile();
	const struct pmp_live *live = pmp_profile_live(profile);
	struct pmp_live_thread thread = { .size = sizeof(thread) };

	for (uint64_t i = 0; i < 10; i++)
		add_quietly(profile, waiting_sample(i * S, true));
	pmp_live_thread(live, 1, &thread);
	is_int(thread.holder, 0, "thread 11 waits for 10");
	is_int(thread.held, PMP_HELD_BY_THREAD, "which is a thread");
	is_int(thread.behind, 1, "12 waits for 11");
	is_int(thread.waited, 9 * S, "its wait is as long as it has not run");
	pmp_live_thread(live, 0, &thread);
	is_int(thread.behind, 2, "10 has to finish first");
	is_int(thread.object, 0, "it has no object");
	is_int(thread.lock == SIZE_MAX, 1, "and waits for nothing");
	is_int(counter_of(live, 1, PMP_WINDOW_START).delay, 9 * S,
	       "the first sample knows of no time before it");
	is_int(counter_of(live, 1, PMP_WINDOW_START).longest, 9 * S, "the longest wait");
	for (uint64_t i = 10; i < 40; i++)
		add_quietly(profile, waiting_sample(i * S, false));
	is_int(counter_of(live, 1, PMP_WINDOW_START).delay, 9 * S, "it has ended");
	is_int(counter_of(live, 1, PMP_WINDOW_MINUTE).delay, 9 * S, "within this minute");
	is_int(counter_of(live, 1, PMP_WINDOW_SECONDS).delay, 0, "not in the last 10 s");
	is_int(counter_of(live, 1, PMP_WINDOW_SECONDS).longest, 0, "nor is the longest");
	is_int(counter_of(live, 1, PMP_WINDOW_MINUTE).longest, 9 * S,
	       "but in the minute");
	add_quietly(profile, waiting_sample(150 * S, true));
	is_int(counter_of(live, 1, PMP_WINDOW_MINUTE).delay, 111 * S,
	       "a sample stands for all of the time since the one before it");
	is_int(counter_of(live, 1, PMP_WINDOW_MINUTE).longest, 0, "but not as one wait");
	add_quietly(profile, waiting_sample(151 * S, false));
	add_quietly(profile, waiting_sample(221 * S, false));
	is_int(counter_of(live, 1, PMP_WINDOW_MINUTE).delay, 0,
	       "which is taken off as well");
	pmp_profile_free(profile);
}

/* What the kernel knows of the time before the first sample. */
static void test_asleep(void)
{
	struct pmp_profile *profile = new_profile();
	const struct pmp_live *live = pmp_profile_live(profile);
	struct pmp_live_thread thread = { .size = sizeof(thread) };
	struct pmp_sample *sample = waiting_sample(100 * S, true);

	sample->threads[1].asleep_since = sample->time - 20 * S;
	sample->threads[2].asleep_since = sample->time + S;
	add_quietly(profile, sample);
	add_quietly(profile, waiting_sample(103 * S, true));
	pmp_live_thread(live, 1, &thread);
	is_int(thread.waited, 23 * S, "a wait is as long as the thread has slept");
	pmp_live_thread(live, 2, &thread);
	is_int(thread.waited, 3 * S, "not if that lies after the sample");
	is_int(counter_of(live, 1, PMP_WINDOW_SECONDS).longest, 23 * S,
	       "it is the longest");
	is_int(counter_of(live, 1, PMP_WINDOW_START).delay, 3 * S,
	       "but not counted before the start");
	pmp_profile_free(profile);
}

/* 11 and 12 wait for a futex; each number of runs has a sample of its own. */
static struct pmp_sample *queue_sample(uint64_t time, uint64_t runs_of_11, bool left)
{
	struct pmp_sample *sample = sample_at(10, time);

	for (pid_t tid = 10; tid <= 12; tid++) {
		bool waits = tid > 10 && !(left && tid == 11);
		struct pmp_thread *thread =
			fake_thread(sample, tid, "a",
				    waits ? FAKE_STACK(POLL, MAIN) : FAKE_STACK(MAIN));

		thread->runs = tid == 11 ? runs_of_11 : 7;
		thread->reading = 100 * (uint64_t)tid + thread->runs;
		thread->obtained = PMP_PEEKED;
		if (waits)
			thread->wait = (struct pmp_wait){ .kind = PMP_WAIT_FUTEX,
							  .flags = PMP_WAIT_PROVEN,
							  .object = 0x1000 };
	}
	return sample;
}

/* What several samples say of a wait that one does not. */
static void test_found(void)
{
	struct pmp_profile *profile = new_profile();
	const struct pmp_live *live = pmp_profile_live(profile);
	struct pmp_live_thread thread = { .size = sizeof(thread) };
	struct pmp_sample *sample;

	for (uint64_t i = 0; i < 5; i++)
		add_quietly(profile, queue_sample(100 * S + i * S, i, false));
	pmp_live_thread(live, 1, &thread);
	is_int(thread.waited, 0, "11 runs now and then");
	is_int(thread.found, 4 * S, "but was found in the same wait each time");
	is_int(counter_of(live, 1, PMP_WINDOW_START).longest, 0, "so is not one wait");
	is_int(counter_of(live, 1, PMP_WINDOW_START).longest_found, 4 * S,
	       "but may be one");
	is_int(counter_of(live, 1, PMP_WINDOW_SECONDS).longest_found, 4 * S,
	       "also in a window");
	pmp_live_thread(live, 2, &thread);
	ok(thread.taker == SIZE_MAX, "nobody has taken what 12 waits for");
	add_quietly(profile, queue_sample(105 * S, 5, true));
	pmp_live_thread(live, 2, &thread);
	is_int(thread.taker, 1, "11 has left the queue: it has taken it");
	is_int(thread.taken, S, "in the last second");
	is_int(thread.found, 5 * S, "12 was always found to wait");
	pmp_live_thread(live, 1, &thread);
	ok(thread.taker == SIZE_MAX && thread.lock == SIZE_MAX && !thread.found,
	   "who waits for nothing waits for no taker");
	sample = queue_sample(106 * S, 6, true);
	sample->threads[2].wait.holder_is = PMP_HOLDER_FREE;
	add_quietly(profile, sample);
	pmp_live_thread(live, 2, &thread);
	ok(thread.taker == SIZE_MAX, "what is free is nobody's");
	add_quietly(profile, queue_sample(130 * S, 7, false));
	is_int(counter_of(live, 1, PMP_WINDOW_SECONDS).longest_found, 0,
	       "a wait that begins later is another one");
	is_int(counter_of(live, 1, PMP_WINDOW_START).longest_found, 4 * S,
	       "the longest stays");
	pmp_profile_forget(profile, 10);
	add_quietly(profile, queue_sample(131 * S, 8, false));
	pmp_live_thread(live, 2, &thread);
	is_int(thread.found, 0, "of another process with the same id nothing is known");
	pmp_profile_free(profile);
}

static void test_deadlocks(void)
{
	struct pmp_profile *profile = new_profile();
	const struct pmp_live *live = pmp_profile_live(profile);
	struct pmp_live_process process = { .size = sizeof(process) };
	struct pmp_live_thread thread = { .size = sizeof(thread) };
	struct pmp_sample *sample = waiting_sample(0, true);

	for (int i = 1; i < 3; i++)
		sample->threads[i].wait.flags |= PMP_WAIT_DEADLOCK;
	sample->threads[1].wait.holder = 12;
	add(profile, sample);
	pmp_live_process(live, 0, PMP_WINDOW_START, &process);
	is_int(process.deadlocks, 1, "two threads, one deadlock");
	pmp_live_thread(live, 1, &thread);
	is_int(thread.behind, 2, "each is behind the other, and so behind itself");
	add(profile, waiting_sample(S, true));
	pmp_live_process(live, 0, PMP_WINDOW_START, &process);
	is_int(process.deadlocks, 0, "which is of the last sample only");
	pmp_profile_free(profile);
}

static void count(struct pmp_profile *profile, pid_t tid, const char *thread, char state,
		  const char *call, uint64_t times, pmp_location leaf)
{
	const pmp_location stack[] = { leaf, MAIN };
	const struct pmp_entry entry = {
		.pid = 10,
		.process = "demo",
		.tid = tid,
		.thread = thread,
		.state = state,
		.syscall = call,
		.wchan = "",
		.reason = "",
		.locations = stack,
		.location_count = 2,
		.count = times,
		.wall = times * S,
		.cpu = times * S / 4,
	};

	if (pmp_profile_count(profile, &entry))
		abort();
}

/* A saved profile has no windows; each thread is what it was most often. */
static void test_saved(void)
{
	struct pmp_profile *profile = new_profile();
	const struct pmp_live *live = pmp_profile_live(profile);
	const struct pmp_metadata metadata = { .duration = 5 * S,
					       .command = "",
					       .host = "" };
	const struct pmp_profile_info info = { .samples = 5 };
	struct pmp_live_thread thread = { .size = sizeof(thread) };
	struct pmp_live_process process = { .size = sizeof(process) };

	count(profile, 11, "a", 'R', "", 2, WORK);
	count(profile, 11, "a", 'S', "poll", 1, POLL);
	count(profile, 11, "a", 'S', "poll", 2, POLL);
	count(profile, 0, "b", 'S', "no such call", 5, POLL);
	count(profile, 0, "a name that is longer than a name of the kernel's", 'S', "",
	      INT64_MAX, POLL);
	is_int(pmp_profile_join(profile, &info, &metadata), 0,
	       "saved profiles are counted");
	ok(in(live, PMP_WINDOW_START).stacks == INT64_MAX, "sums do not overflow");
	is_int(in(live, PMP_WINDOW_MINUTE).stacks, 0, "nothing is in a window of time");
	is_int(in(live, PMP_WINDOW_START).span, 5 * S, "the time");
	is_int(pmp_live_thread_count(live), 3, "three threads");
	is_int(pmp_live_counter_count(live), 4, "four counters");
	pmp_live_thread(live, 0, &thread);
	ok(thread.present && thread.obtained == PMP_OBTAINED_UNKNOWN,
	   "is there, in an unknown way");
	is_int(thread.state, 'S', "its most frequent state");
	is_str(thread.syscall, "poll", "and call");
	ok(thread.cpu_share > 0.24 && thread.cpu_share < 0.26, "a quarter of a CPU");
	pmp_live_thread(live, 1, &thread);
	is_str(thread.syscall, "no such call", "a call is but a name");
	pmp_live_thread(live, 2, &thread);
	is_int(strlen(thread.name), PMP_NAME_SIZE - 1, "a name is cut");
	pmp_live_process(live, 0, PMP_WINDOW_START, &process);
	is_int(process.samples, 5, "its snapshots");
	pmp_profile_free(profile);
}

/* Any number of processes and threads in a file: rows do not grow without an end. */
static void test_saved_limits(void)
{
	struct pmp_profile *profile = new_profile();
	const struct pmp_live *live = pmp_profile_live(profile);

	for (int i = 0; i < 100000; i++) {
		const struct pmp_entry entry = {
			.pid = i / 100,
			.process = "demo",
			.tid = i,
			.thread = "t",
			.state = 'S',
			.syscall = "",
			.wchan = "",
			.reason = "",
			.count = 1,
		};

		if (pmp_profile_count(profile, &entry))
			abort();
	}
	is_int(pmp_live_process_count(live), 256, "1000 processes: 255, and the others");
	ok(pmp_live_thread_count(live) <= 65536 + 256, "100000 threads: %zu",
	   pmp_live_thread_count(live));
	is_int(in(live, PMP_WINDOW_START).stacks, 100000, "none is lost");
	is_int(saved_live_sum(live, PMP_WINDOW_START), 100000, "in no counter");
	pmp_profile_free(profile);
}

int main(void)
{
	struct pmp_profile_options options = { .size = sizeof(options) };
	struct pmp_profile *profile;

	test_counters();
	test_windows();
	test_churn();
	test_full();
	test_text();
	test_saved();
	test_saved_limits();
	test_lock();
	test_waits();
	test_asleep();
	test_found();
	test_deadlocks();
	is_int(pmp_profile_new(&options, NULL, &profile, NULL), 0,
	       "without options.live");
	ok(pmp_profile_live(profile) == NULL, "there is nothing for a view");
	pmp_profile_free(profile);
	return done_testing();
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Counted waits: what keeps stacks apart, what is one wait, who is charged with it, and
 * that a table of locks is bounded.
 */
#include "lib/tap.h"
#include "tally/profile.h"
#include "tally/thread-cache.h"

struct fake_function {
	const char *name, *file, *module;
	unsigned line;
	bool inlined, unnamed, signal, exact;
};

static const struct fake_function fake_functions[] = {
	{ .name = "lock", .module = "/lib/libc.so.6" },
	{ .name = "work", .module = "/bin/demo" },
	{ .name = "first", .module = "/bin/demo" },
	{ .name = "second", .module = "/bin/demo" },
};

#include "lib/fakenames.h"

enum { LOCK, WORK, FIRST, SECOND };

#define MS UINT64_C(1000000)
#define A 0x7f31b8001a40 /* two locks */
#define B 0x7f31b8001b10

static struct pmp_profile *new_profile(bool details, bool waits)
{
	const struct pmp_profile_options options = {
		.size = sizeof(options),
		.details = details,
		.waits = waits,
	};
	struct pmp_profile *profile;

	if (pmp_profile_new(&options, NULL, &profile, NULL))
		abort();
	return profile;
}

/* number: 0, 1, ...; they are 100 ms apart. */
static struct pmp_sample *new_sample(unsigned number)
{
	struct pmp_sample *sample = pmp_sample_new();

	if (!sample)
		abort();
	sample->pid = 10;
	sample->time = 1000 * MS + number * 100 * MS;
	snprintf(sample->name, sizeof(sample->name), "demo");
	return sample;
}

/* A thread that waits, for so many runs; kind 0: it works. */
static struct pmp_thread *add(struct pmp_sample *sample, pid_t tid, const char *name,
			      uint64_t runs, int kind, uint64_t object, pid_t holder)
{
	const int function = tid % 2 ? FIRST : SECOND;
	struct pmp_thread *thread =
		kind ? fake_thread(sample, tid, name, FAKE_STACK(LOCK, function))
		     : fake_thread(sample, tid, name, FAKE_STACK(WORK, function));

	thread->obtained = PMP_PEEKED;
	thread->runs = runs;
	thread->reading = runs;
	if (!kind)
		thread->state = 'R';
	else
		thread->wait = (struct pmp_wait){
			.kind = (uint8_t)kind,
			.flags = PMP_WAIT_PROVEN,
			.object = object,
			.holder = holder,
			.holder_is = holder > 0	  ? PMP_HOLDER_THREAD
				     : holder < 0 ? PMP_HOLDER_FREE
						  : PMP_HOLDER_NONE,
		};
	return thread;
}

static void count(struct pmp_profile *profile, struct pmp_sample *sample)
{
	if (pmp_profile_add(profile, sample, NULL))
		diag("no memory");
	pmp_sample_free(sample);
}

/* The only entry of a leaf in a function, with a holder of this name or none. */
static const struct pmp_entry *find(const struct pmp_profile *profile, int leaf,
				    int function, const char *holder)
{
	static struct pmp_entry_waits none_waits;
	static const struct pmp_entry none = { .waits = &none_waits };
	const struct pmp_entry *found = &none;
	size_t many = 0;

	for (size_t i = 0; i < pmp_profile_entry_count(profile); i++) {
		const struct pmp_entry *entry = pmp_profile_entry(profile, i);
		const struct pmp_lock *lock = entry->waits->lock;

		if (entry->location_count == 2 &&
		    entry->locations[0] == (pmp_location)leaf &&
		    entry->locations[1] == (pmp_location)function &&
		    (!holder || (lock && !strcmp(lock->holder_name, holder)))) {
			found = entry;
			many++;
		}
	}
	is_int(many, 1, "one entry: %d in %d%s%s", leaf, function,
	       holder ? ", held by " : "", holder ? holder : "");
	return found;
}

/* 11 waits for what 12 has, which waits for what 13 has; 13 works. */
static void test_chain(void)
{
	struct pmp_profile *profile = new_profile(false, true);
	const struct pmp_entry *entry;

	for (unsigned i = 0; i < 3; i++) {
		struct pmp_sample *sample = new_sample(i);

		add(sample, 11, "one", 5, PMP_WAIT_MUTEX, A, 12);
		add(sample, 12, "two", 5 + i, PMP_WAIT_MUTEX, B, 13);
		add(sample, 13, "three", 5 + i, 0, 0, 0);
		count(profile, sample);
	}
	is_int(pmp_profile_entry_count(profile), 3, "three stacks");
	entry = find(profile, LOCK, FIRST, "two");
	is_int(entry->count, 3, "its samples");
	is_int(entry->wall, 200 * MS, "its time");
	is_int(entry->waits->contentions, 1, "it has not run: one wait");
	is_int(entry->waits->lock->kind, PMP_WAIT_MUTEX, "for a mutex");
	is_int(entry->waits->lock->address, 0, "of the heap without its address");
	is_int(entry->waits->lock->holder, 0, "and without the holder's id");
	is_int(entry->waits->held_delay, 0, "nobody waits for it");
	entry = find(profile, LOCK, SECOND, "three");
	is_int(entry->waits->contentions, 3, "it has run in between: three waits");
	is_int(entry->waits->held_delay, 0, "it is no root");
	entry = find(profile, WORK, FIRST, NULL);
	ok(!entry->waits->lock, "who works waits for nothing");
	is_int(entry->waits->held_delay, 400 * MS, "and is charged with both");
	is_int(entry->waits->held_contentions, 4, "with all their waits");
	pmp_profile_free(profile);
}

static void test_details(void)
{
	struct pmp_profile *profile = new_profile(true, true);
	struct pmp_sample *sample = new_sample(0);
	const struct pmp_lock *lock;

	add(sample, 11, "one", 1, PMP_WAIT_MUTEX, A, 12);
	add(sample, 12, "two", 1, PMP_WAIT_CONDITION, B, 0);
	add(sample, 13, "three", 1, PMP_WAIT_FUTEX, B, 0);
	count(profile, sample);
	lock = find(profile, LOCK, FIRST, "two")->waits->lock;
	is_int(lock->address, A, "with details locks have their addresses");
	is_int(lock->holder, 12, "and holders their ids");
	lock = find(profile, LOCK, SECOND, NULL)->waits->lock;
	is_int(lock->kind, PMP_WAIT_CONDITION, "a condition is known by its kind");
	is_int(lock->address, 0, "and nothing else");
	lock = find(profile, LOCK, FIRST, "")->waits->lock;
	is_int(lock->address, B, "a futex may be a lock: names will tell");
	ok(!pmp_lock_is_contended(lock), "by itself it is none");
	pmp_profile_free(profile);

	profile = new_profile(true, false);
	sample = new_sample(0);
	add(sample, 11, "one", 1, PMP_WAIT_MUTEX, A, 12);
	add(sample, 12, "two", 1, 0, 0, 0);
	count(profile, sample);
	ok(!pmp_profile_entry(profile, 0)->waits, "nothing is kept unless wanted");
	pmp_profile_free(profile);
}

/* One that has not run is known by its number; its lock may have changed hands. */
static void test_handed_over(void)
{
	struct pmp_profile *profile = new_profile(false, true);
	const pid_t holders[] = { 12, 12, 13, -1, 99 };

	for (unsigned i = 0; i < 5; i++) {
		struct pmp_sample *sample = new_sample(i);
		struct pmp_thread *thread =
			add(sample, 11, "one", 5, PMP_WAIT_MUTEX, A, holders[i]);

		thread->obtained = i ? PMP_UNCHANGED : PMP_PEEKED;
		add(sample, 12, "two", 5 + i, 0, 0, 0);
		add(sample, 13, "three", 5 + i, 0, 0, 0);
		count(profile, sample);
	}
	is_int(find(profile, LOCK, FIRST, "two")->count, 2, "two had it twice");
	is_int(find(profile, LOCK, FIRST, "two")->waits->contentions, 1, "which began");
	is_int(find(profile, LOCK, FIRST, "three")->count, 1, "then three");
	is_int(find(profile, LOCK, FIRST, "three")->waits->contentions, 0,
	       "in the same wait");
	is_int(find(profile, WORK, SECOND, NULL)->waits->held_delay, 100 * MS,
	       "two is charged with its time");
	is_int(find(profile, WORK, FIRST, NULL)->waits->held_delay, 100 * MS,
	       "so is three");
	for (size_t i = 0; i < pmp_profile_entry_count(profile); i++) {
		const struct pmp_entry *entry = pmp_profile_entry(profile, i);
		const struct pmp_lock *lock = entry->waits->lock;

		if (!lock || *lock->holder_name)
			continue;
		is_int(entry->wall, 100 * MS, "nobody is charged with the rest");
		ok(lock->holder_is == PMP_HOLDER_FREE ||
			   lock->holder_stack == PMP_HOLDER_STACK_ABSENT,
		   "of a free lock, or of one that a thread has which is not there");
	}
	pmp_profile_free(profile);
}

/* The stack of 12 is of another moment at first; 14 waits for 11. */
static void test_moved_on(void)
{
	struct pmp_profile *profile = new_profile(true, true);
	uint64_t moved = 0, charged = 0;

	for (unsigned i = 0; i < 4; i++) {
		struct pmp_sample *sample = new_sample(i);
		struct pmp_thread *thread =
			add(sample, 11, "one", 5, PMP_WAIT_MUTEX, A, 12);

		thread->obtained = i ? PMP_UNCHANGED : PMP_PEEKED;
		if (i < 2)
			thread->wait.flags |= PMP_WAIT_MOVED_ON;
		add(sample, 12, "two", 5 + i, 0, 0, 0);
		add(sample, 14, "four", 5 + i, PMP_WAIT_MUTEX, B, 11);
		count(profile, sample);
	}
	is_int(find(profile, WORK, SECOND, NULL)->waits->held_delay, 400 * MS,
	       "it is charged with both since it is known to have the lock");
	for (size_t i = 0; i < pmp_profile_entry_count(profile); i++) {
		const struct pmp_entry *entry = pmp_profile_entry(profile, i);
		const struct pmp_lock *lock = entry->waits->lock;

		if (!lock || lock->address != A)
			continue;
		if (lock->holder_stack == PMP_HOLDER_STACK_MOVED_ON)
			moved += entry->count;
		charged += entry->waits->held_delay;
	}
	is_int(moved, 2, "before nobody is");
	is_int(charged, 100 * MS, "but who waits for it, with who waits for that one");
	pmp_profile_free(profile);
}

/* 11 and 12 wait for each other, 13 for 11, 14 for itself. */
static void test_deadlock(void)
{
	struct pmp_profile *profile = new_profile(true, true);

	for (unsigned i = 0; i < 2; i++) {
		struct pmp_sample *sample = new_sample(i);

		add(sample, 11, "one", 1, PMP_WAIT_MUTEX, A, 12)->wait.flags |=
			PMP_WAIT_DEADLOCK;
		add(sample, 12, "two", 1, PMP_WAIT_MUTEX, B, 11)->wait.flags |=
			PMP_WAIT_DEADLOCK;
		add(sample, 13, "three", 1, PMP_WAIT_MUTEX, B, 11);
		add(sample, 14, "four", 1, PMP_WAIT_MUTEX, A, 14)->wait.holder_is =
			PMP_HOLDER_SELF;
		count(profile, sample);
	}
	is_int(find(profile, LOCK, FIRST, "two")->waits->held_delay, 200 * MS,
	       "each is charged with who waits for it");
	is_int(find(profile, LOCK, SECOND, "one")->waits->held_delay, 100 * MS,
	       "not with who waits for the others");
	is_int(find(profile, LOCK, SECOND, "four")->waits->held_delay, 100 * MS,
	       "one that waits for itself with its own");
	pmp_profile_free(profile);
}

/* A circle that is none, as its waits are from different times; a long chain; a join. */
static void test_chains(void)
{
	struct pmp_profile *profile = new_profile(true, true);
	uint64_t sum = 0;

	for (unsigned i = 0; i < 2; i++) {
		struct pmp_sample *sample = new_sample(i);

		add(sample, 11, "one", 1, PMP_WAIT_MUTEX, A, 12);
		add(sample, 12, "two", 1, PMP_WAIT_MUTEX, B, 11);
		for (pid_t tid = 101; tid < 200; tid++)
			add(sample, tid, "chain", 1, PMP_WAIT_MUTEX, A, tid + 1);
		add(sample, 200, "end", 1, 0, 0, 0);
		add(sample, 201, "join", 1, PMP_WAIT_JOIN, A, 200);
		count(profile, sample);
	}
	for (size_t i = 0; i < pmp_profile_entry_count(profile); i++)
		sum += pmp_profile_entry(profile, i)->waits->held_delay;
	is_int(sum, 101 * 100 * MS,
	       "all of it is charged, once; but not to join a thread");
	pmp_profile_free(profile);
}

/* Each stop puts the thread on a processor twice. */
static void test_stopped(void)
{
	struct pmp_thread_cache *cache = pmp_thread_cache_new(true);
	struct pmp_sample *sample = new_sample(0);
	struct pmp_thread *thread = add(sample, 11, "one", 5, PMP_WAIT_MUTEX, A, 12);
	uint32_t entry;

	thread->obtained = PMP_STOPPED;
	for (unsigned i = 0; i < 3; i++) {
		pmp_thread_cache_begin(cache, sample);
		pmp_thread_cache_find(cache, thread, &entry);
		is_int(pmp_thread_cache_is_waiting(cache, thread), i == 1,
		       "stopped in sample %u, with %u runs", i, (unsigned)thread->runs);
		pmp_thread_cache_put(cache, thread, 0);
		thread->runs += i ? 3 : 2;
	}
	pmp_thread_cache_free(cache);
	pmp_sample_free(sample);
}

static void test_table(void)
{
	struct pmp_locks *locks = pmp_locks_new();
	struct pmp_lock lock = { .kind = PMP_WAIT_MUTEX, .holder_name = "", .text = "" };
	uint32_t numbers[3];
	uint64_t size;
	char name[32];

	for (unsigned i = 0; i < PMP_LOCKS_MAX; i++) {
		lock.address = i;
		if (pmp_locks_add(locks, &lock) != i)
			diag("lock %u has another number", i);
	}
	is_int(pmp_locks_count(locks), PMP_LOCKS_MAX, "so many locks");
	lock.address = 77;
	is_int(pmp_locks_add(locks, &lock), 77, "are found again");
	lock.holder_name = name;
	for (unsigned i = 0; i < 3; i++) {
		snprintf(name, sizeof(name), "thread %u", i);
		lock.kind = i < 2 ? PMP_WAIT_MUTEX : PMP_WAIT_STDIO;
		numbers[i] = pmp_locks_add(locks, &lock);
	}
	size = pmp_locks_size(locks);
	for (unsigned i = 0; i < 10000; i++) {
		snprintf(name, sizeof(name), "thread %u", i);
		if (pmp_locks_add(locks, &lock) != numbers[2])
			diag("thread %u has a lock of its own", i);
	}
	is_int(numbers[0], numbers[1], "the others are one");
	ok(numbers[2] != numbers[0], "for each kind");
	is_str(pmp_locks_get(locks, numbers[0])->holder_name, "", "without a holder");
	is_int(pmp_locks_size(locks), size, "and take no memory");
	pmp_locks_free(locks);
	pmp_locks_free(NULL);
}

static void test_holders(void)
{
	struct pmp_lock lock = { .text = "" };

	for (unsigned i = 0; i < PMP_HOLDER_UNCHECKED; i++) {
		const char *mark = pmp_lock_holder_mark((enum pmp_holder_is)i);

		pmp_lock_set_holder(&lock, mark ? mark : "conn-17");
		is_int(lock.holder_is, i, "%s is read again", mark ? mark : "a name");
		is_str(lock.holder_name, mark ? "" : "conn-17", "with its name, if any");
	}
}

int main(void)
{
	test_chain();
	test_details();
	test_handed_over();
	test_moved_on();
	test_deadlock();
	test_chains();
	test_stopped();
	test_table();
	test_holders();
	return done_testing();
}

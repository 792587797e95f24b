/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sample.c: references, regions, totals. */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/sized.h"
#include "sample.h"
#include "lib/tap.h"

static bool is_open(int fd)
{
	return fcntl(fd, F_GETFD) >= 0;
}

static void test_modules(void)
{
	struct pmp_maps *maps = pmp_maps_new();
	struct pmp_module *module = pmp_module_new(7, PMP_MODULE_FILE, "/lib/x.so");
	int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

	is_int(module->fd, -1, "a new module has no descriptor");
	is_str(module->path, "/lib/x.so", "its path is copied");
	module->fd = fd;
	module->image = malloc(10);
	is_int(pmp_maps_add_module(maps, pmp_module_ref(module)), 0, "added");
	ok(pmp_maps_ref(maps) == maps, "two references of the maps");
	pmp_maps_unref(maps);
	ok(is_open(fd), "one is left");
	pmp_maps_unref(maps);
	ok(is_open(fd), "the module outlives its maps");
	pmp_module_unref(module);
	ok(!is_open(fd), "its descriptor is closed with the last reference");
	pmp_module_unref(NULL);
	pmp_maps_unref(NULL);
	pmp_sample_free(NULL);
}

static void test_regions(void)
{
	struct pmp_maps *maps = pmp_maps_new();
	struct pmp_module *module = pmp_module_new(0, PMP_MODULE_ANON, "");
	size_t wrong = 0;

	ok(!pmp_maps_find(maps, 0), "nothing in empty maps");
	pmp_maps_add_module(maps, module);
	/* [0x1000, 0x1800), [0x2000, 0x2800), ... */
	for (uint64_t i = 1; i <= 1000; i++) {
		struct pmp_region region = {
			.start = i << 12,
			.end = (i << 12) + 0x800,
			.module = module,
		};

		wrong += pmp_maps_add_region(maps, &region) != 0;
	}
	pmp_maps_add_region(maps, &(struct pmp_region){
					  .start = 0xffffffffff600000,
					  .end = 0xffffffffff601000,
					  .module = module,
				  });
	is_int(maps->region_count, 1001, "regions");
	for (uint64_t i = 1; i <= 1000; i++) {
		const struct pmp_region *want = &maps->regions[i - 1];

		wrong += pmp_maps_find(maps, i << 12) != want ||
			 pmp_maps_find(maps, (i << 12) + 0x7ff) != want ||
			 pmp_maps_find(maps, (i << 12) + 0x800) ||
			 pmp_maps_find(maps, (i << 12) - 1);
	}
	is_int(wrong, 0, "each is found from its first to its last byte");
	ok(!pmp_maps_find(maps, 0) && !pmp_maps_find(maps, UINT64_MAX), "outside");
	ok(pmp_maps_find(maps, 0xffffffffff600400) == &maps->regions[1000], "the last");
	pmp_maps_unref(maps);
}

static struct pmp_thread *add(struct pmp_sample *sample, enum pmp_obtained obtained,
			      enum pmp_end end, uint64_t stopped)
{
	struct pmp_thread *thread = pmp_sample_add_thread(sample);

	thread->obtained = obtained;
	thread->end = end;
	thread->stopped = stopped;
	return thread;
}

static struct pmp_sample *make_sample(void)
{
	static const struct pmp_raw_frame frames[] = { { 1, 1 }, { 2, 0 }, { 3, 4 } };
	struct pmp_sample *sample = pmp_sample_new();

	sample->pid = 42;
	strcpy(sample->name, "demo");
	sample->seen = 6;
	sample->vanished = 1;
	sample->any_stopped = 35;
	add(sample, PMP_STOPPED, PMP_END_ROOT, 10);
	pmp_sample_add_frames(sample, frames, 3);
	add(sample, PMP_STOPPED, PMP_END_LOOP, 25);
	pmp_sample_add_frames(sample, frames, 1);
	pmp_sample_add_frames(sample, frames + 1, 2);
	add(sample, PMP_NOT_STOPPED, PMP_END_NOT_STOPPED, 0);
	pmp_sample_add_frames(sample, NULL, 0);
	add(sample, PMP_PEEKED, PMP_END_ROOT, 0);
	pmp_sample_add_frames(sample, frames, 2);
	return sample;
}

static void test_sample(void)
{
	struct pmp_sample *sample = make_sample();
	struct pmp_sample_info info = { .size = sizeof(info) };
	struct pmp_thread_info thread = { .size = sizeof(thread) };

	is_int(sample->frame_count, 8, "frames of all threads");
	is_int(sample->threads[1].frame, 3, "the second begins behind the first");
	is_int(sample->threads[1].frame_count, 3, "two parts are one stack");
	ok(sample->frames[5].pc == 3 && sample->frames[5].flags == 4, "its last frame");
	is_int(sample->threads[2].frame_count, 0, "a thread without frames");
	is_int(sample->threads[3].frame, 6, "the next one");
	is_int(sample->threads[3].tid, 0, "a new thread is zeroed");
	pmp_sample_info(sample, &info);
	is_str(info.name, "demo", "name");
	is_int(info.pid, 42, "pid");
	is_int(info.threads, 4, "threads");
	is_int(info.seen, 6, "seen");
	is_int(info.vanished, 1, "vanished");
	is_int(info.stopped, 35, "time stopped");
	is_int(info.stopped_max, 25, "longest stop");
	is_int(info.any_stopped, 35, "any stopped");
	is_int(info.n_stopped, 2, "stopped");
	is_int(info.n_not_stopped, 1, "not stopped");
	is_int(info.truncated, 1, "truncated");
	pmp_sample_thread(sample, 3, &thread);
	is_int(thread.obtained, PMP_PEEKED, "how a thread was obtained");
	memset(&info, 0x55, sizeof(info));
	info.size = offsetof(struct pmp_sample_info, time);
	pmp_sample_info(sample, &info);
	ok(info.pid == 42 && info.time == 0x5555555555555555 &&
		   info.size == offsetof(struct pmp_sample_info, time),
	   "an older caller's struct is not overrun");
	pmp_sample_free(sample);
}

/* ---- threads that have not run ---------------------------------------------------- */

#define CROWD 24
#define DEEPEST 7
#define SNAPSHOTS 400

/* What each thread of a crowd is by now: its frames are its id and its reading. */
struct crowd {
	struct pmp_thread threads[CROWD];
	struct pmp_raw_frame frames[CROWD][DEEPEST];
	bool lives[CROWD];
	uint64_t readings;
};

static void crowd_read(struct crowd *crowd, int i)
{
	struct pmp_thread *thread = &crowd->threads[i];

	thread->tid = 100 + i;
	thread->reading = ++crowd->readings;
	thread->frame_count = (size_t)(rand() % (DEEPEST + 1));
	for (size_t k = 0; k < thread->frame_count; k++)
		crowd->frames[i][k] = (struct pmp_raw_frame){
			thread->reading * 100 + (uint64_t)thread->tid, k
		};
}

/* Into a sample as capture makes them: those that have run come last, if late is set. */
static void crowd_add(struct crowd *crowd, struct pmp_sample *sample, int i, bool run,
		      bool late, bool second_pass)
{
	struct pmp_thread *thread = &crowd->threads[i];

	if (!crowd->lives[i] || (run && late) != second_pass)
		return;
	if (!run) {
		thread->asleep_since = (uint64_t)rand();
		thread->wait.object = (uint64_t)rand();
		pmp_sample_add_unchanged(sample, thread, crowd->frames[i]);
		return;
	}
	crowd_read(crowd, i);
	pmp_sample_copy_thread(sample, thread);
	pmp_sample_add_frames(sample, crowd->frames[i], thread->frame_count);
}

static bool crowd_has(const struct crowd *crowd, const struct pmp_sample *sample,
		      const struct pmp_thread *thread)
{
	int i = thread->tid - 100;
	const struct pmp_thread *is = &crowd->threads[i];

	return crowd->lives[i] && thread->reading == is->reading &&
	       thread->asleep_since == is->asleep_since &&
	       thread->wait.object == is->wait.object &&
	       thread->frame_count == is->frame_count &&
	       thread->frame + thread->frame_count <= sample->frame_count &&
	       (!is->frame_count ||
		!memcmp(sample->frames + thread->frame, crowd->frames[i],
			is->frame_count * sizeof(*sample->frames)));
}

static int by_tid(const void *a, const void *b)
{
	return ((const struct pmp_thread *)a)->tid - ((const struct pmp_thread *)b)->tid;
}

/* One snapshot into a sample that may have another one's memory; false: it is wrong. */
static bool crowd_snapshot(struct crowd *crowd, struct pmp_sample *sample)
{
	bool run[CROWD], late = rand() % 2, right = true;
	int often = 1 + rand() % 12;

	pmp_sample_clear(sample);
	for (int i = 0; i < CROWD; i++) {
		bool lived = crowd->lives[i];

		crowd->lives[i] = rand() % 20 > 0;
		run[i] = !lived || rand() % often == 0;
	}
	for (int pass = 0; pass < 2; pass++)
		for (int i = 0; i < CROWD; i++)
			crowd_add(crowd, sample, i, run[i], late, pass);
	qsort(sample->threads, sample->thread_count, sizeof(*sample->threads), by_tid);
	for (size_t i = 0; i < sample->thread_count; i++)
		right &= crowd_has(crowd, sample, &sample->threads[i]);
	return right;
}

static void test_unchanged(void)
{
	struct pmp_sample *samples[2] = { pmp_sample_new(), pmp_sample_new() };
	struct crowd crowd = { .readings = 0 };
	int wrong = 0;

	for (int i = 0; i < SNAPSHOTS; i++)
		wrong += !crowd_snapshot(&crowd, samples[rand() % 2]);
	is_int(wrong, 0,
	       "a crowd that changes: each thread has its frames in each snapshot");
	pmp_sample_free(samples[0]);
	pmp_sample_free(samples[1]);
}

/* Other frames under the number of the same reading: whose are there shows where they are
 * from. */
static void test_in_place(void)
{
	const struct pmp_raw_frame old[2] = { { .pc = 1 }, { .pc = 2 } };
	const struct pmp_raw_frame new[2] = { { .pc = 3 }, { .pc = 4 } };
	struct pmp_thread thread = { .tid = 7, .reading = 9, .frame_count = 2 };
	struct pmp_sample *sample = pmp_sample_new();
	struct pmp_thread *added;

	pmp_sample_copy_thread(sample, &thread);
	pmp_sample_add_frames(sample, old, 2);
	sample->threads[0].obtained = PMP_PEEKED;
	pmp_sample_clear(sample);
	added = pmp_sample_add_unchanged(sample, &thread, new);
	ok(added && sample->frames[0].pc == 1 && added->frame_count == 2,
	   "the same reading at the same place: nothing is copied");
	is_int(added ? (int)added->obtained : -1, PMP_UNCHANGED, "and it is unchanged");
	pmp_sample_clear(sample);
	thread.reading = 10;
	pmp_sample_add_unchanged(sample, &thread, new);
	is_int((long long)sample->frames[0].pc, 3, "another reading is copied");
	pmp_sample_clear(sample);
	pmp_sample_add_thread(sample);
	pmp_sample_add_frames(sample, old, 1);
	pmp_sample_add_unchanged(sample, &thread, old);
	ok(sample->frames[1].pc == 1 && sample->frames[2].pc == 2,
	   "so is one whose place is another thread's");
	pmp_sample_free(sample);
}

static struct pmp_sample *sleepers(size_t count)
{
	struct pmp_sample *sample = pmp_sample_new();

	for (size_t i = 0; i < count; i++) {
		const struct pmp_raw_frame frames[2] = { { .pc = i }, { .pc = 100 + i } };
		const struct pmp_thread thread = {
			.tid = (pid_t)(10 + i),
			.reading = 1 + i,
			.end = i % 4 ? PMP_END_ROOT : PMP_END_NO_INFO,
			.frame_count = 2,
		};

		pmp_sample_add_unchanged(sample, &thread, frames);
	}
	return sample;
}

static bool are_sleepers(const struct pmp_sample *sample, size_t count)
{
	bool right = sample->thread_count == count && sample->frame_count == 2 * count;

	for (size_t i = 0; i < count && right; i++)
		right = sample->threads[i].reading == 1 + i &&
			sample->frames[sample->threads[i].frame].pc == i;
	return right;
}

/* All threads at once, of a process in which none has run. */
static void test_standstill(void)
{
	struct pmp_sample *sample = sleepers(20), *other = pmp_sample_new();
	struct pmp_sample_info info = { .size = sizeof(info) }, still = info;

	ok(!pmp_sample_stand_still(other, 3) && !other->standstill.number,
	   "a sample without threads is none of a standstill");
	pmp_sample_info(sample, &info);
	ok(pmp_sample_stand_still(sample, 3), "one in which none has run is");
	pmp_sample_info(sample, &still);
	ok(!memcmp(&info, &still, sizeof(info)) && info.n_unchanged == 20 &&
		   info.truncated == 5,
	   "its totals are the same");
	pmp_sample_clear(sample);
	ok(!sample->standstill.number, "the next one may be in another");
	pmp_sample_keep_still(sample);
	ok(sample->standstill.number == 3 && are_sleepers(sample, 20),
	   "if it is in the same one its threads are there");
	ok(pmp_sample_copy_still(other, sample) == 0 && are_sleepers(other, 20) &&
		   other->standstill.number == 3 && other->standstill.truncated == 5,
	   "they are copied into another sample");
	pmp_sample_clear(other);
	other->threads[1].reading = 99;
	pmp_sample_copy_still(other, sample);
	is_int((long long)other->threads[1].reading, 99,
	       "not again if they are there already");
	sample->standstill.number = 4;
	pmp_sample_clear(other);
	pmp_sample_copy_still(other, sample);
	ok(are_sleepers(other, 20), "but those of another standstill are");
	pmp_sample_clear(other);
	sample->threads[7].obtained = PMP_PEEKED;
	ok(!pmp_sample_stand_still(sample, 5), "one in which a thread has run is not");
	pmp_sample_free(sample);
	pmp_sample_free(other);
}

/* A caller's struct that is longer than ours. */
static void test_sized(void)
{
	struct {
		size_t size, known, unknown;
	} options = { sizeof(options), 1, 2 };
	struct {
		size_t size, known;
	} ours = { 0, 0 };

	pmp_sized_take(&ours, sizeof(ours), NULL);
	ok(ours.size == sizeof(ours) && ours.known == 0, "no options: all zero");
	options.size = sizeof(size_t);
	pmp_sized_take(&ours, sizeof(ours), &options);
	ok(ours.size == sizeof(ours) && ours.known == 0, "those of an older caller");
	options.size = sizeof(options) + 100;
	pmp_sized_take(&ours, sizeof(ours), &options);
	ok(ours.size == sizeof(ours) && ours.known == 1, "those of a newer one");
	ours.known = 3;
	pmp_sized_give(&options, &ours, sizeof(ours));
	ok(options.size == sizeof(options) + 100 && options.known == 3 &&
		   options.unknown == 2,
	   "a newer caller's struct keeps what is not known here");
}

/* What parking_lot's block of a parked thread never has. */
static void test_parked(void)
{
	const unsigned all = PMP_WORD_BEFORE | PMP_WORD_AT | PMP_WORD_AFTER |
			     PMP_WORD_FAR | PMP_WORD_SAME;
	const struct pmp_wait parked = {
		.kind = PMP_WAIT_FUTEX,
		.words = { .flags = all, .at = 1, .after = 0xffffff01, .far = 0x5001 },
	};
	struct pmp_wait wait = parked;

	ok(pmp_wait_parked_under(&wait) == 0x5001, "a thread is parked under a lock");
	wait.words.at = 2;
	ok(!pmp_wait_parked_under(&wait), "not if it waits by another value");
	wait = parked;
	wait.words.before = 1;
	ok(!pmp_wait_parked_under(&wait), "or after a large number");
	wait = parked;
	wait.words.after = 2;
	ok(!pmp_wait_parked_under(&wait), "or before what is no bool");
	for (unsigned flag = 1; flag <= PMP_WORD_SAME; flag *= 2) {
		wait = parked;
		wait.words.flags &= ~flag;
		ok(!pmp_wait_parked_under(&wait), "or without word %u", flag);
	}
	wait.words = (struct pmp_wait_words){ 0 };
	ok(!pmp_wait_parked_under(&wait), "or where nothing was read");
}

int main(void)
{
	test_parked();
	test_modules();
	test_regions();
	test_sample();
	test_unchanged();
	test_in_place();
	test_standstill();
	test_sized();
	for (int end = 0; end < PMP_END_COUNT; end++)
		ok(pmp_end_text(end) && *pmp_end_text(end), "end %d has a text: %s", end,
		   pmp_end_text(end));
	is_str(pmp_end_text(PMP_END_COUNT), "unknown", "no such end");
	return done_testing();
}

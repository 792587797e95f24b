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

int main(void)
{
	test_modules();
	test_regions();
	test_sample();
	test_sized();
	for (int end = 0; end < PMP_END_COUNT; end++)
		ok(pmp_end_text(end) && *pmp_end_text(end), "end %d has a text: %s", end,
		   pmp_end_text(end));
	is_str(pmp_end_text(PMP_END_COUNT), "unknown", "no such end");
	return done_testing();
}

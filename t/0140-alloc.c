/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Memory runs out: the k-th allocation fails, for every k. What was asked for is
 * then refused, nothing is lost or kept, and asking again works.
 *
 * malloc and its kin are this program's own here, in front of glibc's; sanitizers
 * have theirs in the same place, so with them this test has nothing to do.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/file.h"
#include "base/intern.h"
#include "sample.h"
#include "lib/tap.h"

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(memory_sanitizer) || \
	__has_feature(thread_sanitizer)
#define SANITIZED
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED
#endif

#if !defined(SANITIZED) && defined(__GLIBC__)

/* ---- an allocator that fails once ---------------------------------------- */

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *data, size_t size);
void __libc_free(void *data);

/* volatile: compilers believe that malloc changes no variable of a program. */
static volatile struct {
	bool counting;
	long live, calls, fail_at;
	bool failed;
} heap;

static bool fails(void)
{
	if (!heap.counting || heap.calls++ != heap.fail_at)
		return false;
	heap.failed = true;
	errno = ENOMEM;
	return true;
}

static void *counted(void *data)
{
	heap.live += heap.counting && data;
	return data;
}

void *malloc(size_t size)
{
	return fails() ? NULL : counted(__libc_malloc(size));
}

void *calloc(size_t count, size_t size)
{
	return fails() ? NULL : counted(__libc_calloc(count, size));
}

void *realloc(void *data, size_t size)
{
	if (fails())
		return NULL;
	return data ? __libc_realloc(data, size) : counted(__libc_realloc(data, size));
}

void free(void *data)
{
	heap.live -= heap.counting && data;
	__libc_free(data);
}

/* ---- what is tried ------------------------------------------------------- */

/* Each returns false if it was told that there is no memory, and counts what is
 * wrong with what it has got nevertheless. */
typedef bool scenario(unsigned *wrong);

static bool use_buf(unsigned *wrong)
{
	struct pmp_buf buf = { 0 };
	bool good;

	for (int i = 0; i < 300; i++)
		pmp_buf_printf(&buf, "%d,", i % 10);
	pmp_buf_puts(&buf, "end");
	good = !pmp_buf_failed(&buf);
	*wrong += good && buf.length != 603;
	/* What it holds is a beginning. */
	*wrong += buf.length >= 8 && memcmp(buf.data, "0,1,2,3,", 8) != 0;
	pmp_buf_free(&buf);
	return good;
}

static bool use_file(unsigned *wrong)
{
	struct pmp_buf buf = { 0 };
	int status = pmp_file_slurp(AT_FDCWD, "/proc/self/status", 1 << 20, &buf);

	*wrong += status && status != -ENOMEM;
	*wrong += !status && strncmp(buf.data, "Name:", 5);
	pmp_buf_free(&buf);
	return status == 0;
}

static bool use_intern(unsigned *wrong)
{
	struct pmp_intern *table = pmp_intern_new();
	uint32_t refused = 0;

	if (!table)
		return false;
	for (uint32_t i = 0; i < 3000; i++) {
		uint32_t id = pmp_intern(table, &i, sizeof(i));

		if (id == PMP_INTERN_NONE) {
			refused++;
			id = pmp_intern(table, &i, sizeof(i));
		}
		*wrong += id != i;
	}
	for (uint32_t i = 0; i < 3000; i++)
		*wrong += pmp_intern_find(table, &i, sizeof(i)) != i;
	pmp_intern_free(table);
	*wrong += refused > 1;
	return refused == 0;
}

static struct pmp_maps *make_maps(int fd)
{
	struct pmp_maps *maps = pmp_maps_new();

	for (uint32_t i = 0; maps && i < 10; i++) {
		struct pmp_module *module = pmp_module_new(i, PMP_MODULE_FILE, "/a/file");
		struct pmp_region region = {
			.start = i * 4096, .end = i * 4096 + 100, .module = module,
		};

		if (module && i == 3)
			module->fd = dup(fd);
		if (module && i == 4) {
			module->image = calloc(1, 100);
			module->image_size = module->image ? 100 : 0;
		}
		if (!module || (i == 4 && !module->image)) {
			pmp_module_unref(module);
		} else if (!pmp_maps_add_module(maps, module) &&
			   !pmp_maps_add_region(maps, &region)) {
			continue;
		}
		pmp_maps_unref(maps);
		maps = NULL;
	}
	return maps;
}

static struct pmp_sample *make_sample(int fd)
{
	struct pmp_sample *sample = pmp_sample_new();
	struct pmp_raw_frame frames[5] = { { 1, 0 } };
	bool good = sample != NULL;

	if (good) {
		sample->maps = make_maps(fd);
		good = sample->maps != NULL;
	}
	for (int i = 0; good && i < 20; i++)
		good = pmp_sample_add_thread(sample) &&
		       !pmp_sample_add_frames(sample, frames, 5);
	if (good)
		return sample;
	pmp_sample_free(sample);
	return NULL;
}

static bool use_sample(unsigned *wrong)
{
	struct pmp_sample *sample = make_sample(0);

	if (!sample)
		return false;
	*wrong += sample->thread_count != 20 || sample->frame_count != 100;
	pmp_sample_free(sample);
	return true;
}

/* Sent and received; whatever fails is tried once more. */
static bool pass_on(struct pmp_sender *sender, struct pmp_receiver *receiver,
		    const struct pmp_sample *sample, unsigned *wrong)
{
	struct pmp_received received;
	int sent = pmp_sender_sample(sender, sample, NULL), got;

	*wrong += sent && sent != PMP_ENOMEM;
	if (sent)
		*wrong += pmp_sender_sample(sender, sample, NULL) != 0;
	got = pmp_receiver_next(receiver, &received, NULL);
	*wrong += got != 1 && got != PMP_ENOMEM;
	if (got != 1)
		*wrong += pmp_receiver_next(receiver, &received, NULL) != 1;
	if (received.sample) {
		const struct pmp_maps *maps = received.sample->maps;

		*wrong += received.sample->frame_count != 100 || !maps ||
			  maps->module_count != 10 || maps->modules[3]->fd < 0 ||
			  maps->modules[2]->fd >= 0 || !maps->modules[4]->image;
	} else {
		++*wrong;
	}
	pmp_sample_free(received.sample);
	return !sent && got == 1;
}

static bool use_wire(unsigned *wrong)
{
	struct pmp_sample *sample = make_sample(0);
	struct pmp_receiver *receiver = NULL;
	struct pmp_sender *sender = NULL;
	bool good = false;
	int fds[2];

	if (!sample)
		return false;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds)) {
		++*wrong;
	} else {
		if (!pmp_sender_new(fds[0], &sender, NULL) &&
		    !pmp_receiver_new(fds[1], &receiver, NULL)) {
			good = pass_on(sender, receiver, sample, wrong);
			good &= pass_on(sender, receiver, sample, wrong);
		}
		pmp_sender_free(sender);
		pmp_receiver_free(receiver);
		close(fds[0]);
		close(fds[1]);
	}
	pmp_sample_free(sample);
	return good;
}

/* ---- every allocation in turn -------------------------------------------- */

static void try_all(scenario *try, const char *name)
{
	unsigned wrong = 0, kept = 0, unsaid = 0, descriptors = 0;
	int next = dup(0), now;
	bool good;
	long k = 0;

	close(next);
	do {
		heap.live = heap.calls = 0;
		heap.failed = false;
		heap.fail_at = k++;
		heap.counting = true;
		good = try(&wrong);
		heap.counting = false;
		kept += heap.live != 0;
		unsaid += good == heap.failed;
		now = dup(0);
		close(now);
		descriptors += now != next;
	} while (heap.failed && k < 10000);
	ok(k > 1 && k < 10000 && good, "%s: each of %ld allocations has failed", name,
	   k - 1);
	is_int(unsaid, 0, "%s: each failure is told", name);
	is_int(wrong, 0, "%s: what is there nevertheless is right", name);
	is_int(kept, 0, "%s: no memory is kept", name);
	is_int(descriptors, 0, "%s: no descriptor is kept", name);
}

/* valgrind puts its own allocator in front of ours. */
static bool ours(void)
{
	void *volatile data;

	heap.counting = true;
	heap.fail_at = -1;
	data = malloc(1);
	free(data);
	heap.counting = false;
	return heap.calls > 0;
}

int main(void)
{
	if (!ours()) {
		ok(true, "nothing to do: malloc is replaced");
		return done_testing();
	}
	try_all(use_buf, "buf");
	try_all(use_file, "file");
	try_all(use_intern, "intern");
	try_all(use_sample, "sample");
	try_all(use_wire, "wire");
	return done_testing();
}

#else

int main(void)
{
	ok(true, "nothing to do: malloc belongs to a sanitizer or another libc");
	return done_testing();
}

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Memory runs out: the k-th allocation fails, for every k. What was asked for is
 * then refused, nothing is lost or kept, and asking again works.
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
#include "lib/heap.h"

#ifdef HEAP_OURS

/* ---- what is tried ------------------------------------------------------- */

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
			.start = i * 4096,
			.end = i * 4096 + 100,
			.module = module,
		};

		if (module && i == 3)
			module->fd = dup(fd);
		if (module && i == 4) {
			module->kind = PMP_MODULE_VDSO;
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
	for (int i = 0; good && i < 20; i++) {
		struct pmp_thread *thread = pmp_sample_add_thread(sample);

		good = thread && !pmp_sample_add_frames(sample, frames, 5);
		if (good)
			*thread = (struct pmp_thread){
				.tid = i + 1,
				.reading = 1,
				.frame = thread->frame,
				.frame_count = 5,
				.obtained = PMP_UNCHANGED,
			};
	}
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

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fuzz target: arbitrary bytes to a receiver of samples. The first byte says how they
 * come: the size of the pieces, and whether each passes a descriptor.
 */
#include "fuzz.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "heap-batch.h"
#include "sample.h"

#define WITH_FD 1
#define PIECE_MIN 64 /* times a power of two: bits 4 to 6 */

static volatile uint64_t used; /* keeps the compiler from dropping use() */

/* Touch all that was received, so that sanitizers see invalid memory. */
static uint64_t use(const struct pmp_sample *sample)
{
	uint64_t sum = strlen(sample->name);

	for (size_t i = 0; i < sample->thread_count; i++) {
		const struct pmp_thread *thread = &sample->threads[i];

		sum += strlen(thread->name) + strlen(thread->reason) +
		       strlen(thread->wchan) + strlen(pmp_end_text(thread->end));
		for (size_t j = 0; j < thread->frame_count; j++) {
			uint64_t pc = sample->frames[thread->frame + j].pc;

			sum += sample->maps && pmp_maps_find(sample->maps, pc);
		}
	}
	for (size_t i = 0; i < sample->outside_count; i++) {
		const struct pmp_outside *what = &sample->outsides[i];

		sum += strlen(what->text);
		for (uint32_t j = 0; j < what->shown; j++)
			sum += strlen(sample->others[what->other + j].name);
	}
	for (size_t i = 0; sample->census && i < sample->census->row_count; i++)
		sum += sample->census->rows[i].bytes;
	for (size_t i = 0; sample->maps && i < sample->maps->region_count; i++)
		sum += strlen(sample->maps->regions[i].module->path);
	return sum;
}

static uint64_t use_heap(const struct pmp_heap_batch *batch)
{
	uint64_t sum = strlen(batch->name) + strlen(batch->totals.allocator_name);

	for (size_t i = 0; i < batch->event_count; i++) {
		const struct pmp_heap_event *event = &batch->events[i];

		sum += strlen(batch->threads[event->thread].name);
		for (size_t j = 0; j < event->frame_count; j++)
			sum += batch->frames[event->frame + j].pc;
	}
	return sum;
}

static void send_piece(int out, const uint8_t *data, size_t size, int fd)
{
	union {
		char data[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control = { 0 };
	struct iovec part = { (void *)(uintptr_t)data, size };
	struct msghdr msg = { .msg_iov = &part, .msg_iovlen = 1 };

	if (fd >= 0) {
		struct cmsghdr *cmsg;

		msg.msg_control = control.data;
		msg.msg_controllen = sizeof(control.data);
		cmsg = CMSG_FIRSTHDR(&msg);
		cmsg->cmsg_level = SOL_SOCKET;
		cmsg->cmsg_type = SCM_RIGHTS;
		cmsg->cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(cmsg), &fd, sizeof(fd));
	}
	if (sendmsg(out, &msg, MSG_NOSIGNAL | MSG_DONTWAIT) != (ssize_t)size)
		shutdown(out, SHUT_WR);
}

static int receive_all(struct pmp_receiver *receiver)
{
	struct pmp_received received;
	struct pmp_error err;
	int status;

	while ((status = pmp_receiver_next(receiver, &received, &err)) == 1) {
		if (received.sample)
			used = use(received.sample);
		if (received.heap)
			used = use_heap(received.heap);
		pmp_sample_free(received.sample);
		pmp_heap_batch_free(received.heap);
	}
	return status;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct pmp_receiver *receiver;
	size_t piece;
	int fds[2], fd = -1, status = 0;

	if (size < 1 ||
	    socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds))
		return 0;
	if (pmp_receiver_new(fds[1], &receiver, NULL))
		abort();
	piece = (size_t)PIECE_MIN << (data[0] >> 4 & 7);
	if (data[0] & WITH_FD)
		fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	for (size_t at = 1; at < size && !status; at += piece) {
		send_piece(fds[0], data + at, size - at < piece ? size - at : piece, fd);
		status = receive_all(receiver);
	}
	shutdown(fds[0], SHUT_WR);
	if (receive_all(receiver) == 0)
		abort(); /* the end must be seen */
	pmp_receiver_free(receiver);
	if (fd >= 0)
		close(fd);
	close(fds[0]);
	close(fds[1]);
	return 0;
}

/* ---- seeds: output of a sender -------------------------------------------- */

static struct pmp_maps *make_maps(uint64_t generation, unsigned modules, int fd)
{
	struct pmp_maps *maps = pmp_maps_new();

	maps->generation = generation;
	for (uint32_t i = 0; i < modules; i++) {
		struct pmp_module *module = pmp_module_new(i, PMP_MODULE_FILE, "/lib/x");
		struct pmp_region region = {
			.start = 0x1000 * (i + 1),
			.end = 0x1000 * (i + 2),
			.module = module,
		};

		module->fd = fd < 0 ? -1 : dup(fd);
		pmp_maps_add_module(maps, module);
		pmp_maps_add_region(maps, &region);
	}
	return maps;
}

/* A sample of threads that have not run since the one before. */
static struct pmp_sample *make_sample(struct pmp_maps *maps)
{
	static const struct pmp_raw_frame frames[3] = { { 0x1010, 1 }, { 0x2020, 0 } };
	struct pmp_sample *sample = pmp_sample_new();

	sample->pid = 7;
	strcpy(sample->name, "seed");
	sample->maps = pmp_maps_ref(maps);
	for (unsigned i = 0; i < 3; i++) {
		struct pmp_thread *thread = pmp_sample_add_thread(sample);

		strcpy(thread->name, "thread");
		thread->tid = (pid_t)(7 + i);
		thread->state = 'S';
		thread->reading = 1;
		thread->obtained = PMP_UNCHANGED;
		pmp_sample_add_frames(sample, frames, 3);
	}
	return sample;
}

static void send_sample(struct pmp_sender *sender, struct pmp_sample *sample)
{
	pmp_sender_sample(sender, sample, NULL);
	pmp_sample_free(sample);
}

static void send_standstill(struct pmp_sender *sender, struct pmp_maps *maps)
{
	for (int i = 0; i < 3; i++) {
		struct pmp_sample *sample = make_sample(maps);

		if (i > 0)
			pmp_sample_stand_still(sample, 3);
		send_sample(sender, sample);
	}
}

/* In the second sample one thread has run. */
static void send_changed(struct pmp_sender *sender, struct pmp_maps *maps)
{
	struct pmp_sample *sample = make_sample(maps);

	send_sample(sender, sample);
	sample = make_sample(maps);
	sample->threads[1].reading = 2;
	sample->threads[1].obtained = PMP_PEEKED;
	send_sample(sender, sample);
	pmp_sender_note(sender, 5, "seed", 4, NULL);
	pmp_sender_forget(sender, 7, NULL);
	send_sample(sender, make_sample(maps));
}

static void send_outside(struct pmp_sender *sender, struct pmp_maps *maps)
{
	const struct pmp_outside lock = { .type = PMP_OUTSIDE_FLOCK,
					  .sure = PMP_SURE_EXACT,
					  .shown = 1,
					  .count = 20,
					  .last = UINT64_MAX,
					  .text = "/tmp/lock" };
	const struct pmp_other other = { .pid = 9, .fd = 3, .name = "holder" };
	struct pmp_sample *sample = make_sample(maps);

	pmp_sample_add_outside(sample, &lock);
	pmp_sample_add_other(sample, &other);
	sample->threads[1].wait = (struct pmp_wait){ .kind = PMP_WAIT_FILE,
						     .holder_is = PMP_HOLDER_PROCESS,
						     .holder = 9,
						     .outside = 1 };
	send_sample(sender, sample);
}

static void send_census(struct pmp_sender *sender, struct pmp_maps *maps)
{
	const struct pmp_census_totals totals = { .live = { 2, 96 },
						  .caches = PMP_CACHES_KEY };
	const struct pmp_census_row rows[2] = { { 0x1010, 48, 1, 48 }, { 0, 48, 1, 48 } };
	struct pmp_sample *sample = make_sample(maps);

	sample->census = pmp_census_copy(&totals, rows, 2);
	send_sample(sender, sample);
}

static void send_heap(struct pmp_sender *sender, struct pmp_maps *maps)
{
	static const struct pmp_raw_frame frames[2] = { { 0x1010, 1 }, { 0x1020, 0 } };
	struct pmp_heap_event event = {
		.kind = PMP_HEAP_ALLOC, .pointer = 0x5000, .asked = 100, .usable = 104
	};
	struct pmp_heap_batch *batch = pmp_heap_batch_new();

	batch->pid = 7;
	strcpy(batch->name, "seed");
	batch->maps = pmp_maps_ref(maps);
	strcpy(batch->totals.allocator_name, "libc.so.6");
	pmp_heap_batch_thread(batch, 7, "thread", &event.thread);
	pmp_heap_batch_add(batch, &event, frames, 2);
	event.kind = PMP_HEAP_FREE;
	pmp_heap_batch_add(batch, &event, NULL, 0);
	pmp_sender_heap(sender, batch, NULL);
	pmp_heap_batch_free(batch);
}

static void (*const senders[])(struct pmp_sender *sender, struct pmp_maps *maps) = {
	send_standstill, send_changed, send_outside, send_census, send_heap,
};
#define SENDERS (sizeof(senders) / sizeof(*senders))

/* Bit 0 of n: descriptors; bit 1: small pieces. */
size_t fuzz_seed(unsigned n, uint8_t *data, size_t size)
{
	struct pmp_sender *sender;
	struct pmp_maps *maps;
	size_t length = 1;
	ssize_t got;
	int fds[2];

	if (n / 4 >= SENDERS || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds))
		return 0;
	pmp_sender_new(fds[0], &sender, NULL);
	maps = make_maps(n / 4, 2, n & 1 ? fds[0] : -1);
	senders[n / 4](sender, maps);
	pmp_maps_unref(maps);
	/* Another address space, for which everything is sent again. */
	maps = make_maps(99, 1, -1);
	send_sample(sender, make_sample(maps));
	pmp_maps_unref(maps);
	pmp_sender_free(sender);
	shutdown(fds[0], SHUT_WR);
	data[0] = (n & 1 ? WITH_FD : 0) | (n & 2 ? 0 : 7 << 4);
	while ((got = read(fds[1], data + length, size - length)) > 0)
		length += (size_t)got;
	close(fds[0]);
	close(fds[1]);
	return length;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Heap batches through wire/: what is sent arrives; what is damaged is refused, or valid. */
#include <sys/socket.h>
#include <unistd.h>

#include "heap-batch.h"
#include "lib/tap.h"

#define STREAM_MAX 4096

static struct pmp_heap_batch *make_batch(void)
{
	const struct pmp_raw_frame frames[] = { { 0x1000, PMP_FRAME_EXACT },
						{ 0x1100, 0 } };
	struct pmp_heap_batch *batch = pmp_heap_batch_new();
	struct pmp_heap_event event = { .kind = PMP_HEAP_ALLOC,
					.function = PMP_HEAP_CALLOC,
					.pointer = 0x5000,
					.asked = 100,
					.usable = 104 };

	batch->pid = 70;
	batch->time = 123;
	strcpy(batch->name, "target");
	batch->maps = pmp_maps_new();
	batch->maps->generation = 4;
	batch->totals.mallocs = 17;
	strcpy(batch->totals.allocator_name, "libc.so.6");
	pmp_heap_batch_thread(batch, 71, "a thread", &event.thread);
	pmp_heap_batch_add(batch, &event, frames, 2);
	pmp_heap_batch_thread(batch, 72, "another", &event.thread);
	pmp_heap_batch_add(batch, &event, frames, 1);
	event.kind = PMP_HEAP_FREE;
	pmp_heap_batch_add(batch, &event, NULL, 0);
	return batch;
}

static bool same_batch(const struct pmp_heap_batch *a, const struct pmp_heap_batch *b)
{
	return a->pid == b->pid && a->time == b->time && strcmp(a->name, b->name) == 0 &&
	       memcmp(&a->totals, &b->totals, sizeof(a->totals)) == 0 &&
	       a->event_count == b->event_count && a->thread_count == b->thread_count &&
	       a->frame_count == b->frame_count &&
	       memcmp(a->events, b->events, a->event_count * sizeof(*a->events)) == 0 &&
	       memcmp(a->threads, b->threads, a->thread_count * sizeof(*a->threads)) ==
		       0 &&
	       memcmp(a->frames, b->frames, a->frame_count * sizeof(*a->frames)) == 0;
}

/* Of the stream. Returns the status; a batch that came is in *batch. */
static int receive(const char *stream, size_t length, struct pmp_heap_batch **batch)
{
	struct pmp_received received = { 0 };
	struct pmp_receiver *receiver;
	int fds[2], status;

	*batch = NULL;
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, fds) ||
	    write(fds[1], stream, length) != (ssize_t)length)
		exit(99);
	close(fds[1]);
	pmp_receiver_new(fds[0], &receiver, NULL);
	status = pmp_receiver_next(receiver, &received, NULL);
	*batch = received.heap;
	pmp_sample_free(received.sample);
	pmp_receiver_free(receiver);
	close(fds[0]);
	return status;
}

static size_t record(const struct pmp_heap_batch *batch, char *stream)
{
	struct pmp_sender *sender;
	ssize_t length;
	int fds[2];

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, fds))
		exit(99);
	pmp_sender_new(fds[1], &sender, NULL);
	is_int(pmp_sender_heap(sender, batch, NULL), 0, "a batch is sent");
	length = read(fds[0], stream, STREAM_MAX);
	pmp_sender_free(sender);
	close(fds[0]);
	close(fds[1]);
	return (size_t)length;
}

static bool indices_valid(const struct pmp_heap_batch *batch)
{
	for (size_t i = 0; i < batch->event_count; i++) {
		const struct pmp_heap_event *event = &batch->events[i];

		if (event->kind >= PMP_HEAP_KIND_COUNT ||
		    event->thread >= batch->thread_count ||
		    event->frame > batch->frame_count ||
		    event->frame_count > batch->frame_count - event->frame)
			return false;
	}
	return true;
}

static void test_damage(char *stream, size_t length)
{
	size_t wrong = 0, refused = 0;
	struct pmp_heap_batch *got;

	for (size_t i = 0; i < length; i++) {
		for (unsigned bit = 0; bit < 8; bit++) {
			stream[i] ^= (char)(1 << bit);
			refused += receive(stream, length, &got) < 0;
			wrong += got && !indices_valid(got);
			pmp_heap_batch_free(got);
			stream[i] ^= (char)(1 << bit);
		}
	}
	is_int(wrong, 0, "whatever bit is damaged, indices are within bounds");
	ok(refused > 100, "%zu of these streams are refused", refused);
}

int main(void)
{
	struct pmp_heap_batch *batch = make_batch(), *got;
	static char stream[STREAM_MAX];
	size_t length = record(batch, stream);

	is_int(receive(stream, length, &got), 1, "and received");
	ok(got && same_batch(batch, got), "as it was");
	pmp_heap_batch_free(got);
	is_int(receive(stream, length - 9, &got), PMP_ESRCH, "one that is cut is none");
	test_damage(stream, length);
	pmp_heap_batch_free(batch);
	return done_testing();
}

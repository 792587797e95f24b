/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Arbitrary bytes to a receiver of samples. The first byte says how they come:
 * the size of the pieces, and whether each brings a descriptor along.
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

/* Touch all that was received, so that sanitizers see what is not there. */
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
	for (size_t i = 0; sample->maps && i < sample->maps->region_count; i++)
		sum += strlen(sample->maps->regions[i].module->path);
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
		/* Never true, but the compiler does not know. */
		if (received.sample && use(received.sample) == UINT64_MAX)
			abort();
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

/* ---- seeds: what a sender sends ------------------------------------------- */

static struct pmp_sample *make_sample(uint64_t generation, unsigned modules, int fd)
{
	static const struct pmp_raw_frame frames[3] = { { 0x1010, 1 }, { 0x2020, 0 } };
	struct pmp_sample *sample = pmp_sample_new();

	sample->pid = 7;
	strcpy(sample->name, "seed");
	sample->maps = pmp_maps_new();
	sample->maps->generation = generation;
	for (uint32_t i = 0; i < modules; i++) {
		struct pmp_module *module = pmp_module_new(i, PMP_MODULE_FILE, "/lib/x");
		struct pmp_region region = {
			.start = 0x1000 * (i + 1),
			.end = 0x1000 * (i + 2),
			.module = module,
		};

		module->fd = fd < 0 ? -1 : dup(fd);
		pmp_maps_add_module(sample->maps, module);
		pmp_maps_add_region(sample->maps, &region);
	}
	for (unsigned i = 0; i < 3; i++) {
		struct pmp_thread *thread = pmp_sample_add_thread(sample);

		strcpy(thread->name, "thread");
		thread->tid = (pid_t)i;
		thread->reading = 1;
		thread->obtained = PMP_UNCHANGED;
		pmp_sample_add_frames(sample, frames, 3);
	}
	return sample;
}

size_t fuzz_seed(unsigned n, uint8_t *data, size_t size)
{
	struct pmp_sender *sender;
	size_t length = 1;
	ssize_t got;
	int fds[2];

	/* Bit 0: descriptors; 1: small pieces; 2: a second address space. */
	if (n >= 8 || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds))
		return 0;
	pmp_sender_new(fds[0], &sender, NULL);
	for (unsigned i = 0; i < 1 + (n >> 2); i++) {
		struct pmp_sample *sample = make_sample(i, 1 + i, n & 1 ? fds[0] : -1);

		pmp_sender_sample(sender, sample, NULL);
		/* Once more: now its threads are places in the one before. */
		pmp_sender_sample(sender, sample, NULL);
		pmp_sender_note(sender, i, "seed", 4, NULL);
		pmp_sample_free(sample);
	}
	pmp_sender_free(sender);
	shutdown(fds[0], SHUT_WR);
	data[0] = (n & 1 ? WITH_FD : 0) | (n & 2 ? 0 : 7 << 4);
	while ((got = read(fds[1], data + length, size - length)) > 0)
		length += (size_t)got;
	close(fds[0]);
	close(fds[1]);
	return length;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A sampler that has been taken over, and sends modules without end or order. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "lib/tap.h"
#include "sample.h"
#include "wire/encoding.h"
#include "wire/receiver.h"

#define TARGET 5
#define MANY 262144u  /* modules */
#define FLOOD 300000u /* modules that are forgotten again: 28 MiB */
#define ENDLESS_MAX ((uint64_t)256 << 20)
#define PATIENCE 120 /* s, after which a test that hangs is ended */
#define IMAGE (1 << 16)

/* ---- what it sends ------------------------------------------------------------------------ */

struct lot {
	char *data;
	size_t length, capacity;
};

static void add(struct lot *lot, const void *data, size_t length)
{
	if (lot->length + length > lot->capacity) {
		lot->capacity = 2 * (lot->length + length);
		lot->data = realloc(lot->data, lot->capacity);
		if (!lot->data)
			exit(99);
	}
	if (length)
		memcpy(lot->data + lot->length, data, length);
	lot->length += length;
}

static void add_header(struct lot *lot, uint32_t type, size_t length)
{
	const struct pmp_wire_header header = { PMP_WIRE_MAGIC, type, (uint32_t)length,
						TARGET };

	add(lot, &header, sizeof(header));
}

/* Its path has a length of 8. */
static void add_module(struct lot *lot, uint32_t id, enum pmp_module_kind kind,
		       const char *path, size_t image)
{
	const struct pmp_wire_module module = {
		.id = id, .kind = kind, .path_length = 8, .image_size = image
	};
	static const char memory[2 * PMP_WIRE_IMAGE_MAX];

	add_header(lot, PMP_WIRE_MODULE, sizeof(module) + 8 + image);
	add(lot, &module, sizeof(module));
	add(lot, path, 8);
	add(lot, memory, image);
}

static void add_file(struct lot *lot, uint32_t id)
{
	add_module(lot, id, PMP_MODULE_FILE, "/a/file1", 0);
}

static void add_maps(struct lot *lot, const uint32_t ids[2])
{
	const struct pmp_wire_maps maps = { .generation = 1,
					    .module_count = 2,
					    .perf_map = PMP_WIRE_NO_MODULE };

	add_header(lot, PMP_WIRE_MAPS, sizeof(maps) + 8);
	add(lot, &maps, sizeof(maps));
	add(lot, ids, 8);
}

static void add_sample(struct lot *lot)
{
	const struct pmp_wire_sample sample = { .generation = 1, .has_maps = 1 };
	static const char padding[8];

	add_header(lot, PMP_WIRE_SAMPLE, sizeof(sample));
	add(lot, &sample, sizeof(sample));
	add(lot, padding, -sizeof(sample) & 7);
}

/* Instead of that of the C library: whoever sends the endless lot is never too slow. */
static const struct lot *endless;
static uint64_t endless_sent;

ssize_t recvmsg(int fd, struct msghdr *message, int flags)
{
	const struct iovec *room = message->msg_iov;
	size_t at, n;

	if (!endless)
		return syscall(SYS_recvmsg, fd, message, flags);
	if (endless_sent >= ENDLESS_MAX) {
		errno = EAGAIN;
		return -1;
	}
	at = (size_t)(endless_sent % endless->length);
	n = endless->length - at < room->iov_len ? endless->length - at : room->iov_len;
	memcpy(room->iov_base, endless->data + at, n);
	message->msg_controllen = 0;
	message->msg_flags = 0;
	endless_sent += n;
	return (ssize_t)n;
}

static void send_lot(int fd, const struct lot *lot)
{
	for (size_t at = 0; at < lot->length;) {
		ssize_t n = send(fd, lot->data + at, lot->length - at, MSG_NOSIGNAL);

		if (n <= 0)
			_exit(1);
		at += (size_t)n;
	}
}

/* ---- both ends ---------------------------------------------------------------------------- */

struct pair {
	struct pmp_receiver *receiver;
	int in;
	pid_t child;
};

/* A process that sends the lot, and stays. */
static void begin(struct pair *pair, const struct lot *lot)
{
	int fds[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds))
		exit(99);
	pair->child = fork();
	if (pair->child == 0) {
		close(fds[0]);
		alarm(PATIENCE);
		send_lot(fds[1], lot);
		for (;;)
			pause();
	}
	close(fds[1]);
	pair->in = fds[0];
	fcntl(pair->in, F_SETFL, O_NONBLOCK);
	pmp_receiver_new(pair->in, &pair->receiver, NULL);
	alarm(PATIENCE);
}

static void end(struct pair *pair)
{
	alarm(0);
	kill(pair->child, SIGKILL);
	waitpid(pair->child, NULL, 0);
	pmp_receiver_free(pair->receiver);
	close(pair->in);
}

/* Receive as a loop does: when there is nothing more it waits for the socket. */
static int receive(struct pair *pair, struct pmp_received *received,
		   struct pmp_error *err)
{
	struct pollfd poller = { .fd = pair->in, .events = POLLIN };
	int status;

	while ((status = pmp_receiver_next(pair->receiver, received, err)) == 0)
		poll(&poller, 1, -1);
	return status;
}

/* What comes of a lot: a status, 1 if all is received. */
static int status_of(struct lot *lot, uint64_t known, struct pmp_error *err)
{
	struct pmp_received received;
	struct pair pair;
	int status;

	add_header(lot, PMP_WIRE_NOTE, 0);
	begin(&pair, lot);
	pmp_receiver_limit(pair.receiver, UINT64_MAX, SIZE_MAX, known);
	status = receive(&pair, &received, err);
	end(&pair);
	free(lot->data);
	*lot = (struct lot){ 0 };
	return status;
}

/* ---- order -------------------------------------------------------------------------------- */

/* CPU time to receive many modules, in s. */
static double receive_many(bool descending)
{
	static const uint32_t ids[] = { 7, MANY - 7 };
	struct pmp_received received = { 0 };
	struct lot lot = { 0 };
	struct pair pair;
	clock_t before;
	double used;

	for (uint32_t i = 0; i < MANY; i++)
		add_file(&lot, descending ? MANY - i : i + 1);
	add_maps(&lot, ids);
	add_sample(&lot);
	begin(&pair, &lot);
	before = clock();
	is_int(receive(&pair, &received, NULL), 1, "modules in %s order",
	       descending ? "descending" : "ascending");
	used = (double)(clock() - before) / CLOCKS_PER_SEC;
	ok(received.sample && received.sample->maps->module_count == 2 &&
		   received.sample->maps->modules[0]->id == ids[0] &&
		   received.sample->maps->modules[1]->id == ids[1],
	   "are found");
	pmp_sample_free(received.sample);
	end(&pair);
	free(lot.data);
	return used;
}

static void test_order(void)
{
	const double up = receive_many(false), down = receive_many(true);

	ok(down < 1 + 20 * up, "in about the same time: %.2f s and %.2f s", down, up);
}

/* Of two modules with one number the later one counts. */
static void test_again(void)
{
	static const uint32_t ids[] = { 3, 8 };
	struct pmp_received received = { 0 };
	struct lot lot = { 0 };
	struct pair pair;

	add_module(&lot, 8, PMP_MODULE_FILE, "/8/first", 0);
	add_module(&lot, 3, PMP_MODULE_FILE, "/3/first", 0);
	add_module(&lot, 8, PMP_MODULE_FILE, "/8/again", 0);
	add_module(&lot, 3, PMP_MODULE_FILE, "/3/again", 0);
	add_module(&lot, 8, PMP_MODULE_FILE, "/8/third", 0);
	add_maps(&lot, ids);
	add_sample(&lot);
	add_module(&lot, 3, PMP_MODULE_FILE, "/3/later", 0);
	add_maps(&lot, ids);
	add_sample(&lot);
	begin(&pair, &lot);
	is_int(receive(&pair, &received, NULL), 1, "modules that are sent again");
	is_str(received.sample->maps->modules[0]->path, "/3/again", "replace the first");
	is_str(received.sample->maps->modules[1]->path, "/8/third", "and the second");
	pmp_sample_free(received.sample);
	is_int(receive(&pair, &received, NULL), 1, "later once more");
	is_str(received.sample->maps->modules[0]->path, "/3/later", "replaces it");
	is_str(received.sample->maps->modules[1]->path, "/8/third", "and nothing else");
	pmp_sample_free(received.sample);
	end(&pair);
	free(lot.data);
}

/* ---- floods ------------------------------------------------------------------------------- */

/* Modules that are forgotten again. */
static struct lot flood(uint32_t count)
{
	struct lot lot = { 0 };

	for (uint32_t i = 0; i < count; i++) {
		add_file(&lot, i);
		add_header(&lot, PMP_WIRE_FORGET, 0);
	}
	return lot;
}

static void test_endless(void)
{
	struct lot lot = flood(1000);
	struct pmp_received received;
	struct pair pair;

	begin(&pair, &lot);
	endless = &lot;
	is_int(pmp_receiver_next(pair.receiver, &received, NULL), 0,
	       "a flood without end brings nothing");
	ok(endless_sent < ENDLESS_MAX, "but others have their turn: after %llu bytes",
	   (unsigned long long)endless_sent);
	endless = NULL;
	end(&pair);
	free(lot.data);
}

static void test_flood(void)
{
	struct lot lot = flood(FLOOD);
	struct pmp_received received;
	struct pair pair;

	add_header(&lot, PMP_WIRE_NOTE, 0);
	begin(&pair, &lot);
	is_int(receive(&pair, &received, NULL), 1,
	       "what comes after a flood is received as soon as it is there");
	end(&pair);
	begin(&pair, &lot);
	fcntl(pair.in, F_SETFL, 0);
	is_int(pmp_receiver_next(pair.receiver, &received, NULL), 1,
	       "by a socket that blocks in one call");
	end(&pair);
	free(lot.data);
}

/* ---- memory ------------------------------------------------------------------------------- */

static void test_memory(void)
{
	static const uint32_t ids[] = { 1, 2 };
	struct pmp_error err = { 0 };
	struct lot lot = { 0 };

	for (uint32_t i = 0; i < 100; i++)
		add_module(&lot, i, PMP_MODULE_VDSO, "an image", IMAGE);
	is_int(status_of(&lot, 50 * IMAGE, &err), PMP_ELIMIT, "more than is kept");
	is_str(err.message, "the other process describes more mapped files than are kept",
	       "the message");
	for (uint32_t i = 0; i < 100000; i++)
		add_file(&lot, i);
	is_int(status_of(&lot, 50 * IMAGE, &err), PMP_ELIMIT, "also without images");
	for (uint32_t i = 0; i < 100; i++) {
		add_module(&lot, 1, PMP_MODULE_VDSO, "an image", IMAGE);
		add_module(&lot, 2, PMP_MODULE_KERNEL, "an image", IMAGE);
		add_maps(&lot, ids);
	}
	is_int(status_of(&lot, 50 * IMAGE, &err), 1, "what is forgotten does not count");
	add_module(&lot, 1, PMP_MODULE_VDSO, "an image", PMP_WIRE_IMAGE_MAX + 8);
	is_int(status_of(&lot, UINT64_MAX, &err), PMP_EFORMAT,
	       "an image that is too large");
	add_module(&lot, 1, PMP_MODULE_FILE, "an image", IMAGE);
	is_int(status_of(&lot, UINT64_MAX, &err), PMP_EFORMAT, "one of a file");
}

int main(void)
{
	test_order();
	test_again();
	test_endless();
	test_flood();
	test_memory();
	return done_testing();
}

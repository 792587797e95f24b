/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * uring: leaves a read of an empty pipe to io_uring, which makes a thread of the kernel for
 * it (iou-wrk-PID) in this process. Its status is 3 where there is no io_uring.
 *
 * Verdict: the read ends when a byte comes, and not before.
 */
#include "target.h"

#include <linux/io_uring.h>
#include <sys/mman.h>

#define ENTRIES 4

static struct io_uring_params params;
static char *ring;
static int uring;

static unsigned *word(unsigned offset)
{
	return (unsigned *)(void *)(ring + offset);
}

static unsigned completed(void)
{
	return __atomic_load_n(word(params.cq_off.tail), __ATOMIC_ACQUIRE);
}

static void *map(size_t size, off_t what)
{
	void *at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE,
			uring, what);

	if (at == MAP_FAILED)
		target_die("mmap");
	return at;
}

/* One mapping has both rings (IORING_FEAT_SINGLE_MMAP, Linux 5.4). */
static void open_ring(void)
{
	uring = (int)syscall(SYS_io_uring_setup, ENTRIES, &params);
	if (uring < 0 || !(params.features & IORING_FEAT_SINGLE_MMAP))
		_exit(3);
	ring = map(params.cq_off.cqes + params.cq_entries * sizeof(struct io_uring_cqe),
		   IORING_OFF_SQ_RING);
}

static void leave_read(int fd, char *byte)
{
	struct io_uring_sqe *entry = map(ENTRIES * sizeof(*entry), IORING_OFF_SQES);

	entry[0] = (struct io_uring_sqe){
		.opcode = IORING_OP_READ,
		.flags = IOSQE_ASYNC,
		.fd = fd,
		.addr = (uintptr_t)byte,
		.len = 1,
	};
	*word(params.sq_off.array) = 0;
	__atomic_store_n(word(params.sq_off.tail), 1, __ATOMIC_RELEASE);
	if (syscall(SYS_io_uring_enter, uring, 1, 0, 0, NULL, 0) != 1)
		target_die("io_uring_enter");
}

int main(void)
{
	static char byte;
	bool early;
	int fds[2];

	target_begin();
	open_ring();
	if (pipe(fds))
		target_die("pipe");
	leave_read(fds[0], &byte);
	target_ready();
	target_wait_end();
	early = completed();
	if (write(fds[1], "x", 1) != 1)
		target_die("write");
	for (int ms = 0; !completed() && ms < TARGET_PATIENCE * 1000; ms++)
		usleep(1000);
	if (early || byte != 'x')
		target_verdict("the read ended %s", early ? "early" : "without its byte");
	target_verdict(NULL);
}

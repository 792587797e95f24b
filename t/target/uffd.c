/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * uffd: the thread "trapped" sleeps (uffd_inner), and its caller's frame lies on
 * pages that are missing and that a userfaultfd has to fill in, which nothing ever
 * does: who reads them the wrong way waits for ever. "free" sleeps next to it.
 * Prints "unavailable" where userfaultfd is not permitted.
 */
#include "target.h"

#include <alloca.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

#define STACK_SIZE (256 * 1024)
#define PAGE 4096
#define LOST_SIZE (2 * PAGE) /* the page of uffd_outer's frame and the one below */
/* Between the frames, so that the inner ones are not on these pages, nor the
 * thread's own data at the upper end, which the kernel writes to. */
#define DISTANCE (64 * 1024)

static atomic_int trapped_tid;
static uintptr_t outer_frame;

static NOINLINE void uffd_inner(volatile char *room)
{
	for (;;)
		room[0] = (char)poll(NULL, 0, -1);
}

static NOINLINE void uffd_outer(void)
{
	volatile char *room = alloca(DISTANCE);

	room[0] = 1;
	outer_frame = (uintptr_t)__builtin_frame_address(0);
	trapped_tid = gettid();
	uffd_inner(room);
}

static NOINLINE void *uffd_main(void *arg)
{
	volatile char *room = alloca(DISTANCE);

	room[0] = 1;
	uffd_outer();
	return arg;
}

static NOINLINE void free_main(void *arg)
{
	for (;;)
		poll(NULL, 0, -1);
	(void)arg;
}

static void unavailable(void)
{
	printf("unavailable\n");
	target_ready();
	target_wait_end();
	target_verdict(NULL);
}

static void lose_pages(uintptr_t frame)
{
	uintptr_t start = (frame & ~(uintptr_t)(PAGE - 1)) - PAGE;
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register where = {
		.range = { start, LOST_SIZE },
		.mode = UFFDIO_REGISTER_MODE_MISSING,
	};
	long fd = syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK);

	if (fd < 0 || ioctl((int)fd, UFFDIO_API, &api) ||
	    ioctl((int)fd, UFFDIO_REGISTER, &where))
		unavailable();
	if (madvise((void *)start, LOST_SIZE, MADV_DONTNEED))
		target_die("madvise");
}

int main(void)
{
	pthread_attr_t attr;
	pthread_t thread;
	char *stack;

	target_begin();
	stack = mmap(NULL, STACK_SIZE, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (stack == MAP_FAILED)
		target_die("mmap");
	pthread_attr_init(&attr);
	pthread_attr_setstack(&attr, stack, STACK_SIZE);
	errno = pthread_create(&thread, &attr, uffd_main, NULL);
	if (errno)
		target_die("pthread_create");
	pthread_setname_np(thread, "trapped");
	while (!trapped_tid)
		target_nap(1);
	target_wait_asleep(trapped_tid);
	target_wait_asleep(target_thread("free", free_main, NULL));
	lose_pages(outer_frame);
	target_ready();
	target_wait_end();
	target_verdict(NULL);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fuzz target: what a thread waits for, from any system call and memory. A holder must be
 * an existing thread, unless it is marked as still to be checked.
 *
 *	layout (1), number of the call (1), operation (2), value (4), stack word (1),
 *	memory around the lock (the rest)
 */
#include "fuzz.h"

#include "capture/wait-decode.h"

#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#define BASE UINT64_C(0x7f3100000000)
#define LOCK (BASE + 128)
#define WAITER 4
#define LAST 9 /* threads are WAITER to LAST */

struct memory {
	const uint8_t *data;
	size_t size;
};

static bool read_memory(void *arg, uint64_t address, void *data, size_t length)
{
	const struct memory *memory = arg;

	if (address < BASE || address - BASE > memory->size ||
	    memory->size - (address - BASE) < length)
		return false;
	memcpy(data, memory->data + (address - BASE), length);
	return true;
}

static bool is_thread(void *arg, pid_t tid)
{
	(void)arg;
	return tid >= WAITER && tid <= LAST;
}

static void check(const struct pmp_wait *wait)
{
	if (wait->kind >= PMP_WAIT_COUNT || wait->holder_is >= PMP_HOLDER_COUNT)
		abort();
	if (wait->holder_is == PMP_HOLDER_THREAD && !is_thread(NULL, wait->holder))
		abort();
	if (wait->holder_is == PMP_HOLDER_SELF && wait->holder != WAITER)
		abort();
	if ((wait->holder_is == PMP_HOLDER_NONE || wait->holder_is == PMP_HOLDER_FREE) &&
	    wait->holder)
		abort();
	if (!wait->kind && (wait->holder_is || wait->object || wait->holder))
		abort();
	if (wait->kind == PMP_WAIT_FUTEX ? wait->holder_is || wait->count
					 : wait->words.flags || wait->words.far)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const int numbers[] = { SYS_futex, SYS_restart_syscall, 455, 449 };
	uint64_t args[6] = { LOCK }, stack[PMP_WAIT_STACK];
	struct pmp_wait wait;
	uint16_t operation;
	uint32_t value;

	if (size < 16)
		return 0;
	memcpy(&operation, data + 2, sizeof(operation));
	memcpy(&value, data + 4, sizeof(value));
	args[1] = operation;
	args[2] = value;
	args[3] = data[9];
	for (size_t i = 0; i < PMP_WAIT_STACK; i++)
		stack[i] = i % 4 == 1 ? LOCK - data[8] : data[9 + i % 4];
	{
		struct memory memory = { data + 16, size - 16 };
		const struct pmp_wait_call call = {
			.tid = WAITER,
			.number = numbers[data[1] % 4],
			.args = args,
			.wchan = "futex",
			.known = data[1] / 4 % PMP_WAIT_COUNT,
			.stack = stack,
			.stack_count = PMP_WAIT_STACK,
		};
		const struct pmp_wait_memory all = { { read_memory, &memory },
						     data[0] / 2 % 3,
						     data[0] % 2
							     ? &pmp_thread_layout_aarch64
							     : &pmp_thread_layout_x86_64,
						     is_thread,
						     NULL };

		pmp_wait_decode(&call, &all, &wait);
	}
	check(&wait);
	return 0;
}

/* A mutex, a rwlock, a FILE of musl, a condition variable. */
size_t fuzz_seed(unsigned n, uint8_t *data, size_t size)
{
	static const struct {
		uint8_t operation, value, at, byte;
	} seeds[] = {
		{ 0, 2, 8, 5 }, { 128, 3, 12, 3 }, { 0, 5, 0, 5 }, { 137, 0, 0, 8 }
	};

	if (n >= sizeof(seeds) / sizeof(*seeds) || size < 512)
		return 0;
	memset(data, 0, 512);
	data[2] = seeds[n].operation;
	data[4] = seeds[n].value;
	data[8] = 40;
	data[16 + 128 + seeds[n].at] = seeds[n].byte;
	data[16 + 128 + 12] |= 1;
	return 512;
}

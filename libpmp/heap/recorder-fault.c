/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See recorder-fault.h. Empty in a real build. */
#include "heap/recorder-fault.h"

#ifdef PMP_FAULTS
#include "heap/recorder-syscall.h"

#include <stdbool.h>

#define STACK_USED 14000
#define SPINS 3000

uint32_t recorder_faults;

static const char variable[] = "PMP_FAULT=";

/* Does a list, as far as the next comma, begin with that word and nothing more? */
static bool is_word(const char *list, const char *word)
{
	while (*word && *list == *word) {
		list++;
		word++;
	}
	return !*word && (!*list || *list == ',');
}

static void read_list(const char *list)
{
	static const char *const names[] = {
#define RECORDER_FAULT_NAME(name, text) text,
		RECORDER_FAULTS(RECORDER_FAULT_NAME)
	};

	for (bool begins = true; *list; begins = *list++ == ',')
		for (size_t i = 0; begins && i < sizeof(names) / sizeof(*names); i++)
			if (is_word(list, names[i]))
				recorder_faults |= 1u << i;
}

void recorder_fault_read(char **environment)
{
	for (; environment && *environment; environment++) {
		size_t i = 0;

		while (variable[i] && (*environment)[i] == variable[i])
			i++;
		if (!variable[i])
			read_list(*environment + i);
	}
}

static uint32_t lock;

static __attribute__((noinline)) void use_stack(void)
{
	volatile char much[STACK_USED];

	for (size_t i = 0; i < sizeof(much); i += 512)
		much[i] = 1;
}

void recorder_fault_sample(void *(*allocate)(size_t size), void (*release)(void *block))
{
	if (RECORDER_FAULT(LOCKS))
		while (__atomic_exchange_n(&lock, 1, __ATOMIC_ACQUIRE))
			;
	if (RECORDER_FAULT(ALLOCATES))
		release(allocate(100));
	if (RECORDER_FAULT(CALLS))
		sys_call(SYS_getppid, 0, 0, 0);
	if (RECORDER_FAULT(STACK))
		use_stack();
}

void recorder_fault_sampled(void)
{
	if (RECORDER_FAULT(LOCKS))
		__atomic_store_n(&lock, 0, __ATOMIC_RELEASE);
}

/* For something to come in between. */
void recorder_fault_wait(void)
{
	for (volatile unsigned i = 0; RECORDER_FAULT(REENTERS) && i < SPINS; i++)
		;
}
#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See recorder-fault.h. Empty in a real build. */
#include "heap/recorder-fault.h"

#ifdef PMP_FAULTS
#include "heap/recorder-syscall.h"

#include <stdbool.h>

#define STACK_USED 14000
#define SPINS 3000
#define TIMES 64 /* steps of half an octave, of ns */
#define TEXT_SIZE 128

uint32_t recorder_faults;

static const char variable[] = "PMP_FAULT=";

/* Is this word the first one of a comma-separated list? */
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

/* ---- times of samples ---------------------------------------------------------------- */

static uint64_t times[TIMES], time_sum, time_count;
static __thread uint64_t began __attribute__((tls_model("initial-exec")));

static uint64_t now(recorder_clock *clock)
{
	struct timespec time = { 0, 0 };

	if (clock)
		clock(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

/* Step 2n begins at 2^n, step 2n + 1 at 1.5 * 2^n. */
static unsigned step_of(uint64_t ns)
{
	const unsigned octave = 63u - (unsigned)__builtin_clzll(ns | 1);
	const unsigned step = 2 * octave + (octave && ns >> (octave - 1) & 1);

	return step < TIMES ? step : TIMES - 1;
}

static void count_time(uint64_t ns)
{
	__atomic_fetch_add(&times[step_of(ns)], 1, __ATOMIC_RELAXED);
	__atomic_fetch_add(&time_sum, ns, __ATOMIC_RELAXED);
	__atomic_fetch_add(&time_count, 1, __ATOMIC_RELAXED);
}

/* An upper bound for so many percent of the samples, ns. */
static uint64_t percentile(unsigned percent)
{
	uint64_t count = 0;
	unsigned i = 0;

	while (i < TIMES && (count += times[i]) * 100 < time_count * percent)
		i++;
	return (UINT64_C(1) << (i + 1) / 2) + (i % 2 ? 0 : UINT64_C(1) << (i / 2) >> 1);
}

static size_t put(char *text, size_t at, const char *what, uint64_t number)
{
	char digits[20];
	size_t count = 0;

	while (*what)
		text[at++] = *what++;
	do
		digits[count++] = (char)('0' + number % 10);
	while (number /= 10);
	while (count)
		text[at++] = digits[--count];
	return at;
}

__attribute__((destructor)) static void say_times(void)
{
	char text[TEXT_SIZE];
	size_t length;

	if (!RECORDER_FAULT(TIMES) || !time_count)
		return;
	length = put(text, 0, "recorder: samples=", time_count);
	length = put(text, length, " mean_ns=", time_sum / time_count);
	length = put(text, length, " p50_ns_below=", percentile(50));
	length = put(text, length, " p90_ns_below=", percentile(90));
	text[length++] = '\n';
	sys_call(SYS_write, 2, (long)text, (long)length);
}

/* ---- around each sample -------------------------------------------------------------- */

void recorder_fault_sample(void *(*allocate)(size_t size), void (*release)(void *block),
			   recorder_clock *clock)
{
	if (RECORDER_FAULT(TIMES))
		began = now(clock);
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

void recorder_fault_sampled(recorder_clock *clock)
{
	if (RECORDER_FAULT(TIMES))
		count_time(now(clock) - began);
	if (RECORDER_FAULT(LOCKS))
		__atomic_store_n(&lock, 0, __ATOMIC_RELEASE);
}

/* Give a signal handler time to interrupt. */
void recorder_fault_wait(void)
{
	for (volatile unsigned i = 0; RECORDER_FAULT(REENTERS) && i < SPINS; i++)
		;
}
#endif

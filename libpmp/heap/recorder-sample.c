/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is due now and then: the sums shared by all threads, and samples. Meanwhile, the
 * calls of a signal handler that interrupts the thread are only counted.
 */
#include "heap/recorder.h"

#include "heap/recorder-copy.h"

#define SAMPLES_A_SECOND 2000 /* beyond it, the rate is doubled */
#define FAILURES_A_SECOND 500 /* beyond it, failures are only counted */
#define RATE_MOST (UINT64_C(1) << 30)
#define WINDOW UINT64_C(1000000000)
#define BEHIND_EVERY UINT64_C(200000000) /* ns */
#define FRACTION 16			 /* bits of logarithms */
#define LN_2 45426			 /* the natural logarithm of 2, so many bits */
#define UNIFORM 53			 /* bits of numbers in [0, 1) */
#define PAGE 4096u			 /* the smallest page size */

/* ---- sums --------------------------------------------------------------------------- */

static void raise_peak(int64_t live)
{
	struct pmp_heap_process *process = recorder.process;
	int64_t peak = __atomic_load_n(&process->peak, __ATOMIC_RELAXED);

	while (live > peak) {
		if (!__atomic_compare_exchange_n(&process->peak, &peak, live, false,
						 __ATOMIC_RELAXED, __ATOMIC_RELAXED))
			continue;
		__atomic_store_n(&process->peak_time, now_coarse(), __ATOMIC_RELAXED);
		return;
	}
}

static void add_live(int64_t bytes)
{
	raise_peak(__atomic_add_fetch(&recorder.process->live, bytes, __ATOMIC_RELAXED));
}

static void publish(struct pmp_heap_slot *slot)
{
	const int64_t net = (int64_t)(slot->allocated - slot->freed);
	const int64_t change = net - slot->published;

	recorder_fault_wait();
	slot->published = net;
	slot->due_freed = recorder.exact ? 0 : slot->freed + HEAP_QUANTUM;
	add_live(change);
}

void sample_publish(struct pmp_heap_slot *slot)
{
	if (UNLIKELY(recorder_is_copy())) {
		recorder_forked();
		return;
	}
	if (!recorder.process || recorder.gone) {
		slot->due_freed = UINT64_MAX;
		return;
	}
	/* In a signal handler: the interrupted code publishes, or will at the next call. */
	if (thread.busy && !RECORDER_FAULT(REENTERS)) {
		slot->due_freed = slot->freed + HEAP_QUANTUM;
		return;
	}
	thread.busy++;
	publish(slot);
	thread.busy--;
}

void sample_common(unsigned function, size_t allocated, size_t freed)
{
	struct pmp_heap_process *process = recorder.process;

	if (!process || recorder.gone)
		return;
	if (function < PMP_HEAP_CALLS)
		__atomic_fetch_add(&process->calls[function], 1, __ATOMIC_RELAXED);
	__atomic_fetch_add(&process->allocated, allocated, __ATOMIC_RELAXED);
	__atomic_fetch_add(&process->freed, freed, __ATOMIC_RELAXED);
	add_live((int64_t)(allocated - freed));
}

/* ---- the distance to the next sample -------------------------------------------------- */

/* The binary logarithm, by squaring, and without floating point, whose flags belong to the
 * program. */
static uint64_t log_2(uint64_t number)
{
	const unsigned bits = 63u - (unsigned)__builtin_clzll(number);
	uint64_t result = (uint64_t)bits << FRACTION;
	uint64_t mantissa = bits > 31 ? number >> (bits - 31) : number << (31 - bits);

	for (unsigned bit = FRACTION; bit-- > 0;) {
		mantissa = mantissa * mantissa >> 31;
		if (mantissa >> 32) {
			mantissa >>= 1;
			result |= UINT64_C(1) << bit;
		}
	}
	return result;
}

static uint64_t next_random(struct pmp_heap_slot *slot)
{
	uint64_t x = slot->random;

	if (!x)
		x = ((uintptr_t)slot ^ now_coarse()) | 1;
	x ^= x >> 12;
	x ^= x << 25;
	x ^= x >> 27;
	slot->random = x;
	return x * UINT64_C(2685821657736338717);
}

static uint32_t current_rate(void)
{
	const uint64_t rate = __atomic_load_n(&recorder.header->rate, __ATOMIC_RELAXED);

	return (uint32_t)(rate < RATE_MOST ? rate : RATE_MOST);
}

/*
 * -ln(1 - v) * rate, for v in [0, 1). For a small v that is v + v^2 / 2 + v^3 / 3: log_2()
 * has too few bits there for blocks that are much smaller than the rate.
 */
static uint64_t distance(uint64_t random, uint32_t rate)
{
	const uint64_t v = random >> (64 - UNIFORM), one = UINT64_C(1) << UNIFORM;
	uint64_t square, cube, bits;

	if (v >> (UNIFORM - 8) == 0) {
		square = (v >> 14) * (v >> 14) >> (UNIFORM - 28);
		cube = (v >> 25) * (v >> 25) * (v >> 25) >> (2 * UNIFORM - 75);
		return ((v + square / 2 + cube / 3) >> 12) * rate >> (UNIFORM - 12);
	}
	bits = ((uint64_t)UNIFORM << FRACTION) - log_2(one - v);
	return (bits * LN_2 >> FRACTION) * rate >> FRACTION;
}

/* Draw the next sample, at a distance from that number of allocated bytes. */
static void draw(struct pmp_heap_slot *slot, uint64_t from)
{
	slot->rate = current_rate();
	slot->sample_at = from + distance(next_random(slot), slot->rate);
}

static void set_due(struct pmp_heap_slot *slot)
{
	const uint64_t publish_at = slot->allocated + HEAP_QUANTUM;

	if (recorder.exact)
		slot->due_allocated = 0;
	else if (recorder.records && slot->sample_at < publish_at)
		slot->due_allocated = slot->sample_at;
	else
		slot->due_allocated = publish_at;
}

static bool has_many(uint64_t now)
{
	static uint64_t window;
	static uint32_t samples;

	if (now - __atomic_load_n(&window, __ATOMIC_RELAXED) > WINDOW) {
		__atomic_store_n(&window, now, __ATOMIC_RELAXED);
		__atomic_store_n(&samples, 0, __ATOMIC_RELAXED);
	}
	if (__atomic_add_fetch(&samples, 1, __ATOMIC_RELAXED) <= SAMPLES_A_SECOND)
		return false;
	__atomic_store_n(&samples, 0, __ATOMIC_RELAXED);
	return true;
}

/* Is the reader behind? If it is waiting for a processor, it gets one soon; until then the
 * rest of the ring is enough, if the number of samples is halved now and then. */
static bool is_behind(uint64_t now)
{
	static uint64_t found;
	const struct pmp_heap_header *header = recorder.header;
	const uint64_t filled = __atomic_load_n(&header->head, __ATOMIC_RELAXED) -
				__atomic_load_n(&header->tail, __ATOMIC_RELAXED);
	uint64_t before = __atomic_load_n(&found, __ATOMIC_RELAXED);

	return filled > PMP_HEAP_RING_SIZE / 2 && now - before > BEHIND_EVERY &&
	       __atomic_compare_exchange_n(&found, &before, now, false, __ATOMIC_RELAXED,
					   __ATOMIC_RELAXED);
}

/* Are there too many samples, or is pmp slow? Then take half as many, until pmp asks for
 * more. */
static void check_load(uint64_t now)
{
	uint64_t rate = __atomic_load_n(&recorder.header->rate, __ATOMIC_RELAXED);

	if (recorder.exact || rate >= RATE_MOST)
		return;
	if (has_many(now) || is_behind(now))
		__atomic_compare_exchange_n(&recorder.header->rate, &rate, rate * 2,
					    false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

/* ---- records ------------------------------------------------------------------------- */

/*
 * How much of the stack can be copied from sp on. If the end of the stack is not known, up
 * to the end of the page that this function's own frame ends in.
 */
static __attribute__((always_inline)) inline size_t copy_size(const char *sp, bool *other)
{
	const char *frame = __builtin_frame_address(0);
	size_t left = thread_stack_left(sp);

	*other = !left;
	if (!left)
		left = ((((uintptr_t)frame + 8) | (PAGE - 1)) + 1) - (uintptr_t)sp;
	if (left > recorder.max_stack)
		left = recorder.max_stack;
	return left & ~(size_t)7;
}

static uint32_t record_length(size_t size)
{
	return (uint32_t)((size + PMP_HEAP_ALIGN - 1) & ~(size_t)(PMP_HEAP_ALIGN - 1));
}

static void describe(struct pmp_heap_record *record, const struct call *call,
		     uint64_t rate)
{
	record->kind = call->kind;
	record->function = call->function;
	record->pointer = (uintptr_t)call->block;
	record->asked = call->asked;
	record->usable = call->usable;
	record->rate = rate;
	record->count = 0;
}

/* Make a record with registers and stack, to be completed. */
static __attribute__((noinline)) struct pmp_heap_record *
record_stack(const struct call *call, uint64_t rate)
{
	const char *sp = copy_stack_pointer();
	struct pmp_heap_record *record;
	bool other;
	size_t size = copy_size(sp, &other);

	record = ring_reserve(record_length(sizeof(*record) + size));
	if (!record)
		return NULL;
	describe(record, call, rate);
	record->has_regs = 1;
	record->other_stack = other;
	record->stack_size = size;
	copy_registers(record->regs);
	copy_memory(record + 1, sp, size);
	return record;
}

void sample_record(const struct call *call, uint64_t rate)
{
	struct pmp_heap_record *record = record_stack(call, rate);

	if (record)
		ring_complete(record);
}

static void record_block(const struct call *call, uint64_t rate)
{
	struct pmp_heap_record *record = record_stack(call, rate);

	if (!record)
		return;
	/* If its free would not be recorded, the block would seem to live for ever. */
	if (!recorder.exact && !table_add(call->block)) {
		record->kind = PMP_HEAP_RECORD_PAD;
		__atomic_fetch_add(&recorder.process->untracked, 1, __ATOMIC_RELAXED);
	}
	ring_complete(record);
}

/* A sample is due. */
static void take_sample(const struct call *call, uint32_t rate)
{
	const uint64_t now = now_coarse();

	if (!recorder.records)
		return;
	if (!ring_has_reader(now)) {
		ring_lose();
		return;
	}
	check_load(now);
	recorder_fault_sample(next.malloc, next.free, next.clock_gettime);
	record_block(call, rate);
	recorder_fault_sampled(next.clock_gettime);
}

/* Take no sample: the call is of a signal handler that has interrupted this thread while it
 * was recording. */
static void pass_over(struct pmp_heap_slot *slot)
{
	slot->due_allocated = recorder.exact ? 0 : slot->allocated + HEAP_QUANTUM;
	if (recorder.exact && recorder.records)
		ring_lose();
}

/*
 * Is the block sampled at slot->rate? The rest of a distance has the same distribution as a
 * whole one, so it can be drawn again, even from before the block, but only if that does
 * not depend on its old value. A block larger than the quantum comes here in any case, so
 * it can use a new rate; a smaller one may be here because the sample is due, so it is
 * sampled at the rate of that.
 */
static bool is_chosen(struct pmp_heap_slot *slot, const struct call *call)
{
	if (!slot->rate || (call->usable > HEAP_QUANTUM && slot->rate != current_rate()))
		draw(slot, slot->allocated - call->usable);
	return slot->allocated > slot->sample_at;
}

static void choose(struct pmp_heap_slot *slot, const struct call *call)
{
	const bool chosen = is_chosen(slot, call);

	if (chosen)
		take_sample(call, slot->rate);
	if (chosen || slot->rate != current_rate())
		draw(slot, slot->allocated);
}

void sample_alloc(struct pmp_heap_slot *slot, const struct call *call)
{
	if (UNLIKELY(recorder_is_copy())) {
		recorder_forked();
		return;
	}
	if (recorder.gone || !recorder.process) {
		slot->due_allocated = UINT64_MAX;
		return;
	}
	if (thread.busy && !RECORDER_FAULT(REENTERS)) {
		pass_over(slot);
		return;
	}
	thread.busy = 1;
	publish(slot);
	if (recorder.exact)
		take_sample(call, 0);
	else
		choose(slot, call);
	set_due(slot);
	thread.busy = 0;
}

/* Without a slot there is no place for a remaining distance, so each block draws its own,
 * which samples as many. All threads share this sequence of random numbers. */
static bool is_chosen_alone(const struct call *call, uint32_t rate)
{
	static uint64_t state;
	uint64_t x = __atomic_add_fetch(&state, UINT64_C(0x9e3779b97f4a7c15),
					__ATOMIC_RELAXED);

	x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
	return call->usable > distance(x ^ x >> 31, rate);
}

void sample_common_block(unsigned function, const struct call *call)
{
	uint32_t rate;

	sample_common(function, call->usable, 0);
	if (!recorder.process || recorder.gone || !recorder.records)
		return;
	if (thread.busy) {
		if (recorder.exact)
			ring_lose();
		return;
	}
	rate = recorder.exact ? 0 : current_rate();
	if (!recorder.exact && !is_chosen_alone(call, rate))
		return;
	thread.busy = 1;
	take_sample(call, rate);
	thread.busy = 0;
}

static bool begin_at(uint64_t now)
{
	if (recorder.gone || !recorder.process || !recorder.records || thread.busy ||
	    recorder_is_copy() || !ring_has_reader(now))
		return false;
	thread.busy = 1;
	return true;
}

bool sample_begin(void)
{
	const uint64_t now = now_coarse();

	if (!begin_at(now))
		return false;
	check_load(now);
	return true;
}

void sample_end(void)
{
	thread.busy = 0;
}

/* A program may fail in an endless loop: that must not crowd out samples. */
static bool too_many_fail(uint64_t now)
{
	static uint64_t window;
	static uint32_t failures;

	if (recorder.exact)
		return false;
	if (now - __atomic_load_n(&window, __ATOMIC_RELAXED) > WINDOW) {
		__atomic_store_n(&window, now, __ATOMIC_RELAXED);
		__atomic_store_n(&failures, 0, __ATOMIC_RELAXED);
	}
	return __atomic_add_fetch(&failures, 1, __ATOMIC_RELAXED) > FAILURES_A_SECOND;
}

void sample_failed(struct pmp_heap_slot *slot, const struct call *call)
{
	struct pmp_heap_process *process = recorder.process;
	const bool is_realloc = call->kind == PMP_HEAP_REALLOC_FAILED;
	const uint64_t now = now_coarse();

	(void)slot;
	if (!process || recorder.gone)
		return;
	__atomic_fetch_add(is_realloc ? &process->failed_reallocs : &process->failed, 1,
			   __ATOMIC_RELAXED);
	if (too_many_fail(now) || !begin_at(now))
		return;
	sample_record(call, 0);
	sample_end();
}

/* ---- sampled blocks ------------------------------------------------------------------ */

static struct pmp_heap_record *record_free(const void *block)
{
	struct pmp_heap_record *record =
		ring_reserve(record_length(PMP_HEAP_RECORD_HEAD));
	const struct call call = { PMP_HEAP_FREE, PMP_HEAP_MALLOC, block, 0, 0 };

	if (record)
		describe(record, &call, 0);
	return record;
}

struct pmp_heap_record *sample_move(struct pmp_heap_slot *slot, const void *block)
{
	(void)slot;
	if (!recorder.records || recorder.gone)
		return NULL;
	if (!recorder.exact && !table_remove(block))
		return NULL;
	if (recorder.exact && !ring_has_reader(now_coarse())) {
		ring_lose();
		return NULL;
	}
	return record_free(block);
}

void sample_moved(struct pmp_heap_record *record, const void *block, bool is_free)
{
	if (!record)
		return;
	if (!is_free) {
		record->kind = PMP_HEAP_RECORD_PAD;
		if (!recorder.exact)
			table_add(block);
	}
	ring_complete(record);
}

void sample_free(struct pmp_heap_slot *slot, const void *block)
{
	sample_moved(sample_move(slot, block), block, true);
}

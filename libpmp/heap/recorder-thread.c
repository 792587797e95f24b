/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A thread's slot, which it gives back when it ends; and the place of its stack. As asking
 * for that later would take a lock, the functions that create threads are interposed. */
#include "heap/recorder.h"

#include "heap/recorder-exec.h"
#include "heap/recorder-syscall.h"

#define MAIN_STACK_MOST (64u << 20) /* nothing else is mapped that near below it */
#define DESCRIPTOR_ROOM 8192 /* at most used by a C library above the thread pointer */
#define PRIVATE_SLOTS 64
#define LOOK_AGAIN 64 /* when no slot was free, only every 64th thread looks again */

__thread struct thread thread __attribute__((tls_model("initial-exec")));

/* For processes that are not recorded, as calls have to be counted somewhere. */
static struct pmp_heap_slot private_slots[PRIVATE_SLOTS];
static uint32_t slot_hint;
static uint32_t without; /* threads since no slot was free; 0: one may be free */

/* ---- slots -------------------------------------------------------------------------- */

static void raise_to(uint32_t *number, uint32_t to)
{
	uint32_t is = __atomic_load_n(number, __ATOMIC_RELAXED);

	while (is < to &&
	       !__atomic_compare_exchange_n(number, &is, to, true, __ATOMIC_RELAXED,
					    __ATOMIC_RELAXED))
		;
}

static bool claim(uint32_t index, uint32_t tid)
{
	struct pmp_heap_slot *slot = &recorder.slots[index];
	const uint32_t own = recorder.index + 1;
	uint32_t none = 0, free_process = 0;

	if ((slot->process && slot->process != own) ||
	    !__atomic_compare_exchange_n(&slot->tid, &none, tid, false, __ATOMIC_ACQUIRE,
					 __ATOMIC_RELAXED))
		return false;
	if (slot->process == own ||
	    __atomic_compare_exchange_n(&slot->process, &free_process, own, false,
					__ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
		raise_to(&recorder.header->slots_used, index + 1);
		return true;
	}
	__atomic_store_n(&slot->tid, 0, __ATOMIC_RELEASE);
	return false;
}

/* If no slot was free, most of the next threads do not search again. Some do, as other
 * processes give slots back as well. */
static bool is_hopeless(void)
{
	return __atomic_load_n(&without, __ATOMIC_RELAXED) &&
	       __atomic_add_fetch(&without, 1, __ATOMIC_RELAXED) % LOOK_AGAIN;
}

static struct pmp_heap_slot *find_slot(uint32_t tid)
{
	const uint32_t hint = __atomic_load_n(&slot_hint, __ATOMIC_RELAXED);

	if (is_hopeless())
		return NULL;
	for (uint32_t i = 0; i < PMP_HEAP_SLOTS; i++) {
		const uint32_t index = (hint + i) % PMP_HEAP_SLOTS;

		if (recorder.slots[index].tid || !claim(index, tid))
			continue;
		__atomic_store_n(&slot_hint, index + 1, __ATOMIC_RELAXED);
		__atomic_store_n(&without, 0, __ATOMIC_RELAXED);
		return &recorder.slots[index];
	}
	__atomic_store_n(&without, 1, __ATOMIC_RELAXED);
	return NULL;
}

static struct pmp_heap_slot *private_slot(uint32_t tid)
{
	struct pmp_heap_slot *slot = &private_slots[tid % PRIVATE_SLOTS];

	slot->due_allocated = slot->due_freed = UINT64_MAX;
	return slot;
}

static void take_slot(struct pmp_heap_slot *slot)
{
	thread.slot = slot;
	thread.usual = recorder.chunk_sizes ? slot : NULL;
}

/* At the end of a thread; the counters stay. Other destructors are called after this one,
 * and then the C library frees memory of its own. A slot that these took would never be
 * given back, so they count without one. */
static void give_back(void *arg)
{
	struct pmp_heap_slot *slot = thread.slot;

	(void)arg;
	exec_end_thread();
	thread.no_slot = 1;
	take_slot(NULL);
	if (slot < recorder.slots || slot >= recorder.slots + PMP_HEAP_SLOTS ||
	    recorder.gone || recorder_is_copy())
		return;
	__atomic_store_n(&slot->tid, 0, __ATOMIC_RELEASE);
	__atomic_store_n(&slot_hint, (uint32_t)(slot - recorder.slots), __ATOMIC_RELAXED);
	__atomic_store_n(&without, 0, __ATOMIC_RELAXED);
}

struct pmp_heap_slot *thread_attach(void)
{
	recorder_start();
	if (thread.slot || thread.no_slot)
		return thread.slot;
	thread.tid = (uint32_t)sys_call(SYS_gettid, 0, 0, 0);
	if (!recorder.process || recorder.gone) {
		take_slot(private_slot(thread.tid));
		return thread.slot;
	}
	take_slot(find_slot(thread.tid));
	thread.no_slot = !thread.slot;
	if (thread.slot && recorder.has_thread_key)
		next.pthread_setspecific(recorder.thread_key, thread.slot);
	return thread.slot;
}

void thread_start(void)
{
	thread.stack_end = recorder.main_stack;
	thread.stack_low = recorder.main_stack - MAIN_STACK_MOST;
	recorder.has_thread_key =
		next.pthread_key_create && next.pthread_setspecific &&
		next.pthread_key_create(&recorder.thread_key, give_back) == 0;
}

void thread_forked(void)
{
	take_slot(NULL);
	thread.no_slot = 0;
	thread.busy = 0;
	slot_hint = 0;
	without = 0;
}

/* ---- stacks ------------------------------------------------------------------------- */

size_t thread_stack_left(const char *sp)
{
	return sp >= thread.stack_low && sp < thread.stack_end
		       ? (size_t)(thread.stack_end - sp)
		       : 0;
}

static char *thread_pointer(void)
{
	char *pointer;

#ifdef __x86_64__
	__asm__ volatile("movq %%fs:0, %0" : "=r"(pointer));
#else
	__asm__ volatile("mrs %0, tpidr_el0" : "=r"(pointer));
#endif
	return pointer;
}

/* A thread's stack, made by the C library or given to it, ends a little above the thread
 * pointer. */
static void know_stack(size_t size)
{
	if (size <= DESCRIPTOR_ROOM)
		return;
	thread.stack_end = thread_pointer();
	thread.stack_low = thread.stack_end + DESCRIPTOR_ROOM - size;
}

struct begin {
	void *(*start)(void *arg);
	int (*start_c11)(void *arg);
	void *arg;
	size_t stack_size;
};

static struct begin take_begin(void *arg)
{
	struct begin begin = *(struct begin *)arg;

	next.free(arg);
	know_stack(begin.stack_size);
	return begin;
}

static void *begin_thread(void *arg)
{
	struct begin begin = take_begin(arg);

	return begin.start(begin.arg);
}

static int begin_c11(void *arg)
{
	struct begin begin = take_begin(arg);

	return begin.start_c11(begin.arg);
}

/* The stack size of a thread with these attributes, or without any; 0: not known. */
static size_t stack_size_of(const pthread_attr_t *attr)
{
	pthread_attr_t usual;
	size_t size = 0;

	if (!next.pthread_attr_getstacksize || !next.pthread_attr_init ||
	    (!attr && next.pthread_attr_init(&usual)) ||
	    next.pthread_attr_getstacksize(attr ? attr : &usual, &size))
		return 0;
	return size;
}

/* From the program's allocator, without being counted. */
static struct begin *new_begin(const pthread_attr_t *attr, void *arg)
{
	struct begin *begin;

	recorder_start();
	begin = recorder.process && !recorder.gone ? next.malloc(sizeof(*begin)) : NULL;
	if (begin)
		*begin = (struct begin){ .arg = arg, .stack_size = stack_size_of(attr) };
	return begin;
}

INTERPOSED int pthread_create(pthread_t *handle, const pthread_attr_t *attr,
			      void *(*start)(void *arg), void *arg)
{
	struct begin *begin = new_begin(attr, arg);
	int status;

	if (!begin)
		return next.pthread_create(handle, attr, start, arg);
	begin->start = start;
	status = next.pthread_create(handle, attr, begin_thread, begin);
	if (status)
		next.free(begin);
	return status;
}

INTERPOSED int thrd_create(thrd_t *handle, thrd_start_t start, void *arg)
{
	struct begin *begin = next.thrd_create ? new_begin(NULL, arg) : NULL;
	int status;

	if (!begin)
		return next.thrd_create ? next.thrd_create(handle, start, arg)
					: thrd_error;
	begin->start_c11 = start;
	status = next.thrd_create(handle, begin_c11, begin);
	if (status != thrd_success)
		next.free(begin);
	return status;
}

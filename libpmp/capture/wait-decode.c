/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One function for each kind of lock: they are tried in turn, and the first
 * that recognizes its own bytes decides. */
#include "capture/wait-decode.h"

#include "base/fault.h"
#include "base/syscalls.h"

#include <linux/futex.h>
#include <string.h>
#include <sys/syscall.h>

#ifndef FUTEX_LOCK_PI2
#define FUTEX_LOCK_PI2 13
#endif
#define FUTEX2_PRIVATE_FLAG 128

#define USERS_MAX (1u << 24)	 /* of a mutex; more: not a mutex */
#define MUSL_WAITERS_MAX 100000	 /* of a mutex of musl */
#define CONDITION_LAG (1u << 26) /* wakeups between a waiter and its condition */
#define JOIN_DISTANCE 2368	 /* at most, from a thread block to its joinstate */
#define JOIN_STATE_MAX 3	 /* largest of its values */
#define LATCH_OLD_REST 0x10000	 /* limit of an older latch's word, without its top bit */

/* ---- the call ------------------------------------------------------------------- */

static bool begins(const char *text, const char *with)
{
	return strncmp(text, with, strlen(with)) == 0;
}

/* A timed wait that was interrupted continues as restart_syscall, with the arguments of
 * the original call. */
static bool has_futex_arguments(const struct pmp_wait_call *call)
{
	return call->number == SYS_futex ||
	       (call->number == SYS_restart_syscall &&
		(begins(call->wchan, "futex") || begins(call->wchan, "rt_mutex")));
}

static bool is_waiting(unsigned command)
{
	return command == FUTEX_WAIT || command == FUTEX_WAIT_BITSET ||
	       command == FUTEX_LOCK_PI || command == FUTEX_LOCK_PI2;
}

bool pmp_wait_is_futex(const struct pmp_wait_call *call)
{
	if (has_futex_arguments(call))
		return is_waiting((unsigned)call->args[1] & FUTEX_CMD_MASK);
	return call->number == PMP_SYSCALL_FUTEX_WAIT ||
	       call->number == PMP_SYSCALL_FUTEX_WAITV;
}

/* ---- results -------------------------------------------------------------------- */

static void set_object(const struct pmp_futex_view *view, struct pmp_wait *wait,
		       enum pmp_wait_kind kind, int offset)
{
	wait->kind = (uint8_t)kind;
	wait->object = view->futex + (uint64_t)(int64_t)offset;
}

static void set_holder(const struct pmp_futex_view *view, struct pmp_wait *wait,
		       uint32_t tid)
{
	wait->holder = (pid_t)(tid & FUTEX_TID_MASK);
	if (!wait->holder)
		wait->holder_is = PMP_HOLDER_FREE;
	else if (wait->holder == view->call->tid)
		wait->holder_is = PMP_HOLDER_SELF;
	else if (pmp_futex_is_thread(view, (uint32_t)wait->holder))
		wait->holder_is = PMP_HOLDER_THREAD;
	else
		wait->holder_is = PMP_HOLDER_UNCHECKED;
}

/* A lock word that holds its owner's tid, and whether the owner has died. */
static void set_holder_word(const struct pmp_futex_view *view, struct pmp_wait *wait,
			    uint32_t word)
{
	if (word & FUTEX_OWNER_DIED)
		wait->flags |= PMP_WAIT_OWNER_DIED;
	set_holder(view, wait, word);
}

/* ---- the kinds ------------------------------------------------------------------- */

/* Valid bits of the kind of a mutex, or of its type in musl. */
enum { GLIBC_KNOWN = 0x3f3, MUSL_KNOWN = 0x8f };

static bool is_plain(const struct pmp_futex_view *view)
{
	return view->command == FUTEX_WAIT || view->command == FUTEX_WAIT_BITSET;
}

/* Offset of the mutex: glibc's begins at the word, musl's has its type before it. */
static int pi_mutex_base(const struct pmp_futex_view *view)
{
	enum { KIND = 16, INHERIT = 32, MUSL_TYPE = -4, MUSL_INHERIT = 8 };
	uint32_t kind, type;

	if (pmp_futex_u32(view, KIND, &kind) && kind & INHERIT &&
	    !(kind & ~(uint32_t)GLIBC_KNOWN))
		return 0;
	if (pmp_futex_u32(view, MUSL_TYPE, &type) && type & MUSL_INHERIT &&
	    !(type & ~(uint32_t)MUSL_KNOWN))
		return MUSL_TYPE;
	return 0;
}

/* The kernel hands the lock to a waiter before that one runs, and lets no thread wait for
 * its own lock. */
static bool decode_pi(const struct pmp_futex_view *view, struct pmp_wait *wait)
{
	uint32_t word;

	if (is_plain(view) || !pmp_futex_u32(view, 0, &word))
		return false;
	set_object(view, wait, PMP_WAIT_MUTEX, pi_mutex_base(view));
	set_holder_word(view, wait, word);
	if (wait->holder_is == PMP_HOLDER_SELF && !PMP_FAULT("given-to-self")) {
		wait->holder_is = PMP_HOLDER_FREE;
		wait->holder = 0;
	}
	return true;
}

/* Four words that pthread_cond_wait() keeps for its cleanup: its position in the sequence
 * of waiters, the condition, the mutex, and whether both are private. */
static bool is_cleanup_record(const struct pmp_futex_view *view, const uint64_t *words,
			      uint64_t condition, uint64_t distance)
{
	uint64_t sequence, lag;
	uint32_t share = (uint32_t)words[3];
	char byte;

	if (words[1] != condition || (words[0] & 1) != (distance >> 2 & 1) ||
	    (share != 0 && share != 128) ||
	    !pmp_futex_read_u64(view, condition, &sequence))
		return false;
	lag = (sequence >> 1) - (words[0] >> 1);
	if ((!lag || lag >= CONDITION_LAG) && !PMP_FAULT("loose-condition"))
		return false;
	return pmp_read(&view->memory->reader, words[2], &byte, 1);
}

static bool decode_condition(const struct pmp_futex_view *view, struct pmp_wait *wait)
{
	static const uint8_t distances[] = { 40, 44, /* up to glibc 2.40 */ 32, 36 };
	const struct pmp_wait_call *call = view->call;

	if (!is_plain(view))
		return false;
	for (size_t i = 0; i + 4 <= call->stack_count; i++) {
		const uint64_t *words = &call->stack[i];

		for (size_t k = 0; k < sizeof(distances); k++) {
			uint64_t condition = view->futex - distances[k];

			if (condition % 8 ||
			    !is_cleanup_record(view, words, condition, distances[k]))
				continue;
			set_object(view, wait, PMP_WAIT_CONDITION, -distances[k]);
			wait->mutex = words[2];
			return true;
		}
	}
	return false;
}

static bool joins(const struct pmp_futex_view *view, struct pmp_wait *wait,
		  uint64_t block, pid_t tid)
{
	wait->kind = PMP_WAIT_JOIN;
	wait->object = block;
	set_holder(view, wait, (uint32_t)tid);
	return true;
}

/* The word is the thread's tid, which the kernel clears when it exits. */
static bool decode_join(const struct pmp_futex_view *view, struct pmp_wait *wait)
{
	uint64_t block = view->futex - view->memory->layout->tid;
	pid_t tid;

	if (!is_plain(view) || view->private)
		return false;
	tid = pmp_futex_block_thread(view, block);
	return tid && (uint32_t)tid == view->value && joins(view, wait, block, tid);
}

/* Since glibc 2.43 it is a state, another word of the same block. Memory mapped right
 * after a block looks like part of it, so this decoder is tried last. */
static bool decode_new_join(const struct pmp_futex_view *view, struct pmp_wait *wait)
{
	const uint64_t alignment = view->memory->layout->alignment;
	uint64_t block = view->futex & ~(alignment - 1);

	if (!is_plain(view) || view->private || view->value > JOIN_STATE_MAX)
		return false;
	for (; view->futex - block <= JOIN_DISTANCE; block -= alignment) {
		pid_t tid = pmp_futex_block_thread(view, block);

		if (tid)
			return tid != view->call->tid && joins(view, wait, block, tid);
	}
	return false;
}

static bool decode_join_musl(const struct pmp_futex_view *view, struct pmp_wait *wait)
{
	int offset = view->memory->layout->musl_join;
	uint64_t self;
	uint32_t tid;

	if (!is_plain(view) || !pmp_futex_u64(view, -offset, &self) ||
	    self != view->futex - (uint64_t)offset || !pmp_futex_u32(view, -8, &tid) ||
	    !pmp_futex_is_thread(view, tid))
		return false;
	return joins(view, wait, self, (pid_t)tid);
}

/* The lock of a FILE names its owner by the address of a thread block. Tried before
 * mutexes, to which the halves of that address may look like an owner and a count. */
static bool decode_stdio(const struct pmp_futex_view *view, struct pmp_wait *wait)
{
	uint64_t block;
	pid_t tid;

	if (view->command != FUTEX_WAIT || view->value != 2 ||
	    !pmp_futex_u64(view, 8, &block))
		return false;
	tid = pmp_futex_block_thread(view, block);
	if (!tid)
		return false;
	set_object(view, wait, PMP_WAIT_STDIO, 0);
	set_holder(view, wait, (uint32_t)tid);
	return true;
}

/* pthread_mutex_t of glibc: lock, count, owner, users, kind. known: it certainly is a
 * mutex, so it may also be free. */
static bool decode_mutex_as(const struct pmp_futex_view *view, bool known,
			    struct pmp_wait *wait)
{
	enum { OWNER = 8, USERS = 12, KIND = 16 };
	enum { ROBUST = 16, PROTECTED = 64, CEILING = 19 };
	uint32_t word, owner, users, kind;

	if (!is_plain(view) || !pmp_futex_u32(view, 0, &word) ||
	    !pmp_futex_u32(view, OWNER, &owner) || !pmp_futex_u32(view, USERS, &users) ||
	    !pmp_futex_u32(view, KIND, &kind) || (kind & ~(uint32_t)GLIBC_KNOWN) ||
	    users > USERS_MAX)
		return false;
	/* Without users it is free, or being taken or released: then other locks look the
	 * same. */
	if (!users && !(kind & ROBUST) && !known)
		return false;
	if (kind & ROBUST) {
		if (!(view->value & FUTEX_WAITERS))
			return false;
		/* Without users it is free, or being taken or released: it would look
		 * like a mutex of musl. */
		set_object(view, wait, PMP_WAIT_MUTEX, 0);
		if (users || !(word & FUTEX_TID_MASK))
			set_holder_word(view, wait, word);
		return true;
	}
	if (kind & PROTECTED ? (view->value & ((1u << CEILING) - 1)) != 2
			     : view->value != 2)
		return false;
	set_object(view, wait, PMP_WAIT_MUTEX, 0);
	set_holder(view, wait, owner);
	return true;
}

static bool decode_mutex(const struct pmp_futex_view *view, struct pmp_wait *wait)
{
	return decode_mutex_as(view, view->call->known == PMP_WAIT_MUTEX, wait);
}

/* pthread_rwlock_t of glibc. */
enum {
	RW_WRITERS_FUTEX = 12,
	RW_PHASE_FUTEX = 8,
	RW_PADDING = 16,
	RW_WRITER = 24,
	RW_SHARED = 28,
	RW_FLAGS = 48,
	RW_WRITE_PHASE = 1,
	RW_WRITE_LOCKED = 2,
	RW_READER_SHIFT = 3,
	RW_ALIGNMENT = 8,
};

/* Two of its words are 4 bytes apart and may have the same value: its alignment tells
 * which one it is. */
static bool is_rwlock(const struct pmp_futex_view *view, int base)
{
	uint32_t phase, writers, shared, flags;
	uint64_t padding;

	return (view->futex + (uint64_t)(int64_t)base) % RW_ALIGNMENT == 0 &&
	       pmp_futex_u32(view, base + RW_PHASE_FUTEX, &phase) && phase <= 3 &&
	       pmp_futex_u32(view, base + RW_WRITERS_FUTEX, &writers) && writers <= 3 &&
	       pmp_futex_u64(view, base + RW_PADDING, &padding) && !padding &&
	       pmp_futex_u32(view, base + RW_SHARED, &shared) && shared <= 1 &&
	       pmp_futex_u32(view, base + RW_FLAGS, &flags) && flags <= 2;
}

/* The next writer has locked out all others while it waits for the readers. Without this
 * check a free mutex, with zeros around it, would look the same. */
static bool is_next_writer(const struct pmp_futex_view *view, int base)
{
	uint32_t readers, writers;

	return is_rwlock(view, base) && pmp_futex_u32(view, base, &readers) &&
	       readers & RW_WRITE_LOCKED &&
	       pmp_futex_u32(view, base + RW_WRITERS_FUTEX, &writers) && writers & 1;
}

/* Offset of the lock from the word that a reader or writer waits on; 1: not a rwlock. */
static int rwlock_base(const struct pmp_futex_view *view, unsigned *flags)
{
	enum { READERS_WAIT = 6, PHASE_MASK = 7 };
	uint32_t value = view->value;

	*flags = 0;
	if (value == 2 && is_next_writer(view, -RW_PHASE_FUTEX)) {
		*flags = PMP_WAIT_WRITE | PMP_WAIT_NEXT;
		return -RW_PHASE_FUTEX;
	}
	if (value > PHASE_MASK && (value & PHASE_MASK) == READERS_WAIT &&
	    is_rwlock(view, 0))
		return 0;
	if (value == 3 && is_rwlock(view, -RW_PHASE_FUTEX))
		return -RW_PHASE_FUTEX;
	if (value == 3 && is_rwlock(view, -RW_WRITERS_FUTEX)) {
		*flags = PMP_WAIT_WRITE;
		return -RW_WRITERS_FUTEX;
	}
	return 1;
}

static bool decode_rwlock(const struct pmp_futex_view *view, struct pmp_wait *wait)
{
	const uint32_t held = RW_WRITE_PHASE | RW_WRITE_LOCKED;
	uint32_t readers, writer;
	unsigned flags;
	int base;

	if (!is_plain(view))
		return false;
	base = rwlock_base(view, &flags);
	if (base > 0 || !pmp_futex_u32(view, base, &readers) ||
	    !pmp_futex_u32(view, base + RW_WRITER, &writer))
		return false;
	/* No thread holds it: zeros like these are found around many futexes. */
	if (!readers)
		return false;
	set_object(view, wait, PMP_WAIT_RWLOCK, base);
	wait->flags |= (uint16_t)flags;
	if ((readers & held) == held) {
		set_holder(view, wait, writer);
		return true;
	}
	/* Unless a reader that waited for the end of the writers' phase has been let
	 * in. */
	if (view->value != 3 || flags || readers & RW_WRITE_PHASE)
		wait->count = readers >> RW_READER_SHIFT;
	if (!wait->count)
		wait->holder_is = PMP_HOLDER_FREE;
	return true;
}

/* Mutex of musl: type, lock (the futex), waiters. A normal one does not name its owner. */
static bool decode_mutex_musl(const struct pmp_futex_view *view, struct pmp_wait *wait)
{
	enum { TYPE = -4, WAITERS = 4, OWNED = 15, TAKEN = 16 /* EBUSY */ };
	uint32_t type, word, waiters;

	if (view->command != FUTEX_WAIT || !(view->value & FUTEX_WAITERS) ||
	    !pmp_futex_u32(view, TYPE, &type) || (type & ~(uint32_t)MUSL_KNOWN) ||
	    !pmp_futex_u32(view, 0, &word) || !pmp_futex_u32(view, WAITERS, &waiters) ||
	    !waiters || waiters > MUSL_WAITERS_MAX ||
	    (!(type & OWNED) && view->value != (FUTEX_WAITERS | TAKEN)))
		return false;
	set_object(view, wait, PMP_WAIT_MUTEX, TYPE);
	if (type & OWNED || PMP_FAULT("musl-any-type"))
		set_holder_word(view, wait, word);
	else if (!(word & ~(uint32_t)FUTEX_WAITERS))
		wait->holder_is = PMP_HOLDER_FREE;
	return true;
}

/* The lock of a FILE of musl: the word is its owner's tid. A thread that waits on an
 * earlier owner's value stayed asleep when that owner woke another waiter. */
static bool decode_stdio_musl(const struct pmp_futex_view *view, struct pmp_wait *wait)
{
	const uint32_t waiters = 0x40000000;
	uint32_t word;

	if (view->command != FUTEX_WAIT || !(view->value & waiters) ||
	    !pmp_futex_is_thread(view, view->value & ~waiters) ||
	    !pmp_futex_u32(view, 0, &word))
		return false;
	word &= ~waiters;
	if (word && !pmp_futex_is_thread(view, word))
		return false;
	set_object(view, wait, PMP_WAIT_STDIO, 0);
	set_holder(view, wait, word);
	return true;
}

/* A read-write latch of InnoDB: its word, and its owner's pthread_t after it; a thread
 * that waits for the readers to leave already is the owner, and waits on another word. */
static bool decode_latch(const struct pmp_futex_view *view, struct pmp_wait *wait)
{
	enum { OWNER = 16, OWNER_OF_READERS = 12, READERS = -4 };
	bool top = view->value & FUTEX_WAITERS;
	uint32_t rest = view->value & ~(uint32_t)FUTEX_WAITERS;
	uint64_t block;
	pid_t tid;

	if (view->command != FUTEX_WAIT || !view->private)
		return false;
	if ((!top && view->value >= 3 && view->value % 2) ||
	    (top && rest < LATCH_OLD_REST)) {
		tid = pmp_futex_u64(view, OWNER, &block)
			      ? pmp_futex_block_thread(view, block)
			      : 0;
		if (tid && tid != view->call->tid) {
			set_object(view, wait, PMP_WAIT_LATCH, 0);
			set_holder(view, wait, (uint32_t)tid);
			return true;
		}
	}
	if (!top || !pmp_futex_u64(view, OWNER_OF_READERS, &block) ||
	    pmp_futex_block_thread(view, block) != view->call->tid)
		return false;
	set_object(view, wait, PMP_WAIT_LATCH, READERS);
	wait->flags |= PMP_WAIT_WRITE | PMP_WAIT_NEXT;
	wait->count = rest;
	return true;
}

/* The order matters: a pointer to a thread's block is stronger evidence than small numbers
 * in the right places. */
static const struct {
	bool (*decode)(const struct pmp_futex_view *view, struct pmp_wait *wait);
	enum pmp_libc libc; /* the library that has it; ANY: all */
} decoders[] = {
	{ decode_pi, PMP_LIBC_ANY },	      { decode_condition, PMP_LIBC_GLIBC },
	{ decode_join, PMP_LIBC_GLIBC },      { decode_join_musl, PMP_LIBC_MUSL },
	{ decode_stdio, PMP_LIBC_GLIBC },     { decode_latch, PMP_LIBC_GLIBC },
	{ decode_mutex, PMP_LIBC_GLIBC },     { decode_rwlock, PMP_LIBC_GLIBC },
	{ decode_mutex_musl, PMP_LIBC_MUSL }, { decode_stdio_musl, PMP_LIBC_MUSL },
	{ decode_new_join, PMP_LIBC_GLIBC },
};

static bool decode(const struct pmp_futex_view *view, struct pmp_wait *wait)
{
	enum pmp_libc libc = view->memory->libc;

	for (size_t i = 0; i < sizeof(decoders) / sizeof(*decoders); i++)
		if ((libc == PMP_LIBC_ANY || decoders[i].libc == PMP_LIBC_ANY ||
		     decoders[i].libc == libc) &&
		    decoders[i].decode(view, wait))
			return true;
	return false;
}

/* ---- what only names can tell ------------------------------------------------------ */

static bool is_free_mutex(const struct pmp_futex_view *view)
{
	struct pmp_wait wait = { 0 };

	return view->memory->libc != PMP_LIBC_MUSL &&
	       decode_mutex_as(view, true, &wait) && wait.holder_is == PMP_HOLDER_FREE;
}

static void keep_words(const struct pmp_futex_view *view, struct pmp_wait_words *words)
{
	enum { BEFORE = -4, AT = 0, AFTER = 4, FAR = -32 };

	if (pmp_futex_u32(view, BEFORE, &words->before))
		words->flags |= PMP_WORD_BEFORE;
	if (pmp_futex_u32(view, AT, &words->at)) {
		words->flags |= PMP_WORD_AT;
		if (words->at == view->value)
			words->flags |= PMP_WORD_SAME;
	}
	if (pmp_futex_u32(view, AFTER, &words->after))
		words->flags |= PMP_WORD_AFTER;
	if (pmp_futex_u64(view, FAR, &words->far))
		words->flags |= PMP_WORD_FAR;
	if (is_free_mutex(view))
		words->flags |= PMP_WORD_FREE_MUTEX;
}

/* ---- all of them ------------------------------------------------------------------ */

/* futex_waitv(): the first one stands for all. */
static void decode_many(const struct pmp_wait_call *call,
			const struct pmp_wait_memory *memory, struct pmp_wait *wait)
{
	enum { ADDRESS = 8 };

	wait->kind = PMP_WAIT_FUTEX;
	if (!pmp_read(&memory->reader, call->args[0] + ADDRESS, &wait->object,
		      sizeof(wait->object)))
		wait->object = 0;
	if (call->args[3])
		wait->flags |= PMP_WAIT_TIMED;
}

static struct pmp_futex_view view_of(const struct pmp_wait_call *call,
				     const struct pmp_wait_memory *memory,
				     struct pmp_wait *wait)
{
	struct pmp_futex_view view = { .call = call,
				       .memory = memory,
				       .futex = call->args[0] };
	uint64_t timeout;

	if (call->number == PMP_SYSCALL_FUTEX_WAIT) {
		view.value = (uint32_t)call->args[1];
		view.command = FUTEX_WAIT_BITSET;
		view.private = call->args[3] & FUTEX2_PRIVATE_FLAG;
		timeout = call->args[4];
	} else {
		view.value = (uint32_t)call->args[2];
		view.command = (unsigned)call->args[1] & 0x7f;
		view.private = call->args[1] & FUTEX_PRIVATE_FLAG;
		timeout = call->args[3];
	}
	if (timeout)
		wait->flags |= PMP_WAIT_TIMED;
	if (!view.private)
		wait->flags |= PMP_WAIT_SHARED;
	return view;
}

void pmp_wait_decode(const struct pmp_wait_call *call,
		     const struct pmp_wait_memory *memory, struct pmp_wait *wait)
{
	struct pmp_futex_view view;

	*wait = (struct pmp_wait){ 0 };
	if (!pmp_wait_is_futex(call))
		return;
	if (call->number == PMP_SYSCALL_FUTEX_WAITV) {
		decode_many(call, memory, wait);
		return;
	}
	view = view_of(call, memory, wait);
	pmp_futex_read_bytes(&view);
	if (decode(&view, wait))
		return;
	wait->kind = PMP_WAIT_FUTEX;
	wait->object = view.futex;
	keep_words(&view, &wait->words);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a futex call and the bytes of a lock say: each kind as the C libraries make it; and
 * with one field changed to what they never make of it no holder is named.
 */
#include "lib/tap.h"

#include "capture/wait-decode.h"

#include <linux/futex.h>
#include <sys/syscall.h>

#define BASE UINT64_C(0x7f3100000000) /* of what can be read */
#define SIZE 8192
#define LOCK (BASE + 2560)  /* the futex, unless said otherwise */
#define BLOCK (BASE + 4096) /* of the holder's thread */
#define OWN_BLOCK (BASE + 6144)
#define OTHER (BASE + 64) /* something else that is mapped, a mutex */

#define WAITER 100
#define HOLDER 105
#define LAST 109   /* all from WAITER to this are threads */
#define NOBODY 900 /* not one */

#define PLAIN (FUTEX_WAIT | FUTEX_PRIVATE_FLAG)
#define TIMED (FUTEX_WAIT_BITSET | FUTEX_PRIVATE_FLAG)

/* A waiter, and the memory of its process. */
struct scene {
	unsigned char memory[SIZE];
	uint64_t end; /* of what can be read */
	uint64_t args[6];
	uint64_t stack[PMP_WAIT_STACK];
	int number;
	uint8_t known;
	const char *wchan;
	enum pmp_libc libc;
	const struct pmp_thread_layout *layout;
};

static bool read_memory(void *arg, uint64_t address, void *data, size_t length)
{
	const struct scene *scene = arg;

	if (address < BASE || address >= scene->end || scene->end - address < length)
		return false;
	memcpy(data, scene->memory + (address - BASE), length);
	return true;
}

static bool is_thread(void *arg, pid_t tid)
{
	(void)arg;
	return tid >= WAITER && tid <= LAST;
}

static void put32(struct scene *scene, uint64_t address, uint32_t value)
{
	memcpy(scene->memory + (address - BASE), &value, sizeof(value));
}

static void put64(struct scene *scene, uint64_t address, uint64_t value)
{
	memcpy(scene->memory + (address - BASE), &value, sizeof(value));
}

static void put_block(struct scene *scene, uint64_t block, uint32_t tid)
{
	const struct pmp_thread_layout *layout = scene->layout;

	if (layout->self_pointers) {
		put64(scene, block, block);
		put64(scene, block + layout->self, block);
	} else {
		/* The list has a neighbour, which points back. */
		put64(scene, block + layout->list, block + 512);
		put64(scene, block + 512 + 8, block + layout->list);
	}
	put32(scene, block + layout->tid, tid);
}

/* A futex wait for a value; the blocks of two threads are there. */
static void begin(struct scene *scene, const struct pmp_thread_layout *layout,
		  unsigned operation, uint32_t value)
{
	*scene = (struct scene){
		.end = BASE + SIZE,
		.args = { LOCK, operation, value },
		.number = SYS_futex,
		.wchan = "",
		.layout = layout,
	};
	put_block(scene, BLOCK, HOLDER);
	put_block(scene, OWN_BLOCK, WAITER);
	put64(scene, OTHER, 1);
}

static struct pmp_wait decode(struct scene *scene)
{
	const struct pmp_wait_call call = {
		.tid = WAITER,
		.number = scene->number,
		.args = scene->args,
		.wchan = scene->wchan,
		.known = scene->known,
		.stack = scene->stack,
		.stack_count = PMP_WAIT_STACK,
	};
	const struct pmp_wait_memory memory = {
		.reader = { read_memory, scene },
		.libc = scene->libc,
		.layout = scene->layout,
		.is_thread = is_thread,
	};
	struct pmp_wait wait;

	pmp_wait_decode(&call, &memory, &wait);
	return wait;
}

/* ---- each kind as it is made ----------------------------------------------------- */

/* Of glibc: lock, count, owner, users, kind. */
static void make_mutex(struct scene *scene, uint32_t word, uint32_t owner, uint32_t kind)
{
	put32(scene, LOCK, word);
	put32(scene, LOCK + 8, owner);
	put32(scene, LOCK + 12, 1);
	put32(scene, LOCK + 16, kind);
}

static void make_normal(struct scene *scene)
{
	scene->args[2] = 2;
	make_mutex(scene, 2, HOLDER, 0);
}

static void make_recursive(struct scene *scene)
{
	scene->args[2] = 2;
	make_mutex(scene, 2, HOLDER, 1);
	put32(scene, LOCK + 4, 3);
}

static void make_timed(struct scene *scene)
{
	make_normal(scene);
	scene->args[1] = TIMED | FUTEX_CLOCK_REALTIME;
	scene->args[3] = OTHER;
}

static void make_protected(struct scene *scene)
{
	scene->args[2] = 7u << 19 | 2;
	make_mutex(scene, 7u << 19 | 2, HOLDER, 64);
}

static void make_robust(struct scene *scene)
{
	scene->args[2] = FUTEX_WAITERS | HOLDER;
	make_mutex(scene, FUTEX_WAITERS | HOLDER, HOLDER, 16);
}

static void make_pi(struct scene *scene)
{
	scene->args[1] = FUTEX_LOCK_PI | FUTEX_PRIVATE_FLAG;
	scene->args[2] = 0;
	make_mutex(scene, FUTEX_WAITERS | HOLDER, 0, 32);
}

static void make_musl(struct scene *scene)
{
	scene->args[2] = UINT64_C(0xffffffff80000000) | HOLDER; /* its sign is extended */
	put32(scene, LOCK - 4, 1);
	put32(scene, LOCK, FUTEX_WAITERS | HOLDER);
	put32(scene, LOCK + 4, 1);
}

static void make_stdio(struct scene *scene)
{
	scene->args[2] = 2;
	put32(scene, LOCK, 2);
	put32(scene, LOCK + 4, 1);
	put64(scene, LOCK + 8, BLOCK);
}

static void make_stdio_musl(struct scene *scene)
{
	scene->args[2] = 0x40000000 | HOLDER;
	put32(scene, LOCK, 0x40000000 | HOLDER);
	put32(scene, LOCK - 4, UINT32_MAX);
}

static void make_join(struct scene *scene)
{
	scene->args[0] = BLOCK + scene->layout->tid;
	scene->args[1] = FUTEX_WAIT_BITSET | FUTEX_CLOCK_REALTIME;
	scene->args[2] = HOLDER;
}

/* Since glibc 2.43: a word inside the block. */
static void make_new_join(struct scene *scene)
{
	scene->args[0] = BLOCK + 1100;
	scene->args[1] = FUTEX_WAIT_BITSET;
	scene->args[2] = 1;
}

static void make_join_musl(struct scene *scene)
{
	uint64_t self = LOCK - scene->layout->musl_join;

	scene->args[2] = 2;
	put64(scene, self, self);
	put32(scene, LOCK - 8, HOLDER);
}

static void make_writer_behind_writer(struct scene *scene)
{
	uint64_t lock = LOCK - 8;

	scene->args[0] = lock + 12;
	scene->args[2] = 3;
	put32(scene, lock, 3);
	put32(scene, lock + 8, 1);
	put32(scene, lock + 12, 3);
	put32(scene, lock + 24, HOLDER);
}

static void make_reader_behind_writer(struct scene *scene)
{
	uint64_t lock = LOCK - 8;

	scene->args[2] = 3;
	put32(scene, lock, 8 | 3);
	put32(scene, lock + 8, 3);
	put32(scene, lock + 12, 1);
	put32(scene, lock + 24, HOLDER);
}

static void make_latch(struct scene *scene)
{
	scene->args[2] = 5;
	put32(scene, LOCK, 5);
	put64(scene, LOCK + 16, BLOCK);
}

static void make_old_latch(struct scene *scene)
{
	scene->args[2] = FUTEX_WAITERS | 3;
	put32(scene, LOCK - 4, 0xffff); /* else it is a mutex of musl */
	put32(scene, LOCK, FUTEX_WAITERS | 3);
	put64(scene, LOCK + 16, BLOCK);
}

/* A field, by its place from the futex (or in the arguments), and what it never is. */
struct damage {
	const char *field;
	int offset;
	uint32_t value;
	int argument; /* 1 and so on: not a field but an argument */
};

struct kind {
	const char *name;
	void (*make)(struct scene *);
	enum pmp_wait_kind kind;
	int object;	    /* from LOCK */
	uint64_t object_of; /* not LOCK but this */
	unsigned flags;
	struct damage damages[6];
};

static const struct kind kinds[] = {
	{ "a normal mutex", make_normal, PMP_WAIT_MUTEX,
	  .damages = { { "kind", 16, 4, 0 },
		       { "users", 12, 0, 0 },
		       { "many users", 12, 1u << 25, 0 },
		       { "value", .argument = 2, .value = 1 },
		       { "operation", .argument = 1, .value = FUTEX_WAKE } } },
	{ "a recursive mutex", make_recursive, .kind = PMP_WAIT_MUTEX },
	{ "a mutex with a timeout", make_timed, PMP_WAIT_MUTEX, .flags = PMP_WAIT_TIMED },
	{ "a mutex with a ceiling", make_protected, PMP_WAIT_MUTEX,
	  .damages = { { "kind", 16, 0, 0 },
		       { "value", .argument = 2, .value = 7u << 19 | 1 } } },
	{ "a robust mutex", make_robust, PMP_WAIT_MUTEX,
	  .damages = { { "users", 12, 0, 0 }, { "value", .argument = 2, .value = 7 } } },
	{ "a mutex with priority inheritance", make_pi, .kind = PMP_WAIT_MUTEX },
	{ "a mutex of musl", make_musl, PMP_WAIT_MUTEX, -4,
	  .damages = { { "type", -4, 0x100, 0 },
		       { "waiters", 4, 0, 0 },
		       { "many waiters", 4, 1u << 20, 0 } } },
	{ "a FILE", make_stdio, PMP_WAIT_STDIO,
	  .damages = { { "owner", 8, 0, 0 }, { "value", .argument = 2, .value = 1 } } },
	{ "a FILE of musl", make_stdio_musl, PMP_WAIT_STDIO,
	  .damages = { { "owner", 0, NOBODY, 0 },
		       { "value", .argument = 2, .value = 0x40000000 | NOBODY } } },
	{ "pthread_join", make_join, PMP_WAIT_JOIN, .object_of = BLOCK,
	  .damages = { { "value", .argument = 2, .value = LAST },
		       { "sharing", .argument = 1, .value = TIMED } } },
	{ "pthread_join of glibc 2.43", make_new_join, PMP_WAIT_JOIN, .object_of = BLOCK,
	  .damages = { { "sharing", .argument = 1, .value = TIMED } } },
	{ "a writer behind a writer", make_writer_behind_writer, PMP_WAIT_RWLOCK, -8,
	  .flags = PMP_WAIT_WRITE,
	  .damages = { { "phase", 0, 9, 0 },
		       { "padding", 8, 1, 0 },
		       { "sharing", 20, 2, 0 },
		       { "flags", 40, 3, 0 },
		       { "value", .argument = 2, .value = 4 } } },
	{ "a reader behind a writer", make_reader_behind_writer, PMP_WAIT_RWLOCK, -8,
	  .damages = { { "padding", 8, 1, 0 }, { "value", .argument = 2, .value = 1 } } },
	{ "a latch", make_latch, PMP_WAIT_LATCH,
	  .damages = { { "owner", 16, 1, 0 }, { "value", .argument = 2, .value = 4 } } },
	{ "a latch of older versions", make_old_latch, PMP_WAIT_LATCH,
	  .damages = { { "owner", 20, 1, 0 } } },
};

static void damage(struct scene *scene, const struct damage *damage)
{
	if (damage->argument)
		scene->args[damage->argument] = damage->value;
	else
		put32(scene, LOCK + (uint64_t)(int64_t)damage->offset, damage->value);
}

static void check_holder(const struct kind *kind, struct scene *scene)
{
	uint64_t object = (kind->object_of ? kind->object_of : LOCK) +
			  (uint64_t)(int64_t)kind->object;
	struct pmp_wait wait = decode(scene);

	is_int(wait.kind, kind->kind, "%s is recognized", kind->name);
	ok(wait.object == object, "%s: its address", kind->name);
	is_int(wait.holder_is, PMP_HOLDER_THREAD, "%s has a holder", kind->name);
	is_int(wait.holder, HOLDER, "%s: it is that thread", kind->name);
	is_int(wait.flags & ~PMP_WAIT_SHARED, kind->flags, "%s: and nothing more is said",
	       kind->name);
}

static void check_kind(const struct kind *kind, const struct pmp_thread_layout *layout)
{
	struct scene scene;

	begin(&scene, layout, PLAIN, 0);
	kind->make(&scene);
	check_holder(kind, &scene);
	for (size_t i = 0; i < 6 && kind->damages[i].field; i++) {
		begin(&scene, layout, PLAIN, 0);
		kind->make(&scene);
		damage(&scene, &kind->damages[i]);
		is_int(decode(&scene).holder, 0, "%s with another %s names nobody",
		       kind->name, kind->damages[i].field);
	}
}

/* ---- who it may be ---------------------------------------------------------------- */

/* What looks like a lock, and is none or another one. */
static void check_neighbours(const struct pmp_thread_layout *layout)
{
	struct pmp_wait wait;
	struct scene scene;

	/* A mutex between processes, in what is mapped right after a thread's block. */
	begin(&scene, layout, FUTEX_WAIT, 2);
	put_block(&scene, LOCK - 2304, WAITER);
	make_mutex(&scene, 2, HOLDER, 128);
	wait = decode(&scene);
	ok(wait.kind == PMP_WAIT_MUTEX && wait.holder == HOLDER,
	   "a mutex after the waiter's block is no join");
	begin(&scene, layout, FUTEX_WAIT, 2);
	put_block(&scene, LOCK - 1024, WAITER);
	is_int(decode(&scene).kind, PMP_WAIT_FUTEX,
	       "nor does a thread wait for its own end");
	begin(&scene, layout, PLAIN, 3);
	put32(&scene, LOCK, 3);
	is_int(decode(&scene).kind, PMP_WAIT_FUTEX, "zeros around a word are no rwlock");
	begin(&scene, layout, PLAIN, FUTEX_WAITERS);
	put32(&scene, LOCK, FUTEX_WAITERS);
	put32(&scene, LOCK + 4, 1);
	is_int(decode(&scene).kind, PMP_WAIT_FUTEX, "a semaphore of musl is no mutex");
	begin(&scene, layout, PLAIN, 0);
	make_musl(&scene);
	scene.libc = PMP_LIBC_GLIBC;
	is_int(decode(&scene).kind, PMP_WAIT_FUTEX,
	       "a process of glibc has no mutexes of musl");
	begin(&scene, layout, PLAIN, 0);
	make_normal(&scene);
	scene.libc = PMP_LIBC_MUSL;
	is_int(decode(&scene).kind, PMP_WAIT_FUTEX,
	       "a process of musl has no mutexes of glibc");
	begin(&scene, layout, PLAIN, 0);
	make_musl(&scene);
	scene.args[1] = FUTEX_LOCK_PI;
	put32(&scene, LOCK - 4, 8);
	wait = decode(&scene);
	ok(wait.object == LOCK - 4 && wait.holder == HOLDER,
	   "a mutex of musl with priority inheritance begins before the word");
}

static void check_owners(const struct pmp_thread_layout *layout)
{
	static const struct {
		uint32_t owner;
		enum pmp_holder_is is;
		const char *name;
	} owners[] = {
		{ 0, PMP_HOLDER_FREE, "0: it is free" },
		{ WAITER, PMP_HOLDER_SELF, "the waiter: it waits for itself" },
		{ NOBODY, PMP_HOLDER_UNCHECKED,
		  "no thread of the process: to be checked" },
	};
	struct scene scene;

	for (size_t i = 0; i < sizeof(owners) / sizeof(*owners); i++) {
		begin(&scene, layout, PLAIN, 2);
		make_mutex(&scene, 2, owners[i].owner, 0);
		is_int(decode(&scene).holder_is, owners[i].is,
		       "the owner of a mutex is %s", owners[i].name);
	}
	begin(&scene, layout, PLAIN, 0);
	make_pi(&scene);
	put32(&scene, LOCK, WAITER | FUTEX_WAITERS);
	is_int(decode(&scene).holder_is, PMP_HOLDER_FREE,
	       "one that inherits priorities and is given to the waiter is free");
	begin(&scene, layout, PLAIN, 0);
	make_robust(&scene);
	put32(&scene, LOCK, 0);
	put32(&scene, LOCK + 4, 1);
	put32(&scene, LOCK + 12, 0);
	ok(decode(&scene).holder_is == PMP_HOLDER_FREE && decode(&scene).object == LOCK,
	   "a robust mutex that was released is free, and none of musl's");
	begin(&scene, layout, PLAIN, 0);
	make_robust(&scene);
	put32(&scene, LOCK, FUTEX_OWNER_DIED | FUTEX_WAITERS);
	is_int(decode(&scene).holder_is, PMP_HOLDER_FREE,
	       "a robust mutex whose owner has died is free");
	ok(decode(&scene).flags & PMP_WAIT_OWNER_DIED, "and that is said of it");
	begin(&scene, layout, PLAIN, 0);
	make_stdio_musl(&scene);
	put32(&scene, LOCK, 0x40000000 | LAST);
	is_int(decode(&scene).holder, LAST,
	       "a FILE of musl is its word's owner's, not that of whom the waiter saw");
	put32(&scene, LOCK, 0);
	is_int(decode(&scene).holder_is, PMP_HOLDER_FREE, "and free if it has none");
	begin(&scene, layout, PLAIN, 0);
	make_musl(&scene);
	scene.args[2] = FUTEX_WAITERS | 16; /* EBUSY */
	put32(&scene, LOCK - 4, 0);
	put32(&scene, LOCK, FUTEX_WAITERS | 16);
	is_int(decode(&scene).kind, PMP_WAIT_MUTEX, "a normal mutex of musl is one");
	is_int(decode(&scene).holder, 0, "a normal mutex of musl names nobody");
	is_int(decode(&scene).holder_is, PMP_HOLDER_NONE, "and is not free");
	put32(&scene, LOCK, 0);
	is_int(decode(&scene).holder_is, PMP_HOLDER_FREE,
	       "a normal mutex of musl that was released is free");
}

/* It waits by a word that might be another one of a lock 4 bytes further on. */
static void check_second_writer(const struct pmp_thread_layout *layout)
{
	struct pmp_wait wait;
	struct scene scene;

	begin(&scene, layout, PLAIN, 3);
	scene.args[0] = LOCK + 4;
	put32(&scene, LOCK - 8, 1 << 3 | 2);
	put32(&scene, LOCK, 2);
	put32(&scene, LOCK + 4, 3);
	wait = decode(&scene);
	ok(wait.kind == PMP_WAIT_RWLOCK && wait.object == LOCK - 8,
	   "the second writer of a lock that a reader holds waits for the same lock");
	is_int(wait.count, 1, "with the same reader");
}

static void check_readers(const struct pmp_thread_layout *layout)
{
	struct pmp_wait wait;
	struct scene scene;

	begin(&scene, layout, PLAIN, 2);
	put32(&scene, LOCK - 8, 2 << 3 | 2);
	put32(&scene, LOCK, 2);
	put32(&scene, LOCK + 4, 1);
	wait = decode(&scene);
	is_int(wait.kind, PMP_WAIT_RWLOCK, "a writer that waits for readers: a rwlock");
	is_int(wait.count, 2, "of which two hold it");
	is_int(wait.holder_is, PMP_HOLDER_NONE, "without a name");
	is_int(wait.flags, PMP_WAIT_WRITE | PMP_WAIT_NEXT,
	       "and this is the next to have it");
	check_second_writer(layout);
	begin(&scene, layout, PLAIN, 0);
	make_reader_behind_writer(&scene);
	put32(&scene, LOCK - 8, 2 << 3 | 2);
	wait = decode(&scene);
	ok(wait.holder_is == PMP_HOLDER_FREE && !wait.count,
	   "a reader that was let in waits for nobody");
	begin(&scene, layout, PLAIN, 2);
	put32(&scene, LOCK - 8, 6);
	is_int(decode(&scene).kind, PMP_WAIT_FUTEX,
	       "a free mutex with zeros around it is no rwlock");
	begin(&scene, layout, PLAIN, FUTEX_WAITERS | 3);
	put32(&scene, LOCK - 8, UINT32_MAX);
	put32(&scene, LOCK - 4, 0xffff);
	put32(&scene, LOCK, FUTEX_WAITERS | 3);
	put64(&scene, LOCK + 12, OWN_BLOCK);
	wait = decode(&scene);
	is_int(wait.kind, PMP_WAIT_LATCH, "a latch whose waiter has it already");
	is_int(wait.count, 3, "but for three readers");
	ok(wait.object == LOCK - 4, "begins before the word that it waits by");
}

/* ---- conditions --------------------------------------------------------------------- */

/* Its place in the sequence, the condition, the mutex, private: at words[at]. */
static void make_condition(struct scene *scene, unsigned distance)
{
	bool odd = distance >> 2 & 1;
	uint64_t condition = LOCK + 4 * odd - distance;

	scene->args[0] = LOCK + 4 * odd;
	scene->args[1] = TIMED;
	put64(scene, condition, 20 << 1);
	scene->stack[30] = 19 << 1 | odd;
	scene->stack[31] = condition;
	scene->stack[32] = OTHER;
	scene->stack[33] = 0;
}

static void check_condition(const struct pmp_thread_layout *layout, unsigned distance)
{
	struct pmp_wait wait;
	struct scene scene;

	begin(&scene, layout, TIMED, 0);
	make_condition(&scene, distance);
	wait = decode(&scene);
	is_int(wait.kind, PMP_WAIT_CONDITION, "a condition, its futex at %u", distance);
	ok(wait.object == scene.args[0] - distance && wait.mutex == OTHER,
	   "with its address and its mutex");
	is_int(wait.holder_is, PMP_HOLDER_NONE, "which nobody holds");
}

static void check_not_condition(const struct pmp_thread_layout *layout, int word,
				uint64_t value, const char *what)
{
	struct scene scene;

	begin(&scene, layout, TIMED, 0);
	make_condition(&scene, 40);
	scene.stack[word] = value;
	is_int(decode(&scene).kind, PMP_WAIT_FUTEX, "no condition: %s", what);
}

static void check_conditions(const struct pmp_thread_layout *layout)
{
	static const unsigned distances[] = { 40, 44, 32, 36 };

	for (size_t i = 0; i < 4; i++)
		check_condition(layout, distances[i]);
	check_not_condition(layout, 30, 20 << 1, "the waiter came after the last signal");
	check_not_condition(layout, 30, 19 << 1 | 1, "the waiter is of the other group");
	check_not_condition(layout, 31, LOCK - 48, "the record is of another one");
	check_not_condition(layout, 32, 0, "there is no mutex");
	check_not_condition(layout, 33, 7, "it is neither shared nor private");
}

/* ---- calls -------------------------------------------------------------------------- */

static void check_calls(const struct pmp_thread_layout *layout)
{
	struct scene scene;

	begin(&scene, layout, PLAIN, 0);
	make_normal(&scene);
	scene.number = SYS_restart_syscall;
	scene.wchan = "futex_do_wait";
	is_int(decode(&scene).holder, HOLDER, "a restarted call that sleeps in futex_*");
	scene.wchan = "hrtimer_nanosleep";
	is_int(decode(&scene).kind, PMP_WAIT_NONE, "one that sleeps in another function");
	begin(&scene, layout, PLAIN, 0);
	make_normal(&scene);
	scene.number = 455;
	scene.args[1] = 2;
	scene.args[2] = UINT32_MAX;
	scene.args[3] = 128 | 2;
	is_int(decode(&scene).holder, HOLDER, "futex_wait(2) has other arguments");
	begin(&scene, layout, PLAIN, 0);
	scene.number = 449;
	scene.args[0] = OTHER;
	scene.args[1] = 3;
	put64(&scene, OTHER + 8, LOCK);
	ok(decode(&scene).kind == PMP_WAIT_FUTEX && decode(&scene).object == LOCK,
	   "futex_waitv(2): the first of them");
	ok(!decode(&scene).count && !decode(&scene).words.flags,
	   "of whose memory nothing is said");
	begin(&scene, layout, PLAIN, 0);
	scene.number = SYS_read;
	is_int(decode(&scene).kind, PMP_WAIT_NONE,
	       "another call waits for nothing known");
}

/* A mutex that nobody has. */
static void begin_free(struct scene *scene, const struct pmp_thread_layout *layout)
{
	begin(scene, layout, PLAIN, 0);
	make_normal(scene);
	put32(scene, LOCK + 8, 0);
	put32(scene, LOCK + 12, 0);
}

/* A mutex that is free has no bytes of its own. */
static void check_known(const struct pmp_thread_layout *layout)
{
	struct scene scene;

	begin_free(&scene, layout);
	is_int(decode(&scene).kind, PMP_WAIT_FUTEX, "nobody has the mutex: any futex");
	ok(decode(&scene).words.flags & PMP_WORD_FREE_MUTEX,
	   "which would be free if names say that it is a mutex");
	scene.known = PMP_WAIT_CONDITION;
	is_int(decode(&scene).kind, PMP_WAIT_FUTEX, "if it was something else as well");
	scene.known = PMP_WAIT_MUTEX;
	ok(decode(&scene).kind == PMP_WAIT_MUTEX &&
		   decode(&scene).holder_is == PMP_HOLDER_FREE,
	   "a mutex that is known from the same wait: free");
	put32(&scene, LOCK + 8, HOLDER);
	is_int(decode(&scene).holder, HOLDER, "it is taken just now");
	put32(&scene, LOCK + 16, 4);
	is_int(decode(&scene).kind, PMP_WAIT_FUTEX, "it is a mutex no more");
}

/* A futex of which one field of a free mutex is another: it would not be free. */
static void check_not_free(const struct pmp_thread_layout *layout, uint64_t field,
			   uint32_t value, const char *what)
{
	struct scene scene;

	begin_free(&scene, layout);
	if (field)
		put32(&scene, field, value);
	else
		scene.args[2] = value;
	ok(decode(&scene).kind == PMP_WAIT_FUTEX &&
		   !(decode(&scene).words.flags & PMP_WORD_FREE_MUTEX),
	   "no mutex that is free: another %s", what);
}

/* What is kept of the memory of any other futex. */
static void check_words(const struct pmp_thread_layout *layout)
{
	const unsigned all =
		PMP_WORD_BEFORE | PMP_WORD_AT | PMP_WORD_AFTER | PMP_WORD_FAR;
	struct pmp_wait_words words;
	struct scene scene;

	begin(&scene, layout, PLAIN, 7);
	put64(&scene, LOCK - 32, OTHER);
	put32(&scene, LOCK - 4, 10);
	put32(&scene, LOCK, 7);
	put32(&scene, LOCK + 4, 4);
	words = decode(&scene).words;
	is_int(words.flags, all | PMP_WORD_SAME, "the words of another futex");
	ok(words.before == 10 && words.at == 7 && words.after == 4 && words.far == OTHER,
	   "are kept");
	put32(&scene, LOCK, 8);
	is_int(decode(&scene).words.flags, all, "it has changed since the wait began");
	scene.args[0] = BASE + SIZE - 4;
	put32(&scene, BASE + SIZE - 4, 8);
	words = decode(&scene).words;
	ok(words.flags == (all & ~(unsigned)PMP_WORD_AFTER) && words.at == 8,
	   "what cannot be read is not there, rather than zero");
	scene.args[0] = BASE + SIZE + 4096;
	is_int(decode(&scene).words.flags, 0, "nothing can be read");
	begin(&scene, layout, PLAIN, 0);
	make_normal(&scene);
	is_int(decode(&scene).words.flags, 0, "a lock that is known needs no words");
	check_not_free(layout, 0, 1, "value");
	check_not_free(layout, LOCK + 8, HOLDER, "owner");
	check_not_free(layout, LOCK + 16, 4, "kind");
}

/* The lock is at the end of what is mapped. */
static void check_edges(const struct pmp_thread_layout *layout)
{
	struct scene scene;

	begin(&scene, layout, PLAIN, 0);
	make_normal(&scene);
	memmove(scene.memory + SIZE - 24, scene.memory + (LOCK - BASE), 24);
	scene.args[0] = BASE + SIZE - 24;
	is_int(decode(&scene).holder, HOLDER, "a mutex at the end of a mapping");
	scene.args[0] = BASE + SIZE - 16;
	memcpy(scene.memory + SIZE - 16, scene.memory + (LOCK - BASE), 16);
	is_int(decode(&scene).kind, PMP_WAIT_FUTEX, "what is not mapped is not a mutex");
	scene.args[0] = BASE + SIZE + 4096;
	is_int(decode(&scene).kind, PMP_WAIT_FUTEX, "nor where nothing can be read");
}

/* On aarch64 a library's thread variables decide where a block begins. */
static void check_alignment(const struct pmp_thread_layout *layout)
{
	const uint64_t block = BLOCK + layout->alignment;
	struct scene scene;

	begin(&scene, layout, 0, 0);
	put_block(&scene, block, HOLDER);
	make_join(&scene);
	scene.args[0] = block + layout->tid;
	is_int(decode(&scene).kind, PMP_WAIT_JOIN,
	       "pthread_join, of a block at a multiple of %d", layout->alignment);
}

static void check_layout(const struct pmp_thread_layout *layout, const char *name)
{
	struct kind musl_join = { .name = "pthread_join of musl",
				  .make = make_join_musl,
				  .kind = PMP_WAIT_JOIN,
				  .object = -layout->musl_join,
				  .damages = { { "thread", -8, NOBODY, 0 } } };

	diag("%s", name);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		check_kind(&kinds[i], layout);
	check_kind(&musl_join, layout);
	check_owners(layout);
	check_neighbours(layout);
	check_readers(layout);
	check_conditions(layout);
	check_calls(layout);
	check_known(layout);
	check_words(layout);
	check_edges(layout);
	check_alignment(layout);
}

int main(void)
{
	check_layout(&pmp_thread_layout_x86_64, "x86-64");
	check_layout(&pmp_thread_layout_aarch64, "aarch64");
	return done_testing();
}

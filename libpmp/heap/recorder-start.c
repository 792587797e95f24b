/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The start, in the first call or the constructor, whichever comes first: functions, shared
 * memory, the kind of allocator. And how a child of fork() goes on.
 */
#include "heap/recorder.h"

#include "heap/recorder-exec.h"
#include "heap/recorder-new.h"
#include "heap/recorder-syscall.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#define PAGE 4096
#define WAIT_EACH 100000000 /* ns, see wait_to_be_known() */
#define WAITS_MOST 10

struct recorder recorder;
struct next next;

/* ---- functions ------------------------------------------------------------------------ */

#define BEHIND(name) \
	{ \
		&next.name, #name, true \
	}
#define ANYWHERE(name) \
	{ \
		&next.name, #name, false \
	}

/* Look up all of them now: later the loader's lock may be held, in a child for instance. */
static void find_functions(void)
{
	const struct row {
		void *to;
		const char *name;
		bool behind; /* after this library, which has that name as well */
	} functions[] = {
		BEHIND(malloc),
		BEHIND(calloc),
		BEHIND(realloc),
		BEHIND(free),
		BEHIND(memalign),
		BEHIND(posix_memalign),
		BEHIND(aligned_alloc),
		BEHIND(valloc),
		BEHIND(pvalloc),
		BEHIND(free_sized),
		BEHIND(free_aligned_sized),
		BEHIND(malloc_usable_size),
		BEHIND(pthread_create),
		BEHIND(thrd_create),
		BEHIND(execve),
		BEHIND(execvpe),
		BEHIND(fexecve),
		BEHIND(posix_spawn),
		BEHIND(posix_spawnp),
		BEHIND(system),
		BEHIND(popen),
		BEHIND(mmap),
		BEHIND(munmap),
		BEHIND(mremap),
		BEHIND(brk),
		BEHIND(sbrk),
		ANYWHERE(clock_gettime),
		ANYWHERE(pthread_attr_init),
		ANYWHERE(pthread_key_create),
		ANYWHERE(pthread_attr_getstacksize),
		ANYWHERE(pthread_setspecific),
		ANYWHERE(environ),
	};

	for (size_t i = 0; i < sizeof(functions) / sizeof(*functions); i++)
		*(void **)functions[i].to = functions[i].behind
						    ? lookup_next(functions[i].name)
						    : lookup_any(functions[i].name);
	for (size_t i = 0; i < sizeof(functions) / sizeof(*functions); i++)
		if (functions[i].behind)
			entry_add_code(functions[i].name, *(void **)functions[i].to);
}

/* The environment is after the program's arguments at the end of the first stack, even
 * before the C library has it. */
static char **find_environment(void)
{
	void **stack_end = lookup_any("__libc_stack_end");
	long *arguments;

	if (!stack_end || !*stack_end) {
		recorder.main_stack = next.environ ? (char *)*next.environ : NULL;
		return next.environ ? *next.environ : NULL;
	}
	recorder.main_stack = *stack_end;
	arguments = *stack_end;
	return (char **)(arguments + 1 + arguments[0] + 1);
}

/* ---- shared memory -------------------------------------------------------------------- */

/* Map the ring twice in a row, so that no record wraps. */
static bool map_ring(int fd)
{
	const uint64_t size = PMP_HEAP_RING_SIZE;
	unsigned char *room =
		sys_mmap(NULL, 2 * size, PROT_NONE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	for (unsigned i = 0; room && i < 2; i++)
		if (!sys_mmap(room + i * size, size, PROT_READ | PROT_WRITE,
			      MAP_SHARED | MAP_FIXED, fd, PMP_HEAP_RING_OFFSET))
			room = NULL;
	recorder.ring = room;
	return room != NULL;
}

/* False: the descriptor is closed, or now is another file. */
static bool map_shared(int fd)
{
	const int seals = (int)sys_call(SYS_fcntl, fd, F_GET_SEALS, 0);
	const long size = sys_call(SYS_lseek, fd, 0, SEEK_END);
	struct pmp_heap_header *header;
	unsigned char *at;

	if (seals < 0 || !(seals & F_SEAL_SHRINK) || size < (long)PMP_HEAP_MEMORY_SIZE)
		return false;
	at = sys_mmap(NULL, PMP_HEAP_RING_OFFSET, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
		      0);
	header = (struct pmp_heap_header *)(void *)at;
	if (!header || header->magic != PMP_HEAP_MAGIC || !map_ring(fd))
		return false;
	recorder.header = header;
	recorder.max_stack = header->max_stack;
	if (recorder.max_stack > PMP_HEAP_STACK_MOST)
		recorder.max_stack = PMP_HEAP_STACK_MOST;
	at += sizeof(*header) + sizeof(struct pmp_heap_process) * PMP_HEAP_PROCESSES;
	recorder.slots = (struct pmp_heap_slot *)(void *)at;
	return true;
}

/* ---- trials ------------------------------------------------------------------------- */

/* Are the sizes of blocks where glibc has them? Try a few, none so large that it would be
 * mapped: freeing a mapped block changes how glibc treats others. */
static bool try_chunk_sizes(void)
{
	static const size_t sizes[] = { 24, 25, 100, 1000, 4000, 30000, 100000 };
	bool agree = next.malloc_usable_size != NULL;

	for (size_t i = 0; agree && i < sizeof(sizes) / sizeof(*sizes); i++) {
		void *block = next.malloc(sizes[i]);

		recorder.chunk_sizes = true;
		agree = block && usable_size(block) == next.malloc_usable_size(block);
		if (block)
			next.free(block);
	}
	return agree;
}

/* Has Valgrind replaced glibc's allocator? */
static bool is_replaced(char **environment)
{
	static const char variable[] = "LD_PRELOAD=", replaced[] = "vgpreload_";
	const char *c;

	for (; environment && *environment; environment++) {
		size_t i = 0;

		while (variable[i] && (*environment)[i] == variable[i])
			i++;
		if (variable[i])
			continue;
		for (c = *environment + i; *c; c++) {
			for (i = 0; replaced[i] && c[i] == replaced[i]; i++)
				;
			/* Each tool preloads its own library, and vgpreload_core, which
			 * does not count. */
			if (!replaced[i] && c[i] != 'c')
				return true;
		}
	}
	return false;
}

/* Map a page that is zeroed in a child, however it is created. Needs Linux 4.14. */
static void mark_process(void)
{
	static uint32_t no_mark = 1;
	uint32_t *mark = sys_mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
				  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	recorder.mark = mark ? mark : &no_mark;
	if (!mark)
		return;
	sys_call(SYS_madvise, (long)mark, PAGE, MADV_WIPEONFORK);
	*mark = 1;
}

/* ---- the start ---------------------------------------------------------------------------- */

/* Only the process of the command is recorded, whatever it executes; others with its
 * environment are its children. */
static bool is_wanted(void)
{
	return recorder.header->flags & PMP_HEAP_FLAG_CHILDREN ||
	       recorder.header->pid == recorder.pid;
}

/* Programs in other processes, maybe of other users, must not inherit the memory, which has
 * copies of this process's stacks. (The library's descriptor stays open, or loaders that
 * still have our environment would complain.) */
static void keep_to_ourselves(void)
{
	if (recorder.process && !(recorder.header->flags & PMP_HEAP_FLAG_CHILDREN))
		exec_keep_memory(false);
}

static void start(void)
{
	char **environment;

	find_functions();
	new_describe();
	entry_prepare();
	__atomic_store_n(&recorder.found, 1, __ATOMIC_RELEASE);
	environment = find_environment();
	recorder_fault_read(environment);
	recorder.pid = (uint32_t)sys_call(SYS_getpid, 0, 0, 0);
	recorder.fd = environment ? exec_read_environment(environment) : -1;
	recorder.chunk_sizes = false;
	if (recorder.fd >= 0 && map_shared(recorder.fd) && is_wanted())
		entry_open();
	if (recorder.process)
		mark_process();
	keep_to_ourselves();
	thread_start();
	filter_begin();
	growth_start();
	recorder.chunk_sizes = recorder.process &&
			       recorder.process->allocator == PMP_HEAP_ALLOCATOR_GLIBC &&
			       !is_replaced(environment) && try_chunk_sizes();
}

void recorder_start(void)
{
	uint32_t none = 0;

	if (LIKELY(__atomic_load_n(&recorder.started, __ATOMIC_ACQUIRE) == 2))
		return;
	if (!__atomic_compare_exchange_n(&recorder.started, &none, 1, false,
					 __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
		while (!__atomic_load_n(&recorder.found, __ATOMIC_ACQUIRE))
			;
		return;
	}
	start();
	__atomic_store_n(&recorder.started, 2, __ATOMIC_RELEASE);
}

/* A child that is not recorded may become another user's, so unmap the memory. Whatever
 * still accesses it there finds zeros. */
static void leave_shared(void)
{
	const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED;

	sys_mmap(recorder.header, PMP_HEAP_RING_OFFSET, PROT_READ | PROT_WRITE, flags, -1,
		 0);
	sys_mmap(recorder.ring, 2 * PMP_HEAP_RING_SIZE, PROT_READ | PROT_WRITE, flags, -1,
		 0);
	if (sys_call(SYS_fcntl, recorder.fd, F_GET_SEALS, 0) > 0)
		sys_call(SYS_close, recorder.fd, 0, 0);
}

void recorder_forked(void)
{
	/* For a call that goes on after a signal handler has interrupted it and forked. */
	static struct pmp_heap_process discarded;

	thread_forked();
	if (!recorder.process)
		return;
	if (recorder.mark)
		*recorder.mark = 1;
	recorder.pid = (uint32_t)sys_call(SYS_getpid, 0, 0, 0);
	recorder.process = NULL;
	recorder.records = false;
	if (recorder.header->flags & PMP_HEAP_FLAG_CHILDREN)
		entry_open();
	else
		leave_shared();
	recorder.gone = !recorder.process;
	if (recorder.gone)
		recorder.process = &discarded;
}

/* A process that ends before pmp has read its mappings would have no stacks. So the command
 * waits here until pmp has done that; children do not wait. */
static void wait_to_be_known(void)
{
	const struct pmp_heap_process *process = recorder.process;

	if (!process || !recorder.records || recorder.header->pid != recorder.pid ||
	    RECORDER_FAULT(HURRIES))
		return;
	for (unsigned i = 0; i < WAITS_MOST && ring_has_reader(now_coarse()) &&
			     !__atomic_load_n(&process->is_known, __ATOMIC_ACQUIRE);
	     i++)
		sys_wait_for(&process->is_known, WAIT_EACH);
}

__attribute__((constructor)) static void construct(void)
{
	int (*atfork)(void (*)(void), void (*)(void), void (*)(void), void *);

	recorder_start();
	thread_attach();
	/* In glibc the fourth argument is the module; in musl it is ignored. */
	atfork = (int (*)(void (*)(void), void (*)(void), void (*)(void),
			  void *))lookup_any("__register_atfork");
	if (!atfork)
		atfork = (int (*)(void (*)(void), void (*)(void), void (*)(void),
				  void *))lookup_any("pthread_atfork");
	if (atfork)
		atfork(NULL, NULL, recorder_forked, NULL);
	if (recorder.process && !recorder.passed_by)
		new_try();
	wait_to_be_known();
}

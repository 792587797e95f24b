/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The entry of this process, with what pmp needs to know about the recorder in it: which
 * functions it calls, where its code is, which allocator there is. All of that is looked up
 * at the start, as in a child of fork() the loader's lock may be held for ever.
 */
#include "heap/recorder.h"

#include "heap/recorder-syscall.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/stat.h>

static struct {
	uint64_t text_start, text_end;
	struct pmp_heap_code codes[PMP_HEAP_CODES];
	uint32_t code_count;
	char allocator_name[PMP_HEAP_NAME];
} about;

void entry_add_code(const char *name, const void *next_one)
{
	struct pmp_heap_code *code = &about.codes[about.code_count];

	if (about.code_count == PMP_HEAP_CODES)
		return;
	code->start = (uintptr_t)lookup_own(name, &code->size);
	code->next = (uintptr_t)next_one;
	about.code_count += code->start != 0;
}

void entry_prepare(void)
{
	lookup_bounds((const void *)(uintptr_t)&entry_prepare, &about.text_start,
		      &about.text_end);
	recorder.passed_by = lookup_is_before("malloc");
	recorder.mixed = recorder.passed_by;
	/* The module of the functions tells which allocator it is. */
	lookup_module((const void *)next.malloc, about.allocator_name,
		      sizeof(about.allocator_name));
}

static bool names_glibc(const char *name)
{
	static const char libc[] = "libc.so.6", old[] = "libc-2.";
	size_t i = 0, k = 0;

	while (i < sizeof(libc) - 1 && name[i] == libc[i])
		i++;
	while (k < sizeof(old) - 1 && name[k] == old[k])
		k++;
	return i == sizeof(libc) - 1 || k == sizeof(old) - 1;
}

static struct pmp_heap_process *processes(void)
{
	return (struct pmp_heap_process *)(void *)(recorder.header + 1);
}

/* Take a free entry; NULL: there is none. */
static struct pmp_heap_process *take_entry(void)
{
	for (uint32_t i = 0; i < PMP_HEAP_PROCESSES; i++) {
		uint32_t none = PMP_HEAP_PROCESS_FREE;

		if (!__atomic_compare_exchange_n(&processes()[i].state, &none,
						 PMP_HEAP_PROCESS_TAKEN, false,
						 __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
			continue;
		recorder.index = i;
		return &processes()[i];
	}
	return NULL;
}

static void describe_functions(struct pmp_heap_process *process)
{
	process->functions[PMP_HEAP_MALLOC] = (uintptr_t)next.malloc;
	process->functions[PMP_HEAP_CALLOC] = (uintptr_t)next.calloc;
	process->functions[PMP_HEAP_REALLOC] = (uintptr_t)next.realloc;
	process->functions[PMP_HEAP_ALIGNED] =
		(uintptr_t)(next.memalign ? (void *)next.memalign
					  : (void *)next.posix_memalign);
	process->functions[PMP_HEAP_NEW] = (uintptr_t)next.operator_new;
	process->functions[PMP_HEAP_MMAP] = (uintptr_t)next.mmap;
	process->text_start = about.text_start;
	process->text_end = about.text_end;
	for (uint32_t i = 0; i < about.code_count; i++)
		process->codes[i] = about.codes[i];
	process->code_count = about.code_count;
}

static void describe_allocator(struct pmp_heap_process *process)
{
	for (unsigned i = 0; i < PMP_HEAP_NAME; i++)
		process->allocator_name[i] = about.allocator_name[i];
	process->allocator = names_glibc(process->allocator_name)
				     ? PMP_HEAP_ALLOCATOR_GLIBC
				     : PMP_HEAP_ALLOCATOR_OTHER;
	if (recorder.passed_by)
		process->allocator = PMP_HEAP_ALLOCATOR_OWN;
}

/* Is the process in another pid namespace? Its pid means nothing outside of that. */
static bool is_in_other_namespace(void)
{
	const uint64_t command = recorder.header->pid_namespace;
	struct stat own;

	return command &&
	       sys_call_all(SYS_newfstatat,
			    (const long[SYS_ARGUMENTS]){ AT_FDCWD,
							 (long)"/proc/self/ns/pid",
							 (long)&own, 0 }) == 0 &&
	       own.st_ino != command;
}

void entry_open(void)
{
	struct pmp_heap_process *process = is_in_other_namespace() ? NULL : take_entry();

	if (!process) {
		__atomic_fetch_add(&recorder.header->turned_away, 1, __ATOMIC_RELAXED);
		return;
	}
	if (RECORDER_FAULT(LOADER))
		entry_prepare();
	process->pid = recorder.pid;
	sys_call(SYS_prctl, PR_GET_NAME, (long)process->name, 0);
	process->start = now_coarse();
	describe_functions(process);
	describe_allocator(process);
	recorder.process = process;
	recorder.exact = recorder.header->flags & PMP_HEAP_FLAG_EXACT;
	recorder.records = !recorder.mixed;
	table_clear();
	process->number =
		__atomic_fetch_add(&recorder.header->loaded, 1, __ATOMIC_RELAXED);
	__atomic_store_n(&process->state,
			 recorder.mixed ? PMP_HEAP_PROCESS_COUNTS
					: PMP_HEAP_PROCESS_RECORDS,
			 __ATOMIC_RELEASE);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * libdw's handler has no argument: where to return to can only be kept in a
 * variable of the thread's own. It is set while pmp_libdw_run() runs, no longer.
 *
 * Its hash table of abbreviations does not ask the handler: it asserts that there was
 * memory to grow. So some room has to be there before.
 */
#include "resolve/libdw-oom.h"

#include <setjmp.h>
#include <stddef.h>
#include <sys/mman.h>

#define ROOM ((size_t)32 << 20) /* and for what else one question reads: a few MiB */

static _Thread_local jmp_buf *way_out;

/* An attribute and not _Noreturn: clang wants the handler's very type. */
__attribute__((noreturn)) static void give_up(void)
{
	longjmp(*way_out, 1);
}

void pmp_libdw_handle_oom(Dwarf *dwarf)
{
	dwarf_new_oom_handler(dwarf, give_up);
}

static bool has_room(void)
{
	void *room = mmap(NULL, ROOM, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return room != MAP_FAILED && munmap(room, ROOM) == 0;
}

bool pmp_libdw_run(void (*work)(void *arg), void *arg)
{
	jmp_buf here;

	if (!has_room())
		return false;
	way_out = &here;
	if (setjmp(here) != 0) {
		way_out = NULL;
		return false;
	}
	work(arg);
	way_out = NULL;
	return true;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * libdw's handler has no argument, so the place to jump to has to be in a
 * thread-local variable. It is set only during pmp_libdw_run().
 *
 * libdw's hash table of abbreviations does not call the handler: it asserts that there
 * was memory to grow. So check beforehand that there is room.
 */
#include "resolve/libdw-oom.h"

#include <setjmp.h>
#include <stddef.h>
#include <sys/mman.h>

#define ROOM ((size_t)32 << 20) /* other work during a run takes only a few MiB */

static _Thread_local jmp_buf *way_out;

/* Not _Noreturn: with clang only the attribute gives the type of a handler. */
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

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * libdw's handler has no argument: where to return to can only be told by a
 * variable of the thread's own. It is set while pmp_nomem_run() runs, no longer.
 */
#include "resolve/nomem.h"

#include <setjmp.h>
#include <stddef.h>

static _Thread_local jmp_buf *way_out;

/* An attribute and not _Noreturn: clang wants the handler's very type. */
__attribute__((noreturn)) static void give_up(void)
{
	longjmp(*way_out, 1);
}

void pmp_nomem_handle(Dwarf *dwarf)
{
	dwarf_new_oom_handler(dwarf, give_up);
}

bool pmp_nomem_run(void (*work)(void *arg), void *arg)
{
	jmp_buf here;

	way_out = &here;
	if (setjmp(here) != 0) {
		way_out = NULL;
		return false;
	}
	work(arg);
	way_out = NULL;
	return true;
}

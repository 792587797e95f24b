/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * libunwind evaluates call-frame information, and caches it; all its reads go through
 * here. walk.c calls this for each frame that no rule can handle. No thread is held here.
 *
 * Each step uses a new cursor whose ip is the address to look up. A cursor that continues
 * by itself would look up ip - 1 but cache the result under ip, and so confuse a return
 * address after a call that does not return with the first byte of the next function.
 *
 * libunwind gets exactly one FDE at a time, through a search table with one row that
 * begins below every address. Table and FDE are at addresses that no process can have, and
 * are served from an array here; the target's own call-frame information never reaches
 * libunwind (see cfi.c).
 */
#include "unwind/libunwind.h"

#include <libunwind.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/hash.h"

/*
 * The cache of an address space has 128 entries; a larger one would never be
 * unmapped. So there are several spaces, selected by the address.
 */
#define SPACES_LOG 5
#define SPACES (1u << SPACES_LOG)

#define LOCAL_BASE UINT64_C(0xfff0000000000000) /* never a user address */
#define LOCAL_MAX (4u << 20)			/* bytes kept there */
#define LOCAL_ROW 0				/* the table's only row */
#define LOCAL_PAIRS 8 /* pairs that are read again, then the current one */

struct pmp_libunwind {
	struct pmp_libunwind_caller caller;
	unw_addr_space_t spaces[SPACES];
	struct pmp_buf local; /* contents of LOCAL_BASE */
	struct pmp_buf pair;  /* a CIE and an FDE, rewritten for libunwind */
	size_t kept;	      /* the part of local that cached expressions refer to */

	/* of the current step */
	const struct pmp_regs *regs;
	const struct pmp_reader *stack;
	uint64_t lookup;
	bool unreadable, unknown;
	int needed; /* the register that was unknown */
};

/* Declared here, because it is exported for this use but declared only in a private
 * header. */
#define search_unwind_table UNW_OBJ(dwarf_search_unwind_table)
extern int search_unwind_table(unw_addr_space_t space, unw_word_t ip,
			       unw_dyn_info_t *info, unw_proc_info_t *result,
			       int need_unwind_info, void *arg);

/*
 * The only error on which unw_step() does not start guessing, with frame pointers or the
 * link register; on x86-64 others would do as well, on aarch64 none.
 */
#define REFUSED (-UNW_ESTOPUNWIND)

static bool read_local(const struct pmp_libunwind *libunwind, uint64_t address,
		       unw_word_t *value)
{
	uint64_t offset = address - LOCAL_BASE;

	if (offset > libunwind->local.length ||
	    libunwind->local.length - offset < sizeof(*value))
		return false;
	memcpy(value, libunwind->local.data + offset, sizeof(*value));
	return true;
}

static int access_mem(unw_addr_space_t space, unw_word_t address, unw_word_t *value,
		      int write, void *arg)
{
	struct pmp_libunwind *libunwind = arg;

	(void)space;
	if (write)
		return -UNW_EREADONLYREG;
	if (!libunwind->caller.may_read(libunwind->caller.arg))
		return REFUSED;
	if (address >= LOCAL_BASE && read_local(libunwind, address, value))
		return 0;
	if (pmp_read(libunwind->stack, address, value, sizeof(*value)))
		return 0;
	libunwind->unreadable = true;
	return REFUSED;
}

/* libunwind's register numbers are DWARF's on both architectures. */
static int access_reg(unw_addr_space_t space, unw_regnum_t reg, unw_word_t *value,
		      int write, void *arg)
{
	struct pmp_libunwind *libunwind = arg;

	(void)space;
	if (write)
		return -UNW_EREADONLYREG;
	if (reg == pmp_arch_here->pc) {
		*value = libunwind->lookup;
		return 0;
	}
	if (reg < 0 || reg >= (int)pmp_arch_here->reg_count ||
	    !pmp_regs_has(libunwind->regs, reg)) {
		if (!libunwind->unknown)
			libunwind->needed = reg;
		libunwind->unknown = true;
		return REFUSED;
	}
	*value = pmp_regs_get(libunwind->regs, reg);
	return 0;
}

static int find_proc_info(unw_addr_space_t space, unw_word_t ip, unw_proc_info_t *result,
			  int need_unwind_info, void *arg)
{
	struct pmp_libunwind *libunwind = arg;
	const struct pmp_libunwind_caller *caller = &libunwind->caller;
	unw_dyn_info_t info = { .format = UNW_INFO_FORMAT_REMOTE_TABLE };
	struct pmp_cfi_pair pair;
	struct pmp_fde fde;
	size_t begin = libunwind->kept;

	if (!caller->find(caller->arg, ip, &fde) ||
	    !pmp_cfi_write(&fde.cie, &fde.entry, &libunwind->pair, &pair) ||
	    !caller->allow(caller->arg, pair.states))
		return REFUSED;
	libunwind->local.length = begin; /* drop the previous pair */
	pmp_buf_add(&libunwind->local, libunwind->pair.data, libunwind->pair.length);
	if (pmp_buf_failed(&libunwind->local))
		return -UNW_ENOMEM;
	if (pair.expressions)
		libunwind->kept = libunwind->local.length;
	info.start_ip = fde.start;
	info.end_ip = fde.end;
	info.u.rti.segbase = LOCAL_BASE + begin + pair.fde;
	info.u.rti.table_data = LOCAL_BASE + LOCAL_ROW;
	info.u.rti.table_len = 1; /* in words */
	return search_unwind_table(space, ip, &info, result, need_unwind_info, arg);
}

static void put_unwind_info(unw_addr_space_t space, unw_proc_info_t *info, void *arg)
{
	(void)space;
	(void)info;
	(void)arg;
}

static int get_dyn_info_list_addr(unw_addr_space_t space, unw_word_t *list, void *arg)
{
	(void)space;
	(void)list;
	(void)arg;
	return -UNW_ENOINFO;
}

static int access_fpreg(unw_addr_space_t space, unw_regnum_t reg, unw_fpreg_t *value,
			int write, void *arg)
{
	(void)space;
	(void)reg;
	(void)value;
	(void)write;
	(void)arg;
	return -UNW_EBADREG;
}

static int resume(unw_addr_space_t space, unw_cursor_t *cursor, void *arg)
{
	(void)space;
	(void)cursor;
	(void)arg;
	return REFUSED;
}

static int get_proc_name(unw_addr_space_t space, unw_word_t ip, char *name, size_t size,
			 unw_word_t *offset, void *arg)
{
	(void)space;
	(void)ip;
	(void)name;
	(void)size;
	(void)offset;
	(void)arg;
	return REFUSED;
}

/* Drop everything at LOCAL_BASE except the row: { start, FDE } relative to segbase. */
static void forget_local(struct pmp_libunwind *libunwind)
{
	static const int32_t row[2] = { INT32_MIN, 0 };

	pmp_buf_clear(&libunwind->local);
	pmp_buf_add(&libunwind->local, row, sizeof(row));
	libunwind->kept = LOCAL_PAIRS;
}

struct pmp_libunwind *pmp_libunwind_new(const struct pmp_libunwind_caller *caller)
{
	struct pmp_libunwind *libunwind = calloc(1, sizeof(*libunwind));

	if (!libunwind)
		return NULL;
	libunwind->caller = *caller;
	forget_local(libunwind);
	if (pmp_buf_failed(&libunwind->local)) {
		pmp_libunwind_free(libunwind);
		return NULL;
	}
	return libunwind;
}

void pmp_libunwind_free(struct pmp_libunwind *libunwind)
{
	if (!libunwind)
		return;
	for (size_t i = 0; i < SPACES; i++)
		if (libunwind->spaces[i])
			unw_destroy_addr_space(libunwind->spaces[i]);
	pmp_buf_free(&libunwind->local);
	pmp_buf_free(&libunwind->pair);
	free(libunwind);
}

void pmp_libunwind_flush(struct pmp_libunwind *libunwind)
{
	for (size_t i = 0; i < SPACES; i++)
		if (libunwind->spaces[i])
			unw_flush_cache(libunwind->spaces[i], 0, 0);
	forget_local(libunwind);
}

static enum pmp_libunwind_result failure(const struct pmp_libunwind *libunwind,
					 int *needed)
{
	if (libunwind->unreadable)
		return PMP_LIBUNWIND_UNREADABLE;
	*needed = libunwind->needed;
	return libunwind->unknown ? PMP_LIBUNWIND_UNKNOWN : PMP_LIBUNWIND_BAD;
}

/*
 * Read the registers in keep that the cursor knows after its step. On aarch64 the caller's
 * pc is in the link register, as after a return, and UNW_REG_IP is its name.
 */
static void read_back(struct pmp_libunwind *libunwind, unw_cursor_t *cursor,
		      uint64_t keep, struct pmp_regs *caller)
{
	bool unreadable = libunwind->unreadable, unknown = libunwind->unknown;
	unw_word_t value;

	caller->valid = 0;
	for (int i = 0; i < (int)pmp_arch_here->reg_count; i++)
		if (keep >> i & 1 && !unw_get_reg(cursor, i, &value))
			pmp_regs_set(caller, i, value);
	caller->valid &= ~(UINT64_C(1) << pmp_arch_here->pc);
	if (!unw_get_reg(cursor, UNW_REG_IP, &value))
		pmp_regs_set(caller, pmp_arch_here->pc,
			     pmp_arch_code(pmp_arch_here, value));
	/* An unavailable register is not a failure until it is needed. */
	libunwind->unreadable = unreadable;
	libunwind->unknown = unknown;
}

/* Made on demand: each takes 26 KB, and most targets need none. */
static unw_addr_space_t find_space(struct pmp_libunwind *libunwind, uint64_t lookup)
{
	unw_accessors_t accessors = {
		/* copied by libunwind */
		.find_proc_info = find_proc_info,
		.put_unwind_info = put_unwind_info,
		.get_dyn_info_list_addr = get_dyn_info_list_addr,
		.access_mem = access_mem,
		.access_reg = access_reg,
		.access_fpreg = access_fpreg,
		.resume = resume,
		.get_proc_name = get_proc_name,
	};
	unw_addr_space_t *space = &libunwind->spaces[pmp_hash_bits(lookup, SPACES_LOG)];

	if (!*space) {
		*space = unw_create_addr_space(&accessors, 0);
		if (*space)
			unw_set_caching_policy(*space, UNW_CACHE_GLOBAL);
	}
	return *space;
}

enum pmp_libunwind_result pmp_libunwind_step(struct pmp_libunwind *libunwind,
					     struct pmp_regs *regs, uint64_t lookup,
					     const struct pmp_reader *stack,
					     uint64_t keep, int *needed)
{
	unw_addr_space_t space;
	unw_cursor_t cursor;
	struct pmp_regs caller;
	int result;

	if (libunwind->kept > LOCAL_MAX)
		pmp_libunwind_flush(libunwind);
	space = find_space(libunwind, lookup);
	if (!space || pmp_buf_failed(&libunwind->local))
		return PMP_LIBUNWIND_BAD;
	libunwind->regs = regs;
	libunwind->stack = stack;
	libunwind->lookup = lookup;
	libunwind->unreadable = libunwind->unknown = false;
	if (unw_init_remote(&cursor, space, libunwind) < 0)
		return failure(libunwind, needed);
	result = unw_step(&cursor);
	if (result < 0)
		return failure(libunwind, needed);
	read_back(libunwind, &cursor, keep, &caller);
	/* A result of 0 may also mean a caller's frame pointer of 0, which proves
	 * nothing. */
	if (result == 0 && (!pmp_regs_has(&caller, pmp_arch_here->pc) ||
			    !pmp_regs_get(&caller, pmp_arch_here->pc)))
		return PMP_LIBUNWIND_ROOT;
	if (!pmp_regs_has(&caller, pmp_arch_here->pc) ||
	    !pmp_regs_has(&caller, pmp_arch_here->sp))
		return failure(libunwind, needed);
	memcpy(regs, &caller, sizeof(caller));
	return PMP_LIBUNWIND_STEP;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/futex-view.h"

#include <linux/futex.h>
#include <string.h>

#define BYTES_BEFORE 56 /* the futex's word */
#define PAGE 4096

const struct pmp_thread_layout pmp_thread_layout_x86_64 = {
	.self_pointers = true,
	.alignment = 64,
	.self = 16,
	.tid = 720,
	.musl_join = 56,
};

const struct pmp_thread_layout pmp_thread_layout_aarch64 = {
	.alignment = 16,
	.list = 192,
	.tid = 208,
	.musl_join = 40,
};

const struct pmp_thread_layout *pmp_thread_layout_of(const struct pmp_arch *arch)
{
	return arch == &pmp_arch_aarch64 ? &pmp_thread_layout_aarch64
					 : &pmp_thread_layout_x86_64;
}

uint64_t pmp_futex_first(uint64_t futex)
{
	return (futex & ~UINT64_C(7)) - BYTES_BEFORE;
}

void pmp_futex_read_bytes(struct pmp_futex_view *view)
{
	uint64_t page = view->futex & ~(uint64_t)(PAGE - 1), first, last;

	view->first = pmp_futex_first(view->futex);
	view->from = 0;
	view->to = PMP_FUTEX_BYTES;
	if (pmp_read(&view->memory->reader, view->first, view->bytes, PMP_FUTEX_BYTES))
		return;
	first = view->first < page ? page : view->first;
	last = view->first + PMP_FUTEX_BYTES < page + PAGE ? view->first + PMP_FUTEX_BYTES
							   : page + PAGE;
	view->from = (size_t)(first - view->first);
	view->to = (size_t)(last - view->first);
	if (!pmp_read(&view->memory->reader, first, view->bytes + view->from,
		      view->to - view->from))
		view->to = view->from;
}

static bool get(const struct pmp_futex_view *view, int offset, void *data, size_t size)
{
	uint64_t at = view->futex + (uint64_t)(int64_t)offset - view->first;

	if (at < view->from || at > view->to || view->to - at < size)
		return false;
	memcpy(data, view->bytes + at, size);
	return true;
}

bool pmp_futex_u32(const struct pmp_futex_view *view, int offset, uint32_t *value)
{
	return get(view, offset, value, sizeof(*value));
}

bool pmp_futex_u64(const struct pmp_futex_view *view, int offset, uint64_t *value)
{
	return get(view, offset, value, sizeof(*value));
}

bool pmp_futex_read_u64(const struct pmp_futex_view *view, uint64_t address,
			uint64_t *value)
{
	return pmp_read(&view->memory->reader, address, value, sizeof(*value));
}

bool pmp_futex_is_thread(const struct pmp_futex_view *view, uint32_t tid)
{
	return tid && tid <= FUTEX_TID_MASK &&
	       view->memory->is_thread(view->memory->arg, (pid_t)tid);
}

/* Does the block point to itself, as only thread blocks do? */
static bool is_linked(const struct pmp_futex_view *view, uint64_t block)
{
	const struct pmp_thread_layout *layout = view->memory->layout;
	uint64_t first, second;

	if (layout->self_pointers)
		return pmp_futex_read_u64(view, block, &first) && first == block &&
		       pmp_futex_read_u64(view, block + layout->self, &second) &&
		       second == block;
	return pmp_futex_read_u64(view, block + layout->list, &first) &&
	       pmp_futex_read_u64(view, first + sizeof(first), &second) &&
	       second == block + layout->list;
}

pid_t pmp_futex_block_thread(const struct pmp_futex_view *view, uint64_t block)
{
	uint32_t tid;

	if (!block || block % view->memory->layout->alignment ||
	    !is_linked(view, block) ||
	    !pmp_read(&view->memory->reader, block + view->memory->layout->tid, &tid,
		      sizeof(tid)) ||
	    !pmp_futex_is_thread(view, tid))
		return 0;
	return (pid_t)tid;
}

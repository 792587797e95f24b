/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See kernel-stack.h. A line is "[<0>] do_sys_poll+0x400/0x590", possibly with a
 * module. */
#include "proc/kernel-stack.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/file.h"
#include "libpmp.h"

#define TEXT_SIZE 16384
#define NAME_LENGTH 511	     /* KSYM_NAME_LEN of kernels with Rust */
#define NAMES_MAX (1u << 20) /* bytes; threads wait in some hundred functions */

/* Remember a name. 0, PMP_ENOMEM, or PMP_ELIMIT: too many. */
static int remember(struct pmp_kernel *kernel, const char *name, size_t length)
{
	size_t count;

	if (!kernel->seen)
		kernel->seen = pmp_intern_new();
	if (!kernel->seen)
		return PMP_ENOMEM;
	if (kernel->names.length + length >= NAMES_MAX)
		return pmp_intern_find(kernel->seen, name, length) == PMP_INTERN_NONE
			       ? PMP_ELIMIT
			       : 0;
	count = pmp_intern_count(kernel->seen);
	if (pmp_intern(kernel->seen, name, length) == PMP_INTERN_NONE)
		return PMP_ENOMEM;
	if (pmp_intern_count(kernel->seen) == count)
		return 0;
	pmp_buf_add(&kernel->names, name, length);
	pmp_buf_putc(&kernel->names, '\0');
	return pmp_buf_failed(&kernel->names) ? PMP_ENOMEM : 0;
}

/* Returns the length of the name in a line; 0: only a number. */
static size_t find_name(const char *line, const char *end, const char **name)
{
	const char *at = memchr(line, ']', (size_t)(end - line));
	size_t length = 0;

	if (!at || end - at < 3 || at[1] != ' ')
		return 0;
	*name = at + 2;
	while (*name + length < end && (*name)[length] > ' ' && (*name)[length] < 127 &&
	       (*name)[length] != '+')
		length++;
	if (length > NAME_LENGTH || strncmp(*name, "0x", 2) == 0)
		return 0;
	return length;
}

int pmp_kernel_parse(struct pmp_kernel *kernel, const char *text, size_t length,
		     struct pmp_kernel_stack *stack)
{
	const char *end = text + length, *line_end;

	stack->count = 0;
	for (const char *line = text; line < end && stack->count < PMP_KERNEL_DEPTH;
	     line = line_end + 1) {
		const char *name;
		size_t n;
		int r;

		line_end = memchr(line, '\n', (size_t)(end - line));
		if (!line_end)
			break;
		n = find_name(line, line_end, &name);
		if (!n)
			continue;
		r = remember(kernel, name, n);
		if (r == PMP_ENOMEM)
			return r;
		if (r == 0)
			stack->frames[stack->count++] =
				(struct pmp_raw_frame){ pmp_kernel_address(name, n),
							PMP_FRAME_EXACT };
	}
	return 0;
}

int pmp_kernel_read(struct pmp_kernel *kernel, const struct pmp_process *process,
		    pid_t tid, struct pmp_kernel_stack *stack)
{
	char text[TEXT_SIZE];
	ssize_t length;

	stack->count = 0;
	length = pmp_task_read(process, tid, "stack", text, sizeof(text));
	return length > 0 ? pmp_kernel_parse(kernel, text, (size_t)length, stack) : 0;
}

/* ---- maps ------------------------------------------------------------------ */

static struct pmp_module *make_module(const struct pmp_kernel *kernel, uint32_t id)
{
	struct pmp_module *module =
		pmp_module_new(id, PMP_MODULE_KERNEL, PMP_KERNEL_MODULE);

	if (!module)
		return NULL;
	module->image = pmp_copy(kernel->names.data, kernel->names.length);
	module->image_size = kernel->names.length;
	if (module->image)
		return module;
	pmp_module_unref(module);
	return NULL;
}

/* Copy all of from, and insert the kernel's region in order. The vsyscall page is above
 * it. */
static int copy_maps(struct pmp_maps *to, const struct pmp_maps *from,
		     struct pmp_module *kernel)
{
	const struct pmp_region region = { .start = PMP_KERNEL_START,
					   .end = PMP_KERNEL_END,
					   .module = kernel,
					   .prot = PMP_PROT_READ | PMP_PROT_EXEC };
	size_t i = 0;

	to->generation = from->generation;
	to->exec_generation = from->exec_generation;
	to->perf_map = from->perf_map;
	to->lazy = from->lazy;
	if (pmp_maps_add_module(to, kernel))
		return PMP_ENOMEM;
	for (size_t m = 0; m < from->module_count; m++) {
		if (pmp_maps_add_module(to, pmp_module_ref(from->modules[m])))
			return PMP_ENOMEM;
	}
	for (; i < from->region_count && from->regions[i].start < region.end; i++) {
		/* Never seen, but regions must not overlap. */
		if (from->regions[i].end > region.start)
			continue;
		if (pmp_maps_add_region(to, &from->regions[i]))
			return PMP_ENOMEM;
	}
	if (pmp_maps_add_region(to, &region))
		return PMP_ENOMEM;
	for (; i < from->region_count; i++) {
		if (pmp_maps_add_region(to, &from->regions[i]))
			return PMP_ENOMEM;
	}
	return 0;
}

static void forget_maps(struct pmp_kernel *kernel)
{
	pmp_maps_unref(kernel->maps);
	pmp_maps_unref(kernel->maps_of);
	kernel->maps = kernel->maps_of = NULL;
}

struct pmp_maps *pmp_kernel_maps(struct pmp_kernel *kernel, struct pmp_maps *maps,
				 uint32_t *next_id)
{
	struct pmp_module *module;
	struct pmp_maps *made;

	if (kernel->names.length == 0)
		return pmp_maps_ref(maps);
	if (kernel->maps_of == maps && kernel->maps_length == kernel->names.length)
		return pmp_maps_ref(kernel->maps);
	module = make_module(kernel, *next_id);
	made = module ? pmp_maps_new() : NULL;
	if (!made) {
		pmp_module_unref(module);
		return NULL;
	}
	if (copy_maps(made, maps, module)) {
		pmp_maps_unref(made);
		return NULL;
	}
	(*next_id)++;
	forget_maps(kernel);
	kernel->maps = pmp_maps_ref(made);
	kernel->maps_of = pmp_maps_ref(maps);
	kernel->maps_length = kernel->names.length;
	return made;
}

void pmp_kernel_free(struct pmp_kernel *kernel)
{
	forget_maps(kernel);
	pmp_buf_free(&kernel->names);
	pmp_intern_free(kernel->seen);
	*kernel = (struct pmp_kernel){ 0 };
}

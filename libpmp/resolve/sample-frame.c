/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Frames of a sample without names, for programs that look up names themselves. */
#include "base/alloc.h"
#include "base/sized.h"
#include "resolve/elf.h"
#include "sample.h"

/* Read the build-id from the module's file, once that is open: files may be opened late. */
static void find_build_id(struct pmp_module *module)
{
	struct pmp_elf file;
	const char *problem;

	if (module->build_id_tried)
		return;
	if (module->kind == PMP_MODULE_FILE && module->fd >= 0)
		problem = pmp_elf_open(&file, module->fd);
	else if (module->kind == PMP_MODULE_VDSO && module->image)
		problem = pmp_elf_open_image(&file, module->image, module->image_size);
	else
		return;
	module->build_id_tried = true;
	if (problem)
		return;
	if (file.build_id_size)
		module->build_id = pmp_copy(file.build_id, file.build_id_size);
	module->build_id_size = module->build_id ? file.build_id_size : 0;
	pmp_elf_close(&file);
}

static void describe_module(struct pmp_module *module, struct pmp_sample_frame_info *info)
{
	find_build_id(module);
	info->module = module->path;
	info->deleted = module->deleted;
	if (module->build_id_size)
		info->build_id = module->build_id;
	info->build_id_size = module->build_id_size;
}

bool pmp_sample_frame(const struct pmp_sample *sample, size_t thread, size_t i,
		      struct pmp_sample_frame_info *info)
{
	const struct pmp_raw_frame *frame = pmp_sample_raw_frame(sample, thread, i);
	struct pmp_sample_frame_info all = { .module = "" };
	const struct pmp_region *region = NULL;

	if (!frame)
		return false;
	all.pc = frame->pc;
	all.exact = frame->flags & PMP_FRAME_EXACT;
	all.signal = frame->flags & PMP_FRAME_SIGNAL;
	/* A call may be the last instruction of a mapping. */
	if (sample->maps)
		region = pmp_maps_find(sample->maps, all.exact ? all.pc : all.pc - 1);
	if (region) {
		describe_module(region->module, &all);
		all.offset = region->offset + (all.pc - region->start);
	}
	pmp_sized_give(info, &all, sizeof(all));
	return true;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Core files, from their bytes to a sample like any other: parse.c parses them, modules.c
 * finds the files of the program, memory.c reads from both, and the walk and the decoders
 * of waits are those of live processes.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "crash.h"
#include "base/alloc.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/fault.h"
#include "base/log.h"
#include "base/sized.h"
#include "core/call.h"
#include "core/memory.h"
#include "core/modules.h"
#include "core/own.h"
#include "core/parse.h"
#include "core/remote.h"
#include "core/waits.h"
#include "unwind/walk.h"

#define FRAMES_DEFAULT 512
/* Bytes of call-frame programs for all stacks: 160 threads of mariadbd take 2 KB. */
#define WORK_MAX ((size_t)16 << 20)
#define DEBUG_DIR "/usr/lib/debug"

struct pmp_core {
	struct pmp_core_remote
		*remote; /* another process has read it; then nothing else is set */
	struct pmp_core_options options;
	struct pmp_core_file file;
	struct pmp_core_memory *memory;
	struct pmp_core_modules modules;
	struct pmp_unwinder *unwinder;
	struct pmp_raw_frame *frames; /* of the current walk */
	size_t work;		      /* of all walks so far */
	struct pmp_log log;
	uint64_t written; /* 0: unknown */
	struct pmp_buf crash;
	bool *used;	 /* modules that occur in stacks, once there is a sample */
	size_t *missing; /* of these, the ones without a file */
	size_t missing_count;
	int fd;
};

/* ---- opening ------------------------------------------------------------------------- */

bool pmp_core_is(const void *start, size_t length)
{
	return pmp_core_file_is(start, length);
}

static int open_unwinder(struct pmp_core *core)
{
	const struct pmp_reader memory = { pmp_core_memory_read, core->memory };

	core->frames = calloc(core->options.max_frames, sizeof(*core->frames));
	core->used = calloc(core->modules.maps->module_count + 1, sizeof(*core->used));
	core->unwinder = pmp_unwinder_new(core->file.arch, core->options.unwind);
	if (!core->frames || !core->used || !core->unwinder)
		return PMP_ENOMEM;
	return pmp_unwinder_set_maps(core->unwinder, core->modules.maps, &memory);
}

static int open_parts(struct pmp_core *core, const char *name,
		      const struct pmp_core_places *places, struct pmp_error *err)
{
	int r = pmp_core_file_read(&core->file, core->fd, name, err);

	if (r < 0)
		return r;
	pmp_crash_text(&core->crash, &core->file.crash);
	core->memory = pmp_core_memory_new(&core->file, core->fd);
	if (!core->memory)
		return pmp_error_nomem(err, "reading a core file");
	r = pmp_core_modules_make(&core->modules, &core->file, core->memory, places, err);
	if (r < 0)
		return r;
	PMP_LOG(&core->log, "core",
		"%zu threads, %zu segments, %zu mappings, %zu regions",
		core->file.thread_count, core->file.segment_count,
		core->file.mapping_count, core->modules.maps->region_count);
	return open_unwinder(core) < 0 ? pmp_error_nomem(err, "reading a core file") : 0;
}

static struct pmp_core *new_core(const struct pmp_core_options *options)
{
	struct pmp_core *made = calloc(1, sizeof(*made));

	if (!made)
		return NULL;
	pmp_sized_take(&made->options, sizeof(made->options), options);
	if (!made->options.max_frames)
		made->options.max_frames = FRAMES_DEFAULT;
	made->log = (struct pmp_log){ made->options.log, made->options.log_arg };
	made->written = made->options.written;
	return made;
}

/* r: 0, or the error from opening it. */
static int hand_over(struct pmp_core *made, int r, struct pmp_core **core)
{
	if (r)
		pmp_core_close(made);
	else
		*core = made;
	return r;
}

int pmp_core_open_by(int fd, const char *name, const struct pmp_core_options *options,
		     const struct pmp_core_places *places, struct pmp_core **core,
		     struct pmp_error *err)
{
	struct pmp_core *made = new_core(options);
	int r;

	*core = NULL;
	if (!made)
		return pmp_error_nomem(err, "reading a core file");
	made->fd = fd;
	r = open_parts(made, name, places, err);
	return hand_over(made, r, core);
}

static int open_remotely(int fd, const char *name, const struct pmp_core_options *options,
			 const struct pmp_core_places *places, struct pmp_core **core,
			 struct pmp_error *err)
{
	struct pmp_core *made = new_core(options);
	int r;

	if (!made)
		return pmp_error_nomem(err, "reading a core file");
	r = pmp_core_remote_read(fd, name, &made->options, places, &made->remote, err);
	return hand_over(made, r, core);
}

int pmp_core_open(int fd, const char *name, const struct pmp_core_options *options,
		  struct pmp_core **core, struct pmp_error *err)
{
	struct pmp_core_options given;
	struct pmp_core_places places;

	memset(&given, 0, sizeof(given));
	pmp_sized_take(&given, sizeof(given), options);
	places = (struct pmp_core_places){
		.exe = given.exe,
		.exe_errno = given.exe && access(given.exe, R_OK) ? errno : 0,
		.symfs = given.symfs,
		.debug_dir = given.debug_dir ? given.debug_dir : DEBUG_DIR,
		.fetch = { given.fetch, given.fetch_arg },
		.written = given.written,
	};
	*core = NULL;
	if (given.namer && !given.want_thread)
		return open_remotely(fd, name, &given, &places, core, err);
	return pmp_core_open_by(fd, name, &given, &places, core, err);
}

void pmp_core_close(struct pmp_core *core)
{
	if (!core)
		return;
	pmp_core_remote_free(core->remote);
	pmp_unwinder_free(core->unwinder);
	pmp_core_modules_free(&core->modules);
	pmp_core_memory_free(core->memory);
	pmp_core_file_free(&core->file);
	pmp_buf_free(&core->crash);
	free(core->frames);
	free(core->used);
	free(core->missing);
	free(core);
}

/* ---- a sample -------------------------------------------------------------------------- */

static bool is_wanted(const struct pmp_core *core, const struct pmp_core_thread *thread)
{
	const struct pmp_core_options *options = &core->options;

	return !options->want_thread ||
	       options->want_thread(options->want_arg, thread->tid, core->file.name);
}

/* It was running when the process died, wherever it had jumped to. */
static bool has_faulted(const struct pmp_core *core, const struct pmp_core_thread *thread)
{
	const struct pmp_crash *crash = &core->file.crash;

	return crash->has_address && thread->tid == crash->tid;
}

/* A core has no thread names: all get that of the process. */
static void describe_thread(const struct pmp_core *core,
			    const struct pmp_core_thread *from,
			    const struct pmp_regs *regs, struct pmp_thread *thread)
{
	const struct pmp_reader memory = { pmp_core_memory_read, core->memory };

	thread->tid = from->tid;
	memcpy(thread->name, core->file.name, sizeof(thread->name));
	thread->obtained = PMP_OBTAINED_UNKNOWN;
	thread->state = 'R';
	thread->sp = pmp_regs_get(regs, core->file.arch->sp);
	thread->tls = from->tls ? from->tls : pmp_core_tls(core->file.arch, from->words);
	thread->syscall = PMP_SYSCALL_NONE;
	if (!has_faulted(core, from) &&
	    pmp_core_call(core->file.arch, from->words, &memory, &thread->syscall,
			  thread->args))
		thread->state = 'S';
}

/* Names are looked up after the sample is complete, so files must be open by then. */
static void open_modules(struct pmp_core *core, const struct pmp_walk *walk)
{
	const struct pmp_maps *maps = core->modules.maps;

	for (size_t i = 0; i < walk->count; i++) {
		const struct pmp_raw_frame *frame = &walk->frames[i];
		const struct pmp_region *region = pmp_maps_find(
			maps, frame->pc - !(frame->flags & PMP_FRAME_EXACT));

		if (!region || core->used[region->module->id - 1])
			continue;
		core->used[region->module->id - 1] = true;
		pmp_core_modules_open(&core->modules, region->module);
	}
}

/* Without call-frame information a stack may look complete where in fact its continuation
 * is unknown. */
static bool lacks_file(struct pmp_core *core, const struct pmp_walk *walk)
{
	const struct pmp_region *region =
		walk->count ? pmp_maps_find(core->modules.maps,
					    walk->frames[walk->count - 1].pc)
			    : NULL;
	char byte;

	return region && region->module->kind == PMP_MODULE_FILE &&
	       region->module->fd < 0 &&
	       !pmp_core_memory_read(core->memory, walk->frames[walk->count - 1].pc,
				     &byte, 1);
}

/* A core can be crafted so that the rules of each thread are slow to execute: beyond
 * WORK_MAX only the first frame of a stack is shown. */
static int walk_thread(struct pmp_core *core, const struct pmp_regs *regs,
		       struct pmp_walk *walk)
{
	const struct pmp_reader memory = { pmp_core_memory_read, core->memory };
	int r;

	if (core->work > WORK_MAX) {
		walk->frames[0] =
			(struct pmp_raw_frame){ pmp_regs_get(regs, core->file.arch->pc),
						PMP_FRAME_EXACT };
		walk->count = 1;
		walk->end = PMP_END_BAD_INFO;
		return 0;
	}
	r = pmp_walk(core->unwinder, regs, &memory, walk);
	core->work += pmp_unwinder_work(core->unwinder);
	return r;
}

static int add_thread(struct pmp_core *core, const struct pmp_core_thread *from,
		      struct pmp_sample *sample)
{
	struct pmp_walk walk = { .frames = core->frames,
				 .limit = core->options.max_frames };
	const size_t left = sample->frame_count < PMP_CORE_FRAMES_MAX
				    ? PMP_CORE_FRAMES_MAX - sample->frame_count
				    : 1;
	struct pmp_thread *thread = pmp_sample_add_thread(sample);
	struct pmp_regs regs;
	int r;

	if (!thread)
		return PMP_ENOMEM;
	pmp_arch_regs(core->file.arch, from->words, &regs);
	describe_thread(core, from, &regs, thread);
	thread->reading = sample->thread_count;
	if (walk.limit > left && !PMP_FAULT("all-frames"))
		walk.limit = left;
	r = walk_thread(core, &regs, &walk);
	if (r < 0)
		return r;
	open_modules(core, &walk);
	thread->end = lacks_file(core, &walk) ? PMP_END_NO_INFO : walk.end;
	return pmp_sample_add_frames(sample, walk.frames, walk.count);
}

/* A lock in zero-initialized memory (.bss) gets its name from the file of its module,
 * which may not be open yet because nothing else was read from it. */
static void open_modules_of_locks(struct pmp_core *core, const struct pmp_sample *sample)
{
	for (size_t i = 0; i < sample->thread_count; i++) {
		const struct pmp_region *region =
			pmp_maps_file_of_lock(sample->maps, &sample->threads[i].wait);

		if (region)
			pmp_core_modules_open(&core->modules, region->module);
	}
}

static int list_missing(struct pmp_core *core)
{
	const size_t count = core->modules.maps->module_count;

	core->missing_count = 0;
	free(core->missing);
	core->missing = malloc((count + 1) * sizeof(*core->missing));
	for (size_t i = 0; core->missing && i < count; i++)
		if (core->used[i] && core->modules.items[i].problem)
			core->missing[core->missing_count++] = i;
	return core->missing ? 0 : PMP_ENOMEM;
}

static int fill(struct pmp_core *core, struct pmp_sample *sample)
{
	const struct pmp_reader memory = { pmp_core_memory_read, core->memory };
	const struct pmp_core_file *file = &core->file;
	int r = 0;

	sample->pid = file->pid;
	memcpy(sample->name, file->name, sizeof(sample->name));
	sample->realtime = core->written;
	sample->crash = file->crash;
	sample->maps = pmp_maps_ref(core->modules.maps);
	for (size_t i = 0; !r && i < file->thread_count; i++) {
		sample->seen++;
		if (is_wanted(core, &file->threads[i]))
			r = add_thread(core, &file->threads[i], sample);
		else
			sample->skipped++;
	}
	if (!r && !core->options.no_waits)
		r = pmp_core_waits_find(sample, file->arch, &memory);
	open_modules_of_locks(core, sample);
	return r ? r : list_missing(core);
}

int pmp_core_sample(struct pmp_core *core, struct pmp_sample **sample,
		    struct pmp_error *err)
{
	if (core->remote) {
		*sample = pmp_sample_ref(pmp_core_remote_sample(core->remote));
		return 0;
	}
	*sample = pmp_sample_new();
	if (*sample && fill(core, *sample) == 0)
		return 0;
	pmp_sample_free(*sample);
	*sample = NULL;
	return pmp_error_nomem(err, "taking a sample");
}

/* ---- what is wrong with it -------------------------------------------------------------- */

void pmp_core_info(const struct pmp_core *core, struct pmp_core_info *info)
{
	const struct pmp_core_file *file = &core->file;
	const struct pmp_core_info all = {
		.pid = file->pid,
		.name = file->name,
		.threads = file->thread_count,
		.threads_left_out = file->threads_left_out,
		.length = file->length,
		.meant = file->meant,
		.no_files = !file->mapping_count,
		.crash = core->crash.data ? core->crash.data : "",
	};

	if (core->remote)
		pmp_core_remote_info(core->remote, info);
	else
		pmp_sized_give(info, &all, sizeof(all));
}

bool pmp_core_missing(const struct pmp_core *core, size_t i,
		      struct pmp_core_missing_file *missing)
{
	static const char digits[] = "0123456789abcdef";
	struct pmp_core_missing_file all = { 0 };
	const struct pmp_core_module *item;
	size_t k;

	if (core->remote)
		return pmp_core_remote_missing(core->remote, i, missing);
	if (i >= core->missing_count)
		return false;
	k = core->missing[i];
	item = &core->modules.items[k];
	all.path = core->modules.maps->modules[k]->path;
	all.problem = item->problem;
	all.program = k == core->modules.program;
	for (size_t b = 0; b < item->image.id_size && 2 * b + 2 < sizeof(all.build_id);
	     b++) {
		all.build_id[2 * b] = digits[item->image.id[b] >> 4];
		all.build_id[2 * b + 1] = digits[item->image.id[b] & 15];
	}
	pmp_sized_give(missing, &all, sizeof(all));
	return true;
}

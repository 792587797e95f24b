/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reading saved profiles: those that pmp has written (write/pprof.c), and those of any
 * other program that writes the format of `go tool pprof`. Input: untrusted bytes. Output:
 * a profile like any other.
 *
 * The message is walked twice. The first walk collects its tables: texts, functions,
 * mappings, and locations, still encoded. The second one decodes and counts each sample;
 * a location is decoded when it first occurs. Nested messages are decoded one at a time
 * (arena.c), so the memory that a file takes is bounded by its length, which is limited.
 */
#include "tally/pprof-read.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/file.h"
#include "tally/gunzip.h"

#define FILE_MAX ((size_t)256 << 20)
#define PLAIN_MAX ((size_t)512 << 20) /* decompressed size */
#define PLAIN_RATIO 512		      /* decompressed size by file size, */
#define PLAIN_FREE ((size_t)16 << 20) /* enforced beyond this */

static int each_field(struct pmp_pprof_reader *reader, const struct pmp_buf *plain,
		      int (*take)(struct pmp_pprof_reader *, const struct pmp_field *))
{
	struct pmp_field_walk walk = { (const uint8_t *)plain->data,
				       (const uint8_t *)plain->data + plain->length };
	struct pmp_field field;
	int code = 0;

	while (!code && walk.at < walk.end)
		code = pmp_take_field(&walk, &field) ? take(reader, &field) : PMP_EFORMAT;
	return code;
}

static int take_sample(struct pmp_pprof_reader *reader, const struct pmp_field *field)
{
	if (field->number != PMP_PPROF_SAMPLE || field->type != PMP_WIRE_BYTES)
		return 0;
	return pmp_pprof_read_sample(reader, field);
}

static int read_tables(struct pmp_pprof_reader *reader, const struct pmp_buf *plain)
{
	int code = each_field(reader, plain, pmp_pprof_add_field);

	if (code)
		return code;
	if (!pmp_pprof_check_texts(reader) || !reader->type_count)
		return PMP_EFORMAT;
	return pmp_pprof_find_values(reader);
}

static int read_plain(struct pmp_pprof_reader *reader, const struct pmp_buf *plain)
{
	struct pmp_profile_info *info = &reader->info;
	int code;

	if (plain->length == 0)
		return PMP_EFORMAT;
	code = read_tables(reader, plain);
	if (!code)
		code = each_field(reader, plain, take_sample);
	if (code)
		return code;
	/* Statistics of stacks are meaningless if something else is counted. */
	if (*reader->metadata.sample_type.type)
		info->stacks = info->truncated = info->not_stopped = info->evicted =
			info->evicted_distinct = 0;
	if (!info->stacks)
		info->stacks = pmp_pprof_positive(reader->counted);
	reader->metadata.guessed = !info->samples;
	if (!info->samples && reader->metadata.period)
		info->samples = reader->metadata.duration / reader->metadata.period;
	if (!info->samples)
		info->samples = 1;
	/* Older versions did not write it. */
	if (!info->rounds)
		info->rounds = info->samples;
	return reader->calls->end(reader->calls->arg, info, &reader->metadata);
}

static bool open_reader(struct pmp_pprof_reader *reader)
{
	reader->metadata.command = reader->metadata.host = "";
	reader->metadata.sample_type = (struct pmp_sample_type){ "", "" };
	reader->no_mapping = UINT32_MAX;
	reader->function_ids = pmp_intern_new();
	reader->location_ids = pmp_intern_new();
	reader->mapping_ids = pmp_intern_new();
	return pmp_arena_init(&reader->arena) && reader->function_ids &&
	       reader->location_ids && reader->mapping_ids;
}

static void close_reader(struct pmp_pprof_reader *reader)
{
	pmp_arena_free(&reader->arena);
	pmp_intern_free(reader->function_ids);
	pmp_intern_free(reader->location_ids);
	pmp_intern_free(reader->mapping_ids);
	pmp_buf_free(&reader->texts);
	pmp_buf_free(&reader->readable);
	free(reader->text_starts);
	free(reader->functions);
	free(reader->locations);
	free(reader->mappings);
	free(reader->mapping_texts);
	free(reader->mapping_numbers);
	free(reader->comments);
	free(reader->stack);
}

static int unpack(struct pmp_pprof_reader *reader, struct pmp_buf *file,
		  struct pmp_buf *plain)
{
	size_t limit = PLAIN_MAX;
	int code;

	if (!pmp_gunzip_is(file->data, file->length)) {
		*plain = *file;
		*file = (struct pmp_buf){ 0 };
		return 0;
	}
	if (file->length < PLAIN_MAX / PLAIN_RATIO)
		limit = file->length * PLAIN_RATIO;
	if (limit < PLAIN_FREE)
		limit = PLAIN_FREE;
	code = pmp_gunzip(file->data, file->length, limit, plain);
	pmp_buf_free(file);
	return code == PMP_ELIMIT ? pmp_pprof_too_many(reader, limit, "bytes, unpacked")
				  : code;
}

int pmp_pprof_read(int fd, const struct pmp_pprof_want *want,
		   const struct pmp_pprof_calls *calls, struct pmp_error *refusal)
{
	struct pmp_pprof_reader reader = { .want = want,
					   .calls = calls,
					   .refusal = refusal };
	struct pmp_buf file = { 0 }, plain = { 0 };
	int code = pmp_file_drain(fd, FILE_MAX, &file);

	if (code == -EFBIG) {
		code = pmp_pprof_too_many(&reader, FILE_MAX, "bytes");
	} else if (code) {
		refusal->sys_errno = -code;
		code = code == -ENOMEM ? PMP_ENOMEM : PMP_EIO;
	}
	if (!code)
		code = unpack(&reader, &file, &plain);
	if (!code)
		code = open_reader(&reader) ? read_plain(&reader, &plain) : PMP_ENOMEM;
	pmp_buf_free(&file);
	pmp_buf_free(&plain);
	close_reader(&reader);
	return code;
}

/* ---- into a profile ---------------------------------------------------------------------- */

static int complain(struct pmp_error *err, const char *name, int code,
		    const struct pmp_error *refusal)
{
	char shown[256];

	pmp_escape(name, shown, sizeof(shown));
	switch (code) {
	case PMP_ENOMEM: return pmp_error_nomem(err, "reading a saved profile");
	case PMP_EIO:
		return pmp_error_sys(err, code, refusal->sys_errno, "cannot read %s",
				     shown);
	case PMP_EFORMAT:
		pmp_error_set(
			err, code,
			"cannot read %s: it is damaged, or not a profile in the format "
			"pprof",
			shown);
		return code;
	case PMP_EINVAL:
	case PMP_ELIMIT:
	case PMP_ESRCH:
		pmp_error_set(err, code, "cannot read %s: %s", shown,
			      *refusal->message ? refusal->message
						: "a stack in it is too large");
		pmp_error_hint(err, "%s", refusal->hint);
		return code;
	default: return code;
	}
}

static int read_by(struct pmp_profile *profile, int fd, const struct pmp_pprof_want *want,
		   struct pmp_error *refusal)
{
	const struct pmp_pprof_calls calls = pmp_pprof_into(profile);
	const struct pmp_namer_calls *namer =
		pmp_symbolizer_options(pmp_profile_symbolizer(profile))->namer;

	return namer ? pmp_pprof_read_remote(fd, namer, want, &calls, refusal)
		     : pmp_pprof_read(fd, want, &calls, refusal);
}

int pmp_profile_read(struct pmp_profile *profile, int fd, const char *name,
		     struct pmp_error *err)
{
	struct pmp_profile_info info = { .size = sizeof(info) };
	struct pmp_error refusal = { 0 };
	struct pmp_metadata metadata;
	struct pmp_pprof_want want = {
		.sample_type = pmp_profile_options(profile)->sample_type,
		.heap = pmp_profile_heap(profile),
	};
	int code;

	pmp_profile_info(profile, &info);
	pmp_profile_metadata(profile, &metadata);
	if (info.samples)
		want.counted = &metadata.sample_type;
	code = read_by(profile, fd, &want, &refusal);
	return code ? complain(err, name, code, &refusal) : 0;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The table of formats, made from the generated writer-list.h, and what stands
 * between a writer and a sink: a buffer, and the errors of both.
 */
#include "write/writer.h"

#include <string.h>

#include "base/error.h"

/* The buffer is handed to the sink when it holds more than this. */
#define FLUSH_SIZE (64 * 1024)

#define WRITER(name) &pmp_writer_##name,
static const struct pmp_writer *const writers[] = {
#include "writer-list.h"
};
#undef WRITER

#define WRITER_COUNT (sizeof(writers) / sizeof(writers[0]))

size_t pmp_format_count(void)
{
	return WRITER_COUNT;
}

const struct pmp_format *pmp_format(size_t i)
{
	return i < WRITER_COUNT ? &writers[i]->format : NULL;
}

const struct pmp_format *pmp_format_find(const char *name)
{
	for (size_t i = 0; i < WRITER_COUNT; i++)
		if (!strcmp(writers[i]->format.name, name))
			return &writers[i]->format;
	return NULL;
}

void pmp_out_flush(struct pmp_out *out)
{
	if (!out->error && !pmp_buf_failed(&out->buf) && out->buf.length)
		out->error = out->sink->write(out->sink->arg, out->buf.data,
					      out->buf.length);
	/* After an error too: what cannot be written need not be kept. */
	pmp_buf_clear(&out->buf);
}

void pmp_out_maybe_flush(struct pmp_out *out)
{
	if (out->buf.length > FLUSH_SIZE)
		pmp_out_flush(out);
}

static const struct pmp_writer *writer_of(const struct pmp_format *format)
{
	for (size_t i = 0; i < WRITER_COUNT; i++)
		if (&writers[i]->format == format)
			return writers[i];
	return NULL;
}

/* base: NULL, or what the profile is compared with. */
static int write_profile(struct pmp_profile *profile, struct pmp_profile *base,
			 const struct pmp_writer *writer,
			 const struct pmp_write_options *options,
			 const struct pmp_sink *sink, struct pmp_error *err)
{
	struct pmp_write_options all = { 0 };
	struct pmp_out out = { .sink = sink };
	size_t size = options ? options->size : 0;
	int ret = 0;

	if (size)
		memcpy(&all, options, size < sizeof(all) ? size : sizeof(all));
	all.size = sizeof(all);

	if (pmp_profile_sift(profile, writer->format.snapshots) ||
	    (base && pmp_profile_sift(base, false)))
		return pmp_error_nomem(err, "filtering a profile");
	if (base)
		writer->write_diff(&out, profile, base, &all);
	else
		writer->write(&out, profile, &all);
	if (pmp_buf_failed(&out.buf)) {
		ret = pmp_error_nomem(err, "writing a profile");
		goto out;
	}
	pmp_out_flush(&out);
	if (out.error)
		ret = pmp_error_sys(err, PMP_EIO, -out.error,
				    "cannot write the profile as %s", writer->format.name);
out:
	pmp_buf_free(&out.buf);
	return ret;
}

int pmp_profile_write(struct pmp_profile *profile, const struct pmp_format *format,
		      const struct pmp_write_options *options,
		      const struct pmp_sink *sink, struct pmp_error *err)
{
	const struct pmp_writer *writer = writer_of(format);

	if (!writer || !sink || !sink->write)
		return pmp_error_set(err, PMP_EINVAL, "no such format or no sink");
	return write_profile(profile, NULL, writer, options, sink, err);
}

static int check_measures(const struct pmp_profile *profile, const struct pmp_profile *base,
			  struct pmp_error *err)
{
	struct pmp_about about, base_about;
	char one[128], other[128];

	pmp_profile_about(profile, &about);
	pmp_profile_about(base, &base_about);
	if (pmp_measure_is_same(&about.measure, &base_about.measure))
		return 0;
	return pmp_error_set(err, PMP_EINVAL, "cannot compare %s with a base of %s",
			     pmp_measure_text(&about.measure, one, sizeof(one)),
			     pmp_measure_text(&base_about.measure, other, sizeof(other)));
}

int pmp_profile_write_diff(struct pmp_profile *profile, struct pmp_profile *base,
			   const struct pmp_format *format,
			   const struct pmp_write_options *options,
			   const struct pmp_sink *sink, struct pmp_error *err)
{
	const struct pmp_writer *writer = writer_of(format);

	if (!base || !writer || !writer->write_diff || !sink || !sink->write)
		return pmp_error_set(err, PMP_EINVAL,
				     "no base, no format that compares, or no sink");
	if (check_measures(profile, base, err))
		return PMP_EINVAL;
	return write_profile(profile, base, writer, options, sink, err);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The table of formats, made from the generated writer-list.h; and the buffer between a
 * writer and a sink, with the errors of both.
 */
#include "write/writer.h"

#include <string.h>

#include "base/error.h"
#include "base/sized.h"
#include "report/diff.h"

/* Flush the buffer to the sink when it holds more than this. */
#define FLUSH_SIZE (64 * 1024)

#define WRITER(name) &pmp_writer_##name,
static const struct pmp_writer *const writers[] = {
#include "write/writer-list.h"
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
		out->error =
			out->sink->write(out->sink->arg, out->buf.data, out->buf.length);
	/* Also after an error: unwritable data need not be kept. */
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

/* Can the report be written in this format? 0 or PMP_EINVAL. */
static int check(const struct pmp_report *report, const struct pmp_writer *writer,
		 const struct pmp_sink *sink, struct pmp_error *err)
{
	const struct pmp_sample_type *type;
	char text[128];

	if (!report || !writer || !sink || !sink->write)
		return pmp_error_set(err, PMP_EINVAL,
				     "no report, no such format or no sink");
	type = &report->metadata.sample_type;
	if (report->base && !writer->write_diff)
		return pmp_error_set(err, PMP_EINVAL, "the format %s does not compare",
				     writer->format.name);
	if (writer->format.repeats &&
	    ((*type->unit && strcmp(type->unit, "count") != 0) ||
	     pmp_report_is_of_heap(report)))
		return pmp_error_set(
			err, PMP_EINVAL,
			"the format %s repeats each stack as often as it was found: it "
			"cannot show %s",
			writer->format.name,
			pmp_sample_type_text(type, text, sizeof(text)));
	if (report->snapshot && !writer->format.snapshots)
		return pmp_error_set(err, PMP_EINVAL, "the format %s has no snapshots",
				     writer->format.name);
	if (!report->snapshot && writer->format.census)
		return pmp_error_set(err, PMP_EINVAL,
				     "the format %s is of running processes",
				     writer->format.name);
	if (!report->snapshot && writer->format.live)
		return pmp_error_set(
			err, PMP_EINVAL,
			"the format %s is of running processes and core files: a "
			"saved profile does not say who waits for whom",
			writer->format.name);
	return 0;
}

int pmp_report_write(const struct pmp_report *report, const struct pmp_format *format,
		     const struct pmp_write_options *options, const struct pmp_sink *sink,
		     struct pmp_error *err)
{
	const struct pmp_writer *writer = writer_of(format);
	struct pmp_write_options all = { 0 };
	struct pmp_out out = { .sink = sink };
	int ret = check(report, writer, sink, err);

	if (ret)
		return ret;
	pmp_sized_take(&all, sizeof(all), options);
	(report->base ? writer->write_diff : writer->write)(&out, report, &all);
	ret = pmp_filter_problem(report->filter, err);
	if (ret)
		goto out;
	if (pmp_buf_failed(&out.buf)) {
		ret = pmp_error_nomem(err, "writing a profile");
		goto out;
	}
	pmp_out_flush(&out);
	if (out.error)
		ret = pmp_error_sys(err, PMP_EIO, -out.error,
				    "cannot write the profile as %s",
				    writer->format.name);
out:
	pmp_buf_free(&out.buf);
	return ret;
}

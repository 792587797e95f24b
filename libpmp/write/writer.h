/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A writer writes a report in one format. It is one file, which ends with
 *
 *     const struct pmp_writer pmp_writer_NAME = {
 *             .format = { .name = "NAME", .help = ..., .extension = ..., .mime = ... },
 *             .write = write_NAME,
 *     };
 *
 * and one line in Makemodule.am (pmp_writers). It reads nothing but the report.
 */
#ifndef PMP_WRITE_WRITER_H
#define PMP_WRITE_WRITER_H

#include "base/buf.h"
#include "libpmp.h"
#include "report/report.h"

struct pmp_out;

struct pmp_writer {
	struct pmp_format format;
	/* Append to out. The caller checks its sticky failure flag and flushes it to the
	 * sink; pmp_out_flush() may be called in between. */
	void (*write)(struct pmp_out *out, const struct pmp_report *report,
		      const struct pmp_write_options *options);
	/* The same for a report with a base; NULL: the format cannot compare. */
	void (*write_diff)(struct pmp_out *out, const struct pmp_report *report,
			   const struct pmp_write_options *options);
};

/* A buffer in front of a sink, flushed when it gets large. */
struct pmp_out {
	struct pmp_buf buf;
	const struct pmp_sink *sink;
	int error; /* the sink's first error, a negative errno */
};
void pmp_out_flush(struct pmp_out *out);
/* Flush if the buffer has more than 64 KiB. */
void pmp_out_maybe_flush(struct pmp_out *out);

#define WRITER(name) extern const struct pmp_writer pmp_writer_##name;
#include "write/writer-list.h"
#undef WRITER

#endif

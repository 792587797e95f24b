/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A writer puts a profile into one format: one file, ending in
 *
 *     const struct pmp_writer pmp_writer_NAME = {
 *             .format = { .name = "NAME", .help = ..., .extension = ..., .mime = ... },
 *             .write = write_NAME,
 *     };
 *
 * and one line in Makemodule.am (pmp_writers). It reads the report and nothing else.
 */
#ifndef PMP_WRITE_WRITER_H
#define PMP_WRITE_WRITER_H

#include "base/buf.h"
#include "libpmp.h"
#include "report/report.h"

struct pmp_out;

struct pmp_writer {
	struct pmp_format format;
	/* Append to out; its sticky failure is checked by the caller, which also
	 * flushes it to the sink (pmp_out_flush may be called in between). */
	void (*write)(struct pmp_out *out, const struct pmp_report *report,
		      const struct pmp_write_options *options);
	/* The same of a report that has a base; NULL: the format has no such form. */
	void (*write_diff)(struct pmp_out *out, const struct pmp_report *report,
			   const struct pmp_write_options *options);
};

/* A buffer in front of a sink: flushed whenever it is large. */
struct pmp_out {
	struct pmp_buf buf;
	const struct pmp_sink *sink;
	int error; /* the first negative errno of the sink */
};
void pmp_out_flush(struct pmp_out *out);
/* Flush if there is more than 64 KiB in the buffer. */
void pmp_out_maybe_flush(struct pmp_out *out);

#define WRITER(name) extern const struct pmp_writer pmp_writer_##name;
#include "write/writer-list.h"
#undef WRITER

#endif

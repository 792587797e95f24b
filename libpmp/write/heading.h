/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The first line of a snapshot as text, "--- snapshot 3: ... 2026-11-21T04:08:36.123Z ...".
 */
#ifndef PMP_WRITE_HEADING_H
#define PMP_WRITE_HEADING_H

#include "base/buf.h"
#include "report/report.h"

/* "--- snapshot 3: " */
void pmp_heading_begin(struct pmp_buf *buf, const struct pmp_snapshot *snapshot);
/* The time at which it was taken. */
void pmp_heading_time(struct pmp_buf *buf, const struct pmp_snapshot *snapshot);

#endif

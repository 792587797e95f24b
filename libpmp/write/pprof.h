/* SPDX-License-Identifier: GPL-2.0-or-later */
/* profile.proto for other formats that can also be written as such. */
#ifndef PMP_WRITE_PPROF_H
#define PMP_WRITE_PPROF_H

struct pmp_delays;
struct pmp_out;
struct pmp_write_options;

/* Write contentions and delay, the two values of such profiles. */
void pmp_pprof_write_delays(struct pmp_out *out, const struct pmp_delays *delays,
			    const struct pmp_write_options *options);

#endif

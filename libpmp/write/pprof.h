/* SPDX-License-Identifier: GPL-2.0-or-later */
/* profile.proto, for other formats that have a form in it. */
#ifndef PMP_WRITE_PPROF_H
#define PMP_WRITE_PPROF_H

struct pmp_delays;
struct pmp_out;
struct pmp_write_options;

/* With the two values of such profiles: contentions and delay. */
void pmp_pprof_write_delays(struct pmp_out *out, const struct pmp_delays *delays,
			    const struct pmp_write_options *options);

#endif

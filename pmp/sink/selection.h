/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a request wants of the stacks, as a filter. */
#ifndef PMP_SINK_SELECTION_H
#define PMP_SINK_SELECTION_H

#include "libpmp.h"
#include "serve/routes.h"

#include <stdbool.h>

/**
 * A filter that shows of what run shows that which is selected; groups: threads by their
 * groups; pid: of this process, 0: of all. *filter is the caller's, NULL: run does. 0,
 * PMP_ENOMEM, or PMP_EINVAL: err says which parameter is wrong, and why.
 */
int selection_filter(const struct selection *selection, const struct pmp_filter *run,
		     bool groups, pid_t pid, struct pmp_filter **filter,
		     struct pmp_error *err);

#endif

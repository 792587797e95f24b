/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Makes a filter of the stacks that a request selects. */
#ifndef PMP_SINK_SELECTION_H
#define PMP_SINK_SELECTION_H

#include "libpmp.h"
#include "serve/routes.h"

#include <stdbool.h>

/**
 * Make a filter that shows the selected part of what the filter run shows; groups: name
 * threads by their groups; pid: only this process, 0: all. *filter is owned by the
 * caller, NULL if run itself will do. 0, PMP_ENOMEM, or PMP_EINVAL with the wrong
 * parameter and the reason in err.
 */
int selection_filter(const struct selection *selection, const struct pmp_filter *run,
		     bool groups, pid_t pid, struct pmp_filter **filter,
		     struct pmp_error *err);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Opens a core file in this process, wherever its modules' files come from. */
#ifndef PMP_CORE_OWN_H
#define PMP_CORE_OWN_H

#include "core/modules.h"
#include "libpmp.h"

/* As pmp_core_open(), with given places. *core is NULL unless it returns 0. */
int pmp_core_open_by(int fd, const char *name, const struct pmp_core_options *options,
		     const struct pmp_core_places *places, struct pmp_core **core,
		     struct pmp_error *err);

#endif

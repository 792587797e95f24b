/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a process of pmp could do that it should not, for -v. */
#ifndef PMP_SAY_RIGHTS_H
#define PMP_SAY_RIGHTS_H

/** Say that this process has kept rights: of enum confine_missing (confine/rights.h). Nothing
 * is said if there are none. */
void rights_note(const char *process, unsigned missing);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rights that a process of pmp has but should not, for -v. */
#ifndef PMP_SAY_RIGHTS_H
#define PMP_SAY_RIGHTS_H

/** Report the rights that this process has kept: bits of enum confine_missing
 * (confine/rights.h). Prints nothing if there are none. */
void rights_note(const char *process, unsigned missing);

#endif

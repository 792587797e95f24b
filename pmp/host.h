/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The front as the live view sees it. */
#ifndef PMP_PMP_HOST_H
#define PMP_PMP_HOST_H

#include "front.h"

extern const struct pmp_session_host pmp_host;

#endif

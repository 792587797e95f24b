/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where tokens come from: a file, or chance. */
#ifndef PMP_SERVE_TOKEN_H
#define PMP_SERVE_TOKEN_H

#include "serve/access.h"

#include "libpmp.h"

/** The first line of a file that only its owner can read, who is root or who runs pmp. Put
 * into token, which is ACCESS_TOKEN_MAX + 1 bytes. 0 or an enum pmp_status. */
int token_read(const char *path, char *token, struct pmp_error *err);
/** One that cannot be guessed. The same. */
int token_make(char *token, struct pmp_error *err);

#endif

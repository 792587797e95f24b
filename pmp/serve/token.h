/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads a token from a file, or makes a random one. */
#ifndef PMP_SERVE_TOKEN_H
#define PMP_SERVE_TOKEN_H

#include "serve/access.h"

#include "libpmp.h"

/** Read the first line of a file that only its owner can read: root or the user who runs
 * pmp. token has ACCESS_TOKEN_MAX + 1 bytes. 0 or an enum pmp_status. */
int token_read(const char *path, char *token, struct pmp_error *err);
/** Make a token that cannot be guessed. Otherwise the same. */
int token_make(char *token, struct pmp_error *err);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where a user's own files of pmp are. */
#ifndef PMP_OPTIONS_HOME_H
#define PMP_OPTIONS_HOME_H

#include <stdbool.h>
#include <stddef.h>

/**
 * $XDG_CONFIG_HOME/pmp/NAME, or $HOME/.config/pmp/NAME. A folder of another user counts
 * for nothing, unless it is root's: after su or sudo -E the environment may still name it.
 * False: there is none.
 */
bool home_path(const char *name, char *path, size_t size);

#endif

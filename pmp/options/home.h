/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The user's own files for pmp. */
#ifndef PMP_OPTIONS_HOME_H
#define PMP_OPTIONS_HOME_H

#include <stdbool.h>
#include <stddef.h>

/**
 * $XDG_CONFIG_HOME/pmp/NAME, or $HOME/.config/pmp/NAME. A folder of another user is
 * ignored, unless that is root: after su or sudo -E the environment may still name it.
 * False: there is none.
 */
bool home_path(const char *name, char *path, size_t size);

#endif

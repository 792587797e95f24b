/* SPDX-License-Identifier: GPL-2.0-or-later */
/* $XDG_CONFIG_HOME/pmp/view: what W saves and the next view begins with. */
#ifndef PMP_VIEW_SETTINGS_FILE_H
#define PMP_VIEW_SETTINGS_FILE_H

#include "view/view.h"

/** Take the saved settings, if there are any; what is not understood in them is said. */
void settings_load(struct view *view);
/** Save them, and say so. */
void settings_save(struct view *view);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* $XDG_CONFIG_HOME/pmp/view: the settings that the key W saves for the next view. */
#ifndef PMP_VIEW_SETTINGS_FILE_H
#define PMP_VIEW_SETTINGS_FILE_H

#include "view/view.h"

/** Load saved settings, if any; reports what it does not understand. */
void settings_load(struct view *view);
/** Save the settings, and report the result. */
void settings_save(struct view *view);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Files with options: one long option a line, without its dashes, and its value after
 * blanks or "=". What follows "[name:RE]" is for targets of that name.
 *
 *	# all that we profile
 *	frequency 20
 *	quiet
 *	[name:mariadbd|mysqld]
 *	output = /var/log/pmp/%n-%t.pb.gz
 */
#ifndef PMP_OPTIONS_CONFIG_H
#define PMP_OPTIONS_CONFIG_H

#include <stdbool.h>
#include <stddef.h>

struct config;

#define PMP_CONFIG_WHOLE_SIZE 2048 /* longer than an expression may be */

/* All return false to end it, the message printed: it will tell the place. */
struct config_user {
	/* Is there such an option, and may this be its value? Also asked for those of other
	 * sections. value NULL: none. */
	bool (*check)(void *arg, const char *name, const char *value);
	bool (*take)(void *arg, const char *name, const char *value);
	/* Is the section with this regular expression, for whole names, meant? */
	bool (*applies)(void *arg, const char *regex, bool *result);
	void *arg;
};

/**
 * Read the file, or if path is NULL the one that PMP_CONFIG names, else those of the
 * system and of the user if they are there. A file that others may write is refused.
 * Returns 0, or a status with the message printed. Free it also then.
 */
int config_read(struct config **config, const char *path);
void config_free(struct config *config);

/** The expression of a section for whole names, "^(RE)$". Returns text. */
char *config_whole(const char *regex, char text[PMP_CONFIG_WHOLE_SIZE]);

/** Are there sections? Not in NULL. */
bool config_has_sections(const struct config *config);

/**
 * Give all options to the user, those of sections after the others of their file.
 * Without applies sections are left out. Values live as long as config. False if the
 * user said so.
 */
bool config_apply(const struct config *config, const struct config_user *user);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Configuration files: one long option per line, without its dashes, followed by its
 * value after blanks or "=". Options after "[name:RE]" apply to targets of that name.
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

#define PMP_CONFIG_WHOLE_SIZE 2048 /* more than an expression may have */

/* A callback returns false to stop, after printing a message; the place is added to it. */
struct config_user {
	/* Does this option exist, and is this value valid? Also called for sections that
	 * do not apply. value NULL: none. */
	bool (*check)(void *arg, const char *name, const char *value);
	bool (*take)(void *arg, const char *name, const char *value);
	/* Does the section with this regular expression, for whole names, apply? */
	bool (*applies)(void *arg, const char *regex, bool *result);
	void *arg;
};

/**
 * Read this file, or if path is NULL the one that PMP_CONFIG names, else those of the
 * system and of the user if they exist. A file that others may write to is refused.
 * Returns 0, or a status after printing a message. *config must be freed even on failure.
 */
int config_read(struct config **config, const char *path);
void config_free(struct config *config);

/** The expression of a section for whole names, "^(RE)$". Returns text. */
char *config_whole(const char *regex, char text[PMP_CONFIG_WHOLE_SIZE]);

/** Does it have sections? config may be NULL. */
bool config_has_sections(const struct config *config);

/**
 * Pass all options to the callbacks; those of sections come after the others of their
 * file. Without applies, sections are left out. Values live as long as config. False if a
 * callback returned false.
 */
bool config_apply(const struct config *config, const struct config_user *user);

#endif

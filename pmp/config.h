/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Files with options: one long option a line, without its dashes, and its value behind
 * blanks or "=". What follows "[name:RE]" is for targets of that name.
 *
 *	# all that we profile
 *	frequency 20
 *	quiet
 *	[name:mariadbd|mysqld]
 *	output = /var/log/pmp/%n-%t.pb.gz
 */
#ifndef PMP_PMP_CONFIG_H
#define PMP_PMP_CONFIG_H

#include <stdbool.h>

struct pmp_config;

#define PMP_CONFIG_WHOLE_SIZE 2048 /* longer than an expression may be */

/* All return false to end it, the message printed: it will tell the place. */
struct pmp_config_user {
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
int pmp_config_read(struct pmp_config **config, const char *path);
void pmp_config_free(struct pmp_config *config);

/** The expression of a section for whole names, "^(RE)$". Returns text. */
char *pmp_config_whole(const char *regex, char text[PMP_CONFIG_WHOLE_SIZE]);

/** Are there sections? Not in NULL. */
bool pmp_config_has_sections(const struct pmp_config *config);

/**
 * Give all options to the user, those of sections behind the others of their file.
 * Without applies sections are left out. Values live as long as config. False if the
 * user said so.
 */
bool pmp_config_apply(const struct pmp_config *config, const struct pmp_config_user *user);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Users by name and by id, from /etc/passwd. */
#ifndef PMP_OPTIONS_USER_H
#define PMP_OPTIONS_USER_H

#include <stdbool.h>
#include <sys/types.h>

#define USER_NAME_SIZE 40

/** The id of a user: "mysql" or "104". False: there is no such user. */
bool user_find(const char *text, uid_t *user);
/** The name of a user, or the id if there is none. */
void user_name(uid_t user, char name[USER_NAME_SIZE]);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Users by name and by id, as /etc/passwd has them. */
#ifndef PMP_OPTIONS_USER_H
#define PMP_OPTIONS_USER_H

#include <stdbool.h>
#include <sys/types.h>

#define USER_NAME_SIZE 40

/** "mysql" or "104": the id of a user. False: there is no user of that name. */
bool user_find(const char *text, uid_t *user);
/** The name of a user, or the id if it has none. */
void user_name(uid_t user, char name[USER_NAME_SIZE]);

#endif

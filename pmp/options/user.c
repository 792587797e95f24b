/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads /etc/passwd directly: getpwnam() would load modules into a static program, which
 * may run as root. */
#include "options/user.h"

#include <pwd.h>
#include <stdio.h>
#include <string.h>

#include "options/value.h"

#define PASSWD "/etc/passwd"

static const struct passwd *find_entry(const char *name, uid_t user)
{
	FILE *file = fopen(PASSWD, "re");
	struct passwd *entry = NULL;

	while (file && (entry = fgetpwent(file)) &&
	       (name ? strcmp(entry->pw_name, name) != 0 : entry->pw_uid != user))
		;
	if (file)
		fclose(file);
	return entry;
}

bool user_find(const char *text, uid_t *user)
{
	const struct passwd *entry = find_entry(text, 0);
	uint64_t number;

	if (entry) {
		*user = entry->pw_uid;
		return true;
	}
	if (!value_number(text, &number) || number >= UINT32_MAX)
		return false;
	*user = (uid_t)number;
	return true;
}

void user_name(uid_t user, char name[USER_NAME_SIZE])
{
	const struct passwd *entry = find_entry(NULL, user);

	if (entry)
		snprintf(name, USER_NAME_SIZE, "%s", entry->pw_name);
	else
		snprintf(name, USER_NAME_SIZE, "%u", (unsigned)user);
}

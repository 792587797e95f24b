/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Folders named by the environment. */
#include "options/home.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Does the folder, or the nearest existing one above it, belong to root or this user? */
static bool is_own(const char *folder)
{
	char path[PATH_MAX];
	struct stat status;
	char *slash;

	if (snprintf(path, sizeof(path), "%s", folder) >= (int)sizeof(path))
		return false;
	while (stat(path, &status) < 0) {
		slash = strrchr(path, '/');
		if (errno != ENOENT || !slash)
			return false;
		slash[slash == path] = '\0';
	}
	return status.st_uid == 0 || status.st_uid == geteuid();
}

bool home_path(const char *name, char *path, size_t size)
{
	const char *config = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
	int n;

	if (config && *config == '/' && is_own(config))
		n = snprintf(path, size, "%s/pmp/%s", config, name);
	else if (!(config && *config == '/') && home && *home == '/' && is_own(home))
		n = snprintf(path, size, "%s/.config/pmp/%s", home, name);
	else
		return false;
	return n > 0 && (size_t)n < size;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The settings file: loaded when a view starts, saved by the key W. */
#include "view/settings-file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "options/home.h"
#include "say/message.h"
#include "sink/atomic-file.h"

#define PATH_SIZE 1024
#define SETTINGS_SIZE 4096

static void make_directories(char *path)
{
	for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		mkdir(path, 0700);
		*slash = '/';
	}
}

/* Does not block if there is a FIFO in its place. */
static FILE *open_settings(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	struct stat status;
	FILE *file = NULL;

	if (fd >= 0 && fstat(fd, &status) == 0 && S_ISREG(status.st_mode))
		file = fdopen(fd, "r");
	if (fd >= 0 && !file)
		close(fd);
	return file;
}

void settings_load(struct view *view)
{
	char path[PATH_SIZE], line[256];
	const char *problem;
	FILE *file = NULL;

	if (home_path("view", path, sizeof(path)))
		file = open_settings(path);
	while (file && fgets(line, sizeof(line), file)) {
		line[strcspn(line, "\r\n")] = '\0';
		if (!settings_take(&view->model.settings, line, &problem))
			view_say(view, "Not understood: %.40s%s%s%s, in %s", line,
				 *problem ? " (" : "", problem, *problem ? ")" : "",
				 path);
	}
	if (file)
		fclose(file);
}

/* Quote a name so that nothing in it is expanded. */
static bool quote_name(const char *path, char *name, size_t size)
{
	size_t length = 0;

	for (; *path && length + 2 < size; path++) {
		if (*path == '%')
			name[length++] = '%';
		name[length++] = *path;
	}
	name[length] = '\0';
	return !*path;
}

static int write_file(const char *path, const char *text, size_t length,
		      struct pmp_error *err)
{
	struct atomic_file *output = NULL;
	char name[2 * PATH_SIZE];
	const struct atomic_file_target target = { .name = name, .process = "" };
	int code;

	if (!quote_name(path, name, sizeof(name)))
		return message_fill(err, PMP_EIO, ENAMETOOLONG, "cannot write %s", path);
	code = atomic_file_open(&output, &target, err);
	if (code < 0)
		return code;
	/* A write error is reported by the commit. */
	atomic_file_write(output, text, length);
	code = atomic_file_commit(output) < 0
		       ? message_fill(err, PMP_EIO, -atomic_file_error(output),
				      "cannot write %s", path)
		       : 0;
	atomic_file_free(output);
	return code;
}

void settings_save(struct view *view)
{
	char path[PATH_SIZE], text[SETTINGS_SIZE];
	size_t length = settings_print(&view->model.settings, text, sizeof(text));
	struct pmp_error err = { 0 };

	if (!home_path("view", path, sizeof(path))) {
		view_say(view, "Neither XDG_CONFIG_HOME nor HOME is a folder of yours");
		return;
	}
	make_directories(path);
	if (write_file(path, text, length, &err) == 0)
		view_say(view, "Saved: %s", path);
	else
		view_say(view, "Cannot write %s: %s", path,
			 err.sys_errno ? strerror(err.sys_errno) : err.message);
}

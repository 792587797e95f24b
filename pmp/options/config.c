/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Configuration files: who may have written them, and how their lines are parsed. */
#include "options/config.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fault.h"
#include "options/home.h"
#include "options/pattern.h"
#include "say/message.h"
#include "sink/directory.h"

#define SYSTEM_FILE "/etc/pmp.conf"
#define SIZE_LIMIT (1 << 20)
#define FILES_MAX 2
#define PLACE_SIZE (PATH_MAX + 16)
#define SHOWN_MAX 256 /* characters of an expression in a message */
#define BLANKS " \t\r"

struct line {
	const char *section; /* its regular expression; NULL: no section */
	const char *name, *value;
	unsigned number;
	const struct file *file;
};

struct file {
	char path[PATH_MAX];
	char *text; /* split into the strings of lines */
};

struct config {
	struct file files[FILES_MAX];
	size_t file_count;
	struct line *lines;
	size_t count, capacity;
	bool has_sections;
};

/* ---- the file ------------------------------------------------------------------ */

static int cannot_read(const char *path, int number)
{
	message_print(NULL, "cannot read %s: %s", path, strerror(number));
	return number == ENOMEM ? PMP_EXIT_FAILED : PMP_EXIT_USAGE;
}

/* Options say where root writes to, so only root may have written them. */
static bool is_trusted(int fd, const struct stat *status)
{
	uid_t self = geteuid();

	if (PMP_FAULT("believe-config"))
		return true;
	if ((status->st_uid != 0 && status->st_uid != self) ||
	    (status->st_mode & S_IWOTH))
		return false;
	if (!(status->st_mode & S_IWGRP))
		return true;
	return !directory_has_acl(fd) && (self != 0 || status->st_gid == 0);
}

static int check_file(const char *path, int fd, const struct stat *status)
{
	char hint[PATH_MAX + 64];

	if (!S_ISREG(status->st_mode)) {
		message_print(NULL, "cannot read %s: it is not a regular file", path);
		return PMP_EXIT_USAGE;
	}
	if (!is_trusted(fd, status)) {
		snprintf(hint, sizeof(hint), "chown %s %s; chmod go-w %s",
			 geteuid() == 0 ? "root" : "$USER", path, path);
		message_print(hint, "refusing %s: others may write to it", path);
		return PMP_EXIT_USAGE;
	}
	if (status->st_size > SIZE_LIMIT) {
		message_print(NULL, "cannot read %s: it has more than %d bytes", path,
			      SIZE_LIMIT);
		return PMP_EXIT_USAGE;
	}
	return 0;
}

static int read_text(struct file *file, int fd, size_t size)
{
	size_t length = 0;
	ssize_t n = 1;

	file->text = malloc(size + 1);
	if (!file->text)
		return cannot_read(file->path, ENOMEM);
	while (length < size && n > 0) {
		n = read(fd, file->text + length, size - length);
		if (n < 0)
			return cannot_read(file->path, errno);
		length += (size_t)n;
	}
	file->text[length] = '\0';
	if (strlen(file->text) == length)
		return 0;
	message_print(NULL, "cannot read %s: it is not text", file->path);
	return PMP_EXIT_USAGE;
}

/* needed: a missing or unreadable file is an error. */
static int read_file(struct config *config, const char *path, bool needed)
{
	struct file *file = &config->files[config->file_count];
	struct stat status;
	int fd, result;

	snprintf(file->path, sizeof(file->path), "%s", path);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (fd < 0) {
		if (!needed && (errno == ENOENT || errno == ENOTDIR || errno == EACCES))
			return 0;
		return cannot_read(path, errno);
	}
	if (fstat(fd, &status) < 0)
		result = cannot_read(path, errno);
	else if (S_ISCHR(status.st_mode)) /* /dev/null */
		result = 0;
	else
		result = check_file(path, fd, &status);
	if (!result && S_ISREG(status.st_mode)) {
		config->file_count++;
		result = read_text(file, fd, (size_t)status.st_size);
	}
	close(fd);
	return result;
}

/* ---- lines ------------------------------------------------------------------------ */

static char *trim(char *text)
{
	size_t length;

	text += strspn(text, BLANKS);
	length = strlen(text);
	while (length > 0 && strchr(BLANKS, text[length - 1]))
		length--;
	text[length] = '\0';
	return text;
}

/* Strip the quotation marks around a value. */
static char *unquote(char *text)
{
	size_t length = strlen(text);

	if (length < 2 || (*text != '"' && *text != '\'') || text[length - 1] != *text)
		return text;
	text[length - 1] = '\0';
	return text + 1;
}

static bool has_open_quote(const char *text)
{
	return (*text == '"' || *text == '\'') && !strchr(text + 1, *text);
}

/* A comment begins with # at the start of a word, outside quotation marks. */
static void cut_comment(char *text)
{
	char quote = 0;

	for (char *at = text; *at; at++) {
		bool starts_word = at == text || strchr(BLANKS "=", at[-1]);

		if (quote) {
			quote = (char)(*at == quote ? 0 : quote);
		} else if ((*at == '"' || *at == '\'') && starts_word) {
			quote = *at;
		} else if (*at == '#' && starts_word) {
			*at = '\0';
			return;
		}
	}
}

char *config_whole(const char *regex, char text[PMP_CONFIG_WHOLE_SIZE])
{
	snprintf(text, PMP_CONFIG_WHOLE_SIZE, "^(%s)$", regex);
	return text;
}

static bool check_section(const char *regex)
{
	struct pattern pattern = { 0 };
	struct pmp_error err = { 0 };
	char whole[PMP_CONFIG_WHOLE_SIZE];
	int code = pattern_set(&pattern, regex, &err);

	/* The whole may be too long even if the part is not. */
	if (!code)
		code = pattern_set(&pattern, config_whole(regex, whole), &err);
	pattern_free(&pattern);
	if (code)
		message_print(NULL, "'%.*s%s' is not a regular expression: %s", SHOWN_MAX,
			      regex, strlen(regex) > SHOWN_MAX ? "..." : "", err.message);
	return !code;
}

/* "[name:RE]": sets *section to RE. */
static bool take_section(char *text, const char **section)
{
	static const char prefix[] = "[name:";
	size_t length = strlen(text), start = sizeof(prefix) - 1;

	if (strncmp(text, prefix, start) != 0 || length < start + 2 ||
	    text[length - 1] != ']') {
		message_print("for example [name:mariadbd]", "'%s' is not a section",
			      text);
		return false;
	}
	text[length - 1] = '\0';
	*section = text + start;
	return check_section(*section);
}

static bool add_line(struct config *config, const struct line *line)
{
	struct line *lines = config->lines;

	if (config->count == config->capacity) {
		config->capacity = config->capacity ? 2 * config->capacity : 32;
		lines = reallocarray(lines, config->capacity, sizeof(*lines));
		if (!lines) {
			message_print(NULL, "not enough memory for the configuration");
			return false;
		}
		config->lines = lines;
	}
	lines[config->count++] = *line;
	return true;
}

/* "name value", "name = value", "name" */
static bool take_option(struct config *config, char *text, struct line line)
{
	char *value = text + strcspn(text, BLANKS "=");

	line.name = text;
	line.value = NULL;
	if (*value) {
		char *after = value + strspn(value, BLANKS);

		if (*after == '=')
			after++;
		*value = '\0';
		after = trim(after);
		if (has_open_quote(after)) {
			message_print(NULL, "'%s': a quotation mark is missing", text);
			return false;
		}
		line.value = unquote(after);
	}
	return add_line(config, &line);
}

static void set_place(const struct line *line)
{
	char place[PLACE_SIZE];

	snprintf(place, sizeof(place), "%s:%u", line->file->path, line->number);
	message_place(place);
}

static bool take_lines(struct config *config, const struct file *file)
{
	struct line line = { .file = file };
	char *next = file->text;
	bool good = true;

	while (good && next && *next) {
		char *text = next;

		next = strchr(text, '\n');
		if (next)
			*next++ = '\0';
		line.number++;
		set_place(&line);
		cut_comment(text);
		text = trim(text);
		if (*text == '[') {
			config->has_sections = true;
			good = take_section(text, &line.section);
		} else if (*text) {
			good = take_option(config, text, line);
		}
	}
	message_place(NULL);
	return good;
}

/* ---- all files --------------------------------------------------------------------- */

static int read_files(struct config *config, const char *path)
{
	char user[PATH_MAX];
	int status;

	if (!path)
		path = getenv("PMP_CONFIG");
	if (path)
		return *path ? read_file(config, path, true) : 0;
	status = read_file(config, SYSTEM_FILE, false);
	if (!status && home_path("config", user, sizeof(user)))
		status = read_file(config, user, false);
	return status;
}

int config_read(struct config **result, const char *path)
{
	struct config *config = calloc(1, sizeof(*config));
	int status;

	*result = config;
	if (!config)
		return cannot_read(path ? path : "the configuration", ENOMEM);
	status = read_files(config, path);
	for (size_t i = 0; i < config->file_count && !status; i++) {
		if (!take_lines(config, &config->files[i]))
			status = PMP_EXIT_USAGE;
	}
	return status;
}

void config_free(struct config *config)
{
	if (!config)
		return;
	for (size_t i = 0; i < config->file_count; i++)
		free(config->files[i].text);
	free(config->lines);
	free(config);
}

bool config_has_sections(const struct config *config)
{
	return config && config->has_sections;
}

bool config_apply(const struct config *config, const struct config_user *user)
{
	const char *section = NULL;
	bool good = true, meant = true;

	for (size_t i = 0; config && i < config->count && good; i++) {
		const struct line *line = &config->lines[i];

		set_place(line);
		/* Lines of a section are adjacent and share the pointer. */
		if (line->section != section) {
			section = line->section;
			meant = !section;
			if (section && user->applies)
				good = user->applies(user->arg, section, &meant);
		}
		good = good && user->check(user->arg, line->name, line->value);
		if (good && meant)
			good = user->take(user->arg, line->name, line->value);
	}
	message_place(NULL);
	return good;
}

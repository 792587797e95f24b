/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "serve/token.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

static int failed(struct pmp_error *err, const char *path, const char *why)
{
	*err = (struct pmp_error){ .code = PMP_EINVAL };
	snprintf(err->message, sizeof(err->message), "cannot use the token in %.200s: %s",
		 path, why);
	return err->code;
}

/* Why the file must not be used, or NULL. */
static const char *check_file(int fd)
{
	struct stat info;

	if (fstat(fd, &info) < 0)
		return strerror(errno);
	if (!S_ISREG(info.st_mode))
		return "it is not a file";
	if (info.st_uid != 0 && info.st_uid != geteuid())
		return "it belongs to another user";
	/* A systemd credential has its reader in an access control list, whose mask is in
	 * the group bits. */
	if (info.st_mode & (info.st_uid == 0 && info.st_gid == 0 ? 037 : 077))
		return "others can read it: its mode must be 0600";
	return NULL;
}

int token_read(const char *path, char *token, struct pmp_error *err)
{
	/* O_NONBLOCK: opening a FIFO must not block. */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	char text[ACCESS_TOKEN_MAX + 2] = "";
	const char *why;
	ssize_t n;

	if (fd < 0)
		return failed(err, path, strerror(errno));
	why = check_file(fd);
	n = why ? 0 : read(fd, text, sizeof(text) - 1);
	close(fd);
	if (why || n < 0)
		return failed(err, path, why ? why : strerror(errno));
	text[strcspn(text, "\r\n")] = '\0';
	if (!access_is_token(text))
		return failed(
			err, path,
			"its first line must be 16 to 256 letters, digits and -._~+/=");
	memcpy(token, text, strlen(text) + 1);
	return 0;
}

int token_make(char *token, struct pmp_error *err)
{
	unsigned char random[24];

	if (getrandom(random, sizeof(random), 0) != (ssize_t)sizeof(random))
		return failed(err, "memory", strerror(errno));
	access_make_token(random, token);
	return 0;
}

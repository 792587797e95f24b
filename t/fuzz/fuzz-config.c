/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fuzz target: a configuration of arbitrary bytes, read for all sections or for those that
 * match: gives options, or a message that says what is wrong.
 */
#include "fuzz.h"

#include "options/config.h"
#include "say/message.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static int messages;

static void count_message(void *arg, const char *text, const char *line)
{
	(void)arg;
	(void)line;
	messages += *text != '\0';
}

size_t fuzz_seed(unsigned n, uint8_t *data, size_t size)
{
	static const char *const seeds[] = {
		"frequency 20\nquiet\n[name:mariadbd|mysqld]\noutput = %n-%t.pb.gz\n",
		"replace 's/#/x/' # a comment\nlog=\"a # b\"\n\r\n  title  =  't w'  \n",
		"[name:(a|b)*c]\nkeep 7\n[name:x{2,3}]\nkeep=8",
	};

	if (n >= sizeof(seeds) / sizeof(*seeds) || strlen(seeds[n]) > size)
		return 0;
	memcpy(data, seeds[n], strlen(seeds[n]));
	return strlen(seeds[n]);
}

/* A name must not have any syntax of its line. */
static bool check_option(void *arg, const char *name, const char *value)
{
	(void)arg;
	if (name[strcspn(name, " \t\r\n=")])
		abort();
	return !value || !strchr(value, '\n');
}

static bool take_option(void *arg, const char *name, const char *value)
{
	size_t *taken = arg;

	++*taken;
	return check_option(NULL, name, value);
}

static bool applies(void *arg, const char *regex, bool *result)
{
	char whole[PMP_CONFIG_WHOLE_SIZE];

	(void)arg;
	*result = strlen(config_whole(regex, whole)) % 2;
	return true;
}

static size_t apply(const struct config *config, bool with_sections)
{
	size_t taken = 0;
	const struct config_user user = { check_option, take_option,
					  with_sections ? applies : NULL, &taken };

	if (!config_apply(config, &user) && !messages)
		abort();
	return taken;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct config *config = NULL;
	int fd = memfd_create("config", 0), status;
	char path[32];

	if (fd < 0 || fchmod(fd, 0600) || write(fd, data, size) != (ssize_t)size)
		abort();
	message_divert(count_message, NULL);
	messages = 0;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	status = config_read(&config, path);
	if (status && !messages)
		abort();
	if (!status && apply(config, true) < apply(config, false))
		abort();
	config_free(config);
	close(fd);
	return 0;
}

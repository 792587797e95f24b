/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See confine.h. */
#include "fetch/confine.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "confine/landlock.h"

#define MEMORY ((uint64_t)2 << 30)
#define FILE_SIZE ((uint64_t)8 << 30)
#define WORK_TIME 600 /* seconds of CPU time */
#define PROCESSES 256 /* and threads, as its user has no other ones */

/* ---- its files -------------------------------------------------------------------- */

/* What a network client reads besides programs: certificates, host names. */
static const char *const readable[] = {
	"/etc",
	"/dev/urandom",
	"/dev/random",
	"/run/systemd/resolve",
	"/run/resolvconf",
	"/run/NetworkManager",
	"/run/netconfig",
	"/var/lib/ca-certificates",
};

/* Variables in which the user names files, or URLs of files. */
static const char *const named[] = {
	"DEBUGINFOD_URLS",
	"DEBUGINFOD_HEADERS_FILE",
	"DEBUGINFOD_IMA_CERT_PATH",
	"SSL_CERT_FILE",
	"SSL_CERT_DIR",
	"CURL_CA_BUNDLE",
	"LD_LIBRARY_PATH",
};

/* Allow reading the items of a list, with any separators, that are absolute paths. */
static void read_named(int rules, const char *list)
{
	char item[PATH_MAX];
	size_t length;

	for (; list && *list; list += length + (list[length] != '\0')) {
		length = strcspn(list, " \t\n:");
		/* file:///PATH splits into "file" and "///PATH". */
		if (*list != '/' || length >= sizeof(item))
			continue;
		memcpy(item, list, length);
		item[length] = '\0';
		if (strncmp(item, "//", 2) != 0 || item[2] == '/')
			confine_rules_read(rules, item);
	}
}

int confine_find_rules(const struct fetch_cache *cache, const char *program)
{
	const int rules = confine_rules_new(true);

	if (rules < 0)
		return -1;
	for (size_t i = 0; i < sizeof(readable) / sizeof(*readable); i++)
		confine_rules_read(rules, readable[i]);
	for (size_t i = 0; i < sizeof(named) / sizeof(*named); i++)
		read_named(rules, getenv(named[i]));
	confine_read_programs(rules, program);
	confine_rules_write(rules, cache->fd);
	return rules;
}

/* ---- its confinement --------------------------------------------------------------- */

struct confine_program confine_find(const struct fetch_cache *cache, int rules)
{
	return (struct confine_program){
		.user = cache->user,
		.rules = rules,
		.network = true,
		.memory = MEMORY,
		.file_size = FILE_SIZE,
		.work_time = WORK_TIME,
		.processes = PROCESSES,
	};
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * See confine.h. It is a program of others, with libraries for cryptography, which need more
 * system calls each year: so the filter says what it may not do.
 */
#include "fetch/confine.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fault.h"
#include "confine/calls.h"
#include "confine/landlock.h"
#include "confine/rights.h"

#define MEMORY ((uint64_t)2 << 30)
#define FILE_SIZE ((uint64_t)8 << 30)
#define DESCRIPTORS 256
#define WORK_TIME 600 /* seconds of processor time */
#define PROCESSES 256 /* and threads, of a user who has no other ones */

#define END_IF(name, mask) \
	{ \
		SYS_##name, CONFINE_END, 1, \
		{ \
			{ \
				CONFINE_LOW(0), mask, mask \
			} \
		} \
	}

static const struct confine_call calls[] = {
	END(ptrace),
	END(process_vm_readv),
	END(process_vm_writev),
	END(pidfd_getfd),
	END(mount),
	END(umount2),
	END(pivot_root),
	END(chroot),
	END(unshare),
	END(setns),
	END_IF(clone, CLONE_NEWUSER),
	/* Its flags are in memory, where no filter sees them; clone() is there as well. */
	{ .number = SYS_clone3, .action = CONFINE_UNKNOWN },
	END(bpf),
	END(perf_event_open),
	END(userfaultfd),
	END(add_key),
	END(request_key),
	END(keyctl),
	END(init_module),
	END(finit_module),
	END(kexec_load),
	END(open_by_handle_at),
	/* Calls that no filter sees. */
	{ .number = SYS_io_uring_setup, .action = CONFINE_UNKNOWN },
};

/* ---- its files -------------------------------------------------------------------- */

/* What a client of the network reads: programs, libraries, certificates, names of hosts. */
static const char *const readable[] = {
	"/usr",
	"/bin",
	"/sbin",
	"/lib",
	"/lib32",
	"/lib64",
	"/opt",
	"/nix/store",
	"/gnu/store",
	"/etc",
	"/dev/urandom",
	"/dev/random",
	"/run/systemd/resolve",
	"/run/resolvconf",
	"/run/NetworkManager",
	"/run/netconfig",
	"/var/lib/ca-certificates",
};

/* Variables in which the user names files, or addresses that are files. */
static const char *const named[] = {
	"DEBUGINFOD_URLS",
	"DEBUGINFOD_HEADERS_FILE",
	"DEBUGINFOD_IMA_CERT_PATH",
	"SSL_CERT_FILE",
	"SSL_CERT_DIR",
	"CURL_CA_BUNDLE",
	"LD_LIBRARY_PATH",
};

/* Of a list, whatever separates its items, those that are absolute paths. */
static void read_named(int rules, const char *list)
{
	char item[PATH_MAX];
	size_t length;

	for (; list && *list; list += length + (list[length] != '\0')) {
		length = strcspn(list, " \t\n:");
		/* file:///PATH is an item "file", then one with two slashes more. */
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
	char folder[PATH_MAX];
	int null;

	if (rules < 0)
		return -1;
	for (size_t i = 0; i < sizeof(readable) / sizeof(*readable); i++)
		confine_rules_read(rules, readable[i]);
	for (size_t i = 0; i < sizeof(named) / sizeof(*named); i++)
		read_named(rules, getenv(named[i]));
	snprintf(folder, sizeof(folder), "%s", program);
	*(strrchr(folder, '/') ? strrchr(folder, '/') : folder) = '\0';
	if (*folder)
		confine_rules_read(rules, folder);
	confine_rules_write(rules, cache->fd);
	null = open("/dev/null", O_PATH | O_CLOEXEC);
	confine_rules_write(rules, null);
	close(null);
	return rules;
}

/* ---- in the child ------------------------------------------------------------------ */

int confine_find(const struct fetch_cache *cache, int rules)
{
	const bool becomes = cache->user != geteuid();

	if (PMP_FAULT("fetch-rights"))
		return 0;
	if (!confine_rights(cache->user) && (becomes || geteuid() == 0))
		return errno ? errno : EPERM;
	confine_limit(RLIMIT_CORE, 0);
	confine_limit(RLIMIT_AS, MEMORY);
	confine_limit(RLIMIT_FSIZE, FILE_SIZE);
	confine_limit(RLIMIT_NOFILE, DESCRIPTORS);
	confine_limit(RLIMIT_CPU, WORK_TIME);
	if (becomes)
		confine_limit(RLIMIT_NPROC, PROCESSES);
	if (rules >= 0)
		confine_rules_enter(rules);
	confine_calls(calls, sizeof(calls) / sizeof(*calls), CONFINE_ALLOW);
	return 0;
}

void confine_find_missing(const struct fetch_cache *cache, int rules, char *text,
			  size_t size)
{
	snprintf(text, size, "%s%s%s",
		 confine_has_filters() ? "" : ", no filter of system calls (seccomp)",
		 rules < 0 ? ", no limit to files (landlock)" : "",
		 cache->user == 0 ? ", the user id of root" : "");
	if (*text)
		memmove(text, text + 2, strlen(text) - 1);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See landlock.h. <linux/landlock.h> may be older than the kernel, or missing. */
#include "confine/landlock.h"

#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fault.h"
#include "confine/rights.h"

#ifndef SYS_landlock_create_ruleset
#define SYS_landlock_create_ruleset 444 /* the same on all architectures */
#define SYS_landlock_add_rule 445
#define SYS_landlock_restrict_self 446
#endif
#define ASK_VERSION 1U
#define RULE_PATH_BENEATH 1

#define EXECUTE (UINT64_C(1) << 0)
#define WRITE_FILE (UINT64_C(1) << 1)
#define READ_FILE (UINT64_C(1) << 2)
#define READ_DIR (UINT64_C(1) << 3)
#define REMOVE_DIR (UINT64_C(1) << 4)
#define REMOVE_FILE (UINT64_C(1) << 5)
#define MAKE_DIR (UINT64_C(1) << 7)
#define MAKE_REG (UINT64_C(1) << 8)
#define RIGHTS_1 ((UINT64_C(1) << 13) - 1) /* of version 1 */
#define TRUNCATE (UINT64_C(1) << 14)

#define OF_FILE (EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE)
#define TO_READ (EXECUTE | READ_FILE | READ_DIR)
#define TO_WRITE \
	(READ_FILE | READ_DIR | WRITE_FILE | REMOVE_DIR | REMOVE_FILE | MAKE_DIR | \
	 MAKE_REG | TRUNCATE)

struct ruleset {
	uint64_t files, network, scope;
};

/* Packed, as in the kernel. */
struct rule {
	uint64_t allowed;
	int32_t parent;
} __attribute__((packed));

#define OF_PORTS 4   /* the version since which there are rules for ports */
#define OF_SIGNALS 6 /* for signals and abstract sockets */

static long version(void)
{
	const long known = syscall(SYS_landlock_create_ruleset, NULL, 0, ASK_VERSION);

	if (PMP_FAULT("landlock-3"))
		return known < 3 ? known : 3;
	if (PMP_FAULT("landlock-5"))
		return known < 5 ? known : 5;
	return known;
}

unsigned confine_rules_lack(void)
{
	const long known = version();

	return (known < OF_PORTS ? CONFINE_NETWORK : 0U) |
	       (known < OF_SIGNALS ? CONFINE_SIGNALS : 0U);
}

/* The rights for files that each version supports. */
static uint64_t files_of(long version)
{
	uint64_t files = RIGHTS_1;

	for (long later = 2; later <= version && later <= 5; later++)
		if (later != 4)
			files |= files + 1;
	return files;
}

int confine_rules_new(bool network)
{
	const long known = version();
	const struct ruleset rights = { files_of(known), network ? 0 : 3, 3 };
	const size_t size = known < OF_PORTS	 ? sizeof(rights.files)
			    : known < OF_SIGNALS ? 2 * sizeof(rights.files)
						 : sizeof(rights);

	if (known < 1)
		return -1;
	return (int)syscall(SYS_landlock_create_ruleset, &rights, size, 0);
}

static bool allow(int rules, int fd, uint64_t rights)
{
	struct rule rule = { .allowed = rights & files_of(version()), .parent = fd };
	struct stat status;

	if (fstat(fd, &status) < 0)
		return false;
	if (!S_ISDIR(status.st_mode))
		rule.allowed &= OF_FILE;
	return syscall(SYS_landlock_add_rule, rules, RULE_PATH_BENEATH, &rule, 0) == 0;
}

bool confine_rules_read(int rules, const char *path)
{
	const int fd = open(path, O_PATH | O_CLOEXEC);
	bool allowed;

	if (fd < 0)
		return false;
	allowed = allow(rules, fd, TO_READ);
	close(fd);
	return allowed;
}

bool confine_rules_write(int rules, int fd)
{
	return allow(rules, fd, TO_WRITE);
}

bool confine_rules_enter(int rules)
{
	return syscall(SYS_landlock_restrict_self, rules, 0) == 0;
}

bool confine_files(void)
{
	const int rules = confine_rules_new(false);
	bool confined;

	if (rules < 0)
		return false;
	confined = confine_rules_enter(rules);
	close(rules);
	return confined;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See rights.h. */
#include "confine/rights.h"

#include <errno.h>
#include <grp.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define NOBODY 65534

/* <linux/landlock.h> may be older than the kernel, or missing. */
#ifndef SYS_landlock_create_ruleset
#define SYS_landlock_create_ruleset 444 /* the same on all architectures */
#define SYS_landlock_restrict_self 446
#endif
#define LANDLOCK_VERSION 1U
#define LANDLOCK_RIGHTS_1 ((UINT64_C(1) << 13) - 1) /* of the first version */

struct ruleset {
	uint64_t files, network, scope;
};

bool confine_drop_user(void)
{
	if (geteuid() == 0 &&
	    (setgroups(0, NULL) < 0 || setresgid(NOBODY, NOBODY, NOBODY) < 0 ||
	     setresuid(NOBODY, NOBODY, NOBODY) < 0))
		return false;
	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
	       prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) == 0;
}

/* What each version knows: the rights of files, of ports since 4, of signals and abstract
 * sockets since 6. */
static size_t all_rights(long version, struct ruleset *rights)
{
	uint64_t files = LANDLOCK_RIGHTS_1;

	for (long later = 2; later <= version && later <= 5; later++)
		if (later != 4)
			files |= files + 1;
	*rights = (struct ruleset){ files, 3, 3 };
	return version < 4   ? sizeof(files)
	       : version < 6 ? 2 * sizeof(files)
			     : sizeof(*rights);
}

bool confine_files(void)
{
	const long version =
		syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_VERSION);
	struct ruleset rights;
	bool confined;
	long fd;

	if (version < 1)
		return false;
	fd = syscall(SYS_landlock_create_ruleset, &rights, all_rights(version, &rights),
		     0);
	if (fd < 0)
		return false;
	confined = syscall(SYS_landlock_restrict_self, fd, 0) == 0;
	close((int)fd);
	return confined;
}

bool confine_limit(int resource, uint64_t most)
{
	struct rlimit limits;

	if (getrlimit((__rlimit_resource_t)resource, &limits) < 0)
		return false;
	if (limits.rlim_max < most)
		most = limits.rlim_max;
	limits = (struct rlimit){ most, most };
	return setrlimit((__rlimit_resource_t)resource, &limits) == 0;
}

bool confine_memory(uint64_t most)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
	(void)most;
	return true;
#else
	return confine_limit(RLIMIT_AS, most);
#endif
}

bool confine_has_filters(void)
{
	/* Without a filter it is a bad address if there is such a thing at all. */
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, NULL, 0, 0) < 0 &&
	       errno == EFAULT;
}

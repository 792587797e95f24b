/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See rights.h. */
#include "confine/rights.h"

#include <errno.h>
#include <grp.h>
#include <linux/capability.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define NOBODY 65534

static bool change_user(uid_t user)
{
	return setgroups(0, NULL) == 0 && setresgid(user, user, user) == 0 &&
	       setresuid(user, user, user) == 0;
}

/* A user may have capabilities without being root. */
static bool drop_capabilities(void)
{
	struct __user_cap_header_struct header = { .version =
							   _LINUX_CAPABILITY_VERSION_3 };
	const struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = { 0 };

	prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
	return syscall(SYS_capset, &header, none) == 0;
}

bool confine_rights(uid_t user)
{
	const bool changed = geteuid() == user || geteuid() != 0 || change_user(user);

	return drop_capabilities() && changed &&
	       prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0;
}

bool confine_drop_user(void)
{
	return confine_rights(NOBODY) && prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) == 0;
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

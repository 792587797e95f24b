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

#include "base/sanitized.h"

#define CAPABILITIES 64 /* at most */

static bool change_user(uid_t user)
{
	return setgroups(0, NULL) == 0 && setresgid(user, user, user) == 0 &&
	       setresuid(user, user, user) == 0;
}

/* Limit what executed programs may grant; without the right to do
 * that, no_new_privs does it. */
static void bound(uint64_t given)
{
	for (int n = 0; n < CAPABILITIES; n++)
		if (!(given >> n & 1) && prctl(PR_CAPBSET_READ, n, 0, 0, 0) == 1)
			prctl(PR_CAPBSET_DROP, n, 0, 0, 0);
}

/* A user may have capabilities without being root. */
bool confine_keep(uint64_t kept, uint64_t given)
{
	struct __user_cap_header_struct header = { .version =
							   _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct sets[_LINUX_CAPABILITY_U32S_3] = { 0 };

	bound(given);
	prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
	if (syscall(SYS_capget, &header, sets) < 0)
		return false;
	for (size_t i = 0; i < _LINUX_CAPABILITY_U32S_3; i++) {
		const uint32_t part = (uint32_t)(kept >> 32 * i);

		sets[i].effective &= part;
		sets[i].permitted &= part;
		sets[i].inheritable = 0;
	}
	return syscall(SYS_capset, &header, sets) == 0 &&
	       prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0;
}

bool confine_has(unsigned capability)
{
	struct __user_cap_header_struct header = { .version =
							   _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct sets[_LINUX_CAPABILITY_U32S_3] = { 0 };

	return syscall(SYS_capget, &header, sets) == 0 &&
	       sets[capability / 32].effective >> capability % 32 & 1;
}

bool confine_rights(uid_t user)
{
	bool changed, dropped;
	int number;

	bound(0);
	errno = 0;
	changed = geteuid() == user || geteuid() != 0 || change_user(user);
	number = errno;
	dropped = confine_keep(0, 0);
	if (!changed)
		errno = number;
	return dropped && changed;
}

unsigned confine_drop_user(void)
{
	if (confine_rights(CONFINE_NOBODY) && prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) == 0)
		return 0;
	return geteuid() == 0 ? CONFINE_USER : CONFINE_CAPABILITIES;
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
	return SANITIZED || confine_limit(RLIMIT_AS, most);
}

bool confine_data(uint64_t most)
{
	return SANITIZED || confine_limit(RLIMIT_DATA, most);
}

bool confine_has_filters(void)
{
	/* A NULL filter gives EFAULT if filters are supported at all. */
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, NULL, 0, 0) < 0 &&
	       errno == EFAULT;
}

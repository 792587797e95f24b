/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See judge.h. The exit status of the process has the answer and what is missing. */
#include "confine/judge.h"

#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fault.h"
#include "confine/await.h"
#include "confine/calls.h"
#include "confine/landlock.h"
#include "confine/rights.h"

#define MEMORY ((uint64_t)2 << 30)
#define WORK_TIME 2 /* seconds of CPU time */
#define TIME 10000  /* ms of real time */

static const struct confine_call calls[] = {
	ALLOW(brk),
	ALLOW_IF(mmap, CONFINE_LOW(2), PROT_EXEC, 0),
	ALLOW_IF(mprotect, CONFINE_LOW(2), PROT_EXEC, 0),
	ALLOW(munmap),
	ALLOW(mremap),
	ALLOW(madvise),
	ALLOW(futex),
	ALLOW(getrandom),
	ALLOW(exit_group),
};

static unsigned confine(void)
{
	unsigned missing;

	close_range(0, ~0U, 0);
	missing = confine_drop_user();
	if (!confine_files())
		missing |= CONFINE_FILES;
	if (!confine_limit(RLIMIT_CORE, 0) || !confine_limit(RLIMIT_CPU, WORK_TIME) ||
	    !confine_memory(MEMORY))
		missing |= CONFINE_LIMITS;
	if (!confine_calls(calls, sizeof(calls) / sizeof(*calls), CONFINE_END))
		missing |= CONFINE_CALLS | confine_rules_lack();
	return missing;
}

bool confine_judge(bool (*is)(const void *data, size_t length), const void *data,
		   size_t length, unsigned *missing)
{
	const pid_t pid = fork();
	unsigned kept;
	int status = 0;

	*missing = 0;
	if (pid == 0) {
		while (PMP_FAULT("judge-still"))
			pause();
		kept = confine();
		_exit((int)(kept << 1 | is(data, length)));
	}
	if (pid < 0)
		return false;
	if (confine_await(pid, TIME, &status) != CONFINE_ENDED || !WIFEXITED(status))
		return false;
	*missing = (unsigned)WEXITSTATUS(status) >> 1;
	return WEXITSTATUS(status) & 1;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See writers.h. The result is short enough for an atomic write to a pipe. */
#include "sink/writers.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fault.h"
#include "confine/landlock.h"
#include "confine/rights.h"
#include "run/own-processes.h"
#include "run/spent.h"

_Static_assert(WRITERS_ENDING_MAX <= OWN_PROCESSES_MAX - OWN_PROCESSES_SINGLE,
	       "room for all");

#define CPU_SECONDS 60 /* for a writer: pprof of a million stacks takes 6 */

/* Drop rights: all that the writer needs is in memory or open. It dies with its parent, and
 * its CPU time is limited. Returns the rights that could not be dropped. */
static unsigned limit_writer(pid_t parent)
{
	unsigned missing = CONFINE_USER;

	if (!PMP_FAULT("writer-rights"))
		missing = confine_drop_user() | (confine_files() ? 0U : CONFINE_FILES) |
			  confine_rules_lack();
	/* After the change of user, which resets it. */
	prctl(PR_SET_PDEATHSIG, (unsigned long)SIGKILL);
	confine_limit(RLIMIT_CPU, CPU_SECONDS);
	prctl(PR_SET_NAME, "pmp-writer");
	if (getppid() != parent)
		_exit(1);
	return missing;
}

/* Send the rights that could not be dropped, then the result. */
static bool write_words(int fd, unsigned missing, const void *result, size_t size)
{
	const struct iovec words[] = { { &missing, sizeof(missing) },
				       { (void *)result, size } };

	return writev(fd, words, 2) == (ssize_t)(sizeof(missing) + size);
}

bool writers_start(struct writers *writers, struct writer *writer,
		   void (*write_it)(void *arg), void *arg, const void *result,
		   size_t size)
{
	const pid_t parent = getpid();
	unsigned missing;
	int ends[2];
	pid_t pid;

	if (writers->count == WRITERS_MAX ||
	    writers->ending_count + writers->count >= WRITERS_ENDING_MAX ||
	    pipe2(ends, O_CLOEXEC) < 0)
		return false;
	own_processes_begin(writers->own);
	pid = fork();
	if (pid == 0) {
		missing = limit_writer(parent);
		if (PMP_FAULT("writer-stops"))
			raise(SIGSTOP);
		write_it(arg);
		_exit(!write_words(ends[1], missing, result, size));
	}
	own_processes_add(writers->own, pid);
	close(ends[1]);
	if (pid < 0) {
		close(ends[0]);
		return false;
	}
	*writer = (struct writer){ pid, ends[0] };
	writers->count++;
	writers->started++;
	return true;
}

static void forget(struct writers *writers, struct writer *writer)
{
	close(writer->fd);
	writers->ending[writers->ending_count++] = writer->pid;
	writers->count--;
	*writer = (struct writer){ 0 };
	writers_tend(writers);
}

bool writers_take(struct writers *writers, struct writer *writer, void *result,
		  size_t size)
{
	unsigned missing = 0;
	const struct iovec words[] = { { &missing, sizeof(missing) }, { result, size } };
	ssize_t n;

	do
		n = readv(writer->fd, words, 2);
	while (n < 0 && errno == EINTR);
	forget(writers, writer);
	writers->missing |= missing;
	return n == (ssize_t)(sizeof(missing) + size);
}

void writers_stop(struct writers *writers, struct writer *writer)
{
	if (!writer->pid)
		return;
	kill(writer->pid, SIGKILL);
	forget(writers, writer);
}

void writers_tend(struct writers *writers)
{
	size_t left = 0;

	for (size_t i = 0; i < writers->ending_count; i++) {
		if (spent_wait(writers->ending[i], NULL, WNOHANG) == 0)
			writers->ending[left++] = writers->ending[i];
		else
			own_processes_remove(writers->own, writers->ending[i]);
	}
	writers->ending_count = left;
}

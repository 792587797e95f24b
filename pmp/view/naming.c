/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See naming.h: a queue, and a job that runs until it is empty or others need
 * the worker. */
#include "view/naming.h"

#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "run/worker.h"

#define TELL_EVERY 64 /* names between wake-ups of the loop */

struct naming {
	struct worker *worker;
	struct job job;
	struct pmp_symbolizer *symbolizer;
	pmp_location *queue;
	size_t first, count, capacity;
	int wake;
};

static void tell(struct naming *naming)
{
	const uint64_t one = 1;
	ssize_t n = write(naming->wake, &one, sizeof(one));

	(void)n;
}

static void name_next(struct naming *naming)
{
	pmp_symbolizer_name(naming->symbolizer, naming->queue[naming->first++]);
	if (naming->first == naming->count || naming->first % TELL_EVERY == 0)
		tell(naming);
}

static void work(void *arg)
{
	struct naming *naming = arg;

	while (naming->first < naming->count && !worker_is_wanted(naming->worker)) {
		name_next(naming);
		/* Let others take the lock now and then. */
		worker_unlock(naming->worker);
		worker_lock(naming->worker);
	}
	if (naming->first < naming->count && !naming->job.queued)
		worker_submit(naming->worker, &naming->job);
}

struct naming *naming_new(struct worker *worker)
{
	struct naming *naming = calloc(1, sizeof(*naming));

	if (!naming)
		return NULL;
	naming->worker = worker;
	naming->job = (struct job){ .work = work, .arg = naming, .done = true };
	naming->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (naming->wake < 0) {
		free(naming);
		return NULL;
	}
	return naming;
}

void naming_start(struct naming *naming, struct pmp_symbolizer *symbolizer)
{
	naming->symbolizer = symbolizer;
}

void naming_free(struct naming *naming)
{
	if (!naming)
		return;
	close(naming->wake);
	free(naming->queue);
	free(naming);
}

bool naming_ask(struct naming *naming, const pmp_location *locations, size_t count)
{
	size_t left = naming->count - naming->first;

	if (left)
		memmove(naming->queue, naming->queue + naming->first,
			left * sizeof(*naming->queue));
	naming->first = 0;
	naming->count = left;
	if (left + count > naming->capacity) {
		size_t capacity = 2 * (left + count);
		pmp_location *queue =
			reallocarray(naming->queue, capacity, sizeof(*queue));

		if (!queue)
			return false;
		naming->queue = queue;
		naming->capacity = capacity;
	}
	if (count)
		memcpy(naming->queue + left, locations, count * sizeof(*locations));
	naming->count += count;
	/* Without a worker thread there are only addresses. */
	if (worker_has_done(&naming->job))
		worker_submit(naming->worker, &naming->job);
	return true;
}

int naming_wake(const struct naming *naming)
{
	return naming->wake;
}

bool naming_has_named(struct naming *naming)
{
	uint64_t count;

	return read(naming->wake, &count, sizeof(count)) > 0;
}

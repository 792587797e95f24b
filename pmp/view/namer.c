/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See namer.h: one thread, one queue, one lock. */
#include "namer.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "screen.h"

#define TELL_EVERY 64 /* names, before the front is told of them */

struct pmp_namer {
	pthread_mutex_t lock;
	pthread_cond_t work, idle;
	pthread_t thread;
	bool started, busy, resting, ends;
	struct pmp_symbolizer *symbolizer;
	pmp_location *queue;
	size_t first, count, capacity;
	int wake;
};

struct pmp_namer *pmp_namer_new(void)
{
	struct pmp_namer *namer = calloc(1, sizeof(*namer));

	if (!namer)
		return NULL;
	namer->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (namer->wake < 0) {
		free(namer);
		return NULL;
	}
	pthread_mutex_init(&namer->lock, NULL);
	pthread_cond_init(&namer->work, NULL);
	pthread_cond_init(&namer->idle, NULL);
	pthread_mutex_lock(&namer->lock);
	return namer;
}

static void unlock(void *arg)
{
	pmp_namer_unlock(arg);
}

static void lock(void *arg)
{
	pmp_namer_lock(arg);
}

void pmp_namer_options(struct pmp_namer *namer, struct pmp_symbolizer_options *options)
{
	options->release = unlock;
	options->acquire = lock;
	options->lock_arg = namer;
}

void pmp_namer_unlock(struct pmp_namer *namer)
{
	if (namer)
		pthread_mutex_unlock(&namer->lock);
}

void pmp_namer_lock(struct pmp_namer *namer)
{
	if (namer)
		pthread_mutex_lock(&namer->lock);
}

static void tell(struct pmp_namer *namer)
{
	const uint64_t one = 1;
	ssize_t n = write(namer->wake, &one, sizeof(one));

	(void)n;
}

static void name_next(struct pmp_namer *namer)
{
	pmp_location location = namer->queue[namer->first++];

	namer->busy = true;
	pmp_symbolizer_name(namer->symbolizer, location);
	namer->busy = false;
	if (namer->resting)
		pthread_cond_signal(&namer->idle);
	if (namer->first == namer->count || namer->first % TELL_EVERY == 0)
		tell(namer);
}

static void *run(void *arg)
{
	struct pmp_namer *namer = arg;

	pmp_screen_guard();
	pthread_mutex_lock(&namer->lock);
	while (!namer->ends) {
		if (namer->resting || namer->first == namer->count) {
			pthread_cond_wait(&namer->work, &namer->lock);
			continue;
		}
		name_next(namer);
		/* Whoever waits for the lock is to have it now and then. */
		pthread_mutex_unlock(&namer->lock);
		pthread_mutex_lock(&namer->lock);
	}
	pthread_mutex_unlock(&namer->lock);
	return NULL;
}

bool pmp_namer_start(struct pmp_namer *namer, struct pmp_symbolizer *symbolizer)
{
	sigset_t all, old;

	/* Signals are the front's. A fault in here is a fault of the process. */
	sigfillset(&all);
	sigdelset(&all, SIGSEGV);
	sigdelset(&all, SIGBUS);
	sigdelset(&all, SIGFPE);
	sigdelset(&all, SIGILL);
	sigdelset(&all, SIGABRT);
	namer->symbolizer = symbolizer;
	pthread_sigmask(SIG_SETMASK, &all, &old);
	namer->started = pthread_create(&namer->thread, NULL, run, namer) == 0;
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return namer->started;
}

void pmp_namer_free(struct pmp_namer *namer)
{
	if (!namer)
		return;
	namer->ends = true;
	pthread_cond_signal(&namer->work);
	pthread_mutex_unlock(&namer->lock);
	if (namer->started)
		pthread_join(namer->thread, NULL);
	pthread_cond_destroy(&namer->work);
	pthread_cond_destroy(&namer->idle);
	pthread_mutex_destroy(&namer->lock);
	close(namer->wake);
	free(namer->queue);
	free(namer);
}

bool pmp_namer_ask(struct pmp_namer *namer, const pmp_location *locations, size_t count)
{
	size_t left = namer->count - namer->first;

	if (left)
		memmove(namer->queue, namer->queue + namer->first,
			left * sizeof(*namer->queue));
	namer->first = 0;
	namer->count = left;
	if (left + count > namer->capacity) {
		size_t capacity = 2 * (left + count);
		pmp_location *queue =
			reallocarray(namer->queue, capacity, sizeof(*queue));

		if (!queue)
			return false;
		namer->queue = queue;
		namer->capacity = capacity;
	}
	if (count)
		memcpy(namer->queue + left, locations, count * sizeof(*locations));
	namer->count += count;
	pthread_cond_signal(&namer->work);
	return true;
}

int pmp_namer_wake(const struct pmp_namer *namer)
{
	return namer->wake;
}

bool pmp_namer_has_named(struct pmp_namer *namer)
{
	uint64_t count;

	return read(namer->wake, &count, sizeof(count)) > 0;
}

void pmp_namer_rest(struct pmp_namer *namer)
{
	if (!namer)
		return;
	namer->resting = true;
	while (namer->busy)
		pthread_cond_wait(&namer->idle, &namer->lock);
}

void pmp_namer_go_on(struct pmp_namer *namer)
{
	if (!namer)
		return;
	namer->resting = false;
	pthread_cond_signal(&namer->work);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See worker.h: one thread, one queue, one lock. */
#include "run/worker.h"

#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

struct worker {
	pthread_mutex_t own, *lock; /* lock: &own, or another worker's */
	pthread_cond_t work;
	pthread_t thread;
	bool started, ends, busy;
	void (*begin)(void);
	struct job *first, *last; /* the queue */
	int wake;
};

static struct worker *new_worker(void (*begin)(void), pthread_mutex_t *lock)
{
	struct worker *worker = calloc(1, sizeof(*worker));

	if (!worker)
		return NULL;
	worker->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (worker->wake < 0) {
		free(worker);
		return NULL;
	}
	worker->begin = begin;
	worker->lock = lock ? lock : &worker->own;
	pthread_cond_init(&worker->work, NULL);
	return worker;
}

struct worker *worker_new(void (*begin)(void))
{
	struct worker *worker = new_worker(begin, NULL);

	if (!worker)
		return NULL;
	pthread_mutex_init(worker->lock, NULL);
	pthread_mutex_lock(worker->lock);
	return worker;
}

struct worker *worker_new_beside(const struct worker *other)
{
	return new_worker(other->begin, other->lock);
}

void worker_unlock(struct worker *worker)
{
	pthread_mutex_unlock(worker->lock);
}

void worker_lock(struct worker *worker)
{
	pthread_mutex_lock(worker->lock);
}

static void do_first(struct worker *worker)
{
	const uint64_t one = 1;
	struct job *job = worker->first;
	ssize_t n;

	worker->first = job->next;
	if (!worker->first)
		worker->last = NULL;
	job->queued = false;
	worker->busy = true;
	job->work(job->arg);
	worker->busy = false;
	/* A job that has resubmitted itself is not done. */
	if (!job->queued)
		__atomic_store_n(&job->done, true, __ATOMIC_RELEASE);
	n = write(worker->wake, &one, sizeof(one));
	(void)n;
}

static void *run(void *arg)
{
	struct worker *worker = arg;

	worker->begin();
	pthread_mutex_lock(worker->lock);
	while (!worker->ends) {
		if (!worker->first) {
			pthread_cond_wait(&worker->work, worker->lock);
			continue;
		}
		do_first(worker);
		/* Give others a chance to take the lock. */
		pthread_mutex_unlock(worker->lock);
		pthread_mutex_lock(worker->lock);
	}
	pthread_mutex_unlock(worker->lock);
	return NULL;
}

static bool start(struct worker *worker)
{
	sigset_t all, old;

	if (worker->started)
		return true;
	/* The loop's thread handles signals. A fault in this thread must still end pmp. */
	sigfillset(&all);
	sigdelset(&all, SIGSEGV);
	sigdelset(&all, SIGBUS);
	sigdelset(&all, SIGFPE);
	sigdelset(&all, SIGILL);
	sigdelset(&all, SIGABRT);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	worker->started = pthread_create(&worker->thread, NULL, run, worker) == 0;
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return worker->started;
}

bool worker_submit(struct worker *worker, struct job *job)
{
	if (!start(worker))
		return false;
	job->done = false;
	job->queued = true;
	job->next = NULL;
	if (worker->last)
		worker->last->next = job;
	else
		worker->first = job;
	worker->last = job;
	pthread_cond_signal(&worker->work);
	return true;
}

bool worker_has_done(const struct job *job)
{
	return __atomic_load_n(&job->done, __ATOMIC_ACQUIRE);
}

bool worker_is_idle(const struct worker *worker)
{
	return !worker->first && !worker->busy;
}

bool worker_is_wanted(const struct worker *worker)
{
	return worker->first || worker->ends;
}

int worker_wake(const struct worker *worker)
{
	return worker->wake;
}

void worker_take(struct worker *worker)
{
	uint64_t count;
	ssize_t n = read(worker->wake, &count, sizeof(count));

	(void)n;
}

void worker_stop(struct worker *worker)
{
	if (!worker || !worker->started)
		return;
	worker->ends = true;
	pthread_cond_signal(&worker->work);
	pthread_mutex_unlock(worker->lock);
	pthread_join(worker->thread, NULL);
	pthread_mutex_lock(worker->lock);
	worker->started = worker->ends = false;
}

void worker_free(struct worker *worker)
{
	if (!worker)
		return;
	if (worker->lock == &worker->own) {
		pthread_mutex_unlock(worker->lock);
		pthread_mutex_destroy(worker->lock);
	}
	pthread_cond_destroy(&worker->work);
	close(worker->wake);
	free(worker);
}

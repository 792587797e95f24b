/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Runs a command with a recorder, and reads it like pmp's sampler; for tests in C. */
#ifndef PMP_T_RECORDED_H
#define PMP_T_RECORDED_H

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "heap-batch.h"
#include "libpmp-program.h"

#define HEAP_FD 700
#define HEAP_TEXT 65536

#define HEAP_OTHERS 400

/* A process that the command has started. */
struct heap_other {
	pid_t pid;
	struct pmp_heap_totals totals;
};

struct heap_run {
	/* Set by the caller. */
	char *const *argv;
	struct pmp_recorder_options options;
	/* Called for each event of each batch; or NULL. */
	void (*event)(struct heap_run *run, const struct pmp_heap_batch *batch,
		      const struct pmp_heap_event *event);
	void *arg;
	bool event_of_others; /* also for processes that the command starts */
	bool stop_reading;    /* read only at the end, as if there were no pmp */
	unsigned late;	      /* us before the first read, as on a busy machine */
	const char *preload;  /* preloaded after the recorder; or NULL */
	/* Results. */
	pid_t pid;
	int status; /* of waitpid() */
	struct pmp_heap_totals totals;
	uint64_t events[PMP_HEAP_KIND_COUNT];
	uint64_t ends[PMP_END_COUNT]; /* how stacks end */
	char text[HEAP_TEXT];	      /* its output */
	struct heap_other others[HEAP_OTHERS];
	size_t other_count;
	struct pmp_target *target;
	int orders; /* its standard input: gets a byte once events were read */
	bool released;
};

static struct pmp_target *heap_target(void *arg, pid_t pid)
{
	struct heap_run *run = arg;

	return pid == run->pid ? run->target : NULL;
}

/* A pid that is seen again after its end is another process, whose totals start at zero. */
static void heap_take_other(struct heap_run *run, const struct pmp_heap_batch *batch)
{
	size_t i = run->other_count;

	while (i > 0 &&
	       (run->others[i - 1].pid != batch->pid || run->others[i - 1].totals.ended))
		i--;
	if (i == 0 && run->other_count < HEAP_OTHERS)
		i = ++run->other_count;
	if (i == 0)
		return;
	run->others[i - 1].pid = batch->pid;
	run->others[i - 1].totals = batch->totals;
	for (size_t k = 0; run->event_of_others && k < batch->event_count; k++)
		run->event(run, batch, &batch->events[k]);
}

static void heap_take(void *arg, const struct pmp_heap_batch *batch)
{
	struct heap_run *run = arg;

	if (batch->pid != run->pid) {
		heap_take_other(run, batch);
		return;
	}
	run->totals = batch->totals;
	if (batch->event_count && !run->released)
		run->released = write(run->orders, "g", 1) == 1;
	for (size_t i = 0; i < batch->event_count; i++) {
		const struct pmp_heap_event *event = &batch->events[i];

		run->events[event->kind]++;
		if (event->kind == PMP_HEAP_ALLOC)
			run->ends[event->end]++;
		if (run->event)
			run->event(run, batch, event);
	}
}

static inline void heap_child(const struct heap_run *run, struct pmp_recorder *recorder,
			      const int *orders, int out)
{
	char text[4096], byte;
	int memory, file;

	if (read(orders[0], &byte, 1) != 1)
		_exit(99);
	pmp_recorder_descriptors(recorder, &memory, &file);
	pmp_recorder_expect(recorder, getpid());
	dup2(memory, HEAP_FD);
	dup2(file, HEAP_FD + 1);
	dup2(orders[0], STDIN_FILENO);
	dup2(out, STDOUT_FILENO);
	snprintf(text, sizeof(text), "/proc/self/fd/%d%s%s", HEAP_FD + 1,
		 run->preload ? ":" : "", run->preload ? run->preload : "");
	setenv("LD_PRELOAD", text, 1);
	snprintf(text, sizeof(text), "%d", HEAP_FD);
	setenv("PMP_HEAP", text, 1);
	execvp(run->argv[0], run->argv);
	_exit(99);
}

static inline void heap_read_until_end(struct heap_run *run,
				       struct pmp_recorder *recorder)
{
	const struct pmp_recorder_calls calls = { .target = heap_target,
						  .take = heap_take,
						  .arg = run };

	usleep(run->late);
	while (waitpid(run->pid, &run->status, WNOHANG) == 0) {
		if (!run->stop_reading)
			pmp_recorder_read(recorder, &calls, false, NULL);
		usleep(1000);
	}
	while (pmp_recorder_read(recorder, &calls, true, NULL) == 1)
		;
}

/* False: it could not be run. */
static inline bool heap_run(struct heap_run *run)
{
	struct pmp_recorder *recorder;
	int orders[2], out[2];
	ssize_t n;

	run->options.size = sizeof(run->options);
	if (pipe2(orders, O_CLOEXEC) || pipe2(out, O_CLOEXEC) ||
	    pmp_recorder_new(&run->options, &recorder, NULL) < 0)
		return false;
	run->pid = fork();
	if (run->pid == 0)
		heap_child(run, recorder, orders, out[1]);
	close(out[1]);
	run->orders = orders[1];
	if (pmp_target_open(run->pid, NULL, &run->target, NULL) < 0 ||
	    write(orders[1], "g", 1) != 1)
		return false;
	heap_read_until_end(run, recorder);
	n = read(out[0], run->text, sizeof(run->text) - 1);
	run->text[n > 0 ? n : 0] = '\0';
	pmp_target_close(run->target);
	pmp_recorder_free(recorder);
	close(orders[0]);
	close(orders[1]);
	close(out[0]);
	return true;
}

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See census.h. It does what pmp -f objects -p PID would. */
#include "source/census.h"

#include <stdlib.h>
#include <string.h>

#include "base/fault.h"
#include "libpmp-program.h"
#include "run/clock.h"
#include "run/loop.h"
#include "run/run-state.h"
#include "run/supervise.h"
#include "sampler/sampler.h"
#include "say/message.h"

#define BATCH 64 /* messages received before others have their turn */

struct census_reader {
	struct sampler sampler;
	struct options options; /* of the run, but for what it reads */
	struct pmp_receiver *receiver;
	pid_t pid;
	bool begun; /* the sampler has been started */
	census_done *done;
	void *arg;
	/* The result. */
	struct pmp_sample *sample;
	struct pmp_error err;
	struct supervise supervise;
	uint64_t cpu_seen;
};

/* ---- its end ------------------------------------------------------------------------ */

static void free_reader(struct census_reader *reader)
{
	sampler_kill(&reader->sampler);
	sampler_close(&reader->sampler);
	pmp_receiver_free(reader->receiver);
	pmp_sample_free(reader->sample);
	free(reader);
}

/* done() may begin another census at once. */
static void end(struct source *source)
{
	struct census_reader *reader = source->census;
	struct pmp_sample *sample = reader->sample;

	source->census = NULL;
	reader->sample = NULL;
	loop_remove(source->loop, reader->sampler.fd);
	if (!sample && !reader->err.code)
		message_fill(&reader->err, PMP_EIO, 0,
			     "cannot read the heap of %d: the process that reads it has "
			     "ended unexpectedly",
			     (int)reader->pid);
	reader->done(reader->arg, sample, &reader->err);
	free_reader(reader);
}

void census_give_up(struct source *source)
{
	if (!source->census)
		return;
	loop_remove(source->loop, source->census->sampler.fd);
	free_reader(source->census);
	source->census = NULL;
}

/* ---- what it sends ------------------------------------------------------------------ */

static void say_ended(struct census_reader *reader)
{
	message_fill(&reader->err, PMP_ESRCH, 0,
		     "cannot read the heap of %d: it has ended", (int)reader->pid);
}

/* The sampler may be compromised: terminate its texts. The process may end before the sampler
 * has opened it, or later: the message is the same.
 */
static void take_failure(struct census_reader *reader,
			 const struct pmp_received *received)
{
	struct event_failed event;

	if (received->note_length != sizeof(event))
		return;
	memcpy(&event, received->note, sizeof(event));
	reader->err = event.error;
	reader->err.message[sizeof(reader->err.message) - 1] = '\0';
	reader->err.hint[sizeof(reader->err.hint) - 1] = '\0';
	if (!reader->err.code)
		reader->err.code = PMP_EIO;
	if (reader->err.code == PMP_ESRCH)
		say_ended(reader);
}

/* Is it the last message? */
static bool take(struct census_reader *reader, const struct pmp_received *received)
{
	if (received->sample) {
		pmp_sample_free(reader->sample);
		reader->sample = received->sample;
	}
	pmp_heap_batch_free(received->heap);
	if (received->sample || received->heap)
		return false;
	if (received->note_kind == EVENT_FAILED)
		take_failure(reader, received);
	if (received->note_kind == EVENT_ENDED && !reader->sample)
		say_ended(reader);
	return received->note_kind == EVENT_DONE;
}

static void on_census(void *arg, short revents)
{
	struct source *source = arg;
	struct census_reader *reader = source->census;
	bool done = false;
	int code = 1;

	(void)revents;
	/* It ends after the last one: what is left is received then. */
	for (int i = 0; i < BATCH && !done && code > 0; i++) {
		struct pmp_received received = { 0 };
		struct pmp_error err = { 0 };

		code = pmp_receiver_next(reader->receiver, &received, &err);
		if (code > 0)
			done = take(reader, &received);
		else if (code < 0 && code != PMP_ESRCH)
			reader->err = err;
	}
	if (done || code < 0)
		end(source);
}

/* ---- its life ----------------------------------------------------------------------- */

static int start(struct source *source)
{
	struct census_reader *reader = source->census;
	const struct process *process = targets_find(&source->targets, reader->pid);
	struct sampler_target target = { reader->pid, process ? process->started : 0 };
	const struct sampler_targets targets = { &target, 1 };
	int code;

	reader->begun = true;
	code = sampler_start(&reader->sampler, &reader->options, &targets, -1,
			     &reader->err);
	if (code == 0)
		code = pmp_receiver_new(reader->sampler.fd, &reader->receiver,
					&reader->err);
	if (code == 0 &&
	    !loop_add(source->loop, reader->sampler.fd, false, on_census, source))
		code = message_fill(&reader->err, PMP_ENOMEM, 0,
				    "not enough memory to read a heap");
	return code;
}

/* While the run waits for the worker, nothing that the sampler sends
 * is read: it is not idle. */
static void check(struct source *source)
{
	struct census_reader *reader = source->census;
	const bool idle =
		!PMP_FAULT("heap-patience") && source->calls->may_sample(source->run);
	struct sighting seen = {
		.now = now_ns(),
		.beat = reader->sampler.page->heartbeat,
		.idle = idle,
	};

	if (!supervise_is_due(&reader->supervise, seen.now))
		return;
	seen.starved = idle && seen.beat == reader->supervise.beat &&
		       sampler_is_starved(&reader->sampler, &reader->cpu_seen);
	if (supervise_check(&reader->supervise, &seen) == SUPERVISE_FINE)
		return;
	message_fill(&reader->err, PMP_EIO, 0,
		     "cannot read the heap of %d: the process that reads it did not "
		     "answer any more and was killed",
		     (int)reader->pid);
	end(source);
}

void census_tend(struct source *source)
{
	if (!source->census)
		return;
	if (source->census->begun)
		check(source);
	else if (source->calls->may_sample(source->run) && start(source) < 0)
		end(source);
}

void census_begin(struct source *source, pid_t pid, census_done *done, void *arg)
{
	struct census_reader *reader = calloc(1, sizeof(*reader));
	struct pmp_error err = { 0 };

	if (!reader) {
		message_fill(&err, PMP_ENOMEM, 0, "not enough memory to read a heap");
		done(arg, NULL, &err);
		return;
	}
	census_give_up(source);
	source->census = reader;
	reader->sampler.fd = -1;
	reader->sampler.own = source->state->own;
	reader->pid = pid;
	reader->done = done;
	reader->arg = arg;
	reader->options = *source->options;
	reader->options.format = pmp_format_find("objects");
	reader->options.max_cpu = source->options->census_cpu;
	reader->options.tids = (struct id_list){ 0 };
	reader->options.command = NULL;
	reader->options.children = false;
	reader->options.heap.on = reader->options.heap.only = false;
	reader->options.count = 1;
	reader->options.duration = reader->options.every = 0;
	reader->options.serve = NULL;
	reader->options.wants_screen = false;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The sampler as a source, and its supervision (run/supervise.h). */
#include "source/sampling.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "confine/rights.h"
#include "run/clock.h"
#include "run/counting.h"
#include "run/loop.h"
#include "run/run-state.h"
#include "run/supervise.h"
#include "sampler/sampler.h"
#include "say/message.h"
#include "say/progress.h"
#include "say/rights.h"
#include "say/summary.h"
#include "source/from-sampler.h"
#include "source/source.h"

#define RESTARTS_MAX 8

struct supervised_sampler {
	struct sampler sampler;
	struct pmp_receiver *receiver;
	bool finishing; /* it was asked to finish */
	bool again;	/* another sampler must be started */
	unsigned restarts;
	struct sampler_target left_out[RESTARTS_MAX]; /* one per restart */
	bool told_rights;
	uint64_t interval; /* the last one that was set; 0: that of the options */
	const char *lost;  /* why it was killed, or NULL */
	char where[64];	   /* the kernel function it slept in then, or "" */
	struct supervise supervise; /* its last check */
	uint64_t cpu_seen;	    /* its CPU time at the last check, ns */
};

/* Note the processes that were asked for. False: no memory. */
static bool want_targets(struct targets *targets, const struct id_list *pids)
{
	struct sampler_targets *wanted = &targets->wanted;

	wanted->all = calloc(pids->count, sizeof(*wanted->all));
	if (!wanted->all)
		return false;
	for (size_t i = 0; i < pids->count; i++) {
		const struct found_process *found =
			found_process(targets->found, pids->ids[i]);

		wanted->all[wanted->count++] = (struct sampler_target){
			.pid = pids->ids[i],
			.started = found ? found->started : 0,
		};
	}
	return true;
}

int sampling_open(struct source *source, const struct id_list *pids, int exec_fd)
{
	struct supervised_sampler *sampling = calloc(1, sizeof(*sampling));
	struct pmp_error err = { 0 };
	int code;

	if (!sampling || !want_targets(&source->targets, pids)) {
		free(sampling);
		message_print(NULL, "not enough memory for the run");
		return PMP_EXIT_FAILED;
	}
	source->sampling = sampling;
	sampling->sampler.fd = -1;
	memcpy(sampling->sampler.helpers, source->state->helpers,
	       sizeof(sampling->sampler.helpers));
	sampling->sampler.own = source->state->own;
	sampling->sampler.recorder = source->recorder;
	code = sampler_start(&sampling->sampler, source->options, &source->targets.wanted,
			     exec_fd, &err);
	if (code == 0)
		return 0;
	message_error(&err);
	return message_status(code);
}

/* ---- the end of a sampler --------------------------------------------------------- */

static void end_sampler(struct source *source)
{
	struct sampler *sampler = &source->sampling->sampler;

	loop_remove(source->loop, sampler->fd);
	sampler_close(sampler);
	source->targets.taken += sampler->taken;
	sampler->taken = 0;
}

/* Why the sampler has ended, in words. */
static void find_cause(struct supervised_sampler *sampling, bool held, char *text,
		       size_t size)
{
	const int status = sampling->sampler.status;

	if (sampling->lost)
		snprintf(text, size, "%s", sampling->lost);
	else if (held && WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL)
		snprintf(text, size,
			 "held a thread for more than two seconds and was killed");
	else if (WIFSIGNALED(status))
		snprintf(text, size, "was ended by signal %d (%s)", WTERMSIG(status),
			 strsignal(WTERMSIG(status)));
	else
		snprintf(text, size, "ended unexpectedly");
}

/* The target that killed the sampler, if the others can be sampled without it; else 0. A
 * child that was not opened yet is unknown here. */
static pid_t find_culprit(const struct source *source)
{
	const struct supervised_sampler *sampling = source->sampling;
	const struct targets *targets = &source->targets;
	const pid_t pid = sampling->sampler.target;
	const bool opened = targets_find(targets, pid);
	const bool known = opened || targets_wants(targets, pid);

	if (!pid || sampling->restarts >= RESTARTS_MAX || sampling->finishing ||
	    source->state->failure || source->state->caught.end ||
	    targets->count + targets->wanted.count < (known ? 2 : 1))
		return 0;
	/* Nothing is held while a target is opened; later a sampler that could not be
	 * reaped may still hold threads. */
	if (!WIFSIGNALED(sampling->sampler.status) &&
	    (opened || sampling->sampler.capturing))
		return 0;
	return known || source->options->children ? pid : 0;
}

static uint64_t start_of(const struct targets *targets, pid_t pid)
{
	const struct process *process = targets_find(targets, pid);
	const struct found_process *found = found_process(targets->found, pid);

	return process ? process->started : found ? found->started : 0;
}

/* Keep the next sampler from finding it as a child of another target. */
static void remember_left_out(struct supervised_sampler *sampling,
			      const struct targets *targets, pid_t pid)
{
	struct sampler_targets *left_out = &sampling->sampler.left_out;

	left_out->all = sampling->left_out;
	left_out->all[left_out->count++] =
		(struct sampler_target){ pid, start_of(targets, pid) };
}

/* Remove a target, which may not have been opened yet. */
static void leave_out(struct source *source, pid_t pid)
{
	struct targets *targets = &source->targets;
	struct process *process = targets_find(targets, pid);

	remember_left_out(source->sampling, targets, pid);
	targets->lost = true;
	targets_answered(targets, pid);
	if (!process)
		return;
	counting_interrupt(source->counting, pid);
	source->progress->threads -= process->threads;
	targets_remove(targets, process);
	source->calls->targets(source->run, NULL);
}

static const char *name_of(const struct targets *targets, pid_t pid)
{
	const struct process *process = targets_find(targets, pid);
	const struct found_process *found = found_process(targets->found, pid);

	if (process || found)
		return process ? process->name : found->name;
	return targets_wants(targets, pid) ? "not opened yet" : "a child";
}

static void give_up_all(struct source *source)
{
	if (!source->state->failure)
		source->state->failure = PMP_EXIT_FAILED;
	source->state->finished = true;
}

/* The sampler has ended without its last event: say why; then restart it without the target
 * that killed it, or give up. */
static void mourn(struct source *source)
{
	struct supervised_sampler *sampling = source->sampling;
	char cause[128], hint[160] = "", name[EVENT_NAME_SIZE * 4];
	bool held = sampler_held_too_long(&sampling->sampler);
	pid_t culprit;

	end_sampler(source);
	find_cause(sampling, held, cause, sizeof(cause));
	if (sampling->where[0])
		snprintf(hint, sizeof(hint),
			 "it was asleep in the kernel, in %s: a disk or a "
			 "file server may not answer",
			 sampling->where);
	culprit = find_culprit(source);
	if (culprit) {
		message_print(hint,
			      "the sampler %s, at work on %d (%s): the others are "
			      "sampled without it",
			      cause, (int)culprit,
			      pmp_escape(name_of(&source->targets, culprit), name,
					 sizeof(name)));
		leave_out(source, culprit);
		sampling->again = true;
		return;
	}
	message_print(hint, "the sampler %s; the %llu snapshots taken are kept", cause,
		      (unsigned long long)source->targets.snapshots);
	give_up_all(source);
}

/* Report the rights that it could not drop. */
static void tell_rights(struct source *source)
{
	struct supervised_sampler *sampling = source->sampling;
	const struct sampler_page *page = sampling->sampler.page;

	if (!source->options->verbose || sampling->told_rights || !page ||
	    (!page->keeps_rights && !page->unfiltered))
		return;
	sampling->told_rights = true;
	rights_note("the sampler",
		    (page->unfiltered ? CONFINE_CALLS : 0U) |
			    (page->keeps_rights ? CONFINE_CAPABILITIES : 0U));
}

static void on_sampler(void *arg, short revents)
{
	struct source *source = arg;
	struct supervised_sampler *sampling = source->sampling;
	int code;

	(void)revents;
	source->state->heard = true;
	tell_rights(source);
	code = from_sampler_receive(source, sampling->receiver);
	if (code < 0 && code != PMP_ESRCH)
		sampler_kill(&sampling->sampler);
	if (code < 0)
		mourn(source);
}

int sampling_receive(struct source *source)
{
	struct supervised_sampler *sampling = source->sampling;
	const int fd = sampling->sampler.fd;
	struct pmp_error err = { 0 };
	int code = pmp_receiver_new(fd, &sampling->receiver, &err);

	if (code == 0 && !loop_add(source->loop, fd, false, on_sampler, source))
		code = message_fill(&err, PMP_ENOMEM, 0, "not enough memory for the run");
	if (code == 0)
		return 0;
	message_error(&err);
	return message_status(code);
}

/* ---- another sampler ------------------------------------------------------------ */

static int start_again(struct source *source, const struct sampler_targets *targets)
{
	struct supervised_sampler *sampling = source->sampling;
	struct sampler *sampler = &sampling->sampler;
	struct pmp_error err = { 0 };
	int code = sampler_start(sampler, source->options, targets, -1, &err);

	if (code < 0) {
		message_error(&err);
		return message_status(code);
	}
	if (sampling->interval)
		sampling_set_interval(source, sampling->interval);
	if (source->state->paused)
		sampling_pause(source, true);
	return sampling_receive(source);
}

/* List the targets for a new sampler, and forget what is known of their threads: that
 * refers to modules that the old sampler has sent. */
static bool list_targets(struct source *source, struct sampler_targets *list)
{
	const struct targets *targets = &source->targets;

	list->all = calloc(targets->count + targets->wanted.count, sizeof(*list->all));
	if (!list->all)
		return false;
	for (size_t i = 0; i < targets->count; i++) {
		const struct process *process = &targets->processes[i];

		counting_interrupt(source->counting, process->pid);
		if (!process->ended)
			list->all[list->count++] =
				(struct sampler_target){ process->pid, process->started };
	}
	for (size_t i = 0; i < targets->wanted.count; i++)
		list->all[list->count++] = targets->wanted.all[i];
	return true;
}

/* Start another sampler as soon as possible. */
static void restart(struct source *source)
{
	struct supervised_sampler *sampling = source->sampling;
	struct sampler_targets list = { 0 };
	bool listed;

	if (!source->calls->may_sample(source->run))
		return;
	sampling->again = false;
	sampling->restarts++;
	sampling->sampler.status = 0;
	sampling->lost = NULL;
	sampling->where[0] = '\0';
	sampling->supervise = (struct supervise){ 0 };
	sampling->cpu_seen = 0;
	pmp_receiver_free(sampling->receiver);
	sampling->receiver = NULL;
	listed = list_targets(source, &list);
	if (!listed)
		message_print(NULL, "not enough memory for the list of processes");
	if (!listed || start_again(source, &list))
		give_up_all(source);
	free(list.all);
}

/* ---- supervision ---------------------------------------------------------------- */

/* Kill it without waiting for it. What it has sent is still read. */
static void give_up(struct supervised_sampler *sampling, const char *why)
{
	sampling->lost = why;
	sampler_where(&sampling->sampler, sampling->where, sizeof(sampling->where));
	sampling->supervise.silent_checks = 0;
	sampler_kill(&sampling->sampler);
}

static enum supervise_verdict check(struct supervised_sampler *sampling,
				    struct sighting *seen)
{
	const struct sampler_page *page = sampling->sampler.page;

	seen->held = __atomic_load_n(&page->held_since, __ATOMIC_RELAXED);
	seen->beat = page->heartbeat;
	seen->finishing = sampling->finishing;
	seen->starved = seen->idle && seen->beat == sampling->supervise.beat &&
			sampler_is_starved(&sampling->sampler, &sampling->cpu_seen);
	return supervise_check(&sampling->supervise, seen);
}

void sampling_tend(struct source *source, bool idle)
{
	struct supervised_sampler *sampling = source->sampling;
	struct sighting seen = { .now = now_ns(), .idle = idle };
	enum supervise_verdict verdict;

	if (sampling->again && !source->state->finished)
		restart(source);
	census_tend(source);
	if (sampling->sampler.page)
		sampling->sampler.page->helpers = source->state->helpers_cpu;
	if (source->state->finished || !sampling->sampler.page ||
	    !supervise_is_due(&sampling->supervise, seen.now))
		return;
	verdict = check(sampling, &seen);
	/* If it was killed and its socket does not hang up, it hangs in the kernel. While
	 * the worker uses the data that mourn() drops, idle is false, so the sampler does
	 * not count as stuck. */
	if (sampling->lost && supervise_is_stuck(&sampling->supervise))
		mourn(source);
	else if (sampling->lost)
		return;
	else if (verdict == SUPERVISE_HOLDS)
		give_up(sampling, "held a thread for more than a second and was killed");
	else if (verdict == SUPERVISE_SILENT)
		give_up(sampling, "did not answer any more and was killed");
}

void sampling_lose(struct source *source)
{
	give_up(source->sampling, "was killed");
	source->sampling->restarts = RESTARTS_MAX;
	mourn(source);
}

void sampling_kill(struct source *source)
{
	sampler_kill(&source->sampling->sampler);
}

/* ---- commands ------------------------------------------------------------------- */

void sampling_pause(struct source *source, bool paused)
{
	sampler_command(&source->sampling->sampler,
			paused ? PMP_SAMPLER_PAUSE : PMP_SAMPLER_RESUME);
}

/*
 * The sampler sets `capturing` before it reads commands, and we send the command before we
 * read the flag: so if the flag is clear, the sampler has read the command, or will before
 * it touches a thread.
 */
bool sampling_is_detached(const struct source *source)
{
	const struct sampler_page *page = source->sampling->sampler.page;

	return !page || source->state->finished ||
	       !__atomic_load_n(&page->capturing, __ATOMIC_SEQ_CST);
}

void sampling_sample_now(struct source *source)
{
	sampler_command(&source->sampling->sampler, PMP_SAMPLER_NOW);
}

void sampling_look_for_peers(struct source *source)
{
	sampler_command(&source->sampling->sampler, PMP_SAMPLER_PEERS);
}

void sampling_set_interval(struct source *source, uint64_t interval)
{
	struct sampler *sampler = &source->sampling->sampler;

	if (sampler->page)
		sampler->page->interval = interval;
	source->sampling->interval = interval;
	sampler_command(sampler, PMP_SAMPLER_INTERVAL);
}

void sampling_finish(struct source *source)
{
	/* Between two samplers there is none that would report the end. */
	if (source->sampling->again)
		source->state->finished = true;
	if (!source->sampling->finishing)
		sampler_command(&source->sampling->sampler, PMP_SAMPLER_FINISH);
	source->sampling->finishing = true;
}

void sampling_stop(struct source *source)
{
	end_sampler(source);
}

void sampling_close(struct source *source)
{
	struct supervised_sampler *sampling = source->sampling;

	census_give_up(source);
	if (!sampling)
		return;
	sampler_kill(&sampling->sampler);
	sampler_close(&sampling->sampler);
	pmp_receiver_free(sampling->receiver);
	free(sampling);
	free(source->targets.processes);
	free(source->targets.wanted.all);
	source->targets.wanted = (struct sampler_targets){ 0 };
	source->sampling = NULL;
	source->targets.processes = NULL;
}

void sampling_get_progress(const struct source *source,
			   struct sampling_progress *progress)
{
	const struct sampler *sampler = &source->sampling->sampler;

	progress->pid = sampler->pid;
	progress->done = sampler->page ? sampler->page->so_far : sampler->so_far;
}

/* ---- targets ---------------------------------------------------------------------- */

void sampling_opened(struct source *source, struct process *process)
{
	if (source->options->verbose)
		message_print(NULL, "sampling %d (%s)", (int)process->pid, process->name);
}

void sampling_ready(struct source *source, const struct process *process)
{
	(void)source;
	(void)process;
}

/* The end of a process that was never sampled is always reported: that is an error. */
void sampling_ended(struct source *source, struct process *process, bool threads_only)
{
	if (!process_counted(process) || message_heard())
		summary_ended(source->options, process, threads_only);
}

/* A process that was found by name keeps that name, whatever it calls itself later. */
bool sampling_name_after(const struct source *source, const struct process *process,
			 struct process *name)
{
	const struct found_process *found;

	if (!process && source->targets.count)
		process = &source->targets.processes[0];
	if (!process)
		return false;
	found = found_process(source->targets.found, process->pid);
	*name = *process;
	if (found)
		snprintf(name->name, sizeof(name->name), "%s", found->name);
	return *name->name;
}

/* "3 processes: mariadbd [4100], ..." */
void sampling_describe(const struct source *source, char *text, size_t size)
{
	size_t length = 0;
	char name[128];

	*text = '\0';
	if (source->targets.count > 1)
		length = (size_t)snprintf(text, size,
					  "%zu processes: ", source->targets.count);
	for (size_t i = 0; i < source->targets.count && length < size; i++)
		length += (size_t)snprintf(
			text + length, size - length, "%s%s [%d]", i ? ", " : "",
			pmp_escape(source->targets.processes[i].name, name, sizeof(name)),
			(int)source->targets.processes[i].pid);
}

int sampling_status(struct source *source)
{
	const struct run_state *state = source->state;
	const struct targets *targets = &source->targets;

	if (state->failure || state->file_failed)
		return state->failure ? state->failure : PMP_EXIT_OUTPUT;
	if (state->caught.end && state->caught.end != SIGINT)
		return PMP_EXIT_SIGNAL + state->caught.end;
	if (targets_counted(targets))
		return targets->lost ? PMP_EXIT_FAILED : PMP_EXIT_OK;
	if (state->caught.end)
		return PMP_EXIT_SIGNAL + SIGINT;
	return targets->refusal ? targets->refusal : PMP_EXIT_FAILED;
}

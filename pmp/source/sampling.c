/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The sampler as a source, and its supervision (run/supervise.h). */
#include "source/sampling.h"

#include <signal.h>
#include <stdio.h>

#include "run/clock.h"
#include "run/run.h"
#include "say/message.h"
#include "say/summary.h"
#include "source/from-sampler.h"

int sampling_open(struct run *run, const struct id_list *pids, int exec_fd)
{
	struct pmp_error err = { 0 };
	int code =
		sampler_start(&run->sampling.sampler, &run->options, pids, exec_fd, &err);

	if (code == 0)
		return 0;
	message_error(&err);
	return message_status(code);
}

static void on_sampler(void *arg, short revents)
{
	struct run *run = arg;

	(void)revents;
	run->heard = true;
	from_sampler_receive(run);
}

int sampling_receive(struct run *run)
{
	const int fd = run->sampling.sampler.fd;
	struct pmp_error err = { 0 };
	int code = pmp_receiver_new(fd, &run->sampling.receiver, &err);

	if (code == 0 && !loop_add(run->loop, fd, false, on_sampler, run))
		code = message_fill(&err, PMP_ENOMEM, 0, "not enough memory for the run");
	if (code == 0)
		return 0;
	message_error(&err);
	return message_status(code);
}

/* ---- supervision ---------------------------------------------------------------- */

/* What it has sent is still read. */
void sampling_lose(struct run *run, const char *why)
{
	struct sampling *sampling = &run->sampling;

	sampling->lost = why;
	sampler_where(&sampling->sampler, sampling->where, sizeof(sampling->where));
	sampling->supervise.silent_checks = 0;
	sampler_kill(&sampling->sampler);
}

static enum supervise_verdict check(struct sampling *sampling, struct sighting *seen)
{
	const struct sampler_page *page = sampling->sampler.page;

	seen->held = __atomic_load_n(&page->held_since, __ATOMIC_RELAXED);
	seen->beat = page->heartbeat;
	seen->finishing = sampling->finishing;
	seen->starved = seen->idle && seen->beat == sampling->supervise.beat &&
			sampler_is_starved(&sampling->sampler, &sampling->cpu_seen);
	return supervise_check(&sampling->supervise, seen);
}

void sampling_tend(struct run *run, bool idle)
{
	struct sampling *sampling = &run->sampling;
	struct sighting seen = { .now = now_ns(), .idle = idle };
	enum supervise_verdict verdict;

	if (run->finished || !sampling->sampler.page ||
	    !supervise_is_due(&sampling->supervise, seen.now))
		return;
	verdict = check(sampling, &seen);
	/* Killed, and the end of its socket does not come: it hangs in the kernel. */
	if (sampling->lost && supervise_is_stuck(&sampling->supervise))
		from_sampler_lost(run);
	else if (sampling->lost)
		return;
	else if (verdict == SUPERVISE_HOLDS)
		sampling_lose(run, "held a thread for more than a second and was killed");
	else if (verdict == SUPERVISE_SILENT)
		sampling_lose(run, "did not answer any more and was killed");
}

/* ---- commands ------------------------------------------------------------------- */

void sampling_pause(struct run *run, bool paused)
{
	sampler_command(&run->sampling.sampler,
			paused ? PMP_SAMPLER_PAUSE : PMP_SAMPLER_RESUME);
}

/*
 * The sampler marks that it captures before it looks for commands, and we send the command
 * before we look at the mark: when the mark is down it has seen the command or will before
 * it touches a thread.
 */
bool sampling_is_detached(const struct run *run)
{
	const struct sampler_page *page = run->sampling.sampler.page;

	return !page || run->finished ||
	       !__atomic_load_n(&page->capturing, __ATOMIC_SEQ_CST);
}

void sampling_sample_now(struct run *run)
{
	sampler_command(&run->sampling.sampler, PMP_SAMPLER_NOW);
}

void sampling_set_interval(struct run *run, uint64_t interval)
{
	struct sampler *sampler = &run->sampling.sampler;

	if (sampler->page)
		sampler->page->interval = interval;
	sampler_command(sampler, PMP_SAMPLER_INTERVAL);
}

void sampling_finish(struct run *run)
{
	if (!run->sampling.finishing)
		sampler_command(&run->sampling.sampler, PMP_SAMPLER_FINISH);
	run->sampling.finishing = true;
}

void sampling_stop(struct run *run)
{
	loop_remove(run->loop, run->sampling.sampler.fd);
	sampler_close(&run->sampling.sampler);
}

void sampling_close(struct run *run)
{
	sampler_kill(&run->sampling.sampler);
	sampler_close(&run->sampling.sampler);
	pmp_receiver_free(run->sampling.receiver);
}

/* ---- what is sampled -------------------------------------------------------------- */

void sampling_opened(struct run *run, struct process *process)
{
	if (run->options.verbose)
		message_print(NULL, "sampling %d (%s)", (int)process->pid, process->name);
}

void sampling_ready(struct run *run, const struct process *process)
{
	(void)run;
	(void)process;
}

/* One that never was sampled is an error. */
void sampling_ended(struct run *run, struct process *process, bool threads_only)
{
	if (process->snapshots == 0 || message_heard())
		report_ended(run, process, threads_only);
}

/* One that was looked for by its name has that, whatever it calls itself. */
bool sampling_name_after(const struct run *run, const struct process *process,
			 struct process *name)
{
	const char *found;

	if (!process && run->process_count)
		process = &run->processes[0];
	if (!process)
		return false;
	found = found_process_name(&run->found, process->pid);
	*name = *process;
	if (found)
		snprintf(name->name, sizeof(name->name), "%s", found);
	return *name->name;
}

/* "3 processes: mariadbd [4100], ..." */
void sampling_describe(const struct run *run, char *text, size_t size)
{
	size_t length = 0;
	char name[128];

	*text = '\0';
	if (run->process_count > 1)
		length = (size_t)snprintf(text, size,
					  "%zu processes: ", run->process_count);
	for (size_t i = 0; i < run->process_count && length < size; i++)
		length += (size_t)snprintf(
			text + length, size - length, "%s%s [%d]", i ? ", " : "",
			pmp_escape(run->processes[i].name, name, sizeof(name)),
			(int)run->processes[i].pid);
}

int sampling_status(struct run *run)
{
	if (run->failure || run->file_failed)
		return run->failure ? run->failure : PMP_EXIT_OUTPUT;
	if (run->caught.end && run->caught.end != SIGINT)
		return PMP_EXIT_SIGNAL + run->caught.end;
	if (run->snapshots)
		return PMP_EXIT_OK;
	if (run->caught.end)
		return PMP_EXIT_SIGNAL + SIGINT;
	return run->refusal ? run->refusal : PMP_EXIT_FAILED;
}

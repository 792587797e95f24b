/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * -- COMMAND: sampled from its first instruction on. What ends pmp ends the command, and
 * pmp ends as the command does.
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "run/clock.h"
#include "run/run.h"
#include "say/message.h"
#include "say/summary.h"
#include "sink/filename.h"
#include "source/source.h"

#define LEFT_TIME (2 * NS_PER_S)

static bool is_meant(const struct options *options)
{
	return options->command;
}

static int open_command(struct run *run, struct id_list *pids)
{
	struct pmp_error err;

	if (run->options.children)
		command_adopt(&run->command);
	if (command_fork(&run->command, run->options.command, &err) < 0) {
		message_error(&err);
		return PMP_EXIT_SELF;
	}
	if (!id_list_add(pids, run->command.pid)) {
		message_print(NULL, "not enough memory for the list of processes");
		return PMP_EXIT_SELF;
	}
	return sampling_open(run, pids, run->command.fd) ? PMP_EXIT_SELF : 0;
}

static void on_command(void *arg, short revents)
{
	struct run *run = arg;
	int fd = run->command.fd;

	(void)revents;
	command_started(&run->command);
	if (run->command.fd < 0)
		loop_remove(run->loop, fd);
	if (!run->command.exec_errno)
		return;
	message_print(NULL, "cannot run %s: %s", run->options.command[0],
		      strerror(run->command.exec_errno));
	sampling_finish(run);
}

static int receive(struct run *run)
{
	/* Before the sampler's socket, so that it is known why there was no process. */
	if (loop_add(run->loop, run->command.fd, false, on_command, run))
		return sampling_receive(run) ? PMP_EXIT_SELF : 0;
	message_print(NULL, "not enough memory for the run");
	return PMP_EXIT_SELF;
}

/* Who does not expect that its processes go on would wonder why pmp does not end. */
static void tell_left(struct run *run)
{
	if (!run->left_alone || now_ns() - run->left_alone < LEFT_TIME)
		return;
	run->left_alone = 0;
	if (run->process_count > 1 && !run->options.quiet)
		message_print("^C ends the sampling",
			      "%s has ended; processes that still run: %zu",
			      run->options.command[0], run->process_count - 1);
}

static void tend(struct run *run, bool idle)
{
	if (run->caught.pass_on && command_signal(&run->command, run->caught.pass_on))
		run->caught.pass_on = 0;
	command_reap(&run->command, run->sampling.sampler.pid);
	sampling_tend(run, idle);
	tell_left(run);
}

static void opened(struct run *run, struct process *process)
{
	if (process->child)
		sampling_opened(run, process);
	else
		snprintf(process->name, sizeof(process->name), "%s",
			 run->options.command[0]);
}

static void ready(struct run *run, const struct process *process)
{
	if (!process->child && !run->failure)
		command_go(&run->command);
}

/* It is expected to end; if it never was sampled, that is an error. */
static void ended(struct run *run, struct process *process, bool threads_only)
{
	if (run->options.children)
		run->left_alone = now_ns();
	if (process->snapshots == 0 && !run->options.quiet && !run->command.exec_errno)
		report_ended(run, process, threads_only);
}

/* It may end up as another program; its files keep one name. */
static bool name_after(const struct run *run, const struct process *process,
		       struct process *name)
{
	char base[PMP_NOTE_NAME_SIZE];

	if (!sampling_name_after(run, process, name))
		return false;
	snprintf(base, sizeof(base), "%s", filename_base(name->name));
	memcpy(name->name, base, sizeof(base));
	return *name->name;
}

/* Also when pmp was told to end: what ends it ends the command. */
static void wait_for_command(struct run *run)
{
	while (run->command.started && !command_poll(&run->command)) {
		if (run->caught.limit)
			return;
		run_wait(run, -1);
	}
}

static int status(struct run *run)
{
	const struct command *command = &run->command;

	wait_for_command(run);
	if (run->failure)
		return PMP_EXIT_SELF;
	if (command->ended || command->exec_errno)
		return command_wait_status(command);
	return run->caught.end ? PMP_EXIT_SIGNAL + run->caught.end : PMP_EXIT_SELF;
}

static void close_command(struct run *run)
{
	sampling_close(run);
	command_close(&run->command);
}

const struct source source_command = {
	.name = "command",
	.failed = PMP_EXIT_SELF,
	.is_meant = is_meant,
	.open = open_command,
	.receive = receive,
	.tend = tend,
	.pause = sampling_pause,
	.is_detached = sampling_is_detached,
	.sample_now = sampling_sample_now,
	.set_interval = sampling_set_interval,
	.finish = sampling_finish,
	.stop = sampling_stop,
	.opened = opened,
	.ready = ready,
	.ended = ended,
	.name_after = name_after,
	.describe = sampling_describe,
	.status = status,
	.close = close_command,
};

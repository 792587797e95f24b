/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * -- COMMAND: samples a command from its first instruction on. A signal that ends pmp ends
 * the command as well, and pmp exits with the command's status.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libpmp-program.h"
#include "run/clock.h"
#include "run/loop.h"
#include "run/run-state.h"
#include "say/message.h"
#include "say/summary.h"
#include "options/filename.h"
#include "source/command.h"
#include "source/not-loaded.h"
#include "source/sampling.h"
#include "source/source.h"

#define LEFT_TIME (2 * NS_PER_S)
#define START_MS 10		 /* between checks that the command runs */
#define SHOW_MS 200		 /* between checks for output of the command */
#define LOAD_TIME (3 * NS_PER_S) /* by then a command has loaded preloaded libraries */

static bool is_meant(const struct options *options)
{
	return options->command;
}

static int no_memory(const char *what)
{
	message_print(NULL, "not enough memory for %s", what);
	return PMP_EXIT_SELF;
}

/* Make the recorder for the command. */
static int heap_open(struct source *source, struct pmp_error *err)
{
	const struct options *options = source->options;
	const struct pmp_recorder_options recorder = {
		.size = sizeof(recorder),
		.rate = options->heap.exact ? 0 : options->heap.rate,
		.max_stack = (uint32_t)options->heap.stack,
		.mmap = options->heap.mmap,
		.children = options->children,
	};

	return pmp_recorder_new(&recorder, &source->recorder, err);
}

static int open_command(struct source *source, struct id_list *pids)
{
	struct command *command = calloc(1, sizeof(*command));
	struct pmp_error err;

	if (!command)
		return no_memory("the run");
	source->command = command;
	command->fd = command->terminal.output = -1;
	if (source->options->wants_screen && terminal_open(&command->terminal, &err)) {
		message_error(&err);
		return PMP_EXIT_SELF;
	}
	if (source->options->children)
		command_adopt(command);
	if (source->options->heap.on && heap_open(source, &err) < 0) {
		message_error(&err);
		return PMP_EXIT_SELF;
	}
	if (command_fork(command, source->options->command, source->recorder, &err) < 0) {
		message_error(&err);
		return PMP_EXIT_SELF;
	}
	if (!id_list_add(pids, command->pid))
		return no_memory("the list of processes");
	return sampling_open(source, pids, command->fd) ? PMP_EXIT_SELF : 0;
}

static void on_command(void *arg, short revents)
{
	struct source *source = arg;
	struct command *command = source->command;
	int fd = command->fd;

	(void)revents;
	command_started(command);
	if (command->fd < 0)
		loop_remove(source->loop, fd);
	if (!command->exec_errno)
		return;
	message_print(NULL, "cannot run %s: %s", source->options->command[0],
		      strerror(command->exec_errno));
	sampling_finish(source);
}

static int receive(struct source *source)
{
	/* Added before the sampler's socket, so that a failed exec() is known first. */
	if (loop_add(source->loop, source->command->fd, false, on_command, source))
		return sampling_receive(source) ? PMP_EXIT_SELF : 0;
	return no_memory("the run");
}

/* Explain why pmp goes on: the command has ended, but not its children. */
static void tell_left(struct source *source)
{
	struct command *command = source->command;
	size_t count = source->targets.count;

	if (!command->left_alone || now_ns() - command->left_alone < LEFT_TIME)
		return;
	command->left_alone = 0;
	if (count > 1 && !source->options->quiet)
		message_print("^C ends the sampling",
			      "%s has ended; processes that still run: %zu",
			      source->options->command[0], count - 1);
}

/* Report a recorder that was not loaded: the only sign is that no
 * process has mapped its memory. */
static void tell_unloaded(struct source *source)
{
	struct command *command = source->command;
	char shown[4 * EVENT_NAME_SIZE];
	const char *reason;

	if (!source->recorder || command->told_unloaded || command->exec_errno)
		return;
	command->told_unloaded = true;
	if (pmp_recorder_is_loaded(source->recorder, command->pid))
		return;
	reason = not_loaded_reason(command->pid, source->options->command[0]);
	message_print(NULL, "%s did not load the recorder: %s%s",
		      pmp_escape(source->options->command[0], shown, sizeof(shown)),
		      reason ? "it " : "LD_PRELOAD is dropped", reason ? reason : "");
}

static void pass_on(struct source *source)
{
	struct caught *caught = &source->state->caught;

	if (caught->pass_on && command_signal(source->command, caught->pass_on))
		caught->pass_on = 0;
}

static void tend(struct source *source, bool idle)
{
	pass_on(source);
	command_reap(source->command, source->state->own);
	sampling_tend(source, idle);
	tell_left(source);
	if (source->command->started && !source->command->started_at)
		source->command->started_at = now_ns();
	if (source->command->started_at &&
	    now_ns() - source->command->started_at > LOAD_TIME)
		tell_unloaded(source);
}

static void opened(struct source *source, struct process *process)
{
	if (process->child)
		sampling_opened(source, process);
	else
		snprintf(process->name, sizeof(process->name), "%s",
			 source->options->command[0]);
}

static void ready(struct source *source, const struct process *process)
{
	const struct caught *caught = &source->state->caught;

	/* If pmp was asked to end, the command does not start. */
	if (!process->child && !source->state->failure && !caught->end)
		command_go(source->command);
}

/* The end of a command is reported only if it was never sampled: that is an error. */
static void ended(struct source *source, struct process *process, bool threads_only)
{
	tell_unloaded(source);
	if (source->options->children)
		source->command->left_alone = now_ns();
	if (!process_counted(process) && !source->options->heap.only &&
	    !source->options->quiet && !source->command->exec_errno)
		summary_ended(source->options, process, threads_only);
}

/* It may execute another program; but its files keep the name of the first. */
static bool name_after(const struct source *source, const struct process *process,
		       struct process *name)
{
	char base[EVENT_NAME_SIZE];

	if (!sampling_name_after(source, process, name))
		return false;
	snprintf(base, sizeof(base), "%s", filename_base(name->name));
	memcpy(name->name, base, sizeof(base));
	return *name->name;
}

/* The view has ended, and the command has its terminal back: show its output. */
static void show_output(struct source *source)
{
	struct command *command = source->command;
	char shown[4 * EVENT_NAME_SIZE];

	terminal_show(&command->terminal);
	if (command->terminal.output < 0 || command->ended || command->told_waiting)
		return;
	command->told_waiting = true;
	message_print("^C ends it", "waiting for %s to end",
		      pmp_escape(source->options->command[0], shown, sizeof(shown)));
}

/* The command may run, but has not reported yet whether it does. */
static void await_start(struct source *source)
{
	struct command *command = source->command;

	while (command->went && command->fd >= 0 && !source->state->caught.limit) {
		on_command(source, 0);
		if (command->fd >= 0)
			source->calls->wait(source->run, START_MS);
	}
}

/* Wait even if pmp was asked to end: the same signal ends the command. */
static void wait_for_command(struct source *source)
{
	struct command *command = source->command;

	await_start(source);
	while (command->started && !command_poll(command)) {
		if (source->state->caught.limit)
			break;
		/* tend() does so only if sampling has begun. */
		pass_on(source);
		show_output(source);
		source->calls->wait(source->run,
				    command->terminal.output < 0 ? -1 : SHOW_MS);
	}
	terminal_show(&command->terminal);
}

static int status(struct source *source)
{
	const struct command *command = source->command;

	wait_for_command(source);
	if (source->state->failure)
		return PMP_EXIT_SELF;
	if (command->ended || command->exec_errno)
		return command_wait_status(command);
	return source->state->caught.end ? PMP_EXIT_SIGNAL + source->state->caught.end
					 : PMP_EXIT_SELF;
}

static void close_command(struct source *source)
{
	sampling_close(source);
	if (source->command)
		command_close(source->command);
	if (source->command)
		terminal_close(&source->command->terminal);
	free(source->command);
	source->command = NULL;
	pmp_recorder_free(source->recorder);
	source->recorder = NULL;
}

const struct source_type source_started = {
	.name = "command",
	.failed = PMP_EXIT_SELF,
	.is_meant = is_meant,
	.open = open_command,
	.receive = receive,
	.tend = tend,
	SAMPLING_CALLS,
	.opened = opened,
	.ready = ready,
	.ended = ended,
	.name_after = name_after,
	.status = status,
	.close = close_command,
};

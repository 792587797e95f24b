/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pmp: reads samples from a source into a sink. See HACKING, 6.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "libpmp-program.h"
#include "options/options.h"
#include "run/limit.h"
#include "run/per-target.h"
#include "run/run.h"
#include "say/message.h"
#include "options/filename.h"

/* If 0, 1 or 2 is closed, the next file opened would get that descriptor. */
static void open_standard(struct invocation *call)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
		if (fcntl(fd, F_GETFD) >= 0 || errno != EBADF)
			continue;
		if (fd == STDOUT_FILENO)
			call->stdout_closed = true;
		/* open() returns the lowest free descriptor: this one. */
		if (open("/dev/null", O_RDWR) < 0)
			return;
	}
}

static int refuse_privileges(void)
{
	if (!getauxval(AT_SECURE))
		return 0;
	message_print("run it as root or as the user of the process",
		      "refusing to run with the rights of its file (setuid, setgid or "
		      "capabilities)");
	return PMP_EXIT_FAILED;
}

/* The command line of pmp, for the headers of output formats. */
static char *join(int argc, char **argv)
{
	size_t length = 0;
	char *line, *end;

	for (int i = 0; i < argc; i++)
		length += strlen(argv[i]) + 1;
	line = malloc(length + 1);
	if (!line)
		return NULL;
	end = line;
	for (int i = 0; i < argc; i++) {
		end = mempcpy(end, argv[i], strlen(argv[i]));
		*end++ = ' ';
	}
	end[end > line ? -1 : 0] = '\0';
	return line;
}

static int no_memory(void)
{
	message_print(NULL, "not enough memory for the list of processes");
	return PMP_EXIT_FAILED;
}

/* The limit comes first: the log may be on a disk that does not respond. */
static int begin(const struct options *options)
{
	int status = limit_start(options->max_wall);

	message_color(options_color(options, STDERR_FILENO));
	return status ? status : message_settings(options->quiet, options->log);
}

/* Apply the configuration sections that match these processes, and then the settings for
 * messages again. */
static int settle(struct invocation *call, const struct id_list *pids)
{
	struct options *options = &call->options;
	char **command = options->command;
	const struct target_names names = { pids,
					    command ? filename_base(command[0]) : NULL };
	int status = 0;

	if (options_unsettled(options))
		status = options_settle(options, call->argc, call->argv, &names);
	return status ? status : begin(options);
}

static int run_together(struct invocation *call, struct id_list *pids)
{
	options_warn_sections(&call->options);
	return run_profile(call, pids);
}

/* In the process for one file: profile only its targets, with its share of --max-cpu. */
static int profile_group(struct invocation *call, struct id_list *pids,
			 const size_t *groups, size_t group, size_t count)
{
	uint64_t *max_cpu = &call->options.max_cpu;
	size_t left = 0;
	int status;

	for (size_t i = 0; i < pids->count; i++) {
		if (groups[i] == group)
			pids->ids[left++] = pids->ids[i];
	}
	pids->count = left;
	status = settle(call, pids);
	if (*max_cpu)
		*max_cpu = *max_cpu > count ? *max_cpu / count : 1;
	return status ? status : run_together(call, pids);
}

/* Write one profile for each file that the output name expands to. */
static int profile_all(struct invocation *call, struct id_list *pids)
{
	size_t *groups, count;
	int group = 0, status = 0;

	if (pids->count < 2)
		return run_profile(call, pids);
	if (call->options.format->census && call->options.proto &&
	    !filename_has(filename_base(call->options.output), 'p')) {
		message_print(
			"for example -o 'heap-%p.pb.gz'",
			"the heaps of several processes need a file for each: a name "
			"with %%p");
		return PMP_EXIT_USAGE;
	}
	groups = calloc(pids->count, sizeof(*groups));
	if (!groups)
		return no_memory();
	count = per_target_group(&call->options, &call->found, pids, groups);
	if (count > 1 && call->options.serve) {
		message_print(
			"leave %p and %n out of its name, or start a pmp for each",
			"with --serve all processes have one file, and %s is one for "
			"each",
			call->options.output);
		free(groups);
		return PMP_EXIT_USAGE;
	}
	if (count > PER_TARGET_MAX) {
		message_print(
			"leave %p out of its name, or choose fewer with -p or --user",
			"%s stands for %zu files, and each takes a pmp of its own: "
			"no more than %d",
			call->options.output, count, PER_TARGET_MAX);
		free(groups);
		return PMP_EXIT_USAGE;
	}
	if (count > 1)
		group = per_target_run(count, &status);
	if (group >= 0 && count > 1)
		status = profile_group(call, pids, groups, (size_t)group, count);
	else if (group >= 0)
		status = run_together(call, pids);
	free(groups);
	return status;
}

static int start(struct invocation *call)
{
	const struct options *options = &call->options;
	struct id_list pids = { 0 };
	int status = begin(options);

	if (!status)
		status = find_targets(options, &pids, &call->found);
	if (!status)
		status = settle(call, &pids);
	if (!status)
		options_warn(options);
	if (!status)
		status = profile_all(call, &pids);
	free(pids.ids);
	return status;
}

static int print_version(void)
{
	if (printf("pmp %s\n", pmp_version()) >= 0 && fflush(stdout) == 0)
		return 0;
	message_print(NULL, "cannot write standard output: %s", strerror(errno));
	return PMP_EXIT_OUTPUT;
}

int main(int argc, char **argv)
{
	struct invocation call = { .argc = argc, .argv = argv };
	int status;

	open_standard(&call);
	call.command_line = join(argc, argv);
	/* A longer name is truncated; the name is empty if it cannot be read. */
	if (gethostname(call.host, sizeof(call.host) - 1) < 0)
		call.host[0] = '\0';
	status = refuse_privileges();
	if (!status)
		status = options_parse(&call.options, argc, argv);
	if (!status && call.options.help)
		status = options_help();
	else if (!status && call.options.list)
		status = options_list();
	else if (!status && call.options.version)
		status = print_version();
	else if (!status)
		status = start(&call);
	options_free(&call.options);
	found_processes_free(&call.found);
	free(call.command_line);
	return status;
}

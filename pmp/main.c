/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pmp: samples from a source into a sink. The sampler process is forked here,
 * before any target is touched; then the run takes over. See HACKING, 6.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "fetch/fetcher.h"
#include "libpmp-program.h"
#include "options/options.h"
#include "run/run.h"
#include "run/per-target.h"
#include "say/message.h"
#include "sink/filename.h"
#include "source/diff.h"

/* A closed 0, 1 or 2 would become the next file that is opened. */
static void open_standard(struct run *run)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
		if (fcntl(fd, F_GETFD) >= 0 || errno != EBADF)
			continue;
		if (fd == STDOUT_FILENO)
			run->stdout_closed = true;
		/* The lowest free descriptor is this one. */
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

/* How pmp was called, for the headers of formats. */
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

static int start_signals(struct run *run)
{
	run->wake = signals_open();
	if (run->wake >= 0)
		return 0;
	message_print(NULL, "cannot handle signals: %s", strerror(-run->wake));
	return PMP_EXIT_FAILED;
}

static int start_limit(const struct options *options)
{
	if (!options->max_wall || signals_limit(options->max_wall))
		return 0;
	message_print(NULL, "cannot limit the time: %s", strerror(errno));
	return PMP_EXIT_FAILED;
}

static int start_fetcher(struct run *run)
{
	struct pmp_error err = { 0 };
	int code = fetcher_new(run, &run->fetcher, &err);

	if (code == 0)
		return 0;
	message_error(&err);
	return message_status(code);
}

/* One profile, of all these processes. */
static int profile(struct run *run, struct id_list *pids)
{
	int status = start_signals(run);

	run->source = source_of(&run->options);
	run->sink = sink_of(&run->options, true);
	/* In a process of several this is a new one. */
	if (!status)
		status = start_limit(&run->options);
	if (!status && run->options.debuginfod)
		status = start_fetcher(run);
	if (!status)
		status = diff_read(run);
	if (status)
		return status;
	status = run->source->open(run, pids);
	if (!status)
		status = run_open(run);
	if (!status)
		return run_all(run);
	return run->source->failed ? run->source->failed : status;
}

/* Before anything that may hang: the log may be on a disk that does not answer. */
static int begin(const struct options *options)
{
	int status = start_limit(options);

	message_color(options_color(options, STDERR_FILENO));
	return status ? status : message_settings(options->quiet, options->log);
}

/* The sections of the configuration that are for these processes, and from then on who
 * hears what. */
static int settle(struct run *run, const struct id_list *pids)
{
	struct options *options = &run->options;
	char **command = options->command;
	const struct target_names names = { pids,
					    command ? filename_base(command[0]) : NULL };
	int status = 0;

	if (options_unsettled(options))
		status = options_settle(options, run->argc, run->argv, &names);
	return status ? status : begin(options);
}

/* In the process of one file: only its targets, and its share of what pmp may take. */
static int profile_group(struct run *run, struct id_list *pids, const size_t *groups,
			 size_t group, size_t count)
{
	uint64_t *max_cpu = &run->options.max_cpu;
	size_t left = 0;
	int status;

	for (size_t i = 0; i < pids->count; i++) {
		if (groups[i] == group)
			pids->ids[left++] = pids->ids[i];
	}
	pids->count = left;
	status = settle(run, pids);
	if (*max_cpu)
		*max_cpu = *max_cpu > count ? *max_cpu / count : 1;
	return status ? status : profile(run, pids);
}

/* A profile for each file that the name of the output stands for. */
static int profile_all(struct run *run, struct id_list *pids)
{
	size_t *groups, count;
	int group = 0, status = 0;

	if (pids->count < 2)
		return profile(run, pids);
	groups = calloc(pids->count, sizeof(*groups));
	if (!groups)
		return no_memory();
	count = several_group(&run->options, &run->found, pids, groups);
	if (count > 1)
		group = several_run(count, &status);
	if (group >= 0 && count > 1)
		status = profile_group(run, pids, groups, (size_t)group, count);
	else if (group >= 0)
		status = profile(run, pids);
	free(groups);
	return status;
}

static int start(struct run *run)
{
	const struct options *options = &run->options;
	struct id_list pids = { 0 };
	int status = begin(options);

	if (!status)
		status = find_targets(options, &pids, &run->found);
	if (!status)
		status = settle(run, &pids);
	if (!status)
		options_note(options);
	if (!status)
		status = profile_all(run, &pids);
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
	struct run run = {
		.argc = argc, .argv = argv, .command.fd = -1, .sampling.sampler.fd = -1
	};
	int status;

	open_standard(&run);
	run.command_line = join(argc, argv);
	/* Cut when it is longer; unknown to a machine without a name. */
	if (gethostname(run.host, sizeof(run.host) - 1) < 0)
		run.host[0] = '\0';
	status = refuse_privileges();
	if (!status)
		status = options_parse(&run.options, argc, argv);
	if (!status && run.options.help)
		status = options_help();
	else if (!status && run.options.list)
		status = options_list();
	else if (!status && run.options.version)
		status = print_version();
	else if (!status)
		status = start(&run);
	run_close(&run);
	options_free(&run.options);
	found_processes_free(&run.found);
	free(run.command_line);
	return status;
}

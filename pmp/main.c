/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pmp: samples from a source into a sink. The sampler process is forked here,
 * before any target is touched; then the front takes over. See DESIGN in HACKING.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "diff.h"
#include "fetcher.h"
#include "filename.h"
#include "front.h"
#include "libpmp.h"
#include "message.h"
#include "options.h"
#include "several.h"

/* A closed 0, 1 or 2 would become the next file that is opened. */
static void open_standard(struct pmp_app *app)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
		if (fcntl(fd, F_GETFD) >= 0 || errno != EBADF)
			continue;
		if (fd == STDOUT_FILENO)
			app->stdout_closed = true;
		/* The lowest free descriptor is this one. */
		if (open("/dev/null", O_RDWR) < 0)
			return;
	}
}

static int refuse_privileges(void)
{
	if (!getauxval(AT_SECURE))
		return 0;
	pmp_message_print(
		"run it as root or as the user of the process",
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
	pmp_message_print(NULL, "not enough memory for the list of processes");
	return PMP_EXIT_FAILED;
}

static int add_named(const char *name, struct pmp_id_list *pids)
{
	struct pmp_error err = { 0 };
	pid_t *found = NULL;
	int count = pmp_find_processes(name, &found, &err), status = 0;

	if (count < 0) {
		pmp_message_error(&err);
		if (count == PMP_EINVAL)
			return PMP_EXIT_USAGE;
		return pmp_message_status(count);
	}
	if (count == 0) {
		pmp_message_absent("no process has a name that matches '%s'", name);
		status = PMP_EXIT_GONE;
	}
	for (int i = 0; i < count && !status; i++) {
		if (!pmp_id_list_add(pids, found[i]))
			status = no_memory();
	}
	free(found);
	return status;
}

/* The processes to profile: those asked for, and owners of threads. */
static int find_targets(const struct pmp_options *options, struct pmp_id_list *pids)
{
	for (size_t i = 0; i < options->pids.count; i++) {
		if (!pmp_id_list_add(pids, options->pids.ids[i]))
			return no_memory();
	}
	for (size_t i = 0; i < options->tids.count; i++) {
		pid_t process = pmp_thread_process(options->tids.ids[i]);

		if (!pmp_id_list_add(pids, process ? process : options->tids.ids[i]))
			return no_memory();
	}
	return options->name ? add_named(options->name, pids) : 0;
}

static int start_command(struct pmp_app *app, struct pmp_id_list *pids)
{
	struct pmp_error err;

	if (app->options.children)
		pmp_command_adopt(&app->command);
	if (pmp_command_fork(&app->command, app->options.command, &err) < 0) {
		pmp_message_error(&err);
		return PMP_EXIT_SELF;
	}
	return pmp_id_list_add(pids, app->command.pid) ? 0 : no_memory();
}

static int start_sampler(struct pmp_app *app, const struct pmp_id_list *pids)
{
	struct pmp_error err = { 0 };
	int code;

	code = pmp_sampler_start(&app->sampler, &app->options, pids,
				 app->command.fd, &err);
	if (code == 0)
		return 0;
	pmp_message_error(&err);
	return pmp_message_status(code);
}

static int start_signals(struct pmp_app *app)
{
	app->wake = pmp_signals_open();
	if (app->wake >= 0)
		return 0;
	pmp_message_print(NULL, "cannot take signals: %s", strerror(-app->wake));
	return PMP_EXIT_FAILED;
}

static int start_limit(const struct pmp_options *options)
{
	if (!options->max_wall || pmp_signals_limit(options->max_wall))
		return 0;
	pmp_message_print(NULL, "cannot limit the time: %s", strerror(errno));
	return PMP_EXIT_FAILED;
}

static int start_fetcher(struct pmp_app *app)
{
	struct pmp_error err = { 0 };
	int code = pmp_fetcher_new(app, &app->fetcher, &err);

	if (code == 0)
		return 0;
	pmp_message_error(&err);
	return pmp_message_status(code);
}

/* One profile, of all these processes. */
static int profile(struct pmp_app *app, struct pmp_id_list *pids)
{
	int status = start_signals(app);

	/* In a process of several this is a new one. */
	if (!status)
		status = start_limit(&app->options);
	if (!status && app->options.debuginfod)
		status = start_fetcher(app);
	if (!status)
		status = pmp_diff_read(app);
	if (!status && app->options.command)
		status = start_command(app, pids);
	if (!status && !app->options.file_count)
		status = start_sampler(app, pids);
	if (!status)
		status = pmp_front_open(app);
	if (!status)
		status = pmp_front_run(app);
	else if (app->command.pid)
		status = PMP_EXIT_SELF;
	return status;
}

/* Before anything that may hang: the log may be on a disk that does not answer. */
static int begin(const struct pmp_options *options)
{
	int status = start_limit(options);

	pmp_message_color(pmp_options_color(options, STDERR_FILENO));
	return status ? status : pmp_message_settings(options->quiet, options->log);
}

/* The sections of the configuration that are for these processes, and from then on who
 * hears what. */
static int settle(struct pmp_app *app, const struct pmp_id_list *pids)
{
	struct pmp_options *options = &app->options;
	char **command = options->command;
	const struct pmp_target_names names = {
		pids, command ? pmp_filename_base(command[0]) : NULL
	};
	int status = 0;

	if (pmp_options_unsettled(options))
		status = pmp_options_settle(options, app->argc, app->argv, &names);
	return status ? status : begin(options);
}

/* In the process of one file: only its targets, and its share of what pmp may take. */
static int profile_group(struct pmp_app *app, struct pmp_id_list *pids,
			 const size_t *groups, size_t group, size_t count)
{
	uint64_t *max_cpu = &app->options.max_cpu;
	size_t left = 0;
	int status;

	for (size_t i = 0; i < pids->count; i++) {
		if (groups[i] == group)
			pids->ids[left++] = pids->ids[i];
	}
	pids->count = left;
	status = settle(app, pids);
	if (*max_cpu)
		*max_cpu = *max_cpu > count ? *max_cpu / count : 1;
	return status ? status : profile(app, pids);
}

/* A profile for each file that the name of the output stands for. */
static int profile_all(struct pmp_app *app, struct pmp_id_list *pids)
{
	size_t *groups, count;
	int group = 0, status = 0;

	if (pids->count < 2)
		return profile(app, pids);
	groups = calloc(pids->count, sizeof(*groups));
	if (!groups)
		return no_memory();
	count = pmp_several_group(&app->options, pids, groups);
	if (count > 1)
		group = pmp_several_run(count, &status);
	if (group >= 0 && count > 1)
		status = profile_group(app, pids, groups, (size_t)group, count);
	else if (group >= 0)
		status = profile(app, pids);
	free(groups);
	return status;
}

static int run(struct pmp_app *app)
{
	const struct pmp_options *options = &app->options;
	struct pmp_id_list pids = { 0 };
	int status = begin(options);

	if (!status)
		status = find_targets(options, &pids);
	if (!status)
		status = settle(app, &pids);
	if (!status)
		pmp_options_note(options);
	if (!status)
		status = profile_all(app, &pids);
	free(pids.ids);
	return status;
}

static int print_version(void)
{
	if (printf("pmp %s\n", pmp_version()) >= 0 && fflush(stdout) == 0)
		return 0;
	pmp_message_print(NULL, "cannot write standard output: %s", strerror(errno));
	return PMP_EXIT_OUTPUT;
}

int main(int argc, char **argv)
{
	struct pmp_app app = {
		.argc = argc, .argv = argv, .command.fd = -1, .sampler.fd = -1
	};
	int status;

	open_standard(&app);
	app.command_line = join(argc, argv);
	/* Cut when it is longer; unknown to a machine without a name. */
	if (gethostname(app.host, sizeof(app.host) - 1) < 0)
		app.host[0] = '\0';
	status = refuse_privileges();
	if (!status)
		status = pmp_options_parse(&app.options, argc, argv);
	if (!status && app.options.help)
		status = pmp_options_help();
	else if (!status && app.options.list)
		status = pmp_options_list();
	else if (!status && app.options.version)
		status = print_version();
	else if (!status)
		status = run(&app);
	pmp_front_close(&app);
	pmp_options_free(&app.options);
	free(app.command_line);
	return status;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where options come from, each source overriding those before it: configuration files
 * (config.c), PMP_OPTS, the command line. Once the targets are known, everything is read
 * again with the sections that apply.
 */
#include "options/table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "options/config.h"
#include "options/value.h"
#include "say/message.h"

#define INTERVAL_DEFAULT UINT64_C(100000000)
#define MAX_STOP_DEFAULT UINT64_C(20000000)

/* The words of PMP_OPTS precede those of the command line. */
static bool parse_environment(struct options *options, char *program)
{
	const char *line = getenv("PMP_OPTS"), *problem;
	char **argv;
	int count;
	bool parsed;

	if (!line || !*line)
		return true;
	options->words = value_split(line, &count, &problem);
	if (!options->words && !problem)
		return options_no_memory();
	if (!options->words) {
		message_print(NULL, "cannot understand PMP_OPTS: %s", problem);
		return false;
	}
	argv = calloc((size_t)count + 2, sizeof(*argv));
	if (!argv)
		return options_no_memory();
	argv[0] = program;
	memcpy(argv + 1, options->words, (size_t)count * sizeof(*argv));
	message_place("PMP_OPTS");
	parsed = options_take(options, count + 1, argv, PMP_FROM_ENVIRONMENT);
	message_place(NULL);
	free(argv);
	return parsed;
}

/* ---- configuration ----------------------------------------------------------- */

struct settling {
	struct options *options;
	const struct target_names *names; /* NULL: leave out sections */
};

/* Takes the value on trial, as sections that do not apply are checked too. */
static bool is_right(const struct option_row *row, const char *value)
{
	struct options trial = { 0 };
	bool right = row->take(&trial, row, value);

	options_free(&trial);
	return right;
}

static bool check_configured(void *arg, const char *name, const char *value)
{
	const struct option_row *row = option_named(name);

	(void)arg;
	if (!row)
		message_print(PMP_SEE_HELP, "unknown option '%s'", name);
	else if (!option_is_for_config(row))
		message_print(NULL, "'%s' is for the command line only", name);
	else if (row->value && !row->may_lack_value && (!value || !*value))
		message_print(PMP_SEE_HELP, "'%s' needs a value: %s", name, row->value);
	else if (!row->value && value)
		message_print(PMP_SEE_HELP, "'%s' takes no value", name);
	else
		return is_right(row, value);
	return false;
}

static bool take_configured(void *arg, const char *name, const char *value)
{
	const struct settling *settling = arg;
	const struct option_row *row = option_named(name);

	/* Each line overrides the lines before it; they do not conflict. */
	settling->options->format_row = NULL;
	return row && option_take(settling->options, row, value, PMP_FROM_CONFIG);
}

static int compare_ids(const void *a, const void *b)
{
	pid_t left = *(const pid_t *)a, right = *(const pid_t *)b;

	return (left > right) - (left < right);
}

/* For options_warn_sections(); each expression once, even if several sections have it. */
static bool add_unmet(struct options *options, const struct unmet_section *section)
{
	size_t count = options->unmet_count;
	struct unmet_section *unmet;

	for (size_t i = 0; i < count; i++) {
		if (strcmp(options->unmet[i].regex, section->regex) == 0)
			return true;
	}
	unmet = reallocarray(options->unmet, count + 1, sizeof(*unmet));
	if (!unmet)
		return options_no_memory();
	unmet[count] = *section;
	options->unmet = unmet;
	options->unmet_count++;
	return true;
}

/* Are all targets among those found? found must be sorted. */
static bool all_found(const struct settling *settling, const char *regex,
		      const pid_t *found, size_t count, bool *result)
{
	const struct id_list *pids = settling->names->pids;
	struct unmet_section unmet = { .regex = regex };

	for (size_t i = 0; i < pids->count; i++) {
		if (count > 0 &&
		    bsearch(&pids->ids[i], found, count, sizeof(*found), compare_ids))
			continue;
		if (!unmet.count++)
			unmet.pid = pids->ids[i];
	}
	*result = pids->count > 0 && unmet.count == 0;
	if (*result || unmet.count == pids->count)
		return true;
	return add_unmet(settling->options, &unmet);
}

/* Matches whole names: the command's base name, or what --name would find. */
static bool section_applies(void *arg, const char *regex, bool *result)
{
	const struct settling *settling = arg;
	const struct target_names *names = settling->names;
	struct pattern whole = { 0 };
	struct pmp_error err = { 0 };
	char text[PMP_CONFIG_WHOLE_SIZE];
	pid_t *found = NULL;
	bool known;
	int count;

	*result = false;
	config_whole(regex, text);
	if (names->command) {
		if (pattern_set(&whole, text, &err))
			return options_no_memory();
		*result = pattern_matches(&whole, names->command);
		known = pattern_problem(&whole, &err) == 0;
		if (!known)
			message_error(&err);
		pattern_free(&whole);
		return known;
	}
	count = pmp_find_processes(text, &found, &err);
	if (count < 0) {
		message_error(&err);
		return false;
	}
	known = all_found(settling, regex, found, (size_t)count, result);
	free(found);
	return known;
}

/* ---- everything, in order ---------------------------------------------------------- */

static void set_defaults(struct options *options)
{
	*options = (struct options){
		.interval = INTERVAL_DEFAULT,
		.max_stop = MAX_STOP_DEFAULT,
		.max_cpu = OPTIONS_NOT_GIVEN,
	};
	options->debug = getenv("PMP_DEBUG");
	if (options->debug && !*options->debug)
		options->debug = NULL;
}

/* Parse PMP_OPTS and the command line. */
static bool parse_both(struct options *options, int argc, char **argv)
{
	static char no_name[] = "pmp";

	return parse_environment(options, argc > 0 ? argv[0] : no_name) &&
	       (argc == 0 || options_take(options, argc, argv, PMP_FROM_ARGUMENTS));
}

/* The name of the output determines the format, unless a format was given there or later. */
static void choose_format(struct options *options)
{
	const struct pmp_format *format;

	if (options_format_source(options) >= option_given(options, "output"))
		return;
	format = options_format_of(options->output);
	if (!format)
		return;
	options->format = format;
	options->other_row = NULL;
	options->check_locks = false;
}

/* Parse everything again, in order; names NULL: leave out sections. */
static bool parse_all(struct options *options, int argc, char **argv,
		      const struct target_names *names)
{
	struct settling settling = { options, names };
	const struct config_user user = {
		.check = check_configured,
		.take = take_configured,
		.applies = names ? section_applies : NULL,
		.arg = &settling,
	};
	struct config *config = options->config;

	options->config = NULL;
	options_free(options);
	set_defaults(options);
	options->config = config;
	if (!config_apply(config, &user))
		return false;
	if (!parse_both(options, argc, argv))
		return false;
	choose_format(options);
	return true;
}

int options_parse(struct options *options, int argc, char **argv)
{
	int status;

	set_defaults(options);
	if (!parse_both(options, argc, argv))
		return options_status();
	if (options->help || options->version || options->list)
		return 0;
	if (!options_check_source(options))
		return PMP_EXIT_USAGE;
	status = config_read(&options->config, options->config_file);
	if (status)
		return status;
	if (!parse_all(options, argc, argv, NULL))
		return options_status();
	return options_unsettled(options) ? 0 : options_check(options);
}

bool options_unsettled(const struct options *options)
{
	return config_has_sections(options->config) && !options->file_count;
}

int options_settle(struct options *options, int argc, char **argv,
		   const struct target_names *names)
{
	return parse_all(options, argc, argv, names) ? options_check(options)
						     : options_status();
}

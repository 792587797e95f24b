/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which options exclude each other, and the defaults that depend on other options. */
#include "libpmp-program.h"
#include "options/table.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "say/message.h"
#include "serve/listen.h"
#include "options/filename.h"

#define MAX_CPU_DEFAULT 5
#define DURATION_DEFAULT UINT64_C(10000000000)
#define HISTORY_DEFAULT UINT64_C(600000000000)
#define MEMORY_DEFAULT (UINT64_C(256) << 20)
#define HEAP_RATE_DEFAULT (UINT64_C(512) << 10)
#define HEAP_STACK_DEFAULT (UINT64_C(64) << 10)
#define HINT_SIZE 512

/* --locks=check looks once, or as long as -d or -n say, and answers by its exit status. */
static bool check_check(const struct options *options)
{
	if (!options->check_locks)
		return true;
	if (options->output || options->other_row ||
	    strcmp(options->format->name, "locks") != 0 || options->every ||
	    options->diff) {
		message_print("pmp --locks -o FILE writes who waits for whom",
			      "--locks=check writes nothing: -f, -o, --every and --diff "
			      "exclude it");
		return false;
	}
	if (options->command) {
		message_print(
			"start it, then pmp --locks=check -p PID",
			"--locks=check ends with a status of its own, and so does a "
			"command");
		return false;
	}
	return true;
}

/* "--locks", "-f json" */
static void say_format(const struct option_row *row, const struct pmp_format *format,
		       char *text, size_t size)
{
	if (row->value && !row->may_lack_value)
		snprintf(text, size, "-%c %s", row->letter, format->name);
	else
		snprintf(text, size, "--%s", row->name);
}

static bool check_formats(const struct options *options)
{
	const struct pmp_format *format = options->format, *other = options->other_format;
	char one[64], two[64];

	if (!options->other_row || other == format)
		return true;
	say_format(options->other_row, other, one, sizeof(one));
	say_format(options->clash_row, format, two, sizeof(two));
	message_print(other->live || format->live
			      ? "json and raw say what each thread waits for as well; "
				"with --peers also of other processes"
			      : "give one of the two",
		      "%s and %s exclude each other", one, two);
	return false;
}

/* A view needs a terminal that can be drawn on and belongs to this job. With a command it
 * is for recorded heaps only: other commands keep the terminal. */
static bool can_have_screen(const struct options *options)
{
	const char *term = getenv("TERM");

	if (options->every || options->diff || !isatty(STDOUT_FILENO))
		return false;
	return !options->command ||
	       (options->heap.on && term && *term && strcmp(term, "dumb") != 0 &&
		tcgetpgrp(STDOUT_FILENO) == getpgrp());
}

static bool check_sink(struct options *options)
{
	char formats[256], hint[HINT_SIZE];

	if (options->output && strcmp(options->output, "-") == 0)
		options->output = NULL;
	else if (!options->output && !options->format && !options->serve)
		options->wants_screen = can_have_screen(options);
	if (!options->format && options->output) {
		options->format = options_format_of(options->output);
		if (!options->format) {
			options_formats(formats, sizeof(formats));
			snprintf(hint, sizeof(hint), "name it with -f, one of: %s",
				 formats);
			message_print(hint, "cannot tell the format from the name '%s'",
				      options->output);
			return false;
		}
	}
	if (!options->format)
		options->format = pmp_format_find(options->diff	     ? "pmp"
						  : options->heap.on ? "memory"
								     : "raw");
	if (options->output && options->format->proto) {
		const struct pmp_format *named = options_format_of(options->output);

		options->proto = named && strcmp(named->name, "pprof") == 0;
	}
	if (options->diff && !options->format->compares) {
		message_print(
			"formats that do: pmp, folded, svg, html, flat; for pprof: go tool "
			"pprof -diff_base BASE NEW",
			"the format %s cannot compare profiles", options->format->name);
		return false;
	}
	if (options->format->binary && !options->output && isatty(STDOUT_FILENO)) {
		snprintf(hint, sizeof(hint), "write it to a file: -o profile.%s",
			 options->format->extension);
		message_print(hint, "the format %s is not for a terminal",
			      options->format->name);
		return false;
	}
	return true;
}

/* Can we read where threads wait in the kernel? The file exists for all users, but not
 * all may open or read it. */
static void warn_kernel(void)
{
	char byte;
	int fd = open("/proc/self/stack", O_RDONLY | O_CLOEXEC);
	bool readable = fd >= 0 && read(fd, &byte, 1) >= 0;
	int error = errno;

	if (fd >= 0)
		close(fd);
	if (!readable)
		message_note(error == ENOENT ? "this kernel has been built without them"
					     : "run it as root (CAP_SYS_ADMIN)",
			     "cannot read functions of the kernel: %s: --kernel changes "
			     "nothing",
			     strerror(error));
}

/* A run has one set of options; all sections are used if each process has its own run. */
void options_warn_sections(const struct options *options)
{
	for (size_t i = 0; i < options->unmet_count; i++) {
		const struct unmet_section *unmet = &options->unmet[i];
		struct pmp_found_process process = { .size = sizeof(process) };
		char name[sizeof(process.name) + 32], others[48] = "";

		snprintf(name, sizeof(name), "%d", (int)unmet->pid);
		if (pmp_find_process(".", unmet->pid, &process, NULL) == 0)
			snprintf(name, sizeof(name), "%s (%d)", process.name,
				 (int)unmet->pid);
		if (unmet->count > 1)
			snprintf(others, sizeof(others), " and %zu more",
				 unmet->count - 1);
		message_note("with %p in the name of the output each process has a file "
			     "and sections of its own",
			     "the section [name:%s] is not used: it does not apply to "
			     "%s%s",
			     unmet->regex, name, others);
	}
}

static void warn_threads(const struct options *options)
{
	static const char hint[] = "--by-thread keeps threads apart";

	if (!options->threads.filter && !options->not_threads.filter)
		return;
	if (options->file_count)
		message_note(
			hint,
			"--threads and --not-threads are for sampling: of a file all "
			"threads are shown");
	else if (options->heap.on)
		message_note(hint, "--threads and --not-threads are for sampling: --heap "
				   "records all threads");
}

/* Options without effect get only a message, as the configuration may contain them. */
void options_warn(const struct options *options)
{
	const struct pmp_format *format = options->format;

	if (options->kernel && !options->file_count)
		warn_kernel();
	if (options->sample_type && !options->file_count && !options->heap.on)
		message_note(NULL,
			     "--sample-type is for saved profiles and --heap: it changes "
			     "nothing");
	if (options->types && !format->census)
		message_note(NULL, "--types is for -f objects: it changes nothing");
	warn_threads(options);
	if (options->exe && !options->file_count && !options->diff)
		message_note(NULL, "--exe is for core files: it changes nothing");
	if (!options->sort || options->wants_screen)
		return;
	if (options->diff)
		message_note(NULL,
			     "a comparison has its own order: --sort has no effect");
	else if (!(format->sorts & 1U << options->sort))
		message_note("formats with such columns: flat (self total name), threads "
			     "(tid samples cpu name), pmp (samples name)",
			     "the format %s has no such column: --sort changes nothing",
			     format->name);
}

/* --every and --keep need a different name for each file. */
static bool check_series(const struct options *options)
{
	if (options->every && options->file_count) {
		message_print(PMP_SEE_HELP,
			      "--every is for processes, not for saved profiles");
		return false;
	}
	if (options->keep && (!options->output || !filename_is_series(options->output))) {
		message_print("for example -o '/var/log/pmp/%n-%t.pb.gz'",
			      "--keep needs a name with a time (%%t) or a counter (%%c)");
		return false;
	}
	return true;
}

/* The filter needs these options too. */
static bool set_filter(struct options *options)
{
	const struct pmp_filter_options flags = {
		.size = sizeof(flags),
		.idle = (enum pmp_idle)options->idle,
		.fold_recursion = options->fold_recursion,
		.groups = options->by_group,
		.no_fold_threads = options->no_fold_threads,
	};
	struct pmp_error err;

	if (!options->filter && pmp_filter_new(&options->filter, &err) < 0)
		return options_no_memory();
	pmp_filter_set(options->filter, &flags);
	options->by_group |= *pmp_filter_text(options->filter, PMP_FILTER_THREAD_GROUP);
	return true;
}

/* In `pmp -d 4100` the number may have been meant as a pid. Returns false. */
static bool nothing_given(const struct options *options)
{
	const struct option_row *row = options->last_row;
	char hint[HINT_SIZE] =
		"pmp -p PID, pmp --name REGEX, pmp -- COMMAND or pmp FILE; "
		"see pmp --help";

	if (row)
		snprintf(hint, sizeof(hint),
			 "%s is the value of --%s here; if it is a process: "
			 "pmp --%s %s -p %s",
			 options->last_value, row->name, row->name, row->value,
			 options->last_value);
	else if (options->diff)
		snprintf(
			hint, sizeof(hint),
			"%.100s is the base; what is compared with it comes next: a file, or "
			"-p PID",
			options->diff);
	message_print(hint, "nothing to profile: no process given");
	return false;
}

/* A word may have been taken for a file by mistake. */
static const char *several_hint(const struct options *options, char *hint)
{
	if (!options->file_count)
		return PMP_SEE_HELP;
	snprintf(hint, HINT_SIZE, "'%.100s' is taken for a saved profile or a core file",
		 options->files[0]);
	return hint;
}

bool options_check_source(const struct options *options)
{
	bool processes = options->pids.count || options->tids.count || options->name;
	int sources = processes + (options->command != NULL) + (options->file_count > 0);
	char hint[HINT_SIZE];

	if (sources > 1) {
		message_print(several_hint(options, hint),
			      "give processes, a command or files, not several of these");
		return false;
	}
	if (options->children && options->tids.count) {
		message_print(PMP_SEE_HELP, "--children and -t exclude each other");
		return false;
	}
	if (options->has_user && !options->name) {
		message_print(
			"for example --user mysql --name '^mariadbd$'",
			"--user needs --name: it limits the processes that --name finds");
		return false;
	}
	if (sources == 0)
		return nothing_given(options);
	return true;
}

/* The size of the file limits the memory for a saved profile. */
static void set_memory(struct options *options)
{
	if (!options->max_memory && !options->file_count)
		options->max_memory = MEMORY_DEFAULT;
}

static void set_history(struct options *options)
{
	if (!options->history)
		options->history = HISTORY_DEFAULT;
}

static void set_length(struct options *options)
{
	if (options->count || options->duration || options->command ||
	    options->wants_screen || options->every || options->serve)
		return;
	if (options->format->once)
		options->count = 1;
	else
		options->duration = DURATION_DEFAULT;
}

/* An error, not just a note: the user asked for it. */
static bool check_servers(const struct options *options)
{
	const char *urls = getenv("DEBUGINFOD_URLS");

	if (!options->debuginfod)
		return true;
	if (urls && urls[strspn(urls, " \t\n")])
		return true;
	message_print(
		"for example DEBUGINFOD_URLS=https://debuginfod.debian.net; sudo and "
		"cron do not pass it on by themselves",
		"--debuginfod needs servers, and DEBUGINFOD_URLS names none");
	return false;
}

/* Clients from other machines must have a token. */
static bool check_serve(const struct options *options)
{
	const bool file = options->output && strcmp(options->output, "-") != 0;
	struct listen_address address;

	if (!options->serve && !options->serve_token && !options->serve_host_count &&
	    !options->serve_no_cmdline && !options->on_demand && !options->history)
		return true;
	if (!options->serve) {
		message_print(PMP_SEE_HELP,
			      "--serve-token, --serve-host, --serve-no-cmdline, "
			      "--on-demand and --history are for --serve");
		return false;
	}
	if (options->diff || options->file_count) {
		message_print(NULL, "--serve serves running processes: --diff and saved "
				    "profiles exclude it");
		return false;
	}
	if (!file && (options->output || options->format_row || options->every)) {
		message_print("clients choose the format: http://127.0.0.1:7670/folded",
			      "--serve has no output but the file of -o: add -o FILE, or "
			      "leave out -f, --raw and --every");
		return false;
	}
	if (file && options->on_demand) {
		message_print(NULL,
			      "-o and --on-demand exclude each other: a file is of all "
			      "the time, and --on-demand samples only while clients "
			      "ask");
		return false;
	}
	listen_parse(options->serve, &address);
	if (listen_is_local(&address) || options->serve_token)
		return true;
	message_print(NULL,
		      "--serve=%s is for other machines: say who may ask with "
		      "--serve-token FILE",
		      options->serve);
	return false;
}

bool options_is_heap_value(const char *name)
{
	return strcmp(name, "alloc_objects") == 0 || strcmp(name, "alloc_space") == 0 ||
	       strcmp(name, "inuse_objects") == 0 || strcmp(name, "inuse_space") == 0;
}

/* The values of a saved profile are those in the file. */
bool options_count_heap(const struct options *options)
{
	if (options->format->heap == PMP_HEAP_ALONE)
		return true;
	return options->heap.on && (options->heap.only || options->sample_type);
}

static bool check_heap_values(const struct options *options)
{
	if (!options->sample_type || options_is_heap_value(options->sample_type))
		return true;
	message_print("it has: alloc_objects alloc_space inuse_objects inuse_space",
		      "--heap has no sample type '%s'", options->sample_type);
	return false;
}

bool options_shows_waits(const struct pmp_format *format)
{
	return format->waits && format->heap == PMP_HEAP_NOTHING;
}

bool options_shows_threads(const struct pmp_format *format)
{
	return format->snapshots || options_shows_waits(format) || format->repeats;
}

static bool check_heap_format(const struct options *options)
{
	const struct pmp_format *format = options->format;

	if (options->heap.only && options_shows_threads(format)) {
		message_print(
			"leave out --heap-only, or write the heap: -f memory, -f folded",
			"the format %s shows threads, which --heap-only does not sample",
			format->name);
		return false;
	}
	if (options->sample_type && options_shows_threads(format)) {
		message_print(
			"leave out --sample-type, or write the heap: -f memory, -f folded",
			"the format %s has no sample type '%s'", format->name,
			options->sample_type);
		return false;
	}
	return true;
}

/* The values of pprof are those of all programs, and how the heap grew is none of them. */
static bool check_unsaved(const struct options *options)
{
	if (!options->file_count || !options->format->unsaved || options->wants_screen)
		return true;
	message_print("write it while recording: pmp --heap -f growth -o FILE -- COMMAND",
		      "the format %s is written while a heap is recorded: a saved "
		      "profile does not have it",
		      options->format->name);
	return false;
}

static bool check_heap(struct options *options)
{
	if (!options->heap.on && !options->file_count &&
	    options->format->heap == PMP_HEAP_ALONE && !options->wants_screen) {
		message_print("for example pmp --heap -f memory -- COMMAND",
			      "the format %s needs a recorded heap: use --heap",
			      options->format->name);
		return false;
	}
	if (!options->heap.on) {
		const bool others =
			options->heap.only || options->heap.stack || options->heap.mmap;

		/* A saved profile may be filtered by age. */
		if (!others && (!options->heap.age || options->file_count))
			return true;
		message_print("for example pmp --heap --heap-only -- COMMAND",
			      "--heap-only, --heap-mmap, --heap-stack and --heap-age are "
			      "for --heap");
		return false;
	}
	if (options->file_count) {
		message_print("pmp FILE shows what a file has",
			      "--heap is for processes, not for saved profiles");
		return false;
	}
	if (!options->heap.rate)
		options->heap.rate = HEAP_RATE_DEFAULT;
	if (!options->heap.stack)
		options->heap.stack = HEAP_STACK_DEFAULT;
	return check_heap_format(options) && check_heap_values(options);
}

/* A heap is read from outside, at one moment, and as a whole. */
static bool check_census(const struct options *options)
{
	const char *hint = "pmp FILE shows what a file has; -f flat as a list";

	if (!options->format || !options->format->census)
		return true;
	if (options->file_count) {
		message_print(hint, "-f objects is for running processes, not for saved "
				    "profiles and core files");
		return false;
	}
	if (options->command || options->tids.count) {
		message_print("start it, then pmp -f objects -p PID",
			      "-f objects is for running processes: commands and -t "
			      "exclude it");
		return false;
	}
	if (options->proto && options->count > 1 && !options->every) {
		message_print(
			"--every 60 -o 'heap-%t.pb.gz' writes a file each minute",
			"a heap at several times needs a file for each, or the form "
			"of text");
		return false;
	}
	return true;
}

/* A heap is read at full speed: read slowly it would not be that of one moment. */
static void set_cpu(struct options *options)
{
	const bool given = options->max_cpu != OPTIONS_NOT_GIVEN;

	options->census_cpu = given ? options->max_cpu : 0;
	if (!given)
		options->max_cpu =
			options->format && options->format->census ? 0 : MAX_CPU_DEFAULT;
}

int options_check(struct options *options)
{
	options_settle_standing(options);
	if (!check_check(options) || !check_serve(options) || !check_formats(options) ||
	    !check_sink(options) || !check_series(options) || !check_servers(options) ||
	    !check_unsaved(options) || !check_heap(options) || !check_census(options) ||
	    !set_filter(options))
		return options_status();
	set_cpu(options);
	set_memory(options);
	set_history(options);
	set_length(options);
	return 0;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The command line. Everything about an option is in its row of the table: how it
 * is spelled, what its value must be, where the value goes, and its help text.
 */
#include "options.h"

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "config.h"
#include "filename.h"
#include "message.h"
#include "value.h"

#define PID_LIMIT 4194304 /* the kernel's PID_MAX_LIMIT */
#define COUNT_LIMIT 1000000000
#define FRAMES_LIMIT 65536
#define WIDTH_LIMIT 100000
#define INTERVAL_MIN UINT64_C(100000)	     /* 100 us, 10000 Hz */
#define EVERY_MIN UINT64_C(100000000)	     /* 100 ms */
#define WALL_MIN UINT64_C(1000000000)
#define TIME_MAX UINT64_C(31536000000000000) /* a year */
#define INTERVAL_DEFAULT UINT64_C(100000000)
#define DURATION_DEFAULT UINT64_C(10000000000)
#define MAX_STOP_DEFAULT UINT64_C(20000000)
#define MAX_CPU_DEFAULT 5
#define MEMORY_DEFAULT (UINT64_C(256) << 20)
#define MEMORY_MIN (UINT64_C(16) << 20)
#define MEMORY_MAX (UINT64_C(1) << 40)
#define CPU_LIMIT 100000 /* percent: of a thousand processors */
#define HELP_COLUMN 30
#define HINT_SIZE 512
#define SHOWN_MAX 256 /* of a value, in a message that says what is wrong with it */

#define SEE_HELP "see pmp --help"

enum { LONG_BASE = 256, OPERAND = 1 };

enum group { SOURCE, SAMPLING, SINK, THREADS, STACKS, FRAMES, SYMBOLS, OTHER, GROUP_COUNT };

static const char *const group_titles[GROUP_COUNT] = {
	"Source", "Sampling", "Sink", "Threads", "Stacks", "Frames",
	"Symbols", "Other",
};

struct row {
	enum group group;
	char letter; /* 0: only a long name */
	const char *name;
	const char *value; /* name of its value; NULL: takes none */
	bool (*take)(struct pmp_options *options, const struct row *row,
		     const char *text);
	size_t offset; /* where the value goes in struct pmp_options */
	uint64_t min, max;
	const char *words;   /* of take_word: in the order of the enum, blanks between */
	const char *example; /* of a right value */
	const char *help;
};

static bool take_flag(struct pmp_options *, const struct row *, const char *);
static bool take_more(struct pmp_options *, const struct row *, const char *);
static bool take_number(struct pmp_options *, const struct row *, const char *);
static bool take_time(struct pmp_options *, const struct row *, const char *);
static bool take_size(struct pmp_options *, const struct row *, const char *);
static bool take_frequency(struct pmp_options *, const struct row *, const char *);
static bool take_word(struct pmp_options *, const struct row *, const char *);
static bool take_text(struct pmp_options *, const struct row *, const char *);
static bool take_name(struct pmp_options *, const struct row *, const char *);
static bool take_output(struct pmp_options *, const struct row *, const char *);
static bool take_pattern(struct pmp_options *, const struct row *, const char *);
static bool take_ids(struct pmp_options *, const struct row *, const char *);
static bool take_raw(struct pmp_options *, const struct row *, const char *);
static bool take_format(struct pmp_options *, const struct row *, const char *);
static bool take_filter(struct pmp_options *, const struct row *, const char *);

#define TO(field) .offset = offsetof(struct pmp_options, field)

static const struct row rows[] = {
	{ SOURCE, 'p', "pid", "PID[,PID]", take_ids, TO(pids),
	  .example = "-p 4100, or by name --name '^mariadbd$'",
	  .help = "processes, by id; a bare number is one too" },
	{ SOURCE, 't', "tid", "TID[,TID]", take_ids, TO(tids), .example = "-t 4102",
	  .help = "only these threads" },
	{ SOURCE, 0, "name", "RE", take_name, TO(name), .example = "--name '^mariadbd$'",
	  .help = "processes, by name or name of the program" },
	{ SOURCE, 0, "children", NULL, take_flag, TO(children),
	  .help = "their children too, now and later" },

	{ SAMPLING, 'n', "count", "N", take_number, TO(count), 1, COUNT_LIMIT,
	  .example = "-n 100", .help = "take N snapshots" },
	{ SAMPLING, 'd', "duration", "TIME", take_time, TO(duration), INTERVAL_MIN,
	  TIME_MAX, .example = "-d 10, -d 500ms or -d 1m",
	  .help = "sample for TIME (seconds; 500ms, 1m)" },
	{ SAMPLING, 'i', "interval", "TIME", take_time, TO(interval), INTERVAL_MIN,
	  TIME_MAX, .example = "-i 1, -i 10ms or -i 1m",
	  .help = "time between snapshots (0.1), varied by 10%" },
	{ SAMPLING, 'F', "frequency", "HZ", take_frequency, TO(interval), INTERVAL_MIN,
	  TIME_MAX, .example = "-F 10", .help = "snapshots a second (10)" },
	{ SAMPLING, 0, "stop", "HOW", take_word, TO(stop), .words = "auto all never",
	  .help = "auto (each thread shortly), all (together), never" },
	{ SAMPLING, 0, "unwind", "HOW", take_word, TO(unwind), .words = "auto cfi fp",
	  .help = "auto, cfi (call-frame information), fp (frame pointers)" },
	{ SAMPLING, 0, "no-restart", NULL, take_flag, TO(no_restart),
	  .help = "do not restart calls that a stop interrupted" },
	{ SAMPLING, 0, "max-frames", "N", take_number, TO(max_frames), 1, FRAMES_LIMIT,
	  .example = "--max-frames 512", .help = "frames of a stack at most (512)" },
	{ SAMPLING, 0, "max-stop", "TIME", take_time, TO(max_stop), 1000, TIME_MAX,
	  .example = "--max-stop 20ms",
	  .help = "lower the rate when a snapshot stops longer (20ms)" },
	{ SAMPLING, 0, "max-cpu", "PERCENT", take_number, TO(max_cpu), 0, CPU_LIMIT,
	  .example = "--max-cpu 5",
	  .help = "lower the rate when pmp takes more of a processor (5)" },
	{ SAMPLING, 0, "max-memory", "SIZE", take_size, TO(max_memory), MEMORY_MIN,
	  MEMORY_MAX, .example = "--max-memory 256M or --max-memory 2G",
	  .help = "memory of stacks; the rarest are evicted (256M)" },

	{ SINK, 0, "raw", NULL, take_raw, 0,
	  .help = "stacks as gdb prints them; default off a terminal" },
	{ SINK, 'f', "format", "FORMAT", take_format, 0,
	  .help = "format of the output, see below" },
	{ SINK, 'o', "output", "FILE", take_output, TO(output),
	  .example = "-o profile.folded",
	  .help = "write to FILE; its extension picks the format" },
	{ SINK, 0, "every", "TIME", take_time, TO(every), EVERY_MIN, TIME_MAX,
	  .example = "--every 10m", .help = "write a new file each TIME, until stopped" },
	{ SINK, 0, "keep", "N", take_number, TO(keep), 1, COUNT_LIMIT,
	  .example = "--keep 144", .help = "of its files keep the newest N" },
	{ SINK, 0, "diff", "BASE", take_text, TO(diff), .example = "--diff before.pb.gz",
	  .help = "compare with a saved profile: pmp folded svg flat" },
	{ SINK, 0, "sample-type", "NAME", take_text, TO(sample_type),
	  .example = "--sample-type alloc_space",
	  .help = "of saved profiles, what to count" },
	{ SINK, 0, "title", "TEXT", take_text, TO(title), .example = "--title 'db1, noon'",
	  .help = "svg: the title of the picture" },
	{ SINK, 0, "width", "PIXELS", take_number, TO(width), 300, WIDTH_LIMIT,
	  .example = "--width 1600", .help = "svg: how wide it is (1200)" },
	{ SINK, 0, "icicle", NULL, take_flag, TO(icicle),
	  .help = "svg: roots at the top" },
	{ SINK, 0, "by-state", NULL, take_flag, TO(by_state),
	  .help = "svg: colours by what threads do, not by module" },

	{ THREADS, 0, "by-thread", NULL, take_flag, TO(by_thread),
	  .help = "keep threads apart" },
	{ THREADS, 0, "threads", "RE", take_pattern, TO(threads),
	  .example = "--threads '^conn'", .help = "only threads whose name matches" },
	{ THREADS, 0, "not-threads", "RE", take_pattern, TO(not_threads),
	  .example = "--not-threads '^idle'", .help = "no threads whose name matches" },

	{ THREADS, 0, "by-group", NULL, take_flag, TO(by_group),
	  .help = "keep groups of threads apart (conn-N)" },
	{ THREADS, 0, "thread-group", "s/RE/TEXT/", take_filter, 0, PMP_FILTER_THREAD_GROUP,
	  .example = "--thread-group 's/^conn-.*/conn/'",
	  .help = "call threads so, group them; repeatable" },
	{ THREADS, 0, "no-fold-threads", NULL, take_flag, TO(no_fold_threads),
	  .help = "digits in names of threads tell groups apart" },
	{ THREADS, 0, "idle", "WHAT", take_word, TO(idle), .words = "show hide only",
	  .help = "threads that wait for work: show, hide, only" },
	{ THREADS, 0, "idle-wait", "RE", take_filter, 0, PMP_FILTER_IDLE_WAIT,
	  .example = "--idle-wait '^wait_for_job$'",
	  .help = "asleep below such a function is idle, too" },

	{ STACKS, 0, "focus", "RE", take_filter, 0, PMP_FILTER_FOCUS,
	  .example = "--focus '^do_command'",
	  .help = "only stacks with such a function; repeatable" },
	{ STACKS, 0, "ignore", "RE", take_filter, 0, PMP_FILTER_IGNORE,
	  .example = "--ignore '^ib_srv'", .help = "no stacks with such a function" },
	{ STACKS, 0, "skip-module", "RE", take_filter, 0, PMP_FILTER_SKIP_MODULE,
	  .example = "--skip-module '^libpthread'",
	  .help = "no stacks whose leaf is in such a module" },
	{ STACKS, 0, "trim-root", "RE", take_filter, 0, PMP_FILTER_TRIM_ROOT,
	  .example = "--trim-root '^do_command'",
	  .help = "begin stacks at the outermost such function" },

	{ FRAMES, 0, "hide", "RE", take_filter, 0, PMP_FILTER_HIDE,
	  .example = "--hide '^std::'", .help = "leave such functions out of stacks" },
	{ FRAMES, 0, "hide-module", "RE", take_filter, 0, PMP_FILTER_HIDE_MODULE,
	  .example = "--hide-module '^libc\\.so'",
	  .help = "leave functions of such modules out" },
	{ FRAMES, 0, "rename-frame", "s/RE/TEXT/", take_filter, 0, PMP_FILTER_RENAME,
	  .example = "--rename-frame 's/^(my_)+//'",
	  .help = "call functions so; repeatable, in order" },
	{ FRAMES, 0, "fold-recursion", NULL, take_flag, TO(fold_recursion),
	  .help = "show what calls itself at once only once" },
	{ FRAMES, 0, "lines", NULL, take_flag, TO(lines), .help = "show file and line" },
	{ FRAMES, 0, "module", NULL, take_flag, TO(module),
	  .help = "show the name of the module" },
	{ FRAMES, 0, "no-inline", NULL, take_flag, TO(no_inline),
	  .help = "leave inlined functions out" },
	{ FRAMES, 0, "no-demangle", NULL, take_flag, TO(no_demangle),
	  .help = "C++ and Rust names as they are stored" },

	{ SYMBOLS, 0, "no-symbols", NULL, take_flag, TO(no_symbols),
	  .help = "addresses only" },
	{ SYMBOLS, 0, "debug-dir", "DIR", take_text, TO(debug_dir),
	  .example = "--debug-dir /opt/debug:/usr/lib/debug",
	  .help = "where debug files are (/usr/lib/debug); DIR:DIR" },
	{ SYMBOLS, 0, "symfs", "DIR", take_text, TO(symfs),
	  .example = "--symfs /srv/db1",
	  .help = "where the files named by a saved profile are" },

	{ OTHER, 0, "stats", NULL, take_flag, TO(stats),
	  .help = "say at the end what sampling cost and what was lost" },
	{ OTHER, 0, "config", "FILE", take_text, TO(config_file),
	  .example = "--config pmp.conf", .help = "read options from FILE only" },
	{ OTHER, 0, "log", "FILE", take_text, TO(log), .example = "--log /var/log/pmp.log",
	  .help = "append messages and what was written to FILE" },
	{ OTHER, 0, "max-wall", "TIME", take_time, TO(max_wall), WALL_MIN, TIME_MAX,
	  .example = "--max-wall 5m", .help = "end after TIME, whatever hangs" },
	{ OTHER, 'q', "quiet", NULL, take_flag, TO(quiet), .help = "errors only" },
	{ OTHER, 'v', "verbose", NULL, take_more, TO(verbose),
	  .help = "say more; repeatable" },
	{ OTHER, 'h', "help", NULL, take_flag, TO(help), .help = "this text" },
	{ OTHER, 'V', "version", NULL, take_flag, TO(version), .help = "the version" },
	/* Without a help text: for the completion of shells only. */
	{ OTHER, 0, "list-options", NULL, take_flag, TO(list) },
};

#define ROW_COUNT (sizeof(rows) / sizeof(*rows))

static void *field(struct pmp_options *options, const struct row *row)
{
	return (char *)options + row->offset;
}

/* "option --count: '0' is not WHAT", and a right one as the hint. */
__attribute__((format(printf, 3, 4))) static bool
wrong(const struct row *row, const char *text, const char *format, ...)
{
	char what[256], hint[HINT_SIZE];
	va_list args;

	va_start(args, format);
	vsnprintf(what, sizeof(what), format, args);
	va_end(args);
	snprintf(hint, sizeof(hint), "for example %s", row->example ? row->example : "");
	pmp_message_print(row->example ? hint : NULL, "option --%s: '%.*s%s' is not %s",
			  row->name, SHOWN_MAX, text,
			  strlen(text) > SHOWN_MAX ? "..." : "", what);
	return false;
}

static bool no_memory(void)
{
	pmp_message_print(NULL, "not enough memory for the command line");
	return false;
}

/* An expression or a replacement that the library has refused. */
static bool bad_pattern(const struct row *row, const char *text,
			const struct pmp_error *err)
{
	if (err->code == PMP_ENOMEM)
		return no_memory();
	return wrong(row, text, "%s: %s",
		     strchr(row->value, '/') ? "a replacement" : "a regular expression",
		     err->message);
}

static bool take_flag(struct pmp_options *options, const struct row *row,
		      const char *text)
{
	(void)text;
	*(bool *)field(options, row) = true;
	return true;
}

static bool take_more(struct pmp_options *options, const struct row *row,
		      const char *text)
{
	(void)text;
	++*(unsigned *)field(options, row);
	return true;
}

static bool take_number(struct pmp_options *options, const struct row *row,
			const char *text)
{
	uint64_t number;

	if (!pmp_value_number(text, &number) || number < row->min || number > row->max)
		return wrong(row, text, "a whole number from %llu to %llu",
			     (unsigned long long)row->min, (unsigned long long)row->max);
	*(uint64_t *)field(options, row) = number;
	return true;
}

static bool take_time(struct pmp_options *options, const struct row *row,
		      const char *text)
{
	const bool in_us = row->min < 1000000;
	uint64_t time;

	if (!pmp_value_time(text, &time) || time < row->min || time > row->max)
		return wrong(row, text, "a time from %llu%s to a year",
			     (unsigned long long)(row->min / (in_us ? 1000 : 1000000)),
			     in_us ? "us" : "ms");
	*(uint64_t *)field(options, row) = time;
	return true;
}

static bool take_size(struct pmp_options *options, const struct row *row,
		      const char *text)
{
	uint64_t size;

	if (!pmp_value_size(text, &size) || size < row->min || size > row->max)
		return wrong(row, text, "a size from %lluM to %lluG",
			     (unsigned long long)row->min >> 20,
			     (unsigned long long)row->max >> 30);
	*(uint64_t *)field(options, row) = size;
	return true;
}

static bool take_frequency(struct pmp_options *options, const struct row *row,
			   const char *text)
{
	uint64_t interval;

	if (!pmp_value_frequency(text, &interval) || interval < row->min ||
	    interval > row->max)
		return wrong(row, text, "a number of snapshots a second, at most 10000");
	*(uint64_t *)field(options, row) = interval;
	return true;
}

static bool take_word(struct pmp_options *options, const struct row *row,
		      const char *text)
{
	const char *word = row->words;
	size_t length = strlen(text);

	for (unsigned i = 0; *word; i++) {
		size_t n = strcspn(word, " ");

		if (n == length && strncmp(word, text, n) == 0) {
			*(unsigned *)field(options, row) = i;
			return true;
		}
		word += n;
		word += strspn(word, " ");
	}
	return wrong(row, text, "one of: %s", row->words);
}

static bool take_text(struct pmp_options *options, const struct row *row,
		      const char *text)
{
	if (!*text)
		return wrong(row, text, "a value");
	*(const char **)field(options, row) = text;
	return true;
}

static bool take_pattern(struct pmp_options *options, const struct row *row,
			 const char *text)
{
	struct pmp_error err = { 0 };

	if (pmp_pattern_set(field(options, row), text, &err) == 0)
		return true;
	return bad_pattern(row, text, &err);
}

/* It is compiled where processes are looked for: here it is checked. */
static bool take_name(struct pmp_options *options, const struct row *row, const char *text)
{
	struct pmp_pattern pattern = { 0 };
	struct pmp_error err = { 0 };

	if (pmp_pattern_set(&pattern, text, &err))
		return bad_pattern(row, text, &err);
	pmp_pattern_free(&pattern);
	options->name = text;
	return true;
}

static bool take_output(struct pmp_options *options, const struct row *row,
			const char *text)
{
	if (!take_text(options, row, text))
		return false;
	if (strcmp(text, "-") == 0 || pmp_filename_check(text))
		return true;
	pmp_message_print("%p is the pid, %n the name, %t the time, %c a counter, %% a %",
			  "cannot understand the name '%s' of the output", text);
	return false;
}

static bool take_filter(struct pmp_options *options, const struct row *row,
			const char *text)
{
	struct pmp_error err = { 0 };

	if (!options->filter && pmp_filter_new(&options->filter, &err) < 0)
		return no_memory();
	if (pmp_filter_add(options->filter, (enum pmp_filter_kind)row->min, text, &err) == 0)
		return true;
	return bad_pattern(row, text, &err);
}

bool pmp_id_list_add(struct pmp_id_list *list, pid_t id)
{
	pid_t *ids;

	for (size_t i = 0; i < list->count; i++) {
		if (list->ids[i] == id)
			return true;
	}
	ids = reallocarray(list->ids, list->count + 1, sizeof(*ids));
	if (!ids)
		return false;
	list->ids = ids;
	list->ids[list->count++] = id;
	return true;
}

/* One id of length characters: 0, or -1 when it is none. */
static pid_t parse_id(const char *text, size_t length)
{
	char digits[16];
	uint64_t number;

	if (length == 0 || length >= sizeof(digits))
		return -1;
	memcpy(digits, text, length);
	digits[length] = '\0';
	if (!pmp_value_number(digits, &number) || number < 1 || number > PID_LIMIT)
		return -1;
	return (pid_t)number;
}

static bool needs_id(const struct row *row)
{
	pmp_message_print(NULL, "option -%c needs a %s id (is the program running?)",
			  row->letter, row->letter == 'p' ? "process" : "thread");
	return false;
}

static bool take_ids(struct pmp_options *options, const struct row *row, const char *text)
{
	const char *at = text;

	/* `pmp -p $(pidof nothing) --raw` takes the next option for the value. */
	if (!*text || (*text == '-' && !(text[1] >= '0' && text[1] <= '9')))
		return needs_id(row);
	for (;;) {
		size_t n = strcspn(at, ", \t\n");
		pid_t id = parse_id(at, n);

		if (id < 0)
			return wrong(row, text, "a %s id, a number from 1 to %d",
				     row->letter == 'p' ? "process" : "thread",
				     PID_LIMIT);
		if (!pmp_id_list_add(field(options, row), id))
			return no_memory();
		at += n;
		if (!*at)
			return true;
		at++;
	}
}

/* "raw folded pmp", for messages. */
static void list_formats(char *text, size_t size)
{
	size_t length = 0;

	text[0] = '\0';
	for (size_t i = 0; i < pmp_format_count() && length < size; i++)
		length += (size_t)snprintf(text + length, size - length, "%s%s",
					   i ? " " : "", pmp_format(i)->name);
}

static bool take_raw(struct pmp_options *options, const struct row *row, const char *text)
{
	(void)row;
	(void)text;
	options->format = pmp_format_find("raw");
	return true;
}

static bool take_format(struct pmp_options *options, const struct row *row,
			const char *text)
{
	char formats[256];

	options->format = pmp_format_find(text);
	if (options->format)
		return true;
	list_formats(formats, sizeof(formats));
	return wrong(row, text, "one of: %s", formats);
}

bool pmp_options_want(const struct pmp_options *options, pid_t tid, const char *name)
{
	bool listed = options->tids.count == 0;

	for (size_t i = 0; i < options->tids.count && !listed; i++)
		listed = options->tids.ids[i] == tid;
	if (!listed)
		return false;
	if (options->threads.filter && !pmp_pattern_matches(&options->threads, name))
		return false;
	return !pmp_pattern_matches(&options->not_threads, name);
}

/* An operand: a number is a process id, anything else a saved profile. */
static bool take_operand(struct pmp_options *options, const char *text)
{
	bool numeric = *text && strspn(text, "0123456789,") == strlen(text);
	const char **files;

	if (numeric)
		return take_ids(options, &rows[0], text);
	files = reallocarray(options->files, options->file_count + 1, sizeof(*files));
	if (!files)
		return no_memory();
	options->files = files;
	options->files[options->file_count++] = text;
	return true;
}

/* What getopt_long() needs, from the table. */
static void make_getopt(char *letters, struct option *names)
{
	*letters++ = '-'; /* operands in their order, as the value of OPERAND */
	*letters++ = ':'; /* a missing value is told from an unknown option */
	for (size_t i = 0; i < ROW_COUNT; i++) {
		names[i] = (struct option){ rows[i].name, rows[i].value != NULL, NULL,
					    LONG_BASE + (int)i };
		if (!rows[i].letter)
			continue;
		*letters++ = rows[i].letter;
		if (rows[i].value)
			*letters++ = ':';
	}
	*letters = '\0';
	names[ROW_COUNT] = (struct option){ 0 };
}

static const struct row *find_row(int key)
{
	if (key >= LONG_BASE && (size_t)(key - LONG_BASE) < ROW_COUNT)
		return &rows[key - LONG_BASE];
	for (size_t i = 0; i < ROW_COUNT; i++) {
		if (key && rows[i].letter == key)
			return &rows[i];
	}
	return NULL;
}

/* getopt_long() returned '?' (unknown) or ':' (no value). */
static bool bad_option(int key, char **argv)
{
	const struct row *row = find_row(optopt);

	if (key == ':' && row && row->take == take_ids)
		return needs_id(row);
	if (key == ':' && row)
		pmp_message_print(SEE_HELP, "option --%s needs a value: %s", row->name,
				  row->value);
	else if (row)
		pmp_message_print(SEE_HELP, "option --%s takes no value", row->name);
	else if (optopt)
		pmp_message_print(SEE_HELP, "unknown option -%c", optopt);
	else
		pmp_message_print(SEE_HELP, "unknown option %s", argv[optind - 1]);
	return false;
}

/* One vector of arguments; from_environment: options only. */
static bool parse_arguments(struct pmp_options *options, int argc, char **argv,
			    bool from_environment)
{
	char letters[2 * ROW_COUNT + 3];
	struct option names[ROW_COUNT + 1];
	int key;

	make_getopt(letters, names);
	optind = 0;
	opterr = 0;
	while ((key = getopt_long(argc, argv, letters, names, NULL)) != -1) {
		const struct row *row;

		if (key == '?' || key == ':')
			return bad_option(key, argv);
		if (key == OPERAND && from_environment)
			break;
		row = find_row(key);
		if (key == OPERAND ? !take_operand(options, optarg)
				   : row && !row->take(options, row, optarg))
			return false;
	}
	if (from_environment && (key == OPERAND || optind < argc)) {
		pmp_message_print(NULL, "PMP_OPTS may hold options only");
		return false;
	}
	if (optind < argc)
		options->command = argv + optind;
	return true;
}

/* The words of PMP_OPTS stand before those of the command line. */
static bool parse_environment(struct pmp_options *options, char *program)
{
	const char *line = getenv("PMP_OPTS"), *problem;
	char **argv;
	int count;
	bool parsed;

	if (!line || !*line)
		return true;
	options->words = pmp_value_split(line, &count, &problem);
	if (!options->words && !problem)
		return no_memory();
	if (!options->words) {
		pmp_message_print(NULL, "cannot understand PMP_OPTS: %s", problem);
		return false;
	}
	argv = calloc((size_t)count + 2, sizeof(*argv));
	if (!argv)
		return no_memory();
	argv[0] = program;
	memcpy(argv + 1, options->words, (size_t)count * sizeof(*argv));
	parsed = parse_arguments(options, count + 1, argv, true);
	free(argv);
	return parsed;
}

static bool ends_in(const char *path, const char *extension)
{
	size_t length = strlen(path), end = strlen(extension);

	return end && length > end && path[length - end - 1] == '.' &&
	       strcmp(path + length - end, extension) == 0;
}

/* The format that belongs to the extension of a file name, or NULL. Of several the
 * one that says most: x.speedscope.json is not just json. */
const struct pmp_format *pmp_options_format_of(const char *path)
{
	const char *base = strrchr(path, '/'), *dot = strrchr(base ? base : path, '.');
	const struct pmp_format *found = NULL;

	if (!dot)
		return NULL;
	if (strcmp(dot, ".txt") == 0)
		return pmp_format_find("raw");
	for (size_t i = 0; i < pmp_format_count(); i++) {
		const struct pmp_format *format = pmp_format(i);

		if (ends_in(path, format->extension) &&
		    (!found || strlen(format->extension) > strlen(found->extension)))
			found = format;
	}
	return found ? found : pmp_format_find(dot + 1);
}

static bool check_sink(struct pmp_options *options)
{
	char formats[256], hint[HINT_SIZE];

	if (options->output && strcmp(options->output, "-") == 0)
		options->output = NULL;
	else if (!options->output && !options->format)
		options->wants_screen = !options->command && !options->every &&
					!options->diff && isatty(STDOUT_FILENO);
	if (!options->format && options->output) {
		options->format = pmp_options_format_of(options->output);
		if (!options->format) {
			list_formats(formats, sizeof(formats));
			snprintf(hint, sizeof(hint), "name it with -f, one of: %s",
				 formats);
			pmp_message_print(hint,
					  "cannot tell the format from the name '%s'",
					  options->output);
			return false;
		}
	}
	if (!options->format)
		options->format = pmp_format_find(options->diff ? "pmp" : "raw");
	if (options->diff && !options->format->compares) {
		pmp_message_print("formats that do: pmp, folded, svg, flat; for pprof: go tool "
				  "pprof -diff_base BASE NEW",
				  "the format %s cannot compare profiles",
				  options->format->name);
		return false;
	}
	if (options->format->binary && !options->output && isatty(STDOUT_FILENO)) {
		snprintf(hint, sizeof(hint), "write it to a file: -o profile.%s",
			 options->format->extension);
		pmp_message_print(hint, "the format %s is not for a terminal",
				  options->format->name);
		return false;
	}
	return true;
}

/* --every and --keep want files that can be told apart. */
static bool check_series(const struct pmp_options *options)
{
	const char *base = options->output ? pmp_filename_base(options->output) : "";

	if (options->every && options->file_count) {
		pmp_message_print(SEE_HELP, "--every is for processes, not for saved profiles");
		return false;
	}
	if (options->keep && !pmp_filename_has(base, 't') && !pmp_filename_has(base, 'c')) {
		pmp_message_print("for example -o '/var/log/pmp/%n-%t.pb.gz'",
				  "--keep needs a name with a time (%%t) or a counter (%%c)");
		return false;
	}
	return true;
}

/* What the flags say goes to the filter, too. */
static bool set_filter(struct pmp_options *options)
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
		return no_memory();
	pmp_filter_set(options->filter, &flags);
	options->by_group |= *pmp_filter_text(options->filter, PMP_FILTER_THREAD_GROUP);
	return true;
}

static bool check_source(const struct pmp_options *options)
{
	bool processes = options->pids.count || options->tids.count || options->name;
	int sources = processes + (options->command != NULL) + (options->file_count > 0);

	if (sources > 1) {
		pmp_message_print(SEE_HELP, "give either processes, a command or saved "
				  "profiles, not several of them");
		return false;
	}
	if (options->children && options->tids.count) {
		pmp_message_print(SEE_HELP, "--children is for processes, -t for threads");
		return false;
	}
	if (sources == 0) {
		pmp_message_print(
			"pmp -p PID, pmp --name REGEX, pmp -- COMMAND or pmp FILE; see "
			"pmp --help",
			"nothing to profile: no process is given");
		return false;
	}
	return true;
}

/* What a saved profile takes is bounded by the size of its file. */
static void set_memory(struct pmp_options *options)
{
	if (!options->max_memory && !options->file_count)
		options->max_memory = MEMORY_DEFAULT;
}

static void set_length(struct pmp_options *options)
{
	if (options->count || options->duration || options->command ||
	    options->wants_screen || options->every)
		return;
	if (options->format->once)
		options->count = 1;
	else
		options->duration = DURATION_DEFAULT;
}

/* ---- configuration ----------------------------------------------------------- */

struct settling {
	struct pmp_options *options;
	const struct pmp_target_names *names; /* NULL: without sections */
};

/* Not what is sampled, what ends pmp at once, and where options come from. */
static bool is_for_config(const struct row *row)
{
	return row->group != SOURCE && row->help && row->offset != offsetof(struct pmp_options, help) &&
	       row->offset != offsetof(struct pmp_options, version) &&
	       row->offset != offsetof(struct pmp_options, config_file);
}

static const struct row *find_name(const char *name)
{
	for (size_t i = 0; i < ROW_COUNT; i++) {
		if (strcmp(rows[i].name, name) == 0)
			return &rows[i];
	}
	return NULL;
}

/* Of sections that are not meant as well: the value is taken on trial. */
static bool is_right(const struct row *row, const char *value)
{
	struct pmp_options trial = { 0 };
	bool right = row->take(&trial, row, value);

	pmp_options_free(&trial);
	return right;
}

static bool check_configured(void *arg, const char *name, const char *value)
{
	const struct row *row = find_name(name);

	(void)arg;
	if (!row)
		pmp_message_print(SEE_HELP, "unknown option '%s'", name);
	else if (!is_for_config(row))
		pmp_message_print(NULL, "'%s' is for the command line only", name);
	else if (row->value && (!value || !*value))
		pmp_message_print(SEE_HELP, "'%s' needs a value: %s", name, row->value);
	else if (!row->value && value)
		pmp_message_print(SEE_HELP, "'%s' takes no value", name);
	else
		return is_right(row, value);
	return false;
}

static bool take_configured(void *arg, const char *name, const char *value)
{
	const struct settling *settling = arg;
	const struct row *row = find_name(name);

	return row && row->take(settling->options, row, value);
}

static int compare_ids(const void *a, const void *b)
{
	pid_t left = *(const pid_t *)a, right = *(const pid_t *)b;

	return (left > right) - (left < right);
}

/* Whole names: the command's base name, or what --name would find. */
static bool section_applies(void *arg, const char *regex, bool *result)
{
	const struct pmp_target_names *names = ((const struct settling *)arg)->names;
	struct pmp_pattern whole = { 0 };
	struct pmp_error err = { 0 };
	char text[PMP_CONFIG_WHOLE_SIZE];
	pid_t *found = NULL;
	int count;

	*result = false;
	pmp_config_whole(regex, text);
	if (names->command) {
		if (pmp_pattern_set(&whole, text, &err))
			return no_memory();
		*result = pmp_pattern_matches(&whole, names->command);
		pmp_pattern_free(&whole);
		return true;
	}
	count = pmp_find_processes(text, &found, &err);
	if (count < 0) {
		pmp_message_error(&err);
		return false;
	}
	*result = names->pids->count > 0 && count > 0;
	for (size_t i = 0; i < names->pids->count && *result; i++)
		*result = bsearch(&names->pids->ids[i], found, (size_t)count,
				  sizeof(*found), compare_ids) != NULL;
	free(found);
	return true;
}

static void set_defaults(struct pmp_options *options)
{
	*options = (struct pmp_options){
		.interval = INTERVAL_DEFAULT,
		.max_stop = MAX_STOP_DEFAULT,
		.max_cpu = MAX_CPU_DEFAULT,
	};
	options->debug = getenv("PMP_DEBUG");
	if (options->debug && !*options->debug)
		options->debug = NULL;
}

/* PMP_OPTS and the command line. */
static bool parse_both(struct pmp_options *options, int argc, char **argv)
{
	static char no_name[] = "pmp";

	return parse_environment(options, argc > 0 ? argv[0] : no_name) &&
	       (argc == 0 || parse_arguments(options, argc, argv, false));
}

/* Everything anew, in its order; names NULL: without sections. */
static bool parse_all(struct pmp_options *options, int argc, char **argv,
		      const struct pmp_target_names *names)
{
	struct settling settling = { options, names };
	const struct pmp_config_user user = {
		.check = check_configured,
		.take = take_configured,
		.applies = names ? section_applies : NULL,
		.arg = &settling,
	};
	struct pmp_config *config = options->config;
	const struct pmp_format *format;
	const char *output;

	options->config = NULL;
	pmp_options_free(options);
	set_defaults(options);
	options->config = config;
	if (!pmp_config_apply(config, &user))
		return false;
	/* A file on the command line chooses its format itself, if it can. */
	format = options->format;
	output = options->output;
	options->format = NULL;
	options->output = NULL;
	if (!parse_both(options, argc, argv))
		return false;
	if (!options->format && options->output)
		options->format = pmp_options_format_of(options->output);
	if (!options->format)
		options->format = format;
	if (!options->output)
		options->output = output;
	return true;
}

static int check(struct pmp_options *options)
{
	if (!check_sink(options) || !check_series(options) || !set_filter(options))
		return PMP_EXIT_USAGE;
	set_memory(options);
	set_length(options);
	return 0;
}

int pmp_options_parse(struct pmp_options *options, int argc, char **argv)
{
	int status;

	set_defaults(options);
	if (!parse_both(options, argc, argv))
		return PMP_EXIT_USAGE;
	if (options->help || options->version || options->list)
		return 0;
	if (!check_source(options))
		return PMP_EXIT_USAGE;
	status = pmp_config_read(&options->config, options->config_file);
	if (status)
		return status;
	if (!parse_all(options, argc, argv, NULL))
		return PMP_EXIT_USAGE;
	return pmp_options_unsettled(options) ? 0 : check(options);
}

bool pmp_options_unsettled(const struct pmp_options *options)
{
	return pmp_config_has_sections(options->config) && !options->file_count;
}

int pmp_options_settle(struct pmp_options *options, int argc, char **argv,
		       const struct pmp_target_names *names)
{
	return parse_all(options, argc, argv, names) ? check(options) : PMP_EXIT_USAGE;
}

void pmp_options_free(struct pmp_options *options)
{
	pmp_pattern_free(&options->threads);
	pmp_pattern_free(&options->not_threads);
	pmp_filter_free(options->filter);
	free(options->pids.ids);
	free(options->tids.ids);
	pmp_config_free(options->config);
	free(options->words);
	free(options->files);
}

static void help_row(const struct row *row)
{
	char text[64];
	int n;

	n = snprintf(text, sizeof(text), "  %c%c%c --%s%s%s", row->letter ? '-' : ' ',
		     row->letter ? row->letter : ' ', row->letter ? ',' : ' ', row->name,
		     row->value ? " " : "", row->value ? row->value : "");
	printf("%-*s%s%s\n", HELP_COLUMN, text, n >= HELP_COLUMN ? " " : "", row->help);
}

int pmp_options_help(void)
{
	puts("pmp: what every thread of a process is doing, running or blocked\n\n"
	     "  pmp [OPTIONS] PID...              pmp [OPTIONS] --name REGEX\n"
	     "  pmp [OPTIONS] -- COMMAND [ARG]... pmp [OPTIONS] FILE...");
	for (int group = 0; group < GROUP_COUNT; group++) {
		printf("\n%s:\n", group_titles[group]);
		for (size_t i = 0; i < ROW_COUNT; i++) {
			if ((int)rows[i].group == group && rows[i].help)
				help_row(&rows[i]);
		}
	}
	puts("\nFormats:");
	for (size_t i = 0; i < pmp_format_count(); i++)
		printf("  %-*s%s\n", HELP_COLUMN - 2, pmp_format(i)->name,
		       pmp_format(i)->help);
	puts("\nOn a terminal, without a format: a live view until q; ? there is its help.\n"
	     "Length: --raw takes one snapshot, other formats 10 s of them, -- COMMAND goes on\n"
	     "until the command ends. PMP_OPTS holds options to put before these.");
	if (fflush(stdout) == 0 && !ferror(stdout))
		return 0;
	pmp_message_print(NULL, "cannot write standard output: %s", strerror(errno));
	return PMP_EXIT_OUTPUT;
}

/* "-f	--format	FORMAT	raw folded pmp	format of the output": what is not there is -. */
int pmp_options_list(void)
{
	char formats[256];

	list_formats(formats, sizeof(formats));
	for (size_t i = 0; i < ROW_COUNT; i++) {
		const struct row *row = &rows[i];
		const char *words = row->take == take_format ? formats : row->words;
		const char letter[] = { '-', row->letter, '\0' };

		if (row->help)
			printf("%s\t--%s\t%s\t%s\t%s\n", letter, row->name,
			       row->value ? row->value : "-", words ? words : "-",
			       row->help);
	}
	return fflush(stdout) == 0 ? 0 : PMP_EXIT_OUTPUT;
}

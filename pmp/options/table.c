/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The command line. The row of an option in the table defines how it is spelled, what its
 * value must be, where the value is stored, and its help. check.c checks options against
 * each other.
 */
#include "options/table.h"

#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "options/config.h"
#include "options/user.h"
#include "options/value.h"
#include "say/message.h"
#include "serve/listen.h"
#include "options/filename.h"

#define PID_LIMIT 4194304 /* the kernel's PID_MAX_LIMIT */
#define COUNT_LIMIT 1000000000
#define FRAMES_LIMIT 65536
#define WIDTH_LIMIT 100000
#define INTERVAL_MIN UINT64_C(100000) /* 100 us, 10000 Hz */
#define EVERY_MIN UINT64_C(100000000) /* 100 ms */
#define HISTORY_MIN UINT64_C(1000000000)
#define WALL_MIN UINT64_C(1000000000)
#define TIME_MAX UINT64_C(31536000000000000) /* 1 year */
#define MEMORY_MIN (UINT64_C(16) << 20)
#define MEMORY_MAX (UINT64_C(1) << 40)
#define HEAP_RATE_MIN (UINT64_C(4) << 10)
#define HEAP_RATE_MAX (UINT64_C(1) << 30)
#define HEAP_STACK_MIN (UINT64_C(4) << 10)
#define HEAP_STACK_MAX (UINT64_C(1) << 20)
#define CPU_LIMIT 100000 /* percent: a thousand CPUs */
#define HINT_SIZE 512
#define SHOWN_MAX 256 /* characters of a wrong value in a message */

enum { LONG_BASE = 256, OPERAND = 1 };

enum group {
	SOURCE,
	SAMPLING,
	MEMORY,
	SINK,
	THREADS,
	WAITS,
	STACKS,
	FRAMES,
	SYMBOLS,
	OTHER,
	GROUP_COUNT
};

static const char *const group_titles[GROUP_COUNT] = {
	"Source", "Sampling", "Memory", "Output",  "Threads",
	"Waits",  "Stacks",   "Frames", "Symbols", "Other",
};

static option_taker take_flag, take_more, take_number, take_time, take_size,
	take_frequency, take_word, take_text, take_name, take_user, take_output,
	take_pattern, take_ids, take_raw, take_locks, take_format, take_filter,
	take_serve, take_host, take_heap;

#define TO(field) .offset = offsetof(struct options, field)

static const struct option_row rows[] = {
	{ SOURCE, 'p', "pid", "PID[,PID]", take_ids, TO(pids),
	  .example = "-p 4100, or by name --name '^mariadbd$'",
	  .help = "processes, by id; -p may be left out" },
	{ SOURCE, 't', "tid", "TID[,TID]", take_ids, TO(tids), .example = "-t 4102",
	  .help = "only these threads" },
	{ SOURCE, 0, "name", "RE", take_name, TO(name), .example = "--name '^mariadbd$'",
	  .help = "processes, by name or by file name of the program" },
	{ SOURCE, 0, "user", "NAME|UID", take_user, 0, .example = "--user mysql",
	  .help = "with --name: only processes of this user" },
	{ SOURCE, 0, "children", NULL, take_flag, TO(children),
	  .help = "also their children, now and later" },

	{ SAMPLING, 'n', "count", "N", take_number, TO(count), 1, COUNT_LIMIT,
	  .example = "-n 100", .help = "take N snapshots" },
	{ SAMPLING, 'd', "duration", "TIME", take_time, TO(duration), INTERVAL_MIN,
	  TIME_MAX, .example = "-d 10, -d 500ms or -d 1m",
	  .help = "sample for TIME (seconds; 500ms, 1m)" },
	{ SAMPLING, 'i', "interval", "TIME", take_time, TO(interval), INTERVAL_MIN,
	  TIME_MAX, .example = "-i 1, -i 10ms or -i 1m",
	  .help = "time between snapshots (0.1), varied by up to 10%" },
	{ SAMPLING, 'F', "frequency", "HZ", take_frequency, TO(interval), INTERVAL_MIN,
	  TIME_MAX, .example = "-F 10", .help = "snapshots a second (10)" },
	{ SAMPLING, 0, "stop", "HOW", take_word, TO(stop), .words = "auto all never",
	  .help = "auto (each by itself), all (together), never" },
	{ SAMPLING, 0, "unwind", "HOW", take_word, TO(unwind), .words = "auto cfi fp",
	  .help = "auto, cfi (.eh_frame) or fp (frame pointers)" },
	{ SAMPLING, 0, "no-restart", NULL, take_flag, TO(no_restart),
	  .help = "do not restart calls that a stop has interrupted" },
	{ SAMPLING, 0, "max-frames", "N", take_number, TO(max_frames), 1, FRAMES_LIMIT,
	  .example = "--max-frames 512", .help = "at most N frames of a stack (512)" },
	{ SAMPLING, 0, "max-stop", "TIME", take_time, TO(max_stop), 1000, TIME_MAX,
	  .example = "--max-stop 20ms",
	  .help = "lower the rate if stops take longer (20ms)" },
	{ SAMPLING, 0, "max-cpu", "PERCENT", take_number, TO(max_cpu), 0, CPU_LIMIT,
	  .example = "--max-cpu 5",
	  .help = "lower the rate if pmp uses more of a processor (5)" },
	{ SAMPLING, 0, "max-memory", "SIZE", take_size, TO(max_memory), MEMORY_MIN,
	  MEMORY_MAX, .example = "--max-memory 256M or --max-memory 2G",
	  .help = "memory for stacks; the rarest are evicted (256M)" },

	{ MEMORY, 0, "heap", "BYTES", take_heap, 0, HEAP_RATE_MIN, HEAP_RATE_MAX,
	  .may_lack_value = true, .words = "exact",
	  .example = "--heap, --heap=64K or --heap=exact",
	  .help = "who allocates: a sample every BYTES (512K), or exact" },
	{ MEMORY, 0, "heap-age", "TIME", take_time, TO(heap.age), 1000000, TIME_MAX,
	  .example = "--heap-age 1m",
	  .help = "count as live only blocks at least TIME old" },
	{ MEMORY, 0, "heap-only", NULL, take_flag, TO(heap.only),
	  .help = "record the heap only, no samples of threads" },
	{ MEMORY, 0, "heap-mmap", NULL, take_flag, TO(heap.mmap),
	  .help = "also what the program itself takes by mmap(), brk()" },
	{ MEMORY, 0, "heap-stack", "SIZE", take_size, TO(heap.stack), HEAP_STACK_MIN,
	  HEAP_STACK_MAX, .example = "--heap-stack 256K",
	  .help = "copy at most SIZE of a stack (64K)" },
	{ MEMORY, 0, "types", "HOW", take_word, TO(types), .words = "yes no",
	  .help = "-f objects: yes, by class; no, by size only" },

	{ SINK, 0, "raw", NULL, take_raw, 0,
	  .help = "stacks as gdb prints them (default if no terminal)" },
	{ SINK, 0, "locks", "check", take_locks, 0, .may_lack_value = true,
	  .words = "check", .example = "--locks, or --locks=check",
	  .help = "who waits for which lock, who holds it; deadlocks" },
	{ SINK, 'f', "format", "FORMAT", take_format, 0,
	  .help = "format of the output (see below)" },
	{ SINK, 'o', "output", "FILE", take_output, TO(output),
	  .example = "-o profile.folded",
	  .help = "write to FILE; its extension picks the format" },
	{ SINK, 0, "every", "TIME", take_time, TO(every), EVERY_MIN, TIME_MAX,
	  .example = "--every 10m",
	  .help = "write a new file every TIME, until stopped" },
	{ SINK, 0, "keep", "N", take_number, TO(keep), 1, COUNT_LIMIT,
	  .example = "--keep 144", .help = "keep only the newest N of these files" },
	{ SINK, 0, "serve", "ADDR", take_serve, 0, .may_lack_value = true,
	  .example = "--serve, --serve=8080 or --serve=unix:/run/pmp.sock",
	  .help = "serve profiles over HTTP (at 127.0.0.1:7670)" },
	{ SINK, 0, "serve-token", "FILE", take_text, TO(serve_token),
	  .example = "--serve-token /etc/pmp.token",
	  .help = "its first line is the token that clients need" },
	{ SINK, 0, "serve-host", "NAME", take_host, 0, .example = "--serve-host db1.lan",
	  .help = "another name by which clients may reach it; repeatable" },
	{ SINK, 0, "serve-no-cmdline", NULL, take_flag, TO(serve_no_cmdline),
	  .help = "do not serve arguments of command lines" },
	{ SINK, 0, "on-demand", NULL, take_flag, TO(on_demand),
	  .help = "serve: sample only while a client waits; no past" },
	{ SINK, 0, "history", "TIME", take_time, TO(history), HISTORY_MIN, TIME_MAX,
	  .example = "--history 30m",
	  .help = "how much of the past is kept for clients (10m)" },
	{ SINK, 0, "diff", "BASE", take_text, TO(diff), .example = "--diff before.pb.gz",
	  .help = "compare with a saved profile (pmp folded svg html flat)" },
	{ SINK, 0, "sample-type", "NAME", take_text, TO(sample_type),
	  .example = "--sample-type alloc_space",
	  .help = "which value of a saved profile to count (cpu, ...)" },
	{ SINK, 0, "title", "TEXT", take_text, TO(title),
	  .example = "--title 'db1, noon'", .help = "svg, html: the title" },
	{ SINK, 0, "width", "PIXELS", take_number, TO(width), 300, WIDTH_LIMIT,
	  .example = "--width 1600", .help = "svg: its width (1200)" },
	{ SINK, 0, "icicle", NULL, take_flag, TO(icicle),
	  .help = "svg: roots at the top" },
	{ SINK, 0, "by-state", NULL, take_flag, TO(by_state),
	  .help = "svg: colour by what threads do, not by module" },

	{ THREADS, 0, "by-thread", NULL, take_flag, TO(by_thread),
	  .help = "keep threads apart" },
	{ THREADS, 0, "threads", "RE", take_pattern, TO(threads),
	  .example = "--threads '^conn'", .help = "only threads whose name matches" },
	{ THREADS, 0, "not-threads", "RE", take_pattern, TO(not_threads),
	  .example = "--not-threads '^idle'", .help = "no threads whose name matches" },

	{ THREADS, 0, "by-group", NULL, take_flag, TO(by_group),
	  .help = "keep groups of threads apart (conn-N)" },
	{ THREADS, 0, "thread-group", "s/RE/TEXT/", take_filter, 0,
	  PMP_FILTER_THREAD_GROUP, .example = "--thread-group 's/^conn-.*/conn/'",
	  .help = "rename threads and group them; repeatable" },
	{ THREADS, 0, "no-fold-threads", NULL, take_flag, TO(no_fold_threads),
	  .help = "keep the digits in names of groups" },
	{ THREADS, 0, "idle", "WHAT", take_word, TO(idle), .words = "show hide only",
	  .help = "threads that wait for work: show, hide or only" },
	{ THREADS, 0, "idle-wait", "RE", take_filter, 0, PMP_FILTER_IDLE_WAIT,
	  .example = "--idle-wait '^wait_for_job$'",
	  .help = "also idle: threads asleep with RE on the stack" },

	{ WAITS, 0, "peers", NULL, take_flag, TO(peers),
	  .help = "look for the processes that threads wait for" },
	{ WAITS, 0, "lock-meaning", "s/RE/TEXT/", take_filter, 0, PMP_FILTER_LOCK_MEANING,
	  .example = "--lock-meaning 's/^job_wait$/job queue/'",
	  .help = "call what functions matching RE wait for TEXT" },
	{ WAITS, 0, "waits", NULL, take_flag, TO(waits),
	  .help = "folded: which lock a stack waits for, and who holds it" },
	{ WAITS, 0, "by-lock", NULL, take_flag, TO(by_lock),
	  .help = "svg: colour by the lock that threads wait for" },

	{ STACKS, 0, "focus", "RE", take_filter, 0, PMP_FILTER_FOCUS,
	  .example = "--focus '^do_command'",
	  .help = "stacks with a function matching RE; repeatable" },
	{ STACKS, 0, "ignore", "RE", take_filter, 0, PMP_FILTER_IGNORE,
	  .example = "--ignore '^ib_srv'",
	  .help = "no stacks with a function matching RE" },
	{ STACKS, 0, "skip-module", "RE", take_filter, 0, PMP_FILTER_SKIP_MODULE,
	  .example = "--skip-module '^libpthread'",
	  .help = "no stacks whose leaf is in a module matching RE" },
	{ STACKS, 0, "trim-root", "RE", take_filter, 0, PMP_FILTER_TRIM_ROOT,
	  .example = "--trim-root '^do_command'",
	  .help = "start stacks at the outermost function matching RE" },

	{ FRAMES, 0, "hide", "RE", take_filter, 0, PMP_FILTER_HIDE,
	  .example = "--hide '^std::'", .help = "leave out functions matching RE" },
	{ FRAMES, 0, "hide-module", "RE", take_filter, 0, PMP_FILTER_HIDE_MODULE,
	  .example = "--hide-module '^libc\\.so'",
	  .help = "leave out functions of modules matching RE" },
	{ FRAMES, 0, "rename-frame", "s/RE/TEXT/", take_filter, 0, PMP_FILTER_RENAME,
	  .example = "--rename-frame 's/^(my_)+//'",
	  .help = "rename functions; repeatable" },
	{ FRAMES, 0, "fold-recursion", NULL, take_flag, TO(fold_recursion),
	  .help = "collapse recursion" },
	{ FRAMES, 0, "lines", NULL, take_flag, TO(lines), .help = "show file and line" },
	{ FRAMES, 0, "module", NULL, take_flag, TO(module),
	  .help = "show the name of the module" },
	{ FRAMES, 0, "no-inline", NULL, take_flag, TO(no_inline),
	  .help = "leave inlined functions out" },
	{ FRAMES, 0, "kernel", NULL, take_flag, TO(kernel),
	  .help = "show the kernel's functions in which threads wait" },
	{ FRAMES, 0, "no-demangle", NULL, take_flag, TO(no_demangle),
	  .help = "show C++ and Rust names as they are stored" },

	{ SYMBOLS, 0, "no-symbols", NULL, take_flag, TO(no_symbols),
	  .help = "addresses only" },
	{ SYMBOLS, 0, "debug-dir", "DIR", take_text, TO(debug_dir),
	  .example = "--debug-dir /opt/debug:/usr/lib/debug",
	  .help = "where debug files are (/usr/lib/debug); DIR:DIR" },
	{ SYMBOLS, 0, "symfs", "DIR", take_text, TO(symfs), .example = "--symfs /srv/db1",
	  .help = "where to find the files named by a saved profile or a core" },
	{ SYMBOLS, 0, "exe", "FILE", take_text, TO(exe), .example = "--exe ./mariadbd",
	  .help = "the program of a core, if it is no longer where it was" },
	{ SYMBOLS, 0, "debuginfod", NULL, take_flag, TO(debuginfod),
	  .help = "fetch debug files from $DEBUGINFOD_URLS" },

	{ OTHER, 0, "color", "WHEN", take_word, TO(color), .words = "auto always never",
	  .help = "auto (on terminals), always, never" },
	{ OTHER, 0, "sort", "COLUMN", take_word, TO(sort),
	  .words = "usual self total samples cpu tid name state",
	  .help = "order of tables and of the live view" },
	{ OTHER, 0, "no-sandbox", NULL, take_flag, TO(no_sandbox),
	  .help = "read files in pmp itself, not in processes without rights" },
	{ OTHER, 0, "stats", NULL, take_flag, TO(stats),
	  .help = "print what sampling cost and what was lost" },
	{ OTHER, 0, "config", "FILE", take_text, TO(config_file),
	  .example = "--config pmp.conf", .help = "read options from FILE only" },
	{ OTHER, 0, "log", "FILE", take_text, TO(log),
	  .example = "--log /var/log/pmp.log",
	  .help = "append messages, and a line for each file, to FILE" },
	{ OTHER, 0, "max-wall", "TIME", take_time, TO(max_wall), WALL_MIN, TIME_MAX,
	  .example = "--max-wall 5m",
	  .help = "give up after TIME, even if something hangs" },
	{ OTHER, 'q', "quiet", NULL, take_flag, TO(quiet), .help = "errors only" },
	{ OTHER, 'v', "verbose", NULL, take_more, TO(verbose),
	  .help = "print more; repeatable" },
	{ OTHER, 'h', "help", NULL, take_flag, TO(help), .help = "this text" },
	{ OTHER, 'V', "version", NULL, take_flag, TO(version), .help = "the version" },
	/* No help text: for shell completion only. */
	{ OTHER, 0, "list-options", NULL, take_flag, TO(list) },
};

#define ROW_COUNT (sizeof(rows) / sizeof(*rows))
_Static_assert(ROW_COUNT <= PMP_OPTIONS_MAX, "each row says where it was given");

static void *field(struct options *options, const struct option_row *row)
{
	return (char *)options + row->offset;
}

/* Print "option --count: '0' is not WHAT", with a valid example as the hint. */
__attribute__((format(printf, 3, 4))) static bool
wrong(const struct option_row *row, const char *text, const char *format, ...)
{
	char what[256], hint[HINT_SIZE];
	va_list args;

	va_start(args, format);
	vsnprintf(what, sizeof(what), format, args);
	va_end(args);
	snprintf(hint, sizeof(hint), "for example %s", row->example ? row->example : "");
	message_print(row->example ? hint : NULL, "option --%s: '%.*s%s' is not %s",
		      row->name, SHOWN_MAX, text, strlen(text) > SHOWN_MAX ? "..." : "",
		      what);
	return false;
}

static bool lacked_memory;

bool options_no_memory(void)
{
	lacked_memory = true;
	message_print(NULL, "not enough memory for the command line");
	return false;
}

int options_status(void)
{
	return lacked_memory ? PMP_EXIT_FAILED : PMP_EXIT_USAGE;
}

/* The library has rejected an expression or a replacement. */
static bool bad_pattern(const struct option_row *row, const char *text,
			const struct pmp_error *err)
{
	if (err->code == PMP_ENOMEM)
		return options_no_memory();
	return wrong(row, text, "%s: %s",
		     strchr(row->value, '/') ? "a replacement" : "a regular expression",
		     err->message);
}

static bool take_flag(struct options *options, const struct option_row *row,
		      const char *text)
{
	(void)text;
	*(bool *)field(options, row) = true;
	return true;
}

static bool take_more(struct options *options, const struct option_row *row,
		      const char *text)
{
	(void)text;
	++*(unsigned *)field(options, row);
	return true;
}

static bool take_number(struct options *options, const struct option_row *row,
			const char *text)
{
	uint64_t number;

	if (!value_number(text, &number) || number < row->min || number > row->max)
		return wrong(row, text, "a whole number from %llu to %llu",
			     (unsigned long long)row->min, (unsigned long long)row->max);
	*(uint64_t *)field(options, row) = number;
	return true;
}

static bool take_time(struct options *options, const struct option_row *row,
		      const char *text)
{
	uint64_t time, unit = row->min < 1000000 ? 1000 : 1000000;
	const char *name = unit == 1000 ? "us" : "ms";

	if (row->min % 1000000000 == 0) {
		unit = 1000000000;
		name = "s";
	}
	if (!value_time(text, &time) || time < row->min || time > row->max)
		return wrong(row, text, "a time from %llu%s to a year",
			     (unsigned long long)(row->min / unit), name);
	*(uint64_t *)field(options, row) = time;
	return true;
}

/* "64K" */
static const char *size_text(uint64_t size, char *text, size_t room)
{
	static const char units[] = "KMG";
	size_t unit = 0;

	for (size >>= 10; size % 1024 == 0 && unit < 2; size >>= 10)
		unit++;
	snprintf(text, room, "%llu%c", (unsigned long long)size, units[unit]);
	return text;
}

static bool wrong_size(const struct option_row *row, const char *text,
		       const char *or_what)
{
	char min[32], max[32];

	return wrong(row, text, "a size from %s to %s%s",
		     size_text(row->min, min, sizeof(min)),
		     size_text(row->max, max, sizeof(max)), or_what);
}

static bool take_size(struct options *options, const struct option_row *row,
		      const char *text)
{
	uint64_t size;

	if (!value_size(text, &size) || size < row->min || size > row->max)
		return wrong_size(row, text, "");
	*(uint64_t *)field(options, row) = size;
	return true;
}

static bool take_heap(struct options *options, const struct option_row *row,
		      const char *text)
{
	uint64_t rate = 0;

	options->heap.on = true;
	options->heap.exact = text && strcmp(text, "exact") == 0;
	if (text && !options->heap.exact &&
	    (!value_size(text, &rate) || rate < row->min || rate > row->max))
		return wrong_size(row, text, ", or exact");
	options->heap.rate = rate;
	return true;
}

static bool take_frequency(struct options *options, const struct option_row *row,
			   const char *text)
{
	uint64_t interval;

	if (!value_frequency(text, &interval) || interval < row->min ||
	    interval > row->max)
		return wrong(row, text, "a number of snapshots a second, at most 10000");
	*(uint64_t *)field(options, row) = interval;
	return true;
}

static bool take_word(struct options *options, const struct option_row *row,
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

static bool take_text(struct options *options, const struct option_row *row,
		      const char *text)
{
	if (!*text)
		return wrong(row, text, "a value");
	*(const char **)field(options, row) = text;
	return true;
}

static bool take_pattern(struct options *options, const struct option_row *row,
			 const char *text)
{
	struct pmp_error err = { 0 };

	if (pattern_set(field(options, row), text, &err) == 0)
		return true;
	return bad_pattern(row, text, &err);
}

/* Only checked here; it is compiled where processes are looked for. */
static bool take_name(struct options *options, const struct option_row *row,
		      const char *text)
{
	struct pattern pattern = { 0 };
	struct pmp_error err = { 0 };

	if (pattern_set(&pattern, text, &err))
		return bad_pattern(row, text, &err);
	pattern_free(&pattern);
	options->name = text;
	return true;
}

static bool take_user(struct options *options, const struct option_row *row,
		      const char *text)
{
	if (!user_find(text, &options->user))
		return wrong(row, text,
			     "a user: neither a name in /etc/passwd nor an id");
	options->has_user = true;
	return true;
}

static bool take_output(struct options *options, const struct option_row *row,
			const char *text)
{
	if (!take_text(options, row, text))
		return false;
	if (strcmp(text, "-") == 0 || filename_check(text))
		return true;
	message_print(PMP_FILENAME_HINT, "cannot understand the name '%s' of the output",
		      text);
	return false;
}

static bool take_filter(struct options *options, const struct option_row *row,
			const char *text)
{
	struct pmp_error err = { 0 };

	if (!options->filter && pmp_filter_new(&options->filter, &err) < 0)
		return options_no_memory();
	if (pmp_filter_add(options->filter, (enum pmp_filter_kind)row->min, text, &err) ==
	    0)
		return true;
	return bad_pattern(row, text, &err);
}

bool id_list_add(struct id_list *list, pid_t id)
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

/* An id of length characters; -1: invalid. */
static pid_t parse_id(const char *text, size_t length)
{
	char digits[16];
	uint64_t number;

	if (length == 0 || length >= sizeof(digits))
		return -1;
	memcpy(digits, text, length);
	digits[length] = '\0';
	if (!value_number(digits, &number) || number < 1 || number > PID_LIMIT)
		return -1;
	return (pid_t)number;
}

static bool needs_id(const struct option_row *row)
{
	message_print(NULL, "option -%c needs a %s id (is the program running?)",
		      row->letter, row->letter == 'p' ? "process" : "thread");
	return false;
}

static bool take_ids(struct options *options, const struct option_row *row,
		     const char *text)
{
	const char *at = text;

	/* In `pmp -p $(pidof nothing) --raw` the next option would be the value. */
	if (!*text || (*text == '-' && !(text[1] >= '0' && text[1] <= '9')))
		return needs_id(row);
	for (;;) {
		size_t n = strcspn(at, ", \t\n");
		pid_t id = parse_id(at, n);

		if (id < 0)
			return wrong(row, text, "a %s id, a number from 1 to %d",
				     row->letter == 'p' ? "process" : "thread",
				     PID_LIMIT);
		if (!id_list_add(field(options, row), id))
			return options_no_memory();
		at += n;
		if (!*at)
			return true;
		at++;
	}
}

void options_formats(char *text, size_t size)
{
	size_t length = 0;

	text[0] = '\0';
	for (size_t i = 0; i < pmp_format_count() && length < size; i++)
		length += (size_t)snprintf(text + length, size - length, "%s%s",
					   i ? " " : "", pmp_format(i)->name);
}

/* If an option is repeated, the last one counts; other options from the same source
 * conflict: other_row. */
static void set_format(struct options *options, const struct option_row *row,
		       const struct pmp_format *format)
{
	if (!options->format_row)
		options->check_locks = false;
	if (options->format_row != row) {
		options->other_row = options->format_row;
		options->other_format = options->other_row ? options->format : NULL;
		options->clash_row = row;
	}
	options->format_row = row;
	options->format = format;
}

static bool take_raw(struct options *options, const struct option_row *row,
		     const char *text)
{
	(void)text;
	set_format(options, row, pmp_format_find("raw"));
	return true;
}

static bool take_locks(struct options *options, const struct option_row *row,
		       const char *text)
{
	if (text && strcmp(text, "check") != 0)
		return wrong(row, text, "the word check, and there is no other");
	set_format(options, row, pmp_format_find("locks"));
	options->check_locks = text != NULL;
	return true;
}

static bool take_serve(struct options *options, const struct option_row *row,
		       const char *text)
{
	struct listen_address address;

	if (!text)
		text = LISTEN_DEFAULT;
	if (!listen_parse(text, &address))
		return wrong(
			row, text,
			"[HOST:]PORT, [IPV6]:PORT or unix:PATH; HOST is localhost or "
			"an address");
	options->serve = text;
	return true;
}

static bool take_host(struct options *options, const struct option_row *row,
		      const char *text)
{
	const char **hosts;

	if (!*text)
		return wrong(row, text, "a name");
	hosts = reallocarray(options->serve_hosts, options->serve_host_count + 1,
			     sizeof(*hosts));
	if (!hosts)
		return options_no_memory();
	options->serve_hosts = hosts;
	options->serve_hosts[options->serve_host_count++] = text;
	return true;
}

static bool take_format(struct options *options, const struct option_row *row,
			const char *text)
{
	const struct pmp_format *format = pmp_format_find(text);
	char formats[256];

	if (format) {
		set_format(options, row, format);
		return true;
	}
	options_formats(formats, sizeof(formats));
	return wrong(row, text, "one of: %s", formats);
}

bool options_color(const struct options *options, int terminal)
{
	const char *term = getenv("TERM");

	if (options->color != PMP_COLOR_AUTO)
		return options->color == PMP_COLOR_ALWAYS;
	return !getenv("NO_COLOR") && term && *term && strcmp(term, "dumb") != 0 &&
	       isatty(terminal);
}

bool options_want(const struct options *options, pid_t tid, const char *name)
{
	bool listed = options->tids.count == 0;

	for (size_t i = 0; i < options->tids.count && !listed; i++)
		listed = options->tids.ids[i] == tid;
	if (!listed)
		return false;
	if (options->threads.filter && !pattern_matches(&options->threads, name))
		return false;
	return !pattern_matches(&options->not_threads, name);
}

int options_problem(const struct options *options, struct pmp_error *err)
{
	int code = pattern_problem(&options->threads, err);

	return code ? code : pattern_problem(&options->not_threads, err);
}

static bool is_ids(const char *text)
{
	return *text && strspn(text, "0123456789,") == strlen(text);
}

/* An operand: a number is a pid, anything else a saved profile or core file. */
static bool take_operand(struct options *options, const char *text)
{
	const char **files;

	if (is_ids(text))
		return take_ids(options, &rows[0], text);
	files = reallocarray(options->files, options->file_count + 1, sizeof(*files));
	if (!files)
		return options_no_memory();
	options->files = files;
	options->files[options->file_count++] = text;
	return true;
}

/* "512K", but not a pid. */
static bool is_size(const char *text)
{
	uint64_t size;

	return value_size(text, &size) && !is_ids(text);
}

/* Was it meant for the preceding option, which takes a value only after "="? */
static bool is_its_value(const struct option_row *row, const char *text)
{
	if (!row)
		return false;
	if (strcmp(text, "0") == 0)
		return true;
	return access(text, F_OK) < 0 && (strchr(text, ':') || is_size(text) ||
					  (row->words && strcmp(row->words, text) == 0));
}

static int value_of(const struct option_row *row)
{
	if (!row->value)
		return no_argument;
	return row->may_lack_value ? optional_argument : required_argument;
}

/* Make what getopt_long() needs from the table. */
static void make_getopt(char *letters, struct option *names)
{
	*letters++ = '-'; /* operands in order, as values of OPERAND */
	*letters++ = ':'; /* a missing value gives ":", an unknown option "?" */
	for (size_t i = 0; i < ROW_COUNT; i++) {
		names[i] = (struct option){ rows[i].name, value_of(&rows[i]), NULL,
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

const struct option_row *option_row(size_t i)
{
	return i < ROW_COUNT ? &rows[i] : NULL;
}

const struct option_row *option_named(const char *name)
{
	for (size_t i = 0; i < ROW_COUNT; i++) {
		if (strcmp(rows[i].name, name) == 0)
			return &rows[i];
	}
	return NULL;
}

bool option_take(struct options *options, const struct option_row *row, const char *text,
		 enum option_source source)
{
	options->given[row - rows] = (unsigned char)source;
	return row->take(options, row, text);
}

enum option_source option_given(const struct options *options, const char *name)
{
	const struct option_row *row = option_named(name);

	return row ? (enum option_source)options->given[row - rows] : PMP_FROM_NOWHERE;
}

static void forget_format(struct options *options)
{
	options->format = NULL;
	options->format_row = options->other_row = NULL;
	options->check_locks = false;
}

void option_forget(struct options *options, const char *name)
{
	const struct option_row *row = option_named(name);

	if (!row)
		return;
	options->given[row - rows] = PMP_FROM_NOWHERE;
	if (row->take == take_heap)
		options->heap.on = options->heap.exact = false;
	else if (row->take == take_format || row->take == take_raw ||
		 row->take == take_locks)
		forget_format(options);
	else if (row->take == take_serve)
		options->serve = NULL;
	else if (row->take == take_host)
		options->serve_host_count = 0;
	else if (row->take == take_flag)
		*(bool *)field(options, row) = false;
	else if (row->take == take_text || row->take == take_output)
		*(const char **)field(options, row) = NULL;
	else
		*(uint64_t *)field(options, row) = 0;
}

const char *option_group(unsigned group)
{
	return group < GROUP_COUNT ? group_titles[group] : NULL;
}

bool option_is_for_config(const struct option_row *row)
{
	return row->group != SOURCE && row->help &&
	       row->offset != offsetof(struct options, help) &&
	       row->offset != offsetof(struct options, version) &&
	       row->offset != offsetof(struct options, config_file);
}

const char *option_words(const struct option_row *row, char *buffer, size_t size)
{
	if (row->take != take_format)
		return row->words;
	options_formats(buffer, size);
	return buffer;
}

static const struct option_row *find_row(int key)
{
	if (key >= LONG_BASE && (size_t)(key - LONG_BASE) < ROW_COUNT)
		return &rows[key - LONG_BASE];
	for (size_t i = 0; i < ROW_COUNT; i++) {
		if (key && rows[i].letter == key)
			return &rows[i];
	}
	return NULL;
}

/* getopt_long() returned '?' (unknown) or ':' (missing value). */
static bool bad_option(int key, char **argv)
{
	const struct option_row *row = find_row(optopt);

	if (key == ':' && row && row->take == take_ids)
		return needs_id(row);
	if (key == ':' && row)
		message_print(PMP_SEE_HELP, "option --%s needs a value: %s", row->name,
			      row->value);
	else if (row)
		message_print(PMP_SEE_HELP, "option --%s takes no value", row->name);
	else if (optopt)
		message_print(PMP_SEE_HELP, "unknown option -%c", optopt);
	else
		message_print(PMP_SEE_HELP, "unknown option %s", argv[optind - 1]);
	return false;
}

bool options_take(struct options *options, int argc, char **argv,
		  enum option_source source)
{
	const bool from_environment = source == PMP_FROM_ENVIRONMENT;
	char letters[2 * ROW_COUNT + 3];
	const struct option_row *without =
		NULL; /* the option before, if without its value */
	struct option names[ROW_COUNT + 1];
	int key;

	options->format_row = NULL;
	make_getopt(letters, names);
	optind = 0;
	opterr = 0;
	while ((key = getopt_long(argc, argv, letters, names, NULL)) != -1) {
		const struct option_row *row;

		if (key == '?' || key == ':')
			return bad_option(key, argv);
		if (key == OPERAND && from_environment)
			break;
		row = find_row(key);
		if (row && row->group == SOURCE && from_environment) {
			message_print(NULL, "'--%s' is for the command line only",
				      row->name);
			return false;
		}
		if (key == OPERAND && is_its_value(without, optarg)) {
			message_print(NULL,
				      "option --%s takes its value after '=': --%s=%s",
				      without->name, without->name, optarg);
			return false;
		}
		if (key == OPERAND && without && without->take == take_serve &&
		    listen_parse(optarg, &(struct listen_address){ 0 }))
			options->maybe_port = optarg;
		without = row && row->may_lack_value && !optarg ? row : NULL;
		if (key == OPERAND ? !take_operand(options, optarg)
				   : row && !option_take(options, row, optarg, source))
			return false;
		if (row && !from_environment && optind == argc &&
		    optarg == argv[argc - 1] && is_ids(optarg)) {
			options->last_row = row;
			options->last_value = optarg;
		}
	}
	if (from_environment && (key == OPERAND || optind < argc)) {
		message_print(NULL, "'%s' is not an option",
			      key == OPERAND ? optarg : argv[optind]);
		return false;
	}
	if (optind < argc)
		options->command = argv + optind;
	return true;
}

static bool ends_in(const char *path, const char *extension)
{
	size_t length = strlen(path), end = strlen(extension);

	return end && length > end && path[length - end - 1] == '.' &&
	       strcmp(path + length - end, extension) == 0;
}

/* The longest matching extension wins: x.speedscope.json is not just json. */
const struct pmp_format *options_format_of(const char *path)
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

void options_free(struct options *options)
{
	pattern_free(&options->threads);
	pattern_free(&options->not_threads);
	pmp_filter_free(options->filter);
	free(options->pids.ids);
	free(options->tids.ids);
	config_free(options->config);
	free(options->unmet);
	free(options->words);
	free(options->files);
	free(options->serve_hosts);
}

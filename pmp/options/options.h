/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The command line: one table of options, read once, constant afterwards. */
#ifndef PMP_OPTIONS_OPTIONS_H
#define PMP_OPTIONS_OPTIONS_H

#include "libpmp.h"
#include "options/pattern.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct id_list {
	pid_t *ids;
	size_t count;
};

struct config;
struct option_row;

/* A section of the configuration that applies to only some targets, so it is not used. */
struct unmet_section {
	const char *regex;
	pid_t pid;    /* the first target it does not apply to */
	size_t count; /* number of these targets */
};

/* Where an option was given; a later source overrides an earlier one. */
enum option_source {
	PMP_FROM_NOWHERE,
	PMP_FROM_CONFIG,
	PMP_FROM_ENVIRONMENT,
	PMP_FROM_ARGUMENTS,
};
#define PMP_OPTIONS_MAX 128

enum color { PMP_COLOR_AUTO, PMP_COLOR_ALWAYS, PMP_COLOR_NEVER };

struct options {
	/* Source. */
	struct id_list pids;
	struct id_list tids;
	const char *name; /* NULL, or a regular expression */
	uid_t user;	  /* for --name; valid if has_user */
	bool has_user;
	char **command; /* NULL, or ends with NULL */
	bool children;
	const char **files; /* saved profiles or core files */
	size_t file_count;
	/* Sampling; times in ns, 0: no limit. */
	uint64_t count;
	uint64_t duration;
	uint64_t interval;
	uint64_t max_stop;
	uint64_t max_cpu;    /* percent of a CPU */
	uint64_t census_cpu; /* the same, for reading a heap for the live view */
	uint64_t max_frames;
	uint64_t max_memory; /* bytes */
	uint64_t history;    /* ns, for --serve */
	unsigned stop;	     /* enum pmp_stop */
	unsigned unwind;     /* enum pmp_unwind */
	bool no_restart;
	/* Heap. */
	struct {
		bool on;
		bool exact;	/* record every call */
		bool mmap;	/* also the program's own mmap() and the like */
		bool only;	/* do not sample threads */
		uint64_t rate;	/* mean bytes between two samples */
		uint64_t stack; /* bytes to copy of a stack, at most */
		uint64_t age;	/* ns: minimum age of live blocks */
	} heap;
	unsigned types; /* 1: without classes of blocks */
	/* Sink. */
	const struct pmp_format *format;
	const struct option_row *format_row; /* named it, in these arguments */
	/* The format that another option named before, or NULL. */
	const struct pmp_format *other_format;
	const struct option_row *other_row, *clash_row; /* clash_row came after it */
	bool check_locks;   /* write nothing: is there a deadlock? */
	const char *output; /* NULL: standard output */
	bool proto;	    /* write the format as pprof, as the output's name asks */
	uint64_t every;	    /* ns between files; 0: one file */
	uint64_t keep;	    /* number of files; 0: all */
	const char *diff;   /* NULL, or a saved profile to compare with */
	const char *sample_type; /* NULL: the default of the saved profile */
	const char *title;
	uint64_t width; /* 0: the default */
	bool icicle, by_state;
	const char *serve;	  /* address of the server; NULL: no server */
	const char *maybe_port;	  /* operand after --serve without address, or NULL */
	const char *serve_token;  /* name of the file with the token, or NULL */
	const char **serve_hosts; /* other valid names of this machine */
	size_t serve_host_count;
	bool serve_no_cmdline;
	bool on_demand;
	bool wants_screen; /* no output was asked for, and stdout is a terminal */
	/* Threads. */
	struct pattern threads;
	struct pattern not_threads;
	bool by_thread;
	/* Waits. */
	bool peers, waits, by_lock;
	/* Filters. */
	struct pmp_filter *filter; /* NULL: all */
	unsigned idle;		   /* enum pmp_idle */
	bool fold_recursion, by_group, no_fold_threads;
	/* Frames and symbols. */
	bool lines, no_inline, no_demangle, module, no_symbols, kernel;
	bool debuginfod;
	bool no_sandbox;	       /* read files in this process */
	const char *debug_dir, *symfs; /* NULL: the default; NULL: none */
	const char *exe;	       /* program of a core file; NULL: where it was */
	unsigned sort;		       /* enum pmp_sort */
	unsigned color;		       /* enum color */
	/* Other. */
	bool stats, quiet, help, version, list;
	const char *log;   /* NULL: none */
	uint64_t max_wall; /* ns; 0: no limit */
	unsigned verbose;
	const char *config_file;     /* NULL: the default ones */
	struct config *config;	     /* contents of these files */
	struct unmet_section *unmet; /* sections not used */
	size_t unmet_count;
	const char *debug;		      /* value of PMP_DEBUG, or NULL */
	char **words;			      /* words of PMP_OPTS */
	unsigned char given[PMP_OPTIONS_MAX]; /* enum option_source of each row */
	/* The last word, if it could be a pid but is the value of an option; or NULL. */
	const char *last_value;
	const struct option_row *last_row; /* that option */
};

/**
 * Read the configuration, PMP_OPTS, PMP_DEBUG and the command line, each overriding those
 * before it. Strings are borrowed from argv and the environment. Returns 0, or the status
 * to exit with, after printing a message. If help or version is set, nothing else
 * is checked.
 */
int options_parse(struct options *options, int argc, char **argv);

/* What the sections of the configuration must match. */
struct target_names {
	const struct id_list *pids; /* all of them must match */
	const char *command;	    /* or only this; NULL: none */
};

/**
 * Read everything again, with the sections that apply. If options_unsettled(), call it
 * before anything else uses the options: the checks are left to it.
 */
int options_settle(struct options *options, int argc, char **argv,
		   const struct target_names *names);
bool options_unsettled(const struct options *options);
void options_free(struct options *options);

/** Does the run count a heap instead of samples? */
bool options_count_heap(const struct options *options);
/** Is it one of the sample types of --heap? */
bool options_is_heap_value(const char *name);
/** Does a format show what threads wait for, and nothing else? */
bool options_shows_waits(const struct pmp_format *format);

/** Print --help, made from the table, to standard output. 0 or a status. */
int options_help(void);

/** Print the table for shell completion: a line for each option, with letter, name, value,
 * words and help separated by tabs. 0 or a status. */
int options_list(void);

/** The format for the extension of a file name, or NULL. */
const struct pmp_format *options_format_of(const char *path);

/** Append an id unless it is in the list. False: no memory. */
bool id_list_add(struct id_list *list, pid_t id);

/** Warn about options without effect. Call it once messages can be shown. */
void options_warn(const struct options *options);
/** Warn about sections that are not used because targets differ. */
void options_warn_sections(const struct options *options);
/** Use colours on this terminal? */
bool options_color(const struct options *options, int terminal);

/** Is a thread with this id and name wanted? */
bool options_want(const struct options *options, pid_t tid, const char *name);
/** PMP_ELIMIT: unknown from now on, as an expression took too many steps; else 0. */
int options_problem(const struct options *options, struct pmp_error *err);

#endif

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

/* A section of the configuration that is for some of the targets, so for none. */
struct unmet_section {
	const char *regex;
	pid_t pid;    /* the first target that it is not for */
	size_t count; /* how many there are */
};

enum color { PMP_COLOR_AUTO, PMP_COLOR_ALWAYS, PMP_COLOR_NEVER };

struct options {
	/* Source. */
	struct id_list pids;
	struct id_list tids;
	const char *name; /* NULL, or a regular expression */
	uid_t user;	  /* of --name; valid if has_user */
	bool has_user;
	char **command; /* NULL, or ends with NULL */
	bool children;
	const char **files; /* saved profiles */
	size_t file_count;
	/* Sampling; times in ns, 0: no limit. */
	uint64_t count;
	uint64_t duration;
	uint64_t interval;
	uint64_t max_stop;
	uint64_t max_cpu;    /* percent of a processor */
	uint64_t census_cpu; /* the same, of what reads a heap for the live view */
	uint64_t max_frames;
	uint64_t max_memory; /* bytes */
	uint64_t history;    /* ns, of --serve */
	unsigned stop;	     /* enum pmp_stop */
	unsigned unwind;     /* enum pmp_unwind */
	bool no_restart;
	/* Memory. */
	struct {
		bool on;
		bool exact;	/* every call */
		bool mmap;	/* and the program's own mmap() and its like */
		bool only;	/* no samples of threads */
		uint64_t rate;	/* mean bytes between two samples */
		uint64_t stack; /* bytes that are copied of one, at most */
		uint64_t age;	/* ns: what lives is older */
	} heap;
	unsigned types; /* 1: no classes of blocks */
	/* Sink. */
	const struct pmp_format *format;
	const struct option_row *format_row; /* that has named it, in these arguments */
	/* What another option there had named before, or NULL. */
	const struct pmp_format *other_format;
	const struct option_row *other_row;
	bool check_locks;   /* nothing is written: is there a deadlock? */
	const char *output; /* NULL: standard output */
	bool proto;	/* the format has a form for pprof, and the output is called so */
	uint64_t every; /* ns between files; 0: one file */
	uint64_t keep;	/* files; 0: all */
	const char *diff;	 /* NULL, or a saved profile to compare with */
	const char *sample_type; /* NULL: the usual one of a saved profile */
	const char *title;
	uint64_t width; /* 0: the default */
	bool icicle, by_state;
	const char *serve;	/* address of the server, or NULL: none */
	const char *maybe_port; /* NULL, or the operand after a --serve without address */
	const char *serve_token;  /* NULL, or the file that has it */
	const char **serve_hosts; /* other right names of this machine */
	size_t serve_host_count;
	bool serve_no_cmdline;
	bool on_demand;
	bool wants_screen; /* no sink was asked for and stdout is a terminal */
	/* Threads. */
	struct pattern threads;
	struct pattern not_threads;
	bool by_thread;
	/* Waits. */
	bool peers, waits, by_lock;
	/* What is shown. */
	struct pmp_filter *filter; /* NULL: all */
	unsigned idle;		   /* enum pmp_idle */
	bool fold_recursion, by_group, no_fold_threads;
	/* Frames and symbols. */
	bool lines, no_inline, no_demangle, module, no_symbols, kernel;
	bool debuginfod;
	bool no_sandbox;	       /* files are read by this process */
	const char *debug_dir, *symfs; /* NULL: the default; none */
	const char *exe; /* the program of a core file; NULL: where it was */
	unsigned sort;	 /* enum pmp_sort */
	unsigned color;	 /* enum color */
	/* Other. */
	bool stats, quiet, help, version, list;
	const char *log;   /* NULL: none */
	uint64_t max_wall; /* ns; 0: no limit */
	unsigned verbose;
	const char *config_file;     /* NULL: the usual ones */
	struct config *config;	     /* what is in them */
	struct unmet_section *unmet; /* sections */
	size_t unmet_count;
	const char *debug; /* PMP_DEBUG, or NULL */
	char **words;	   /* of PMP_OPTS */
	/* The last word, if it could be a process but is the value of an option; or NULL. */
	const char *last_value;
	const struct option_row *last_row; /* that option */
};

/**
 * Read the configuration, PMP_OPTS, PMP_DEBUG and the command line, each over the one
 * before it. Strings are borrowed from argv and the environment. Returns 0, or the
 * status to end with: the message is printed. With help or version set nothing else is
 * checked.
 */
int options_parse(struct options *options, int argc, char **argv);

/* What sections of the configuration are chosen by. */
struct target_names {
	const struct id_list *pids; /* all of them have to match */
	const char *command;	    /* or this one; NULL: none */
};

/**
 * The same once more, with the sections that are meant. To be called before anything
 * else uses the options when options_unsettled(), which leaves the checks to this.
 */
int options_settle(struct options *options, int argc, char **argv,
		   const struct target_names *names);
bool options_unsettled(const struct options *options);
void options_free(struct options *options);

/** Is what is counted that of a heap, not of samples? */
bool options_count_heap(const struct options *options);

/** Print --help, made from the table, to standard output. 0 or a status. */
int options_help(void);

/** Print the table for scripts that complete command lines: a line for each option, its
 * letter, name, value, words and help separated by tabs. 0 or a status. */
int options_list(void);

/** The format that belongs to the extension of a file name, or NULL. */
const struct pmp_format *options_format_of(const char *path);

/** Append an id unless it is there already. False: no memory. */
bool id_list_add(struct id_list *list, pid_t id);

/** Say which of the options change nothing. To be called when it is known who hears. */
void options_warn(const struct options *options);
/** Say which sections of the configuration are not used, as targets differ. */
void options_warn_sections(const struct options *options);
/** Are there to be colours on a terminal? */
bool options_color(const struct options *options, int terminal);

/** Is a thread of this id and name wanted? */
bool options_want(const struct options *options, pid_t tid, const char *name);
/** PMP_ELIMIT: that is not known any more, as an expression has taken too many steps. Or 0. */
int options_problem(const struct options *options, struct pmp_error *err);

#endif

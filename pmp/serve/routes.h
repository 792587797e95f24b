/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From the path and the parameters of a request to a page, by a table. Server and front
 * have the same table: what the one asks the other for is a number of a row.
 *
 *     path   = *( "/pid/" PID | "/name/" NAME | "/past" | "/feed/" CURSOR ) page
 *
 * The prefixes in any order, each once. Clients keep them when they ask for names of
 * functions after a profile, so what has no window ignores those of time: /past is the last
 * seconds, at once, and /feed what is new since the same feed was asked for before.
 */
#ifndef PMP_SERVE_ROUTES_H
#define PMP_SERVE_ROUTES_H

#include "serve/http.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define ROUTE_NAME_SIZE 64
#define ROUTE_FEED_SIZE 33
#define ROUTE_PATTERN_SIZE 256
#define ROUTE_UNDER_SIZE 1024
#define ROUTE_HZ_MAX 1000
#define ROUTE_REASON_SIZE 256
#define ROUTE_SECONDS_MAX 600
#define ROUTE_TIME_MAX (INT64_C(1) << 43) /* ms: some centuries, in ns too */
#define ROUTE_PX_MAX 100000
#define ROUTE_NODES_MAX 100000

/* How a page is answered. */
enum page_kind {
	PAGE_FILE,	/* by the server: it is always the same */
	PAGE_INDEX,	/* likewise: a list of all pages */
	PAGE_HEALTH,	/* the others by the front: are targets sampled? */
	PAGE_METRICS,	/* numbers for a monitoring system */
	PAGE_TARGETS,	/* what it may fetch */
	PAGE_CMDLINE,	/* the command line of a target */
	PAGE_SYMBOL,	/* names of the functions at addresses */
	PAGE_WINDOW,	/* what is counted for some seconds */
	PAGE_SNAPSHOT,	/* the same of the last snapshot */
	PAGE_STACKS,	/* a text about the last snapshot of a process */
	PAGE_STATE,	/* how the sampling is going */
	PAGE_TIMELINE,	/* what threads did in each second */
	PAGE_TREE,	/* the calls of a window, at once */
	PAGE_THREADS,	/* what each thread did in it */
	PAGE_LOCKS,	/* for which locks threads waited in it */
	PAGE_HEAP,	/* what the recorder of --heap has found since the start */
	PAGE_HEAP_TREE, /* the same, as a tree of calls */
	PAGE_ABSENT,	/* not at all, for a reason */
};

/* Which clients a page is for, and so how errors are said and what a body may be. */
enum page_family {
	PAGES_OF_PMP,
	PAGES_OF_GPERFTOOLS, /* below /pprof/: addresses of one process only */
	PAGES_OF_GO,	     /* below /debug/pprof/ */
	PAGES_OF_API,	     /* of the page at "/": JSON */
};

/* Which stacks a page is to have, beyond what pmp was started for. "": all. */
struct selection {
	/* Expressions: with such a function; without one; */
	char focus[ROUTE_PATTERN_SIZE], ignore[ROUTE_PATTERN_SIZE];
	/* of threads with such names, of such groups; */
	char thread[ROUTE_PATTERN_SIZE], group[ROUTE_PATTERN_SIZE];
	uint32_t tid;  /* of that thread, 0: of all */
	uint32_t idle; /* enum pmp_idle, plus 1; 0: not given */
};

struct pmp_format;

struct page {
	const char
		*path; /* "/pprof/profile"; "/FORMAT" stands for those of all formats */
	enum page_kind kind;
	enum page_family family;
	unsigned methods;   /* of enum http_method */
	const char *type;   /* of its body; NULL: that of its format */
	const char *format; /* what writes it; NULL: none, or that of the path */
	const char *value;  /* which of the format's values it has; NULL: all */
	bool proto;	    /* as what pprof reads */
	bool since_start;   /* unless it is asked for some time: the sums since then */
	const char *filename;
	const char *file; /* of PAGE_FILE: which one */
	const char *why_absent;
};

struct route {
	const struct page *page;
	const struct pmp_format *format; /* that writes it; NULL: none */
	/* Prefixes. */
	pid_t pid;		    /* 0: any */
	char name[ROUTE_NAME_SIZE]; /* raw bytes; "": any */
	bool past;
	char feed[ROUTE_FEED_SIZE]; /* "": none */
	/* Parameters. */
	uint32_t milliseconds;	      /* 0: not given */
	bool has_times;		      /* a part of the past, in ms: */
	int64_t from, to;	      /* from 0 on since the start, below it since now */
	bool by_thread;		      /* of a tree */
	uint32_t px, nodes;	      /* likewise; 0: not given */
	char under[ROUTE_UNDER_SIZE]; /* likewise: that branch; "": all */
	uint32_t hz;		      /* at least; 0: not given */
	uint32_t labels;	      /* enum pmp_labels, plus 1; 0: not given */
	struct selection selection;
	unsigned debug;
	bool as_text; /* for people, in the format's own form */
};

/**
 * Find the page of a request. 0, or a status with what is wrong in reason, which is
 * ROUTE_REASON_SIZE bytes. route->page is set as far as it is known, NULL: it is not.
 */
int route_find(const struct http_request *request, struct route *route, char *reason);

/** Row i of the table; NULL after the last. */
const struct page *page_row(size_t i);
/** Its i. */
size_t page_number(const struct page *page);
/** "GET, HEAD", for the field Allow. */
const char *page_methods(unsigned methods);

#endif

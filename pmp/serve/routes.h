/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Maps the path and the parameters of a request to a page, by a table. Server and front
 * share the table: the server sends the number of a row.
 *
 *     path   = *( "/pid/" PID | "/name/" NAME | "/past" | "/feed/" CURSOR ) page
 *
 * Each prefix may occur once, in any order. Clients keep them when they ask for names of
 * functions after a profile, so pages without a window ignore those of time: /past is the
 * last seconds, at once; /feed is what is new since the last request of the same feed.
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

/* How a page is answered: the first two by the server, the others by the front. */
enum page_kind {
	PAGE_FILE,	/* a constant file */
	PAGE_INDEX,	/* a list of all pages */
	PAGE_HEALTH,	/* are targets sampled? */
	PAGE_METRICS,	/* for a monitoring system */
	PAGE_TARGETS,	/* service discovery for a monitoring system */
	PAGE_CMDLINE,	/* the command line of a target */
	PAGE_SYMBOL,	/* names of the functions at addresses */
	PAGE_WINDOW,	/* what is counted for some seconds */
	PAGE_SNAPSHOT,	/* the same for the last snapshot */
	PAGE_STACKS,	/* the stacks of the last snapshot, as text */
	PAGE_STATE,	/* the state of the sampling */
	PAGE_TIMELINE,	/* what threads did in each second */
	PAGE_TREE,	/* the call tree of a window in the past */
	PAGE_THREADS,	/* what each thread did in it */
	PAGE_LOCKS,	/* which locks threads waited for in it */
	PAGE_HEAP,	/* what the recorder of --heap has recorded since the start */
	PAGE_HEAP_TREE, /* the same, as a call tree */
	PAGE_ABSENT,	/* always refused, with a reason */
};

/* Which clients a page is for: determines the form of errors and of bodies. */
enum page_family {
	PAGES_OF_PMP,
	PAGES_OF_GPERFTOOLS, /* below /pprof/: addresses of one process only */
	PAGES_OF_GO,	     /* below /debug/pprof/ */
	PAGES_OF_API,	     /* of the page at "/": JSON */
};

/* Selects stacks for a page, in addition to the filters of the run. "": all. */
struct selection {
	/* Expressions for functions: keep only stacks with one; drop those with one. */
	char focus[ROUTE_PATTERN_SIZE], ignore[ROUTE_PATTERN_SIZE];
	/* Expressions for the names and the groups of threads. */
	char thread[ROUTE_PATTERN_SIZE], group[ROUTE_PATTERN_SIZE];
	uint32_t tid;  /* of one thread; 0: all */
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
	const char *format; /* its writer; NULL: none, or that of the path */
	const char *value;  /* the one of the format's values it has; NULL: all */
	bool proto;	    /* as read by pprof */
	bool since_start;   /* without a time in the request: sums since the start */
	const char *filename;
	const char *file; /* of PAGE_FILE: its name */
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
	bool has_times;		      /* a part of the past, by from and to */
	int64_t from, to;	      /* ms since the start; before now if negative */
	bool by_thread;		      /* of a tree */
	uint32_t px, nodes;	      /* of a tree; 0: not given */
	char under[ROUTE_UNDER_SIZE]; /* of a tree: only that branch; "": all */
	uint32_t hz;		      /* the least rate; 0: not given */
	uint32_t labels;	      /* enum pmp_labels, plus 1; 0: not given */
	struct selection selection;
	unsigned debug;
	bool as_text; /* readable text, in the format's own form */
};

/**
 * Find the page of a request. 0, or a status with the reason in
 * `reason`, of ROUTE_REASON_SIZE bytes. route->page is set even then if
 * the page is known; NULL: it is not.
 */
int route_find(const struct http_request *request, struct route *route, char *reason);

/** Row i of the table; NULL after the last. */
const struct page *page_row(size_t i);
/** The row number of a page. */
size_t page_number(const struct page *page);
/** "GET, HEAD", for the field Allow. */
const char *page_methods(unsigned methods);

#endif

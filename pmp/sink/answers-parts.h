/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the files of the server's answers share. */
#ifndef PMP_SINK_ANSWERS_PARTS_H
#define PMP_SINK_ANSWERS_PARTS_H

#include "libpmp.h"
#include "serve/protocol.h"
#include "sink/writers.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct command_lines;
struct feed;
struct feeds;
struct name_lookup;
struct page_answer;
struct pmp_heap_base;
struct serve_counts;
struct shared_answers;
struct sink;
struct timeline;

/* One that is waited for. */
struct awaited {
	bool used;
	uint32_t id;
	const struct page *page;
	const struct pmp_format *format;
	pid_t pid;	   /* 0: all processes */
	uint64_t from, to; /* ns, of its window */
	bool at_once;	   /* it is over already, */
	bool since_start;  /* or all that was counted, */
	bool fresh;	   /* or the next snapshot of each process */
	bool as_text;
	bool to_target; /* who asks has only the rights of the targets' user */
	enum pmp_labels labels;
	uint32_t hz;		   /* at least; 0: not given */
	struct pmp_filter *filter; /* its own, or NULL: that of the run */
	struct feed *feed;	   /* or NULL */
	uint32_t feed_number;
	struct pmp_heap_base *moment; /* what its heap is compared with, or NULL */
	/* It is being written: */
	struct answers *answers;
	struct writer writer;
	int body; /* into that; 0: not yet */
};

struct answers {
	struct sink *sink;
	int fd;
	const struct serve_counts *counts;
	struct command_lines *commands;
	struct feeds *feeds;
	struct timeline *timeline;
	struct name_lookup *lookup;
	struct shared_answers *shared;
	struct writers writers;
	struct page_answer *pages; /* that writers make, or are to */
	uint64_t start;		   /* ns: times of requests count from it */
	uint64_t wanted;   /* --on-demand: a page is being looked at, until then (ns) */
	uint64_t interval; /* ns, that of the sampler: some windows ask for more */
	struct awaited all[SERVE_CONNECTIONS]; /* windows that are being recorded */
};

/** Send an error. */
__attribute__((format(printf, 4, 5))) void answers_refuse(const struct answers *answers,
							  uint32_t id, uint32_t status,
							  const char *format, ...);
/** Send an error of the library: 400 if it is that an expression has taken too many steps,
 * else 500. */
void answers_fail(const struct answers *answers, uint32_t id, const struct pmp_error *err,
		  int code);
/** There is no memory for it. */
void answers_refuse_memory(const struct answers *answers, uint32_t id);
/** Send a file, which stays the caller's; window: what of the past it is of, or "". The server
 * is not to be able to change what it sends. */
void answers_send(const struct answers *answers, uint32_t id, int body,
		  const char *window);

/** Answer with a text about the last snapshot. */
void answers_stacks(const struct answers *answers, const struct awaited *asked);

/** --on-demand: the page is open: sample for some seconds. */
void windows_want(struct answers *answers);
/** Which filter shows what is asked for: set asked->filter. False: it has been refused. */
bool windows_select(const struct answers *answers, const struct serve_request *request,
		    struct awaited *asked);
/** Its own, or that of the run. */
const struct pmp_filter *windows_filter(const struct answers *answers,
					const struct awaited *asked);
/** Which time a page is about that is answered at once. */
void windows_choose_past(const struct answers *answers,
			 const struct serve_request *request, struct awaited *asked);
/** Record a window, or cut it out of the past; it takes asked->filter over. */
void windows_begin(struct answers *answers, const struct serve_request *request,
		   const struct awaited *asked);
/** Answer those that are over; all: all of them, with what there is. */
void windows_tend(struct answers *answers, bool all);
/** When the first of them is over; see answers_timeout(). */
int windows_timeout(const struct answers *answers, int most);
size_t windows_count(const struct answers *answers);
/** Let go of all of them; nothing else is awaited then. */
void windows_free(struct answers *answers);
/** Its client has gone; 0: all of them. */
void windows_cancel(struct answers *answers, uint32_t id);

#endif

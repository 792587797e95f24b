/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared by the files that make the server's answers. */
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

/* A window that is being recorded. */
struct awaited {
	bool used;
	uint32_t id;
	const struct page *page;
	const struct pmp_format *format;
	pid_t pid;	   /* 0: all processes */
	uint64_t from, to; /* ns, of its window */
	bool at_once;	   /* it is already over */
	bool since_start;  /* it has all that was counted */
	bool fresh;	   /* it has the next snapshot of each process */
	bool as_text;
	bool to_target; /* the client only has the rights of the targets' user */
	enum pmp_labels labels;
	uint32_t hz;		   /* the least rate; 0: not given */
	struct pmp_filter *filter; /* owned; NULL: that of the run */
	struct feed *feed;	   /* or NULL */
	uint32_t feed_number;
	struct pmp_heap_base *moment; /* the heap at its beginning, or NULL */
	/* While it is being written: */
	struct answers *answers;
	struct writer writer;
	int body; /* the file; 0: not yet */
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
	struct page_answer *pages; /* made by writers, or waiting for one */
	uint64_t start;		   /* ns: times in requests count from here */
	uint64_t wanted;   /* --on-demand: until then (ns) a page is being viewed */
	uint64_t interval; /* ns, set in the sampler: windows may need a short one */
	struct awaited all[SERVE_CONNECTIONS]; /* windows that are being recorded */
};

/** Send an error. */
__attribute__((format(printf, 4, 5))) void answers_refuse(const struct answers *answers,
							  uint32_t id, uint32_t status,
							  const char *format, ...);
/** Send an error of the library: 400 if an expression took too many steps, else 500. */
void answers_fail(const struct answers *answers, uint32_t id, const struct pmp_error *err,
		  int code);
/** Send the error that memory is short. */
void answers_refuse_memory(const struct answers *answers, uint32_t id);
/** Send a file, which stays the caller's; window: the part of the past that it covers, or
 * "". The server must not be able to change the file. */
void answers_send(const struct answers *answers, uint32_t id, int body,
		  const char *window);

/** Answer with the stacks of the last snapshot as text. */
void answers_stacks(const struct answers *answers, const struct awaited *asked);

/** --on-demand: the page is being viewed: sample for some seconds. */
void windows_want(struct answers *answers);
/** Set asked->filter, and labels, text form and rate, from the
 * request. False: it was refused. */
bool windows_select(const struct answers *answers, const struct serve_request *request,
		    struct awaited *asked);
/** The filter of the window, or that of the run. */
const struct pmp_filter *windows_filter(const struct answers *answers,
					const struct awaited *asked);
/** Set the time that a page is about which is answered at once. */
void windows_choose_past(const struct answers *answers,
			 const struct serve_request *request, struct awaited *asked);
/** Record a window, or cut it out of the past; takes ownership of
 * asked->filter and moment. */
void windows_begin(struct answers *answers, const struct serve_request *request,
		   const struct awaited *asked);
/** Answer windows that are over; all: answer all windows with what was recorded so far. */
void windows_tend(struct answers *answers, bool all);
/** The time until the first window is over; see answers_timeout(). */
int windows_timeout(const struct answers *answers, int most);
size_t windows_count(const struct answers *answers);
/** Free all windows. */
void windows_free(struct answers *answers);
/** The client of a window is gone; id 0: all clients are. */
void windows_cancel(struct answers *answers, uint32_t id);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a wait is called. Capture knows some kinds of locks by their bytes, without names;
 * the functions of the waiter tell more of them apart, and what some are to a program. A
 * kind that bytes have proven stays, unless the names say another one: then the holder is
 * dropped.
 */
#ifndef PMP_REPORT_WAIT_KINDS_H
#define PMP_REPORT_WAIT_KINDS_H

#include "report/report.h"
#include "report/wait-words.h"

struct pmp_named_wait {
	struct pmp_wait wait; /* as it was found; object 0: not known. Without a holder
			       * if it is vetoed */
	const char *kind;     /* "mutex", "condition"; "": waits for nothing known */
	const char *meaning;  /* what it is to the program, "metadata lock"; or NULL */
	const char *ask;      /* what knows the holder, "METADATA_LOCK_INFO"; or NULL */
	const char *else_see; /* that may not be there, this is: "PROCESSLIST"; or NULL */
	bool lock;	      /* which a thread holds; else an event */
	bool write;	      /* of a rwlock: to write */
	int moved;	      /* from what the bytes have as its object to this one */
	/* PMP_NAMED_ONCE or _GUARD: who holds it runs what is done once; else 0. */
	uint8_t once;
	struct pmp_said said; /* by its memory, where only names tell its kind */
	/* The object is what the thread is parked under: see pmp_row.parked. */
	bool parked;
	bool inferred; /* the holder: no other thread can be in that function */
	bool vetoed;   /* the names say that it is another kind than the bytes do */
};

/*
 * Name what a thread with this stack waits for: locations are the report's, innermost
 * first. The strings are borrowed from the report, until it is updated.
 */
void pmp_report_name_wait(const struct pmp_report *report, const pmp_location *locations,
			  size_t count, const struct pmp_wait *wait,
			  struct pmp_named_wait *named);
/* The same of a row of the report's snapshot, whatever the filter has left of its stack. */
void pmp_report_name_row(const struct pmp_report *report, const struct pmp_row *row,
			 struct pmp_named_wait *named);

/* Its name: see pmp_report_object(). False: not known which object it is, or nothing of it. */
bool pmp_report_named_object(const struct pmp_report *report, const struct pmp_row *row,
			     const struct pmp_named_wait *named,
			     struct pmp_object *object);

/* The name of an object that begins so many bytes after the one that was located. */
void pmp_object_move(struct pmp_object *object, int moved);

/* The time for which all snapshots have found a row's thread waiting for this lock; 0: only
 * this one, or it is no lock. */
uint64_t pmp_named_found_for(const struct pmp_snapshot *snapshot,
			     const struct pmp_row *row,
			     const struct pmp_named_wait *named);
/* Who was inferred to have taken a lock that does not say who holds it, in the last *time
 * ns; 0: not known. */
pid_t pmp_named_taker(const struct pmp_snapshot *snapshot, const struct pmp_row *row,
		      const struct pmp_named_wait *named, uint64_t *time);

/* What has been found out about functions: of a report. NULL: no memory. _free takes NULL. */
struct pmp_wait_names *pmp_wait_names_new(void);
void pmp_wait_names_free(struct pmp_wait_names *names);

/* Numbers of locations may be others' since that many sweeps. */
void pmp_wait_names_renew(struct pmp_wait_names *names, uint64_t sweeps);

/* The same for a view, which does not wait for names. */
struct pmp_live_names {
	struct pmp_wait_names *names;
	const struct pmp_filter *filter;
	/* Function i at a location, innermost first; false: there is none, or none has a
	 * name yet. */
	bool (*frame)(const struct pmp_live_names *live, pmp_location location, size_t i,
		      struct pmp_frame *frame);
	bool complete; /* all locations that were asked had names */
};
/* Name a wait of a blocked thread: named->wait is given. */
void pmp_live_names_ask(struct pmp_live_names *live, const pmp_location *locations,
			size_t count, struct pmp_named_wait *named);

/* By the bytes alone, as pmp_wait_is_lock(): its kind in one word; "" of a thread that waits
 * for nothing known. */
const char *pmp_wait_kind_name(const struct pmp_wait *wait);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How waits are named. Capture recognises some kinds of locks by their bytes, without
 * names; the waiter's functions tell more kinds apart, and what a wait means to the
 * program. A kind proven by the bytes stays, unless the names contradict it: then the
 * holder is dropped.
 */
#ifndef PMP_REPORT_WAIT_KINDS_H
#define PMP_REPORT_WAIT_KINDS_H

#include "report/report.h"
#include "report/wait-words.h"

struct pmp_named_wait {
	struct pmp_wait wait; /* as found; object 0: unknown. Has no holder if vetoed */
	const char *kind;     /* "mutex", "condition"; "": no known wait */
	const char *meaning;  /* to the program, "metadata lock"; or NULL */
	const char *ask;      /* names the holder, "METADATA_LOCK_INFO"; or NULL */
	const char *else_see; /* used if that is not there, "PROCESSLIST"; or NULL */
	bool lock;	      /* held by a thread; else an event */
	bool write;	      /* a rwlock, to write */
	int moved;	      /* offset of the object from what the bytes gave */
	/* PMP_NAMED_ONCE or _GUARD: the holder runs the initialiser; else 0. */
	uint8_t once;
	struct pmp_said said; /* by its memory, if only names tell the kind */
	/* The object is what the thread is parked under: see pmp_row.parked. */
	bool parked;
	bool inferred; /* the holder: no other thread can run that function */
	bool vetoed;   /* the names contradict the kind found by the bytes */
};

/*
 * Name what a thread with this stack waits for. locations are the report's, innermost
 * first. The strings are borrowed from the report until it is updated.
 */
void pmp_report_name_wait(const struct pmp_report *report, const pmp_location *locations,
			  size_t count, const struct pmp_wait *wait,
			  struct pmp_named_wait *named);
/* Like pmp_report_name_wait(), for a row of the snapshot and its unfiltered stack. */
void pmp_report_name_row(const struct pmp_report *report, const struct pmp_row *row,
			 struct pmp_named_wait *named);

/* Name the object, see pmp_report_object(). False: it is unknown, or has no name. */
bool pmp_report_named_object(const struct pmp_report *report, const struct pmp_row *row,
			     const struct pmp_named_wait *named,
			     struct pmp_object *object);

/* Make the object that of an address which is that many bytes further. */
void pmp_object_move(struct pmp_object *object, int moved);

/* For how long all snapshots have found the row's thread waiting for this lock; 0: only
 * in this one, or it is no lock. */
uint64_t pmp_named_found_for(const struct pmp_snapshot *snapshot,
			     const struct pmp_row *row,
			     const struct pmp_named_wait *named);
/* The thread inferred to have taken, within the last *time ns, a lock that does not name
 * its holder; 0: unknown. */
pid_t pmp_named_taker(const struct pmp_snapshot *snapshot, const struct pmp_row *row,
		      const struct pmp_named_wait *named, uint64_t *time);

/* A cache of what functions say, for a report. NULL: no memory. _free takes NULL. */
struct pmp_wait_names *pmp_wait_names_new(void);
void pmp_wait_names_free(struct pmp_wait_names *names);

/* Drop the cache if sweeps has changed, as locations may have been renumbered. */
void pmp_wait_names_renew(struct pmp_wait_names *names, uint64_t sweeps);

/* For a view, which does not wait for names. */
struct pmp_live_names {
	struct pmp_wait_names *names;
	const struct pmp_filter *filter;
	/* Function i at a location, innermost first; false: there is none, or the
	 * location has no names yet. */
	bool (*frame)(const struct pmp_live_names *live, pmp_location location, size_t i,
		      struct pmp_frame *frame);
	bool complete; /* all locations looked at had names */
};
/* Name the wait of a blocked thread; the caller sets named->wait. */
void pmp_live_names_ask(struct pmp_live_names *live, const pmp_location *locations,
			size_t count, struct pmp_named_wait *named);

/* The kind in one word, by the bytes alone, as pmp_wait_is_lock(); "": no known wait. */
const char *pmp_wait_kind_name(const struct pmp_wait *wait);

#endif

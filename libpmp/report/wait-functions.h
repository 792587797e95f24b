/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a function's name says about a thread that waits in it: tables only, no state. */
#ifndef PMP_REPORT_WAIT_FUNCTIONS_H
#define PMP_REPORT_WAIT_FUNCTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PMP_BARE_NAME 512 /* size of a name to compare, with its NUL */

/* Kinds that names tell. Includes those of pmp_wait_kind: the bytes may not show them. */
enum pmp_named_kind {
	PMP_NAMED_NONE,
	PMP_NAMED_MUTEX,
	PMP_NAMED_READ, /* a rwlock, to read */
	PMP_NAMED_WRITE,
	PMP_NAMED_CONDITION,
	PMP_NAMED_JOIN,
	PMP_NAMED_SEMAPHORE,
	PMP_NAMED_BARRIER,
	PMP_NAMED_ONCE,
	PMP_NAMED_GUARD,
	PMP_NAMED_LIBC,
	PMP_NAMED_RUST_MUTEX,
	PMP_NAMED_RUST_READ,
	PMP_NAMED_RUST_WRITE,
	PMP_NAMED_RUST_CONDVAR,
	PMP_NAMED_RUST_PARK,
	PMP_NAMED_PARKING_MUTEX,
	PMP_NAMED_PARKING_READ,
	PMP_NAMED_PARKING_WRITE,
	PMP_NAMED_PARKING_CONDVAR,
	PMP_NAMED_ABSL_MUTEX,
	PMP_NAMED_ABSL_CONDVAR,
	PMP_NAMED_GMUTEX,
	PMP_NAMED_GRWLOCK,
	PMP_NAMED_GCOND,
	PMP_NAMED_OMP_LOCK,
	PMP_NAMED_OMP_BARRIER,
	PMP_NAMED_ATOMIC,
	PMP_NAMED_GO_LOCK,
	PMP_NAMED_GO_IDLE,
	PMP_NAMED_JAVA_MONITOR,
	PMP_NAMED_JAVA_WAIT,
	PMP_NAMED_JAVA_PARK,
	PMP_NAMED_COUNT
};

struct pmp_named_kind_info {
	const char *text;
	const char *ask; /* where to look up the holder; or NULL */
	bool lock, write;
	bool once;	     /* the holder runs a once function */
	bool placeless;	     /* the futex is the waiter's own, not the object's */
	bool musl_placeless; /* the same, with musl only */
	bool parked;	     /* by parking_lot, keyed by the object's address */
	int offset;	     /* from the futex to the object */
	/* What it may look like: bits of enum pmp_wait_kind; for an outer kind, bits of
	 * the enum pmp_named_kind in which it waits. */
	uint32_t bytes, within;
};
extern const struct pmp_named_kind_info pmp_named_kinds[PMP_NAMED_COUNT];

/* What a wait means to a program. */
struct pmp_wait_meaning {
	const char *pattern, *program; /* of a function, and of its module's name */
	const char *text, *ask;	       /* ask: where to look up the holder; or NULL */
	const char *else_see;	       /* where to look if ask is not loaded; or NULL */
	bool lock;
	bool direct;	/* only for the direct caller of the waiting function */
	bool call;	/* in any system call, not only in known waits */
	bool condition; /* only for waits on a condition */
};

/* What a function's name says. */
struct pmp_wait_function {
	enum pmp_named_kind kind;  /* of the wait in this function */
	enum pmp_named_kind outer; /* of a wait built on another kind */
	const struct pmp_wait_meaning *meaning;
	bool internal; /* a helper that waits on behalf of others */
};

/* function: its name, demangled. module: its path. */
void pmp_wait_function(const char *function, const char *module,
		       struct pmp_wait_function *says);
/* Strip what is not compared: return type, parameters, template arguments, version,
 * leading underscores and GI_. Returns buffer, which has PMP_BARE_NAME bytes. */
char *pmp_bare_name(const char *function, char *buffer);
/* Does the text match a pattern in which * stands for any characters? */
bool pmp_pattern_matches(const char *pattern, const char *text);

#endif

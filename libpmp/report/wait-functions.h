/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the name of a function says of a thread that waits in it: tables, and nothing is
 * kept.
 */
#ifndef PMP_REPORT_WAIT_FUNCTIONS_H
#define PMP_REPORT_WAIT_FUNCTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PMP_BARE_NAME 512 /* of a name that is compared, with its NUL */

/* Kinds that names tell; those of pmp_wait_kind as well, as the bytes may not. */
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
	const char *ask; /* what knows the holder; or NULL */
	bool lock, write;
	bool once;	/* whose holder runs what is to be done once */
	bool placeless; /* the futex is the waiter's own: it does not say which object */
	bool musl_placeless; /* so with musl */
	bool parked;	     /* by parking_lot, under the address of what is waited for */
	int offset;	     /* from the futex to the object */
	/* Bits of enum pmp_wait_kind: what it may look like. Of an outer one: bits of
	 * enum pmp_named_kind, in which it waits. */
	uint32_t bytes, within;
};
extern const struct pmp_named_kind_info pmp_named_kinds[PMP_NAMED_COUNT];

/* What some waits are to a program. */
struct pmp_wait_meaning {
	const char *pattern, *program; /* of a function, and of the name of its module */
	const char *text, *ask;	       /* NULL: nothing is known that knows the holder */
	const char *else_see; /* what says more where that is not loaded, or NULL */
	bool lock;
	bool direct;	/* only of the function that calls the one that waits */
	bool call;	/* of any system call, not only of what else is a known wait */
	bool condition; /* only of a wait for a condition */
};

/* What a function's name says. */
struct pmp_wait_function {
	enum pmp_named_kind kind;  /* of a thread that waits in it */
	enum pmp_named_kind outer; /* of one that is in a wait of another kind */
	const struct pmp_wait_meaning *meaning;
	bool internal; /* of those that wait for others */
};

/* Of its name, be it as C++ and Rust have it or mangled, and its module's path. */
void pmp_wait_function(const char *function, const char *module,
		       struct pmp_wait_function *says);
/* Without what is not compared: the type that it returns, parameters, template arguments,
 * a version, leading underscores and GI_. Returns buffer, of PMP_BARE_NAME bytes. */
char *pmp_bare_name(const char *function, char *buffer);
/* Does a text match a pattern, in which * stands for any characters? */
bool pmp_pattern_matches(const char *pattern, const char *text);

#endif

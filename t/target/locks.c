/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * locks KIND [FILE]: threads that wait for locks and other things, in a situation that
 * stands still, and the truth about who waits for whom. locks --list prints all KINDs.
 * FILE, which must exist, is what the kinds flock, fcntl and ofd lock, instead of a file
 * without a name. locks-cxx and locks.rs are the same for C++ and Rust.
 *
 * When all are asleep it prints, and then "ready PID", with the process that has the
 * waiters (kind before-fork: a child):
 *
 *	truth KIND waiter=TID holder=TID object=0xADDRESS wait=WHAT call=NAME [KEY=VALUE...]
 *	truth KIND deadlock=TID,TID,... [timed=1]
 *	skip KIND: REASON		and the exit status 77: not to be had here
 *
 * The first is printed for each waiter, the second for each cycle: each of its threads
 * waits for the next, the last for the first.
 *
 *	holder	the thread that is waited for, with wait=file, pipe, socket, child, vfork and
 *		semop the process; 0: several or nobody. It is the true one, also where
 *		the lock does not say so
 *	object	the address of the mutex, rwlock, condition, barrier, pthread_once_t, sem_t,
 *		guard variable, or of the lock word (stdio, Rust's mutex; Rust's rwlock:
 *		its first word); join: the pthread_t; file, pipe, socket: the number of the
 *		inode; child: its pid, 0 for any of them; semop: the id of the set; vfork: 0;
 *		queue: its id or inode; io: the inode; of other events 0
 *	wait	mutex rwlock condition barrier once semaphore stdio join file pipe socket
 *		child vfork semop; poll event timer signal queue sleep io, for which nobody
 *		is waited; guard in locks-cxx
 *	call	the system call that the waiter is blocked in
 *	timed=1	the wait has a timeout, in an hour
 *	mode=	read or write: what is wanted of the rwlock, pipe or file lock
 *	readers=N	so many readers hold the rwlock
 *	next=TID	the writer that is to have the rwlock before this waiter
 *	mutex=0xADDRESS	of a condition
 *	arrived=N of=M	of a barrier
 *	is=self		the waiter holds it itself
 *	is=ended	the holder has ended without unlocking
 *	is=before-fork	the holder is a thread of another process: it was locked before a fork
 *	is=process	the holder is a thread of another process
 *	is=free		nobody holds it
 *	named=1		only the names of functions tell that it is that kind of lock
 *	process=PID	of the holder, with is=before-fork and is=process
 *	device=MAJOR:MINOR	of the file, in decimal
 *	fd=N		the holder's descriptor of the other end of the pipe or socket
 *	any=PID,PID	the children of which any is waited for
 *	number=N	of the semaphore in its set
 *	type=	of an event, as pmp has it in JSON; of what has no other name that of the kernel
 *	own=N	the waiter's descriptor
 *	descriptors=N	of a poll
 *	sleep_ns=N	how long it sleeps
 *
 * Verdict: no wait has ended. It ends with the process that has started it, and its children
 * with it.
 */
#include "locks.h"

#include <stddef.h>

const struct kind *const locks_groups[] = {
	locks_mutex_kinds,
	locks_sync_kinds,
	locks_cycle_kinds,
	locks_file_kinds,
	locks_process_kinds,
	locks_event_kinds,
	NULL,
};

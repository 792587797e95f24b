#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The tests themselves: faults are planted into pmp (libpmp/base/fault.h), and the assertion
# that is there for each has to fail. A test that a faulty pmp passes is no test, and
# neither is one that fails for another reason.

# shellcheck source=t/lib/test.sh
. "${top_srcdir:-.}/t/lib/test.sh"
# shellcheck source=t/lib/live.sh
. "$top_srcdir/t/lib/live.sh"

[ -x "$PMP_FAULTY" ] || skip_all "no $PMP_FAULTY"

# shellcheck source=t/lib/mutants.sh
. "$top_srcdir/t/lib/mutants.sh"

check_signals() {
	caught detach-no-signal 0730-noharm.t signal \
		'signal: undisturbed'
}
check_cont() {
	caught cont 0730-noharm.t waits \
		'waits: undisturbed'
}
check_reap() {
	caught no-reap 0750-states.t reaped \
		'threads that end while they are seized are not kept'
}
check_stuck() { caught never-stuck 0750-states.t stuck 'nor has the sampler a high priority'; }
check_late() {
	caught late-forget,no-peek 0750-states.t late \
		'all went on as soon as they could'
}
check_fragile() {
	caught stop-disturbed 0760-eintr.t asleep \
		'[0-9]+ threads asleep in system calls: none was disturbed'
}
check_seccomp() {
	caught stop-seccomp 0760-eintr.t seccomp \
		'it lives'
}
check_repair() {
	caught no-repair 0760-eintr.t race \
		'no call was interrupted'
}
check_long() {
	caught hold-long 0730-noharm.t waits \
		'waits: undisturbed'
}
check_attach() {
	caught attach-stop 0730-noharm.t parent \
		'the parent saw no stop and no continuation'
}
check_cache() {
	caught stale-cache 0710-stacks.t reload \
		'the stacks are right|or marked'
}
check_rule() {
	caught wrong-rule 0710-stacks.t plain \
		'gcc -O2, asleep'
}
check_exec() {
	caught stale-cache 0747-unchanged.t exec \
		'the one before, then the other'
}
check_root() {
	caught own-root 0770-content.t mount_namespace \
		'not ours of the same name'
}
check_path() {
	caught believe-path 0770-content.t replaced \
		'a library was replaced'
}
check_peeks() {
	caught believe-peeks 0746-pairs.t plain \
		'no frame pointers, a capture every'
}
check_vain() {
	caught stop-in-vain 0745-peeks.t dead_end \
		'a stop found no more: not again'
}
check_complete() {
	caught no-peek 0745-peeks.t asleep \
		'threads 50: no thread is stopped'
}
check_learn() {
	caught learn-anything 0745-peeks.t varying \
		'six levels in all stacks'
}
check_pc() {
	caught believe-pc 0746-pairs.t plain \
		'no frame pointers, a capture every'
}
check_close() {
	caught restart-close,stop-disturbed 0776-close.t stopped \
		'nothing was closed twice'
}
check_rest() {
	caught believe-idle 0746-pairs.t idle \
		'64 threads, at most 2 s asleep'
}
check_standstill() {
	caught believe-standstill 0746-pairs.t idle \
		'64 threads, at most 2 s asleep'
}
check_base() {
	caught base-from-stop 0746-pairs.t plain \
		'no frame pointers, a capture every'
}
check_call() {
	caught stale-call 0746-pairs.t plain \
		'no frame pointers, a capture every'
}
check_deadline() {
	caught no-deadline,no-peek 0750-states.t late \
		'60 threads that go into vfork|no snapshot waits for them'
}
check_cpu() {
	caught cpu-anywhere 0748-cpu-time.t split \
		'split: stacks that sleep have none'
}
check_ready() {
	caught ready-runs 0748-cpu-time.t contended \
		'contended: what it works in has'
}
check_edges() {
	caught believe-edges 0749-edges.t mutexes \
		'mutexes: no edge is false'
}
check_circles() {
	caught cycle-by-edges 0749-edges.t mutexes \
		'mutexes: nothing is a deadlock'
}
check_ended() {
	caught ended-once 0749-edges.t mortals \
		'threads that end soon: no thread ended with a lock'
}
check_queues() {
	caught believe-queues 0749-edges.t rwlocks \
		'rwlocks: no edge is false'
}
check_holders() {
	caught believe-holders 0759-holders.t short \
		'held for a moment: hardly a stack of one that has not got the lock'
}
check_locks() {
	caught believe-locks 0759-holders.t busy \
		'running holders: hardly a stack of one that has not got the lock'
}
check_outside() {
	caught believe-outside,look-always 0757-peers.t closes \
		'closes: who can write is found, or nothing is said'
}
check_condition() { caught_in_c loose-condition 0290-wait-decode.t 'no condition: the waiter came after'; }
check_musl() { caught_in_c musl-any-type 0290-wait-decode.t 'a normal mutex of musl names nobody'; }
check_code() { caught_in_c believe-maps 0753-code.t 'captures that show the file that is mapped'; }
check_kept() { caught_in_c keep-proven 0285-watch.t 'what was kept of it is given up'; }
check_given() { caught_in_c given-to-self 0290-wait-decode.t 'one that inherits priorities and is given'; }
check_ring() { caught_in_c heap-wait 0163-heap-ring.t 'incomplete: and then left out'; }
check_records() { caught_in_c heap-believe 0163-heap-ring.t 'no length'; }
check_found() { caught_in_c believe-links 0163-heap-ring.t 'what has only its name is not opened'; }
check_frames() { caught_in_c heap-own-frames 0764-heap.t 'chain: no frame of the recorder'; }
check_recorder_lock() { caught_in_c recorder-locks 0764-heap.t 'allocating, rate [0-9]+: (processes|the sums)' allocating; }
check_recorder_memory() { caught_in_c recorder-allocates 0764-heap.t 'bump: the allocator has seen' bump; }
check_recorder_call() { caught_in_c recorder-calls 0764-heap.t 'quiet: no system call' quiet; }
check_recorder_size() { caught_in_c recorder-size 0764-heap.t 'mixed, rate [0-9]+: its sums' mixed; }
check_recorder_free() { caught_in_c recorder-misses 0764-heap.t 'freed: none of them lives on' freed; }
check_recorder_filter() { caught_in_c recorder-filter 0764-heap.t 'freed: none of them lives on' freed; }
check_recorder_handler() { caught_in_c recorder-reenters 0764-heap.t 'timer, rate [0-9]+: its peak' peak; }
check_recorder_stack() { caught_in_c recorder-stack 0764-heap.t 'small: [0-9]+ stacks' small; }
check_recorder_hurry() { caught_in_c recorder-hurries 0764-heap.t 'at once: all blocks' at_once; }
check_recorder_loader() { caught_in_c recorder-loader 0764-heap.t 'loading, rate [0-9]+: (processes|the sums)' loading; }
check_heap_starves() { caught heap-starves 0769-heap-samples.t exact '--heap=exact leaves --max-cpu'; }
check_hidden() { caught heap-own-frames 0769-heap-samples.t hidden 'a thread that allocates: nothing of the recorder'; }
check_report() { caught_in_c lose-report 0778-embedder.t '.*: none stays stopped'; }
check_forgets() { caught_in_c close-forgets 0778-embedder.t 'none stays stopped|a later capture releases them'; }
check_pagemap() { caught_in_c ignore-pagemap 0295-census.t 'present, swapped out, or never there'; }
check_cached() { caught ignore-tcache 0766-objects.t idle 'idle: threads keep freed blocks'; }
check_fastbins() { caught ignore-fastbins 0766-objects.t idle 'idle: blocks in fastbins'; }
check_reread() { caught_in_c no-reread 0295-census.t 'it was read again'; }
check_endless() { caught_in_c census-endless 0295-census.t 'it is not all looked for: .*'; }
check_timer() { caught no-timer 0862-hold-timer.t together 'all threads at once: its threads are released'; }
check_opens() { caught open-anything 0871-hostile.t devices 'it is not opened'; }
check_sizes() { caught believe-sizes 0871-hostile.t memory 'with at most'; }

run_checks "$@"

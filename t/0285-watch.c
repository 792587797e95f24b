/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is kept of a thread is given up as soon as any reading of its run count finds that
 * it has run: idle-set.c takes the last count for the one of what is kept. */
#include "lib/tap.h"

#include "capture/watch.h"
#include "lib/child.h"
#include "proc/open.h"

/* It answers each order. */
static bool serve(const struct child *self, void *arg)
{
	for (;;) {
		child_answer(self, true);
		child_wait(self);
	}
	return arg;
}

/* Until it is asleep: the same run count twice, with a nap in between. */
static bool read_asleep(struct pmp_watches *watches, const struct pmp_process *process,
			struct pmp_watch *watch, struct pmp_run_count *run_count)
{
	struct pmp_run_count again;

	for (int i = 0; i < 1000; i++) {
		if (pmp_watch_read(watches, process, watch, run_count) < 0)
			return false;
		usleep(10000);
		if (pmp_watch_read(watches, process, watch, &again) < 0)
			return false;
		if (again.value && again.value == run_count->value)
			return true;
	}
	return false;
}

static void check_kept(struct child *child, const struct pmp_process *process,
		       struct pmp_watches *watches)
{
	const struct pmp_thread thread = { 0 };
	struct pmp_run_count before, after;
	struct pmp_watch *watch = NULL;

	if (!ok(pmp_watches_renew(watches, &child->pid, 1) == 0 &&
			(watch = pmp_watches_find(watches, child->pid)) &&
			read_asleep(watches, process, watch, &before) &&
			pmp_watch_keep(watch, before.value, &thread, NULL, 0) == 0,
		"a thread that sleeps is kept"))
		return;
	ok(pmp_watch_read(watches, process, watch, &after) == 0 &&
		   watch->proven == before.value,
	   "as long as it has not run");
	ok(child_order(child) && read_asleep(watches, process, watch, &after) &&
		   after.value != before.value,
	   "it runs");
	ok(!watch->proven, "what was kept of it is given up");
}

/* Its id may be that of another thread from now on, which has another number in its own
 * namespace. */
static void check_ended(struct child *child, const struct pmp_process *process)
{
	struct pmp_run_count run_count;
	struct pmp_watches watches;
	struct pmp_watch *watch = NULL;

	pmp_watches_init(&watches, process, 0);
	if (!ok(!watches.by_switches &&
			pmp_watches_renew(&watches, &child->pid, 1) == 0 &&
			(watch = pmp_watches_find(&watches, child->pid)) &&
			pmp_watch_read(&watches, process, watch, &run_count) == 0,
		"a thread that lives"))
		goto out;
	watch->ns_tid = 7;
	watches.by_own_current = true;
	ok(pmp_watch_read(&watches, process, watch, &run_count) == 0 &&
		   watch->ns_tid == 7 && watches.by_own_current,
	   "has the number that it had in its namespace");
	child_end(child);
	is_int(pmp_watch_read(&watches, process, watch, &run_count), PMP_ESRCH,
	       "it has ended");
	ok(!watch->ns_tid && !watches.by_own_current, "its number is given up");
out:
	pmp_watches_free(&watches);
}

int main(void)
{
	struct child child = { 0 };
	struct pmp_process process;
	struct pmp_watches watches;

	if (!ok(child_start(&child, serve, NULL) &&
			pmp_process_open(child.pid, &process, NULL) == 0,
		"a process"))
		return done_testing();
	for (int i = 0; i < 2; i++) {
		pmp_watches_init(&watches, &process, 0);
		watches.by_switches |= i == 1;
		check_kept(&child, &process, &watches);
		pmp_watches_free(&watches);
	}
	check_ended(&child, &process);
	pmp_process_close(&process);
	return done_testing();
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Stop, read, release. See stop.h for the rules; ptrace(2) for the states:
 *
 *   NEW --SEIZE, INTERRUPT--> WAITING --waitpid--> HELD --DETACH--> OVER
 *                                |                   |
 *                                |                   '- DETACH fails: late list, tried again
 *                                |- exit: OVER (waitpid has reaped it)
 *                                '- deadline: late list, released when it stops
 *
 * What waitpid reports is our own stop (status >> 16 == PTRACE_EVENT_STOP) or a
 * signal on its way to the thread, which DETACH then delivers with all it
 * carries. A group stop shows as an event stop too; DETACH leaves it stopped, as
 * it was.
 */
#include "capture/stop.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/fault.h"
#include "capture/maps.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define DEADLINE_EACH (100 * PMP_MS)	/* a runnable thread on a loaded machine */
#define DEADLINE_TOGETHER (50 * PMP_MS)	/* all others are held meanwhile */
#define SPIN (20 * PMP_US)		/* looking on, before the first nap */
#define NAP (1 * PMP_MS)		/* between two looks at what does not come */
#define FREE_NAPS 20			/* a last chance for late threads */
#define RED_ZONE 128			/* below the stack pointer, in use by leaf functions */

enum phase { NEW, WAITING, HELD, OVER };

/* A thread that we have seized and that has not been released yet. */
struct late {
	pid_t tid;
	enum phase phase;	/* WAITING or HELD */
	int signal;
	uint64_t polled;	/* when it was last seen not to have stopped */
};

struct pmp_stopper {
	const struct pmp_process *process;
	bool no_restart;
	volatile uint64_t *held_since;

	struct late *late;
	size_t late_count, late_capacity;
	uint64_t late_stopped;	/* ns that late threads were held at most, not yet told */

	sigset_t sigchld, old_mask;
	bool foreign_sigchld;	/* one was consumed that is not ours */
	int old_policy;
	struct sched_param old_param;
	bool may_raise;		/* scheduling priority, until refused */
	bool raised;
	bool may_spin;		/* there is another processor to stop on */
	uint64_t woken;		/* when the last nap ended */
};

/* ---- life ----------------------------------------------------------------- */

struct pmp_stopper *pmp_stopper_new(const struct pmp_process *process, bool no_restart,
				    volatile uint64_t *held_since)
{
	struct pmp_stopper *stopper = calloc(1, sizeof(*stopper));

	if (!stopper)
		return NULL;
	stopper->process = process;
	stopper->no_restart = no_restart;
	stopper->held_since = held_since;
	sigemptyset(&stopper->sigchld);
	sigaddset(&stopper->sigchld, SIGCHLD);
	stopper->may_spin = sysconf(_SC_NPROCESSORS_ONLN) > 1;
	stopper->old_policy = sched_getscheduler(0);
	stopper->may_raise = stopper->old_policy >= 0 &&
			     stopper->old_policy != SCHED_FIFO &&
			     stopper->old_policy != SCHED_RR &&
			     sched_getparam(0, &stopper->old_param) == 0;
	return stopper;
}

void pmp_stopper_free(struct pmp_stopper *stopper)
{
	const struct timespec nap = { .tv_nsec = NAP };

	if (!stopper)
		return;
	for (int i = 0; i < FREE_NAPS && pmp_stopper_settle(stopper) > 0; i++)
		nanosleep(&nap, NULL);
	free(stopper->late);
	free(stopper);
}

static void sign_of_life(struct pmp_stopper *stopper, uint64_t now)
{
	if (stopper->held_since)
		*stopper->held_since = now;
}

/*
 * Before the first and after the last of a batch. A raised priority is the
 * largest lever against long stops on a loaded machine: the moment the thread
 * has stopped, we run. It does not keep a thread from coming to its stop on the
 * same processor, as we sleep until it has.
 */
static void section_begin(struct pmp_stopper *stopper)
{
	const struct sched_param param = { .sched_priority = 1 };

	pthread_sigmask(SIG_BLOCK, &stopper->sigchld, &stopper->old_mask);
	stopper->foreign_sigchld = false;
	if (!stopper->may_raise || stopper->raised)
		return;
	stopper->raised = sched_setscheduler(0, SCHED_RR | SCHED_RESET_ON_FORK, &param) == 0;
	stopper->may_raise = stopper->raised;
}

/* Nothing is held any more, so that we may be left without a processor. While
 * threads are late one of them may stop at any time. */
static void rest(struct pmp_stopper *stopper)
{
	sign_of_life(stopper, stopper->late_count ? pmp_clock() : 0);
	if (stopper->late_count || !stopper->raised)
		return;
	sched_setscheduler(0, stopper->old_policy, &stopper->old_param);
	stopper->raised = false;
}

static void section_end(struct pmp_stopper *stopper)
{
	rest(stopper);
	if (stopper->foreign_sigchld)
		raise(SIGCHLD);
	pthread_sigmask(SIG_SETMASK, &stopper->old_mask, NULL);
}

/* Sleep until a traced thread has something to tell, or a little. */
static void nap(struct pmp_stopper *stopper)
{
	const struct timespec timeout = { .tv_nsec = NAP };
	siginfo_t info;

	if (sigtimedwait(&stopper->sigchld, &info, &timeout) == SIGCHLD &&
	    info.si_code != CLD_TRAPPED && info.si_code != CLD_STOPPED)
		stopper->foreign_sigchld = true;
	stopper->woken = pmp_clock();
}

/*
 * A thread that has stopped would have to wait until we are awake, which takes
 * longer than all that is done to it. So go on looking for the first moments
 * after the last news.
 */
static void look_or_nap(struct pmp_stopper *stopper, uint64_t news)
{
	if (!stopper->may_spin || pmp_clock() - news > SPIN)
		nap(stopper);
}

/* ---- one step each -------------------------------------------------------- */

/* waitpid for this thread alone: waitpid(-1) is linear in the traced threads,
 * and would pick up children that are not ours. */
static pid_t poll_thread(pid_t tid, int *status)
{
	pid_t got;

	do {
		got = waitpid(tid, status, __WALL | WNOHANG);
	} while (got < 0 && errno == EINTR);
	return got;
}

static bool detach(pid_t tid, int signal)
{
	if (PMP_FAULT("cont"))
		return true;
	if (PMP_FAULT("detach-no-signal"))
		signal = 0;
	return ptrace(PTRACE_DETACH, tid, NULL, (void *)(uintptr_t)signal) == 0;
}

/* The signal to hand on: none for our own stop. */
static int signal_of(int status)
{
	return status >> 16 == PTRACE_EVENT_STOP ? 0 : WSTOPSIG(status);
}

/* Room was made before anything was seized. */
static void add_late(struct pmp_stopper *stopper, pid_t tid, enum phase phase, int signal)
{
	if (PMP_FAULT("late-forget"))
		return;
	for (size_t i = 0; i < stopper->late_count; i++)
		if (stopper->late[i].tid == tid)
			return;
	stopper->late[stopper->late_count++] =
		(struct late){ tid, phase, signal, pmp_clock() };
}

static bool is_ours(const struct pmp_stopper *stopper, pid_t tid)
{
	char path[32];

	snprintf(path, sizeof(path), "task/%d", (int)tid);
	return faccessat(stopper->process->proc, path, F_OK, 0) == 0 || errno != ENOENT;
}

/* The thread goes on until it is interrupted: that comes right behind the read. */
static void interrupt(struct pmp_stopper *stopper, struct pmp_hold *hold)
{
	char path[40], text[256];
	ssize_t length = 0;
	int fd = -1;

	if (pmp_arch_restart_needs_call && !stopper->no_restart) {
		snprintf(path, sizeof(path), "task/%d/syscall", (int)hold->tid);
		fd = openat(stopper->process->proc, path, O_RDONLY | O_CLOEXEC);
	}
	if (fd >= 0)
		length = pread(fd, text, sizeof(text), 0);
	ptrace(PTRACE_INTERRUPT, hold->tid, NULL, NULL);
	if (length <= 0 || !pmp_syscall_parse(text, (size_t)length, &hold->call))
		hold->call.number = PMP_SYSCALL_UNKNOWN;
	if (fd >= 0)
		close(fd);
}

static void seize(struct pmp_stopper *stopper, struct pmp_hold *hold)
{
	bool ours;

	hold->phase = OVER;
	if (pmp_stopper_is_late(stopper, hold->tid)) {
		hold->result = PMP_HOLD_LATE;
		return;
	}
	if (PMP_FAULT("attach-stop"))
		kill(hold->tid, SIGSTOP);
	if (PMP_FAULT("no-repair"))
		usleep(300);	/* long enough for a running thread to go to sleep */
	if (ptrace(PTRACE_SEIZE, hold->tid, NULL, NULL) < 0) {
		hold->sys_errno = errno;
		hold->result = errno == ESRCH ? PMP_HOLD_GONE : PMP_HOLD_REFUSED;
		return;
	}
	if (PMP_FAULT("no-reap") && hold->tid != stopper->process->pid) {
		hold->result = PMP_HOLD_GONE;
		return;
	}
	ours = is_ours(stopper, hold->tid);
	hold->begin = pmp_clock();
	sign_of_life(stopper, hold->begin);
	interrupt(stopper, hold);
	if (!ours) {
		/* The id has gone to another process. There is no detaching
		 * without a stop; at least nothing of it is read. */
		hold->result = PMP_HOLD_GONE;
		add_late(stopper, hold->tid, WAITING, 0);
		return;
	}
	hold->phase = WAITING;
}

static void copy_ranges(struct pmp_stopper *stopper, const struct pmp_maps *maps,
			struct pmp_hold *hold)
{
	hold->ranges[0].address = pmp_arch_sp(&hold->user);
	if (hold->ranges[0].address >= RED_ZONE)
		hold->ranges[0].address -= RED_ZONE;
	for (size_t i = 0; i < hold->range_count; i++) {
		struct pmp_range *range = &hold->ranges[i];
		ssize_t got = -1;

		if (range->address <= INT64_MAX - range->want)
			got = pread(stopper->process->mem, range->data,
				    pmp_maps_room(maps, range->address, range->want),
				    (off_t)range->address);
		range->got = got > 0 ? (size_t)got : 0;
	}
}

/* All that is done to a thread while it is held. */
static void read_held(struct pmp_stopper *stopper, const struct pmp_maps *maps,
		      struct pmp_hold *hold)
{
	int r = pmp_arch_read(hold->tid, &hold->user, &hold->tls);

	if (r < 0) {
		hold->result = PMP_HOLD_FAILED;
		hold->sys_errno = -r;
		return;
	}
	if (!stopper->no_restart && hold->status >> 16 == PTRACE_EVENT_STOP &&
	    !PMP_FAULT("no-repair"))
		pmp_arch_restart(hold->tid, &hold->user, &hold->call);
	copy_ranges(stopper, maps, hold);
	if (PMP_FAULT("hold-long"))
		usleep(300 * 1000);
	hold->result = PMP_HOLD_DONE;
}

static void release(struct pmp_stopper *stopper, struct pmp_hold *hold)
{
	if (!detach(hold->tid, hold->signal)) {
		/* ESRCH: it was killed meanwhile and is to be reaped. */
		bool killed = errno == ESRCH;

		add_late(stopper, hold->tid, killed ? WAITING : HELD, hold->signal);
		if (killed)
			hold->result = PMP_HOLD_GONE;
	}
	hold->stopped = pmp_clock() - hold->begin;
	hold->phase = OVER;
}

/* Has it stopped? Then it is HELD and its status says how; or OVER. */
static void poll_hold(struct pmp_stopper *stopper, struct pmp_hold *hold)
{
	pid_t got = poll_thread(hold->tid, &hold->status);

	if (got == hold->tid && WIFSTOPPED(hold->status)) {
		hold->phase = HELD;
		hold->signal = signal_of(hold->status);
	} else if (got == hold->tid) {
		hold->phase = OVER;
		hold->result = PMP_HOLD_GONE;
	} else if (got < 0 && errno == ECHILD) {
		/* Another thread has exec'ed, and this one is no more; if it was
		 * the one that did, it has the process's id now. */
		hold->phase = OVER;
		hold->result = PMP_HOLD_GONE;
		if (hold->tid != stopper->process->pid)
			add_late(stopper, stopper->process->pid, WAITING, 0);
	}
}

static void give_up(struct pmp_stopper *stopper, struct pmp_hold *hold)
{
	hold->phase = OVER;
	hold->result = PMP_HOLD_LATE;
	add_late(stopper, hold->tid, WAITING, 0);
}

/* ---- the late list -------------------------------------------------------- */

/* True when this one is done with. */
static bool settle_one(struct pmp_stopper *stopper, struct late *late)
{
	int status = 0;

	if (PMP_FAULT("late-slow") && pmp_clock() - late->polled < 100 * PMP_MS)
		return false;
	if (late->phase == WAITING) {
		uint64_t now = pmp_clock();
		pid_t got = poll_thread(late->tid, &status);

		if (got < 0 && errno == ECHILD) {
			if (late->tid == stopper->process->pid)
				return true;
			late->tid = stopper->process->pid;	/* as in poll_hold */
			return false;
		}
		if (got != late->tid) {
			late->polled = now;
			return false;
		}
		if (!WIFSTOPPED(status))
			return true;
		late->phase = HELD;
		late->signal = signal_of(status);
	}
	if (detach(late->tid, late->signal)) {
		stopper->late_stopped += pmp_clock() - late->polled;
		return true;
	}
	if (errno == ESRCH)
		late->phase = WAITING;
	return false;
}

/* Release those of the late threads that have stopped by now. */
static void settle_all(struct pmp_stopper *stopper)
{
	size_t left = 0;

	for (size_t i = 0; i < stopper->late_count; i++)
		if (!settle_one(stopper, &stopper->late[i]))
			stopper->late[left++] = stopper->late[i];
	stopper->late_count = left;
}

size_t pmp_stopper_settle(struct pmp_stopper *stopper)
{
	if (stopper->late_count == 0)
		return 0;
	settle_all(stopper);
	rest(stopper);
	return stopper->late_count;
}

uint64_t pmp_stopper_late_time(struct pmp_stopper *stopper)
{
	uint64_t time = stopper->late_stopped;

	stopper->late_stopped = 0;
	return time;
}

bool pmp_stopper_is_late(const struct pmp_stopper *stopper, pid_t tid)
{
	for (size_t i = 0; i < stopper->late_count; i++)
		if (stopper->late[i].tid == tid)
			return true;
	return false;
}

/* Each hold may need a place on the list, and an exec one more. */
static bool reserve_late(struct pmp_stopper *stopper, size_t count)
{
	return PMP_RESERVE(&stopper->late, &stopper->late_capacity,
			   stopper->late_count + count + 1) == 0;
}

static void prepare(struct pmp_hold *holds, size_t count, bool no_memory)
{
	for (size_t i = 0; i < count; i++) {
		holds[i].phase = no_memory ? OVER : NEW;
		holds[i].result = PMP_HOLD_FAILED;
		holds[i].sys_errno = no_memory ? ENOMEM : 0;
		holds[i].stopped = 0;
		holds[i].signal = 0;
		holds[i].tls = 0;
		for (size_t r = 0; r < holds[i].range_count; r++)
			holds[i].ranges[r].got = 0;
	}
}

/* ---- thread after thread --------------------------------------------------- */

/* A batch on its way: the running ones are all asked to stop at the begin, as
 * each takes a while; of the blocked ones only one is under way at a time. */
struct batch {
	struct pmp_stopper *stopper;
	const struct pmp_maps *maps;
	struct pmp_hold *holds;
	size_t count;
	size_t next;		/* the next blocked one to start */
	bool blocked_in_flight;
	uint64_t polled;	/* when none of those under way had stopped yet */
	uint64_t sum;		/* of all stops */
};

/* Returns true if the thread is OVER. */
static bool advance(struct batch *batch, struct pmp_hold *hold)
{
	struct pmp_stopper *stopper = batch->stopper;

	if (PMP_FAULT("always-late")) {
		give_up(stopper, hold);
		return true;
	}
	poll_hold(stopper, hold);
	if (hold->phase == HELD) {
		/* Its stop began after it was last seen not to have stopped, and
		 * (but for the time to wake us) not before our nap ended. */
		if (hold->begin < batch->polled)
			hold->begin = batch->polled;
		if (hold->begin < stopper->woken)
			hold->begin = stopper->woken;
		read_held(stopper, batch->maps, hold);
		release(stopper, hold);
		batch->sum += hold->stopped;
	} else if (hold->phase == WAITING && pmp_clock() - hold->begin > DEADLINE_EACH &&
		   !PMP_FAULT("no-deadline")) {
		give_up(stopper, hold);
	}
	return hold->phase == OVER;
}

static void start_next_blocked(struct batch *batch)
{
	while (batch->next < batch->count && !batch->blocked_in_flight) {
		struct pmp_hold *hold = &batch->holds[batch->next++];

		if (hold->phase != NEW)
			continue;
		seize(batch->stopper, hold);
		batch->blocked_in_flight = hold->phase == WAITING;
	}
}

/* One look at all that is under way. Returns how many are; *progress: one was finished. */
static size_t look_round(struct batch *batch, bool *progress)
{
	size_t pending = 0;
	uint64_t now = pmp_clock();

	sign_of_life(batch->stopper, now);
	for (size_t i = 0; i < batch->count; i++) {
		struct pmp_hold *hold = &batch->holds[i];

		if (hold->phase != WAITING)
			continue;
		if (!advance(batch, hold)) {
			pending++;
			continue;
		}
		*progress = true;
		if (!hold->running)
			batch->blocked_in_flight = false;
	}
	batch->polled = now;
	return pending;
}

uint64_t pmp_stop_each(struct pmp_stopper *stopper, const struct pmp_maps *maps,
		       struct pmp_hold *holds, size_t count)
{
	struct batch batch = { .stopper = stopper, .maps = maps, .holds = holds, .count = count };
	bool ready = reserve_late(stopper, count);
	uint64_t begin = pmp_clock(), news = begin, elapsed;

	prepare(holds, count, !ready);
	section_begin(stopper);
	stopper->woken = batch.polled = begin;
	for (size_t i = 0; i < count; i++)
		if (holds[i].running && holds[i].phase == NEW)
			seize(stopper, &holds[i]);
	for (;;) {
		bool progress = false;
		size_t pending;

		start_next_blocked(&batch);
		pending = look_round(&batch, &progress);
		if (pending == 0 && batch.next == count)
			break;
		/* One that was given up is held from its stop to the next look at it. */
		settle_all(stopper);
		if (progress)
			news = pmp_clock();
		else
			look_or_nap(stopper, news);
	}
	pmp_stopper_settle(stopper);
	section_end(stopper);
	elapsed = pmp_clock() - begin;
	return batch.sum < elapsed ? batch.sum : elapsed;
}

/* ---- all together ---------------------------------------------------------- */

static void await(struct pmp_stopper *stopper, struct pmp_hold *hold, uint64_t deadline)
{
	while (hold->phase == WAITING) {
		poll_hold(stopper, hold);
		if (hold->phase != WAITING)
			break;
		if (pmp_clock() > deadline)
			give_up(stopper, hold);
		else
			nap(stopper);
		settle_all(stopper);
	}
}

uint64_t pmp_stop_together(struct pmp_stopper *stopper, const struct pmp_maps *maps,
			   struct pmp_hold *holds, size_t count)
{
	bool ready = reserve_late(stopper, count);
	uint64_t begin, deadline;

	prepare(holds, count, !ready);
	section_begin(stopper);
	begin = pmp_clock();
	for (size_t i = 0; i < count; i++)
		if (holds[i].phase == NEW)
			seize(stopper, &holds[i]);
	deadline = pmp_clock() + DEADLINE_TOGETHER;
	for (size_t i = 0; i < count; i++)
		await(stopper, &holds[i], deadline);
	for (size_t i = 0; i < count; i++)
		if (holds[i].phase == HELD)
			read_held(stopper, maps, &holds[i]);
	for (size_t i = 0; i < count; i++)
		if (holds[i].phase == HELD)
			release(stopper, &holds[i]);
	pmp_stopper_settle(stopper);
	section_end(stopper);
	return pmp_clock() - begin;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Stop, read, release. See stop.h for the rules; ptrace(2) for the states:
 *
 *   NEW --SEIZE, INTERRUPT--> WAITING --waitpid--> HELD --DETACH--> OVER
 *                                |                   |
 *                                |                   '- DETACH fails: pending, retried
 *                                |- exit: OVER (waitpid has reaped it)
 *                                '- deadline: pending stop, released when it stops
 *
 * waitpid reports either our own stop (status >> 16 == PTRACE_EVENT_STOP) or a signal
 * being delivered to the thread, which DETACH then delivers with its siginfo. A group stop
 * also shows as an event stop; DETACH leaves the thread stopped, as it was. If another
 * thread of this process has taken the report, by waitpid(-1), PTRACE_GETSIGINFO tells the
 * same, and DETACH does not need the report.
 */
#include "capture/stop.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/fault.h"
#include "base/scheduling.h"
#include "proc/maps.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define DEADLINE_EACH (100 * PMP_MS)	/* a runnable thread on a loaded machine */
#define DEADLINE_TOGETHER (50 * PMP_MS) /* all others are held until then */
#define SPIN (20 * PMP_US)		/* polling, before the first nap */
#define NAP (1 * PMP_MS)	/* polling interval for a thread that has not stopped */
#define NAP_BLIND (50 * PMP_US) /* the same if no SIGCHLD may end it */
#define STUCK_AFTER (100 * PMP_MS) /* a pending stop that may never happen */
#define STUCK_EACH (1 * PMP_MS)	   /* polling interval for such a stop */
#define LOST_AFTER (1 * PMP_MS)	   /* after that the report of a stop may be lost */
#define RENEW_AFTER (100 * PMP_MS) /* the watchdog, between two stops of a batch */
#define FREE_NAPS 20		   /* a last chance for threads with pending stops */
#define RED_ZONE 128		   /* below the stack pointer, in use by leaf functions */

enum phase { NEW, WAITING, HELD, OVER };

/* Does the SIGCHLD of a stop end our naps? It does not if the program ignores it or wants
 * none for stops (SA_NOCLDSTOP), or if another of its threads takes it. */
enum waking { NOT_SEEN_YET, SEEN, MISSED };

/* A thread that we have seized and not released yet. */
struct pending {
	pid_t tid;
	enum phase phase; /* WAITING, HELD; OVER: it has ended */
	int signal;
	uint64_t since;
	uint64_t polled; /* when it was last seen not stopped */
};

struct pmp_stopper {
	const struct pmp_process *process; /* NULL: the target is closed */
	pid_t pid;
	const struct pmp_target_options *options; /* NULL: likewise */
	struct pmp_stopper *next;		  /* in the list of closed ones */

	struct pending *pending;
	size_t pending_count, pending_capacity;
	uint64_t pending_stopped; /* maximum ns that released ones were held, not yet
				   * reported */

	sigset_t sigchld, old_mask;
	bool took_sigchld;    /* at least one in this section, ... */
	bool foreign_sigchld; /* ... not for a stop */
	enum waking waking;
	bool overslept; /* no SIGCHLD ended the last nap, although one should have */
	volatile sig_atomic_t handled; /* one that a handler took would have ended it */
	uint64_t ends_taken; /* when the handler last looked at the pending ones */
	struct pmp_scheduling usual; /* scheduling when not raised */
	bool may_raise;		     /* the scheduling priority, until refused */
	bool raised;
	bool may_spin;	    /* there is another processor for the thread to stop on */
	uint64_t woken;	    /* when the last nap ended */
	uint64_t announced; /* when options->holding was called last */
};

/* Stoppers of closed targets with threads that have not stopped yet. Only the thread that
 * seized them can release them, or the kernel when it exits. */
static _Thread_local struct pmp_stopper *closed;
/* Frees their memory when the thread exits. */
static pthread_key_t closed_key;
static pthread_once_t closed_once = PTHREAD_ONCE_INIT;
static bool closed_has_key;

/* For the handler of SIGCHLD, while PTRACE_SEIZE may block. */
static _Thread_local struct {
	struct pmp_stopper *volatile stopper; /* NULL: it does not */
	struct pmp_stop_request *requests;
	size_t count;
} seizing;

/* ---- life ----------------------------------------------------------------- */

struct pmp_stopper *pmp_stopper_new(const struct pmp_process *process,
				    const struct pmp_target_options *options)
{
	struct pmp_stopper *stopper = calloc(1, sizeof(*stopper));

	if (!stopper)
		return NULL;
	stopper->process = process;
	stopper->pid = process->pid;
	stopper->options = options;
	sigemptyset(&stopper->sigchld);
	if (!options->keep_sigchld)
		sigaddset(&stopper->sigchld, SIGCHLD);
	stopper->may_spin = sysconf(_SC_NPROCESSORS_ONLN) > 1;
	stopper->may_raise = !options->keep_scheduling;
	return stopper;
}

static void stopper_free(struct pmp_stopper *stopper)
{
	free(stopper->pending);
	free(stopper);
}

static void free_closed(void *list)
{
	struct pmp_stopper *next, *stopper = *(struct pmp_stopper **)list;

	for (; stopper; stopper = next) {
		next = stopper->next;
		stopper_free(stopper);
	}
}

static void make_closed_key(void)
{
	closed_has_key = pthread_key_create(&closed_key, free_closed) == 0;
}

/* Without a key the memory leaks when the thread exits, but no thread stays held. */
static void keep_closed(struct pmp_stopper *stopper)
{
	stopper->next = closed;
	closed = stopper;
	pthread_once(&closed_once, make_closed_key);
	if (closed_has_key)
		pthread_setspecific(closed_key, &closed);
}

/* A thread with a real-time priority or deadline keeps it, because only its owner could
 * restore it. */
static bool is_usual(unsigned policy)
{
	return policy == SCHED_OTHER || policy == SCHED_BATCH || policy == SCHED_IDLE;
}

/*
 * A raised priority helps most against long stops on a loaded machine: we run as soon as
 * the thread has stopped. It does not keep a thread on the same processor from reaching
 * its stop, because we sleep until then. SCHED_RESET_ON_FORK is not used, because only
 * privileged processes can undo it.
 */
static void raise_priority(struct pmp_stopper *stopper)
{
	const struct sched_param param = { .sched_priority = 1 };

	if (!stopper->may_raise || stopper->raised)
		return;
	if (pmp_scheduling_get(&stopper->usual) || !is_usual(stopper->usual.policy))
		return;
	stopper->raised = sched_setscheduler(0, SCHED_RR, &param) == 0;
	stopper->may_raise = stopper->raised;
}

static void lower_priority(struct pmp_stopper *stopper)
{
	if (stopper->raised)
		pmp_scheduling_set(&stopper->usual);
	stopper->raised = false;
}

static void announce(struct pmp_stopper *stopper, bool begins)
{
	const struct pmp_target_options *options = stopper->options;

	if (!options || !options->holding || PMP_FAULT("no-timer"))
		return;
	options->holding(options->holding_arg, begins);
	stopper->announced = pmp_clock();
}

static void sign_of_life(struct pmp_stopper *stopper, uint64_t now)
{
	if (stopper->options && stopper->options->held_since)
		__atomic_store_n(stopper->options->held_since, now, __ATOMIC_RELAXED);
}

void pmp_stopper_free(struct pmp_stopper *stopper)
{
	const struct timespec nap = { .tv_nsec = NAP };

	if (!stopper)
		return;
	for (int i = 0; i < FREE_NAPS && pmp_stopper_reap(stopper) > 0; i++)
		nanosleep(&nap, NULL);
	if (stopper->pending_count == 0 || PMP_FAULT("close-forgets")) {
		stopper_free(stopper);
		return;
	}
	lower_priority(stopper);
	sign_of_life(stopper, 0);
	announce(stopper, false);
	stopper->process = NULL;
	stopper->options = NULL;
	keep_closed(stopper);
}

/* Enclose a batch of stops. */
static void section_begin(struct pmp_stopper *stopper, struct pmp_stop_request *requests,
			  size_t count)
{
	seizing.requests = requests;
	seizing.count = count;
	announce(stopper, true);
	pthread_sigmask(SIG_BLOCK, &stopper->sigchld, &stopper->old_mask);
	stopper->took_sigchld = stopper->foreign_sigchld = stopper->overslept = false;
	raise_priority(stopper);
}

static bool is_stuck(const struct pending *pending, uint64_t now)
{
	return pending->phase == WAITING && now - pending->since > STUCK_AFTER &&
	       !PMP_FAULT("never-stuck");
}

static bool all_are_stuck(const struct pmp_stopper *stopper, uint64_t now)
{
	for (size_t i = 0; i < stopper->pending_count; i++)
		if (!is_stuck(&stopper->pending[i], now))
			return false;
	return true;
}

/* No thread is held any more, so we may lose the processor. While stops are pending, a
 * thread may stop at any time; but the priority is not kept high for stops that may never
 * happen. */
static void rest(struct pmp_stopper *stopper)
{
	const uint64_t now = pmp_clock();

	sign_of_life(stopper, stopper->pending_count ? now : 0);
	announce(stopper, stopper->pending_count > 0);
	if (all_are_stuck(stopper, now))
		lower_priority(stopper);
}

/* Does this process have a child whose report has not been taken yet? Its SIGCHLD may have
 * been merged with that of a stop, because at most one is pending. */
static bool has_report(void)
{
	siginfo_t info = { .si_pid = 0 };

	return waitid(P_ALL, 0, &info,
		      WEXITED | WSTOPPED | WCONTINUED | WNOHANG | WNOWAIT) == 0 &&
	       info.si_pid != 0;
}

/* Sent to the process, not to this thread: another thread may be waiting for it. */
static void pass_on_sigchld(const struct pmp_stopper *stopper)
{
	if (stopper->foreign_sigchld || (stopper->took_sigchld && has_report()))
		kill(getpid(), SIGCHLD);
}

static void section_end(struct pmp_stopper *stopper)
{
	rest(stopper);
	pass_on_sigchld(stopper);
	pthread_sigmask(SIG_SETMASK, &stopper->old_mask, NULL);
}

static void take_sigchld(struct pmp_stopper *stopper, const siginfo_t *info)
{
	stopper->took_sigchld = true;
	if (info->si_code != CLD_TRAPPED && info->si_code != CLD_STOPPED)
		stopper->foreign_sigchld = true;
	else if (stopper->waking == NOT_SEEN_YET)
		stopper->waking = SEEN;
}

/* Sleep until a traced thread has something to report, or for a short time. */
static void nap(struct pmp_stopper *stopper)
{
	const bool wakes = stopper->waking == SEEN;
	const struct timespec time = { .tv_nsec = wakes ? NAP : NAP_BLIND };
	siginfo_t info;

	stopper->overslept = false;
	if (stopper->handled)
		stopper->handled = 0;
	else if (stopper->options->keep_sigchld)
		nanosleep(&time, NULL);
	else if (sigtimedwait(&stopper->sigchld, &info, &time) == SIGCHLD)
		take_sigchld(stopper, &info);
	else
		stopper->overslept = wakes && errno == EAGAIN;
	stopper->woken = pmp_clock();
}

/*
 * A stopped thread would have to wait until we wake up, which takes longer than
 * everything that is done to it. So keep polling for a moment after the last
 * progress.
 */
static void spin_or_nap(struct pmp_stopper *stopper, uint64_t news)
{
	if (!stopper->may_spin || pmp_clock() - news > SPIN)
		nap(stopper);
}

/* ---- one step each -------------------------------------------------------- */

/* waitpid for this thread alone: waitpid(-1) is linear in the number of traced
 * threads, and would reap children that are not ours. */
static pid_t poll_thread(pid_t tid, int *status)
{
	pid_t got;

	do {
		got = waitpid(tid, status, __WALL | WNOHANG);
	} while (got < 0 && errno == EINTR);
	return got;
}

/*
 * The same for a thread that waitpid() has not reported for long: it may have stopped, and
 * another thread of this process may have taken the report.
 */
static pid_t poll_unreported(pid_t tid, int *status)
{
	siginfo_t info;

	/* ESRCH: it has not stopped. */
	if (PMP_FAULT("lose-report") || ptrace(PTRACE_GETSIGINFO, tid, NULL, &info) < 0)
		return 0;
	*status = W_STOPCODE(info.si_code >> 8 == PTRACE_EVENT_STOP ? info.si_code
								    : info.si_signo);
	return tid;
}

static bool detach(pid_t tid, int signal)
{
	if (PMP_FAULT("cont"))
		return true;
	if (PMP_FAULT("detach-no-signal"))
		signal = 0;
	return ptrace(PTRACE_DETACH, tid, NULL, (void *)(uintptr_t)signal) == 0;
}

/* The signal to deliver: none for our own stop. */
static int signal_of(int status)
{
	return status >> 16 == PTRACE_EVENT_STOP ? 0 : WSTOPSIG(status);
}

/* Room was reserved before anything was seized. */
static void add_pending(struct pmp_stopper *stopper, pid_t tid, enum phase phase,
			int signal)
{
	const uint64_t now = pmp_clock();

	if (PMP_FAULT("late-forget"))
		return;
	for (size_t i = 0; i < stopper->pending_count; i++)
		if (stopper->pending[i].tid == tid)
			return;
	stopper->pending[stopper->pending_count++] =
		(struct pending){ tid, phase, signal, now, now };
}

/* The thread runs until it is interrupted, so the interrupt comes right after the read. */
static void interrupt(struct pmp_stopper *stopper, struct pmp_stop_request *request)
{
	char text[256];
	ssize_t length = 0;
	int fd = -1;

	if (pmp_user_regs_restart_needs_call && !stopper->options->no_restart)
		fd = pmp_task_open(stopper->process, request->tid, "syscall");
	if (fd >= 0)
		length = pread(fd, text, sizeof(text), 0);
	ptrace(PTRACE_INTERRUPT, request->tid, NULL, NULL);
	if (length <= 0 || !pmp_syscall_parse(text, (size_t)length, &request->call))
		request->call.number = PMP_SYSCALL_UNKNOWN;
	if (fd >= 0)
		close(fd);
}

/* Take the report of its end. False: it has not ended. One of a stop is left: it would be
 * taken with any options, as the thread is traced. */
static bool take_end(pid_t tid)
{
	const int options = WEXITED | WNOHANG | __WALL;
	siginfo_t info = { .si_pid = 0 };

	if (waitid(P_PID, (id_t)tid, &info, options | WNOWAIT) != 0 || info.si_pid == 0 ||
	    info.si_code == CLD_TRAPPED || info.si_code == CLD_STOPPED)
		return false;
	return waitid(P_PID, (id_t)tid, &info, options) == 0;
}

static void take_ends(struct pmp_stop_request *requests, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (requests[i].phase != WAITING || !take_end(requests[i].tid))
			continue;
		requests[i].phase = OVER;
		requests[i].result = PMP_REQUEST_GONE;
	}
}

/* There may be thousands of them, and this is asked for each stop. */
static void take_pending_ends(struct pmp_stopper *stopper)
{
	const uint64_t now = pmp_clock();

	if (now - stopper->ends_taken < STUCK_EACH)
		return;
	stopper->ends_taken = now;
	for (size_t i = 0; i < stopper->pending_count; i++)
		if (stopper->pending[i].phase == WAITING &&
		    take_end(stopper->pending[i].tid))
			stopper->pending[i].phase = OVER;
}

void pmp_target_sigchld(void)
{
	struct pmp_stopper *stopper = seizing.stopper;
	const int before = errno;

	if (!stopper || PMP_FAULT("exec-waits"))
		return;
	stopper->handled = 1;
	take_ends(seizing.requests, seizing.count);
	take_pending_ends(stopper);
	errno = before;
}

/*
 * An execve() of the target makes PTRACE_SEIZE wait until it is done, and itself waits for
 * the other threads to end. Those that are seized have ended only when we have taken their
 * reports: so a handler does that, after which the kernel tries again.
 */
static bool attach(struct pmp_stopper *stopper, pid_t tid)
{
	bool attached;

	if (!stopper->options->handles_sigchld)
		return ptrace(PTRACE_SEIZE, tid, NULL, NULL) == 0;
	seizing.stopper = stopper;
	pthread_sigmask(SIG_UNBLOCK, &stopper->sigchld, NULL);
	attached = ptrace(PTRACE_SEIZE, tid, NULL, NULL) == 0;
	pthread_sigmask(SIG_BLOCK, &stopper->sigchld, NULL);
	seizing.stopper = NULL;
	return attached;
}

static void seize(struct pmp_stopper *stopper, struct pmp_stop_request *request)
{
	bool ours;

	request->phase = OVER;
	if (pmp_stopper_is_pending(stopper, request->tid)) {
		request->result = PMP_REQUEST_LATE;
		return;
	}
	if (PMP_FAULT("attach-stop"))
		kill(request->tid, SIGSTOP);
	if (PMP_FAULT("no-repair"))
		usleep(300); /* long enough for a running thread to go to sleep */
	if (!attach(stopper, request->tid)) {
		request->sys_errno = errno;
		request->result = errno == ESRCH ? PMP_REQUEST_GONE : PMP_REQUEST_REFUSED;
		return;
	}
	if (PMP_FAULT("no-reap") && request->tid != stopper->pid) {
		request->result = PMP_REQUEST_GONE;
		return;
	}
	ours = pmp_task_exists(stopper->process, request->tid);
	request->start = pmp_clock();
	sign_of_life(stopper, request->start);
	interrupt(stopper, request);
	if (!ours) {
		/* The id now belongs to another process. Detaching requires a
		 * stop, but at least nothing of it is read. */
		request->result = PMP_REQUEST_GONE;
		add_pending(stopper, request->tid, WAITING, 0);
		return;
	}
	request->phase = WAITING;
}

static void copy_range(struct pmp_stopper *stopper, const struct pmp_maps *maps,
		       struct pmp_range *range)
{
	ssize_t got = -1;

	if (range->address <= INT64_MAX - range->want)
		got = pread(stopper->process->mem, range->data,
			    pmp_maps_room(maps, range->address, range->want),
			    (off_t)range->address);
	range->got = got > 0 ? (size_t)got : 0;
}

static void copy_ranges(struct pmp_stopper *stopper, const struct pmp_maps *maps,
			struct pmp_stop_request *request)
{
	request->ranges[0].address = pmp_user_regs_sp(&request->user);
	if (request->ranges[0].address >= RED_ZONE)
		request->ranges[0].address -= RED_ZONE;
	for (size_t i = 0; i < request->range_count; i++)
		copy_range(stopper, maps, &request->ranges[i]);
	if (request->lock.want)
		copy_range(stopper, maps, &request->lock);
}

/* Everything that is done to a thread while it is held. */
static void read_held(struct pmp_stopper *stopper, const struct pmp_maps *maps,
		      struct pmp_stop_request *request)
{
	int r = pmp_user_regs_read(request->tid, &request->user, &request->tls);

	if (r < 0) {
		request->result = PMP_REQUEST_FAILED;
		request->sys_errno = -r;
		return;
	}
	request->restarted =
		!stopper->options->no_restart &&
		request->status >> 16 == PTRACE_EVENT_STOP && !PMP_FAULT("no-repair") &&
		pmp_user_regs_restart(request->tid, &request->user, &request->call);
	copy_ranges(stopper, maps, request);
	if (PMP_FAULT("hold-long"))
		usleep(300 * 1000);
	request->result = PMP_REQUEST_DONE;
}

static void release(struct pmp_stopper *stopper, struct pmp_stop_request *request)
{
	if (!detach(request->tid, request->signal)) {
		/* ESRCH: it was killed meanwhile and must be reaped. */
		bool killed = errno == ESRCH;

		add_pending(stopper, request->tid, killed ? WAITING : HELD,
			    request->signal);
		if (killed)
			request->result = PMP_REQUEST_GONE;
	}
	request->stopped = pmp_clock() - request->start;
	request->phase = OVER;
}

/* Has it stopped? Then it becomes HELD, and its status tells how; or OVER. */
static void poll_request(struct pmp_stopper *stopper, struct pmp_stop_request *request)
{
	pid_t got = poll_thread(request->tid, &request->status);

	if (got == 0 && pmp_clock() - request->start > LOST_AFTER)
		got = poll_unreported(request->tid, &request->status);
	if (got == request->tid && WIFSTOPPED(request->status)) {
		if (stopper->overslept)
			stopper->waking = MISSED;
		request->phase = HELD;
		request->signal = signal_of(request->status);
	} else if (got == request->tid) {
		request->phase = OVER;
		request->result = PMP_REQUEST_GONE;
	} else if (got < 0 && errno == ECHILD) {
		/* A thread has exec'ed, and this tid does not exist any more;
		 * if it was this thread, it now has the process's id. */
		request->phase = OVER;
		request->result = PMP_REQUEST_GONE;
		if (request->tid != stopper->pid)
			add_pending(stopper, stopper->pid, WAITING, 0);
	}
}

static void give_up(struct pmp_stopper *stopper, struct pmp_stop_request *request)
{
	request->phase = OVER;
	request->result = PMP_REQUEST_LATE;
	add_pending(stopper, request->tid, WAITING, 0);
}

/* ---- pending stops -------------------------------------------------------- */

/* Returns true if this one is finished. */
static bool reap_one(struct pmp_stopper *stopper, struct pending *pending)
{
	const uint64_t now = pmp_clock();
	int status = 0;

	if (pending->phase == OVER)
		return true;
	if (PMP_FAULT("late-slow") && now - pending->polled < 100 * PMP_MS)
		return false;
	/* Else thousands of them would be polled for each single stop. */
	if (is_stuck(pending, now) && now - pending->polled < STUCK_EACH)
		return false;
	if (pending->phase == WAITING) {
		pid_t got = poll_thread(pending->tid, &status);

		if (got == 0)
			got = poll_unreported(pending->tid, &status);
		if (got < 0 && errno == ECHILD) {
			if (pending->tid == stopper->pid)
				return true;
			pending->tid = stopper->pid; /* as in poll_request */
			return false;
		}
		if (got != pending->tid) {
			pending->polled = now;
			return false;
		}
		if (!WIFSTOPPED(status))
			return true;
		pending->phase = HELD;
		pending->signal = signal_of(status);
	}
	if (detach(pending->tid, pending->signal)) {
		stopper->pending_stopped += pmp_clock() - pending->polled;
		return true;
	}
	if (errno == ESRCH)
		pending->phase = WAITING;
	return false;
}

/* Release threads with pending stops that have stopped by now. */
static void reap_all(struct pmp_stopper *stopper)
{
	size_t left = 0;

	for (size_t i = 0; i < stopper->pending_count; i++)
		if (!reap_one(stopper, &stopper->pending[i]))
			stopper->pending[left++] = stopper->pending[i];
	stopper->pending_count = left;
}

size_t pmp_stopper_reap(struct pmp_stopper *stopper)
{
	if (stopper->pending_count == 0)
		return 0;
	reap_all(stopper);
	rest(stopper);
	return stopper->pending_count;
}

size_t pmp_stopper_reap_closed(void)
{
	struct pmp_stopper **link = &closed, *stopper;
	size_t left = 0;

	while ((stopper = *link)) {
		reap_all(stopper);
		left += stopper->pending_count;
		if (stopper->pending_count) {
			link = &stopper->next;
		} else {
			*link = stopper->next;
			stopper_free(stopper);
		}
	}
	return left;
}

uint64_t pmp_stopper_pending_time(struct pmp_stopper *stopper)
{
	uint64_t time = stopper->pending_stopped;

	stopper->pending_stopped = 0;
	return time;
}

static bool awaits(const struct pmp_stopper *stopper, pid_t tid)
{
	for (size_t i = 0; i < stopper->pending_count; i++)
		if (stopper->pending[i].tid == tid)
			return true;
	return false;
}

bool pmp_stopper_is_pending(const struct pmp_stopper *stopper, pid_t tid)
{
	for (const struct pmp_stopper *left = closed; left; left = left->next)
		if (awaits(left, tid))
			return true;
	return awaits(stopper, tid);
}

/* Each request may become pending, and an exec may add one more. */
static bool reserve_pending(struct pmp_stopper *stopper, size_t count)
{
	return PMP_RESERVE(&stopper->pending, &stopper->pending_capacity,
			   stopper->pending_count + count + 1) == 0;
}

static void prepare(struct pmp_stop_request *requests, size_t count, bool no_memory)
{
	for (size_t i = 0; i < count; i++) {
		requests[i].phase = no_memory ? OVER : NEW;
		requests[i].result = PMP_REQUEST_FAILED;
		requests[i].sys_errno = no_memory ? ENOMEM : 0;
		requests[i].stopped = 0;
		requests[i].signal = 0;
		requests[i].tls = 0;
		for (size_t r = 0; r < requests[i].range_count; r++)
			requests[i].ranges[r].got = 0;
	}
}

/* ---- thread after thread --------------------------------------------------- */

/* A batch in progress: running threads are all interrupted at the start,
 * because each takes a while to stop; blocked ones are stopped one at a
 * time. */
struct batch {
	struct pmp_stopper *stopper;
	const struct pmp_maps *maps;
	struct pmp_stop_request *requests;
	size_t count;
	size_t next; /* the next blocked one to start */
	bool blocked_in_flight;
	uint64_t polled; /* when none of the interrupted ones had stopped yet */
	uint64_t sum;	 /* of all stops */
};

/* Returns true if the thread is OVER. */
static bool advance(struct batch *batch, struct pmp_stop_request *request)
{
	struct pmp_stopper *stopper = batch->stopper;

	if (PMP_FAULT("always-late")) {
		give_up(stopper, request);
		return true;
	}
	poll_request(stopper, request);
	if (request->phase == HELD) {
		/* Its stop began after it was last seen not stopped, and
		 * (except for the time to wake us) not before our nap ended. */
		if (request->start < batch->polled)
			request->start = batch->polled;
		if (request->start < stopper->woken)
			request->start = stopper->woken;
		read_held(stopper, batch->maps, request);
		release(stopper, request);
		batch->sum += request->stopped;
	} else if (request->phase == WAITING &&
		   pmp_clock() - request->start > DEADLINE_EACH &&
		   !PMP_FAULT("no-deadline")) {
		give_up(stopper, request);
	}
	return request->phase == OVER;
}

static void start_next_blocked(struct batch *batch)
{
	while (batch->next < batch->count && !batch->blocked_in_flight) {
		struct pmp_stop_request *request = &batch->requests[batch->next++];

		if (request->phase != NEW)
			continue;
		seize(batch->stopper, request);
		batch->blocked_in_flight = request->phase == WAITING;
	}
}

/* Poll all that are in progress. Returns how many remain; *progress: one was finished. */
static size_t poll_batch(struct batch *batch, bool *progress)
{
	size_t pending = 0;
	uint64_t now = pmp_clock();

	sign_of_life(batch->stopper, now);
	for (size_t i = 0; i < batch->count; i++) {
		struct pmp_stop_request *request = &batch->requests[i];

		if (request->phase != WAITING)
			continue;
		if (!advance(batch, request)) {
			pending++;
			continue;
		}
		*progress = true;
		if (!request->running)
			batch->blocked_in_flight = false;
	}
	batch->polled = now;
	/* Nothing is held here. */
	if (pending == 0 && now - batch->stopper->announced > RENEW_AFTER)
		announce(batch->stopper, true);
	return pending;
}

uint64_t pmp_stop_each(struct pmp_stopper *stopper, const struct pmp_maps *maps,
		       struct pmp_stop_request *requests, size_t count)
{
	struct batch batch = {
		.stopper = stopper, .maps = maps, .requests = requests, .count = count
	};
	bool ready = reserve_pending(stopper, count);
	uint64_t start = pmp_clock(), news = start, elapsed;

	prepare(requests, count, !ready);
	section_begin(stopper, requests, count);
	stopper->woken = batch.polled = start;
	for (size_t i = 0; i < count; i++)
		if (requests[i].running && requests[i].phase == NEW)
			seize(stopper, &requests[i]);
	for (;;) {
		bool progress = false;
		size_t pending;

		start_next_blocked(&batch);
		pending = poll_batch(&batch, &progress);
		if (pending == 0 && batch.next == count)
			break;
		/* A thread that was given up is held from its stop until it is polled. */
		reap_all(stopper);
		if (progress)
			news = pmp_clock();
		else
			spin_or_nap(stopper, news);
	}
	pmp_stopper_reap(stopper);
	section_end(stopper);
	elapsed = pmp_clock() - start;
	return batch.sum < elapsed ? batch.sum : elapsed;
}

/* ---- all together ---------------------------------------------------------- */

static void await(struct pmp_stopper *stopper, struct pmp_stop_request *request,
		  uint64_t deadline)
{
	while (request->phase == WAITING) {
		poll_request(stopper, request);
		if (request->phase != WAITING)
			break;
		if (pmp_clock() > deadline)
			give_up(stopper, request);
		else
			nap(stopper);
		reap_all(stopper);
	}
}

uint64_t pmp_stop_together(struct pmp_stopper *stopper, const struct pmp_maps *maps,
			   struct pmp_stop_request *requests, size_t count)
{
	bool ready = reserve_pending(stopper, count);
	uint64_t start, deadline;

	prepare(requests, count, !ready);
	section_begin(stopper, requests, count);
	start = pmp_clock();
	for (size_t i = 0; i < count; i++)
		if (requests[i].phase == NEW)
			seize(stopper, &requests[i]);
	deadline = pmp_clock() + DEADLINE_TOGETHER;
	for (size_t i = 0; i < count; i++)
		await(stopper, &requests[i], deadline);
	for (size_t i = 0; i < count; i++)
		if (requests[i].phase == HELD)
			read_held(stopper, maps, &requests[i]);
	for (size_t i = 0; i < count; i++)
		if (requests[i].phase == HELD)
			release(stopper, &requests[i]);
	pmp_stopper_reap(stopper);
	section_end(stopper);
	return pmp_clock() - start;
}

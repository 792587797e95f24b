/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The sampler: opens the targets, captures at its pace, sends what it got. Single
 * threaded, in a session of its own so that ^Z, ^C and hang-ups of the terminal
 * miss it, with every signal blocked that does not kill; it dies with the front.
 * Nothing is sent, written or waited for while a thread is held: that happens
 * inside pmp_target_capture() only.
 */
#include "sampler/sampler.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <malloc.h>
#include <linux/sockios.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "libpmp-program.h"
#include "run/clock.h"
#include "run/signals.h"
#include "sampler/children.h"
#include "sampler/hold-timer.h"
#include "sampler/pace.h"
#include "say/message.h"

#define REST_MAX (100 * NS_PER_MS) /* between looks whether the targets live */
#define SETTLE_REST NS_PER_MS	   /* while late threads are awaited */
#define CHILDREN_MAX 1000	   /* at a time */
#define SPARE_DESCRIPTORS 32	   /* that children leave to those before them */
#define CLOSE_TIME NS_PER_S
#define CLOSE_REST (NS_PER_MS / 10) /* at first, then longer and longer */
#define HEAP_KEPT (16 << 20)	    /* free memory that stays ours */
#define SERIES_ROOM (8 << 20)	    /* bytes of snapshots between us and the front */

struct watched {
	pid_t pid;
	struct pmp_target *target; /* NULL: not opened, or ended */
	struct pmp_target *left;   /* dropped, but threads of it are late */
	bool child;		   /* of another one */
};

struct sampling {
	const struct options *options;
	struct sampler_page *page;
	int fd;
	struct pmp_sender *sender;
	struct watched *watched;
	size_t count, capacity, living;
	struct children children;
	uint64_t children_opened, children_lost;
	bool told_child;	/* why one is not sampled */
	struct event_done past; /* what was done by another one */
	struct pace pace;
	uint64_t paused_since;
	bool paused, finish, told_behind;
	bool waiting; /* for the command to run: see begin_command() */
	int exec_fd;  /* hangs up when it does; -1: none */
	size_t late;  /* threads to settle */
	struct hold_timer hold_timer;
	uint64_t stopped; /* in the last snapshot */
	uint64_t threads;
	clockid_t front_clock; /* its CPU time */
	bool has_front_clock;
};

static void sleep_for(uint64_t time)
{
	const struct timespec rest = { (time_t)(time / NS_PER_S),
				       (long)(time % NS_PER_S) };

	nanosleep(&rest, NULL);
}

/* ---- in the sampler -------------------------------------------------------- */

static void beat(struct sampling *sampling)
{
	sampling->page->heartbeat = now_ns();
}

/* The order of this store and a look at the socket matters: see sampling_is_detached(). */
static void set_capturing(struct sampling *sampling, bool capturing)
{
	__atomic_store_n(&sampling->page->capturing, capturing, __ATOMIC_SEQ_CST);
}

/* For the front, should we not survive it. */
static void at_work(struct sampling *sampling, pid_t pid)
{
	sampling->page->target = pid;
}

/* One target holds nothing any more; threads of another one may still be awaited. */
static void on_holding(void *arg, bool begins)
{
	struct sampling *sampling = arg;

	hold_timer_set(&sampling->hold_timer, begins || sampling->late > 0);
}

/* Release late threads, also those of targets that have been dropped. */
static void settle(struct sampling *sampling)
{
	bool was_late = sampling->late > 0;
	pid_t late = 0;

	sampling->late = 0;
	for (size_t i = 0; i < sampling->count; i++) {
		struct watched *watched = &sampling->watched[i];

		if (watched->target)
			sampling->late += pmp_target_reap(watched->target);
		if (watched->left && pmp_target_reap(watched->left) == 0) {
			pmp_target_close(watched->left);
			watched->left = NULL;
		}
		sampling->late += watched->left != NULL;
		if (sampling->late && !late)
			late = watched->pid;
	}
	at_work(sampling, late);
	if (was_late || sampling->late)
		hold_timer_set(&sampling->hold_timer, sampling->late > 0);
	set_capturing(sampling, sampling->late > 0);
}

/* Without the front there is nothing to do; exit releases whatever is held. */
static void check_sent(int code)
{
	if (code < 0)
		_exit(PMP_EXIT_FAILED);
}

static void send_event(struct sampling *sampling, enum event kind, const void *event,
		       size_t size)
{
	struct pmp_error err;

	check_sent(pmp_sender_note(sampling->sender, kind, event, size, &err));
	beat(sampling);
}

static void drop(struct sampling *sampling, struct watched *watched)
{
	struct pmp_error err;

	check_sent(pmp_sender_forget(sampling->sender, watched->pid, &err));
	/* Of a thread that we have seized its parent does not hear before we have. */
	if (watched->target && pmp_target_reap(watched->target) > 0)
		watched->left = watched->target;
	else
		pmp_target_close(watched->target);
	watched->target = NULL;
	sampling->living--;
	children_ended(&sampling->children, watched->pid);
}

/* Of those that cannot be sampled the first is reported, the others would only repeat it;
 * none that is about to end. */
static void tell_child_failed(struct sampling *sampling, const struct event_failed *event)
{
	int code = event->error.code;

	if (sampling->told_child ||
	    (code != PMP_ELIMIT && code != PMP_EPERM && code != PMP_EUNSUPPORTED))
		return;
	send_event(sampling, EVENT_FAILED, event, sizeof(*event));
	sampling->told_child = true;
}

static void drop_failed(struct sampling *sampling, struct watched *watched,
			const struct pmp_error *err)
{
	struct event_failed event = { .pid = watched->pid, .error = *err };

	if (watched->child)
		tell_child_failed(sampling, &event);
	else
		send_event(sampling, EVENT_FAILED, &event, sizeof(event));
	drop(sampling, watched);
}

static void drop_ended(struct sampling *sampling, struct watched *watched,
		       bool threads_only)
{
	struct event_ended event = { .pid = watched->pid, .threads_only = threads_only };

	send_event(sampling, EVENT_ENDED, &event, sizeof(event));
	drop(sampling, watched);
}

static bool want_thread(void *arg, pid_t tid, const char *name)
{
	struct sampling *sampling = arg;

	beat(sampling);
	return options_want(sampling->options, tid, name);
}

static void still_alive(void *arg)
{
	beat(arg);
}

static int open_target(struct sampling *sampling, struct watched *watched,
		       struct pmp_error *err)
{
	const struct options *options = sampling->options;
	const struct pmp_target_options target_options = {
		.size = sizeof(target_options),
		.stop = options->stop,
		.unwind = options->unwind,
		.no_restart = options->no_restart,
		.kernel = options->kernel,
		.max_frames = (unsigned)options->max_frames,
		.want_thread = want_thread,
		.want_arg = sampling,
		.held_since = &sampling->page->held_since,
		.holding = on_holding,
		.holding_arg = sampling,
		.descriptors = UINT_MAX,
		.no_wchan = !options->wants_screen && !options->by_state &&
			    !options->format->details,
		.log = options->debug ? message_debug : NULL,
		.log_arg = (void *)options->debug,
		.alive = still_alive,
		.alive_arg = sampling,
	};

	/* To hold the front would be to hold up ourselves. */
	if (watched->pid == getppid())
		return message_fill(err, PMP_EINVAL, 0,
				    "cannot trace %d: a process cannot profile itself",
				    (int)watched->pid);
	return pmp_target_open(watched->pid, &target_options, &watched->target, err);
}

static void tell_opened(struct sampling *sampling, const struct watched *watched)
{
	struct event_opened event = { .pid = watched->pid, .child = watched->child };

	snprintf(event.name, sizeof(event.name), "%s", pmp_target_name(watched->target));
	send_event(sampling, EVENT_OPENED, &event, sizeof(event));
}

static void open_first(struct sampling *sampling, struct watched *watched)
{
	struct pmp_error err = { 0 };

	sampling->living++;
	at_work(sampling, watched->pid);
	if (open_target(sampling, watched, &err) < 0)
		drop_failed(sampling, watched, &err);
	else
		tell_opened(sampling, watched);
	at_work(sampling, 0);
}

/* ---- children --------------------------------------------------------------- */

static bool samples(void *arg, pid_t pid)
{
	const struct sampling *sampling = arg;

	for (size_t i = 0; i < sampling->count; i++) {
		if (sampling->watched[i].pid == pid)
			return sampling->watched[i].target || sampling->watched[i].left;
	}
	return false;
}

static void forget_ended_children(struct sampling *sampling)
{
	size_t kept = 0;

	for (size_t i = 0; i < sampling->count; i++) {
		if (sampling->watched[i].target || sampling->watched[i].left ||
		    !sampling->watched[i].child)
			sampling->watched[kept++] = sampling->watched[i];
	}
	sampling->count = kept;
}

static bool has_room(struct sampling *sampling)
{
	struct watched *watched;

	if (sampling->count < sampling->capacity)
		return true;
	watched =
		reallocarray(sampling->watched, sampling->capacity, 2 * sizeof(*watched));
	if (!watched)
		return false;
	sampling->watched = watched;
	sampling->capacity *= 2;
	return true;
}

/* The lowest number that is free is about how many are in use. */
static bool has_descriptors(const struct sampling *sampling)
{
	struct rlimit limit = { 0 };
	int lowest = dup(sampling->fd);

	if (lowest >= 0)
		close(lowest);
	getrlimit(RLIMIT_NOFILE, &limit);
	return lowest >= 0 && (rlim_t)lowest + SPARE_DESCRIPTORS < limit.rlim_cur;
}

static void open_child(struct sampling *sampling, pid_t pid)
{
	struct event_failed event = { .pid = pid };
	struct watched watched = { .pid = pid, .child = true };
	int code;

	if (sampling->living > CHILDREN_MAX || !has_room(sampling))
		code = message_fill(
			&event.error, PMP_ELIMIT, 0,
			"more than %d processes at a time: no more are sampled",
			CHILDREN_MAX);
	else if (!has_descriptors(sampling))
		code = message_fill(&event.error, PMP_ELIMIT, EMFILE,
				    "cannot sample all children");
	else
		code = open_target(sampling, &watched, &event.error);
	if (code == 0) {
		sampling->watched[sampling->count++] = watched;
		sampling->living++;
		sampling->children_opened++;
		tell_opened(sampling, &watched);
		return;
	}
	sampling->children_lost++;
	tell_child_failed(sampling, &event);
}

static void open_children(struct sampling *sampling)
{
	pid_t pid;

	if (!sampling->children.watch)
		return;
	forget_ended_children(sampling);
	children_look(&sampling->children);
	while ((pid = children_next(&sampling->children, samples, sampling))) {
		open_child(sampling, pid);
		if (sampling->late)
			settle(sampling);
	}
}

/* ---- the run ---------------------------------------------------------------- */

/*
 * A command was opened when it was still a copy of pmp, to know that it can be
 * before it runs. Now its exec has closed its end of the socket, which the kernel
 * does last of all before the first instruction: the first snapshot is due. With data
 * left in the socket there was no exec, and nothing to sample; the front sees to it.
 */
static void begin_command(struct sampling *sampling)
{
	uint64_t now = now_ns();
	char byte;

	if (recv(sampling->exec_fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0) {
		pace_start(&sampling->pace, sampling->pace.asked, now,
			   sampling->pace.random);
		sampling->paused_since = now;
		sampling->waiting = false;
	}
	close(sampling->exec_fd);
	sampling->exec_fd = -1;
}

static void obey(struct sampling *sampling, char command)
{
	uint64_t now = now_ns();

	switch (command) {
	case PMP_SAMPLER_PAUSE:
		if (!sampling->paused)
			sampling->paused_since = now;
		sampling->paused = true;
		break;
	case PMP_SAMPLER_RESUME:
		if (sampling->paused)
			pace_resume(&sampling->pace, sampling->paused_since, now);
		sampling->paused = false;
		break;
	case PMP_SAMPLER_FINISH: sampling->finish = true; break;
	case PMP_SAMPLER_NOW: sampling->pace.due = now; break;
	case PMP_SAMPLER_INTERVAL:
		pace_change(&sampling->pace, sampling->page->interval, now);
		break;
	default: break;
	}
}

static void read_commands(struct sampling *sampling)
{
	char commands[64];
	ssize_t n;

	while ((n = recv(sampling->fd, commands, sizeof(commands), MSG_DONTWAIT)) > 0) {
		for (ssize_t i = 0; i < n; i++)
			obey(sampling, commands[i]);
	}
	if (n == 0)
		_exit(PMP_EXIT_FAILED); /* the front has gone */
}

/* Release late threads, and notice targets that have ended. */
static void look_after(struct sampling *sampling)
{
	settle(sampling);
	for (size_t i = 0; i < sampling->count; i++) {
		struct watched *watched = &sampling->watched[i];

		if (!watched->target || !pmp_target_ended(watched->target))
			continue;
		drop_ended(sampling, watched, false);
		/* To know that takes a while; many of them would make others wait. */
		if (sampling->late)
			settle(sampling);
	}
}

/* Sleep until then, or less: until a command, or the next look. */
static void rest(struct sampling *sampling, uint64_t until)
{
	struct pollfd waits[] = {
		{ .fd = sampling->fd, .events = POLLIN },
		{ .fd = sampling->exec_fd },
	};
	uint64_t now = now_ns(), most = sampling->late ? SETTLE_REST : REST_MAX;
	uint64_t time = until > now ? until - now : 0;
	struct timespec timeout = { 0 };

	timeout.tv_nsec = (long)(time < most ? time : most);
	ppoll(waits, 2, &timeout, NULL);
	beat(sampling);
	read_commands(sampling);
	if (waits[1].revents)
		begin_command(sampling);
}

/*
 * A send may block as long as the front does. A thread that stops late must not
 * wait for that: with such threads there is only one sample under way, which the
 * socket takes at once.
 */
static void wait_for_room(struct sampling *sampling)
{
	int queued = 0;

	settle(sampling);
	while (sampling->late && ioctl(sampling->fd, SIOCOUTQ, &queued) == 0 &&
	       queued > 0) {
		rest(sampling, now_ns() + SETTLE_REST);
		settle(sampling);
	}
}

/*
 * A short command may be over before others have let us run: until its first snapshot
 * has been taken we are above them, where that is permitted.
 */
static void hurry(bool begin)
{
	const struct sched_param usual = { 0 }, first = { .sched_priority = 1 };

	if (begin && sched_getscheduler(0) == SCHED_OTHER)
		sched_setscheduler(0, SCHED_RR | SCHED_RESET_ON_FORK, &first);
	else if (!begin && sched_getscheduler(0) == (SCHED_RR | SCHED_RESET_ON_FORK))
		sched_setscheduler(0, SCHED_OTHER, &usual);
}

/* One sample of one target, sent once nothing is held any more. */
static void capture(struct sampling *sampling, struct watched *watched)
{
	struct pmp_sample_info info = { .size = sizeof(info) };
	struct pmp_sample *sample = NULL;
	struct pmp_error err = { 0 };
	int code = 0;

	at_work(sampling, watched->pid);
	set_capturing(sampling, true);
	beat(sampling);
	read_commands(sampling);
	if (!sampling->paused && !sampling->finish)
		code = pmp_target_capture(watched->target, &sample, &err);
	set_capturing(sampling, sampling->late > 0);
	beat(sampling);
	if (code == PMP_ESRCH)
		drop_ended(sampling, watched, false);
	else if (code < 0)
		drop_failed(sampling, watched, &err);
	if (code < 0 || !sample)
		return;
	pmp_sample_info(sample, &info);
	sampling->stopped += info.any_stopped;
	sampling->threads += info.threads;
	wait_for_room(sampling);
	if (sampling->options->tids.count == 0 || info.threads > 0) {
		sampling->page->taken++;
		check_sent(pmp_sender_sample(sampling->sender, sample, &err));
	} else if (watched->target) {
		drop_ended(sampling, watched, true);
	}
	pmp_sample_free(sample);
}

static void tell_behind(struct sampling *sampling, uint64_t now)
{
	const struct pace *pace = &sampling->pace;
	struct event_behind event = {
		.asked = pace->asked,
		.reached = (now - pace->start) / pace->snapshots,
		.lowered = pace->interval > pace->asked ? pace->interval : 0,
		.stopped = sampling->stopped,
		.budget = sampling->options->max_stop,
		.cpu = pace->cpu_each,
		.max_cpu = sampling->options->max_cpu,
		.threads = sampling->threads,
	};

	send_event(sampling, EVENT_BEHIND, &event, sizeof(event));
	sampling->told_behind = true;
}

/* CPU time of both processes so far. */
static uint64_t cpu_spent(const struct sampling *sampling)
{
	struct timespec ours = { 0 }, fronts = { 0 };

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ours);
	if (sampling->has_front_clock)
		clock_gettime(sampling->front_clock, &fronts);
	return (uint64_t)(ours.tv_sec + fronts.tv_sec) * NS_PER_S +
	       (uint64_t)(ours.tv_nsec + fronts.tv_nsec);
}

/* That keeps what a snapshot costs within the budgets. */
static uint64_t wanted_interval(struct sampling *sampling, uint64_t now)
{
	const struct options *options = sampling->options;
	uint64_t for_stops =
		pace_for_stops(&sampling->pace, sampling->stopped, options->max_stop);
	uint64_t for_cpu =
		pace_for_cpu(&sampling->pace, now, cpu_spent(sampling), options->max_cpu);

	return for_stops > for_cpu ? for_stops : for_cpu;
}

static void take_snapshot(struct sampling *sampling)
{
	uint64_t now;

	/* A command has none at its first instruction. */
	if (sampling->pace.snapshots || !sampling->options->command)
		open_children(sampling);
	sampling->stopped = 0;
	sampling->threads = 0;
	for (size_t i = 0; i < sampling->count; i++) {
		if (sampling->watched[i].target && !sampling->paused && !sampling->finish)
			capture(sampling, &sampling->watched[i]);
	}
	if (sampling->pace.snapshots == 0)
		hurry(false);
	if (sampling->paused || sampling->finish)
		return;
	now = now_ns();
	pace_next(&sampling->pace, now, wanted_interval(sampling, now));
	if (!sampling->told_behind && pace_is_behind(&sampling->pace))
		tell_behind(sampling, now);
	look_after(sampling);
}

/* Until now; of a pause, or while a command is waited for, until it began. */
static struct event_done done_by(const struct sampling *sampling, uint64_t now)
{
	const struct pace *pace = &sampling->pace;
	struct event_done done = sampling->past;

	if (sampling->paused || sampling->waiting)
		now = sampling->paused_since;
	done.snapshots += pace->snapshots;
	done.missed += pace->missed;
	done.elapsed += now - pace->start;
	done.children += sampling->children_opened;
	done.lost_children += sampling->children_lost;
	if (sampling->children.watch)
		done.unseen += pmp_procwatch_unseen(sampling->children.watch);
	return done;
}

/* The last one may have left children. */
static bool has_targets(struct sampling *sampling)
{
	if (sampling->living == 0)
		open_children(sampling);
	return sampling->living > 0;
}

/* When --duration is over, if there is one. */
static uint64_t end_of(const struct sampling *sampling)
{
	uint64_t left = sampling->options->duration, past = sampling->past.elapsed;

	return sampling->pace.start + (left > past ? left - past : 0);
}

static bool is_over(struct sampling *sampling, uint64_t now)
{
	const struct options *options = sampling->options;
	uint64_t snapshots = sampling->past.snapshots + sampling->pace.snapshots;

	return sampling->finish || !has_targets(sampling) ||
	       (options->count && snapshots >= options->count) ||
	       (options->duration && !sampling->paused && !sampling->waiting &&
		now >= end_of(sampling));
}

/* When there is something to do: the next tick, or the end if that is before it. */
static uint64_t next_event(const struct sampling *sampling)
{
	uint64_t end = end_of(sampling);

	if (sampling->paused || sampling->waiting)
		return UINT64_MAX;
	/* By the grid: N seconds hold as many ticks whichever way they are moved. */
	if (sampling->options->duration && end <= sampling->pace.grid)
		return end;
	return sampling->pace.due;
}

static void sample_all(struct sampling *sampling)
{
	struct event_done done;
	uint64_t now = now_ns();

	pace_start(&sampling->pace, sampling->options->interval, now,
		   now ^ (uint64_t)getpid());
	sampling->paused_since = now;
	hurry(sampling->waiting);
	while (now = now_ns(), !is_over(sampling, now)) {
		if (now >= next_event(sampling)) {
			take_snapshot(sampling);
			sampling->page->so_far = done_by(sampling, now_ns());
			continue;
		}
		rest(sampling, next_event(sampling));
		look_after(sampling);
	}
	done = done_by(sampling, now);
	send_event(sampling, EVENT_DONE, &done, sizeof(done));
}

/* Let go of the terminal, of the front's descriptors and of its signals. Of these
 * exec_fd alone stays, as the first. */
static void isolate(struct sampling *sampling, pid_t front)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != front)
		_exit(PMP_EXIT_FAILED); /* it died before prctl() */
	prctl(PR_SET_NAME, "pmp-sampler");
	signals_block();
	setsid();
	for (int fd = 0; null >= 0 && fd <= STDERR_FILENO; fd++) {
		if (fd < STDERR_FILENO || !sampling->options->debug)
			dup2(null, fd);
	}
	if (sampling->waiting)
		sampling->exec_fd = dup2(sampling->exec_fd, STDIN_FILENO);
	if (sampling->fd > STDERR_FILENO + 1)
		close_range(STDERR_FILENO + 1, (unsigned)sampling->fd - 1, 0);
	close_range((unsigned)sampling->fd + 1, ~0U, 0);
	/* No core, and no other process reads the memory of what we read. */
	prctl(PR_SET_DUMPABLE, 0);
}

void sampler_raise_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
		return;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}

/* A sample of a thousand threads is half a megabyte. Given back to the kernel it would be
 * mapped and cleared again for the next one, which takes longer than to fill it. */
static void keep_heap(void)
{
#ifdef M_TRIM_THRESHOLD
	mallopt(M_MMAP_THRESHOLD, HEAP_KEPT);
	mallopt(M_TRIM_THRESHOLD, HEAP_KEPT);
#endif
}

__attribute__((noreturn)) static void run_sampler(struct sampling *sampling,
						  const struct id_list *pids, pid_t front)
{
	struct pmp_error err;
	pid_t adopter = sampling->options->command ? front : 0;

	isolate(sampling, front);
	/* It keeps a descriptor for each thread. */
	sampler_raise_limit();
	keep_heap();
	sampling->has_front_clock =
		clock_getcpuclockid(front, &sampling->front_clock) == 0;
	hold_timer_open(&sampling->hold_timer);
	beat(sampling);
	sampling->count = sampling->capacity = pids->count;
	sampling->watched = calloc(pids->count, sizeof(*sampling->watched));
	if (!sampling->watched ||
	    pmp_sender_new(sampling->fd, &sampling->sender, &err) < 0 ||
	    (sampling->options->children &&
	     children_open(&sampling->children, adopter, &err) < 0))
		_exit(PMP_EXIT_FAILED);
	for (size_t i = 0; i < pids->count; i++) {
		sampling->watched[i].pid = pids->ids[i];
		open_first(sampling, &sampling->watched[i]);
	}
	sample_all(sampling);
	_exit(PMP_EXIT_OK);
}

/* ---- in the front ---------------------------------------------------------- */

/* While the front waits for a slow disk, snapshots wait here. Only root gets that much. */
static void widen(int fd)
{
	const int size = SERIES_ROOM;

	if (setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &size, sizeof(size)) < 0)
		setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &size, sizeof(size));
}

int sampler_start(struct sampler *sampler, const struct options *options,
		  const struct id_list *pids, int exec_fd, struct pmp_error *err)
{
	struct sampling sampling = {
		.options = options,
		.past = sampler->so_far,
		.waiting = exec_fd >= 0,
		.exec_fd = exec_fd,
	};
	pid_t front = getpid();
	int fds[2];

	sampler->page = mmap(NULL, sizeof(*sampler->page), PROT_READ | PROT_WRITE,
			     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (sampler->page == MAP_FAILED) {
		sampler->page = NULL;
		return message_fill(err, PMP_ENOMEM, errno, "cannot start the sampler");
	}
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) < 0)
		return message_fill(err, PMP_ELIMIT, errno, "cannot start the sampler");
	sampler->page->heartbeat = now_ns();
	sampler->page->so_far = sampler->so_far;
	if (options->every)
		widen(fds[1]);
	sampler->pid = fork();
	if (sampler->pid == 0) {
		sampling.page = sampler->page;
		sampling.fd = fds[1];
		run_sampler(&sampling, pids, front);
	}
	close(fds[1]);
	if (sampler->pid < 0) {
		sampler->pid = 0;
		close(fds[0]);
		return message_fill(err, PMP_ELIMIT, errno, "cannot start the sampler");
	}
	sampler->fd = fds[0];
	fcntl(sampler->fd, F_SETFL, O_NONBLOCK);
	return 0;
}

void sampler_command(struct sampler *sampler, enum sampler_command command)
{
	char byte = (char)command;

	/* If it has gone, the socket is closed. */
	if (sampler->fd >= 0)
		send(sampler->fd, &byte, 1, MSG_NOSIGNAL | MSG_DONTWAIT);
}

/* The first bytes of one of its files, or nothing. */
static void read_own(const struct sampler *sampler, const char *name, char *text,
		     size_t size)
{
	char path[64];
	ssize_t n = -1;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)sampler->pid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		n = read(fd, text, size - 1);
		close(fd);
	}
	text[n > 0 ? n : 0] = '\0';
}

/* 'R', 'S' and so on; 0: it is not known. */
static char state_of(const struct sampler *sampler)
{
	const char *end;
	char stat[256];

	read_own(sampler, "stat", stat, sizeof(stat));
	end = strrchr(stat, ')');
	return end && end[1] == ' ' ? end[2] : '\0';
}

void sampler_where(const struct sampler *sampler, char *where, size_t size)
{
	char state;

	where[0] = '\0';
	if (sampler->pid <= 0)
		return;
	state = state_of(sampler);
	/* It takes no signals: however it sleeps, nothing wakes it. */
	if (state == 'D' || state == 'S')
		read_own(sampler, "wchan", where, size);
	/* Not everybody is told. */
	if (strcmp(where, "0") == 0)
		where[0] = '\0';
}

bool sampler_is_starved(const struct sampler *sampler, uint64_t *cpu)
{
	struct timespec time = { 0 };
	uint64_t before = *cpu;
	clockid_t clock;

	if (sampler->pid <= 0 || clock_getcpuclockid(sampler->pid, &clock) ||
	    clock_gettime(clock, &time) < 0)
		return false;
	*cpu = (uint64_t)time.tv_sec * NS_PER_S + (uint64_t)time.tv_nsec;
	return *cpu == before && state_of(sampler) == 'R';
}

bool sampler_held_too_long(const struct sampler *sampler)
{
	uint64_t since = sampler->page ? __atomic_load_n(&sampler->page->held_since,
							 __ATOMIC_RELAXED)
				       : 0;

	return since && now_ns() - since >= HOLD_LIMIT;
}

void sampler_kill(struct sampler *sampler)
{
	if (sampler->pid > 0)
		kill(sampler->pid, SIGKILL);
}

static bool reap(struct sampler *sampler)
{
	uint64_t rested = 0, rest = CLOSE_REST;

	while (rested < CLOSE_TIME) {
		pid_t pid = waitpid(sampler->pid, &sampler->status, WNOHANG);

		if (pid == sampler->pid || (pid < 0 && errno == ECHILD))
			return true;
		sleep_for(rest);
		rested += rest;
		rest += rest / 2;
	}
	return false;
}

void sampler_close(struct sampler *sampler)
{
	if (sampler->pid > 0 && !reap(sampler)) {
		sampler_kill(sampler);
		reap(sampler);
	}
	sampler->pid = 0;
	if (sampler->fd >= 0)
		close(sampler->fd);
	sampler->fd = -1;
	if (sampler->page) {
		sampler->taken = sampler->page->taken;
		sampler->target = sampler->page->target;
		sampler->so_far = sampler->page->so_far;
		munmap(sampler->page, sizeof(*sampler->page));
	}
	sampler->page = NULL;
}

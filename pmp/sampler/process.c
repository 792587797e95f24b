/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The sampler process: opens the targets, captures at its pace, sends the samples. It
 * is single threaded, in a session of its own so that ^Z, ^C and hang-ups of the
 * terminal do not reach it, and blocks all signals but those of faults; it dies with
 * the front. Threads are held only inside pmp_target_capture(): so nothing is sent,
 * written or awaited meanwhile.
 */
#include "sampler/process.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <linux/sockios.h>
#include <malloc.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/fault.h"
#include "confine/rights.h"
#include "libpmp-program.h"
#include "run/clock.h"
#include "run/process-use.h"
#include "run/signals.h"
#include "sampler/confine.h"
#include "sampler/heap.h"
#include "sampler/targets.h"
#include "say/message.h"

#define REST_MAX (100 * NS_PER_MS) /* between checks that the targets live */
#define SETTLE_REST NS_PER_MS	   /* while threads are late */
#define LAST_SCANS 10		   /* for children, SETTLE_REST apart */
#define MEMORY ((uint64_t)4 << 30) /* 20,000 threads with 300 frames each take 320 MB */
#define HEAP_KEPT (16 << 20)	   /* free memory that is not returned to the kernel */

/*
 * A command is opened while it is still a fork of pmp, to know before it runs that it can
 * be sampled. Now exec() has closed its end of the socket, the last thing that the kernel
 * does before the first instruction: the first snapshot is due. If there is data in the
 * socket, exec() has failed and there is nothing to sample; the front takes care of that.
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

static void look_for_peers(struct sampling *sampling)
{
	for (size_t i = 0; i < sampling->count; i++)
		if (sampling->watched[i].target)
			pmp_target_look_for_peers(sampling->watched[i].target);
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
	case PMP_SAMPLER_PEERS: look_for_peers(sampling); break;
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
		_exit(PMP_EXIT_FAILED); /* the front is gone */
}

/* Sleep until that time, or until a command of the front or the next check if earlier. */
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
	events_beat(sampling);
	if (waits[0].revents)
		read_commands(sampling);
	if (waits[1].revents)
		begin_command(sampling);
}

/*
 * Sending blocks while the front does not read. A thread that stops late must not stay
 * stopped for so long: so while threads are late, send only into an empty socket, which
 * takes a sample at once.
 */
static void wait_for_room(struct sampling *sampling)
{
	int queued = 0;

	targets_settle(sampling);
	while (sampling->late && ioctl(sampling->fd, SIOCOUTQ, &queued) == 0 &&
	       queued > 0) {
		rest(sampling, now_ns() + SETTLE_REST);
		targets_settle(sampling);
	}
}

/*
 * A short command may end before the sampler gets a processor: run with real-time priority,
 * if permitted, until the first snapshot has been taken.
 */
static void hurry(bool begin)
{
	const struct sched_param usual = { 0 }, first = { .sched_priority = 1 };

	if (begin && sched_getscheduler(0) == SCHED_OTHER)
		sched_setscheduler(0, SCHED_RR | SCHED_RESET_ON_FORK, &first);
	else if (!begin && sched_getscheduler(0) == (SCHED_RR | SCHED_RESET_ON_FORK))
		sched_setscheduler(0, SCHED_OTHER, &usual);
	if (!begin)
		pmp_run_soon();
}

/* Take one sample of one target, and send it once nothing is held any more. */
static void capture(struct sampling *sampling, struct watched *watched)
{
	struct pmp_sample_info info = { .size = sizeof(info) };
	struct pmp_sample *sample = NULL;
	struct pmp_error err = { 0 };
	int code = 0;

	events_at_work(sampling, watched->pid);
	events_set_capturing(sampling, true);
	events_beat(sampling);
	read_commands(sampling);
	if (!sampling->paused && !sampling->finish)
		code = pmp_target_capture(watched->target, &sample, &err);
	if (code == 0)
		code = options_problem(sampling->options, &err);
	events_set_capturing(sampling, sampling->late > 0);
	events_beat(sampling);
	if (code == PMP_ESRCH)
		targets_drop_ended(sampling, watched, false);
	else if (code < 0)
		targets_drop_failed(sampling, watched, &err);
	if (code < 0 || !sample) {
		pmp_sample_free(sample);
		return;
	}
	pmp_sample_info(sample, &info);
	sampling->stopped += info.any_stopped;
	sampling->threads += info.threads;
	wait_for_room(sampling);
	if (sampling->options->tids.count == 0 || info.threads > 0) {
		sampling->page->taken++;
		events_check_sent(pmp_sender_sample(sampling->sender, sample, &err));
	} else if (watched->target) {
		targets_drop_ended(sampling, watched, true);
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

	events_send(sampling, EVENT_BEHIND, &event, sizeof(event));
	sampling->told_behind = true;
}

/* CPU time of all processes of pmp so far. */
static uint64_t cpu_spent(const struct sampling *sampling)
{
	struct timespec ours = { 0 }, fronts = { 0 };

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ours);
	if (sampling->has_front_clock)
		clock_gettime(sampling->front_clock, &fronts);
	return (uint64_t)(ours.tv_sec + fronts.tv_sec) * NS_PER_S +
	       (uint64_t)(ours.tv_nsec + fronts.tv_nsec) + sampling->page->helpers;
}

/* The part of cpu_spent() for snapshots: without the cost of reading recorders, which does
 * not depend on the rate of snapshots. That cost is partly an estimate and may be too high,
 * so the result must not decrease. */
static uint64_t cpu_of_snapshots(struct sampling *sampling)
{
	const uint64_t all = cpu_spent(sampling), heap = sampling->heap_cost.all;

	if (PMP_FAULT("heap-starves"))
		return all;
	if (all > heap && all - heap > sampling->snapshots_cpu)
		sampling->snapshots_cpu = all - heap;
	return sampling->snapshots_cpu;
}

/* The interval that keeps the cost of snapshots within the budgets. */
static uint64_t wanted_interval(struct sampling *sampling, uint64_t now)
{
	const struct options *options = sampling->options;
	uint64_t for_stops =
		pace_for_stops(&sampling->pace, sampling->stopped, options->max_stop);
	uint64_t for_cpu = pace_for_cpu(&sampling->pace, now, cpu_of_snapshots(sampling),
					heap_leaves(sampling));

	return for_stops > for_cpu ? for_stops : for_cpu;
}

static void capture_all(struct sampling *sampling)
{
	for (size_t i = 0; i < sampling->count; i++) {
		if (sampling->watched[i].target && !sampling->paused && !sampling->finish)
			capture(sampling, &sampling->watched[i]);
	}
}

static void take_snapshot(struct sampling *sampling)
{
	uint64_t now;

	/* At its first instruction a command has no children. */
	if (sampling->pace.snapshots || !sampling->options->command)
		targets_open_children(sampling);
	sampling->stopped = 0;
	sampling->threads = 0;
	if (!sampling->options->heap.only)
		capture_all(sampling);
	if (sampling->pace.snapshots == 0)
		hurry(false);
	if (sampling->paused || sampling->finish)
		return;
	now = now_ns();
	pace_next(&sampling->pace, now, wanted_interval(sampling, now));
	if (!sampling->options->heap.only && !sampling->told_behind &&
	    pace_is_behind(&sampling->pace))
		tell_behind(sampling, now);
	targets_check(sampling);
}

/* The totals up to now, or up to the beginning of a pause or of the wait for a command. */
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

/* The last target may have left children, which may be about to start others and end. */
static bool has_targets(struct sampling *sampling)
{
	const struct timespec rest = { .tv_nsec = SETTLE_REST };

	for (int scans = 0; sampling->living == 0 && scans < LAST_SCANS; scans++) {
		if (!sampling->children.watch)
			return false;
		if (scans > 0)
			nanosleep(&rest, NULL);
		targets_open_children(sampling);
	}
	return sampling->living > 0;
}

/* When --duration is over, if given. */
static uint64_t end_of(const struct sampling *sampling)
{
	uint64_t left = sampling->options->duration, past = sampling->past.elapsed;

	return sampling->pace.start + (left > past ? left - past : 0);
}

static bool is_over(struct sampling *sampling, uint64_t now)
{
	const struct options *options = sampling->options;
	uint64_t snapshots = sampling->past.snapshots + sampling->pace.snapshots;

	/* If the sampler had no processor all the time, it takes one snapshot late. */
	return sampling->finish || !has_targets(sampling) ||
	       (options->count && snapshots >= options->count) ||
	       (options->duration && snapshots && !sampling->paused &&
		!sampling->waiting && now >= end_of(sampling));
}

/* The time of the next tick, or of the end if that is earlier. */
static uint64_t next_event(const struct sampling *sampling)
{
	uint64_t end = end_of(sampling);

	if (sampling->paused || sampling->waiting)
		return UINT64_MAX;
	/* Without the jitter: it must not change the number of ticks in --duration. */
	if (sampling->options->duration && end <= sampling->pace.grid)
		return end;
	return sampling->pace.due;
}

/* The same, or the time to read recorders if that is earlier. */
static uint64_t next_due(const struct sampling *sampling)
{
	const uint64_t event = next_event(sampling), heap = heap_due(sampling);

	return event < heap ? event : heap;
}

static void sample_all(struct sampling *sampling)
{
	struct event_done done;
	uint64_t now = now_ns();

	pace_start(&sampling->pace, sampling->options->interval, now,
		   now ^ (uint64_t)getpid());
	sampling->paused_since = now;
	hurry(sampling->waiting);
	if (PMP_FAULT("late-first"))
		sleep(1);
	while (now = now_ns(), !is_over(sampling, now)) {
		if (now >= next_event(sampling)) {
			take_snapshot(sampling);
			heap_read(sampling);
			sampling->page->so_far = done_by(sampling, now_ns());
			continue;
		}
		heap_read(sampling);
		rest(sampling, next_due(sampling));
		/* A capture, if due now, itself notices that its target has ended. */
		if (now_ns() < next_event(sampling))
			targets_check(sampling);
		else
			targets_settle(sampling);
	}
	heap_end(sampling, 0);
	done = done_by(sampling, now);
	events_send(sampling, EVENT_DONE, &done, sizeof(done));
}

/* Detach from the terminal, the signals and the descriptors of the front. Only fd and
 * exec_fd stay, exec_fd as descriptor 0. */
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
	/* No core dump, and no other process may read the target's data in our memory. */
	prctl(PR_SET_DUMPABLE, 0);
}

static void on_sigchld(int number)
{
	(void)number;
	pmp_target_sigchld();
}

/* Blocked but while a thread is being seized. */
static void handle_sigchld(void)
{
	struct sigaction action = { .sa_handler = on_sigchld };

	sigemptyset(&action.sa_mask);
	sigaction(SIGCHLD, &action, NULL);
}

void process_raise_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
		return;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}

/* A sample of a thousand threads takes half a megabyte. If that were returned
 * to the kernel, it would be mapped and cleared for the next sample, which
 * takes longer than filling it. */
static void keep_heap(void)
{
#ifdef M_TRIM_THRESHOLD
	mallopt(M_MMAP_THRESHOLD, HEAP_KEPT);
	mallopt(M_TRIM_THRESHOLD, HEAP_KEPT);
#endif
}

#ifdef PMP_FAULTS
/* As if a library parsed a file of a target in this process. */
static void parse(void)
{
	char image[64] = "\177ELF";
	void *(*memory)(char *image, size_t size);

	*(void **)&memory = dlsym(RTLD_DEFAULT, "elf_memory");
	if (memory)
		memory(image, sizeof(image));
}
#endif

/* The front reports the rights that could not be dropped. */
static void confine(struct sampling *sampling)
{
	const struct options *options = sampling->options;
	struct process_memory own = { 0 }; /* The front's, copied, is its own already. */

	process_memory(getpid(), &own);
	/* A target must not make the host run out of memory by way of the sampler. */
	confine_data(own.data + (PMP_FAULT("sampler-small") ? 48 << 20 : MEMORY));
	sampling->page->keeps_rights = !confine_sampler_rights(options->kernel);
	sampling->page->unfiltered = !confine_sampler_calls(options->debug != NULL);
	if (PMP_FAULT("sampler-exec"))
		execl("/bin/true", "true", NULL);
#ifdef PMP_FAULTS
	if (PMP_FAULT("sampler-parses"))
		parse();
#endif
}

void process_run(struct sampling *sampling, const struct sampler_targets *targets,
		 pid_t front)
{
	struct pmp_error err;
	const struct options *options = sampling->options;
	pid_t adopter = options->command ? front : 0;

	isolate(sampling, front);
	handle_sigchld();
	/* The sampler keeps a descriptor open for each thread. */
	process_raise_limit();
	keep_heap();
	sampling->has_front_clock =
		clock_getcpuclockid(front, &sampling->front_clock) == 0;
	hold_timer_open(&sampling->hold_timer);
	pmp_run_soon();
	events_beat(sampling);
	confine(sampling);
	sampling->count = sampling->capacity = targets->count;
	sampling->watched = calloc(targets->count, sizeof(*sampling->watched));
	if (!sampling->watched ||
	    pmp_sender_new(sampling->fd, &sampling->sender, &err) < 0 ||
	    (options->children && children_open(&sampling->children, adopter, &err) < 0))
		_exit(PMP_EXIT_FAILED);
	if (PMP_FAULT("late-open"))
		sleep(2);
	for (size_t i = 0; i < targets->count; i++) {
		sampling->watched[i].pid = targets->all[i].pid;
		sampling->watched[i].started = targets->all[i].started;
		targets_open_first(sampling, &sampling->watched[i]);
	}
	sample_all(sampling);
	_exit(PMP_EXIT_OK);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stopmeter [-n SNAPSHOTS -i MS [-k SKIP]] [-o FILE] PID COMMAND [ARG...]
 *
 * How long does COMMAND hold the threads of PID stopped? Not what it says of
 * itself: what the kernel's scheduler trace says. A stop is the time from the
 * switch that takes a thread off its processor in state t or T (sched_switch) to
 * the wake-up out of it (sched_waking). Needs root and tracefs.
 *
 * COMMAND takes SNAPSHOTS (1), one every MS milliseconds. The first SKIP of them are
 * left out: what begins less than SKIP - 1/2 intervals after the first stop of all.
 * Without a stop there is nothing to leave out.
 *
 * COMMAND's output goes to FILE (/dev/null). Prints one line of name=value:
 *   wall_ms   of COMMAND, all snapshots
 *   cpu_ms    of it and of all processes that it has started
 *   rss_mib   of the largest of its processes
 *   threads   of PID when it began
 *   stops     number of them
 *   p50_us p99_us max_us    of one stop
 *   any_us    time during which any thread was stopped, for each thread and snapshot
 *   all_ms    the longest time during which all threads were stopped
 *   left      threads still stopped when COMMAND had ended
 *   lost      trace events lost: the figures are too small
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define TRACEFS "/sys/kernel/tracing"
#define BUFFER_KIB "32768"

struct thread {
	int tid;
	double since; /* us; 0: not stopped */
};

struct meter {
	char dir[128];
	struct thread *threads;
	size_t count;
	double *stops; /* the length of each */
	size_t stop_count, stop_capacity;
	double snapshots, interval, skip;
	double warm; /* what ends before is not counted; 0: no stop yet */
	double any, all;
	double any_since, all_since;
	size_t stopped_now;
	unsigned long lost;
};

static void die(const char *what)
{
	fprintf(stderr, "stopmeter: %s: %s\n", what, strerror(errno));
	exit(1);
}

static bool put(const struct meter *meter, const char *file, const char *text)
{
	char path[256];
	int fd;
	bool done;

	snprintf(path, sizeof(path), "%s/%s", meter->dir, file);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	done = write(fd, text, strlen(text)) >= 0;
	close(fd);
	return done;
}

static int by_tid(const void *a, const void *b)
{
	return ((const struct thread *)a)->tid - ((const struct thread *)b)->tid;
}

static int by_length(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Room for one more of an array. */
static void *grow(void *array, size_t count, size_t *capacity, size_t size)
{
	if (count < *capacity)
		return array;
	*capacity = *capacity ? *capacity * 2 : 256;
	array = realloc(array, *capacity * size);
	if (!array)
		die("memory");
	return array;
}

static void list_threads(struct meter *meter, int pid)
{
	char path[64];
	struct dirent *entry;
	size_t capacity = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	dir = opendir(path);
	if (!dir)
		die(path);
	while ((entry = readdir(dir))) {
		int tid = (int)strtol(entry->d_name, NULL, 10);

		if (tid <= 0)
			continue;
		meter->threads = grow(meter->threads, meter->count, &capacity,
				      sizeof(*meter->threads));
		meter->threads[meter->count++] = (struct thread){ .tid = tid };
	}
	closedir(dir);
	qsort(meter->threads, meter->count, sizeof(*meter->threads), by_tid);
}

/* In one write: after each the kernel waits until no processor uses the old list. */
static void follow_threads(const struct meter *meter)
{
	size_t size = meter->count * 12 + 1, at = 0;
	char *list = malloc(size);

	if (!list)
		die("memory");
	for (size_t i = 0; i < meter->count; i++)
		at += (size_t)snprintf(list + at, size - at, "%d ",
				       meter->threads[i].tid);
	if (!put(meter, "set_event_pid", list))
		die("set_event_pid");
	free(list);
}

static void start(struct meter *meter)
{
	snprintf(meter->dir, sizeof(meter->dir), TRACEFS "/instances/pmp-bench-%d",
		 (int)getpid());
	if (mkdir(meter->dir, 0700) < 0)
		die(meter->dir);
	put(meter, "tracing_on", "0");
	put(meter, "trace_clock", "mono");
	put(meter, "buffer_size_kb", BUFFER_KIB);
	put(meter, "options/overwrite", "0");
	follow_threads(meter);
	put(meter, "events/sched/sched_switch/filter", "prev_state & 12");
	if (!put(meter, "events/sched/sched_switch/enable", "1") ||
	    !put(meter, "events/sched/sched_waking/enable", "1") ||
	    !put(meter, "tracing_on", "1"))
		die("sched events");
}

static struct thread *find(struct meter *meter, int tid)
{
	struct thread key = { .tid = tid };

	return bsearch(&key, meter->threads, meter->count, sizeof(key), by_tid);
}

static void begin_stop(struct meter *meter, struct thread *thread, double now)
{
	if (thread->since > 0)
		return;
	if (meter->warm <= 0)
		meter->warm = now + (meter->skip - 0.5) * meter->interval;
	thread->since = now;
	if (meter->stopped_now++ == 0)
		meter->any_since = now;
	if (meter->stopped_now == meter->count)
		meter->all_since = now;
}

static void end_stop(struct meter *meter, struct thread *thread, double now)
{
	bool counts = now >= meter->warm;

	if (thread->since <= 0)
		return;
	if (counts) {
		meter->stops = grow(meter->stops, meter->stop_count,
				    &meter->stop_capacity, sizeof(*meter->stops));
		meter->stops[meter->stop_count++] = now - thread->since;
	}
	thread->since = 0;
	if (counts && meter->stopped_now == meter->count &&
	    meter->all < now - meter->all_since)
		meter->all = now - meter->all_since;
	if (--meter->stopped_now == 0 && counts)
		meter->any += now - meter->any_since;
}

/* "... 123.456789: sched_switch: ... prev_pid=N ... prev_state=t ..." */
static void take_line(struct meter *meter, const char *line)
{
	const char *event = strstr(line, ": sched_"), *at;
	bool is_switch;
	struct thread *thread;
	double now;

	if (!event)
		return;
	for (at = event; at > line && at[-1] != ' ';)
		at--;
	now = strtod(at, NULL) * 1e6;
	is_switch = strncmp(event, ": sched_switch:", 15) == 0;
	at = strstr(event, is_switch ? " prev_pid=" : " pid=");
	if (!at)
		return;
	thread = find(meter, (int)strtol(strchr(at, '=') + 1, NULL, 10));
	if (!thread)
		return;
	if (!is_switch) {
		end_stop(meter, thread, now);
		return;
	}
	at = strstr(event, " prev_state=");
	if (at && (at[12] == 't' || at[12] == 'T'))
		begin_stop(meter, thread, now);
}

static void read_lost(struct meter *meter)
{
	long cpus = sysconf(_SC_NPROCESSORS_CONF);

	for (long cpu = 0; cpu < cpus; cpu++) {
		char path[256], line[128];
		FILE *file;

		snprintf(path, sizeof(path), "%s/per_cpu/cpu%ld/stats", meter->dir, cpu);
		file = fopen(path, "re");
		while (file && fgets(line, sizeof(line), file))
			if (strncmp(line, "overrun:", 8) == 0 ||
			    strncmp(line, "dropped events:", 15) == 0)
				meter->lost += strtoul(strchr(line, ':') + 1, NULL, 10);
		if (file)
			fclose(file);
	}
}

static void finish(struct meter *meter)
{
	char path[256], line[1024];
	FILE *file;

	put(meter, "tracing_on", "0");
	snprintf(path, sizeof(path), "%s/trace", meter->dir);
	file = fopen(path, "re");
	while (file && fgets(line, sizeof(line), file))
		take_line(meter, line);
	if (file)
		fclose(file);
	read_lost(meter);
	put(meter, "events/enable", "0");
	rmdir(meter->dir);
}

static double milliseconds(struct timeval t)
{
	return (double)t.tv_sec * 1e3 + (double)t.tv_usec / 1e3;
}

static double now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static double quantile(const struct meter *meter, double part)
{
	size_t at = (size_t)(part * (double)meter->stop_count);

	if (meter->stop_count == 0)
		return 0;
	return meter->stops[at < meter->stop_count ? at : meter->stop_count - 1];
}

static void report(struct meter *meter, double wall, const struct rusage *usage)
{
	double shares = (double)meter->count * (meter->snapshots - meter->skip);

	if (meter->stop_count)
		qsort(meter->stops, meter->stop_count, sizeof(*meter->stops), by_length);
	printf("wall_ms=%.1f cpu_ms=%.1f rss_mib=%.1f threads=%zu stops=%zu ", wall,
	       milliseconds(usage->ru_utime) + milliseconds(usage->ru_stime),
	       (double)usage->ru_maxrss / 1024, meter->count, meter->stop_count);
	printf("p50_us=%.1f p99_us=%.1f max_us=%.1f ", quantile(meter, 0.5),
	       quantile(meter, 0.99), quantile(meter, 1));
	printf("any_us=%.3f all_ms=%.3f left=%zu lost=%lu\n", meter->any / shares,
	       meter->all / 1e3, meter->stopped_now, meter->lost);
}

/* Where in argv PID stands; argc if the options are wrong. */
static int take_options(struct meter *meter, int argc, char **argv, const char **output)
{
	int option;

	meter->snapshots = 1;
	while ((option = getopt(argc, argv, "+n:i:k:o:")) != -1) {
		if (option == 'n')
			meter->snapshots = strtod(optarg, NULL);
		else if (option == 'i')
			meter->interval = strtod(optarg, NULL) * 1e3;
		else if (option == 'k')
			meter->skip = strtod(optarg, NULL);
		else if (option == 'o')
			*output = optarg;
		else
			return argc;
	}
	if (meter->skip >= meter->snapshots || (meter->skip > 0 && meter->interval <= 0))
		return argc;
	return optind;
}

static pid_t run(char **argv, const char *output)
{
	pid_t child = vfork();

	if (child == 0) {
		int out = open(output, O_RDWR | O_CREAT | O_TRUNC, 0600);

		signal(SIGINT, SIG_DFL);
		signal(SIGTERM, SIG_DFL);
		dup2(out, 1);
		dup2(out, 2);
		dup2(open("/dev/null", O_RDONLY), 0);
		execvp(argv[0], argv);
		_exit(127);
	}
	return child;
}

/* What COMMAND has left to itself, as pmp leaves those that read files for it, ends with it
 * or soon after. What they all have used. */
static void await_orphans(struct rusage *usage)
{
	while (waitpid(-1, NULL, 0) > 0 || errno == EINTR)
		;
	getrusage(RUSAGE_CHILDREN, usage);
}

int main(int argc, char **argv)
{
	struct meter meter = { 0 };
	const char *output = "/dev/null";
	int first = take_options(&meter, argc, argv, &output), status = 0;
	struct rusage usage;
	double started, wall;
	pid_t child;

	if (argc - first < 2) {
		fprintf(stderr,
			"usage: stopmeter [-n SNAPSHOTS -i MS [-k SKIP]] [-o FILE] "
			"PID COMMAND [ARG...]\n");
		return 2;
	}
	/* Interrupted, the command ends; the trace is to be removed all the same. */
	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	list_threads(&meter, (int)strtol(argv[first], NULL, 10));
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	start(&meter);
	started = now_ms();
	child = run(argv + first + 1, output);
	if (child < 0 || waitpid(child, &status, 0) < 0)
		die(argv[first + 1]);
	wall = now_ms() - started;
	await_orphans(&usage);
	finish(&meter);
	report(&meter, wall, &usage);
	free(meter.threads);
	free(meter.stops);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

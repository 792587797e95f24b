/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stopmeter PID COMMAND [ARG...]
 *
 * How long does COMMAND hold the threads of PID stopped? Not what it says of
 * itself: what the kernel's scheduler trace says. A stop is the time from the
 * switch that takes a thread off its processor in state t or T (sched_switch) to
 * the wake-up out of it (sched_waking). Needs root and tracefs.
 *
 * COMMAND's output goes to /dev/null. Prints one line of name=value:
 *   wall_ms cpu_ms rss_mib  of COMMAND
 *   threads   of PID when it began
 *   stops     number of them
 *   p50_us p99_us max_us    of the time one thread was stopped, all its stops added
 *   any_us    time during which any thread was stopped, divided by threads
 *   left      threads still stopped when COMMAND had ended
 *   lost      trace events lost: the figures are too small
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define TRACEFS "/sys/kernel/tracing"
#define BUFFER_KIB "32768"

struct thread {
	int tid;
	double since;		/* 0: not stopped */
	double sum;
};

struct meter {
	char dir[128];
	struct thread *threads;
	size_t count;
	size_t stops, stopped_now;
	double any, any_since;
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

static int by_sum(const void *a, const void *b)
{
	double x = ((const struct thread *)a)->sum, y = ((const struct thread *)b)->sum;

	return (x > y) - (x < y);
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
		if (meter->count == capacity) {
			capacity = capacity ? capacity * 2 : 256;
			meter->threads = realloc(meter->threads,
						 capacity * sizeof(*meter->threads));
			if (!meter->threads)
				die("memory");
		}
		meter->threads[meter->count++] = (struct thread){ .tid = tid };
	}
	closedir(dir);
	qsort(meter->threads, meter->count, sizeof(*meter->threads), by_tid);
}

static void start(struct meter *meter)
{
	snprintf(meter->dir, sizeof(meter->dir), TRACEFS "/instances/pmp-bench-%d", (int)getpid());
	if (mkdir(meter->dir, 0700) < 0)
		die(meter->dir);
	put(meter, "tracing_on", "0");
	put(meter, "trace_clock", "mono");
	put(meter, "buffer_size_kb", BUFFER_KIB);
	put(meter, "options/overwrite", "0");
	for (size_t i = 0; i < meter->count; i++) {
		char tid[16];

		snprintf(tid, sizeof(tid), "%d", meter->threads[i].tid);
		/* Opened for appending by the kernel's rules only with O_APPEND. */
		char path[256];
		int fd;

		snprintf(path, sizeof(path), "%s/set_event_pid", meter->dir);
		fd = open(path, O_WRONLY | (i ? O_APPEND : O_TRUNC) | O_CLOEXEC);
		if (fd < 0 || write(fd, tid, strlen(tid)) < 0)
			die("set_event_pid");
		close(fd);
	}
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
	thread->since = now;
	meter->stops++;
	if (meter->stopped_now++ == 0)
		meter->any_since = now;
}

static void end_stop(struct meter *meter, struct thread *thread, double now)
{
	if (thread->since <= 0)
		return;
	thread->sum += now - thread->since;
	thread->since = 0;
	if (--meter->stopped_now == 0)
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

static void report(struct meter *meter, double wall, const struct rusage *usage)
{
	size_t stopped = 0, left = meter->stopped_now;
	const struct thread *s;

	qsort(meter->threads, meter->count, sizeof(*meter->threads), by_sum);
	while (stopped < meter->count && meter->threads[stopped].sum <= 0)
		stopped++;
	s = meter->threads + stopped;
	stopped = meter->count - stopped;
	printf("wall_ms=%.1f cpu_ms=%.1f rss_mib=%.1f threads=%zu stops=%zu ", wall,
	       milliseconds(usage->ru_utime) + milliseconds(usage->ru_stime),
	       (double)usage->ru_maxrss / 1024, meter->count, meter->stops);
	if (stopped)
		printf("p50_us=%.0f p99_us=%.0f max_us=%.0f ", s[stopped / 2].sum,
		       s[(stopped * 99) / 100 < stopped ? (stopped * 99) / 100 : stopped - 1].sum,
		       s[stopped - 1].sum);
	else
		printf("p50_us=0 p99_us=0 max_us=0 ");
	printf("any_us=%.1f left=%zu lost=%lu\n", meter->any / (double)meter->count, left,
	       meter->lost);
}

int main(int argc, char **argv)
{
	struct meter meter = { 0 };
	struct rusage usage;
	double begin, wall;
	int status, out;
	pid_t child;

	if (argc < 3) {
		fprintf(stderr, "usage: stopmeter PID COMMAND [ARG...]\n");
		return 2;
	}
	list_threads(&meter, (int)strtol(argv[1], NULL, 10));
	start(&meter);
	begin = now_ms();
	child = vfork();
	if (child == 0) {
		out = open("/dev/null", O_RDWR);
		dup2(out, 0);
		dup2(out, 1);
		dup2(out, 2);
		execvp(argv[2], argv + 2);
		_exit(127);
	}
	if (child < 0 || wait4(child, &status, 0, &usage) < 0)
		die(argv[2]);
	wall = now_ms() - begin;
	finish(&meter);
	report(&meter, wall, &usage);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * keys [STACKS [DEPTH]]: what it takes to answer a key of the live view, the screen drawn
 * in memory included, with so many distinct stacks (262,144 of 30 frames: as many as are
 * kept apart), of a saved profile and of a process. CPU time in ms: the longest for which
 * another key would have had to wait, then what it takes until all is shown; medians of
 * several times, and the longest of the first.
 */
#include <locale.h>
#include <time.h>

#include "view/key-codes.h"
#include "view/keys.h"
#include "libpmp-program.h"
#include "view/view.h"
#include "lib/saved.h"
#include "tally/live.h"

#define THREADS 200
#define DEPTH_MAX 1000
#define REPEATS 5

static pmp_location locations[SAVED_FUNCTIONS];
static size_t stacks = 262144, depth = 30;

/* ---- what is shown ----------------------------------------------------------- */

static void make_stack(size_t number, pmp_location *stack)
{
	saved_server_stack(locations, (number + 1) * 0x9e3779b97f4a7c15u, stack, depth);
}

static struct saved new_profile(void)
{
	const struct pmp_profile_options options = { .size = sizeof(options),
						     .live = true };
	struct saved saved = saved_new();

	pmp_profile_free(saved.profile);
	if (pmp_profile_new(&options, saved.symbolizer, &saved.profile, NULL))
		abort();
	saved_server(&saved, locations);
	return saved;
}

static struct saved make_saved(void)
{
	struct saved saved = new_profile();
	pmp_location stack[DEPTH_MAX];
	char thread[32];

	for (size_t i = 0; i + 1 < stacks; i++) {
		const struct pmp_entry entry = {
			.tid = (pid_t)(5000 + i % THREADS),
			.thread = thread,
			.state = i % 7 ? 'S' : 'R',
			.syscall = i % 3 ? "futex" : "poll",
			.count = 1 + i % 5,
			.wall = 100000000,
		};

		snprintf(thread, sizeof(thread), "worker-%zu", i % THREADS);
		make_stack(i, stack);
		saved_count(&saved, &entry, stack, depth);
	}
	return saved;
}

/* A snapshot in which each thread is at another stack. */
static void add_sample(struct saved *saved, uint64_t number)
{
	static pmp_location all[THREADS * DEPTH_MAX];
	struct pmp_live *live = (struct pmp_live *)pmp_profile_live(saved->profile);
	struct pmp_sample *sample = pmp_sample_new();

	if (!sample)
		abort();
	sample->pid = 4100;
	sample->time = 1000000000000 + number * 100000000;
	snprintf(sample->name, sizeof(sample->name), "server");
	for (size_t i = 0; i < THREADS; i++) {
		struct pmp_thread *thread = pmp_sample_add_thread(sample);

		if (!thread)
			abort();
		thread->tid = (pid_t)(5000 + i);
		thread->state = i % 7 ? 'S' : 'R';
		thread->obtained = PMP_STOPPED;
		thread->syscall = i % 3 ? 202 : 7;
		snprintf(thread->name, sizeof(thread->name), "worker-%zu", i);
		thread->frame = i * depth;
		thread->frame_count = depth;
		/* One less than are kept apart: nothing is put together. */
		make_stack((number * THREADS + i) % (stacks - 1), all + thread->frame);
	}
	if (pmp_live_add(live, sample, all, NULL))
		abort();
	pmp_sample_free(sample);
}

/* ---- the keys ----------------------------------------------------------------- */

static const struct {
	const char *what;
	const char *before, *keys; /* those that are measured */
} rows[] = {
	{ "1: stacks", "2", "1" },
	{ "2: functions", "1", "2" },
	{ "3: tree", "1", "3" },
	{ "4: threads", "1", "4" },
	{ "3 v: inverted", "3", "v" },
	{ "3 e: hot path", "3", "e" },
	{ "3 H: split", "3", "H" },
	{ "2 H: split", "2", "H" },
	{ "1 H: split", "1", "H" },
	{ "1 t: ungrouped", "1", "t" },
	{ "1 Ht: by thread", "1H", "t" },
	{ "1 i: no idle", "1", "i" },
	{ "2 i: no idle", "2", "i" },
	{ "3 i: no idle", "3", "i" },
	{ "1 y: minute", "1", "y" },
	{ "2 y: minute", "2", "y" },
	{ "3 y: minute", "3", "y" },
	{ "1 >: by another", "1", ">>>>" },
	{ "1 I: reverse", "1", "I" },
	{ "2 >: by another", "2", ">>>" },
	{ "1 c: full names", "1", "c" },
	{ "1 %: average", "1", "%" },
	{ "1 \\: filter", "1\\function_77$", "\r" },
	{ "2 \\: filter", "2\\function_77", "\r" },
	{ "3 \\: filter", "3\\function_77", "\r" },
	{ "1 o: threads", "1oworker-1", "\r" },
	{ "1 Esc: no filter", "1oworker-1\r", "\033" },
	{ "1 /: search", "1/", "module_60::function_40" },
	{ "1 /: in vain", "1/nowher", "e\rnN" },
	{ "1 G: the end", "1", "G" },
	{ "1 G k: up", "1G", "k" },
	{ "1 j: down", "1", "j" },
	{ "1 Enter: stack", "1", "\r" },
};

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
	return (double)time.tv_sec * 1e3 + (double)time.tv_nsec / 1e6;
}

static void do_nothing(void *arg)
{
	(void)arg;
}

static const struct view_actions actions = { .refresh = do_nothing, .quit = do_nothing };

struct times {
	double step, all;
};

/* One turn: it starts and ends with a check for keys. */
static void take_turn(struct view *view, struct canvas *canvas, int key,
		      struct times *times)
{
	double start = now(), took;

	if (key)
		view_key(view, key);
	else
		view_go_on(view);
	view_draw(view, canvas);
	took = now() - start;
	times->step = took > times->step ? took : times->step;
	times->all += took;
}

/* These keys and the screen; the last one until all is there. */
static struct times type(struct view *view, struct canvas *canvas, const char *text)
{
	struct times times = { 0, 0 };

	while (*text)
		take_turn(view, canvas, (int)canvas_next(&text), &times);
	while (view_is_busy(view))
		take_turn(view, canvas, 0, &times);
	return times;
}

static int by_size(const void *a, const void *b)
{
	double one = *(const double *)a, other = *(const double *)b;

	return (one > other) - (one < other);
}

static void print(const char *what, const struct times *times)
{
	double steps[REPEATS], all[REPEATS];

	for (size_t i = 0; i < REPEATS; i++) {
		steps[i] = times[i].step;
		all[i] = times[i].all;
	}
	qsort(steps, REPEATS, sizeof(*steps), by_size);
	qsort(all, REPEATS, sizeof(*all), by_size);
	printf("    %-20s %7.1f %7.1f %10.1f\n", what, steps[REPEATS / 2],
	       steps[REPEATS - 1], all[REPEATS / 2]);
	fflush(stdout);
}

/* Back to how a view begins. */
static void begin(struct view *view, struct canvas *canvas)
{
	const struct settings settings = { 0 };

	type(view, canvas, "\033\033g1");
	view->model.settings = settings;
	view_refresh(view);
}

static void measure(const char *title, struct saved *saved, bool live)
{
	struct canvas canvas = { 0 };
	struct view view;
	struct times first, times[REPEATS] = { { 0, 0 } };
	uint64_t number = stacks / THREADS + 1;

	printf("%s: %zu stacks of %zu frames\n", title, stacks, depth);
	printf("    %-20s %7s %7s %10s\n", "", "waits", "longest", "all");
	if (!canvas_resize(&canvas, 50, 132))
		abort();
	view_init(&view, saved->profile, saved->symbolizer, &actions, NULL);
	view.title = "server";
	view.model.saved = !live;
	view.metadata.size = sizeof(view.metadata);
	view.slice = VIEW_SLICE;
	first = type(&view, &canvas, "I");
	printf("    %-20s %7.1f %18.1f\n", "the first screen", first.step, first.all);
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		for (size_t k = 0; k < REPEATS; k++) {
			begin(&view, &canvas);
			type(&view, &canvas, rows[i].before);
			if (live)
				add_sample(saved, number++);
			times[k] = type(&view, &canvas, rows[i].keys);
		}
		print(rows[i].what, times);
	}
	view_free(&view);
	canvas_free(&canvas);
}

int main(int argc, char **argv)
{
	struct saved saved;
	double start;

	stacks = argc > 1 ? strtoul(argv[1], NULL, 10) : stacks;
	depth = argc > 2 ? strtoul(argv[2], NULL, 10) : depth;
	if (stacks < 2 || !depth || depth > DEPTH_MAX)
		return 2;
	setlocale(LC_CTYPE, "C.UTF-8");
	saved = make_saved();
	measure("a saved profile", &saved, false);
	saved_free(&saved);
	saved = new_profile();
	for (uint64_t i = 0; i <= stacks / THREADS; i++)
		add_sample(&saved, i);
	measure("a process", &saved, true);
	start = now();
	if (pmp_live_shrink((struct pmp_live *)pmp_profile_live(saved.profile)))
		abort();
	printf("half of the stacks put together, at most once in 10 s: %.1f\n",
	       now() - start);
	saved_free(&saved);
	return 0;
}

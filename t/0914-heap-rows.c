/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * View 6, the heap, without a terminal: batches of a recorder by construction, so that what
 * lives and what has changed is known to the byte.
 */
#include <math.h>
#include <regex.h>

#include "heap-batch.h"
#include "lib/fakeview.h"
#include "run/clock.h"

#define PID 4100
#define RATE (UINT64_C(512) << 10)
#define TEXT 4096

static void like(const char *text, const char *pattern, const char *what)
{
	regex_t regex;

	if (regcomp(&regex, pattern, REG_EXTENDED | REG_NOSUB))
		abort();
	if (!ok(regexec(&regex, text, 0, NULL, 0) == 0, "%s", what))
		diag("%s", text);
	regfree(&regex);
}

static struct pmp_profile *new_profile(void)
{
	struct pmp_profile_options options = {
		.size = sizeof(options), .live = true, .details = true, .heap = true
	};
	struct pmp_profile *profile = NULL;

	if (pmp_profile_new(&options, NULL, &profile, NULL))
		abort();
	return profile;
}

static struct pmp_heap_batch *new_batch(pid_t pid, uint64_t time)
{
	struct pmp_heap_batch *batch = pmp_heap_batch_new();

	if (!batch)
		abort();
	batch->pid = pid;
	batch->time = time;
	batch->totals.start = time;
	batch->totals.state = PMP_HEAP_STATE_RECORDS;
	snprintf(batch->name, sizeof(batch->name), "server");
	batch->maps = pmp_maps_new();
	return batch;
}

static void take(struct pmp_profile *profile, struct pmp_heap_batch *batch)
{
	if (pmp_profile_add_heap(profile, batch, NULL))
		abort();
	pmp_heap_batch_free(batch);
}

/* functions: the innermost first, up to -1. */
static void allocate(struct pmp_heap_batch *batch, const char *thread,
		     const int *functions, uint64_t pointer, uint64_t size, uint64_t rate)
{
	struct pmp_heap_event event = { .kind = PMP_HEAP_ALLOC,
					.time = batch->time,
					.pointer = pointer,
					.asked = size,
					.usable = size,
					.rate = rate };
	struct pmp_raw_frame frames[16];
	size_t count = 0;

	for (; functions[count] >= 0; count++)
		frames[count] = (struct pmp_raw_frame){ .pc = fake_pc(functions[count]) };
	pmp_heap_batch_thread(batch, batch->pid + (pid_t)strlen(thread), thread,
			      &event.thread);
	if (pmp_heap_batch_add(batch, &event, frames, count))
		abort();
	batch->totals.mallocs++;
}

static void release(struct pmp_heap_batch *batch, uint64_t pointer)
{
	const struct pmp_heap_event event = { .kind = PMP_HEAP_FREE,
					      .time = batch->time,
					      .pointer = pointer };

	if (pmp_heap_batch_add(batch, &event, NULL, 0))
		abort();
}

/* ---- what is shown ----------------------------------------------------------------- */

/* A cell by the title of its column; without blanks at the left. */
static const char *cell(const struct view *view, size_t i, const char *title)
{
	static char text[TEXT];
	const struct view_type *type = view_type_of(&view->model);
	const struct view_row *row = model_row(&view->model, i);

	for (size_t k = 0; row && k < type->column_count; k++) {
		const struct column *column = &type->columns[k];

		if (strcmp(view_type_title(&view->model, column), title) != 0)
			continue;
		column->text(&view->model, row, text, sizeof(text));
		return text;
	}
	return "(none)";
}

static long row_of(const struct view *view, const char *where)
{
	for (size_t i = 0; i < view->model.list.order_count; i++)
		if (strcmp(cell(view, i, "ALLOCATED BY"), where) == 0)
			return (long)i;
	return -1;
}

/* A row by its last cell, as LIVE BLOCKS ALLOC CALLS; with what has changed since +LIVE. */
static const char *figures(const struct view *view, const char *where)
{
	static char text[TEXT];
	const bool all = model_window(&view->model) == PMP_WINDOW_START;
	const long i = row_of(view, where);

	if (i < 0)
		return "no such row";
	snprintf(text, sizeof(text), "%s", cell(view, (size_t)i, all ? "LIVE" : "+LIVE"));
	text_append(text, sizeof(text), " %s",
		    cell(view, (size_t)i, all ? "BLOCKS" : "+BLOCKS"));
	text_append(text, sizeof(text), " %s", cell(view, (size_t)i, "ALLOC"));
	text_append(text, sizeof(text), " %s", cell(view, (size_t)i, "CALLS"));
	return text;
}

/* The screen as one text. */
#define FETCHES "malloc<ha_innobase::general_fetch<do_command"
#define READS "operator new<row_search_mvcc<ha_innobase::general_fetch<do_command"
#define LOGS "malloc<main"

/* Every call: 1000 bytes in 10 blocks, 8 of which live; 5000 in one; 64 that are freed. */
static struct pmp_heap_batch *calls(uint64_t time)
{
	struct pmp_heap_batch *batch = new_batch(PID, time);

	for (uint64_t i = 0; i < 10; i++)
		allocate(batch, "conn-7", FAKE_STACK(MALLOC, FETCH, COMMAND), 16 + 16 * i,
			 100, 0);
	release(batch, 16);
	release(batch, 32);
	allocate(batch, "conn-12", FAKE_STACK(NEW, ROW, FETCH, COMMAND), 4096, 5000, 0);
	allocate(batch, "flush", FAKE_STACK(MALLOC, MAIN), 8192, 64, 0);
	release(batch, 8192);
	batch->totals.allocated = 1000 + 5000 + 64;
	batch->totals.freed = 200 + 64;
	batch->totals.frees = 3;
	batch->totals.live = 5800;
	batch->totals.live_blocks = 9;
	batch->totals.peak = 6064;
	return batch;
}

static void test_stacks(struct view *view)
{
	fake_type(view, "6");
	is_str(view_type_of(&view->model)->name, "Heap", "6 shows the heap");
	is_int((long long)view->model.list.order_count, 3, "each stack is a row");
	is_str(cell(view, 0, "ALLOCATED BY"), READS, "what has most of what lives first");
	is_str(figures(view, READS), "4.88kB 1 4.88kB 1", "one block lives");
	is_str(figures(view, FETCHES), "800B 8 1000B 10", "8 of 10 blocks live");
	is_str(figures(view, LOGS), "0 0 64B 1", "or none");
	is_str(cell(view, 0, "ERR"), "-", "every call is recorded: nothing is estimated");
	is_str(cell(view, 0, "THREADS"), "conn-N", "threads are in groups");
	fake_type(view, ">>");
	is_str(cell(view, 2, "ALLOCATED BY"), LOGS, "sorted by blocks");
	fake_type(view, "I");
	is_str(cell(view, 0, "ALLOCATED BY"), LOGS, "and the other way round");
	fake_type(view, "I");
	fake_type(view, "\\row_search\r");
	is_int((long long)view->model.list.order_count, 1,
	       "a filter leaves what matches");
	view_key(view, PMP_KEY_ESCAPE);
	fake_type(view, "oflush\r");
	is_int((long long)view->model.list.order_count, 1, "so does one of threads");
	view_key(view, PMP_KEY_ESCAPE);
	fake_type(view, "/operator\r");
	is_str(cell(view, view->at, "ALLOCATED BY"), READS, "a search finds a stack");
}

static void test_functions(struct view *view)
{
	fake_type(view, "<<f");
	is_int((long long)view->model.list.order_count, 6, "f: functions");
	is_str(cell(view, 0, "ALLOCATED BY"), "row_search_mvcc", "who allocates most");
	is_str(figures(view, "row_search_mvcc"), "4.88kB 1 4.88kB 1",
	       "not operator new, but who calls it");
	is_str(figures(view, "ha_innobase::general_fetch"), "800B 8 1000B 10",
	       "what a function allocates itself");
	is_str(cell(view, (size_t)row_of(view, "ha_innobase::general_fetch"), "TOTAL"),
	       "5.66kB", "and with what it calls");
	is_str(figures(view, "malloc"), "0 0 0 0", "malloc has nothing of its own");
	is_str(cell(view, (size_t)row_of(view, "malloc"), "TOTAL"), "800B",
	       "but what is allocated by it");
	is_str(cell(view, (size_t)row_of(view, "do_command"), "TOTAL"), "5.66kB",
	       "nor has a root");
	fake_type(view, ">");
	is_str(cell(view, 0, "TOTAL"), "5.66kB", "sorted by total");
	fake_type(view, "<H");
	is_int((long long)view->model.list.order_count, 7,
	       "H: malloc is a row for each group of threads");
	fake_type(view, "Hf");
	is_int((long long)view->model.list.order_count, 3, "f again: stacks");
}

static void test_screens(struct view *view)
{
	const char *text = fake_screen(view, 24, 80);

	ok(strstr(text, "5.66kB live in 9 blocks, peak 5.92kB") != NULL,
	   "the header has the exact totals and the peak");
	ok(strstr(text, "every call") != NULL, "and that they are of every call");
	ok(strstr(text, "Allocated 5.92kB in 12 calls, freed 264B in 3") != NULL,
	   "what was allocated and freed");
	ok(strstr(text, "live 4.88kB in 1 block; allocated 4.88kB in 1 call") != NULL,
	   "below the list are the figures of the row");
	ok(strstr(text, "by age:") != NULL, "and ages");
	ok(strstr(text, "#0   operator new(unsigned long)") ||
		   strstr(text, "#0   operator new"),
	   "and its stack");
	text = fake_screen(view, 50, 200);
	ok(strstr(text, "STAYS/S") && strstr(text, "THREADS"),
	   "a wide screen has more columns");
	text = fake_screen(view, 8, 40);
	ok(strstr(text, "LIVE") && strstr(text, "4.88kB"),
	   "a small one has what matters");
}

static void test_exact(void)
{
	struct pmp_profile *profile = new_profile();
	struct view view;

	take(profile, calls(now_ns()));
	fake_view(&view, profile);
	test_stacks(&view);
	test_functions(&view);
	test_screens(&view);
	view_free(&view);
	pmp_profile_free(profile);
}

/* A block that was chosen stands for w = 1 / (1 - exp(-s / R)); its error is
 * s * sqrt(w * (w - 1)). */
static void test_sampled(void)
{
	const uint64_t size = 100000, blocks = 4;
	const double w = 1 / (1 - exp(-(double)size / (double)RATE));
	struct pmp_profile *profile = new_profile();
	struct pmp_heap_batch *batch = new_batch(PID, now_ns());
	char wanted[32], count[32];
	struct view view;

	for (uint64_t i = 0; i < blocks; i++)
		allocate(batch, "main", FAKE_STACK(MALLOC, MAIN), 16 + 16 * i, size,
			 RATE);
	batch->totals.rate = RATE;
	take(profile, batch);
	fake_view(&view, profile);
	fake_type(&view, "6");
	snprintf(wanted, sizeof(wanted), "%.0f%%",
		 100 * sqrt(w * (w - 1) / (double)blocks) / w);
	is_str(cell(&view, 0, "ERR"), wanted, "the standard error of an estimate");
	heap_bytes_text((int64_t)(4 * w * (double)size), false, wanted, sizeof(wanted));
	is_str(cell(&view, 0, "LIVE"), wanted, "which stands for more than was seen");
	heap_count_text(4 * w, false, count, sizeof(count));
	is_str(cell(&view, 0, "BLOCKS"), count, "as its blocks do");
	ok(strstr(fake_screen(&view, 24, 80), "sampled every 512kB") != NULL,
	   "the header says so");
	view_free(&view);
	pmp_profile_free(profile);
}

/* ---- what has changed ---------------------------------------------------------------- */

/* A minute and a half in which one stack grows by 100 bytes a second, one is as large as
 * before though it allocates all the time, and one frees half of its 2000 bytes 5 s ago. */
static void grow(struct pmp_profile *profile, uint64_t now)
{
	const uint64_t start = now - 90 * NS_PER_S;
	uint64_t total = 0;

	for (uint64_t i = 0; i <= 90; i++) {
		struct pmp_heap_batch *batch = new_batch(PID, start + i * NS_PER_S);

		allocate(batch, "a", FAKE_STACK(MALLOC, FETCH, COMMAND), 0x10000 + 16 * i,
			 100, 0);
		if (i)
			release(batch, 0x20000 + 16 * (i - 1));
		allocate(batch, "a", FAKE_STACK(NEW, ROW, FETCH, COMMAND),
			 0x20000 + 16 * i, 300, 0);
		for (uint64_t k = 0; i == 0 && k < 2; k++)
			allocate(batch, "a", FAKE_STACK(MALLOC, MAIN), 0x30000 + 16 * k,
				 1000, 0);
		if (i == 85)
			release(batch, 0x30000);
		total += 400 + (i ? 0 : 2000);
		batch->totals.start = start;
		batch->totals.allocated = total;
		take(profile, batch);
	}
}

static void test_windows(void)
{
	struct pmp_profile *profile = new_profile();
	struct view view;

	grow(profile, now_ns());
	fake_view(&view, profile);
	fake_type(&view, "6");
	is_str(figures(&view, FETCHES), "8.89kB 91 8.89kB 91", "since the start: all");
	is_str(figures(&view, READS), "300B 1 26.7kB 91", "what is replaced lives once");
	ok(strstr(fake_screen(&view, 24, 80), "<10s 1000B/10") != NULL ||
		   strstr(fake_screen(&view, 24, 80), "<10s 900B/9") != NULL,
	   "blocks by age: %s", fake_screen(&view, 24, 80));
	fake_type(&view, "y");
	like(figures(&view, FETCHES), "^\\+(5\\.[789]|6\\.[0-4])[0-9]*kB \\+6[0-5] ",
	     "the last minute: it has grown by 60 blocks, or some more");
	like(figures(&view, READS), "^0 0 1[789]\\.[0-9]kB 6[0-5]$",
	     "what was replaced has not grown");
	is_str(figures(&view, LOGS), "-1000B -1 0 0", "what was freed has become less");
	is_str(cell(&view, 0, "ALLOCATED BY"), FETCHES, "what grows most is first");
	is_str(cell(&view, 2, "ALLOCATED BY"), LOGS, "what becomes less last");
	fake_type(&view, "y");
	like(figures(&view, FETCHES), "^\\+(1000B|1\\.[01][0-9]kB|9[0-9][0-9]B) ",
	     "the last 10 s");
	is_str(figures(&view, LOGS), "-1000B -1 0 0", "in which that was");
	like(fake_screen(&view, 24, 80), "In 10 s: allocated (3|4)\\.[0-9]+kB",
	     "the header says what was allocated in that time");
	view_free(&view);
	pmp_profile_free(profile);
}

/* Nothing is heard for longer than the window. */
static void test_silence(void)
{
	struct pmp_profile *profile = new_profile();
	struct view view;

	take(profile, calls(now_ns() - 20 * NS_PER_S));
	fake_view(&view, profile);
	fake_type(&view, "6yy");
	is_int((long long)view.model.list.order_count, 0, "nothing has changed in 10 s");
	ok(strstr(fake_screen(&view, 24, 80), "Nothing was allocated or freed") != NULL,
	   "which is said");
	fake_type(&view, "y");
	is_int((long long)view.model.list.order_count, 3, "all is there since the start");
	view_free(&view);
	pmp_profile_free(profile);
}

/* A recorder that pmp finds again: what it has counted before is no change. */
static void test_found_again(void)
{
	struct pmp_profile *profile = new_profile();
	const uint64_t now = now_ns();
	struct pmp_heap_batch *batch = new_batch(PID, now - NS_PER_S);
	struct view view;

	batch->totals.start = now - 60 * NS_PER_S;
	batch->totals.allocated = 1 << 30;
	take(profile, batch);
	batch = calls(now);
	batch->totals.start = now - 60 * NS_PER_S;
	batch->totals.allocated = (1 << 30) + 6064;
	take(profile, batch);
	fake_view(&view, profile);
	fake_type(&view, "6yy");
	ok(strstr(fake_screen(&view, 24, 80), "allocated 5.92kB") != NULL,
	   "a recorder that is found again: only what it counts from now on");
	view_free(&view);
	pmp_profile_free(profile);
}

static void test_processes(void)
{
	struct pmp_profile *profile = new_profile();
	struct pmp_heap_batch *batch;
	struct view view;

	take(profile, calls(now_ns()));
	batch = new_batch(PID + 1, now_ns());
	allocate(batch, "main", FAKE_STACK(MALLOC, MAIN), 8192, 32, 0);
	take(profile, batch);
	fake_view(&view, profile);
	fake_type(&view, "6");
	is_int((long long)view.model.list.order_count, 4, "two processes: rows of each");
	is_str(cell(&view, 2, "PROCESS"), "4101 server", "which are named");
	fake_type(&view, "gjjO");
	is_int(fake_asked.heap_of, PID + 1,
	       "O reads the heap of the chosen row's process");
	fake_type(&view, "6gO");
	is_int(fake_asked.heap_of, PID, "whichever it is");
	fake_type(&view, "6");
	pmp_profile_forget(profile, PID);
	pmp_profile_forget(profile, PID + 1);
	view_refresh(&view);
	is_int((long long)view.model.list.order_count, 4, "they end: what lived stays");
	view_free(&view);
	pmp_profile_free(profile);
}

static void test_nothing(void)
{
	struct pmp_profile *profile = fake_run(1);
	struct view view;

	fake_view(&view, profile);
	fake_type(&view, "6");
	ok(strstr(fake_screen(&view, 24, 80), "pmp --heap -- COMMAND") != NULL,
	   "without a recorder: what to do");
	ok(strstr(fake_screen(&view, 24, 80), "O reads what its heap holds now") != NULL,
	   "and what can be seen all the same");
	fake_type(&view, "f1f");
	ok(strstr(view.message, "f is for these") != NULL, "f is for the heap");
	view_free(&view);
	pmp_profile_free(profile);
	profile = fake_saved();
	fake_view_saved(&view, profile);
	fake_type(&view, "6");
	ok(strstr(fake_screen(&view, 24, 80), "There is no heap in this profile") != NULL,
	   "so it is of a file");
	view_free(&view);
	pmp_profile_free(profile);
	profile = new_profile();
	fake_view(&view, profile);
	fake_type(&view, "6");
	ok(strstr(fake_screen(&view, 24, 80), "The recorder has reported nothing so far"),
	   "nothing has come yet");
	view_free(&view);
	pmp_profile_free(profile);
}

static void test_texts(void)
{
	static const struct {
		int64_t bytes;
		const char *text;
	} bytes[] = {
		{ 0, "0" },
		{ 1, "1B" },
		{ 999, "999B" },
		{ 1023, "1023B" },
		{ 1024, "1.00kB" },
		{ -1536, "-1.50kB" },
		{ 1023 << 10, "1.00MB" },
		{ INT64_C(65) << 20, "65.0MB" },
		{ INT64_C(653) << 30, "653GB" },
		{ INT64_MAX, "8.00EB" },
		{ INT64_MIN, "-8.00EB" },
	};
	char text[32];

	for (size_t i = 0; i < sizeof(bytes) / sizeof(*bytes); i++)
		is_str(heap_bytes_text(bytes[i].bytes, false, text, sizeof(text)),
		       bytes[i].text, "%s", bytes[i].text);
	is_str(heap_count_text(999999, false, text, sizeof(text)), "999999", "999999");
	is_str(heap_count_text(1e6, true, text, sizeof(text)), "+1.00M", "a million");
	is_str(heap_age_text(NS_PER_S / 2, text, sizeof(text)), "0.5s", "half a second");
	is_str(heap_age_text(7200 * NS_PER_S, text, sizeof(text)), "120m", "two hours");
	is_str(heap_age_text(720000 * NS_PER_S, text, sizeof(text)), "200h", "200 hours");
}

int main(void)
{
	test_exact();
	test_sampled();
	test_windows();
	test_silence();
	test_found_again();
	test_processes();
	test_nothing();
	test_texts();
	return done_testing();
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the view of locks shows of waits that only the functions of their stacks tell apart,
 * in which order, and what keys and clicks do there.
 */
#include "lib/fakeview.h"

#include "libpmp-program.h"

/* Nine snapshots and a view 5 of them. */
static struct pmp_profile *begin(struct view *view, struct canvas *canvas)
{
	struct pmp_profile *profile = fake_profile();

	fake_kinds = true;
	for (uint64_t i = 0; i < 10; i++)
		fake_add(profile, fake_server(4100, i, FAKE_S));
	fake_kinds = false;
	fake_view(view, profile);
	canvas_resize(canvas, 30, 100);
	fake_type(view, "5");
	view_draw(view, canvas);
	return profile;
}

static void end(struct view *view, struct canvas *canvas, struct pmp_profile *profile)
{
	canvas_free(canvas);
	view_free(view);
	pmp_profile_free(profile);
}

static const char *cell(const struct view *view, const struct view_row *row,
			const char *title)
{
	const struct view_type *type = view_type_of(&view->model);
	static char text[ROW_TEXT];

	snprintf(text, sizeof(text), "no such row");
	for (size_t i = 0; row && i < type->column_count; i++)
		if (strcmp(type->columns[i].title, title) == 0)
			type->columns[i].text(&view->model, row, text, sizeof(text));
	return text;
}

/* The first row with such a cell, or NULL. */
static const struct view_row *row_with(const struct view *view, const char *title,
				       const char *text)
{
	for (size_t i = 0; i < view->model.list.order_count; i++) {
		const struct view_row *row = model_row(&view->model, i);

		if (strcmp(cell(view, row, title), text) == 0)
			return row;
	}
	return NULL;
}

/* Is there a line with this text on the screen? */
static bool shows(struct view *view, struct canvas *canvas, const char *text)
{
	char line[1024];

	view_draw(view, canvas);
	for (int i = 0; i < canvas->rows; i++)
		if (strstr(canvas_line(canvas, i, line, sizeof(line)), text))
			return true;
	return false;
}

static void choose(struct view *view, const struct view_row *row)
{
	for (size_t i = 0; row && i < view->model.list.order_count; i++)
		if (model_row(&view->model, i) == row)
			view_move_to(view, (long)i);
}

static void test_kinds(void)
{
	struct canvas canvas = { 0 };
	struct view view;
	struct pmp_profile *profile = begin(&view, &canvas);
	const struct view_row *row = row_with(&view, "HOLDER", "- metadata lock");

	ok(row != NULL, "a wait with a meaning is a row");
	is_str(cell(&view, row, "WAIT"), "5", "with all its threads");
	is_str(cell(&view, row, "KIND"), "condition", "of a kind");
	is_str(cell(&view, row, "LOCK"), "5 objects", "though each has an object");
	is_str(cell(&view, row, "BEHIND"), "-", "and no holder");
	is_str(cell(&view, row, "DELAY"), "45.0s", "with the time of all of them");
	choose(&view, row);
	ok(shows(&view, &canvas,
		 "5 conditions (metadata lock), METADATA_LOCK_INFO knows the holder, 5 wait"),
	   "its details say what knows the holder");
	ok(shows(&view, &canvas, " if METADATA_LOCK_INFO is not loaded, see PROCESSLIST"),
	   "and what says something if that is not there");
	ok(shows(&view, &canvas, "     5 conn-N  pthread_cond_timedwait<MDL_wait"),
	   "and who waits");
	ok(shows(&view, &canvas, "  11 lock"), "in the header these wait for locks");
	row = row_with(&view, "KIND", "semaphore");
	is_str(cell(&view, row, "LOCK"), "2 objects", "events of a kind are one row");
	row = row_with(&view, "HOLDER", "- heavyweight lock");
	is_str(cell(&view, row, "DELAY"), "9.0s",
	       "of a call that only its functions know there is a time");
	row = row_with(&view, "KIND", "join");
	ok(strncmp(cell(&view, row, "HOLDER"), "4167 conn-67 ", 13) == 0,
	   "the end of a thread");
	choose(&view, row);
	ok(shows(&view, &canvas, "join of 4167 \"conn-67\""), "has no holder");
	end(&view, &canvas, profile);
}

static void test_states(void)
{
	struct canvas canvas = { 0 };
	struct view view;
	struct pmp_profile *profile = begin(&view, &canvas);

	fake_type(&view, "4xo^conn-1$\r");
	ok(shows(&view, &canvas, " L ") && shows(&view, &canvas, " metadata lock "),
	   "who waits for it is in state L, and x says for what");
	fake_type(&view, "i");
	ok(shows(&view, &canvas, "idle:hidden") && shows(&view, &canvas, " L "),
	   "i hides none that waits for a lock");
	fake_type(&view, "ii\033o^conn-6$\r");
	ok(shows(&view, &canvas, " S "), "who waits for an event sleeps");
	fake_type(&view, "\0331o^conn-1$\r");
	ok(shows(&view, &canvas, "waits for condition (metadata lock)"),
	   "the details of a stack say it as well");
	end(&view, &canvas, profile);
}

/* The stack of a holder need not be one in which it has the lock. */
static void test_moved_on(void)
{
	struct canvas canvas = { 0 };
	struct pmp_profile *profile = fake_profile();
	struct pmp_sample *sample;
	struct view view;

	fake_deadlock = true;
	sample = fake_server(4100, 0, FAKE_S);
	fake_deadlock = false;
	for (size_t i = 62; i <= 63; i++)
		sample->threads[i].wait.flags &= (uint16_t)~PMP_WAIT_DEADLOCK;
	sample->threads[62].wait.flags |= PMP_WAIT_MOVED_ON;
	fake_add(profile, sample);
	fake_view(&view, profile);
	canvas_resize(&canvas, 30, 100);
	fake_type(&view, "5");
	view_draw(&view, &canvas);
	choose(&view, row_with(&view, "LOCK", "0x7f31b8002000"));
	ok(shows(&view, &canvas, ") (moved on), "), "a holder that moved on");
	choose(&view, row_with(&view, "LOCK", "0x7f31b8003000"));
	ok(!shows(&view, &canvas, "moved on"), "and one that did not");
	end(&view, &canvas, profile);
}

/* Until all functions have names it is of the kind that its bytes show. */
static void test_late_names(void)
{
	struct canvas canvas = { 0 };
	struct pmp_profile *profile;
	struct view view;

	fake_named = 0;
	profile = begin(&view, &canvas);
	ok(!row_with(&view, "HOLDER", "- metadata lock") &&
		   row_with(&view, "KIND", "condition"),
	   "without names it is a condition");
	fake_named = SIZE_MAX;
	view_refresh(&view);
	ok(row_with(&view, "HOLDER", "- metadata lock"), "names tell what it means");
	ok(!row_with(&view, "KIND", "condition") ||
		   strcmp(cell(&view, row_with(&view, "KIND", "condition"), "WAIT"),
			  "5") == 0,
	   "then it is nothing else");
	end(&view, &canvas, profile);
}

static bool is_sorted(const struct view *view)
{
	const struct model *model = &view->model;

	for (size_t i = 1; i < model->list.order_count; i++)
		if (lock_row(model, model_row(model, i - 1))->rank >
		    lock_row(model, model_row(model, i))->rank)
			return false;
	return model->list.order_count > 2;
}

static void test_order(void)
{
	struct canvas canvas = { 0 };
	struct view view;
	struct pmp_profile *profile = begin(&view, &canvas);
	const struct view_row *first;

	ok(is_sorted(&view), "locks come before events");
	fake_type(&view, "I");
	ok(is_sorted(&view), "also the other way round");
	fake_type(&view, "I>>");
	is_str(view_type_of(&view.model)->columns[view_type_sort(&view.model)].title,
	       "HOLDER", "> goes on to the holder");
	ok(is_sorted(&view), "by which they are sorted, too");
	first = model_row(&view.model, 0);
	is_str(cell(&view, first, "HOLDER"), "- heavyweight lock", "the first one");
	end(&view, &canvas, profile);
}

static void test_mouse(void)
{
	struct canvas canvas = { 0 };
	struct view view;
	struct pmp_profile *profile = begin(&view, &canvas);
	const struct layout *layout = &view.layout;

	view_mouse(&view, layout->list_row + 1, 30, 0);
	is_int(view.at, 1, "a click chooses a lock");
	view_mouse(&view, layout->list_row + 1, 30, 0);
	is_int(view.screen, SCREEN_STACK, "a second one shows it");
	fake_type(&view, "q");
	view_mouse(&view, layout->columns_row, 35, 0);
	is_str(view_type_of(&view.model)->columns[view_type_sort(&view.model)].title,
	       "HOLDER", "a click on a title sorts by it");
	view_mouse(&view, layout->columns_row, 2, 0);
	is_str(view_type_of(&view.model)->columns[view_type_sort(&view.model)].title,
	       "WAIT", "and on another by that");
	end(&view, &canvas, profile);
}

/* Five wait for a metadata lock and wake now and then, as do two for semaphores. */
static struct pmp_profile *begin_waking(struct view *view, struct canvas *canvas)
{
	struct pmp_profile *profile = fake_profile();

	fake_kinds = true;
	for (uint64_t i = 0; i < 13; i++) {
		struct pmp_sample *sample = fake_server(4100, i, FAKE_S);

		for (size_t k = 1; k <= 7; k++)
			sample->threads[k].runs = 10 + i;
		fake_add(profile, sample);
	}
	fake_kinds = false;
	fake_view(view, profile);
	canvas_resize(canvas, 30, 100);
	fake_type(view, "5");
	view_draw(view, canvas);
	return profile;
}

/* How long threads wait that wake now and then, and wait again. */
static void test_longest(void)
{
	struct canvas canvas = { 0 };
	struct view view;
	struct pmp_profile *profile = begin_waking(&view, &canvas);
	const struct view_row *row = row_with(&view, "HOLDER", "- metadata lock");

	is_str(cell(&view, row, "LONGEST"), ">12.0s",
	       "all snapshots have found them in the same wait for a lock");
	row = row_with(&view, "KIND", "semaphore");
	is_str(cell(&view, row, "LONGEST"), "-",
	       "each event that they wait for is another one");
	row = row_with(&view, "KIND", "join");
	is_str(cell(&view, row, "LONGEST"), "12.0s",
	       "one that has not run waits as long");
	choose(&view, row_with(&view, "HOLDER", "- metadata lock"));
	ok(shows(&view, &canvas, "     5 conn-N  pthread_cond_timedwait<MDL_wait"),
	   "who waits is shown in groups");
	fake_type(&view, "H");
	ok(shows(&view, &canvas,
		 "    4101  >12.0s conn-1  pthread_cond_timedwait<MDL_w") &&
		   shows(&view, &canvas, "    4105  >12.0s conn-5  pthread_cond"),
	   "H: one by one, with the times");
	choose(&view, row_with(&view, "KIND", "semaphore"));
	ok(shows(&view, &canvas, "    4106       - conn-6  sem_wait"),
	   "of an event only that of the current one");
	choose(&view, row_with(&view, "KIND", "join"));
	ok(shows(&view, &canvas, "    4108   12.0s conn-8  "), "which may be long");
	fake_type(&view, "H>");
	is_str(view_type_of(&view.model)->columns[view_type_sort(&view.model)].title,
	       "LONGEST", "rows are sorted by that");
	row = model_row(&view.model, 0);
	is_str(cell(&view, row, "LONGEST"), ">12.0s", "the longest first");
	end(&view, &canvas, profile);
}

/* conn-1 to conn-4 wait for a semaphore that is a lock by its meaning; conn-4 has run and is
 * not in its queue any more. */
static void add_queue(struct pmp_profile *profile, uint64_t number, bool left)
{
	struct pmp_sample *sample = fake_server(4100, number, FAKE_S);
	struct pmp_thread *last = &sample->threads[4];

	for (size_t i = 1; i <= (left ? 3 : 4); i++) {
		fake_wait_in(sample, i, PMP_WAIT_FUTEX,
			     FAKE_STACK(SEM, PROC_SLEEP, COMMAND, HANDLE, START));
		sample->threads[i].wait.object = 0x7f31b8007000;
		sample->threads[i].reading = i;
	}
	last->reading = left ? 5 : 4;
	fake_add(profile, sample);
}

static void test_taker(void)
{
	struct pmp_profile *profile = fake_profile();
	struct canvas canvas = { 0 };
	struct view view;

	add_queue(profile, 0, false);
	add_queue(profile, 1, false);
	fake_view(&view, profile);
	canvas_resize(&canvas, 30, 100);
	fake_type(&view, "5");
	choose(&view, row_with(&view, "HOLDER", "- heavyweight lock"));
	ok(shows(&view, &canvas, "4 wait") && !shows(&view, &canvas, "inferred"),
	   "who has taken a lock is not known");
	add_queue(profile, 2, true);
	view_refresh(&view);
	choose(&view, row_with(&view, "HOLDER", "- heavyweight lock"));
	ok(shows(&view, &canvas, " inferred: 4104 \"conn-4\" took it in the last 1.0 s"),
	   "it is inferred from who has left the queue");
	ok(!shows(&view, &canvas, "held by") && shows(&view, &canvas, "3 wait"),
	   "but not said to hold it");
	end(&view, &canvas, profile);
}

/* Not all that wait for a lock were found to wait for its holder. */
static void test_behind(void)
{
	struct pmp_profile *profile = fake_profile();
	struct pmp_sample *sample = fake_server(4100, 0, FAKE_S);
	struct canvas canvas = { 0 };
	struct view view;
	const struct view_row *row;

	fake_wait(&sample->threads[1], 0x7f31b8009000, sample->threads[62].tid);
	sample->threads[62].wait.holder_is = PMP_HOLDER_FREE;
	sample->threads[62].wait.holder = 0;
	fake_add(profile, sample);
	fake_view(&view, profile);
	canvas_resize(&canvas, 30, 100);
	fake_type(&view, "5");
	row = row_with(&view, "WAIT", "5");
	is_str(cell(&view, row, "BEHIND"), "6",
	       "one that has just been woken is behind the holder, as who waits for it");
	row = row_with(&view, "WAIT", "1");
	is_str(cell(&view, row, "BEHIND"), "1", "and behind that one is one");
	end(&view, &canvas, profile);
	fake_deadlock = true;
	profile = fake_run(1);
	fake_deadlock = false;
	fake_view(&view, profile);
	fake_type(&view, "d");
	is_str(cell(&view, model_row(&view.model, 0), "BEHIND"), "2",
	       "in a deadlock all are behind each other");
	view_free(&view);
	pmp_profile_free(profile);
}

/* conn-1 and 2 wait for a lock of a file, 3 and 4 for a pipe each. */
static void add_outsides(struct pmp_sample *sample)
{
	const struct pmp_outside file = { .type = PMP_OUTSIDE_FLOCK,
					  .sure = PMP_SURE_EXACT,
					  .write = true,
					  .last = UINT64_MAX,
					  .count = 1,
					  .text = "/tmp/zoo.lock" };
	const struct pmp_outside pipe = { .type = PMP_OUTSIDE_PIPE,
					  .sure = PMP_SURE_CANDIDATES,
					  .count = 1 };
	struct pmp_other other = { .pid = 6110, .fd = 4, .name = "lockowner" };

	if (pmp_sample_add_outside(sample, &file) || pmp_sample_add_other(sample, &other))
		abort();
	other.role = PMP_ROLE_WRITES;
	for (int i = 0; i < 2; i++)
		if (pmp_sample_add_outside(sample, &pipe) ||
		    pmp_sample_add_other(sample, &other))
			abort();
	for (size_t i = 1; i <= 4; i++) {
		struct pmp_wait *wait = &sample->threads[i].wait;

		wait->kind = i <= 2 ? PMP_WAIT_FILE : PMP_WAIT_PIPE;
		wait->object = i <= 2 ? 5243021 : 442100 + i;
		wait->outside = i <= 2 ? 1 : (uint32_t)i - 1;
		wait->holder_is = i <= 2 ? PMP_HOLDER_PROCESS : PMP_HOLDER_NONE;
		wait->holder = i <= 2 ? 6110 : 0;
	}
}

static void add_after(struct pmp_profile *profile)
{
	struct pmp_sample *sample = fake_server(4100, 10, FAKE_S);

	for (size_t i = 1; i <= 4; i++) {
		sample->threads[i].obtained = PMP_PEEKED;
		sample->threads[i].runs++;
	}
	fake_add(profile, sample);
}

/* What is looked for now and then is known of threads that have not run since. */
static void test_outside(void)
{
	struct pmp_profile *profile = fake_profile();
	struct canvas canvas = { 0 };
	struct view view;
	const struct view_row *row;

	for (uint64_t i = 0; i < 10; i++) {
		struct pmp_sample *sample = fake_server(4100, i, FAKE_S);

		if (i == 5)
			add_outsides(sample);
		fake_add(profile, sample);
	}
	fake_view(&view, profile);
	canvas_resize(&canvas, 30, 100);
	fake_type(&view, "5");
	row = row_with(&view, "LOCK", "flock zoo.lock");
	is_str(cell(&view, row, "WAIT"), "2", "a lock of a file is a row");
	is_str(cell(&view, row, "HOLDER"), "6110 lockowner",
	       "with the process that has it");
	is_str(cell(&view, row, "KIND"), "file", "and its kind");
	is_str(cell(&view, row, "DELAY"), "10.0s", "and the time since it was found");
	choose(&view, row);
	ok(shows(&view, &canvas, "flock zoo.lock held by 6110 lockowner, 2 wait"),
	   "so its details say");
	ok(shows(&view, &canvas,
		 "flock zoo.lock, inode 5243021, held for writing: 6110 \"lockowner\" holds"),
	   "and more of it");
	row = row_with(&view, "KIND", "pipe");
	is_str(cell(&view, row, "LOCK"), "2 objects", "pipes are one row");
	is_str(cell(&view, row, "HOLDER"), "-", "of several it is not said who writes");
	choose(&view, row);
	ok(shows(&view, &canvas, "pipe 442103: 6110 \"lockowner\" can write (fd 4)") &&
		   shows(&view, &canvas, "pipe 442104: 6110 \"lockowner\" can write"),
	   "but in the details, of each");
	fake_type(&view, "1o^conn-3$\r");
	ok(shows(&view, &canvas, "waits for pipe 442103: 6110 \"lockowner\" can write"),
	   "and in those of a stack");
	fake_type(&view, "\0335");
	add_after(profile);
	view_refresh(&view);
	row = row_with(&view, "LOCK", "inode 5243021");
	is_str(cell(&view, row, "WAIT"), "-",
	       "threads that have run do not wait any more");
	end(&view, &canvas, profile);
}

int main(void)
{
	test_outside();
	test_kinds();
	test_states();
	test_moved_on();
	test_late_names();
	test_order();
	test_mouse();
	test_behind();
	test_longest();
	test_taker();
	return done_testing();
}

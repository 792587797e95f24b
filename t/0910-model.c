/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The live view's model without a terminal: short names, rows and what they are put
 * together by, filters, idle threads, the tree, sorting, names that come later, keys,
 * settings.
 */
#include "libpmp-program.h"
#include "lib/fakeview.h"
#include "rows/shorten.h"
#include "rows/view-type.h"
#include "view/key-codes.h"
#include "view/on-key.h"
#include "tally/live.h"

static const char *row_text(struct view *view, size_t i)
{
	static char text[ROW_TEXT];
	const struct view_row *row = model_row(&view->model, i);

	if (!row)
		return "(none)";
	return model_chain(&view->model, row->chain, text, sizeof(text));
}

static void test_brief_names(void)
{
	static const struct {
		const char *name, *brief;
	} names[] = {
		{ "main", "main" },
		{ "do_command(THD*, bool)", "do_command" },
		{ "std::map<int, std::less<int> >::find(int const&) const",
		  "std::map<\u2026>::find" },
		{ "void std::sort<int*>(int*, int*)", "std::sort<\u2026>" },
		{ "(anonymous namespace)::f(int)", "(anonymous namespace)::f" },
		{ "a::(anonymous namespace)::f(int)", "a::(anonymous namespace)::f" },
		{ "operator<<(std::ostream&, int)", "operator<<" },
		{ "A::operator<(A const&) const", "A::operator<" },
		{ "A::operator()(int)", "A::operator()" },
		{ "A::operator->() const", "A::operator->" },
		{ "A<B>::operator bool() const", "A<\u2026>::operator bool" },
		{ "operator new(unsigned long)", "operator new" },
		{ "f(int)::{lambda(int)#1}::operator()(int) const",
		  "f::{lambda::operator()" },
		{ "g(void (*)(int), char)", "g" },
		{ "std::vector<int>::push_back(int&&) [clone .cold]",
		  "std::vector<\u2026>::push_back" },
		{ "[libfoo.so+0x12]", "[libfoo.so+0x12]" },
		{ "<signal handler called>", "<signal handler called>" },
		{ "<alloc::vec::Vec<T> as core::ops::Drop>::drop",
		  "<alloc::vec::Vec<T> as core::ops::Drop>::drop" },
		{ "f<(A)1>(int)", "f<\u2026>" },
		{ "x<", "x<\u2026>" },
		{ "(", "(" },
		{ "", "" },
	};
	char brief[256];

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		if (strstr(names[i].name, "lambda"))
			continue;
		is_str(shorten_name(names[i].name, brief, sizeof(brief)), names[i].brief,
		       "%s", names[i].name);
	}
	shorten_name("f(int)::{lambda(int)#1}::operator()(int) const", brief,
		     sizeof(brief));
	ok(strstr(brief, "lambda") && strstr(brief, "operator()"), "a lambda: %s", brief);
	is_str(pmp_filter_thread(NULL, "conn-17", brief, sizeof(brief)), "conn-N",
	       "digits become N");
	is_str(pmp_filter_thread(NULL, "a1b22", brief, sizeof(brief)), "aNbN",
	       "each run of them");
}

static void test_stacks(struct view *view)
{
	const struct view_row *row;

	is_int(view->model.list.order_count, 6, "six stacks");
	is_int(view->model.list.total, 20 * 71, "all of them counted");
	row = model_row(&view->model, 0);
	is_int(row->count, 61 * 20, "the most frequent first");
	ok(row->average > 60.9 && row->average < 61.1, "61 threads on average");
	is_int(row->state, 'S', "asleep");
	is_str(model_name(&view->model, row->group), "conn-N", "named by their group");
	is_str(row_text(view, 0),
	       "poll<vio_io_wait<my_net_read<do_command<handle_connection<"
	       "start_thread",
	       "leaf first, short names");
	row = model_row(&view->model, 1);
	is_int(row->state, 'L', "the second waits for a lock");
	is_str(row_text(view, 2),
	       "std::_Rb_tree<\u2026>::find<row_search_mvcc<"
	       "ha_innobase::general_fetch<do_command<handle_connection<"
	       "start_thread",
	       "inlined functions are there");
	fake_type(view, "c");
	ok(strstr(row_text(view, 2), "find(int const&) const") != NULL, "full names");
	fake_type(view, "c");
	fake_type(view, "%");
	ok(view->model.settings.average, "threads on average");
	fake_type(view, "%");
}

static void test_groups(struct view *view)
{
	fake_type(view, "t");
	is_str(model_name(&view->model, model_row(&view->model, 0)->group), "conn-1",
	       "t: names as they are");
	ok(model_row(&view->model, 0)->groups, "which are several");
	fake_type(view, "H");
	is_int(view->model.list.order_count, 71, "t and H: a row for each thread");
	fake_type(view, "t");
	is_int(view->model.list.order_count, 6, "H alone: by groups of threads");
	fake_type(view, "H");
}

static void test_filters(struct view *view)
{
	fake_type(view, "\\mutex\r");
	is_int(view->model.list.order_count, 1, "only stacks with a function");
	is_int(view->model.list.total, 5 * 20, "shares are of these");
	fake_type(view, "\\");
	is_str(view->input, "mutex", "the filter can be changed");
	view_key(view, PMP_KEY_CLEAR);
	fake_type(view, "a(\r");
	ok(strstr(view->message, "Not a regular expression") != NULL,
	   "a wrong one is reported");
	is_int(view->model.list.order_count, 1, "and the old one stays");
	is_str(view->input, "a(", "it can be corrected");
	view_key(view, PMP_KEY_BACKSPACE);
	view_key(view, PMP_KEY_BACKSPACE);
	fake_type(view, "mutex\r");
	ok(!view->prompt, "and is taken then");
	view_key(view, PMP_KEY_ESCAPE);
	is_int(view->model.list.order_count, 6, "Esc clears it");
	fake_type(view, "oflush\r");
	is_int(view->model.list.order_count, 1, "only a thread");
	view_key(view, PMP_KEY_ESCAPE);
	fake_type(view, "i");
	is_int(view->model.list.order_count, 4, "idle threads are hidden");
	fake_type(view, "i");
	is_int(view->model.list.order_count, 2, "only they are shown");
	fake_type(view, "i");
	is_int(view->model.list.order_count, 6, "all again");
}

static void test_selection(struct view *view)
{
	uint64_t chosen;

	view_key(view, PMP_KEY_DOWN);
	view_key(view, 'j');
	chosen = model_row(&view->model, 2)->identity;
	is_int(view->at, 2, "two down");
	fake_type(view, "I");
	ok(model_row(&view->model, view->at)->identity == chosen, "the row stays chosen");
	ok(view->at != 2, "at another place");
	fake_type(view, "I/mutex_l\r");
	is_int(view->at, 1, "a search finds the row");
	fake_type(view, "/nowhere\r");
	ok(strstr(view->message, "Not found") != NULL, "or says that there is none");
	fake_type(view, "/start\rn");
	is_int(view->at, 2, "n is the next");
	fake_type(view, "NN");
	is_int(view->at, 0, "N the one before");
	is_str(view->message, "", "without a word");
	fake_type(view, "N");
	ok(strstr(view->message, "from the end") != NULL,
	   "but before the first it says so");
	fake_type(view, "n");
	is_int(view->at, 0, "n goes on with the first");
	ok(strstr(view->message, "from the beginning") != NULL, "and says so, too");
	view_key(view, PMP_KEY_END);
	is_int(view->at, 5, "End");
	view_key(view, PMP_KEY_HOME);
	is_int(view->at, 0, "Home");
	ok(!view->follows, "which is not a row but the top");
}

static void test_functions(struct view *view)
{
	const struct view_row *row;

	fake_type(view, "2");
	row = model_row(&view->model, 0);
	is_str(model_name(&view->model, row->name), "poll", "most alone first");
	is_int(row->self, 61 * 20, "as often as its stacks");
	fake_type(view, ">");
	row = model_row(&view->model, 0);
	is_str(model_name(&view->model, row->name), "start_thread", "most in all first");
	is_int(row->count, 70 * 20, "all but main");
	is_int(row->self, 0, "none alone");
	fake_type(view, "<");
}

static void test_tree(struct view *view)
{
	const struct view_row *root;
	size_t shown;

	fake_type(view, "3");
	root = model_row(&view->model, 0);
	is_str(model_name(&view->model, root->name), "start_thread", "the root");
	ok(root->open, "is open: it has much of all");
	shown = view->model.list.order_count;
	ok(shown > 5, "and so are others: %zu rows", shown);
	view_key(view, PMP_KEY_LEFT);
	is_int(view->model.list.order_count, 3, "closed");
	view_refresh(view);
	is_int(view->model.list.order_count, 3, "it stays so");
	view_key(view, PMP_KEY_ENTER);
	is_int(view->model.list.order_count, shown, "Enter opens it");
	view_key(view, PMP_KEY_RIGHT);
	is_int(view->at, 1, "right goes to the child of what is open");
	view_key(view, PMP_KEY_RIGHT);
	view_key(view, PMP_KEY_LEFT);
	view_key(view, PMP_KEY_LEFT);
	is_int(view->at, 1, "left closes, and goes to the parent");
	view_key(view, PMP_KEY_HOME);
	fake_type(view, "e");
	ok(view->model.list.order_count >= shown - 1, "e opens the hottest path");
	fake_type(view, "v");
	is_str(model_name(&view->model, model_row(&view->model, 0)->name), "poll",
	       "inverted it begins with the leaf");
	is_int(model_row(&view->model, 0)->self, 61 * 20, "which has it alone");
	fake_type(view, "v");
}

static void test_threads(struct view *view)
{
	const struct view_row *row;

	fake_type(view, "4");
	is_int(view->model.list.order_count, 71, "each thread");
	row = model_row(&view->model, 0);
	is_int(row->state, 'R', "one that computes is the first");
	fake_type(view, "<");
	is_int(model_row(&view->model, 0)->state, 'R', "by state: running first");
	is_int(model_row(&view->model, 3)->state, 'D', "then waiting for a disk");
	fake_type(view, "<<");
	is_int(view->model.thread_rows[model_row(&view->model, 0)->thread].tid, 4100,
	       "by id: the smallest first");
	fake_type(view, "I");
	is_int(view->model.thread_rows[model_row(&view->model, 0)->thread].tid, 4170,
	       "I: the largest");
	fake_type(view, "I1");
}

static void test_late_names(void)
{
	struct pmp_profile *profile = fake_run(1);
	struct view view;

	fake_named = 0;
	fake_view(&view, profile);
	is_str(row_text(&view, 1),
	       "[server+0x60]<[server+0x70]<[server+0x80]<[server+0xa0]<[server+0x30]<"
	       "[server+0x40]<[server+0x50]",
	       "places are shown until there are names");
	ok(view.model.wanted_count >= 15, "which are asked for: %zu",
	   view.model.wanted_count);
	view.model.wanted_count = 0;
	view_key(&view, PMP_KEY_DOWN);
	view_refresh(&view);
	is_int(view.model.wanted_count, 0, "once");
	fake_named = SIZE_MAX;
	view_refresh(&view);
	is_str(row_text(&view, 1),
	       "__lll_lock_wait<pthread_mutex_lock<buf_page_get_gen<"
	       "row_search_mvcc<do_command<handle_connection<start_thread",
	       "then names are");
	is_int(view.at, 1, "and the row is still chosen");
	view_free(&view);
	pmp_profile_free(profile);
}

/* A name that comes twice learns its module, and that there are others. */
static void test_names(void)
{
	struct names names = { 0 };
	uint32_t lock = names_add(&names, "__pthread_mutex_lock", "/lib/libc.so.6");
	uint32_t late = names_add(&names, "[x+0x12]", "");

	is_str(names.names[lock].module, "libc.so.6", "a name has its module");
	is_str(names.names[late].module, "", "or not yet");
	names_add(&names, "[x+0x12]", "/bin/x");
	is_str(names.names[late].module, "x", "but then");
	names_add(&names, "__pthread_mutex_lock", "/container/lib/libc.so.6");
	names_add(&names, "__pthread_mutex_lock", "");
	ok(!names.names[lock].modules, "the same name in another directory is no other");
	names_add(&names, "__pthread_mutex_lock", "/lib/libpthread.so.0");
	ok(names.names[lock].modules, "another one is");
	names_free(&names);
}

/* The text of a column of the row of a process with this name. */
static const char *cell_of(struct view *view, uint32_t process, const char *name,
			   const char *title)
{
	const struct view_type *type = view_type_at(view->model.settings.view);
	const struct view_row *row;
	static char text[ROW_TEXT];

	for (size_t i = 0; (row = model_row(&view->model, i)); i++) {
		if (row->process != process ||
		    strcmp(model_name(&view->model, row->name), name) != 0)
			continue;
		for (unsigned k = 0; k < type->column_count; k++) {
			if (strcmp(type->columns[k].title, title) != 0)
				continue;
			type->columns[k].text(&view->model, row, text, sizeof(text));
			return text;
		}
	}
	return "(none)";
}

/* Two programs have functions of the same name, and libraries in common. */
static void test_modules(void)
{
	static const pmp_location mains[] = { MAIN, HELPER_MAIN };
	struct pmp_profile *profile = fake_profile();
	struct view view;

	for (int i = 0; i < 2; i++) {
		struct pmp_sample *sample = pmp_sample_new();

		if (!sample)
			abort();
		sample->pid = 10 + i;
		sample->time = 1000 * FAKE_S;
		fake_thread(sample, 10 + i, "a", FAKE_STACK(POLL, mains[i]));
		fake_add(profile, sample);
	}
	fake_view(&view, profile);
	fake_type(&view, "2");
	is_str(cell_of(&view, 0, "main", "MODULE"), "server", "main of one program");
	is_str(cell_of(&view, 1, "main", "MODULE"), "helper", "main of the other");
	is_str(cell_of(&view, 1, "poll", "MODULE"), "libc.so.6", "what both have");
	view_free(&view);
	pmp_profile_free(profile);
}

/* Asleep nine times of ten and caught running once: idle nine times. */
static void test_states(void)
{
	struct pmp_profile *profile = fake_profile();
	struct view view;

	for (uint64_t i = 0; i < 10; i++) {
		struct pmp_sample *sample = pmp_sample_new();
		struct pmp_thread *thread;

		if (!sample)
			abort();
		sample->pid = 10;
		sample->time = (1000 + i) * FAKE_S;
		thread = fake_thread(sample, 10, "a", FAKE_STACK(POLL, MAIN));
		fake_call(thread, FAKE_POLL, 0, 0, "");
		if (i == 9)
			thread->state = 'R';
		fake_add(profile, sample);
	}
	fake_view(&view, profile);
	is_int(model_row(&view.model, 0)->count, 10, "one row");
	is_int(model_row(&view.model, 0)->state, 'S', "in the state it mostly is in");
	fake_type(&view, "i");
	is_int(view.model.list.total, 1, "once it was busy");
	fake_type(&view, "i");
	is_int(view.model.list.total, 9, "else idle");
	view_free(&view);
	pmp_profile_free(profile);
}

/* Its thread was mostly found at something else than the lock. */
static void test_saved_lock(void)
{
	struct pmp_profile_options options = {
		.size = sizeof(options), .live = true, .details = true, .waits = true
	};
	struct pmp_profile *profile = NULL;
	struct canvas canvas = { 0 };
	struct view view;
	char line[512];

	if (pmp_profile_new(&options, NULL, &profile, NULL))
		abort();
	fake_count(profile, 4101, "conn-1", 'S', "poll", 9, FAKE_SAVED(POLL, MAIN));
	fake_count(profile, 4101, "conn-1", 'S', "futex", 1, FAKE_SAVED(LLL, MUTEX));
	fake_view_saved(&view, profile);
	canvas_resize(&canvas, 24, 80);
	fake_type(&view, "5");
	view_draw(&view, &canvas);
	is_int(view.model.list.order_count, 1, "a lock of a saved profile");
	is_str(canvas_line(&canvas, 16, line, sizeof(line)),
	       "mutex LOCK_log held by flush", "and who held it");
	fake_type(&view, "4x");
	view_draw(&view, &canvas);
	is_int(view.model.list.order_count, 1, "its thread is at something else");
	canvas_free(&canvas);
	view_free(&view);
	pmp_profile_free(profile);
}

static void count_between(struct pmp_profile *profile, pid_t tid)
{
	const struct pmp_entry entry = {
		.pid = 4100,
		.process = "server",
		.tid = tid,
		.thread = "short",
		.state = '?',
		.syscall = "",
		.wchan = "",
		.reason = "",
		.end = PMP_END_BETWEEN,
		.cpu = FAKE_S,
	};

	if (pmp_profile_count(profile, &entry))
		abort();
}

/* A thread that no snapshot found has a stack of its own, which says so. */
static void test_saved_between(void)
{
	struct pmp_profile_options options = { .size = sizeof(options),
					       .live = true,
					       .details = true };
	struct pmp_profile *profile = NULL;
	struct view view;
	const char *screen;

	if (pmp_profile_new(&options, NULL, &profile, NULL))
		abort();
	count_between(profile, 4101);
	count_between(profile, 4102);
	fake_count(profile, 4102, "short", 'S', "poll", 1, FAKE_SAVED(POLL, MAIN));
	count_between(profile, 4102);
	fake_view_saved(&view, profile);
	is_int(view.model.list.order_count, 1, "no find, no row of stacks");
	fake_type(&view, "4");
	is_int(view.model.list.order_count, 2, "but one of threads");
	screen = fake_screen(&view, 24, 120);
	ok(strstr(screen, "[ran between snapshots]") && !strstr(screen, "[evicted]"),
	   "which tells that it ran between snapshots");
	ok(strstr(screen, "poll<main") != NULL, "if it was ever found: how");
	view_free(&view);
	pmp_profile_free(profile);
}

/* A guessed number of snapshots, as for files of other programs, is not shown. */
static void test_saved_guessed(void)
{
	struct pmp_profile *profile = fake_saved();
	struct view view;

	fake_view_saved(&view, profile);
	ok(strstr(fake_screen(&view, 24, 120), "100 snapshots") != NULL,
	   "the number of snapshots");
	view.metadata.guessed = view.model.guessed = true;
	ok(!strstr(fake_screen(&view, 24, 120), "snapshots"), "if it is known");
	ok(strstr(fake_screen(&view, 24, 120), "saved profile  500 stacks") != NULL,
	   "else only that of stacks");
	fake_type(&view, "%");
	is_str(view.message, "The file does not say how many snapshots there were",
	       "so there is none of threads");
	ok(!view.model.settings.average, "which %% would show");
	view_free(&view);
	pmp_profile_free(profile);
}

/* Of a profile that counts something else: amounts are no numbers of threads or waits. */
static void test_saved_amount(void)
{
	struct pmp_profile_options options = {
		.size = sizeof(options), .live = true, .details = true, .waits = true
	};
	const struct pmp_metadata metadata = { .command = "",
					       .host = "",
					       .sample_type = { "cpu", "nanoseconds" } };
	const struct pmp_profile_info info = { .samples = 10, .stacks = 11 * FAKE_S };
	struct pmp_profile *profile = NULL;
	struct view view;
	const char *screen;

	if (pmp_profile_new(&options, NULL, &profile, NULL))
		abort();
	fake_count(profile, 4101, "conn-1", 'S', "poll", 9 * FAKE_S,
		   FAKE_SAVED(POLL, MAIN));
	fake_count(profile, 4101, "conn-1", 'S', "futex", 2 * FAKE_S,
		   FAKE_SAVED(LLL, MUTEX));
	if (pmp_profile_join(profile, &info, &metadata))
		abort();
	fake_view_saved(&view, profile);
	screen = fake_screen(&view, 24, 100);
	ok(strstr(screen, "  81.8        9s S  conn-N         poll") != NULL,
	   "seconds are no threads");
	fake_type(&view, "%");
	screen = fake_screen(&view, 24, 100);
	ok(strstr(screen, "  81.8        9s S ") != NULL, "%% does nothing");
	is_str(view.message, "The profile counts cpu, not threads", "and says why");
	view.model.settings.average = true; /* as saved for the next view */
	view_refresh(&view);
	screen = fake_screen(&view, 24, 100);
	ok(strstr(screen, "  81.8        9s S ") && strstr(screen, "     % "),
	   "nor does the setting");
	fake_type(&view, "5");
	screen = fake_screen(&view, 24, 100);
	ok(strstr(screen, "\n    -      - ") != NULL, "they are no numbers of waits");
	view_free(&view);
	pmp_profile_free(profile);
}

static const char *kind_of(const struct view *view)
{
	const struct view_row *row = model_row(&view->model, 0);
	static char text[ROW_TEXT];

	return row_kind_text(&view->model, row, text, sizeof(text));
}

/* One lock, of which some looks show only that it is a futex. */
static void test_lock_rows(void)
{
	struct pmp_profile *profile = fake_profile();
	struct view view;

	for (uint64_t i = 0; i < 10; i++) {
		struct pmp_sample *sample = fake_server(4100, i, FAKE_S);

		if (i % 2)
			for (size_t k = 62; k < 67; k++)
				sample->threads[k].wait =
					(struct pmp_wait){ .kind = PMP_WAIT_FUTEX,
							   .object = 0x7f31b8001a40 };
		fake_add(profile, sample);
	}
	fake_view(&view, profile);
	fake_type(&view, "5");
	is_int(view.model.list.order_count, 1, "it is one row");
	is_int(lock_row(&view.model, model_row(&view.model, 0))->delay, 45 * FAKE_S,
	       "with all of the time");
	is_str(kind_of(&view), "mutex", "by the kind that is known");
	view_free(&view);
	pmp_profile_free(profile);
}

/* An event has no holder, and its call says more. */
static void test_event(void)
{
	struct pmp_profile *profile = fake_profile();
	struct pmp_sample *sample = fake_server(4100, 0, FAKE_S);
	struct view view;
	char line[512];
	struct canvas canvas = { 0 };

	for (size_t k = 62; k < 67; k++) {
		fake_wait_in(sample, k, PMP_WAIT_CONDITION, FAKE_STACK(COND, HANDLE));
		sample->threads[k].args[0] = 0x7f31b8001a40;
	}
	fake_add(profile, sample);
	fake_view(&view, profile);
	canvas_resize(&canvas, 24, 80);
	fake_type(&view, "j");
	view_draw(&view, &canvas);
	ok(strstr(canvas_line(&canvas, 16, line, sizeof(line)),
		  "in futex 0x7f31b8001a40 futex_do_wait"),
	   "of an event the call is shown");
	canvas_free(&canvas);
	view_free(&view);
	pmp_profile_free(profile);
}

static void test_processes(void)
{
	struct pmp_profile *profile = fake_run(2);
	struct view view;

	fake_view(&view, profile);
	is_int(view.model.list.order_count, 12, "two processes have rows of their own");
	fake_type(&view, "3");
	is_int(model_row(&view.model, 0)->name, NAME_NONE, "and trees of their own");
	fake_type(&view, "2");
	ok(view.model.list.order_count > 20, "and functions");
	view_free(&view);
	pmp_profile_free(profile);
}

/* A snapshot in which the process has no thread left. */
static void add_last_breath(struct pmp_profile *profile, pid_t pid)
{
	struct pmp_sample *sample = pmp_sample_new();

	if (!sample)
		abort();
	sample->pid = pid;
	snprintf(sample->name, sizeof(sample->name), "server");
	sample->time = 1010 * FAKE_S;
	fake_add(profile, sample);
}

/* When a target ends its threads go with the next snapshot; of the last one they stay. */
static void test_ended(void)
{
	struct pmp_profile *profile;
	struct view view;

	fake_deadlock = true;
	profile = fake_run(2);
	fake_view(&view, profile);
	fake_type(&view, "4");
	is_int(view.model.list.order_count, 142, "the threads of two processes");
	pmp_profile_forget(profile, 4100);
	fake_add(profile, fake_server(5100, 20, FAKE_S / 10));
	fake_deadlock = false;
	view_refresh(&view);
	is_int(view.model.list.order_count, 71, "one has ended: those of the other");
	pmp_profile_forget(profile, 5100);
	pmp_profile_forget(profile, 5100);
	view_refresh(&view);
	is_int(view.model.list.order_count, 71, "all have ended: the view stays");
	fake_type(&view, "5");
	is_int(lock_row(&view.model, model_row(&view.model, 0))->rank, LOCK_ROW_DEADLOCK,
	       "so does the deadlock");
	ok(strstr(fake_screen(&view, 24, 120), "5167") != NULL, "and who holds a lock");
	add_last_breath(profile, 6100);
	fake_type(&view, "4");
	view_refresh(&view);
	is_int(view.model.list.order_count, 0, "until there is another snapshot");
	ok(strstr(fake_screen(&view, 24, 80), "Nothing to show") != NULL,
	   "no filter is blamed for it");
	fake_type(&view, "ox\r");
	ok(strstr(fake_screen(&view, 24, 80), "Nothing passes the filters; Esc") != NULL,
	   "unless there is one");
	view_free(&view);
	pmp_profile_free(profile);
}

static void test_asking(struct view *view)
{
	fake_type(view, "+");
	is_int(fake_asked.interval, FAKE_S / 20, "faster: 20 a second");
	fake_type(view, "--");
	is_int(fake_asked.interval, FAKE_S / 5, "slower: 5");
	fake_type(view, "s10ms\r");
	is_int(fake_asked.interval, FAKE_S / 100, "any interval");
	fake_type(view, "s0\r");
	is_int(fake_asked.interval, FAKE_S / 100, "but none that is too short");
	view_key(view, PMP_KEY_ESCAPE);
	fake_type(view, "dx\r");
	ok(strstr(view->message, "Not a time") != NULL, "or no time");
	fake_type(view, "r");
	is_str(view->input, "xr", "what is typed then goes on with it");
	is_int(fake_asked.resets, 0, "and is no key");
	view_key(view, PMP_KEY_ESCAPE);
	fake_type(view, "wa.folded\r");
	is_str(fake_asked.written, "a.folded", "w writes");
	fake_type(view, "p Zr zW");
	is_int(fake_asked.pauses, 2, "paused and not");
	is_int(fake_asked.resets, 2, "reset");
	is_int(fake_asked.refreshes, 1, "refreshed, but not in a pause");
	is_int(fake_asked.saves, 1, "saved");
	fake_type(view, "hq");
	is_int(fake_asked.quits, 0, "q in the help only leaves that");
	fake_type(view, "\rq");
	is_int(fake_asked.quits, 0, "and so in the whole stack");
	fake_type(view, "q");
	is_int(fake_asked.quits, 1, "q");
}

static void test_keys(void)
{
	unsigned twice = 0, without = 0;

	for (size_t i = 0; i < key_count(); i++) {
		const struct key_binding *key = key_at(i);

		for (int k = 0; k < KEYS_MAX && key->keys[k]; k++)
			twice += key_find(key->keys[k]) != key ||
				 view_type_find_key(key->keys[k]) < view_type_count();
		/* The first row stands for those of the views. */
		without += i && (!key->help || !key->label || !key->keys[0] || !key->run);
	}
	is_int(twice, 0, "no key has two meanings");
	is_int(without, 0, "each has a label and a help");
	ok(key_find('k')->run == on_up, "k never kills");
}

static void test_settings(void)
{
	struct settings one = { 0 }, other = { 0 };
	char text[4096], *line, *next;
	const char *problem;

	one.view = FAKE_VIEW("threads");
	one.window = PMP_WINDOW_SECONDS;
	one.idle = PMP_IDLE_HIDDEN;
	one.ungrouped = one.full = true;
	one.sort[FAKE_VIEW("threads")] = 5;
	one.reverse[FAKE_VIEW("threads")] = true;
	one.sort[FAKE_VIEW("functions")] = 2;
	settings_print(&one, text, sizeof(text));
	ok(strstr(text, "\nsort-functions total\n"), "a column is saved by its name");
	for (line = text; *line; line = next) {
		next = strchr(line, '\n');
		*next++ = '\0';
		ok(settings_take(&other, line, &problem), "%s", line);
	}
	ok(memcmp(&one, &other, sizeof(one)) == 0, "settings come back as they were");
	ok(!settings_take(&other, "view nothing", &problem), "no such view");
	ok(!settings_take(&other, "nothing 1", &problem), "no such setting");
	ok(!settings_take(&other, "sort-threads x", &problem), "no such column");
	is_str(problem, "", "there is no more to say of it");
	ok(!settings_take(&other, "reverse-threads 3", &problem),
	   "a column by its number is not taken");
	is_str(problem, "columns have names now", "and why is said");
	ok(memcmp(&one, &other, sizeof(one)) == 0, "it changes nothing");
	ok(settings_take(&other, "# a comment", &problem), "a comment");
	ok(settings_take(&other, "", &problem), "an empty line");
}

/* All columns that can be sorted by have a name of their own, within their view. */
static void test_words(void)
{
	for (unsigned i = 0; i < view_type_count(); i++) {
		const struct view_type *type = view_type_at(i);
		unsigned without = 0, twice = 0;

		for (size_t k = 0; k < type->column_count; k++) {
			const char *word = type->columns[k].word;

			without += !word != !type->columns[k].order;
			for (size_t m = 0; word && m < k; m++)
				twice += type->columns[m].word &&
					 strcmp(type->columns[m].word, word) == 0;
		}
		is_int(without + twice, 0, "the columns of view %u have names", i + 1);
	}
}

/* --sort: the columns that it means, by the order of their rows. */
/* A saved profile can say anything. */
static void test_order(void)
{
	const double values[] = { 1e300, 1e11, 10, 0.5, 0, -1 };

	for (size_t i = 1; i < sizeof(values) / sizeof(*values); i++)
		ok(order_descending(values[i - 1]) < order_descending(values[i]),
		   "%g comes before %g", values[i - 1], values[i]);
}

static void test_sort(void)
{
	struct settings settings = { .reverse = { true, true, true, true } };

	settings_sort(&settings, PMP_SORT_NAME);
	is_str(view_type_at(FAKE_VIEW("stacks"))
		       ->columns[settings.sort[FAKE_VIEW("stacks")] - 1]
		       .word,
	       "stack", "--sort name means the stack");
	is_str(view_type_at(FAKE_VIEW("functions"))
		       ->columns[settings.sort[FAKE_VIEW("functions")] - 1]
		       .word,
	       "function", "the function");
	is_str(view_type_at(FAKE_VIEW("threads"))
		       ->columns[settings.sort[FAKE_VIEW("threads")] - 1]
		       .word,
	       "name", "or the thread");
	is_int(settings.sort[FAKE_VIEW("tree")], 0, "the tree has an order of its own");
	ok(!settings.reverse[FAKE_VIEW("stacks")] && settings.reverse[FAKE_VIEW("tree")],
	   "and only what is sorted begins with the least");
}

/* Threads that have ended are put together between two passes: the rows that there are mean
 * others, or none. */
static void test_merged(bool draws)
{
	struct pmp_profile *profile = fake_profile();
	struct pmp_sample *sample = fake_server(4100, 0, FAKE_S);
	struct canvas canvas = { 0 };
	struct view view;

	for (pid_t i = 0; i < 500; i++)
		fake_thread(sample, 9000 + i, "short", FAKE_STACK(POLL, MAIN));
	/* Those that go on are the last ones. */
	for (size_t i = 0; i < 70; i++)
		sample->threads[i].tid += 100000;
	fake_add(profile, sample);
	fake_add(profile, fake_server(4100, 100, FAKE_S));
	fake_view(&view, profile);
	canvas_resize(&canvas, 24, 80);
	fake_type(&view, "4G");
	ok(model_row(&view.model, 0)->thread > 0, "threads are rows");
	if (pmp_live_shrink((struct pmp_live *)pmp_profile_live(profile)))
		abort();
	ok(pmp_live_thread_count(pmp_profile_live(profile)) <
		   model_row(&view.model, view.model.list.order_count - 1)->thread,
	   "whose numbers are none any more");
	if (draws)
		view_draw(&view, &canvas);
	else
		fake_type(&view, "/no such thread\r");
	ok(model_row(&view.model, 0)->thread <
		   pmp_live_thread_count(pmp_profile_live(profile)),
	   "until they are made again");
	view_free(&view);
	canvas_free(&canvas);
	pmp_profile_free(profile);
}

/* ---- rows that are made in slices ------------------------------------------------ */

#define MANY 3000 /* stacks: more than are counted between two readings of the clock */

static struct pmp_profile *many_stacks(void)
{
	struct pmp_profile *profile = fake_profile();

	for (uint64_t i = 0; i < MANY / 50; i++) {
		struct pmp_sample *sample = pmp_sample_new();

		if (!sample)
			abort();
		sample->pid = 10;
		sample->time = (1000 + i) * FAKE_S;
		for (int k = 0; k < 50; k++) {
			int n = (int)i * 50 + k;
			struct pmp_thread *thread =
				fake_thread(sample, 10 + k, "worker",
					    FAKE_STACK(n % 13, n / 13 % 13, n / 169 % 13,
						       n / 2197, MAIN));

			thread->state = n % 3 ? 'S' : 'R';
		}
		fake_add(profile, sample);
	}
	return profile;
}

/* The first rows, whole. */
static void rows_of(struct view *view, char *text, size_t size)
{
	struct canvas canvas = { 0 };
	char line[ROW_TEXT];
	size_t length = 0;

	canvas_resize(&canvas, 40, 200);
	view_draw(view, &canvas);
	/* The header tells of one more refresh. */
	for (int i = 3; i < 39 && length < size; i++)
		length += (size_t)snprintf(text + length, size - length, "%s\n",
					   canvas_line(&canvas, i, line, sizeof(line)));
	canvas_free(&canvas);
}

/* How often it took to go on until all was there. */
static unsigned finish(struct view *view)
{
	unsigned turns = 0;

	while (view_is_busy(view) && turns < 100000) {
		view_go_on(view);
		turns++;
	}
	return turns;
}

static void test_slices(void)
{
	static const char *const keys[] = { "2",    "1",  "3",		 "v",	"vH",
					    "4",    "H1", "i",		 "i2",	"3",
					    "i1>>", "I",  "<<I\\poll\r", "\033" };
	struct pmp_profile *profile = many_stacks();
	static char whole[65536], sliced[65536];
	struct view one, other;
	unsigned turns;

	fake_view(&one, profile);
	fake_view(&other, profile);
	is_int(one.model.list.order_count, MANY, "%d stacks", MANY);
	other.slice = 1;
	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
		fake_type(&one, keys[i]);
		fake_type(&other, keys[i]);
		turns = finish(&other);
		ok(keys[i][0] == '4' || turns > 1, "%s: made in %u turns", keys[i],
		   turns);
		rows_of(&one, whole, sizeof(whole));
		rows_of(&other, sliced, sizeof(sliced));
		is_str(sliced, whole, "and the same as at once");
		is_int(other.model.list.order_count, one.model.list.order_count,
		       "all of it");
	}
	view_free(&one);
	view_free(&other);
	pmp_profile_free(profile);
}

/* What is pressed, comes and goes while rows are made. */
static void test_meanwhile(void)
{
	struct pmp_profile *profile = many_stacks();
	struct pmp_live *live = (struct pmp_live *)pmp_profile_live(profile);
	struct view view;
	size_t count;

	fake_view(&view, profile);
	view.slice = 1;
	fake_type(&view, "jjj");
	view_refresh(&view);
	ok(view_is_busy(&view), "rows are made");
	is_int(view.model.list.order_count, MANY, "those that were are shown");
	fake_type(&view, "j");
	is_int(view.at, 4, "and a key moves in them");
	finish(&view);
	is_int(view.at, 4, "as it does then");
	fake_type(&view, "3");
	is_int(view.model.list.order_count, 0,
	       "stacks are no tree: nothing is shown at first");
	fake_type(&view, "jek");
	view_key(&view, PMP_KEY_ENTER);
	finish(&view);
	count = view.model.list.order_count;
	ok(count > 1, "then the tree is");
	view_refresh(&view);
	view_key(&view, PMP_KEY_HOME);
	view_key(&view, PMP_KEY_LEFT);
	is_int(view.model.list.order_count, 1, "it is closed while it is made");
	finish(&view);
	is_int(view.model.list.order_count, 1, "and stays so");
	fake_type(&view, "1/nowhere");
	finish(&view);
	ok(strstr(view.message, "Not found"), "a search in many rows comes to its end");
	view_key(&view, PMP_KEY_ESCAPE);
	fake_type(&view, "n");
	ok(strstr(view.message, "Searching"), "or is left: %s", view.message);
	fake_type(&view, "g");
	ok(!view_is_busy(&view), "for another key");
	view_refresh(&view);
	for (int i = 0; i < 3; i++)
		view_go_on(&view);
	if (pmp_live_shrink(live))
		abort();
	finish(&view);
	is_int(view.model.list.order_count, pmp_live_stack_count(live),
	       "stacks are put together meanwhile");
	view_refresh(&view);
	view_set_profile(&view, NULL);
	ok(!view_is_busy(&view) && !view.model.list.order_count, "or gone");
	view_set_profile(&view, profile);
	view_refresh(&view);
	view_free(&view);
	pmp_profile_free(profile);
}

static void test_rate_after_pause(void)
{
	struct pmp_profile *profile = fake_run(1);
	struct view view;

	fake_view(&view, profile);
	ok(strstr(fake_screen(&view, 24, 132), "10.0 Hz"), "the header shows the rate");
	fake_type(&view, "pp");
	ok(strstr(fake_screen(&view, 24, 132), " - Hz"), "none yet after a pause");
	for (uint64_t i = 0; i < 5; i++) {
		fake_add(profile, fake_server(4100, 60 + i, FAKE_S / 10));
		view_refresh(&view);
	}
	ok(strstr(fake_screen(&view, 24, 132), "10.0 Hz"),
	   "then it does not count the pause");
	view_free(&view);
	pmp_profile_free(profile);
}

int main(void)
{
	struct pmp_profile *profile = fake_run(1);
	struct view view;

	test_brief_names();
	fake_view(&view, profile);
	test_stacks(&view);
	test_groups(&view);
	test_filters(&view);
	test_selection(&view);
	test_functions(&view);
	test_tree(&view);
	test_threads(&view);
	test_asking(&view);
	view_free(&view);
	pmp_profile_free(profile);
	test_slices();
	test_meanwhile();
	test_rate_after_pause();
	test_late_names();
	test_names();
	test_modules();
	test_states();
	test_saved_lock();
	test_saved_between();
	test_saved_amount();
	test_saved_guessed();
	test_event();
	test_lock_rows();
	test_processes();
	test_ended();
	test_keys();
	test_settings();
	test_words();
	test_order();
	test_sort();
	test_merged(true);
	test_merged(false);
	return done_testing();
}

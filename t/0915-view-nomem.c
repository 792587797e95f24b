/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The live view when memory runs out: each allocation fails in turn, at once or in slices;
 * the next screen is right again. */
#include "lib/heap.h"

#include "lib/fakeview.h"

#ifdef HEAP_OURS

#define STACKS 6 /* of the server */

static struct pmp_profile *profile;
static uint64_t slice;

static void finish(struct view *view)
{
	for (int i = 0; i < 10000 && view_is_busy(view); i++)
		view_go_on(view);
}

/* False: the rows are not what they are with enough memory. */
static bool use_view(void)
{
	static const char keys[] = "23ev3ttH4>>5>>>>1>>>>H/find\r\\mutex\r";
	struct view view;
	bool right;

	view_init(&view, profile, NULL, &fake_actions, NULL);
	view.slice = slice;
	view.title = "";
	fake_asked.view = &view;
	view_refresh(&view);
	for (const char *at = keys; *at; at++) {
		view_key(&view, *at);
		finish(&view);
	}
	view_key(&view, PMP_KEY_ESCAPE);
	view_key(&view, PMP_KEY_ESCAPE);
	view_key(&view, '1');
	finish(&view);
	heap.fail_at = -1;
	view_refresh(&view);
	finish(&view);
	right = !view.model.failed && view.model.list.order_count == STACKS;
	view_free(&view);
	return right;
}

static void try_view(const char *name)
{
	unsigned wrong = 0, kept = 0;
	long k = 0;

	do {
		heap.live = heap.calls = 0;
		heap.failed = false;
		heap.fail_at = k++;
		heap.counting = true;
		wrong += !use_view();
		heap.counting = false;
		kept += heap.live != 0;
	} while (heap.failed && k < 10000);
	ok(k > 100 && !heap.failed, "%s: each of %ld allocations has failed", name,
	   k - 1);
	is_int(wrong, 0, "%s: what is shown next is right", name);
	is_int(kept, 0, "%s: no memory is kept", name);
}

int main(void)
{
	if (!ours()) {
		diag("another allocator is in place: nothing fails");
		ok(true, "nothing to do");
		return done_testing();
	}
	setlocale(LC_CTYPE, "C.UTF-8");
	profile = fake_run(1);
	/* What the C library makes once stays. */
	ok(use_view(), "a view with enough memory");
	try_view("at once");
	slice = 1;
	try_view("in slices");
	pmp_profile_free(profile);
	return done_testing();
}

#else

int main(void)
{
	ok(true, "sanitizers have the allocator: nothing to do");
	return done_testing();
}

#endif

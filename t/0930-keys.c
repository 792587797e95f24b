/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A hundred thousand random keys, clicks and resizes, samples and names that come in
 * between: the live view neither crashes nor leaks (it is run under sanitizers too),
 * and is always somewhere on its list. PMP_KEYS sets their number, PMP_SEED the first.
 */
#include "libpmp-program.h"
#include "lib/fakeview.h"
#include "tally/live.h"

#define KEYS 100000
#define EVERY 500 /* keys between two profiles */

static uint64_t state = 1;

static unsigned any(unsigned below)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (unsigned)(state >> 11) % below;
}

/* Those that are in the table most of all, then letters, then anything. */
static int any_key(void)
{
	const struct key_binding *key;
	unsigned kind = any(10);

	if (kind < 7) {
		key = key_at(any((unsigned)key_count()));
		if (!key->keys[0])
			return '1' + (int)any((unsigned)view_type_count());
		return key->keys[any(2) && key->keys[1] ? 1 : 0];
	}
	if (kind < 9)
		return (int)(' ' + any(95));
	return (int)any(PMP_KEY_MAX + 10);
}

static void any_wait(struct pmp_sample *sample, size_t i)
{
	struct pmp_thread *thread = &sample->threads[i];

	thread->wait = (struct pmp_wait){
		.kind = (uint8_t)any(PMP_WAIT_COUNT),
		.holder_is = (uint8_t)any(PMP_HOLDER_COUNT),
		.flags = (uint16_t)any(512),
		.count = any(3),
		.holder = sample->threads[any((unsigned)sample->thread_count)].tid,
		.object = 0x1000 * any(5),
		.outside = any(3),
	};
}

static void any_outside(struct pmp_sample *sample)
{
	const struct pmp_outside outside = {
		.type = (uint8_t)any(PMP_OUTSIDE_COUNT),
		.sure = (uint8_t)any(PMP_SURE_COUNT),
		.count = 1,
	};
	const struct pmp_other other = { .pid = 1 + (pid_t)any(9999),
					 .fd = (int)any(9),
					 .role = (uint8_t)any(PMP_ROLE_COUNT) };

	if (pmp_sample_add_outside(sample, &outside) ||
	    pmp_sample_add_other(sample, &other))
		abort();
}

static void any_sample(struct pmp_profile *profile, uint64_t *number)
{
	struct pmp_sample *sample = fake_server(4100 + 1000 * (pid_t)any(3), ++*number,
						FAKE_S / (1 + any(10)));

	/* Now and then a minute goes by: then threads may have ended. */
	*number += any(20) ? 0 : 130;
	sample->time = 1000 * FAKE_S + *number * FAKE_S / 2;
	for (unsigned i = any(4); i > 2; i--)
		any_outside(sample);
	for (size_t i = 0; i < sample->thread_count; i++) {
		if (any(8) == 0)
			sample->threads[i].frame_count = any(3);
		if (any(50) == 0)
			sample->threads[i].tid += (pid_t)any(1000);
		if (any(20) == 0)
			sample->threads[i].state = "RSDTtZXI?"[any(9)];
		if (any(10) == 0)
			any_wait(sample, i);
	}
	fake_add(profile, sample);
}

static bool is_sane(const struct view *view)
{
	const struct model *model = &view->model;

	if (model->list.order_count && view->at >= model->list.order_count)
		return false;
	for (size_t i = 0; i < model->list.order_count; i++) {
		if (model->list.order[i] >= model->list.row_count)
			return false;
	}
	return view_type_of(model)->columns && !model->failed;
}

static void reset(struct view *view, struct pmp_profile **profile)
{
	struct pmp_profile *old = *profile;

	/* Now and then a saved one, which is never sampled. */
	view->model.saved = any(4) == 0;
	*profile = view->model.saved ? fake_saved() : fake_profile();
	view_set_profile(view, *profile);
	pmp_profile_free(old);
}

static void one_key(struct view *view, struct canvas *canvas, struct pmp_profile *profile,
		    uint64_t *number)
{
	switch (any(40)) {
	case 0: canvas_resize(canvas, (int)any(70), (int)any(220)); break;
	case 1:
		view_mouse(view, (int)any(80) - 5, (int)any(240) - 5, (int)any(3) - 1);
		break;
	case 2:
		if (!view->model.saved)
			any_sample(profile, number);
		view_refresh(view);
		break;
	case 3:
		fake_named = any(30);
		view_refresh(view);
		break;
	case 4:
		/* Numbers of threads, stacks and locations change behind its back. */
		if (pmp_live_shrink((struct pmp_live *)pmp_profile_live(profile)))
			abort();
		break;
	default: view_key(view, any_key());
	}
	view_draw(view, canvas);
}

int main(void)
{
	const char *keys = getenv("PMP_KEYS"), *seed = getenv("PMP_SEED");
	unsigned count = keys ? (unsigned)strtoul(keys, NULL, 10) : KEYS;
	struct pmp_profile *profile = fake_profile();
	struct canvas canvas = { 0 };
	struct view view;
	uint64_t number = 0;
	bool sane = true;

	if (seed)
		state = strtoull(seed, NULL, 10) | 1;
	fake_view(&view, profile);
	canvas_resize(&canvas, 24, 80);
	for (unsigned i = 0; i < count && sane; i++) {
		if (i % EVERY == 0)
			reset(&view, &profile);
		one_key(&view, &canvas, profile, &number);
		sane = is_sane(&view);
		if (!sane)
			diag("not sane after key %u", i);
	}
	ok(sane, "%u keys, clicks and resizes", count);
	view_free(&view);
	canvas_free(&canvas);
	pmp_profile_free(profile);
	return done_testing();
}

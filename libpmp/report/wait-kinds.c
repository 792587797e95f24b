/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/wait-kinds.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/regex.h"
#include "report/filter.h"
#include "report/wait-functions.h"

#define DEPTH_MAX 12 /* innermost locations that are looked at */
#define ONCE_MAX 16  /* once functions per snapshot whose runners are inferred */

/* What the functions at a location say; of inlined ones the innermost that says any. */
struct wait_place {
	const struct pmp_wait_meaning *meaning;
	char *users_meaning;  /* from the filter; owned, or NULL */
	const char *nameless; /* module of an unnamed function, or NULL */
	const char *module;   /* of the function that gave the kind */
	uint8_t kind, outer;  /* enum pmp_named_kind */
	bool known;	      /* has been looked up */
	bool foreign;	      /* a function that is not part of a wait */
};

/* The thread that runs the once function others wait for. */
struct once_holder {
	uint64_t object;
	uint8_t once;
	pid_t holder; /* 0: unknown */
};

struct pmp_wait_names {
	struct wait_place *places; /* by location number */
	size_t count, capacity;
	uint64_t sweeps; /* of the locations */
	/* Of the snapshot with this pid and time. */
	struct once_holder holders[ONCE_MAX];
	size_t holder_count;
	pid_t pid;
	uint64_t time;
};

/* ---- by the bytes ------------------------------------------------------------------- */

static const char *const kinds[] = {
	[PMP_WAIT_NONE] = "",
	[PMP_WAIT_MUTEX] = "mutex",
	[PMP_WAIT_RWLOCK] = "rwlock",
	[PMP_WAIT_LATCH] = "latch",
	[PMP_WAIT_STDIO] = "stdio",
	[PMP_WAIT_JOIN] = "join",
	[PMP_WAIT_CONDITION] = "condition",
	[PMP_WAIT_FUTEX] = "futex",
	[PMP_WAIT_FILE] = "file",
	[PMP_WAIT_PIPE] = "pipe",
	[PMP_WAIT_SOCKET] = "socket",
	[PMP_WAIT_CHILD] = "child",
	[PMP_WAIT_VFORK] = "vfork",
	[PMP_WAIT_SEMOP] = "semop",
	[PMP_WAIT_POLL] = "poll",
	[PMP_WAIT_EVENT] = "event",
	[PMP_WAIT_TIMER] = "timer",
	[PMP_WAIT_SIGNAL] = "signal",
	[PMP_WAIT_QUEUE] = "queue",
	[PMP_WAIT_SLEEP] = "sleep",
	[PMP_WAIT_IO] = "io",
};

const char *pmp_wait_kind_name(const struct pmp_wait *wait)
{
	return wait->kind < PMP_WAIT_COUNT ? kinds[wait->kind] : "";
}

/* ---- what is kept ------------------------------------------------------------------- */

struct pmp_wait_names *pmp_wait_names_new(void)
{
	return calloc(1, sizeof(struct pmp_wait_names));
}

static void forget(struct pmp_wait_names *names)
{
	for (size_t i = 0; i < names->count; i++)
		free(names->places[i].users_meaning);
	names->count = 0;
}

void pmp_wait_names_free(struct pmp_wait_names *names)
{
	if (!names)
		return;
	forget(names);
	free(names->places);
	free(names);
}

void pmp_wait_names_renew(struct pmp_wait_names *names, uint64_t sweeps)
{
	if (sweeps != names->sweeps)
		forget(names);
	names->sweeps = sweeps;
}

static void renew(const struct pmp_report *report, struct pmp_wait_names *names)
{
	pmp_wait_names_renew(names, pmp_profile_sweeps(report->profile));
}

/* ---- a location --------------------------------------------------------------------- */

/* Whether locations are as found, or as left by the filter. */
struct wait_question {
	const struct pmp_report *report;
	bool found;
	struct pmp_live_names *live; /* NULL: ask the report */
};

static size_t frames_of(const struct wait_question *asked, pmp_location location,
			const struct pmp_frame **frames)
{
	if (asked->found)
		return pmp_symbolizer_frames(asked->report->symbolizer, location, frames);
	return pmp_report_frames(asked->report, location, frames);
}

static void add_function(const struct pmp_filter *filter, const struct pmp_frame *frame,
			 struct wait_place *place)
{
	char meaning[PMP_EXPRESSION_NAME];
	struct pmp_wait_function says;

	if (frame->unnamed) {
		place->nameless = frame->module;
		return;
	}
	pmp_wait_function(frame->readable ? frame->readable : frame->function,
			  frame->module, &says);
	if (!place->users_meaning &&
	    pmp_filter_lock_meaning(filter, frame->function, meaning, sizeof(meaning)))
		place->users_meaning = strdup(meaning);
	if (!place->meaning)
		place->meaning = says.meaning;
	if (!place->outer)
		place->outer = (uint8_t)says.outer;
	if (!place->kind && !place->foreign) {
		place->kind = (uint8_t)says.kind;
		place->module = frame->module;
		place->foreign = !says.kind && !says.internal;
	}
}

static void ask_report(const struct wait_question *asked, pmp_location location,
		       struct wait_place *place)
{
	const struct pmp_frame *frames;
	size_t count = frames_of(asked, location, &frames);

	for (size_t i = 0; i < count; i++)
		add_function(asked->report->filter, &frames[i], place);
	place->known = true;
}

/* The location may have no names yet. */
static void ask_live(struct pmp_live_names *live, pmp_location location,
		     struct wait_place *place)
{
	struct pmp_frame frame;

	for (size_t i = 0; live->frame(live, location, i, &frame); i++) {
		add_function(live->filter, &frame, place);
		place->known = true;
	}
	live->complete &= place->known;
}

static struct pmp_wait_names *names_of(const struct wait_question *asked)
{
	if (asked->live)
		return asked->live->names;
	return asked->found ? asked->report->found_waits : asked->report->waits;
}

/* If memory runs out, the place says nothing. */
static const struct wait_place *place_of(const struct wait_question *asked,
					 pmp_location location)
{
	static const struct wait_place nothing = { .known = true };
	struct pmp_wait_names *names = names_of(asked);
	struct wait_place *place;

	if (location == PMP_LOCATION_NONE)
		return &nothing;
	if (PMP_RESERVE(&names->places, &names->capacity, (size_t)location + 1)) {
		if (asked->live)
			asked->live->complete = false;
		return &nothing;
	}
	if (location >= names->count) {
		memset(names->places + names->count, 0,
		       (location + 1 - names->count) * sizeof(*place));
		names->count = (size_t)location + 1;
	}
	place = &names->places[location];
	if (place->known)
		return place;
	if (asked->live)
		ask_live(asked->live, location, place);
	else
		ask_report(asked, location, place);
	return place;
}

/* ---- a stack ------------------------------------------------------------------------ */

/* What the functions of a stack say about its wait. */
struct verdict {
	enum pmp_named_kind kind, outer;
	const char *module; /* of the function that gave the kind */
	const struct pmp_wait_meaning *meaning;
	const char *users_meaning;
};

/* Do the frames between the system call and this function belong to it? Unnamed ones may
 * be anything, unless they are in the same module. */
static bool is_own(const struct wait_place *place, const char *nameless)
{
	return !nameless || strcmp(nameless, place->module) == 0;
}

static void ask(const struct wait_question *asked, const pmp_location *locations,
		size_t count, struct verdict *verdict)
{
	const char *nameless = NULL;
	bool inside = true, near = true;

	*verdict = (struct verdict){ .kind = PMP_NAMED_NONE };
	for (size_t i = 0; i < count && i < DEPTH_MAX; i++) {
		const struct wait_place *place = place_of(asked, locations[i]);

		if (inside && place->kind) {
			if (is_own(place, nameless)) {
				verdict->kind = place->kind;
				verdict->module = place->module;
			}
			inside = false;
		}
		if (!verdict->outer)
			verdict->outer = place->outer;
		if (!verdict->users_meaning)
			verdict->users_meaning = place->users_meaning;
		if (!verdict->meaning && place->meaning &&
		    (near || !place->meaning->direct))
			verdict->meaning = place->meaning;
		if (place->nameless)
			nameless = place->nameless;
		inside &= !place->foreign;
		near &= !place->foreign && (!place->nameless || inside);
	}
}

/* ---- bytes and names ---------------------------------------------------------------- */

static void drop_holder(struct pmp_named_wait *named)
{
	named->wait.holder = 0;
	named->wait.holder_is = PMP_HOLDER_NONE;
	named->wait.count = 0;
	named->wait.mutex = 0;
	named->wait.flags &= PMP_WAIT_PROVEN | PMP_WAIT_TIMED | PMP_WAIT_SHARED;
}

static void move(struct pmp_named_wait *named, int offset)
{
	named->wait.object += (uint64_t)(int64_t)offset;
	named->moved = offset;
}

/* Interpret the memory around the futex, now that its kind is known. */
static void take_words(struct pmp_named_wait *named, const struct verdict *verdict)
{
	struct pmp_wait *wait = &named->wait;

	named->said = pmp_words_say(verdict->kind, verdict->module, &wait->words);
	if (named->said.what == PMP_SAYS_FREE)
		wait->holder_is = PMP_HOLDER_FREE;
	else if (named->said.what == PMP_SAYS_READERS)
		wait->count = named->said.count;
}

/* A kind proven by the bytes stays, unless it contradicts the names. */
static void take_kind(struct pmp_named_wait *named, const struct verdict *verdict)
{
	const struct pmp_named_kind_info *info = &pmp_named_kinds[verdict->kind];
	struct pmp_wait *wait = &named->wait;

	if (!verdict->kind || !wait->kind || pmp_wait_is_outside(wait->kind))
		return;
	if (wait->kind != PMP_WAIT_FUTEX) {
		if (info->bytes >> wait->kind & 1)
			return;
		named->vetoed = true;
		drop_holder(named);
		wait->kind = PMP_WAIT_FUTEX;
		wait->object = 0;
	}
	named->kind = info->text;
	named->ask = info->ask;
	named->lock = info->lock;
	named->write = info->write;
	named->once = info->once ? (uint8_t)verdict->kind : 0;
	if (info->placeless || (info->musl_placeless && strstr(verdict->module, "musl")))
		wait->object = 0;
	else if (wait->object)
		move(named, info->offset);
	take_words(named, verdict);
}

static void take_outer(struct pmp_named_wait *named, const struct verdict *verdict)
{
	const struct pmp_named_kind_info *info = &pmp_named_kinds[verdict->outer];

	if (!verdict->outer || !(info->within >> verdict->kind & 1))
		return;
	named->kind = info->text;
	named->ask = info->ask;
	named->lock = info->lock;
	named->write = info->write;
	drop_holder(named);
	named->said = (struct pmp_said){ PMP_SAYS_NOTHING, 0, 0 };
	named->wait.object = 0;
	named->parked = info->parked;
}

/* Does the meaning fit this kind of wait? */
static bool has_meaning(const struct pmp_named_wait *named, const struct verdict *verdict)
{
	const struct pmp_wait_meaning *meaning = verdict->meaning;

	if (!meaning)
		return false;
	if (meaning->condition)
		return verdict->kind == PMP_NAMED_CONDITION ||
		       named->wait.kind == PMP_WAIT_CONDITION;
	return *named->kind || meaning->call;
}

/* A known kind of lock needs no further meaning. */
static void take_meaning(struct pmp_named_wait *named, const struct verdict *verdict)
{
	const struct pmp_wait_meaning *meaning = verdict->meaning;

	if (named->lock)
		return;
	if (verdict->users_meaning && !*verdict->users_meaning)
		return;
	if (verdict->users_meaning) {
		named->meaning = verdict->users_meaning;
		named->lock = true;
	} else if (has_meaning(named, verdict)) {
		named->meaning = meaning->text;
		named->ask = meaning->ask;
		named->else_see = meaning->else_see;
		named->lock = meaning->lock;
	} else {
		return;
	}
	if (!*named->kind)
		named->kind = "wait";
	if (named->lock && named->wait.kind >= PMP_WAIT_POLL) {
		/* The descriptor it waits on is not the lock. */
		named->kind = "wait";
		named->wait.object = 0;
	}
}

/* blocked: in a system call, though not necessarily a known wait. */
static void name(const struct wait_question *asked, const pmp_location *locations,
		 size_t count, bool blocked, struct pmp_named_wait *named)
{
	struct verdict verdict;

	named->kind = pmp_wait_kind_name(&named->wait);
	named->lock = pmp_wait_is_lock(&named->wait);
	named->write = named->wait.flags & PMP_WAIT_WRITE;
	if (!named->wait.kind && !blocked)
		return;
	ask(asked, locations, count, &verdict);
	take_kind(named, &verdict);
	if (named->wait.kind == PMP_WAIT_CONDITION || named->wait.kind == PMP_WAIT_FUTEX)
		take_outer(named, &verdict);
	take_meaning(named, &verdict);
}

void pmp_report_name_wait(const struct pmp_report *report, const pmp_location *locations,
			  size_t count, const struct pmp_wait *wait,
			  struct pmp_named_wait *named)
{
	const struct wait_question asked = { report, .found = !report->filtered };

	renew(report, asked.found ? report->found_waits : report->waits);
	*named = (struct pmp_named_wait){ .wait = *wait };
	name(&asked, locations, count, wait->kind, named);
}

/* A writer that waits for the readers of a rwlock is queued under its address + 1. */
static void take_parked(const struct pmp_row *row, struct pmp_named_wait *named)
{
	uint64_t key = pmp_wait_parked_under(&named->wait);

	named->parked = row->parked.in != PMP_IN_NOTHING;
	if (!named->parked)
		return;
	named->wait.object = key;
	move(named, -(int)(key & 1));
}

static void name_row(const struct wait_question *asked, const struct pmp_row *row,
		     struct pmp_named_wait *named)
{
	const struct pmp_thread *thread = row->thread;

	*named = (struct pmp_named_wait){ .wait = thread->wait };
	name(asked, row->found, row->found_count,
	     thread->state != 'R' && thread->syscall >= 0, named);
	if (named->parked)
		take_parked(row, named);
}

void pmp_live_names_ask(struct pmp_live_names *live, const pmp_location *locations,
			size_t count, struct pmp_named_wait *named)
{
	const struct wait_question asked = { .live = live };

	live->complete = true;
	name(&asked, locations, count, true, named);
}

/* ---- what is done once ----------------------------------------------------------------- */

/* Does the snapshot have every thread, with its complete stack? */
static bool is_whole(const struct pmp_snapshot *snapshot)
{
	if (snapshot->info.threads != snapshot->row_count)
		return false;
	for (size_t i = 0; i < snapshot->row_count; i++)
		if (snapshot->rows[i].thread->end != PMP_END_ROOT)
			return false;
	return true;
}

/* Is there a once function on the stack other than the one that the thread waits in? */
static bool runs_once(const struct wait_question *asked, const struct pmp_row *row,
		      bool waits)
{
	bool own = waits, seen = false;

	for (size_t i = 0; i < row->found_count; i++) {
		const struct wait_place *place = place_of(asked, row->found[i]);

		if (place->kind == PMP_NAMED_ONCE && !own)
			return true;
		seen |= place->kind == PMP_NAMED_ONCE;
		own &= !seen || place->kind == PMP_NAMED_ONCE;
	}
	return false;
}

/* The function whose static variable is being initialised. */
static const struct pmp_frame *guarded_function(const struct wait_question *asked,
						const struct pmp_row *row)
{
	const struct pmp_frame *frames;
	bool seen = false;

	for (size_t i = 0; i < row->found_count; i++) {
		if (place_of(asked, row->found[i])->kind == PMP_NAMED_GUARD)
			seen = true;
		else if (seen)
			return frames_of(asked, row->found[i], &frames) &&
					       !frames->unnamed
				       ? frames
				       : NULL;
	}
	return NULL;
}

static bool has_function(const struct wait_question *asked, const struct pmp_row *row,
			 const struct pmp_frame *function)
{
	const struct pmp_frame *frames;

	for (size_t i = 0; i < row->found_count; i++) {
		size_t count = frames_of(asked, row->found[i], &frames);

		for (size_t k = 0; k < count; k++)
			if (strcmp(frames[k].function, function->function) == 0 &&
			    strcmp(frames[k].module, function->module) == 0)
				return true;
	}
	return false;
}

/* A thread that waits for the same initialisation does not run it. 1: may be the runner,
 * 0: is not, -1: unknown. */
static int may_run(const struct wait_question *asked, const struct pmp_row *row,
		   const struct pmp_named_wait *named, const struct pmp_frame *function)
{
	struct pmp_named_wait other;

	name_row(asked, row, &other);
	if (other.once == named->once && other.wait.object == named->wait.object)
		return 0;
	if (function)
		return has_function(asked, row, function);
	if (other.once == PMP_NAMED_ONCE)
		return -1;
	return runs_once(asked, row, other.once == PMP_NAMED_ONCE);
}

/* The only thread that may run the initialiser, or 0. */
static pid_t find_runner(const struct wait_question *asked,
			 const struct pmp_named_wait *named,
			 const struct pmp_frame *function)
{
	const struct pmp_snapshot *snapshot = asked->report->snapshot;
	pid_t holder = 0;

	if (!is_whole(snapshot))
		return 0;
	for (size_t i = 0; i < snapshot->row_count; i++) {
		int may = may_run(asked, &snapshot->rows[i], named, function);

		if (may < 0 || (may && holder))
			return 0;
		if (may)
			holder = snapshot->rows[i].thread->tid;
	}
	return holder;
}

/* The result found for another waiter; NULL: none yet. */
static const struct once_holder *find_known_holder(const struct wait_question *asked,
						   const struct pmp_named_wait *named)
{
	const struct pmp_sample_info *info = &asked->report->snapshot->info;
	struct pmp_wait_names *names = asked->report->found_waits;

	if (names->pid != info->pid || names->time != info->time)
		names->holder_count = 0;
	names->pid = info->pid;
	names->time = info->time;
	for (size_t i = 0; i < names->holder_count; i++)
		if (names->holders[i].object == named->wait.object &&
		    names->holders[i].once == named->once)
			return &names->holders[i];
	return NULL;
}

/* The runner is the only thread with the function on its stack. */
static pid_t infer_holder(const struct wait_question *asked, const struct pmp_row *row,
			  const struct pmp_named_wait *named)
{
	struct pmp_wait_names *names = asked->report->found_waits;
	const struct once_holder *known = find_known_holder(asked, named);
	const struct pmp_frame *function = NULL;
	struct once_holder *next;

	if (known)
		return known->holder;
	if (names->holder_count == ONCE_MAX)
		return 0;
	if (named->once == PMP_NAMED_GUARD) {
		function = guarded_function(asked, row);
		if (!function)
			return 0;
	}
	next = &names->holders[names->holder_count++];
	*next = (struct once_holder){ .object = named->wait.object,
				      .once = named->once,
				      .holder = find_runner(asked, named, function) };
	return next->holder;
}

static void name_holder(const struct wait_question *asked, const struct pmp_row *row,
			struct pmp_named_wait *named)
{
	const pid_t holder = infer_holder(asked, row, named);

	if (!holder)
		return;
	named->inferred = true;
	named->wait.holder = holder;
	named->wait.holder_is = PMP_HOLDER_THREAD;
}

void pmp_report_name_row(const struct pmp_report *report, const struct pmp_row *row,
			 struct pmp_named_wait *named)
{
	const struct wait_question asked = { report, .found = true };

	renew(report, report->found_waits);
	name_row(&asked, row, named);
	if (named->once && named->wait.object && !named->wait.holder)
		name_holder(&asked, row, named);
}

void pmp_object_move(struct pmp_object *object, int moved)
{
	uint64_t before = moved < 0 ? (uint64_t)-moved : 0;

	/* The object begins before the variable: the name does not apply. */
	if (object->symbol && object->offset < before)
		object->symbol = NULL;
	object->offset += (uint64_t)(int64_t)moved;
}

bool pmp_report_named_object(const struct pmp_report *report, const struct pmp_row *row,
			     const struct pmp_named_wait *named,
			     struct pmp_object *object)
{
	if (!named->wait.object || pmp_wait_is_outside(named->wait.kind))
		return false;
	if (named->parked)
		pmp_symbolizer_object(report->symbolizer, &row->parked, object);
	else if (!pmp_report_object(report, row, object))
		return false;
	pmp_object_move(object, named->moved);
	return true;
}

/* ---- by several snapshots -------------------------------------------------------------- */

static uint64_t time_since(const struct pmp_snapshot *snapshot, uint64_t since)
{
	uint64_t now = snapshot->info.time + snapshot->info.duration;

	return since && since < now ? now - since : 0;
}

uint64_t pmp_named_found_for(const struct pmp_snapshot *snapshot,
			     const struct pmp_row *row,
			     const struct pmp_named_wait *named)
{
	if (!named->lock || row->waits_since >= snapshot->info.time)
		return 0;
	return time_since(snapshot, row->waits_since);
}

pid_t pmp_named_taker(const struct pmp_snapshot *snapshot, const struct pmp_row *row,
		      const struct pmp_named_wait *named, uint64_t *time)
{
	*time = time_since(snapshot, row->taken_after);
	return named->lock && named->wait.holder_is == PMP_HOLDER_NONE ? row->taker : 0;
}

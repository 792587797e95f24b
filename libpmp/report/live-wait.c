/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What functions say of the waits in a live view, as far as their names are known yet. */
#include <stdlib.h>
#include <string.h>

#include "libpmp-program.h"
#include "base/sized.h"
#include "report/wait-kinds.h"

struct pmp_live_waits {
	struct pmp_live_names names; /* first: frame_of() casts to it */
	const struct pmp_symbolizer *symbolizer;
};

static bool frame_of(const struct pmp_live_names *live, pmp_location location, size_t i,
		     struct pmp_frame *frame)
{
	const struct pmp_live_waits *waits = (const struct pmp_live_waits *)live;
	struct pmp_frame_info info = { .size = sizeof(info) };

	if (i >= pmp_symbolizer_frame(waits->symbolizer, location, i, &info))
		return false;
	*frame = (struct pmp_frame){
		.function = info.function,
		.readable = info.readable,
		.module = info.module,
		.unnamed = info.unnamed,
	};
	return true;
}

struct pmp_live_waits *pmp_live_waits_new(const struct pmp_symbolizer *symbolizer,
					  const struct pmp_filter *filter)
{
	struct pmp_live_waits *waits = calloc(1, sizeof(*waits));

	if (!waits)
		return NULL;
	waits->symbolizer = symbolizer;
	waits->names = (struct pmp_live_names){
		.names = pmp_wait_names_new(),
		.filter = filter,
		.frame = frame_of,
	};
	if (waits->names.names)
		return waits;
	free(waits);
	return NULL;
}

void pmp_live_waits_free(struct pmp_live_waits *waits)
{
	if (!waits)
		return;
	pmp_wait_names_free(waits->names.names);
	free(waits);
}

void pmp_live_wait(struct pmp_live_waits *waits, const struct pmp_live *live,
		   size_t stack, unsigned kind, struct pmp_live_wait *wait)
{
	const struct pmp_wait join = { .kind = PMP_WAIT_JOIN };
	struct pmp_live_info info = { .size = sizeof(info) };
	struct pmp_live_stack found = { .size = sizeof(found) };
	/* Any address: tells whether the futex belongs to the object. */
	struct pmp_named_wait named = { .wait = { .kind = (uint8_t)kind,
						  .object = 4096 } };

	pmp_live_info(live, &info);
	pmp_wait_names_renew(waits->names.names, info.renumbered);
	pmp_live_stack(live, stack, &found);
	pmp_live_names_ask(&waits->names, found.locations, found.count, &named);
	pmp_sized_give(wait,
		       &(struct pmp_live_wait){
			       .kind = named.kind,
			       .meaning = named.meaning ? named.meaning : "",
			       .ask = named.ask ? named.ask : "",
			       .else_see = named.else_see ? named.else_see : "",
			       .is_lock = named.lock,
			       .ends = strcmp(named.kind, pmp_wait_kind_name(&join)) == 0,
			       .vetoed = named.vetoed,
			       .placeless = !named.wait.object,
			       .moved = named.moved,
			       .final = waits->names.complete,
		       },
		       sizeof(*wait));
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "write/wait-names.h"

#include "write/outside-names.h"

#include <inttypes.h>
#include <string.h>

#include "base/clock.h"
#include "base/escape.h"

static const char *const holders[] = {
	[PMP_HOLDER_NONE] = "",		  [PMP_HOLDER_FREE] = "free",
	[PMP_HOLDER_THREAD] = "",	  [PMP_HOLDER_SELF] = "self",
	[PMP_HOLDER_PROCESS] = "process", [PMP_HOLDER_BEFORE_FORK] = "before-fork",
	[PMP_HOLDER_ENDED] = "ended",	  [PMP_HOLDER_UNCHECKED] = "",
};

const char *pmp_wait_holder_name(const struct pmp_wait *wait)
{
	return wait->holder_is < PMP_HOLDER_COUNT ? holders[wait->holder_is] : "";
}

bool pmp_object_name(const struct pmp_object *object, struct pmp_buf *buf)
{
	if (!object->symbol)
		return false;
	pmp_buf_puts(buf, object->symbol);
	if (object->offset)
		pmp_buf_printf(buf, "+0x%" PRIx64, object->offset);
	return true;
}

static const char *last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

void pmp_object_place(const struct pmp_object *object, struct pmp_buf *buf)
{
	switch (object->in) {
	case PMP_IN_NOTHING: break;
	case PMP_IN_HEAP: pmp_buf_puts(buf, "in the heap"); break;
	case PMP_IN_STACK:
		pmp_buf_printf(buf, "on the stack of %d", (int)object->stack_of);
		break;
	case PMP_IN_SHARED:
		pmp_buf_puts(buf, "in shared memory ");
		pmp_buf_puts(buf, object->module);
		break;
	case PMP_IN_MODULE:
		pmp_buf_puts(buf, "in ");
		pmp_buf_puts(buf, last_part(object->module));
		if (!object->symbol)
			pmp_buf_printf(buf, "+0x%" PRIx64, object->offset);
		break;
	}
}

void pmp_wait_meaning(struct pmp_buf *buf, const struct pmp_named_wait *named)
{
	if (!named->meaning)
		return;
	pmp_buf_puts(buf, " (");
	pmp_escape_buf(buf, named->meaning, strlen(named->meaning));
	pmp_buf_putc(buf, ')');
}

void pmp_wait_said(struct pmp_buf *buf, const char *before, const struct pmp_said *said,
		   const char *after)
{
	if (said->what == PMP_SAYS_ARRIVED)
		pmp_buf_printf(buf, "%s%" PRIu32 " of %" PRIu32 " %s come%s", before,
			       said->count, said->of, said->count == 1 ? "has" : "have",
			       after);
	else if (said->what == PMP_SAYS_VALUE)
		pmp_buf_printf(buf, "%sits value is %" PRIu32 "%s", before, said->count,
			       after);
}

void pmp_wait_taker(struct pmp_buf *buf, const char *before,
		    const struct pmp_wait_graph *graph, size_t node)
{
	const struct pmp_snapshot *snapshot = graph->report->snapshot;
	uint64_t time;
	pid_t tid = pmp_named_taker(snapshot, &snapshot->rows[node],
				    &graph->nodes[node].named, &time);
	size_t taker = tid ? pmp_wait_graph_thread(graph, tid) : PMP_NO_THREAD;
	const char *name;

	if (taker == PMP_NO_THREAD)
		return;
	name = snapshot->rows[taker].thread->name;
	pmp_buf_printf(buf, "%sinferred: %d \"", before, (int)tid);
	pmp_escape_buf(buf, name, strlen(name));
	pmp_buf_printf(buf, "\" took it in the last %.1f s",
		       (double)time / (double)PMP_S);
}

bool pmp_wait_shows_outside(const struct pmp_named_wait *named)
{
	return pmp_wait_has_peers(named->wait.kind) ||
	       (pmp_wait_is_outside(named->wait.kind) && !named->lock);
}

void pmp_wait_object(struct pmp_buf *buf, const struct pmp_wait_graph *graph, size_t node)
{
	const struct pmp_row *row = &graph->report->snapshot->rows[node];
	const struct pmp_wait_node *waiter = &graph->nodes[node];
	struct pmp_object object;
	struct pmp_buf name = { 0 };
	const struct pmp_outside *what =
		pmp_snapshot_outside(graph->report->snapshot, waiter->wait);

	if (what && pmp_wait_shows_outside(&waiter->named)) {
		pmp_outside_describe(buf, what, waiter->wait, true);
		return;
	}
	pmp_buf_puts(buf, waiter->named.kind);
	if (pmp_report_named_object(graph->report, row, &waiter->named, &object) &&
	    pmp_object_name(&object, &name) && name.length) {
		pmp_buf_putc(buf, ' ');
		pmp_escape_buf(buf, name.data, name.length);
	} else if (waiter->wait->object) {
		pmp_buf_printf(buf, " 0x%" PRIx64, waiter->wait->object);
	}
	buf->failed |= name.failed;
	pmp_buf_free(&name);
	pmp_wait_meaning(buf, &waiter->named);
}

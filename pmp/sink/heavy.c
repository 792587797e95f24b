/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sink/heavy.h"

#include "base/fault.h"
#include "libpmp-program.h"
#include "run/counting.h"
#include "run/loop.h"
#include "say/rights.h"
#include "sink/sink.h"
#include "source/source.h"

#define HEAVY 20000 /* stacks, which take 0.1 s */

static struct pmp_profile_info count(const struct answers *answers)
{
	struct pmp_profile_info info = { .size = sizeof(info) };

	pmp_profile_info(answers->sink->counting->profile, &info);
	return info;
}

bool heavy_is(const struct answers *answers)
{
	return count(answers).distinct > HEAVY;
}

bool heavy_is_heap(const struct answers *answers)
{
	return count(answers).heap_distinct > HEAVY && !PMP_FAULT("heap-in-front");
}

bool heavy_is_any(const struct answers *answers)
{
	return heavy_is(answers) || heavy_is_heap(answers);
}

/* What the writer needs. */
struct alone {
	struct pmp_symbolizer *symbolizer;
	const struct heavy *heavy;
};

/* Runs in the writer, when all names have been looked up. */
static void write_alone(void *arg)
{
	const struct alone *alone = arg;

	pmp_symbolizer_leave_namer(alone->symbolizer);
	alone->heavy->write(alone->heavy->arg);
}

/* Runs in the worker: look up the few names that are still missing. */
static void name_all(void *arg)
{
	pmp_symbolizer_name_all(arg);
}

bool heavy_start(struct answers *answers, struct writer *writer,
		 const struct heavy *heavy)
{
	const struct sink *sink = answers->sink;
	struct alone alone = { sink->counting->symbolizer, heavy };

	if (answers->writers.count == WRITERS_MAX ||
	    !sink->source->calls->may_fork(sink->source->run))
		return false;
	sink->calls->work(sink->run, name_all, alone.symbolizer);
	if (!writers_start(&answers->writers, writer, write_alone, &alone, heavy->result,
			   heavy->size))
		return false;
	if (loop_add(sink->loop, writer->fd, false, heavy->on_written, heavy->ended_arg))
		return true;
	writers_stop(&answers->writers, writer);
	return false;
}

bool heavy_take(struct answers *answers, struct writer *writer, void *result, size_t size)
{
	const unsigned before = answers->writers.missing;
	bool written;

	loop_remove(answers->sink->loop, writer->fd);
	written = writers_take(&answers->writers, writer, result, size);
	if (answers->sink->options->verbose && !before)
		rights_note("what writes large answers", answers->writers.missing);
	return written;
}

void heavy_stop(struct answers *answers, struct writer *writer)
{
	if (!writer->pid)
		return;
	loop_remove(answers->sink->loop, writer->fd);
	writers_stop(&answers->writers, writer);
}

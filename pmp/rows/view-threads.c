/* SPDX-License-Identifier: GPL-2.0-or-later */
/* View 4: threads, what they use and do now. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "libpmp-program.h"
#include "rows/model-rows.h"
#include "rows/model.h"
#include "rows/view-type.h"

static struct pmp_live_thread thread_of(const struct model *model,
					const struct view_row *row)
{
	return model_thread(model, row->thread);
}

static void text_tid(const struct model *model, const struct view_row *row, char *buffer,
		     size_t size)
{
	pid_t tid = thread_of(model, row).tid;

	/* Profiles of other programs have no thread ids. */
	snprintf(buffer, size, tid ? "%d" : "-", (int)tid);
}

static void text_name(const struct model *model, const struct view_row *row, char *buffer,
		      size_t size)
{
	snprintf(buffer, size, "%s", model_name(model, row->group));
}

static void text_cpu(const struct model *model, const struct view_row *row, char *buffer,
		     size_t size)
{
	double share = thread_of(model, row).cpu_share;

	snprintf(buffer, size, share < 0 ? "-" : "%.1f", 100 * share);
}

/* 0.05, 12:34.56, 3h04m */
static void text_time(const struct model *model, const struct view_row *row, char *buffer,
		      size_t size)
{
	uint64_t hundredths = thread_of(model, row).cpu / 10000000;

	/* A thread that ever ran has some; 0 means unknown, as in a core file. */
	if (thread_of(model, row).cpu == 0)
		snprintf(buffer, size, "-");
	else if (hundredths >= UINT64_C(100) * 60 * 100)
		snprintf(buffer, size, "%" PRIu64 "h%02" PRIu64 "m", hundredths / 360000,
			 hundredths / 6000 % 60);
	else
		snprintf(buffer, size, "%" PRIu64 ":%02" PRIu64 ".%02" PRIu64,
			 hundredths / 6000, hundredths / 100 % 60, hundredths % 100);
}

static void text_switches(const struct model *model, const struct view_row *row,
			  char *buffer, size_t size)
{
	double switches = thread_of(model, row).switches;

	snprintf(buffer, size, switches < 0 ? "-" : "%.0f", switches);
}

static void text_call(const struct model *model, const struct view_row *row, char *buffer,
		      size_t size)
{
	struct pmp_live_thread thread = thread_of(model, row);

	/* In a saved profile it may be anything. */
	if (!*thread.syscall || strcmp(thread.syscall, "restart_syscall") == 0)
		snprintf(buffer, size, "%s", *thread.syscall ? "(restarted)" : "-");
	else
		pmp_escape(thread.syscall, buffer, size);
}

static void text_wchan(const struct model *model, const struct view_row *row,
		       char *buffer, size_t size)
{
	struct pmp_live_thread thread = thread_of(model, row);
	bool args = model->settings.wait && thread.obtained != PMP_OBTAINED_UNKNOWN;

	if (model->settings.wait && waits_for_something(model, &thread))
		wait_text(model, &thread, buffer, size);
	else if (args && strcmp(thread.syscall, "futex") == 0)
		snprintf(buffer, size, "0x%" PRIx64, thread.args[0]);
	else if (args && *thread.syscall)
		snprintf(buffer, size, "%" PRIx64 " %" PRIx64 " %" PRIx64, thread.args[0],
			 thread.args[1], thread.args[2]);
	else if (*thread.wchan && strcmp(thread.wchan, "0") != 0)
		pmp_escape(thread.wchan, buffer, size);
	else
		snprintf(buffer, size, "-");
}

static uint64_t order_by_tid(const struct model *model, const struct view_row *row)
{
	return (uint64_t)thread_of(model, row).tid;
}

static uint64_t order_by_cpu(const struct model *model, const struct view_row *row)
{
	return order_descending(thread_of(model, row).cpu_share);
}

static uint64_t order_by_time(const struct model *model, const struct view_row *row)
{
	return ~thread_of(model, row).cpu;
}

static uint64_t order_by_switches(const struct model *model, const struct view_row *row)
{
	return order_descending(thread_of(model, row).switches);
}

static uint64_t order_by_call(const struct model *model, const struct view_row *row)
{
	return order_of_text(thread_of(model, row).syscall);
}

static int compare_call(const struct model *model, const struct view_row *a,
			const struct view_row *b)
{
	return strcmp(thread_of(model, a).syscall, thread_of(model, b).syscall);
}

static uint64_t order_by_wchan(const struct model *model, const struct view_row *row)
{
	return order_of_text(thread_of(model, row).wchan);
}

static int compare_wchan(const struct model *model, const struct view_row *a,
			 const struct view_row *b)
{
	return strcmp(thread_of(model, a).wchan, thread_of(model, b).wchan);
}

/* Compare the names after the leaf. */
static int compare_stack(const struct model *model, const struct view_row *a,
			 const struct view_row *b)
{
	const struct name_chain *one = &model->chains[a->chain];
	const struct name_chain *other = &model->chains[b->chain];

	for (uint32_t i = 0; i < one->count && i < other->count; i++) {
		uint32_t rank =
			names_rank(&model->names, model->names_of_chains[one->first + i]);
		uint32_t than = names_rank(&model->names,
					   model->names_of_chains[other->first + i]);

		if (rank != than)
			return rank < than ? -1 : 1;
	}
	return (one->count > other->count) - (one->count < other->count);
}

enum { TID, PROCESS, NAME, STATE, CPU, TIME, SWITCHES, CALL, WAIT, STACK, COLUMN_COUNT };

static const struct column columns[COLUMN_COUNT] = {
	[TID] = { .title = "TID",
		  .width = 7,
		  .text = text_tid,
		  .order = order_by_tid,
		  .word = "tid",
		  .sort = PMP_SORT_TID },
	[PROCESS] = COLUMN_PROCESS(100),
	[NAME] = { .title = "NAME",
		   .width = 15,
		   .narrow = 44,
		   .flags = COLUMN_LEFT,
		   .text = text_name,
		   .order = order_by_group,
		   .has = has_group,
		   .word = "name",
		   .sort = PMP_SORT_NAME },
	[STATE] = { .title = "ST",
		    .width = 2,
		    .flags = COLUMN_LEFT | COLUMN_BRIEF,
		    .text = text_state,
		    .style = style_state,
		    .order = order_by_state,
		    .word = "state",
		    .sort = PMP_SORT_STATE },
	[CPU] = { .title = "CPU%",
		  .width = 5,
		  .text = text_cpu,
		  .order = order_by_cpu,
		  .word = "cpu",
		  .sort = PMP_SORT_CPU },
	[TIME] = { .title = "TIME",
		   .width = 9,
		   .narrow = 100,
		   .text = text_time,
		   .order = order_by_time,
		   .word = "time" },
	[SWITCHES] = { .title = "SWITCH/s",
		       .width = 8,
		       .narrow = 110,
		       .text = text_switches,
		       .order = order_by_switches,
		       .word = "switches" },
	[CALL] = { .title = "CALL",
		   .width = 15,
		   .narrow = 60,
		   .flags = COLUMN_LEFT,
		   .text = text_call,
		   .order = order_by_call,
		   .compare = compare_call,
		   .word = "call" },
	[WAIT] = { .title = "WAITS IN",
		   .width = 24,
		   .narrow = 90,
		   .flags = COLUMN_LEFT,
		   .text = text_wchan,
		   .order = order_by_wchan,
		   .compare = compare_wchan,
		   .word = "wait" },
	[STACK] = { .title = "STACK (leaf first)",
		    .flags = COLUMN_LEFT,
		    .text = text_chain,
		    .order = order_by_leaf,
		    .compare = compare_stack,
		    .has = has_chain,
		    .word = "stack" },
};

const struct view_type view_threads = {
	.name = "Threads",
	.word = "threads",
	.help = "threads",
	.key = '4',
	.row = ROW_THREAD,
	.steps = { model_prepare, model_threads, model_order },
	.columns = columns,
	.column_count = COLUMN_COUNT,
	.sort = CPU,
};

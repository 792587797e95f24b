/* SPDX-License-Identifier: GPL-2.0-or-later */
/* View 4: threads, what each uses and what it is doing now. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "view.h"

static struct pmp_live_thread thread_of(const struct pmp_view *view, const struct pmp_row *row)
{
	struct pmp_live_thread thread = { .size = sizeof(thread) };

	pmp_live_thread(view->model.live, row->thread, &thread);
	return thread;
}

static void text_tid(const struct pmp_view *view, const struct pmp_row *row, char *buffer,
		     size_t size)
{
	pid_t tid = thread_of(view, row).tid;

	/* Others' profiles do not tell. */
	snprintf(buffer, size, tid ? "%d" : "-", (int)tid);
}

static void text_name(const struct pmp_view *view, const struct pmp_row *row, char *buffer,
		      size_t size)
{
	snprintf(buffer, size, "%s", pmp_model_name(&view->model, row->group));
}

static void text_cpu(const struct pmp_view *view, const struct pmp_row *row, char *buffer,
		     size_t size)
{
	double share = thread_of(view, row).cpu_share;

	snprintf(buffer, size, share < 0 ? "-" : "%.1f", 100 * share);
}

/* 0.05, 12:34.56, 3h04m */
static void text_time(const struct pmp_view *view, const struct pmp_row *row, char *buffer,
		      size_t size)
{
	uint64_t hundredths = thread_of(view, row).cpu / 10000000;

	if (hundredths >= 100u * 60 * 100)
		snprintf(buffer, size, "%" PRIu64 "h%02" PRIu64 "m", hundredths / 360000,
			 hundredths / 6000 % 60);
	else
		snprintf(buffer, size, "%" PRIu64 ":%02" PRIu64 ".%02" PRIu64,
			 hundredths / 6000, hundredths / 100 % 60, hundredths % 100);
}

static void text_switches(const struct pmp_view *view, const struct pmp_row *row,
			  char *buffer, size_t size)
{
	double switches = thread_of(view, row).switches;

	snprintf(buffer, size, switches < 0 ? "-" : "%.0f", switches);
}

static void text_call(const struct pmp_view *view, const struct pmp_row *row, char *buffer,
		      size_t size)
{
	struct pmp_live_thread thread = thread_of(view, row);

	/* A saved profile may say anything. */
	if (!*thread.syscall || strcmp(thread.syscall, "restart_syscall") == 0)
		snprintf(buffer, size, "%s", *thread.syscall ? "(restarted)" : "-");
	else
		pmp_escape(thread.syscall, buffer, size);
}

static void text_wchan(const struct pmp_view *view, const struct pmp_row *row, char *buffer,
		       size_t size)
{
	struct pmp_live_thread thread = thread_of(view, row);
	bool args = view->model.settings.wait && thread.how != PMP_HOW_UNKNOWN;

	if (args && strcmp(thread.syscall, "futex") == 0)
		snprintf(buffer, size, "0x%" PRIx64, thread.args[0]);
	else if (args && *thread.syscall)
		snprintf(buffer, size, "%" PRIx64 " %" PRIx64 " %" PRIx64, thread.args[0],
			 thread.args[1], thread.args[2]);
	else if (*thread.wchan && strcmp(thread.wchan, "0") != 0)
		pmp_escape(thread.wchan, buffer, size);
	else
		snprintf(buffer, size, "-");
}

static uint64_t key_tid(const struct pmp_view *view, const struct pmp_row *row)
{
	return (uint64_t)thread_of(view, row).tid;
}

static uint64_t key_cpu(const struct pmp_view *view, const struct pmp_row *row)
{
	return pmp_key_descending(thread_of(view, row).cpu_share);
}

static uint64_t key_time(const struct pmp_view *view, const struct pmp_row *row)
{
	return ~thread_of(view, row).cpu;
}

static uint64_t key_switches(const struct pmp_view *view, const struct pmp_row *row)
{
	return pmp_key_descending(thread_of(view, row).switches);
}

static uint64_t key_call(const struct pmp_view *view, const struct pmp_row *row)
{
	return pmp_key_text(thread_of(view, row).syscall);
}

static int compare_call(const struct pmp_view *view, const struct pmp_row *a,
			const struct pmp_row *b)
{
	return strcmp(thread_of(view, a).syscall, thread_of(view, b).syscall);
}

static uint64_t key_wchan(const struct pmp_view *view, const struct pmp_row *row)
{
	return pmp_key_text(thread_of(view, row).wchan);
}

static int compare_wchan(const struct pmp_view *view, const struct pmp_row *a,
			 const struct pmp_row *b)
{
	return strcmp(thread_of(view, a).wchan, thread_of(view, b).wchan);
}

/* The names behind the leaf. */
static int compare_stack(const struct pmp_view *view, const struct pmp_row *a,
			 const struct pmp_row *b)
{
	const struct pmp_model *model = &view->model;
	const struct pmp_chain *one = &model->chains[a->chain];
	const struct pmp_chain *other = &model->chains[b->chain];

	for (uint32_t i = 0; i < one->count && i < other->count; i++) {
		uint32_t rank = pmp_names_rank(&model->names,
					       model->names_of_chains[one->first + i]);
		uint32_t than = pmp_names_rank(&model->names,
					       model->names_of_chains[other->first + i]);

		if (rank != than)
			return rank < than ? -1 : 1;
	}
	return (one->count > other->count) - (one->count < other->count);
}

static const struct pmp_column columns[] = {
	{ "TID", 7, 0, 0, text_tid, .key = key_tid },
	{ "PROCESS", 15, PMP_COLUMN_LEFT | PMP_COLUMN_SEVERAL, 100, pmp_text_process, .look = NULL },
	{ "NAME", 15, PMP_COLUMN_LEFT, 44, text_name, .key = pmp_key_group,
	  .has = pmp_has_group },
	{ "ST", 2, PMP_COLUMN_LEFT | PMP_COLUMN_BRIEF, 0, pmp_text_state, pmp_look_state,
	  .key = pmp_key_state },
	{ "CPU%", 5, 0, 0, text_cpu, .key = key_cpu },
	{ "TIME", 9, 0, 100, text_time, .key = key_time },
	{ "SWITCH/s", 8, 0, 110, text_switches, .key = key_switches },
	{ "CALL", 15, PMP_COLUMN_LEFT, 60, text_call, .key = key_call,
	  .compare = compare_call },
	{ "WAITS IN", 18, PMP_COLUMN_LEFT, 90, text_wchan, .key = key_wchan,
	  .compare = compare_wchan },
	{ "STACK (leaf first)", 0, PMP_COLUMN_LEFT, 0, pmp_text_chain, .key = pmp_key_leaf,
	  .compare = compare_stack, .has = pmp_has_chain },
};

const struct pmp_view_type pmp_view_threads = {
	"Threads", columns, sizeof(columns) / sizeof(*columns), 4,
};

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

static int compare_tid(const struct pmp_view *view, const struct pmp_row *a,
		       const struct pmp_row *b)
{
	pid_t one = thread_of(view, a).tid, other = thread_of(view, b).tid;

	return (one > other) - (one < other);
}

static int compare_cpu(const struct pmp_view *view, const struct pmp_row *a,
		       const struct pmp_row *b)
{
	double one = thread_of(view, a).cpu_share, other = thread_of(view, b).cpu_share;

	return (one < other) - (one > other);
}

static int compare_time(const struct pmp_view *view, const struct pmp_row *a,
			const struct pmp_row *b)
{
	uint64_t one = thread_of(view, a).cpu, other = thread_of(view, b).cpu;

	return (one < other) - (one > other);
}

static int compare_switches(const struct pmp_view *view, const struct pmp_row *a,
			    const struct pmp_row *b)
{
	double one = thread_of(view, a).switches, other = thread_of(view, b).switches;

	return (one < other) - (one > other);
}

static int compare_call(const struct pmp_view *view, const struct pmp_row *a,
			const struct pmp_row *b)
{
	return strcmp(thread_of(view, a).syscall, thread_of(view, b).syscall);
}

static int compare_wchan(const struct pmp_view *view, const struct pmp_row *a,
			 const struct pmp_row *b)
{
	return strcmp(thread_of(view, a).wchan, thread_of(view, b).wchan);
}

static int compare_leaf(const struct pmp_view *view, const struct pmp_row *a,
			const struct pmp_row *b)
{
	char one[PMP_VIEW_TEXT], other[PMP_VIEW_TEXT];

	pmp_text_chain(view, a, one, sizeof(one));
	pmp_text_chain(view, b, other, sizeof(other));
	return strcmp(one, other);
}

static const struct pmp_column columns[] = {
	{ "TID", 7, 0, 0, text_tid, compare_tid, NULL },
	{ "PROCESS", 15, PMP_COLUMN_LEFT | PMP_COLUMN_SEVERAL, 100, pmp_text_process, NULL,
	  NULL },
	{ "NAME", 15, PMP_COLUMN_LEFT, 44, text_name, pmp_compare_group, NULL },
	{ "ST", 2, PMP_COLUMN_LEFT, 0, pmp_text_state, pmp_compare_state, pmp_look_state },
	{ "CPU%", 5, 0, 0, text_cpu, compare_cpu, NULL },
	{ "TIME", 9, 0, 100, text_time, compare_time, NULL },
	{ "SWITCH/s", 8, 0, 110, text_switches, compare_switches, NULL },
	{ "CALL", 15, PMP_COLUMN_LEFT, 60, text_call, compare_call, NULL },
	{ "WAITS IN", 18, PMP_COLUMN_LEFT, 90, text_wchan, compare_wchan, NULL },
	{ "STACK (leaf first)", 0, PMP_COLUMN_LEFT, 0, pmp_text_chain, compare_leaf, NULL },
};

const struct pmp_view_type pmp_view_threads = {
	"Threads", columns, sizeof(columns) / sizeof(*columns), 4,
};

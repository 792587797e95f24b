/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Columns that several views have. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "view.h"

#define FIRST_ADDRESS 65536 /* arguments below are numbers, descriptors most likely */

static int descending(uint64_t a, uint64_t b)
{
	return (a < b) - (a > b);
}

int pmp_compare_count(const struct pmp_view *view, const struct pmp_row *a,
		      const struct pmp_row *b)
{
	(void)view;
	return descending(a->count, b->count);
}

int pmp_compare_self(const struct pmp_view *view, const struct pmp_row *a,
		     const struct pmp_row *b)
{
	(void)view;
	return a->self == b->self ? descending(a->count, b->count)
				  : descending(a->self, b->self);
}

int pmp_compare_group(const struct pmp_view *view, const struct pmp_row *a,
		      const struct pmp_row *b)
{
	return strcmp(pmp_model_name(&view->model, a->group),
		      pmp_model_name(&view->model, b->group));
}

/* Those that do something first: R D L, then the others. */
static int rank(char state)
{
	const char *order = "RDLSTtIZX", *at = strchr(order, state);

	return at ? (int)(at - order) : 99;
}

int pmp_compare_state(const struct pmp_view *view, const struct pmp_row *a,
		      const struct pmp_row *b)
{
	int difference = rank(a->state) - rank(b->state);

	return difference ? difference : pmp_compare_count(view, a, b);
}

int pmp_compare_name(const struct pmp_view *view, const struct pmp_row *a,
		     const struct pmp_row *b)
{
	return strcmp(pmp_model_name(&view->model, a->name),
		      pmp_model_name(&view->model, b->name));
}

static void share(const struct pmp_view *view, uint64_t count, double average, char *buffer,
		  size_t size)
{
	const struct pmp_model *model = &view->model;

	if (model->settings.average)
		snprintf(buffer, size, average >= 100 ? "%.0f" : "%.1f", average);
	else
		snprintf(buffer, size, "%.1f",
			 model->total ? 100.0 * (double)count / (double)model->total : 0);
}

void pmp_text_share(const struct pmp_view *view, const struct pmp_row *row, char *buffer,
		    size_t size)
{
	share(view, row->count, row->average, buffer, size);
}

void pmp_text_self_share(const struct pmp_view *view, const struct pmp_row *row, char *buffer,
			 size_t size)
{
	share(view, row->self, row->self_average, buffer, size);
}

void pmp_text_count(const struct pmp_view *view, const struct pmp_row *row, char *buffer,
		    size_t size)
{
	if (view->about.unit && *view->about.unit)
		pmp_amount(row->count, view->about.unit, buffer, size);
	else
		snprintf(buffer, size, "%" PRIu64, row->count);
}

void pmp_text_state(const struct pmp_view *view, const struct pmp_row *row, char *buffer,
		    size_t size)
{
	(void)view;
	snprintf(buffer, size, "%c", row->state ? row->state : '?');
}

void pmp_text_process(const struct pmp_view *view, const struct pmp_row *row, char *buffer,
		      size_t size)
{
	struct pmp_live_process process = { .size = sizeof(process) };
	char name[64];

	snprintf(buffer, size, "(several)");
	if (row->process == PMP_NAME_NONE || !view->model.live)
		return;
	pmp_live_process(view->model.live, row->process, &process);
	snprintf(buffer, size, "%d %s", (int)process.pid,
		 pmp_escape(process.name, name, sizeof(name)));
}

void pmp_text_chain(const struct pmp_view *view, const struct pmp_row *row, char *buffer,
		    size_t size)
{
	pmp_model_chain(&view->model, row->chain, buffer, size);
}

char *pmp_view_wait(const struct pmp_live_thread *thread, char *buffer, size_t size)
{
	bool args = thread->how != PMP_HOW_UNKNOWN;
	char wchan[64] = "";

	buffer[0] = '\0';
	if (strcmp(thread->wchan, "0") != 0)
		pmp_escape(thread->wchan, wchan, sizeof(wchan));
	/* The kernel's way to go on with a call that was interrupted: its name and arguments
	 * are not those of the call. */
	if (strcmp(thread->syscall, "restart_syscall") == 0)
		snprintf(buffer, size, "%s", *wchan ? "" : thread->syscall);
	else if (!args)
		pmp_escape(thread->syscall, buffer, size);
	else if (strcmp(thread->syscall, "futex") == 0)
		snprintf(buffer, size, "futex 0x%" PRIx64, thread->args[0]);
	else if (*thread->syscall)
		snprintf(buffer, size,
			 thread->args[0] < FIRST_ADDRESS ? "%s(%" PRIu64 ")" :
							   "%s(0x%" PRIx64 ")",
			 thread->syscall, thread->args[0]);
	if (*wchan)
		snprintf(buffer + strlen(buffer), size - strlen(buffer), "%s%s",
			 *buffer ? " " : "", wchan);
	return buffer;
}

void pmp_text_wait(const struct pmp_view *view, const struct pmp_row *row, char *buffer,
		   size_t size)
{
	struct pmp_live_thread thread = { .size = sizeof(thread) };

	buffer[0] = '\0';
	if (!view->model.live || row->thread >= pmp_live_thread_count(view->model.live))
		return;
	pmp_live_thread(view->model.live, row->thread, &thread);
	if (thread.stack == row->stack)
		pmp_view_wait(&thread, buffer, size);
}

unsigned pmp_look_state(const struct pmp_view *view, const struct pmp_row *row)
{
	(void)view;
	switch (row->state) {
	case 'R': return PMP_LOOK_GREEN;
	case 'D': return PMP_LOOK_RED;
	case 'L': return PMP_LOOK_YELLOW;
	default: return PMP_LOOK_PLAIN;
	}
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Columns that several views have. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "view.h"

#define FIRST_ADDRESS 65536 /* arguments below are numbers, descriptors most likely */

/* ---- what rows are sorted by ------------------------------------------------------- */

uint64_t pmp_key_descending(double value)
{
	/* Unknown ones are negative, and come last. */
	return ~(uint64_t)((value < 0 ? 0 : value * 1e6 + 1));
}

uint64_t pmp_key_text(const char *text)
{
	uint64_t key = 0;

	for (int i = 0; i < 8; i++) {
		key = key << 8 | (unsigned char)*text;
		text += *text != '\0';
	}
	return key;
}

uint64_t pmp_key_count_of(const struct pmp_view *view, const struct pmp_row *row)
{
	(void)view;
	return ~row->count;
}

uint64_t pmp_key_self(const struct pmp_view *view, const struct pmp_row *row)
{
	(void)view;
	return ~row->self;
}

uint64_t pmp_key_group(const struct pmp_view *view, const struct pmp_row *row)
{
	return pmp_names_rank(&view->model.names, row->group);
}

/* Those that do something first: R D L, then the others. */
uint64_t pmp_key_state(const struct pmp_view *view, const struct pmp_row *row)
{
	const char *order = "RDLSTtIZX", *at = row->state ? strchr(order, row->state) : NULL;

	(void)view;
	return at ? (uint64_t)(at - order) : 99;
}

uint64_t pmp_key_name(const struct pmp_view *view, const struct pmp_row *row)
{
	return pmp_names_rank(&view->model.names, row->name);
}

uint64_t pmp_key_leaf(const struct pmp_view *view, const struct pmp_row *row)
{
	const struct pmp_model *model = &view->model;
	const struct pmp_chain *chain = &model->chains[row->chain];

	/* Those without any first. */
	return chain->count ? 1 + (uint64_t)pmp_names_rank(&model->names,
					model->names_of_chains[chain->first])
			    : 0;
}

/* ---- what is searched in them ------------------------------------------------------- */

bool pmp_has_group(struct pmp_view *view, const struct pmp_row *row)
{
	return pmp_search_has_name(view, row->group);
}

bool pmp_has_name(struct pmp_view *view, const struct pmp_row *row)
{
	return pmp_search_has_name(view, row->name);
}

bool pmp_has_chain(struct pmp_view *view, const struct pmp_row *row)
{
	const struct pmp_model *model = &view->model;
	const struct pmp_chain *chain = &model->chains[row->chain];
	char text[PMP_VIEW_TEXT];

	for (uint32_t i = 0; i < chain->count; i++) {
		if (pmp_search_has_name(view, model->names_of_chains[chain->first + i]))
			return true;
	}
	/* Of several functions: a<b. */
	if (!strchr(view->search.text, '<'))
		return false;
	pmp_text_chain(view, row, text, sizeof(text));
	return pmp_filter_matches(view->search.filter, PMP_FILTER_FOCUS, text);
}

/* ---- what is shown ------------------------------------------------------------------- */

static void share(const struct pmp_view *view, uint64_t count, double average, char *buffer,
		  size_t size)
{
	const struct pmp_model *model = &view->model;

	if (model->settings.average)
		snprintf(buffer, size, average >= 100 ? "%.0f" : "%.1f", average);
	else
		snprintf(buffer, size, "%.1f",
			 model->list.total ? 100.0 * (double)count / (double)model->list.total : 0);
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

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Columns shared by several views. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "libpmp-program.h"
#include "rows/model.h"
#include "rows/view-type.h"

#define FIRST_ADDRESS 65536 /* smaller arguments are numbers, mostly descriptors */

/* ---- sorting ----------------------------------------------------------------------- */

uint64_t order_descending(double value)
{
	/* Unknown values are negative and come last; huge ones all come first. */
	if (!(value >= 0))
		return UINT64_MAX;
	return value < 1e12 ? ~(uint64_t)(value * 1e6 + 1) : 0;
}

uint64_t order_of_text(const char *text)
{
	uint64_t key = 0;

	for (int i = 0; i < 8; i++) {
		key = key << 8 | (unsigned char)*text;
		text += *text != '\0';
	}
	return key;
}

uint64_t order_by_count(const struct model *model, const struct view_row *row)
{
	(void)model;
	return ~row->count;
}

uint64_t order_by_self(const struct model *model, const struct view_row *row)
{
	(void)model;
	return ~row->self;
}

uint64_t order_by_group(const struct model *model, const struct view_row *row)
{
	return names_rank(&model->names, row->group);
}

/* Active ones first: R D L, then the others. */
uint64_t order_by_state(const struct model *model, const struct view_row *row)
{
	const char *order = "RDLSTtIZX",
		   *at = row->state ? strchr(order, row->state) : NULL;

	(void)model;
	return at ? (uint64_t)(at - order) : 99;
}

uint64_t order_by_name(const struct model *model, const struct view_row *row)
{
	return names_rank(&model->names, row->name);
}

uint64_t order_by_leaf(const struct model *model, const struct view_row *row)
{
	const struct name_chain *chain = &model->chains[row->chain];

	/* Empty stacks first. */
	return chain->count
		       ? 1 + (uint64_t)names_rank(&model->names,
						  model->names_of_chains[chain->first])
		       : 0;
}

/* ---- searching --------------------------------------------------------------------- */

bool model_finds_name(struct model *model, const struct search *search, uint32_t number)
{
	struct name *name;

	if (number >= model->names.count)
		return false;
	name = &model->names.names[number];
	if (name->searched != search->number)
		name->found = pmp_filter_matches(search->match.filter, PMP_FILTER_FOCUS,
						 model_name(model, number));
	name->searched = search->number;
	return name->found;
}

bool has_group(struct model *model, const struct search *search,
	       const struct view_row *row)
{
	return model_finds_name(model, search, row->group);
}

bool has_name(struct model *model, const struct search *search,
	      const struct view_row *row)
{
	return model_finds_name(model, search, row->name);
}

bool has_chain(struct model *model, const struct search *search,
	       const struct view_row *row)
{
	const struct name_chain *chain = &model->chains[row->chain];
	char text[ROW_TEXT];

	for (uint32_t i = 0; i < chain->count; i++) {
		if (model_finds_name(model, search,
				     model->names_of_chains[chain->first + i]))
			return true;
	}
	/* A pattern for several functions: a<b. */
	if (!strchr(search->match.text, '<'))
		return false;
	text_chain(model, row, text, sizeof(text));
	return pmp_filter_matches(search->match.filter, PMP_FILTER_FOCUS, text);
}

/* ---- texts ------------------------------------------------------------------------- */

static void share(const struct model *model, uint64_t count, double average, char *buffer,
		  size_t size)
{
	if (model_shows_average(model))
		snprintf(buffer, size, average >= 100 ? "%.0f" : "%.1f", average);
	else
		snprintf(buffer, size, "%.1f",
			 model->list.total
				 ? 100.0 * (double)count / (double)model->list.total
				 : 0);
}

void text_share(const struct model *model, const struct view_row *row, char *buffer,
		size_t size)
{
	share(model, row->count, row->average, buffer, size);
}

void text_self_share(const struct model *model, const struct view_row *row, char *buffer,
		     size_t size)
{
	share(model, row->self, row->self_average, buffer, size);
}

void text_count(const struct model *model, const struct view_row *row, char *buffer,
		size_t size)
{
	if (*model->unit)
		pmp_format_value(row->count, model->unit, buffer, size);
	else
		snprintf(buffer, size, "%" PRIu64, row->count);
}

void text_state(const struct model *model, const struct view_row *row, char *buffer,
		size_t size)
{
	(void)model;
	snprintf(buffer, size, "%c", row->state ? row->state : '?');
}

void text_process(const struct model *model, const struct view_row *row, char *buffer,
		  size_t size)
{
	struct pmp_live_process process = { .size = sizeof(process) };
	char name[64];

	snprintf(buffer, size, "(several)");
	if (row->process == NAME_NONE || !model->live)
		return;
	pmp_live_process(model->live, row->process, PMP_WINDOW_START, &process);
	snprintf(buffer, size, "%d %s", (int)process.pid,
		 pmp_escape(process.name, name, sizeof(name)));
}

void text_chain(const struct model *model, const struct view_row *row, char *buffer,
		size_t size)
{
	model_chain(model, row->chain, buffer, size);
}

char *thread_wait(const struct pmp_live_thread *thread, char *buffer, size_t size)
{
	bool args = thread->obtained != PMP_OBTAINED_UNKNOWN;
	char wchan[64] = "";

	buffer[0] = '\0';
	if (strcmp(thread->wchan, "0") != 0)
		pmp_escape(thread->wchan, wchan, sizeof(wchan));
	/* The kernel uses it to continue an interrupted call: name and arguments are not
	 * those of the call. */
	if (strcmp(thread->syscall, "restart_syscall") == 0)
		snprintf(buffer, size, "%s", *wchan ? "" : thread->syscall);
	else if (!args)
		pmp_escape(thread->syscall, buffer, size);
	else if (strcmp(thread->syscall, "futex") == 0)
		snprintf(buffer, size, "futex 0x%" PRIx64, thread->args[0]);
	else if (*thread->syscall)
		snprintf(buffer, size,
			 thread->args[0] < FIRST_ADDRESS ? "%s(%" PRIu64 ")"
							 : "%s(0x%" PRIx64 ")",
			 thread->syscall, thread->args[0]);
	if (*wchan)
		snprintf(buffer + strlen(buffer), size - strlen(buffer), "%s%s",
			 *buffer ? " " : "", wchan);
	return buffer;
}

char *wait_text(const struct model *model, const struct pmp_live_thread *thread,
		char *buffer, size_t size)
{
	const struct stack_wait *says = wait_says(model, thread->stack, thread->kind);
	struct pmp_live_lock lock = { .kind = "", .name = "" };
	char text[256], holder[64];

	if (!waits_for_something(model, thread))
		return thread_wait(thread, buffer, size);
	if (thread->lock != SIZE_MAX)
		lock = lock_of(model, thread->lock, says ? says->moved : 0, text,
			       sizeof(text));
	holder_text(model, thread, holder, sizeof(holder));
	if (thread->outside != SIZE_MAX)
		thread_lock_text(model, thread, false, buffer, size);
	else if (says && says->meaning != NAME_NONE)
		snprintf(buffer, size, "%s", model_name(model, says->meaning));
	else if (*lock.name)
		snprintf(buffer, size, "%s", lock.name);
	else if (lock.address && !(says && says->placeless))
		snprintf(buffer, size, "0x%" PRIx64, lock.address);
	else
		pmp_escape(says ? says->kind : lock.kind, buffer, size);
	if (strcmp(holder, "-") != 0)
		snprintf(buffer + strlen(buffer), size - strlen(buffer), " %s", holder);
	return buffer;
}

void text_wait(const struct model *model, const struct view_row *row, char *buffer,
	       size_t size)
{
	struct pmp_live_thread thread;

	buffer[0] = '\0';
	if (!model->live || row->thread >= pmp_live_thread_count(model->live))
		return;
	thread = model_thread(model, row->thread);
	if (thread.stack == row->stack)
		wait_text(model, &thread, buffer, size);
}

unsigned style_state(const struct model *model, const struct view_row *row)
{
	(void)model;
	switch (row->state) {
	case 'R': return STYLE_GREEN;
	case 'D': return STYLE_RED;
	case 'L': return STYLE_YELLOW;
	default: return STYLE_PLAIN;
	}
}

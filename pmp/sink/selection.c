/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sink/selection.h"

#include <stdio.h>

static bool is_empty(const struct selection *selection)
{
	return !*selection->focus && !*selection->ignore && !*selection->thread &&
	       !*selection->group && !selection->tid && !selection->idle;
}

/* A parameter with an expression. */
struct selected {
	const char *name, *text;
	enum pmp_filter_kind kind;
};

static int add(struct pmp_filter *filter, const struct selected *selected,
	       struct pmp_error *err)
{
	struct pmp_error why;
	int code;

	if (!*selected->text)
		return 0;
	code = pmp_filter_add(filter, selected->kind, selected->text, &why);
	if (code == 0)
		return 0;
	*err = (struct pmp_error){ .code = code };
	snprintf(err->message, sizeof(err->message),
		 "%s is not a regular expression: %.300s", selected->name, why.message);
	return code;
}

static int add_all(struct pmp_filter *filter, const struct selection *selection,
		   struct pmp_error *err)
{
	const struct selected all[] = {
		{ "focus", selection->focus, PMP_FILTER_WITHIN },
		{ "ignore", selection->ignore, PMP_FILTER_IGNORE },
		{ "thread", selection->thread, PMP_FILTER_THREAD },
		{ "group", selection->group, PMP_FILTER_GROUP },
	};
	int code = 0;

	for (size_t i = 0; i < sizeof(all) / sizeof(*all) && code == 0; i++)
		code = add(filter, &all[i], err);
	return code;
}

int selection_filter(const struct selection *selection, const struct pmp_filter *run,
		     bool groups, pid_t pid, struct pmp_filter **filter,
		     struct pmp_error *err)
{
	struct pmp_filter_options options = { .size = sizeof(options) };
	int code;

	*filter = NULL;
	if (is_empty(selection) && !groups && !pid)
		return 0;
	code = pmp_filter_copy(run, filter, err);
	if (code)
		return code;
	pmp_filter_get(run, &options);
	options.groups |= groups;
	options.pid = pid;
	options.tid = (pid_t)selection->tid;
	if (selection->idle)
		options.idle = (enum pmp_idle)(selection->idle - 1);
	options.of_strangers = true;
	pmp_filter_set(*filter, &options);
	code = add_all(*filter, selection, err);
	if (code == 0)
		return 0;
	pmp_filter_free(*filter);
	*filter = NULL;
	return code;
}

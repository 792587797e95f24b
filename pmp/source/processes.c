/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See processes.h. */
#include "source/processes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fault.h"
#include "libpmp-program.h"
#include "options/user.h"
#include "say/message.h"

#define USERS_SHOWN 4

static int no_memory(void)
{
	message_print(NULL, "not enough memory for the list of processes");
	return PMP_EXIT_FAILED;
}

/* How many of the first `end` processes belong to this user? */
static size_t count_of(const struct found_processes *found, size_t end, uid_t user)
{
	size_t count = 0;

	for (size_t i = 0; i < end; i++)
		count += found->list[i].user == user;
	return count;
}

/* text: "mysql (1), backup (2)"; name: one of these users. */
static void list_users(const struct found_processes *found, char *text, size_t size,
		       char name[USER_NAME_SIZE])
{
	size_t length = 0, shown = 0;

	for (size_t i = 0; i < found->count; i++) {
		uid_t user = found->list[i].user;

		if (count_of(found, i, user))
			continue;
		if (shown++ == USERS_SHOWN) {
			snprintf(text + length, size - length, ", ...");
			return;
		}
		user_name(user, name);
		length += (size_t)snprintf(text + length, size - length, "%s%s (%zu)",
					   length ? ", " : "", name,
					   count_of(found, found->count, user));
	}
}

/* Processes of several users match: tell the caller, and give each user its own %n, so that
 * they do not share files. */
static void tell_users_apart(const struct options *options, struct found_processes *found)
{
	char text[USERS_SHOWN * (USER_NAME_SIZE + 32)], hint[USER_NAME_SIZE + 64],
		name[USER_NAME_SIZE];

	list_users(found, text, sizeof(text), name);
	snprintf(hint, sizeof(hint), "--user %s takes those of one user only", name);
	message_note(hint, "processes of several users match '%s': %s", options->name,
		     text);
	for (size_t i = 0; i < found->count; i++) {
		struct found_process *process = &found->list[i];
		char label[sizeof(process->name)];
		int n;

		user_name(process->user, name);
		n = snprintf(label, sizeof(label), "%.*s-%s",
			     (int)(sizeof(label) - 2 - strlen(name)), process->name,
			     name);
		if (n > 0)
			memcpy(process->name, label, sizeof(label));
	}
}

/* ---- by name ---------------------------------------------------------------------- */

static bool belongs(const struct options *options, const struct pmp_found_process *found)
{
	return !options->has_user || PMP_FAULT("any-user") ||
	       (found->user == options->user && !found->changed_user);
}

/* Add a process that has matched, if it still matches and belongs to the user of --user. */
static int add_found(const struct options *options, pid_t pid, struct id_list *pids,
		     struct found_processes *found)
{
	struct pmp_found_process info = { .size = sizeof(info) };
	struct found_process *list;
	struct pmp_error err;

	if (pmp_find_process(options->name, pid, &info, &err) < 0 ||
	    !belongs(options, &info))
		return 0;
	list = reallocarray(found->list, found->count + 1, sizeof(*list));
	if (!list || !id_list_add(pids, pid)) {
		found->list = list ? list : found->list;
		return no_memory();
	}
	found->list = list;
	list += found->count++;
	*list = (struct found_process){ .pid = pid,
					.user = info.user,
					.started = info.started };
	memcpy(list->name, info.name, sizeof(list->name));
	return 0;
}

static void say_absent(const struct options *options)
{
	char name[USER_NAME_SIZE];

	if (!options->has_user) {
		message_absent("no process has a name that matches '%s'", options->name);
		return;
	}
	user_name(options->user, name);
	message_absent("no process of %s has a name that matches '%s'", name,
		       options->name);
}

static int add_named(const struct options *options, struct id_list *pids,
		     struct found_processes *found)
{
	struct pmp_error err = { 0 };
	pid_t *matches = NULL;
	int count = pmp_find_processes(options->name, &matches, &err), status = 0;

	if (count < 0) {
		message_error(&err);
		return message_status(count);
	}
	for (int i = 0; i < count && !status; i++)
		status = add_found(options, matches[i], pids, found);
	free(matches);
	if (status)
		return status;
	if (found->count == 0) {
		say_absent(options);
		return PMP_EXIT_GONE;
	}
	if (count_of(found, found->count, found->list[0].user) < found->count)
		tell_users_apart(options, found);
	return 0;
}

/* ---- all of them ------------------------------------------------------------------ */

int find_targets(const struct options *options, struct id_list *pids,
		 struct found_processes *found)
{
	for (size_t i = 0; i < options->pids.count; i++) {
		if (!id_list_add(pids, options->pids.ids[i]))
			return no_memory();
	}
	for (size_t i = 0; i < options->tids.count; i++) {
		pid_t process = pmp_thread_process(options->tids.ids[i]);

		if (!id_list_add(pids, process ? process : options->tids.ids[i]))
			return no_memory();
	}
	return options->name ? add_named(options, pids, found) : 0;
}

void found_processes_free(struct found_processes *found)
{
	free(found->list);
	*found = (struct found_processes){ 0 };
}

const struct found_process *found_process(const struct found_processes *found, pid_t pid)
{
	for (size_t i = 0; found && i < found->count; i++) {
		if (found->list[i].pid == pid)
			return &found->list[i];
	}
	return NULL;
}

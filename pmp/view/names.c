/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names, each once. C++ names are cut down to what people call a function by: a row
 * has room for little more.
 */
#include "names.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "libpmp.h"

#define NAME_SIZE 8192 /* what is longer is cut off */
#define ELLIPSIS "\u2026"

/* Parts of names. Waiting for a lock is more telling than being asleep. */
static const char *const lock_names[] = {
	"lll_lock_wait",     "mutex_lock",	  "mutex_timedlock", "rwlock_rdlock",
	"rwlock_wrlock",     "rwlock_timedrdlock", "rwlock_timedwrlock",
	"rwlock_clockrdlock", "rwlock_clockwrlock", "futex_lock_pi",
};

/* Calls in which a thread waits for work: asleep there it is idle. */
static const char *const waiting_calls[] = {
	"accept",	"accept4",	  "clock_nanosleep", "epoll_pwait",
	"epoll_pwait2", "epoll_wait",	  "futex",	     "futex_wait",
	"io_getevents", "io_pgetevents", "io_uring_enter",  "mq_timedreceive",
	"msgrcv",	"nanosleep",	  "pause",	     "poll",
	"ppoll",	"pselect6",	  "read",	     "recvfrom",
	"recvmmsg",	"recvmsg",	  "restart_syscall", "rt_sigsuspend",
	"rt_sigtimedwait", "select",	  "semop",	     "semtimedop",
	"wait4",	"waitid",
};

/* The functions that make them, without leading underscores, when the call is unknown. */
static const char *const waiting_names[] = {
	"accept",	  "clock_nanosleep", "epoll_pwait",   "epoll_wait",
	"futex_abstimed_wait_common", "futex_abstimed_wait_common64", "io_getevents",
	"nanosleep",	  "pause",	     "poll",	      "ppoll",
	"pselect",	  "pthread_cond_wait", "pthread_cond_timedwait", "recvfrom",
	"recvmsg",	  "recv",	     "select",	      "sem_wait",
	"sigtimedwait",	  "sigwait",	     "sigwaitinfo",   "sleep",
	"usleep",	  "wait4",	     "waitpid",	      "libc_poll",
	"futex_abstimed_wait_cancelable64", "libc_accept", "libc_recv", "read",
	"libc_read",	  "syscall_cancel_arch",
};

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

static bool is_one_of(const char *name, const char *const *words, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (strcmp(name, words[i]) == 0)
			return true;
	}
	return false;
}

bool pmp_names_waiting_call(const char *syscall)
{
	return is_one_of(syscall, waiting_calls, COUNT(waiting_calls));
}

static bool waits_for_lock(const char *name)
{
	for (size_t i = 0; i < COUNT(lock_names); i++) {
		if (strstr(name, lock_names[i]))
			return true;
	}
	return false;
}

static bool waits_for_work(const char *name)
{
	while (*name == '_')
		name++;
	if (strncmp(name, "GI_", 3) == 0)
		name += 3 + strspn(name + 3, "_");
	return is_one_of(name, waiting_names, COUNT(waiting_names));
}

/* ---- shortening -------------------------------------------------------------- */

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '$';
}

/* The length of "operator" with its symbol at name: <<, (), ->, new[], ... or 0. */
static size_t operator_length(const char *begin, const char *name)
{
	const char *at = name + strlen("operator");

	if (strncmp(name, "operator", strlen("operator")) != 0 || is_word(*at) ||
	    (name > begin && is_word(name[-1])))
		return 0;
	if (strncmp(at, "()", 2) == 0 || strncmp(at, "[]", 2) == 0)
		return (size_t)(at - name) + 2;
	if (*at == ' ') { /* a conversion, new, delete */
		at += strcspn(at, "(<");
		return (size_t)(at - name);
	}
	at += strspn(at, "<>=!+-*/%^&|~,");
	return (size_t)(at - name);
}

/* Past the bracket that closes the one at *at; the end if there is none. */
static const char *skip_brackets(const char *begin, const char *at)
{
	const char open = *at, close = open == '<' ? '>' : ')';
	int depth = 0;

	for (; *at; at++) {
		size_t n = operator_length(begin, at);

		if (n) {
			at += n - 1;
			continue;
		}
		if (at[0] == '-' && at[1] == '>') {
			at++;
			continue;
		}
		if (*at == open)
			depth++;
		else if (*at == close && --depth == 0)
			return at + 1;
	}
	return at;
}

struct text {
	char *data;
	size_t size, length;
};

static void add(struct text *text, const char *from, size_t length)
{
	if (length >= text->size - text->length)
		length = text->size - text->length - 1;
	memcpy(text->data + text->length, from, length);
	text->length += length;
	text->data[text->length] = '\0';
}

/* An (anonymous namespace) and a local class, f(int)::g, go on after their bracket. */
static bool goes_on(const char *at)
{
	at += strcspn(at, ":");
	return at[0] == ':' && at[1] == ':';
}

char *pmp_names_brief(const char *name, char *buffer, size_t size)
{
	struct text text = { buffer, size, 0 };
	const char *at = name;
	size_t n;

	buffer[0] = '\0';
	/* [libfoo.so+0x1234], <signal handler called> */
	if (*name == '[' || *name == '<' || !strpbrk(name, "(<")) {
		add(&text, name, strlen(name));
		return buffer;
	}
	while (*at) {
		const char *after;

		n = operator_length(name, at);
		if (n) {
			add(&text, at, n);
			at += n;
		} else if (*at == '<') {
			after = skip_brackets(name, at);
			add(&text, "<" ELLIPSIS ">", strlen("<" ELLIPSIS ">"));
			at = after;
		} else if (*at == '(') {
			after = skip_brackets(name, at);
			if (strncmp(at, "(anonymous", strlen("(anonymous")) == 0)
				add(&text, at, (size_t)(after - at));
			else if (!goes_on(after))
				break;
			at = after;
			/* The qualifiers of what a local class is local to. */
			if (*at == ' ' && goes_on(at))
				at += strcspn(at, ":");
		} else if (*at == ' ') {
			/* What was there is a return type. */
			text.length = 0;
			buffer[0] = '\0';
			at++;
		} else {
			add(&text, at++, 1);
		}
	}
	if (!text.length)
		add(&text, name, strlen(name));
	return buffer;
}

char *pmp_names_fold(const char *name, char *buffer, size_t size)
{
	size_t length = 0;

	for (; *name && length + 1 < size; name++) {
		if (!isdigit((unsigned char)*name))
			buffer[length++] = *name;
		else if (!length || !isdigit((unsigned char)name[-1]))
			buffer[length++] = 'N';
	}
	buffer[length] = '\0';
	return buffer;
}

/* ---- the table of names ------------------------------------------------------ */

static bool make(struct pmp_name *new, const char *name, const char *module)
{
	char full[NAME_SIZE], brief[NAME_SIZE], base[256];
	const char *slash = strrchr(module, '/');

	pmp_escape(name, full, sizeof(full));
	pmp_names_brief(full, brief, sizeof(brief));
	pmp_escape(slash ? slash + 1 : module, base, sizeof(base));
	*new = (struct pmp_name){
		.full = strdup(full),
		.module = strdup(base),
		.locks = waits_for_lock(brief),
		.waits = waits_for_work(brief),
		.parks = strcmp(full, "runtime.futex") == 0, /* Go's */
	};
	new->brief = strcmp(full, brief) == 0 ? new->full : strdup(brief);
	return new->full && new->brief && new->module;
}

/* A name that was a place at first learns its module later. */
static void add_module(struct pmp_names *names, uint32_t number, const char *module)
{
	const char *slash = strrchr(module, '/');
	char base[256], *copy;

	if (number >= names->count || *names->names[number].module || !*module)
		return;
	copy = strdup(pmp_escape(slash ? slash + 1 : module, base, sizeof(base)));
	if (!copy)
		return;
	free((char *)names->names[number].module);
	names->names[number].module = copy;
}

static void drop(struct pmp_name *name)
{
	if (name->brief != name->full)
		free((char *)name->brief);
	free((char *)name->full);
	free((char *)name->module);
}

uint32_t pmp_names_add(struct pmp_names *names, const char *name, const char *module)
{
	bool added;
	uint32_t *number = pmp_table_get(&names->table, pmp_hash_text(name),
					 (uint32_t)names->count, &added);

	if (!number)
		return PMP_NAME_NONE;
	if (!added) {
		add_module(names, *number, module);
		return *number;
	}
	*number = PMP_NAME_NONE;
	if (names->count == names->capacity) {
		size_t capacity = names->capacity ? 2 * names->capacity : 256;
		struct pmp_name *all =
			reallocarray(names->names, capacity, sizeof(*all));

		if (!all)
			return PMP_NAME_NONE;
		names->names = all;
		names->capacity = capacity;
	}
	if (!make(&names->names[names->count], name, module)) {
		drop(&names->names[names->count]);
		return PMP_NAME_NONE;
	}
	*number = (uint32_t)names->count;
	return (uint32_t)names->count++;
}

void pmp_names_free(struct pmp_names *names)
{
	for (size_t i = 0; i < names->count; i++)
		drop(&names->names[i]);
	free(names->names);
	pmp_table_free(&names->table);
	*names = (struct pmp_names){ 0 };
}

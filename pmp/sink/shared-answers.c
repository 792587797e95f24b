/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sink/shared-answers.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "run/clock.h"

#define KEPT 8
#define FRESH (900 * NS_PER_MS) /* a page asks each second */

struct shared_answer {
	struct serve_request asked; /* without its id */
	uint64_t time, took;
	int file; /* -1: none */
};

struct shared_answers {
	struct shared_answer all[KEPT];
};

struct shared_answers *shared_answers_new(void)
{
	struct shared_answers *answers = calloc(1, sizeof(*answers));

	for (size_t i = 0; answers && i < KEPT; i++)
		answers->all[i].file = -1;
	return answers;
}

void shared_answers_free(struct shared_answers *answers)
{
	if (!answers)
		return;
	for (size_t i = 0; i < KEPT; i++) {
		if (answers->all[i].file >= 0)
			close(answers->all[i].file);
	}
	free(answers);
}

static bool is_same_selection(const struct selection *one, const struct selection *other)
{
	return one->idle == other->idle && one->tid == other->tid &&
	       strcmp(one->focus, other->focus) == 0 &&
	       strcmp(one->ignore, other->ignore) == 0 &&
	       strcmp(one->thread, other->thread) == 0 &&
	       strcmp(one->group, other->group) == 0;
}

bool shared_answers_is_same(const struct serve_request *one,
			    const struct serve_request *other)
{
	return one->page == other->page && one->pid == other->pid &&
	       one->from == other->from && one->to == other->to &&
	       one->has_times == other->has_times && one->by_thread == other->by_thread &&
	       one->px == other->px && one->nodes == other->nodes &&
	       strcmp(one->name, other->name) == 0 &&
	       strcmp(one->under, other->under) == 0 &&
	       is_same_selection(&one->selection, &other->selection);
}

/* Slow answers stay fresh for longer, so as not to make them all the time. */
static uint64_t fresh_time(const struct shared_answer *answer)
{
	return 2 * answer->took > FRESH ? 2 * answer->took : FRESH;
}

int shared_answers_find(const struct shared_answers *answers,
			const struct serve_request *asked, uint64_t now)
{
	for (size_t i = 0; i < KEPT; i++) {
		const struct shared_answer *answer = &answers->all[i];

		if (answer->file >= 0 && now - answer->time < fresh_time(answer) &&
		    shared_answers_is_same(&answer->asked, asked))
			return answer->file;
	}
	return -1;
}

void shared_answers_keep(struct shared_answers *answers,
			 const struct serve_request *asked, uint64_t now, uint64_t took,
			 int file)
{
	struct shared_answer *oldest = &answers->all[0];

	for (size_t i = 1; i < KEPT; i++) {
		if (answers->all[i].time < oldest->time)
			oldest = &answers->all[i];
	}
	if (oldest->file >= 0)
		close(oldest->file);
	*oldest = (struct shared_answer){ *asked, now, took, file };
}

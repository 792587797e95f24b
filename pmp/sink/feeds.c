/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sink/feeds.h"

#include <stdlib.h>
#include <string.h>

#define FEEDS_MAX 64
#define FEEDS_OF_TARGET 16 /* of these, for the targets' user */

struct feeds {
	struct feed all[FEEDS_MAX];
};

struct feeds *feeds_new(void)
{
	return calloc(1, sizeof(struct feeds));
}

void feeds_free(struct feeds *feeds)
{
	free(feeds);
}

static bool is_same(const struct feed_key *one, const struct feed_key *other)
{
	return one->to_target == other->to_target &&
	       strcmp(one->name, other->name) == 0 && one->page == other->page &&
	       one->format == other->format && one->pid == other->pid;
}

struct feed *feeds_find(struct feeds *feeds, const struct feed_key *key, uint64_t now)
{
	const size_t others = FEEDS_MAX - FEEDS_OF_TARGET;
	const size_t first = key->to_target ? others : 0;
	const size_t end = key->to_target ? FEEDS_MAX : others;
	struct feed *found = &feeds->all[first];

	for (size_t i = first; i < end; i++) {
		struct feed *feed = &feeds->all[i];

		if (is_same(&feed->key, key)) {
			feed->used = now;
			return feed;
		}
		if (feed->used < found->used)
			found = feed;
	}
	*found = (struct feed){ .key = *key, .used = now, .number = found->number + 1 };
	return found;
}

void feeds_written(struct feeds *feeds, uint32_t id)
{
	for (size_t i = 0; i < FEEDS_MAX; i++) {
		struct feed *feed = &feeds->all[i];

		if (feed->id == id && id) {
			feed->sent = feed->to;
			feed->id = 0;
		}
	}
}

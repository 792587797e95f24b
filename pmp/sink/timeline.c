/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See timeline.h. */
#include "sink/timeline.h"

#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

#include "libpmp-program.h"
#include "run/clock.h"
#include "source/targets.h"

#define SECONDS 3600 /* kept */
#define TRACKS_MAX 64
#define LATE 3 /* intervals without a snapshot: then that time is not known */

/* The sums of a group of threads at the last look. */
struct known_group {
	pid_t pid;
	uint64_t name; /* a hash, as the borrowed name does not last */
	uint64_t last; /* time of the last snapshot of its process */
	uint64_t times[TIMELINE_STATES];
	uint64_t unsure, moved; /* see struct pmp_group_times */
};

/* The seconds of one process, or of all. */
struct track {
	pid_t pid; /* 0: all */
	double sums[TIMELINE_STATES];
	struct timeline_second seconds[SECONDS];
};

struct timeline {
	uint64_t start;
	uint64_t since; /* the snapshot that begins the current second; 0: none */
	int64_t end;	/* number of complete seconds */
	struct known_group *known;
	size_t known_count;
	struct track *tracks[TRACKS_MAX]; /* the first one is for all processes */
	size_t track_count;
};

struct timeline *timeline_new(uint64_t start)
{
	struct timeline *timeline = calloc(1, sizeof(*timeline));

	if (!timeline)
		return NULL;
	timeline->start = start;
	timeline->tracks[0] = calloc(1, sizeof(*timeline->tracks[0]));
	timeline->track_count = 1;
	if (timeline->tracks[0])
		return timeline;
	timeline_free(timeline);
	return NULL;
}

void timeline_free(struct timeline *timeline)
{
	if (!timeline)
		return;
	for (size_t i = 0; i < timeline->track_count; i++)
		free(timeline->tracks[i]);
	free(timeline->known);
	free(timeline);
}

static struct track *find_track(const struct timeline *timeline, pid_t pid)
{
	for (size_t i = 0; i < timeline->track_count; i++) {
		if (timeline->tracks[i]->pid == pid)
			return timeline->tracks[i];
	}
	return NULL;
}

/* FNV-1a. */
static uint64_t hash(uint64_t value, const char *text)
{
	for (; *text; text++)
		value = (value ^ (unsigned char)*text) * UINT64_C(1099511628211);
	return value;
}

static struct known_group describe(const struct pmp_profile *profile, size_t i)
{
	struct pmp_group_times times = { .size = sizeof(times) };

	pmp_profile_group(profile, i, &times);
	return (struct known_group){
		.pid = times.pid,
		.name = hash(hash(UINT64_C(14695981039346656037), times.process) ^ '/',
			     times.group),
		.times = { times.run, times.ready, times.lock, times.disk, times.sleep },
		.unsure = times.unsure,
		.moved = times.moved,
	};
}

/* Searches from the same index on: groups only move if an earlier one is gone. */
static const struct known_group *find(const struct timeline *timeline, size_t i,
				      const struct known_group *group)
{
	for (size_t j = 0; j < timeline->known_count; j++) {
		const struct known_group *known =
			&timeline->known[(i + j) % timeline->known_count];

		if (known->pid == group->pid && known->name == group->name)
			return known;
	}
	return NULL;
}

static uint64_t growth(uint64_t now, uint64_t before)
{
	return now > before ? now - before : 0;
}

/* The time of the last snapshot of a process; 0: it has ended. */
static uint64_t last_of(const struct targets *targets, pid_t pid)
{
	for (size_t i = 0; i < targets->count; i++) {
		if (targets->processes[i].pid == pid && !targets->processes[i].ended)
			return targets->processes[i].last;
	}
	return 0;
}

/* Reuse the track of a process that has ended; NULL: there is none. */
static struct track *give_up_track(struct timeline *timeline,
				   const struct targets *targets)
{
	for (size_t i = 1; i < timeline->track_count; i++) {
		struct track *track = timeline->tracks[i];

		if (last_of(targets, track->pid))
			continue;
		*track = (struct track){ 0 };
		return track;
	}
	return NULL;
}

/* NULL: there are too many processes, or there is no memory. */
static struct track *add_track(struct timeline *timeline, const struct targets *targets,
			       pid_t pid)
{
	struct track *track = find_track(timeline, pid);

	if (track)
		return track;
	if (timeline->track_count == TRACKS_MAX) {
		track = give_up_track(timeline, targets);
	} else {
		track = calloc(1, sizeof(*track));
		if (track)
			timeline->tracks[timeline->track_count++] = track;
	}
	if (track)
		track->pid = pid;
	return track;
}

/* The time that was shown as sleep and has turned out to be lock: it
 * must not be shown twice. */
static uint64_t shown_before(const struct known_group *group,
			     const struct known_group *known)
{
	const uint64_t moved = growth(group->moved, known->moved);

	return moved < known->unsure ? moved : known->unsure;
}

/* Add the growth of a group, in thread-ms, scaled as if snapshots were a second apart.
 * known: NULL for a new group; track: of its process, or NULL. */
static void add_group(const struct known_group *group, const struct known_group *known,
		      struct track *all, struct track *track)
{
	uint64_t before[TIMELINE_STATES] = { 0 }, time = NS_PER_S;

	if (known) {
		memcpy(before, known->times, sizeof(before));
		before[TIMELINE_LOCK] += shown_before(group, known);
		before[TIMELINE_SLEEP] -= shown_before(group, known);
	}
	if (known && known->last && group->last > known->last)
		time = group->last - known->last;
	for (size_t i = 0; i < TIMELINE_STATES; i++) {
		double sum =
			(double)growth(group->times[i], before[i]) * 1000 / (double)time;

		all->sums[i] += sum;
		if (track)
			track->sums[i] += sum;
	}
}

/* Add what the threads of all groups did since the last look. False: no memory. */
static bool take_growth(struct timeline *timeline, const struct pmp_profile *profile,
			const struct targets *targets)
{
	const size_t count = pmp_profile_group_count(profile);
	struct known_group *groups = calloc(count + 1, sizeof(*groups));

	if (!groups)
		return false;
	for (size_t i = 0; i < count; i++) {
		groups[i] = describe(profile, i);
		groups[i].last = last_of(targets, groups[i].pid);
		add_group(&groups[i], find(timeline, i, &groups[i]), timeline->tracks[0],
			  add_track(timeline, targets, groups[i].pid));
	}
	free(timeline->known);
	timeline->known = groups;
	timeline->known_count = count;
	return true;
}

static int64_t second_of(const struct timeline *timeline, uint64_t time)
{
	return time > timeline->start ? (int64_t)((time - timeline->start) / NS_PER_S)
				      : 0;
}

/* Fill the seconds in [from, to) with the sums of the track, and with the rest of *end. */
static void fill(struct track *track, int64_t from, int64_t to,
		 const struct timeline_second *end)
{
	struct timeline_second second = *end;

	for (size_t i = 0; i < TIMELINE_STATES; i++) {
		second.times[i] = (uint32_t)(track->sums[i] + 0.5);
		track->sums[i] = 0;
	}
	for (int64_t i = from; i < to; i++)
		track->seconds[i % SECONDS] = second;
}

/* The bytes that a process, or all with pid 0, have allocated and not freed. */
static uint64_t live_bytes(const struct pmp_profile *profile, pid_t pid)
{
	struct pmp_heap_info info = { .size = sizeof(info) };
	uint64_t sum = 0;

	for (size_t i = 0; pmp_profile_heap_process(profile, i, &info); i++) {
		if (!info.ended && (!pid || info.pid == pid))
			sum += info.live;
	}
	return sum;
}

/* The time of the last snapshot of any target. */
static uint64_t last_snapshot(const struct targets *targets)
{
	uint64_t last = 0;

	for (size_t i = 0; i < targets->count; i++) {
		if (targets->processes[i].last > last)
			last = targets->processes[i].last;
	}
	return last;
}

bool timeline_is_due(const struct timeline *timeline, const struct targets *targets)
{
	const uint64_t time = last_snapshot(targets);

	return time && (!timeline->since || second_of(timeline, time) > timeline->end);
}

void timeline_add(struct timeline *timeline, const struct pmp_profile *profile,
		  const struct targets *targets, uint64_t interval)
{
	const uint64_t time = last_snapshot(targets);
	const int64_t now = second_of(timeline, time);
	bool sampled;

	if (!timeline_is_due(timeline, targets) ||
	    !take_growth(timeline, profile, targets))
		return;
	if (!timeline->since)
		timeline->end = now;
	sampled = time - timeline->since <= NS_PER_S + LATE * interval;
	if (now - timeline->end > SECONDS)
		timeline->end = now - SECONDS;
	for (size_t i = 0; i < timeline->track_count; i++) {
		struct track *track = timeline->tracks[i];
		const struct timeline_second end = {
			.sampled = sampled && (i == 0 || last_of(targets, track->pid)),
			.heap = live_bytes(profile, track->pid),
		};

		fill(track, timeline->end, now, &end);
	}
	timeline->end = now;
	timeline->since = time;
}

int64_t timeline_range(const struct timeline *timeline, int64_t *first)
{
	*first = timeline->end > SECONDS ? timeline->end - SECONDS : 0;
	return timeline->end;
}

struct timeline_second timeline_get(const struct timeline *timeline, pid_t pid,
				    int64_t second)
{
	const struct track *track = find_track(timeline, pid);

	return track ? track->seconds[second % SECONDS] : (struct timeline_second){ 0 };
}

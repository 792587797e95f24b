/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A small profile with a bit of everything, made without a process, and saved profiles
 * as bytes: for tests of reading and writing them.
 */
#ifndef PMP_T_SAVED_H
#define PMP_T_SAVED_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>

#include "base/buf.h"
#include "lib/report.h"
#include "libpmp-program.h"
#include "tally/profile.h"

/* A profile with its symbolizer. */
struct saved {
	struct pmp_symbolizer *symbolizer;
	struct pmp_profile *profile;
};

static inline struct saved saved_new(void)
{
	const struct pmp_symbolizer_options names = { .size = sizeof(names),
						      .lines = true };
	const struct pmp_profile_options options = {
		.size = sizeof(options),
		.details = true,
		.waits = true,
	};
	struct saved saved;

	if (pmp_symbolizer_new(&names, &saved.symbolizer, NULL) ||
	    pmp_profile_new(&options, saved.symbolizer, &saved.profile, NULL))
		abort();
	return saved;
}

static inline void saved_free(struct saved *saved)
{
	pmp_profile_free(saved->profile);
	pmp_symbolizer_free(saved->symbolizer);
}

static inline int saved_sink(void *arg, const void *data, size_t length)
{
	pmp_buf_add(arg, data, length);
	return 0;
}

/* Count a sample and free it. */
static inline void saved_add(struct saved *saved, struct pmp_sample *sample)
{
	if (pmp_profile_add(saved->profile, sample, NULL))
		abort();
	pmp_sample_free(sample);
}

struct saved_sums {
	uint64_t count, cpu, evicted; /* evicted: part of count */
};

/* The sums over all entries of the profile. */
static inline struct saved_sums saved_sums(const struct saved *saved)
{
	struct saved_sums sums = { 0 };

	for (size_t i = 0; i < pmp_profile_entry_count(saved->profile); i++) {
		const struct pmp_entry *entry = pmp_profile_entry(saved->profile, i);

		sums.count += entry->count;
		sums.cpu += entry->cpu;
		sums.evicted += entry->end == PMP_END_EVICTED ? entry->count : 0;
	}
	return sums;
}

/* The counts of all counters in a window. */
static inline uint64_t saved_live_sum(const struct pmp_live *live, enum pmp_window window)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < pmp_live_counter_count(live); i++) {
		struct pmp_live_counter counter = { .size = sizeof(counter) };

		pmp_live_counter(live, i, window, &counter);
		sum += counter.count;
	}
	return sum;
}

/* What a format makes of it; to be freed. threadz refuses what is no number of stacks. */
static inline struct pmp_buf saved_write(const struct saved *saved, const char *format,
					 const struct pmp_write_options *options)
{
	struct pmp_buf buf = { 0 };
	const struct pmp_sink sink = { saved_sink, &buf };

	int code = report_write(saved->profile, NULL, NULL, pmp_format_find(format),
				options, &sink, NULL);

	if (code && (code != PMP_EINVAL || strcmp(format, "threadz") != 0))
		abort();
	pmp_buf_puts(&buf, "");
	return buf;
}

static inline int saved_read(struct saved *saved, const void *data, size_t length,
			     struct pmp_error *err)
{
	int fd = memfd_create("saved", MFD_CLOEXEC), code;

	if (fd < 0 || write(fd, data, length) != (ssize_t)length ||
	    lseek(fd, 0, SEEK_SET))
		abort();
	code = pmp_profile_read(saved->profile, fd, "saved", err);
	close(fd);
	return code;
}

/* Unpack gzip data. */
static inline struct pmp_buf saved_unpack(const struct pmp_buf *packed)
{
	z_stream zip = { .next_in = (unsigned char *)packed->data,
			 .avail_in = (unsigned)packed->length };
	struct pmp_buf plain = { 0 };
	unsigned char piece[4096];
	int code = inflateInit2(&zip, 31);

	while (code == Z_OK) {
		zip.next_out = piece;
		zip.avail_out = sizeof(piece);
		code = inflate(&zip, Z_NO_FLUSH);
		pmp_buf_add(&plain, piece, sizeof(piece) - zip.avail_out);
	}
	inflateEnd(&zip);
	return plain;
}

/* ---- the example ----------------------------------------------------------- */

static inline pmp_location saved_location(struct saved *saved, uint32_t mapping,
					  uint64_t pc, bool exact, size_t count,
					  const char *const *names)
{
	const struct pmp_first_address origin = { pc, exact, mapping };
	struct pmp_frame frames[4] = { { 0 } };
	pmp_location location;

	for (size_t i = 0; i < count; i++) {
		frames[i].function = names[i];
		frames[i].file = i + 1 < count ? "src/inlined.h" : "src/main file.cc";
		frames[i].line = 10 * (unsigned)(i + 1);
		frames[i].signal = !strcmp(names[i], "<signal handler called>");
	}
	location = pmp_symbolizer_add_location(saved->symbolizer, &origin, frames, count);
	if (location == PMP_LOCATION_NONE)
		abort();
	return location;
}

/* ---- for measurements: a server of many functions --------------------------- */

#define SAVED_FUNCTIONS 4096 /* each at one address */

static inline void saved_server(struct saved *saved,
				pmp_location locations[SAVED_FUNCTIONS])
{
	const struct pmp_mapping file = { 0x400000, 0x800000, 0, "/usr/sbin/server",
					  "93ac61ec" };
	uint32_t mapping = pmp_symbolizer_add_mapping(saved->symbolizer, &file);

	for (uint64_t i = 0; i < SAVED_FUNCTIONS; i++) {
		char name[64];
		const char *names[] = { name };

		snprintf(name, sizeof(name), "server::module_%u::function_%u(int)",
			 (unsigned)i % 61, (unsigned)i);
		locations[i] = saved_location(saved, mapping, 0x400000 + 512 * i, false,
					      1, names);
	}
}

/* Stacks form a tree: common roots, different leaves. */
static inline void saved_server_stack(const pmp_location locations[SAVED_FUNCTIONS],
				      uint64_t random, pmp_location *stack, size_t depth)
{
	for (size_t i = 0; i < depth; i++) {
		random ^= random << 13;
		random ^= random >> 7;
		random ^= random << 17;
		/* The outer half has few variants. */
		stack[i] =
			locations[i < depth / 2 ? random % SAVED_FUNCTIONS
						: (i * 7 + random % 3) % SAVED_FUNCTIONS];
	}
}

static inline void saved_count(struct saved *saved, const struct pmp_entry *like,
			       const pmp_location *locations, size_t count)
{
	struct pmp_entry entry = *like;

	entry.pid = 4100;
	entry.process = "mariadbd";
	entry.locations = locations;
	entry.location_count = count;
	if (!entry.syscall)
		entry.syscall = "";
	if (!entry.wchan)
		entry.wchan = "";
	if (!entry.reason)
		entry.reason = "";
	if (pmp_profile_count(saved->profile, &entry))
		abort();
}

/* libc: where that library is mapped; the program is from 0x400000 to 0x500000. */
static inline struct saved saved_example_at(uint64_t libc)
{
	struct saved saved = saved_new();
	const struct pmp_mapping files[] = {
		/* A program that does not exist here. */
		{ 0x400000, 0x500000, 0, "/nowhere/mariadbd", "93ac61ec" },
		{ libc, libc + 0x30000, 0x1000, "/usr/lib/libc.so.6", "00ff" },
		{ 0x7f0000000000, 0x7f0000001000, 0, "[anon]", "" },
	};
	static const char *const poll[] = { "poll" },
				 *const signal[] = { "<signal handler called>" },
				 *const start[] = { "start_thread" };
	static const char *const find[] = { "std::map<int, int>::find(int const&)",
					    "do_command(THD*)" };
	uint32_t maps[3];
	pmp_location stack[4];
	const struct pmp_metadata metadata = { 1795234116123456789u,
					       9900000000u,
					       100000000,
					       "pmp -p 4100",
					       "db1",
					       false,
					       { "", "" } };
	const struct pmp_profile_info info = {
		.samples = 100,
		.rounds = 100,
		.stacks = 300,
		.truncated = 2,
		.not_stopped = 1,
		.vanished = 4,
		.stops = 50,
		.stopped = 500000,
		.stopped_max = 20000,
		.stopped_p50 = 9000,
		.stopped_p99 = 15000,
		.any_stopped = 400000,
	};

	for (size_t i = 0; i < 3; i++)
		maps[i] = pmp_symbolizer_add_mapping(saved.symbolizer, &files[i]);
	/* poll <- (signal handler) <- find inlined in do_command, interrupted <- start */
	stack[0] = saved_location(&saved, maps[1], libc + 0x1234, true, 1, poll);
	stack[1] = saved_location(&saved, maps[1], libc + 0x2000, false, 1, signal);
	stack[2] = saved_location(&saved, maps[0], 0x401000, true, 2, find);
	stack[3] = saved_location(&saved, maps[1], libc + 0x3333, false, 1, start);
	saved_count(&saved,
		    &(struct pmp_entry){ .tid = 4101,
					 .thread = "conn-1",
					 .state = 'S',
					 .syscall = "poll",
					 .wchan = "do_poll",
					 .count = 90,
					 .cpu = 1000000,
					 .wall = 9000000000 },
		    stack, 4);
	saved_count(&saved,
		    &(struct pmp_entry){ .tid = 4102,
					 .thread = "conn-2",
					 .state = 'R',
					 .count = 7,
					 .cpu = 700000000,
					 .wall = 700000000 },
		    stack + 2, 2);
	/* unnamed: in a file that does not exist, and in code without a file */
	stack[0] = saved_location(&saved, maps[2], 0x7f0000000123, true, 0, NULL);
	stack[1] = saved_location(&saved, maps[0], 0x4fffff, false, 0, NULL);
	saved_count(&saved,
		    &(struct pmp_entry){ .tid = 4103,
					 .thread = "jit; \"x\"",
					 .state = 'S',
					 .end = PMP_END_NO_INFO,
					 .count = 2 },
		    stack, 2);
	saved_count(&saved,
		    &(struct pmp_entry){ .tid = 4104,
					 .thread = "asleep",
					 .state = 'D',
					 .end = PMP_END_NOT_STOPPED,
					 .reason = "D, vfork",
					 .count = 3 },
		    stack, 0);
	saved_count(&saved,
		    &(struct pmp_entry){
			    .tid = 4105, .thread = "none", .state = 'S', .count = 1 },
		    stack, 0);
	if (pmp_profile_join(saved.profile, &info, &metadata))
		abort();
	return saved;
}

static inline struct saved saved_example(void)
{
	return saved_example_at(0x7f1234560000);
}

/* Format i; NULL: it is for running processes, and does not write counts. */
static inline const struct pmp_format *saved_format(size_t i)
{
	const struct pmp_format *format = pmp_format(i);

	return format->live ? NULL : format;
}

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Comparing profiles: what belongs together, how counts are scaled and rounded, and
 * what is known of a comparison. How it looks is in the golden files of 0610.
 */
#include <inttypes.h>

#include "lib/tap.h"
#include "lib/report.h"
#include "lib/saved.h"

#define NAMES_MAX 8

/* A stack by its names, the leaf first; each name has one address of its own. */
static void count(struct saved *saved, uint32_t mapping, uint64_t start,
		  const struct pmp_entry *like, const char *const *names)
{
	pmp_location stack[NAMES_MAX];
	struct pmp_entry entry = *like;
	size_t length = 0;

	for (; names[length]; length++) {
		uint64_t hash = 5381;

		for (const char *c = names[length]; *c; c++)
			hash = hash * 33 + (unsigned char)*c;
		stack[length] = saved_location(saved, mapping, start + hash % 0x10000,
					       length == 0, 1, &names[length]);
	}
	entry.locations = stack;
	entry.location_count = length;
	if (!entry.process)
		entry.process = "server";
	if (!entry.thread)
		entry.thread = "";
	entry.reason = entry.reason ? entry.reason : "";
	entry.syscall = entry.wchan = "";
	if (pmp_profile_count(saved->profile, &entry))
		abort();
}

static uint32_t program_at(struct saved *saved, uint64_t start, const char *id)
{
	const struct pmp_mapping file = { start, start + 0x100000, 0, "/srv/server", id };

	return pmp_symbolizer_add_mapping(saved->symbolizer, &file);
}

/* Snapshots of one process. */
static void took(struct saved *saved, uint64_t snapshots, bool guessed)
{
	struct pmp_profile_info info = { .samples = snapshots, .rounds = snapshots };
	const struct pmp_metadata metadata = { .command = "",
					       .host = "",
					       .guessed = guessed };

	for (size_t i = 0; i < pmp_profile_entry_count(saved->profile); i++)
		info.stacks += pmp_profile_entry(saved->profile, i)->count;
	if (pmp_profile_join(saved->profile, &info, &metadata))
		abort();
}

#define STACK(...) ((const char *const[]){ __VA_ARGS__, NULL })
#define TIMES(n) (&(struct pmp_entry){ .pid = 1, .count = (n) })

static char *compared(const struct saved *saved, const struct saved *base,
		      const char *format, const struct pmp_write_options *options)
{
	struct pmp_buf buf = { 0 };
	const struct pmp_sink sink = { saved_sink, &buf };

	if (report_write(saved->profile, base->profile, NULL, pmp_format_find(format),
			 options, &sink, NULL))
		abort();
	pmp_buf_putc(&buf, '\0');
	return buf.data;
}

static void is_folded(const struct saved *saved, const struct saved *base,
		      const struct pmp_write_options *options, const char *want,
		      const char *what)
{
	char *got = compared(saved, base, "folded", options);

	is_str(got, want, "%s", what);
	free(got);
}

/* ---- what belongs together ----------------------------------------------------------- */

/* Another build, at another address, in another process; both are counted alike. */
static void test_names(void)
{
	struct saved base = saved_new(), saved = saved_new();
	uint32_t old = program_at(&base, 0x400000, "aa");
	uint32_t new = program_at(&saved, 0x55d000000000, "bb");

	count(&base, old, 0x400000, TIMES(7), STACK("poll", "main"));
	count(&base, old, 0x400000, TIMES(2), STACK("read", "main"));
	/* The same names at other addresses, as a line of code has them, are one. */
	count(&saved, new, 0x55d000000000, TIMES(3), STACK("poll", "main"));
	count(&saved, new, 0x55d000010000, TIMES(2), STACK("poll", "main"));
	count(&saved, new, 0x55d000000000, TIMES(4), STACK("write", "flush", "main"));
	took(&base, 10, false);
	took(&saved, 10, false);
	is_folded(
		&saved, &base, NULL,
		"server;main;flush;write 0 4\nserver;main;poll 7 5\nserver;main;read 2 0\n",
		"stacks are matched by their names");
	is_folded(
		&base, &saved, NULL,
		"server;main;flush;write 4 0\nserver;main;poll 5 7\nserver;main;read 0 2\n",
		"the other way round");
	is_folded(&base, &base, NULL, "server;main;poll 7 7\nserver;main;read 2 2\n",
		  "a profile is as it is itself");
	saved_free(&base);
	saved_free(&saved);
}

/* Ends are names; ids are not; threads are only if they are asked for. */
static void test_marks(void)
{
	const struct pmp_write_options by_thread = { .size = sizeof(by_thread),
						     .by_thread = true };
	struct saved base = saved_new(), saved = saved_new();
	struct pmp_entry conn = { .pid = 11, .tid = 12, .thread = "conn 1", .count = 4 };
	struct pmp_entry epoll = { .pid = 11,
				   .tid = 13,
				   .thread = "net",
				   .count = 4,
				   .end = PMP_END_NOT_STOPPED,
				   .reason = "epoll_wait" };
	uint32_t old = program_at(&base, 0x400000, ""),
		 new = program_at(&saved, 0x600000, "");

	count(&base, old, 0x400000, &conn, STACK("poll", "main"));
	count(&base, old, 0x400000, &epoll, STACK("poll"));
	conn = (struct pmp_entry){ .pid = 99, .tid = 98, .thread = "conn 1", .count = 3 };
	epoll.reason = "seccomp";
	count(&saved, new, 0x600000, &conn, STACK("poll", "main"));
	conn.tid = 97;
	count(&saved, new, 0x600000, &conn, STACK("poll", "main"));
	count(&saved, new, 0x600000, &epoll, STACK("poll"));
	took(&base, 4, false);
	took(&saved, 4, false);
	is_folded(&saved, &base, NULL,
		  "server;[not stopped: epoll_wait];poll 4 0\n"
		  "server;[not stopped: seccomp];poll 0 4\nserver;main;poll 4 6\n",
		  "ends tell stacks apart, processes' ids do not");
	is_folded(&saved, &base, &by_thread,
		  "server;conn_1;main;poll 4 6\n"
		  "server;net;[not stopped: epoll_wait];poll 4 0\n"
		  "server;net;[not stopped: seccomp];poll 0 4\n",
		  "threads are told apart by their names");
	saved_free(&base);
	saved_free(&saved);
}

static void test_processes(void)
{
	struct saved base = saved_new(), saved = saved_new();
	struct pmp_diff_info info = { .size = sizeof(info) };
	struct pmp_entry other = { .pid = 2, .process = "mysqld", .count = 5 };
	uint32_t old = program_at(&base, 0x400000, ""),
		 new = program_at(&saved, 0x400000, "");

	count(&base, old, 0x400000, &other, STACK("poll", "main"));
	count(&saved, new, 0x400000, TIMES(6), STACK("poll", "main"));
	took(&base, 4, false);
	took(&saved, 4, false);
	is_folded(&saved, &base, NULL, "server;main;poll 5 6\n",
		  "two processes of different names are compared");
	report_diff_info(saved.profile, base.profile, &info);
	is_str(info.base_process, "mysqld", "which is known: one");
	is_str(info.process, "server", "and the other");

	other.process = "helper";
	count(&base, old, 0x400000, &other, STACK("poll", "main"));
	is_folded(&saved, &base, NULL,
		  "helper;main;poll 5 0\nmysqld;main;poll 5 0\nserver;main;poll 0 6\n",
		  "but not when there are several");
	report_diff_info(saved.profile, base.profile, &info);
	ok(!info.process && !info.base_process, "and then it is not told");
	saved_free(&base);
	saved_free(&saved);
}

/* ---- stack by stack ------------------------------------------------------------------ */

/* Each as "3 5 poll main", the report's count first, by functions of libpmp.h alone. */
static void list(const struct pmp_report *report, struct pmp_buf *buf)
{
	struct pmp_stack_info stack = { .size = sizeof(stack) };
	struct pmp_frame_info frame = { .size = sizeof(frame) };

	for (size_t i = 0; pmp_report_stack(report, i, &stack); i++) {
		pmp_buf_printf(buf, "%" PRIu64 " %" PRIu64, stack.count,
			       stack.base_count);
		for (size_t j = 0; j < stack.location_count; j++) {
			pmp_report_frame(stack.report, stack.locations[j], 0, &frame);
			pmp_buf_printf(buf, " %s", frame.function);
		}
		pmp_buf_putc(buf, '\n');
	}
	pmp_buf_puts(buf, "");
}

static void is_listed(const struct saved *saved, const struct pmp_report *base,
		      bool matched, const char *want, const char *what)
{
	const struct pmp_report_options options = {
		.size = sizeof(options), .sorted = true, .base = base, .matched = matched
	};
	struct pmp_report_info info = { .size = sizeof(info) };
	struct pmp_report *report;
	struct pmp_buf buf = { 0 };
	size_t lines = 0;

	if (pmp_report_new(saved->profile, NULL, &options, &report, NULL))
		abort();
	list(report, &buf);
	is_str(buf.data, want, "%s", what);
	pmp_buf_clear(&buf);
	if (pmp_report_update(report, NULL))
		abort();
	list(report, &buf);
	is_str(buf.data, want, "the same when it is updated");
	for (const char *c = want; *c; c++)
		lines += *c == '\n';
	pmp_report_info(report, &info);
	ok(info.stacks == lines && info.distinct == lines, "%zu in all", lines);
	pmp_buf_free(&buf);
	pmp_report_free(report);
}

static void test_stacks(void)
{
	struct saved base = saved_new(), saved = saved_new(), none = saved_new();
	struct pmp_entry other = { .pid = 2, .process = "mysqld", .count = 7 };
	struct pmp_entry cut = { .pid = 1, .count = 1, .end = PMP_END_COPY };
	uint32_t old = program_at(&base, 0x400000, "aa");
	uint32_t new = program_at(&saved, 0x55d000000000, "bb");
	struct pmp_report *report;

	count(&base, old, 0x400000, &other, STACK("poll", "main"));
	other.count = 2;
	count(&base, old, 0x400000, &other, STACK("read", "main"));
	count(&saved, new, 0x55d000000000, TIMES(4), STACK("write", "flush", "main"));
	count(&saved, new, 0x55d000000000, TIMES(3), STACK("poll", "main"));
	count(&saved, new, 0x55d000010000, TIMES(2), STACK("poll", "main"));
	count(&saved, new, 0x55d000000000, &cut, STACK("poll", "main"));
	if (pmp_report_new(base.profile, NULL, NULL, &report, NULL))
		abort();
	is_listed(&saved, report, true,
		  "5 7 poll main\n4 0 write flush main\n1 0 poll main\n"
		  "0 2 read main\n",
		  "stacks with both counts, those of equal names as one");
	is_listed(&none, report, true, "0 7 poll main\n0 2 read main\n",
		  "those of the base alone");
	is_listed(&saved, report, false,
		  "4 0 write flush main\n3 0 poll main\n2 0 poll main\n"
		  "1 0 poll main\n",
		  "or as they are");
	is_listed(&saved, NULL, true,
		  "4 0 write flush main\n3 0 poll main\n2 0 poll main\n"
		  "1 0 poll main\n",
		  "which they are without a base");
	pmp_report_free(report);
	saved_free(&base);
	saved_free(&saved);
	saved_free(&none);
}

/* ---- numbers ----------------------------------------------------------------------------- */

static void test_scale(void)
{
	struct pmp_diff_info info = { .size = sizeof(info) };
	struct saved base = saved_new(), saved = saved_new(), foreign = saved_new();
	struct saved none = saved_new();
	struct saved *all[] = { &base, &saved, &foreign };

	for (size_t i = 0; i < 3; i++)
		count(all[i], program_at(all[i], 0x400000, ""), 0x400000,
		      TIMES(i == 2 ? 50 : 10), STACK("poll"));
	took(&base, 5, false);
	took(&saved, 20, false);
	took(&foreign, 1000, true);
	is_folded(&saved, &base, NULL, "server;poll 40 10\n", "scaled by snapshots");
	report_diff_info(saved.profile, base.profile, &info);
	ok(info.factor == 4 && !info.by_totals && info.counted && info.base_counted,
	   "and it says so");
	is_folded(&saved, &foreign, NULL, "server;poll 10 10\n",
		  "by totals where the base's snapshots are a guess");
	report_diff_info(saved.profile, foreign.profile, &info);
	ok(info.factor == 0.2 && info.by_totals && info.counted && !info.base_counted,
	   "and it says so");
	is_folded(&foreign, &saved, NULL, "server;poll 50 50\n", "or the profile's");
	report_diff_info(foreign.profile, saved.profile, &info);
	ok(info.by_totals && !info.counted && info.base_counted, "which it tells");
	is_int(pmp_profile_join(saved.profile,
				&(struct pmp_profile_info){ .samples = 60, .rounds = 20 },
				&(struct pmp_metadata){ .command = "", .host = "" }),
	       0, "as long again, with three processes");
	is_folded(&saved, &base, NULL, "server;poll 80 10\n",
		  "scaled by rounds: as many snapshots as processes are one");
	report_diff_info(saved.profile, none.profile, &info);
	ok(info.factor == 1, "nothing is not scaled");
	report_diff_info(none.profile, none.profile, &info);
	ok(info.factor == 1, "nor compared with nothing");
	info = (struct pmp_diff_info){ .size = offsetof(struct pmp_diff_info,
							by_totals) };
	report_diff_info(saved.profile, foreign.profile, &info);
	ok(info.factor == 0.2 && !info.by_totals,
	   "no more is filled than there is room for");
	for (size_t i = 0; i < 3; i++)
		saved_free(all[i]);
	saved_free(&none);
}

/* Each scaled count is less than 1 from what it should be, sums of neighbours as well. */
static void test_rounding(uint64_t snapshots, uint64_t base_snapshots)
{
	struct saved base = saved_new(), saved = saved_new();
	uint32_t old = program_at(&base, 0x400000, "");
	uint64_t random = 88172645463325252u, sum = 0, got_sum = 0, counts[400];
	double factor = (double)snapshots / (double)base_snapshots, worst = 0;
	char *got, *line;

	for (size_t i = 0; i < 400; i++) {
		char name[16];

		random ^= random << 13;
		random ^= random >> 7;
		random ^= random << 17;
		counts[i] = 1 + (random % 3 ? 0 : random % 50);
		/* Sorted as they are made. */
		snprintf(name, sizeof(name), "f%03zu", i);
		count(&base, old, 0x400000, TIMES(counts[i]), STACK(name));
	}
	count(&saved, program_at(&saved, 0x400000, ""), 0x400000, TIMES(1), STACK("z"));
	took(&base, base_snapshots, false);
	took(&saved, snapshots, false);
	got = compared(&saved, &base, "folded", NULL);
	for (line = strtok(got, "\n"); line; line = strtok(NULL, "\n")) {
		size_t i = strtoul(line + strlen("server;f"), NULL, 10);
		uint64_t number = strtoul(strchr(line, ' '), NULL, 10);
		double off = (double)number - factor * (double)counts[i < 400 ? i : 0];

		got_sum += number;
		if (line[strlen("server;")] == 'f' && (off > worst || -off > worst))
			worst = off < 0 ? -off : off;
	}
	for (size_t i = 0; i < 400; i++)
		sum += counts[i];
	ok(worst < 1, "times %" PRIu64 "/%" PRIu64 ": off by %.3f at most", snapshots,
	   base_snapshots, worst);
	is_int(got_sum, (uint64_t)((double)sum * factor + 0.5), "and the sum is right");
	free(got);
	saved_free(&base);
	saved_free(&saved);
}

/* What a file made to do harm may say: no overflow, no more than 64 bits. */
static void test_large(void)
{
	struct saved base = saved_new(), saved = saved_new();
	uint32_t old = program_at(&base, 0x400000, ""),
		 new = program_at(&saved, 0x400000, "");
	const char *formats[] = { "folded", "pmp", "flat", "svg" };
	const uint64_t most = UINT64_C(1) << 62;

	count(&base, old, 0x400000, TIMES(most), STACK("poll", "main"));
	count(&base, old, 0x400000, TIMES(most), STACK("read", "main"));
	count(&base, old, 0x400000, TIMES(most), STACK("write", "main"));
	count(&base, old, 0x400000, TIMES(most), STACK("x", "main"));
	count(&base, old, 0x400000, TIMES(most), STACK("y", "main"));
	count(&saved, new, 0x400000, TIMES(1), STACK("poll", "main"));
	took(&base, 1, false);
	took(&saved, most, false);
	for (size_t i = 0; i < 4; i++) {
		char *got = compared(&saved, &base, formats[i], NULL);

		ok(*got, "%s of counts that are too large", formats[i]);
		free(got);
		got = compared(&base, &saved, formats[i], NULL);
		ok(*got, "the other way round");
		free(got);
	}
	is_folded(&saved, &base, NULL, "server;main;poll 9223372036854775807 1\n",
		  "what is too large is as large as it can be, once");
	saved_free(&base);
	saved_free(&saved);
}

/* Of the base, CPU time that was found with no stack: of a thread that ran in between. */
static void test_only_cpu(void)
{
	struct saved base = saved_new(), saved = saved_new();
	const struct pmp_entry slept = { .pid = 1,
					 .tid = 1,
					 .state = 'S',
					 .count = 7,
					 .wall = 700,
					 .cpu = 3 },
			       ran = { .pid = 1, .tid = 2, .state = 'R', .cpu = 5 };
	uint32_t old = program_at(&base, 0x400000, ""),
		 new = program_at(&saved, 0x400000, "");
	char *without, *with;

	count(&base, old, 0x400000, &slept, STACK("poll", "main"));
	count(&saved, new, 0x400000, &slept, STACK("poll", "main"));
	took(&base, 7, false);
	took(&saved, 7, false);
	without = compared(&saved, &base, "html", NULL);
	count(&base, old, 0x400000, &ran, STACK("compute", "main"));
	with = compared(&saved, &base, "html", NULL);
	is_str(with, without, "a page shows no stack of the base that was never found");
	free(with);
	free(without);
	saved_free(&base);
	saved_free(&saved);
}

/* A file says how many snapshots it has, or not. */
static void test_read(void)
{
	struct saved first = saved_example(), ours = saved_new(), theirs = saved_new();
	struct pmp_diff_info info = { .size = sizeof(info) };
	struct pmp_buf packed = saved_write(&first, "pprof", NULL);
	struct pmp_buf plain = saved_unpack(&packed);
	char *comment = memmem(plain.data, plain.length, "taken: ", 7);

	if (!comment || saved_read(&ours, plain.data, plain.length, NULL))
		abort();
	*comment = 'T';
	if (saved_read(&theirs, plain.data, plain.length, NULL))
		abort();
	report_diff_info(first.profile, ours.profile, &info);
	ok(!info.by_totals && info.factor == 1, "what pmp has saved knows its snapshots");
	report_diff_info(first.profile, theirs.profile, &info);
	ok(info.by_totals && info.counted && !info.base_counted,
	   "what others save does not");
	report_diff_info(theirs.profile, first.profile, &info);
	ok(info.by_totals && !info.counted && info.base_counted, "on either side");
	if (saved_read(&ours, plain.data, plain.length, NULL))
		abort();
	report_diff_info(first.profile, ours.profile, &info);
	ok(info.by_totals, "nor does a sum of both");
	pmp_buf_free(&packed);
	pmp_buf_free(&plain);
	saved_free(&first);
	saved_free(&ours);
	saved_free(&theirs);
}

int main(void)
{
	test_names();
	test_marks();
	test_processes();
	test_stacks();
	test_scale();
	test_rounding(10, 60);
	test_rounding(61, 21);
	test_rounding(7, 7);
	test_rounding(1, 1000);
	test_large();
	test_only_cpu();
	test_read();
	return done_testing();
}

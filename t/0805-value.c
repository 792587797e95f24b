/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The program's arithmetic: values of options, words of PMP_OPTS, ticks. */
#include <stdlib.h>

#include "sampler/pace.h"
#include "options/value.h"
#include "lib/tap.h"

#define MS UINT64_C(1000000)
#define S (1000 * MS)

static void test_times(void)
{
	static const struct {
		const char *text;
		uint64_t time;
	} right[] = {
		{ "10", 10 * S },      { "0", 0 },	     { "1.5", 1500 * MS },
		{ ".5", 500 * MS },    { "10ms", 10 * MS },  { "100us", MS / 10 },
		{ "2m", 120 * S },     { "1h", 3600 * S },   { "3s", 3 * S },
		{ "0.0000000019", 1 }, { "2d", 172800 * S }, { "1w", 604800 * S },
		{ "0.1", 100 * MS },
	};
	static const char *const wrong[] = {
		"",
		" 1",
		"1 ",
		"+1",
		"-1",
		"1.",
		".",
		"1e3",
		"0x10",
		"1x",
		"ms",
		"1msx",
		"1,5",
		"18446744073709551616",
		"18446744074",
		"5124096h",
		"nan",
	};
	uint64_t time;

	for (size_t i = 0; i < sizeof(right) / sizeof(*right); i++) {
		ok(value_time(right[i].text, &time), "%s is a time", right[i].text);
		is_int(time, right[i].time, "%s in ns", right[i].text);
	}
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		ok(!value_time(wrong[i], &time), "'%s' is no time", wrong[i]);
}

static void test_numbers(void)
{
	uint64_t number;

	ok(value_number("18446744073709551615", &number), "the largest number");
	is_int(number, -1, "its value");
	ok(!value_number("18446744073709551616", &number), "one more is too many");
	ok(!value_number("", &number), "nothing is no number");
	ok(!value_number("1\n", &number), "a line feed after it");
	ok(value_frequency("10", &number), "10 Hz");
	is_int(number, 100 * MS, "is 100 ms");
	ok(value_frequency("0.5", &number), "0.5 Hz");
	is_int(number, 2 * S, "is 2 s");
	ok(!value_frequency("0", &number), "0 Hz");
	ok(!value_frequency("10ms", &number), "a time is no frequency");
	ok(value_size("512K", &number), "512K");
	is_int(number, 524288, "is 2^19");
	ok(value_size("2G", &number), "2G");
	is_int(number, INT64_C(2) << 30, "is 2^31");
	ok(value_size("1000", &number), "bytes");
	ok(!value_size("17179869184G", &number), "2^64 does not fit");
	ok(!value_size("10MB", &number), "a unit is one letter");
	ok(!value_size("M", &number), "and not a size alone");
}

static void test_words(void)
{
	const char *problem;
	char **words;
	int count;

	words = value_split(" -n 3\t--threads 'a b'\"c\\\"d\"\\ e  ''", &count, &problem);
	is_int(count, 5, "five words");
	is_str(words[0], "-n", "plain");
	is_str(words[3], "a bc\"d e", "quoted in three ways");
	is_str(words[4], "", "an empty one");
	ok(!words[5], "the vector ends");
	free(words);
	words = value_split("", &count, &problem);
	is_int(count, 0, "no words");
	free(words);
	ok(!value_split("'a", &count, &problem) && problem, "an open quote");
	ok(!value_split("a\\", &count, &problem) && problem, "a backslash at the end");
}

static void test_pace(void)
{
	uint64_t now = 5 * S, early = 0, late = 0;
	struct pace pace;

	pace_start(&pace, 100 * MS, now, 12345);
	is_int(pace.due, now, "the first tick is due at once");
	for (int i = 1; i <= 1000; i++) {
		uint64_t tick = 5 * S + (uint64_t)i * 100 * MS;

		pace_next(&pace, now, 0);
		if (pace.grid != tick || pace.due + 10 * MS < tick ||
		    pace.due > tick + 10 * MS)
			break;
		early += pace.due < tick;
		late += pace.due > tick;
		now = pace.due;
	}
	is_int(pace.snapshots, 1000,
	       "a thousand ticks within 10%% of a grid that does not drift");
	ok(early > 400 && late > 400, "on both sides of it");
	is_int(pace.missed, 0, "none is missed");
	ok(!pace_is_behind(&pace), "not behind");

	pace_start(&pace, 100 * MS, 0, 1);
	pace_next(&pace, 1050 * MS, 0);
	is_int(pace.missed, 10, "missed ticks are counted");
	is_int(pace.grid, 1100 * MS, "and skipped");
	for (int i = 0; i < 10; i++)
		pace_next(&pace, pace.grid + 150 * MS, 0);
	ok(pace_is_behind(&pace), "that is behind");

	pace_start(&pace, 100 * MS, 0, 1);
	pace_next(&pace, 0, pace_for_stops(&pace, 60 * MS, 20 * MS));
	is_int(pace.grid, 300 * MS, "three times the budget: a third of the rate");
	pace_next(&pace, 300 * MS, pace_for_stops(&pace, 10 * MS, 20 * MS));
	is_int(pace.grid, 400 * MS, "and back");
	pace_resume(&pace, 350 * MS, 9 * S);
	is_int(pace.due, 9 * S, "after a pause: at once");
	is_int(pace.start, 9 * S - 350 * MS, "the pause is no part of the run");
	pace_change(&pace, 20 * MS, 10 * S);
	is_int(pace.grid, 10 * S + 20 * MS, "another interval begins at once");
	pace_next(&pace, 10 * S + 21 * MS, 0);
	is_int(pace.grid, 10 * S + 40 * MS, "and goes on");
}

/* CPU time in ns: 10 ms each snapshot, every 100 ms. */
static void test_cpu(void)
{
	uint64_t now = 0, cpu = 0, wanted = 0;
	struct pace pace;
	int free_snapshots = 0;

	pace_start(&pace, 100 * MS, 0, 1);
	for (int i = 0; i < 1000; i++) {
		cpu += 10 * MS;
		pace_next(&pace, now, pace_for_cpu(&pace, now, cpu, 0));
		now = pace.grid;
	}
	is_int(pace.lowered, 0, "no limit on CPU time: the rate is not lowered");

	pace_start(&pace, 100 * MS, 0, 1);
	for (now = cpu = 0; !wanted && free_snapshots < 1000; free_snapshots++) {
		cpu += 10 * MS;
		wanted = pace_for_cpu(&pace, now, cpu, 5);
		pace_next(&pace, now, wanted);
		now = pace.grid;
	}
	ok(free_snapshots > 50 && free_snapshots < 150,
	   "10%% where 5%% are asked for: %d snapshots "
	   "of credit",
	   free_snapshots);
	is_int(wanted, 200 * MS, "then half the rate");
	is_int(pace.interval, 200 * MS, "which is used");
	for (int i = 0; !pace_is_behind(&pace) && i < free_snapshots; i++) {
		cpu += 10 * MS;
		pace_next(&pace, now, pace_for_cpu(&pace, now, cpu, 5));
		now = pace.grid;
	}
	ok(pace.snapshots < (uint64_t)free_snapshots * 3 / 2,
	   "and told soon: after %d snapshots", (int)pace.snapshots);
	for (int i = 0; i < 2000; i++) {
		cpu += 10 * MS;
		pace_next(&pace, now, pace_for_cpu(&pace, now, cpu, 5));
		now = pace.grid;
	}
	ok(cpu * 100 < 6 * now && cpu * 100 > 4 * now, "in the long run 5%%: %.2f%%",
	   100. * (double)cpu / (double)now);
	ok(pace_is_behind(&pace), "that is behind what was asked for");
	/* It gets cheaper: the rate comes back. */
	for (int i = 0; i < 2000; i++) {
		cpu += MS;
		pace_next(&pace, now, pace_for_cpu(&pace, now, cpu, 5));
		now = pace.grid;
	}
	is_int(pace.interval, 100 * MS, "1 ms each snapshot: as asked for again");

	pace_start(&pace, 100 * MS, 0, 1);
	is_int(pace_for_cpu(&pace, 0, 400 * MS, 1), 0,
	       "a dear first snapshot, which reads all symbols, is within the credit");
	is_int(pace_for_cpu(&pace, 100 * MS, 600 * MS, 100), 0, "not with 100%% either");
	wanted = pace_for_cpu(&pace, 100 * MS, 3600000 * S, 1);
	ok(wanted > 100 * S, "a snapshot of hours: no overflow, %llu s",
	   (unsigned long long)(wanted / S));
}

int main(void)
{
	test_times();
	test_numbers();
	test_words();
	test_pace();
	test_cpu();
	return done_testing();
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* When a sampler is taken for one that hangs: a table of what is seen, check by check. */
#include "lib/tap.h"

#include "run/supervise.h"

#define MS UINT64_C(1000000)

struct row {
	const char *text;
	bool holds; /* the same thread at each check */
	bool beats; /* another sign of life at each */
	bool idle, starved, finishing;
	unsigned until; /* the check at which it is not fine any more; 0: it stays so */
	enum supervise_verdict verdict;
};

static const struct row rows[] = {
	{ "one that lives", false, true, true, false, false, 0, SUPERVISE_FINE },
	{ "one that is silent, for five seconds", false, false, true, false, false, 51,
	  SUPERVISE_SILENT },
	{ "one that was told to end, for two", false, false, true, false, true, 21,
	  SUPERVISE_SILENT },
	{ "what it has sent is not read: its silence is not known", false, false, false,
	  false, false, 0, SUPERVISE_FINE },
	{ "one that has no processor", false, false, true, true, false, 0,
	  SUPERVISE_FINE },
	{ "one that has no processor, told to end", false, false, true, true, true, 0,
	  SUPERVISE_FINE },
	{ "one that holds a thread, for a second", true, true, true, false, false, 11,
	  SUPERVISE_HOLDS },
	{ "one that holds a thread and has no processor", true, false, true, true, false,
	  11, SUPERVISE_HOLDS },
	{ "one that holds a thread while nothing is read", true, false, false, false,
	  false, 11, SUPERVISE_HOLDS },
};

/* The check at which it is not fine; 0: it is after a minute. */
static unsigned first_bad(const struct row *row, enum supervise_verdict *verdict)
{
	struct supervise last = { 0 };

	*verdict = SUPERVISE_FINE;
	for (unsigned i = 1; i <= 600; i++) {
		const struct sighting seen = {
			.now = i * SUPERVISE_MS * MS,
			.held = row->holds ? 7 : 0,
			.beat = row->beats ? i : 3,
			.idle = row->idle,
			.starved = row->starved,
			.finishing = row->finishing,
		};

		*verdict = supervise_check(&last, &seen);
		if (*verdict != SUPERVISE_FINE)
			return i;
	}
	return 0;
}

static void check_table(void)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		enum supervise_verdict verdict;

		is_int(first_bad(&rows[i], &verdict), rows[i].until, "%s: at check %u",
		       rows[i].text, rows[i].until);
		is_int(verdict, rows[i].verdict, "%s: the verdict", rows[i].text);
	}
}

/* Time alone changes nothing: a machine may be frozen, or pmp suspended. */
static void check_time(void)
{
	struct supervise last = { 0 };
	struct sighting seen = { .held = 5, .beat = 1, .idle = true };
	enum supervise_verdict verdict = SUPERVISE_FINE;

	for (unsigned i = 0; i < 10; i++) {
		seen.now += 3600 * 1000 * MS;
		verdict = supervise_check(&last, &seen);
	}
	is_int(verdict, SUPERVISE_FINE, "ten checks in ten hours see nothing wrong");
	seen.held = 6;
	for (unsigned i = 0; i < 10; i++)
		verdict = supervise_check(&last, &seen);
	is_int(verdict, SUPERVISE_FINE,
	       "another thread that is held begins another count");
	is_int(supervise_check(&last, &seen), SUPERVISE_HOLDS,
	       "a second of it is too long");
}

static void check_due(void)
{
	struct supervise last = { .checked = 1000 * MS };
	const struct sighting unread = { .now = 1100 * MS };

	is_int(supervise_is_due(&last, 1050 * MS), 0, "after 50 ms no check is due");
	is_int(supervise_is_due(&last, 1100 * MS), 1, "after 100 ms one is");
	last.silent_checks = 20;
	is_int(supervise_is_stuck(&last), 0, "killed two seconds ago, it may still end");
	last.silent_checks = 21;
	is_int(supervise_is_stuck(&last), 1, "after that it is stuck");
	supervise_check(&last, &unread);
	is_int(supervise_is_stuck(&last), 0,
	       "not while nothing that it has sent is read");
}

int main(void)
{
	check_table();
	check_time();
	check_due();
	return done_testing();
}

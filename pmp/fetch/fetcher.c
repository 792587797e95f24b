/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Asks for files. Workers wait here, and must not touch data of the run. A failure that
 * would affect all files is reported, and nothing is asked for again; with several servers,
 * of which one may be down, only after three failures.
 */
#include "fetch/fetcher.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fetch/confine.h"
#include "fetch/find.h"
#include "options/value.h"
#include "run/clock.h"
#include "run/run-state.h"
#include "say/message.h"
#include "say/progress.h"
#include "say/rights.h"
#include "options/filename.h"

#define WAIT_MS 100
#define TIMEOUT_DEFAULT 90 /* seconds: the program's own */
#define TIMEOUT_MAX 86400
#define GRACE 5		  /* more seconds, for the program to time out itself */
#define PATIENCE NS_PER_S /* before progress is shown */
#define FAILURES_MAX 3	  /* with several servers */
#define WAITS_NOT (-1)

struct fetcher {
	pthread_mutex_t lock; /* held while fetching: two workers may ask for files */
	const struct run_state *state;
	struct progress *progress;
	struct find_plan plan;
	uint64_t timeout; /* seconds without a byte; 0: no limit */
	uint64_t longest; /* seconds for a file; 0: no limit */
	unsigned failures;
	unsigned waiting; /* threads in fetcher_get() */
	bool off;	  /* nothing is asked for any more */
	/* While waiting for a file: caught.end when the wait began; else WAITS_NOT. */
	int waits_since;
	uint64_t end_seen; /* with a server: when caught.end was first seen; or 0 */
	/* A message: written once, by a worker or the run, and printed by the run. */
	bool said, ready, loud;
	char text[512], hint[512];
};

/* Read a variable like the program does, but with an upper limit. */
static uint64_t read_seconds(const char *name, uint64_t usual)
{
	const char *text = getenv(name);
	uint64_t seconds;

	if (!text || !value_number(text, &seconds))
		return usual;
	return seconds < TIMEOUT_MAX ? seconds : TIMEOUT_MAX;
}

/* Prepare the program; without a cache nothing is fetched. */
static void prepare(struct fetcher *fetcher, bool verbose)
{
	const struct find_plan *plan = &fetcher->plan;
	const int number = find_prepare(&fetcher->plan);

	if (number) {
		fetcher->off = true;
		message_print(
			"DEBUGINFOD_CACHE_PATH names another directory",
			"--debuginfod fetches nothing: cannot make its cache %s: %s",
			plan->cache.path, strerror(number));
		return;
	}
	if (verbose)
		rights_note("debuginfod-find", confine_program_missing(&plan->limits));
}

int fetcher_new(const struct run_state *state, struct progress *progress, bool verbose,
		struct fetcher **fetcher, struct pmp_error *err)
{
	struct fetcher *made = calloc(1, sizeof(*made));

	if (!made)
		return message_fill(err, PMP_ENOMEM, 0,
				    "not enough memory for --debuginfod");
	pthread_mutex_init(&made->lock, NULL);
	made->state = state;
	made->progress = progress;
	made->waits_since = WAITS_NOT;
	made->timeout = read_seconds("DEBUGINFOD_TIMEOUT", TIMEOUT_DEFAULT);
	made->longest = read_seconds("DEBUGINFOD_MAXTIME", FIND_MAXTIME);
	prepare(made, verbose);
	*fetcher = made;
	return 0;
}

void fetcher_free(struct fetcher *fetcher)
{
	if (!fetcher)
		return;
	find_forget(&fetcher->plan);
	pthread_mutex_destroy(&fetcher->lock);
	free(fetcher);
}

/* ---- the end of fetching -------------------------------------------------------- */

static bool is_off(const struct fetcher *fetcher)
{
	return __atomic_load_n(&fetcher->off, __ATOMIC_ACQUIRE);
}

void fetcher_cancel(struct fetcher *fetcher)
{
	if (fetcher)
		__atomic_store_n(&fetcher->off, true, __ATOMIC_RELEASE);
}

void fetcher_tell(struct fetcher *fetcher)
{
	if (!fetcher || !__atomic_exchange_n(&fetcher->ready, false, __ATOMIC_ACQ_REL))
		return;
	if (fetcher->loud)
		message_print(fetcher->hint, "%s", fetcher->text);
	else
		message_note(fetcher->hint, "%s", fetcher->text);
}

/* False: there already is a message, or nothing is fetched any more. */
static bool begin_saying(struct fetcher *fetcher)
{
	return !is_off(fetcher) &&
	       !__atomic_exchange_n(&fetcher->said, true, __ATOMIC_ACQ_REL);
}

static void end_saying(struct fetcher *fetcher)
{
	fetcher_cancel(fetcher);
	__atomic_store_n(&fetcher->ready, true, __ATOMIC_RELEASE);
}

static void give_up(struct fetcher *fetcher, const char *reason)
{
	const char *urls = getenv("DEBUGINFOD_URLS");

	if (!begin_saying(fetcher))
		return;
	snprintf(fetcher->text, sizeof(fetcher->text),
		 "no debug files are fetched any more: %s", reason);
	snprintf(fetcher->hint, sizeof(fetcher->hint), "DEBUGINFOD_URLS is %.400s",
		 urls ? urls : "not set");
	end_saying(fetcher);
}

static void give_up_program(struct fetcher *fetcher, int number)
{
	if (!begin_saying(fetcher))
		return;
	fetcher->loud = true;
	snprintf(fetcher->text, sizeof(fetcher->text),
		 "--debuginfod fetches nothing: cannot run debuginfod-find: %s",
		 strerror(number));
	snprintf(
		fetcher->hint, sizeof(fetcher->hint),
		"install the package debuginfod (Debian, Ubuntu), elfutils-debuginfod-client "
		"(Fedora, RHEL, openSUSE), debuginfod (Arch), or the one of elfutils that "
		"has it");
	end_saying(fetcher);
}

unsigned fetcher_waiting(const struct fetcher *fetcher)
{
	return fetcher ? __atomic_load_n(&fetcher->waiting, __ATOMIC_RELAXED) : 0;
}

static bool is_asked_to_end(struct fetcher *fetcher, int since, uint64_t patience)
{
	const struct caught *caught = &fetcher->state->caught;

	if (!fetcher->state->serves)
		return caught->end != since || caught->again;
	if (caught->end && !fetcher->end_seen)
		fetcher->end_seen = now_ns();
	return caught->end && now_ns() - fetcher->end_seen >= patience;
}

/* Not for the live view, where the key q ends fetching. */
void fetcher_interrupt(struct fetcher *fetcher, uint64_t patience)
{
	int since;

	if (!fetcher || fetcher->state->keys)
		return;
	since = __atomic_load_n(&fetcher->waits_since, __ATOMIC_RELAXED);
	if (since == WAITS_NOT)
		return;
	if (fetcher->state->caught.limit || is_asked_to_end(fetcher, since, patience))
		give_up(fetcher, "interrupted");
}

/* ---- waiting -------------------------------------------------------------------- */

/* A file that is being waited for. */
struct waiting {
	const struct pmp_wanted_file *wanted;
	uint64_t start, moved; /* when the wait began, and when a byte last came */
	uint64_t done;
};

static void show(struct fetcher *fetcher, const struct waiting *waiting,
		 const struct find *find)
{
	const char *path = waiting->wanted->path, *base = filename_base(path);
	char text[256], of[32] = "", file[128];

	if (fetcher->state->keys || fetcher->state->serves ||
	    now_ns() - waiting->start < PATIENCE)
		return;
	if (find->total)
		snprintf(of, sizeof(of), ": %.1f of %.1f MB", (double)find->done / 1e6,
			 (double)find->total / 1e6);
	pmp_escape(*base ? base : path, file, sizeof(file));
	snprintf(text, sizeof(text), "fetching %s%s%s",
		 waiting->wanted->executable ? "" : "the debug file of ", file, of);
	progress_now(fetcher->progress, text);
}

static bool is_over(uint64_t since, uint64_t seconds)
{
	return seconds && now_ns() - since > (seconds + GRACE) * NS_PER_S;
}

/* Give up if nothing comes, or if the file takes too long. Before the first byte the
 * program counts its progress messages: steps of 1 are not progress. */
static void check_time(struct fetcher *fetcher, struct waiting *waiting,
		       const struct find *find)
{
	const bool late = is_over(waiting->start, fetcher->longest);
	char reason[64];

	if (find->done > waiting->done + 1)
		waiting->moved = now_ns();
	waiting->done = find->done;
	if (!late && !is_over(waiting->moved, fetcher->timeout))
		return;
	snprintf(reason, sizeof(reason), "no %s within %llu s",
		 late ? "whole file" : "answer",
		 (unsigned long long)(late ? fetcher->longest : fetcher->timeout));
	give_up(fetcher, reason);
}

/* Wait until the program has ended, or until fetching is given up. */
static void wait_for(struct fetcher *fetcher, struct waiting *waiting, struct find *find)
{
	struct pollfd output = { .fd = find->fd, .events = POLLIN };

	do {
		poll(&output, 1, WAIT_MS);
		if (output.revents && !find_read(find))
			return;
		show(fetcher, waiting, find);
		check_time(fetcher, waiting, find);
	} while (!is_off(fetcher));
}

/* ---- asking ----------------------------------------------------------------------- */

/* Why was there no file? Either no server has it, or the failure
 * affects other files as well. */
static void judge(struct fetcher *fetcher, const struct find *find)
{
	const char *urls = getenv("DEBUGINFOD_URLS"), *reason = find->problem;
	const bool several = urls && strpbrk(urls + strspn(urls, " \t\n"), " \t\n");

	if (strcmp(reason, strerror(ENOENT)) == 0 || strcmp(reason, strerror(EFBIG)) == 0)
		return;
	if (several && ++fetcher->failures < FAILURES_MAX)
		return;
	if (strcmp(reason, strerror(EHOSTUNREACH)) == 0)
		reason = "unknown name";
	else if (strcmp(reason, strerror(ETIME)) == 0)
		reason = "no answer in time";
	give_up(fetcher, *reason ? reason : "debuginfod-find has failed");
}

/* While waiting, a second signal that asks pmp to end only ends the fetch,
 * unless there is a server. */
static void set_waiting(struct fetcher *fetcher, bool waiting)
{
	const int asked_end =
		__atomic_load_n(&fetcher->state->caught.end, __ATOMIC_RELAXED);

	if (fetcher->state->keys)
		return;
	signals_bear(waiting && !fetcher->state->serves);
	__atomic_store_n(&fetcher->waits_since, waiting ? asked_end : WAITS_NOT,
			 __ATOMIC_RELAXED);
	if (!waiting && !fetcher->state->serves)
		progress_clear();
}

static int get(struct fetcher *fetcher, const struct pmp_wanted_file *wanted)
{
	const uint64_t now = now_ns();
	struct waiting waiting = { .wanted = wanted, .start = now, .moved = now };
	struct find find;
	int number, file = -1;

	if (is_off(fetcher))
		return -1;
	number = find_start(&find, &fetcher->plan, wanted, fetcher->state->own);
	if (number) {
		give_up_program(fetcher, number);
		return -1;
	}
	set_waiting(fetcher, true);
	wait_for(fetcher, &waiting, &find);
	set_waiting(fetcher, false);
	if (*find.path)
		file = cache_file(&fetcher->plan.cache, find.path);
	else if (!is_off(fetcher))
		judge(fetcher, &find);
	find_end(&find);
	return file;
}

int fetcher_get(void *arg, const struct pmp_wanted_file *wanted)
{
	struct fetcher *fetcher = arg;
	int file;

	__atomic_add_fetch(&fetcher->waiting, 1, __ATOMIC_RELAXED);
	pthread_mutex_lock(&fetcher->lock);
	file = get(fetcher, wanted);
	pthread_mutex_unlock(&fetcher->lock);
	__atomic_sub_fetch(&fetcher->waiting, 1, __ATOMIC_RELAXED);
	return file;
}

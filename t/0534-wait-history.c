/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What several samples say of waits: since when a thread was found in the same one, and who
 * has left the queue of a lock; with each thing that makes that uncertain nothing is said.
 */
#include "lib/tap.h"

#include "tally/wait-history.h"

#include <stdlib.h>

#define LOCK 0x5000
#define OTHER 0x6000
#define FIRST 10 /* tid of the first thread */

static uint64_t readings;

/* One that does something else has a stack of its own. */
static void add_thread(struct pmp_sample *sample, pid_t tid, uint64_t object,
		       uint64_t reading)
{
	struct pmp_raw_frame frames[] = { { 1, 0 }, { object ? 2 : 3, 0 } };
	struct pmp_thread *thread = pmp_sample_add_thread(sample);

	if (!thread || pmp_sample_add_frames(sample, frames, 2))
		abort();
	thread->tid = tid;
	thread->reading = reading;
	if (object)
		thread->wait = (struct pmp_wait){ .kind = PMP_WAIT_FUTEX,
						  .flags = PMP_WAIT_PROVEN,
						  .object = object };
}

/*
 * A sample a second after the last one. what: of each thread from FIRST on, in capitals if it
 * has run since: a waits for LOCK, b for OTHER, r for nothing, - it is not there.
 */
static struct pmp_sample *make(const char *what)
{
	static uint64_t last[16], time = 1000;
	struct pmp_sample *sample = pmp_sample_new();

	if (!sample)
		abort();
	sample->time = time += 1000;
	for (size_t i = 0; what[i]; i++) {
		char does = what[i] | 32;

		if (does != what[i] || !last[i])
			last[i] = ++readings;
		if (what[i] != '-')
			add_thread(sample, FIRST + (pid_t)i,
				   does == 'a'	 ? LOCK
				   : does == 'b' ? OTHER
						 : 0,
				   last[i]);
	}
	return sample;
}

static void take(struct pmp_wait_history *history, struct pmp_sample *sample)
{
	if (pmp_wait_history_add(history, sample))
		abort();
	pmp_sample_free(sample);
}

/* ---- who has left ------------------------------------------------------------------- */

static pid_t taker(const struct pmp_wait_history *history, pid_t of)
{
	const struct pmp_taken_lock *taken = pmp_wait_history_taken(history, of);

	return taken ? taken->taker : 0;
}

static const struct {
	const char
		*samples[5]; /* threads 10, 11, ...; the first one waits until the end */
	pid_t taker;	     /* of its lock */
	const char *text;
} queues[] = {
	{ { "aar", "aRr" }, 11, "one of two has left the queue: it took the lock" },
	{ { "aar", "aRr", "aRR", "arr" }, 11, "it has it for as long as no other runs" },
	{ { "aaar", "aRaR", "aRRr" }, 12, "the next one has left: it has it now" },
	{ { "aaar", "aRRr" }, 0, "two have left: not known which" },
	{ { "aaar", "aRAr" }, 0, "one has left, one has run: not known" },
	{ { "aar", "aar" }, 0, "none has left" },
	{ { "aar", "Arr" }, 0, "none that waits has not run" },
	{ { "aar", "a-r" }, 0, "one is not there any more: it may have ended" },
	{ { "aar", "aRr", "a-r" }, 0, "who took it has ended" },
	{ { "aar", "aRr", "aAr" }, 0, "who took it has come back" },
	{ { "aar", "aBr" }, 11, "who took it may wait for another one" },
	{ { "aaar", "aRar", "arAr" },
	  0,
	  "another one has run in vain: not known any more" },
	{ { "aar", "aRr", "aRA" }, 11, "one more has come" },
	{ { "ar", "ar" }, 0, "the only one stays" },
	{ { "bar", "bRr" }, 0, "of another lock nothing is said" },
};

static void test_queues(void)
{
	for (size_t i = 0; i < sizeof(queues) / sizeof(*queues); i++) {
		struct pmp_wait_history history = { .pid = FIRST };

		for (size_t k = 0; k < 5 && queues[i].samples[k]; k++)
			take(&history, make(queues[i].samples[k]));
		is_int(taker(&history, FIRST), queues[i].taker, "%s", queues[i].text);
		pmp_wait_history_free(&history);
	}
}

/* Thread 11 leaves, but something is special. */
static pid_t taker_if(void (*before)(struct pmp_sample *sample),
		      void (*after)(struct pmp_sample *sample))
{
	struct pmp_wait_history history = { .pid = FIRST };
	struct pmp_sample *sample = make("aar");
	pid_t found;

	if (before)
		before(sample);
	take(&history, sample);
	sample = make("aRr");
	if (after)
		after(sample);
	take(&history, sample);
	found = taker(&history, FIRST);
	pmp_wait_history_free(&history);
	return found;
}

static void timed(struct pmp_sample *sample)
{
	sample->threads[1].wait.flags |= PMP_WAIT_TIMED;
}

static void unproven(struct pmp_sample *sample)
{
	sample->threads[1].wait.flags = 0;
}

static void conditions(struct pmp_sample *sample)
{
	for (size_t i = 0; i < 2; i++)
		sample->threads[i].wait.kind = PMP_WAIT_CONDITION;
}

static void unread(struct pmp_sample *sample)
{
	sample->threads[1].reading = 0;
}

static void exec(struct pmp_sample *sample)
{
	sample->execed = true;
}

static void test_uncertain(void)
{
	is_int(taker_if(NULL, NULL), 11, "one leaves the queue");
	is_int(taker_if(timed, NULL), 0, "it may have given up, as it had a timeout");
	is_int(taker_if(unproven, NULL), 0, "it was not proven to wait");
	is_int(taker_if(conditions, NULL), 0, "a condition cannot be taken");
	is_int(taker_if(NULL, unread), 0, "it is not known whether it has run");
	is_int(taker_if(NULL, exec), 0, "another program is executed");
}

static void test_times(void)
{
	struct pmp_wait_history history = { .pid = FIRST };
	uint64_t second;

	take(&history, make("aar"));
	take(&history, make("aar"));
	second = history.time;
	take(&history, make("aRr"));
	take(&history, make("arr"));
	ok(pmp_wait_history_taken(&history, FIRST)->after == second,
	   "it was taken after the last sample in which it waited");
	ok(!pmp_wait_history_taken(&history, FIRST + 1) &&
		   !pmp_wait_history_taken(&history, FIRST + 9),
	   "who does not wait waits for none that was taken");
	pmp_wait_history_free(&history);
}

/* ---- since when ---------------------------------------------------------------------- */

static void test_since(void)
{
	struct pmp_wait_history history = { .pid = FIRST };
	struct pmp_sample *sample;
	uint64_t first;

	take(&history, make("rar"));
	first = history.time;
	take(&history, make("RaR"));
	take(&history, make("rAr"));
	ok(pmp_wait_history_of(&history, FIRST + 1)->since == first,
	   "a thread that wakes now and then waits since the first sample");
	sample = make("rAr");
	sample->frames[2].pc++;
	take(&history, sample);
	ok(pmp_wait_history_of(&history, FIRST + 1)->since == history.time,
	   "not if its stack is another one");
	take(&history, make("rBr"));
	ok(pmp_wait_history_of(&history, FIRST + 1)->since == history.time,
	   "nor if it waits for another lock");
	first = history.time;
	sample = make("rbr");
	sample->threads[1].wait.kind = PMP_WAIT_MUTEX;
	take(&history, sample);
	ok(pmp_wait_history_of(&history, FIRST + 1)->since > first,
	   "nor if it waits in another way");
	take(&history, make("rRr"));
	take(&history, make("rBr"));
	ok(pmp_wait_history_of(&history, FIRST + 1)->since == history.time,
	   "nor if it has done something else in between");
	ok(!pmp_wait_history_of(&history, FIRST + 9), "of no thread nothing is known");
	pmp_wait_history_free(&history);
}

/* ---- processes ------------------------------------------------------------------------ */

static const struct pmp_wait_history *add(struct pmp_wait_histories *histories, pid_t pid,
					  const char *what)
{
	struct pmp_sample *sample = make(what);
	const struct pmp_wait_history *history;

	sample->pid = pid;
	history = pmp_wait_histories_add(histories, sample);
	if (!history)
		abort();
	pmp_sample_free(sample);
	return history;
}

static void test_processes(void)
{
	struct pmp_wait_histories histories = { 0 };
	const struct pmp_wait_history *history = add(&histories, 1, "aar");
	uint64_t first = history->time;
	int since = 0;

	add(&histories, 2, "rbr");
	history = add(&histories, 1, "aar");
	ok(pmp_wait_history_of(history, FIRST)->since == first,
	   "each process has a history of its own");
	ok(pmp_wait_history_near(history, FIRST + 1, 1)->tid == FIRST + 1 &&
		   pmp_wait_history_near(history, FIRST + 1, 0)->tid == FIRST + 1 &&
		   !pmp_wait_history_near(history, FIRST + 9, 1),
	   "a thread is found wherever it is");
	pmp_wait_histories_drop(&histories, 1);
	history = add(&histories, 1, "aar");
	ok(pmp_wait_history_of(history, FIRST)->since == history->time,
	   "of one that has ended nothing is known");
	for (pid_t pid = 100; pid < 400; pid++)
		add(&histories, pid, "a");
	for (pid_t pid = 100; pid < 400; pid++) {
		history = add(&histories, pid, "a");
		since += pmp_wait_history_of(history, FIRST)->since < history->time;
	}
	is_int(since, 300, "300 processes have their own at a time");
	for (pid_t pid = 1000; pid < 3000; pid++)
		add(&histories, pid, "r");
	is_int((long long)histories.count, 1000,
	       "but there are not more and more of them");
	first = add(&histories, 2999, "a")->time;
	ok(pmp_wait_history_of(add(&histories, 2999, "a"), FIRST)->since == first,
	   "those that were seen last are kept");
	pmp_wait_histories_free(&histories);
}

int main(void)
{
	test_queues();
	test_uncertain();
	test_times();
	test_since();
	test_processes();
	return done_testing();
}

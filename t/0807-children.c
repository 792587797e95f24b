/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Who descends from whom, of processes that do not exist. */
#include "libpmp-program.h"
#include "lib/tap.h"

#include <pthread.h>
#include <time.h>
#include <unistd.h>

#include "run/own-processes.h"
#include "sampler/children.h"

#define STARTED 7

/* What pmp_procwatch_next() would give. */
static struct pmp_new_process processes[8];
static size_t process_count;

static pid_t sampled[16];
static size_t sampled_count;

static bool is_sampled(void *arg, pid_t pid)
{
	(void)arg;
	for (size_t i = 0; i < sampled_count; i++) {
		if (sampled[i] == pid)
			return true;
	}
	return false;
}

static void add(pid_t pid, pid_t parent, pid_t session)
{
	processes[process_count++] =
		(struct pmp_new_process){ pid, parent, session, STARTED };
}

/* Those that are to be sampled now, as "12 13"; each is then, unless it refuses. */
static const char *found(struct children *children, pid_t refuses)
{
	static char text[128];
	size_t length = 0;
	pid_t pid;

	children->list = processes;
	children->count = process_count;
	children->next = 0;
	children->again = false;
	children->given_count = 0;
	text[0] = '\0';
	while ((pid = children_next(children, is_sampled, NULL)) && length < 100) {
		length += (size_t)snprintf(text + length, sizeof(text) - length, "%s%d",
					   length ? " " : "", (int)pid);
		if (pid != refuses)
			sampled[sampled_count++] = pid;
	}
	process_count = 0;
	return text;
}

/* A fork that takes longer than the other one. */
static void *add_later(void *own)
{
	const struct timespec rest = { .tv_nsec = 50000000 };

	nanosleep(&rest, NULL);
	own_processes_add(own, 81);
	return NULL;
}

static void test_own(struct children *children)
{
	struct own_processes *own = own_processes_new();
	pthread_t thread;

	children->own = own;
	own_processes_begin(own);
	own_processes_add(own, 70);
	own_processes_begin(own);
	own_processes_add(own, -1);
	add(70, 99, 1);
	add(71, 99, 1);
	is_str(found(children, 0), "71", "nor is what it starts for itself");
	own_processes_remove(own, 70);
	add(70, 99, 1);
	is_str(found(children, 0), "70", "until that has ended");
	own_processes_begin(own);
	own_processes_begin(own);
	own_processes_add(own, 80);
	pthread_create(&thread, NULL, add_later, own);
	add(80, 99, 1);
	add(81, 99, 1);
	is_str(found(children, 0), "", "two are forked at a time: it waits for both");
	pthread_join(thread, NULL);
	own_processes_free(own);
	children->own = NULL;
}

/* Those that a sampler died on. */
static void test_left_out(struct children *children)
{
	struct sampler_target all[] = { { 90, STARTED }, { 91, STARTED - 1 }, { 92, 0 } };

	children->left_out = (struct sampler_targets){ all, 3 };
	for (pid_t pid = 90; pid < 94; pid++)
		add(pid, 10, 1);
	add(95, 90, 1);
	is_str(found(children, 0), "91 93",
	       "what is left out is not given, nor its children; its id is when another "
	       "process has it");
}

int main(void)
{
	struct children children = { 0 };

	sampled[sampled_count++] = 10;
	add(12, 10, 1);
	add(13, 12, 1);
	add(14, 11, 1);
	is_str(found(&children, 0), "12 13", "children and theirs, no other");
	add(9, 8, 1);
	add(8, 13, 1);
	is_str(found(&children, 0), "8 9", "also when ids have started again");
	add(12, 10, 1);
	is_str(found(&children, 0), "", "none twice");
	add(20, 10, 1);
	add(21, 20, 1);
	is_str(found(&children, 20), "20 21",
	       "one that cannot be sampled is given once, and its children");
	add(22, 20, 1);
	is_str(found(&children, 0), "", "not in later scans: its id may be another's");
	add(30, 1, 12);
	add(31, 1, 77);
	is_str(found(&children, 0), "30", "one whose session was begun by one of them");
	sampled[1] = 0;
	children_ended(&children, 12);
	add(40, 1, 12);
	add(41, 12, 1);
	is_str(found(&children, 0), "40", "which may have ended; a parent may not");
	for (pid_t pid = 1000; pid < 1000 + PMP_CHILDREN_PAST; pid++)
		children_ended(&children, pid);
	add(50, 1, 12);
	add(51, 1, 1000 + PMP_CHILDREN_PAST - 1);
	is_str(found(&children, 0), "51", "the last that have ended are remembered");
	add(60, 99, 1);
	is_str(found(&children, 0), "", "a stranger");
	children.adopter = 99;
	add(60, 99, 1);
	add(getpid(), 99, 1);
	add(99, 10, 1);
	is_str(found(&children, 0), "60", "is none if pmp has adopted it; pmp itself is");
	test_own(&children);
	test_left_out(&children);
	return done_testing();
}

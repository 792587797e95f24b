/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The tree of calls as JSON: its form, what threads did in it, what is put together when
 * there is too much of it, and that nothing is lost then.
 */
#include <inttypes.h>
#include <sys/syscall.h>

#include "lib/tap.h"
#include "base/buf.h"
#include "libpmp-program.h"
#include "tally/profile.h"

struct fake_function {
	const char *name, *file, *module;
	unsigned line;
	bool inlined, unnamed, signal, exact;
};

static const struct fake_function fake_functions[] = {
	{ .name = "main", .module = "/usr/bin/server", .file = "main.c", .line = 3 },
	{ .name = "work", .module = "/usr/bin/server", .file = "work.c", .line = 4 },
	{ .name = "poll", .module = "/lib/libc.so.6" },
	{ .name = "__lll_lock_wait", .module = "/lib/libc.so.6" },
	{ .name = "fsync", .module = "/lib/libc.so.6" },
	{ .name = "</script>&\xe2\x80\xa8", .module = "/tmp/<b>" },
	{ .name = "work", .module = "/opt/libother.so", .file = "other.c" },
	{ .name = "main", .module = "/usr/bin/server", .file = "included.c" },
};
enum { MAIN, WORK, POLL, LOCK, FSYNC, HOSTILE, OTHER, INCLUDED };

#include "lib/fakenames.h"

#define SECOND UINT64_C(1000000000)

static int buf_write(void *arg, const void *data, size_t length)
{
	pmp_buf_add(arg, data, length);
	return 0;
}

static struct pmp_buf tree_of(struct pmp_profile *profile, struct pmp_profile *base,
			      const struct pmp_tree_options *options)
{
	struct pmp_report_options what = { .size = sizeof(what) };
	struct pmp_report *report, *base_report = NULL;
	struct pmp_buf buf = { 0 };
	struct pmp_sink sink = { .write = buf_write, .arg = &buf };

	if (base && pmp_report_new(base, NULL, NULL, &base_report, NULL))
		abort();
	what.base = base_report;
	if (pmp_report_new(profile, NULL, &what, &report, NULL))
		abort();
	is_int(pmp_report_write_tree(report, options, &sink, NULL), 0, "written");
	pmp_buf_puts(&buf, "");
	pmp_report_free(report);
	pmp_report_free(base_report);
	return buf;
}

static struct pmp_profile *new_profile(bool details)
{
	const struct pmp_profile_options options = {
		.size = sizeof(options),
		.details = details,
	};
	struct pmp_profile *profile;

	if (pmp_profile_new(&options, NULL, &profile, NULL))
		abort();
	return profile;
}

static struct pmp_sample *new_sample(uint64_t time)
{
	struct pmp_sample *sample = pmp_sample_new();

	if (!sample)
		abort();
	sample->pid = 41;
	sample->time = time;
	strcpy(sample->name, "server");
	return sample;
}

static void add(struct pmp_profile *profile, struct pmp_sample *sample)
{
	sample->seen = sample->thread_count;
	if (pmp_profile_add(profile, sample, NULL))
		abort();
	pmp_sample_free(sample);
}

/* Five threads, a second apart: the first runs and has had half of a processor, the last
 * is never found running, but has had a quarter. */
static struct pmp_profile *busy_profile(unsigned snapshots)
{
	struct pmp_profile *profile = new_profile(true);

	for (unsigned i = 0; i < snapshots; i++) {
		struct pmp_sample *sample = new_sample(SECOND * (i + 5));
		struct pmp_thread *thread;

		thread = fake_thread(sample, 42, "run-1", FAKE_STACK(WORK, MAIN));
		thread->state = 'R';
		thread->cpu = SECOND * (i + 2) / 2;
		thread = fake_thread(sample, 43, "run-2", FAKE_STACK(LOCK, WORK, MAIN));
		thread->syscall = SYS_futex;
		thread->cpu = 1;
		thread = fake_thread(sample, 44, "disk", FAKE_STACK(FSYNC, MAIN));
		thread->syscall = SYS_fsync;
		thread->cpu = 1;
		thread = fake_thread(sample, 45, "disk", FAKE_STACK(WORK));
		thread->state = 'D';
		thread->cpu = 1;
		thread = fake_thread(sample, 46, "poll", FAKE_STACK(POLL, MAIN));
		thread->syscall = SYS_ppoll;
		thread->cpu = SECOND * (i + 4) / 4;
		add(profile, sample);
	}
	return profile;
}

static void test_states(void)
{
	const struct pmp_tree_options options = { .size = sizeof(options) };
	struct pmp_profile *profile = busy_profile(3);
	struct pmp_buf got = tree_of(profile, NULL, &options);

	is_str(got.data,
	       "{\"unit\":\"us\",\"states\":[\"run\",\"ready\",\"lock\",\"disk\",\"sleep\"],"
	       "\"split\":\"\",\n"
	       "\"names\":[\"all\",\"[ran between snapshots]\",\"__lll_lock_wait\",\"fsync\","
	       "\"main\",\"poll\",\"server\",\"work\"],\n"
	       "\"modules\":[\"libc.so.6\",\"server\"],\n"
	       "\"module\":[-1,-1,0,0,1,0,-1,1],\n"
	       "\"files\":[\"main.c\",\"work.c\"],\n"
	       "\"file\":[-1,-1,-1,-1,0,-1,-1,1],\n"
	       "\"depth\":[0,1,2,2,3,3,3,4,2],\n"
	       "\"name\":[0,6,1,4,3,5,7,2,7],\n"
	       "\"v\":[[-2,500000,-3,1000000],\n"
	       "[-6,1000000],\n"
	       "[-7,2000000],\n"
	       "[-4,2000000,-3,2000000],\n"
	       "[-5,1500000]],\n"
	       "\"idle\":[-5,1500000],\n"
	       "\"samples\":[-4,3,3,3,3,3],\n"
	       "\"idle_samples\":[-5,3]}",
	       "what was measured as CPU time is run, and is not counted as sleep as well");
	pmp_buf_free(&got);
	pmp_profile_free(profile);
	profile = busy_profile(1);
	got = tree_of(profile, NULL, NULL);
	ok(strstr(got.data, "{\"unit\":\"samples\"") &&
		   !strstr(got.data, "\"samples\":") &&
		   strstr(got.data,
			  "\"v\":[[-5,1],\n[],\n[-6,1],\n[-3,1,-3,1],\n[-4,1]]"),
	   "of one snapshot samples are counted: %s", strstr(got.data, "\"v\""));
	pmp_buf_free(&got);
	pmp_profile_free(profile);
}

static void test_split(void)
{
	const struct pmp_tree_options groups = { .size = sizeof(groups),
						 .by_group = true },
				      threads = { .size = sizeof(threads),
						  .by_thread = true };
	struct pmp_profile *profile = busy_profile(3), *plain = new_profile(false);
	struct pmp_buf got = tree_of(profile, NULL, &groups);

	ok(strstr(got.data, "\"split\":\"group\"") && strstr(got.data, "\"run-N\"") &&
		   !strstr(got.data, "run-1"),
	   "by groups of threads: %s", got.data);
	pmp_buf_free(&got);
	got = tree_of(profile, NULL, &threads);
	ok(strstr(got.data, "\"split\":\"thread\"") && strstr(got.data, "\"run-1\""),
	   "by threads: %s", got.data);
	pmp_buf_free(&got);
	got = tree_of(plain, NULL, &groups);
	ok(strstr(got.data, "\"split\":\"\"") && strstr(got.data, "\"depth\":[0],"),
	   "nothing was found: %s", got.data);
	pmp_buf_free(&got);
	pmp_profile_free(profile);
	pmp_profile_free(plain);
}

/* Only what begins with some nodes. */
static void test_under(void)
{
	struct pmp_tree_options options = { .size = sizeof(options),
					    .by_thread = true,
					    .under = "" };
	struct pmp_profile *profile = busy_profile(3);
	struct pmp_buf all = tree_of(profile, NULL, &options), got;
	char *process = strstr(all.data, "\"all\",");

	ok(process != NULL, "all of it: %s", all.data);
	options.under = "server;run-1";
	got = tree_of(profile, NULL, &options);
	ok(strstr(got.data, "\"run-1\"") && !strstr(got.data, "\"run-2\""),
	   "one thread: %s", got.data);
	pmp_buf_free(&got);
	options.under = "server;run";
	got = tree_of(profile, NULL, &options);
	ok(strstr(got.data, "\"depth\":[0],"), "no such name: %s", got.data);
	pmp_buf_free(&got);
	options.under = "server;run-1;a;a;a;a;a;a;a;a;a";
	got = tree_of(profile, NULL, &options);
	ok(strstr(got.data, "\"depth\":[0],"), "deeper than any: %s", got.data);
	pmp_buf_free(&got);
	pmp_buf_free(&all);
	pmp_profile_free(profile);
}

static void test_hostile(void)
{
	struct pmp_profile *profile = new_profile(true);
	struct pmp_sample *sample = new_sample(SECOND);
	struct pmp_buf got;

	fake_thread(sample, 42, "a<b>&\xff", FAKE_STACK(HOSTILE));
	add(profile, sample);
	got = tree_of(profile, NULL, NULL);
	ok(!strpbrk(got.data, "<>&") && strstr(got.data, "\\u003c/script\\u003e\\u0026?"),
	   "nothing ends an element: %s", got.data);
	pmp_buf_free(&got);
	pmp_profile_free(profile);
}

static void test_base(void)
{
	struct pmp_profile *profile = busy_profile(3), *base = new_profile(false);
	struct pmp_sample *sample = new_sample(SECOND);
	struct pmp_buf got;

	fake_thread(sample, 42, "old", FAKE_STACK(WORK, MAIN));
	fake_thread(sample, 43, "old", FAKE_STACK(POLL, WORK));
	add(base, sample);
	got = tree_of(profile, base, NULL);
	ok(strstr(got.data, "\"depth\":[0,1,2,2,3,3,3,4,2,3],\n") &&
		   strstr(got.data, "\"samples\":[-4,3,3,3,3,3],\n") &&
		   strstr(got.data, "\"base\":[-6,1,-2,1],\n\"base_idle\":[-9,1]}"),
	   "with what the base has, only that included: %s", got.data);
	pmp_buf_free(&got);
	pmp_profile_free(profile);
	pmp_profile_free(base);
}

/* ---- too much ------------------------------------------------------------------------ */

/* The numbers of an array, zeros as they are; their sum. */
static uint64_t sum_of(const char *json, const char *name, size_t *count)
{
	const char *at = strstr(json, name);
	uint64_t sum = 0;

	*count = 0;
	for (at = at ? strchr(at, '[') : NULL; at && *at != ']'; (*count)++) {
		int64_t number = strtoll(at + 1, (char **)&at, 10);

		sum += number > 0 ? (uint64_t)number : 0;
	}
	return sum;
}

static bool has_negative(const char *json, const char *name)
{
	const char *at = strstr(json, name);

	return !at || memchr(at, '-', strcspn(at, "]"));
}

/* Stacks of 10 functions; those with a higher number are rarer. */
static struct pmp_profile *large_profile(size_t stacks)
{
	struct pmp_profile *profile = new_profile(false);
	struct pmp_sample *sample = new_sample(SECOND);

	for (size_t i = 0; i < stacks; i++) {
		int stack[11];

		for (size_t j = 0, number = i; j < 10; j++, number /= 5)
			stack[9 - j] = (int)(number % 5);
		stack[10] = -1;
		for (size_t j = 0; j < 1 + 40 / (i + 1); j++)
			fake_thread(sample, (pid_t)(i * 50 + j) + 1, "x", stack);
	}
	add(profile, sample);
	return profile;
}

static void test_limits(void)
{
	struct pmp_profile *profile = large_profile(3000);
	size_t all, nodes, some;
	uint64_t samples;
	struct pmp_tree_options options = { .size = sizeof(options), .nodes = 100000 };
	struct pmp_buf got = tree_of(profile, NULL, &options);

	samples = sum_of(strstr(got.data, "\"v\":["), "\n[-", &some);
	sum_of(got.data, "\"depth\":", &all);
	ok(all > 10000 && !has_negative(got.data, "\"name\":"),
	   "%zu nodes, none is put together", all);
	pmp_buf_free(&got);
	for (unsigned i = 0; i < 5; i++) {
		static const struct {
			unsigned px;
			size_t nodes;
		} cases[] = {
			{ 0, 1 }, { 0, 5 }, { 0, 50 }, { 0, 1000 }, { 20, 100000 }
		};
		options.px = cases[i].px;
		options.nodes = cases[i].nodes;
		got = tree_of(profile, NULL, &options);
		sum_of(got.data, "\"depth\":", &nodes);
		ok(nodes < all / 5 && nodes <= 2 * cases[i].nodes &&
			   (cases[i].px || nodes >= cases[i].nodes) &&
			   has_negative(got.data, "\"name\":"),
		   "%u pixels, %zu nodes: %zu", cases[i].px, cases[i].nodes, nodes);
		is_int(sum_of(strstr(got.data, "\"v\":["), "\n[-", &some), samples,
		       "nothing is lost");
		pmp_buf_free(&got);
	}
	pmp_profile_free(profile);
}

/* All functions of it are equally wide. */
static void test_one_stack(void)
{
	struct pmp_profile *profile = large_profile(1);
	struct pmp_tree_options options = { .size = sizeof(options), .nodes = 5 };
	struct pmp_buf got = tree_of(profile, NULL, &options);
	size_t nodes;

	sum_of(got.data, "\"depth\":", &nodes);
	ok(nodes >= 5 && nodes <= 7, "5 of the functions of one stack: %zu", nodes);
	ok(has_negative(got.data, "\"name\":"), "the others are put together");
	pmp_buf_free(&got);
	pmp_profile_free(profile);
}

/* Two functions of one name are one, which is in no single module. */
static void test_several(void)
{
	const struct pmp_tree_options options = { .size = sizeof(options) };
	struct pmp_profile *profile = new_profile(false);
	struct pmp_sample *sample = new_sample(SECOND);
	struct pmp_buf got;

	fake_thread(sample, 42, "a", FAKE_STACK(WORK, MAIN));
	fake_thread(sample, 43, "b", FAKE_STACK(OTHER, MAIN));
	fake_thread(sample, 44, "c", FAKE_STACK(INCLUDED));
	add(profile, sample);
	got = tree_of(profile, NULL, &options);
	ok(strstr(got.data, "\"modules\":[\"server\",\"several\"],"),
	   "a name in two modules is in several");
	ok(strstr(got.data, "\"files\":[\"main.c\"],") && !strstr(got.data, "work.c"),
	   "and in no file");
	pmp_buf_free(&got);
	pmp_profile_free(profile);
}

int main(void)
{
	test_states();
	test_split();
	test_under();
	test_hostile();
	test_base();
	test_limits();
	test_one_stack();
	test_several();
	done_testing();
}

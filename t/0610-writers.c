/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Every format of the table against its golden files, t/data/golden/CASE.FORMAT
 * (renewed with PMP_UPDATE=1); empty profiles, hostile names, sinks that fail,
 * and that the time to write grows with the number of stacks only.
 */
#include <errno.h>
#include <locale.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <time.h>

#include "lib/tap.h"
#include "heap-batch.h"
#include "libpmp-program.h"
#include "lib/report.h"
#include "base/buf.h"
#include "libpmp.h"
#include "tally/profile.h"

struct fake_function {
	const char *name, *file, *module;
	unsigned line;
	bool inlined, unnamed, signal, exact;
};

/* Golden files have the names of the first ones. */
#ifdef SYS_poll
#define POLL_CALL SYS_poll
#define EPOLL_WAIT_CALL SYS_epoll_wait
#else
#define POLL_CALL SYS_ppoll
#define EPOLL_WAIT_CALL SYS_epoll_pwait
#define OTHER_NAMES
#endif
#define LIBC "/usr/lib/x86_64-linux-gnu/libc.so.6"
#define SERVER "/usr/sbin/mariadbd"

static char long_name[5001];

static const struct fake_function fake_functions[] = {
	{ .name = "poll", .module = LIBC },
	{ .name = "__lll_lock_wait", .module = LIBC },
	{ .name = "pthread_mutex_lock@@GLIBC_2.2.5", .module = LIBC },
	{ .name = "start_thread", .module = LIBC },
	{ .name = "<signal handler called>", .module = LIBC, .signal = true },
	{ .name = "clock_gettime", .module = "[vdso]" },
	{ .name = "main", .module = SERVER, .file = "/src/sql/main.cc", .line = 34 },
	{ .name = "do_command(THD*)",
	  .module = SERVER,
	  .file = "sql_parse.cc",
	  .line = 1405 },
	{ .name = "std::map<int, std::string>::find(int const&)",
	  .module = SERVER,
	  .file = "/usr/include/c++/12/bits/stl_map.h",
	  .line = 1215,
	  .inlined = true },
	{ .name = "(anonymous namespace)::Pool::get(int)",
	  .module = SERVER,
	  .file = "/src/sql/pool.cc",
	  .line = 99 },
	{ .name = "operator new(unsigned long)", .module = "/usr/lib/libstdc++.so.6" },
	{ .name = "run()::{lambda(int)#1}::operator()(int) const", .module = SERVER },
	{ .name = "[plugin.so+0x1234]", .module = "/usr/lib/plugin.so", .unnamed = true },
	{ .name = "bool Set<int>::erase<long>(long)", .module = SERVER },
	{ .name = "<alloc::vec::Vec<T> as core::fmt::Debug>::fmt", .module = SERVER },
	/* from here on hostile */
	{ .name = "a;b,c \"d\"\n\033]0;pwn\a 7", .module = "/tmp/x y\n\033/li,b;.so" },
	{ .name = "", .module = "" },
	{ .name = "\xff\xfe\xc2\x9b<(", .module = "rel;ative" },
	{ .name = long_name, .module = SERVER },
	{ .name = "worker 12", .module = "/tmp/worker 12", .file = "a b.c", .line = 1 },
};

enum {
	POLL,
	LOCK_WAIT,
	MUTEX_LOCK,
	START_THREAD,
	SIGNAL,
	VDSO,
	MAIN,
	DO_COMMAND,
	MAP_FIND,
	POOL_GET,
	OP_NEW,
	LAMBDA,
	UNNAMED,
	ERASE,
	RUST,
	HOSTILE,
	EMPTY,
	BYTES,
	LONG,
	WORKER,
};

#include "lib/fakenames.h"

/* ---- a sink in memory ------------------------------------------------------ */

static int buf_write(void *arg, const void *data, size_t length)
{
	pmp_buf_add(arg, data, length);
	return 0;
}

/* base: NULL, or what it is compared with. */
static struct pmp_buf compared(struct pmp_profile *profile, struct pmp_profile *base,
			       const struct pmp_format *format,
			       const struct pmp_write_options *options)
{
	struct pmp_buf buf = { 0 };
	struct pmp_sink sink = { .write = buf_write, .arg = &buf };
	struct pmp_error err = { .message = "" };

	if (report_write(profile, base, NULL, format, options, &sink, &err))
		diag("%s: %s", format->name, err.message);
	pmp_buf_puts(&buf, "");
	return buf;
}

static struct pmp_buf written(struct pmp_profile *profile,
			      const struct pmp_format *format,
			      const struct pmp_write_options *options)
{
	return compared(profile, NULL, format, options);
}

/* ---- samples ----------------------------------------------------------------- */

static struct pmp_sample *new_sample(pid_t pid, const char *name)
{
	struct pmp_sample *sample = pmp_sample_new();

	if (!sample)
		abort();
	sample->pid = pid;
	sample->realtime = 1795234116123456789ull;
	snprintf(sample->name, sizeof(sample->name), "%s", name);
	return sample;
}

static void blocked(struct pmp_thread *thread, int syscall, const char *wchan)
{
	thread->syscall = syscall;
	strcpy(thread->wchan, wchan);
	thread->tls = 0x7f31c0ff0000ull + 0x1000 * thread->tid;
}

static void waits(struct pmp_thread *thread, enum pmp_wait_kind kind, uint64_t object,
		  enum pmp_holder_is is, pid_t holder)
{
	thread->wait = (struct pmp_wait){ .kind = (uint8_t)kind,
					  .holder_is = (uint8_t)is,
					  .flags = PMP_WAIT_PROVEN,
					  .holder = holder,
					  .object = object };
}

/* For what the threads of plain_sample() wait, of which the first three look alike. */
static void plain_waits(struct pmp_thread *threads)
{
	waits(&threads[0], PMP_WAIT_JOIN, 0x7f31b8001e80, PMP_HOLDER_THREAD, 4107);
	waits(&threads[1], PMP_WAIT_MUTEX, 0x7f31b8001a40, PMP_HOLDER_THREAD, 4104);
	/* Which its functions do not confirm. */
	waits(&threads[2], PMP_WAIT_RWLOCK, 0x7f31b8001b00, PMP_HOLDER_NONE, 0);
	threads[2].wait.count = 1;
	waits(&threads[3], PMP_WAIT_MUTEX, 0x7f31b8001c00, PMP_HOLDER_FREE, 0);
	waits(&threads[5], PMP_WAIT_JOIN, 0x7f31b8001d00, PMP_HOLDER_THREAD, 4101);
	waits(&threads[6], PMP_WAIT_STDIO, 0x7f31b8001e00, PMP_HOLDER_ENDED, 99);
	waits(&threads[7], PMP_WAIT_CONDITION, 0x7f31b8001f00, PMP_HOLDER_NONE, 0);
	threads[7].wait.mutex = 0x7f31b8001f40;
	waits(&threads[8], PMP_WAIT_RWLOCK, 0x7f31b8001b10, PMP_HOLDER_NONE, 0);
	threads[8].wait.count = 2;
	threads[8].wait.flags |= PMP_WAIT_WRITE | PMP_WAIT_NEXT | PMP_WAIT_TIMED;
}

/* What pt-pmp and others can read without mistakes: t/0630-consumers.t */
static struct pmp_sample *plain_sample(void)
{
	struct pmp_sample *sample = new_sample(4100, "mariadbd");
	struct pmp_thread *thread;

	thread = fake_thread(sample, 4100, "mariadbd", FAKE_STACK(POLL, MAIN));
	blocked(thread, POLL_CALL, "poll_schedule_timeout");
	thread->stopped = 12345;
	for (int i = 0; i < 3; i++) {
		thread = fake_thread(sample, 4101 + i, "conn-17",
				     FAKE_STACK(LOCK_WAIT, MUTEX_LOCK, POOL_GET,
						DO_COMMAND, START_THREAD));
		blocked(thread, SYS_futex, "futex_do_wait");
		thread->stopped = 9000;
	}
	thread = fake_thread(sample, 4104, "worker 12",
			     FAKE_STACK(OP_NEW, MAP_FIND, LAMBDA, START_THREAD));
	thread->state = 'R';
	thread->stopped = 51700;
	fake_thread(sample, 4105, "signals",
		    FAKE_STACK(VDSO, SIGNAL, ERASE, DO_COMMAND, START_THREAD));
	thread = fake_thread(sample, 4106, "plugin", FAKE_STACK(POLL, UNNAMED));
	thread->end = PMP_END_NO_INFO;
	thread = fake_thread(sample, 4107, "rust", FAKE_STACK(POLL, RUST, START_THREAD));
	thread = fake_thread(sample, 4108, "epoll", FAKE_STACK(POLL));
	blocked(thread, EPOLL_WAIT_CALL, "ep_poll");
	thread->obtained = PMP_NOT_STOPPED;
	thread->end = PMP_END_NOT_STOPPED;
	strcpy(thread->reason, "epoll_wait");
	plain_waits(sample->threads);
	sample->seen = sample->thread_count;
	return sample;
}

static struct pmp_sample *hostile_sample(void)
{
	struct pmp_sample *sample = new_sample(7, "a b;\n\033[2J 3");
	struct pmp_thread *thread;

	memset(long_name, 'x', sizeof(long_name) - 1);
	thread = fake_thread(sample, 12, "Thread 1\"):\n#0  0x1",
			     FAKE_STACK(HOSTILE, EMPTY));
	strcpy(thread->wchan, "a\nb");
	thread->syscall = 99999;
	thread->state = '\n';
	waits(thread, PMP_WAIT_MUTEX, 1, PMP_HOLDER_THREAD, 11);
	thread->wait.flags |= PMP_WAIT_DEADLOCK;
	thread = fake_thread(sample, 11, "", FAKE_STACK(BYTES, LONG));
	waits(thread, PMP_WAIT_RWLOCK, UINT64_MAX, PMP_HOLDER_THREAD, 12);
	thread->wait.flags |= PMP_WAIT_DEADLOCK | PMP_WAIT_TIMED;
	fake_thread(sample, 5, "worker 12", FAKE_STACK(WORKER))->end = 77;
	fake_thread(sample, 9, "none", FAKE_NOTHING);
	thread = fake_thread(sample, 7, "\xff,;", FAKE_NOTHING);
	thread->obtained = PMP_NOT_STOPPED;
	thread->end = PMP_END_NOT_STOPPED;
	strcpy(thread->reason, "D, vf\nork 5");
	sample->vanished = 2;
	return sample;
}

/* What plain_sample() is compared with: another process of the same name, waiting more. */
static struct pmp_sample *earlier_sample(void)
{
	struct pmp_sample *sample = new_sample(977, "mariadbd");

	sample->time = 1000000000;
	fake_thread(sample, 977, "mariadbd", FAKE_STACK(POLL, MAIN));
	fake_thread(
		sample, 980, "conn-3",
		FAKE_STACK(LOCK_WAIT, MUTEX_LOCK, POOL_GET, DO_COMMAND, START_THREAD));
	for (int i = 0; i < 5; i++)
		fake_thread(sample, 981 + i, "conn-4",
			    FAKE_STACK(POLL, DO_COMMAND, START_THREAD));
	fake_thread(sample, 990, "rust", FAKE_STACK(POLL, RUST, START_THREAD));
	return sample;
}

/* Twice, a tenth of a second apart: one thread waits for the other, which computes. */
static struct pmp_profile *manual_profile(void)
{
	const struct pmp_profile_options options = {
		.size = sizeof(options),
		.keep_snapshot = true,
		.details = true,
		.times = true,
		.period = 100000000,
		.command = "pmp -n 2 -p 4100",
		.host = "db1",
		.waits = true,
	};
	struct pmp_profile *profile;

	if (pmp_profile_new(&options, NULL, &profile, NULL))
		abort();
	for (unsigned i = 0; i < 2; i++) {
		struct pmp_sample *sample = new_sample(4100, "mariadbd");
		struct pmp_thread *thread;

		sample->time += UINT64_C(1236000000000) + i * UINT64_C(100000000);
		sample->realtime += i * UINT64_C(100000000);
		thread = fake_thread(
			sample, 4101, "conn-17",
			FAKE_STACK(LOCK_WAIT, MUTEX_LOCK, DO_COMMAND, START_THREAD));
		blocked(thread, SYS_futex, "futex_do_wait");
		thread->tls = 0;
		waits(thread, PMP_WAIT_MUTEX, 0x7f31b8001a40, PMP_HOLDER_THREAD, 4102);
		thread->asleep_since = sample->time - UINT64_C(100000000) * (i + 1);
		thread->obtained = i ? PMP_UNCHANGED : PMP_PEEKED;
		thread->cpu = 20000000;
		thread->runs = 7;
		thread = fake_thread(sample, 4102, "conn-18",
				     FAKE_STACK(MAP_FIND, DO_COMMAND, START_THREAD));
		thread->tls = 0x7f31c1ff5000;
		thread->state = 'R';
		thread->stopped = 9000;
		thread->cpu = 50000000 + i * UINT64_C(90000000);
		thread->runs = 40 + i;
		sample->seen = sample->thread_count;
		if (pmp_profile_add(profile, sample, NULL))
			abort();
		pmp_sample_free(sample);
	}
	return profile;
}

static struct pmp_profile *profile_of(struct pmp_sample *sample, bool by_thread)
{
	struct pmp_profile_options options = {
		.size = sizeof(options),
		.by_thread = by_thread,
		.keep_snapshot = true,
	};
	struct pmp_profile *profile;

	if (pmp_profile_new(&options, NULL, &profile, NULL) ||
	    (sample && pmp_profile_add(profile, sample, NULL)))
		abort();
	pmp_sample_free(sample);
	return profile;
}

/* ---- golden files -------------------------------------------------------------- */

static struct pmp_buf file_content(const char *path)
{
	struct pmp_buf buf = { 0 };
	FILE *file = fopen(path, "r");
	char block[4096];
	size_t length;

	while (file && (length = fread(block, 1, sizeof(block), file)) > 0)
		pmp_buf_add(&buf, block, length);
	if (file)
		fclose(file);
	return buf;
}

static bool same(const struct pmp_buf *a, const struct pmp_buf *b)
{
	return a->length == b->length &&
	       (!a->length || !memcmp(a->data, b->data, a->length));
}

static void show_difference(const struct pmp_buf *got, const struct pmp_buf *want)
{
	size_t at = 0, line;

	while (at < got->length && at < want->length && got->data[at] == want->data[at])
		at++;
	for (line = at; line > 0 && got->data[line - 1] != '\n'; line--)
		;
	diag("got  %.200s", got->data ? got->data + line : "");
	diag("want %.200s", want->data && line < want->length ? want->data + line : "");
}

/* Of a page only its data: the rest is the same in each, and pmp/serve/ has it. */
static struct pmp_buf golden_part(const struct pmp_format *format,
				  const struct pmp_buf *written)
{
	static const char start[] = "<script type=\"application/json\" id=\"data\">\n",
			  end[] = "</script>";
	const char *first, *last;

	if (strcmp(format->name, "html") != 0)
		return *written;
	first = written->data ? strstr(written->data, start) : NULL;
	last = first ? strstr(first, end) : NULL;
	if (!ok(last != NULL, "the page has data"))
		return *written;
	first += sizeof(start) - 1;
	return (struct pmp_buf){ .data = (char *)first,
				 .length = (size_t)(last - first) };
}

static void compare_golden(const char *name, const struct pmp_format *format,
			   const struct pmp_buf *written)
{
	const char *source = getenv("top_srcdir"), *update = getenv("PMP_UPDATE");
	struct pmp_buf part = golden_part(format, written), *got = &part, want;
	char path[4096];
	FILE *file;

	snprintf(path, sizeof(path), "%s/t/data/golden/%s.%s", source ? source : ".",
		 name, format->name);
	if (update && !strcmp(update, "1")) {
		file = fopen(path, "w");
		ok(file && fwrite(got->data, 1, got->length, file) == got->length,
		   "%s.%s renewed", name, format->name);
		if (file)
			fclose(file);
		return;
	}
	want = file_content(path);
#ifdef OTHER_NAMES
	if (!same(got, &want))
		skip("system calls have other names on this processor");
	else
#endif
		if (!ok(same(got, &want), "%s.%s is as expected", name, format->name))
		show_difference(got, &want);
	pmp_buf_free(&want);
}

/* Without control characters, in UTF-8, whole lines. */
static void check_text(const char *name, const struct pmp_format *format,
		       const struct pmp_buf *got)
{
	bool clean = true;

	if (strncmp(format->mime, "text/plain", 10) != 0)
		return;
	for (size_t i = 0; i < got->length; i++) {
		unsigned char c = got->data[i];

		clean = clean && (c == '\n' || (c >= ' ' && c != 0x7f));
	}
	ok(clean && (!got->length || got->data[got->length - 1] == '\n'),
	   "%s.%s is clean text", name, format->name);
	ok(mbstowcs(NULL, got->data ? got->data : "", 0) != (size_t)-1, "%s.%s is UTF-8",
	   name, format->name);
}

/* base: NULL, or what it is compared with in the formats that can do that. */
static void test_golden(const char *name, struct pmp_profile *profile,
			struct pmp_profile *base, const struct pmp_write_options *options)
{
	for (size_t i = 0; i < pmp_format_count(); i++) {
		const struct pmp_format *format = pmp_format(i);
		struct pmp_buf got, again;

		if ((base && !format->compares) || format->heap == PMP_HEAP_ALONE)
			continue;
		/* They want a profile with waits: test_waits(). */
		if (format->proto && pmp_profile_entry_count(profile) &&
		    !pmp_profile_options(profile)->waits)
			continue;
		got = compared(profile, base, format, options);
		again = compared(profile, base, format, options);
		/* Compressed: the bytes depend on the version of zlib. */
		if (!format->binary)
			compare_golden(name, format, &got);
		check_text(name, format, &got);
		ok(same(&got, &again), "%s.%s is the same when written again", name,
		   format->name);
		pmp_buf_free(&got);
		pmp_buf_free(&again);
	}
	pmp_profile_free(profile);
	pmp_profile_free(base);
}

/* The same sample twice, a tenth of a second apart. */
static struct pmp_profile *waiting_profile(struct pmp_sample *(*make)(void), bool details)
{
	const struct pmp_profile_options options = {
		.size = sizeof(options),
		.waits = true,
		.details = details,
	};
	struct pmp_profile *profile;

	if (pmp_profile_new(&options, NULL, &profile, NULL))
		abort();
	for (unsigned i = 0; i < 2; i++) {
		struct pmp_sample *sample = make();

		sample->time += UINT64_C(1000000000) + i * UINT64_C(100000000);
		if (pmp_profile_add(profile, sample, NULL))
			abort();
		pmp_sample_free(sample);
	}
	return profile;
}

/* Formats that show waits if they are asked to. */
static void test_waits(const char *name, struct pmp_profile *profile)
{
	static const char *const names[] = { "contention", "mutex", "folded", "svg" };

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		const struct pmp_format *format = pmp_format_find(names[i]);
		struct pmp_write_options options = {
			.size = sizeof(options),
			.waits = true,
			.by_lock = true,
		};
		struct pmp_buf got = compared(profile, NULL, format, &options);

		compare_golden(name, format, &got);
		check_text(name, format, &got);
		pmp_buf_free(&got);
		options.proto = true;
		got = compared(profile, NULL, format, &options);
		ok(!format->proto ||
			   (got.length > 2 && memcmp(got.data, "\x1f\x8b", 2) == 0),
		   "%s.%s: compressed for pprof, if it is to be", name, format->name);
		pmp_buf_free(&got);
	}
	pmp_profile_free(profile);
}

/* A name that shows what follows from right to left, on a line of its own, or that XML does not
 * allow: as bytes, and as the escapes of JSON and XML. */
static void test_hidden(void)
{
	static const char *const forms[] = {
		"\xe2\x80\xae", "\xe2\x80\xa8", "\xef\xbb\xbf", "\xef\xbf\xbf", "\\u202e",
		"\\u2028",	"\\ufeff",	"\\uffff",	"&#x202e;",	"&#8238;",
	};
	const struct pmp_write_options all = {
		.size = sizeof(all),
		.by_thread = true,
		.lines = true,
		.module = true,
	};

	for (size_t i = 0; i < pmp_format_count(); i++) {
		const struct pmp_format *format = pmp_format(i);
		struct pmp_sample *sample = new_sample(7, "db\xe2\x80\xae"
							  "evil");
		struct pmp_profile *profile;
		struct pmp_buf got;
		size_t found = 0;

		if (format->binary) { /* compressed; its text comes from pmp_escape_map() */
			pmp_sample_free(sample);
			continue;
		}
		fake_thread(sample, 7,
			    "a\xe2\x80\xa8"
			    "b\xe2\x80\xae\xef\xbb\xbf\xef\xbf\xbf",
			    FAKE_STACK(POLL, MAIN));
		profile = profile_of(sample, true);
		got = compared(profile, NULL, format, &all);
		for (size_t k = 0; k < sizeof(forms) / sizeof(*forms); k++)
			found += memmem(got.data, got.length, forms[k],
					strlen(forms[k])) != NULL;
		ok(got.length > 0 && !found,
		   "%s: no character that turns text around, or is none", format->name);
		pmp_buf_free(&got);
		pmp_profile_free(profile);
	}
}

static void test_cases(void)
{
	struct pmp_write_options all = {
		.size = sizeof(all),
		.by_thread = true,
		.lines = true,
		.module = true,
		.raw_names = true,
	};
	struct pmp_profile *two = profile_of(plain_sample(), false);
	struct pmp_sample *other = new_sample(4200, "mariadbd");

	test_golden("plain", profile_of(plain_sample(), false), NULL, NULL);
	test_golden("all", profile_of(plain_sample(), true), NULL, &all);
	test_golden("hostile", profile_of(hostile_sample(), false), NULL, NULL);
	test_golden("hostile-all", profile_of(hostile_sample(), true), NULL, &all);
	test_golden("empty", profile_of(NULL, false), NULL, NULL);
	fake_thread(other, 4200, "mariadbd", FAKE_STACK(POLL, MAIN));
	if (pmp_profile_add(two, other, NULL))
		abort();
	pmp_sample_free(other);
	test_golden("two", two, NULL, NULL);
	test_waits("waits", waiting_profile(plain_sample, false));
	test_waits("waits-details", waiting_profile(plain_sample, true));
	test_waits("hostile-waits", waiting_profile(hostile_sample, true));
	/* The examples of pmp-formats(5): t/0625-manual.t */
	test_golden("manual", manual_profile(), NULL, NULL);
}

/* The base has two snapshots. */
static struct pmp_profile *base_of(bool by_thread)
{
	struct pmp_profile *base = profile_of(earlier_sample(), by_thread);
	struct pmp_sample *sample = earlier_sample();

	if (pmp_profile_add(base, sample, NULL))
		abort();
	pmp_sample_free(sample);
	return base;
}

static void test_comparisons(void)
{
	struct pmp_write_options all = {
		.size = sizeof(all),
		.by_thread = true,
		.lines = true,
		.module = true,
		.legend = true,
		.all_rows = true,
		.icicle = true,
	}, narrow = { .size = sizeof(narrow), .columns = 60 };

	test_golden("diff", profile_of(plain_sample(), false), base_of(false), NULL);
	test_golden("diff-all", profile_of(plain_sample(), true), base_of(true), &all);
	test_golden("diff-narrow", profile_of(hostile_sample(), false), base_of(false),
		    &narrow);
	test_golden("diff-hostile", profile_of(plain_sample(), true),
		    profile_of(hostile_sample(), true), &all);
	test_golden("diff-gone", profile_of(NULL, false), base_of(false), NULL);
	test_golden("diff-new", profile_of(plain_sample(), false),
		    profile_of(NULL, false), NULL);
	test_golden("diff-same", base_of(false), base_of(false), NULL);
	test_golden("diff-empty", profile_of(NULL, false), profile_of(NULL, false), NULL);
}

/* ---- the table, options, sinks --------------------------------------------------- */

static void test_table(void)
{
	ok(pmp_format_count() >= 3, "there are formats: %zu", pmp_format_count());
	for (size_t i = 0; i < pmp_format_count(); i++) {
		const struct pmp_format *format = pmp_format(i);

		ok(pmp_format_find(format->name) == format, "%s is found by name",
		   format->name);
		ok(format->help[0] && format->extension[0] && format->mime[0],
		   "%s is described: %s", format->name, format->help);
	}
	ok(!pmp_format(pmp_format_count()), "there is none after the last");
	ok(!pmp_format_find("raw "), "nor one of another name");
	is_str(pmp_format(0)->name, "raw", "raw comes first");
	ok(pmp_format_find("raw")->snapshots, "raw is written snapshot after snapshot");
	ok(!pmp_format_find("folded")->snapshots, "folded is not");
}

struct failing {
	int error;
	unsigned calls;
};

static int fail_write(void *arg, const void *data, size_t length)
{
	struct failing *failing = arg;

	(void)data;
	(void)length;
	failing->calls++;
	return failing->error;
}

static int write_snapshot_as(const char *name, const struct pmp_sink *sink,
			     struct pmp_error *err)
{
	const struct pmp_report_options options = { .size = sizeof(options),
						    .snapshot = true };
	struct pmp_profile *profile = profile_of(plain_sample(), false);
	struct pmp_report *report;
	int code;

	if (pmp_report_new(profile, NULL, &options, &report, NULL))
		abort();
	code = pmp_report_write(report, pmp_format_find(name), NULL, sink, err);
	pmp_report_free(report);
	pmp_profile_free(profile);
	return code;
}

static void test_sinks(void)
{
	struct pmp_profile *profile = profile_of(plain_sample(), false);
	struct failing failing = { .error = -ENOSPC };
	struct pmp_sink sink = { .write = fail_write, .arg = &failing };
	struct pmp_format stranger = { .name = "raw" };
	struct pmp_write_options shorter = {
		.size = offsetof(struct pmp_write_options, lines),
		.lines = true,
	};
	const struct pmp_format *raw = pmp_format_find("raw");
	size_t comparisons = 0;
	struct pmp_buf one, other;
	struct pmp_error err = { .message = "" };
	int code;

	for (size_t i = 0; i < pmp_format_count(); i++) {
		is_int(report_write(profile, NULL, NULL, pmp_format(i), NULL, &sink,
				    &err),
		       PMP_EIO, "%s to a full disk", pmp_format(i)->name);
		is_int(err.sys_errno, ENOSPC, "and its errno");
		ok(strstr(err.message, strerror(ENOSPC)), "and a message: %s",
		   err.message);
		code = report_write(profile, profile, NULL, pmp_format(i), NULL, &sink,
				    &err);
		is_int(code, pmp_format(i)->compares ? PMP_EIO : PMP_EINVAL,
		       "the same of a comparison, if there is one");
		comparisons += code == PMP_EIO;
	}
	is_int(failing.calls, pmp_format_count() + comparisons, "nobody insists");
	is_int(write_snapshot_as("svg", &sink, &err), PMP_EINVAL,
	       "a snapshot as a picture");
	is_str(err.message, "the format svg has no snapshots", "is refused");
	is_int(report_write(profile, NULL, NULL, &stranger, NULL, &sink, &err),
	       PMP_EINVAL, "a format that is not of the table");
	is_int(report_write(profile, NULL, NULL, NULL, NULL, &sink, NULL), PMP_EINVAL,
	       "no format");
	is_int(report_write(profile, NULL, NULL, raw, NULL, NULL, &err), PMP_EINVAL,
	       "no sink");
	one = written(profile, raw, NULL);
	other = written(profile, raw, &shorter);
	ok(same(&one, &other), "options beyond their size are not looked at");
	pmp_buf_free(&one);
	pmp_buf_free(&other);
	pmp_profile_free(profile);
}

/* ---- order and size ---------------------------------------------------------------- */

static void test_order(void)
{
	struct pmp_sample *sample = plain_sample(), *reversed = plain_sample();
	struct pmp_profile *one, *other;

	for (size_t i = 0; i < sample->thread_count; i++)
		reversed->threads[i] = sample->threads[sample->thread_count - 1 - i];
	one = profile_of(sample, false);
	other = profile_of(reversed, false);
	for (size_t i = 0; i < pmp_format_count(); i++) {
		struct pmp_buf got = written(one, pmp_format(i), NULL);
		struct pmp_buf want = written(other, pmp_format(i), NULL);

		ok(same(&got, &want), "%s does not depend on the order of arrival",
		   pmp_format(i)->name);
		pmp_buf_free(&got);
		pmp_buf_free(&want);
	}
	pmp_profile_free(one);
	pmp_profile_free(other);
}

static int count_write(void *arg, const void *data, size_t length)
{
	(void)data;
	*(size_t *)arg += length;
	return 0;
}

/* Stacks of 12 frames, all different. */
static struct pmp_profile *large_profile(size_t stacks)
{
	struct pmp_profile *profile = profile_of(NULL, false);

	for (size_t i = 0; i < stacks;) {
		struct pmp_sample *sample = new_sample(1, "large");

		for (size_t end = i + 1000; i < end && i < stacks; i++) {
			int stack[13];

			for (size_t j = 0, number = i; j < 12; j++, number /= 4)
				stack[j] = (int)(number % 4 + 4 * (j % 3));
			stack[12] = -1;
			fake_thread(sample, (pid_t)i + 1, "x", stack);
		}
		if (pmp_profile_add(profile, sample, NULL))
			abort();
		pmp_sample_free(sample);
	}
	return profile;
}

static double write_seconds(struct pmp_profile *profile, const struct pmp_format *format)
{
	size_t length = 0;
	struct pmp_sink sink = { .write = count_write, .arg = &length };
	clock_t start = clock();

	if (report_write(profile, NULL, NULL, format, NULL, &sink, NULL))
		return -1;
	return (double)(clock() - start) / CLOCKS_PER_SEC;
}

static void test_large(size_t stacks)
{
	struct pmp_profile *tenth = large_profile(stacks / 10);
	struct pmp_profile *whole = large_profile(stacks);

	is_int(pmp_profile_entry_count(whole), stacks, "%zu stacks", stacks);
	for (size_t i = 0; i < pmp_format_count(); i++) {
		const struct pmp_format *format = pmp_format(i);
		double one = write_seconds(tenth, format);
		double ten = write_seconds(whole, format);

		/* Twice the tenfold, and a grain for what a busy machine does. */
		ok(one >= 0 && ten >= 0 && ten < 20 * one + 1,
		   "%s: the tenfold takes about ten times as long: %.3f s, %.3f s",
		   format->name, one, ten);
	}
	pmp_profile_free(tenth);
	pmp_profile_free(whole);
}

/* ---- a heap ---------------------------------------------------------------------- */

static void heap_event(struct pmp_heap_batch *batch, struct pmp_heap_event event,
		       int caller)
{
	const struct pmp_raw_frame frames[] = {
		{ fake_pc(OP_NEW), PMP_FRAME_EXACT },
		{ fake_pc((size_t)caller), 0 },
		{ fake_pc(START_THREAD), 0 },
	};

	event.time = batch->time;
	pmp_heap_batch_thread(batch, 4102, "conn-17", &event.thread);
	if (pmp_heap_batch_add(batch, &event, frames, 3))
		abort();
}

static struct pmp_profile *heap_profile(void)
{
	struct pmp_profile_options options = { .size = sizeof(options),
					       .command = "pmp --heap -- mariadbd",
					       .heap = true };
	struct pmp_heap_batch *batch = pmp_heap_batch_new();
	struct pmp_heap_event event = { .kind = PMP_HEAP_ALLOC, .rate = 524288 };
	struct pmp_profile *profile;

	if (!batch || pmp_profile_new(&options, NULL, &profile, NULL))
		abort();
	batch->pid = 4100;
	strcpy(batch->name, "mariadbd");
	batch->maps = pmp_maps_new();
	batch->time = 1000000000;
	batch->totals = (struct pmp_heap_totals){
		.mallocs = 393431,
		.reallocs = 91,
		.frees = 393397,
		.allocated = 40311189088,
		.freed = 40311104528,
		.live = 84560,
		.live_blocks = 125,
		.peak = 66109408,
		.peak_time = 13300000000,
		.start = 1000000000,
		.rate = 524288,
		.brk_growth = 31 << 20,
		.mmap_growth = 12 << 20,
		.given_back = 2 << 20,
		.state = PMP_HEAP_STATE_RECORDS,
	};
	for (uint64_t i = 0; i < 90; i++) {
		event.pointer = i;
		event.asked = event.usable = i % 3 ? 800000 : 60000;
		heap_event(batch, event, i % 3 ? DO_COMMAND : POOL_GET);
	}
	event.kind = PMP_HEAP_FREE;
	for (event.pointer = 1; event.pointer < 90; event.pointer++)
		heap_event(batch, event, POOL_GET);
	event = (struct pmp_heap_event){ .kind = PMP_HEAP_GROWTH, .usable = 135168 };
	heap_event(batch, event, POOL_GET);
	if (pmp_profile_add_heap(profile, batch, NULL))
		abort();
	pmp_heap_batch_clear(batch);
	batch->time = UINT64_C(62200000000);
	if (pmp_profile_add_heap(profile, batch, NULL))
		abort();
	pmp_heap_batch_free(batch);
	return profile;
}

/* Formats of nothing but a heap. */
static void test_heap(void)
{
	struct pmp_profile *profile = heap_profile();
	const struct pmp_report_options options = { .size = sizeof(options),
						    .heap = true };
	struct pmp_report *report;

	if (pmp_report_new(profile, NULL, &options, &report, NULL))
		abort();
	for (size_t i = 0; i < pmp_format_count(); i++) {
		const struct pmp_format *format = pmp_format(i);
		struct pmp_buf got = { 0 };
		const struct pmp_sink sink = { buf_write, &got };

		if (format->heap != PMP_HEAP_ALONE)
			continue;
		is_int(pmp_report_write(report, format, NULL, &sink, NULL), 0,
		       "%s is written", format->name);
		compare_golden("manual", format, &got);
		check_text("manual", format, &got);
		pmp_buf_free(&got);
	}
	pmp_report_free(report);
	pmp_profile_free(profile);
}

int main(int argc, char **argv)
{
	setlocale(LC_ALL, "C.UTF-8");
	test_table();
	test_cases();
	test_hidden();
	test_comparisons();
	test_sinks();
	test_heap();
	test_order();
	/* An argument is another number of stacks, for measuring. */
	test_large(argc > 1 ? strtoul(argv[1], NULL, 10) : 100000);
	return done_testing();
}

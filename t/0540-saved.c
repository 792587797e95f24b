/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Saved profiles: what is read is what was written, in every format; files of others;
 * every byte of a file flipped and every length of it; files made to do harm.
 */
#include "lib/fifo.h"
#include "lib/tap.h"
#include "lib/saved.h"

static void compare(const struct saved *a, const struct saved *b,
		    const struct pmp_write_options *options, const char *what)
{
	for (size_t i = 0; i < pmp_format_count(); i++) {
		const struct pmp_format *format = saved_format(i);
		struct pmp_buf one, other;
		bool same;

		if (!format)
			continue;
		one = saved_write(a, format->name, options);
		other = saved_write(b, format->name, options);
		same = one.length == other.length &&
		       !memcmp(one.data, other.data, one.length);
		if (!ok(same && one.length, "%s: %s", format->name, what) &&
		    !format->binary)
			diag("%s\n---\n%s", one.data, other.data);
		pmp_buf_free(&one);
		pmp_buf_free(&other);
	}
}

static void test_round_trip(void)
{
	const struct pmp_write_options all = {
		.size = sizeof(all),
		.by_thread = true,
		.lines = true,
		.module = true,
		.raw_names = true,
	};
	struct saved first = saved_example(), second = saved_new(), third = saved_new();
	struct pmp_buf packed = saved_write(&first, "pprof", NULL);
	struct pmp_buf plain = saved_unpack(&packed);
	struct pmp_profile_info info = { .size = sizeof(info) }, want = info;
	struct pmp_metadata metadata;

	is_int(saved_read(&second, packed.data, packed.length, NULL), 0, "it is read");
	compare(&first, &second, NULL, "as from the profile itself");
	compare(&first, &second, &all, "with all options");
	is_int(saved_read(&third, plain.data, plain.length, NULL), 0, "without gzip");
	compare(&first, &third, &all, "the same without gzip");
	ok(plain.length > 6 && !memcmp(plain.data, "\x0a\x04\x08\x01\x10\x02", 6),
	   "it begins as everybody's does");

	pmp_profile_info(first.profile, &want);
	pmp_profile_info(second.profile, &info);
	ok(!memcmp(&info, &want, sizeof(info)), "all statistics are kept");
	is_int(info.samples, 100, "so many snapshots");
	is_int(info.stopped_p99, 15000, "such stops");
	pmp_profile_metadata(second.profile, &metadata);
	is_str(metadata.host, "db1", "the host is kept");
	is_str(metadata.command, "pmp -p 4100", "so is the command");
	is_int(metadata.duration, 9900000000, "the duration");
	is_int(metadata.period, 100000000, "the period");
	ok(metadata.realtime == 1795234116123456789u, "the time");

	is_int(saved_read(&third, packed.data, packed.length, NULL), 0,
	       "one can be added to another");
	pmp_profile_info(third.profile, &info);
	is_int(info.samples, 200, "which adds the snapshots");
	is_int(info.rounds, 2 * want.rounds, "and the rounds");
	is_int(info.distinct, want.distinct, "and knows the stacks");
	is_int(pmp_profile_entry(third.profile, 0)->count,
	       2 * pmp_profile_entry(second.profile, 0)->count, "their counts");
	is_int(pmp_profile_entry(third.profile, 0)->wall,
	       2 * pmp_profile_entry(second.profile, 0)->wall, "and their times");
	pmp_buf_free(&packed);
	pmp_buf_free(&plain);
	saved_free(&first);
	saved_free(&second);
	saved_free(&third);
}

/* ---- waits ---------------------------------------------------------------------- */

static void count_wait(struct saved *saved, const struct pmp_lock *lock,
		       uint64_t contentions, uint64_t caused)
{
	const struct pmp_entry *like = pmp_profile_entry(saved->profile, 0);
	struct pmp_entry_waits waits = {
		.lock = lock,
		.contentions = contentions,
		.held_contentions = caused,
		.held_delay = caused * 1000,
	};
	struct pmp_entry entry = *like;

	entry.waits = &waits;
	entry.count = 5;
	entry.wall = 500;
	if (pmp_profile_count(saved->profile, &entry))
		abort();
}

/* The example, and a stack of it that waited for locks. */
static struct saved saved_waiting(void)
{
	struct pmp_lock lock = {
		.kind = PMP_WAIT_MUTEX,
		.holder_is = PMP_HOLDER_THREAD,
		.holder = 4103,
		.address = 0x7f31b8001a40,
		.holder_name = "conn-18",
		.text = "",
		.object = { .location = PMP_LOCATION_NONE },
	};
	struct saved saved = saved_example();

	count_wait(&saved, &lock, 2, 0);
	lock.holder_is = PMP_HOLDER_FREE;
	lock.holder = 0;
	lock.holder_name = "";
	count_wait(&saved, &lock, 1, 7);
	lock.kind = PMP_WAIT_JOIN;
	lock.address = 0;
	count_wait(&saved, &lock, 1, 0);
	lock.kind = PMP_WAIT_CONDITION;
	count_wait(&saved, &lock, 1, 0);
	return saved;
}

static const struct pmp_entry_waits *find_wait(const struct saved *saved,
					       const char *text, const char *holder)
{
	static const struct pmp_entry_waits none;

	for (size_t i = 0; i < pmp_profile_entry_count(saved->profile); i++) {
		const struct pmp_entry_waits *waits =
			pmp_profile_entry(saved->profile, i)->waits;

		if (waits->lock && !strcmp(waits->lock->text, text) &&
		    !strcmp(waits->lock->holder_name, holder))
			return waits;
	}
	return &none;
}

static bool has_bytes(const struct pmp_buf *buf, const char *text)
{
	return memmem(buf->data, buf->length, text, strlen(text));
}

static void test_waits(void)
{
	struct saved first = saved_waiting(), second = saved_new(), third = saved_new();
	struct saved usual = saved_example();
	struct pmp_buf packed = saved_write(&first, "pprof", NULL), again, plain;
	const struct pmp_entry_waits *waits;

	is_int(saved_read(&second, packed.data, packed.length, NULL), 0,
	       "a profile of waits is read");
	again = saved_write(&second, "pprof", NULL);
	is_int(saved_read(&third, again.data, again.length, NULL), 0,
	       "saved again it is read, too");
	compare(&second, &third, NULL, "as the first time");
	waits = find_wait(&second, "mutex 0x7f31b8001a40", "conn-18");
	is_int(waits->contentions, 2, "its waits are there");
	is_int(waits->lock ? waits->lock->holder : 0, 4103, "with the holder");
	waits = find_wait(&second, "mutex 0x7f31b8001a40", "");
	is_int(waits->lock ? waits->lock->holder_is : 0, PMP_HOLDER_FREE,
	       "or that there was none");
	is_int(waits->held_contentions, 7, "and what it did to others");
	is_int(waits->held_delay, 7000, "with the time");
	waits = find_wait(&second, "join", "");
	ok(waits->lock && !pmp_lock_is_contended(waits->lock),
	   "to join is no contention");
	plain = saved_unpack(&packed);
	ok(has_bytes(&plain, "caused_delay") && !has_bytes(&plain, "condition"),
	   "what is no lock is not in it");
	pmp_buf_free(&plain);
	pmp_buf_free(&again);
	pmp_buf_free(&packed);
	saved_free(&first);
	saved_free(&second);
	saved_free(&third);

	packed = saved_write(&usual, "pprof", NULL);
	plain = saved_unpack(&packed);
	ok(!has_bytes(&plain, "\x12\x02\x18\x07") && has_bytes(&plain, "wall"),
	   "a profile without waits has no such values");
	pmp_buf_free(&plain);
	pmp_buf_free(&packed);
	saved_free(&usual);
}

/* What stands for a stack is read as that: each has its address, and its name as it was. */
static void test_marks(void)
{
	struct pmp_lock lock = {
		.kind = PMP_WAIT_MUTEX,
		.holder_is = PMP_HOLDER_THREAD,
		.holder = 4103,
		.address = 0x7f31b8001a80,
		.holder_name = "conn 18",
		.holder_stack = PMP_HOLDER_STACK_ABSENT,
		.text = "",
		.object = { .location = PMP_LOCATION_NONE },
	};
	const struct pmp_write_options proto = { .size = sizeof(proto), .proto = true };
	struct saved first = saved_waiting(), second = saved_new();
	struct pmp_buf packed, one, other;
	const char *stacks, *again;

	count_wait(&first, &lock, 1, 0);
	lock.holder_stack = PMP_HOLDER_STACK_MOVED_ON;
	count_wait(&first, &lock, 2, 0);
	packed = saved_write(&first, "mutex", &proto);
	is_int(saved_read(&second, packed.data, packed.length, NULL), 0,
	       "a profile of holders is read");
	one = saved_write(&first, "mutex", NULL);
	other = saved_write(&second, "mutex", NULL);
	stacks = strstr(one.data, "discarded samples");
	again = strstr(other.data, "discarded samples");
	is_str(again, stacks, "with the same stacks and marks");
	ok(strstr(again, " @ 0x2800\n# [no holder]\n") &&
		   strstr(again, " @ 0x1800\n# [holder moved on]\n"),
	   "each mark has an address of its own");
	ok(strstr(again, "# conn 18\n") && strstr(again, " conn_18\n"),
	   "so has a thread that was not sampled");
	pmp_buf_free(&one);
	lock.holder_name = "odd\nname";
	lock.holder_stack = PMP_HOLDER_STACK_ABSENT;
	count_wait(&first, &lock, 1, 0);
	one = saved_write(&first, "mutex", NULL);
	ok(strstr(one.data, "# odd\\x0aname\n") && strstr(one.data, " odd?name\n"),
	   "whatever its name is, that stays in its line");
	pmp_buf_free(&one);
	pmp_buf_free(&other);
	pmp_buf_free(&packed);
	saved_free(&first);
	saved_free(&second);
}

/* A library where the program is, too: in another process, or later. */
static void test_overlap(void)
{
	struct saved first = saved_example_at(0x450000), second = saved_new();
	struct pmp_buf packed = saved_write(&first, "pprof", NULL), one, other;

	is_int(saved_read(&second, packed.data, packed.length, NULL), 0,
	       "mappings that overlap");
	one = saved_write(&first, "pmp", NULL);
	other = saved_write(&second, "pmp", NULL);
	is_str(other.data, one.data, "are kept apart");
	pmp_buf_free(&packed);
	pmp_buf_free(&one);
	pmp_buf_free(&other);
	saved_free(&first);
	saved_free(&second);
}

/* A profile that cannot be understood, or a sound one, which can be written. */
static bool survives(const void *data, size_t length, bool thorough)
{
	struct saved saved = saved_new();
	struct pmp_error err = { 0 };
	int code = saved_read(&saved, data, length, &err);
	bool good = code == 0 || ((code == PMP_EFORMAT || code == PMP_ELIMIT) &&
				  strstr(err.message, "saved"));

	for (size_t i = 0; good && i < pmp_format_count(); i++) {
		const struct pmp_format *format = saved_format(i);
		struct pmp_buf buf;

		if (!format || (!thorough && strcmp(format->name, "folded")))
			continue;
		buf = saved_write(&saved, format->name, NULL);
		pmp_buf_free(&buf);
	}
	saved_free(&saved);
	return good;
}

/* One bit, or all bits of a byte; what is left of it is written in all formats
 * now and then. */
static void sweep(const struct pmp_buf *file, const char *what)
{
	char *copy = malloc(file->length);
	size_t bad = 0;

	if (!copy)
		abort();
	memcpy(copy, file->data, file->length);
	for (size_t i = 0; i < file->length; i++) {
		copy[i] ^= (char)(1 << i % 8);
		bad += !survives(copy, file->length, i % 16 == 0);
		copy[i] = (char)~file->data[i];
		bad += !survives(copy, file->length, false);
		copy[i] = file->data[i];
	}
	is_int(bad, 0, "%s: each of %zu bytes flipped", what, file->length);
	for (size_t i = 0; i < file->length; i++)
		bad += !survives(copy, i, i % 16 == 0);
	is_int(bad, 0, "%s: each length below %zu", what, file->length);
	free(copy);
}

static void sweep_both(struct saved saved, const char *packed_name,
		       const char *plain_name)
{
	struct pmp_buf packed = saved_write(&saved, "pprof", NULL);
	struct pmp_buf plain = saved_unpack(&packed);

	sweep(&packed, packed_name);
	sweep(&plain, plain_name);
	pmp_buf_free(&packed);
	pmp_buf_free(&plain);
	saved_free(&saved);
}

static void test_sweep(void)
{
	sweep_both(saved_example(), "packed", "plain");
	sweep_both(saved_waiting(), "waits, packed", "waits, plain");
}

/* ---- by hand -------------------------------------------------------------------- */

#define TYPES "\x0a\x04\x08\x01\x10\x02" /* samples/count */
#define TEXTS \
	"\x32\x00\x32\x07samples\x32\x05" \
	"count\x32\x04main\x32\x02" \
	"cp"
#define TEXT(n, s) "\x32" n s

static const struct {
	const char *what, *data;
	size_t length;
	int code;
	unsigned entries;
} cases[] = {
#define CASE(what, code, entries, data) \
	{ \
		what, data, sizeof(data) - 1, code, entries \
	}
	CASE("nothing", PMP_EFORMAT, 0, ""),
	CASE("a text", PMP_EFORMAT, 0, "hello world\n"),
	CASE("no texts", PMP_EFORMAT, 0, TYPES),
	CASE("no types", PMP_EFORMAT, 0, TEXTS),
	CASE("no samples", 0, 0, TYPES TEXTS),
	CASE("no locations, no mappings", 0, 1, TYPES TEXTS "\x12\x03\x12\x01\x05"),
	CASE("values that are not packed", 0, 1, TYPES TEXTS "\x12\x02\x10\x05"),
	CASE("a name without an address", 0, 1,
	     TYPES TEXTS "\x12\x06\x0a\x01\x01\x12\x01\x05"
			 "\x22\x06\x08\x01\x22\x02\x08\x01"
			 "\x2a\x04\x08\x01\x10\x03"),
	CASE("a negative count is none", 0, 0,
	     TYPES TEXTS "\x12\x0c\x12\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"),
	CASE("unknown fields", 0, 1,
	     TYPES TEXTS
	     "\x12\x03\x12\x01\x05"
	     "\xa0\x06\x01\xa5\x06\x01\x02\x03\x04\xa1\x06\1\2\3\4\5\6\7\x08"),
	CASE("two values where there is one type", PMP_EFORMAT, 0,
	     TYPES TEXTS "\x12\x04\x12\x02\x05\x06"),
	CASE("no value", PMP_EFORMAT, 0, TYPES TEXTS "\x12\x00"),
	CASE("a location that is not there", PMP_EFORMAT, 0,
	     TYPES TEXTS "\x12\x06\x0a\x01\x01\x12\x01\x05"),
	CASE("a location twice", PMP_EFORMAT, 0,
	     TYPES TEXTS "\x22\x02\x08\x01\x22\x02\x08\x01"),
	CASE("a location 0", PMP_EFORMAT, 0, TYPES TEXTS "\x22\x02\x08\x00"),
	CASE("a function that is not there", PMP_EFORMAT, 0,
	     TYPES TEXTS
	     "\x12\x06\x0a\x01\x01\x12\x01\x05\x22\x06\x08\x01\x22\x02\x08\x09"),
	CASE("a mapping that is not there", PMP_EFORMAT, 0,
	     TYPES TEXTS "\x12\x06\x0a\x01\x01\x12\x01\x05\x22\x04\x08\x01\x10\x07"),
	CASE("a text that is not there", PMP_EFORMAT, 0,
	     TYPES TEXTS "\x2a\x04\x08\x01\x10\x77"),
	CASE("a negative text", PMP_EFORMAT, 0,
	     TYPES TEXTS "\x2a\x0d\x08\x01\x10\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"),
	CASE("a comment that is not there", PMP_EFORMAT, 0, TYPES TEXTS "\x68\x77"),
	CASE("a label's text that is not there", PMP_EFORMAT, 0,
	     TYPES TEXTS "\x12\x09\x12\x01\x05\x1a\x04\x08\x01\x10\x77"),
	CASE("a varint without an end", PMP_EFORMAT, 0,
	     TYPES TEXTS "\x48\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"),
	CASE("a length beyond the end", PMP_EFORMAT, 0,
	     TYPES TEXTS "\x32\x7f"
			 "abc"),
	CASE("a group", PMP_EFORMAT, 0, TYPES TEXTS "\x0b\x0c"),
#undef CASE
};

static void test_cases(void)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct saved saved = saved_new();
		struct pmp_error err = { 0 };

		is_int(saved_read(&saved, cases[i].data, cases[i].length, &err),
		       cases[i].code, "%s", cases[i].what);
		if (!cases[i].code)
			is_int(pmp_profile_entry_count(saved.profile), cases[i].entries,
			       "and its stacks");
		saved_free(&saved);
	}
}

/* A difference of two profiles. */
static void test_negative(void)
{
	static const char data[] =
		TYPES TEXTS "\x12\x0c\x12\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"
			    "\x12\x03\x12\x01\x05";
	struct pmp_profile_info info = { .size = sizeof(info) };
	struct saved saved = saved_new();

	is_int(saved_read(&saved, data, sizeof(data) - 1, NULL), 0, "-1 and 5");
	pmp_profile_info(saved.profile, &info);
	is_int(info.negative, 1, "one that is not counted is known");
	is_int(pmp_profile_entry(saved.profile, 0)->count, 5, "the other one is counted");
	saved_free(&saved);
}

/* Other programs' units and names of values. */
static void test_units(void)
{
	static const char data[] = "\x0a\x04\x08\x01\x10\x02\x0a\x04\x08\x03\x10\x04"
				   "\x12\x04\x12\x02\x05\x07\x32\x00"
				   "\x32\x03obj\x32\x05"
				   "count\x32\x03"
				   "cpu\x32\x0cmilliseconds";
	struct saved saved = saved_new();
	const struct pmp_entry *entry;

	is_int(saved_read(&saved, data, sizeof(data) - 1, NULL), 0, "milliseconds");
	entry = pmp_profile_entry(saved.profile, 0);
	is_int(entry->count, 7, "are what is counted, as the last of the values");
	is_int(entry->cpu, 7000000, "but CPU time");
	is_int(entry->wall, 7000000, "which is wall-clock time at least");
	is_str(entry->process, "[unknown]", "which is not known");
	saved_free(&saved);
}

/* For a value and a view. */
static struct saved new_for(const char *sample_type)
{
	const struct pmp_symbolizer_options names = { .size = sizeof(names) };
	const struct pmp_profile_options options = {
		.size = sizeof(options),
		.details = true,
		.live = true,
		.sample_type = sample_type,
	};
	struct saved saved;

	if (pmp_symbolizer_new(&names, &saved.symbolizer, NULL) ||
	    pmp_profile_new(&options, saved.symbolizer, &saved.profile, NULL))
		abort();
	return saved;
}

static void test_period(void)
{
	static const char times[] =
		"\x0a\x04\x08\x01\x10\x02\x5a\x02\x10\x03\x60\x07\x32\x00"
		"\x32\x07samples\x32\x05"
		"count\x32\x0cmilliseconds";
	static const char bytes[] =
		"\x0a\x04\x08\x01\x10\x02\x5a\x02\x10\x03\x60\x07\x32\x00"
		"\x32\x07samples\x32\x05"
		"count\x32\x05"
		"bytes";
	struct saved saved = saved_new(), other = saved_new();
	struct pmp_metadata metadata;

	is_int(saved_read(&saved, times, sizeof(times) - 1, NULL), 0, "a period of 7 ms");
	pmp_profile_metadata(saved.profile, &metadata);
	is_int(metadata.period, 7000000, "is one of time");
	is_int(saved_read(&other, bytes, sizeof(bytes) - 1, NULL), 0,
	       "a period of 7 bytes");
	pmp_profile_metadata(other.profile, &metadata);
	is_int(metadata.period, 0, "is none");
	saved_free(&saved);
	saved_free(&other);
}

/* Stacks without CPU time are not there, and their time is not either. */
static void test_share(void)
{
	struct saved example = saved_example(), saved = new_for("cpu");
	struct pmp_buf packed = saved_write(&example, "pprof", NULL), text;
	const struct pmp_live *live = pmp_profile_live(saved.profile);
	struct pmp_live_thread thread = { .size = sizeof(thread) };

	if (saved_read(&saved, packed.data, packed.length, NULL))
		abort();
	text = saved_write(&saved, "threads", NULL);
	ok(strstr(text.data, "    0.70    7.07 "),
	   "threads: of a value CPU time is divided by the duration");
	for (size_t i = 0; i < pmp_live_thread_count(live); i++) {
		pmp_live_thread(live, i, &thread);
		if (thread.tid == 4102)
			break;
	}
	ok(thread.tid == 4102 && thread.cpu_share > 0.0707 && thread.cpu_share < 0.0708,
	   "so it is in the view: %f", thread.cpu_share);
	pmp_buf_free(&text);
	pmp_buf_free(&packed);
	saved_free(&saved);
	saved_free(&example);
}

/* It is not known for how long a program was profiled. */
static void test_no_duration(void)
{
	static const char bytes[] =
		"\x0a\x04\x08\x01\x10\x02\x0a\x04\x08\x03\x10\x04" /* samples, cpu */
		"\x12\x07\x0a\x01\x01\x12\x02\x01\x07"		   /* 1 and 7 of */
		"\x22\x06\x08\x01\x22\x02\x08\x01"		   /* location 1, */
		"\x2a\x04\x08\x01\x10\x05\x32"			   /* of function 1 */
		"\0\x32\x07samples\x32\x05"
		"count\x32\x03"
		"cpu\x32\x0bnanoseconds\x32\x04work";
	struct saved saved = new_for("cpu");
	struct pmp_buf text;

	is_int(saved_read(&saved, bytes, sizeof(bytes) - 1, NULL), 0, "no duration");
	text = saved_write(&saved, "threads", NULL);
	ok(strstr(text.data, "    0.00       - "), "threads: no share of it");
	pmp_buf_free(&text);
	saved_free(&saved);
}

/* The periods of all samples, ns. */
static uint64_t perf_sum(const struct saved *saved)
{
	struct pmp_buf text = saved_write(saved, "perf", NULL);
	uint64_t sum = 0;

	for (char *line = strtok(text.data, "\n"); line; line = strtok(NULL, "\n")) {
		char *end = strstr(line, " wall: ");

		while (end && end > line && end[-1] != ' ')
			end--;
		if (end)
			sum += strtoull(end, NULL, 10);
	}
	pmp_buf_free(&text);
	return sum;
}

/* Each stack has its own time then, so periods add up in any order. */
static void test_rates(void)
{
	/* 100 and 200 ms, in a field of its own. */
	static const char period[] = "\x60\x80\xc2\xd7\x2f",
			  twice[] = "\x60\x80\x84\xaf\x5f";
	struct saved example = saved_example();
	struct pmp_buf packed = saved_write(&example, "pprof", NULL);
	struct pmp_buf plain = saved_unpack(&packed), slow = saved_unpack(&packed);
	const struct pmp_buf *const files[] = { &plain, &slow };
	char *at = memmem(slow.data, slow.length, period, sizeof(period) - 1);

	if (!at)
		abort();
	memcpy(at, twice, sizeof(twice) - 1);
	for (size_t i = 0; i < 4; i++) {
		struct saved saved = saved_new();
		struct pmp_metadata metadata;
		const struct pmp_buf *one = files[i & 1], *other = files[i >> 1];

		if (saved_read(&saved, one->data, one->length, NULL) ||
		    saved_read(&saved, other->data, other->length, NULL))
			abort();
		pmp_profile_metadata(saved.profile, &metadata);
		is_int(metadata.period,
		       one != other    ? 0
		       : one == &plain ? 100000000
				       : 200000000,
		       "%s",
		       one == other ? "files of one rate have it"
				    : "files of different rates have none");
		/* 103 samples in the example, two threads with times */
		is_int(perf_sum(&saved),
		       one != other ? 19400000000 : 2 * 103 * metadata.period,
		       "perf: the time of all stacks");
		saved_free(&saved);
	}
	pmp_buf_free(&plain);
	pmp_buf_free(&slow);
	pmp_buf_free(&packed);
	saved_free(&example);
}

/* Only where there is nothing else it is what pmp itself has written. */
static void test_unknown(void)
{
	static const char bytes[] =
		"\x0a\x04\x08\x01\x10\x02"	       /* samples/count */
		"\x12\x07\x0a\x02\x01\x02\x12\x01\x01" /* both locations */
		"\x12\x06\x0a\x01\x02\x12\x01\x01"     /* one */
		"\x22\x06\x08\x01\x22\x02\x08\x01"     /* locations 1 */
		"\x22\x06\x08\x02\x22\x02\x08\x02"     /* and 2, */
		"\x2a\x04\x08\x01\x10\x03"	       /* of functions 1 */
		"\x2a\x04\x08\x02\x10\x04\x32"	       /* and 2 */
		"\0\x32\x07samples\x32\x05"
		"count\x32\x04work\x32\x09[unknown]";
	struct saved saved = saved_new();
	struct pmp_buf text;

	is_int(saved_read(&saved, bytes, sizeof(bytes) - 1, NULL), 0,
	       "[unknown] as a function");
	text = saved_write(&saved, "folded", NULL);
	is_str(text.data, "[unknown];[unknown] 1\n[unknown];[unknown];work 1\n",
	       "stays where there are others");
	pmp_buf_free(&text);
	saved_free(&saved);
}

/* Many megabytes of nothing in a small file. */
static void test_bomb(void)
{
	static unsigned char packed[1 << 20], zeros[1 << 16];
	z_stream zip = { .next_out = packed, .avail_out = sizeof(packed) };
	struct saved saved = saved_new();
	struct pmp_error err = { 0 };

	deflateInit2(&zip, 9, Z_DEFLATED, 31, 9, Z_DEFAULT_STRATEGY);
	for (unsigned i = 0; i < 1024; i++) {
		zip.next_in = zeros;
		zip.avail_in = sizeof(zeros);
		deflate(&zip, i < 1023 ? Z_NO_FLUSH : Z_FINISH);
	}
	is_int(saved_read(&saved, packed, zip.total_out, &err), PMP_ELIMIT,
	       "64 MiB in %lu bytes are not unpacked", zip.total_out);
	ok(strstr(err.message, "it has more than"), "which is said: %s", err.message);
	deflateEnd(&zip);
	saved_free(&saved);
}

/* A profile names the files of its mappings: only regular ones are opened. */
static void test_paths(void)
{
	char directory[] = "/tmp/pmp-test.XXXXXX", path[64];
	struct saved saved = saved_new();
	struct pmp_mapping file = { 0x400000, 0x500000, 0, path, "93ac61ec" };
	struct pmp_buf text;
	pmp_location stack;
	pid_t bait;

	if (!mkdtemp(directory))
		abort();
	snprintf(path, sizeof(path), "%s/bait", directory);
	bait = fifo_new(path);
	stack = saved_location(&saved,
			       pmp_symbolizer_add_mapping(saved.symbolizer, &file),
			       0x401000, false, 0, NULL);
	saved_count(
		&saved,
		&(struct pmp_entry){ .tid = 1, .thread = "t", .state = 'S', .count = 1 },
		&stack, 1);
	text = saved_write(&saved, "folded", NULL);
	ok(strstr(text.data, "[bait+0x"), "a mapping whose file is a FIFO has no names");
	ok(fifo_untouched(bait), "and is not opened");
	pmp_buf_free(&text);
	saved_free(&saved);
	unlink(path);
	rmdir(directory);
}

static struct saved new_with(bool no_demangle)
{
	const struct pmp_symbolizer_options names = { .size = sizeof(names),
						      .no_demangle = no_demangle };
	struct saved saved = { 0 };

	if (pmp_symbolizer_new(&names, &saved.symbolizer, NULL) ||
	    pmp_profile_new(NULL, saved.symbolizer, &saved.profile, NULL))
		abort();
	return saved;
}

/* The innermost frame of the first stack. */
static const struct pmp_frame *first_frame(const struct saved *saved)
{
	const struct pmp_frame *frames;

	pmp_symbolizer_frames(saved->symbolizer,
			      pmp_profile_entry(saved->profile, 0)->locations[0],
			      &frames);
	return frames;
}

/* The function of the first stack of a profile that is read with these names. */
static const char *name_read(struct saved *saved, const struct pmp_buf *packed)
{
	if (saved_read(saved, packed->data, packed->length, NULL))
		return "(cannot be read)";
	return first_frame(saved)->function;
}

static bool has_text(const struct pmp_buf *plain, const char *text)
{
	return memmem(plain->data, plain->length, text, strlen(text)) != NULL;
}

/* The linker's name is kept beside the readable one: a reader may choose again. */
static void test_linkage(void)
{
	struct saved saved = saved_new(), copy = new_with(false), raw = new_with(true);
	const struct pmp_mapping file = { 0x400000, 0x500000, 0, "/usr/sbin/demo",
					  "93ac" };
	const struct pmp_frame frame = { .function = "do_command(THD*)",
					 .linkage = "_Z10do_commandP3THD" };
	const struct pmp_first_address origin = {
		0x401000, true, pmp_symbolizer_add_mapping(saved.symbolizer, &file)
	};
	pmp_location location =
		pmp_symbolizer_add_location(saved.symbolizer, &origin, &frame, 1);
	struct pmp_buf packed, plain, again;

	saved_count(&saved, &(struct pmp_entry){ .thread = "", .state = 'S', .count = 1 },
		    &location, 1);
	packed = saved_write(&saved, "pprof", NULL);
	plain = saved_unpack(&packed);
	ok(has_text(&plain, "do_command(THD*)"), "pprof has the readable name");
	ok(has_text(&plain, "_Z10do_commandP3THD"), "and that of the linker");
	is_str(name_read(&copy, &packed), "do_command(THD*)",
	       "read again it is readable");
	is_str(name_read(&raw, &packed), "_Z10do_commandP3THD",
	       "or as the linker has it, without demangling");
	is_str(first_frame(&raw)->readable, "do_command(THD*)",
	       "with the readable name beside it, for what is known of functions");
	again = saved_write(&copy, "pprof", NULL);
	pmp_buf_free(&plain);
	plain = saved_unpack(&again);
	ok(has_text(&plain, "_Z10do_commandP3THD"),
	   "and is kept when it is written again");
	pmp_buf_free(&plain);
	pmp_buf_free(&packed);
	pmp_buf_free(&again);
	saved_free(&saved);
	saved_free(&copy);
	saved_free(&raw);
}

/* A profile of another program may have the linker's names only. */
static void test_mangled(void)
{
	struct saved saved = saved_new(), copy = new_with(false), raw = new_with(true);
	const struct pmp_mapping file = { 0x400000, 0x500000, 0, "/usr/sbin/demo",
					  "93ac" };
	const struct pmp_frame frame = { .function = "_Z10do_commandP3THD" };
	const struct pmp_first_address origin = {
		0x401000, true, pmp_symbolizer_add_mapping(saved.symbolizer, &file)
	};
	pmp_location location =
		pmp_symbolizer_add_location(saved.symbolizer, &origin, &frame, 1);
	struct pmp_buf packed;

	saved_count(&saved, &(struct pmp_entry){ .thread = "", .state = 'S', .count = 1 },
		    &location, 1);
	packed = saved_write(&saved, "pprof", NULL);
	is_str(name_read(&copy, &packed), "do_command(THD*)",
	       "a name that only the linker has is demangled");
	is_str(first_frame(&copy)->linkage, "_Z10do_commandP3THD", "and kept");
	is_str(name_read(&raw, &packed), "_Z10do_commandP3THD",
	       "without demangling it is not");
	is_str(first_frame(&raw)->readable, "do_command(THD*)",
	       "but its readable name is known");
	pmp_buf_free(&packed);
	saved_free(&saved);
	saved_free(&copy);
	saved_free(&raw);
}

int main(void)
{
	test_round_trip();
	test_overlap();
	test_cases();
	test_negative();
	test_units();
	test_period();
	test_share();
	test_no_duration();
	test_rates();
	test_unknown();
	test_bomb();
	test_paths();
	test_linkage();
	test_mangled();
	test_waits();
	test_marks();
	test_sweep();
	return done_testing();
}

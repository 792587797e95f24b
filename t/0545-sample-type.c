/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a saved profile counts: which of its values that is, what it is called in each
 * format, and that profiles of two kinds are not added or compared.
 */
#include "lib/saved.h"
#include "lib/tap.h"
#include "lib/report.h"

/* ---- a file by hand ---------------------------------------------------------------- */

static void put_varint(struct pmp_buf *buf, uint64_t value)
{
	for (; value > 127; value >>= 7)
		pmp_buf_putc(buf, (char)(value | 128));
	pmp_buf_putc(buf, (char)value);
}

static void put_number(struct pmp_buf *buf, unsigned field, uint64_t value)
{
	put_varint(buf, field << 3);
	put_varint(buf, value);
}

static void put_bytes(struct pmp_buf *buf, unsigned field, const void *data,
		      size_t length)
{
	put_varint(buf, field << 3 | 2);
	put_varint(buf, length);
	pmp_buf_add(buf, data, length);
}

static void put_message(struct pmp_buf *buf, unsigned field, struct pmp_buf *part)
{
	put_bytes(buf, field, part->data, part->length);
	pmp_buf_free(part);
}

static uint64_t text_of(struct pmp_buf *texts, const char *text, uint64_t *count)
{
	put_bytes(texts, 6, text, strlen(text));
	return (*count)++;
}

/*
 * Types are "name/unit name/unit ..."; there are two stacks, "big" with values 1000000,
 * 1000001, ... by type, and "small" with values 1, 2, ...
 */
static struct pmp_buf make_file(const char *types, const char *normal)
{
	struct pmp_buf file = { 0 }, texts = { 0 }, part, line = { 0 };
	static const char *const functions[] = { "big", "small" };
	uint64_t count = 0, values = 0, ids[2];
	char copy[256], *rest = copy, *word;

	text_of(&texts, "", &count);
	snprintf(copy, sizeof(copy), "%s", types);
	while ((word = strsep(&rest, " "))) {
		char *unit = strchr(word, '/');

		*unit++ = '\0';
		part = (struct pmp_buf){ 0 };
		put_number(&part, 1, text_of(&texts, word, &count));
		put_number(&part, 2, text_of(&texts, unit, &count));
		put_message(&file, 1, &part);
		if (normal && strcmp(normal, word) == 0)
			put_number(&file, 14, count - 2);
		values++;
	}
	for (uint64_t i = 0; i < 2; i++) {
		ids[i] = text_of(&texts, functions[i], &count);
		part = (struct pmp_buf){ 0 };
		put_number(&part, 1, i + 1);
		for (uint64_t j = 0; j < values; j++)
			put_number(&part, 2, j + (i ? 1 : 1000000));
		put_message(&file, 2, &part);
		put_number(&line, 1, i + 1);
		put_number(&part, 1, i + 1);
		put_message(&part, 4, &line);
		put_message(&file, 4, &part);
		put_number(&part, 1, i + 1);
		put_number(&part, 2, ids[i]);
		put_message(&file, 5, &part);
	}
	pmp_buf_add(&file, texts.data, texts.length);
	pmp_buf_free(&texts);
	return file;
}

static struct saved new_saved(const char *sample_type)
{
	const struct pmp_symbolizer_options names = { .size = sizeof(names) };
	const struct pmp_profile_options options = {
		.size = sizeof(options),
		.sample_type = sample_type,
	};
	struct saved saved;

	if (pmp_symbolizer_new(&names, &saved.symbolizer, NULL) ||
	    pmp_profile_new(&options, saved.symbolizer, &saved.profile, NULL))
		abort();
	return saved;
}

static int read_file(struct saved *saved, const char *types, const char *normal,
		     struct pmp_error *err)
{
	struct pmp_buf file = make_file(types, normal);
	int code = saved_read(saved, file.data, file.length, err);

	pmp_buf_free(&file);
	return code;
}

/* ---- which one ----------------------------------------------------------------------- */

#define HEAP "alloc_objects/count alloc_space/bytes inuse_objects/count inuse_space/bytes"

static const struct {
	const char *types, *normal, *wanted;
	const char *type, *unit;
	uint64_t sum;
} choices[] = {
	{ HEAP, "inuse_space", NULL, "inuse_space", "bytes", 1000007 },
	{ HEAP, "alloc_objects", NULL, "alloc_objects", "count", 1000001 },
	{ HEAP, NULL, NULL, "inuse_space", "bytes", 1000007 },
	{ HEAP, "inuse_space", "alloc_space", "alloc_space", "bytes", 1000003 },
	{ "contentions/count delay/nanoseconds", NULL, NULL, "delay", "nanoseconds",
	  1000003 },
	{ "goroutine/count", NULL, NULL, "goroutine", "count", 1000001 },
	/* Stacks, as in pmp's own, whatever the default is. */
	{ "samples/count cpu/nanoseconds", NULL, NULL, "", "", 1000001 },
	{ "samples/count cpu/nanoseconds", "cpu", NULL, "", "", 1000001 },
	{ "cpu/nanoseconds samples/count", "cpu", NULL, "", "", 1000003 },
	{ "samples/count cpu/nanoseconds", NULL, "cpu", "cpu", "nanoseconds", 1000003 },
	{ "samples/count cpu/nanoseconds", NULL, "samples", "", "", 1000001 },
};

static void test_choice(void)
{
	for (size_t i = 0; i < sizeof(choices) / sizeof(*choices); i++) {
		struct saved saved = new_saved(choices[i].wanted);
		struct pmp_profile_metadata metadata = { .size = sizeof(metadata) };
		struct pmp_profile_info info = { .size = sizeof(info) };

		is_int(read_file(&saved, choices[i].types, choices[i].normal, NULL), 0,
		       "%s, %s", choices[i].types,
		       choices[i].wanted ? choices[i].wanted : "the default");
		pmp_profile_describe(saved.profile, &metadata);
		pmp_profile_info(saved.profile, &info);
		is_str(metadata.type, choices[i].type, "its type");
		is_str(metadata.unit, choices[i].unit, "its unit");
		is_int(info.stacks, choices[i].sum, "its sum");
		saved_free(&saved);
	}
}

static void test_refusals(void)
{
	struct saved saved = new_saved("alloc"), mixed = new_saved(NULL),
		     base = new_saved(NULL);
	const struct pmp_sink none = { saved_sink, NULL };
	struct pmp_error err = { 0 };

	is_int(read_file(&saved, HEAP, NULL, &err), PMP_EINVAL,
	       "a type that is not there");
	is_str(err.message, "cannot read saved: it has no sample type 'alloc'",
	       "is reported");
	is_str(err.hint, "it has: alloc_objects alloc_space inuse_objects inuse_space",
	       "with those that are");
	is_int(read_file(&mixed, HEAP, NULL, NULL), 0, "bytes");
	is_int(read_file(&mixed, HEAP, NULL, NULL), 0, "and bytes");
	is_int(read_file(&mixed, "samples/count", NULL, &err), PMP_EINVAL,
	       "but no stacks");
	is_str(err.message, "cannot read saved: it counts stacks, the others inuse_space",
	       "is reported");
	is_int(read_file(&mixed, "inuse_space/kilobytes", NULL, &err), PMP_EINVAL,
	       "nor another unit");
	is_int(read_file(&base, "samples/count", NULL, NULL), 0, "stacks");
	is_int(read_file(&base, HEAP, NULL, &err), PMP_EINVAL, "and no bytes");
	is_int(report_write(mixed.profile, base.profile, NULL, pmp_format_find("flat"),
			    NULL, &none, &err),
	       PMP_EINVAL, "the two are not compared");
	is_str(err.message, "cannot compare inuse_space with a base of stacks",
	       "is reported");
	saved_free(&saved);
	saved_free(&mixed);
	saved_free(&base);
}

/* ---- how it is written --------------------------------------------------------------- */

static const struct {
	const char *format, *text;
} texts[] = {
	{ "flat", "flat profile: inuse_space 976.57kB\n\n"
		  " self%  total%      self     total  function\n"
		  "100.00  100.00  976.57kB  976.57kB  big" },
	{ "callgraph", "call graph: inuse_space 976.57kB\n" },
	{ "threads", "threads: inuse_space 976.57kB\n" },
	{ "folded", ";big 1000003\n" },
	{ "pmp", "1000003 big" },
	{ "svg", "y=\"40\">inuse_space 976.57kB</text>" },
	{ "svg", "<title>big (976.57kB, 100.00%)</title>" },
	{ "json", ",\"type\":\"inuse_space\",\"unit\":\"bytes\"" },
	{ "speedscope", ",\"unit\":\"bytes\",\"startValue\":0" },
	{ "perf", "    1000003 inuse_space: \n" },
	{ "raw", ", inuse_space 976.57kB\n" },
};

static void test_texts(void)
{
	struct saved saved = new_saved(NULL), again = new_saved(NULL);
	struct pmp_buf packed;

	read_file(&saved, HEAP, "inuse_space", NULL);
	packed = saved_write(&saved, "pprof", NULL);
	is_int(saved_read(&again, packed.data, packed.length, NULL), 0, "saved again");
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		struct pmp_buf one = saved_write(&saved, texts[i].format, NULL);
		struct pmp_buf other = saved_write(&again, texts[i].format, NULL);

		ok(strstr(one.data, texts[i].text) != NULL, "%s", texts[i].format);
		if (!strstr(one.data, texts[i].text))
			diag("%s", one.data);
		is_str(other.data, one.data, "and when it was saved again");
		pmp_buf_free(&one);
		pmp_buf_free(&other);
	}
	pmp_buf_free(&packed);
	saved_free(&saved);
	saved_free(&again);
}

/* Other programs do not record how many snapshots there were: nothing is said of them. */
static void test_guessed(void)
{
	static const struct {
		const char *format, *text;
	} guessed[] = {
		{ "flat", "flat profile: 1000001 stacks, 0.00 s\n" },
		{ "callgraph", "call graph: 1000001 stacks, 0.00 s\n" },
		{ "threads", "threads: 1000001 stacks, 0.00 s\n" },
		{ "svg", "y=\"40\">1,000,001 stacks</text>" },
		{ "json", "{\"time_ns\":0,\"duration_ns\":0," },
	};
	struct saved saved = new_saved(NULL);
	struct pmp_profile_metadata metadata = { .size = sizeof(metadata) };

	read_file(&saved, "samples/count cpu/nanoseconds", "cpu", NULL);
	pmp_profile_describe(saved.profile, &metadata);
	ok(metadata.guessed, "the number of snapshots is not recorded");
	for (size_t i = 0; i < sizeof(guessed) / sizeof(*guessed); i++) {
		struct pmp_buf buf = saved_write(&saved, guessed[i].format, NULL);

		if (!ok(strstr(buf.data, guessed[i].text) != NULL, "%s: nor written",
			guessed[i].format))
			diag("%s", buf.data);
		pmp_buf_free(&buf);
	}
	saved_free(&saved);
}

/* What is in use is what it is, whoever has used more. */
static void test_scale(void)
{
	struct saved saved = new_saved(NULL), base = new_saved(NULL);
	struct pmp_diff_info info = { .size = sizeof(info) };

	read_file(&saved, HEAP, NULL, NULL);
	read_file(&saved, HEAP, NULL, NULL);
	read_file(&base, HEAP, NULL, NULL);
	report_diff_info(saved.profile, base.profile, &info);
	ok(info.factor > 0.99 && info.factor < 1.01 && !info.by_totals,
	   "bytes are compared as they are");
	saved_free(&saved);
	saved_free(&base);
}

/* Names of types are somebody's. */
static void test_hostile(void)
{
	struct saved saved = new_saved(NULL);
	struct pmp_buf packed;

	is_int(read_file(&saved, "<\"\x1b&;\n>/%s\x1b\n", NULL, NULL), 0,
	       "a hostile type");
	for (size_t i = 0; i < pmp_format_count(); i++) {
		const struct pmp_format *format = saved_format(i);
		struct pmp_buf buf;

		if (!format)
			continue;
		buf = saved_write(&saved, format->name, NULL);
		if (!format->binary)
			ok(!strchr(buf.data, '\x1b') && !strstr(buf.data, "\n>"),
			   "%s has it escaped", format->name);
		pmp_buf_free(&buf);
	}
	packed = saved_write(&saved, "svg", NULL);
	ok(strstr(packed.data, ">&lt;&quot;?&amp;;?&gt; ") != NULL, "in XML, too");
	pmp_buf_free(&packed);
	saved_free(&saved);
}

int main(void)
{
	test_choice();
	test_refusals();
	test_texts();
	test_guessed();
	test_scale();
	test_hostile();
	return done_testing();
}

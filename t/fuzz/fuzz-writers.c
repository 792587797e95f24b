/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fuzz target: names of arbitrary bytes in every format. JSON, XML and UTF-8 output must be
 * valid for any names of processes, threads, functions, files and modules; and reading
 * escaped text must give the original.
 *
 *	names, each ending with a line feed: process, thread, function, file, module
 */
#include "fuzz.h"

#include "base/escape.h"
#include "tally/profile.h"

#include "lib/markup.h"
#include "lib/report.h"

struct fake_function {
	const char *name, *file, *module;
	unsigned line;
	bool inlined, unnamed, signal, exact;
};

#define NAME_SIZE 1024
#define NAMES 5

enum { PROCESS, THREAD, FUNCTION, SOURCE, MODULE };

static char names[NAMES][NAME_SIZE];

static const struct fake_function fake_functions[] = {
	{ .name = names[FUNCTION],
	  .file = names[SOURCE],
	  .module = names[MODULE],
	  .line = 7 },
	{ .name = "main", .module = "/bin/demo" },
};

#include "lib/fakenames.h"

enum { HOSTILE, MAIN };

size_t fuzz_seed(unsigned n, uint8_t *data, size_t size)
{
	static const char *const seeds[] = {
		"demo\nworker\ndo_command(THD*)\nsql_parse.cc\n/usr/sbin/mariadbd\n",
		"a;b\n\"c\"\n</script><!--\n]]>&amp;\n<x y='z'>\n",
		"\xff\xfe\n\xe2\x80\xae\n\\u0041\\\n\x1b[2J\n\xed\xa0\x80\n",
	};

	if (n >= sizeof(seeds) / sizeof(*seeds) || strlen(seeds[n]) > size)
		return 0;
	memcpy(data, seeds[n], strlen(seeds[n]));
	return strlen(seeds[n]);
}

static void take_names(const uint8_t *data, size_t size)
{
	memset(names, 0, sizeof(names));
	for (int i = 0; i < NAMES && size; i++) {
		const uint8_t *end = memchr(data, '\n', size);
		size_t length = end ? (size_t)(end - data) : size;

		memcpy(names[i], data, length < NAME_SIZE ? length : NAME_SIZE - 1);
		length += end != NULL;
		data += length;
		size -= length;
	}
}

static void add_thread(struct pmp_sample *sample, pid_t tid, const int *functions)
{
	struct pmp_thread *thread = fake_thread(sample, tid, "", functions);

	memcpy(thread->name, names[THREAD], sizeof(thread->name) - 1);
}

static struct pmp_profile *make_profile(void)
{
	const struct pmp_profile_options options = { .size = sizeof(options),
						     .by_thread = true,
						     .details = true,
						     .times = true,
						     .keep_snapshot = true,
						     .command = names[FUNCTION],
						     .host = names[MODULE] };
	struct pmp_sample *sample = pmp_sample_new();
	struct pmp_profile *profile = NULL;

	if (!sample || pmp_profile_new(&options, NULL, &profile, NULL))
		abort();
	sample->pid = 10;
	memcpy(sample->name, names[PROCESS], sizeof(sample->name) - 1);
	add_thread(sample, 10, (const int[]){ HOSTILE, MAIN, -1 });
	add_thread(sample, 11, (const int[]){ MAIN, -1 });
	if (pmp_profile_add(profile, sample, NULL))
		abort();
	pmp_sample_free(sample);
	return profile;
}

static int add_to_buf(void *buf, const void *data, size_t length)
{
	pmp_buf_add(buf, data, length);
	return 0;
}

/* Is the data in a page valid? It ends with its element. */
static bool is_page(const char *text)
{
	static const char start[] = "id=\"data\">";
	const char *data = strstr(text, start), *end;

	if (!data)
		return false;
	data += strlen(start);
	end = strstr(data, "</script>");
	return end && markup_is_json(data, (size_t)(end - data));
}

static bool is_right(const char *format, const struct pmp_buf *buf)
{
	if (strcmp(format, "json") == 0 || strcmp(format, "speedscope") == 0)
		return markup_is_json(buf->data, buf->length);
	if (strcmp(format, "svg") == 0)
		return markup_is_xml(buf->data, buf->length);
	if (strcmp(format, "html") == 0)
		return is_page(buf->data);
	return true;
}

static void write_all(struct pmp_profile *profile)
{
	const struct pmp_write_options options = { .size = sizeof(options),
						   .by_thread = true,
						   .lines = true,
						   .module = true,
						   .title = names[THREAD] };
	const struct pmp_format *format;

	for (size_t i = 0; i < pmp_format_count(); i++) {
		struct pmp_buf buf = { 0 };
		const struct pmp_sink sink = { add_to_buf, &buf };

		format = pmp_format(i);
		if (report_write(profile, NULL, NULL, format, &options, &sink, NULL) ==
		    0) {
			pmp_buf_puts(&buf, "");
			if (!is_right(format->name, &buf) ||
			    (!format->binary && !markup_is_utf8(buf.data, buf.length)))
				abort();
		}
		pmp_buf_free(&buf);
	}
}

/* Unprintable text is replaced when written, so it cannot be compared. */
static bool is_printable(const char *text, size_t length)
{
	for (size_t i = 0, n; i < length; i += n) {
		n = pmp_escape_printable(text + i, length - i);
		if (!n)
			return false;
	}
	return true;
}

static void escape_and_read(const char *text, size_t length)
{
	static void (*const json[])(struct pmp_buf *, const char *,
				    size_t) = { pmp_escape_json, pmp_escape_script };
	const bool printable = is_printable(text, length);
	struct pmp_buf buf = { 0 };

	for (int i = 0; i < 2; i++) {
		pmp_buf_clear(&buf);
		json[i](&buf, text, length);
		if (!markup_read_json(&buf) ||
		    (printable &&
		     (buf.length != length || memcmp(buf.data, text, length))))
			abort();
	}
	pmp_buf_clear(&buf);
	pmp_escape_xml(&buf, text, length);
	if (!markup_read_xml(&buf) ||
	    (printable && (buf.length != length || memcmp(buf.data, text, length))))
		abort();
	pmp_buf_free(&buf);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct pmp_profile *profile;

	if (size > (size_t)NAMES * NAME_SIZE)
		return 0;
	if (size)
		escape_and_read((const char *)data, size);
	take_names(data, size);
	profile = make_profile();
	write_all(profile);
	pmp_profile_free(profile);
	return 0;
}

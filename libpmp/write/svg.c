/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A flame graph in one file: a picture for every SVG viewer. Where scripts run, svg.js
 * adds searching and zooming.
 *
 *     <g class="b" data-d="2"><title>poll (1,200 samples, 40.00%)</title>
 *     <rect x="10.0" y="98" width="472.0" height="17" class="c5"/>
 *     <text x="13.0" y="110">poll</text></g>
 *
 * The paths are sorted by name, so one walk over them finds every box: a box is open as
 * long as paths have its function at that depth. Boxes too narrow to be seen are left
 * out.
 *
 * In a comparison the colour tells whether the box was wider or narrower in the base, and
 * by how much of all stacks. Boxes are drawn with the widths of the profile; attributes
 * say where they are in a picture of the base, so that the script can show that instead,
 * including boxes that only the base has.
 *
 *     <g class="b" data-d="2" data-x="10.0" data-w="96.4" data-n="98">
 *     <title>poll (1,200 samples, 40.00%; +8.16%)</title> ...
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "libpmp-program.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "base/escape.h"
#include "base/intern.h"
#include "write/lock-names.h"
#include "write/paths.h"
#include "write/table.h"
#include "write/writer.h"

#define WIDTH 1200
#define WIDTH_MIN 300
#define MARGIN 10
#define ROW 18	/* height of a box and the gap below it */
#define HEAD 66 /* title, subtitle, buttons, status */
#define FOOT 10
#define TENTHS 10   /* coordinates are in tenths of pixels */
#define NARROW 1    /* in tenths: the narrowest box drawn */
#define CHAR 73	    /* tenths of pixels: the width of a character */
#define LABEL_MIN 3 /* characters */
#define ANGLE 137   /* degrees: this step gives neighbours distant hues */

/* Differences from this on, in hundredths of a percent of all, get colour 1, 2, ... */
static const unsigned steps[] = { 5, 20, 50, 100, 200, 500, 1000, 2000 };
#define STEPS (sizeof(steps) / sizeof(*steps))

/* What a thread did, worst first. */
enum doing { RUNNING, UNINTERRUPTIBLE, LOCKED, WAITING };

/* With by_lock, which of the most contended locks it waited for instead. */
#define LOCKS 6
enum { OTHER_LOCK = LOCKS, NO_LOCK, DOING_COUNT };

static const struct {
	const char *name, *fill;
} lock_colours[DOING_COUNT] = {
	{ "orange", "#fa6" }, { "blue", "#8be" },   { "green", "#8c8" },
	{ "violet", "#c9e" }, { "yellow", "#fd5" }, { "pink", "#f9b" },
	{ "brown", "#ca8" },  { "grey", "#eee" },
};

/* An open box, which the current path passes through. */
struct box {
	uint32_t function;
	uint64_t start;		     /* samples to the left of it, ... */
	uint64_t base_start;	     /* ... and in the base */
	uint64_t doing[DOING_COUNT]; /* samples of each kind */
};

struct picture {
	struct pmp_out *out;
	const struct pmp_write_options *options;
	struct pmp_paths paths;
	bool compares;
	uint32_t *modules;   /* numbers of modules by function, ... */
	size_t module_count; /* ... less than this */
	struct box *boxes;   /* open ones by depth; 0 is `all` */
	size_t box_count, box_capacity;
	size_t depth;		     /* of the deepest box */
	uint64_t position;	     /* samples so far, ... */
	uint64_t base_position;	     /* ... and in the base */
	unsigned width;		     /* in pixels */
	struct pmp_lock_names locks; /* with by_lock */
};

/* ---- numbers ------------------------------------------------------------------ */

/* "25,466" */
static void add_grouped(struct pmp_buf *buf, uint64_t number)
{
	char digits[24];
	int length = snprintf(digits, sizeof(digits), "%" PRIu64, number);

	for (int i = 0; i < length; i++) {
		if (i && (length - i) % 3 == 0)
			pmp_buf_putc(buf, ',');
		pmp_buf_putc(buf, digits[i]);
	}
}

/* "25,466", "1.50MB" */
static void add_value(struct pmp_buf *buf, uint64_t number,
		      const struct pmp_sample_type *sample_type)
{
	char text[PMP_VALUE_SIZE];

	pmp_format_value(number, sample_type->unit, text, sizeof(text));
	if (strspn(text, "0123456789") == strlen(text))
		add_grouped(buf, number);
	else
		pmp_escape_xml(buf, text, strlen(text));
}

/* Avoids %f, whose decimal point depends on the locale. */
static void add_percent(struct pmp_buf *buf, uint64_t part, uint64_t whole)
{
	unsigned hundredths = 0;

	if (whole)
		hundredths = (unsigned)((double)part / (double)whole * 10000 + 0.5);
	pmp_buf_printf(buf, "%u.%02u%%", hundredths / 100, hundredths % 100);
}

/* The left edge, in tenths of pixels, of a box with this many samples to its left. */
static uint64_t tenths(const struct picture *picture, uint64_t samples, uint64_t all)
{
	uint64_t width = (uint64_t)(picture->width - 2 * MARGIN) * TENTHS;

	if (!all)
		return 0;
	/* A file may claim counts whose sum overflows. */
	if (samples >= all)
		return width;
	return (uint64_t)((double)samples / (double)all * (double)width + 0.5);
}

static void add_tenths(struct pmp_buf *buf, const char *name, uint64_t value)
{
	pmp_buf_printf(buf, " %s=\"%" PRIu64 ".%u\"", name, value / TENTHS,
		       (unsigned)(value % TENTHS));
}

/* ---- colours ------------------------------------------------------------------ */

/* Number the modules, so that each gets a colour. 0 or PMP_ENOMEM. */
static int number_modules(struct picture *picture)
{
	const struct pmp_paths *paths = &picture->paths;
	struct pmp_intern *names = pmp_intern_new();
	int code = names ? 0 : PMP_ENOMEM;

	picture->modules = calloc(paths->function_count + 1, sizeof(*picture->modules));
	if (!picture->modules)
		code = PMP_ENOMEM;
	for (size_t i = 0; i < paths->function_count && !code; i++) {
		const char *name = pmp_name_base(paths->functions[i].module);

		if (!*name)
			continue;
		picture->modules[i] = pmp_intern(names, name, strlen(name));
		if (picture->modules[i] == PMP_INTERN_NONE)
			code = PMP_ENOMEM;
	}
	if (!code)
		picture->module_count = pmp_intern_count(names);
	pmp_intern_free(names);
	return code;
}

/* The change since the base, in samples. */
static double change_of(const struct picture *picture, const struct box *box)
{
	return (double)(picture->position - box->start) -
	       pmp_paths_base(&picture->paths, picture->base_position - box->base_start);
}

static void add_change_class(struct pmp_buf *buf, const struct picture *picture,
			     const struct box *box)
{
	double change = change_of(picture, box);
	double size = (change < 0 ? -change : change) * 10000;
	unsigned step = 0;

	while (size > 0 && step < STEPS &&
	       size >= steps[step] * pmp_paths_whole(&picture->paths))
		step++;
	if (step)
		pmp_buf_printf(buf, " class=\"%s%u\"", change < 0 ? "less" : "more",
			       step);
	else
		pmp_buf_puts(buf, " class=\"same\"");
}

/* The kind that most of its samples have. */
static unsigned most_of(const struct picture *picture, const struct box *box)
{
	unsigned most = picture->locks.of_path ? NO_LOCK : WAITING;

	for (unsigned i = 0; i < DOING_COUNT; i++)
		if (box->doing[i] > box->doing[most])
			most = i;
	return most;
}

static void add_class(struct pmp_buf *buf, const struct picture *picture,
		      const struct box *box, const struct pmp_function *function)
{
	static const char *const names[] = { "run", "disk", "lock", "wait" };
	unsigned most = most_of(picture, box);

	if (picture->compares) {
		add_change_class(buf, picture, box);
	} else if (!function || !*function->module) {
		pmp_buf_puts(buf, " class=\"root\"");
	} else if (picture->locks.of_path) {
		pmp_buf_printf(buf, " class=\"k%u\"", most);
	} else if (!picture->options->by_state) {
		pmp_buf_printf(buf, " class=\"m%u\"", picture->modules[box->function]);
	} else {
		pmp_buf_printf(buf, " class=\"%s\"", names[most]);
	}
}

static unsigned doing_of(const struct picture *picture, size_t path)
{
	const struct pmp_entry *entry = picture->paths.paths[path].entry;

	if (picture->locks.of_path) {
		uint32_t lock = picture->locks.of_path[path];

		return lock == PMP_LOCK_NAME_NONE ? NO_LOCK
		       : lock < LOCKS		  ? lock
						  : OTHER_LOCK;
	}
	if (entry->state == 'R')
		return RUNNING;
	if (entry->state == 'D')
		return UNINTERRUPTIBLE;
	return strcmp(entry->syscall, "futex") ? WAITING : LOCKED;
}

/* ---- boxes -------------------------------------------------------------------- */

static unsigned row_of(const struct picture *picture, size_t depth)
{
	size_t row = picture->options->icicle ? depth : picture->depth - depth;

	return HEAD + (unsigned)row * ROW;
}

/* Writes as much of the name as fits. */
static void add_label(struct pmp_buf *buf, const char *name, uint64_t x, unsigned y,
		      uint64_t width)
{
	size_t room = width > 60 ? (size_t)(width - 60) / CHAR : 0;
	size_t length = strlen(name), at = 0, characters = 0;

	if (room < LABEL_MIN)
		return;
	while (at < length && characters < room) {
		size_t n = pmp_escape_printable(name + at, length - at);

		at += n ? n : 1;
		characters++;
	}
	pmp_buf_puts(buf, "<text");
	add_tenths(buf, "x", x + 3 * TENTHS);
	pmp_buf_printf(buf, " y=\"%u\">", y + 12);
	if (at == length) {
		pmp_escape_xml(buf, name, length);
	} else {
		/* Make room for the two dots. */
		for (int i = 0; i < 2; i++)
			do
				at--;
			while (at && ((unsigned char)name[at] & 0xc0) == 0x80);
		pmp_escape_xml(buf, name, at);
		pmp_buf_puts(buf, "..");
	}
	pmp_buf_puts(buf, "</text>");
}

/* The name of a lock; parentheses would end what the script parses as numbers. */
static void add_lock_name(struct pmp_buf *buf, const char *name)
{
	struct pmp_buf text = { 0 };

	pmp_escape_map(&text, name, strlen(name), "()", "[]");
	if (pmp_buf_failed(&text))
		pmp_buf_fail(buf);
	else if (text.length)
		pmp_escape_xml(buf, text.data, text.length);
	pmp_buf_free(&text);
}

/* "; 80.00% wait for mutex LOCK_log": the lock that gives the box its colour. */
static void add_waiting(struct pmp_buf *buf, const struct picture *picture,
			const struct box *box)
{
	unsigned most = most_of(picture, box);

	if (!picture->locks.of_path || most == NO_LOCK || picture->compares)
		return;
	pmp_buf_puts(buf, "; ");
	add_percent(buf, box->doing[most], picture->position - box->start);
	pmp_buf_puts(buf, " wait for ");
	if (most == OTHER_LOCK)
		pmp_buf_puts(buf, "other locks");
	else
		add_lock_name(buf, picture->locks.items[most].text);
}

/* "poll (1,200 samples, 40.00%; +8.16%)", "main.hold (1.50MB, 40.00%)" */
static void add_tooltip(struct pmp_buf *buf, const struct picture *picture,
			const struct box *box, const char *name)
{
	const struct pmp_sample_type *sample_type = &picture->paths.sample_type;
	uint64_t samples = picture->position - box->start;

	pmp_buf_puts(buf, "<title>");
	pmp_escape_xml(buf, name, strlen(name));
	pmp_buf_puts(buf, " (");
	add_value(buf, samples, sample_type);
	if (*sample_type->type)
		pmp_buf_puts(buf, ", ");
	else
		pmp_buf_puts(buf, samples == 1 ? " sample, " : " samples, ");
	add_percent(buf, samples, picture->paths.samples);
	if (picture->compares) {
		pmp_buf_puts(buf, "; ");
		pmp_table_change(buf, 0, change_of(picture, box),
				 pmp_paths_whole(&picture->paths));
		pmp_buf_putc(buf, '%');
	}
	add_waiting(buf, picture, box);
	pmp_buf_puts(buf, ")</title>");
}

/* Where the box is if drawn with the widths of the base. */
static void add_base_place(struct pmp_buf *buf, const struct picture *picture,
			   const struct box *box, uint64_t x, uint64_t width)
{
	uint64_t samples = pmp_paths_rounded(&picture->paths,
					     picture->base_position - box->base_start);

	add_tenths(buf, "data-x", x + MARGIN * TENTHS);
	add_tenths(buf, "data-w", width);
	pmp_buf_printf(buf, " data-n=\"%" PRIu64 "\"", samples);
}

static void draw_box(struct picture *picture, size_t depth)
{
	const struct box *box = &picture->boxes[depth];
	const struct pmp_paths *paths = &picture->paths;
	uint64_t x = tenths(picture, box->start, paths->samples);
	uint64_t width = tenths(picture, picture->position, paths->samples) - x;
	uint64_t base_x = tenths(picture, box->base_start, paths->base_samples);
	uint64_t base_width =
		tenths(picture, picture->base_position, paths->base_samples) - base_x;
	unsigned y = row_of(picture, depth);
	struct pmp_buf *buf = &picture->out->buf;
	const struct pmp_function *function =
		depth ? &paths->functions[box->function] : NULL;
	const char *name = function ? function->name : "all";

	if (width < NARROW && base_width < NARROW && depth)
		return;
	x += MARGIN * TENTHS;
	pmp_buf_printf(buf, "<g class=\"b%s\" data-d=\"%zu\"",
		       width < NARROW && depth ? " gone" : "", depth);
	if (picture->compares)
		add_base_place(buf, picture, box, base_x, base_width);
	pmp_buf_putc(buf, '>');
	add_tooltip(buf, picture, box, name);
	pmp_buf_puts(buf, "<rect");
	add_tenths(buf, "x", x);
	pmp_buf_printf(buf, " y=\"%u\"", y);
	add_tenths(buf, "width", width);
	pmp_buf_printf(buf, " height=\"%u\"", ROW - 1);
	add_class(buf, picture, box, function);
	pmp_buf_puts(buf, "/>");
	add_label(buf, name, x, y, width);
	pmp_buf_puts(buf, "</g>\n");
	pmp_out_maybe_flush(picture->out);
}

/* Draw the boxes that end here, so that `depth` of them stay open. */
static void close_boxes(struct picture *picture, size_t depth)
{
	while (picture->box_count > depth) {
		const struct box *box = &picture->boxes[--picture->box_count];

		draw_box(picture, picture->box_count);
		for (unsigned i = 0; i < DOING_COUNT && picture->box_count; i++)
			picture->boxes[picture->box_count - 1].doing[i] += box->doing[i];
	}
}

/* How many open boxes the path shares, including `all`. */
static size_t common(const struct picture *picture, const struct pmp_path *path)
{
	size_t depth = 1;

	while (depth < picture->box_count && depth <= path->length &&
	       picture->boxes[depth].function == path->functions[depth - 1])
		depth++;
	return depth;
}

static void draw_boxes(struct picture *picture)
{
	picture->boxes[0] = (struct box){ 0 };
	picture->box_count = 1;
	for (size_t i = 0; i < picture->paths.path_count; i++) {
		const struct pmp_path *path = &picture->paths.paths[i];

		close_boxes(picture, common(picture, path));
		while (picture->box_count <= path->length) {
			uint32_t function = path->functions[picture->box_count - 1];

			picture->boxes[picture->box_count++] = (struct box){
				.function = function,
				.start = picture->position,
				.base_start = picture->base_position,
			};
		}
		picture->boxes[path->length].doing[doing_of(picture, i)] += path->count;
		picture->position += path->count;
		picture->base_position += path->base;
	}
	close_boxes(picture, 0);
}

/* ---- around the boxes ------------------------------------------------------------- */

static const char style[] =
	"<style>\n"
	"svg { background: #fff; }\n"
	"text { font: 12px monospace; fill: #000; }\n"
	"#title { font: bold 16px sans-serif; text-anchor: middle; }\n"
	"#subtitle { font: 12px sans-serif; text-anchor: middle; fill: #555; }\n"
	".button { display: none; cursor: pointer; fill: #04c; }\n"
	"svg.live .button { display: inline; }\n"
	"svg .off, svg.live .off { display: none; }\n"
	"#matched { text-anchor: end; }\n"
	"g.b { cursor: pointer; }\n"
	"g.b rect { stroke: #fff; stroke-width: 0.5; }\n"
	"g.b:hover rect, .selected rect { stroke: #000; stroke-width: 1; }\n"
	".above { opacity: 0.5; }\n"
	".b.hit rect { fill: #f6f; }\n"
	".root { fill: #ddd; }\n"
	".run { fill: #7c6; } .disk { fill: #f76; } .lock { fill: #fd5; } .wait { fill: "
	"#9bd; }\n";

/* Nearly everybody can tell red from blue; both have the same lightness. */
static void add_change_style(struct pmp_buf *buf)
{
	pmp_buf_puts(buf, ".gone { display: none; }\n.same { fill: #eee; }\n");
	for (size_t i = 1; i <= STEPS; i++)
		pmp_buf_printf(buf,
			       ".more%zu { fill: hsl(8, 90%%, %zu%%); } "
			       ".less%zu { fill: hsl(213, 90%%, %zu%%); }\n",
			       i, 94 - 4 * i, i, 94 - 4 * i);
}

static void add_style(struct pmp_buf *buf, const struct picture *picture)
{
	pmp_buf_puts(buf, style);
	if (picture->compares)
		add_change_style(buf);
	for (size_t i = 0; picture->locks.of_path && i < DOING_COUNT; i++)
		pmp_buf_printf(buf, ".k%zu { fill: %s; }\n", i, lock_colours[i].fill);
	for (size_t i = 0; i < picture->module_count && !picture->compares; i++)
		pmp_buf_printf(buf, ".m%zu { fill: hsl(%zu, 80%%, 74%%); }\n", i,
			       (25 + i * ANGLE) % 360);
	pmp_buf_puts(buf, "</style>\n");
}

/* "orange mutex LOCK_log, blue rwlock 0x7f31b8001a40, grey no lock" */
static void add_lock_legend(struct pmp_buf *buf, const struct picture *picture)
{
	size_t count = picture->locks.count;

	for (size_t i = 0; i < count && i < LOCKS; i++) {
		pmp_buf_printf(buf, "%s ", lock_colours[i].name);
		add_lock_name(buf, picture->locks.items[i].text);
		pmp_buf_puts(buf, ", ");
	}
	if (count > LOCKS)
		pmp_buf_printf(buf, "%s %zu others, ", lock_colours[OTHER_LOCK].name,
			       count - LOCKS);
	pmp_buf_printf(buf, "%s no lock", lock_colours[NO_LOCK].name);
}

static void add_text(struct pmp_buf *buf, const char *text)
{
	pmp_escape_xml(buf, text, strlen(text));
}

/* For values of a heap: "; 12 records missing, 3 without a stack" */
static void add_losses(struct pmp_buf *buf, const struct pmp_report *report)
{
	const struct pmp_heap_losses *losses = &report->losses;
	const struct {
		uint64_t count;
		const char *what;
	} parts[] = {
		{ losses->records, "records missing" },
		{ losses->stackless, "samples without a stack" },
		{ losses->unrecorded, "processes not recorded" },
	};
	enum pmp_heap_value value;

	if (!pmp_heap_value_find(report->metadata.sample_type.type, &value))
		return;
	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
		if (!parts[i].count)
			continue;
		pmp_buf_puts(buf, "; ");
		add_grouped(buf, parts[i].count);
		pmp_buf_printf(buf, " %s", parts[i].what);
	}
}

/* "100 snapshots, 7,100 stacks; host db1; 2026-11-21 04:08 UTC", "inuse_space 1.50MB" */
static void add_subtitle(struct pmp_buf *buf, struct picture *picture,
			 const struct pmp_report *report)
{
	const struct pmp_sample_type *sample_type = &picture->paths.sample_type;
	const struct pmp_profile_info *info = &report->totals;
	const struct pmp_metadata *metadata = &report->metadata;
	char text[64] = "";
	struct tm tm;
	time_t seconds;

	if (!metadata->guessed) {
		add_grouped(buf, info->samples);
		pmp_buf_puts(buf, info->samples == 1 ? " snapshot, " : " snapshots, ");
	}
	if (*sample_type->type) {
		add_text(buf, sample_type->type);
		pmp_buf_putc(buf, ' ');
	}
	add_value(buf, picture->paths.samples, sample_type);
	if (info->stacks > picture->paths.samples) {
		pmp_buf_puts(buf, " of ");
		add_value(buf, info->stacks, sample_type);
	}
	if (!*sample_type->type)
		pmp_buf_puts(buf, " stacks");
	if (info->stops)
		pmp_buf_printf(buf, ", stopped %" PRIu64 ".%03u ms in all",
			       (uint64_t)(info->stopped / PMP_MS),
			       (unsigned)(info->stopped % PMP_MS / PMP_US));
	add_losses(buf, report);
	if (*metadata->host) {
		pmp_buf_puts(buf, "; ");
		add_text(buf, metadata->host);
	}
	seconds = (time_t)(metadata->realtime / PMP_S);
	if (metadata->realtime && gmtime_r(&seconds, &tm) &&
	    strftime(text, sizeof(text), "; %Y-%m-%d %H:%M:%S UTC", &tm))
		pmp_buf_puts(buf, text);
}

static void add_title(struct pmp_buf *buf, const struct picture *picture)
{
	const struct pmp_paths *paths = &picture->paths;
	const char *title = picture->options->title;
	size_t first = 0;

	/* Skips paths of the base: its process may have another name. */
	while (first + 1 < paths->path_count && !paths->paths[first].count)
		first++;
	if (!title && first < paths->path_count)
		title = paths->paths[first].entry->process;
	add_text(buf, title ? title : "nothing was sampled");
	if (!picture->options->title &&
	    strcmp(paths->sample_type.type, "inuse_space") == 0)
		pmp_buf_puts(buf, ": live bytes");
}

/* "red grew, blue shrank since the base: 5,680 stacks in 80 snapshots ..." */
static void add_base(struct pmp_buf *buf, const struct picture *picture,
		     const struct pmp_report *base)
{
	const struct pmp_paths *paths = &picture->paths;
	const struct pmp_profile_info *info = &base->totals;
	size_t count = 0;
	uint64_t gone = 0;

	for (size_t i = 0; i < paths->path_count; i++)
		if (!paths->paths[i].count) {
			gone += paths->paths[i].base;
			count++;
		}
	pmp_buf_puts(buf, "red grew, blue shrank since the base: ");
	add_value(buf, paths->base_samples, &paths->sample_type);
	if (!*paths->sample_type.type)
		pmp_buf_puts(buf, " stacks");
	if (!paths->scale.by_totals && !*paths->sample_type.type) {
		pmp_buf_puts(buf, " in ");
		add_grouped(buf, info->samples);
		pmp_buf_puts(buf, info->samples == 1 ? " snapshot" : " snapshots");
	}
	if (paths->scale.to != paths->scale.from)
		pmp_buf_printf(buf, ", times %" PRIu64 "/%" PRIu64, paths->scale.to,
			       paths->scale.from);
	pmp_buf_puts(buf, "; gone: ");
	pmp_table_change(buf, 0, -pmp_paths_base(paths, gone), pmp_paths_whole(paths));
	pmp_buf_printf(buf, "%% in %zu stack%s", count, count == 1 ? "" : "s");
}

/* A comment must not contain two dashes in a row. */
static void add_comment(struct pmp_buf *buf, const char *command)
{
	size_t start;

	pmp_buf_printf(buf, "<!-- pmp %s: ", pmp_version());
	start = buf->length;
	add_text(buf, command);
	for (size_t i = start; !buf->failed && i + 1 < buf->length; i++)
		if (buf->data[i] == '-' && buf->data[i + 1] == '-')
			buf->data[i] = '~';
	pmp_buf_puts(buf, " -->\n");
}

static void add_begin(struct picture *picture, const struct pmp_report *report)
{
	struct pmp_buf *buf = &picture->out->buf;
	unsigned width = picture->width;
	unsigned height = HEAD + FOOT + ((unsigned)picture->depth + 1) * ROW;
	const struct pmp_metadata *metadata = &report->metadata;

	pmp_buf_puts(buf, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
	if (*metadata->command)
		add_comment(buf, metadata->command);
	pmp_buf_printf(buf,
		       "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%u\" "
		       "height=\"%u\" viewBox=\"0 0 %u %u\" data-width=\"%u\" "
		       "data-margin=\"%u\"%s>\n",
		       width, height, width, height, width - 2 * MARGIN, MARGIN,
		       picture->options->icicle ? " data-icicle=\"1\"" : "");
	add_style(buf, picture);
}

/* Drawn last: the script keeps it visible above the boxes. */
static void add_head(struct picture *picture, const struct pmp_report *report)
{
	struct pmp_buf *buf = &picture->out->buf;
	const struct pmp_report *base = report->base;
	unsigned width = picture->width;

	pmp_buf_printf(buf,
		       "<g id=\"head\"><rect width=\"%u\" height=\"%u\" "
		       "fill=\"#fff\"/>\n",
		       width, HEAD - 3);
	pmp_buf_printf(buf, "<text id=\"title\" x=\"%u\" y=\"22\">", width / 2);
	add_title(buf, picture);
	pmp_buf_printf(buf, "</text>\n<text id=\"subtitle\" x=\"%u\" y=\"40\">",
		       width / 2);
	add_subtitle(buf, picture, report);
	pmp_buf_printf(buf, "</text>\n<text id=\"status\" x=\"%u\" y=\"58\">", MARGIN);
	if (base)
		add_base(buf, picture, base);
	else if (picture->locks.of_path)
		add_lock_legend(buf, picture);
	else if (picture->options->by_state)
		pmp_buf_puts(buf, "green running, red uninterruptible, yellow futex, "
				  "blue waiting");
	else
		pmp_buf_puts(buf, "a colour for each module");
	pmp_buf_printf(buf,
		       "</text>\n<text id=\"reset\" class=\"button off\" x=\"%u\" "
		       "y=\"22\">Reset zoom</text>\n",
		       MARGIN);
	if (base)
		pmp_buf_printf(buf,
			       "<text id=\"widths\" class=\"button\" x=\"%u\" "
			       "y=\"40\">Show the base</text>\n",
			       MARGIN);
	pmp_buf_printf(buf,
		       "<text id=\"search\" class=\"button\" x=\"%u\" y=\"22\">"
		       "Search</text>\n",
		       width - MARGIN - 50);
	pmp_buf_printf(buf, "<text id=\"matched\" x=\"%u\" y=\"58\"> </text>\n",
		       width - MARGIN);
	pmp_buf_printf(buf,
		       "<foreignObject id=\"box\" x=\"%u\" y=\"4\" width=\"190\" "
		       "height=\"30\" style=\"display: none\"><input id=\"input\" "
		       "xmlns=\"http://www.w3.org/1999/xhtml\" placeholder=\"regular "
		       "expression\" style=\"width: 180px\"/></foreignObject>\n</g>\n",
		       width - MARGIN - 250);
}

static void add_script(struct pmp_buf *buf)
{
	pmp_buf_puts(buf, "<script><![CDATA[\n");
	pmp_buf_puts(buf,
#include "write/svg-script.h"
	);
	pmp_buf_puts(buf, "]]></script>\n</svg>\n");
}

static void write_svg(struct pmp_out *out, const struct pmp_report *report,
		      const struct pmp_write_options *options)
{
	const struct pmp_path_style paths = pmp_paths_style(options);
	struct picture picture = { .out = out,
				   .options = options,
				   .width = WIDTH,
				   .compares = report->base != NULL };

	if (options->width >= WIDTH_MIN)
		picture.width = options->width;
	if (pmp_paths_make(&picture.paths, report, &paths) || number_modules(&picture)) {
		pmp_buf_fail(&out->buf);
		goto out;
	}
	if (options->by_lock &&
	    pmp_lock_names_make(&picture.locks, &picture.paths, report)) {
		pmp_buf_fail(&out->buf);
		goto out;
	}
	for (size_t i = 0; i < picture.paths.path_count; i++)
		if (picture.paths.paths[i].length > picture.depth)
			picture.depth = picture.paths.paths[i].length;
	if (PMP_RESERVE(&picture.boxes, &picture.box_capacity, picture.depth + 1)) {
		pmp_buf_fail(&out->buf);
		goto out;
	}
	add_begin(&picture, report);
	draw_boxes(&picture);
	add_head(&picture, report);
	add_script(&out->buf);
out:
	pmp_lock_names_free(&picture.locks);
	pmp_paths_free(&picture.paths);
	free(picture.modules);
	free(picture.boxes);
}

const struct pmp_writer pmp_writer_svg = {
	.format = {
		.name = "svg",
		.help = "a flame graph to open in any browser",
		.extension = "svg",
		.mime = "image/svg+xml",
		.compares = true,
	},
	.write = write_svg,
	.write_diff = write_svg,
};

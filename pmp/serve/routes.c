/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See routes.h. */
#include "serve/routes.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "libpmp.h"
#include "serve/counts.h"

#define TEXT "text/plain; charset=utf-8"
#define HTML "text/html; charset=utf-8"
#define METRICS "text/plain; version=0.0.4; charset=utf-8"
#define CSS "text/css; charset=utf-8"
#define SCRIPT "text/javascript; charset=utf-8"
#define JSON "application/json"
#define BYTES "application/octet-stream"

/* The page that debug=2 selects. */
#define STACKS "/stacks"

#define READS (HTTP_GET | HTTP_HEAD)
#define ASKS (HTTP_GET | HTTP_HEAD | HTTP_POST)

#define NO_COUNTERS "pmp has no counters of the processor: /pprof/profile is CPU time"

static const struct page pages[] = {
	{ "/healthz", PAGE_HEALTH, PAGES_OF_PMP, READS, .type = TEXT },
	{ "/metrics", PAGE_METRICS, PAGES_OF_PMP, READS, .type = METRICS },
	{ "/sd", PAGE_TARGETS, PAGES_OF_PMP, READS, .type = JSON },
	{ "/locks", PAGE_STACKS, PAGES_OF_PMP, READS, .type = TEXT, .format = "locks" },
	{ STACKS, PAGE_STACKS, PAGES_OF_PMP, READS, .type = TEXT, .format = "raw" },
	{ "/memory", PAGE_HEAP, PAGES_OF_PMP, READS, .type = TEXT, .format = "memory" },
	{ "/heap", PAGE_HEAP, PAGES_OF_PMP, READS, .type = TEXT, .format = "heap" },
	{ "/growth", PAGE_HEAP, PAGES_OF_PMP, READS, .type = TEXT, .format = "growth" },

	{ "/pprof/profile", PAGE_WINDOW, PAGES_OF_GPERFTOOLS, READS, .type = BYTES,
	  .format = "gperf", .value = "cpu", .filename = "profile" },
	{ "/pprof/wall", PAGE_WINDOW, PAGES_OF_GPERFTOOLS, READS, .type = BYTES,
	  .format = "gperf", .value = "wall", .filename = "wall" },
	{ "/pprof/contention", PAGE_WINDOW, PAGES_OF_GPERFTOOLS, READS, .type = TEXT,
	  .format = "contention", .since_start = true },
	{ "/pprof/cmdline", PAGE_CMDLINE, PAGES_OF_GPERFTOOLS, READS, .type = TEXT },
	{ "/pprof/symbol", PAGE_SYMBOL, PAGES_OF_GPERFTOOLS, ASKS, .type = TEXT },
	{ "/pprof/symbolz", PAGE_SYMBOL, PAGES_OF_GPERFTOOLS, ASKS, .type = TEXT },
	{ "/symbolz", PAGE_SYMBOL, PAGES_OF_GPERFTOOLS, ASKS, .type = TEXT },
	{ "/pprof/threadz", PAGE_SNAPSHOT, PAGES_OF_GPERFTOOLS, READS, .type = TEXT,
	  .format = "threadz" },
	{ "/pprof/filteredprofile", PAGE_WINDOW, PAGES_OF_GPERFTOOLS, READS,
	  .type = BYTES, .format = "gperf", .value = "cpu", .filename = "profile" },
	{ "/pprof/heap", PAGE_HEAP, PAGES_OF_GPERFTOOLS, READS, .type = TEXT,
	  .format = "heap" },
	{ "/pprof/growth", PAGE_HEAP, PAGES_OF_GPERFTOOLS, READS, .type = TEXT,
	  .format = "growth" },
	{ "/pprof/pmuprofile", PAGE_ABSENT, PAGES_OF_GPERFTOOLS, READS,
	  .why_absent = NO_COUNTERS },
	{ "/pprof/censusprofile", PAGE_ABSENT, PAGES_OF_GPERFTOOLS, READS,
	  .why_absent = NO_COUNTERS },

	{ "/", PAGE_FILE, PAGES_OF_PMP, READS, .type = HTML, .file = "page.html" },
	{ "/page.css", PAGE_FILE, PAGES_OF_PMP, READS, .type = CSS, .file = "page.css" },
	{ "/page.js", PAGE_FILE, PAGES_OF_PMP, READS, .type = SCRIPT, .file = "page.js" },
	{ "/api/state", PAGE_STATE, PAGES_OF_API, READS, .type = JSON },
	{ "/api/timeline", PAGE_TIMELINE, PAGES_OF_API, READS, .type = JSON },
	{ "/api/tree", PAGE_TREE, PAGES_OF_API, READS, .type = JSON },
	{ "/api/threads", PAGE_THREADS, PAGES_OF_API, READS, .type = JSON },
	{ "/api/locks", PAGE_LOCKS, PAGES_OF_API, READS, .type = JSON },
	{ "/api/heap", PAGE_HEAP_TREE, PAGES_OF_API, READS, .type = JSON },

	{ "/debug/pprof/", PAGE_INDEX, PAGES_OF_GO, READS, .type = HTML },
	{ "/debug/pprof/profile", PAGE_WINDOW, PAGES_OF_GO, READS, .type = BYTES,
	  .format = "pprof", .value = "cpu", .filename = "profile" },
	{ "/debug/pprof/wall", PAGE_WINDOW, PAGES_OF_GO, READS, .type = BYTES,
	  .format = "pprof", .value = "wall", .filename = "wall" },
	{ "/debug/pprof/offcpu", PAGE_WINDOW, PAGES_OF_GO, READS, .type = BYTES,
	  .format = "pprof", .value = "offcpu", .filename = "offcpu" },
	{ "/debug/pprof/block", PAGE_WINDOW, PAGES_OF_GO, READS, .type = BYTES,
	  .format = "contention", .proto = true, .since_start = true,
	  .filename = "block" },
	{ "/debug/pprof/mutex", PAGE_WINDOW, PAGES_OF_GO, READS, .type = BYTES,
	  .format = "mutex", .proto = true, .since_start = true, .filename = "mutex" },
	{ "/debug/pprof/threads", PAGE_SNAPSHOT, PAGES_OF_GO, READS, .type = BYTES,
	  .format = "pprof", .value = "threads", .filename = "threads" },
	{ "/debug/pprof/goroutine", PAGE_SNAPSHOT, PAGES_OF_GO, READS, .type = BYTES,
	  .format = "pprof", .value = "threads", .filename = "goroutine" },
	{ "/debug/pprof/cmdline", PAGE_CMDLINE, PAGES_OF_GO, READS, .type = TEXT },
	{ "/debug/pprof/symbol", PAGE_SYMBOL, PAGES_OF_GO, ASKS, .type = TEXT },
	{ "/debug/pprof/heap", PAGE_HEAP, PAGES_OF_GO, READS, .type = BYTES,
	  .format = "pprof", .value = "inuse_space", .filename = "heap" },
	{ "/debug/pprof/allocs", PAGE_HEAP, PAGES_OF_GO, READS, .type = BYTES,
	  .format = "pprof", .value = "alloc_space", .filename = "allocs" },

	{ "/FORMAT", PAGE_WINDOW, PAGES_OF_PMP, READS, .type = NULL },
};

#define PAGE_COUNT (sizeof(pages) / sizeof(*pages))

_Static_assert(PAGE_COUNT < COUNTS_PAGES, "a row for each");

const struct page *page_row(size_t i)
{
	return i < PAGE_COUNT ? &pages[i] : NULL;
}

size_t page_number(const struct page *page)
{
	return (size_t)(page - pages);
}

const char *page_methods(unsigned methods)
{
	return methods & HTTP_POST ? "GET, HEAD, POST" : "GET, HEAD";
}

__attribute__((format(printf, 3, 4))) static int refuse(char *reason, int status,
							const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(reason, ROUTE_REASON_SIZE, format, args);
	va_end(args);
	return status;
}

/* ---- prefixes --------------------------------------------------------------------- */

/* Parse a number that has digits only, up to a limit. */
static bool take_number(const char *text, size_t length, uint64_t limit, uint64_t *number)
{
	*number = 0;
	for (size_t i = 0; i < length; i++) {
		if (text[i] < '0' || text[i] > '9')
			return false;
		*number = *number * 10 + (uint64_t)(text[i] - '0');
		if (*number > limit)
			return false;
	}
	return length > 0;
}

static bool take_pid(const char *text, size_t length, struct route *route)
{
	uint64_t number;

	if (route->pid || !take_number(text, length, INT32_MAX, &number) || !number)
		return false;
	route->pid = (pid_t)number;
	return true;
}

static bool take_name(const char *text, size_t length, struct route *route)
{
	if (*route->name || !length || length >= sizeof(route->name))
		return false;
	memcpy(route->name, text, length);
	return true;
}

static bool take_past(const char *text, size_t length, struct route *route)
{
	(void)text;
	(void)length;
	if (route->past)
		return false;
	route->past = true;
	return true;
}

static bool take_feed(const char *text, size_t length, struct route *route)
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyz0123456789-_";

	if (*route->feed || !length || length >= sizeof(route->feed) ||
	    strspn(text, allowed) < length)
		return false;
	memcpy(route->feed, text, length);
	return true;
}

static const struct prefix {
	const char *word;
	bool has_value;
	bool (*take)(const char *text, size_t length, struct route *route);
} prefixes[] = {
	{ "/pid/", true, take_pid },
	{ "/name/", true, take_name },
	{ "/past", false, take_past },
	{ "/feed/", true, take_feed },
};

static const struct prefix *prefix_of(const char *path)
{
	for (size_t i = 0; i < sizeof(prefixes) / sizeof(*prefixes); i++) {
		const struct prefix *prefix = &prefixes[i];
		size_t length = strlen(prefix->word);

		if (strncmp(path, prefix->word, length) == 0 &&
		    (prefix->has_value || path[length] == '/'))
			return prefix;
	}
	return NULL;
}

/* Parse the prefixes; the rest of *path is the page. */
static int take_prefixes(const char **path, struct route *route, char *reason)
{
	const struct prefix *prefix;

	while ((prefix = prefix_of(*path))) {
		const char *value = *path + strlen(prefix->word);
		size_t length = prefix->has_value ? strcspn(value, "/") : 0;

		if (!prefix->take(value, length, route))
			return refuse(reason, 400,
				      "%s is given twice, or its value is invalid",
				      prefix->word);
		*path = value + length;
	}
	return 0;
}

/* ---- the page ---------------------------------------------------------------------- */

/* The page of a format that writes counts; formats of single snapshots have none. */
static const struct page *find_format(const char *name, struct route *route)
{
	const struct pmp_format *format = pmp_format_find(name);

	if (!format || format->live)
		return NULL;
	route->format = format;
	return &pages[PAGE_COUNT - 1];
}

static const struct page *find_page(const char *path, struct route *route)
{
	for (size_t i = 0; i < PAGE_COUNT - 1; i++) {
		if (strcmp(path, pages[i].path) != 0)
			continue;
		if (pages[i].format)
			route->format = pmp_format_find(pages[i].format);
		return &pages[i];
	}
	return *path == '/' ? find_format(path + 1, route) : NULL;
}

/* ---- parameters -------------------------------------------------------------------- */

/* From 0.001 to the limit, with up to three digits after the point. */
static bool take_seconds(const char *text, struct route *route)
{
	size_t whole = strcspn(text, "."), length = strlen(text);
	uint64_t seconds, fraction = 0;

	if (!take_number(text, whole, ROUTE_SECONDS_MAX, &seconds))
		return false;
	if (whole < length) {
		size_t digits = length - whole - 1;

		if (digits > 3 || !take_number(text + whole + 1, digits, 999, &fraction))
			return false;
		for (; digits < 3; digits++)
			fraction *= 10;
	}
	route->milliseconds = (uint32_t)(seconds * 1000 + fraction);
	return route->milliseconds && route->milliseconds <= ROUTE_SECONDS_MAX * 1000;
}

/* In ms; negative values are before now. */
static bool take_time(const char *text, int64_t *time)
{
	const bool negative = *text == '-';
	uint64_t number;

	if (!take_number(text + negative, strlen(text + negative), ROUTE_TIME_MAX,
			 &number))
		return false;
	*time = negative ? -(int64_t)number : (int64_t)number;
	return true;
}

static bool take_from(const char *text, struct route *route)
{
	route->has_times = true;
	return take_time(text, &route->from);
}

static bool take_to(const char *text, struct route *route)
{
	route->has_times = true;
	return take_time(text, &route->to);
}

/* From 1 on. */
static bool take_count(const char *text, uint64_t limit, uint32_t *count)
{
	uint64_t number;

	if (!take_number(text, strlen(text), limit, &number) || !number)
		return false;
	*count = (uint32_t)number;
	return true;
}

static bool take_px(const char *text, struct route *route)
{
	return take_count(text, ROUTE_PX_MAX, &route->px);
}

static bool take_nodes(const char *text, struct route *route)
{
	return take_count(text, ROUTE_NODES_MAX, &route->nodes);
}

static bool take_split(const char *text, struct route *route)
{
	route->by_thread = strcmp(text, "thread") == 0;
	return route->by_thread || strcmp(text, "group") == 0;
}

static bool take_debug(const char *text, struct route *route)
{
	uint64_t number;

	if (!take_number(text, strlen(text), 2, &number))
		return false;
	route->debug = (unsigned)number;
	return true;
}

static bool take_hz(const char *text, struct route *route)
{
	return take_count(text, ROUTE_HZ_MAX, &route->hz);
}

/* The number of a word, from 1 on; 0: it is not in the list. */
static uint32_t find_word(const char *text, const char *const *words, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		if (strcmp(text, words[i]) == 0)
			return i + 1;
	}
	return 0;
}

static bool take_labels(const char *text, struct route *route)
{
	static const char *const words[] = { [PMP_LABELS_ALL] = "all",
					     [PMP_LABELS_NAMES] = "group",
					     [PMP_LABELS_NONE] = "none" };

	route->labels = find_word(text, words, PMP_LABELS_NONE + 1);
	return route->labels;
}

static bool take_idle(const char *text, struct route *route)
{
	static const char *const words[PMP_IDLE_COUNT] = { "show", "hide", "only" };

	route->selection.idle = find_word(text, words, PMP_IDLE_COUNT);
	return route->selection.idle;
}

/* The front checks the syntax of the expression. */
static bool take_pattern(const char *text, char *pattern)
{
	const size_t length = strlen(text);

	if (!length || length >= ROUTE_PATTERN_SIZE)
		return false;
	memcpy(pattern, text, length + 1);
	return true;
}

static bool take_focus(const char *text, struct route *route)
{
	return take_pattern(text, route->selection.focus);
}

static bool take_ignore(const char *text, struct route *route)
{
	return take_pattern(text, route->selection.ignore);
}

static bool take_thread(const char *text, struct route *route)
{
	uint64_t number;

	if (!take_number(text, strlen(text), INT32_MAX, &number) || !number)
		return take_pattern(text, route->selection.thread);
	route->selection.tid = (uint32_t)number;
	return true;
}

static bool take_group(const char *text, struct route *route)
{
	return take_pattern(text, route->selection.group);
}

static bool take_under(const char *text, struct route *route)
{
	snprintf(route->under, sizeof(route->under), "%s", text);
	return *text;
}

#define EXPRESSION "an expression of 1 to 255 bytes"

/* Unknown parameters are ignored. */
static const struct parameter {
	const char *name, *values;
	bool (*take)(const char *text, struct route *route);
} parameters[] = {
	{ "seconds", "a number from 0.001 to 600", take_seconds },
	{ "debug", "0, 1 or 2", take_debug },
	{ "from", "a number of milliseconds since the start, or below 0 since now",
	  take_from },
	{ "to", "a number of milliseconds since the start, or up to 0 since now",
	  take_to },
	{ "px", "a number from 1 to 100000", take_px },
	{ "nodes", "a number from 1 to 100000", take_nodes },
	{ "split", "group or thread", take_split },
	{ "under", "names of functions, outermost first, with ; between them",
	  take_under },
	{ "hz", "a number from 1 to 1000", take_hz },
	{ "labels", "group, all or none", take_labels },
	{ "idle", "show, hide or only", take_idle },
	{ "focus", EXPRESSION, take_focus },
	{ "ignore", EXPRESSION, take_ignore },
	{ "thread", EXPRESSION ", or the number of a thread", take_thread },
	{ "group", EXPRESSION, take_group },
};

#define PARAMETER_COUNT (sizeof(parameters) / sizeof(*parameters))

static int take_parameter(const struct parameter *parameter, const char *value,
			  size_t length, struct route *route, char *reason)
{
	char text[ROUTE_UNDER_SIZE];

	if (http_decode(value, length, true, "", text, sizeof(text)) &&
	    parameter->take(text, route))
		return 0;
	return refuse(reason, 400, "%s is %s", parameter->name, parameter->values);
}

/* Of a repeated parameter the first value counts: a scraper of profiles is known to append
 * its own to the configured ones, again each time. */
static int take_parameters(const char *query, struct route *route, char *reason)
{
	unsigned taken = 0;
	int status = 0;

	while (*query && !status) {
		size_t all = strcspn(query, "&"), name = strcspn(query, "=&");

		for (size_t i = 0; i < PARAMETER_COUNT; i++) {
			if (name != strlen(parameters[i].name) || taken & 1U << i ||
			    strncmp(query, parameters[i].name, name) != 0)
				continue;
			taken |= 1U << i;
			status = take_parameter(&parameters[i],
						query + name + (name < all),
						all - name - (name < all), route, reason);
		}
		query += all;
		query += *query == '&';
	}
	return status;
}

/* ---- all of it ---------------------------------------------------------------------- */

/* A window is the next seconds, the last ones, or has explicit times. */
static int check_window(const struct route *route, char *reason)
{
	if (!route->has_times)
		return 0;
	if (route->past || *route->feed)
		return refuse(reason, 400,
			      "from and to, /past and /feed exclude each other");
	if (route->milliseconds)
		return refuse(reason, 400, "from and to, and seconds exclude each other");
	/* Times since the start cannot be compared with times before now. */
	if (((route->from > 0 && route->to > 0) || (route->from < 0 && route->to < 0)) &&
	    route->from > route->to)
		return refuse(reason, 400, "from is later than to");
	return 0;
}

/* Readable text instead of a profile, like Go on the same pages. */
static void take_text(struct route *route)
{
	if (!route->debug || route->page->family != PAGES_OF_GO)
		return;
	if (route->page->kind == PAGE_SNAPSHOT && route->debug == 2) {
		route->page = find_page(STACKS, route);
		return;
	}
	if (route->page->kind == PAGE_SNAPSHOT)
		route->format = pmp_format_find("counts");
	if (route->page->kind == PAGE_HEAP)
		route->format = pmp_format_find("heap");
	route->as_text = route->page->proto || route->page->kind == PAGE_SNAPSHOT ||
			 route->page->kind == PAGE_HEAP;
}

static int check_page(const struct http_request *request, const struct route *route,
		      char *reason)
{
	if (!(route->page->methods & request->method))
		return refuse(reason, 405, "it is asked by %s",
			      page_methods(route->page->methods));
	if (route->page->kind == PAGE_ABSENT)
		return refuse(reason, 501, "%s", route->page->why_absent);
	if (route->past && *route->feed)
		return refuse(reason, 400, "/past and /feed exclude each other");
	return 0;
}

int route_find(const struct http_request *request, struct route *route, char *reason)
{
	const char *path = request->path;
	int status;

	*route = (struct route){ 0 };
	*reason = '\0';
	status = take_prefixes(&path, route, reason);
	if (status)
		return status;
	route->page = find_page(path, route);
	if (!route->page)
		return refuse(reason, 404,
			      "Unknown profile: /debug/pprof/ lists all pages");
	status = check_page(request, route, reason);
	/* The query of PAGE_SYMBOL is a list of addresses. */
	if (!status && route->page->kind != PAGE_SYMBOL)
		status = take_parameters(request->query, route, reason);
	if (!status)
		status = check_window(route, reason);
	if (!status)
		take_text(route);
	return status;
}

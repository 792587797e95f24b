/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Paths and parameters: which page is meant, and what is refused. */
#include "lib/tap.h"

#include "serve/routes.h"

#include "libpmp.h"

static struct route route;
static char reason[ROUTE_REASON_SIZE];

static int find(enum http_method method, const char *target)
{
	static struct http_request request;
	char head[HTTP_LINE_MAX + 64];
	int n = snprintf(head, sizeof(head), "GET %s HTTP/1.1\r\nHost: h\r\n\r\n",
			 target);

	if (http_parse(head, (size_t)n, &request))
		return 1;
	request.method = method;
	return route_find(&request, &route, reason);
}

static void refused(const char *target, int status, const char *why)
{
	is_int(find(HTTP_GET, target), status, "%s is refused", target);
	ok(strstr(reason, why), "and says why: %s", reason);
}

static void check_pages(void)
{
	for (size_t i = 0; page_row(i); i++) {
		const struct page *page = page_row(i);
		const char *path = page_row(i + 1) ? page->path : "/folded";
		int want = page->kind == PAGE_ABSENT ? 501 : 0;

		is_int(find(HTTP_GET, path), want, "GET %s", path);
		ok(route.page == page, "it is that page");
		is_int(page_number(page), i, "its number");
		is_int(find(HTTP_HEAD, path), want, "HEAD");
		is_int(find(HTTP_POST, path), page->kind == PAGE_SYMBOL ? 0 : 405,
		       "POST only of names");
		ok(page->kind == PAGE_ABSENT || page->type || !page_row(i + 1),
		   "its body has a type");
		ok(!page->format || pmp_format_find(page->format), "its format is there");
	}
}

static void check_prefixes(void)
{
	is_int(find(HTTP_GET, "/pid/4100/pprof/profile"), 0, "a process");
	is_int(route.pid, 4100, "its id");
	is_str(route.format->name, "gperf", "the page's format");
	is_int(find(HTTP_GET, "/name/my%20sql/pid/1/folded"), 0, "two prefixes");
	is_int(route.pid, 1, "an id");
	is_str(route.name, "my sql", "and a name");
	is_int(find(HTTP_GET, "/pid/1/name/x/folded"), 0, "in the other order");
	is_int(route.pid, 1, "an id");
	is_str(route.name, "x", "and a name");
	is_int(find(HTTP_GET, "/past/pid/7/svg"), 0, "the past");
	ok(route.past, "it is understood");
	is_int(route.pid, 7, "with its id");
	is_int(find(HTTP_GET, "/pid/7/feed/a-b_3/svg"), 0, "a feed");
	is_str(route.feed, "a-b_3", "its cursor");
	refused("/past/feed/a/svg", 400, "exclude each other");
	refused("/pid/1/pid/2/folded", 400, "/pid/");
	refused("/pid//folded", 400, "/pid/");
	refused("/pid/0/folded", 400, "/pid/");
	refused("/pid/-1/folded", 400, "/pid/");
	refused("/pid/99999999999/folded", 400, "/pid/");
	refused("/past/past/folded", 400, "/past");
	refused("/feed/ABC/folded", 400, "/feed/");
	refused("/feed/a/feed/a/folded", 400, "/feed/");
	refused("/name//folded", 400, "/name/");
	refused("/feed/012345678901234567890123456789012/folded", 400, "/feed/");
	refused("/pid/1", 404, "Unknown");
	refused("/pastry/folded", 404, "Unknown");
	refused("/..", 404, "Unknown");
	refused("/FORMAT", 404, "Unknown");
	refused("/debug/pprof/trace", 404,
		"Unknown profile: /debug/pprof/ lists all pages");
	refused("/pprof/profile/", 404, "Unknown");
}

static void check_parameters(void)
{
	is_int(find(HTTP_GET, "/folded"), 0, "no parameters");
	is_int(route.milliseconds, 0, "no seconds");
	is_int(find(HTTP_GET, "/folded?seconds=30"), 0, "seconds");
	is_int(route.milliseconds, 30000, "in milliseconds");
	is_int(find(HTTP_GET, "/folded?seconds=0.25&gc=1&x"), 0, "others are ignored");
	is_int(route.milliseconds, 250, "a fraction");
	is_int(find(HTTP_GET, "/folded?seconds=14&seconds=15&seconds=x"), 0, "three");
	is_int(route.milliseconds, 14000, "the first one counts");
	is_int(find(HTTP_GET, "/folded?seconds=1%30"), 0, "an escape");
	is_int(route.milliseconds, 10000, "is decoded");
	is_int(find(HTTP_GET, "/folded?seconds=600"), 0, "the most");
	refused("/folded?seconds=600.001", 400, "seconds");
	refused("/folded?seconds=601", 400, "seconds");
	refused("/folded?seconds=0", 400, "seconds");
	refused("/folded?seconds=", 400, "seconds");
	refused("/folded?seconds", 400, "seconds");
	refused("/folded?seconds=-1", 400, "seconds");
	refused("/folded?seconds=1e3", 400, "seconds");
	refused("/folded?seconds=1.", 400, "seconds");
	refused("/folded?seconds=1.2345", 400, "seconds");
	refused("/pprof/contention?seconds=5/pprof/symbol", 400, "seconds");
	refused("/folded?debug=3", 400, "debug");
	is_int(find(HTTP_GET, "/debug/pprof/threads?debug=1"), 0, "threads as text");
	is_str(route.format->name, "counts", "are another format");
	ok(route.as_text, "and no bytes");
	is_int(find(HTTP_GET, "/debug/pprof/block?debug=1"), 0, "waits as text");
	ok(route.as_text, "are no bytes either");
	is_int(find(HTTP_GET, "/debug/pprof/profile?debug=2"), 0, "as Go's, a profile");
	ok(!route.as_text, "is always bytes");
	is_int(find(HTTP_GET, "/debug/pprof/goroutine?debug=2"), 0, "stacks as text");
	is_str(route.page->path, "/stacks", "are another page");
	is_str(route.format->name, "raw", "of that format");
	is_int(find(HTTP_GET, "/pprof/symbol?0x1+0x2"), 0, "addresses are no parameters");
}

/* Which stacks, and how often. */
static void check_selection(void)
{
	char request[600] = "/folded?focus=";

	is_int(find(HTTP_GET, "/folded?focus=^main$&ignore=a%7Cb&thread=conn-1&group=N$"
			      "&idle=hide&hz=100&labels=none"),
	       0, "some stacks only");
	is_str(route.selection.focus, "^main$", "with a function");
	is_str(route.selection.ignore, "a|b", "without others");
	is_str(route.selection.thread, "conn-1", "of a thread");
	is_str(route.selection.group, "N$", "of a group");
	is_int(route.selection.idle, PMP_IDLE_HIDDEN + 1, "of those that do something");
	is_int(route.hz, 100, "more often");
	is_int(route.labels, PMP_LABELS_NONE + 1, "without labels");
	is_int(find(HTTP_GET, "/folded?thread=4102"), 0, "a thread by its number");
	ok(route.selection.tid == 4102 && !*route.selection.thread, "which is no name");
	is_int(find(HTTP_GET, "/api/tree?under=demo;main;a%20b"), 0, "a branch");
	is_str(route.under, "demo;main;a b", "by its names");
	is_int(find(HTTP_GET, "/folded"), 0, "none is given");
	ok(!route.selection.idle && !route.hz && !route.labels &&
		   !*route.selection.focus && !*route.under,
	   "all is as pmp was started");
	refused("/folded?focus=", 400, "focus is an expression");
	memset(request + strlen(request), 'x', 256);
	refused(request, 400, "focus is an expression");
	request[strlen(request) - 1] = '\0';
	is_int(find(HTTP_GET, request), 0, "the longest one");
	refused("/folded?idle=maybe", 400, "idle is show, hide or only");
	refused("/folded?hz=0", 400, "hz is a number");
	refused("/folded?hz=1001", 400, "hz is a number");
	refused("/debug/pprof/profile?labels=tid", 400, "labels is group");
}

/* Parameters of what the page asks for. */
static void check_page_parameters(void)
{
	is_int(find(HTTP_GET, "/api/tree"), 0, "a tree");
	ok(!route.has_times && !route.px && !route.nodes && !route.by_thread,
	   "nothing is given");
	is_int(find(HTTP_GET,
		    "/api/tree?from=-60000&to=0&px=1280&nodes=500&split=thread"),
	       0, "the last minute");
	ok(route.has_times && route.from == -60000 && route.to == 0, "its times");
	ok(route.px == 1280 && route.nodes == 500 && route.by_thread, "its size");
	is_int(find(HTTP_GET, "/pid/7/api/tree?split=group&from=612000&to=613000"), 0,
	       "a second");
	ok(route.from == 612000 && route.to == 613000 && !route.by_thread &&
		   route.pid == 7,
	   "of a process");
	is_int(find(HTTP_GET, "/svg?from=0"), 0, "any format");
	ok(route.has_times && route.from == 0, "of all that is kept");
	refused("/api/tree?from=", 400, "from is a number");
	refused("/api/tree?from=-", 400, "from is a number");
	refused("/api/tree?from=--1", 400, "from is a number");
	refused("/api/tree?from=1.5", 400, "from is a number");
	refused("/api/tree?to=99999999999999999999", 400, "to is a number");
	refused("/api/tree?px=0", 400, "px is a number");
	refused("/api/tree?px=100001", 400, "px is a number");
	refused("/api/tree?nodes=-1", 400, "nodes is a number");
	refused("/api/tree?split=process", 400, "split is group or thread");
	refused("/api/tree?under=", 400, "under is names");
	refused("/past/svg?from=0", 400, "exclude each other");
	refused("/svg?from=0&seconds=5", 400, "exclude each other");
	refused("/svg?from=2000&to=1000", 400, "from is later than to");
	refused("/svg?to=-2000&from=-1000", 400, "from is later than to");
	refused("/api/nosuch", 404, "Unknown");
}

int main(void)
{
	check_pages();
	check_prefixes();
	check_parameters();
	check_selection();
	check_page_parameters();
	return done_testing();
}

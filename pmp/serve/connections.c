/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See connections.h. */
#include "serve/connections.h"

#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libpmp-program.h"
#include "run/clock.h"
#include "serve/connection.h"
#include "serve/counts.h"
#include "serve/index.h"
#include "serve/peer.h"
#include "serve/protocol.h"

#define IDLE_TIME (15 * NS_PER_S)    /* until a request begins */
#define GRACE_TIME (100 * NS_PER_MS) /* until it may be closed for another */
#define HEAD_TIME (5 * NS_PER_S)     /* from the first byte to the end of the head */
#define BODY_TIME (30 * NS_PER_S)
#define WRITE_TIME (10 * NS_PER_S) /* without any progress */
#define CLOSE_TIME (2 * NS_PER_S)
#define LATE_TIME NS_PER_S /* delay of the answer to a wrong token */
#define END_TIME (2 * NS_PER_S)
#define HALF_TIME NS_PER_S	     /* between checks of a client that sends no more */
#define CANCEL_TIME (20 * NS_PER_MS) /* until a message to the front is retried */
#define REST_TIME (100 * NS_PER_MS)  /* without accept(), if descriptors run out */
#define OF_ONE_MACHINE 16	     /* connections from one other machine */
#define OF_ONE_USER(most) (((most) + 2) / 3) /* local, except root and pmp's user */
#define KEPT_FREE(most) ((most) / 4)	     /* reserved for these two */
/* Bytes of an IPv6 address that identify a machine: it may use any of the rest. */
#define NETWORK_SIZE 8
#define TEXT "text/plain; charset=utf-8"
#define JSON "application/json"

struct connections {
	struct access_rules rules; /* the front sets the targets' user */
	struct serve_counts *counts;
	int listener, front, netlink;
	uint32_t last_id;
	bool reports;
	bool ending;
	uint64_t end;  /* if ending: the deadline */
	uint64_t rest; /* accept no connection until then */
	size_t most;   /* connections, of SERVE_CONNECTIONS */
	struct connection all[SERVE_CONNECTIONS];
};

/* ---- responses ------------------------------------------------------------------------ */

/* Closing a socket with unread input would discard the response. */
static void finish_response(const struct connections *connections,
			    struct connection *connection)
{
	const struct serve_request written = { .message = SERVE_WRITTEN,
					       .id = connection->id };

	if (connection->feeds)
		serve_send(connections->front, &written, sizeof(written), -1);
	connection->feeds = false;
	if (connection->closes)
		shutdown(connection->fd, SHUT_WR);
	if (connection->closes)
		connection_enter(connection, CONNECTION_CLOSING, CLOSE_TIME);
	else
		connection_enter(connection, CONNECTION_HEAD, IDLE_TIME);
}

static void keep_writing(const struct connections *connections,
			 struct connection *connection)
{
	uint64_t before =
		connection->head_sent + connection->out_sent + connection->file_sent;
	int done = connection_write(connection);

	if (done < 0)
		connection_close(connection);
	else if (done == 1)
		finish_response(connections, connection);
	else if (connection->head_sent + connection->out_sent + connection->file_sent !=
		 before)
		connection_enter(connection, CONNECTION_WRITING, WRITE_TIME);
}

/* Report a granted request to the front, for the log. */
static void report(const struct connections *connections,
		   const struct connection *connection,
		   const struct http_response *response)
{
	struct serve_request served = { .message = SERVE_SERVED,
					.status = (uint32_t)response->status,
					.length = response->length,
					.has_user = connection->user.known,
					.user = (uint32_t)connection->user.user };

	peer_print(&connection->peer, served.peer);
	snprintf(served.query, sizeof(served.query), "%s %.2000s",
		 connection->request.method == HTTP_POST   ? "POST"
		 : connection->request.method == HTTP_HEAD ? "HEAD"
							   : "GET",
		 connection->request.path);
	serve_send(connections->front, &served, sizeof(served), -1);
}

static void respond(const struct connections *connections, struct connection *connection,
		    struct http_response *response, bool late)
{
	const struct page *page = connection->route.page;

	counts_add(connections->counts, page ? (ptrdiff_t)page_number(page) : -1,
		   response->status);
	connection_respond(connection, response);
	if (connections->reports && connection->granted)
		report(connections, connection, response);
	if (late) {
		connection_enter(connection, CONNECTION_LATE, LATE_TIME);
		return;
	}
	connection_enter(connection, CONNECTION_WRITING, WRITE_TIME);
	keep_writing(connections, connection);
}

/* google-pprof ignores the status: it shows what follows %warn, and takes the
 * text for an empty profile. */
static bool is_of_gperftools(const struct connection *connection)
{
	const struct page *page = connection->route.page;

	return page ? page->family == PAGES_OF_GPERFTOOLS
		    : strncmp(connection->request.path, "/pprof/", 7) == 0;
}

static bool is_of_api(const struct connection *connection)
{
	const struct page *page = connection->route.page;

	return page ? page->family == PAGES_OF_API
		    : strncmp(connection->request.path, "/api/", 5) == 0;
}

/* {"error":"..."}; reason must not have control characters. */
static void json_error(char *text, size_t size, const char *reason)
{
	size_t length = (size_t)snprintf(text, size, "{\"error\":\"");

	for (; *reason && length + 8 < size; reason++) {
		if (*reason == '"' || *reason == '\\')
			text[length++] = '\\';
		text[length++] = *reason;
	}
	snprintf(text + length, size - length, "\"}\n");
}

/* verdict: why access was denied, or NULL. */
static void refuse(const struct connections *connections, struct connection *connection,
		   int status, const char *reason, const struct access_verdict *verdict)
{
	struct http_response response = {
		.status = status,
		.type = TEXT,
		.for_pprof = true,
		.retry_after = status == 503 ? 5 : 0,
	};

	/* Basic would make the browser ask for a password; the page has its own field. */
	if (status == 401)
		response.ask_who = is_of_api(connection) ? "Bearer" : "Basic";
	if (status == 405)
		response.allow = page_methods(connection->route.page
						      ? connection->route.page->methods
						      : HTTP_POST);
	if (is_of_api(connection)) {
		response.type = JSON;
		json_error(connection->text, sizeof(connection->text), reason);
	} else {
		snprintf(connection->text, sizeof(connection->text), "%s%s\n",
			 is_of_gperftools(connection) ? "%warn " : "", reason);
	}
	connection->out = connection->text;
	connection->out_length = strlen(connection->text);
	/* Its body is not read; and a client without access must
	 * not occupy a connection. */
	if (connection->request.length || verdict)
		connection->closes = true;
	respond(connections, connection, &response, verdict && verdict->guessed);
}

static const char *type_of(const struct connection *connection)
{
	const struct page *page = connection->route.page;

	return page->type && !connection->route.as_text ? page->type
							: connection->route.format->mime;
}

static void respond_text(const struct connections *connections,
			 struct connection *connection, const char *text)
{
	struct http_response response = {
		.status = 200,
		.type = type_of(connection),
		.is_page = connection->route.page->kind == PAGE_FILE,
	};

	connection->out = text;
	connection->out_length = strlen(text);
	respond(connections, connection, &response, false);
}

/* ---- requests -------------------------------------------------------------------------- */

static void ask_front(struct connections *connections, struct connection *connection)
{
	const struct route *route = &connection->route;
	struct serve_request request = {
		.message = SERVE_REQUEST,
		.id = ++connections->last_id,
		.page = (uint32_t)page_number(route->page),
		.pid = route->pid,
		.milliseconds = route->milliseconds,
		.past = route->past,
		.has_times = route->has_times,
		.by_thread = route->by_thread,
		.from = route->from,
		.to = route->to,
		.px = route->px,
		.nodes = route->nodes,
		.hz = route->hz,
		.labels = route->labels,
		.as_text = route->as_text,
		.to_target = connection->to_target,
		.selection = route->selection,
	};
	bool sent;

	memcpy(request.name, route->name, sizeof(request.name));
	memcpy(request.feed, route->feed, sizeof(request.feed));
	memcpy(request.under, route->under, sizeof(request.under));
	if (route->format)
		snprintf(request.format, sizeof(request.format), "%s",
			 route->format->name);
	if (route->page->kind == PAGE_SYMBOL)
		memcpy(request.query, connection->request.query, sizeof(request.query));
	if (route->page->kind == PAGE_TARGETS)
		snprintf(request.query, sizeof(request.query), "%s",
			 connection->request.host);
	sent = serve_send(connections->front, &request, sizeof(request),
			  connection->body);
	if (connection->body >= 0)
		close(connection->body);
	connection->body = -1;
	connection->request.length = 0;
	connection->id = request.id;
	if (sent)
		connection_enter(connection, CONNECTION_ASKING,
				 connection->half ? HALF_TIME : UINT64_MAX);
	else
		refuse(connections, connection, 503, "pmp is busy", NULL);
}

static bool is_recorded(const struct page *page)
{
	return page->kind == PAGE_WINDOW || page->kind == PAGE_SNAPSHOT ||
	       page->kind == PAGE_HEAP;
}

/* Serve a request that is granted and complete. */
static void serve_page(struct connections *connections, struct connection *connection)
{
	const enum page_kind kind = connection->route.page->kind;

	/* HEAD only checks whether a page exists: do not record it. */
	if (connection->request.method == HTTP_HEAD &&
	    is_recorded(connection->route.page))
		respond_text(connections, connection, "");
	else if (kind == PAGE_INDEX)
		respond_text(connections, connection, index_text(connection->route.page));
	else if (kind == PAGE_FILE)
		respond_text(connections, connection,
			     pmp_page_file(connection->route.page->file));
	else
		ask_front(connections, connection);
}

static void await_body(struct connections *connections, struct connection *connection)
{
	static const char go_on[] = "HTTP/1.1 100 Continue\r\n\r\n";

	if (!connection_begin_body(connection)) {
		refuse(connections, connection, 500, "no room for the body", NULL);
		return;
	}
	/* Never blocks: the socket's buffer is empty. */
	if (connection->request.expects_continue && connection->body_left)
		send(connection->fd, go_on, sizeof(go_on) - 1,
		     MSG_DONTWAIT | MSG_NOSIGNAL);
	connection_enter(connection, CONNECTION_BODY, BODY_TIME);
	if (!connection->body_left)
		serve_page(connections, connection);
}

static void serve_request(struct connections *connections, struct connection *connection)
{
	const struct access_peer peer = peer_find(connections->netlink, connection->fd);
	const struct access_verdict verdict =
		access_check(&connections->rules, &connection->request, &peer);
	char reason[ROUTE_REASON_SIZE];
	int status;

	connection->user = peer;
	connection->granted = !verdict.status;
	connection->to_target = verdict.to_target;
	if (verdict.status) {
		refuse(connections, connection, verdict.status, verdict.reason, &verdict);
		return;
	}
	status = route_find(&connection->request, &connection->route, reason);
	if (status)
		refuse(connections, connection, status, reason, NULL);
	else if (connection->request.length)
		await_body(connections, connection);
	else
		serve_page(connections, connection);
}

/* The input is malformed, so nothing after it can be parsed. */
static void reject(const struct connections *connections, struct connection *connection,
		   int status)
{
	connection->closes = true;
	connection->in_length = 0;
	connection->request.minor = 1;
	refuse(connections, connection, status, http_reason(status), NULL);
}

/* Serve the next request, if its head is complete. */
static void serve_next(struct connections *connections, struct connection *connection)
{
	long end =
		http_head_end(&connection->scan, connection->in, connection->in_length);
	int status;

	if (end == 0) {
		/* The first byte has arrived. */
		if (connection->in_length &&
		    connection->deadline > connection->since + HEAD_TIME)
			connection_enter(connection, CONNECTION_HEAD, HEAD_TIME);
		return;
	}
	connection->route = (struct route){ 0 };
	connection->request = (struct http_request){ 0 };
	connection->granted = false;
	status = end < 0 ? (int)-end
			 : http_parse(connection->in, (size_t)end, &connection->request);
	if (status) {
		reject(connections, connection, status);
		return;
	}
	connection_take(connection, (size_t)end);
	serve_request(connections, connection);
}

/* ---- answers of the front ---------------------------------------------------------------- */

static struct connection *find_asking(struct connections *connections, uint32_t id)
{
	for (size_t i = 0; i < SERVE_CONNECTIONS; i++) {
		struct connection *connection = &connections->all[i];

		if (connection->state == CONNECTION_ASKING && connection->id == id)
			return connection;
	}
	return NULL;
}

/* If it was only granted to the user of all targets: are all still that user's? */
static bool is_still_granted(const struct connections *connections,
			     const struct connection *connection)
{
	return !connection->to_target ||
	       access_is_target(&connections->rules, &connection->user);
}

static void take_answer(struct connections *connections,
			const struct serve_answer *answer, int file)
{
	struct connection *connection = find_asking(connections, answer->id);
	struct http_response response = { .status = (int)answer->status };
	const struct page *page;

	if (!connection) {
		if (file >= 0)
			close(file);
		return;
	}
	if (!is_still_granted(connections, connection)) {
		if (file >= 0)
			close(file);
		refuse(connections, connection, 401,
		       "a process of another user has been sampled since", NULL);
		return;
	}
	connection->file = file;
	connection->file_length = answer->length;
	if (answer->status == 200 && file < 0) {
		refuse(connections, connection, 503, "no descriptor is left", NULL);
		return;
	}
	if (answer->status != 200) {
		refuse(connections, connection, (int)answer->status, answer->reason,
		       NULL);
		return;
	}
	connection->feeds =
		*connection->route.feed && connection->request.method != HTTP_HEAD;
	page = connection->route.page;
	response.type = type_of(connection);
	response.filename = connection->route.as_text ? NULL : page->filename;
	response.window = *answer->window ? answer->window : NULL;
	respond(connections, connection, &response, false);
}

static void take_rights(struct connections *connections,
			const struct serve_answer *answer)
{
	connections->rules.has_target = answer->has_target;
	connections->rules.target = (uid_t)answer->target;
}

static void end(struct connections *connections)
{
	connections->ending = true;
	connections->end = now_ns() + END_TIME;
	for (size_t i = 0; i < SERVE_CONNECTIONS; i++) {
		struct connection *connection = &connections->all[i];

		if (connection->state != CONNECTION_FREE &&
		    connection->state != CONNECTION_WRITING &&
		    connection->state != CONNECTION_CLOSING)
			connection_close(connection);
		connection->closes = true;
	}
}

static void hear_front(struct connections *connections)
{
	struct serve_answer answer;
	int file, n;

	while ((n = serve_receive(connections->front, &answer, sizeof(answer), &file)) >
	       0) {
		answer.reason[sizeof(answer.reason) - 1] = '\0';
		answer.window[sizeof(answer.window) - 1] = '\0';
		if (answer.message == SERVE_ANSWER)
			take_answer(connections, &answer, file);
		else
			take_rights(connections, &answer);
	}
	if (n < 0)
		end(connections);
}

/* The client is gone: cancel its request. If the front cannot take the message now, as many
 * clients have gone at once, send it later: otherwise the front would go on recording. */
static void abandon(struct connections *connections, struct connection *connection)
{
	const struct serve_request cancel = { .message = SERVE_CANCEL,
					      .id = connection->id };

	const bool asked = connection->state == CONNECTION_ASKING ||
			   connection->state == CONNECTION_LEAVING;
	const bool late =
		asked && !serve_send(connections->front, &cancel, sizeof(cancel), -1);

	connection_close(connection);
	if (late)
		connection_enter(connection, CONNECTION_LEAVING, CANCEL_TIME);
}

/* ---- new connections --------------------------------------------------------------------- */

/* A free slot, or the oldest connection that waits for a request. NULL: all are busy. own:
 * for a client of our own user; other clients cannot replace connections of these. */
static struct connection *find_idle(struct connections *connections, bool own)
{
	struct connection *oldest = NULL;

	for (size_t i = 0; i < connections->most; i++) {
		struct connection *connection = &connections->all[i];

		if (connection->state == CONNECTION_FREE)
			return connection;
		if (connection->state == CONNECTION_HEAD &&
		    (own || !access_is_own(&connections->rules, &connection->opener)) &&
		    (!oldest || connection->since < oldest->since))
			oldest = connection;
	}
	return oldest;
}

/* The time when there is room for a new connection. However many come, each one has some
 * time to send its request. */
static uint64_t has_room_at(struct connections *connections)
{
	const struct connection *idle = find_idle(connections, true);

	if (!idle)
		return UINT64_MAX;
	return idle->state == CONNECTION_FREE ? connections->rest
					      : idle->since + GRACE_TIME;
}

static bool same_machine(const struct sockaddr_storage *a,
			 const struct sockaddr_storage *b)
{
	if (a->ss_family != b->ss_family)
		return false;
	if (a->ss_family == AF_INET)
		return ((const struct sockaddr_in *)(const void *)a)->sin_addr.s_addr ==
		       ((const struct sockaddr_in *)(const void *)b)->sin_addr.s_addr;
	return memcmp(&((const struct sockaddr_in6 *)(const void *)a)->sin6_addr,
		      &((const struct sockaddr_in6 *)(const void *)b)->sin6_addr,
		      NETWORK_SIZE) == 0;
}

static bool same_user(const struct access_peer *a, const struct access_peer *b)
{
	return a->known == b->known && (!a->known || a->user == b->user);
}

/* The one of two connections that has been idle for longer; oldest may be NULL. */
static struct connection *older_idle(struct connection *oldest,
				     struct connection *connection)
{
	if (connection->state != CONNECTION_HEAD ||
	    (oldest && oldest->since <= connection->since))
		return oldest;
	return connection;
}

static bool is_like(const struct connection *connection,
		    const struct sockaddr_storage *peer, const struct access_peer *opener)
{
	const bool local = peer_is_local(peer);

	if (peer_is_local(&connection->peer) != local)
		return false;
	return local ? same_user(&connection->opener, opener)
		     : same_machine(&connection->peer, peer);
}

/* The slot for a new connection. If its user or machine is at its limit, the
 * oldest idle connection of that user or machine is replaced; if all connections
 * that are not our own user's are at their limit, the oldest idle one of these,
 * after its grace time. NULL: none. */
static struct connection *find_room(struct connections *connections,
				    const struct sockaddr_storage *peer,
				    const struct access_peer *opener)
{
	const size_t most =
		peer_is_local(peer) ? OF_ONE_USER(connections->most) : OF_ONE_MACHINE;
	struct connection *of_same = NULL, *of_others = NULL;
	size_t same = 0, others = 0;

	if (access_is_own(&connections->rules, opener))
		return find_idle(connections, true);
	for (size_t i = 0; i < SERVE_CONNECTIONS; i++) {
		struct connection *connection = &connections->all[i];

		if (connection->state == CONNECTION_FREE ||
		    access_is_own(&connections->rules, &connection->opener))
			continue;
		others++;
		of_others = older_idle(of_others, connection);
		if (!is_like(connection, peer, opener))
			continue;
		same++;
		of_same = older_idle(of_same, connection);
	}
	if (same >= most)
		return of_same;
	if (others >= connections->most - KEPT_FREE(connections->most))
		return of_others && now_ns() - of_others->since >= GRACE_TIME ? of_others
									      : NULL;
	return find_idle(connections, false);
}

/* Serve all requests received so far; each is answered before the next one is parsed. */
static void serve_all(struct connections *connections, struct connection *connection)
{
	size_t before = 0;

	while (connection->state == CONNECTION_HEAD && connection->in_length &&
	       connection->in_length != before) {
		before = connection->in_length;
		serve_next(connections, connection);
	}
}

static uint32_t count_open(const struct connections *connections)
{
	uint32_t count = 0;

	for (size_t i = 0; i < SERVE_CONNECTIONS; i++)
		count += connections->all[i].state != CONNECTION_FREE;
	return count;
}

static void take_connection(struct connections *connections)
{
	struct connection *connection;
	struct sockaddr_storage peer = { 0 };
	struct access_peer opener;
	socklen_t size = sizeof(peer);
	int fd;

	if (!find_idle(connections, true))
		return;
	fd = accept4(connections->listener, (struct sockaddr *)&peer, &size,
		     SOCK_NONBLOCK | SOCK_CLOEXEC);
	if (fd < 0) {
		/* Descriptors or memory are short, which poll() does not wait for. */
		if (errno != EAGAIN && errno != EINTR && errno != ECONNABORTED)
			connections->rest = now_ns() + REST_TIME;
		return;
	}
	peer_unmap(&peer);
	opener = peer_find(connections->netlink, fd);
	connection = find_room(connections, &peer, &opener);
	if (!connection) {
		close(fd);
		return;
	}
	if (connection->state != CONNECTION_FREE)
		connection_close(connection);
	connection_open(connection, fd, &peer, &opener);
	connection_enter(connection, CONNECTION_HEAD, IDLE_TIME);
	/* Update this first: the request may be for metrics. */
	connections->counts->connections = count_open(connections);
	/* Read its request at once, before it can be replaced as idle. */
	if (connection_read(connection))
		serve_all(connections, connection);
	else
		connection_close(connection);
}

/* ---- the loop ----------------------------------------------------------------------------- */

static short events_of(const struct connection *connection)
{
	switch (connection->state) {
	case CONNECTION_FREE:
	case CONNECTION_LEAVING: return 0;
	case CONNECTION_WRITING: return POLLOUT;
	case CONNECTION_ASKING:
	case CONNECTION_LATE:
		if (connection->half)
			return 0;
		return connection_has_room(connection) ? POLLIN : POLLRDHUP;
	default: return POLLIN;
	}
}

static void close_in_order(struct connection *connection)
{
	char piece[4096];
	ssize_t n = recv(connection->fd, piece, sizeof(piece), MSG_DONTWAIT);

	if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
		connection_close(connection);
}

/* A client may shut down its sending half after the request, which looks as if it were
 * gone. For a local client the kernel knows; for others, do not record. */
static bool still_reads(const struct connections *connections,
			const struct connection *connection)
{
	if (peer_is_local(&connection->peer))
		return peer_find(connections->netlink, connection->fd).known;
	return connection->state == CONNECTION_LATE ||
	       !is_recorded(connection->route.page);
}

static void hear_waiting(struct connections *connections, struct connection *connection,
			 short revents)
{
	const bool ended = revents & POLLRDHUP || !connection_read(connection);

	if (revents & (POLLERR | POLLHUP) ||
	    (ended && !still_reads(connections, connection))) {
		abandon(connections, connection);
		return;
	}
	connection->half = ended;
	if (ended && connection->state == CONNECTION_ASKING)
		connection_enter(connection, CONNECTION_ASKING, HALF_TIME);
}

static void hear_client(struct connections *connections, struct connection *connection,
			short revents)
{
	int done;

	switch (connection->state) {
	case CONNECTION_FREE:
	case CONNECTION_LEAVING: break;
	case CONNECTION_WRITING: keep_writing(connections, connection); break;
	case CONNECTION_CLOSING: close_in_order(connection); break;
	case CONNECTION_BODY:
		done = connection_read_body(connection);
		if (done < 0)
			connection_close(connection);
		else if (done)
			serve_page(connections, connection);
		break;
	case CONNECTION_HEAD:
		if (revents & POLLERR || !connection_read(connection))
			connection_close(connection);
		break;
	case CONNECTION_ASKING:
	case CONNECTION_LATE: hear_waiting(connections, connection, revents); break;
	}
}

/* Time is up: close the connection, unless its answer was only delayed or the client still
 * waits for the front. */
static void check_deadline(struct connections *connections, struct connection *connection,
			   uint64_t now)
{
	if (connection->state == CONNECTION_FREE || connection->deadline > now)
		return;
	if (connection->state == CONNECTION_ASKING &&
	    still_reads(connections, connection)) {
		connection_enter(connection, CONNECTION_ASKING, HALF_TIME);
	} else if (connection->state == CONNECTION_LATE) {
		connection_enter(connection, CONNECTION_WRITING, WRITE_TIME);
		keep_writing(connections, connection);
	} else {
		abandon(connections, connection);
	}
}

/* The time in ms until the first deadline, or until there is room. */
static int find_timeout(struct connections *connections)
{
	const uint64_t room = has_room_at(connections), now = now_ns();
	uint64_t first = connections->ending ? connections->end : UINT64_MAX;

	for (size_t i = 0; i < SERVE_CONNECTIONS; i++) {
		const struct connection *connection = &connections->all[i];

		if (connection->state != CONNECTION_FREE && connection->deadline < first)
			first = connection->deadline;
	}
	if (!connections->ending && room > now && room < first)
		first = room;
	if (first == UINT64_MAX)
		return -1;
	return first <= now ? 0 : (int)((first - now) / NS_PER_MS + 1);
}

static bool is_done(const struct connections *connections)
{
	if (!connections->ending)
		return false;
	if (now_ns() >= connections->end)
		return true;
	for (size_t i = 0; i < SERVE_CONNECTIONS; i++) {
		if (connections->all[i].state != CONNECTION_FREE)
			return false;
	}
	return true;
}

/* Indexes of descriptors; connections come last, as their number varies. */
enum { LISTENER, FRONT, FIRST };

static void fill_descriptors(struct connections *connections, struct pollfd *fds)
{
	for (size_t i = 0; i < SERVE_CONNECTIONS; i++) {
		const struct connection *connection = &connections->all[i];

		fds[FIRST + i] = (struct pollfd){
			.fd = connection->state == CONNECTION_FREE ? -1 : connection->fd,
			.events = events_of(connection),
		};
	}
	fds[LISTENER] = (struct pollfd){ .fd = -1, .events = POLLIN };
	if (!connections->ending && has_room_at(connections) <= now_ns())
		fds[LISTENER].fd = connections->listener;
	fds[FRONT] = (struct pollfd){ .fd = connections->ending ? -1 : connections->front,
				      .events = POLLIN };
}

static void turn(struct connections *connections)
{
	struct pollfd fds[FIRST + SERVE_CONNECTIONS];
	const struct pollfd *clients = fds + FIRST;
	uint64_t now;

	fill_descriptors(connections, fds);
	connections->counts->connections = count_open(connections);
	if (poll(fds, FIRST + connections->most, find_timeout(connections)) < 0)
		return;
	now = now_ns();
	for (size_t i = 0; i < SERVE_CONNECTIONS; i++) {
		/* If the descriptor differs, this slot was closed, or reused, meanwhile. */
		if (clients[i].fd >= 0 && clients[i].revents &&
		    clients[i].fd == connections->all[i].fd)
			hear_client(connections, &connections->all[i],
				    clients[i].revents);
		check_deadline(connections, &connections->all[i], now);
	}
	if (fds[FRONT].revents)
		hear_front(connections);
	for (size_t i = 0; i < SERVE_CONNECTIONS; i++)
		serve_all(connections, &connections->all[i]);
	if (fds[LISTENER].revents)
		take_connection(connections);
}

int connections_serve(int listener, int front, const struct connections_options *options)
{
	struct connections *connections = calloc(1, sizeof(*connections));
	struct serve_request hello = { .message = SERVE_HELLO,
				       .id = options->before,
				       .unfiltered = options->unfiltered };

	if (!connections)
		return 1;
	connections->rules = *options->rules;
	connections->counts = options->counts;
	connections->reports = options->reports;
	connections->most = options->most;
	connections->counts->server = getpid();
	connections->listener = listener;
	connections->front = front;
	connections->netlink = peer_open();
	/* Ids must differ from those of earlier servers, whose answers may still come. */
	connections->last_id = options->before << 20;
	for (size_t i = 0; i < SERVE_CONNECTIONS; i++)
		connections->all[i].fd = -1;
	if (!serve_send(front, &hello, sizeof(hello), -1))
		end(connections);
	while (!is_done(connections))
		turn(connections);
	return 0;
}

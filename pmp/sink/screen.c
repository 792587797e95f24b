/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The screen as a sink: the live view, or a saved profile. */
#include <poll.h>

#include "run/counting.h"
#include "run/loop.h"
#include "run/run-state.h"
#include "say/message.h"
#include "sink/sink.h"
#include "source/source.h"
#include "view/session.h"

static bool is_meant(const struct options *options)
{
	return options->wants_screen;
}

static void needs(const struct options *options, struct counting_needs *needs)
{
	needs->details = !options->diff;
	needs->live = true;
	needs->waits = !options->diff;
	needs->lines = true;
	needs->snapshots = options->format->snapshots;
	needs->times = options->format->times;
}

/* Only wakes the loop; the view itself empties the descriptor. */
static void on_names(void *arg, short revents)
{
	(void)arg;
	(void)revents;
}

static void leave_screen(struct sink *sink)
{
	sink->quit = true;
	sink->calls->finish(sink->run);
}

static void on_keys(void *arg, short revents)
{
	/* The terminal is gone; SIGHUP may be ignored. */
	if (revents & (POLLHUP | POLLERR))
		leave_screen(arg);
}

static int open_screen(struct sink *sink)
{
	sink->keys = -1;
	sink->session = session_new(sink);
	if (sink->session &&
	    loop_add(sink->loop, session_wake(sink->session), false, on_names, sink))
		return 0;
	message_print(NULL, "not enough memory for the screen");
	return PMP_EXIT_FAILED;
}

static void start(struct sink *sink)
{
	session_start(sink->session);
}

/* If the terminal cannot be drawn on, a saved profile is written as text. */
static void targets(struct sink *sink, const struct process *process)
{
	(void)process;
	if (!sink->source->type->saved) {
		session_show(sink->session);
		return;
	}
	if (session_show_saved(sink->session))
		return;
	session_close(sink->session);
	sink->type = sink_type_of(sink->options, false);
	sink->state->keys = sink->type->keys;
	sink->type->targets(sink, NULL);
}

static void boundary(struct sink *sink, uint64_t time)
{
	(void)sink;
	(void)time;
}

static void nothing(struct sink *sink)
{
	(void)sink;
}

static int nothing_to_prepare(struct sink *sink)
{
	(void)sink;
	return 0;
}

static void sampled(struct sink *sink)
{
	session_sampled(sink->session);
}

/* There are no keys before the terminal is taken over. */
static void serve_keys(struct sink *sink)
{
	int keys = session_input(sink->session);

	if (keys == sink->keys)
		return;
	loop_remove(sink->loop, sink->keys);
	sink->keys = keys;
	if (!loop_add(sink->loop, keys, false, on_keys, sink))
		leave_screen(sink);
}

static void tend(struct sink *sink)
{
	session_tend(sink->session);
	serve_keys(sink);
}

static int timeout(const struct sink *sink, int most)
{
	return session_timeout(sink->session, most);
}

static void suspend(struct sink *sink)
{
	session_suspend(sink->session);
}

static void resume(struct sink *sink)
{
	session_resume(sink->session);
}

/* After the last sample the view stays until it is quit. */
static bool stays(struct sink *sink)
{
	if (!session_stays(sink->session) || sink->quit || sink->state->caught.end ||
	    !targets_counted(&sink->source->targets))
		return false;
	session_end(sink->session);
	serve_keys(sink);
	return true;
}

static void leave(struct sink *sink)
{
	session_close(sink->session);
}

static void close_screen(struct sink *sink)
{
	session_free(sink->session);
	sink->session = NULL;
}

const struct sink_type sink_screen = {
	.name = "screen",
	.keys = true,
	.is_meant = is_meant,
	.needs = needs,
	.prepare = nothing_to_prepare,
	.open = open_screen,
	.start = start,
	.targets = targets,
	.boundary = boundary,
	.sampled = sampled,
	.show = nothing,
	.tend = tend,
	.timeout = timeout,
	.suspend = suspend,
	.resume = resume,
	.stays = stays,
	.leave = leave,
	.finish = nothing,
	.close = close_screen,
};

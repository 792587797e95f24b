/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The live view as a sink, and a saved profile on the screen. */
#include <poll.h>

#include "run/run.h"
#include "say/message.h"
#include "sink/sink.h"
#include "view/session.h"

static bool is_meant(const struct options *options)
{
	return options->wants_screen;
}

static void needs(const struct options *options, struct sink_needs *needs)
{
	needs->details = !options->diff;
	needs->live = true;
	needs->lines = true;
	needs->snapshots = options->format->snapshots;
	needs->times = options->format->times;
}

/* It wakes the loop, and is emptied with the rest of the view's work. */
static void on_names(void *arg, short revents)
{
	(void)arg;
	(void)revents;
}

static void on_keys(void *arg, short revents)
{
	/* The terminal has gone; HUP may be ignored. */
	if (revents & (POLLHUP | POLLERR))
		run_quit(arg);
}

static int open_screen(struct run *run)
{
	run->keys = -1;
	run->session = session_new(run);
	if (run->session &&
	    loop_add(run->loop, session_wake(run->session), false, on_names, run))
		return 0;
	message_print(NULL, "not enough memory for the screen");
	return PMP_EXIT_FAILED;
}

static void start(struct run *run)
{
	session_start(run->session);
}

/* On a terminal that cannot be drawn on a saved profile is written as text. */
static void targets(struct run *run, const struct process *process)
{
	(void)process;
	if (!run->source->saved) {
		session_show(run->session);
		return;
	}
	if (session_show_saved(run->session))
		return;
	session_close(run->session);
	run->sink = sink_of(&run->options, false);
	run->sink->targets(run, NULL);
}

static void boundary(struct run *run, uint64_t time)
{
	(void)run;
	(void)time;
}

static void nothing(struct run *run)
{
	(void)run;
}

static void sampled(struct run *run)
{
	session_sampled(run->session);
}

/* There are no keys before the terminal is taken over. */
static void serve_keys(struct run *run)
{
	int keys = session_input(run->session);

	if (keys == run->keys)
		return;
	loop_remove(run->loop, run->keys);
	run->keys = keys;
	if (!loop_add(run->loop, keys, false, on_keys, run))
		run_quit(run);
}

static void tend(struct run *run)
{
	session_tend(run->session);
	serve_keys(run);
}

static int timeout(const struct run *run, int most)
{
	return session_timeout(run->session, most);
}

static void suspend(struct run *run)
{
	session_suspend(run->session);
}

static void resume(struct run *run)
{
	session_resume(run->session);
}

/* After the last sample it stays until it is left. */
static bool stays(struct run *run)
{
	if (!session_stays(run->session) || run->quit || run->caught.end ||
	    !run->snapshots)
		return false;
	session_end(run->session);
	serve_keys(run);
	return true;
}

static void leave(struct run *run)
{
	session_close(run->session);
}

const struct sink sink_screen = {
	.name = "screen",
	.keys = true,
	.is_meant = is_meant,
	.needs = needs,
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
	.close = nothing,
};

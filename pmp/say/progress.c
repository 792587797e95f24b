/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The progress line. While a file is read the main loop does not get here, so a signal
 * handler writes a line that was prepared before.
 */
#include "say/progress.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/time.h>
#include <unistd.h>

#include "run/clock.h"
#include "say/message.h"

#define PATIENCE NS_PER_S
#define EVERY (NS_PER_S / 4)
#define LINE_SIZE 256
#define COLUMNS_USUAL 80
#define COLUMNS_MIN 20
#define ERASE "\r\033[K"

/* For the handler, and for messages, which know nothing of struct progress. */
static struct {
	volatile sig_atomic_t visible;
	char line[LINE_SIZE + sizeof(ERASE)];
	size_t length;
} terminal;

static void put(const char *text, size_t length)
{
	ssize_t n = write(STDERR_FILENO, text, length);

	(void)n;
}

/* Do not mix with the output of another job. */
static bool is_foreground(void)
{
	return tcgetpgrp(STDERR_FILENO) == getpgrp();
}

static void put_line(void)
{
	if (!is_foreground())
		return;
	put(terminal.line, terminal.length);
	terminal.visible = 1;
}

static void on_alarm(int number)
{
	int saved = errno;

	(void)number;
	put_line();
	errno = saved;
}

static size_t columns(void)
{
	struct winsize size;

	if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) < 0 || size.ws_col == 0)
		return COLUMNS_USUAL;
	return size.ws_col;
}

/* Prepare the line; false: the terminal is too narrow. The last column stays free, as
 * some terminals wrap after it. */
static bool make_line(const char *text)
{
	char safe[LINE_SIZE];
	size_t width = columns(), length;

	if (width < COLUMNS_MIN)
		return false;
	pmp_escape(text, safe, sizeof(safe));
	length = strlen(safe);
	/* Counts bytes, not columns: better too short than too long. Cuts no character. */
	if (length > width - 1)
		length = width - 1;
	while (length && ((unsigned char)safe[length] & 0xc0) == 0x80)
		length--;
	terminal.length = (size_t)snprintf(terminal.line, sizeof(terminal.line),
					   "\r%.*s\033[K", (int)length, safe);
	return true;
}

void progress_clear(void)
{
	if (terminal.visible && is_foreground())
		put(ERASE, strlen(ERASE));
	terminal.visible = 0;
}

void progress_open(struct progress *progress, const struct options *options)
{
	const char *term = getenv("TERM");
	struct sigaction action = { .sa_handler = on_alarm, .sa_flags = SA_RESTART };
	/* Snapshots on the same terminal already show progress. */
	bool told =
		!options->output && isatty(STDOUT_FILENO) && options->format->snapshots;

	progress->options = options;
	progress->start = 0;
	progress->on = !options->quiet && !options->command && !options->wants_screen &&
		       !options->debug && !told && isatty(STDERR_FILENO) && term &&
		       *term && strcmp(term, "dumb") != 0;
	if (!progress->on)
		return;
	sigemptyset(&action.sa_mask);
	sigaction(SIGALRM, &action, NULL);
	message_before(progress_clear);
}

/* "12 of 30 s, 118 snapshots, 71 threads, stopped 0.213 ms" */
static void describe(const struct progress *progress, uint64_t now, char *text,
		     size_t size)
{
	const struct options *options = progress->options;
	char of_time[32] = "", of_count[32] = "";

	if (options->duration)
		snprintf(of_time, sizeof(of_time), " of %" PRIu64,
			 (options->duration + NS_PER_S / 2) / NS_PER_S);
	if (options->count)
		snprintf(of_count, sizeof(of_count), " of %" PRIu64, options->count);
	snprintf(text, size,
		 "pmp: %" PRIu64 "%s s, %" PRIu64 "%s snapshot%s, %" PRIu64 " thread%s, "
		 "stopped %.3f ms",
		 (now - progress->start) / NS_PER_S, of_time, progress->snapshots,
		 of_count, progress->snapshots == 1 && !options->count ? "" : "s",
		 progress->threads, progress->threads == 1 ? "" : "s",
		 (double)progress->stopped / 1e6);
}

void progress_show(struct progress *progress, uint64_t now)
{
	char text[LINE_SIZE];

	if (!progress->on)
		return;
	if (!progress->start)
		progress->start = now;
	if (now - progress->start < PATIENCE || now - progress->shown < EVERY)
		return;
	progress->shown = now;
	describe(progress, now, text, sizeof(text));
	if (make_line(text))
		put_line();
}

void progress_now(struct progress *progress, const char *what)
{
	const struct itimerval off = { 0 };
	char text[LINE_SIZE];

	if (!progress->on)
		return;
	setitimer(ITIMER_REAL, &off, NULL);
	snprintf(text, sizeof(text), "pmp: %s", what);
	if (make_line(text))
		put_line();
}

void progress_work(struct progress *progress, const char *what)
{
	struct itimerval timer = { 0 };
	char text[LINE_SIZE];

	if (!progress->on)
		return;
	/* First make sure that the handler does not run any more. */
	setitimer(ITIMER_REAL, &timer, NULL);
	progress_clear();
	if (!what)
		return;
	snprintf(text, sizeof(text), "pmp: %s", what);
	timer.it_value.tv_sec = PATIENCE / NS_PER_S;
	if (make_line(text))
		setitimer(ITIMER_REAL, &timer, NULL);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Asking for files. With a live view it is the thread of names that waits here, without
 * the lock, and may touch nothing of the front's; else it is the front. What fails once
 * fails for all files: it is said, and nothing is asked for again.
 */
#include "fetcher.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "clock.h"
#include "debuginfod.h"
#include "front.h"
#include "message.h"
#include "value.h"

#define LOOK_MS 100
#define TIMEOUT_DEFAULT 90 /* seconds: the library's own */
#define TIMEOUT_MAX 86400
#define GRACE 5		  /* seconds for the library to find out by itself */
#define PATIENCE NS_PER_S /* before progress is shown */

/* What is to be said: written once, by whoever waits for files, and read by the front. */
struct saying {
	bool loud;  /* an error */
	bool begun; /* it has been written, or is being */
	bool ready; /* it is complete, and not said yet */
	char text[512], hint[512];
};

struct pmp_fetcher {
	struct pmp_app *app;
	int fd;
	uint64_t timeout;     /* seconds without a byte; 0: any number */
	bool off;	      /* nothing is asked for any more */
	struct saying server; /* that one of several is not asked any more */
	struct saying end;    /* why */
};

/* ---- life --------------------------------------------------------------------- */

/* As the library reads it, within reason. */
static uint64_t read_timeout(void)
{
	const char *text = getenv("DEBUGINFOD_TIMEOUT");
	uint64_t seconds;

	if (!text || !pmp_value_number(text, &seconds))
		return TIMEOUT_DEFAULT;
	return seconds < TIMEOUT_MAX ? seconds : TIMEOUT_MAX;
}

int pmp_fetcher_new(struct pmp_app *app, struct pmp_fetcher **fetcher,
		    struct pmp_error *err)
{
	struct pmp_fetcher *made = calloc(1, sizeof(*made));
	pid_t front = getpid(), child = -1;
	int fds[2] = { -1, -1 };

	if (made && socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds) == 0)
		child = fork();
	if (child == 0)
		pmp_debuginfod_serve(fds[1], front);
	if (fds[1] >= 0)
		close(fds[1]);
	if (child < 0) {
		int number = errno;

		if (fds[0] >= 0)
			close(fds[0]);
		free(made);
		return pmp_message_fill(err, PMP_ELIMIT, number,
					"cannot start a process for --debuginfod");
	}
	made->app = app;
	made->fd = fds[0];
	made->timeout = read_timeout();
	*fetcher = made;
	return 0;
}

void pmp_fetcher_free(struct pmp_fetcher *fetcher)
{
	if (!fetcher)
		return;
	close(fetcher->fd);
	free(fetcher);
}

/* ---- the end of it -------------------------------------------------------------- */

static bool is_off(const struct pmp_fetcher *fetcher)
{
	return __atomic_load_n(&fetcher->off, __ATOMIC_ACQUIRE);
}

/* The process sees the end of its socket, and gives up. */
void pmp_fetcher_cancel(struct pmp_fetcher *fetcher)
{
	if (!fetcher)
		return;
	__atomic_store_n(&fetcher->off, true, __ATOMIC_RELEASE);
	shutdown(fetcher->fd, SHUT_RDWR);
}

static void say(struct saying *saying)
{
	if (!__atomic_exchange_n(&saying->ready, false, __ATOMIC_ACQ_REL))
		return;
	if (saying->loud)
		pmp_message_print(saying->hint, "%s", saying->text);
	else
		pmp_message_note(saying->hint, "%s", saying->text);
}

void pmp_fetcher_tell(struct pmp_fetcher *fetcher)
{
	if (!fetcher)
		return;
	say(&fetcher->server);
	say(&fetcher->end);
}

static const char *reason(int number)
{
	switch (number) {
	case EHOSTUNREACH: return "unknown name";
	case ETIME: return "no answer in time";
	default: return strerror(number);
	}
}

/* One of several that cannot be reached; of these the first is named. */
static void drop_server(struct pmp_fetcher *fetcher,
			const struct pmp_debuginfod_reply *reply)
{
	struct saying *saying = &fetcher->server;

	if (saying->begun)
		return;
	saying->begun = true;
	snprintf(saying->text, sizeof(saying->text),
		 "the server %s is not asked any more: %s", reply->text,
		 reason(reply->number));
	__atomic_store_n(&saying->ready, true, __ATOMIC_RELEASE);
}

/* For a reason that has been written; nothing is written a second time. */
static void give_up(struct pmp_fetcher *fetcher)
{
	pmp_fetcher_cancel(fetcher);
	__atomic_store_n(&fetcher->end.ready, true, __ATOMIC_RELEASE);
}

static void give_up_for(struct pmp_fetcher *fetcher, const char *why)
{
	const char *urls = getenv("DEBUGINFOD_URLS");
	struct saying *end = &fetcher->end;

	if (is_off(fetcher))
		return;
	snprintf(end->text, sizeof(end->text), "no debug files are fetched any more: %s",
		 why);
	snprintf(end->hint, sizeof(end->hint), "DEBUGINFOD_URLS is %.400s",
		 urls ? urls : "not set");
	give_up(fetcher);
}

static void give_up_timeout(struct pmp_fetcher *fetcher)
{
	char why[128];

	snprintf(why, sizeof(why), "no answer within %llu s",
		 (unsigned long long)fetcher->timeout);
	give_up_for(fetcher, why);
}

static void give_up_library(struct pmp_fetcher *fetcher, const char *why)
{
	struct saying *end = &fetcher->end;

	if (is_off(fetcher))
		return;
	end->loud = true;
	snprintf(end->text, sizeof(end->text),
		 "--debuginfod fetches nothing, its library cannot be loaded: %.300s",
		 why);
	snprintf(
		end->hint, sizeof(end->hint),
		"install the package libdebuginfod1 (Debian, Ubuntu, openSUSE), "
		"elfutils-debuginfod-client (Fedora, RHEL), libelf (Arch), or the one of "
		"elfutils that has it");
	give_up(fetcher);
}

/* ---- waiting -------------------------------------------------------------------- */

/* False: the process has gone. *file is the descriptor that came, or -1. */
static bool receive(struct pmp_fetcher *fetcher, struct pmp_debuginfod_reply *reply,
		    int *file)
{
	union {
		struct cmsghdr header;
		char space[CMSG_SPACE(sizeof(int))];
	} control;
	struct iovec part = { reply, sizeof(*reply) };
	struct msghdr message = {
		.msg_iov = &part,
		.msg_iovlen = 1,
		.msg_control = control.space,
		.msg_controllen = sizeof(control.space),
	};
	const struct cmsghdr *header;
	ssize_t n = recvmsg(fetcher->fd, &message, MSG_CMSG_CLOEXEC);

	*file = -1;
	header = n > 0 ? CMSG_FIRSTHDR(&message) : NULL;
	if (header && header->cmsg_type == SCM_RIGHTS &&
	    header->cmsg_len == CMSG_LEN(sizeof(int)))
		memcpy(file, CMSG_DATA(header), sizeof(*file));
	reply->text[sizeof(reply->text) - 1] = '\0';
	return n == sizeof(*reply);
}

/* One file that is waited for. */
struct waiting {
	const struct pmp_wanted_file *wanted;
	uint64_t begin, moved; /* when it was asked for, and when a byte last came */
	int end;	       /* the signal that had asked for an end by then, or 0 */
	uint64_t done;
};

static void show(struct pmp_fetcher *fetcher, const struct waiting *waiting,
		 const struct pmp_debuginfod_reply *reply)
{
	const char *path = waiting->wanted->path, *slash = strrchr(path, '/');
	char text[256], of[32] = "", file[128];

	if (fetcher->app->session || pmp_now() - waiting->begin < PATIENCE)
		return;
	if (reply->total)
		snprintf(of, sizeof(of), ": %.1f of %.1f MB", (double)reply->done / 1e6,
			 (double)reply->total / 1e6);
	pmp_escape(slash && slash[1] ? slash + 1 : path, file, sizeof(file));
	snprintf(text, sizeof(text), "fetching %s%s%s",
		 waiting->wanted->executable ? "" : "the debug file of ", file, of);
	pmp_progress_now(&fetcher->app->progress, text);
}

/* The front's own work goes on. True: the user does not want to wait. */
static bool tend(struct pmp_fetcher *fetcher, const struct waiting *waiting)
{
	struct pmp_app *app = fetcher->app;

	if (app->session)
		return false;
	pmp_front_tend(app, false);
	if (app->caught.end == waiting->end && !app->caught.again && !app->caught.limit)
		return false;
	give_up_for(fetcher, "interrupted");
	return true;
}

/* What comes before the answer. */
static void note_progress(struct pmp_fetcher *fetcher, struct waiting *waiting,
			  const struct pmp_debuginfod_reply *reply)
{
	/* Before the first byte the library counts how often it has told. */
	if (reply->answer == PMP_DEBUGINFOD_AGAIN || reply->done > waiting->done + 1)
		waiting->moved = pmp_now();
	waiting->done = reply->done;
	show(fetcher, waiting, reply);
}

/* Wait for the answer; false: it has been given up. */
static bool wait_for(struct pmp_fetcher *fetcher, struct waiting *waiting,
		     struct pmp_debuginfod_reply *reply, int *file)
{
	const uint64_t limit = (fetcher->timeout + GRACE) * NS_PER_S;

	for (;;) {
		struct pollfd fds[] = {
			{ .fd = fetcher->fd, .events = POLLIN },
			{ .fd = fetcher->app->session ? -1 : fetcher->app->wake,
			  .events = POLLIN },
		};

		poll(fds, 2, LOOK_MS);
		if (fds[0].revents && !receive(fetcher, reply, file)) {
			give_up_for(fetcher, "the process that does it has ended");
			return false;
		}
		if (fds[0].revents && reply->answer != PMP_DEBUGINFOD_PROGRESS &&
		    reply->answer != PMP_DEBUGINFOD_AGAIN)
			return true;
		if (fds[0].revents)
			note_progress(fetcher, waiting, reply);
		if (tend(fetcher, waiting) || is_off(fetcher))
			return false;
		if (fetcher->timeout && pmp_now() - waiting->moved > limit) {
			give_up_timeout(fetcher);
			return false;
		}
	}
}

/* ---- asking ----------------------------------------------------------------------- */

/* Ask, and wait. A second signal that asks for an end ends this alone. */
static bool ask(struct pmp_fetcher *fetcher, const struct pmp_debuginfod_request *request,
		struct waiting *waiting, struct pmp_debuginfod_reply *reply, int *file)
{
	bool answered;

	if (send(fetcher->fd, request, sizeof(*request), MSG_NOSIGNAL) < 0) {
		give_up_for(fetcher, "the process that does it has ended");
		return false;
	}
	if (fetcher->app->session)
		return wait_for(fetcher, waiting, reply, file);
	waiting->end = fetcher->app->caught.end;
	pmp_signals_bear(true);
	answered = wait_for(fetcher, waiting, reply, file);
	pmp_signals_bear(false);
	pmp_progress_clear();
	return answered;
}

int pmp_fetcher_get(void *arg, const struct pmp_wanted_file *wanted)
{
	struct pmp_fetcher *fetcher = arg;
	struct pmp_debuginfod_request request = { .executable = wanted->executable };
	const uint64_t now = pmp_now();
	struct waiting waiting = { .wanted = wanted, .begin = now, .moved = now };
	struct pmp_debuginfod_reply reply;
	int file = -1;

	snprintf(request.build_id, sizeof(request.build_id), "%s", wanted->build_id);
	if (is_off(fetcher))
		return -1;
	if (ask(fetcher, &request, &waiting, &reply, &file)) {
		if (reply.answer == PMP_DEBUGINFOD_FAILED)
			give_up_for(fetcher, reason(reply.number));
		else if (reply.answer == PMP_DEBUGINFOD_NO_LIBRARY)
			give_up_library(fetcher, reply.text);
		else if (reply.number)
			drop_server(fetcher, &reply);
	}
	if (!fetcher->app->session)
		pmp_fetcher_tell(fetcher);
	return file;
}

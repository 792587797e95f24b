/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A live view without a process and without a terminal: an artificial server with 71
 * threads, sampled for a while, and a view of it. fake_named is how many locations
 * have names so far; the others are shown as addresses.
 */
#ifndef PMP_T_FAKEVIEW_H
#define PMP_T_FAKEVIEW_H

#include <locale.h>
#include <sys/syscall.h>

#include "view/key-codes.h"
#include "view/keys.h"
#include "view/view.h"
#include "lib/tap.h"
#include "tally/profile.h"

struct fake_function {
	const char *name, *file, *module;
	unsigned line;
	bool inlined, unnamed, signal, exact;
};

#define FAKE_SERVER "/usr/sbin/server"
/* Golden files have the names of the first pair. */
#ifdef SYS_poll
#define FAKE_POLL SYS_poll
#define FAKE_EPOLL_WAIT SYS_epoll_wait
#else
#define FAKE_POLL SYS_ppoll
#define FAKE_EPOLL_WAIT SYS_epoll_pwait
#define FAKE_OTHER_NAMES
#endif
#define FAKE_LIBC "/usr/lib/x86_64-linux-gnu/libc.so.6"

static const struct fake_function fake_functions[] = {
	{ .name = "poll", .module = FAKE_LIBC, .file = "poll.c", .line = 29 },
	{ .name = "vio_io_wait",
	  .module = FAKE_SERVER,
	  .file = "/src/vio/viosocket.c",
	  .line = 964 },
	{ .name = "my_net_read", .module = FAKE_SERVER },
	{ .name = "do_command(THD*, bool)",
	  .module = FAKE_SERVER,
	  .file = "sql_parse.cc",
	  .line = 1407 },
	{ .name = "handle_connection", .module = FAKE_SERVER },
	{ .name = "start_thread", .module = FAKE_LIBC },
	{ .name = "__lll_lock_wait", .module = FAKE_LIBC },
	{ .name = "pthread_mutex_lock", .module = FAKE_LIBC },
	{ .name = "buf_page_get_gen(unsigned long)",
	  .module = FAKE_SERVER,
	  .file = "buf0buf.cc",
	  .line = 2841 },
	{ .name = "std::_Rb_tree<int, std::pair<int const, std::string> >::find(int const&) const",
	  .module = FAKE_SERVER,
	  .file = "stl_tree.h",
	  .line = 2534,
	  .inlined = true },
	{ .name = "row_search_mvcc",
	  .module = FAKE_SERVER,
	  .file = "row0sel.cc",
	  .line = 5000 },
	{ .name = "ha_innobase::general_fetch(unsigned char*, unsigned int)",
	  .module = FAKE_SERVER },
	{ .name = "epoll_wait", .module = FAKE_LIBC },
	{ .name = "main", .module = FAKE_SERVER },
	{ .name = "fsync", .module = FAKE_LIBC },
	{ .name = "log_write\033[31mup_to\n", .module = "/tmp/b\001d.so" },
	{ .name = "\xe6\x97\xa5\xe6\x9c\xac::\xe8\xaa\x9e(\xe5\xad\x97)",
	  .module = FAKE_SERVER },
	{ .name = "main", .module = "/usr/bin/helper" },
	{ .name = "pthread_cond_timedwait", .module = FAKE_LIBC },
	{ .name = "MDL_wait::timed_wait(MDL_context_owner*)",
	  .module = "/usr/sbin/mariadbd" },
	{ .name = "sem_wait", .module = FAKE_LIBC },
	{ .name = "ProcSleep", .module = "/usr/lib/postgresql/15/bin/postgres" },
	{ .name = "malloc", .module = FAKE_LIBC },
	{ .name = "operator new(unsigned long)",
	  .module = "/usr/lib/x86_64-linux-gnu/libstdc++.so.6" },
};

#include "lib/fakenames.h"

enum {
	POLL,
	VIO,
	NET,
	COMMAND,
	HANDLE,
	START,
	LLL,
	MUTEX,
	BUF,
	RB,
	ROW,
	FETCH,
	EPOLL,
	MAIN,
	FSYNC,
	LOG,
	WIDE,
	HELPER_MAIN,
	COND,
	MDL,
	SEM,
	PROC_SLEEP,
	MALLOC,
	NEW
};

#define FAKE_S UINT64_C(1000000000)

static size_t fake_named = SIZE_MAX;

size_t pmp_symbolizer_frame(const struct pmp_symbolizer *symbolizer,
			    pmp_location location, size_t i, struct pmp_frame_info *info)
{
	const struct pmp_frame *frames;
	size_t count;

	(void)symbolizer;
	if (location >= fake_named)
		return 0;
	count = pmp_symbolizer_frames(NULL, location, &frames);
	if (i < count)
		*info = (struct pmp_frame_info){
			.size = sizeof(*info),
			.function = frames[i].function,
			.file = frames[i].file,
			.line = frames[i].line,
			.inlined = frames[i].inlined,
			.module = frames[i].module,
		};
	return count;
}

char *pmp_symbolizer_place(const struct pmp_symbolizer *symbolizer, pmp_location location,
			   char *buffer, size_t size)
{
	(void)symbolizer;
	snprintf(buffer, size, "[server+0x%x]", 16 * location);
	return buffer;
}

TAP_UNUSED static void fake_call(struct pmp_thread *thread, int number, uint64_t first,
				 uint64_t second, const char *wchan)
{
	thread->syscall = number;
	thread->args[0] = first;
	thread->args[1] = second;
	thread->obtained = PMP_PEEKED;
	snprintf(thread->wchan, sizeof(thread->wchan), "%s", wchan);
}

static bool fake_deadlock; /* of two threads in the server */
static bool fake_kinds;	   /* of waits, known by names of functions */

TAP_UNUSED static void fake_wait(struct pmp_thread *thread, uint64_t object, pid_t holder)
{
	thread->wait = (struct pmp_wait){
		.kind = PMP_WAIT_MUTEX,
		.holder_is = PMP_HOLDER_THREAD,
		.flags = PMP_WAIT_PROVEN,
		.holder = holder,
		.object = object,
	};
	thread->args[0] = object;
}

/* Between conn-62 and conn-63: each holds what the other one waits for. */
TAP_UNUSED static void fake_circle(struct pmp_sample *sample)
{
	struct pmp_thread *one = &sample->threads[62], *other = &sample->threads[63];

	fake_wait(one, 0x7f31b8002000, other->tid);
	fake_wait(other, 0x7f31b8003000, one->tid);
	one->wait.flags |= PMP_WAIT_DEADLOCK;
	other->wait.flags |= PMP_WAIT_DEADLOCK;
}

/* Have a thread wait in these functions instead of its own. */
TAP_UNUSED static void fake_wait_in(struct pmp_sample *sample, size_t i,
				    enum pmp_wait_kind kind, const int *functions)
{
	struct pmp_thread *thread = &sample->threads[i];
	size_t count = 0;

	thread->frame = sample->frame_count;
	for (; functions[count] >= 0; count++) {
		struct pmp_raw_frame frame = { .pc = fake_pc(functions[count]) };

		if (pmp_sample_add_frames(sample, &frame, 1))
			abort();
	}
	/* Frames were added to the last thread: move them. */
	sample->threads[sample->thread_count - 1].frame_count -= count;
	thread->frame_count = count;
	fake_call(thread, SYS_futex, 0x7f31b8004000 + 64 * i, 0x80, "futex_do_wait");
	thread->wait = (struct pmp_wait){
		.kind = (uint8_t)kind,
		.flags = PMP_WAIT_PROVEN,
		.object = kind ? 0x7f31b8004000 + 64 * i : 0,
	};
}

/* conn-1 to conn-5 wait for a metadata lock, 6 and 7 for semaphores, 8 for the end of 67, 9
 * for a lock of PostgreSQL. */
TAP_UNUSED static void fake_waits(struct pmp_sample *sample)
{
	for (size_t i = 1; i <= 5; i++)
		fake_wait_in(sample, i, PMP_WAIT_CONDITION,
			     FAKE_STACK(COND, MDL, COMMAND, HANDLE, START));
	for (size_t i = 6; i <= 7; i++)
		fake_wait_in(sample, i, PMP_WAIT_FUTEX,
			     FAKE_STACK(SEM, COMMAND, HANDLE, START));
	fake_wait_in(sample, 8, PMP_WAIT_JOIN, FAKE_STACK(COMMAND, HANDLE, START));
	sample->threads[8].wait.holder_is = PMP_HOLDER_THREAD;
	sample->threads[8].wait.holder = sample->threads[67].tid;
	fake_wait_in(sample, 9, PMP_WAIT_NONE,
		     FAKE_STACK(EPOLL, PROC_SLEEP, COMMAND, HANDLE, START));
}

/* One snapshot of the server; a thread's CPU time grows as if it ran all the time. */
TAP_UNUSED static struct pmp_sample *fake_server(pid_t pid, uint64_t number,
						 uint64_t step)
{
	struct pmp_sample *sample = pmp_sample_new();
	struct pmp_thread *thread;
	char name[32];

	if (!sample)
		abort();
	sample->pid = pid;
	snprintf(sample->name, sizeof(sample->name), "server");
	sample->time = 1000 * FAKE_S + number * step;
	sample->any_stopped = 210000;
	sample->seen = 71;
	thread = fake_thread(sample, pid, "server", FAKE_STACK(EPOLL, MAIN));
	fake_call(thread, FAKE_EPOLL_WAIT, 5, 0, "ep_poll");
	for (int i = 1; i <= 61; i++) {
		snprintf(name, sizeof(name), "conn-%d", i);
		thread = fake_thread(sample, pid + i, name,
				     FAKE_STACK(POLL, VIO, NET, COMMAND, HANDLE, START));
		fake_call(thread, FAKE_POLL, 0x7f0000000000, 1, "poll_schedule_timeout");
		thread->obtained = PMP_UNCHANGED;
		thread->runs = 10;
		thread->cpu = 1000000;
	}
	for (int i = 62; i <= 66; i++) {
		snprintf(name, sizeof(name), "conn-%d", i);
		thread = fake_thread(
			sample, pid + i, name,
			FAKE_STACK(LLL, MUTEX, BUF, ROW, COMMAND, HANDLE, START));
		fake_call(thread, SYS_futex, 0x7f31b8001a40, 0x80, "futex_do_wait");
		fake_wait(thread, 0x7f31b8001a40, pid + 67);
		thread->runs = 10 + number;
		thread->cpu = 1000000 + number * 1000;
	}
	for (int i = 67; i <= 68; i++) {
		snprintf(name, sizeof(name), "conn-%d", i);
		thread = fake_thread(sample, pid + i, name,
				     FAKE_STACK(RB, FETCH, COMMAND, HANDLE, START));
		thread->state = 'R';
		thread->stopped = 9000 + (uint64_t)i;
		thread->runs = 10 + 5 * number;
		thread->cpu = 1000000 + number * step / 4;
	}
	thread = fake_thread(sample, pid + 69, "flush", FAKE_STACK(FSYNC, LOG, START));
	thread->state = 'D';
	thread->obtained = PMP_NOT_STOPPED;
	thread->end = PMP_END_NOT_STOPPED;
	snprintf(thread->reason, sizeof(thread->reason), "D, fsync");
	thread = fake_thread(sample, pid + 70, "\xe8\xaa\x9e", FAKE_STACK(WIDE, START));
	thread->state = 'R';
	if (fake_deadlock)
		fake_circle(sample);
	if (fake_kinds)
		fake_waits(sample);
	return sample;
}

TAP_UNUSED static struct pmp_profile *fake_profile(void)
{
	struct pmp_profile_options options = { .size = sizeof(options), .live = true };
	struct pmp_profile *profile = NULL;

	if (pmp_profile_new(&options, NULL, &profile, NULL))
		abort();
	return profile;
}

TAP_UNUSED static void fake_add(struct pmp_profile *profile, struct pmp_sample *sample)
{
	if (pmp_profile_add(profile, sample, NULL))
		abort();
	pmp_sample_free(sample);
}

/* Twenty snapshots, 100 ms apart. */
TAP_UNUSED static struct pmp_profile *fake_run(int processes)
{
	struct pmp_profile *profile = fake_profile();

	for (uint64_t i = 0; i < 20; i++) {
		for (int k = 0; k < processes; k++)
			fake_add(profile, fake_server(4100 + 1000 * k, i, FAKE_S / 10));
	}
	return profile;
}

TAP_UNUSED static void fake_count(struct pmp_profile *profile, pid_t tid,
				  const char *thread, char state, const char *call,
				  uint64_t count, const pmp_location *stack)
{
	struct pmp_entry entry = {
		.pid = 4100,
		.process = "server",
		.tid = tid,
		.thread = thread,
		.state = state,
		.syscall = call,
		.wchan = *call ? "in_the_kernel" : "",
		.reason = "",
		.locations = stack,
		.count = count,
		.wall = count * FAKE_S / 10,
		.cpu = state == 'R' ? count * FAKE_S / 20 : 0,
	};
	struct pmp_lock lock = {
		.kind = PMP_WAIT_MUTEX,
		.holder_name = "flush",
		.text = "mutex LOCK_log",
		.object = { .location = PMP_LOCATION_NONE },
	};
	struct pmp_entry_waits waits = { .lock = &lock };

	if (strcmp(call, "futex") == 0)
		entry.waits = &waits;
	while (stack[entry.location_count] != PMP_LOCATION_NONE)
		entry.location_count++;
	if (pmp_profile_count(profile, &entry))
		abort();
}

#define FAKE_SAVED(...) ((const pmp_location[]){ __VA_ARGS__, PMP_LOCATION_NONE })

/* A profile as if read from a saved profile of the server. */
TAP_UNUSED static struct pmp_profile *fake_saved(void)
{
	struct pmp_profile_options options = { .size = sizeof(options),
					       .live = true,
					       .details = true };
	const struct pmp_metadata metadata = { 1795234116123456789u,
					       9900000000u,
					       100000000,
					       "pmp -o db.pb.gz -d 10 -p 4100",
					       "db1",
					       false,
					       { "", "" } };
	const struct pmp_profile_info info = {
		.samples = 100,
		.stacks = 500,
		.truncated = 2,
		.vanished = 4,
		.stops = 50,
		.stopped_max = 20000,
		.stopped_p99 = 15000,
		.any_stopped = 400000,
	};
	struct pmp_profile *profile = NULL;

	if (pmp_profile_new(&options, NULL, &profile, NULL))
		abort();
	fake_count(profile, 4101, "conn-1", 'S', "poll", 97,
		   FAKE_SAVED(POLL, VIO, NET, COMMAND, HANDLE, START));
	fake_count(profile, 4101, "conn-1", 'R', "", 3,
		   FAKE_SAVED(RB, FETCH, COMMAND, HANDLE, START));
	fake_count(profile, 4102, "conn-2", 'S', "futex", 60,
		   FAKE_SAVED(LLL, MUTEX, BUF, ROW, COMMAND, HANDLE, START));
	fake_count(profile, 4102, "conn-2", 'R', "", 40,
		   FAKE_SAVED(RB, FETCH, COMMAND, HANDLE, START));
	fake_count(profile, 4100, "server", 'S', "epoll_wait", 100,
		   FAKE_SAVED(EPOLL, MAIN));
	fake_count(profile, 4103, "flush", 'D', "fsync", 100,
		   FAKE_SAVED(FSYNC, LOG, START));
	/* A thread without an id. */
	fake_count(profile, 0, "gone", '?', "odd\033call", 100, FAKE_SAVED(WIDE, START));
	if (pmp_profile_join(profile, &info, &metadata))
		abort();
	return profile;
}

#define FAKE_VIEW(word) ((unsigned)view_type_find(word))

/* ---- recorded actions -------------------------------------------------------------------- */

static struct {
	unsigned pauses, intervals, refreshes, resets, saves, quits, heaps;
	pid_t heap_of;
	uint64_t interval;
	char written[256];
	struct view *view;
} fake_asked;

static void fake_pause(void *arg, bool paused)
{
	(void)arg;
	(void)paused;
	fake_asked.pauses++;
}

static void fake_interval(void *arg, uint64_t interval)
{
	(void)arg;
	fake_asked.intervals++;
	fake_asked.interval = interval;
}

static void fake_refresh(void *arg)
{
	(void)arg;
	fake_asked.refreshes++;
}

static void fake_reset(void *arg)
{
	(void)arg;
	fake_asked.resets++;
}

static void fake_write(void *arg, const char *path)
{
	(void)arg;
	snprintf(fake_asked.written, sizeof(fake_asked.written), "%s", path);
	view_say(fake_asked.view, "Written: %s", path);
}

static void fake_read_heap(void *arg, pid_t pid)
{
	(void)arg;
	fake_asked.heaps++;
	fake_asked.heap_of = pid;
}

static void fake_save(void *arg)
{
	(void)arg;
	fake_asked.saves++;
}

static void fake_quit(void *arg)
{
	(void)arg;
	fake_asked.quits++;
}

static const struct view_actions fake_actions = {
	.pause = fake_pause,
	.set_interval = fake_interval,
	.refresh = fake_refresh,
	.reset = fake_reset,
	.write = fake_write,
	.read_heap = fake_read_heap,
	.save = fake_save,
	.quit = fake_quit,
};

TAP_UNUSED static void fake_view(struct view *view, struct pmp_profile *profile)
{
	setlocale(LC_CTYPE, "C.UTF-8");
	memset(&fake_asked, 0, sizeof(fake_asked));
	fake_asked.view = view;
	view_init(view, profile, NULL, &fake_actions, NULL);
	view->interval = FAKE_S / 10;
	view->title = "server [4100]";
	view_refresh(view);
}

TAP_UNUSED static void fake_view_saved(struct view *view, struct pmp_profile *profile)
{
	fake_view(view, profile);
	view->title = "db.pb.gz";
	view->model.file = view->model.saved = true;
	view->metadata.size = sizeof(view->metadata);
	pmp_profile_describe(profile, &view->metadata);
	view->model.unit = view->metadata.unit ? view->metadata.unit : "";
	view_refresh(view);
}

/* The screen as text, a line for each row; valid until the next call. */
TAP_UNUSED static const char *fake_screen(struct view *view, int rows, int columns)
{
	static char text[1 << 16];
	struct canvas canvas = { 0 };
	char line[4096];
	size_t length = 0;

	canvas_resize(&canvas, rows, columns);
	view_draw(view, &canvas);
	for (int i = 0; i < rows; i++)
		length += (size_t)snprintf(text + length, sizeof(text) - length, "%s\n",
					   canvas_line(&canvas, i, line, sizeof(line)));
	canvas_free(&canvas);
	return text;
}

/* Type a text. */
TAP_UNUSED static void fake_type(struct view *view, const char *text)
{
	while (*text)
		view_key(view, (int)canvas_next(&text));
}

#endif

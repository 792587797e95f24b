/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The kinds of t/target/locks.c that wait for nobody in particular. */
#include "target.h"
#include "locks.h"

#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/msg.h>
#include <sys/select.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/timerfd.h>

static int fds[2];

/* A waiter that is asleep in this call; for what, and its type. */
static void show(const struct actor *waiter, const char *wait, uint64_t object,
		 const char *type, int fd)
{
	if (fd >= 0)
		truth(waiter, 0, object, wait, " type=%s own=%d", type, fd);
	else
		truth(waiter, 0, object, wait, " type=%s", type);
}

static int must_open(int fd, const char *what)
{
	if (fd < 0)
		target_die(what);
	return fd;
}

static uint64_t inode_of(int fd)
{
	struct stat file;

	if (fstat(fd, &file) != 0)
		target_die("fstat");
	return file.st_ino;
}

/* ---- descriptors ------------------------------------------------------------------- */

static int read_some(void *fd)
{
	char data[256];

	return read(*(int *)fd, data, sizeof data) < 0 ? errno : 0;
}

static void show_read(int fd, const char *wait, const char *type)
{
	fds[0] = must_open(fd, type);
	show(actor_waits(read_some, &fds[0], CALL(read)), wait, 0, type, fd);
}

static void event(void)
{
	show_read(eventfd(0, EFD_CLOEXEC), "event", "eventfd");
}

static void event_inotify(void)
{
	show_read(inotify_init1(IN_CLOEXEC), "event", "inotify");
}

static void event_timer(void)
{
	const struct itimerspec later = { .it_value.tv_sec = LOCKS_TIMEOUT };
	int fd = must_open(timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC), "timerfd");

	if (timerfd_settime(fd, 0, &later, NULL) != 0)
		target_die("timerfd_settime");
	show_read(fd, "timer", "timerfd");
}

static sigset_t only_usr2(void)
{
	sigset_t signals;

	sigemptyset(&signals);
	sigaddset(&signals, SIGUSR2);
	pthread_sigmask(SIG_BLOCK, &signals, NULL);
	return signals;
}

static void event_signalfd(void)
{
	const sigset_t signals = only_usr2();

	show_read(signalfd(-1, &signals, SFD_CLOEXEC), "signal", "signalfd");
}

/* Its other side is open, and says nothing. */
static void event_terminal(void)
{
	int fd = must_open(posix_openpt(O_RDWR | O_NOCTTY), "a terminal");
	const char *name;

	if (grantpt(fd) != 0 || unlockpt(fd) != 0 || !(name = ptsname(fd)))
		target_die("a terminal");
	fds[0] = must_open(open(name, O_RDWR | O_NOCTTY | O_CLOEXEC), name);
	show(actor_waits(read_some, &fds[0], CALL(read)), "io", inode_of(fds[0]),
	     "device", fds[0]);
}

/* ---- several ----------------------------------------------------------------------- */

static int wait_epoll(void *fd)
{
	struct epoll_event got;

	return epoll_pwait(*(int *)fd, &got, 1, -1, NULL) < 0 ? errno : 0;
}

static void poll_epoll(void)
{
	struct epoll_event wanted = { .events = EPOLLIN };
	int fd = must_open(epoll_create1(EPOLL_CLOEXEC), "epoll");

	for (int i = 0; i < 3; i++)
		if (epoll_ctl(fd, EPOLL_CTL_ADD,
			      must_open(eventfd(0, EFD_CLOEXEC), "eventfd"),
			      &wanted) != 0)
			target_die("epoll_ctl");
	fds[0] = fd;
	truth(actor_waits(wait_epoll, &fds[0], CALL(epoll_pwait)), 0, 0, "poll",
	      " type=epoll own=%d descriptors=3", fd);
}

static int wait_poll(void *count)
{
	struct pollfd polled[] = { { fds[0], POLLIN, 0 }, { fds[1], POLLIN, 0 } };
	const struct timespec later = { .tv_sec = LOCKS_TIMEOUT };

	return ppoll(polled, *(nfds_t *)count, &later, NULL) < 0 ? errno : 0;
}

static void poll_two(void)
{
	static nfds_t count = 2;

	fds[0] = must_open(eventfd(0, EFD_CLOEXEC), "eventfd");
	fds[1] = must_open(eventfd(0, EFD_CLOEXEC), "eventfd");
	truth(actor_waits(wait_poll, &count, CALL(ppoll)), 0, 0, "poll",
	      " type=poll descriptors=2 timed=1");
}

/* Of one descriptor that is what is waited for. */
static void poll_one(void)
{
	static nfds_t count = 1;

	fds[0] = must_open(eventfd(0, EFD_CLOEXEC), "eventfd");
	truth(actor_waits(wait_poll, &count, CALL(ppoll)), 0, 0, "event",
	      " type=eventfd own=%d timed=1", fds[0]);
}

static int wait_select(void *fd)
{
	fd_set wanted;

	FD_ZERO(&wanted);
	FD_SET(*(int *)fd, &wanted);
	return pselect(*(int *)fd + 1, &wanted, NULL, NULL, NULL, NULL) < 0 ? errno : 0;
}

static void poll_select(void)
{
	fds[0] = must_open(eventfd(0, EFD_CLOEXEC), "eventfd");
	show(actor_waits(wait_select, &fds[0], CALL(pselect6)), "poll", 0, "poll", -1);
}

/* ---- without a descriptor ---------------------------------------------------------- */

static int wait_signal(void *arg)
{
	const sigset_t signals = only_usr2();
	int signal;

	(void)arg;
	return sigwait(&signals, &signal);
}

static void event_signal(void)
{
	show(actor_waits(wait_signal, NULL, CALL(rt_sigtimedwait)), "signal", 0, "signal",
	     -1);
}

static int sleep_long(void *arg)
{
	const struct timespec time = { .tv_sec = LOCKS_TIMEOUT, .tv_nsec = 500000000 };

	(void)arg;
	return syscall(SYS_nanosleep, &time, NULL) == 0 ? 0 : errno;
}

static void event_sleep(void)
{
	truth(actor_waits(sleep_long, NULL, CALL(nanosleep)), 0, 0, "sleep",
	      " type=sleep sleep_ns=%llu timed=1",
	      LOCKS_TIMEOUT * 1000000000ull + 500000000);
}

/* ---- messages ---------------------------------------------------------------------- */

/* The kernel keeps the queue until the child, which outlives us, removes it. */
static int queue;

static void remove_queue(int signal)
{
	(void)signal;
	_exit(msgctl(queue, IPC_RMID, NULL) == 0 ? 0 : 1);
}

static void make_queue(void *arg)
{
	pid_t parent = getppid();

	(void)arg;
	signal(SIGUSR2, remove_queue);
	queue = msgget(IPC_PRIVATE, IPC_CREAT | 0600);
	prctl(PR_SET_PDEATHSIG, SIGUSR2);
	if (getppid() != parent)
		remove_queue(0);
	locks_shared->number = queue;
}

static int receive(void *id)
{
	struct {
		long type;
		char text[8];
	} message;

	return msgrcv(*(int *)id, &message, sizeof message.text, 0, 0) < 0 ? errno : 0;
}

static void queue_system_v(void)
{
	process_new("queueowner", make_queue, NULL);
	queue = locks_shared->number;
	if (queue < 0)
		locks_skip("no message queues");
	show(actor_waits(receive, &queue, CALL(msgrcv)), "queue", (uint64_t)queue, "msg",
	     -1);
}

static int receive_posix(void *mq)
{
	char data[16];

	return syscall(SYS_mq_timedreceive, *(int *)mq, data, sizeof data, NULL, NULL) < 0
		       ? errno
		       : 0;
}

/* Not mq_open(), which is in another library with some C libraries. */
static void queue_posix(void)
{
	static const char name[] = "pmp-locks-queue";
	struct {
		long flags, messages, size, used, rest[4];
	} attributes = { .messages = 1, .size = 16 };

	fds[0] = (int)syscall(SYS_mq_open, name, O_RDWR | O_CREAT | O_CLOEXEC, 0600,
			      &attributes);
	if (fds[0] < 0)
		locks_skip("no POSIX message queues");
	syscall(SYS_mq_unlink, name);
	show(actor_waits(receive_posix, &fds[0], CALL(mq_timedreceive)), "queue",
	     inode_of(fds[0]), "mq", fds[0]);
}

const struct kind locks_event_kinds[] = {
	{ "event", event },
	{ "event-inotify", event_inotify },
	{ "event-timer", event_timer },
	{ "event-signalfd", event_signalfd },
	{ "event-terminal", event_terminal },
	{ "event-signal", event_signal },
	{ "event-sleep", event_sleep },
	{ "poll-epoll", poll_epoll },
	{ "poll-two", poll_two },
	{ "poll-one", poll_one },
	{ "poll-select", poll_select },
	{ "queue-system-v", queue_system_v },
	{ "queue-posix", queue_posix },
	{ NULL, NULL },
};

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * eintr [-v]: a thread asleep in each of the system calls below, named after it. A
 * ptrace stop makes about half of them fail with EINTR, or end short of what was
 * asked for, which no program expects.
 *
 * Verdict: no call has ended at all. With each that did: name, how often with
 * EINTR, short, and otherwise. -v lists all. A call that this system does not
 * offer is "unavailable".
 */
#include "target.h"

#include <linux/aio_abi.h>
#include <linux/futex.h>
#include <linux/io_uring.h>
#include <mqueue.h>
#include <poll.h>
#include <semaphore.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>

#define FAR 100000 /* seconds: never */
#define CHUNK 65536
#define FIFO_PATH "eintr-fifo.%d"

static const struct timespec far_time = { FAR, 0 };
static int messages = -1, semaphores = -1; /* System V: outlive us, see helper() */
static pid_t helper_pid;
static int lock_file = -1;
static char lock_path[] = "eintr-lock.XXXXXX";

/* A call prepares what it needs and then sleeps; it is called again when it ends. */
typedef long call(void);

static long unavailable(void)
{
	errno = ENOSYS;
	return -1;
}

static int pipe_end(int end)
{
	int fds[2];

	if (pipe2(fds, O_CLOEXEC))
		target_die("pipe2");
	return fds[end];
}

static int listener(struct sockaddr_un *address, socklen_t *length)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct sockaddr_un any = { .sun_family = AF_UNIX };

	/* A name that the kernel chooses. */
	if (fd < 0 || bind(fd, (struct sockaddr *)&any, sizeof any.sun_family) ||
	    listen(fd, 0))
		target_die("listen");
	*length = sizeof *address;
	if (getsockname(fd, (struct sockaddr *)address, length))
		target_die("getsockname");
	return fd;
}

static void set_timeout(int fd, int option)
{
	struct timeval time = { FAR, 0 };

	if (setsockopt(fd, SOL_SOCKET, option, &time, sizeof time))
		target_die("setsockopt");
}

static int socket_end(int timeout_option)
{
	int fds[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds))
		target_die("socketpair");
	if (timeout_option)
		set_timeout(fds[0], timeout_option);
	return fds[0];
}

/* ---- epoll, poll, select ------------------------------------------------- */

static long call_epoll_wait(void)
{
	struct epoll_event event;

	return epoll_wait(epoll_create1(EPOLL_CLOEXEC), &event, 1, -1);
}

static long call_epoll_timed(void)
{
	struct epoll_event event;

	return epoll_wait(epoll_create1(EPOLL_CLOEXEC), &event, 1, FAR * 1000);
}

static long call_epoll_pwait(void)
{
	struct epoll_event event;
	sigset_t set;

	sigfillset(&set);
	return epoll_pwait(epoll_create1(EPOLL_CLOEXEC), &event, 1, -1, &set);
}

static long call_epoll_pwait2(void)
{
	struct epoll_event event;

	return epoll_pwait2(epoll_create1(EPOLL_CLOEXEC), &event, 1, &far_time, NULL);
}

static long call_poll(void)
{
	return poll(NULL, 0, -1);
}

static long call_poll_timed(void)
{
	return poll(NULL, 0, FAR * 1000);
}

static long call_ppoll(void)
{
	return ppoll(NULL, 0, &far_time, NULL);
}

static long call_select(void)
{
	struct timeval time = { FAR, 0 };

	return select(0, NULL, NULL, NULL, &time);
}

static long call_pselect(void)
{
	return pselect(0, NULL, NULL, NULL, &far_time, NULL);
}

/* ---- sleeping, locks ------------------------------------------------------ */

static long call_nanosleep(void)
{
	return nanosleep(&far_time, NULL);
}

static long call_clock_nanosleep(void)
{
	errno = clock_nanosleep(CLOCK_MONOTONIC, 0, &far_time, NULL);
	return errno ? -1 : 0;
}

static long call_pause(void)
{
	return pause();
}

static long call_sigsuspend(void)
{
	sigset_t set;

	sigfillset(&set);
	return sigsuspend(&set);
}

static long call_futex(void)
{
	uint32_t word = 0;

	return syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
}

static long call_futex_timed(void)
{
	uint32_t word = 0;

	return syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, &far_time, NULL, 0);
}

static long call_sem_timedwait(void)
{
	struct timespec until;
	sem_t semaphore;

	sem_init(&semaphore, 0, 0);
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += FAR;
	return sem_timedwait(&semaphore, &until);
}

static long call_flock(void)
{
	int fd = open(lock_path, O_RDWR | O_CLOEXEC);

	return flock(fd, LOCK_EX);
}

static long call_setlkw(void)
{
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };

	return fcntl(lock_file, F_SETLKW, &lock);
}

/* ---- System V and POSIX queues, signals ------------------------------------ */

static long call_semop(void)
{
	struct sembuf operation = { 0, -1, 0 };

	return semop(semaphores, &operation, 1);
}

static long call_semtimedop(void)
{
	struct sembuf operation = { 1, -1, 0 };

	return semtimedop(semaphores, &operation, 1, &far_time);
}

static long call_msgrcv(void)
{
	struct {
		long type;
		char text[8];
	} message;

	return msgrcv(messages, &message, sizeof message.text, 1, 0);
}

static long call_mq_timedreceive(void)
{
	struct mq_attr attr = { .mq_maxmsg = 1, .mq_msgsize = 16 };
	struct timespec until;
	char name[32], buffer[16];
	mqd_t queue;

	snprintf(name, sizeof name, "/pmp-eintr-%d", getpid());
	queue = mq_open(name, O_RDWR | O_CREAT | O_EXCL, 0600, &attr);
	if (queue == (mqd_t)-1)
		return unavailable();
	mq_unlink(name);
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += FAR;
	return mq_timedreceive(queue, buffer, sizeof buffer, NULL, &until);
}

static long call_sigtimedwait(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGRTMIN + 5);
	return sigtimedwait(&set, NULL, &far_time);
}

static long call_sigwaitinfo(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGRTMIN + 6);
	return sigwaitinfo(&set, NULL);
}

static long call_wait4(void)
{
	return wait4(helper_pid, NULL, 0, NULL);
}

static long call_waitid(void)
{
	siginfo_t info;

	return waitid(P_PID, (id_t)helper_pid, &info, WEXITED | WNOWAIT);
}

/* ---- read and write ---------------------------------------------------------- */

static long read_one(int fd)
{
	char bytes[512];

	return read(fd, bytes, sizeof bytes);
}

static long call_read_pipe(void)
{
	return read_one(pipe_end(0));
}

static long call_read_socket(void)
{
	return read_one(socket_end(0));
}

static long call_read_socket_timed(void)
{
	return read_one(socket_end(SO_RCVTIMEO));
}

static long call_read_eventfd(void)
{
	return read_one(eventfd(0, EFD_CLOEXEC));
}

static long call_read_signalfd(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGRTMIN + 7);
	return read_one(signalfd(-1, &set, SFD_CLOEXEC));
}

static long call_read_inotify(void)
{
	return read_one(inotify_init1(IN_CLOEXEC));
}

static long call_read_timerfd(void)
{
	struct itimerspec time = { .it_value = { FAR, 0 } };
	int fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);

	timerfd_settime(fd, 0, &time, NULL);
	return read_one(fd);
}

static long call_open_fifo(void)
{
	char path[32];

	snprintf(path, sizeof path, FIFO_PATH, getpid());
	if (mkfifo(path, 0600))
		return unavailable();
	return open(path, O_RDONLY | O_CLOEXEC);
}

static long call_splice(void)
{
	return splice(pipe_end(0), NULL, pipe_end(1), NULL, CHUNK, 0);
}

/* One page fits in, the rest has to wait: a stop ends the call there. */
static long call_write_pipe(void)
{
	static char bytes[4 * CHUNK];

	return write(pipe_end(1), bytes, sizeof bytes);
}

static long call_pwritev2(void)
{
	static char bytes[4 * CHUNK];
	const struct iovec part = { bytes, sizeof bytes };

	return pwritev2(pipe_end(1), &part, 1, -1, 0);
}

/* ---- sockets -------------------------------------------------------------------- */

static long call_recv(void)
{
	char bytes[16];

	return recv(socket_end(0), bytes, sizeof bytes, 0);
}

static long call_recv_timed(void)
{
	char bytes[16];

	return recv(socket_end(SO_RCVTIMEO), bytes, sizeof bytes, 0);
}

static long call_recvmmsg_timed(void)
{
	char bytes[16];
	struct iovec part = { bytes, sizeof bytes };
	struct mmsghdr message = { .msg_hdr = { .msg_iov = &part, .msg_iovlen = 1 } };

	return recvmmsg(socket_end(SO_RCVTIMEO), &message, 1, 0, NULL);
}

/* Three of ten have come: a stop ends the call there. */
static long call_recvmmsg(void)
{
	static char bytes[10][16];
	struct iovec parts[10];
	struct mmsghdr messages[10] = { 0 };
	int fds[2];

	if (socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, fds))
		target_die("socketpair");
	for (int i = 0; i < 10; i++) {
		parts[i] = (struct iovec){ bytes[i], sizeof bytes[i] };
		messages[i].msg_hdr =
			(struct msghdr){ .msg_iov = &parts[i], .msg_iovlen = 1 };
		if (i < 3 && send(fds[1], "x", 1, 0) != 1)
			target_die("send");
	}
	return recvmmsg(fds[0], messages, 10, 0, NULL);
}

static long call_send_timed(void)
{
	static char bytes[CHUNK];
	int fd = socket_end(SO_SNDTIMEO);

	while (send(fd, bytes, sizeof bytes, MSG_DONTWAIT) > 0)
		;
	return send(fd, bytes, sizeof bytes, 0);
}

static long call_accept(void)
{
	struct sockaddr_un address;
	socklen_t length;

	return accept(listener(&address, &length), NULL, NULL);
}

static long call_accept_timed(void)
{
	struct sockaddr_un address;
	socklen_t length;
	int fd = listener(&address, &length);

	set_timeout(fd, SO_RCVTIMEO);
	return accept(fd, NULL, NULL);
}

/* The queue of the listener holds one: the second has to wait. */
static long connect_full(bool timed)
{
	struct sockaddr_un address;
	socklen_t length;
	int server = listener(&address, &length);
	int first = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int second = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (server < 0 || first < 0 || second < 0 ||
	    connect(first, (struct sockaddr *)&address, length))
		target_die("connect");
	if (timed)
		set_timeout(second, SO_SNDTIMEO);
	return connect(second, (struct sockaddr *)&address, length);
}

static long call_connect(void)
{
	return connect_full(false);
}

static long call_connect_timed(void)
{
	return connect_full(true);
}

/* ---- asynchronous I/O ------------------------------------------------------------ */

static long get_events(struct timespec *time)
{
	struct io_event event;
	aio_context_t context = 0;

	if (syscall(SYS_io_setup, 1, &context))
		return unavailable();
	return syscall(SYS_io_getevents, context, 1L, 1L, &event, time);
}

static long call_io_getevents(void)
{
	return get_events(NULL);
}

static long call_io_getevents_timed(void)
{
	struct timespec time = far_time;

	return get_events(&time);
}

static long call_io_uring_enter(void)
{
	struct io_uring_params params;
	long fd;

	memset(&params, 0, sizeof params);
	fd = syscall(SYS_io_uring_setup, 4, &params);
	if (fd < 0)
		return unavailable();
	return syscall(SYS_io_uring_enter, (int)fd, 0, 1, IORING_ENTER_GETEVENTS, NULL,
		       0);
}

/* ---- all of them ------------------------------------------------------------------ */

static struct kind {
	const char *name; /* of the thread, too: 15 bytes */
	call *function;
	bool is_write; /* gives less than was asked for when disturbed */
	atomic_uint interrupted, shortened, ended;
	atomic_bool missing;
} kinds[] = {
	{ .name = "epoll_wait", .function = call_epoll_wait },
	{ .name = "epoll_timed", .function = call_epoll_timed },
	{ .name = "epoll_pwait", .function = call_epoll_pwait },
	{ .name = "epoll_pwait2", .function = call_epoll_pwait2 },
	{ .name = "poll", .function = call_poll },
	{ .name = "poll_timed", .function = call_poll_timed },
	{ .name = "ppoll", .function = call_ppoll },
	{ .name = "select", .function = call_select },
	{ .name = "pselect", .function = call_pselect },
	{ .name = "nanosleep", .function = call_nanosleep },
	{ .name = "clock_nanosleep", .function = call_clock_nanosleep },
	{ .name = "pause", .function = call_pause },
	{ .name = "sigsuspend", .function = call_sigsuspend },
	{ .name = "futex", .function = call_futex },
	{ .name = "futex_timed", .function = call_futex_timed },
	{ .name = "sem_timedwait", .function = call_sem_timedwait },
	{ .name = "flock", .function = call_flock },
	{ .name = "setlkw", .function = call_setlkw },
	{ .name = "semop", .function = call_semop },
	{ .name = "semtimedop", .function = call_semtimedop },
	{ .name = "msgrcv", .function = call_msgrcv },
	{ .name = "mq_timedreceive", .function = call_mq_timedreceive },
	{ .name = "sigtimedwait", .function = call_sigtimedwait },
	{ .name = "sigwaitinfo", .function = call_sigwaitinfo },
	{ .name = "wait4", .function = call_wait4 },
	{ .name = "waitid", .function = call_waitid },
	{ .name = "read_pipe", .function = call_read_pipe },
	{ .name = "read_socket", .function = call_read_socket },
	{ .name = "read_sock_timed", .function = call_read_socket_timed },
	{ .name = "read_eventfd", .function = call_read_eventfd },
	{ .name = "read_signalfd", .function = call_read_signalfd },
	{ .name = "read_inotify", .function = call_read_inotify },
	{ .name = "read_timerfd", .function = call_read_timerfd },
	{ .name = "open_fifo", .function = call_open_fifo },
	{ .name = "splice", .function = call_splice },
	{ .name = "write_pipe", .function = call_write_pipe, .is_write = true },
	{ .name = "pwritev2", .function = call_pwritev2, .is_write = true },
	{ .name = "recv", .function = call_recv },
	{ .name = "recv_timed", .function = call_recv_timed },
	{ .name = "recvmmsg", .function = call_recvmmsg, .is_write = true },
	{ .name = "recvmmsg_timed", .function = call_recvmmsg_timed },
	{ .name = "send_timed", .function = call_send_timed },
	{ .name = "accept", .function = call_accept },
	{ .name = "accept_timed", .function = call_accept_timed },
	{ .name = "connect", .function = call_connect },
	{ .name = "connect_timed", .function = call_connect_timed },
	{ .name = "io_getevents", .function = call_io_getevents },
	{ .name = "io_getev_timed", .function = call_io_getevents_timed },
	{ .name = "io_uring_enter", .function = call_io_uring_enter },
};

#define KINDS (sizeof kinds / sizeof *kinds)

static void sleep_in(void *arg)
{
	struct kind *kind = arg;
	long result;

	for (;;) {
		errno = 0;
		result = kind->function();
		if (result < 0 && errno == EINTR) {
			kind->interrupted++;
		} else if (result < 0 && errno == ENOSYS) {
			kind->missing = true;
			for (;;)
				pause();
		} else if (result >= 0 && kind->is_write) {
			kind->shortened++;
		} else {
			kind->ended++;
		}
	}
}

/*
 * The child that some calls wait for. It holds a lock, and removes what the
 * system would keep when its parent dies: then the pipe comes to its end.
 */
static void helper(int alive, int locked)
{
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
	char byte = 0;

	prctl(PR_SET_NAME, "helper");
	fcntl(lock_file, F_SETLKW, &lock);
	if (write(locked, &byte, 1) == 1)
		while (read(alive, &byte, 1) == -1 && errno == EINTR)
			;
	msgctl(messages, IPC_RMID, NULL);
	semctl(semaphores, 0, IPC_RMID);
	_exit(0);
}

static void start_helper(void)
{
	int alive[2], locked[2];
	char byte;

	messages = msgget(IPC_PRIVATE, 0600);
	semaphores = semget(IPC_PRIVATE, 2, 0600);
	lock_file = mkostemp(lock_path, O_CLOEXEC);
	if (messages < 0 || semaphores < 0 || lock_file < 0 ||
	    flock(lock_file, LOCK_EX) || pipe2(alive, O_CLOEXEC) ||
	    pipe2(locked, O_CLOEXEC))
		target_die("preparations");
	helper_pid = fork();
	if (helper_pid < 0)
		target_die("fork");
	if (helper_pid == 0) {
		close(alive[1]);
		helper(alive[0], locked[1]);
	}
	close(alive[0]);
	if (read(locked[0], &byte, 1) != 1)
		target_die("the helper");
}

static unsigned report(bool verbose)
{
	unsigned disturbed, sum = 0;
	size_t i;

	for (i = 0; i < KINDS; i++) {
		disturbed = kinds[i].interrupted + kinds[i].shortened + kinds[i].ended;
		sum += disturbed;
		if (kinds[i].missing)
			printf("%s unavailable\n", kinds[i].name);
		else if (disturbed || verbose)
			printf("%s %u EINTR %u short %u ended\n", kinds[i].name,
			       kinds[i].interrupted, kinds[i].shortened, kinds[i].ended);
	}
	return sum;
}

int main(int argc, char **argv)
{
	char path[32];
	unsigned disturbed;
	sigset_t set;
	size_t i;
	int signal;

	target_begin();
	sigemptyset(&set);
	for (signal = SIGRTMIN + 5; signal <= SIGRTMIN + 7; signal++)
		sigaddset(&set, signal);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	start_helper();
	for (i = 0; i < KINDS; i++)
		target_wait_asleep(target_thread(kinds[i].name, sleep_in, &kinds[i]));
	unlink(lock_path);
	target_ready();
	target_wait_end();
	snprintf(path, sizeof path, FIFO_PATH, getpid());
	unlink(path); /* not before: a call that is restarted opens it again */
	disturbed = report(argc > 1 && strcmp(argv[1], "-v") == 0);
	if (disturbed)
		target_verdict("%u calls disturbed", disturbed);
	target_verdict(NULL);
}

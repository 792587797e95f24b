/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The kinds of t/target/locks.c with files, pipes and sockets. A child process has the
 * other end, or the lock.
 */
#include "target.h"
#include "locks.h"

#include <netinet/in.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#define OWNER "lockowner"

/* ---- locks of files ---------------------------------------------------------------- */

static int open_file(void)
{
	char path[] = "/tmp/pmp-locks.XXXXXX";
	int fd;

	if (locks_file) {
		fd = open(locks_file, O_RDWR | O_CLOEXEC);
		if (fd < 0)
			target_die(locks_file);
		return fd;
	}
	fd = mkstemp(path);
	if (fd < 0)
		target_die(path);
	unlink(path);
	return fd;
}

/* The same file again, with a description of its own: flock and OFD locks are those of
 * a description. */
static int open_again(int fd)
{
	char path[32];
	int other;

	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	other = open(path, O_RDWR | O_CLOEXEC);
	if (other < 0)
		target_die(path);
	return other;
}

static int lock_flock(void *fd)
{
	return flock(*(int *)fd, LOCK_EX) == 0 ? 0 : errno;
}

static int lock_whole(int fd, int command)
{
	struct flock whole = { .l_type = F_WRLCK, .l_whence = SEEK_SET };

	return fcntl(fd, command, &whole) == 0 ? 0 : errno;
}

static int lock_fcntl(void *fd)
{
	return lock_whole(*(int *)fd, F_SETLKW);
}

static int lock_ofd(void *fd)
{
	return lock_whole(*(int *)fd, F_OFD_SETLKW);
}

struct job {
	locks_call lock;
	int fd;
};

static void lock_in_child(void *arg)
{
	struct job *job = arg;
	int fd = open_again(job->fd);

	close(job->fd);
	locks_must(job->lock(&fd), "the child's lock");
}

static void show_file_lock(locks_call lock, long call, const char *name)
{
	static struct job job;
	struct stat stat;
	struct actor *waiter;
	pid_t child;

	job.lock = lock;
	job.fd = open_file();
	if (fstat(job.fd, &stat) != 0)
		target_die("fstat");
	child = process_new(OWNER, lock_in_child, &job);
	waiter = actor_waits(lock, &job.fd, call, name);
	truth(waiter, child, stat.st_ino, "file", " mode=write device=%u:%u",
	      major(stat.st_dev), minor(stat.st_dev));
}

static void show_flock(void)
{
	show_file_lock(lock_flock, CALL(flock));
}

static void show_fcntl(void)
{
	show_file_lock(lock_fcntl, CALL(fcntl));
}

static void show_ofd(void)
{
	show_file_lock(lock_ofd, CALL(fcntl));
}

/* ---- pipes and sockets --------------------------------------------------------------- */

/* ends[0] is the waiter's, ends[1] the child's. */
static int ends[2];

static uint64_t inode_of(int fd)
{
	struct stat stat;

	if (fstat(fd, &stat) != 0)
		target_die("fstat");
	return stat.st_ino;
}

static int read_byte(void *fd)
{
	char byte;

	return read(*(int *)fd, &byte, 1) >= 0 ? 0 : errno;
}

static int write_byte(void *fd)
{
	return write(*(int *)fd, "", 1) >= 0 ? 0 : errno;
}

static int receive_byte(void *fd)
{
	char byte;

	return recv(*(int *)fd, &byte, 1, 0) >= 0 ? 0 : errno;
}

static void keep_other_end(void *arg)
{
	(void)arg;
	close(ends[0]);
}

/* The child keeps ends[1], and only the child. */
static pid_t give_away(void)
{
	pid_t child = process_new("peer", keep_other_end, NULL);

	close(ends[1]);
	return child;
}

static void pipe_read(void)
{
	struct actor *waiter;
	pid_t child;

	if (pipe(ends) != 0)
		target_die("pipe");
	child = give_away();
	waiter = actor_waits(read_byte, &ends[0], CALL(read));
	truth(waiter, child, inode_of(ends[0]), "pipe", " mode=read fd=%d", ends[1]);
}

static void fill(int fd)
{
	char block[4096] = { 0 };
	int flags = fcntl(fd, F_GETFL);

	fcntl(fd, F_SETFL, flags | O_NONBLOCK);
	while (write(fd, block, sizeof block) > 0)
		;
	fcntl(fd, F_SETFL, flags);
}

static void pipe_write(void)
{
	struct actor *waiter;
	pid_t child;
	int fds[2];

	if (pipe(fds) != 0)
		target_die("pipe");
	ends[0] = fds[1];
	ends[1] = fds[0];
	child = give_away();
	fill(ends[0]);
	waiter = actor_waits(write_byte, &ends[0], CALL(write));
	truth(waiter, child, inode_of(ends[0]), "pipe", " mode=write fd=%d", ends[1]);
}

static void show_receive(void)
{
	pid_t child = give_away();
	struct actor *waiter = actor_waits(receive_byte, &ends[0], CALL(recvfrom));

	truth(waiter, child, inode_of(ends[0]), "socket", " fd=%d", ends[1]);
}

static void unix_socket(void)
{
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0)
		target_die("socketpair");
	show_receive();
}

static void tcp(void)
{
	struct sockaddr_in address = { .sin_family = AF_INET };
	socklen_t length = sizeof address;
	int listener = socket(AF_INET, SOCK_STREAM, 0);

	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	ends[1] = socket(AF_INET, SOCK_STREAM, 0);
	if (listener < 0 || bind(listener, (struct sockaddr *)&address, length) != 0 ||
	    listen(listener, 1) != 0 ||
	    getsockname(listener, (struct sockaddr *)&address, &length) != 0 ||
	    connect(ends[1], (struct sockaddr *)&address, length) != 0)
		locks_skip("no TCP on this machine");
	ends[0] = accept(listener, NULL, NULL);
	if (ends[0] < 0)
		target_die("accept");
	close(listener);
	show_receive();
}

const struct kind locks_file_kinds[] = {
	{ "flock", show_flock },
	{ "fcntl", show_fcntl },
	{ "ofd", show_ofd },
	{ "pipe-read", pipe_read },
	{ "pipe-write", pipe_write },
	{ "unix", unix_socket },
	{ "tcp", tcp },
	{ NULL, NULL },
};

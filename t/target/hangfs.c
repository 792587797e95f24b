/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A file system that stops answering, as one whose server has died: `hangfs DIR FILE`
 * mounts on DIR one with a single executable, "file", of FILE's contents, and prints
 * "ready". With USR1 it answers nothing any more; with USR2 it does again, but for what
 * it was asked meanwhile; its end is that of the file system. `hangfs DIR FILE flush`
 * takes some milliseconds for each close of the file, which fails if it is interrupted.
 * `hangfs DIR FILE but NAME` never answers a process of that name (fnmatch), and ends with its
 * parent. HANGFS_DEVICE is used for /dev/fuse.
 */
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <linux/fuse.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#define REQUEST_MAX (FUSE_MIN_READ_BUFFER + 65536)
#define READ_MAX 131072
#define FILE_NODE 2
#define FLUSH_TIME 5 /* ms */

static volatile sig_atomic_t hangs;
static int fuse, file;
static bool slow_flush;
static const char *ignored;
static struct fuse_in_header flush; /* that has no answer yet, if opcode is not 0 */

/* Does a process of the name that gets no answer ask? */
static bool is_ignored(const struct fuse_in_header *in)
{
	char path[32], name[32] = "";
	ssize_t n;
	int fd;

	if (!ignored || !in->pid)
		return false;
	snprintf(path, sizeof(path), "/proc/%u/comm", in->pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? 0 : read(fd, name, sizeof(name) - 1);
	if (fd >= 0)
		close(fd);
	if (n > 0)
		name[strcspn(name, "\n")] = '\0';
	if (fnmatch(ignored, name, 0) != 0)
		return false;
	fprintf(stderr, "ignored %u of %s\n", in->opcode, name);
	return true;
}

static void take_signal(int number)
{
	hangs = number == SIGUSR1;
}

static void answer(const struct fuse_in_header *in, int error, const void *data,
		   size_t length)
{
	struct fuse_out_header out = {
		.len = (uint32_t)(sizeof(out) + (error ? 0 : length)),
		.error = -error,
		.unique = in->unique,
	};
	const struct iovec parts[] = { { &out, sizeof(out) }, { (void *)data, length } };

	/* Whoever has asked may have gone. */
	if (writev(fuse, parts, error || !length ? 1 : 2) < 0 && errno != ENOENT)
		perror("hangfs: answer");
}

static struct fuse_attr attributes(uint64_t node)
{
	struct stat status = { .st_size = 0 };

	fstat(file, &status);
	return (struct fuse_attr){
		.ino = node,
		.size = node == FILE_NODE ? (uint64_t)status.st_size : 0,
		.blocks = node == FILE_NODE ? (uint64_t)status.st_blocks : 0,
		.mode = node == FILE_NODE ? S_IFREG | 0755 : S_IFDIR | 0755,
		.nlink = 1,
		.blksize = 4096,
	};
}

static void read_file(const struct fuse_in_header *in, const struct fuse_read_in *what)
{
	static char data[READ_MAX];
	size_t size = what->size < sizeof(data) ? what->size : sizeof(data);
	ssize_t n = pread(file, data, size, (off_t)what->offset);

	answer(in, n < 0 ? errno : 0, data, n < 0 ? 0 : (size_t)n);
}

static void answer_flush(int error)
{
	if (flush.opcode)
		answer(&flush, error, NULL, 0);
	flush.opcode = 0;
}

static void take_flush(const struct fuse_in_header *in)
{
	answer_flush(0);
	flush = *in;
	if (!slow_flush)
		answer_flush(0);
}

static void serve(const struct fuse_in_header *in, const void *body)
{
	const struct fuse_init_in *asked = body;
	const struct fuse_init_out init = {
		.major = FUSE_KERNEL_VERSION,
		.minor = asked->minor,
		.max_write = 4096,
		.max_readahead = READ_MAX,
	};
	const struct fuse_attr_out attr = { .attr = attributes(in->nodeid) };
	const struct fuse_entry_out entry = { .nodeid = FILE_NODE,
					      .attr = attributes(FILE_NODE) };
	/* What one process has read another one reads again. */
	const struct fuse_open_out opened = { .fh = 1,
					      .open_flags =
						      ignored ? FOPEN_DIRECT_IO : 0 };
	const struct fuse_statfs_out statfs = { .st = { .namelen = 255 } };

	switch (in->opcode) {
	case FUSE_INIT: answer(in, 0, &init, sizeof(init)); break;
	case FUSE_GETATTR: answer(in, 0, &attr, sizeof(attr)); break;
	case FUSE_LOOKUP:
		answer(in, strcmp(body, "file") ? ENOENT : 0, &entry, sizeof(entry));
		break;
	case FUSE_OPEN:
	case FUSE_OPENDIR: answer(in, 0, &opened, sizeof(opened)); break;
	case FUSE_STATFS: answer(in, 0, &statfs, sizeof(statfs)); break;
	case FUSE_READ: read_file(in, body); break;
	case FUSE_READDIR:
	case FUSE_RELEASE:
	case FUSE_RELEASEDIR: answer(in, 0, NULL, 0); break;
	case FUSE_FLUSH: take_flush(in); break;
	case FUSE_INTERRUPT: answer_flush(EINTR); break;
	case FUSE_FORGET:
	case FUSE_BATCH_FORGET: break;
	default: answer(in, ENOSYS, NULL, 0); break;
	}
}

static void mount_on(const char *directory)
{
	char options[128];

	snprintf(options, sizeof(options),
		 "fd=%d,rootmode=40000,user_id=0,group_id=0,allow_other", fuse);
	if (mount("hangfs", directory, "fuse", MS_NOSUID | MS_NODEV, options)) {
		perror("hangfs: mount");
		_exit(1);
	}
}

int main(int argc, char **argv)
{
	static char request[REQUEST_MAX] __attribute__((aligned(8)));
	const struct sigaction action = { .sa_handler = take_signal };
	const char *device = getenv("HANGFS_DEVICE");
	bool told = false;

	fuse = open(device ? device : "/dev/fuse", O_RDWR | O_CLOEXEC);
	ignored = argc == 5 && strcmp(argv[3], "but") == 0 ? argv[4] : NULL;
	if (ignored)
		prctl(PR_SET_PDEATHSIG, SIGKILL);
	slow_flush = argc == 4 && strcmp(argv[3], "flush") == 0;
	file = argc >= 3 ? open(argv[2], O_RDONLY | O_CLOEXEC) : -1;
	if (fuse < 0 || file < 0) {
		perror("hangfs");
		return 1;
	}
	sigaction(SIGUSR1, &action, NULL);
	sigaction(SIGUSR2, &action, NULL);
	mount_on(argv[1]);
	for (;;) {
		struct pollfd question = { .fd = fuse, .events = POLLIN };
		ssize_t n;

		if (flush.opcode && poll(&question, 1, FLUSH_TIME) == 0)
			answer_flush(0);
		n = read(fuse, request, sizeof(request));

		if (n < 0 && errno != EINTR && errno != ENOENT)
			return 0;
		if (n < (ssize_t)sizeof(struct fuse_in_header) || hangs ||
		    is_ignored((const void *)request))
			continue;
		serve((const void *)request, request + sizeof(struct fuse_in_header));
		if (!told)
			printf("ready %d\n", (int)getpid());
		fflush(stdout);
		told = true;
	}
}

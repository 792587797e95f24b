/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A process as /proc shows it. All of /proc/PID is read relative to one open
 * descriptor, which never refers to another process that gets the same pid.
 * Nothing is stopped here.
 */
#include "proc/process.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/scan.h"
#include "libpmp-program.h"

#define PATH_SIZE 64 /* "task/TID/...", "/proc/TID" */
#define ALIVE_TRIES 10
#define ALIVE_PAUSE PMP_MS

/* ---- threads ------------------------------------------------------------ */

/* The path of a file of a thread, or ("") of its directory. */
static const char *task_path(pid_t tid, const char *name, char path[PATH_SIZE])
{
	snprintf(path, PATH_SIZE, "task/%d/%s", (int)tid, name);
	return path;
}

bool pmp_task_exists(const struct pmp_process *process, pid_t tid)
{
	char path[PATH_SIZE];

	return faccessat(process->proc, task_path(tid, "", path), F_OK, 0) == 0 ||
	       errno != ENOENT;
}

int pmp_task_open(const struct pmp_process *process, pid_t tid, const char *name)
{
	const int flags = name ? O_RDONLY : O_PATH | O_DIRECTORY;
	char path[PATH_SIZE];
	int fd;

	task_path(tid, name ? name : "", path);
	do
		fd = openat(process->proc, path, flags | O_CLOEXEC);
	while (fd < 0 && errno == EINTR);
	return fd < 0 ? -errno : fd;
}

ssize_t pmp_task_read(const struct pmp_process *process, pid_t tid, const char *name,
		      char *text, size_t size)
{
	char path[PATH_SIZE];

	return pmp_file_read(process->proc, task_path(tid, name, path), text, size);
}

int pmp_task_stat(const struct pmp_process *process, pid_t tid, struct pmp_stat *stat)
{
	char path[PATH_SIZE];

	return pmp_stat_read(process->proc, task_path(tid, "stat", path), stat);
}

int pmp_task_status(const struct pmp_process *process, pid_t tid,
		    struct pmp_status_file *status)
{
	char path[PATH_SIZE];

	return pmp_status_read(process->proc, task_path(tid, "status", path), status);
}

pid_t pmp_thread_process(pid_t tid)
{
	struct pmp_status_file status;
	char path[PATH_SIZE];

	snprintf(path, sizeof(path), "/proc/%d/status", (int)tid);
	if (tid <= 0 || pmp_status_read(AT_FDCWD, path, &status))
		return 0;
	return status.tgid != tid ? status.tgid : 0;
}

/* Open /proc/TID if tid is still a thread of this process that has not exited. */
static int open_live_thread(const struct pmp_process *process, const char *name)
{
	struct pmp_status_file status;
	char path[PATH_SIZE];
	uint64_t tid;
	int dir;

	if (!pmp_scan_whole(name, 1, INT_MAX, &tid))
		return -ESRCH;
	snprintf(path, sizeof(path), "/proc/%d", (int)tid);
	dir = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0)
		return -errno;
	/* Not task/TID, because that has no map_files. So its process must be checked. */
	if (pmp_status_read(dir, "status", &status) == 0 && status.tgid == process->pid &&
	    !pmp_state_ended(status.state))
		return dir;
	close(dir);
	return -ESRCH;
}

static int find_live_thread(const struct pmp_process *process)
{
	int task = openat(process->proc, "task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *list = task < 0 ? NULL : fdopendir(task);
	int dir = -ESRCH;

	if (!list) {
		dir = pmp_no_descriptor(errno) ? -errno : -ESRCH;
		if (task >= 0)
			close(task);
		return dir;
	}
	for (struct dirent *entry; dir < 0 && (entry = readdir(list));)
		dir = open_live_thread(process, entry->d_name);
	closedir(list);
	return dir;
}

int pmp_process_live(const struct pmp_process *process)
{
	struct pmp_stat stat;
	int dir = pmp_stat_read(process->proc, "stat", &stat);

	if (dir)
		return pmp_no_descriptor(-dir) ? dir : -ESRCH;
	if (pmp_state_ended(stat.state))
		return find_live_thread(process);
	dir = fcntl(process->proc, F_DUPFD_CLOEXEC, 0);
	return dir < 0 ? -errno : dir;
}

/* ---- life --------------------------------------------------------------- */

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

void pmp_process_close(struct pmp_process *process)
{
	close_fd(&process->mem);
	close_fd(&process->proc);
	close_fd(&process->pidfd);
}

bool pmp_process_owner_at(int proc, uid_t *owner)
{
	struct pmp_stat stat;
	struct stat info;

	if (fstatat(proc, "stat", &info, 0) < 0)
		return false;
	if (info.st_uid == 0 && *owner != 0 &&
	    (pmp_stat_read(proc, "stat", &stat) || stat.flags & PMP_EXITING))
		return false;
	*owner = info.st_uid;
	return true;
}

bool pmp_process_owner(pid_t pid, uid_t *owner)
{
	char path[32];
	bool known;
	int proc;

	snprintf(path, sizeof(path), "/proc/%d", (int)pid);
	proc = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (proc < 0)
		return false;
	*owner = PMP_OWNERS;
	known = pmp_process_owner_at(proc, owner);
	close(proc);
	return known;
}

static bool is_alive(const struct pmp_process *process)
{
	struct pmp_stat stat;
	int live;

	live = process->proc < 0 ? -EBADF : pmp_stat_read(process->proc, "stat", &stat);
	if (live == 0 && stat.start_time != process->start_time)
		return false;
	if (live == 0)
		live = pmp_process_live(process);
	if (live >= 0)
		close(live);
	/* If descriptors ran out, assume that it is alive. */
	return live >= 0 || pmp_no_descriptor(-live);
}

/*
 * Has it certainly exited? Then nothing of it is left, or a single thread, a zombie. The
 * leader is also a zombie while another thread calls exec, but then the kernel counts
 * both; or none, if it has just released the leader.
 */
static bool is_over(const struct pmp_process *process)
{
	struct pmp_stat stat;
	const int r = pmp_stat_read(process->proc, "stat", &stat);

	return r == -ESRCH || (r == 0 && stat.state == 'Z' && stat.threads == 1);
}

bool pmp_process_alive(const struct pmp_process *process)
{
	const struct timespec pause = { .tv_nsec = ALIVE_PAUSE };
	struct pollfd end = { .fd = process->pidfd, .events = POLLIN };

	/* Readable once all threads have exited; and for a moment when a thread other than
	 * the leader calls exec and takes its place (t/0750). */
	if (process->pidfd >= 0 && poll(&end, 1, 0) == 0)
		return true;
	for (int tries = 1; !is_alive(process); tries++) {
		if (tries == ALIVE_TRIES || is_over(process))
			return false;
		nanosleep(&pause, NULL);
	}
	return true;
}

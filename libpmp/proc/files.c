/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Descriptors of the files that a process has mapped. Paths from the process
 * are first opened with O_PATH, which neither waits for a FIFO nor wakes a
 * device; only if it is proven to be the mapped file, the descriptor is
 * reopened for reading. No thread is held here.
 */
#include "proc/files.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fault.h"
#include "base/file.h"
#include "proc/mounts.h"
#include "proc/status.h"

#define LINK_SIZE 64	  /* "/proc/self/fd/N", "map_files/START-END" */
#define COMPARE_SIZE 4096 /* bytes of a region, if device numbers do not help */

/* Is the root of the process the same as ours? */
static bool same_root(int root)
{
	struct stat theirs, ours;

	return fstat(root, &theirs) == 0 && stat("/", &ours) == 0 &&
	       theirs.st_dev == ours.st_dev && theirs.st_ino == ours.st_ino;
}

/*
 * O_PATH descriptor of a path below root, or a negative errno. Symbolic links
 * in it cannot lead out of root. Without openat2() only our own root is safe.
 */
static int open_below(int root, const char *path, uint64_t resolve)
{
	const struct open_how how = {
		.flags = O_PATH | O_NOFOLLOW | O_CLOEXEC,
		.resolve = resolve | RESOLVE_NO_MAGICLINKS,
	};
	int fd = (int)syscall(SYS_openat2, root, path, &how, sizeof(how));

	/* A sandbox that does not know the call returns EPERM. */
	if (fd < 0 && (errno == ENOSYS || errno == EPERM) && same_root(root))
		fd = open(path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

static int open_root(const struct pmp_process *process)
{
	int fd = openat(process->proc, "root", O_PATH | O_DIRECTORY | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

static int open_in_root(const struct pmp_process *process, const char *path)
{
	int root = open_root(process);
	int fd;

	if (root < 0)
		return root;
	fd = open_below(root, path, RESOLVE_IN_ROOT);
	close(root);
	return fd;
}

/* For a process in a chroot, maps shows its paths as seen from our root. */
static int open_in_ours(const char *path)
{
	int root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	int fd;

	if (root < 0)
		return -errno;
	fd = open_below(root, path, RESOLVE_IN_ROOT | RESOLVE_NO_SYMLINKS);
	close(root);
	return fd;
}

/* Does the file contain what the process has mapped from it? */
static bool same_bytes(const struct pmp_process *process, const struct pmp_region *region,
		       int fd)
{
	unsigned char mapped[COMPARE_SIZE], stored[COMPARE_SIZE];
	size_t length = sizeof(mapped);

	if (region->end - region->start < length)
		length = region->end - region->start;
	if (region->prot & PMP_PROT_WRITE || process->mem < 0)
		return false;
	return pmp_file_pread(process->mem, mapped, length, region->start) ==
		       (ssize_t)length &&
	       pmp_file_pread(fd, stored, length, region->offset) == (ssize_t)length &&
	       memcmp(mapped, stored, length) == 0;
}

/*
 * Accept an O_PATH descriptor (or pass on a negative errno) if it is the file
 * of a region. linked: it came from map_files. Its device may then differ:
 * overlay and btrfs show one number in maps and another one in stat. Otherwise
 * the bytes must match, too. Returns a descriptor for reading or a negative
 * errno; -PMP_EFOREIGN: this is the file, but it is not to be read.
 */
static int accept_file(const struct pmp_process *process, const struct pmp_region *region,
		       int fd, bool linked)
{
	const struct pmp_module *module = region->module;
	bool inode, device;
	struct stat file;
	int problem;

	if (fd < 0)
		return fd;
	problem = pmp_mounts_check(process, fd, &file);
	inode = file.st_ino == module->inode;
	device = file.st_dev == module->device;
	if ((!problem && !S_ISREG(file.st_mode)) || (!inode && !linked))
		problem = -ESTALE;
	if (problem) {
		close(fd);
		return problem;
	}
	fd = pmp_file_reopen(fd, O_RDONLY);
	if (fd < 0 || (inode && (device || linked)) || same_bytes(process, region, fd))
		return fd;
	close(fd);
	return -ESTALE;
}

static int open_map_file(const struct pmp_process *process,
			 const struct pmp_region *region)
{
	char link[LINK_SIZE];
	int fd;

	snprintf(link, sizeof(link), "map_files/%" PRIx64 "-%" PRIx64, region->start,
		 region->end);
	fd = openat(process->proc, link, O_PATH | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

static int open_exe(const struct pmp_process *process)
{
	int fd = openat(process->proc, "exe", O_PATH | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

static bool is_missing(int fd)
{
	return fd < 0 && fd != -PMP_EFOREIGN;
}

#ifdef PMP_FAULTS
static int open_blindly(const struct pmp_process *process, const char *path)
{
	int fd = PMP_FAULT("own-root") ? open_in_ours(path) : open_in_root(process, path);

	return fd < 0 ? fd : pmp_file_reopen(fd, O_RDONLY);
}
#endif

void pmp_files_open(const struct pmp_process *process, const struct pmp_region *region,
		    struct pmp_module *module, const struct pmp_log *log)
{
	const struct pmp_region mapped = {
		.start = region->start,
		.end = region->end,
		.offset = region->offset,
		.module = module,
		.prot = region->prot,
	};
	bool replaced = false;
	int fd;

#ifdef PMP_FAULTS
	if (PMP_FAULT("own-root") || PMP_FAULT("believe-path")) {
		module->fd = open_blindly(process, module->path);
		return;
	}
#endif
	fd = accept_file(process, &mapped, open_map_file(process, &mapped), true);
	if (is_missing(fd))
		fd = accept_file(process, &mapped, open_exe(process), false);
	if (is_missing(fd) && module->path[0] == '/') {
		fd = accept_file(process, &mapped, open_in_root(process, module->path),
				 false);
		replaced = fd == -ESTALE;
		if (is_missing(fd))
			fd = accept_file(process, &mapped, open_in_ours(module->path),
					 false);
	}
	if (fd < 0 && replaced)
		fd = -ESTALE;
	module->fd = fd < 0 ? -1 : fd;
	module->open_errno = fd < 0 ? -fd : 0;
	if (fd < 0 && log && log->line) {
		char path[PATH_MAX];

		pmp_log_line(log, "files", "cannot open %s: %s",
			     pmp_escape(module->path, path, sizeof(path)), strerror(-fd));
	}
}

/* Takes an O_PATH descriptor or a negative errno. */
static bool is_file(int fd, uint64_t device, uint64_t inode)
{
	struct stat file;
	bool same;

	if (fd < 0)
		return false;
	same = pmp_mounts_look(fd, &file) == 0 && file.st_dev == device &&
	       file.st_ino == inode;
	close(fd);
	return same;
}

bool pmp_files_is_at(const struct pmp_process *process, const char *path, uint64_t device,
		     uint64_t inode)
{
	return is_file(open_in_root(process, path), device, inode) ||
	       is_file(open_in_ours(path), device, inode);
}

/*
 * Open a file in /tmp itself, not one mounted over it: any user may do that in a user
 * namespace, and so expose a file that the process may not read. O_PATH descriptor or a
 * negative errno.
 */
static int open_in_tmp(const struct pmp_process *process, const char *name)
{
	const struct open_how how = {
		.flags = O_PATH | O_NOFOLLOW | O_CLOEXEC,
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_XDEV | RESOLVE_NO_SYMLINKS,
	};
	int tmp = open_in_root(process, "/tmp/."); /* /tmp may be a symbolic link */
	struct stat folder, file;
	int fd;

	if (tmp < 0)
		return tmp;
	fd = pmp_mounts_check(process, tmp, &folder);
	if (fd < 0) {
		close(tmp);
		return fd;
	}
	fd = (int)syscall(SYS_openat2, tmp, name, &how, sizeof(how));
	if (fd < 0 && (errno == ENOSYS || errno == EPERM)) {
		fd = openat(tmp, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
		if (fd >= 0 &&
		    (pmp_mounts_look(fd, &file) || folder.st_dev != file.st_dev)) {
			close(fd);
			fd = -1;
			errno = EXDEV;
		}
	}
	if (fd < 0)
		fd = -errno;
	close(tmp);
	return fd;
}

/* Is it the user of the process, now or when it was opened or last called exec? Daemons
 * write maps before and after they drop root privileges. */
static bool is_of_process(const struct pmp_process *process, uid_t user)
{
	struct pmp_status_file status;

	return user == process->uid ||
	       (pmp_status_read(process->proc, "status", &status) == 0 &&
		user == status.euid);
}

/* Why this file is rejected as a perf map, or NULL. */
static const char *perf_map_problem(const struct pmp_process *process,
				    const struct stat *file)
{
	if (!S_ISREG(file->st_mode))
		return "not a regular file";
	if (!is_of_process(process, file->st_uid))
		return "it belongs to another user";
	/* /tmp is open to all users: it may be a hard link to another user's file. */
	if (file->st_nlink > 1)
		return "it has several names";
	return NULL;
}

/* Why a file in /tmp was not opened, or NULL if there is none. */
static const char *open_problem(int code)
{
	switch (-code) {
	case ENOENT: return NULL;
	case EXDEV: return "it is on another file system";
	case PMP_EFOREIGN: return "it is on another user's file system";
	default: return strerror(-code);
	}
}

int pmp_files_open_perf_map(const struct pmp_process *process, const struct pmp_log *log)
{
	const char *problem;
	char name[LINK_SIZE];
	struct stat file;
	int fd, number;

	snprintf(name, sizeof(name), "perf-%d.map", (int)process->ns_pid);
	fd = open_in_tmp(process, name);
	number = fd < 0 ? fd : pmp_mounts_check(process, fd, &file);
	problem = number < 0 ? open_problem(number) : perf_map_problem(process, &file);
	if (problem && log)
		PMP_LOG(log, "files", "/tmp/%s ignored: %s", name, problem);
	if (number < 0 || problem) {
		if (fd >= 0)
			close(fd);
		return -1;
	}
	fd = pmp_file_reopen(fd, O_RDONLY);
	return fd < 0 ? -1 : fd;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "proc/descriptors.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/file.h"
#include "base/scan.h"

#define BEAT 64		 /* descriptors between two signs of life */
#define PATH_SIZE 64	 /* "/proc/PID/fdinfo/FD" */
#define FDINFO_SIZE 4096 /* only the first locks of a file with many */

/* ---- one --------------------------------------------------------------------------- */

bool pmp_descriptor_parse(const char *link, enum pmp_descriptor_type *type,
			  uint64_t *inode)
{
	struct pmp_scan scan = pmp_scan_text(link, strlen(link));
	const char *name;

	if (strncmp(link, "pipe:[", 6) == 0) {
		*type = PMP_DESCRIPTOR_PIPE;
		name = "pipe:[";
	} else if (strncmp(link, "socket:[", 8) == 0) {
		*type = PMP_DESCRIPTOR_SOCKET;
		name = "socket:[";
	} else {
		return false;
	}
	scan.at += strlen(name);
	return pmp_scan_u64(&scan, inode) && pmp_scan_char(&scan, ']') &&
	       pmp_scan_done(&scan);
}

bool pmp_descriptor_parse_name(const char *link, char *name)
{
	static const char prefix[] = "anon_inode:";
	size_t length;

	if (strncmp(link, prefix, sizeof(prefix) - 1) != 0)
		return false;
	link += sizeof(prefix) - 1;
	link += *link == '[';
	length = strcspn(link, "]");
	if (!length || length >= PMP_OUTSIDE_TEXT)
		return false;
	memcpy(name, link, length);
	name[length] = '\0';
	return true;
}

/* Stat the file behind a link, without asking its server. */
static bool ask_file(int dir, const char *name, struct statx *file)
{
	const int flags = AT_STATX_DONT_SYNC | AT_NO_AUTOMOUNT;

	return statx(dir, name, flags, STATX_TYPE | STATX_INO, file) == 0;
}

static enum pmp_descriptor_type type_of(const struct statx *file)
{
	switch (file->stx_mode & S_IFMT) {
	case S_IFREG:
	case S_IFDIR: return PMP_DESCRIPTOR_FILE;
	case S_IFIFO: return PMP_DESCRIPTOR_FIFO;
	case S_IFSOCK: return PMP_DESCRIPTOR_SOCKET;
	case S_IFCHR:
	case S_IFBLK: return PMP_DESCRIPTOR_DEVICE;
	/* Only anonymous inodes have no type. */
	case 0: return PMP_DESCRIPTOR_ANONYMOUS;
	default: return PMP_DESCRIPTOR_OTHER;
	}
}

static uint64_t device_of(const struct statx *file)
{
	return makedev(file->stx_dev_major, file->stx_dev_minor);
}

/* Is it what its link claims? A file may be named like a pipe. */
static bool is_really(int dir, const char *name, enum pmp_descriptor_type type,
		      uint64_t inode)
{
	struct statx file;

	return ask_file(dir, name, &file) && file.stx_ino == inode &&
	       (file.stx_mode & S_IFMT) ==
		       (type == PMP_DESCRIPTOR_PIPE ? S_IFIFO : S_IFSOCK);
}

static void keep_end(char *path, const char *text)
{
	size_t length = strlen(text);

	if (length >= PMP_OUTSIDE_TEXT) {
		text += length - (PMP_OUTSIDE_TEXT - 1);
		length = PMP_OUTSIDE_TEXT - 1;
	}
	memcpy(path, text, length + 1);
}

static void read_file(int dir, const char *name, const char *link,
		      struct pmp_descriptor *descriptor)
{
	struct statx file;

	if (!ask_file(dir, name, &file))
		return;
	descriptor->type = type_of(&file);
	descriptor->device = device_of(&file);
	descriptor->inode = file.stx_ino;
	/* fdinfo has it since Linux 5.14. */
	descriptor->lock_inode =
		descriptor->info.inode ? descriptor->info.inode : file.stx_ino;
	if (descriptor->type != PMP_DESCRIPTOR_ANONYMOUS)
		keep_end(descriptor->path, link);
	else if (!pmp_descriptor_parse_name(link, descriptor->path))
		descriptor->type = PMP_DESCRIPTOR_OTHER;
}

int pmp_descriptor_read(const struct pmp_process *process, pid_t tid, int fd,
			struct pmp_descriptor *descriptor)
{
	char path[PATH_SIZE], link[PATH_MAX + 1], text[FDINFO_SIZE];
	ssize_t length;

	*descriptor = (struct pmp_descriptor){ 0 };
	snprintf(path, sizeof(path), "task/%d/fdinfo/%d", (int)tid, fd);
	length = pmp_file_read(process->proc, path, text, sizeof(text));
	if (length < 0)
		return (int)length;
	pmp_fdinfo_parse(text, (size_t)length, &descriptor->info);
	if ((size_t)length < sizeof(text) - 1)
		descriptor->watched = descriptor->info.watched;
	snprintf(path, sizeof(path), "task/%d/fd/%d", (int)tid, fd);
	length = readlinkat(process->proc, path, link, sizeof(link) - 1);
	if (length < 0)
		return -errno;
	link[length] = '\0';
	if (!pmp_descriptor_parse(link, &descriptor->type, &descriptor->inode))
		read_file(process->proc, path, link, descriptor);
	else if (!is_really(process->proc, path, descriptor->type, descriptor->inode))
		descriptor->type = PMP_DESCRIPTOR_OTHER;
	return 0;
}

/* ---- all of them -------------------------------------------------------------------- */

/* A process whose descriptors are being read. */
struct visit {
	struct pmp_seeker *seeker;
	pid_t pid;
	uint64_t until;
	int dir, info; /* fd, fdinfo */
	bool files;    /* some seeks are for files */
};

static int compare_seeks(const void *a, const void *b)
{
	const struct pmp_seek *one = a, *other = b;

	if (one->type != other->type)
		return one->type < other->type ? -1 : 1;
	return (one->inode > other->inode) - (one->inode < other->inode);
}

/* The index of the first seek of this type and inode; others follow it. */
static size_t first_seek(const struct pmp_seeker *seeker, enum pmp_descriptor_type type,
			 uint64_t inode)
{
	const struct pmp_seek key = { .type = type, .inode = inode };
	size_t low = 0, high = seeker->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (compare_seeks(&seeker->seeks[middle], &key) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static bool is_seek(const struct pmp_seeker *seeker, size_t i,
		    enum pmp_descriptor_type type, uint64_t inode)
{
	return i < seeker->count && seeker->seeks[i].type == type &&
	       seeker->seeks[i].inode == inode;
}

static ssize_t read_info(const struct visit *visit, const char *name,
			 char text[FDINFO_SIZE], struct pmp_fdinfo *info)
{
	ssize_t length = pmp_file_read(visit->info, name, text, FDINFO_SIZE);

	if (length > 0)
		pmp_fdinfo_parse(text, (size_t)length, info);
	return length;
}

static int look_at_link(const struct visit *visit, const char *name, int fd,
			enum pmp_descriptor_type type, uint64_t inode)
{
	const struct pmp_seeker *seeker = visit->seeker;
	size_t i = first_seek(seeker, type, inode);
	struct pmp_fdinfo info;
	char text[FDINFO_SIZE];
	int r = 0;

	if (!is_seek(seeker, i, type, inode) ||
	    !is_really(visit->dir, name, type, inode) ||
	    read_info(visit, name, text, &info) <= 0)
		return 0;
	for (; !r && is_seek(seeker, i, type, inode); i++)
		r = seeker->found(seeker->arg, &seeker->seeks[i], visit->pid, fd,
				  info.flags);
	return r;
}

/* What fdinfo tells about a file or FIFO: read once for all seeks. */
struct details {
	struct pmp_fdinfo info;
	struct pmp_file_lock locks[PMP_FDINFO_LOCKS];
	size_t lock_count;
};

static bool read_details(const struct visit *visit, const char *name,
			 struct details *details)
{
	char text[FDINFO_SIZE];
	ssize_t length = read_info(visit, name, text, &details->info);

	if (length <= 0)
		return false;
	details->lock_count =
		pmp_fdinfo_locks(text, (size_t)length, details->locks, PMP_FDINFO_LOCKS);
	return true;
}

static bool has_lock(const struct details *details, const struct pmp_file_lock *lock)
{
	for (size_t i = 0; i < details->lock_count; i++)
		if (pmp_file_lock_is_same(&details->locks[i], lock))
			return true;
	return false;
}

/* Check all seeks of this type for that file; for type FILE it must have the lock. */
static int look_for_type(const struct visit *visit, const char *name, int fd,
			 enum pmp_descriptor_type type, const struct statx *file)
{
	const struct pmp_seeker *seeker = visit->seeker;
	struct details details;
	bool looked = false;
	int r = 0;

	for (size_t i = first_seek(seeker, type, file->stx_ino);
	     !r && is_seek(seeker, i, type, file->stx_ino); i++) {
		const struct pmp_seek *seek = &seeker->seeks[i];

		if (seek->device != device_of(file))
			continue;
		if (!looked && !read_details(visit, name, &details))
			return 0;
		looked = true;
		if (type == PMP_DESCRIPTOR_FIFO || has_lock(&details, &seek->lock))
			r = seeker->found(seeker->arg, seek, visit->pid, fd,
					  details.info.flags);
	}
	return r;
}

static int look_at_file(const struct visit *visit, const char *name, int fd)
{
	struct statx file;
	int r;

	if (!ask_file(visit->dir, name, &file))
		return 0;
	r = look_for_type(visit, name, fd, PMP_DESCRIPTOR_FILE, &file);
	if (r || type_of(&file) != PMP_DESCRIPTOR_FIFO)
		return r;
	return look_for_type(visit, name, fd, PMP_DESCRIPTOR_FIFO, &file);
}

static int look_at(const struct visit *visit, const char *name)
{
	enum pmp_descriptor_type type;
	char link[PATH_SIZE];
	uint64_t fd, inode;
	ssize_t length;

	if (!pmp_scan_whole(name, 0, INT_MAX, &fd))
		return 0;
	visit->seeker->descriptors++;
	length = readlinkat(visit->dir, name, link, sizeof(link) - 1);
	if (length < 0)
		return 0;
	link[length] = '\0';
	if (pmp_descriptor_parse(link, &type, &inode))
		return look_at_link(visit, name, (int)fd, type, inode);
	return visit->files && link[0] == '/' ? look_at_file(visit, name, (int)fd) : 0;
}

/* Kernel threads do not count: they have no descriptors. */
static bool is_hidden(pid_t pid, int sys_errno)
{
	struct pmp_stat stat;
	char path[PATH_SIZE];

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	return (sys_errno == EACCES || sys_errno == EPERM) &&
	       pmp_stat_read(AT_FDCWD, path, &stat) == 0 &&
	       !(stat.flags & PMP_KERNEL_THREAD) && !pmp_state_ended(stat.state);
}

/* Open both directories of the same process, even if its pid is reused meanwhile. */
static DIR *open_folders(struct visit *visit)
{
	const int flags = O_DIRECTORY | O_CLOEXEC;
	char path[PATH_SIZE];
	DIR *list;
	int proc;

	snprintf(path, sizeof(path), "/proc/%d", (int)visit->pid);
	proc = open(path, O_PATH | flags);
	if (proc < 0)
		return NULL;
	visit->dir = openat(proc, "fd", O_RDONLY | flags);
	if (visit->dir < 0)
		visit->seeker->hidden += is_hidden(visit->pid, errno);
	visit->info = visit->dir < 0 ? -1 : openat(proc, "fdinfo", O_RDONLY | flags);
	close(proc);
	list = visit->info < 0 ? NULL : fdopendir(visit->dir);
	if (list)
		return list;
	if (visit->dir >= 0)
		close(visit->dir);
	if (visit->info >= 0)
		close(visit->info);
	return NULL;
}

static bool goes_on(struct pmp_seeker *seeker, uint64_t until)
{
	seeker->cut = seeker->descriptors >= PMP_DESCRIPTORS_MAX || pmp_clock() >= until;
	if (seeker->alive && seeker->descriptors % BEAT == 0)
		seeker->alive(seeker->alive_arg);
	return !seeker->cut;
}

static int visit_process(struct visit *visit)
{
	struct pmp_seeker *seeker = visit->seeker;
	DIR *list = open_folders(visit);
	struct dirent *entry;
	int r = 0;

	if (seeker->alive)
		seeker->alive(seeker->alive_arg);
	if (!list)
		return 0;
	while (!r && goes_on(seeker, visit->until) && (entry = readdir(list)))
		r = look_at(visit, entry->d_name);
	close(visit->info);
	closedir(list);
	return r;
}

static bool seeks_files(const struct pmp_seeker *seeker)
{
	for (size_t i = 0; i < seeker->count; i++)
		if (seeker->seeks[i].type == PMP_DESCRIPTOR_FILE ||
		    seeker->seeks[i].type == PMP_DESCRIPTOR_FIFO)
			return true;
	return false;
}

int pmp_descriptors_walk(struct pmp_seeker *seeker)
{
	struct visit visit = { .seeker = seeker,
			       .files = seeks_files(seeker),
			       .until = pmp_clock() + seeker->time };
	struct dirent *entry;
	uint64_t pid;
	DIR *proc;
	int r = 0;

	seeker->descriptors = 0;
	seeker->hidden = 0;
	seeker->cut = false;
	if (!seeker->count)
		return 0;
	qsort(seeker->seeks, seeker->count, sizeof(*seeker->seeks), compare_seeks);
	proc = opendir("/proc");
	if (!proc)
		return PMP_EIO;
	while (!r && !seeker->cut && (entry = readdir(proc))) {
		if (!pmp_scan_whole(entry->d_name, 1, INT_MAX, &pid))
			continue;
		visit.pid = (pid_t)pid;
		r = visit_process(&visit);
	}
	closedir(proc);
	return r;
}

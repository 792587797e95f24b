/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * statx() with AT_STATX_DONT_SYNC asks no file server, nor does an overlay with it. Device
 * numbers with a major number are of disks, whose file systems only root mounts.
 * The ids of mounts and numbers of devices are reused: so mountinfo is read while
 * the descriptor is open, which keeps both.
 */
#include "proc/mounts.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/nsfs.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/scan.h"

#define OURS_LIMIT (64u << 20)
#define THEIRS_LIMIT (8u << 20)
#define SELF_LIMIT (16u << 20) /* our own maps */
#define FDINFO_SIZE 1024

/* Since Linux 5.8. */
#ifndef STATX_MNT_ID
#define STATX_MNT_ID 0x1000U
#endif
#define HUGE_SHIFT 26 /* MAP_HUGE_SHIFT */

/* ---- one line of mountinfo ------------------------------------------------------------------ */

struct mount {
	uint64_t id, device;
	const char *type, *options;
	size_t type_length, options_length;
};

static bool skip_word(struct pmp_scan *scan)
{
	const char *word;
	size_t length;

	pmp_scan_blanks(scan);
	return pmp_scan_word(scan, &word, &length);
}

/*
 * "36 35 98:0 /root /point options field... - type source options": blanks and newlines
 * within words are escaped.
 */
static bool parse(const char *line, size_t length, struct mount *mount)
{
	struct pmp_scan scan = pmp_scan_text(line, length);
	uint64_t parent, major, minor;
	const char *word;

	if (!pmp_scan_u64(&scan, &mount->id) || !pmp_scan_char(&scan, ' ') ||
	    !pmp_scan_u64(&scan, &parent) || !pmp_scan_char(&scan, ' ') ||
	    !pmp_scan_u64(&scan, &major) || !pmp_scan_char(&scan, ':') ||
	    !pmp_scan_u64(&scan, &minor) || major > UINT32_MAX || minor > UINT32_MAX)
		return false;
	mount->device = makedev((unsigned)major, (unsigned)minor);
	for (int i = 0; i < 3; i++)
		if (!skip_word(&scan))
			return false;
	do {
		pmp_scan_blanks(&scan);
		if (!pmp_scan_word(&scan, &word, &length))
			return false;
	} while (length != 1 || *word != '-');
	pmp_scan_blanks(&scan);
	if (!pmp_scan_word(&scan, &mount->type, &mount->type_length))
		return false;
	/* The source may be empty. */
	if (!pmp_scan_char(&scan, ' '))
		return false;
	if (pmp_scan_word(&scan, &word, &length) && !pmp_scan_char(&scan, ' '))
		return false;
	pmp_scan_blanks(&scan);
	if (!pmp_scan_word(&scan, &mount->options, &mount->options_length))
		mount->options_length = 0;
	return true;
}

static bool next_mount(struct pmp_scan *text, struct mount *mount)
{
	const char *line;
	size_t length;

	while (pmp_scan_line(text, &line, &length))
		if (parse(line, length, mount))
			return true;
	return false;
}

static bool is_fuse(const struct mount *mount)
{
	return mount->type_length >= 4 && memcmp(mount->type, "fuse", 4) == 0;
}

static bool is_overlay(const struct mount *mount)
{
	return mount->type_length == 7 && memcmp(mount->type, "overlay", 7) == 0;
}

/* Has root or this user mounted it, as its user_id= says? */
static bool is_mounted_by(const struct mount *mount, uid_t user)
{
	struct pmp_scan scan = pmp_scan_text(mount->options, mount->options_length);
	static const char option[] = "user_id=";
	const size_t length = sizeof(option) - 1;
	uint64_t found;

	while ((size_t)(scan.end - scan.at) > length) {
		if (memcmp(scan.at, option, length) == 0) {
			scan.at += length;
			return pmp_scan_u64(&scan, &found) &&
			       (pmp_scan_done(&scan) || *scan.at == ',') &&
			       (found == 0 || found == user);
		}
		scan.at = memchr(scan.at, ',', (size_t)(scan.end - scan.at));
		if (!scan.at)
			return false;
		scan.at++;
	}
	return false;
}

/* ---- the verdict ------------------------------------------------------------------------------ */

/* One that we see, by its id or its device. */
static enum pmp_mount_verdict judge_ours(struct pmp_scan text,
					 const struct pmp_mount_question *question)
{
	struct mount mount;

	while (next_mount(&text, &mount)) {
		if ((!question->mount || mount.id != question->mount) &&
		    (!question->device || mount.device != question->device))
			continue;
		return is_fuse(&mount) && !is_mounted_by(&mount, question->user)
			       ? PMP_MOUNT_REFUSED
			       : PMP_MOUNT_READ;
	}
	return PMP_MOUNT_UNKNOWN;
}

static bool has_overlay(struct pmp_scan text, uint64_t device)
{
	struct mount mount;

	while (next_mount(&text, &mount))
		if (mount.device == device && is_overlay(&mount))
			return true;
	return false;
}

enum pmp_mount_verdict pmp_mounts_judge(const char *ours, size_t ours_length,
					const char *theirs, size_t theirs_length,
					const struct pmp_mount_question *question)
{
	const struct pmp_scan our_text = pmp_scan_text(ours, ours_length);
	struct pmp_scan text = pmp_scan_text(theirs, theirs_length);
	enum pmp_mount_verdict verdict = judge_ours(our_text, question);
	struct mount mount;

	if (verdict != PMP_MOUNT_UNKNOWN || !question->mount)
		return verdict;
	while (next_mount(&text, &mount)) {
		if (mount.id != question->mount)
			continue;
		if (is_overlay(&mount))
			return has_overlay(our_text, mount.device) ? PMP_MOUNT_READ
								   : PMP_MOUNT_IF_OURS;
		if (!is_fuse(&mount))
			return PMP_MOUNT_READ;
		return is_mounted_by(&mount, question->user) ? PMP_MOUNT_IF_OURS
							     : PMP_MOUNT_REFUSED;
	}
	return PMP_MOUNT_UNKNOWN;
}

/* ---- what the kernel says --------------------------------------------------------------------- */

static bool is_powerless(void)
{
	struct pmp_status_file status;

	return geteuid() != 0 &&
	       pmp_status_read(AT_FDCWD, "/proc/self/status", &status) == 0 &&
	       status.cap_effective == 0;
}

/* Does its mount namespace belong to our own user namespace? To be asked after mountinfo was
 * read: a process that has left such a namespace cannot enter one again. */
static bool is_ours(int proc)
{
	int space = openat(proc, "ns/mnt", O_RDONLY | O_CLOEXEC);
	int owner = space < 0 ? -1 : ioctl(space, NS_GET_USERNS);
	struct stat theirs, ours;
	const bool same = owner >= 0 && fstat(owner, &theirs) == 0 &&
			  stat("/proc/self/ns/user", &ours) == 0 &&
			  theirs.st_dev == ours.st_dev && theirs.st_ino == ours.st_ino;

	if (owner >= 0)
		close(owner);
	if (space >= 0)
		close(space);
	return same;
}

/* Of a line of our own maps: "START-END PROT OFFSET MAJOR:MINOR INODE PATH" */
static bool parse_mapping(const char *line, size_t length, uint64_t *start,
			  uint64_t *device)
{
	struct pmp_scan scan = pmp_scan_text(line, length);
	uint64_t major, minor;

	if (!pmp_scan_hex(&scan, start) || !skip_word(&scan) || !skip_word(&scan) ||
	    !skip_word(&scan))
		return false;
	pmp_scan_blanks(&scan);
	if (!pmp_scan_hex(&scan, &major) || !pmp_scan_char(&scan, ':') ||
	    !pmp_scan_hex(&scan, &minor))
		return false;
	*device = makedev((unsigned)major, (unsigned)minor);
	return true;
}

/* The device of memory of this kind that is mapped here, as our own maps show it; 0: none. */
static uint64_t memory_device(int flags, size_t size, struct pmp_buf *text)
{
	void *memory = mmap(NULL, size, PROT_NONE,
			    MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE | flags, -1, 0);
	uint64_t start, device = 0, found = 0;
	struct pmp_scan scan;
	const char *line;
	size_t length;

	if (memory == MAP_FAILED)
		return 0;
	if (pmp_file_slurp(AT_FDCWD, "/proc/self/maps", SELF_LIMIT, text) == 0) {
		scan = pmp_scan_text(text->data, text->length);
		while (!found && pmp_scan_line(&scan, &line, &length))
			if (parse_mapping(line, length, &start, &device) &&
			    start == (uintptr_t)memory)
				found = device;
	}
	munmap(memory, size);
	return found;
}

/* Is it memory of the kernel, as that of memfd_create() and shmget(), with pages of any size?
 * That is mounted nowhere. */
static bool is_memory(uint64_t device)
{
	static const unsigned char sizes[] = { 21, 30, 16,
					       25 }; /* of large pages, log2 */
	struct pmp_buf text = { 0 };
	bool found = memory_device(0, 4096, &text) == device;

	for (size_t i = 0; i < sizeof(sizes) && !found; i++)
		found = memory_device(MAP_HUGETLB | (int)sizes[i] << HUGE_SHIFT,
				      (size_t)1 << sizes[i], &text) == device;
	pmp_buf_free(&text);
	return found && device;
}

static bool judge(int proc, const struct pmp_mount_question *question)
{
	struct pmp_buf ours = { 0 }, theirs = { 0 };
	enum pmp_mount_verdict verdict;

	if (is_powerless())
		return true;
	if (pmp_file_slurp(AT_FDCWD, "/proc/self/mountinfo", OURS_LIMIT, &ours) < 0)
		pmp_buf_clear(&ours);
	verdict = pmp_mounts_judge(ours.data, ours.length, NULL, 0, question);
	if (verdict == PMP_MOUNT_UNKNOWN && question->mount &&
	    pmp_file_slurp(proc, "mountinfo", THEIRS_LIMIT, &theirs) == 0)
		verdict = pmp_mounts_judge(ours.data, ours.length, theirs.data,
					   theirs.length, question);
	pmp_buf_free(&ours);
	pmp_buf_free(&theirs);
	switch (verdict) {
	case PMP_MOUNT_READ: return true;
	case PMP_MOUNT_IF_OURS: return is_ours(proc);
	case PMP_MOUNT_UNKNOWN: return is_memory(question->device);
	default: return false;
	}
}

/* ---- asking ----------------------------------------------------------------------------------- */

/* Of kernels whose statx() does not tell it. */
static uint64_t mount_of(int fd)
{
	char path[64], text[FDINFO_SIZE];
	struct pmp_scan scan, line;
	uint64_t mount = 0;
	const char *at;
	size_t length;
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	n = pmp_file_read(AT_FDCWD, path, text, sizeof(text));
	scan = pmp_scan_text(text, n > 0 ? (size_t)n : 0);
	while (pmp_scan_line(&scan, &at, &length)) {
		if (length <= 7 || memcmp(at, "mnt_id:", 7) != 0)
			continue;
		line = pmp_scan_text(at + 7, length - 7);
		pmp_scan_blanks(&line);
		pmp_scan_u64(&line, &mount);
	}
	return mount;
}

/* 0 or a negative errno. *mount: 0 if unknown. */
static int look(int fd, struct stat *file, uint64_t *mount)
{
	const unsigned wanted = STATX_TYPE | STATX_INO | STATX_MNT_ID;
	struct statx found;

	*file = (struct stat){ 0 };
	*mount = 0;
	if (statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, wanted, &found) < 0)
		return -errno;
	file->st_dev = makedev(found.stx_dev_major, found.stx_dev_minor);
	file->st_ino = found.stx_ino;
	file->st_mode = found.stx_mode;
	if (found.stx_mask & STATX_MNT_ID)
		*mount = found.stx_mnt_id;
	return 0;
}

int pmp_mounts_look(int fd, struct stat *file)
{
	uint64_t mount;

	return look(fd, file, &mount);
}

static bool is_trusted(const struct pmp_process *process, int fd,
		       const struct pmp_mount_question *question)
{
	struct pmp_mounts *mounts = process->mounts;
	struct pmp_mount_kept *kept;

	if (major(question->device))
		return true;
	for (size_t i = 0; mounts && i < mounts->count; i++)
		if (mounts->kept[i].mount == question->mount &&
		    mounts->kept[i].device == question->device)
			return mounts->kept[i].trusted;
	/* Mountinfo is not read for ever more mounts of one process. */
	if (mounts && mounts->count == PMP_MOUNTS_KEPT)
		return false;
	if (!mounts || !question->mount)
		return judge(process->proc, question);
	kept = &mounts->kept[mounts->count];
	*kept = (struct pmp_mount_kept){ question->device, question->mount,
					 fcntl(fd, F_DUPFD_CLOEXEC, 0),
					 judge(process->proc, question) };
	if (kept->fd < 0)
		return kept->trusted;
	mounts->count++;
	return kept->trusted;
}

int pmp_mounts_check(const struct pmp_process *process, int fd, struct stat *file)
{
	struct pmp_mount_question question = { .user = geteuid() };

	/* A sandbox may not know statx(): then the id of the mount has to do. */
	look(fd, file, &question.mount);
	question.device = file->st_dev;
	if (!question.mount && !major(question.device))
		question.mount = mount_of(fd);
	if (!is_trusted(process, fd, &question))
		return -PMP_EFOREIGN;
	return fstat(fd, file) < 0 ? -errno : 0;
}

void pmp_mounts_forget(struct pmp_mounts *mounts)
{
	while (mounts->count)
		close(mounts->kept[--mounts->count].fd);
}

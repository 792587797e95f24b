/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which file systems are read: by texts of mountinfo, then for files of this process. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "lib/tap.h"
#include "proc/mounts.h"

/* A host with containers, as pmp sees it. */
static const char host[] =
	"22 1 259:2 / / rw,relatime shared:1 - ext4 /dev/nvme0n1p2 rw,errors=remount-ro\n"
	"23 22 0:22 / /dev/shm rw,nosuid - tmpfs tmpfs rw\n"
	"24 22 0:31 /subvolume /data rw shared:9 master:3 propagate_from:2 unbindable - "
	"btrfs /dev/sdb rw,subvol=/subvolume\n"
	"30 22 0:50 / /var/lib/docker/overlay2/a/merged rw - overlay overlay "
	"rw,lowerdir=/l/A:/l/B,upperdir=/u,workdir=/w\n"
	"31 22 0:60 / /net/sshfs rw,nosuid - fuse.sshfs u@h:/ "
	"rw,user_id=1000,group_id=1000\n"
	"32 22 0:61 / /net/ntfs rw - fuseblk /dev/sdc1 rw,user_id=0,group_id=0,allow_other\n"
	"33 22 0:62 / /net/rclone rw - fuse r: rw,user_id=0,group_id=0\n"
	"34 22 0:63 / /net/host rw - virtiofs host rw\n";

/* One of its targets: with names, types and options that somebody has chosen. */
static const char target[] =
	"500 499 0:50 / / rw - overlay overlay rw,lowerdir=/l/A:/l/B\n"
	"501 500 0:70 / /m rw,nosuid,nodev - fuse hangfs rw,user_id=0,group_id=0,allow_other\n"
	"502 500 0:71 / /m/o rw - overlay over rw,lowerdir=m:e,userxattr\n"
	"503 500 0:72 / /tmp rw - tmpfs none rw,size=1k,uid=1\n"
	"504 500 0:73 / /a\\040-\\040ext4\\012505\\0401\\0408:1 rw - overlay \\011 rw\n"
	"505 500 0:74 / /b\\012505\\0401\\0408:1\\040/\\040/\\040rw\\040-\\040ext4 rw - "
	"fuse.- user_id=7,ext4 rw,user_id=7,group_id=0\n"
	"506 500 0:75 / /c rw - - overlay overlay rw\n"
	"507 500 0:76 / /d rw shared:1 master:2 - overlay  rw,lowerdir=x\n"
	"508 500 0:77 / /e rw - fuse  rw,user_id=7\n"
	"509 500 0:78 / /f rw - fuse x rw,xuser_id=7\n"
	"510 500 0:79 / /g rw - fuse x rw,user_id=70\n"
	"511 500 0:80 / /h rw - fuse x rw,user_id=7x\n"
	"512 500 0:81 / /i rw - fuse x\n"
	"513 500 0:82 / /j rw - fusectl none rw\n"
	"514 500 8:1 / /k rw - fuseblk /dev/sda1 rw,user_id=8\n"
	"515 500 0:83 / /l rw - nfs4 server:/ rw\n"
	"x 500 0:84 / /l rw - ext4 server:/ rw\n"
	"516 500 0:85 / /l rw\n"
	"517 500 0:86 / /l rw - \n"
	"518 500 0:87\n"
	"519 500 0x57:1 / / rw - ext4 x rw\n"
	"520 500 0:88 / / rw - overlayfs overlay rw\n"
	"600 500 0:99 / /cut rw - ex";

static enum pmp_mount_verdict judge(uint64_t mount, unsigned minor, uid_t user)
{
	const struct pmp_mount_question question = {
		.mount = mount,
		.device = minor ? makedev(0, minor) : 0,
		.user = user,
	};

	return pmp_mounts_judge(host, strlen(host), target, strlen(target), &question);
}

static void test_ours(void)
{
	is_int(judge(22, 0, 0), PMP_MOUNT_READ, "a disk of ours, by its id");
	is_int(judge(24, 99, 0), PMP_MOUNT_READ, "btrfs, whose files have other devices");
	is_int(judge(900, 22, 0), PMP_MOUNT_READ, "our tmpfs, mounted elsewhere");
	is_int(judge(30, 50, 0), PMP_MOUNT_READ, "an overlay that we see");
	is_int(judge(900, 50, 0), PMP_MOUNT_READ, "by its device");
	is_int(judge(31, 60, 0), PMP_MOUNT_REFUSED, "a user's FUSE, read by root");
	is_int(judge(900, 60, 0), PMP_MOUNT_REFUSED, "by its device");
	is_int(judge(31, 60, 1001), PMP_MOUNT_REFUSED, "by another user");
	is_int(judge(31, 60, 1000), PMP_MOUNT_READ, "by that user");
	is_int(judge(32, 61, 0), PMP_MOUNT_READ, "FUSE of root on a disk");
	is_int(judge(33, 62, 1000), PMP_MOUNT_READ, "FUSE of root, read by a user");
	is_int(judge(34, 63, 1000), PMP_MOUNT_READ, "virtiofs");
	is_int(judge(900, 5, 0), PMP_MOUNT_UNKNOWN, "what is mounted nowhere");
	is_int(judge(0, 22, 0), PMP_MOUNT_READ, "an unknown id, a known device");
	is_int(judge(0, 71, 0), PMP_MOUNT_UNKNOWN, "only theirs is not known by device");
	is_int(judge(0, 0, 0), PMP_MOUNT_UNKNOWN, "nothing is known");
}

static void test_theirs(void)
{
	is_int(judge(500, 4, 0), PMP_MOUNT_READ, "a container's overlay, which we see");
	is_int(judge(502, 71, 0), PMP_MOUNT_IF_OURS, "an overlay that only it sees");
	is_int(judge(502, 0, 0), PMP_MOUNT_IF_OURS, "whose device is unknown");
	is_int(judge(501, 70, 0), PMP_MOUNT_IF_OURS,
	       "FUSE of a user who calls himself root");
	is_int(judge(503, 72, 0), PMP_MOUNT_READ, "a tmpfs of its own");
	is_int(judge(504, 73, 0), PMP_MOUNT_IF_OURS,
	       "a name that looks like the end of a line");
	is_int(judge(505, 74, 0), PMP_MOUNT_REFUSED, "one that looks like another line");
	is_int(judge(505, 74, 7), PMP_MOUNT_IF_OURS, "read by its user");
	is_int(judge(506, 75, 0), PMP_MOUNT_READ, "a type called -");
	is_int(judge(507, 76, 0), PMP_MOUNT_IF_OURS, "optional fields, no source");
	is_int(judge(508, 77, 7), PMP_MOUNT_IF_OURS, "the user's FUSE, no source");
	is_int(judge(508, 77, 0), PMP_MOUNT_REFUSED, "by root");
	is_int(judge(509, 78, 7), PMP_MOUNT_REFUSED, "another option of a similar name");
	is_int(judge(510, 79, 7), PMP_MOUNT_REFUSED, "a longer number");
	is_int(judge(511, 80, 7), PMP_MOUNT_REFUSED, "no number");
	is_int(judge(512, 81, 0), PMP_MOUNT_UNKNOWN, "no options");
	is_int(judge(514, 0, 0), PMP_MOUNT_REFUSED, "a user's FUSE on a disk");
	is_int(judge(515, 83, 0), PMP_MOUNT_READ, "NFS");
	is_int(judge(516, 85, 0), PMP_MOUNT_UNKNOWN, "a line without a type");
	is_int(judge(517, 86, 0), PMP_MOUNT_UNKNOWN, "with an empty one");
	is_int(judge(518, 87, 0), PMP_MOUNT_UNKNOWN, "half a line");
	is_int(judge(519, 1, 0), PMP_MOUNT_UNKNOWN, "a strange device");
	is_int(judge(520, 88, 0), PMP_MOUNT_READ, "a longer type");
	is_int(judge(600, 99, 0), PMP_MOUNT_UNKNOWN, "a text that is cut off");
	is_int(judge(50, 0, 0), PMP_MOUNT_UNKNOWN, "a shorter id");
}

static void test_empty(void)
{
	const struct pmp_mount_question question = { .mount = 500,
						     .device = makedev(0, 50) };

	is_int(pmp_mounts_judge(NULL, 0, NULL, 0, &question), PMP_MOUNT_UNKNOWN,
	       "no texts");
	is_int(pmp_mounts_judge(NULL, 0, target, strlen(target), &question),
	       PMP_MOUNT_IF_OURS, "none of ours");
	is_int(pmp_mounts_judge("\n\n", 2, "\n", 1, &question), PMP_MOUNT_UNKNOWN,
	       "empty lines");
}

/* ---- files of this process ---------------------------------------------------------------- */

static int checked(const struct pmp_process *process, int fd)
{
	char path[64];
	struct stat file, same;
	int found, result;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	found = open(path, O_PATH | O_CLOEXEC);
	result = pmp_mounts_check(process, found, &file);
	if (result == 0 && (fstat(fd, &same) || same.st_dev != file.st_dev ||
			    same.st_ino != file.st_ino || same.st_mode != file.st_mode))
		result = 1;
	if (result == 0 && (pmp_mounts_look(found, &file) || same.st_dev != file.st_dev ||
			    same.st_ino != file.st_ino))
		result = 2;
	close(found);
	return result;
}

static void test_own(struct pmp_process *process, const char *what)
{
	static const char *const paths[] = { "/proc/self/exe", "/tmp", "/dev/shm",
					     "/proc/self/status" };
	int fd = memfd_create("memory", MFD_CLOEXEC);

	is_int(checked(process, fd), 0, "memory%s", what);
	is_int(checked(process, fd), 0, "and again");
	close(fd);
	fd = memfd_create("large", MFD_CLOEXEC | MFD_HUGETLB);
	if (fd < 0)
		skip("no large pages");
	else
		is_int(checked(process, fd), 0, "memory of large pages%s", what);
	close(fd);
	for (size_t i = 0; i < sizeof(paths) / sizeof(*paths); i++) {
		fd = open(paths[i], O_RDONLY | O_CLOEXEC);
		if (fd < 0)
			skip("no such file");
		else
			is_int(checked(process, fd), 0, "%s%s", paths[i], what);
		close(fd);
	}
	fd = open("/proc/self/ns/mnt", O_RDONLY | O_CLOEXEC);
	is_int(checked(process, fd), geteuid() ? 0 : -PMP_EFOREIGN,
	       "a file on what is mounted nowhere%s", what);
	close(fd);
}

int main(void)
{
	struct pmp_mounts mounts = { 0 };
	struct pmp_process process = {
		.pid = getpid(),
		.pidfd = -1,
		.mem = -1,
		.proc = open("/proc/self", O_PATH | O_DIRECTORY | O_CLOEXEC),
	};

	test_ours();
	test_theirs();
	test_empty();
	test_own(&process, "");
	process.mounts = &mounts;
	test_own(&process, ", several files");
	ok(mounts.count > 0 && mounts.count <= PMP_MOUNTS_KEPT, "some are kept");
	pmp_mounts_forget(&mounts);
	ok(!mounts.count, "and forgotten");
	close(process.proc);
	return done_testing();
}

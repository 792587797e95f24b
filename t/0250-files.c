/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Opening what a process has mapped: the very file or none, whatever lies at its
 * path meanwhile. Each case twice, through map_files and, without the
 * capability for that, through exe and path.
 */
#include "lib/tap.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/capability.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "proc/files.h"
#include "proc/maps.h"
#include "lib/child.h"
#include "lib/folder.h"
#include "proc/open.h"

#define NOBODY 65534
#define RESTORE_BIT (1u << (CAP_CHECKPOINT_RESTORE & 31))

static struct folder folder;

/* map_files wants CAP_SYS_ADMIN or CAP_CHECKPOINT_RESTORE. */
static bool allow_map_files(bool allow)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2];

	if (syscall(SYS_capget, &head, data))
		return false;
	if (allow) {
		data[0].effective = data[0].permitted;
		data[1].effective = data[1].permitted;
	} else {
		data[0].effective &= ~(1u << CAP_SYS_ADMIN);
		data[1].effective &= ~RESTORE_BIT;
	}
	return syscall(SYS_capset, &head, data) == 0;
}

/* ---- a process that has mapped a file ----------------------------------- */

struct subject {
	struct child child;
	struct pmp_process process;
};

static bool begin(struct subject *subject, bool (*prepare)(const struct child *, void *),
		  void *arg)
{
	*subject = (struct subject){ 0 };
	return ok(child_start(&subject->child, prepare, arg) &&
			  pmp_process_open(subject->child.pid, &subject->process, NULL) ==
				  0,
		  "a process");
}

static void end(struct subject *subject)
{
	pmp_process_close(&subject->process);
	child_end(&subject->child);
}

/* Its maps, read again; *module is the one whose path ends like this. */
static struct pmp_maps *read_maps(struct subject *subject, const char *tail,
				  struct pmp_module **module)
{
	struct pmp_maps *maps = NULL;
	uint32_t next_id = 0;

	*module = NULL;
	if (pmp_maps_read(&subject->process, NULL, &next_id, NULL, &maps, NULL))
		return NULL;
	for (size_t i = 0; i < maps->module_count; i++) {
		const char *path = maps->modules[i]->path;

		if (strlen(path) >= strlen(tail) &&
		    strcmp(path + strlen(path) - strlen(tail), tail) == 0)
			*module = maps->modules[i];
	}
	return maps;
}

/* Does the descriptor give the bytes of the file made with this seed? */
static bool has_bytes(int fd, unsigned seed)
{
	unsigned char data[4];

	if (fd < 0 || pread(fd, data, sizeof(data), 256) != sizeof(data))
		return false;
	return data[0] == (unsigned char)(seed + 256 * 31 + 1) &&
	       data[1] == (unsigned char)(seed + 257 * 31 + 1);
}

/* The module must be open with these bytes, or be refused with this errno. */
static void expect(struct subject *subject, const char *tail, unsigned seed,
		   int want_errno, const char *what)
{
	struct pmp_module *module;
	struct pmp_maps *maps = read_maps(subject, tail, &module);

	if (!ok(module != NULL, "%s: is among the modules", what)) {
		pmp_maps_unref(maps);
		return;
	}
	is_int(module->open_errno, want_errno, "%s: errno", what);
	if (want_errno)
		is_int(module->fd, -1, "%s: refused", what);
	else
		ok(has_bytes(module->fd, seed), "%s: the very file", what);
	pmp_maps_unref(maps);
}

/* The same in both ways: map_files gives the file always. */
static void expect_both(struct subject *subject, const char *tail, unsigned seed,
			int want_errno, const char *what)
{
	char text[128];

	if (geteuid() == 0)
		expect(subject, tail, seed, 0, what);
	if (allow_map_files(false)) {
		snprintf(text, sizeof(text), "%s, without map_files", what);
		expect(subject, tail, seed, want_errno, text);
		allow_map_files(true);
	}
}

static bool map_code(int fd)
{
	void *at = mmap(NULL, 8192, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);

	close(fd);
	return at != MAP_FAILED;
}

static bool map_path(const struct child *self, void *path)
{
	(void)self;
	return map_code(open(path, O_RDONLY | O_CLOEXEC));
}

/* ---- files at paths ----------------------------------------------------- */

static void test_paths(void)
{
	char path[PATH_MAX], other[PATH_MAX];
	struct subject subject;
	struct pmp_module *module;
	struct pmp_maps *maps;

	folder_path(&folder, "lib.so", path);
	folder_path(&folder, "other.so", other);
	ok(file_write(path, 1) && file_write(other, 2), "two libraries");
	if (!begin(&subject, map_path, path))
		return;
	expect_both(&subject, "/lib.so", 1, 0, "a library in place");
	unlink(path);
	expect_both(&subject, "/lib.so", 1, ENOENT, "deleted");
	maps = read_maps(&subject, "/lib.so", &module);
	ok(module && module->deleted, "known to be deleted");
	pmp_maps_unref(maps);
	rename(other, path);
	expect_both(&subject, "/lib.so", 1, ESTALE, "replaced");
	unlink(path);
	ok(mkfifo(path, 0666) == 0, "a FIFO in its place");
	expect_both(&subject, "/lib.so", 1, ESTALE, "a FIFO, never waited for");
	unlink(path);
	ok(symlink("/etc/passwd", path) == 0, "a link in its place");
	expect_both(&subject, "/lib.so", 1, ESTALE, "a link to another directory");
	unlink(path);
	end(&subject);
}

static bool map_memory(const struct child *self, void *arg)
{
	int fd = memfd_create("co de", MFD_CLOEXEC);
	char path[64];

	(void)self;
	(void)arg;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return file_write(path, 3) && map_code(fd);
}

static void test_memory(void)
{
	struct subject subject;

	if (!begin(&subject, map_memory, NULL))
		return;
	expect_both(&subject, "/memfd:co de", 3, ENOENT, "a file in memory only");
	end(&subject);
}

/* ---- other roots -------------------------------------------------------- */

static bool in_jail(const struct child *self, void *jail)
{
	(void)self;
	return chdir(jail) == 0 && chroot(".") == 0 &&
	       map_code(open("/lib.so", O_RDONLY | O_CLOEXEC));
}

static void test_chroot(void)
{
	char jail[PATH_MAX], path[PATH_MAX];
	struct subject subject;

	folder_path(&folder, "jail", jail);
	ok(mkdir(jail, 0755) == 0 &&
		   file_write(folder_path(&folder, "jail/lib.so", path), 4),
	   "another root");
	if (!begin(&subject, in_jail, jail))
		return;
	expect_both(&subject, "/lib.so", 4, 0, "a library there");
	unlink(path);
	expect_both(&subject, "/lib.so", 4, ENOENT, "deleted there");
	end(&subject);
}

static bool in_namespace(const struct child *self, void *path)
{
	(void)self;
	return unshare(CLONE_NEWNS) == 0 &&
	       mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
	       mount("none", folder.path, "tmpfs", 0, NULL) == 0 && file_write(path, 5) &&
	       map_code(open(path, O_RDONLY | O_CLOEXEC));
}

/* Its files are at the same paths as ours, and are others. */
static void test_namespace(void)
{
	char path[PATH_MAX];
	struct subject subject;

	folder_path(&folder, "inner.so", path);
	if (!ok(file_write(path, 6), "a library of ours") ||
	    !begin(&subject, in_namespace, path))
		return;
	expect_both(&subject, "/inner.so", 5, 0,
		    "another one at its path in another directory");
	end(&subject);
}

/* ---- maps of JIT code --------------------------------------------------- */

/* Anonymous code, in a root of its own with an own /tmp. */
static bool jitting(const struct child *self, void *jail)
{
	(void)self;
	return chdir(jail) == 0 && chroot(".") == 0 &&
	       mmap(NULL, 8192, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		    0) != MAP_FAILED;
}

static bool accepted(const struct subject *subject)
{
	int fd = pmp_files_open_perf_map(&subject->process, NULL);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

/* As `unshare -Urm` allows all users: another file is mounted on its own map. */
static bool jitting_mounted(const struct child *self, void *jail)
{
	char path[PATH_MAX + 64], secret[PATH_MAX];
	int fd;

	snprintf(path, sizeof(path), "%s/tmp/perf-%d.map", (char *)jail, (int)getpid());
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	close(fd);
	return fd >= 0 && unshare(CLONE_NEWNS) == 0 &&
	       mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
	       mount(folder_path(&folder, "secret", secret), path, NULL, MS_BIND, NULL) ==
		       0 &&
	       jitting(self, jail);
}

static void test_perf_map_mounted(void)
{
	char jail[PATH_MAX], tmp[PATH_MAX], secret[PATH_MAX];
	struct subject subject;

	folder_path(&folder, "mounted", jail);
	folder_path(&folder, "mounted/tmp", tmp);
	ok(mkdir(jail, 0755) == 0 && mkdir(tmp, 0777) == 0 &&
		   file_write(folder_path(&folder, "secret", secret), 0),
	   "another root, and a file outside of it");
	if (!begin(&subject, jitting_mounted, jail))
		return;
	ok(!accepted(&subject),
	   "a file that is mounted where the map should be is not accepted");
	end(&subject);
}

/* The module of the map in the maps, and that it stays. */
static void check_perf_map(struct subject *subject, const char *path)
{
	struct pmp_maps *maps, *again, *after, *remade;
	uint32_t next_id = 0;

	pmp_maps_read(&subject->process, NULL, &next_id, NULL, &maps, NULL);
	ok(maps->perf_map && maps->perf_map->kind == PMP_MODULE_PERF_MAP &&
		   maps->perf_map->fd >= 0 && maps->perf_map->inode,
	   "it is a module");
	pmp_maps_read(&subject->process, maps, &next_id, NULL, &again, NULL);
	ok(again == maps, "and stays");
	unlink(path);
	pmp_maps_read(&subject->process, maps, &next_id, NULL, &after, NULL);
	ok(after == maps, "also when it has been deleted");
	file_write(path, 0);
	pmp_maps_read(&subject->process, maps, &next_id, NULL, &remade, NULL);
	ok(remade->perf_map && remade->perf_map->fd >= 0 &&
		   remade->perf_map->id != maps->perf_map->id,
	   "a new one in its place is another module");
	pmp_maps_unref(remade);
	unlink(path);
	pmp_maps_unref(maps);
	pmp_maps_unref(again);
	pmp_maps_unref(after);
	pmp_maps_read(&subject->process, NULL, &next_id, NULL, &maps, NULL);
	ok(maps && !maps->perf_map, "unless it was deleted before");
	pmp_maps_unref(maps);
}

static void test_perf_map_owner(const struct subject *subject, const char *path,
				const char *link_path)
{
	ok(file_write(path, 0), "a regular file");
	ok(accepted(subject), "is accepted");
	ok(link(path, link_path) == 0 && !accepted(subject),
	   "with a second name it is not");
	unlink(link_path);
	ok(chown(path, NOBODY, NOBODY) == 0 && !accepted(subject),
	   "of another user it is not");
	ok(chown(path, 0, 0) == 0, "given back");
}

static bool jitting_nobody(const struct child *self, void *jail)
{
	return jitting(self, jail) && setgid(NOBODY) == 0 && setuid(NOBODY) == 0;
}

static void test_perf_map_user(void)
{
	char jail[PATH_MAX], tmp[PATH_MAX], path[PATH_MAX], name[64];
	struct subject subject;

	folder_path(&folder, "user", jail);
	folder_path(&folder, "user/tmp", tmp);
	ok(mkdir(jail, 0755) == 0 && mkdir(tmp, 0777) == 0, "one more root");
	if (!begin(&subject, jitting_nobody, jail))
		return;
	snprintf(name, sizeof(name), "user/tmp/perf-%d.map", (int)subject.process.ns_pid);
	folder_path(&folder, name, path);
	ok(file_write(path, 0) && !accepted(&subject),
	   "root's is not accepted, for a process of another user");
	ok(chown(path, NOBODY, NOBODY) == 0 && accepted(&subject), "that user's is");
	subject.process.uid = 0;
	ok(accepted(&subject), "and of a process that was root's when it was opened");
	ok(chown(path, 0, 0) == 0 && accepted(&subject), "as is root's then");
	end(&subject);
}

static void test_perf_map(void)
{
	char jail[PATH_MAX], tmp[PATH_MAX], path[PATH_MAX], other[PATH_MAX], name[64];
	struct subject subject;

	folder_path(&folder, "jit", jail);
	folder_path(&folder, "jit/tmp", tmp);
	ok(mkdir(jail, 0755) == 0 && mkdir(tmp, 0777) == 0, "another root");
	if (!begin(&subject, jitting, jail))
		return;
	snprintf(name, sizeof(name), "jit/tmp/perf-%d.map", (int)subject.process.ns_pid);
	folder_path(&folder, name, path);
	folder_path(&folder, "jit/tmp/other", other);
	ok(!accepted(&subject), "there is none");
	test_perf_map_owner(&subject, path, other);
	check_perf_map(&subject, path);
	ok(symlink("/etc/passwd", path) == 0 && !accepted(&subject),
	   "a link is not accepted");
	unlink(path);
	ok(mkfifo(path, 0666) == 0 && !accepted(&subject), "a FIFO is not");
	unlink(path);
	/* /tmp as a link that leads, seen from our root, to a good file. */
	snprintf(name, sizeof(name), "perf-%d.map", (int)subject.process.ns_pid);
	ok(rmdir(tmp) == 0 && symlink(folder.path, tmp) == 0 &&
		   file_write(folder_path(&folder, name, path), 0),
	   "a link out of its root");
	ok(!accepted(&subject), "is not followed");
	end(&subject);
}

/* ---- more files than descriptors ------------------------------------------ */

#define MANY 700
#define FEW 256 /* descriptors */

static bool map_many(const struct child *self, void *arg)
{
	char path[PATH_MAX], name[64];

	(void)self;
	(void)arg;
	for (int i = 0; i < MANY; i++) {
		snprintf(name, sizeof(name), "many/%d.so", i);
		if (!map_code(
			    open(folder_path(&folder, name, path), O_RDONLY | O_CLOEXEC)))
			return false;
	}
	return true;
}

static size_t count_open(const struct pmp_maps *maps)
{
	size_t count = 0;

	for (size_t i = 0; i < maps->module_count; i++)
		count += maps->modules[i]->fd >= 0;
	return count;
}

/* A region of one of these files that is not open, and of no error. */
static const struct pmp_region *unopened(const struct pmp_maps *maps)
{
	for (size_t i = 0; i < maps->region_count; i++) {
		const struct pmp_region *region = &maps->regions[i];

		if (region->module->kind == PMP_MODULE_FILE && region->module->fd < 0 &&
		    !region->module->open_errno && region->prot & PMP_PROT_EXEC)
			return region;
	}
	return NULL;
}

static void check_many(struct subject *subject)
{
	const struct pmp_region *region;
	struct pmp_maps *maps, *again;
	uint32_t next_id = 0;
	size_t before;
	int fd;

	if (!is_int(pmp_maps_read(&subject->process, NULL, &next_id, NULL, &maps, NULL),
		    0, "the maps are read"))
		return;
	before = count_open(maps);
	ok(before > FEW / 4 && before <= FEW / 2, "some of the files are open: %zu",
	   before);
	fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	ok(fd >= 0 && fd < FEW / 2 + 16, "descriptors are left");
	close(fd);
	region = unopened(maps);
	if (ok(maps->lazy && region, "others are not")) {
		pmp_maps_open(&subject->process, region, NULL);
		ok(has_bytes(region->module->fd, 9),
		   "what a stack lies in is opened then");
		is_int(count_open(maps), before + 1, "and nothing else");
	}
	is_int(pmp_maps_read(&subject->process, maps, &next_id, NULL, &again, NULL), 0,
	       "the maps are read again");
	ok(again == maps && count_open(again) == before + 1, "what is open stays");
	while ((region = unopened(maps)))
		pmp_maps_open(&subject->process, region, NULL);
	fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	ok(fd >= 0, "when stacks lie in all of them there are descriptors left");
	close(fd);
	pmp_maps_unref(again);
	pmp_maps_unref(maps);
}

static void test_many(void)
{
	const struct rlimit few = { FEW, FEW };
	char path[PATH_MAX], name[64];
	struct subject subject;
	struct rlimit limit;
	bool written = true;

	mkdir(folder_path(&folder, "many", path), 0755);
	for (int i = 0; i < MANY; i++) {
		snprintf(name, sizeof(name), "many/%d.so", i);
		written &= file_write(folder_path(&folder, name, path), 9);
	}
	if (!ok(written, "%d libraries", MANY) || !begin(&subject, map_many, NULL))
		return;
	getrlimit(RLIMIT_NOFILE, &limit);
	if (ok(setrlimit(RLIMIT_NOFILE,
			 &(struct rlimit){ few.rlim_cur, limit.rlim_max }) == 0,
	       "%d descriptors", FEW))
		check_many(&subject);
	setrlimit(RLIMIT_NOFILE, &limit);
	end(&subject);
}

/* ---- the executable ----------------------------------------------------- */

static void check_program(struct subject *subject, const char *what)
{
	struct pmp_module *module;
	struct pmp_maps *maps = read_maps(subject, "/program", &module);
	struct stat file = { 0 };

	ok(module && module->fd >= 0 && module->deleted &&
		   fstat(module->fd, &file) == 0 && file.st_ino == module->inode &&
		   file.st_nlink == 0,
	   "%s", what);
	pmp_maps_unref(maps);
}

static void test_executable(void)
{
	char path[PATH_MAX];
	struct subject subject;

	folder_path(&folder, "program", path);
	if (!ok(child_copy_self(path), "a program") ||
	    !begin(&subject, child_execute, path))
		return;
	ok(unlink(path) == 0 && file_write(path, 7), "that is replaced while it runs");
	check_program(&subject, "the one that runs is opened");
	if (allow_map_files(false)) {
		check_program(&subject, "also without map_files");
		allow_map_files(true);
	}
	end(&subject);
}

int main(int argc, char **argv)
{
	char order;

	/* As the program of test_executable(): wait for the end of the test. */
	if (argc > 1)
		return read(atoi(argv[1]), &order, 1) != 0;
	if (!ok(folder_make(&folder), "a folder"))
		return done_testing();
	test_paths();
	test_memory();
	test_executable();
	test_many();
	if (geteuid() == 0) {
		test_chroot();
		test_namespace();
		test_perf_map();
		test_perf_map_user();
		test_perf_map_mounted();
	} else {
		skip("not root: no chroot, no namespaces, no files of others");
	}
	folder_remove(&folder);
	return done_testing();
}

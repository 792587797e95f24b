/* SPDX-License-Identifier: GPL-2.0-or-later */
/* /proc/PID/maps: every line, hostile names, and what stays from read to read. */
#include "lib/tap.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <sys/mman.h>
#include <sys/sysmacros.h>

#include "base/clock.h"
#include "base/scan.h"
#include "proc/maps-query.h"
#include "proc/maps.h"
#include "lib/child.h"
#include "lib/folder.h"
#include "proc/open.h"

#define PROCESSES 40 /* of this machine, at most */
#define HUGE 50000   /* mappings; the kernel allows 65530 */

/* ---- lines -------------------------------------------------------------- */

static bool parse(const char *line, size_t length, struct pmp_maps_line *out)
{
	return pmp_maps_parse_line(line, length, out);
}

static bool understood(const char *line)
{
	struct pmp_maps_line out;

	return parse(line, strlen(line), &out);
}

static void test_line(void)
{
	static const char line[] = "7f31c3a00000-7f31c3b55000 r-xp 00026000 fe:01 1234 "
				   "                      /usr/lib/a b.so (deleted)";
	const char *path = strchr(line, '/'), *inode = strstr(line, "1234");
	struct pmp_maps_line out;
	size_t wrong = 0;

	ok(parse(line, strlen(line), &out), "a line");
	is_int(out.start, 0x7f31c3a00000, "start");
	is_int(out.end, 0x7f31c3b55000, "end");
	is_int(out.offset, 0x26000, "offset");
	is_int(out.device, makedev(0xfe, 1), "device");
	is_int(out.inode, 1234, "inode");
	is_int(out.prot, PMP_PROT_READ | PMP_PROT_EXEC, "protection");
	ok(out.path == path && out.path_length == strlen(path), "path, as it is");
	for (size_t length = 0; length <= (size_t)(inode - line); length++) {
		char *copy = malloc(length + 1);

		memcpy(copy, line, length);
		wrong += parse(copy, length, &out);
		free(copy);
	}
	is_int(wrong, 0, "no line that ends before its inode is understood");
}

static void test_odd_lines(void)
{
	static const char *const good[] = {
		"0-1 ---p 0 0:0 0",
		"0-1 rwxs 0 0:0 0 ",
		"ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0   [vsyscall]",
		"0-ffffffffffffffff r--p ffffffffffffffff ffffffff:ffffffff 1844674407370955161 x",
	};
	static const char *const bad[] = {
		"",
		"\n",
		"-",
		"0-0 r--p 0 0:0 0",
		"2-1 r--p 0 0:0 0",
		"0-1 r-p 0 0:0 0",
		"0-1 r--pp 0 0:0 0",
		"0-1 xwrp 0 0:0 0",
		"0-1 r--q 0 0:0 0",
		"0-1r--p 0 0:0 0",
		"0-1 r--p 0 0.0 0",
		"0-1 r--p 0 0:0 x",
		"0-1 r--p 0 0:0 1x",
		"-1-2 r--p 0 0:0 1",
		"0-11112222333344445 r--p 0 0:0 0",
		"0-1 r--p 0 100000000:0 0",
		"0-1 r--p 0 0:0 18446744073709551616",
	};

	for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++)
		ok(understood(good[i]), "good: %s", good[i]);
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		ok(!understood(bad[i]), "bad: %s", bad[i]);
}

static void test_speed(void)
{
	static const char line[] =
		"7f31c3a00000-7f31c3b55000 r-xp 00026000 fe:01 1234 "
		"                      /usr/lib/x86_64-linux-gnu/libc.so.6";
	struct pmp_maps_line out;
	uint64_t start = pmp_clock(), sum = 0;

	for (size_t i = 0; i < 100000; i++) {
		parse(line, strlen(line), &out);
		sum += out.prot;
	}
	start = pmp_clock() - start;
	diag("100,000 lines in %llu us", (unsigned long long)(start / PMP_US));
	/* Seconds would mean that it is not linear; sanitizers and load are allowed for.
	 */
	ok(sum == 500000 && start < 2 * PMP_S,
	   "100,000 lines are parsed in a short time");
}

/* ---- processes ---------------------------------------------------------- */

struct subject {
	struct child child;
	struct pmp_process process;
	struct pmp_maps *maps;
	uint32_t next_id;
};

static bool begin(struct subject *subject, bool (*prepare)(const struct child *, void *),
		  void *arg)
{
	*subject = (struct subject){ 0 };
	return ok(child_start(&subject->child, prepare, arg) &&
			  pmp_process_open(subject->child.pid, &subject->process, NULL) ==
				  0 &&
			  pmp_maps_read(&subject->process, NULL, &subject->next_id, NULL,
					&subject->maps, NULL) == 0,
		  "a process and its maps");
}

static void end(struct subject *subject)
{
	pmp_maps_unref(subject->maps);
	pmp_process_close(&subject->process);
	child_end(&subject->child);
}

/* Read again; true if that gave another object. */
static bool changed(struct subject *subject)
{
	struct pmp_maps *old = subject->maps;
	bool differs = false;

	if (pmp_maps_read(&subject->process, old, &subject->next_id, NULL, &subject->maps,
			  NULL) == 0)
		differs = subject->maps != old;
	else
		subject->maps = pmp_maps_ref(old);
	pmp_maps_unref(old);
	return differs;
}

static const struct pmp_module *module_named(const struct pmp_maps *maps,
					     const char *path)
{
	for (size_t i = 0; i < maps->module_count; i++) {
		if (strcmp(maps->modules[i]->path, path) == 0)
			return maps->modules[i];
	}
	return NULL;
}

/* What must be true of any maps; counts what is not. */
static size_t broken(const struct pmp_maps *maps)
{
	size_t wrong = maps->region_count == 0 || maps->module_count == 0;

	for (size_t i = 0; i < maps->region_count; i++) {
		const struct pmp_region *region = &maps->regions[i];
		bool known = false;

		for (size_t j = 0; j < maps->module_count && !known; j++)
			known = maps->modules[j] == region->module;
		wrong += !known || region->start >= region->end ||
			 (i && region->start < maps->regions[i - 1].end) ||
			 pmp_maps_find(maps, region->start) != region;
		if (region->module->kind == PMP_MODULE_FILE &&
		    region->prot & PMP_PROT_EXEC)
			wrong += (region->module->fd < 0) ==
				 (region->module->open_errno == 0);
	}
	for (size_t i = 0; i < maps->module_count; i++) {
		for (size_t j = 0; j < i; j++)
			wrong += maps->modules[i]->id == maps->modules[j]->id;
	}
	return wrong;
}

static void test_machine(void)
{
	DIR *proc = opendir("/proc");
	unsigned seen = 0, wrong = 0, vdsos = 0;
	struct dirent *entry;
	uint64_t pid;

	while (seen < PROCESSES && (entry = readdir(proc))) {
		struct pmp_process process;
		struct pmp_maps *maps;
		uint32_t next_id = 7;

		if (!pmp_scan_whole(entry->d_name, 1, INT_MAX, &pid) ||
		    pmp_process_open((pid_t)pid, &process, NULL))
			continue;
		if (pmp_maps_read(&process, NULL, &next_id, NULL, &maps, NULL) == 0) {
			const struct pmp_module *vdso = module_named(maps, "[vdso]");

			seen++;
			wrong += broken(maps) != 0;
			vdsos += vdso && vdso->image &&
				 memcmp(vdso->image, "\177ELF", 4) == 0;
			pmp_maps_unref(maps);
		}
		pmp_process_close(&process);
	}
	closedir(proc);
	is_int(wrong, 0, "the maps of %u processes are sound", seen);
	ok(seen == 0 || vdsos > 0, "%u have a vDSO whose image was read", vdsos);
}

/* ---- changes ------------------------------------------------------------ */

static void *map_anon(int prot)
{
	return mmap(NULL, 1 << 20, prot, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

/* Maps something at each order. */
static bool changing(const struct child *self, void *arg)
{
	(void)arg;
	child_answer(self, true);
	child_wait(self);
	child_answer(self, mmap(NULL, 1 << 20, PROT_READ, MAP_SHARED | MAP_ANONYMOUS, -1,
				0) != MAP_FAILED);
	child_wait(self);
	return map_anon(PROT_READ | PROT_EXEC) != MAP_FAILED;
}

/* Kernels before 6.11 do not say. */
static bool says(const struct subject *subject, int same)
{
	int r = pmp_maps_query_code(&subject->process, subject->maps);

	return r == same || r == -ENOTTY;
}

static void test_changes(void)
{
	struct subject subject;
	uint32_t ids;

	if (!begin(&subject, changing, NULL))
		return;
	is_int(broken(subject.maps), 0, "they are sound");
	is_int(subject.maps->generation, 1, "the first generation");
	is_int(subject.next_id, subject.maps->module_count, "modules are numbered");
	ok(!changed(&subject), "nothing has changed: the same object");
	is_int(subject.maps->generation, 1, "of the same generation");
	ok(says(&subject, 1), "the kernel says the same of its code");
	ids = subject.next_id;
	ok(child_order(&subject.child), "it maps something");
	ok(says(&subject, 1), "by the kernel that is no code");
	ok(changed(&subject), "something was mapped");
	is_int(subject.maps->generation, 2, "the next generation");
	is_int(subject.maps->exec_generation, 1, "without new code");
	is_int(subject.next_id, ids + 1, "one module is new, all others are taken over");
	is_int(broken(subject.maps), 0, "they are sound");
	ok(child_order(&subject.child), "it maps code");
	ok(says(&subject, 0), "by the kernel that is code");
	ok(changed(&subject), "code was mapped");
	ok(says(&subject, 1),
	   "with that in the maps the kernel says that all is the same");
	is_int(subject.maps->generation, 3, "the next generation");
	is_int(subject.maps->exec_generation, 2, "with new code");
	ok(module_named(subject.maps, "[anon]") != NULL, "code without a file");
	kill(subject.child.pid, SIGKILL);
	waitid(P_PID, (id_t)subject.child.pid, &(siginfo_t){ 0 }, WEXITED | WNOWAIT);
	is_int(pmp_maps_read(&subject.process, NULL, &subject.next_id, NULL,
			     &(struct pmp_maps *){ NULL }, NULL),
	       PMP_ESRCH, "it has ended");
	ok(pmp_maps_query_code(&subject.process, subject.maps) < 0,
	   "of one that has ended the kernel says nothing");
	end(&subject);
}

/* ---- names -------------------------------------------------------------- */

static const struct {
	const char *name;
	bool remove;
} files[] = {
	{ "plain.so", false },		{ "gone.so", true },
	{ "new\nline.so", false },	{ "new\nline gone.so", true },
	{ "back\\012slash.so", false }, { "\033]0;x\a.so", false },
	{ "\xff\xfe.so", false },	{ "here (deleted)", false },
	{ "away (deleted)", true },	{ " blanks  within ", false },
	{ "both\n (deleted)", false },
};
#define FILES (sizeof(files) / sizeof(*files))

static bool map_file(const char *path, int prot)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	void *at = mmap(NULL, 8192, prot, MAP_PRIVATE, fd, 0);

	close(fd);
	return at != MAP_FAILED;
}

static bool mapping_files(const struct child *self, void *folder)
{
	char path[PATH_MAX];
	bool good = true;

	(void)self;
	for (size_t i = 0; i < FILES; i++)
		good &= map_file(folder_path(folder, files[i].name, path), PROT_READ);
	for (size_t i = 0; i < FILES; i++) {
		if (files[i].remove)
			good &= unlink(folder_path(folder, files[i].name, path)) == 0;
	}
	return good;
}

static void test_names(void)
{
	struct folder folder;
	struct subject subject;
	char path[PATH_MAX];
	bool good = folder_make(&folder);

	for (size_t i = 0; i < FILES; i++)
		good &= file_write(folder_path(&folder, files[i].name, path),
				   (unsigned)i);
	if (!ok(good, "files with strange names") ||
	    !begin(&subject, mapping_files, &folder))
		goto out;
	for (size_t i = 0; i < FILES; i++) {
		const struct pmp_module *module = module_named(
			subject.maps, folder_path(&folder, files[i].name, path));

		if (ok(module != NULL, "name %zu is unescaped", i))
			is_int(module->deleted, files[i].remove,
			       "and known to be there or not");
	}
	ok(!changed(&subject), "all are known again");
	unlink(folder_path(&folder, "here (deleted)", path));
	unlink(folder_path(&folder, "plain.so", path));
	ok(!changed(&subject), "also when they have been deleted");
	ok(module_named(subject.maps, path)->deleted, "which is seen");
	ok(module_named(subject.maps, folder_path(&folder, "here (deleted)", path))
		   ->deleted,
	   "whatever the name");
	end(&subject);
out:
	folder_remove(&folder);
}

/* ---- many --------------------------------------------------------------- */

/* Neighbours that cannot be merged. */
static bool huge(const struct child *self, void *arg)
{
	char *at = mmap(NULL, HUGE * 4096ul, PROT_NONE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	bool good = at != MAP_FAILED;

	(void)self;
	(void)arg;
	for (size_t i = 0; good && i < HUGE; i += 2)
		good = mprotect(at + i * 4096, 4096,
				i % 4 ? PROT_READ : PROT_READ | PROT_EXEC) == 0;
	return good;
}

static void test_huge(void)
{
	struct subject subject;
	uint64_t start = pmp_clock();

	if (!begin(&subject, huge, NULL))
		return;
	start = pmp_clock();
	ok(!changed(&subject), "they have not changed");
	start = pmp_clock() - start;
	diag("%zu mappings read and compared in %llu us", subject.maps->region_count,
	     (unsigned long long)(start / PMP_US));
	ok(subject.maps->region_count >= HUGE - 1, "all mappings of very many");
	ok(start < 5 * PMP_S, "in a short time");
	end(&subject);
}

int main(void)
{
	test_line();
	test_odd_lines();
	test_speed();
	test_machine();
	test_changes();
	test_names();
	test_huge();
	return done_testing();
}

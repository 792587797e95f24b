/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * /proc/PID/maps to struct pmp_maps. maps-refresh.c decides when to read it
 * again; no thread is held here. A known module keeps its id and descriptor; a
 * new one with code is opened at once, while the process still has it
 * (files.c).
 */
#include "proc/maps.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/file.h"
#include "base/intern.h"
#include "base/scan.h"
#include "proc/explain.h"
#include "proc/files.h"
#include "proc/mounts.h"

#define LINE_LIMIT (1u << 20)
#define TEXT_LIMIT (256u << 20)
#define VDSO_LIMIT (1u << 20)
#define FILES_FIRST 512	 /* opened even before a stack shows that it needs them */
#define FILES_SPARED 128 /* descriptors left for all other uses */
#define ANON_NAME "[anon]"
#define VDSO_NAME "[vdso]"

/* State of reading, besides its result. known[id] is the module whose key has this id in
 * keys: first those of the old maps (borrowed), then new ones. */
struct reading {
	struct pmp_process process; /* its proc is of a thread that has not exited */
	const struct pmp_log *log;
	struct pmp_maps *maps;
	uint32_t *next_id;
	struct pmp_intern *keys;
	struct pmp_buf key;
	struct known_module {
		struct pmp_module *module;
		bool taken; /* it is in maps */
	} * known;
	size_t known_count, known_capacity;
	struct pmp_module *last_module; /* adjacent lines often have the same */
	struct pmp_maps_line last_line;
	bool jit;     /* there is code without a file */
	size_t files; /* open files of maps */
	int fd_limit;
};

/* ---- one line ----------------------------------------------------------- */

static bool parse_prot(struct pmp_scan *scan, unsigned *prot)
{
	static const char letters[] = "rwx";
	const char *word;
	size_t length;

	if (!pmp_scan_word(scan, &word, &length) || length != 4)
		return false;
	*prot = 0;
	for (size_t i = 0; i < 3; i++) {
		if (word[i] == letters[i])
			*prot |= 1u << i; /* PMP_PROT_READ, _WRITE, _EXEC */
		else if (word[i] != '-')
			return false;
	}
	if (word[3] == 's')
		*prot |= PMP_PROT_SHARED;
	return word[3] == 's' || word[3] == 'p';
}

bool pmp_maps_parse_line(const char *line, size_t length, struct pmp_maps_line *out)
{
	struct pmp_scan scan = pmp_scan_text(line, length);
	uint64_t major, minor;

	*out = (struct pmp_maps_line){ 0 };
	if (!pmp_scan_hex(&scan, &out->start) || !pmp_scan_char(&scan, '-') ||
	    !pmp_scan_hex(&scan, &out->end) || !pmp_scan_char(&scan, ' ') ||
	    !parse_prot(&scan, &out->prot) || !pmp_scan_char(&scan, ' ') ||
	    !pmp_scan_hex(&scan, &out->offset) || !pmp_scan_char(&scan, ' ') ||
	    !pmp_scan_hex(&scan, &major) || !pmp_scan_char(&scan, ':') ||
	    !pmp_scan_hex(&scan, &minor) || !pmp_scan_char(&scan, ' ') ||
	    !pmp_scan_u64(&scan, &out->inode) || out->start >= out->end ||
	    major > UINT32_MAX || minor > UINT32_MAX)
		return false;
	if (!pmp_scan_done(&scan) && !pmp_scan_char(&scan, ' '))
		return false;
	pmp_scan_blanks(&scan);
	out->device = makedev((unsigned)major, (unsigned)minor);
	out->path = scan.at;
	out->path_length = (size_t)(scan.end - scan.at);
	return true;
}

/* ---- what a line stands for ---------------------------------------------- */

size_t pmp_maps_path_length(const char *path, size_t length)
{
	static const char deleted[] = " (deleted)";
	const size_t tail = sizeof(deleted) - 1;

	if (length > tail && memcmp(path + length - tail, deleted, tail) == 0)
		return length - tail;
	return length;
}

static bool ends_deleted(const struct pmp_maps_line *line)
{
	return pmp_maps_path_length(line->path, line->path_length) < line->path_length;
}

static bool has_name(const struct pmp_maps_line *line, const char *name)
{
	return line->path_length == strlen(name) &&
	       memcmp(line->path, name, line->path_length) == 0;
}

static bool begins(const struct pmp_maps_line *line, const char *prefix)
{
	size_t length = strlen(prefix);

	return line->path_length >= length && memcmp(line->path, prefix, length) == 0;
}

static enum pmp_module_kind line_kind(const struct pmp_maps_line *line)
{
	if (line->path_length == 0 || begins(line, "[anon:") ||
	    begins(line, "[anon_shmem:"))
		return PMP_MODULE_ANON;
	if (line->path[0] == '/')
		return PMP_MODULE_FILE;
	return has_name(line, VDSO_NAME) ? PMP_MODULE_VDSO : PMP_MODULE_SPECIAL;
}

/* Memory that is a file in name only: JIT compilers put code there, too. */
static bool is_memory(const struct pmp_maps_line *line)
{
	return begins(line, "/memfd:") || begins(line, "/dev/zero") ||
	       begins(line, "/SYSV") || begins(line, "/dev/shm/") ||
	       begins(line, "[heap]") || begins(line, "[stack");
}

/*
 * Append a path, replacing the kernel's only escape, \012 for a newline. A name
 * may contain these four characters literally: see settle_path().
 */
static void unescape(struct pmp_buf *buf, const char *path, size_t length)
{
	const char *end = path + length, *escape;

	while ((escape = memmem(path, (size_t)(end - path), "\\012", 4))) {
		pmp_buf_add(buf, path, (size_t)(escape - path));
		pmp_buf_putc(buf, '\n');
		path = escape + 4;
	}
	pmp_buf_add(buf, path, (size_t)(end - path));
}

/*
 * Resolve an ambiguous path: " (deleted)" and \012 may be the kernel's or part
 * of the name; the existing file decides. Without one, they are the kernel's.
 * Leaves the path in buf; false: the file no longer exists.
 */
static bool settle_path(const struct reading *reading, const struct pmp_maps_line *line,
			struct pmp_buf *buf)
{
	size_t cut = pmp_maps_path_length(line->path, line->path_length);
	bool deleted = cut < line->path_length;
	bool escaped = memmem(line->path, line->path_length, "\\012", 4) != NULL;
	int tries = escaped ? 2 : deleted ? 1 : 0;

	for (int literal = 0; literal < tries; literal++) {
		pmp_buf_clear(buf);
		if (literal)
			pmp_buf_add(buf, line->path, line->path_length);
		else
			unescape(buf, line->path, line->path_length);
		if (!pmp_buf_failed(buf) && pmp_files_is_at(&reading->process, buf->data,
							    line->device, line->inode))
			return true;
	}
	pmp_buf_clear(buf);
	unescape(buf, line->path, cut);
	return !deleted;
}

/* Read the image of the vDSO, which is in no file. */
static void read_vdso(const struct reading *reading, const struct pmp_maps_line *line,
		      struct pmp_module *module)
{
	uint64_t size = line->end - line->start;
	void *image = size <= VDSO_LIMIT ? malloc(size) : NULL;

	if (image && reading->process.mem >= 0 &&
	    pmp_file_pread(reading->process.mem, image, size, line->start) ==
		    (ssize_t)size) {
		module->image = image;
		module->image_size = size;
	} else {
		free(image);
	}
}

static struct pmp_module *make_module(struct reading *reading,
				      const struct pmp_maps_line *line,
				      enum pmp_module_kind kind)
{
	struct pmp_buf path = { 0 };
	struct pmp_module *module = NULL;
	bool deleted = false;

	if (kind == PMP_MODULE_FILE)
		deleted = !settle_path(reading, line, &path);
	else if (kind == PMP_MODULE_ANON)
		pmp_buf_puts(&path, ANON_NAME);
	else
		pmp_buf_add(&path, line->path, line->path_length);
	if (!pmp_buf_failed(&path))
		module = pmp_module_new((*reading->next_id)++, kind, path.data);
	if (module && kind != PMP_MODULE_ANON) {
		module->device = line->device;
		module->inode = line->inode;
		module->deleted = deleted;
	}
	if (module && kind == PMP_MODULE_VDSO)
		read_vdso(reading, line, module);
	pmp_buf_free(&path);
	return module;
}

/* ---- modules that are known --------------------------------------------- */

/*
 * The key of a module, the same whenever it is seen: its inode, and its path,
 * in case an inode is reused for another file. The file may be deleted
 * meanwhile, so " (deleted)" is not part of the key.
 */
static uint32_t module_key(struct reading *reading, enum pmp_module_kind kind,
			   uint64_t device, uint64_t inode, const char *path,
			   size_t length)
{
	struct pmp_buf *key = &reading->key;
	size_t given;

	do {
		given = length;
		length = pmp_maps_path_length(path, given);
	} while (length < given);
	pmp_buf_clear(key);
	pmp_buf_putc(key, (char)kind);
	pmp_buf_add(key, &device, sizeof(device));
	pmp_buf_add(key, &inode, sizeof(inode));
	unescape(key, path, length);
	if (pmp_buf_failed(key))
		return PMP_INTERN_NONE;
	return pmp_intern(reading->keys, key->data, key->length);
}

static int remember(struct reading *reading, uint32_t id, struct pmp_module *module)
{
	if (id == PMP_INTERN_NONE)
		return PMP_ENOMEM;
	if (id < reading->known_count)
		return 0;
	if (PMP_RESERVE(&reading->known, &reading->known_capacity,
			reading->known_count + 1))
		return PMP_ENOMEM;
	reading->known[reading->known_count++] =
		(struct known_module){ .module = module };
	return 0;
}

static int remember_old(struct reading *reading, const struct pmp_maps *old)
{
	for (size_t i = 0; i < old->module_count; i++) {
		struct pmp_module *module = old->modules[i];

		if (module->kind == PMP_MODULE_PERF_MAP)
			continue;
		if (remember(reading,
			     module_key(reading, module->kind, module->device,
					module->inode, module->path,
					strlen(module->path)),
			     module))
			return PMP_ENOMEM;
	}
	return 0;
}

static bool same_module(const struct pmp_maps_line *a, const struct pmp_maps_line *b)
{
	return a->device == b->device && a->inode == b->inode &&
	       a->path_length == b->path_length &&
	       memcmp(a->path, b->path, a->path_length) == 0;
}

/* Reuse a module of the old maps in the new ones. */
static int take_module(struct reading *reading, struct known_module *known,
		       const struct pmp_maps_line *line)
{
	struct pmp_module *module = known->module;
	struct pmp_buf path = { 0 };

	if (module->kind == PMP_MODULE_FILE && !module->deleted && ends_deleted(line))
		module->deleted = !settle_path(reading, line, &path);
	pmp_buf_free(&path);
	known->taken = true;
	reading->files += module->fd >= 0;
	return pmp_maps_add_module(reading->maps, pmp_module_ref(module));
}

static struct pmp_module *new_module(struct reading *reading,
				     const struct pmp_maps_line *line,
				     enum pmp_module_kind kind, uint32_t id)
{
	struct pmp_module *module = make_module(reading, line, kind);

	if (!module || pmp_maps_add_module(reading->maps, module) ||
	    remember(reading, id, module))
		return NULL;
	reading->known[id].taken = true;
	return module;
}

/* The module of a line, added to the new maps if necessary; NULL: no memory. */
static struct pmp_module *line_module(struct reading *reading,
				      const struct pmp_maps_line *line)
{
	enum pmp_module_kind kind = line_kind(line);
	bool anon = kind == PMP_MODULE_ANON;
	struct pmp_module *module;
	uint32_t id;

	if (reading->last_module && same_module(line, &reading->last_line))
		return reading->last_module;
	id = module_key(reading, kind, anon ? 0 : line->device, anon ? 0 : line->inode,
			anon ? ANON_NAME : line->path,
			anon ? strlen(ANON_NAME) : line->path_length);
	if (id == PMP_INTERN_NONE)
		return NULL;
	if (id >= reading->known_count) {
		module = new_module(reading, line, kind, id);
	} else {
		module = reading->known[id].module;
		if (!reading->known[id].taken &&
		    take_module(reading, &reading->known[id], line))
			return NULL;
	}
	reading->last_module = module;
	reading->last_line = *line;
	return module;
}

/* ---- all lines ---------------------------------------------------------- */

/*
 * The text is read piece by piece, and the process may map and unmap in
 * between: so a line may begin before the previous one ended. Only the part
 * after that counts.
 */
static bool cut_overlap(const struct pmp_maps *maps, struct pmp_region *region)
{
	uint64_t end = maps->region_count ? maps->regions[maps->region_count - 1].end : 0;

	if (region->end <= end)
		return false;
	if (region->start < end) {
		region->offset += end - region->start;
		region->start = end;
	}
	return true;
}

/* The limit of descriptor numbers. */
static int descriptor_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur > INT_MAX)
		return INT_MAX;
	return (int)limit.rlim_cur;
}

/* Open the file of a region. False, as if it had not been tried: descriptors from limit on
 * are reserved for other uses. */
static bool open_below_limit(const struct pmp_process *process,
			     const struct pmp_region *region, const struct pmp_log *log,
			     int limit)
{
	struct pmp_module *module = region->module;

	pmp_files_open(process, region, module, log);
	if (module->fd >= 0 && module->fd < limit)
		return true;
	if (module->fd < 0 && module->open_errno != EMFILE &&
	    module->open_errno != ENFILE)
		return true;
	if (module->fd >= 0)
		close(module->fd);
	module->fd = -1;
	module->open_errno = 0;
	return false;
}

/* Open a file early, unless the process has mapped too many for our descriptors. */
static void open_early(struct reading *reading, const struct pmp_region *region)
{
	if (reading->files < FILES_FIRST &&
	    open_below_limit(&reading->process, region, reading->log,
			     reading->fd_limit / 2)) {
		reading->files++;
		return;
	}
	reading->files = FILES_FIRST;
	reading->maps->lazy = true;
}

void pmp_maps_open(const struct pmp_process *process, const struct pmp_region *region,
		   const struct pmp_log *log)
{
	if (!region || region->module->kind != PMP_MODULE_FILE ||
	    region->module->fd >= 0 || region->module->open_errno)
		return;
	if (!open_below_limit(process, region, log, descriptor_limit() - FILES_SPARED))
		region->module->open_errno = EMFILE;
}

static int add_line(struct reading *reading, const struct pmp_maps_line *line)
{
	struct pmp_module *module = line_module(reading, line);
	struct pmp_region region = {
		.start = line->start,
		.end = line->end,
		.offset = line->offset,
		.module = module,
		.prot = line->prot,
	};

	if (!module)
		return PMP_ENOMEM;
	if (line->prot & PMP_PROT_EXEC) {
		if (module->kind == PMP_MODULE_FILE && module->fd < 0 &&
		    !module->open_errno)
			open_early(reading, &region);
		reading->jit |= module->kind == PMP_MODULE_ANON || is_memory(line);
	}
	if (!cut_overlap(reading->maps, &region))
		return 0;
	return pmp_maps_add_region(reading->maps, &region);
}

static int add_lines(struct reading *reading, const struct pmp_buf *text,
		     struct pmp_error *err)
{
	struct pmp_scan scan = pmp_scan_text(text->data, text->length);
	struct pmp_maps_line parsed;
	size_t length, lines = 0;
	const char *line;

	while (pmp_scan_line(&scan, &line, &length)) {
		if (++lines > LINE_LIMIT)
			return pmp_error_set(err, PMP_ELIMIT,
					     "%d has more than %u mappings",
					     (int)reading->process.pid, LINE_LIMIT);
		if (pmp_maps_parse_line(line, length, &parsed) &&
		    add_line(reading, &parsed))
			return pmp_error_nomem(err, "reading the mappings of a process");
	}
	return 0;
}

static bool is_unlinked(const struct pmp_module *module)
{
	struct stat file;

	return fstat(module->fd, &file) == 0 && file.st_nlink == 0;
}

static int keep_perf_map(struct reading *reading, struct pmp_module *module)
{
	reading->maps->perf_map = pmp_module_ref(module);
	return pmp_maps_add_module(reading->maps, module);
}

/* Add the perf map of JIT code, a module without a region. A deleted one stays, unless
 * another one has replaced it. */
static int add_perf_map(struct reading *reading, const struct pmp_maps *old)
{
	struct pmp_module *module = old ? old->perf_map : NULL;
	struct stat file;
	char path[64];
	int fd;

	if (module && !is_unlinked(module))
		return keep_perf_map(reading, module);
	fd = reading->jit ? pmp_files_open_perf_map(&reading->process, reading->log) : -1;
	if (fd < 0)
		return module ? keep_perf_map(reading, module) : 0;
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)reading->process.ns_pid);
	module = pmp_module_new((*reading->next_id)++, PMP_MODULE_PERF_MAP, path);
	if (!module) {
		close(fd);
		return PMP_ENOMEM;
	}
	module->fd = fd;
	if (fstat(fd, &file) < 0) {
		pmp_module_unref(module);
		return 0;
	}
	module->device = file.st_dev;
	module->inode = file.st_ino;
	reading->maps->perf_map = module;
	return pmp_maps_add_module(reading->maps, module);
}

/* ---- old and new -------------------------------------------------------- */

static bool same_region(const struct pmp_region *a, const struct pmp_region *b)
{
	return a->start == b->start && a->end == b->end && a->offset == b->offset &&
	       a->module == b->module && a->prot == b->prot;
}

static bool same_maps(const struct pmp_maps *a, const struct pmp_maps *b)
{
	if (a->region_count != b->region_count || a->perf_map != b->perf_map)
		return false;
	for (size_t i = 0; i < a->region_count; i++) {
		if (!same_region(&a->regions[i], &b->regions[i]))
			return false;
	}
	return true;
}

/* The next region with code from index *i on, or NULL; moves *i past it. */
static const struct pmp_region *next_code(const struct pmp_maps *maps, size_t *i)
{
	while (*i < maps->region_count) {
		const struct pmp_region *region = &maps->regions[(*i)++];

		if (region->prot & PMP_PROT_EXEC)
			return region;
	}
	return NULL;
}

static bool same_code(const struct pmp_maps *a, const struct pmp_maps *b)
{
	const struct pmp_region *left, *right;
	size_t i = 0, j = 0;

	do {
		left = next_code(a, &i);
		right = next_code(b, &j);
	} while (left && right && same_region(left, right));
	return !left && !right;
}

/* What was read as the successor of old; old itself if nothing differs. */
static struct pmp_maps *settle_maps(struct pmp_maps *old, struct pmp_maps *read)
{
	if (!old) {
		read->generation = 1;
		read->exec_generation = 1;
		return pmp_maps_ref(read);
	}
	if (same_maps(old, read))
		return pmp_maps_ref(old);
	read->generation = old->generation + 1;
	read->exec_generation = old->exec_generation + !same_code(old, read);
	return pmp_maps_ref(read);
}

static int read_text(const struct pmp_process *process, int live, struct pmp_buf *text,
		     struct pmp_error *err)
{
	int result = live < 0 ? live : pmp_file_slurp(live, "maps", TEXT_LIMIT, text);

	if (result == -EFBIG)
		return pmp_error_set(err, PMP_ELIMIT,
				     "%d has more than %u MiB of mappings",
				     (int)process->pid, TEXT_LIMIT >> 20);
	/* The last thread exited between the two passes. */
	if (result == 0 && text->length == 0)
		result = -ESRCH;
	if (result == -EMFILE || result == -ENFILE)
		return pmp_error_sys(err, PMP_ELIMIT, -result,
				     "cannot read the maps of %d", (int)process->pid);
	return result ? pmp_process_explain(process, process->pid, -result, err) : 0;
}

int pmp_maps_read(const struct pmp_process *process, struct pmp_maps *old,
		  uint32_t *next_id, const struct pmp_log *log, struct pmp_maps **maps,
		  struct pmp_error *err)
{
	int live = pmp_process_live(process);
	struct reading reading = { .process = *process, .log = log, .next_id = next_id };
	struct pmp_mounts mounts = { 0 };
	struct pmp_buf text = { 0 };
	int result = read_text(process, live, &text, err);

	*maps = NULL;
	if (result)
		goto out;
	reading.process.proc = live;
	reading.process.mounts = &mounts;
	reading.fd_limit = descriptor_limit();
	reading.keys = pmp_intern_new();
	reading.maps = pmp_maps_new();
	if (!reading.keys || !reading.maps || (old && remember_old(&reading, old))) {
		result = pmp_error_nomem(err, "reading the mappings of a process");
		goto out;
	}
	result = add_lines(&reading, &text, err);
	if (result == 0 && add_perf_map(&reading, old))
		result = pmp_error_nomem(err, "reading the mappings of a process");
	if (result == 0)
		*maps = settle_maps(old, reading.maps);
out:
	pmp_maps_unref(reading.maps);
	pmp_intern_free(reading.keys);
	pmp_buf_free(&reading.key);
	pmp_buf_free(&text);
	free(reading.known);
	pmp_mounts_forget(&mounts);
	if (live >= 0)
		close(live);
	return result;
}

size_t pmp_maps_room(const struct pmp_maps *maps, uint64_t address, size_t want)
{
	const struct pmp_region *region = maps ? pmp_maps_find(maps, address) : NULL;

	if (region && want > region->end - address)
		want = region->end - address;
	return want;
}

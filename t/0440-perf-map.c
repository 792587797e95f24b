/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Maps of JIT code: what lines hold, growth, hostile lines, a map that vanishes. */
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "lib/names.h"
#include "base/sanitized.h"
#include "base/buf.h"
#include "libpmp-program.h"
#include "resolve/perf-map.h"

static struct pmp_perf_map *map_of(const char *text)
{
	struct pmp_perf_map *map = pmp_perf_map_new(-1);

	pmp_perf_map_parse(map, text, strlen(text));
	return map;
}

static const char *name_of(struct pmp_perf_map *map, uint64_t address)
{
	const char *name = pmp_perf_map_find(map, address);

	return name ? name : "-";
}

static void test_lines(void)
{
	struct pmp_perf_map *map = map_of("1000 100 first\n"
					  "2000 10 name with blanks [x]\r\n"
					  "0x3000 0x10 prefixed\n"
					  "1080 40 later\n"
					  "4000 100 outer\n"
					  "4010 10 inner\n"
					  "4000 8 again\n"
					  "5000 10 cut");

	is_str(name_of(map, 0x1000), "first", "first byte");
	is_str(name_of(map, 0xfff), "-", "before it");
	is_str(name_of(map, 0x107f), "first", "before the later one");
	is_str(name_of(map, 0x1080), "later", "the later line wins");
	is_str(name_of(map, 0x10bf), "later", "to its end");
	is_str(name_of(map, 0x10c0), "first", "then the earlier one goes on");
	is_str(name_of(map, 0x1100), "-", "after the end");
	is_str(name_of(map, 0x2008), "name with blanks [x]",
	       "blanks, no carriage return");
	is_str(name_of(map, 0x3000), "prefixed", "0x");
	is_str(name_of(map, 0x4000), "again", "one that begins at the same place");
	is_str(name_of(map, 0x4008), "outer", "and is shorter");
	is_str(name_of(map, 0x4018), "inner", "one within another");
	is_str(name_of(map, 0x5000), "-", "a line without its end waits");
	pmp_perf_map_parse(map, " off\n", 5);
	is_str(name_of(map, 0x5000), "cut off", "for the rest of it");
	pmp_perf_map_free(map);
}

static void test_hostile(void)
{
	static char large[100000];
	struct pmp_perf_map *map =
		map_of("\n \nzz 10 a\n1000\n1000 \n1000 10\n1000 10 \n-1 10 b\n"
		       "10000000000000000 10 c\nffffffffffffffff ff d\n"
		       "1000 ffffffffffffffff e\n2000 0 f\n3000 10 g\n");

	is_str(name_of(map, 0x1000), "-", "lines without sense are skipped");
	is_str(name_of(map, UINT64_MAX), "-", "so is what wraps around");
	is_str(name_of(map, 0x2000), "-", "and what is empty");
	is_str(name_of(map, 0x3000), "g", "the next line counts");
	memset(large, 'x', sizeof(large) - 1);
	memcpy(large, "4000 10 ", 8);
	pmp_perf_map_parse(map, large, sizeof(large) - 1);
	pmp_perf_map_parse(map, large, sizeof(large) - 1);
	pmp_perf_map_parse(map, "\n6000 10 h\n", 11);
	is_str(name_of(map, 0x4000), "-", "a line that is too long is skipped");
	is_str(name_of(map, 0x6000), "h", "up to its end");
	pmp_perf_map_free(map);
}

/* A map of a process: an anonymous region with code, and the file. */
static struct pmp_maps *jit_maps(const char *path)
{
	struct pmp_maps *maps = pmp_maps_new();
	struct pmp_module *anon = pmp_module_new(1, PMP_MODULE_ANON, "");
	struct pmp_module *file = pmp_module_new(2, PMP_MODULE_PERF_MAP, path);
	struct pmp_region region = {
		.start = 0x10000,
		.end = 0x20000,
		.module = anon,
		.prot = PMP_PROT_READ | PMP_PROT_EXEC,
	};

	file->fd = open(path, O_RDONLY | O_CLOEXEC);
	pmp_maps_add_module(maps, anon);
	pmp_maps_add_region(maps, &region);
	pmp_maps_add_module(maps, file);
	maps->perf_map = file;
	return maps;
}

static const struct pmp_frame *frame_at(struct pmp_symbolizer *symbolizer,
					const struct pmp_maps *maps, uint64_t pc)
{
	struct pmp_raw_frame raw = { .pc = pc, .flags = PMP_FRAME_EXACT };
	const struct pmp_frame *frames;

	pmp_symbolizer_frames(symbolizer, pmp_symbolizer_locate(symbolizer, maps, &raw),
			      &frames);
	return frames;
}

static void test_process(void)
{
	struct pmp_symbolizer *symbolizer =
		symbolizer_of((struct pmp_symbolizer_options){ 0 });
	struct pmp_maps *one, *two, *none;

	write_file("one.map", "10000 10 one\n10020 10 _ZN1a1bEv\n");
	write_file("two.map", "10000 10 two\n");
	one = jit_maps("one.map");
	two = jit_maps("two.map");
	none = jit_maps("one.map");
	none->perf_map = NULL;
	is_str(frame_at(symbolizer, one, 0x10008)->function, "one", "JIT code");
	is_str(frame_at(symbolizer, one, 0x10008)->module, "[anon]", "its module");
	is_str(frame_at(symbolizer, two, 0x10008)->function, "two",
	       "the same address in another process");
	is_str(frame_at(symbolizer, none, 0x10008)->function, "[anon+0x10008]",
	       "and in one without a map");
	is_str(frame_at(symbolizer, one, 0x10020)->function, "a::b()", "C++ name");
	is_str(frame_at(symbolizer, one, 0x10040)->function, "[anon+0x10040]",
	       "unknown yet");
	run("echo '10044 10 grown' >> one.map");
	is_str(frame_at(symbolizer, one, 0x10044)->function, "grown",
	       "the file has grown");
	run("rm one.map");
	is_str(frame_at(symbolizer, one, 0x10004)->function, "one", "the file is gone");
	pmp_maps_unref(one);
	pmp_maps_unref(two);
	pmp_maps_unref(none);
	pmp_symbolizer_free(symbolizer);
}

/* Of the C library's the one that all that grows is made with is this program's own here:
 * memory runs out for what is that large. Sanitizers have theirs in the same place. */
#if !SANITIZED && defined(__GLIBC__)
#define MEMORY_ENDS

static volatile size_t too_large = SIZE_MAX;

void *__libc_realloc(void *data, size_t size);

void *realloc(void *data, size_t size)
{
	return size >= too_large ? NULL : __libc_realloc(data, size);
}
#endif

/* Another process, which reads the map. */
static pid_t namer_pid;

static int start_namer(void *arg)
{
	const struct pmp_namer_options options = { 0 };
	struct pmp_namer *namer;
	int ends[2];

	(void)arg;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
		return -errno;
	namer_pid = fork();
	if (namer_pid == 0) {
		close(ends[0]);
		if (pmp_namer_new(ends[1], &options, &namer, NULL) == 0)
			pmp_namer_serve(namer);
		_exit(0);
	}
	close(ends[1]);
	return ends[0];
}

static bool namer_works(void *arg, int fd)
{
	(void)arg;
	(void)fd;
	return false;
}

static void end_namer(void *arg, int fd, char *reason, size_t size)
{
	(void)arg;
	if (reason)
		snprintf(reason, size, "failed");
	close(fd);
	waitpid(namer_pid, NULL, 0);
}

/* A JIT compiler frees code and puts other code there. */
static void check_replaced(const struct pmp_namer_calls *calls, const char *how)
{
	struct pmp_symbolizer *symbolizer =
		symbolizer_of((struct pmp_symbolizer_options){ .namer = calls });
	struct pmp_maps *maps;

	write_file("replaced.map", "10000 100 old\n");
	maps = jit_maps("replaced.map");
	is_str(frame_at(symbolizer, maps, 0x10010)->function, "old", "%s: code", how);
	run("echo '10000 80 new' >> replaced.map");
	is_str(frame_at(symbolizer, maps, 0x10020)->function, "new",
	       "%s: other code is there now", how);
	is_str(frame_at(symbolizer, maps, 0x10090)->function, "old", "%s: not behind it",
	       how);
	is_str(frame_at(symbolizer, maps, 0x10010)->function, "old",
	       "%s: what has a name keeps it", how);
	pmp_maps_unref(maps);
	pmp_symbolizer_free(symbolizer);
}

#ifdef MEMORY_ENDS

/* The problem of the map, which was seen last; "-": none. */
static const char *problem_of(struct pmp_symbolizer *symbolizer)
{
	const size_t count = pmp_symbolizer_module_count(symbolizer);
	struct pmp_module_info info = { .size = sizeof(info) };

	pmp_symbolizer_module(symbolizer, count - 1, &info);
	return info.problem ? info.problem : "-";
}

/* Lines that cannot be kept are left out, which is said; later ones are read. */
static void check_memory_ends(const struct pmp_namer_calls *calls, const char *how)
{
	struct pmp_symbolizer *symbolizer =
		symbolizer_of((struct pmp_symbolizer_options){ .namer = calls });
	struct pmp_maps *maps;

	run("echo '10000 10 first' >ends.map; "
	    "seq -f '20000 10 name_%%.0f' 100000 200000 >>ends.map; "
	    "echo '10040 10 last' >>ends.map");
	maps = jit_maps("ends.map");
	pmp_symbolizer_locate(symbolizer, maps,
			      &(struct pmp_raw_frame){ .pc = 0x10000 + 1 });
	is_str(problem_of(symbolizer), "-", "%s: nothing is wrong yet", how);
	too_large = 1 << 20;
	is_str(frame_at(symbolizer, maps, 0x10000)->function, "first",
	       "%s: memory ends within a map", how);
	too_large = SIZE_MAX;
	is_str(problem_of(symbolizer), PMP_PERF_MAP_LOST, "%s: it is said", how);
	run("echo '10050 10 later' >>ends.map");
	is_str(frame_at(symbolizer, maps, 0x10050)->function, "later",
	       "%s: later lines are read if there is memory", how);
	pmp_maps_unref(maps);
	pmp_symbolizer_free(symbolizer);
}

static void test_memory_ends(const struct pmp_namer_calls *calls)
{
	struct pmp_perf_map *map = map_of("1000 10 a\n2000 10 b");

	too_large = 0;
	is_int(pmp_perf_map_parse(map, "c\n3000 10 d\n4000 10 ", 20), PMP_ENOMEM,
	       "memory has ended");
	too_large = SIZE_MAX;
	is_int(pmp_perf_map_parse(map, "e\n5000 10 f\n", 13), 0, "there is some again");
	is_str(name_of(map, 0x5000), "f", "a new line is read");
	is_str(name_of(map, 0x1000), "a", "the old one is known");
	pmp_perf_map_free(map);
	check_memory_ends(NULL, "here");
	check_memory_ends(calls, "in another process");
}

#endif

static void test_with_namer(void)
{
	static const struct pmp_namer_calls calls = { .start = start_namer,
						      .works = namer_works,
						      .end = end_namer };

	check_replaced(NULL, "here");
	check_replaced(&calls, "in another process");
#ifdef MEMORY_ENDS
	test_memory_ends(&calls);
#else
	diag("memory does not end with sanitizers");
#endif
}

/* The map is read on once for all that was counted before. */
static void test_round(void)
{
	struct pmp_symbolizer *symbolizer =
		symbolizer_of((struct pmp_symbolizer_options){ 0 });
	struct pmp_raw_frame raw = { .pc = 0x10000, .flags = PMP_FRAME_EXACT };
	const struct pmp_frame *frames;
	pmp_location locations[2];
	struct pmp_maps *maps;

	write_file("round.map", "10000 100 old\n");
	maps = jit_maps("round.map");
	for (size_t i = 0; i < 2; i++, raw.pc += 16)
		locations[i] = pmp_symbolizer_locate(symbolizer, maps, &raw);
	pmp_symbolizer_frames(symbolizer, locations[0], &frames);
	is_str(frames->function, "old", "one of two that were counted");
	run("echo '10000 100 new' >> round.map");
	pmp_symbolizer_frames(symbolizer, locations[1], &frames);
	is_str(frames->function, "old", "the other one, as the code was then");
	is_str(frame_at(symbolizer, maps, 0x10020)->function, "new",
	       "one that is counted later");
	pmp_maps_unref(maps);
	pmp_symbolizer_free(symbolizer);
}

static double cpu_seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* An address is asked for after each line that a JIT compiler adds. */
static void test_growth(void)
{
	struct pmp_perf_map *map = pmp_perf_map_new(-1);
	struct pmp_buf text = { 0 };
	unsigned wrong = 0;
	double start = cpu_seconds(), first;
	char line[64];

	for (unsigned i = 0; i < 200000; i++)
		pmp_buf_printf(&text, "%x 10 f%u\n", 0x100000 + 32 * i, i);
	pmp_perf_map_parse(map, text.data, text.length);
	first = cpu_seconds() - start;
	start = cpu_seconds();
	for (unsigned i = 0; i < 200; i++) {
		/* The first half of each second function, twice. */
		unsigned at = 0x100000 + 64 * (i / 2);

		snprintf(line, sizeof(line), "%x 8 g%u\n", at, i);
		pmp_perf_map_parse(map, line, strlen(line));
		snprintf(line, sizeof(line), "g%u", i);
		wrong += strcmp(name_of(map, at), line) != 0;
		snprintf(line, sizeof(line), "f%u", 2 * (i / 2));
		wrong += strcmp(name_of(map, at + 8), line) != 0;
	}
	start = cpu_seconds() - start;
	is_int(wrong, 0, "200 lines more, one by one, over others");
	is_str(name_of(map, 0x100000), "g1", "the last one holds");
	is_str(name_of(map, 0x100000 + 32 * 199999), "f199999", "those of before stay");
	ok(start < 4 * first,
	   "they cost less than four times 200,000 at once: %.3f s, %.3f s", start,
	   first);
	pmp_buf_free(&text);
	pmp_perf_map_free(map);
}

/* The file is read without the caller's lock: another thread may count meanwhile. */
static unsigned releases;

static void acquire(void *arg)
{
	(void)arg;
}

static void release(void *arg)
{
	(void)arg;
	if (++releases == 2)
		run("echo '10000 10 late' >> slow.map");
}

static void test_lock(void)
{
	struct pmp_symbolizer *symbolizer = symbolizer_of((struct pmp_symbolizer_options){
		.release = release, .acquire = acquire });
	struct pmp_maps *maps;

	write_file("slow.map", "20000 10 other\n");
	maps = jit_maps("slow.map");
	is_str(frame_at(symbolizer, maps, 0x10000)->function, "late",
	       "the lock is released while a map is read");
	pmp_maps_unref(maps);
	pmp_symbolizer_free(symbolizer);
}

/* A million lines that overlap in the worst way do not take minutes. */
static void test_large(void)
{
	struct pmp_perf_map *map = pmp_perf_map_new(-1);
	struct pmp_buf text = { 0 };

	for (unsigned i = 0; i < 200000; i++)
		pmp_buf_printf(&text, "%x %x f%u\n", 0x100000 - i, 2 * i + 1, i);
	pmp_perf_map_parse(map, text.data, text.length);
	is_str(name_of(map, 0x100000), "f199999", "200,000 lines over each other");
	pmp_buf_free(&text);
	pmp_perf_map_free(map);
}

/* A file that is longer than what is read at once: its end, without what is left of a line. */
static void test_long_file(void)
{
	struct pmp_perf_map *map;
	int fd;

	write_file("long.map", "1000 10 first\n");
	fd = open("long.map", O_RDWR | O_APPEND | O_CLOEXEC);
	ok(ftruncate(fd, 200 << 20) == 0 && write(fd, "x\n2000 10 last\n", 15) == 15,
	   "a map of more than 200 MiB");
	map = pmp_perf_map_new(fd);
	is_str(name_of(map, 0x2000), "last", "its end is read");
	is_str(name_of(map, 0x1000), "-", "not its beginning");
	ok(write(fd, "3000 10 later\n", 14) == 14, "a line is added");
	is_str(name_of(map, 0x3000), "later", "which is read, too");
	pmp_perf_map_free(map);
	close(fd);
}

/* As a Java VM does when it is asked for one. */
static void test_written_again(void)
{
	int fd = open("again.map", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	struct pmp_perf_map *map = pmp_perf_map_new(fd);

	ok(pwrite(fd, "1000 10 old\n", 12, 0) == 12, "a map");
	is_str(name_of(map, 0x1000), "old", "is read");
	ok(pwrite(fd, "1000 10 new\n2000 10 more\n", 25, 0) == 25,
	   "and written again, longer");
	is_str(name_of(map, 0x2000), "more", "what is new in it is known");
	is_str(name_of(map, 0x1000), "new", "the later name wins");
	ok(pwrite(fd, "3000 10 same size\n123456\n", 25, 0) == 25, "of the same size");
	is_str(name_of(map, 0x3000), "same size", "it is known as well");
	pmp_perf_map_free(map);
	close(fd);
}

int main(void)
{
	enter_tmp();
	test_long_file();
	test_written_again();
	test_lines();
	test_hostile();
	test_process();
	test_with_namer();
	test_round();
	test_large();
	test_growth();
	test_lock();
	leave_tmp();
	return done_testing();
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Every place where debug information can lie, and each way in which a file that
 * is found there can be the wrong one.
 */
#include "lib/fifo.h"
#include "lib/names.h"
#include "resolve/symbolizer-state.h"

static uint64_t hidden; /* its address in prog */
static char debug_dir[512];

static struct pmp_symbolizer_options options(void)
{
	return (struct pmp_symbolizer_options){ .lines = true, .debug_dir = debug_dir };
}

/* What is found for a stripped program at a path: 0 nothing, 1 names, 2 lines. */
static int found(const char *path)
{
	struct pmp_symbolizer *symbolizer = symbolizer_of(options());
	struct space space = space_of(path);
	const struct pmp_frame *frames;
	size_t count = names_at(&space, symbolizer, hidden, true, &frames);
	const struct pmp_frame *last = &frames[count - 1];
	int result = 0;

	if (strcmp(last->function, "hidden") == 0)
		result = last->file && last->line >= 3 && last->line <= 5 ? 2 : 1;
	else if (!last->unnamed)
		diag("wrong name: %s", last->function);
	pmp_symbolizer_free(symbolizer);
	space_free(&space);
	return result;
}

/* prog with a build-id of its own, and its debug file; `stripped` has neither. */
static bool build(const char *flags)
{
	bool fine = run("rm -rf .debug dir debug && mkdir -p debug && "
			"${CC:-cc} -g -O1 -fno-pie -no-pie %s -o prog prog.c && "
			"objcopy --only-keep-debug prog prog.debug && "
			"strip -o stripped prog 2>/dev/null",
			flags);

	hidden = symbol_address("prog", "hidden");
	return fine && hidden;
}

/* The directory that is right is one of several. */
static void test_list(void)
{
	char only[64];

	snprintf(only, sizeof(only), "%.63s", debug_dir);
	snprintf(debug_dir, sizeof(debug_dir), "/nowhere::%s/../debug:", only);
	is_int(found("stripped"), 2, "below one of several directories");
	snprintf(debug_dir, sizeof(debug_dir), "/nowhere:");
	is_int(found("stripped"), 0, "below none of several directories");
	snprintf(debug_dir, sizeof(debug_dir), "%s", only);
}

static void test_build_id(void)
{
	pid_t bait;

	if (!ok(build("-Wl,--build-id=0xaa01020304"), "built with a build-id"))
		return;
	is_int(found("prog"), 2, "in the file itself");
	is_int(found("stripped"), 0, "nowhere");
	run("mkdir -p debug/.build-id/aa && cp prog.debug debug/.build-id/aa/01020304.debug");
	is_int(found("stripped"), 2, "below .build-id");
	test_list();
	run("${CC:-cc} -g -O1 -Wl,--build-id=0xaa05 -o other prog.c && "
	    "cp other debug/.build-id/aa/01020304.debug");
	is_int(found("stripped"), 0, "below .build-id, but of another build");
	run("rm debug/.build-id/aa/01020304.debug");
	bait = fifo_new("debug/.build-id/aa/01020304.debug");
	is_int(found("stripped"), 0, "a FIFO there");
	ok(fifo_untouched(bait), "is not opened");
	run("rm debug/.build-id/aa/01020304.debug && echo rubbish > "
	    "debug/.build-id/aa/01020304.debug");
	is_int(found("stripped"), 0, "rubbish there");
	run("head -c 3000 prog.debug > debug/.build-id/aa/01020304.debug");
	is_int(found("stripped"), 0, "half a file there");
	if (geteuid() == 0) {
		run("cp prog.debug debug/.build-id/aa/01020304.debug && "
		    "chown 12345 debug/.build-id/aa/01020304.debug");
		is_int(found("stripped"), 0, "of another user");
	} else {
		skip("not root: cannot give files away");
	}
}

static void test_link(const char *flags, const char *what)
{
	char cwd[256], path[512];
	pid_t bait;

	if (!getcwd(cwd, sizeof(cwd)) || !ok(build(flags), "built %s", what) ||
	    !run("mkdir dir && objcopy --add-gnu-debuglink=prog.debug stripped dir/prog"))
		return;
	snprintf(path, sizeof(path), "%s/dir/prog", cwd);
	is_int(found(path), 0, "%s: debug file nowhere", what);
	run("cp prog.debug dir/");
	is_int(found(path), 2, "%s: beside the program", what);
	run("mkdir dir/.debug && mv dir/prog.debug dir/.debug/");
	is_int(found(path), 2, "%s: in .debug", what);
	bait = fifo_new("dir/prog.debug");
	is_int(found(path), 2, "%s: in .debug, and a FIFO beside the program", what);
	ok(fifo_untouched(bait), "%s: which is not opened", what);
	run("rm dir/prog.debug");
	run("mkdir -p debug/%s/dir && mv dir/.debug/prog.debug debug/%s/dir/", cwd, cwd);
	is_int(found(path), 2, "%s: below the debug directory", what);
	/* Another file, of another build-id or checksum, that would do as well. */
	run("rm debug/%s/dir/prog.debug && ${CC:-cc} -g -O1 -fno-pie -no-pie "
	    "-Wl,--build-id=0xbb -DX -o other prog.c && "
	    "objcopy --only-keep-debug other dir/prog.debug",
	    cwd);
	is_int(found(path), 0, "%s: another build's is not believed", what);
}

/* No checksum is made of a file that is nearly all hole. */
static void test_sparse(void)
{
	struct pmp_symbolizer *symbolizer = symbolizer_of(options());
	uint64_t before = symbolizer->budget.bytes;
	const struct pmp_frame *frames;
	char path[512];
	struct space space;

	if (!ok(build("-Wl,--build-id=none") &&
			run("mkdir dir && objcopy --add-gnu-debuglink=prog.debug stripped "
			    "dir/prog && cp prog.debug dir/ && truncate -s 3G dir/prog.debug"),
		"a debug file of 3 GiB that takes some KiB"))
		return;
	snprintf(path, sizeof(path), "%s/dir/prog", tmp_dir);
	space = space_of(path);
	names_at(&space, symbolizer, hidden, true, &frames);
	ok(frames->unnamed, "is not believed");
	ok(symbolizer->budget.bytes == before, "without reading it");
	pmp_symbolizer_free(symbolizer);
	space_free(&space);
	run("rm -r dir");
}

static void test_mini(void)
{
	if (!have("xz")) {
		skip("no xz");
		return;
	}
	if (!ok(build("-Wl,--build-id=0xcc01") &&
			run("strip -g -o mini prog && "
			    "objcopy --only-keep-debug mini mini.debug && xz -k mini.debug && "
			    "objcopy --add-section .gnu_debugdata=mini.debug.xz stripped packed"),
		"with .gnu_debugdata"))
		return;
	is_int(found("packed"), 1, "names from .gnu_debugdata");
	run("head -c 200 mini.debug.xz > cut.xz && "
	    "objcopy --add-section .gnu_debugdata=cut.xz stripped cut");
	is_int(found("cut"), 0, "half of it");
	run("head -c 300000000 /dev/zero | xz -1 > zero.xz && "
	    "objcopy --add-section .gnu_debugdata=zero.xz stripped bomb");
	is_int(found("bomb"), 0, "300 MB of zeros in it");
}

static void test_compressed(void)
{
	static const char *const ways[] = { "zlib", "zlib-gabi", "zlib-gnu", "zstd" };

	if (!ok(build("-Wl,--build-id=0xdd01"), "built to be compressed"))
		return;
	for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++) {
		if (!run("objcopy --compress-debug-sections=%s prog compressed 2>/dev/null",
			 ways[i]))
			diag("objcopy does not know %s", ways[i]);
		else if (strcmp(ways[i], "zstd") == 0)
			ok(found("compressed") >= 1, "zstd: names at least");
		else
			is_int(found("compressed"), 2, "compressed with %s", ways[i]);
	}
}

static void test_dwz(void)
{
	if (!have("dwz")) {
		skip("no dwz");
		return;
	}
	if (!ok(build("-Wl,--build-id=0xee01") &&
			run("cp prog one && cp prog two && "
			    "${CC:-cc} -g -O1 -Wl,--build-id=0xee02 -o two prog.c && "
			    "dwz -m common.debug one two 2>/dev/null"),
		"dwz"))
		return;
	is_int(found("one"), 2, "with the file in common");
	is_int(found("two") >= 0, 1, "the other one");
	run("mv common.debug common.moved");
	is_int(found("one"), 1, "without it: names only");
	run("cp two common.debug");
	is_int(found("one"), 1, "another file in its place");
}

/* As `dwz -M name` writes it: a name, and the build-id, which stays. */
static bool name_alt(const char *name)
{
	return run("objcopy --dump-section .gnu_debugaltlink=old one 2>/dev/null && "
		   "(printf '%%s\\0' '%s'; tail -c 20 old) > new && "
		   "objcopy --update-section .gnu_debugaltlink=new one 2>/dev/null",
		   name);
}

/* A link as in /proc leads where no path does, also to file systems of other users. */
static void test_magic(void)
{
	char cwd[256], path[512], only[sizeof(debug_dir)];

	if (!getcwd(cwd, sizeof(cwd)) ||
	    !ok(build("-Wl,--build-id=0xab01020304") &&
			run("mkdir -p dir real debug/.build-id/ab && cp prog.debug real/ && "
			    "objcopy --add-gnu-debuglink=prog.debug stripped dir/prog"),
		"built for links"))
		return;
	snprintf(path, sizeof(path), "%s/dir/prog", cwd);
	run("ln -s ../real/prog.debug dir/prog.debug");
	is_int(found(path), 2, "a symbolic link to the debug file");
	run("ln -sfn /proc/%d/root%s/real/prog.debug dir/prog.debug", (int)getpid(), cwd);
	is_int(found(path), 0, "one that leads through /proc/PID/root is not followed");
	run("ln -sfn /proc/%d/cwd real/away && ln -sfn ../real/away/real/prog.debug "
	    "dir/prog.debug",
	    (int)getpid());
	is_int(found(path), 0, "nor one to another that leads through /proc/PID/cwd");
	run("rm dir/prog.debug && cp prog.debug debug/.build-id/ab/01020304.debug");
	snprintf(only, sizeof(only), "%s", debug_dir);
	snprintf(debug_dir, sizeof(debug_dir), "/proc/%d/root%s/debug", (int)getpid(),
		 cwd);
	is_int(found(path), 2, "but below a directory that is given so");
	run("ln -sfn /proc/%d/root%s/real/prog.debug debug/.build-id/ab/01020304.debug",
	    (int)getpid(), cwd);
	is_int(found(path), 0, "where such a link is not followed either");
	snprintf(debug_dir, sizeof(debug_dir), "%s", only);
}

/* A file chooses the name of what it shares with others. */
static void test_alt_name(void)
{
	char name[512];
	pid_t bait;

	if (!have("dwz")) {
		skip("no dwz");
		return;
	}
	if (!ok(build("-Wl,--build-id=0xee01") &&
			run("mkdir -p debug/.dwz away && cp prog one && cp prog two && "
			    "dwz -m common one two 2>/dev/null"),
		"dwz, to be renamed"))
		return;
	is_int(found("one"), 2, "a name beside the file");
	snprintf(name, sizeof(name), "%s/debug/.dwz/common", tmp_dir);
	run("cp common debug/.dwz/ && mv common away/");
	ok(name_alt(name), "an absolute name");
	is_int(found("one"), 2, "below the debug directory");
	run("ln -sfn /proc/%d/root%s/away/common debug/.dwz/common", (int)getpid(),
	    tmp_dir);
	is_int(found("one"), 1, "but not through /proc/PID/root");
	snprintf(name, sizeof(name), "%s/debug/../away/common", tmp_dir);
	name_alt(name);
	is_int(found("one"), 1, "which leads out of it again");
	snprintf(name, sizeof(name), "%s/away/common", tmp_dir);
	name_alt(name);
	is_int(found("one"), 1, "in another directory");
	name_alt("away/common");
	is_int(found("one"), 2, "a relative name");
	bait = fifo_new("debug/.dwz/bait");
	snprintf(name, sizeof(name), "%s/debug/.dwz/bait", tmp_dir);
	name_alt(name);
	is_int(found("one"), 1, "a FIFO below the debug directory");
	ok(fifo_untouched(bait), "is not opened");
	bait = fifo_new("away/bait");
	name_alt("away/bait");
	is_int(found("one"), 1, "a FIFO beside the file");
	ok(fifo_untouched(bait), "is not opened");
}

int main(void)
{
	if (!have("${CC:-cc}") || !have("objcopy") || !have("strip")) {
		skip("no compiler, objcopy or strip");
		return done_testing();
	}
	enter_tmp();
	snprintf(debug_dir, sizeof(debug_dir), "%s/debug", tmp_dir);
	/* Nothing may ever be fetched; a server that hangs would show. */
	setenv("DEBUGINFOD_URLS", "http://127.0.0.1:9", 1);
	write_file("prog.c", hidden_source);
	test_build_id();
	test_link("-Wl,--build-id=0xbb01020304", "debuglink and build-id");
	test_link("-Wl,--build-id=none", "debuglink and checksum");
	test_sparse();
	test_mini();
	test_compressed();
	test_dwz();
	test_alt_name();
	test_magic();
	leave_tmp();
	return done_testing();
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Runs a fuzz target as an ordinary test, with any compiler: feeds it the files of
 * t/fuzz/corpus/NAME/ and its own seeds, each whole, truncated, and damaged in a
 * reproducible random way, and then noise. The test passes if nothing crashes or
 * hangs, and no sanitizer complains.
 *
 * NAME comes from the name of the program, fuzz-NAME.t. With files as arguments it
 * feeds only these, to reproduce a finding.
 */
#include "fuzz.h"
#include "../lib/tap.h"

#include <dirent.h>
#include <limits.h>

#define INPUT_MAX (1 << 20) /* longer files are truncated */
#define SEEDS_MAX 1000
#define CUTS 64 /* per input */
#define DAMAGES 256
#define NOISES 2000
#define NOISE_MAX 512

static uint8_t input[INPUT_MAX], changed[INPUT_MAX];

/* xorshift64: gives the same numbers everywhere. */
static uint64_t random_next(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

/* Feed a malloc'ed copy of exactly this size, so that valgrind and ASan see its end. */
static void feed(const uint8_t *data, size_t size)
{
	uint8_t *copy = malloc(size ? size : 1);

	if (!copy)
		return;
	memcpy(copy, data, size);
	LLVMFuzzerTestOneInput(copy, size);
	free(copy);
}

static void feed_damaged(const uint8_t *data, size_t size, uint64_t *state)
{
	memcpy(changed, data, size);
	for (unsigned n = 1 + random_next(state) % 8; n; n--) {
		uint8_t *at = &changed[random_next(state) % size];

		switch (random_next(state) % 4) {
		case 0: *at ^= 1u << random_next(state) % 8; break;
		case 1: *at = 0; break;
		case 2: *at = 0xff; break;
		default: *at = random_next(state); break;
		}
	}
	feed(changed, size);
}

static void feed_variants(const uint8_t *data, size_t size)
{
	uint64_t state = 88172645463325252u;

	feed(data, size);
	if (!size)
		return;
	for (unsigned i = 0; i < CUTS; i++)
		feed(data, size <= CUTS ? i % size : random_next(&state) % size);
	for (unsigned i = 0; i < DAMAGES; i++)
		feed_damaged(data, size, &state);
}

static bool feed_file(const char *path, void (*how)(const uint8_t *, size_t))
{
	FILE *file = fopen(path, "re");
	size_t size;

	if (!file)
		return false;
	size = fread(input, 1, sizeof(input), file);
	fclose(file);
	how(input, size);
	return true;
}

static unsigned feed_folder(const char *folder)
{
	DIR *dir = opendir(folder);
	struct dirent *entry;
	unsigned fed = 0;

	while (dir && (entry = readdir(dir))) {
		char path[PATH_MAX];
		int n = snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);

		if (entry->d_name[0] != '.' && n < (int)sizeof(path))
			fed += feed_file(path, feed_variants);
	}
	if (dir)
		closedir(dir);
	return fed;
}

static unsigned feed_seeds(void)
{
	unsigned n = 0;

	for (; fuzz_seed && n < SEEDS_MAX; n++) {
		size_t size = fuzz_seed(n, input, sizeof(input));

		if (!size)
			break;
		feed_variants(input, size);
	}
	return n;
}

static void feed_noise(void)
{
	uint64_t state = 0x9e3779b97f4a7c15u;

	for (unsigned i = 0; i < NOISES; i++) {
		size_t size = random_next(&state) % NOISE_MAX;

		for (size_t j = 0; j < size; j++)
			input[j] = random_next(&state);
		feed(input, size);
	}
}

/* "…/fuzz-maps.t" to "maps" */
static void name_of(const char *program, char *name, size_t size)
{
	const char *base = strrchr(program, '/');

	base = base ? base + 1 : program;
	if (strncmp(base, "lt-", 3) == 0)
		base += 3;
	if (strncmp(base, "fuzz-", 5) == 0)
		base += 5;
	snprintf(name, size, "%.*s", (int)strcspn(base, "."), base);
}

int main(int argc, char **argv)
{
	const char *top = getenv("top_srcdir");
	char name[64], folder[PATH_MAX];
	unsigned files, seeds;

	if (argc > 1) {
		for (int i = 1; i < argc; i++)
			ok(feed_file(argv[i], feed), "survives %s", argv[i]);
		return done_testing();
	}
	name_of(argv[0], name, sizeof(name));
	snprintf(folder, sizeof(folder), "%s/t/fuzz/corpus/%s", top ? top : ".", name);
	feed(input, 0);
	ok(true, "%s survives nothing", name);
	files = feed_folder(folder);
	ok(true, "%s survives %u files, cut and damaged", name, files);
	seeds = feed_seeds();
	ok(true, "%s survives %u seeds, cut and damaged", name, seeds);
	feed_noise();
	ok(true, "%s survives %u times noise", name, NOISES);
	return done_testing();
}

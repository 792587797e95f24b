/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fuzz target: arbitrary bytes from the process that reads files, to a client that has
 * asked for a module and some names. The first byte says whether these are names of
 * objects, and whether the client is a symbolizer.
 */
#include "fuzz.h"
#include "liar.h"

#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "resolve/remote.h"
#include "resolve/symbolizer.h"
#include "sample.h"

#define OBJECTS 1
#define SYMBOLIZER 2
#define PLACES 3

static bool works(void *arg, int fd)
{
	(void)arg;
	(void)fd;
	return false;
}

/* Touch everything, so that sanitizers see invalid memory. */
static void take(void *arg, const struct pmp_remote_place *place)
{
	const struct pmp_remote_name *names = pmp_remote_names(place);
	uint64_t *sum = arg;

	*sum += place->index >= PLACES ? __builtin_trap(), 0 : place->address;
	for (uint32_t i = 0; i < place->count; i++) {
		const uint32_t offsets[] = { names[i].function, names[i].linkage,
					     names[i].file };

		for (size_t k = 0; k < 3; k++)
			if (offsets[k])
				*sum += strlen(pmp_remote_string(place, offsets[k]));
	}
}

static size_t put(uint8_t *data, size_t at, enum pmp_remote_type type, uint32_t flag,
		  const void *body, size_t size)
{
	const struct pmp_remote_header header = { type, (uint32_t)size, 1, flag };

	memcpy(data + at, &header, sizeof(header));
	memcpy(data + at + sizeof(header), body, size);
	return at + sizeof(header) + size;
}

size_t fuzz_seed(unsigned n, uint8_t *data, size_t size)
{
	static const struct pmp_remote_opened opened = { .build_id = "0123456789abcdef" };
	static const struct pmp_remote_ask ask = { .kind = PMP_DEBUG_ID, .id_size = 20 };
	struct {
		struct pmp_remote_place place;
		struct pmp_remote_name names[2];
		char texts[32];
	} named = {
		{ .size = sizeof(named), .count = 2, .code = 1, .address = 0x1234 },
		{ { sizeof(named) - 32, sizeof(named) - 26, 0, 0 },
		  { sizeof(named) - 20, 0, sizeof(named) - 16, 7 } },
		"inner\0_Zin\0\0outer\0file.c",
	};
	size_t at = 1;

	if (n >= 4 || size < 4096)
		return 0;
	data[0] = (uint8_t)n;
	if (n & 1) {
		at = put(data, at, PMP_REMOTE_LOG, 0, "debug\0a line", 13);
		at = put(data, at, PMP_REMOTE_ASK, 0, &ask, sizeof(ask));
	}
	at = put(data, at, PMP_REMOTE_OPENED, 0, &opened, sizeof(opened));
	for (uint32_t i = 0; i < PLACES; i++) {
		named.place.index = i;
		at = put(data, at, PMP_REMOTE_NAMES, i + 1 == PLACES, &named,
			 sizeof(named));
	}
	return at;
}

static const uint64_t places[PLACES] = { 0x1000, 0x2000, 0x3000 };

static void ask(const struct pmp_namer_calls *calls, const struct pmp_module *source,
		bool objects)
{
	static const struct pmp_log no_log;
	const struct pmp_remote_options options = { .debug_dir = "/nonexistent",
						    .log = &no_log };
	struct pmp_remote remote = { .calls = calls, .socket = -1, .message.fd = -1 };
	struct pmp_remote_module module = { .handle = 0 };
	uint64_t sum = 0;
	struct pmp_remote_wanted wanted = { objects, places, PLACES, take, &sum };

	pmp_remote_open(&remote, &module, source, &options, places, PLACES);
	if (!module.failed)
		pmp_remote_name(&remote, &module, &wanted);
	pmp_remote_close(&remote, &module);
	pmp_remote_free(&remote);
}

static void name_code(struct pmp_symbolizer *symbolizer, const struct pmp_maps *maps)
{
	pmp_location numbers[PLACES];

	for (size_t i = 0; i < PLACES; i++)
		numbers[i] = pmp_symbolizer_locate(
			symbolizer, maps,
			&(struct pmp_raw_frame){ places[i], PMP_FRAME_EXACT });
	for (size_t i = 0; i < PLACES; i++) {
		const struct pmp_frame *frames;
		size_t count = pmp_symbolizer_frames(symbolizer, numbers[i], &frames);

		for (size_t k = 0; k < count; k++)
			if (!*frames[k].function || !*frames[k].module ||
			    (frames[k].linkage && !*frames[k].linkage) ||
			    (frames[k].file && !*frames[k].file))
				__builtin_trap();
	}
}

static void name_objects(struct pmp_symbolizer *symbolizer, const struct pmp_maps *maps)
{
	struct pmp_located_object located[PLACES];
	struct pmp_object object;

	for (size_t i = 0; i < PLACES; i++)
		pmp_symbolizer_locate_object(symbolizer, maps, places[i], &located[i]);
	for (size_t i = 0; i < PLACES; i++) {
		pmp_symbolizer_object(symbolizer, &located[i], &object);
		if (object.symbol && !*object.symbol)
			__builtin_trap();
	}
}

static void ask_by_symbolizer(const struct pmp_namer_calls *calls,
			      struct pmp_module *source, bool objects)
{
	const struct pmp_symbolizer_options options = {
		.size = sizeof(options),
		.lines = true,
		.debug_dir = "/nonexistent",
		.namer = calls,
	};
	const struct pmp_region region = { .start = 0x1000,
					   .end = 0x4000,
					   .module = source,
					   .prot = PMP_PROT_READ | PMP_PROT_EXEC };
	struct pmp_maps *maps = pmp_maps_new();
	struct pmp_symbolizer *symbolizer;

	if (!maps || pmp_maps_add_module(maps, pmp_module_ref(source)) ||
	    pmp_maps_add_region(maps, &region) ||
	    pmp_symbolizer_new(&options, &symbolizer, NULL))
		__builtin_trap();
	if (objects)
		name_objects(symbolizer, maps);
	else
		name_code(symbolizer, maps);
	pmp_symbolizer_free(symbolizer);
	pmp_maps_unref(maps);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct liar liar = { data + 1, size - 1, -1, false };
	const struct pmp_namer_calls calls = {
		.start = liar_start, .works = works, .end = liar_end, .arg = &liar
	};
	struct pmp_module *source = pmp_module_new(1, PMP_MODULE_FILE, "/nonexistent/x");

	if (source && size >= 1 && size <= LIAR_SENT_MAX) {
		if (data[0] & SYMBOLIZER)
			ask_by_symbolizer(&calls, source, data[0] & OBJECTS);
		else
			ask(&calls, source, data[0] & OBJECTS);
	}
	liar_close(&liar);
	pmp_module_unref(source);
	return 0;
}

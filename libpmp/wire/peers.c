/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What both sides of a socket remember about targets. */
#include "wire/peers.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

void pmp_sent_modules_free(struct pmp_sent_modules *known)
{
	for (size_t i = 0; i < known->count; i++)
		pmp_module_unref(known->items[i].module);
	free(known->items);
	*known = (struct pmp_sent_modules){ 0 };
}

uint64_t pmp_sent_module_size(uint64_t bytes)
{
	return bytes + sizeof(struct pmp_module) + sizeof(struct pmp_sent_module);
}

static uint64_t size_of(const struct pmp_module *module)
{
	return pmp_sent_module_size(strlen(module->path) + module->image_size);
}

void pmp_sent_modules_put(struct pmp_sent_modules *known, struct pmp_module *module)
{
	known->unsorted |=
		known->count && known->items[known->count - 1].id >= module->id;
	known->items[known->count++] = (struct pmp_sent_module){
		.id = module->id,
		.fd = module->fd,
		.order = ++known->order,
		.module = module,
	};
	known->bytes += size_of(module);
}

static int compare_ids(const void *a, const void *b)
{
	const struct pmp_sent_module *one = a, *other = b;

	return (one->id > other->id) - (one->id < other->id);
}

static int compare_known(const void *a, const void *b)
{
	const struct pmp_sent_module *one = a, *other = b;
	const int ids = compare_ids(a, b);

	return ids ? ids : (one->order > other->order) - (one->order < other->order);
}

void pmp_sent_modules_sort(struct pmp_sent_modules *known)
{
	size_t kept = 0;

	if (!known->unsorted)
		return;
	qsort(known->items, known->count, sizeof(*known->items), compare_known);
	for (size_t i = 0; i < known->count; i++) {
		struct pmp_sent_module *item = &known->items[i];

		if (i + 1 < known->count && item[1].id == item->id) {
			known->bytes -= size_of(item->module);
			pmp_module_unref(item->module);
		} else {
			known->items[kept++] = *item;
		}
	}
	known->count = kept;
	known->unsorted = false;
}

struct pmp_sent_module *pmp_sent_modules_find(const struct pmp_sent_modules *known,
					      uint32_t id)
{
	const struct pmp_sent_module wanted = { .id = id };

	return known->count ? bsearch(&wanted, known->items, known->count, sizeof(wanted),
				      compare_ids)
			    : NULL;
}

int pmp_sent_modules_of(const struct pmp_maps *maps, struct pmp_sent_modules *known)
{
	*known = (struct pmp_sent_modules){ 0 };
	if (PMP_RESERVE(&known->items, &known->capacity, maps->module_count))
		return PMP_ENOMEM;
	for (size_t i = 0; i < maps->module_count; i++)
		pmp_sent_modules_put(known, pmp_module_ref(maps->modules[i]));
	pmp_sent_modules_sort(known);
	if (known->count == maps->module_count)
		return 0;
	pmp_sent_modules_free(known);
	return PMP_EFORMAT;
}

static void peer_clear(struct pmp_peer *peer)
{
	pmp_maps_unref(peer->maps);
	pmp_sent_modules_free(&peer->known);
	pmp_sample_free(peer->last);
	pmp_sample_free(peer->spare);
	free(peer->sent);
}

struct pmp_peer *pmp_peers_find(struct pmp_peers *peers, pid_t pid)
{
	for (size_t i = 0; i < peers->count; i++) {
		if (peers->items[i].pid == pid) {
			peers->items[i].used = ++peers->uses;
			return &peers->items[i];
		}
	}
	return NULL;
}

struct pmp_peer *pmp_peers_add(struct pmp_peers *peers, pid_t pid)
{
	struct pmp_peer *peer;

	if (PMP_RESERVE(&peers->items, &peers->capacity, peers->count + 1))
		return NULL;
	peer = &peers->items[peers->count++];
	*peer = (struct pmp_peer){ .pid = pid, .used = ++peers->uses };
	return peer;
}

void pmp_peers_remove(struct pmp_peers *peers, struct pmp_peer *peer)
{
	struct pmp_peer *last = &peers->items[--peers->count];

	peer_clear(peer);
	if (peer != last)
		*peer = *last;
}

void pmp_peers_free(struct pmp_peers *peers)
{
	for (size_t i = 0; i < peers->count; i++)
		peer_clear(&peers->items[i]);
	free(peers->items);
}

uint64_t pmp_peers_bytes(const struct pmp_peers *peers)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < peers->count; i++)
		sum += peers->items[i].known.bytes;
	return sum;
}

void pmp_peer_set_maps(struct pmp_peer *peer, struct pmp_maps *maps,
		       struct pmp_sent_modules known)
{
	pmp_maps_unref(peer->maps);
	pmp_sent_modules_free(&peer->known);
	peer->maps = maps;
	peer->known = known;
}

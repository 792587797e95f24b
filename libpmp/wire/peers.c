/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What both sides of a socket remember about targets. */
#include "wire/peers.h"

#include <stdlib.h>

#include "base/alloc.h"

void pmp_sent_modules_free(struct pmp_sent_modules *known)
{
	for (size_t i = 0; i < known->count; i++)
		pmp_module_unref(known->items[i].module);
	free(known->items);
	*known = (struct pmp_sent_modules){ 0 };
}

size_t pmp_sent_modules_index(const struct pmp_sent_modules *known, uint32_t id)
{
	size_t low = 0, high = known->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (known->items[middle].id < id)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

struct pmp_sent_module *pmp_sent_modules_find(const struct pmp_sent_modules *known,
					      uint32_t id)
{
	size_t i = pmp_sent_modules_index(known, id);

	return i < known->count && known->items[i].id == id ? &known->items[i] : NULL;
}

static int compare_known(const void *a, const void *b)
{
	const struct pmp_sent_module *one = a, *other = b;

	return (one->id > other->id) - (one->id < other->id);
}

int pmp_sent_modules_of(const struct pmp_maps *maps, struct pmp_sent_modules *known)
{
	*known = (struct pmp_sent_modules){ 0 };
	if (PMP_RESERVE(&known->items, &known->capacity, maps->module_count))
		return PMP_ENOMEM;
	for (size_t i = 0; i < maps->module_count; i++) {
		struct pmp_module *module = maps->modules[i];

		known->items[known->count++] = (struct pmp_sent_module){
			.id = module->id,
			.fd = module->fd,
			.module = pmp_module_ref(module),
		};
	}
	if (known->count)
		qsort(known->items, known->count, sizeof(*known->items), compare_known);
	for (size_t i = 1; i < known->count; i++) {
		if (known->items[i].id == known->items[i - 1].id) {
			pmp_sent_modules_free(known);
			return PMP_EFORMAT;
		}
	}
	return 0;
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

void pmp_peer_set_maps(struct pmp_peer *peer, struct pmp_maps *maps,
		       struct pmp_sent_modules known)
{
	pmp_maps_unref(peer->maps);
	pmp_sent_modules_free(&peer->known);
	peer->maps = maps;
	peer->known = known;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The receiving end of the socket. What comes is untrusted. */
#include "wire/receiver.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/error.h"
#include "libpmp.h"
#include "wire/encoding.h"
#include "wire/peers.h"

#define READ_SIZE ((size_t)64 * 1024) /* room for one read */
#define TURN_SIZE ((uint64_t)8 << 20) /* read in one call before others have their turn */
#define KEEP_SIZE ((size_t)4 << 20)   /* a larger buffer is freed when empty */
#define SPARE_MOST 4		      /* times the threads needed, to reuse a sample */
#define FDS_MAX 4		      /* descriptors whose message is incomplete */
#define FDS_SPARED 64		      /* descriptors reserved for all other uses */
/* Memory of modules. The paths of one process take 256 MiB at most (proc/maps.c), while they
 * change twice as much. */
#define KNOWN_MAX ((uint64_t)1 << 30)

struct pmp_receiver {
	int fd;
	bool closed;
	int refused;	     /* an error that is repeated from then on, or 0 */
	bool other_version;  /* a message of another version, rather than nonsense */
	uint64_t bytes_left; /* that may still be received */
	size_t modules_left;
	uint64_t known_max;
	char *data; /* received bytes; those in [begin, end) are not used yet */
	size_t begin, end, capacity;
	int fds[FDS_MAX]; /* received and not used yet; -1: lost on the way */
	size_t fd_count;
	struct pmp_peers peers;
};

/* The rest of a message. */
struct message_rest {
	const char *at;
	size_t left;
};

/* The next length bytes; NULL: there are not so many. */
static const void *take(struct message_rest *cursor, uint64_t length)
{
	const void *at = cursor->at;

	if (length > cursor->left)
		return NULL;
	cursor->at += length;
	cursor->left -= length;
	return at;
}

static bool take_struct(struct message_rest *cursor, void *data, size_t length)
{
	const void *at = take(cursor, length);

	if (at)
		memcpy(data, at, length);
	return at != NULL;
}

static void drop_fds(struct pmp_receiver *receiver)
{
	while (receiver->fd_count) {
		int fd = receiver->fds[--receiver->fd_count];

		if (fd >= 0)
			close(fd);
	}
}

/* The peer of a message that may be the first of its target. */
static int need_peer(struct pmp_receiver *receiver, pid_t pid, struct pmp_peer **peer)
{
	*peer = pmp_peers_find(&receiver->peers, pid);
	if (*peer)
		return 0;
	if (receiver->peers.count >= PMP_WIRE_PEERS_MAX)
		return PMP_EFORMAT;
	*peer = pmp_peers_add(&receiver->peers, pid);
	return *peer ? 0 : PMP_ENOMEM;
}

static bool has_image(uint32_t kind)
{
	return kind == PMP_MODULE_VDSO || kind == PMP_MODULE_KERNEL;
}

static bool module_valid(const struct pmp_wire_module *wire, const char *path,
			 const struct pmp_receiver *receiver)
{
	return wire->kind <= PMP_MODULE_KERNEL && wire->deleted <= 1 &&
	       wire->has_fd <= 1 && wire->open_errno < 4096 &&
	       wire->id != PMP_WIRE_NO_MODULE && wire->path_length <= PMP_WIRE_PATH_MAX &&
	       wire->image_size <= (has_image(wire->kind) ? PMP_WIRE_IMAGE_MAX : 0) &&
	       !memchr(path, '\0', wire->path_length) &&
	       (!wire->has_fd || receiver->fd_count);
}

/* Give the module the oldest descriptor, or the reason why there is none. */
static void take_fd(struct pmp_receiver *receiver, struct pmp_module *module)
{
	module->fd = receiver->fds[0];
	if (module->fd < 0)
		module->open_errno = EMFILE;
	receiver->fd_count--;
	memmove(receiver->fds, receiver->fds + 1, receiver->fd_count * sizeof(int));
}

/* Make a module, without its descriptor. */
static struct pmp_module *make_module(const struct pmp_wire_module *wire,
				      const void *path, const void *image)
{
	char *name = pmp_copy(path, wire->path_length);
	struct pmp_module *module = NULL;

	if (name)
		module = pmp_module_new(wire->id, (enum pmp_module_kind)wire->kind, name);
	free(name);
	if (!module)
		return NULL;
	module->device = wire->device;
	module->inode = wire->inode;
	module->deleted = wire->deleted;
	module->open_errno = (int)wire->open_errno;
	if (!wire->image_size)
		return module;
	module->image = pmp_copy(image, wire->image_size);
	module->image_size = wire->image_size;
	if (module->image)
		return module;
	pmp_module_unref(module);
	return NULL;
}

static bool is_room(const struct pmp_receiver *receiver,
		    const struct pmp_wire_module *wire)
{
	return pmp_peers_bytes(&receiver->peers) +
		       pmp_sent_module_size(wire->path_length + wire->image_size) <=
	       receiver->known_max;
}

static int receive_module(struct pmp_receiver *receiver, pid_t pid,
			  struct message_rest *cursor)
{
	struct pmp_module *module;
	const void *path, *image;
	struct pmp_wire_module wire;
	struct pmp_peer *peer;
	int status;

	if (!take_struct(cursor, &wire, sizeof(wire)))
		return PMP_EFORMAT;
	path = take(cursor, wire.path_length);
	image = take(cursor, wire.image_size);
	if (!path || !image || cursor->left || !receiver->modules_left ||
	    !module_valid(&wire, path, receiver))
		return PMP_EFORMAT;
	if (!is_room(receiver, &wire))
		return PMP_ELIMIT;
	status = need_peer(receiver, pid, &peer);
	if (status)
		return status;
	if (PMP_RESERVE(&peer->known.items, &peer->known.capacity, peer->known.count + 1))
		return PMP_ENOMEM;
	module = make_module(&wire, path, image);
	if (!module)
		return PMP_ENOMEM;
	/* Nothing fails from here on, as a message that fails may be tried again. */
	receiver->modules_left--;
	if (wire.has_fd)
		take_fd(receiver, module);
	pmp_sent_modules_put(&peer->known, module);
	return 0;
}

static int fill_modules(struct pmp_maps *maps, struct pmp_sent_modules *known,
			const struct pmp_wire_maps *wire, const char *ids)
{
	pmp_sent_modules_sort(known);
	for (uint32_t i = 0; i < wire->module_count; i++) {
		const struct pmp_sent_module *found;
		uint32_t id;

		memcpy(&id, ids + i * sizeof(id), sizeof(id));
		found = pmp_sent_modules_find(known, id);
		if (!found)
			return PMP_EFORMAT;
		if (pmp_maps_add_module(maps, pmp_module_ref(found->module)))
			return PMP_ENOMEM;
	}
	return 0;
}

/* known: the modules of these maps only. */
static int fill_regions(struct pmp_maps *maps, const struct pmp_sent_modules *known,
			const struct pmp_wire_maps *wire, const char *regions)
{
	uint64_t last = 0;

	for (uint32_t i = 0; i < wire->region_count; i++) {
		const struct pmp_sent_module *found;
		struct pmp_wire_region region;

		memcpy(&region, regions + i * sizeof(region), sizeof(region));
		found = pmp_sent_modules_find(known, region.module);
		if (!found || region.start < last || region.start >= region.end ||
		    region.prot > (PMP_PROT_READ | PMP_PROT_WRITE | PMP_PROT_EXEC |
				   PMP_PROT_SHARED))
			return PMP_EFORMAT;
		last = region.end;
		if (pmp_maps_add_region(maps, &(struct pmp_region){
						      .start = region.start,
						      .end = region.end,
						      .offset = region.offset,
						      .prot = region.prot,
						      .module = found->module,
					      }))
			return PMP_ENOMEM;
	}
	return 0;
}

static int fill_maps(struct pmp_maps *maps, const struct pmp_sent_modules *known,
		     const struct pmp_wire_maps *wire, const char *regions)
{
	const struct pmp_sent_module *perf_map =
		pmp_sent_modules_find(known, wire->perf_map);

	maps->generation = wire->generation;
	maps->exec_generation = wire->exec_generation;
	if (wire->perf_map != PMP_WIRE_NO_MODULE && !perf_map)
		return PMP_EFORMAT;
	maps->perf_map = perf_map ? perf_map->module : NULL;
	return fill_regions(maps, known, wire, regions);
}

static int receive_maps(struct pmp_receiver *receiver, pid_t pid,
			struct message_rest *cursor)
{
	struct pmp_sent_modules known = { 0 };
	const char *regions, *ids;
	struct pmp_maps *maps;
	struct pmp_wire_maps wire;
	struct pmp_peer *peer;
	int status;

	if (!take_struct(cursor, &wire, sizeof(wire)))
		return PMP_EFORMAT;
	regions = take(cursor,
		       (uint64_t)wire.region_count * sizeof(struct pmp_wire_region));
	ids = take(cursor, (uint64_t)wire.module_count * sizeof(uint32_t));
	if (!regions || !ids || cursor->left)
		return PMP_EFORMAT;
	status = need_peer(receiver, pid, &peer);
	if (status)
		return status;
	maps = pmp_maps_new();
	if (!maps)
		return PMP_ENOMEM;
	status = fill_modules(maps, &peer->known, &wire, ids);
	if (!status)
		status = pmp_sent_modules_of(maps, &known);
	if (!status)
		status = fill_maps(maps, &known, &wire, regions);
	if (status) {
		pmp_sent_modules_free(&known);
		pmp_maps_unref(maps);
		return status;
	}
	pmp_peer_set_maps(peer, maps, known);
	return 0;
}

/* Only a futex has words, which may have any values. */
static bool words_valid(const struct pmp_wait *wait)
{
	const struct pmp_wait_words *words = &wait->words;
	const unsigned flags = PMP_WORD_FREE_MUTEX * 2 - 1;

	if (wait->kind == PMP_WAIT_FUTEX)
		return words->flags <= flags;
	return !words->flags && !words->before && !words->at && !words->after &&
	       !words->far;
}

static bool wait_valid(const struct pmp_wait *wait)
{
	const unsigned flags = PMP_WAIT_MOVED_ON * 2 - 1;

	return wait->kind < PMP_WAIT_COUNT && wait->holder_is < PMP_HOLDER_UNCHECKED &&
	       wait->flags <= flags && wait->holder >= 0 && words_valid(wait);
}

static bool outsides_valid(const struct pmp_sample *sample)
{
	for (size_t i = 0; i < sample->outside_count; i++) {
		const struct pmp_outside *what = &sample->outsides[i];

		if (what->type >= PMP_OUTSIDE_COUNT || what->sure >= PMP_SURE_COUNT ||
		    what->other > sample->other_count ||
		    what->shown > sample->other_count - what->other ||
		    what->shown > what->count || what->first > what->last ||
		    what->fd < -1 || !memchr(what->text, '\0', sizeof(what->text)))
			return false;
	}
	for (size_t i = 0; i < sample->other_count; i++) {
		const struct pmp_other *other = &sample->others[i];

		if (other->pid <= 0 || other->tid < 0 || other->fd < -1 ||
		    other->role >= PMP_ROLE_COUNT ||
		    !memchr(other->name, '\0', sizeof(other->name)))
			return false;
	}
	return true;
}

/* first: index of the thread's first frame. Frames are in the order of threads, and no two
 * threads share any. */
static bool thread_valid(const struct pmp_thread *thread, size_t first,
			 size_t frame_count)
{
	return thread->tid > 0 && memchr(thread->name, '\0', sizeof(thread->name)) &&
	       memchr(thread->reason, '\0', sizeof(thread->reason)) &&
	       memchr(thread->wchan, '\0', sizeof(thread->wchan)) &&
	       (unsigned)thread->obtained <= PMP_NOT_STOPPED &&
	       (unsigned)thread->end < PMP_END_COUNT &&
	       thread->syscall >= PMP_SYSCALL_UNKNOWN && wait_valid(&thread->wait) &&
	       thread->frame == first && thread->frame_count <= frame_count - first;
}

static bool frames_valid(const struct pmp_raw_frame *frames, size_t count)
{
	const unsigned flags = PMP_FRAME_EXACT | PMP_FRAME_SIGNAL | PMP_FRAME_FP;

	for (size_t i = 0; i < count; i++) {
		if (frames[i].flags > flags)
			return false;
	}
	return true;
}

/* The arrays of a PMP_WIRE_SAMPLE, in place in the message; sizes have been checked. */
struct arrays {
	const char *threads, *frames, *kept, *outsides, *others;
	const char *census, *census_rows; /* the first one is NULL if there is none */
};

/* The i-th thread of the last sample that has not run since; NULL: no more. Sets *bad if
 * there is no such thread, or they are not in order. */
static const struct pmp_thread *next_kept(const struct pmp_wire_sample *wire,
					  const struct arrays *arrays,
					  const struct pmp_sample *last, uint32_t i,
					  bool *bad)
{
	uint32_t index, before;

	if (i == wire->kept_count)
		return NULL;
	memcpy(&index, arrays->kept + i * sizeof(index), sizeof(index));
	if (i > 0)
		memcpy(&before, arrays->kept + (i - 1) * sizeof(index), sizeof(index));
	if (!last || index >= last->thread_count || (i > 0 && before >= index) ||
	    last->threads[index].wait.outside) {
		*bad = true;
		return NULL;
	}
	return &last->threads[index];
}

static int add_kept(struct pmp_sample *sample, const struct pmp_sample *last,
		    const struct pmp_thread *kept)
{
	return pmp_sample_add_unchanged(sample, kept, last->frames + kept->frame)
		       ? 0
		       : PMP_ENOMEM;
}

/* *used: number of frames in the message used so far. */
static int add_sent(struct pmp_sample *sample, const struct pmp_wire_sample *wire,
		    const struct arrays *arrays, const struct pmp_thread *sent,
		    size_t *used)
{
	const size_t first = sample->frame_count;
	struct pmp_thread *thread;
	int status;

	if (!thread_valid(sent, *used, wire->frame_count) ||
	    sent->wait.outside > wire->outside_count)
		return PMP_EFORMAT;
	*used += sent->frame_count;
	thread = pmp_sample_copy_thread(sample, sent);
	if (!thread)
		return PMP_ENOMEM;
	if (thread->state <= ' ' || thread->state > '~')
		thread->state = '?';
	status = pmp_sample_add_frames(
		sample,
		(const struct pmp_raw_frame
			 *)(const void *)(arrays->frames +
					  sent->frame * sizeof(struct pmp_raw_frame)),
		sent->frame_count);
	if (status)
		return status;
	return frames_valid(sample->frames + first, sent->frame_count) ? 0 : PMP_EFORMAT;
}

static void next_sent(const struct pmp_wire_sample *wire, const struct arrays *arrays,
		      uint32_t i, struct pmp_thread *thread)
{
	if (i < wire->thread_count)
		memcpy(thread, arrays->threads + i * sizeof(*thread), sizeof(*thread));
}

/* Add both kinds of threads, in the order of their ids. */
static int fill_threads(struct pmp_sample *sample, const struct pmp_wire_sample *wire,
			const struct arrays *arrays, const struct pmp_sample *last)
{
	struct pmp_thread new = { 0 };
	uint32_t sent = 0, kept = 0;
	size_t used = 0;
	bool bad = false;
	int status = 0;

	next_sent(wire, arrays, sent, &new);
	while (!status && (sent < wire->thread_count || kept < wire->kept_count)) {
		const struct pmp_thread *old = next_kept(wire, arrays, last, kept, &bad);

		if (bad)
			return PMP_EFORMAT;
		if (old && (sent == wire->thread_count || old->tid < new.tid)) {
			status = add_kept(sample, last, old);
			kept++;
		} else {
			status = add_sent(sample, wire, arrays, &new, &used);
			next_sent(wire, arrays, ++sent, &new);
		}
	}
	return !status && used != wire->frame_count ? PMP_EFORMAT : status;
}

static int fill_outsides(struct pmp_sample *sample, const struct pmp_wire_sample *wire,
			 const struct arrays *arrays)
{
	const size_t things = wire->outside_count, others = wire->other_count;

	if (PMP_RESERVE(&sample->outsides, &sample->outside_capacity, things) ||
	    PMP_RESERVE(&sample->others, &sample->other_capacity, others))
		return PMP_ENOMEM;
	if (things)
		memcpy(sample->outsides, arrays->outsides,
		       things * sizeof(*sample->outsides));
	if (others)
		memcpy(sample->others, arrays->others, others * sizeof(*sample->others));
	sample->outside_count = things;
	sample->other_count = others;
	sample->hidden = wire->hidden;
	sample->walk_cut = wire->walk_cut;
	return outsides_valid(sample) ? 0 : PMP_EFORMAT;
}

static int fill_census(struct pmp_sample *sample, const struct pmp_wire_sample *wire,
		       const struct arrays *arrays)
{
	struct pmp_census_totals totals;

	if (!arrays->census)
		return 0;
	memcpy(&totals, arrays->census, sizeof(totals));
	if (totals.caches >= PMP_CACHES_COUNT || totals.typed > 1)
		return PMP_EFORMAT;
	sample->census = pmp_census_copy(
		&totals, (const struct pmp_census_row *)(const void *)arrays->census_rows,
		wire->census_count);
	return sample->census ? 0 : PMP_ENOMEM;
}

/* Does the sample have the threads of the last one, in the same standstill? */
static bool is_still(const struct pmp_wire_sample *wire)
{
	return wire->standstill && !wire->thread_count && !wire->kept_count;
}

/* Fill in all threads of a sample. */
static int receive_threads(struct pmp_sample *sample, const struct pmp_wire_sample *wire,
			   const struct arrays *arrays, const struct pmp_sample *last)
{
	size_t threads = (size_t)wire->thread_count + wire->kept_count;
	int status;

	if (wire->standstill && wire->outside_count)
		return PMP_EFORMAT;
	if (is_still(wire))
		return last && last->standstill.number == wire->standstill &&
				       !wire->frame_count
			       ? pmp_sample_copy_still(sample, last)
			       : PMP_EFORMAT;
	if (PMP_RESERVE(&sample->threads, &sample->thread_capacity, threads) ||
	    PMP_RESERVE(&sample->frames, &sample->frame_capacity,
			wire->frame_count + (last ? last->frame_count : 0)))
		return PMP_ENOMEM;
	status = fill_threads(sample, wire, arrays, last);
	if (!status && wire->standstill &&
	    !pmp_sample_stand_still(sample, wire->standstill))
		return PMP_EFORMAT;
	return status;
}

static int fill_sample(struct pmp_sample *sample, const struct pmp_wire_sample *wire,
		       const struct arrays *arrays, const struct pmp_sample *last)
{
	int status = receive_threads(sample, wire, arrays, last);

	if (!status)
		status = fill_outsides(sample, wire, arrays);
	if (!status)
		status = fill_census(sample, wire, arrays);
	if (status)
		return status;
	memcpy(sample->name, wire->name, sizeof(sample->name));
	sample->time = wire->time;
	sample->realtime = wire->realtime;
	sample->duration = wire->duration;
	sample->any_stopped = wire->any_stopped;
	sample->seen = wire->seen;
	sample->skipped = wire->skipped;
	sample->vanished = wire->vanished;
	sample->execed = wire->execed;
	sample->owner = wire->owner;
	return memchr(sample->name, '\0', sizeof(sample->name)) ? 0 : PMP_EFORMAT;
}

/*
 * A new sample, with the memory of the last but one if that has no other owner any more:
 * half a megabyte for a thousand threads, which the kernel would otherwise take back and
 * clear each time.
 */
static struct pmp_sample *reuse_sample(struct pmp_peer *peer,
				       const struct pmp_wire_sample *wire)
{
	struct pmp_sample *spare = peer ? peer->spare : NULL;
	size_t threads = (size_t)wire->thread_count + wire->kept_count;

	if (!spare)
		return pmp_sample_new();
	peer->spare = NULL;
	if (is_still(wire) && spare->old_standstill.number == wire->standstill)
		return spare;
	if (spare->thread_capacity / SPARE_MOST <= threads)
		return spare;
	pmp_sample_free(spare);
	return pmp_sample_new();
}

static void remember_received(struct pmp_peer *peer, struct pmp_sample *sample)
{
	struct pmp_sample *old = peer->last;

	peer->last = pmp_sample_ref(sample);
	if (!old || old->refs > 1 || peer->spare) {
		pmp_sample_free(old);
		return;
	}
	pmp_sample_clear(old);
	peer->spare = old;
}

/* Find the arrays in a message. False: their lengths do not fit. */
static bool take_arrays(struct message_rest *cursor, const struct pmp_wire_sample *wire,
			struct arrays *arrays)
{
	*arrays = (struct arrays){ 0 };
	arrays->threads =
		take(cursor, (uint64_t)wire->thread_count * sizeof(struct pmp_thread));
	arrays->frames =
		take(cursor, (uint64_t)wire->frame_count * sizeof(struct pmp_raw_frame));
	arrays->kept = take(cursor, (uint64_t)wire->kept_count * sizeof(uint32_t));
	arrays->outsides =
		take(cursor, (uint64_t)wire->outside_count * sizeof(struct pmp_outside));
	arrays->others =
		take(cursor, (uint64_t)wire->other_count * sizeof(struct pmp_other));
	if (!arrays->threads || !arrays->frames || !arrays->kept || !arrays->outsides ||
	    !arrays->others)
		return false;
	if (!wire->has_census)
		return !cursor->left && !wire->census_count;
	arrays->census = take(cursor, sizeof(struct pmp_census_totals));
	arrays->census_rows = take(cursor, (uint64_t)wire->census_count *
						   sizeof(struct pmp_census_row));
	return arrays->census && arrays->census_rows && !cursor->left;
}

static int receive_sample(struct pmp_receiver *receiver, pid_t pid,
			  struct message_rest *cursor, struct pmp_sample **result)
{
	struct pmp_wire_sample wire;
	struct pmp_sample *sample;
	struct arrays arrays;
	struct pmp_peer *peer;
	int status;

	if (!take_struct(cursor, &wire, sizeof(wire)) ||
	    !take_arrays(cursor, &wire, &arrays) || wire.execed > 1 ||
	    wire.has_maps > 1 || wire.walk_cut > 1 || wire.has_census > 1 ||
	    wire.census_count > PMP_CENSUS_ROWS_MAX)
		return PMP_EFORMAT;
	peer = wire.has_maps ? pmp_peers_find(&receiver->peers, pid) : NULL;
	if (wire.has_maps &&
	    (!peer || !peer->maps || peer->maps->generation != wire.generation))
		return PMP_EFORMAT;
	sample = reuse_sample(peer, &wire);
	if (!sample)
		return PMP_ENOMEM;
	sample->pid = pid;
	sample->maps = peer ? pmp_maps_ref(peer->maps) : NULL;
	status = fill_sample(sample, &wire, &arrays, peer ? peer->last : NULL);
	if (status) {
		pmp_sample_free(sample);
		return status;
	}
	if (peer)
		remember_received(peer, sample);
	*result = sample;
	return 0;
}

/* ---- heaps --------------------------------------------------------------------------- */

static bool totals_valid(const struct pmp_heap_totals *totals)
{
	return totals->allocator < PMP_HEAP_ALLOCATOR_COUNT &&
	       totals->state < PMP_HEAP_STATE_COUNT && totals->ended <= 1 &&
	       memchr(totals->allocator_name, '\0', sizeof(totals->allocator_name));
}

/* first: index of the event's first frame, which is after those of the event before. */
static bool event_valid(const struct pmp_heap_event *event,
			const struct pmp_heap_batch *batch, size_t first)
{
	return event->kind < PMP_HEAP_KIND_COUNT &&
	       event->function < PMP_HEAP_FUNCTION_COUNT && event->end < PMP_END_COUNT &&
	       event->thread < batch->thread_count && event->frame == first &&
	       event->frame_count <= batch->frame_count - first;
}

static bool batch_valid(const struct pmp_heap_batch *batch)
{
	size_t first = 0;

	for (size_t i = 0; i < batch->thread_count; i++)
		if (batch->threads[i].tid < 0 ||
		    !memchr(batch->threads[i].name, '\0', PMP_NAME_SIZE))
			return false;
	for (size_t i = 0; i < batch->event_count; i++) {
		if (!event_valid(&batch->events[i], batch, first))
			return false;
		first += batch->events[i].frame_count;
	}
	return first == batch->frame_count && totals_valid(&batch->totals) &&
	       memchr(batch->name, '\0', sizeof(batch->name)) &&
	       frames_valid(batch->frames, batch->frame_count);
}

/* Copy the arrays of a PMP_WIRE_HEAP, whose sizes have been checked. */
static int fill_batch(struct pmp_heap_batch *batch, const struct pmp_wire_heap *wire,
		      const void *threads, const void *events, const void *frames)
{
	if (PMP_RESERVE(&batch->threads, &batch->thread_capacity, wire->thread_count) ||
	    PMP_RESERVE(&batch->events, &batch->event_capacity, wire->event_count) ||
	    PMP_RESERVE(&batch->frames, &batch->frame_capacity, wire->frame_count))
		return PMP_ENOMEM;
	if (wire->thread_count)
		memcpy(batch->threads, threads,
		       wire->thread_count * sizeof(*batch->threads));
	if (wire->event_count)
		memcpy(batch->events, events, wire->event_count * sizeof(*batch->events));
	if (wire->frame_count)
		memcpy(batch->frames, frames, wire->frame_count * sizeof(*batch->frames));
	batch->thread_count = wire->thread_count;
	batch->event_count = wire->event_count;
	batch->frame_count = wire->frame_count;
	batch->time = wire->time;
	batch->totals = wire->totals;
	memcpy(batch->name, wire->name, sizeof(batch->name));
	return batch_valid(batch) ? 0 : PMP_EFORMAT;
}

static int receive_heap(struct pmp_receiver *receiver, pid_t pid,
			struct message_rest *cursor, struct pmp_heap_batch **result)
{
	const void *threads, *events, *frames;
	struct pmp_wire_heap wire;
	struct pmp_heap_batch *batch;
	struct pmp_peer *peer;
	int status;

	if (!take_struct(cursor, &wire, sizeof(wire)))
		return PMP_EFORMAT;
	threads = take(cursor, (uint64_t)wire.thread_count * sizeof(*batch->threads));
	events = take(cursor, (uint64_t)wire.event_count * sizeof(*batch->events));
	frames = take(cursor, (uint64_t)wire.frame_count * sizeof(*batch->frames));
	if (!threads || !events || !frames || cursor->left || wire.has_maps > 1)
		return PMP_EFORMAT;
	peer = wire.has_maps ? pmp_peers_find(&receiver->peers, pid) : NULL;
	if (wire.has_maps
		    ? !peer || !peer->maps || peer->maps->generation != wire.generation
		    : wire.frame_count > 0)
		return PMP_EFORMAT;
	batch = pmp_heap_batch_new();
	if (!batch)
		return PMP_ENOMEM;
	batch->pid = pid;
	batch->maps = peer ? pmp_maps_ref(peer->maps) : NULL;
	status = fill_batch(batch, &wire, threads, events, frames);
	if (status)
		pmp_heap_batch_free(batch);
	else
		*result = batch;
	return status;
}

static int receive_note(struct message_rest *cursor, uint32_t kind,
			struct pmp_received *received)
{
	if (cursor->left > PMP_WIRE_NOTE_MAX)
		return PMP_EFORMAT;
	received->note = cursor->at;
	received->note_length = cursor->left;
	received->note_kind = kind;
	return 0;
}

static int receive_forget(struct pmp_receiver *receiver, pid_t pid,
			  struct message_rest *cursor)
{
	struct pmp_peer *peer = pmp_peers_find(&receiver->peers, pid);

	if (!peer || cursor->left)
		return PMP_EFORMAT;
	pmp_peers_remove(&receiver->peers, peer);
	return 0;
}

/* Use one complete message. 1: *received is filled; 0: it has nothing for the caller. */
static int dispatch(struct pmp_receiver *receiver, const struct pmp_wire_header *header,
		    struct pmp_received *received)
{
	struct message_rest cursor = {
		.at = receiver->data + receiver->begin + sizeof(*header),
		.left = header->length,
	};
	pid_t pid = (pid_t)header->subject;
	int status;

	switch (header->type) {
	case PMP_WIRE_MODULE: return receive_module(receiver, pid, &cursor);
	case PMP_WIRE_MAPS: return receive_maps(receiver, pid, &cursor);
	case PMP_WIRE_FORGET: return receive_forget(receiver, pid, &cursor);
	case PMP_WIRE_SAMPLE:
		status = receive_sample(receiver, pid, &cursor, &received->sample);
		return status ? status : 1;
	case PMP_WIRE_HEAP:
		status = receive_heap(receiver, pid, &cursor, &received->heap);
		return status ? status : 1;
	case PMP_WIRE_NOTE:
		status = receive_note(&cursor, header->subject, received);
		return status ? status : 1;
	}
	return PMP_EFORMAT;
}

/*
 * Use the complete messages, up to the first one for the caller: 1. 0: more bytes
 * are needed. A message that fails for want of memory is kept, to be tried again.
 */
static int use(struct pmp_receiver *receiver, struct pmp_received *received)
{
	int status = 0;

	while (!status) {
		size_t have = receiver->end - receiver->begin, need;
		struct pmp_wire_header header;

		if (have < sizeof(header))
			break;
		memcpy(&header, receiver->data + receiver->begin, sizeof(header));
		receiver->other_version = pmp_wire_is_other_version(header.magic);
		if (header.magic != PMP_WIRE_MAGIC ||
		    header.length > PMP_WIRE_MESSAGE_MAX ||
		    header.type < PMP_WIRE_MODULE || header.type > PMP_WIRE_HEAP ||
		    (header.type == PMP_WIRE_NOTE && header.length > PMP_WIRE_NOTE_MAX))
			return PMP_EFORMAT;
		need = sizeof(header) + ((header.length + 7) & ~(size_t)7);
		if (have < need)
			break;
		status = dispatch(receiver, &header, received);
		if (status >= 0)
			receiver->begin += need;
	}
	/* A descriptor that no complete message has used is of no use. */
	if (receiver->begin == receiver->end)
		drop_fds(receiver);
	return status;
}

/* Keep a descriptor, unless it is one of the last, which are reserved for other uses: then
 * its module has none. */
static int keep_fd(int fd)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) || (rlim_t)fd + FDS_SPARED < limit.rlim_cur)
		return fd;
	close(fd);
	return -1;
}

/* Queue the descriptors that came with a read. False: more than there can be. */
static bool keep_fds(struct pmp_receiver *receiver, struct msghdr *msg)
{
	bool some = false, fits = true;
	struct cmsghdr *cmsg = CMSG_FIRSTHDR(msg);

	for (; cmsg; cmsg = CMSG_NXTHDR(msg, cmsg)) {
		size_t count = (cmsg->cmsg_len - CMSG_LEN(0)) / sizeof(int);

		if (cmsg->cmsg_level != SOL_SOCKET || cmsg->cmsg_type != SCM_RIGHTS)
			continue;
		for (size_t i = 0; i < count; i++) {
			int fd;

			memcpy(&fd, CMSG_DATA(cmsg) + i * sizeof(fd), sizeof(fd));
			some = true;
			if (receiver->fd_count < FDS_MAX) {
				receiver->fds[receiver->fd_count++] = keep_fd(fd);
			} else {
				close(fd);
				fits = false;
			}
		}
	}
	/* We have too many open files: the module has no descriptor. */
	if ((msg->msg_flags & MSG_CTRUNC) && !some) {
		if (receiver->fd_count < FDS_MAX)
			receiver->fds[receiver->fd_count++] = -1;
		else
			fits = false;
	}
	return fits;
}

/* Make room for a read after what was received; borrowed notes become invalid. */
static int make_room(struct pmp_receiver *receiver)
{
	size_t have = receiver->end - receiver->begin;

	if (have == 0 && receiver->capacity > KEEP_SIZE) {
		free(receiver->data);
		receiver->data = NULL;
		receiver->capacity = 0;
	}
	if (have && receiver->begin)
		memmove(receiver->data, receiver->data + receiver->begin, have);
	receiver->begin = 0;
	receiver->end = have;
	return PMP_RESERVE(&receiver->data, &receiver->capacity, have + READ_SIZE);
}

/* Read what is there. 1: something, or the end (.closed); 0: nothing yet. */
static int fill(struct pmp_receiver *receiver)
{
	union pmp_wire_control control;
	struct iovec room;
	struct msghdr msg = {
		.msg_iov = &room,
		.msg_iovlen = 1,
		.msg_control = control.data,
		.msg_controllen = sizeof(control.data),
	};
	ssize_t got;

	if (make_room(receiver))
		return PMP_ENOMEM;
	room.iov_base = receiver->data + receiver->end;
	room.iov_len = receiver->capacity - receiver->end;
	do
		got = recvmsg(receiver->fd, &msg, MSG_CMSG_CLOEXEC);
	while (got < 0 && errno == EINTR);
	if (got < 0 && (errno == EAGAIN))
		return 0;
	if (got < 0 && errno != ECONNRESET)
		return PMP_EIO;
	if (got <= 0) {
		receiver->closed = true;
		return 1;
	}
	receiver->end += (size_t)got;
	if (!keep_fds(receiver, &msg) || (uint64_t)got > receiver->bytes_left)
		return PMP_EFORMAT;
	receiver->bytes_left -= (uint64_t)got;
	return 1;
}

int pmp_receiver_new(int fd, struct pmp_receiver **receiver, struct pmp_error *err)
{
	*receiver = calloc(1, sizeof(**receiver));
	if (!*receiver)
		return pmp_error_nomem(err, "receiving samples");
	(*receiver)->fd = fd;
	pmp_receiver_limit(*receiver, UINT64_MAX, SIZE_MAX, KNOWN_MAX);
	return 0;
}

void pmp_receiver_limit(struct pmp_receiver *receiver, uint64_t bytes, size_t modules,
			uint64_t known)
{
	receiver->bytes_left = bytes;
	receiver->modules_left = modules;
	receiver->known_max = known;
}

void pmp_receiver_free(struct pmp_receiver *receiver)
{
	if (!receiver)
		return;
	drop_fds(receiver);
	pmp_peers_free(&receiver->peers);
	free(receiver->data);
	free(receiver);
}

static int receive_failed(struct pmp_receiver *receiver, int status,
			  struct pmp_error *err)
{
	switch (status) {
	case PMP_ENOMEM: return pmp_error_nomem(err, "receiving a sample");
	case PMP_EIO:
		return pmp_error_sys(err, PMP_EIO, errno,
				     "cannot receive from the other process");
	case PMP_ELIMIT:
		receiver->refused = status;
		return pmp_error_set(err, status,
				     "the other process describes more mapped files than "
				     "are kept");
	default:
		receiver->refused = PMP_EFORMAT;
		return pmp_error_set(
			err, PMP_EFORMAT,
			receiver->other_version
				? "the other process uses another version of libpmp"
				: "malformed message from the other process");
	}
}

/* The rest has to wait until the socket is looked at again. Whoever does not look, because it
 * blocks, gets all in one call. */
static bool turn_is_over(const struct pmp_receiver *receiver, uint64_t bytes)
{
	return bytes >= TURN_SIZE && (fcntl(receiver->fd, F_GETFL) & O_NONBLOCK);
}

int pmp_receiver_next(struct pmp_receiver *receiver, struct pmp_received *received,
		      struct pmp_error *err)
{
	const uint64_t before = receiver->bytes_left;
	int status;

	*received = (struct pmp_received){ 0 };
	if (receiver->refused)
		return receive_failed(receiver, receiver->refused, err);
	for (;;) {
		status = use(receiver, received);
		if (status)
			break;
		if (receiver->closed)
			return pmp_error_set(err, PMP_ESRCH, "the other process is gone");
		/* Nothing complete is left now that would not be seen there. */
		if (turn_is_over(receiver, before - receiver->bytes_left))
			break;
		status = fill(receiver);
		if (status <= 0)
			break;
	}
	return status < 0 ? receive_failed(receiver, status, err) : status;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The sending end of the socket. */
#include "libpmp.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/fault.h"
#include "wire/encoding.h"
#include "wire/peers.h"

#define FD_TRIES 100 /* 1 ms each, while too many descriptors are in flight */
#define PARTS_MAX 8

struct pmp_sender {
	int fd;
	int broken; /* errno that has cut the stream inside a message, or 0 */
	struct pmp_peers peers;
	/* The parts of the current sample that are sent. */
	struct pmp_thread *threads;
	struct pmp_raw_frame *frames;
	uint32_t *kept;
	size_t thread_capacity, frame_capacity, kept_capacity;
};

struct outgoing {
	struct pmp_wire_header header;
	struct iovec parts[1 + PARTS_MAX]; /* the header, parts, zeros */
	size_t count;
	uint64_t length;
	int fd; /* to send along; -1: none */
};

static void message_begin(struct outgoing *message, uint32_t type, uint32_t subject)
{
	*message = (struct outgoing){
		.header = { .magic = PMP_WIRE_MAGIC, .type = type, .subject = subject },
		.count = 1,
		.fd = -1,
	};
}

static void message_add(struct outgoing *message, const void *data, size_t length)
{
	if (length)
		message->parts[message->count++] = (struct iovec){
			.iov_base = (void *)(uintptr_t)data,
			.iov_len = length,
		};
	message->length += length;
}

/* Advance the list of parts past what was sent. */
static void advance(struct msghdr *msg, size_t sent)
{
	while (msg->msg_iovlen && sent >= msg->msg_iov->iov_len) {
		sent -= msg->msg_iov->iov_len;
		msg->msg_iov++;
		msg->msg_iovlen--;
	}
	if (sent) {
		msg->msg_iov->iov_base = (char *)msg->msg_iov->iov_base + sent;
		msg->msg_iov->iov_len -= sent;
	}
}

/*
 * Write it all. Returns 0 or an errno; sets sender->broken unless nothing of the
 * message was sent and the failure may be due to its descriptor.
 */
static int transmit(struct pmp_sender *sender, struct msghdr *msg)
{
	bool begun = false;

	while (msg->msg_iovlen) {
		ssize_t sent = sendmsg(sender->fd, msg, MSG_NOSIGNAL);

		if (sent >= 0) {
			/* The descriptor went with the first byte. */
			msg->msg_control = NULL;
			msg->msg_controllen = 0;
			advance(msg, (size_t)sent);
			begun = true;
		} else if (errno == EAGAIN) {
			struct pollfd wait = { .fd = sender->fd, .events = POLLOUT };

			poll(&wait, 1, -1);
		} else if (errno != EINTR) {
			int error = errno;

			if (begun || !msg->msg_control || error == EPIPE ||
			    error == ECONNRESET)
				sender->broken = error;
			return error;
		}
	}
	return 0;
}

/* Returns 0 or an errno, see transmit(). The message can be sent again. */
static int message_transmit(struct pmp_sender *sender, struct outgoing *message)
{
	static const char zeros[8];
	union pmp_wire_control control = { 0 };
	struct iovec parts[2 + PARTS_MAX];
	struct msghdr msg = { .msg_iov = parts, .msg_iovlen = message->count };

	message->header.length = (uint32_t)message->length;
	memcpy(parts, message->parts, message->count * sizeof(*parts));
	parts[0] = (struct iovec){ &message->header, sizeof(message->header) };
	if (message->length % 8)
		parts[msg.msg_iovlen++] = (struct iovec){
			(void *)(uintptr_t)zeros,
			8 - message->length % 8,
		};
	if (message->fd >= 0) {
		struct cmsghdr *cmsg;

		msg.msg_control = control.data;
		msg.msg_controllen = sizeof(control.data);
		cmsg = CMSG_FIRSTHDR(&msg);
		cmsg->cmsg_level = SOL_SOCKET;
		cmsg->cmsg_type = SCM_RIGHTS;
		cmsg->cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(cmsg), &message->fd, sizeof(int));
	}
	return transmit(sender, &msg);
}

static int send_failed(struct pmp_error *err, int error)
{
	bool gone = error == EPIPE || error == ECONNRESET;

	return pmp_error_sys(err, gone ? PMP_ESRCH : PMP_EIO, error,
			     "cannot send to the other process");
}

static int message_send(struct pmp_sender *sender, struct outgoing *message,
			struct pmp_error *err)
{
	int error;

	if (message->length > PMP_WIRE_MESSAGE_MAX)
		return pmp_error_set(err, PMP_ELIMIT,
				     "a message of %llu bytes is too long",
				     (unsigned long long)message->length);
	error = message_transmit(sender, message);
	return error ? send_failed(err, error) : 0;
}

/* If the descriptor cannot be sent, send the module without, with that errno. */
static int send_module(struct pmp_sender *sender, pid_t pid,
		       const struct pmp_module *module, struct pmp_error *err)
{
	struct pmp_wire_module wire = {
		.device = module->device,
		.inode = module->inode,
		.image_size = module->image && module->image_size <= PMP_WIRE_IMAGE_MAX
				      ? module->image_size
				      : 0,
		.id = module->id,
		.kind = module->kind,
		.path_length = (uint32_t)strnlen(module->path, PMP_WIRE_PATH_MAX),
		.open_errno = (uint32_t)module->open_errno,
		.deleted = module->deleted,
		.has_fd = module->fd >= 0,
	};
	struct outgoing message;
	int error = 0;

	message_begin(&message, PMP_WIRE_MODULE, (uint32_t)pid);
	message_add(&message, &wire, sizeof(wire));
	message_add(&message, module->path, wire.path_length);
	message_add(&message, module->image, wire.image_size);
	message.fd = module->fd;
	for (int i = 0; i < FD_TRIES; i++) {
		error = message_transmit(sender, &message);
		if (error != ETOOMANYREFS)
			break;
		/* The receiver has to receive some first. */
		poll(NULL, 0, 1);
	}
	while (!error && PMP_FAULT("modules-forever")) {
		message.fd = -1;
		wire.has_fd = 0;
		wire.id++;
		error = message_transmit(sender, &message);
	}
	if (!error || sender->broken)
		return error ? send_failed(err, error) : 0;
	wire.has_fd = 0;
	wire.open_errno = (uint32_t)error;
	message.fd = -1;
	return message_send(sender, &message, err);
}

static int send_maps(struct pmp_sender *sender, pid_t pid, const struct pmp_maps *maps,
		     struct pmp_error *err)
{
	struct pmp_wire_maps wire = {
		.generation = maps->generation,
		.exec_generation = maps->exec_generation,
		.region_count = (uint32_t)maps->region_count,
		.module_count = (uint32_t)maps->module_count,
		.perf_map = maps->perf_map ? maps->perf_map->id : PMP_WIRE_NO_MODULE,
	};
	struct pmp_wire_region *regions =
		calloc(maps->region_count + 1, sizeof(*regions));
	uint32_t *ids = calloc(maps->module_count + 1, sizeof(*ids));
	struct outgoing message;
	int status;

	if (!regions || !ids) {
		status = pmp_error_nomem(err, "sending the map of a process");
		goto out;
	}
	for (size_t i = 0; i < maps->region_count; i++) {
		const struct pmp_region *region = &maps->regions[i];

		regions[i] = (struct pmp_wire_region){
			region->start,	    region->end,  region->offset,
			region->module->id, region->prot,
		};
	}
	for (size_t i = 0; i < maps->module_count; i++)
		ids[i] = maps->modules[i]->id;
	message_begin(&message, PMP_WIRE_MAPS, (uint32_t)pid);
	message_add(&message, &wire, sizeof(wire));
	message_add(&message, regions, maps->region_count * sizeof(*regions));
	message_add(&message, ids, maps->module_count * sizeof(*ids));
	status = message_send(sender, &message, err);
out:
	free(regions);
	free(ids);
	return status;
}

static int forget(struct pmp_sender *sender, struct pmp_peer *peer, struct pmp_error *err)
{
	struct outgoing message;
	int status;

	message_begin(&message, PMP_WIRE_FORGET, (uint32_t)peer->pid);
	status = message_send(sender, &message, err);
	if (!status)
		pmp_peers_remove(&sender->peers, peer);
	return status;
}

int pmp_sender_forget(struct pmp_sender *sender, pid_t pid, struct pmp_error *err)
{
	struct pmp_peer *peer = pmp_peers_find(&sender->peers, pid);

	return peer ? forget(sender, peer, err) : 0;
}

/* Forget the least recently used target, to make room for another one. */
static int forget_one(struct pmp_sender *sender, struct pmp_error *err)
{
	struct pmp_peer *oldest = &sender->peers.items[0];

	for (size_t i = 1; i < sender->peers.count; i++) {
		if (sender->peers.items[i].used < oldest->used)
			oldest = &sender->peers.items[i];
	}
	return forget(sender, oldest, err);
}

/* Does the receiver have these maps, with all descriptors that are open by now? */
static bool is_introduced(const struct pmp_peer *peer, const struct pmp_maps *maps)
{
	if (!peer || peer->maps != maps)
		return false;
	for (size_t i = 0; maps->lazy && i < peer->known.count; i++)
		if (peer->known.items[i].fd != peer->known.items[i].module->fd)
			return false;
	return true;
}

/* Send what the receiver does not know yet about this address space. */
static int introduce(struct pmp_sender *sender, pid_t pid, struct pmp_maps *maps,
		     struct pmp_error *err)
{
	struct pmp_peer *peer = pmp_peers_find(&sender->peers, pid);
	struct pmp_sent_modules known = { 0 };
	int status;

	if (is_introduced(peer, maps))
		return 0;
	if (!peer) {
		status = sender->peers.count < PMP_WIRE_PEERS_MAX
				 ? 0
				 : forget_one(sender, err);
		if (status)
			return status;
		peer = pmp_peers_add(&sender->peers, pid);
	}
	status = peer ? pmp_sent_modules_of(maps, &known) : PMP_ENOMEM;
	if (status == PMP_ENOMEM)
		return pmp_error_nomem(err, "sending the map of a process");
	if (status)
		return pmp_error_set(err, PMP_EINVAL, "two modules have the same number");
	for (size_t i = 0; i < known.count && !status; i++) {
		const struct pmp_sent_module *new = &known.items[i];
		const struct pmp_sent_module *old =
			pmp_sent_modules_find(&peer->known, new->id);

		if (!old || old->module != new->module || old->fd != new->fd)
			status = send_module(sender, pid, new->module, err);
	}
	if (!status)
		status = send_maps(sender, pid, maps, err);
	if (status)
		pmp_sent_modules_free(&known);
	else
		pmp_peer_set_maps(peer, pmp_maps_ref(maps), known);
	return status;
}

int pmp_sender_new(int fd, struct pmp_sender **sender, struct pmp_error *err)
{
	*sender = calloc(1, sizeof(**sender));
	if (!*sender)
		return pmp_error_nomem(err, "sending samples");
	(*sender)->fd = fd;
	return 0;
}

void pmp_sender_free(struct pmp_sender *sender)
{
	if (!sender)
		return;
	pmp_peers_free(&sender->peers);
	free(sender->threads);
	free(sender->frames);
	free(sender->kept);
	free(sender);
}

/* Pack a thread that has run, with its frames, into memory that has been reserved. */
static void pack_thread(struct pmp_sender *sender, const struct pmp_sample *sample,
			const struct pmp_thread *thread, struct pmp_wire_sample *wire)
{
	struct pmp_thread *packed = &sender->threads[wire->thread_count++];

	*packed = *thread;
	packed->frame = wire->frame_count;
	if (thread->frame_count)
		memcpy(sender->frames + wire->frame_count, sample->frames + thread->frame,
		       thread->frame_count * sizeof(*sample->frames));
	wire->frame_count += (uint32_t)thread->frame_count;
}

/* Are threads in the order of their ids, as in every sample of a capture? Otherwise they
 * are not given by index. */
static bool is_ordered(const struct pmp_sample *sample)
{
	for (size_t i = 1; i < sample->thread_count; i++)
		if (sample->threads[i - 1].tid >= sample->threads[i].tid)
			return false;
	return true;
}

/* Does the receiver have all threads of the sample? */
static bool is_sent(const struct pmp_sample *sample, const struct pmp_peer *peer)
{
	return peer && sample->standstill.number &&
	       sample->standstill.number == peer->standstill;
}

/* Divide the threads into those that are as they were last sent, and all others. */
static void pack(struct pmp_sender *sender, const struct pmp_sample *sample,
		 const struct pmp_peer *peer, struct pmp_wire_sample *wire)
{
	size_t index = 0;

	for (size_t i = 0; i < sample->thread_count; i++) {
		const struct pmp_thread *thread = &sample->threads[i];

		while (peer && index < peer->sent_count &&
		       peer->sent[index].tid < thread->tid)
			index++;
		if (peer && index < peer->sent_count &&
		    thread->obtained == PMP_UNCHANGED && thread->reading &&
		    peer->sent[index].tid == thread->tid &&
		    peer->sent[index].reading == thread->reading &&
		    peer->sent[index].asleep_since == thread->asleep_since &&
		    pmp_wait_same(&peer->sent[index].wait, &thread->wait))
			sender->kept[wire->kept_count++] = (uint32_t)index++;
		else
			pack_thread(sender, sample, thread, wire);
	}
}

static int reserve_pack(struct pmp_sender *sender, const struct pmp_sample *sample,
			struct pmp_peer *peer)
{
	size_t count = sample->thread_count + 1;

	if (PMP_RESERVE(&sender->threads, &sender->thread_capacity, count) ||
	    PMP_RESERVE(&sender->kept, &sender->kept_capacity, count) ||
	    PMP_RESERVE(&sender->frames, &sender->frame_capacity,
			sample->frame_count + 1))
		return PMP_ENOMEM;
	return peer ? PMP_RESERVE(&peer->sent, &peer->sent_capacity, count) : 0;
}

static void remember_sent(struct pmp_peer *peer, const struct pmp_sample *sample,
			  bool ordered, size_t kept)
{
	peer->standstill = ordered ? sample->standstill.number : 0;
	if (kept == peer->sent_count && kept == sample->thread_count)
		return;
	peer->sent_count = ordered ? sample->thread_count : 0;
	for (size_t i = 0; i < peer->sent_count; i++)
		peer->sent[i] = (struct pmp_sent_thread){
			sample->threads[i].tid, sample->threads[i].reading,
			sample->threads[i].wait, sample->threads[i].asleep_since
		};
}

static void add_census(struct outgoing *message, const struct pmp_census *census)
{
	if (!census)
		return;
	message_add(message, &census->totals, sizeof(census->totals));
	message_add(message, census->rows, census->row_count * sizeof(*census->rows));
}

int pmp_sender_sample(struct pmp_sender *sender, const struct pmp_sample *sample,
		      struct pmp_error *err)
{
	struct pmp_wire_sample wire = {
		.time = sample->time,
		.realtime = sample->realtime,
		.duration = sample->duration,
		.any_stopped = sample->any_stopped,
		.seen = sample->seen,
		.skipped = sample->skipped,
		.vanished = sample->vanished,
		.generation = sample->maps ? sample->maps->generation : 0,
		.has_maps = sample->maps != NULL,
		.execed = sample->execed,
		.owner = sample->owner,
		.hidden = sample->hidden,
		.standstill = sample->standstill.number,
		.walk_cut = sample->walk_cut,
		.outside_count = (uint32_t)sample->outside_count,
		.other_count = (uint32_t)sample->other_count,
		.has_census = sample->census != NULL,
		.census_count = sample->census ? (uint32_t)sample->census->row_count : 0,
	};
	struct pmp_peer *peer = NULL;
	struct outgoing message;
	bool ordered = true;
	int status;

	if (sender->broken)
		return send_failed(err, sender->broken);
	status = sample->maps ? introduce(sender, sample->pid, sample->maps, err) : 0;
	if (status)
		return status;
	if (sample->maps)
		peer = pmp_peers_find(&sender->peers, sample->pid);
	if (!is_sent(sample, peer)) {
		ordered = is_ordered(sample);
		if (reserve_pack(sender, sample, peer))
			return pmp_error_nomem(err, "sending a sample");
		pack(sender, sample, ordered ? peer : NULL, &wire);
	}
	memcpy(wire.name, sample->name, sizeof(wire.name));
	message_begin(&message, PMP_WIRE_SAMPLE, (uint32_t)sample->pid);
	message_add(&message, &wire, sizeof(wire));
	message_add(&message, sender->threads,
		    wire.thread_count * sizeof(*sender->threads));
	message_add(&message, sender->frames, wire.frame_count * sizeof(*sender->frames));
	message_add(&message, sender->kept, wire.kept_count * sizeof(*sender->kept));
	message_add(&message, sample->outsides,
		    sample->outside_count * sizeof(*sample->outsides));
	message_add(&message, sample->others,
		    sample->other_count * sizeof(*sample->others));
	add_census(&message, sample->census);
	status = message_send(sender, &message, err);
	if (!status && peer && !is_sent(sample, peer))
		remember_sent(peer, sample, ordered, wire.kept_count);
	return status;
}

int pmp_sender_heap(struct pmp_sender *sender, const struct pmp_heap_batch *batch,
		    struct pmp_error *err)
{
	struct pmp_wire_heap wire = {
		.time = batch->time,
		.generation = batch->maps ? batch->maps->generation : 0,
		.totals = batch->totals,
		.has_maps = batch->maps != NULL,
		.thread_count = (uint32_t)batch->thread_count,
		.event_count = (uint32_t)batch->event_count,
		.frame_count = (uint32_t)batch->frame_count,
	};
	struct outgoing message;
	int status = 0;

	if (sender->broken)
		return send_failed(err, sender->broken);
	if (batch->maps)
		status = introduce(sender, batch->pid, batch->maps, err);
	if (status)
		return status;
	memcpy(wire.name, batch->name, sizeof(wire.name));
	message_begin(&message, PMP_WIRE_HEAP, (uint32_t)batch->pid);
	message_add(&message, &wire, sizeof(wire));
	message_add(&message, batch->threads,
		    batch->thread_count * sizeof(*batch->threads));
	message_add(&message, batch->events, batch->event_count * sizeof(*batch->events));
	message_add(&message, batch->frames, batch->frame_count * sizeof(*batch->frames));
	return message_send(sender, &message, err);
}

int pmp_sender_note(struct pmp_sender *sender, uint32_t kind, const void *data,
		    size_t length, struct pmp_error *err)
{
	struct outgoing message;

	if (sender->broken)
		return send_failed(err, sender->broken);
	if (length > PMP_WIRE_NOTE_MAX)
		return pmp_error_set(err, PMP_EINVAL, "a note of %zu bytes is too long",
				     length);
	message_begin(&message, PMP_WIRE_NOTE, kind);
	message_add(&message, data, length);
	return message_send(sender, &message, err);
}

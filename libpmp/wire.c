/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Samples on a stream socket, from the process that captures to the one that
 * names and counts. Both are of the same build on the same machine, so structs
 * travel as they are; but the sender may have crashed in the middle of a message
 * or be damaged, so every length, index, enumeration and string is checked.
 *
 *	MODULE	once per module of a target, with its descriptor (SCM_RIGHTS)
 *	MAPS	once per address space: regions and ids of modules sent before
 *	SAMPLE	threads and frames; means the last MAPS of its target. Threads that
 *		have not run since the last SAMPLE of it are named by their place there
 *	NOTE	bytes of the caller's own
 *	FORGET	what was said of a target is forgotten
 *
 * Each message is a header, its parts, and zeros up to a multiple of 8 bytes.
 * Both sides remember, per target, the newest maps and the modules in them, and
 * forget the others: a target that maps for ever costs no descriptors.
 */
#include "libpmp.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/error.h"
#include "sample.h"

#define MAGIC 0x31706d70u
#define MESSAGE_MAX (UINT32_C(1) << 30)	/* a million threads of 40 frames */
#define NOTE_MAX ((size_t)64 * 1024)
#define PATH_SIZE_MAX ((size_t)64 * 1024)
#define IMAGE_MAX ((size_t)16 << 20)	/* a vDSO has two pages */
#define PEERS_MAX 1024			/* targets remembered */
#define READ_SIZE ((size_t)64 * 1024)	/* room for one read */
#define KEEP_SIZE ((size_t)4 << 20)	/* a larger buffer is given back */
#define FDS_MAX 4			/* arrived, and their message not complete */
#define FD_TRIES 100			/* of 1 ms: too many descriptors on their way */
#define PARTS_MAX 5
#define NO_MODULE UINT32_MAX

enum { MODULE = 1, MAPS, SAMPLE, NOTE, FORGET };

struct header {
	uint32_t magic, type;
	uint32_t length;	/* of what follows, without the final zeros */
	uint32_t subject;	/* pid; the kind of a note */
};

struct wire_module {
	uint64_t device, inode, image_size;
	uint32_t id, kind, path_length, open_errno, deleted, has_fd;
	/* path, image */
};

struct wire_maps {
	uint64_t generation, exec_generation;
	uint32_t region_count, module_count, jitmap, unused;
	/* regions, module ids */
};

struct wire_region {
	uint64_t start, end, offset;
	uint32_t module, prot;
};

struct wire_sample {
	char name[PMP_NAME_SIZE];
	uint64_t time, realtime, duration, any_stopped, seen, skipped, vanished;
	uint64_t generation;
	uint32_t has_maps, execed, thread_count, frame_count, kept_count, unused;
	/* struct pmp_thread, struct pmp_raw_frame, uint32_t: places in the last sample */
};

/* ---- what both sides remember ------------------------------------------- */

struct known {
	uint32_t id;
	int fd;			/* as it was sent: a module may be opened later */
	struct pmp_module *module;	/* a reference */
};

/* A thread as it was sent. */
struct sent {
	pid_t tid;
	uint64_t reading;
};

struct known_list {
	struct known *items;	/* ascending ids */
	size_t count, capacity;
};

struct peer {
	pid_t pid;
	uint64_t used;		/* when, by the count of uses */
	struct pmp_maps *maps;	/* the newest; a reference; NULL: none yet */
	struct pmp_sample *last;	/* a reference (receiver) */
	struct sent *sent;		/* the threads of the last sample (sender) */
	size_t sent_count, sent_capacity;
	struct known_list known;	/* the modules in it, and (receiver) later ones */
};

struct peers {
	struct peer *items;
	size_t count, capacity;
	uint64_t uses;
};

static void known_free(struct known_list *known)
{
	for (size_t i = 0; i < known->count; i++)
		pmp_module_unref(known->items[i].module);
	free(known->items);
	*known = (struct known_list){ 0 };
}

/* Where id is or belongs. */
static size_t known_place(const struct known_list *known, uint32_t id)
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

static struct known *known_find(const struct known_list *known, uint32_t id)
{
	size_t i = known_place(known, id);

	return i < known->count && known->items[i].id == id ? &known->items[i] : NULL;
}

static int compare_known(const void *a, const void *b)
{
	const struct known *one = a, *other = b;

	return (one->id > other->id) - (one->id < other->id);
}

/* The modules of maps, sorted, with references. PMP_EFORMAT: an id occurs twice. */
static int known_of_maps(const struct pmp_maps *maps, struct known_list *known)
{
	*known = (struct known_list){ 0 };
	if (PMP_RESERVE(&known->items, &known->capacity, maps->module_count))
		return PMP_ENOMEM;
	for (size_t i = 0; i < maps->module_count; i++) {
		struct pmp_module *module = maps->modules[i];

		known->items[known->count++] = (struct known){
			.id = module->id,
			.fd = module->fd,
			.module = pmp_module_ref(module),
		};
	}
	if (known->count)
		qsort(known->items, known->count, sizeof(*known->items), compare_known);
	for (size_t i = 1; i < known->count; i++) {
		if (known->items[i].id == known->items[i - 1].id) {
			known_free(known);
			return PMP_EFORMAT;
		}
	}
	return 0;
}

static void peer_clear(struct peer *peer)
{
	pmp_maps_unref(peer->maps);
	known_free(&peer->known);
	pmp_sample_free(peer->last);
	free(peer->sent);
}

static struct peer *peers_find(struct peers *peers, pid_t pid)
{
	for (size_t i = 0; i < peers->count; i++) {
		if (peers->items[i].pid == pid) {
			peers->items[i].used = ++peers->uses;
			return &peers->items[i];
		}
	}
	return NULL;
}

static struct peer *peers_add(struct peers *peers, pid_t pid)
{
	struct peer *peer;

	if (PMP_RESERVE(&peers->items, &peers->capacity, peers->count + 1))
		return NULL;
	peer = &peers->items[peers->count++];
	*peer = (struct peer){ .pid = pid, .used = ++peers->uses };
	return peer;
}

static void peers_remove(struct peers *peers, struct peer *peer)
{
	struct peer *last = &peers->items[--peers->count];

	peer_clear(peer);
	if (peer != last)
		*peer = *last;
}

static void peers_free(struct peers *peers)
{
	for (size_t i = 0; i < peers->count; i++)
		peer_clear(&peers->items[i]);
	free(peers->items);
}

/* The newest maps of a target are these from now on, and its modules those. */
static void peer_set_maps(struct peer *peer, struct pmp_maps *maps,
			  struct known_list known)
{
	pmp_maps_unref(peer->maps);
	known_free(&peer->known);
	peer->maps = maps;
	peer->known = known;
}

/* ---- sending ------------------------------------------------------------- */

struct pmp_sender {
	int fd;
	int broken;		/* errno after which the stream is cut inside a message */
	struct peers peers;
	/* What is sent of the sample at hand. */
	struct pmp_thread *threads;
	struct pmp_raw_frame *frames;
	uint32_t *kept;
	size_t thread_capacity, frame_capacity, kept_capacity;
};

struct message {
	struct header header;
	struct iovec parts[1 + PARTS_MAX];	/* the header, parts, zeros */
	size_t count;
	uint64_t length;
	int fd;			/* to send along; -1: none */
};

static void message_begin(struct message *message, uint32_t type, uint32_t subject)
{
	*message = (struct message){
		.header = { .magic = MAGIC, .type = type, .subject = subject },
		.count = 1,
		.fd = -1,
	};
}

static void message_add(struct message *message, const void *data, size_t length)
{
	if (length)
		message->parts[message->count++] = (struct iovec){
			.iov_base = (void *)(uintptr_t)data, .iov_len = length,
		};
	message->length += length;
}

/* Take what was sent off the list of parts. */
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
 * Write it all. Returns 0 or an errno; sender->broken is set unless nothing of
 * the message has gone and the descriptor was to blame.
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

			if (begun || !msg->msg_control ||
			    error == EPIPE || error == ECONNRESET)
				sender->broken = error;
			return error;
		}
	}
	return 0;
}

/* 0 or an errno: see transmit(). The message can be sent again. */
static int message_transmit(struct pmp_sender *sender, struct message *message)
{
	static const char zeros[8];
	union {
		char data[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control = { 0 };
	struct iovec parts[2 + PARTS_MAX];
	struct msghdr msg = { .msg_iov = parts, .msg_iovlen = message->count };

	message->header.length = (uint32_t)message->length;
	memcpy(parts, message->parts, message->count * sizeof(*parts));
	parts[0] = (struct iovec){ &message->header, sizeof(message->header) };
	if (message->length % 8)
		parts[msg.msg_iovlen++] = (struct iovec){
			(void *)(uintptr_t)zeros, 8 - message->length % 8,
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

static int message_send(struct pmp_sender *sender, struct message *message,
			struct pmp_error *err)
{
	int error;

	if (message->length > MESSAGE_MAX)
		return pmp_error_set(err, PMP_ELIMIT,
				     "a message of %llu bytes is too long",
				     (unsigned long long)message->length);
	error = message_transmit(sender, message);
	return error ? send_failed(err, error) : 0;
}

/* Without a descriptor, for the reason error, if it cannot be sent. */
static int send_module(struct pmp_sender *sender, pid_t pid,
		       const struct pmp_module *module, struct pmp_error *err)
{
	struct wire_module wire = {
		.device = module->device,
		.inode = module->inode,
		.image_size = module->image && module->image_size <= IMAGE_MAX ?
			      module->image_size : 0,
		.id = module->id,
		.kind = module->kind,
		.path_length = (uint32_t)strnlen(module->path, PATH_SIZE_MAX),
		.open_errno = (uint32_t)module->open_errno,
		.deleted = module->deleted,
		.has_fd = module->fd >= 0,
	};
	struct message message;
	int error = 0;

	message_begin(&message, MODULE, (uint32_t)pid);
	message_add(&message, &wire, sizeof(wire));
	message_add(&message, module->path, wire.path_length);
	message_add(&message, module->image, wire.image_size);
	message.fd = module->fd;
	for (int i = 0; i < FD_TRIES; i++) {
		error = message_transmit(sender, &message);
		if (error != ETOOMANYREFS)
			break;
		/* The receiver has to take some first. */
		poll(NULL, 0, 1);
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
	struct wire_maps wire = {
		.generation = maps->generation,
		.exec_generation = maps->exec_generation,
		.region_count = (uint32_t)maps->region_count,
		.module_count = (uint32_t)maps->module_count,
		.jitmap = maps->jitmap ? maps->jitmap->id : NO_MODULE,
	};
	struct wire_region *regions = calloc(maps->region_count + 1, sizeof(*regions));
	uint32_t *ids = calloc(maps->module_count + 1, sizeof(*ids));
	struct message message;
	int status;

	if (!regions || !ids) {
		status = pmp_error_nomem(err, "sending the map of a process");
		goto out;
	}
	for (size_t i = 0; i < maps->region_count; i++) {
		const struct pmp_region *region = &maps->regions[i];

		regions[i] = (struct wire_region){
			region->start, region->end, region->offset,
			region->module->id, region->prot,
		};
	}
	for (size_t i = 0; i < maps->module_count; i++)
		ids[i] = maps->modules[i]->id;
	message_begin(&message, MAPS, (uint32_t)pid);
	message_add(&message, &wire, sizeof(wire));
	message_add(&message, regions, maps->region_count * sizeof(*regions));
	message_add(&message, ids, maps->module_count * sizeof(*ids));
	status = message_send(sender, &message, err);
out:
	free(regions);
	free(ids);
	return status;
}

static int forget(struct pmp_sender *sender, struct peer *peer, struct pmp_error *err)
{
	struct message message;
	int status;

	message_begin(&message, FORGET, (uint32_t)peer->pid);
	status = message_send(sender, &message, err);
	if (!status)
		peers_remove(&sender->peers, peer);
	return status;
}

int pmp_sender_forget(struct pmp_sender *sender, pid_t pid, struct pmp_error *err)
{
	struct peer *peer = peers_find(&sender->peers, pid);

	return peer ? forget(sender, peer, err) : 0;
}

/* The least recently used target makes room for another one. */
static int forget_one(struct pmp_sender *sender, struct pmp_error *err)
{
	struct peer *oldest = &sender->peers.items[0];

	for (size_t i = 1; i < sender->peers.count; i++) {
		if (sender->peers.items[i].used < oldest->used)
			oldest = &sender->peers.items[i];
	}
	return forget(sender, oldest, err);
}

/* Tell what the receiver does not know yet of this address space. */
static int introduce(struct pmp_sender *sender, pid_t pid, struct pmp_maps *maps,
		     struct pmp_error *err)
{
	struct peer *peer = peers_find(&sender->peers, pid);
	struct known_list known = { 0 };
	int status;

	if (peer && peer->maps == maps)
		return 0;
	if (!peer) {
		status = sender->peers.count < PEERS_MAX ? 0 : forget_one(sender, err);
		if (status)
			return status;
		peer = peers_add(&sender->peers, pid);
	}
	status = peer ? known_of_maps(maps, &known) : PMP_ENOMEM;
	if (status == PMP_ENOMEM)
		return pmp_error_nomem(err, "sending the map of a process");
	if (status)
		return pmp_error_set(err, PMP_EINVAL, "two modules have the same number");
	for (size_t i = 0; i < known.count && !status; i++) {
		const struct known *new = &known.items[i];
		const struct known *old = known_find(&peer->known, new->id);

		if (!old || old->module != new->module || old->fd != new->fd)
			status = send_module(sender, pid, new->module, err);
	}
	if (!status)
		status = send_maps(sender, pid, maps, err);
	if (status)
		known_free(&known);
	else
		peer_set_maps(peer, pmp_maps_ref(maps), known);
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
	peers_free(&sender->peers);
	free(sender->threads);
	free(sender->frames);
	free(sender->kept);
	free(sender);
}

/* Put aside a thread that has run, with its frames. Room has been made. */
static void pack_thread(struct pmp_sender *sender, const struct pmp_sample *sample,
			const struct pmp_thread *thread, struct wire_sample *wire)
{
	struct pmp_thread *packed = &sender->threads[wire->thread_count++];

	*packed = *thread;
	packed->frame = wire->frame_count;
	if (thread->frame_count)
		memcpy(sender->frames + wire->frame_count, sample->frames + thread->frame,
		       thread->frame_count * sizeof(*sample->frames));
	wire->frame_count += (uint32_t)thread->frame_count;
}

/* As every sample of a capture is; of another one the threads are not told by place. */
static bool is_ordered(const struct pmp_sample *sample)
{
	for (size_t i = 1; i < sample->thread_count; i++)
		if (sample->threads[i - 1].tid >= sample->threads[i].tid)
			return false;
	return true;
}

/* Tell the threads that are as they were sent last from all others. */
static void pack(struct pmp_sender *sender, const struct pmp_sample *sample,
		 const struct peer *peer, struct wire_sample *wire)
{
	size_t place = 0;

	if (peer && !is_ordered(sample))
		peer = NULL;
	for (size_t i = 0; i < sample->thread_count; i++) {
		const struct pmp_thread *thread = &sample->threads[i];

		while (peer && place < peer->sent_count &&
		       peer->sent[place].tid < thread->tid)
			place++;
		if (peer && place < peer->sent_count && thread->obtained == PMP_UNCHANGED &&
		    thread->reading && peer->sent[place].tid == thread->tid &&
		    peer->sent[place].reading == thread->reading)
			sender->kept[wire->kept_count++] = (uint32_t)place++;
		else
			pack_thread(sender, sample, thread, wire);
	}
}

static int reserve_pack(struct pmp_sender *sender, const struct pmp_sample *sample,
			struct peer *peer)
{
	size_t count = sample->thread_count + 1;

	if (PMP_RESERVE(&sender->threads, &sender->thread_capacity, count) ||
	    PMP_RESERVE(&sender->kept, &sender->kept_capacity, count) ||
	    PMP_RESERVE(&sender->frames, &sender->frame_capacity, sample->frame_count + 1))
		return PMP_ENOMEM;
	return peer ? PMP_RESERVE(&peer->sent, &peer->sent_capacity, count) : 0;
}

static void remember_sent(struct peer *peer, const struct pmp_sample *sample)
{
	peer->sent_count = is_ordered(sample) ? sample->thread_count : 0;
	for (size_t i = 0; i < peer->sent_count; i++)
		peer->sent[i] = (struct sent){ sample->threads[i].tid,
					       sample->threads[i].reading };
}

int pmp_sender_sample(struct pmp_sender *sender, const struct pmp_sample *sample,
		      struct pmp_error *err)
{
	struct wire_sample wire = {
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
	};
	struct peer *peer = NULL;
	struct message message;
	int status;

	if (sender->broken)
		return send_failed(err, sender->broken);
	status = sample->maps ? introduce(sender, sample->pid, sample->maps, err) : 0;
	if (status)
		return status;
	if (sample->maps)
		peer = peers_find(&sender->peers, sample->pid);
	if (reserve_pack(sender, sample, peer))
		return pmp_error_nomem(err, "sending a sample");
	pack(sender, sample, peer, &wire);
	memcpy(wire.name, sample->name, sizeof(wire.name));
	message_begin(&message, SAMPLE, (uint32_t)sample->pid);
	message_add(&message, &wire, sizeof(wire));
	message_add(&message, sender->threads, wire.thread_count * sizeof(*sender->threads));
	message_add(&message, sender->frames, wire.frame_count * sizeof(*sender->frames));
	message_add(&message, sender->kept, wire.kept_count * sizeof(*sender->kept));
	status = message_send(sender, &message, err);
	if (!status && peer)
		remember_sent(peer, sample);
	return status;
}

int pmp_sender_note(struct pmp_sender *sender, uint32_t kind, const void *data,
		    size_t length, struct pmp_error *err)
{
	struct message message;

	if (sender->broken)
		return send_failed(err, sender->broken);
	if (length > NOTE_MAX)
		return pmp_error_set(err, PMP_EINVAL, "a note of %zu bytes is too long",
				     length);
	message_begin(&message, NOTE, kind);
	message_add(&message, data, length);
	return message_send(sender, &message, err);
}

/* ---- receiving ----------------------------------------------------------- */

struct pmp_receiver {
	int fd;
	bool closed, nonsense;
	char *data;		/* what has come: [begin, end) is not used yet */
	size_t begin, end, capacity;
	int fds[FDS_MAX];	/* come and not used yet; -1: lost on the way */
	size_t fd_count;
	struct peers peers;
};

/* The rest of a message. */
struct cursor {
	const char *at;
	size_t left;
};

/* The next length bytes, or NULL if there are not so many. */
static const void *take(struct cursor *cursor, uint64_t length)
{
	const void *at = cursor->at;

	if (length > cursor->left)
		return NULL;
	cursor->at += length;
	cursor->left -= length;
	return at;
}

static bool take_struct(struct cursor *cursor, void *data, size_t length)
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
static int need_peer(struct pmp_receiver *receiver, pid_t pid, struct peer **peer)
{
	*peer = peers_find(&receiver->peers, pid);
	if (*peer)
		return 0;
	if (receiver->peers.count >= PEERS_MAX)
		return PMP_EFORMAT;
	*peer = peers_add(&receiver->peers, pid);
	return *peer ? 0 : PMP_ENOMEM;
}

/* Takes over the reference; room for one more has been made. */
static void known_put(struct known_list *known, struct pmp_module *module)
{
	size_t place = known_place(known, module->id);
	struct known *at = &known->items[place];

	if (place < known->count && at->id == module->id) {
		pmp_module_unref(at->module);
	} else {
		memmove(at + 1, at, (known->count - place) * sizeof(*at));
		known->count++;
	}
	*at = (struct known){ .id = module->id, .fd = module->fd, .module = module };
}

static bool module_valid(const struct wire_module *wire, const char *path,
			 const struct pmp_receiver *receiver)
{
	return wire->kind <= PMP_MODULE_KERNEL &&
	       wire->deleted <= 1 && wire->has_fd <= 1 &&
	       wire->open_errno < 4096 && wire->id != NO_MODULE &&
	       wire->path_length <= PATH_SIZE_MAX && wire->image_size <= IMAGE_MAX &&
	       !memchr(path, '\0', wire->path_length) &&
	       (!wire->has_fd || receiver->fd_count);
}

/* The oldest descriptor, or why there is none. */
static void take_fd(struct pmp_receiver *receiver, struct pmp_module *module)
{
	module->fd = receiver->fds[0];
	if (module->fd < 0)
		module->open_errno = EMFILE;
	receiver->fd_count--;
	memmove(receiver->fds, receiver->fds + 1, receiver->fd_count * sizeof(int));
}

/* All but the descriptor. */
static struct pmp_module *make_module(const struct wire_module *wire, const void *path,
				      const void *image)
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

static int receive_module(struct pmp_receiver *receiver, pid_t pid, struct cursor *cursor)
{
	struct pmp_module *module;
	const void *path, *image;
	struct wire_module wire;
	struct peer *peer;
	int status;

	if (!take_struct(cursor, &wire, sizeof(wire)))
		return PMP_EFORMAT;
	path = take(cursor, wire.path_length);
	image = take(cursor, wire.image_size);
	if (!path || !image || cursor->left || !module_valid(&wire, path, receiver))
		return PMP_EFORMAT;
	status = need_peer(receiver, pid, &peer);
	if (status)
		return status;
	if (PMP_RESERVE(&peer->known.items, &peer->known.capacity, peer->known.count + 1))
		return PMP_ENOMEM;
	module = make_module(&wire, path, image);
	if (!module)
		return PMP_ENOMEM;
	/* Nothing fails from here on: the message is used up. */
	if (wire.has_fd)
		take_fd(receiver, module);
	known_put(&peer->known, module);
	return 0;
}

static int fill_modules(struct pmp_maps *maps, const struct known_list *known,
			const struct wire_maps *wire, const char *ids)
{
	for (uint32_t i = 0; i < wire->module_count; i++) {
		const struct known *found;
		uint32_t id;

		memcpy(&id, ids + i * sizeof(id), sizeof(id));
		found = known_find(known, id);
		if (!found)
			return PMP_EFORMAT;
		if (pmp_maps_add_module(maps, pmp_module_ref(found->module)))
			return PMP_ENOMEM;
	}
	return 0;
}

/* known: the modules of just these maps. */
static int fill_regions(struct pmp_maps *maps, const struct known_list *known,
			const struct wire_maps *wire, const char *regions)
{
	uint64_t last = 0;

	for (uint32_t i = 0; i < wire->region_count; i++) {
		const struct known *found;
		struct wire_region region;

		memcpy(&region, regions + i * sizeof(region), sizeof(region));
		found = known_find(known, region.module);
		if (!found || region.start < last || region.start >= region.end ||
		    region.prot > (PMP_PROT_READ | PMP_PROT_WRITE | PMP_PROT_EXEC |
				   PMP_PROT_SHARED))
			return PMP_EFORMAT;
		last = region.end;
		if (pmp_maps_add_region(maps, &(struct pmp_region){
			.start = region.start, .end = region.end,
			.offset = region.offset, .prot = region.prot,
			.module = found->module,
		}))
			return PMP_ENOMEM;
	}
	return 0;
}

static int fill_maps(struct pmp_maps *maps, const struct known_list *known,
		     const struct wire_maps *wire, const char *regions)
{
	const struct known *jitmap = known_find(known, wire->jitmap);

	maps->generation = wire->generation;
	maps->exec_generation = wire->exec_generation;
	if (wire->jitmap != NO_MODULE && !jitmap)
		return PMP_EFORMAT;
	maps->jitmap = jitmap ? jitmap->module : NULL;
	return fill_regions(maps, known, wire, regions);
}

static int receive_maps(struct pmp_receiver *receiver, pid_t pid, struct cursor *cursor)
{
	struct known_list known = { 0 };
	const char *regions, *ids;
	struct pmp_maps *maps;
	struct wire_maps wire;
	struct peer *peer;
	int status;

	if (!take_struct(cursor, &wire, sizeof(wire)))
		return PMP_EFORMAT;
	regions = take(cursor, (uint64_t)wire.region_count * sizeof(struct wire_region));
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
		status = known_of_maps(maps, &known);
	if (!status)
		status = fill_maps(maps, &known, &wire, regions);
	if (status) {
		known_free(&known);
		pmp_maps_unref(maps);
		return status;
	}
	peer_set_maps(peer, maps, known);
	return 0;
}

static bool thread_valid(const struct pmp_thread *thread, size_t frame_count)
{
	return memchr(thread->name, '\0', sizeof(thread->name)) &&
	       memchr(thread->why, '\0', sizeof(thread->why)) &&
	       memchr(thread->wchan, '\0', sizeof(thread->wchan)) &&
	       (unsigned)thread->obtained <= PMP_NOT_STOPPED &&
	       (unsigned)thread->end < PMP_END_COUNT &&
	       thread->syscall >= PMP_SYSCALL_UNKNOWN &&
	       thread->frame <= frame_count &&
	       thread->frame_count <= frame_count - thread->frame;
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

/* The arrays of a SAMPLE, as they lie in the message; their sizes have been checked. */
struct arrays {
	const char *threads, *frames, *kept;
};

/* The thread of the last sample that is the i-th which has not run since; NULL: no more.
 * Sets *bad when there is no such place, or they are not in order. */
static const struct pmp_thread *next_kept(const struct wire_sample *wire,
					  const struct arrays *arrays,
					  const struct pmp_sample *last, uint32_t i, bool *bad)
{
	uint32_t place, before;

	if (i == wire->kept_count)
		return NULL;
	memcpy(&place, arrays->kept + i * sizeof(place), sizeof(place));
	if (i > 0)
		memcpy(&before, arrays->kept + (i - 1) * sizeof(place), sizeof(place));
	if (!last || place >= last->thread_count || (i > 0 && before >= place)) {
		*bad = true;
		return NULL;
	}
	return &last->threads[place];
}

static int add_kept(struct pmp_sample *sample, const struct pmp_sample *last,
		    const struct pmp_thread *kept)
{
	struct pmp_thread *thread = pmp_sample_add_thread(sample);

	if (!thread)
		return PMP_ENOMEM;
	*thread = *kept;
	thread->obtained = PMP_UNCHANGED;
	thread->stopped = 0;
	thread->frame = sample->frame_count;
	thread->frame_count = 0;
	return pmp_sample_add_frames(sample, last->frames + kept->frame, kept->frame_count);
}

static int add_sent(struct pmp_sample *sample, const struct wire_sample *wire,
		    const struct arrays *arrays, const struct pmp_thread *sent)
{
	struct pmp_thread *thread = pmp_sample_add_thread(sample);
	const size_t first = sample->frame_count;
	int status;

	if (!thread_valid(sent, wire->frame_count))
		return PMP_EFORMAT;
	if (!thread)
		return PMP_ENOMEM;
	*thread = *sent;
	if (thread->state <= ' ' || thread->state > '~')
		thread->state = '?';
	thread->frame = first;
	thread->frame_count = 0;
	status = pmp_sample_add_frames(
		sample,
		(const struct pmp_raw_frame *)(const void *)(arrays->frames +
			sent->frame * sizeof(struct pmp_raw_frame)), sent->frame_count);
	if (status)
		return status;
	return frames_valid(sample->frames + first, sent->frame_count) ? 0 : PMP_EFORMAT;
}

static void next_sent(const struct wire_sample *wire, const struct arrays *arrays, uint32_t i,
		      struct pmp_thread *thread)
{
	if (i < wire->thread_count)
		memcpy(thread, arrays->threads + i * sizeof(*thread), sizeof(*thread));
}

/* Both kinds of threads, in the order of their ids. */
static int fill_threads(struct pmp_sample *sample, const struct wire_sample *wire,
			const struct arrays *arrays, const struct pmp_sample *last)
{
	struct pmp_thread new = { 0 };
	uint32_t sent = 0, kept = 0;
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
			status = add_sent(sample, wire, arrays, &new);
			next_sent(wire, arrays, ++sent, &new);
		}
	}
	return status;
}

static int fill_sample(struct pmp_sample *sample, const struct wire_sample *wire,
		       const struct arrays *arrays, const struct pmp_sample *last)
{
	size_t threads = (size_t)wire->thread_count + wire->kept_count;
	int status;

	if (PMP_RESERVE(&sample->threads, &sample->thread_capacity, threads) ||
	    PMP_RESERVE(&sample->frames, &sample->frame_capacity,
			wire->frame_count + (last ? last->frame_count : 0)))
		return PMP_ENOMEM;
	status = fill_threads(sample, wire, arrays, last);
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
	return memchr(sample->name, '\0', sizeof(sample->name)) ? 0 : PMP_EFORMAT;
}

static void remember_received(struct peer *peer, struct pmp_sample *sample)
{
	pmp_sample_free(peer->last);
	peer->last = pmp_sample_ref(sample);
}

static int receive_sample(struct pmp_receiver *receiver, pid_t pid, struct cursor *cursor,
			  struct pmp_sample **result)
{
	struct wire_sample wire;
	struct pmp_sample *sample;
	struct arrays arrays;
	struct peer *peer;
	int status;

	if (!take_struct(cursor, &wire, sizeof(wire)))
		return PMP_EFORMAT;
	arrays.threads = take(cursor, (uint64_t)wire.thread_count * sizeof(struct pmp_thread));
	arrays.frames = take(cursor, (uint64_t)wire.frame_count * sizeof(struct pmp_raw_frame));
	arrays.kept = take(cursor, (uint64_t)wire.kept_count * sizeof(uint32_t));
	if (!arrays.threads || !arrays.frames || !arrays.kept || cursor->left ||
	    wire.execed > 1 || wire.has_maps > 1)
		return PMP_EFORMAT;
	peer = wire.has_maps ? peers_find(&receiver->peers, pid) : NULL;
	if (wire.has_maps &&
	    (!peer || !peer->maps || peer->maps->generation != wire.generation))
		return PMP_EFORMAT;
	sample = pmp_sample_new();
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

static int receive_note(struct cursor *cursor, uint32_t kind,
			struct pmp_received *received)
{
	if (cursor->left > NOTE_MAX)
		return PMP_EFORMAT;
	received->note = cursor->at;
	received->note_length = cursor->left;
	received->note_kind = kind;
	return 0;
}

static int receive_forget(struct pmp_receiver *receiver, pid_t pid, struct cursor *cursor)
{
	struct peer *peer = peers_find(&receiver->peers, pid);

	if (!peer || cursor->left)
		return PMP_EFORMAT;
	peers_remove(&receiver->peers, peer);
	return 0;
}

/* One whole message. 1: *received is filled; 0: nothing for the caller in it. */
static int dispatch(struct pmp_receiver *receiver, const struct header *header,
		    struct pmp_received *received)
{
	struct cursor cursor = {
		.at = receiver->data + receiver->begin + sizeof(*header),
		.left = header->length,
	};
	pid_t pid = (pid_t)header->subject;
	int status;

	switch (header->type) {
	case MODULE:
		return receive_module(receiver, pid, &cursor);
	case MAPS:
		return receive_maps(receiver, pid, &cursor);
	case FORGET:
		return receive_forget(receiver, pid, &cursor);
	case SAMPLE:
		status = receive_sample(receiver, pid, &cursor, &received->sample);
		return status ? status : 1;
	case NOTE:
		status = receive_note(&cursor, header->subject, received);
		return status ? status : 1;
	}
	return PMP_EFORMAT;
}

/*
 * Use the messages that are complete, up to the first one for the caller: 1.
 * 0: more bytes are needed. A message that fails for want of memory stays, to
 * be tried again.
 */
static int use(struct pmp_receiver *receiver, struct pmp_received *received)
{
	int status = 0;

	while (!status) {
		size_t have = receiver->end - receiver->begin, need;
		struct header header;

		if (have < sizeof(header))
			break;
		memcpy(&header, receiver->data + receiver->begin, sizeof(header));
		if (header.magic != MAGIC || header.length > MESSAGE_MAX ||
		    header.type < MODULE || header.type > FORGET ||
		    (header.type == NOTE && header.length > NOTE_MAX))
			return PMP_EFORMAT;
		need = sizeof(header) + ((header.length + 7) & ~(size_t)7);
		if (have < need)
			break;
		status = dispatch(receiver, &header, received);
		if (status >= 0)
			receiver->begin += need;
	}
	/* What belongs to no module of a complete message is wanted by nobody. */
	if (receiver->begin == receiver->end)
		drop_fds(receiver);
	return status;
}

/* Queue the descriptors that came with a read; false: more than there can be. */
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
				receiver->fds[receiver->fd_count++] = fd;
			} else {
				close(fd);
				fits = false;
			}
		}
	}
	/* We have too many files open: its module goes without. */
	if ((msg->msg_flags & MSG_CTRUNC) && !some) {
		if (receiver->fd_count < FDS_MAX)
			receiver->fds[receiver->fd_count++] = -1;
		else
			fits = false;
	}
	return fits;
}

/* Room for a read behind what has come; borrowed notes end here. */
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

/* Read what is there. 1: something, or the end (closed); 0: nothing yet. */
static int fill(struct pmp_receiver *receiver)
{
	union {
		char data[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control;
	struct iovec room;
	struct msghdr msg = {
		.msg_iov = &room, .msg_iovlen = 1,
		.msg_control = control.data, .msg_controllen = sizeof(control.data),
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
	return keep_fds(receiver, &msg) ? 1 : PMP_EFORMAT;
}

int pmp_receiver_new(int fd, struct pmp_receiver **receiver, struct pmp_error *err)
{
	*receiver = calloc(1, sizeof(**receiver));
	if (!*receiver)
		return pmp_error_nomem(err, "receiving samples");
	(*receiver)->fd = fd;
	return 0;
}

void pmp_receiver_free(struct pmp_receiver *receiver)
{
	if (!receiver)
		return;
	drop_fds(receiver);
	peers_free(&receiver->peers);
	free(receiver->data);
	free(receiver);
}

static int receive_failed(struct pmp_receiver *receiver, int status,
			  struct pmp_error *err)
{
	switch (status) {
	case PMP_ENOMEM:
		return pmp_error_nomem(err, "receiving a sample");
	case PMP_EIO:
		return pmp_error_sys(err, PMP_EIO, errno,
				     "cannot receive from the other process");
	default:
		receiver->nonsense = true;
		return pmp_error_set(err, PMP_EFORMAT,
				     "the other process has sent what is no sample");
	}
}

int pmp_receiver_next(struct pmp_receiver *receiver, struct pmp_received *received,
		      struct pmp_error *err)
{
	int status;

	*received = (struct pmp_received){ 0 };
	if (receiver->nonsense)
		return receive_failed(receiver, PMP_EFORMAT, err);
	for (;;) {
		status = use(receiver, received);
		if (status)
			break;
		if (receiver->closed)
			return pmp_error_set(err, PMP_ESRCH,
					     "the other process is gone");
		status = fill(receiver);
		if (status <= 0)
			break;
	}
	return status < 0 ? receive_failed(receiver, status, err) : status;
}

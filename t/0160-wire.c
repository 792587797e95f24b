/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * wire/: what is sent arrives, whole, byte by byte or cut at any place; what is
 * damaged is refused; descriptors come with their modules and never stay behind.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sample.h"
#include "lib/descriptors.h"
#include "lib/tap.h"

#define STREAM_MAX (1 << 16)

/* ---- samples ------------------------------------------------------------ */

static struct pmp_module *file_module(uint32_t id, const char *content)
{
	struct pmp_module *module = pmp_module_new(id, PMP_MODULE_FILE, "/lib/\x1b x.so");

	module->device = 0x801;
	module->inode = 1000 + id;
	module->deleted = true;
	if (content) {
		module->fd = memfd_create("module", MFD_CLOEXEC);
		if (write(module->fd, content, strlen(content)) < 0)
			diag("write: %s", strerror(errno));
	} else {
		module->open_errno = EACCES;
	}
	return module;
}

static struct pmp_maps *make_maps(uint64_t generation, bool with_fds)
{
	struct pmp_maps *maps = pmp_maps_new();
	struct pmp_module *vdso = pmp_module_new(5, PMP_MODULE_VDSO, "[vdso]");
	struct pmp_module *jit =
		pmp_module_new(9, PMP_MODULE_PERF_MAP, "/tmp/perf-7.map");

	maps->generation = generation;
	maps->exec_generation = generation * 2;
	vdso->image = strdup("an image of the vdso");
	vdso->image_size = 20;
	pmp_maps_add_module(maps, vdso);
	pmp_maps_add_module(maps, file_module(3, with_fds ? "three" : NULL));
	pmp_maps_add_module(maps, jit);
	pmp_maps_add_module(maps, file_module(4, with_fds ? "four" : NULL));
	maps->perf_map = jit;
	for (uint64_t i = 0; i < 7; i++) {
		struct pmp_region region = {
			.start = 0x1000 * i,
			.end = 0x1000 * i + 0x1000 - i,
			.offset = i << 40,
			.prot = PMP_PROT_READ | PMP_PROT_EXEC,
			.module = maps->modules[i % 2],
		};

		pmp_maps_add_region(maps, &region);
	}
	return maps;
}

/* Takes over the reference of maps. */
static struct pmp_sample *make_sample(pid_t pid, struct pmp_maps *maps, size_t threads)
{
	struct pmp_sample *sample = pmp_sample_new();

	sample->pid = pid;
	strcpy(sample->name, "tar\nget");
	sample->time = 111;
	sample->realtime = 222;
	sample->duration = 333;
	sample->any_stopped = 444;
	sample->seen = threads + 3;
	sample->skipped = 2;
	sample->vanished = 1;
	sample->execed = true;
	sample->owner = 4711;
	sample->maps = maps;
	for (size_t i = 0; i < threads; i++) {
		struct pmp_thread *thread = pmp_sample_add_thread(sample);
		struct pmp_raw_frame frame = { 0x1000 * i, PMP_FRAME_EXACT };

		thread->tid = pid + (pid_t)i;
		snprintf(thread->name, sizeof(thread->name), "thread %zu", i);
		thread->state = 'S';
		thread->obtained = PMP_NOT_STOPPED;
		thread->end = PMP_END_COPY;
		strcpy(thread->reason, "epoll_wait");
		strcpy(thread->wchan, "ep_poll");
		thread->syscall = PMP_SYSCALL_UNKNOWN;
		thread->args[5] = i;
		thread->stopped = 10 * i;
		thread->wait = (struct pmp_wait){ .kind = PMP_WAIT_MUTEX,
						  .holder_is = PMP_HOLDER_THREAD,
						  .holder = pid,
						  .object = i };
		for (size_t j = 0; j < i % 40; j++) {
			pmp_sample_add_frames(sample, &frame, 1);
			frame = (struct pmp_raw_frame){ frame.pc + 16, PMP_FRAME_FP };
		}
	}
	return sample;
}

static bool same_content(int a, int b)
{
	char text[2][32] = { "", "" };

	if (a < 0 || b < 0)
		return a < 0 && b < 0;
	return a != b && pread(a, text[0], 31, 0) >= 0 && pread(b, text[1], 31, 0) >= 0 &&
	       strcmp(text[0], text[1]) == 0;
}

static bool same_bytes(const void *a, const void *b, size_t length)
{
	return length == 0 || memcmp(a, b, length) == 0;
}

static bool same_module(const struct pmp_module *a, const struct pmp_module *b)
{
	return a->id == b->id && a->kind == b->kind && a->inode == b->inode &&
	       a->device == b->device && a->deleted == b->deleted &&
	       a->open_errno == b->open_errno && strcmp(a->path, b->path) == 0 &&
	       a->image_size == b->image_size &&
	       same_bytes(a->image, b->image, a->image_size) &&
	       same_content(a->fd, b->fd);
}

static bool same_maps(const struct pmp_maps *a, const struct pmp_maps *b)
{
	if (a->generation != b->generation || a->exec_generation != b->exec_generation ||
	    a->region_count != b->region_count || a->module_count != b->module_count ||
	    !a->perf_map != !b->perf_map ||
	    (a->perf_map && a->perf_map->id != b->perf_map->id))
		return false;
	for (size_t i = 0; i < a->module_count; i++) {
		if (!same_module(a->modules[i], b->modules[i]))
			return false;
	}
	for (size_t i = 0; i < a->region_count; i++) {
		const struct pmp_region *one = &a->regions[i], *other = &b->regions[i];

		if (one->start != other->start || one->end != other->end ||
		    one->offset != other->offset || one->prot != other->prot ||
		    one->module->id != other->module->id)
			return false;
	}
	return true;
}

static bool same_sample(const struct pmp_sample *a, const struct pmp_sample *b)
{
	return a->pid == b->pid && !strcmp(a->name, b->name) && a->time == b->time &&
	       a->realtime == b->realtime && a->duration == b->duration &&
	       a->any_stopped == b->any_stopped && a->seen == b->seen &&
	       a->skipped == b->skipped && a->vanished == b->vanished &&
	       a->execed == b->execed && a->owner == b->owner &&
	       a->standstill.number == b->standstill.number &&
	       a->thread_count == b->thread_count && a->frame_count == b->frame_count &&
	       !a->maps == !b->maps && (!a->maps || same_maps(a->maps, b->maps)) &&
	       same_bytes(a->threads, b->threads,
			  a->thread_count * sizeof(*a->threads)) &&
	       same_bytes(a->frames, b->frames, a->frame_count * sizeof(*a->frames));
}

/* ---- both ends ---------------------------------------------------------- */

struct pair {
	int out, in;
	struct pmp_sender *sender;
	struct pmp_receiver *receiver;
};

static void pair_open(struct pair *pair)
{
	int fds[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds))
		exit(99);
	pair->out = fds[0];
	pair->in = fds[1];
	pmp_sender_new(pair->out, &pair->sender, NULL);
	pmp_receiver_new(pair->in, &pair->receiver, NULL);
}

static void pair_close(struct pair *pair)
{
	pmp_sender_free(pair->sender);
	pmp_receiver_free(pair->receiver);
	close(pair->out);
	close(pair->in);
}

static struct pmp_sample *next_sample(struct pair *pair)
{
	struct pmp_received received;

	return pmp_receiver_next(pair->receiver, &received, NULL) == 1 ? received.sample
								       : NULL;
}

static void test_round_trip(void)
{
	struct pmp_sample *first = make_sample(70, make_maps(1, true), 50);
	struct pmp_sample *bare = make_sample(71, NULL, 0), *other, *got, *again;
	struct pmp_received received;
	struct pair pair;

	pair_open(&pair);
	is_int(pmp_receiver_next(pair.receiver, &received, NULL), 0, "nothing yet");
	is_int(pmp_sender_sample(pair.sender, first, NULL), 0, "sent");
	got = next_sample(&pair);
	ok(got && same_sample(first, got), "a sample arrives as it was");
	ok(got->maps->modules[1]->fd != first->maps->modules[1]->fd &&
		   fcntl(got->maps->modules[1]->fd, F_GETFD) & FD_CLOEXEC,
	   "with descriptors of its own");

	pmp_sender_sample(pair.sender, first, NULL);
	pmp_sender_sample(pair.sender, bare, NULL);
	again = next_sample(&pair);
	ok(again && same_sample(first, again) && again->maps == got->maps,
	   "the next one shares its maps");
	pmp_sample_free(again);
	again = next_sample(&pair);
	ok(again && same_sample(bare, again), "one without threads and maps");
	pmp_sample_free(again);

	/* Another process with the same numbers of modules and generations. */
	other = make_sample(72, make_maps(1, true), 2);
	pmp_sender_sample(pair.sender, other, NULL);
	again = next_sample(&pair);
	ok(again && same_sample(other, again) && again->maps != got->maps &&
		   again->maps->modules[1] != got->maps->modules[1],
	   "targets are kept apart");
	pmp_sample_free(again);
	pmp_sample_free(other);
	pmp_sample_free(bare);
	pmp_sample_free(first);
	pair_close(&pair);
	ok(fcntl(got->maps->modules[1]->fd, F_GETFD) >= 0,
	   "a received sample outlives the connection");
	pmp_sample_free(got);
}

static void test_notes(void)
{
	static char text[64 * 1024 + 1];
	struct pmp_received received;
	struct pair pair;
	size_t wrong = 0;

	pair_open(&pair);
	memset(text, 'n', sizeof(text));
	for (uint32_t length = 0; length < 20; length++)
		pmp_sender_note(pair.sender, length + 100, text, length, NULL);
	for (uint32_t length = 0; length < 20; length++) {
		int status = pmp_receiver_next(pair.receiver, &received, NULL);

		wrong += status != 1 || !received.note || received.sample ||
			 received.note_kind != length + 100 ||
			 received.note_length != length || (uintptr_t)received.note % 8 ||
			 memcmp(received.note, text, length) != 0;
	}
	is_int(wrong, 0, "notes of each length, aligned");
	is_int(pmp_receiver_next(pair.receiver, &received, NULL), 0, "no more");
	is_int(pmp_sender_note(pair.sender, 1, text, sizeof(text), NULL), PMP_EINVAL,
	       "a note that is too long");
	is_int(pmp_sender_note(pair.sender, 1, text, sizeof(text) - 1, NULL), 0,
	       "the longest note");
	is_int(pmp_receiver_next(pair.receiver, &received, NULL), 1, "arrives");
	is_int(received.note_length, sizeof(text) - 1, "whole");
	pair_close(&pair);
}

/* Maps that change: what is gone is forgotten on both sides, what stays is shared. */
static void test_forgetting(void)
{
	struct pmp_maps *maps = make_maps(1, true), *newer;
	struct pmp_sample *sample = make_sample(5, pmp_maps_ref(maps), 1);
	struct pmp_sample *got, *last;
	struct pair pair;
	size_t fds, shared = 0;

	pair_open(&pair);
	pmp_sender_sample(pair.sender, sample, NULL);
	last = next_sample(&pair);
	pmp_sample_free(sample);
	fds = count_descriptors();
	for (uint32_t i = 0; i < 500; i++) {
		newer = pmp_maps_new();
		newer->generation = i + 2;
		pmp_maps_add_module(newer, pmp_module_ref(maps->modules[1]));
		pmp_maps_add_module(newer, file_module(20 + i, "new"));
		pmp_maps_unref(maps);
		maps = newer;
		/* From the second on, the module that stays is the first. */
		if (i == 0) {
			struct pmp_module *swap = newer->modules[0];

			newer->modules[0] = newer->modules[1];
			newer->modules[1] = swap;
		}
		sample = make_sample(5, pmp_maps_ref(maps), 1);
		pmp_sender_sample(pair.sender, sample, NULL);
		got = next_sample(&pair);
		if (!got || !same_sample(sample, got))
			break;
		for (size_t j = 0; j < 2 && j < last->maps->module_count; j++)
			shared += got->maps->modules[0] == last->maps->modules[j] ||
				  got->maps->modules[1] == last->maps->modules[j];
		pmp_sample_free(last);
		last = got;
		pmp_sample_free(sample);
	}
	is_int(shared, 500, "what stays is the same module");
	ok(count_descriptors() <= fds,
	   "a target that maps for ever costs no descriptors");
	pmp_sample_free(last);
	pmp_maps_unref(maps);
	pair_close(&pair);
}

static void test_many_targets(void)
{
	struct pmp_sample *sample, *got;
	struct pair pair;
	size_t wrong = 0, fds = count_descriptors();

	pair_open(&pair);
	for (pid_t pid = 1; pid < 1200; pid++) {
		sample = make_sample(pid % 1100 + 1, make_maps(1, pid % 8 == 0), 1);
		wrong += pmp_sender_sample(pair.sender, sample, NULL) != 0;
		got = next_sample(&pair);
		wrong += !got || !same_sample(sample, got);
		pmp_sample_free(got);
		pmp_sample_free(sample);
	}
	is_int(wrong, 0, "more targets than are remembered");
	pair_close(&pair);
	is_int(count_descriptors(), fds, "no descriptor left");
}

/* A module that could not be opened at first, and one whose number is used again. */
static void test_changed_module(void)
{
	struct pmp_maps *maps = make_maps(1, false), *newer = pmp_maps_new();
	struct pmp_sample *sample = make_sample(5, pmp_maps_ref(maps), 1), *got;
	struct pair pair;

	pair_open(&pair);
	pmp_sender_sample(pair.sender, sample, NULL);
	pmp_sample_free(next_sample(&pair));
	pmp_sample_free(sample);
	newer->generation = 2;
	maps->modules[1]->fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	pmp_maps_add_module(newer, pmp_module_ref(maps->modules[1]));
	pmp_maps_add_module(newer, pmp_module_new(5, PMP_MODULE_ANON, "another 5"));
	sample = make_sample(5, newer, 1);
	pmp_sender_sample(pair.sender, sample, NULL);
	got = next_sample(&pair);
	ok(got && got->maps->modules[0]->fd >= 0, "a module that was opened later");
	is_str(got ? got->maps->modules[1]->path : NULL, "another 5",
	       "a number used again");
	pmp_sample_free(got);
	pmp_sample_free(sample);
	pmp_maps_unref(maps);
	pair_close(&pair);
}

/* No room for descriptors here: modules come without, the next ones are not mixed up. */
static void test_no_descriptors(void)
{
	struct pmp_sample *sample = make_sample(5, make_maps(1, true), 3), *other, *got;
	struct rlimit limit, tight;
	struct pair pair;
	int free_fd, fd;

	pair_open(&pair);
	other = make_sample(6, make_maps(1, true), 3);
	pmp_sender_sample(pair.sender, sample, NULL);
	getrlimit(RLIMIT_NOFILE, &limit);
	free_fd = dup(0);
	close(free_fd);
	tight = (struct rlimit){ (rlim_t)free_fd, limit.rlim_max };
	setrlimit(RLIMIT_NOFILE, &tight);
	got = next_sample(&pair);
	setrlimit(RLIMIT_NOFILE, &limit);
	ok(got && got->thread_count == 3, "a sample arrives without descriptors");
	fd = got ? got->maps->modules[1]->fd : 0;
	/* valgrind keeps the limit to itself: then the descriptor is beyond it. */
	ok(fd == -1 || fd >= free_fd, "its module has none: %d", fd);
	is_int(fd == -1 ? got->maps->modules[1]->open_errno : EMFILE, EMFILE,
	       "and says why");
	pmp_sample_free(got);
	pmp_sender_sample(pair.sender, other, NULL);
	got = next_sample(&pair);
	ok(got && same_sample(other, got), "the next one has them again");
	pmp_sample_free(got);
	pmp_sample_free(other);
	pmp_sample_free(sample);
	pair_close(&pair);
}

/* ---- threads that have not run ------------------------------------------- */

/* As the last one, but for what `changed` says: those threads have run. */
static struct pmp_sample *next_of(const struct pmp_sample *last, size_t threads,
				  bool (*changed)(size_t i))
{
	struct pmp_sample *sample = make_sample(
		last->pid, last->maps ? pmp_maps_ref(last->maps) : NULL, threads);

	for (size_t i = 0; i < threads; i++) {
		struct pmp_thread *thread = &sample->threads[i];
		bool is_new = i >= last->thread_count || changed(i);

		thread->reading = is_new ? 1000 + i : last->threads[i].reading;
		thread->obtained = is_new ? PMP_PEEKED : PMP_UNCHANGED;
		thread->stopped = 0;
	}
	return sample;
}

static bool none(size_t i)
{
	(void)i;
	return false;
}

static bool every(size_t i)
{
	(void)i;
	return true;
}

static bool third(size_t i)
{
	return i % 3 == 0;
}

/* Take threads out of the list, as they end. */
static void drop_every(struct pmp_sample *sample, size_t n)
{
	size_t kept = 0;

	for (size_t i = 0; i < sample->thread_count; i++)
		if (i % n)
			sample->threads[kept++] = sample->threads[i];
	sample->thread_count = kept;
}

/* What is received, with its frames in one piece again, as the sender has them. */
static bool same_threads(const struct pmp_sample *a, const struct pmp_sample *b)
{
	if (a->thread_count != b->thread_count)
		return false;
	for (size_t i = 0; i < a->thread_count; i++) {
		struct pmp_thread one = a->threads[i], other = b->threads[i];
		size_t first = one.frame, second = other.frame;

		one.frame = other.frame = 0;
		if (!same_bytes(&one, &other, sizeof(one)) ||
		    !same_bytes(a->frames + first, b->frames + second,
				one.frame_count * sizeof(*a->frames)))
			return false;
	}
	return true;
}

/* Send it, give up the one before; how many bytes it took, 0: it did not arrive as it was. */
static size_t pass(struct pair *pair, struct pmp_sample **last, struct pmp_sample *sample)
{
	struct pmp_sample *got;
	int length = 0;

	pmp_sender_sample(pair->sender, sample, NULL);
	ioctl(pair->in, FIONREAD, &length);
	got = next_sample(pair);
	if (!got || !same_threads(sample, got) ||
	    got->standstill.number != sample->standstill.number)
		length = 0;
	pmp_sample_free(got);
	pmp_sample_free(*last);
	*last = sample;
	return (size_t)length;
}

static void test_unchanged(void)
{
	struct pmp_sample *last = make_sample(5, make_maps(1, true), 0), *sample;
	struct pmp_thread swap;
	struct pair pair;
	size_t whole, length;

	pair_open(&pair);
	pass(&pair, &last, next_of(last, 100, every));
	whole = pass(&pair, &last, next_of(last, 100, every));
	ok(whole > 20000, "all have run: %zu bytes", whole);
	length = pass(&pair, &last, next_of(last, 100, none));
	ok(length > 0 && length < 1000, "none has: %zu", length);
	length = pass(&pair, &last, next_of(last, 100, none));
	ok(length > 0 && length < 1000, "nor then: %zu", length);
	sample = next_of(last, 100, none);
	sample->threads[7].wait.holder++;
	length = pass(&pair, &last, sample);
	ok(length > 0 && length < 2000, "one has not, but waits for another: %zu",
	   length);
	is_int(last->threads[7].wait.holder, 6, "which arrives");
	sample = next_of(last, 100, none);
	sample->threads[9].wait.kind = PMP_WAIT_FUTEX;
	sample->threads[9].wait.words =
		(struct pmp_wait_words){ PMP_WORD_AT, 1, 2, 3, 4 };
	length = pass(&pair, &last, sample);
	ok(length > 0 && length < 2000 && last->threads[9].wait.words.far == 4 &&
		   last->threads[9].wait.words.at == 2,
	   "so do the words around a futex: %zu", length);
	sample = next_of(last, 100, none);
	sample->threads[9].wait = last->threads[9].wait;
	sample->threads[9].wait.words.before++;
	length = pass(&pair, &last, sample);
	is_int(last->threads[9].wait.words.before, 2, "and those that have changed");
	sample = next_of(last, 100, none);
	sample->threads[8].asleep_since = 1236;
	length = pass(&pair, &last, sample);
	ok(length > 0 && length < 2000, "so does since when one sleeps: %zu", length);
	length = pass(&pair, &last, next_of(last, 100, third));
	ok(length > whole / 5 && length < whole / 2, "a third has: %zu", length);
	length = pass(&pair, &last, next_of(last, 130, third));
	ok(length > 0, "and there are new ones");
	sample = next_of(last, 130, none);
	drop_every(sample, 4);
	length = pass(&pair, &last, sample);
	ok(length > 0 && length < 1000, "a quarter has ended: %zu", length);

	/* In no order: sent whole, and nothing of it is named by its place. */
	sample = next_of(last, 0, none);
	pmp_sample_free(last);
	last = sample;
	sample = next_of(last, 50, every);
	swap = sample->threads[10];
	sample->threads[10] = sample->threads[11];
	sample->threads[11] = swap;
	ok(pass(&pair, &last, sample) > 0, "out of order");
	ok(pass(&pair, &last, next_of(last, 50, none)) > 10000, "and then all whole");
	pmp_sample_free(last);
	pair_close(&pair);
}

/* As the last one, in which no thread has run either. */
static struct pmp_sample *still(const struct pmp_sample *last, uint64_t number)
{
	struct pmp_sample *sample = next_of(last, last->thread_count, none);

	pmp_sample_stand_still(sample, number);
	return sample;
}

static void test_standstill(void)
{
	struct pmp_sample *last = make_sample(5, make_maps(1, true), 0), *sample;
	struct pair pair;
	size_t length;

	pair_open(&pair);
	pass(&pair, &last, next_of(last, 100, every));
	length = pass(&pair, &last, still(last, 3));
	ok(length > 400, "a standstill begins: %zu bytes", length);
	for (int i = 0; i < 3; i++) {
		length = pass(&pair, &last, still(last, 3));
		ok(length > 0 && length < 250, "it goes on: %zu", length);
	}
	sample = next_of(last, 100, none);
	pmp_maps_unref(sample->maps);
	sample->maps = make_maps(2, true);
	pmp_sample_stand_still(sample, 3);
	ok(pass(&pair, &last, sample) > 0, "with other maps");
	length = pass(&pair, &last, still(last, 4));
	ok(length > 400, "another one: %zu", length);
	ok(pass(&pair, &last, next_of(last, 100, third)) > 0, "some run");
	ok(pass(&pair, &last, still(last, 4)) > 400, "a number of before is a new one");
	pmp_sender_forget(pair.sender, 5, NULL);
	ok(pass(&pair, &last, still(last, 4)) > 3000, "all whole if it was forgotten");
	pmp_sample_free(last);
	pair_close(&pair);
}

/* What the receiver makes of the next sample of a standstill if the last one that it has
 * was of number `last`, or ran (0). */
static int feed_still(uint64_t last)
{
	struct pmp_sample *sample = make_sample(5, make_maps(1, false), 0);
	struct pmp_received received = { 0 };
	struct pair from, to;
	char message[4096];
	ssize_t length;
	int status;

	pair_open(&from);
	pair_open(&to);
	pass(&from, &sample, next_of(sample, 9, every));
	pass(&from, &sample, still(sample, 3));
	pmp_sender_sample(from.sender, sample, NULL);
	length = recv(from.in, message, sizeof(message), 0);
	sample->standstill.number = last;
	pmp_sender_sample(to.sender, sample, NULL);
	pmp_sample_free(next_sample(&to));
	ok(length > 0 && send(to.out, message, (size_t)length, 0) == length,
	   "a message of %zd bytes", length);
	status = pmp_receiver_next(to.receiver, &received, NULL);
	pmp_sample_free(received.sample);
	pmp_sample_free(sample);
	pair_close(&from);
	pair_close(&to);
	return status;
}

static void test_false_standstill(void)
{
	is_int(feed_still(3), 1, "the standstill that the receiver knows");
	is_int(feed_still(4), PMP_EFORMAT, "another one: refused");
	is_int(feed_still(0), PMP_EFORMAT, "none: refused");
}

/* A target that was forgotten between two samples starts again. */
static void test_unchanged_forgotten(void)
{
	struct pmp_sample *last = make_sample(2000, make_maps(1, false), 0), *other;
	struct pair pair;
	size_t wrong = 0;

	pair_open(&pair);
	pass(&pair, &last, next_of(last, 20, every));
	for (pid_t pid = 1; pid < 1100; pid++) {
		other = make_sample(pid, make_maps(1, false), 1);
		wrong += pmp_sender_sample(pair.sender, other, NULL) != 0;
		pmp_sample_free(next_sample(&pair));
		pmp_sample_free(other);
	}
	is_int(wrong, 0, "a thousand others");
	ok(pass(&pair, &last, next_of(last, 20, none)) > 3000,
	   "a target forgotten meanwhile");
	ok(pass(&pair, &last, next_of(last, 20, none)) > 0, "and known again");
	pmp_sample_free(last);
	pair_close(&pair);
}

/* ---- pieces -------------------------------------------------------------- */

/* Move at most size bytes with what comes along. Bytes moved; 0: none there. */
static size_t relay(int from, int to, size_t size)
{
	union {
		char data[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control;
	char bytes[512];
	struct iovec part = { bytes, size };
	struct msghdr msg = {
		.msg_iov = &part,
		.msg_iovlen = 1,
		.msg_control = control.data,
		.msg_controllen = sizeof(control.data),
	};
	ssize_t got = recvmsg(from, &msg, MSG_CMSG_CLOEXEC);
	struct cmsghdr *cmsg;

	if (got <= 0)
		return 0;
	part.iov_len = (size_t)got;
	if (sendmsg(to, &msg, MSG_NOSIGNAL) != got)
		return 0;
	cmsg = msg.msg_controllen ? CMSG_FIRSTHDR(&msg) : NULL;
	if (cmsg) {
		int fd;

		memcpy(&fd, CMSG_DATA(cmsg), sizeof(fd));
		close(fd);
	}
	return (size_t)got;
}

/* Two samples with a note between, in pieces of this size, cut after so many. */
static size_t deliver(size_t piece, size_t pieces, unsigned *complete, int *end)
{
	struct pmp_sample *one = make_sample(5, make_maps(1, true), 3);
	struct pmp_sample *two = make_sample(5, make_maps(2, true), 2);
	struct pmp_received received;
	struct pair pair, far;
	size_t done = 0;

	pair_open(&pair);
	pair_open(&far);
	pmp_sender_sample(pair.sender, one, NULL);
	pmp_sender_note(pair.sender, 1, "between", 7, NULL);
	pmp_sender_sample(pair.sender, two, NULL);
	*complete = 0;
	for (; done < pieces && relay(pair.in, far.out, piece); done++) {
		while (pmp_receiver_next(far.receiver, &received, NULL) == 1) {
			const struct pmp_sample *want = *complete ? two : one;

			*complete += received.sample
					     ? same_sample(received.sample, want)
					     : !memcmp(received.note, "between", 7);
			pmp_sample_free(received.sample);
		}
	}
	shutdown(far.out, SHUT_WR);
	*end = pmp_receiver_next(far.receiver, &received, NULL);
	pmp_sample_free(received.sample);
	pair_close(&far);
	pair_close(&pair);
	pmp_sample_free(one);
	pmp_sample_free(two);
	return done;
}

static void test_pieces(void)
{
	static const size_t sizes[] = { 1, 2, 3, 7, 64, 511 };
	size_t fds = count_descriptors(), length, wrong = 0;
	unsigned complete, before = 0;
	int end;

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		deliver(sizes[i], SIZE_MAX, &complete, &end);
		is_int(complete, 3, "all arrives in pieces of %zu", sizes[i]);
		is_int(end, PMP_ESRCH, "and then the end");
	}
	length = deliver(13, SIZE_MAX, &complete, &end);
	for (size_t cut = 0; cut <= length; cut++) {
		deliver(13, cut, &complete, &end);
		wrong += complete < before || complete > 3 || end != PMP_ESRCH;
		before = complete;
	}
	is_int(wrong, 0, "cut after each of %zu pieces: what was complete, then the end",
	       length);
	is_int(before, 3, "all at last");
	is_int(count_descriptors(), fds, "no descriptor left");
}

/* ---- a stream as bytes --------------------------------------------------- */

/* The last of its samples consists of three places in the one before: 12 bytes and 4. */
#define PLACES_SIZE 16

static size_t record(char *stream)
{
	struct pmp_sample *one = make_sample(5, make_maps(1, false), 4);
	struct pmp_sample *two = make_sample(5, make_maps(2, false), 3);
	struct pmp_sample *first, *three;
	struct pair pair;
	ssize_t length;

	pair_open(&pair);
	pmp_sender_sample(pair.sender, one, NULL);
	pmp_sender_note(pair.sender, 1, "between", 7, NULL);
	first = next_of(two, 3, every);
	three = next_of(first, 3, none);
	pmp_sender_sample(pair.sender, first, NULL);
	pmp_sender_sample(pair.sender, three, NULL);
	length = recv(pair.in, stream, STREAM_MAX, 0);
	pmp_sample_free(one);
	pmp_sample_free(two);
	pmp_sample_free(first);
	pmp_sample_free(three);
	pair_close(&pair);
	return length > 0 ? (size_t)length : 0;
}

/* Look at all of a sample, for sanitizers. */
static uint64_t use_sample(const struct pmp_sample *sample)
{
	uint64_t sum = strlen(sample->name);

	for (size_t i = 0; i < sample->thread_count; i++) {
		const struct pmp_thread *thread = &sample->threads[i];

		sum += strlen(thread->name) + strlen(thread->reason) +
		       strlen(thread->wchan);
		sum += strlen(pmp_end_text(thread->end));
		for (size_t j = 0; j < thread->frame_count; j++)
			sum += sample->frames[thread->frame + j].pc;
	}
	for (size_t i = 0; sample->maps && i < sample->maps->region_count; i++)
		sum += strlen(sample->maps->regions[i].module->path);
	return sum;
}

/* Feed a stream and close; what came of it, which must not change any more. */
static int feed(const char *stream, size_t length, unsigned *samples)
{
	struct pmp_received received;
	struct pair pair;
	int status;

	pair_open(&pair);
	if (length && send(pair.out, stream, length, MSG_NOSIGNAL) != (ssize_t)length)
		return 0;
	shutdown(pair.out, SHUT_WR);
	*samples = 0;
	while ((status = pmp_receiver_next(pair.receiver, &received, NULL)) == 1) {
		*samples += received.sample && use_sample(received.sample);
		pmp_sample_free(received.sample);
	}
	if (pmp_receiver_next(pair.receiver, &received, NULL) != status)
		status = 0;
	pair_close(&pair);
	return status;
}

static void test_cut(const char *stream, size_t length)
{
	unsigned samples, before = 0;
	size_t wrong = 0;

	for (size_t cut = 0; cut <= length; cut++) {
		wrong += feed(stream, cut, &samples) != PMP_ESRCH || samples < before;
		before = samples;
	}
	is_int(wrong, 0, "cut at each of %zu lengths", length);
	is_int(before, 3, "all samples at the end");
}

static void test_corruption(const char *stream, size_t length)
{
	char *damaged = malloc(length);
	size_t fds = count_descriptors(), wrong = 0, refused = 0;
	uint64_t state = 7;
	unsigned samples;
	int status;

	for (unsigned i = 0; i < 6000; i++) {
		memcpy(damaged, stream, length);
		for (unsigned n = 0; n <= i % 3; n++) {
			state = state * 6364136223846793005u + 1442695040888963407u;
			damaged[(state >> 33) % length] ^=
				(char)(1u << (state >> 60 & 7));
		}
		status = feed(damaged, length, &samples);
		wrong += status != PMP_ESRCH && status != PMP_EFORMAT;
		refused += status == PMP_EFORMAT;
	}
	is_int(wrong, 0, "damaged streams are read or refused");
	ok(refused > 500, "%zu of 6000 refused", refused);
	is_int(count_descriptors(), fds, "no descriptor left");
	/* The first message is a MODULE; its header is magic, type, length, pid. */
	for (size_t word = 0; word < 3; word++) {
		memcpy(damaged, stream, length);
		memset(damaged + 4 * word, 0xff, 4);
		is_int(feed(damaged, length, &samples), PMP_EFORMAT,
		       "word %zu of a header", word);
	}
	free(damaged);
}

/* Places that do not exist, twice the same, in the wrong order, of nothing before. */
static void test_places(const char *stream, size_t length)
{
	static const uint32_t wrong[][3] = {
		{ 0, 1, 3 }, { 0, 1, UINT32_MAX }, { 0, 0, 1 },		 { 0, 1, 1 },
		{ 1, 0, 2 }, { 2, 1, 0 },	   { 0x80000000, 1, 2 },
	};
	char *damaged = malloc(length);
	unsigned samples;

	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		memcpy(damaged, stream, length);
		memcpy(damaged + length - PLACES_SIZE, wrong[i], sizeof(wrong[i]));
		is_int(feed(damaged, length, &samples), PMP_EFORMAT, "places %u %u %u",
		       wrong[i][0], wrong[i][1], wrong[i][2]);
		is_int(samples, 2, "what came before is there");
	}
	free(damaged);
}

/* The status of a stream of one sample whose second thread is as it is not sent. */
static int feed_thread(const char *stream, size_t length, size_t thread,
		       const struct pmp_thread *damage)
{
	char *damaged = malloc(length);
	unsigned samples;
	int status;

	memcpy(damaged, stream, length);
	memcpy(damaged + thread, damage, sizeof(*damage));
	status = feed(damaged, length, &samples);
	free(damaged);
	return status;
}

/* Another version, and structs of other sizes. */
static void test_version(const char *stream, size_t length)
{
	char *other = malloc(length);

	for (size_t i = 2; i < 4; i++) {
		struct pmp_received received;
		struct pmp_error err = { 0 };
		struct pair pair;

		memcpy(other, stream, length);
		other[i] ^= 1;
		pair_open(&pair);
		if (send(pair.out, other, length, MSG_NOSIGNAL) != (ssize_t)length)
			diag("send: %s", strerror(errno));
		is_int(pmp_receiver_next(pair.receiver, &received, &err), PMP_EFORMAT,
		       "%s: refused",
		       i == 2 ? "another version" : "structs of other sizes");
		is_str(err.message, "the other process uses another version of libpmp",
		       "and named");
		pair_close(&pair);
	}
	free(other);
}

/* Of a process with many files some are opened when a stack lies in them. */
static void test_lazy(void)
{
	struct pmp_maps *maps = make_maps(1, false);
	struct pmp_sample *sample = make_sample(5, maps, 3), *got;
	struct pair pair;

	maps->lazy = true;
	pair_open(&pair);
	pmp_sender_sample(pair.sender, sample, NULL);
	got = next_sample(&pair);
	ok(got && got->maps->modules[1]->fd < 0, "a file that is not open");
	pmp_sample_free(got);
	maps->modules[1]->fd = memfd_create("module", MFD_CLOEXEC);
	pmp_sender_sample(pair.sender, sample, NULL);
	got = next_sample(&pair);
	ok(got && got->maps->modules[1]->fd >= 0, "is sent when it has been opened");
	ok(got && got->maps->regions[1].module == got->maps->modules[1],
	   "and the maps refer to it");
	pmp_sample_free(got);
	pair_close(&pair);
	pmp_sample_free(sample);
}

/* Descriptors beyond what the receiver may have. */
static void test_spared(void)
{
	struct pmp_sample *sample = make_sample(5, make_maps(1, true), 3), *got;
	struct rlimit limit;
	struct pair pair;
	int fd;

	getrlimit(RLIMIT_NOFILE, &limit);
	pair_open(&pair);
	pmp_sender_sample(pair.sender, sample, NULL);
	setrlimit(RLIMIT_NOFILE,
		  &(struct rlimit){ count_descriptors() + 32, limit.rlim_max });
	got = next_sample(&pair);
	ok(got && got->maps->modules[1]->fd < 0 &&
		   got->maps->modules[1]->open_errno == EMFILE,
	   "with few descriptors left a module comes without one");
	fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	ok(fd >= 0, "there is one for other uses");
	close(fd);
	setrlimit(RLIMIT_NOFILE, &limit);
	pmp_sample_free(got);
	pair_close(&pair);
	pmp_sample_free(sample);
}

/* Ids that no thread has, frames of another thread, frames of none. */
static void test_threads(void)
{
	struct pmp_sample *sample = make_sample(5, make_maps(1, false), 4);
	struct pmp_thread sent = sample->threads[2], damage;
	char stream[STREAM_MAX];
	const char *at;
	struct pair pair;
	ssize_t length;

	pair_open(&pair);
	pmp_sender_sample(pair.sender, sample, NULL);
	length = recv(pair.in, stream, STREAM_MAX, 0);
	pair_close(&pair);
	at = length > 0 ? memmem(stream, (size_t)length, &sent, sizeof(sent)) : NULL;
	if (!ok(at && sent.frame == 1 && sent.frame_count == 2,
		"a thread with frames is in the stream"))
		goto out;
	is_int(feed_thread(stream, (size_t)length, (size_t)(at - stream), &sent),
	       PMP_ESRCH, "as it was sent: taken");
	for (pid_t tid = -1; tid <= 0; tid++) {
		damage = sent;
		damage.tid = tid;
		is_int(feed_thread(stream, (size_t)length, (size_t)(at - stream),
				   &damage),
		       PMP_EFORMAT, "thread %d: refused", (int)tid);
	}
	damage = sent;
	damage.frame = 0;
	is_int(feed_thread(stream, (size_t)length, (size_t)(at - stream), &damage),
	       PMP_EFORMAT, "a frame of the thread before it: refused");
	damage = sent;
	damage.frame_count = 1;
	is_int(feed_thread(stream, (size_t)length, (size_t)(at - stream), &damage),
	       PMP_EFORMAT, "a frame that no thread has: refused");
out:
	pmp_sample_free(sample);
}

/* Thread 1 waits for a lock that two processes hold. */
static struct pmp_sample *with_outside(struct pmp_sample *sample)
{
	const struct pmp_outside nothing = { 0 };
	const struct pmp_outside lock = { .type = PMP_OUTSIDE_FLOCK,
					  .sure = PMP_SURE_EXACT,
					  .count = 20,
					  .last = UINT64_MAX,
					  .text = "/tmp/zoo.lock" };
	struct pmp_other other = { .pid = 6110, .fd = 3, .name = "lock\nowner" };

	pmp_sample_add_outside(sample, &nothing);
	pmp_sample_add_outside(sample, &lock);
	pmp_sample_add_other(sample, &other);
	other.pid++;
	other.role = PMP_ROLE_READS;
	pmp_sample_add_other(sample, &other);
	sample->hidden = 7;
	sample->walk_cut = true;
	sample->threads[1].wait = (struct pmp_wait){ .kind = PMP_WAIT_FILE,
						     .holder_is = PMP_HOLDER_PROCESS,
						     .holder = 6110,
						     .outside = 2,
						     .object = 4711 };
	return sample;
}

static bool same_outsides(const struct pmp_sample *a, const struct pmp_sample *b)
{
	return a->outside_count == 2 && b->outside_count == 2 && a->other_count == 2 &&
	       b->other_count == 2 && b->hidden == 7 && b->walk_cut &&
	       same_bytes(a->outsides, b->outsides, 2 * sizeof(*a->outsides)) &&
	       same_bytes(a->others, b->others, 2 * sizeof(*a->others)) &&
	       b->threads[1].wait.outside == 2 && b->threads[1].wait.object == 4711;
}

static void test_outsides(void)
{
	struct pmp_sample *first = make_sample(5, make_maps(1, false), 4);
	struct pmp_sample *second, *got;
	struct pair pair;

	pair_open(&pair);
	with_outside(first);
	pmp_sender_sample(pair.sender, first, NULL);
	got = next_sample(&pair);
	ok(got && same_outsides(first, got), "other processes arrive");
	pmp_sample_free(got);
	second = next_of(first, 4, none);
	with_outside(second);
	pmp_sender_sample(pair.sender, second, NULL);
	got = next_sample(&pair);
	ok(got && same_outsides(second, got),
	   "and once more of a thread that has not run");
	pmp_sample_free(got);
	pmp_sample_free(first);
	first = next_of(second, 4, none);
	first->threads[1].wait = (struct pmp_wait){ 0 };
	pmp_sender_sample(pair.sender, first, NULL);
	got = next_sample(&pair);
	ok(got && !got->outside_count && !got->other_count && !got->threads[1].wait.kind,
	   "and are gone");
	pmp_sample_free(got);
	pmp_sample_free(first);
	pmp_sample_free(second);
	pair_close(&pair);
}

static int feed_damaged(void (*damage)(struct pmp_sample *sample))
{
	struct pmp_sample *sample = make_sample(5, make_maps(1, false), 4);
	struct pmp_received received;
	struct pair pair;
	int status;

	pair_open(&pair);
	with_outside(sample);
	damage(sample);
	pmp_sender_sample(pair.sender, sample, NULL);
	status = pmp_receiver_next(pair.receiver, &received, NULL);
	pmp_sample_free(received.sample);
	pmp_sample_free(sample);
	pair_close(&pair);
	return status;
}

#define DAMAGE(name, statement) \
	static void name(struct pmp_sample *sample) \
	{ \
		statement; \
	}
DAMAGE(no_damage, (void)sample)
DAMAGE(bad_standstill, sample->standstill.number = 1)
DAMAGE(
	bad_still_outside, for (size_t i = 0; i < sample->thread_count; i++) {
		sample->threads[i].obtained = PMP_UNCHANGED;
		sample->threads[i].stopped = 0;
	} sample->standstill.number = 1)
DAMAGE(bad_words, sample->threads[1].wait.words.far = 1)
DAMAGE(bad_word_flags, sample->threads[1].wait.kind = PMP_WAIT_FUTEX;
       sample->threads[1].wait.words.flags = PMP_WORD_FREE_MUTEX * 2)
DAMAGE(bad_index, sample->threads[1].wait.outside = 3)
DAMAGE(bad_type, sample->outsides[1].type = PMP_OUTSIDE_COUNT)
DAMAGE(bad_sure, sample->outsides[1].sure = PMP_SURE_COUNT)
DAMAGE(bad_run, sample->outsides[1].shown = 3)
DAMAGE(bad_start, sample->outsides[1].other = UINT32_MAX)
DAMAGE(bad_count, sample->outsides[1].count = 1)
DAMAGE(bad_range, sample->outsides[0].first = 1)
DAMAGE(bad_text, memset(sample->outsides[1].text, 'x', PMP_OUTSIDE_TEXT))
DAMAGE(bad_pid, sample->others[1].pid = 0)
DAMAGE(bad_tid, sample->others[1].tid = -1)
DAMAGE(bad_fd, sample->others[1].fd = -2)
DAMAGE(bad_role, sample->others[1].role = PMP_ROLE_COUNT)
DAMAGE(bad_name, memset(sample->others[1].name, 'x', PMP_NAME_SIZE))

static void test_damaged_outsides(void)
{
	static const struct {
		const char *what;
		void (*damage)(struct pmp_sample *sample);
	} damages[] = {
		{ "a standstill in which threads have run", bad_standstill },
		{ "one in which they wait for others", bad_still_outside },
		{ "words of what is no futex", bad_words },
		{ "what is known of words", bad_word_flags },
		{ "an index", bad_index },
		{ "a type", bad_type },
		{ "how sure it is", bad_sure },
		{ "more than there are", bad_run },
		{ "a start beyond", bad_start },
		{ "more shown than counted", bad_count },
		{ "a range", bad_range },
		{ "a text without an end", bad_text },
		{ "a process 0", bad_pid },
		{ "a thread -1", bad_tid },
		{ "a descriptor", bad_fd },
		{ "a role", bad_role },
		{ "a name without an end", bad_name },
	};

	is_int(feed_damaged(no_damage), 1, "other processes, undamaged");
	for (size_t i = 0; i < sizeof(damages) / sizeof(*damages); i++)
		is_int(feed_damaged(damages[i].damage), PMP_EFORMAT, "%s: refused",
		       damages[i].what);
}

/* Descriptors that belong to nothing, many at once. */
static void test_stray_descriptors(void)
{
	union {
		char data[CMSG_SPACE(16 * sizeof(int))];
		struct cmsghdr align;
	} control = { 0 };
	char byte = 'x';
	struct iovec part = { &byte, 1 };
	struct msghdr msg = {
		.msg_iov = &part,
		.msg_iovlen = 1,
		.msg_control = control.data,
		.msg_controllen = sizeof(control.data),
	};
	struct cmsghdr *cmsg = CMSG_FIRSTHDR(&msg);
	struct pmp_received received;
	size_t fds = count_descriptors();
	struct pair pair;
	int status = 0;

	cmsg->cmsg_level = SOL_SOCKET;
	cmsg->cmsg_type = SCM_RIGHTS;
	cmsg->cmsg_len = CMSG_LEN(16 * sizeof(int));
	pair_open(&pair);
	for (int i = 0; i < 16; i++)
		memcpy(CMSG_DATA(cmsg) + i * (int)sizeof(int), &pair.out, sizeof(int));
	for (int i = 0; i < 8 && !status; i++) {
		sendmsg(pair.out, &msg, MSG_NOSIGNAL);
		status = pmp_receiver_next(pair.receiver, &received, NULL);
	}
	is_int(status, PMP_EFORMAT, "stray descriptors are nonsense");
	pair_close(&pair);
	is_int(count_descriptors(), fds, "and closed");
}

/* ---- two processes ------------------------------------------------------- */

/* Larger than the socket: the sender, non-blocking, has to wait. */
static void test_large(void)
{
	struct pmp_sample *sample = make_sample(5, make_maps(1, true), 5000), *got;
	struct pair pair;
	size_t same = 0;
	int status = -1;
	pid_t child;

	pair_open(&pair);
	fcntl(pair.in, F_SETFL, 0);
	child = fork();
	if (child == 0) {
		close(pair.in);
		for (int i = 0; i < 5; i++)
			status = pmp_sender_sample(pair.sender, sample, NULL);
		/* The sampler dies in the middle of a message. */
		fcntl(pair.out, F_SETFL, 0);
		if (send(pair.out, "pmp1\3\0\0\0\xff\0\0\0", 12, MSG_NOSIGNAL) != 12)
			status = 1;
		_exit(status != 0);
	}
	close(pair.out);
	pair.out = -1;
	while ((got = next_sample(&pair))) {
		same += same_sample(sample, got);
		pmp_sample_free(got);
	}
	is_int(same, 5, "large samples through a small socket");
	waitpid(child, &status, 0);
	ok(child > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0,
	   "the sender was content");
	pmp_sample_free(sample);
	pair_close(&pair);
}

static void test_gone(void)
{
	struct pmp_sample *sample = make_sample(5, make_maps(1, true), 3);
	struct pmp_received received;
	struct pmp_error err;
	struct pair pair;

	pair_open(&pair);
	close(pair.in);
	pair.in = -1;
	is_int(pmp_sender_sample(pair.sender, sample, &err), PMP_ESRCH, "nobody listens");
	ok(err.sys_errno == EPIPE && err.message[0], "said so: %s", err.message);
	is_int(pmp_sender_note(pair.sender, 1, "", 0, &err), PMP_ESRCH, "nor later");
	pair_close(&pair);
	pair_open(&pair);
	close(pair.out);
	pair.out = -1;
	is_int(pmp_receiver_next(pair.receiver, &received, &err), PMP_ESRCH,
	       "nobody talks");
	ok(!received.sample && !received.note, "nothing received");
	is_int(pmp_receiver_next(pair.receiver, &received, &err), PMP_ESRCH, "nor later");
	pmp_sample_free(sample);
	pair_close(&pair);
}

int main(void)
{
	static char stream[STREAM_MAX];
	size_t length, fds = count_descriptors();

	test_round_trip();
	test_notes();
	test_forgetting();
	test_many_targets();
	test_changed_module();
	test_no_descriptors();
	test_unchanged();
	test_unchanged_forgotten();
	test_standstill();
	test_false_standstill();
	test_pieces();
	length = record(stream);
	ok(length > 1000, "a stream of %zu bytes", length);
	test_cut(stream, length);
	test_corruption(stream, length);
	test_places(stream, length);
	test_threads();
	test_outsides();
	test_damaged_outsides();
	test_version(stream, length);
	test_lazy();
	test_spared();
	test_stray_descriptors();
	test_large();
	test_gone();
	is_int(count_descriptors(), fds, "no descriptor left at the end");
	return done_testing();
}

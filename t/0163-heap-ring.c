/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The reader's end of the ring, against a writer that dies in the middle of a record, lies,
 * or writes noise.
 */
#include "lib/tap.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <unistd.h>

#include "heap-batch.h"
#include "heap/ring.h"
#include "lib/child.h"
#include "lib/fifo.h"
#include "lib/folder.h"
#include "libpmp-program.h"

#define SECOND UINT64_C(1000000000)
#define NOW (100 * SECOND)
#define LENGTH 256

static const struct pmp_heap_settings settings = { .rate = 65536, .max_stack = 4096 };

struct subject {
	struct pmp_heap_shared shared;
	struct pmp_heap_ring ring;
	int fd;
};

static void begin(struct subject *subject)
{
	if (pmp_heap_shared_new(&settings, &subject->shared, &subject->fd, NULL) < 0)
		exit(99);
	pmp_heap_ring_begin(&subject->ring, &subject->shared);
}

static void end(struct subject *subject)
{
	pmp_heap_shared_close(&subject->shared);
	close(subject->fd);
}

/* As a recorder does it: complete, or reserved only. */
static struct pmp_heap_record *put(struct subject *subject, uint64_t pointer,
				   bool complete)
{
	struct pmp_heap_header *header = subject->shared.header;
	struct pmp_heap_record *record =
		(void *)(subject->shared.ring + header->head % PMP_HEAP_RING_SIZE);

	*record = (struct pmp_heap_record){
		.stamp =
			header->head | (complete ? PMP_HEAP_COMPLETE : PMP_HEAP_RESERVED),
		.length = LENGTH,
		.tid = 1,
		.kind = PMP_HEAP_ALLOC,
		.pointer = pointer,
	};
	header->head += LENGTH;
	return record;
}

/* The pointer of the next record; 0: there is none. */
static uint64_t next(struct subject *subject, uint64_t now)
{
	struct pmp_heap_entry entry;

	if (!pmp_heap_ring_next(&subject->ring, now, &entry))
		return 0;
	pmp_heap_ring_done(&subject->ring, &entry);
	return entry.record.pointer;
}

static void test_order(void)
{
	struct subject subject;
	uint64_t wrong = 0;

	begin(&subject);
	/* A few times around. */
	for (uint64_t i = 1; i < 100000; i++) {
		put(&subject, i, true);
		wrong += next(&subject, NOW) != i;
	}
	is_int(wrong, 0, "each record is read, in order");
	is_int(next(&subject, NOW), 0, "and then none");
	is_int(subject.ring.unwanted, 0, "nothing was left out");
	end(&subject);
}

static void test_incomplete(void)
{
	struct subject subject;

	begin(&subject);
	put(&subject, 1, true);
	put(&subject, 2, false);
	put(&subject, 3, true);
	is_int(next(&subject, NOW), 1, "incomplete: the one before");
	is_int(next(&subject, NOW), 0, "incomplete: it is waited for");
	is_int(next(&subject, NOW + SECOND / 2), 0, "incomplete: for a while");
	is_int(next(&subject, NOW + 2 * SECOND), 3, "incomplete: and then left out");
	is_int(subject.ring.unwanted, LENGTH, "incomplete: alone");
	end(&subject);
}

static void test_late(void)
{
	struct pmp_heap_record *record;
	struct subject subject;

	begin(&subject);
	record = put(&subject, 2, false);
	is_int(next(&subject, NOW), 0, "late: it is waited for");
	record->stamp = PMP_HEAP_COMPLETE;
	is_int(next(&subject, NOW + SECOND / 2), 2, "late: it comes");
	end(&subject);
}

/* What a record says of itself that cannot be. */
static void lie(const char *what, void (*change)(struct pmp_heap_record *record))
{
	struct subject subject;

	begin(&subject);
	change(put(&subject, 1, true));
	put(&subject, 2, true);
	is_int(next(&subject, NOW), 2, "%s: it is left out, and the next one read", what);
	end(&subject);
}

static void too_long(struct pmp_heap_record *record)
{
	record->length = 1 << 30;
}

static void no_length(struct pmp_heap_record *record)
{
	record->length = 0;
}

static void odd(struct pmp_heap_record *record)
{
	record->length = LENGTH - 8;
}

static void long_stack(struct pmp_heap_record *record)
{
	record->stack_size = UINT64_MAX;
}

static void no_kind(struct pmp_heap_record *record)
{
	record->kind = PMP_HEAP_KIND_COUNT;
}

static void no_process(struct pmp_heap_record *record)
{
	record->process = PMP_HEAP_PROCESSES;
}

static void test_head(void)
{
	struct subject subject;

	begin(&subject);
	put(&subject, 1, true);
	subject.shared.header->head = UINT64_MAX;
	is_int(next(&subject, NOW), 0, "a head that cannot be: nothing is read");
	subject.shared.header->head = subject.ring.tail;
	put(&subject, 2, true);
	is_int(next(&subject, NOW), 2, "and what comes after it is");
	end(&subject);
}

/* Whoever has it can spoil what it says, and nothing else. */
static void test_sealed(void)
{
	struct subject subject;

	begin(&subject);
	ok(ftruncate(subject.fd, 0) < 0 && ftruncate(subject.fd, 1 << 30) < 0,
	   "its memory can be neither cut nor extended");
	end(&subject);
}

static void take_none(void *arg, const struct pmp_heap_batch *batch)
{
	(void)arg;
	(void)batch;
}

static struct pmp_target *no_target(void *arg, pid_t pid)
{
	(void)arg;
	(void)pid;
	return NULL;
}

/* The header of what it shares with a command. */
static struct pmp_heap_header *header_of(const struct pmp_recorder *recorder)
{
	int memory, file;
	void *header;

	pmp_recorder_descriptors(recorder, &memory, &file);
	header = mmap(NULL, sizeof(struct pmp_heap_header), PROT_READ | PROT_WRITE,
		      MAP_SHARED, memory, 0);
	return header == MAP_FAILED ? NULL : header;
}

/* The rate after some time in which so many bytes were in the ring. */
static uint64_t rate_after(struct pmp_recorder *recorder, struct pmp_heap_header *header,
			   uint64_t filled)
{
	const struct pmp_recorder_calls calls = { .target = no_target,
						  .take = take_none };

	header->head += filled;
	pmp_recorder_read(recorder, &calls, true, NULL);
	usleep(5000);
	pmp_recorder_speed_up(recorder);
	return header->rate;
}

/* ---- found again ------------------------------------------------------------------------ */

static struct folder folder;

/* A FIFO of the name that such memory has, which all users can make in a namespace of their
 * own, and which somebody waits to write into. In the end: does he still wait? */
static bool with_trap(const struct child *self, void *arg)
{
	char path[PATH_MAX];
	pid_t writer;

	(void)arg;
	if (unshare(CLONE_NEWNS) != 0 ||
	    mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
	    mount("none", folder.path, "tmpfs", 0, NULL) != 0)
		return false;
	writer = fifo_new(folder_path(&folder, "memfd:pmp-heap (deleted)", path));
	child_answer(self,
		     open(path, O_PATH) >= 0 && umount2(folder.path, MNT_DETACH) == 0);
	child_wait(self);
	return fifo_untouched(writer);
}

static void test_trap(void)
{
	struct child child = { 0 };

	if (!folder_make(&folder) || !child_start(&child, with_trap, NULL)) {
		skip("no mount namespaces");
	} else {
		is_int(pmp_heap_shared_find(child.pid), -1, "no memory of a recorder");
		ok(child_order(&child), "what has only its name is not opened");
	}
	child_end(&child);
	folder_remove(&folder);
}

static void test_find(void)
{
	struct subject subject;
	int found;

	begin(&subject);
	found = pmp_heap_shared_find(getpid());
	ok(found >= 0, "the memory of a process that has it open");
	close(found);
	close(subject.fd);
	subject.fd = pmp_heap_shared_find(getpid());
	ok(subject.fd >= 0, "of one that has only mapped it");
	end(&subject);
}

static void test_rate(void)
{
	struct pmp_recorder_options options = { sizeof(options), 65536, 4096, false,
						false };
	struct pmp_heap_header *header;
	struct pmp_recorder *recorder;

	if (pmp_recorder_new(&options, &recorder, NULL) < 0 ||
	    !(header = header_of(recorder)))
		exit(99);
	rate_after(recorder, header, 0);
	header->rate = 65536 * 5;
	is_int(rate_after(recorder, header, 0), 65536 * 5 / 2,
	       "a rate that was raised is halved when little comes");
	is_int(rate_after(recorder, header, header->ring_size / 2), 65536 * 5 / 2,
	       "but not when the ring was filled");
	is_int(rate_after(recorder, header, 0), 65536 * 5 / 4, "after that it is");
	is_int(rate_after(recorder, header, 0), 65536, "down to what was asked for");
	is_int(rate_after(recorder, header, 0), 65536, "and no further");
	munmap(header, sizeof(*header));
	pmp_recorder_free(recorder);
}

/* A stack that would end behind its record, had it registers. */
static void test_no_registers(void)
{
	struct subject subject;
	struct pmp_heap_record *record;
	struct pmp_heap_entry entry = { 0 };

	begin(&subject);
	record = put(&subject, 1, true);
	record->stack_size = LENGTH - PMP_HEAP_RECORD_HEAD;
	ok(pmp_heap_ring_next(&subject.ring, NOW, &entry) &&
		   entry.stack + entry.record.stack_size ==
			   (unsigned char *)record + LENGTH,
	   "a stack without registers ends with its record");
	end(&subject);
}

int main(void)
{
	test_order();
	test_no_registers();
	test_incomplete();
	test_late();
	lie("longer than the ring", too_long);
	lie("no length", no_length);
	lie("no multiple", odd);
	lie("a stack that is longer than it", long_stack);
	lie("an unknown kind", no_kind);
	lie("an unknown process", no_process);
	test_head();
	test_sealed();
	test_find();
	test_trap();
	test_rate();
	return done_testing();
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reading a saved profile in a process without rights: this end, where records are counted.
 * The file may have taken over that process, so records are checked like the file itself.
 */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "libpmp-program.h"
#include "resolve/remote-file.h"
#include "tally/lock-table.h"
#include "tally/pprof-records.h"

#define VARIANCE_MAX 0x1p124	      /* square of the largest standard error */
#define VALUE_MAX (UINT64_C(2) << 62) /* of a sum of two times below 1 << 62 */

/* A mapping's number here, and its pmp_pprof_shown_length(). */
struct counted_mapping {
	uint32_t number;
	size_t shown_length;
};

struct counting_remotely {
	struct pmp_remote_file file;
	const struct pmp_pprof_calls *calls;
	struct counted_mapping *mappings; /* by their numbers in records */
	size_t mapping_count, mapping_capacity;
	pmp_location *locations;
	size_t location_count, location_capacity;
	pmp_location *stack; /* of the current record */
	size_t stack_capacity;
	size_t stacks, processes, names_size, labels_size;
	bool ended; /* PMP_PPROF_RECORD_END has come */
};

/* The rest of a record. */
struct record_rest {
	const char *at;
	size_t left;
};

static const void *take(struct record_rest *rest, size_t size)
{
	const void *at = rest->at;

	if (size > rest->left)
		return NULL;
	rest->at += size;
	rest->left -= size;
	return at;
}

static const char *take_text(struct record_rest *rest)
{
	const char *end = rest->left ? memchr(rest->at, '\0', rest->left) : NULL;

	return end ? take(rest, (size_t)(end - rest->at) + 1) : NULL;
}

static bool take_texts(struct record_rest *rest, const char **texts, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		texts[i] = take_text(rest);
		if (!texts[i])
			return false;
	}
	return true;
}

/* ---- one record ---------------------------------------------------------------------------- */

static int take_mapping(struct counting_remotely *counting, struct record_rest *rest)
{
	const struct pmp_pprof_record_mapping *record = take(rest, sizeof(*record));
	const char *texts[2];
	struct pmp_mapping mapping;
	uint32_t number;

	/* One more is allowed, for locations in no mapping. */
	if (!record || !take_texts(rest, texts, 2) ||
	    strlen(texts[0]) > PMP_PPROF_PATH_MAX ||
	    strlen(texts[1]) > PMP_PPROF_PATH_MAX ||
	    counting->mapping_count > PMP_PPROF_MAPPINGS_MAX)
		return PMP_EFORMAT;
	if (PMP_RESERVE(&counting->mappings, &counting->mapping_capacity,
			counting->mapping_count + 1))
		return PMP_ENOMEM;
	mapping = (struct pmp_mapping){ record->start, record->end, record->offset,
					texts[0], texts[1] };
	number = counting->calls->mapping(counting->calls->arg, &mapping);
	counting->mappings[counting->mapping_count++] =
		(struct counted_mapping){ number, pmp_pprof_shown_length(&mapping) };
	return number == UINT32_MAX ? PMP_ENOMEM : 0;
}

static bool take_frame(struct record_rest *rest,
		       const struct pmp_pprof_record_frame *from, struct pmp_frame *frame)
{
	const char *texts[3];

	if (from->line > INT_MAX || from->signal > 1 || !take_texts(rest, texts, 3))
		return false;
	*frame = (struct pmp_frame){
		.function = texts[0],
		.linkage = *texts[1] ? texts[1] : NULL,
		.file = *texts[2] ? texts[2] : NULL,
		.line = from->line,
		.signal = from->signal,
	};
	return true;
}

static int take_location(struct counting_remotely *counting, struct record_rest *rest)
{
	const struct pmp_pprof_record_location *record = take(rest, sizeof(*record));
	const struct pmp_pprof_record_frame *lines;
	struct pmp_frame frames[PMP_PPROF_LINES_MAX];
	struct pmp_first_address origin;
	pmp_location location;

	if (!record || record->count > PMP_PPROF_LINES_MAX || record->exact > 1 ||
	    record->mapping >= counting->mapping_count ||
	    counting->location_count >= 2 * PMP_PPROF_TABLE_MAX)
		return PMP_EFORMAT;
	lines = take(rest, record->count * sizeof(*lines));
	counting->names_size += rest->left;
	if (!record->count)
		counting->names_size += counting->mappings[record->mapping].shown_length;
	if (!lines || counting->names_size > 2 * PMP_PPROF_NAMES_MAX)
		return PMP_EFORMAT;
	for (uint32_t i = 0; i < record->count; i++)
		if (!take_frame(rest, &lines[i], &frames[i]))
			return PMP_EFORMAT;
	if (PMP_RESERVE(&counting->locations, &counting->location_capacity,
			counting->location_count + 1))
		return PMP_ENOMEM;
	origin = (struct pmp_first_address){ record->pc, record->exact,
					     counting->mappings[record->mapping].number };
	location = counting->calls->location(counting->calls->arg, &origin, frames,
					     record->count);
	counting->locations[counting->location_count++] = location;
	return location == PMP_LOCATION_NONE ? PMP_ENOMEM : 0;
}

static bool is_variance(double value)
{
	return value >= 0 && value <= VARIANCE_MAX;
}

static bool are_sums(const struct pmp_heap_sums *sums)
{
	const uint64_t values[] = {
		sums->alloc_parts, sums->alloc_bytes,  sums->live_parts,
		sums->live_bytes,  sums->alloc_found,  sums->live_found,
		sums->growths,	   sums->growth_bytes, sums->survived,
		sums->oldest,
	};

	for (size_t i = 0; i < sizeof(values) / sizeof(*values); i++)
		if (values[i] > INT64_MAX)
			return false;
	for (size_t i = 0; i < PMP_AGES; i++)
		if (sums->ages[i].parts > INT64_MAX || sums->ages[i].bytes > INT64_MAX ||
		    !is_variance(sums->ages[i].variance))
			return false;
	return is_variance(sums->alloc_variance) && is_variance(sums->live_variance);
}

static bool is_stack(const struct pmp_pprof_record_stack *record)
{
	return record->count < VALUE_MAX && record->cpu < VALUE_MAX &&
	       record->wall < VALUE_MAX && record->contentions < VALUE_MAX &&
	       record->held_contentions < VALUE_MAX && record->held_delay < VALUE_MAX &&
	       record->pid >= 0 && record->tid >= 0 && record->holder >= 0 &&
	       record->end < PMP_END_COUNT && record->has_heap <= 1 &&
	       record->lock <= PMP_HOLDER_STACK_COUNT &&
	       record->lock_kind < PMP_WAIT_COUNT &&
	       record->location_count <= PMP_PPROF_FRAMES_MAX;
}

/* 0, PMP_EFORMAT or PMP_ENOMEM. */
static int take_locations(struct counting_remotely *counting, struct record_rest *rest,
			  uint32_t count)
{
	const uint32_t *numbers = take(rest, count * sizeof(*numbers));

	if (!numbers)
		return PMP_EFORMAT;
	if (PMP_RESERVE(&counting->stack, &counting->stack_capacity, (size_t)count + 1))
		return PMP_ENOMEM;
	for (uint32_t i = 0; i < count; i++) {
		if (numbers[i] >= counting->location_count)
			return PMP_EFORMAT;
		counting->stack[i] = counting->locations[numbers[i]];
	}
	return 0;
}

static bool take_lock(struct record_rest *rest,
		      const struct pmp_pprof_record_stack *record, struct pmp_lock *lock)
{
	const char *texts[2];

	if (!take_texts(rest, texts, 2) || !*texts[0])
		return false;
	*lock = (struct pmp_lock){
		.kind = record->lock_kind,
		.holder_stack = (uint8_t)(record->lock - 1),
		.holder = record->holder,
		.holder_name = "",
		.text = texts[0],
		.object = { .location = PMP_LOCATION_NONE },
	};
	if (*texts[1])
		pmp_lock_set_holder(lock, texts[1]);
	return true;
}

static int count_stack(const struct counting_remotely *counting,
		       const struct pmp_pprof_record_stack *record,
		       const char *const *texts, const struct pmp_lock *lock,
		       struct pmp_heap_sums *sums)
{
	struct pmp_entry_waits waits = { lock, record->contentions,
					 record->held_contentions, record->held_delay };
	const struct pmp_entry entry = {
		.pid = record->pid,
		.tid = record->tid,
		.process = texts[0],
		.thread = texts[1],
		.syscall = texts[2],
		.wchan = texts[3],
		.reason = texts[4],
		.end = (enum pmp_end)record->end,
		.state = (char)record->state,
		.locations = counting->stack,
		.location_count = record->location_count,
		.count = record->count,
		.cpu = record->cpu,
		.wall = record->wall,
		.waits = &waits,
		.heap = sums,
	};

	return counting->calls->stack(counting->calls->arg, &entry);
}

static int take_stack(struct counting_remotely *counting, struct record_rest *rest)
{
	const struct pmp_pprof_record_stack *record = take(rest, sizeof(*record));
	const void *sent;
	struct pmp_heap_sums sums;
	struct pmp_lock lock;
	const char *texts[5];
	int code;

	if (!record || !is_stack(record) || counting->stacks++ >= PMP_PPROF_SAMPLES_MAX)
		return PMP_EFORMAT;
	if (record->has_heap) {
		sent = take(rest, sizeof(sums));
		if (!sent)
			return PMP_EFORMAT;
		memcpy(&sums, sent, sizeof(sums));
		if (!are_sums(&sums))
			return PMP_EFORMAT;
	}
	code = take_locations(counting, rest, record->location_count);
	if (code)
		return code;
	counting->labels_size += rest->left;
	if (counting->labels_size > 2 * PMP_PPROF_LABELS_MAX ||
	    !take_texts(rest, texts, 5) || strlen(texts[4]) >= PMP_REASON_SIZE ||
	    (record->lock && !take_lock(rest, record, &lock)))
		return PMP_EFORMAT;
	return count_stack(counting, record, texts, record->lock ? &lock : NULL,
			   record->has_heap ? &sums : NULL);
}

static int take_process(struct counting_remotely *counting, struct record_rest *rest)
{
	const struct pmp_pprof_record_process *record = take(rest, sizeof(*record));
	const struct pmp_heap_totals *totals = record ? &record->process.totals : NULL;
	/* Read as a byte: a bool with any other value than 0 and 1 is undefined. */
	const unsigned char *ended =
		record ? (const unsigned char *)&record->process.ended : NULL;

	if (!record || counting->processes++ >= PMP_PPROF_PROCESSES_MAX || *ended > 1 ||
	    record->process.pid < 0 || totals->allocator >= PMP_HEAP_ALLOCATOR_COUNT ||
	    totals->state >= PMP_HEAP_STATE_COUNT ||
	    !memchr(totals->allocator_name, '\0', sizeof(totals->allocator_name)) ||
	    !memchr(record->process.name, '\0', sizeof(record->process.name)))
		return PMP_EFORMAT;
	return counting->calls->process(counting->calls->arg, &record->process);
}

static int take_end(struct counting_remotely *counting, struct record_rest *rest)
{
	const struct pmp_pprof_record_end *record = take(rest, sizeof(*record));
	struct pmp_profile_info info;
	struct pmp_metadata metadata;
	uint64_t numbers[(sizeof(info) - sizeof(info.size)) / sizeof(uint64_t)];
	const char *texts[4];

	if (!record || !take_texts(rest, texts, 4) || record->guessed > 1)
		return PMP_EFORMAT;
	/* All members but the size are counts. */
	memcpy(numbers, &record->info.samples, sizeof(numbers));
	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
		numbers[i] = pmp_pprof_positive(numbers[i]);
	info.size = sizeof(info);
	memcpy(&info.samples, numbers, sizeof(numbers));
	metadata = (struct pmp_metadata){
		pmp_pprof_positive(record->realtime),
		pmp_pprof_positive(record->duration),
		pmp_pprof_positive(record->period),
		texts[0],
		texts[1],
		record->guessed,
		{ texts[2], texts[3] },
	};
	counting->ended = true;
	return counting->calls->end(counting->calls->arg, &info, &metadata);
}

static int take_record(struct counting_remotely *counting, uint32_t type,
		       struct record_rest *rest)
{
	int code = PMP_EFORMAT;

	if (counting->ended)
		return PMP_EFORMAT;
	switch (type) {
	case PMP_PPROF_RECORD_MAPPING: code = take_mapping(counting, rest); break;
	case PMP_PPROF_RECORD_LOCATION: code = take_location(counting, rest); break;
	case PMP_PPROF_RECORD_STACK: code = take_stack(counting, rest); break;
	case PMP_PPROF_RECORD_PROCESS: code = take_process(counting, rest); break;
	case PMP_PPROF_RECORD_END: code = take_end(counting, rest); break;
	default: break;
	}
	return !code && rest->left > 7 ? PMP_EFORMAT : code;
}

static int take_records(struct counting_remotely *counting, const struct pmp_buf *body)
{
	size_t at = 0;
	int code = 0;

	/* Memory of malloc() is aligned, and all sizes are multiples of 8. */
	while (!code && at < body->length) {
		const struct pmp_pprof_record *record = (const void *)(body->data + at);
		struct record_rest rest = { body->data + at, 0 };

		if (body->length - at < sizeof(*record) || record->size % 8 ||
		    record->size < sizeof(*record) || record->size > body->length - at)
			return PMP_EFORMAT;
		rest.left = record->size;
		code = take_record(counting, record->type, &rest);
		at += record->size;
	}
	return code;
}

/* ---- the process ---------------------------------------------------------------------------- */

/* The code that the process reports; PMP_EFORMAT if the report is invalid. */
static int take_done(const struct counting_remotely *counting, const struct pmp_buf *body,
		     struct pmp_error *refusal)
{
	struct pmp_error said;

	if (body->length != sizeof(said))
		return PMP_EFORMAT;
	memcpy(&said, body->data, sizeof(said));
	if (!pmp_remote_is_error(&said) || (!said.code && !counting->ended))
		return PMP_EFORMAT;
	*refusal = said;
	return said.code;
}

static bool ask(struct counting_remotely *counting, int fd,
		const struct pmp_namer_calls *namer, const struct pmp_pprof_want *want)
{
	const struct pmp_pprof_record_want asked = {
		want->heap,
		want->sample_type != NULL,
		want->counted != NULL,
	};
	const char *texts[] = { want->sample_type ? want->sample_type : "",
				want->counted ? want->counted->type : "",
				want->counted ? want->counted->unit : "" };
	struct pmp_buf body = { 0 };
	bool asks;

	pmp_buf_add(&body, &asked, sizeof(asked));
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		pmp_buf_add(&body, texts[i], strlen(texts[i]) + 1);
	asks = pmp_remote_file_start(&counting->file, namer, PMP_REMOTE_PROFILE, &body,
				     fd);
	pmp_buf_free(&body);
	return asks;
}

/* Take messages until the end. *lost: the process has died, or sent something invalid. */
static int take_answer(struct counting_remotely *counting, bool *lost,
		       struct pmp_error *refusal)
{
	const struct pmp_remote_message *message = &counting->file.message;
	int code = 0;

	*lost = true;
	while (!code && pmp_remote_file_receive(&counting->file)) {
		if (message->header.type == PMP_REMOTE_DONE) {
			code = take_done(counting, &message->body, refusal);
			*lost = code == PMP_EFORMAT && !refusal->code;
			break;
		}
		code = message->header.type == PMP_REMOTE_RECORDS
			       ? take_records(counting, &message->body)
			       : PMP_EFORMAT;
		*lost = code != PMP_ENOMEM;
	}
	return code;
}

int pmp_pprof_read_remote(int fd, const struct pmp_namer_calls *namer,
			  const struct pmp_pprof_want *want,
			  const struct pmp_pprof_calls *calls, struct pmp_error *refusal)
{
	struct counting_remotely counting = { .calls = calls };
	bool lost = true;
	int code = 0;

	if (ask(&counting, fd, namer, want))
		code = take_answer(&counting, &lost, refusal);
	if (lost)
		code = pmp_remote_file_lose(&counting.file, refusal);
	else
		pmp_remote_file_end(&counting.file);
	free(counting.mappings);
	free(counting.locations);
	free(counting.stack);
	return code;
}

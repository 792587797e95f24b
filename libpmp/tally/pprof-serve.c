/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The process without rights that reads a saved profile and sends it on as records. */
#include <stddef.h>
#include <string.h>

#include "base/buf.h"
#include "base/fault.h"
#include "libpmp-program.h"
#include "resolve/remote-messages.h"
#include "tally/lock-table.h"
#include "tally/pprof-records.h"

struct profile_serving {
	int socket;
	struct pmp_buf lot;
	size_t start; /* of the current record in lot */
	uint32_t mappings, locations;
	bool gone; /* the other end of the socket is closed */
};

static const struct pmp_remote_patience patient;

/* ---- records ----------------------------------------------------------------------------- */

static void send_lot(struct profile_serving *serving)
{
	const struct pmp_remote_header header = { .type = PMP_REMOTE_RECORDS };
	struct pmp_buf *lot = &serving->lot;
	const struct pmp_remote_parts parts = { .first = lot->data,
						.first_size = lot->length };

	if (PMP_FAULT("reader-lies"))
		for (size_t i = 0; i < lot->length; i += 29)
			lot->data[i] ^= 0x55;
	if (!serving->gone && lot->length)
		serving->gone =
			!pmp_remote_send(serving->socket, &patient, header, &parts);
	pmp_buf_clear(lot);
}

static void begin_record(struct profile_serving *serving, const void *record, size_t size)
{
	serving->start = serving->lot.length;
	pmp_buf_add(&serving->lot, record, size);
}

static void add_text(struct profile_serving *serving, const char *text)
{
	pmp_buf_add(&serving->lot, text, strlen(text) + 1);
}

/* 0, PMP_ENOMEM, PMP_ELIMIT: larger than any message, or PMP_EIO: .gone. */
static int end_record(struct profile_serving *serving)
{
	static const char zeros[8];
	struct pmp_buf *lot = &serving->lot;
	uint32_t size;

	pmp_buf_add(lot, zeros, -(lot->length - serving->start) & 7);
	if (pmp_buf_failed(lot))
		return PMP_ENOMEM;
	if (lot->length > PMP_REMOTE_MESSAGE_MAX)
		return PMP_ELIMIT;
	size = (uint32_t)(lot->length - serving->start);
	memcpy(lot->data + serving->start + offsetof(struct pmp_pprof_record, size),
	       &size, sizeof(size));
	if (lot->length >= PMP_PPROF_LOT)
		send_lot(serving);
	return serving->gone ? PMP_EIO : 0;
}

/* ---- what was read ------------------------------------------------------------------------ */

static uint32_t put_mapping(void *arg, const struct pmp_mapping *mapping)
{
	const struct pmp_pprof_record_mapping record = {
		{ .type = PMP_PPROF_RECORD_MAPPING },
		mapping->start,
		mapping->end,
		mapping->offset,
	};
	struct profile_serving *serving = arg;

	begin_record(serving, &record, sizeof(record));
	add_text(serving, mapping->path);
	add_text(serving, mapping->build_id);
	return end_record(serving) ? UINT32_MAX : serving->mappings++;
}

static pmp_location put_location(void *arg, const struct pmp_first_address *origin,
				 const struct pmp_frame *frames, size_t count)
{
	const struct pmp_pprof_record_location record = {
		.record = { .type = PMP_PPROF_RECORD_LOCATION },
		.pc = origin->pc,
		.mapping = origin->mapping,
		.exact = origin->exact,
		.count = (uint32_t)count,
	};
	struct profile_serving *serving = arg;

	begin_record(serving, &record, sizeof(record));
	for (size_t i = 0; i < count; i++) {
		const struct pmp_pprof_record_frame frame = { frames[i].line,
							      frames[i].signal };

		pmp_buf_add(&serving->lot, &frame, sizeof(frame));
	}
	for (size_t i = 0; i < count; i++) {
		add_text(serving, frames[i].function);
		add_text(serving, frames[i].linkage ? frames[i].linkage : "");
		add_text(serving, frames[i].file ? frames[i].file : "");
	}
	return end_record(serving) ? PMP_LOCATION_NONE : serving->locations++;
}

static void add_lock(struct profile_serving *serving, const struct pmp_lock *lock)
{
	const char *mark = lock->holder_is == PMP_HOLDER_THREAD
				   ? NULL
				   : pmp_lock_holder_mark(lock->holder_is);

	add_text(serving, lock->text);
	add_text(serving, mark ? mark : lock->holder_name);
}

static int put_stack(void *arg, const struct pmp_entry *entry)
{
	const struct pmp_entry_waits *waits = entry->waits;
	const struct pmp_lock *lock = waits->lock;
	const struct pmp_pprof_record_stack record = {
		.record = { .type = PMP_PPROF_RECORD_STACK },
		.count = entry->count,
		.cpu = entry->cpu,
		.wall = entry->wall,
		.contentions = waits->contentions,
		.held_contentions = waits->held_contentions,
		.held_delay = waits->held_delay,
		.pid = entry->pid,
		.tid = entry->tid,
		.holder = lock ? lock->holder : 0,
		.end = entry->end,
		.location_count = (uint32_t)entry->location_count,
		.state = (uint8_t)entry->state,
		.has_heap = entry->heap != NULL,
		.lock_kind = lock ? lock->kind : 0,
		.lock = lock ? (uint8_t)(1 + lock->holder_stack) : 0,
	};
	struct profile_serving *serving = arg;

	begin_record(serving, &record, sizeof(record));
	if (entry->heap)
		pmp_buf_add(&serving->lot, entry->heap, sizeof(*entry->heap));
	if (entry->location_count)
		pmp_buf_add(&serving->lot, entry->locations,
			    entry->location_count * sizeof(*entry->locations));
	add_text(serving, entry->process);
	add_text(serving, entry->thread);
	add_text(serving, entry->syscall);
	add_text(serving, entry->wchan);
	add_text(serving, entry->reason);
	if (lock)
		add_lock(serving, lock);
	return end_record(serving);
}

static int put_process(void *arg, const struct pmp_process_heap *process)
{
	struct pmp_pprof_record_process record;
	struct profile_serving *serving = arg;

	memset(&record, 0, sizeof(record));
	record.record.type = PMP_PPROF_RECORD_PROCESS;
	record.process = *process;
	begin_record(serving, &record, sizeof(record));
	return end_record(serving);
}

static int put_end(void *arg, const struct pmp_profile_info *info,
		   const struct pmp_metadata *metadata)
{
	const struct pmp_pprof_record_end record = {
		{ .type = PMP_PPROF_RECORD_END },
		*info,
		metadata->realtime,
		metadata->duration,
		metadata->period,
		metadata->guessed,
	};
	struct profile_serving *serving = arg;

	begin_record(serving, &record, sizeof(record));
	add_text(serving, metadata->command);
	add_text(serving, metadata->host);
	add_text(serving, metadata->sample_type.type);
	add_text(serving, metadata->sample_type.unit);
	return end_record(serving);
}

/* ---- the request -------------------------------------------------------------------------- */

/* The request comes from the process that counts, so its strings need not be checked. */
static bool take_want(const struct pmp_buf *body, struct pmp_pprof_want *want,
		      struct pmp_sample_type *counted)
{
	struct pmp_pprof_record_want asked;
	const char *text = body->data + sizeof(asked);

	if (body->length <= sizeof(asked))
		return false;
	memcpy(&asked, body->data, sizeof(asked));
	want->heap = asked.heap;
	if (asked.has_type)
		want->sample_type = text;
	text += strlen(text) + 1;
	counted->type = text;
	counted->unit = text + strlen(text) + 1;
	if (asked.has_counted)
		want->counted = counted;
	return true;
}

void pmp_profile_serve(int socket, const struct pmp_namer_options *options)
{
	struct profile_serving serving = { .socket = socket };
	const struct pmp_pprof_calls calls = { put_mapping, put_location, put_stack,
					       put_process, put_end,	  &serving };
	struct pmp_remote_message request = { .fd = -1 };
	struct pmp_remote_header header = { .type = PMP_REMOTE_DONE };
	struct pmp_sample_type counted;
	struct pmp_pprof_want want = { 0 };
	struct pmp_error refusal = { 0 };
	const struct pmp_remote_parts parts = { .first = &refusal,
						.first_size = sizeof(refusal) };

	if (pmp_remote_receive(socket, &patient, &request) &&
	    request.header.type == PMP_REMOTE_PROFILE && request.fd >= 0 &&
	    take_want(&request.body, &want, &counted)) {
		if (options->working)
			options->working(options->arg);
		refusal.code = pmp_pprof_read(request.fd, &want, &calls, &refusal);
		send_lot(&serving);
		pmp_remote_send(socket, &patient, header, &parts);
	}
	pmp_remote_drop(&request);
	pmp_buf_free(&request.body);
	pmp_buf_free(&serving.lot);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Running processes: -p, -t, --name. */
#include <stdio.h>

#include "libpmp-program.h"
#include "say/message.h"
#include "source/sampling.h"
#include "source/source.h"

static bool is_meant(const struct options *options)
{
	return options->pids.count || options->tids.count || options->name;
}

/* Find the recorder that the process was started with. */
static int find_recorder(struct source *source, const struct id_list *pids)
{
	struct pmp_error err = { 0 };
	int code;

	if (pids->count != 1) {
		message_print("name one of them: pmp --heap -p PID",
			      "--heap reads the recorder of one process, not of %zu",
			      pids->count);
		return PMP_EXIT_USAGE;
	}
	code = pmp_recorder_find(pids->ids[0], source->options->heap.rate,
				 &source->recorder, &err);
	if (code == 0)
		return 0;
	if (code == PMP_EUNSUPPORTED && pmp_format_find("objects"))
		snprintf(err.hint, sizeof(err.hint),
			 "start it with pmp --heap -- COMMAND, or see what its heap "
			 "holds: pmp -f objects -p %d",
			 (int)pids->ids[0]);
	message_error(&err);
	return message_status(code);
}

static int open_processes(struct source *source, struct id_list *pids)
{
	int status = source->options->heap.on ? find_recorder(source, pids) : 0;

	return status ? status : sampling_open(source, pids, -1);
}

static void close_processes(struct source *source)
{
	sampling_close(source);
	pmp_recorder_free(source->recorder);
	source->recorder = NULL;
}

const struct source_type source_running = {
	.name = "processes",
	.is_meant = is_meant,
	.open = open_processes,
	.receive = sampling_receive,
	.tend = sampling_tend,
	SAMPLING_CALLS,
	.opened = sampling_opened,
	.ready = sampling_ready,
	.ended = sampling_ended,
	.name_after = sampling_name_after,
	.status = sampling_status,
	.close = close_processes,
};

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Running processes: -p, -t, --name. */
#include "source/sampling.h"
#include "source/source.h"

static bool is_meant(const struct options *options)
{
	return options->pids.count || options->tids.count || options->name;
}

static int open_processes(struct source *source, struct id_list *pids)
{
	return sampling_open(source, pids, -1);
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
	.close = sampling_close,
};

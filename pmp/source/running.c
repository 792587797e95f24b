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

const struct source_type source_processes = {
	.name = "processes",
	.is_meant = is_meant,
	.open = open_processes,
	.receive = sampling_receive,
	.tend = sampling_tend,
	.pause = sampling_pause,
	.is_detached = sampling_is_detached,
	.sample_now = sampling_sample_now,
	.set_interval = sampling_set_interval,
	.finish = sampling_finish,
	.stop = sampling_stop,
	.lose = sampling_lose,
	.kill = sampling_kill,
	.opened = sampling_opened,
	.ready = sampling_ready,
	.ended = sampling_ended,
	.name_after = sampling_name_after,
	.describe = sampling_describe,
	.status = sampling_status,
	.close = sampling_close,
};

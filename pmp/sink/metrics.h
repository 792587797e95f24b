/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Pages for a monitoring system: metrics in the text format of Prometheus (version 0.0.4 of
 * its exposition format), and the targets in the format of its HTTP service discovery.
 */
#ifndef PMP_SINK_METRICS_H
#define PMP_SINK_METRICS_H

#include <stddef.h>
#include <stdint.h>

struct serve_counts;
struct sink;

/* Metrics of the server. */
struct metrics_server {
	const struct serve_counts *counts;
	size_t windows;	  /* being recorded */
	uint64_t writers; /* started so far */
};

/** Write the metrics into a file. 0 or a negative errno. Called by the worker. */
int metrics_write(const struct sink *sink, const struct metrics_server *server, int file);
/** Snapshots per second in the last 10 s; the mean of all targets. */
double metrics_rate(const struct sink *sink);
/** Write the targets, to be scraped at host (HOST[:PORT]). 0 or a negative errno. */
int metrics_write_targets(const struct sink *sink, const char *host, int file);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the page of --serve asks for, as JSON: how the sampling is going, what threads did in
 * each second, and the calls of a part of the past; pmp-formats(5) has their form. And what
 * pprof asks for: names at addresses.
 */
#ifndef PMP_SINK_API_H
#define PMP_SINK_API_H

#include "serve/protocol.h"

#include "libpmp.h"

#include <stdint.h>
#include <sys/types.h>

struct command_lines;
struct sink;
struct timeline;

struct api_request {
	const struct sink *sink;
	const struct command_lines *commands;
	const struct timeline *timeline;
	uint64_t start; /* CLOCK_MONOTONIC, ns: what times of requests count from */
	const struct serve_request *asked;
	const struct pmp_filter *filter; /* or NULL */
	pid_t pid;			 /* 0: all processes */
	uint64_t from, to;		 /* ns, of what is asked for */
	int body;			 /* a file with what is asked for, or -1 */
	int file;			 /* that the answer goes to */
};

/* Each writes the answer. 0 or an enum pmp_status. To be called by the worker. */
int api_write_state(const struct api_request *request, struct pmp_error *err);
int api_write_timeline(const struct api_request *request, struct pmp_error *err);
int api_write_tree(const struct api_request *request, struct pmp_error *err);
int api_write_threads(const struct api_request *request, struct pmp_error *err);
int api_write_locks(const struct api_request *request, struct pmp_error *err);
int api_write_heap(const struct api_request *request, struct pmp_error *err);
int api_write_names(const struct api_request *request, struct pmp_error *err);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Answers to the page of --serve, as JSON: the state of the sampling, what threads did in
 * each second, and the call tree of a part of the past; pmp-formats(5) documents them. And
 * names of addresses, for pprof.
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
	uint64_t start; /* CLOCK_MONOTONIC, ns: times in requests count from here */
	const struct serve_request *asked;
	const struct pmp_filter *filter; /* or NULL */
	pid_t pid;			 /* 0: all processes */
	uint64_t from, to;		 /* ns, the requested part of the past */
	int body;			 /* a file with the body of the request, or -1 */
	int file;			 /* for the answer */
};

/* Each writes an answer. 0 or an enum pmp_status. Called by the worker or in a writer. */
int api_write_state(const struct api_request *request, struct pmp_error *err);
int api_write_timeline(const struct api_request *request, struct pmp_error *err);
int api_write_tree(const struct api_request *request, struct pmp_error *err);
int api_write_threads(const struct api_request *request, struct pmp_error *err);
int api_write_locks(const struct api_request *request, struct pmp_error *err);
int api_write_heap(const struct api_request *request, struct pmp_error *err);
int api_write_names(const struct api_request *request, struct pmp_error *err);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fuzz target: arbitrary bytes from the process that reads a core file to its client: the
 * files that it asks for, the facts about the core, and the sample.
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../lib/corefile.h"
#include "core/core-records.h"
#include "fuzz.h"
#include "liar.h"
#include "libpmp-program.h"
#include "resolve/remote-messages.h"
#include "sample.h"

#define GIVEN 16 /* answers to requests of a seed */

static void log_line(void *arg, const char *area, const char *line)
{
	(void)arg;
	if (strlen(area) + strlen(line) > LIAR_SENT_MAX)
		__builtin_trap();
}

/* Touch everything, so that sanitizers see invalid memory. */
static void take(struct pmp_core *core)
{
	struct pmp_core_missing_file missing = { .size = sizeof(missing) };
	struct pmp_core_info info = { .size = sizeof(info) };
	struct pmp_sample *sample;
	size_t sum = 0;

	pmp_core_info(core, &info);
	sum += strlen(info.name) + strlen(info.crash);
	for (size_t i = 0; pmp_core_missing(core, i, &missing); i++)
		sum += strlen(missing.path) + strlen(missing.problem) +
		       strlen(missing.build_id);
	if (pmp_core_sample(core, &sample, NULL) < 0)
		return;
	for (size_t i = 0; i < sample->thread_count; i++)
		sum += strlen(sample->threads[i].name);
	pmp_sample_free(sample);
	if (sum > (size_t)64 << 20)
		__builtin_trap();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct liar liar = { data, size, -1, false };
	const struct pmp_namer_calls calls = { .start = liar_start,
					       .end = liar_end,
					       .arg = &liar };
	/* It names files: those of this machine must not be used. */
	const struct pmp_core_options options = { .size = sizeof(options),
						  .symfs = "/nonexistent",
						  .debug_dir = "/nonexistent",
						  .log = log_line,
						  .namer = &calls };
	int fd = size <= LIAR_SENT_MAX ? memfd_create("core", MFD_CLOEXEC) : -1;
	struct pmp_core *core;

	if (fd < 0)
		return 0;
	if (pmp_core_open(fd, "core", &options, &core, NULL) == 0) {
		take(core);
		pmp_core_close(core);
	}
	liar_close(&liar);
	close(fd);
	return 0;
}

/* Send a request for the core, and answers that give no file. */
static void ask(int socket, int core)
{
	static const char names[] = "\0core";
	static const struct pmp_core_request request = { .debugs = 1 };
	static const struct pmp_remote_patience patient;
	const struct pmp_remote_header header = { .type = PMP_REMOTE_CORE };
	const struct pmp_remote_header none = { .type = PMP_REMOTE_GIVE, .flag = ENOENT };
	const struct pmp_remote_parts nothing = { 0 };
	char body[sizeof(request) + sizeof(names)];
	const struct pmp_remote_parts parts = { .first = body,
						.first_size = sizeof(body),
						.fd = &core };

	memcpy(body, &request, sizeof(request));
	memcpy(body + sizeof(request), names, sizeof(names));
	if (!pmp_remote_send(socket, &patient, header, &parts))
		abort();
	for (int i = 0; i < GIVEN; i++)
		if (!pmp_remote_send(socket, &patient, none, &nothing))
			abort();
	shutdown(socket, SHUT_WR);
}

/* The output of pmp_core_serve() for a small core. */
size_t fuzz_seed(unsigned n, uint8_t *data, size_t size)
{
	static const struct pmp_namer_options options;
	struct corefile core;
	int fds[2], fd;
	ssize_t length;

	if (n > 2)
		return 0;
	core_make_for(&core, n == 1 ? 20 : 2, n < 2 ? EM_X86_64 : EM_AARCH64);
	fd = memfd_create("core", MFD_CLOEXEC);
	if (fd < 0 || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) ||
	    write(fd, core.bytes, core.length) != (ssize_t)core.length)
		abort();
	ask(fds[0], fd);
	pmp_core_serve(fds[1], &options);
	shutdown(fds[1], SHUT_WR);
	length = recv(fds[0], data, size, MSG_WAITALL);
	close(fds[0]);
	close(fds[1]);
	close(fd);
	free(core.bytes);
	return length > 0 ? (size_t)length : 0;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fuzz target: arbitrary bytes from the process that reads a saved profile, counted for the
 * screen and with little memory, and written in some formats. The first byte says whether a
 * heap is counted.
 */
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "libpmp-program.h"
#include "fuzz.h"
#include "liar.h"
#include "lib/saved.h"
#include "resolve/remote-messages.h"

#define MEMORY 65536 /* two thirds of it, and stacks are evicted */

static struct saved new_profile(const struct pmp_namer_calls *calls, bool heap)
{
	const struct pmp_symbolizer_options names = { .size = sizeof(names),
						      .namer = calls,
						      .lines = true };
	const struct pmp_profile_options options = {
		.size = sizeof(options),
		.details = true,
		.waits = true,
		.live = true,
		.heap = heap,
		.max_memory = MEMORY,
	};
	struct saved saved;

	if (pmp_symbolizer_new(&names, &saved.symbolizer, NULL) ||
	    pmp_profile_new(&options, saved.symbolizer, &saved.profile, NULL))
		abort();
	return saved;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const formats[] = { "raw", "folded", "pprof", "contention",
					       "memory" };
	struct liar liar = { data + 1, size - 1, -1, true };
	const struct pmp_namer_calls calls = { .start = liar_start,
					       .end = liar_end,
					       .arg = &liar };
	struct saved saved;
	int fd;

	if (size < 1 || size > LIAR_SENT_MAX)
		return 0;
	saved = new_profile(&calls, data[0] & 1);
	fd = memfd_create("profile", MFD_CLOEXEC);
	if (fd < 0)
		abort();
	pmp_profile_read(saved.profile, fd, "saved", NULL);
	close(fd);
	/* If other files are read, the liar sends nothing more. */
	liar.size = 0;
	for (size_t i = 0; i < sizeof(formats) / sizeof(*formats); i++) {
		struct pmp_buf buf = saved_write(&saved, formats[i], NULL);

		pmp_buf_free(&buf);
	}
	saved_free(&saved);
	liar_close(&liar);
	return 0;
}

/* The output of pmp_profile_serve() for an example. */
size_t fuzz_seed(unsigned n, uint8_t *data, size_t size)
{
	static const struct pmp_namer_options options;
	static const char request[] = "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0";
	const struct pmp_remote_header header = { .type = PMP_REMOTE_PROFILE };
	static const struct pmp_remote_patience patient;
	struct saved saved;
	struct pmp_buf packed;
	int fds[2], fd;
	ssize_t length;

	if (n >= 2 || size < 2)
		return 0;
	saved = saved_example();
	packed = saved_write(&saved, "pprof", NULL);
	fd = memfd_create("profile", MFD_CLOEXEC);
	if (fd < 0 || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) ||
	    write(fd, packed.data, packed.length) != (ssize_t)packed.length ||
	    lseek(fd, 0, SEEK_SET) < 0 ||
	    !pmp_remote_send(fds[0], &patient, header,
			     &(struct pmp_remote_parts){ .first = request,
							 .first_size = sizeof(request),
							 .fd = &fd }))
		abort();
	pmp_profile_serve(fds[1], &options);
	shutdown(fds[1], SHUT_WR);
	data[0] = (uint8_t)n;
	length = recv(fds[0], data + 1, size - 1, MSG_WAITALL);
	close(fds[0]);
	close(fds[1]);
	close(fd);
	pmp_buf_free(&packed);
	saved_free(&saved);
	return length > 0 ? (size_t)length + 1 : 0;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Fuzz target: all files of /proc that are read; the first byte selects the parser. */
#include "fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proc/descriptors.h"
#include "proc/file-locks.h"
#include "proc/maps.h"
#include "proc/process.h"
#include "proc/sockets.h"

static void try_maps_line(const char *text, size_t length)
{
	struct pmp_maps_line line;

	if (!pmp_maps_parse_line(text, length, &line))
		return;
	if (line.start >= line.end || line.path < text ||
	    line.path + line.path_length != text + length || line.prot > 15)
		abort();
}

static void try_stat(const char *text, size_t length)
{
	struct pmp_stat stat;

	if (pmp_stat_parse(text, length, &stat) &&
	    (stat.pid < 0 || stat.ppid < 0 || stat.name[sizeof(stat.name) - 1]))
		abort();
}

static void try_status(const char *text, size_t length)
{
	struct pmp_status_file status;

	if (pmp_status_parse(text, length, &status) &&
	    (status.tgid <= 0 || status.tracer < 0 || status.ns_pid < 0 ||
	     status.seccomp < -1 || status.seccomp > 2))
		abort();
}

static void try_syscall(const char *text, size_t length)
{
	struct pmp_syscall_file call;
	bool good = pmp_syscall_parse(text, length, &call);

	if (call.number < PMP_SYSCALL_UNKNOWN ||
	    (!good && call.number != PMP_SYSCALL_UNKNOWN))
		abort();
}

static void try_schedstat(const char *text, size_t length)
{
	uint64_t cpu, runs;

	pmp_schedstat_parse(text, length, &cpu, &runs);
}

static void try_lock(const char *text, size_t length)
{
	struct pmp_file_lock lock, locks[3];
	struct pmp_fdinfo info;

	if (pmp_file_lock_parse(text, length, &lock) &&
	    (lock.pid < -1 || lock.first > lock.last || lock.type < PMP_OUTSIDE_FLOCK ||
	     lock.type > PMP_OUTSIDE_OFD))
		abort();
	if (pmp_fdinfo_parse(text, length, &info) && info.pid < 0)
		abort();
	if (pmp_fdinfo_locks(text, length, locks, 3) > 3)
		abort();
}

static void try_locks(const char *text, size_t length)
{
	struct pmp_file_locks locks = { 0 };

	if (pmp_file_locks_parse(&locks, text, length) || pmp_file_locks_sort(&locks))
		abort();
	for (size_t i = 0; i < locks.count; i++) {
		const struct pmp_file_lock *held =
			pmp_file_locks_held(&locks, &locks.items[i]);
		const struct pmp_file_lock *waiter =
			pmp_file_locks_waiter(&locks, &locks.items[i], true);

		if (held && (held->waits || held->inode != locks.items[i].inode))
			abort();
		/* The holder of a lock may wait for the same lock by another descriptor. */
		if (locks.items[i].waits ? !waiter : waiter && !waiter->waits)
			abort();
	}
	pmp_file_locks_free(&locks);
}

static void try_tcp(const char *text, size_t length)
{
	char address[PMP_ADDRESS_SIZE];
	struct pmp_tcp_table table = { 0 };
	struct pmp_tcp_row row;

	if (!pmp_tcp_parse(text, length, &row))
		return;
	pmp_tcp_print(&row.local, address);
	pmp_tcp_print(&row.remote, address);
	if (pmp_tcp_table_add(&table, text, length) || pmp_tcp_table_sort(&table))
		abort();
	pmp_tcp_find(&table, row.inode);
	pmp_tcp_find_other(&table, &row);
	pmp_tcp_find_listener(&table, &row);
	pmp_tcp_table_free(&table);
}

static void try_link(const char *text, size_t length)
{
	char link[512], name[PMP_OUTSIDE_TEXT];

	if (length >= sizeof(link))
		return;
	memcpy(link, text, length);
	link[length] = '\0';
	if (pmp_descriptor_parse_name(link, name) && !*name)
		abort();
}

static void try_unix(const char *text, size_t length)
{
	pmp_unix_parse_listener(text, length, "/x");
}

static void (*const parsers[])(const char *text, size_t length) = {
	try_maps_line, try_stat,  try_status, try_syscall, try_schedstat,
	try_lock,      try_locks, try_tcp,    try_unix,	   try_link,
};
#define PARSERS (sizeof(parsers) / sizeof(*parsers))

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size > 0)
		parsers[data[0] % PARSERS]((const char *)data + 1, size - 1);
	return 0;
}

size_t fuzz_seed(unsigned n, uint8_t *data, size_t size)
{
	static const char *const texts[][2] = {
		{ "7f31c3a00000-7f31c3b55000 r-xp 00026000 fe:01 1234    /usr/lib/libc.so.6",
		  "ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0 [vsyscall]" },
		{ "4100 (a) S 1 (b) S 40 17 17 0 -1 4194304 136 0 0 0 1 2 0 0 20 0 1 0 121259 2",
		  "2 (kthreadd) S 0 0 0 0 -1 2129984 0 0 0 0 0 0 0 0 20 0 1 0 3 0 0" },
		{ "Name:\tx\nState:\tS (sleeping)\nTgid:\t4100\nTracerPid:\t5\nUid:\t1\t2\t3\t4\n"
		  "Gid:\t1\t2\t3\t4\nNSpid:\t4100\t1\nCapPrm:\t00000000a80425fb\nSeccomp:\t2\n",
		  "Tgid:\t1\nSeccomp:\t0\nvoluntary_ctxt_switches:\t9\n"
		  "nonvoluntary_ctxt_switches:\t5\n" },
		{ "202 0x55819ffca080 0x80 0x2 0x0 0x0 0xffffffff 0x7fe924874ea8 0x7fe92510012b\n",
		  "-1 0x7ffc7a7c8000 0x7fe92510012b\n" },
		{ "5029385 170 695\n", "0 0 0\n" },
		{ "3: -> POSIX  ADVISORY  WRITE 7 00:1a:5 100 199",
		  "flags:\t02\nino:\t5\nlock:\t1: OFDLCK ADVISORY  READ -1 fe:00:5 0 EOF\n" },
		{ "1: FLOCK  ADVISORY  WRITE 10 fe:00:5 0 EOF\n"
		  "1: -> FLOCK  ADVISORY  WRITE 11 fe:00:5 0 EOF\n",
		  "4: -> POSIX  ADVISORY  WRITE 14 fe:00:6 0 9\n" },
		{ "1: 0100007F:C350 0100007F:07E8 01 0:0 0:0 0 0 0 77 1",
		  "1: 0000000000000000FFFF00000100007F:07E8 "
		  "00000000000000000000000001000000:C350 01 0:0 0:0 0 0 0 78 1" },
		{ "f: 2 0 10000 1 01 4711 /x", "f: 2 0 0 1 01 4711" },
		{ "anon_inode:[eventpoll]", "anon_inode:inotify" },
	};
	const char *text;

	if (n >= 2 * PARSERS)
		return 0;
	text = texts[n / 2][n % 2];
	data[0] = (uint8_t)(n / 2);
	return 1 + (size_t)snprintf((char *)data + 1, size - 1, "%s", text);
}

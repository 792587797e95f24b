/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which processes are new? The kernel assigns process ids in order and shows the last one
 * (ns_last_pid, loadavg): while it stays the same there are none, and otherwise only the
 * ids since then must be checked. All of /proc is read only if there were many, or the ids
 * have wrapped around. Only reads /proc.
 */
#include "libpmp-program.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/file.h"
#include "base/scan.h"
#include "proc/process.h"

#define PATH_SIZE 32
#define TEXT_SIZE 128
#define RANGE_MAX 4096	  /* ids; beyond that, scanning /proc is cheaper */
#define AGAIN 32	  /* recheck the last ids, which may not have been in /proc yet */
#define BLIND_EVERY PMP_S /* if the last id is unknown */

struct pmp_procwatch {
	struct pmp_new_process *items;
	size_t count, capacity;
	pid_t last;	 /* id at the last scan, 0: unknown */
	bool quiet;	 /* the same as at the scan before */
	uint64_t time;	 /* of the last scan of all of /proc */
	uint32_t seen;	 /* bit i: id last - i existed, for AGAIN ids */
	uint64_t unseen; /* ids since the first scan that were never seen */
};

/* The last id assigned to a process or thread, 0 if unknown. */
static pid_t last_pid(void)
{
	char text[TEXT_SIZE];
	ssize_t length = pmp_file_read(AT_FDCWD, "/proc/sys/kernel/ns_last_pid", text,
				       sizeof(text));
	struct pmp_scan scan;
	const char *word;
	uint64_t pid = 0;
	size_t n;

	/* In loadavg it is the last of five words. */
	if (length <= 0)
		length = pmp_file_read(AT_FDCWD, "/proc/loadavg", text, sizeof(text));
	if (length <= 0)
		return 0;
	scan = pmp_scan_text(text, (size_t)length);
	while (pmp_scan_blanks(&scan), pmp_scan_word(&scan, &word, &n)) {
		struct pmp_scan number = pmp_scan_text(word, n);

		if (!pmp_scan_u64(&number, &pid) || !pmp_scan_done(&number) ||
		    pid > INT_MAX)
			pid = 0;
	}
	return (pid_t)pid;
}

/* Add it if it is a live process. there: it is alive, or a thread. */
static int scan_one(struct pmp_procwatch *watch, pid_t pid, bool *there)
{
	struct pmp_stat stat;
	char path[PATH_SIZE];

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	*there = !pmp_stat_read(AT_FDCWD, path, &stat) && !pmp_state_ended(stat.state);
	if (!*there || stat.is_thread)
		return 0;
	if (PMP_RESERVE(&watch->items, &watch->capacity, watch->count + 1))
		return PMP_ENOMEM;
	watch->items[watch->count++] = (struct pmp_new_process){
		.pid = pid,
		.parent = stat.ppid,
		.session = stat.session,
		.started = stat.start_time,
	};
	return 0;
}

static int scan_all(struct pmp_procwatch *watch)
{
	DIR *proc = opendir("/proc");
	struct dirent *entry;
	uint64_t pid;
	bool there;
	int r = 0;

	if (!proc)
		return PMP_EIO;
	while (!r && (entry = readdir(proc))) {
		if (pmp_scan_whole(entry->d_name, 1, INT_MAX, &pid))
			r = scan_one(watch, (pid_t)pid, &there);
	}
	closedir(proc);
	watch->time = pmp_clock();
	watch->seen = ~UINT32_C(0);
	return r;
}

/* Scan the ids since the last scan, and recheck those before that. */
static int scan_range(struct pmp_procwatch *watch, pid_t before, pid_t now)
{
	uint32_t old = watch->seen;
	int r = 0;

	watch->seen = 0;
	for (pid_t pid = before > AGAIN ? before - AGAIN + 1 : 1; pid <= now && !r;
	     pid++) {
		bool known = pid <= before && (old >> (before - pid) & 1), there;

		r = scan_one(watch, pid, &there);
		if (pid > before)
			watch->unseen += !there;
		else if (there && !known)
			watch->unseen -= watch->unseen > 0;
		watch->seen = watch->seen << 1 | (known || there);
	}
	return r;
}

static int scan(struct pmp_procwatch *watch)
{
	pid_t before = watch->last, now = last_pid();
	bool changed = now != before;
	int r = 0;

	watch->last = now;
	watch->count = 0;
	if (now == 0)
		return pmp_clock() - watch->time < BLIND_EVERY ? 0 : scan_all(watch);
	if (before == 0 || now < before || now - before > RANGE_MAX)
		r = scan_all(watch);
	else if (changed || !watch->quiet)
		r = scan_range(watch, before, now);
	watch->quiet = !changed;
	return r;
}

int pmp_procwatch_new(struct pmp_procwatch **watch, struct pmp_error *err)
{
	*watch = calloc(1, sizeof(**watch));
	return *watch ? 0 : pmp_error_nomem(err, "look for processes");
}

int pmp_procwatch_next(struct pmp_procwatch *watch, struct pmp_new_process **list,
		       size_t *count, struct pmp_error *err)
{
	int r = scan(watch);

	*list = watch->items;
	*count = watch->count;
	if (r == PMP_ENOMEM)
		return pmp_error_nomem(err, "look for processes");
	return r ? pmp_error_sys(err, r, errno, "cannot read /proc") : 0;
}

uint64_t pmp_procwatch_unseen(const struct pmp_procwatch *watch)
{
	return watch->unseen;
}

void pmp_procwatch_free(struct pmp_procwatch *watch)
{
	if (!watch)
		return;
	free(watch->items);
	free(watch);
}

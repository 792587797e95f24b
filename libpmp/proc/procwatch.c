/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which processes are new? The kernel gives out process ids in their order and says
 * the last one (ns_last_pid, loadavg): while it stays the same there is none, and else
 * only the ids since then have to be looked at. Only when many have gone by, or they
 * have started again, all of /proc is. Only looks into /proc.
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
#define RANGE_MAX 4096	  /* ids; of more, /proc has fewer */
#define AGAIN 32	  /* the last ids may not have been in /proc yet */
#define BLIND_EVERY PMP_S /* where the last id is not known */

struct pmp_procwatch {
	struct pmp_new_process *items;
	size_t count, capacity;
	pid_t last;	 /* id at the last scan, 0: unknown */
	bool quiet;	 /* and at the one before it */
	uint64_t time;	 /* of the last scan of all of /proc */
	uint32_t seen;	 /* bit i: last - i was there, of AGAIN ids */
	uint64_t unseen; /* ids since the first scan that never were */
};

/* The last id that was given to a process or thread, 0 if that is not known. */
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

/* What is no process, or one no more, is left out. there: it lives, or is a thread. */
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

/* The ids since the last scan, and the ones before that once more. */
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

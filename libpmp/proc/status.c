/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads and parses small files of /proc. Nothing is stopped here. */
#include "proc/status.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/scan.h"

#define STAT_SIZE 1024		/* about 350 bytes on a 64-bit machine */
#define STATUS_LIMIT (1u << 20) /* 65,536 supplementary groups fit */

/* ---- parsers ------------------------------------------------------------ */

static bool scan_pid(struct pmp_scan *scan, pid_t *pid)
{
	uint64_t value;

	if (!pmp_scan_u64(scan, &value) || value > INT_MAX)
		return false;
	*pid = (pid_t)value;
	return true;
}

/* The next of the blank-separated numbers of a stat file. */
static bool next_number(struct pmp_scan *scan, int64_t *value)
{
	pmp_scan_blanks(scan);
	return pmp_scan_i64(scan, value);
}

/* Fields after the name: " S ppid pgrp session tty tpgid flags ... start", numbered as in
 * proc(5). */
enum { PPID = 4, SESSION = 6, FLAGS = 9, THREADS = 20, START = 22 };

/* The session of a task that is released while the kernel prints it; see below. */
#define RELEASED (-1)

/* Fields that may be missing, or exceed signed numbers. */
static void parse_more_fields(struct pmp_scan *scan, struct pmp_stat *stat)
{
	enum { FIRST = START + 1, STACK = 28, EXIT_SIGNAL = 38, PROCESSOR = 39 };
	const char *word;
	size_t length;

	for (int field = FIRST; field <= PROCESSOR; field++) {
		uint64_t number;

		pmp_scan_blanks(scan);
		if (field == STACK && pmp_scan_u64(scan, &stat->start_stack))
			continue;
		if (field == PROCESSOR && pmp_scan_u64(scan, &number) && number < INT_MAX)
			stat->processor = (int)number;
		if (!pmp_scan_word(scan, &word, &length))
			return;
		/* Only the leader sends its parent a signal when it exits. */
		if (field == EXIT_SIGNAL)
			stat->is_thread = *word == '-';
	}
}

static bool parse_stat_fields(struct pmp_scan *scan, struct pmp_stat *stat)
{
	int64_t value;

	if (!pmp_scan_char(scan, ' ') || pmp_scan_done(scan))
		return false;
	stat->state = *scan->at++;
	for (int field = PPID; field <= START; field++) {
		if (!next_number(scan, &value))
			return false;
		if (field == SESSION && value == RELEASED)
			stat->session = RELEASED;
		if ((field == PPID || field == SESSION) && (value < 0 || value > INT_MAX))
			return false;
		if (field == PPID)
			stat->ppid = (pid_t)value;
		else if (field == SESSION)
			stat->session = (pid_t)value;
		else if (field == FLAGS)
			stat->flags = (uint64_t)value;
		else if (field == THREADS)
			stat->threads = (uint64_t)value;
		else if (field == START)
			stat->start_time = (uint64_t)value;
	}
	parse_more_fields(scan, stat);
	return true;
}

bool pmp_stat_parse(const char *text, size_t length, struct pmp_stat *stat)
{
	struct pmp_scan scan = pmp_scan_text(text, length);
	const char *close = length ? memrchr(text, ')', length) : NULL;
	size_t name_length;

	*stat = (struct pmp_stat){ .state = '?', .processor = -1 };
	if (!close || !scan_pid(&scan, &stat->pid) || !pmp_scan_char(&scan, ' ') ||
	    !pmp_scan_char(&scan, '(') || close < scan.at)
		return false;
	name_length = (size_t)(close - scan.at);
	if (name_length >= sizeof(stat->name))
		name_length = sizeof(stat->name) - 1;
	memcpy(stat->name, scan.at, name_length);
	scan.at = close + 1;
	return parse_stat_fields(&scan, stat);
}

/* Skip the name of a field ("Tgid:") and the blanks after it. */
static bool is_field(struct pmp_scan *scan, const char *name)
{
	size_t length = strlen(name);

	if ((size_t)(scan->end - scan->at) < length ||
	    memcmp(scan->at, name, length) != 0)
		return false;
	scan->at += length;
	pmp_scan_blanks(scan);
	return true;
}

/* "Uid: real effective saved fs", and so for Gid */
static void parse_ids(struct pmp_scan *scan, unsigned *real, unsigned *effective)
{
	uint64_t first, second;

	if (!pmp_scan_u64(scan, &first))
		return;
	pmp_scan_blanks(scan);
	if (!pmp_scan_u64(scan, &second) || first > UINT32_MAX || second > UINT32_MAX)
		return;
	*real = (unsigned)first;
	*effective = (unsigned)second;
}

/* "NSpid: 4100 17 1": our pid first, the innermost last */
static void parse_ns_pids(struct pmp_scan *scan, struct pmp_status_file *status)
{
	while (scan_pid(scan, &status->ns_pid))
		pmp_scan_blanks(scan);
}

static void parse_status_line(struct pmp_scan *line, struct pmp_status_file *status)
{
	int64_t value;

	if (is_field(line, "State:") && !pmp_scan_done(line))
		status->state = *line->at;
	else if (is_field(line, "Tgid:"))
		scan_pid(line, &status->tgid);
	else if (is_field(line, "TracerPid:"))
		scan_pid(line, &status->tracer);
	else if (is_field(line, "Uid:"))
		parse_ids(line, &status->uid, &status->euid);
	else if (is_field(line, "Gid:"))
		parse_ids(line, &status->gid, &status->egid);
	else if (is_field(line, "NSpid:"))
		parse_ns_pids(line, status);
	else if (is_field(line, "CoreDumping:"))
		status->dumping = pmp_scan_i64(line, &value) && value;
	else if (is_field(line, "CapPrm:"))
		pmp_scan_hex(line, &status->cap_permitted);
	else if (is_field(line, "CapEff:"))
		pmp_scan_hex(line, &status->cap_effective);
	else if (is_field(line, "CapBnd:"))
		pmp_scan_hex(line, &status->cap_bounding);
	else if (is_field(line, "Seccomp:"))
		status->seccomp = pmp_scan_i64(line, &value) && value >= 0 && value <= 2
					  ? (int)value
					  : -1;
	else if (is_field(line, "voluntary_ctxt_switches:"))
		pmp_scan_u64(line, &status->voluntary);
	else if (is_field(line, "nonvoluntary_ctxt_switches:"))
		pmp_scan_u64(line, &status->involuntary);
}

bool pmp_status_parse(const char *text, size_t length, struct pmp_status_file *status)
{
	struct pmp_scan scan = pmp_scan_text(text, length);
	const char *line;
	size_t line_length;

	*status = (struct pmp_status_file){
		.seccomp = -1,
		.uid = (uid_t)-1,
		.euid = (uid_t)-1,
		.gid = (gid_t)-1,
		.egid = (gid_t)-1,
		.state = '?',
	};
	while (pmp_scan_line(&scan, &line, &line_length)) {
		struct pmp_scan one = pmp_scan_text(line, line_length);

		parse_status_line(&one, status);
	}
	return status->tgid > 0;
}

bool pmp_syscall_parse(const char *text, size_t length, struct pmp_syscall_file *call)
{
	struct pmp_scan scan = pmp_scan_text(text, length);
	struct pmp_syscall_file found = { 0 };
	int64_t number;

	*call = (struct pmp_syscall_file){ .number = PMP_SYSCALL_UNKNOWN };
	if (is_field(&scan, "running"))
		return true;
	if (!pmp_scan_i64(&scan, &number) || number < -1 || number > INT_MAX)
		return false;
	found.number = number < 0 ? PMP_SYSCALL_NONE : (int)number;
	for (size_t i = 0; number >= 0 && i < 6; i++) {
		pmp_scan_blanks(&scan);
		if (!pmp_scan_hex(&scan, &found.args[i]))
			return false;
	}
	pmp_scan_blanks(&scan);
	if (!pmp_scan_hex(&scan, &found.sp))
		return false;
	pmp_scan_blanks(&scan);
	if (!pmp_scan_hex(&scan, &found.pc))
		return false;
	*call = found;
	return true;
}

bool pmp_schedstat_parse(const char *text, size_t length, uint64_t *cpu, uint64_t *runs)
{
	struct pmp_scan scan = pmp_scan_text(text, length);
	uint64_t values[3];

	for (size_t i = 0; i < 3; i++) {
		pmp_scan_blanks(&scan);
		if (!pmp_scan_u64(&scan, &values[i]))
			return false;
	}
	*cpu = values[0];
	*runs = values[2];
	return true;
}

/* ".203417": six digits, in ns */
static uint64_t scan_fraction(struct pmp_scan *scan)
{
	const char *start;
	uint64_t value;

	if (!pmp_scan_char(scan, '.'))
		return 0;
	start = scan->at;
	return pmp_scan_u64(scan, &value) && scan->at - start == 6 ? value : 0;
}

/* "se.exec_start : 26301384.203417", after the thread's name, which may contain
 * anything. */
bool pmp_sched_parse(const char *text, size_t length, uint64_t *exec_start)
{
	struct pmp_scan scan = pmp_scan_text(text, length);
	const char *line;
	size_t line_length;
	bool found = false;

	while (pmp_scan_line(&scan, &line, &line_length)) {
		struct pmp_scan one = pmp_scan_text(line, line_length);
		uint64_t ms;

		if (!is_field(&one, "se.exec_start") || !pmp_scan_char(&one, ':'))
			continue;
		pmp_scan_blanks(&one);
		found = pmp_scan_u64(&one, &ms) && ms < UINT64_MAX / PMP_MS / 2;
		if (found)
			*exec_start = ms * PMP_MS + scan_fraction(&one);
	}
	return found;
}

bool pmp_cpu_list_has(const char *text, size_t length, unsigned cpu)
{
	struct pmp_scan scan = pmp_scan_text(text, length);
	uint64_t first, last;

	while (pmp_scan_u64(&scan, &first)) {
		last = first;
		if (pmp_scan_char(&scan, '-') && !pmp_scan_u64(&scan, &last))
			return false;
		if (cpu >= first && cpu <= last)
			return true;
		if (!pmp_scan_char(&scan, ','))
			return false;
	}
	return false;
}

/* ---- reading ------------------------------------------------------------ */

/* A task that is released while the kernel prints it no longer has a session (-1) nor, in
 * status, a process (0). It may be the old leader of a process in which another thread
 * calls exec: then the next read finds the new leader. */
#define READS 5

static int read_stat_once(int dir, const char *path, struct pmp_stat *stat)
{
	char text[STAT_SIZE];
	ssize_t length = pmp_file_read(dir, path, text, sizeof(text));

	if (length < 0)
		return (int)length;
	if (pmp_stat_parse(text, (size_t)length, stat))
		return 0;
	return stat->session == RELEASED ? -ESRCH : -EPROTO;
}

static int read_status_once(int dir, const char *path, struct pmp_status_file *status)
{
	static const char released[] = "\nTgid:\t0\n";
	struct pmp_buf text = { 0 };
	int result = pmp_file_slurp(dir, path, STATUS_LIMIT, &text);

	if (result == 0 && !pmp_status_parse(text.data, text.length, status))
		result = memmem(text.data, text.length, released, strlen(released))
				 ? -ESRCH
				 : -EPROTO;
	pmp_buf_free(&text);
	return result;
}

int pmp_stat_read(int dir, const char *path, struct pmp_stat *stat)
{
	int result = -ESRCH;

	for (int i = 0; i < READS && result == -ESRCH; i++)
		result = read_stat_once(dir, path, stat);
	return result;
}

int pmp_status_read(int dir, const char *path, struct pmp_status_file *status)
{
	int result = -ESRCH;

	for (int i = 0; i < READS && result == -ESRCH; i++)
		result = read_status_once(dir, path, status);
	return result;
}

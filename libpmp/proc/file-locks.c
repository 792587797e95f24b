/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "proc/file-locks.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/scan.h"
#include "libpmp.h"

/* ---- a line -------------------------------------------------------------------------- */

static bool scan_word_is(struct pmp_scan *scan, const char *wanted)
{
	struct pmp_scan before = *scan;
	const char *word;
	size_t length;

	pmp_scan_blanks(scan);
	if (pmp_scan_word(scan, &word, &length) && length == strlen(wanted) &&
	    memcmp(word, wanted, length) == 0)
		return true;
	*scan = before;
	return false;
}

static bool scan_type(struct pmp_scan *scan, enum pmp_outside_type *type)
{
	if (scan_word_is(scan, "FLOCK"))
		*type = PMP_OUTSIDE_FLOCK;
	else if (scan_word_is(scan, "POSIX"))
		*type = PMP_OUTSIDE_FCNTL;
	else if (scan_word_is(scan, "OFDLCK"))
		*type = PMP_OUTSIDE_OFD;
	else
		return false;
	return scan_word_is(scan, "ADVISORY") || scan_word_is(scan, "MANDATORY");
}

static bool scan_mode(struct pmp_scan *scan, bool *write)
{
	*write = scan_word_is(scan, "WRITE") || scan_word_is(scan, "RW");
	return *write || scan_word_is(scan, "READ");
}

static bool scan_hex_up_to(struct pmp_scan *scan, unsigned *number)
{
	uint64_t value;

	if (!pmp_scan_hex(scan, &value) || value > UINT_MAX || !pmp_scan_char(scan, ':'))
		return false;
	*number = (unsigned)value;
	return true;
}

/* "0 99" or "0 EOF" */
static bool scan_range(struct pmp_scan *scan, struct pmp_file_lock *lock)
{
	pmp_scan_blanks(scan);
	if (!pmp_scan_u64(scan, &lock->first))
		return false;
	lock->last = UINT64_MAX;
	if (scan_word_is(scan, "EOF"))
		return true;
	pmp_scan_blanks(scan);
	return pmp_scan_u64(scan, &lock->last) && lock->last >= lock->first;
}

/* "1: -> FLOCK  ADVISORY  WRITE 30169 fe:00:10952886 0 EOF" */
bool pmp_file_lock_parse(const char *line, size_t length, struct pmp_file_lock *lock)
{
	struct pmp_scan scan = pmp_scan_text(line, length);
	int64_t pid;

	*lock = (struct pmp_file_lock){ 0 };
	pmp_scan_blanks(&scan);
	if (!pmp_scan_u64(&scan, &lock->id) || !pmp_scan_char(&scan, ':'))
		return false;
	lock->waits = scan_word_is(&scan, "->");
	if (!scan_type(&scan, &lock->type) || !scan_mode(&scan, &lock->write))
		return false;
	pmp_scan_blanks(&scan);
	if (!pmp_scan_i64(&scan, &pid) || pid < -1 || pid > INT_MAX)
		return false;
	lock->pid = (pid_t)pid;
	pmp_scan_blanks(&scan);
	return scan_hex_up_to(&scan, &lock->major) &&
	       scan_hex_up_to(&scan, &lock->minor) && pmp_scan_u64(&scan, &lock->inode) &&
	       scan_range(&scan, lock);
}

/* ---- all of them --------------------------------------------------------------------- */

int pmp_file_locks_parse(struct pmp_file_locks *locks, const char *text, size_t length)
{
	struct pmp_scan scan = pmp_scan_text(text, length);
	struct pmp_file_lock lock;
	const char *line;
	size_t line_length;

	while (locks->count < PMP_FILE_LOCKS_MAX &&
	       pmp_scan_line(&scan, &line, &line_length)) {
		if (!pmp_file_lock_parse(line, line_length, &lock))
			continue;
		if (PMP_RESERVE(&locks->items, &locks->capacity, locks->count + 1))
			return PMP_ENOMEM;
		locks->items[locks->count++] = lock;
	}
	return 0;
}

const struct pmp_file_lock *pmp_file_locks_held(const struct pmp_file_locks *locks,
						const struct pmp_file_lock *waiter)
{
	const struct pmp_file_lock *lock = waiter;

	while (lock->waits && lock > locks->items && lock[-1].id == waiter->id)
		lock--;
	return lock->waits || lock->inode != waiter->inode ? NULL : lock;
}

/* ---- searched ------------------------------------------------------------------------ */

static int order(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static int compare_wanted(const struct pmp_file_lock *one,
			  const struct pmp_file_lock *other)
{
	int by = order(one->inode, other->inode);

	by = by ? by : order(one->waits, other->waits);
	if (by || !one->waits)
		return by;
	by = order(one->type, other->type);
	by = by ? by : (one->pid > other->pid) - (one->pid < other->pid);
	return by ? by : order(one->write, other->write);
}

static int compare_locks(const struct pmp_file_lock *one,
			 const struct pmp_file_lock *other)
{
	int by = compare_wanted(one, other);

	if (by || !one->waits)
		return by;
	by = order(one->first, other->first);
	return by ? by : order(one->last, other->last);
}

static int compare_sorted(const void *a, const void *b)
{
	const struct pmp_file_lock *one = *(const struct pmp_file_lock *const *)a,
				   *other = *(const struct pmp_file_lock *const *)b;
	int by = compare_locks(one, other);

	return by ? by : (one > other) - (one < other);
}

int pmp_file_locks_sort(struct pmp_file_locks *locks)
{
	free(locks->sorted);
	locks->sorted = calloc(locks->count + 1, sizeof(*locks->sorted));
	if (!locks->sorted)
		return PMP_ENOMEM;
	for (size_t i = 0; i < locks->count; i++)
		locks->sorted[i] = &locks->items[i];
	qsort(locks->sorted, locks->count, sizeof(*locks->sorted), compare_sorted);
	return 0;
}

/* The index of the first one that is not before key. */
static size_t first_from(const struct pmp_file_locks *locks,
			 const struct pmp_file_lock *key)
{
	size_t low = 0, high = locks->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (compare_locks(locks->sorted[middle], key) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

size_t pmp_file_locks_first_held(const struct pmp_file_locks *locks, uint64_t inode)
{
	const struct pmp_file_lock key = { .inode = inode };

	return first_from(locks, &key);
}

const struct pmp_file_lock *pmp_file_locks_waiter(const struct pmp_file_locks *locks,
						  const struct pmp_file_lock *wanted,
						  bool range)
{
	struct pmp_file_lock key = *wanted;
	size_t i;

	key.waits = true;
	if (!range)
		key.first = key.last = 0;
	i = first_from(locks, &key);
	if (i == locks->count || (range ? compare_locks(locks->sorted[i], &key)
					: compare_wanted(locks->sorted[i], &key)))
		return NULL;
	return locks->sorted[i];
}

void pmp_file_locks_free(struct pmp_file_locks *locks)
{
	free(locks->items);
	free(locks->sorted);
	*locks = (struct pmp_file_locks){ 0 };
}

/* ---- of a descriptor ----------------------------------------------------------------- */

/* Skip the name of a field and the blanks after it. */
static bool scan_field(struct pmp_scan *scan, const char *name)
{
	struct pmp_scan before = *scan;

	if (scan_word_is(scan, name)) {
		pmp_scan_blanks(scan);
		return true;
	}
	*scan = before;
	return false;
}

/* "0100002": the kernel prints flags in octal. */
static bool scan_octal(struct pmp_scan *scan, unsigned *number)
{
	const char *word;
	size_t length;

	*number = 0;
	if (!pmp_scan_word(scan, &word, &length) || length > 10)
		return false;
	for (size_t i = 0; i < length; i++) {
		if (word[i] < '0' || word[i] > '7')
			return false;
		*number = *number << 3 | (unsigned)(word[i] - '0');
	}
	return true;
}

bool pmp_fdinfo_parse(const char *text, size_t length, struct pmp_fdinfo *info)
{
	struct pmp_scan scan = pmp_scan_text(text, length);
	bool flags = false;
	const char *line;
	size_t line_length;

	*info = (struct pmp_fdinfo){ 0 };
	while (pmp_scan_line(&scan, &line, &line_length)) {
		struct pmp_scan one = pmp_scan_text(line, line_length);
		int64_t pid;

		if (scan_field(&one, "flags:"))
			flags = scan_octal(&one, &info->flags);
		else if (scan_field(&one, "ino:"))
			pmp_scan_u64(&one, &info->inode);
		else if (scan_field(&one, "Pid:") && pmp_scan_i64(&one, &pid) &&
			 pid > 0 && pid <= INT_MAX)
			info->pid = (pid_t)pid;
		else if (scan_field(&one, "tfd:"))
			info->watched++;
	}
	return flags;
}

size_t pmp_fdinfo_locks(const char *text, size_t length, struct pmp_file_lock *locks,
			size_t max)
{
	struct pmp_scan scan = pmp_scan_text(text, length);
	const char *line;
	size_t line_length, count = 0;

	while (count < max && pmp_scan_line(&scan, &line, &line_length)) {
		struct pmp_scan one = pmp_scan_text(line, line_length);

		if (scan_field(&one, "lock:") &&
		    pmp_file_lock_parse(one.at, (size_t)(one.end - one.at),
					&locks[count]))
			count++;
	}
	return count;
}

bool pmp_file_lock_is_same(const struct pmp_file_lock *one,
			   const struct pmp_file_lock *other)
{
	return one->type == other->type && one->inode == other->inode &&
	       one->major == other->major && one->minor == other->minor &&
	       one->first == other->first && one->last == other->last &&
	       one->pid == other->pid;
}

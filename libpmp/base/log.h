/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Debug messages through the caller's callback: costs one test if off. */
#ifndef PMP_BASE_LOG_H
#define PMP_BASE_LOG_H

struct pmp_log {
	void (*line)(void *arg, const char *area, const char *line); /* NULL: off */
	void *arg;
};

void pmp_log_line(const struct pmp_log *log, const char *area, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

#define PMP_LOG(log, area, ...) \
	do { \
		if ((log)->line) \
			pmp_log_line((log), (area), __VA_ARGS__); \
	} while (0)

#endif

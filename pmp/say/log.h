/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The file of --log: messages with the time and pmp's pid. */
#ifndef PMP_SAY_LOG_H
#define PMP_SAY_LOG_H

/* Reasons to refuse a file that the system would let us write to. */
enum {
	LOG_LINK = -1,	  /* a symbolic link in a foreign directory */
	LOG_FOREIGN = -2, /* in a foreign directory, not our file with one link */
	LOG_NO_FILE = -3, /* neither a regular file nor a device */
};

/**
 * Append one line. The file is opened for each line, so that it can be renamed or removed
 * at any time (logrotate), and written in one write, so that lines of several runs do not
 * mix. It is created with mode 0600; in a foreign directory (directory.h) it must be our
 * own file with a single link. text NULL: only check that it can be written. Returns 0,
 * an errno or LOG_...
 */
int log_append(const char *path, const char *text);

#endif

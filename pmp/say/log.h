/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The file of --log: what pmp says, with the time and its process id. */
#ifndef PMP_SAY_LOG_H
#define PMP_SAY_LOG_H

/* Why a file is not written although the system would let us. */
enum {
	LOG_LINK = -1,	  /* a symbolic link in a foreign directory */
	LOG_FOREIGN = -2, /* not a file of ours alone, in a foreign directory */
	LOG_NO_FILE = -3, /* neither a regular file nor a device */
};

/**
 * Append one line. The file is opened for each, so that it may be renamed or removed
 * at any time (logrotate), and written at once, so that lines of several runs do not
 * mix. It is made with mode 0600; in a foreign directory (directory.h) it must be a file
 * of ours with one name. text NULL: only see whether it could be written. Returns 0, an
 * errno or LOG_...
 */
int log_append(const char *path, const char *text);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The file of --log: what pmp says, with the time and its process id. */
#ifndef PMP_PMP_LOG_H
#define PMP_PMP_LOG_H

/**
 * Append one line. The file is opened for each, so that it may be renamed or removed
 * at any time (logrotate), and written at once, so that lines of several runs do not
 * mix. It is made with mode 0600; in a directory that everybody may write to it must
 * be a file of ours and no link. text NULL: only see whether it could be written.
 * Returns 0 or an errno.
 */
int pmp_log_append(const char *path, const char *text);

#endif

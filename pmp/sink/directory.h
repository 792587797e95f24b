/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The directory of a file that is to be written. It is entered step by step, and no
 * symbolic link is followed that another user may have put there: root must not write
 * where another user points.
 */
#ifndef PMP_SINK_DIRECTORY_H
#define PMP_SINK_DIRECTORY_H

#include <stdbool.h>

#define DIRECTORY_LINKS 40 /* followed at most, as the kernel does */

/**
 * May another user write to the file or directory? Unless it belongs to root or to us, and
 * neither others may write to it nor a group that is not our own.
 */
bool directory_is_foreign(int fd);

/**
 * Has the file or directory an access control list? The rights of its group are then those of
 * all users in the list as well (acl(5)).
 */
bool directory_has_acl(int fd);

/** Is it one of our own descriptors, /dev/stderr or /dev/fd/4? */
bool directory_is_descriptor(const char *path);

/**
 * Open the directory of the file that path names. Returns a descriptor, which is the
 * caller's, or a negative errno: -ELOOP where there is a symbolic link in a foreign
 * directory.
 */
int directory_open(const char *path, bool *foreign);

/**
 * Follow one symbolic link: if base, the last component of path, is one in that
 * directory, its target takes the place of path (PATH_MAX). Returns 1, 0 if it is none,
 * or a negative errno.
 */
int directory_follow(int directory, const char *base, char *path);

#endif

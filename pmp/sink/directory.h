/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Opens the directory of an output file. It is entered step by step, without
 * following any symbolic link that another user may have created: root must not write
 * where another user points.
 */
#ifndef PMP_SINK_DIRECTORY_H
#define PMP_SINK_DIRECTORY_H

#include <stdbool.h>

#define DIRECTORY_LINKS 40 /* followed at most, like the kernel */

/**
 * May another user write to the file or directory? Not if it belongs to root or to us, and
 * neither others nor a group that is not our own may write to it.
 */
bool directory_is_foreign(int fd);

/**
 * Does the file or directory have an access control list? Its group permissions are then
 * the upper limit for all users in the list (acl(5)).
 */
bool directory_has_acl(int fd);

/** Does path name one of our descriptors, such as /dev/stderr or /dev/fd/4? */
bool directory_is_descriptor(const char *path);

/**
 * Open the directory of the file that path names. Returns a descriptor, owned by the
 * caller, or a negative errno: -ELOOP for a symbolic link in a foreign directory. *foreign:
 * may others create files in it?
 */
int directory_open(const char *path, bool *foreign);

/**
 * Follow one symbolic link: if base, the last component of path, is a link in that
 * directory, its target replaces path (PATH_MAX). Returns 1; 0 if it is not a link; or a
 * negative errno.
 */
int directory_follow(int directory, const char *base, char *path);

#endif

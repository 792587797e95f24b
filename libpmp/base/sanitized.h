/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SANITIZED: 1 in builds with a sanitizer that has its own allocator and shadow memory: it
 * makes system calls of its own, reserves all of the address space, malloc() cannot be
 * interposed, and times mean little. Else 0. */
#ifndef PMP_BASE_SANITIZED_H
#define PMP_BASE_SANITIZED_H

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(memory_sanitizer) || \
	__has_feature(thread_sanitizer)
#define SANITIZED 1
#endif
#endif
#if !defined(SANITIZED) && (defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__))
#define SANITIZED 1
#endif
#ifndef SANITIZED
#define SANITIZED 0
#endif

#endif

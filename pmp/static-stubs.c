/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Only in the static pmp (--enable-static-exe): libdw's client of debuginfod,
 * without a client. The real one loads libdebuginfod, and with it libcurl and a
 * second C library, by dlopen. These definitions come first in the link, so that
 * its object is not taken from libdw.a at all.
 */
#include <errno.h>
#include <stddef.h>

/* Not in any header that is installed: as libdw's objects refer to them. */
void *dwfl_get_debuginfod_client(void *dwfl);
int __libdwfl_debuginfod_find_executable(void *dwfl, const unsigned char *build_id,
					 size_t length);
int __libdwfl_debuginfod_find_debuginfo(void *dwfl, const unsigned char *build_id,
					size_t length);
void __libdwfl_debuginfod_end(void *client);

void *dwfl_get_debuginfod_client(void *dwfl)
{
	(void)dwfl;
	return NULL;
}

int __libdwfl_debuginfod_find_executable(void *dwfl, const unsigned char *build_id,
					 size_t length)
{
	(void)dwfl, (void)build_id, (void)length;
	return -ENOSYS;
}

int __libdwfl_debuginfod_find_debuginfo(void *dwfl, const unsigned char *build_id,
					size_t length)
{
	(void)dwfl, (void)build_id, (void)length;
	return -ENOSYS;
}

void __libdwfl_debuginfod_end(void *client)
{
	(void)client;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The version; PACKAGE_VERSION comes from the build. */
#include "libpmp.h"

const char *pmp_version(void)
{
	return PACKAGE_VERSION;
}

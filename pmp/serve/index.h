/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The index page, which lists all others. */
#ifndef PMP_SERVE_INDEX_H
#define PMP_SERVE_INDEX_H

#include "serve/routes.h"

/** The HTML, with links relative to the page from. Borrowed until the next call. */
const char *index_text(const struct page *from);

#endif

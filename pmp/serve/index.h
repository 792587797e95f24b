/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The page that lists all others. */
#ifndef PMP_SERVE_INDEX_H
#define PMP_SERVE_INDEX_H

#include "serve/routes.h"

/** HTML, with links as they are right from this page. Borrowed until the next call. */
const char *index_text(const struct page *from);

#endif

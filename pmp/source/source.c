/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The list of sources. */
#include "source/source.h"

static const struct source_type *const sources[] = {
	&source_running,
	&source_started,
	&source_file,
};

const struct source_type *source_type_of(const struct options *options)
{
	const size_t count = sizeof(sources) / sizeof(*sources);

	for (size_t i = 0; i < count; i++) {
		if (sources[i]->is_meant(options))
			return sources[i];
	}
	return sources[0];
}

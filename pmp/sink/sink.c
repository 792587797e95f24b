/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The list of sinks. */
#include "sink/sink.h"

#include <stddef.h>

static const struct sink_type *const sinks[] = { &sink_screen, &sink_lock_check,
						 &sink_server, &sink_text,
						 &sink_profile };

const struct sink_type *sink_type_of(const struct options *options, bool screen)
{
	const size_t count = sizeof(sinks) / sizeof(*sinks);

	for (size_t i = screen ? 0 : 1; i < count; i++) {
		if (sinks[i]->is_meant(options))
			return sinks[i];
	}
	return sinks[count - 1];
}

const struct sink_type *sink_type_beside(const struct options *options)
{
	if (!options->serve || !options->output)
		return NULL;
	return sink_text.is_meant(options) ? &sink_text : &sink_profile;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Frames for users of the library, see libpmp.h. */
#include "resolve/frame.h"

#include "base/sized.h"

size_t pmp_frame_describe(const struct pmp_frame *frames, size_t count, size_t i,
			  struct pmp_frame_info *info)
{
	struct pmp_frame_info all;

	if (i >= count)
		return count;
	all = (struct pmp_frame_info){
		.function = frames[i].function,
		.file = frames[i].file,
		.line = frames[i].line,
		.inlined = frames[i].inlined,
		.unnamed = frames[i].unnamed,
		.signal = frames[i].signal,
		.module = frames[i].module,
		.address = frames[i].address,
		.readable = frames[i].readable,
	};
	pmp_sized_give(info, &all, sizeof(all));
	return count;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Locations of a report: the symbolizer's, or what a filter has left of them. */
#include "report/report.h"

#include "report/filtered.h"

size_t pmp_report_frames(const struct pmp_report *report, pmp_location location,
			 const struct pmp_frame **frames)
{
	if (report->filtered)
		return pmp_filtered_frames(report->filtered, location, frames);
	return pmp_symbolizer_frames(report->symbolizer, location, frames);
}

void pmp_report_origin(const struct pmp_report *report, pmp_location location,
		       struct pmp_first_address *origin)
{
	if (report->filtered)
		pmp_filtered_origin(report->filtered, location, origin);
	else
		pmp_symbolizer_first_address(report->symbolizer, location, origin);
}

void pmp_report_mapping(const struct pmp_report *report, uint32_t number,
			struct pmp_mapping *mapping)
{
	pmp_symbolizer_mapping(report->symbolizer, number, mapping);
}

size_t pmp_report_frame(const struct pmp_report *report, pmp_location location, size_t i,
			struct pmp_frame_info *info)
{
	const struct pmp_frame *frames;
	size_t count = pmp_report_frames(report, location, &frames);

	return pmp_frame_describe(frames, count, i, info);
}

bool pmp_report_object(const struct pmp_report *report, const struct pmp_row *row,
		       struct pmp_object *object)
{
	if (!row->thread->wait.kind)
		return false;
	pmp_symbolizer_object(report->symbolizer, &row->object, object);
	return true;
}

void pmp_report_locate_lock(const struct pmp_report *report, const struct pmp_lock *lock,
			    struct pmp_object *object)
{
	pmp_symbolizer_object(report->symbolizer, &lock->object, object);
}

void pmp_report_census_word(const struct pmp_report *report, size_t i,
			    struct pmp_object *object)
{
	pmp_symbolizer_object(report->symbolizer, &report->snapshot->census_words[i],
			      object);
}

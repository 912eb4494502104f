/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Runs of extents that are holes as a whole, and parts of them. */
#include <config.h>

#include "manifest/codec.h"

uint64_t scr_run_length(uint64_t size, uint64_t index, uint64_t run)
{
	uint64_t start = index * SCR_EXTENT_SIZE;

	if (index + run == scr_extent_count(size))
		return size - start;
	return run * SCR_EXTENT_SIZE;
}

void scr_extent_narrow(struct scr_extent *e, const struct scr_geometry *g, uint64_t size,
		       uint64_t start, uint64_t end)
{
	e->cut = scr_cut_extent(g, size, start);
	e->run = end - start;
	e->run_length = scr_run_length(size, start, e->run);
}

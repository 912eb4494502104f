/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How a file is cut into extents, columns and blocks. */
#include <config.h>
#include "fold/geometry.h"

#include "base/compiler.h"

bool scr_geometry_valid(const struct scr_geometry *g)
{
	uint32_t b = g->block_size, u = g->parity_unit;

	if (b < SCR_BLOCK_SIZE_MIN || b > SCR_BLOCK_SIZE_MAX || (b & (b - 1)))
		return false;
	if (g->columns < SCR_COLUMNS_MIN || g->columns > SCR_COLUMNS_MAX)
		return false;
	return u >= SCR_PARITY_UNIT_MIN && u <= SCR_PARITY_UNIT_MAX && !(u & (u - 1));
}

uint64_t scr_extent_count(uint64_t size)
{
	if (size == 0)
		return 0;
	return SCR_MAX(size / SCR_EXTENT_SIZE, 1);
}

static uint32_t extent_length(uint64_t size, uint64_t index)
{
	if (index + 1 < scr_extent_count(size))
		return SCR_EXTENT_SIZE;
	return (uint32_t)(size - index * SCR_EXTENT_SIZE);
}

static uint32_t div_up(uint32_t a, uint32_t b)
{
	return a / b + (a % b != 0);
}

struct scr_cut scr_cut_extent(const struct scr_geometry *g, uint64_t size, uint64_t index)
{
	struct scr_cut cut = {.index = index, .offset = index * SCR_EXTENT_SIZE};
	uint32_t share;

	cut.length = extent_length(size, index);
	share = div_up(div_up(cut.length, g->columns), g->parity_unit) * g->parity_unit;
	cut.column = SCR_MIN(cut.length, share);
	cut.block = SCR_MIN(g->block_size, cut.column);
	cut.blocks = div_up(cut.length, cut.block);
	cut.parity_blocks = div_up(cut.column, cut.block);
	return cut;
}

uint64_t scr_blocks_before(const struct scr_geometry *g, uint64_t size, uint64_t index)
{
	uint64_t count = scr_extent_count(size);
	uint64_t whole = SCR_MIN(index, count ? count - 1 : 0), blocks = 0;

	/* All extents but the last have the same length. */
	if (whole)
		blocks = whole * scr_cut_extent(g, size, 0).blocks;
	if (index > whole)
		blocks += scr_cut_extent(g, size, whole).blocks;
	return blocks;
}

uint32_t scr_block_length(const struct scr_cut *cut, uint32_t i)
{
	return SCR_MIN(cut->block, cut->length - i * cut->block);
}

uint64_t scr_extents_alike(uint64_t a, uint64_t b)
{
	uint64_t shorter = SCR_MIN(a, b), count = scr_extent_count(shorter);

	if (a == b || count == 0)
		return count;
	if (extent_length(shorter, count - 1) == extent_length(SCR_MAX(a, b), count - 1))
		return count;
	return count - 1;
}

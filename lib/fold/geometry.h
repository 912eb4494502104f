/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How a file is cut into extents, columns and blocks: arithmetic only.
 *
 * A file has max(1, size / 16 MiB) extents (an empty one has none): all but the last have 16 MiB,
 * the last takes what is left, so that a large file has no weak tail. An extent of R bytes is
 * folded into columns of c = min(R, roundup(ceil(R/N), U)) bytes and checksummed in blocks of
 * min(block size, c) bytes. Parity byte j is the XOR of byte j of all columns.
 */
#ifndef SCR_FOLD_GEOMETRY_H
#define SCR_FOLD_GEOMETRY_H

#include <stdbool.h>
#include <stdint.h>

#define SCR_EXTENT_SIZE (UINT32_C(16) << 20)
/* The longest extent is one byte shorter than this. */
#define SCR_EXTENT_LIMIT (2 * SCR_EXTENT_SIZE)
#define SCR_BLOCK_SIZE_MIN 512u
#define SCR_BLOCK_SIZE_MAX (1u << 20)
#define SCR_BLOCK_SIZE_DEFAULT (64u << 10)
#define SCR_COLUMNS_MIN 2u
#define SCR_COLUMNS_MAX 256u
#define SCR_COLUMNS_DEFAULT 16u
#define SCR_PARITY_UNIT_MIN 64u
#define SCR_PARITY_UNIT_MAX 4096u
#define SCR_PARITY_UNIT_DEFAULT 4096u

/* What a manifest fixes for all of its files. */
struct scr_geometry {
	uint32_t block_size;  /* power of two, 512 .. 1 MiB */
	uint32_t columns;     /* N, 2 .. 256 */
	uint32_t parity_unit; /* U, power of two, 64 .. 4096 */
};

/* How one extent is cut. */
struct scr_cut {
	uint64_t index, offset; /* number in the file, and where it begins */
	uint32_t length;        /* R */
	uint32_t column;        /* c */
	uint32_t block;         /* block length; the last block may be shorter */
	uint32_t blocks;        /* ceil(R / block) */
	uint32_t parity_blocks; /* ceil(c / block) */
};

/* Whether all three are in range. */
bool scr_geometry_valid(const struct scr_geometry *g);
uint64_t scr_extent_count(uint64_t size);
/* Extent @index of a file of @size bytes; @index < scr_extent_count(@size). */
struct scr_cut scr_cut_extent(const struct scr_geometry *g, uint64_t size, uint64_t index);
/* The number of blocks before extent @index in that file; @index may be the number of extents. */
uint64_t scr_blocks_before(const struct scr_geometry *g, uint64_t size, uint64_t index);
/* The length of block @i of the extent. */
uint32_t scr_block_length(const struct scr_cut *cut, uint32_t i);
/* How many extents, counted from the first, are cut alike in files of @a and of @b bytes. */
uint64_t scr_extents_alike(uint64_t a, uint64_t b);

#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Level 2 between its two files: the cells of S and what each costs every block that may own it. */
#ifndef SCR_PARITY_SEARCH_CELLS_H
#define SCR_PARITY_SEARCH_CELLS_H

#include "parity/search_internal.h"

#define SCR_CELLS_MAX 40     /* each has two candidates at least, and 2^40 is the limit */
#define SCR_OPTIONS_MAX 2048 /* the most that 257 candidates a cell make of 2^40 are 1285 */

/* A block that may own a cell; SCR_NONE: one that is lost anyway, at no cost. */
struct scr_option {
	uint32_t block;
	uint64_t digest; /* of what the cell changes in the block's CRC */
};

/* A stretch of S that is given to one block as a whole. */
struct scr_cell {
	uint32_t start, end;     /* from error to error */
	uint32_t first, options; /* into option[] */
};

struct scr_cells {
	struct scr_cell cell[SCR_CELLS_MAX];
	struct scr_option option[SCR_OPTIONS_MAX];
	uint32_t count, options;
	uint64_t target; /* digest of all that is wrong */
};

/* A linear digest of "block @b's CRC changes by @crc": digests of several changes are XORed. */
uint64_t scr_crc_digest(uint32_t b, uint32_t crc);

/* search_meet.c: tries all combinations; an outcome or -ENOMEM. */
int scr_cells_meet(struct scr_hunt *h, const struct scr_group *g, const struct scr_cells *cells);

#endif

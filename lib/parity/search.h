/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Repairing one extent from its parity: which bytes were wrong, and what they were.
 *
 * The N data columns and the parity column XOR to zero. S, the XOR of all of them as read, is the
 * exact error wherever a position is hit once. What is not known is which column each error byte
 * belongs to; the CRC-32 of the bad blocks decides it, the Internet checksum confirms it.
 *
 *	level 0   positions with one candidate column are forced
 *	level 1   one burst: a window of c bytes slid over every start
 *	level 2   cells of S, coarse to fine, each to one candidate column, by meeting in the middle
 *	level 3   single-bit syndromes, where parity cannot speak (only if allowed)
 *
 * All candidates of a level are tried; a result is accepted only if exactly one has every checksum
 * right. Pure: memory in, memory out.
 */
#ifndef SCR_PARITY_SEARCH_H
#define SCR_PARITY_SEARCH_H

#include <stdbool.h>
#include <stdint.h>

#include "fold/geometry.h"
#include "kernels/kernel.h"
#include "manifest/record.h"

/* Bytes that could not be read, in data or parity. */
struct scr_gap {
	uint32_t start, length;
};

enum scr_block_state {
	SCR_BLOCK_SOUND,
	SCR_BLOCK_REPAIRED,    /* was bad; the right content is in data (or parity) now */
	SCR_BLOCK_BY_SYNDROME, /* the same, by checksum alone: no parity vouches for it */
	SCR_BLOCK_LOST,        /* bad, and not repairable: why[] */
};

enum scr_lost_why {
	SCR_LOST_NO_PARITY = 1,  /* there is no parity for this extent */
	SCR_LOST_TWICE,          /* two unreadable bytes at one position */
	SCR_LOST_NO_FIT,         /* no assignment has all checksums right: hit twice, or worse */
	SCR_LOST_AMBIGUOUS,      /* two or more have */
	SCR_LOST_TOO_MANY,       /* beyond the bound that keeps wrong results below 2^-32 */
};

struct scr_search {
	/* In. */
	const struct scr_kernels *kernels;
	struct scr_cut cut;
	const struct scr_check *checks;        /* cut.blocks, as recorded */
	const struct scr_check *parity_checks; /* cut.parity_blocks; NULL: no parity at all */
	bool parity_zero;                      /* parity is all zero and takes no bytes */
	const struct scr_gap *gaps, *parity_gaps; /* sorted */
	uint32_t gap_count, parity_gap_count;
	bool allow_syndrome;
	/* In and out: as read, unreadable bytes 0; accepted repairs are applied in place. */
	uint8_t *data;                         /* cut.length bytes */
	uint8_t *parity;                       /* cut.column bytes, or NULL */
	/* Out: states and reasons; caller gives room for cut.blocks and cut.parity_blocks. */
	uint8_t *state, *parity_state;         /* enum scr_block_state */
	uint8_t *why, *parity_why;             /* enum scr_lost_why of LOST blocks */
	uint32_t repaired, lost;               /* data blocks */
	/* S is not 0 at these positions although no block is bad there: damage that both checksums
	 * missed, or a stale parity. Never "repaired". */
	uint32_t inconsistent, first_inconsistent;
};

/* Verifies all blocks, searches, applies what is accepted. Returns 0 (whatever was found) or
 * -ENOMEM. Memory: about the extent once more, and 16 MiB for the search. */
int scr_search_extent(struct scr_search *s);

/* A static sentence for people: why a block is lost. */
const char *scr_lost_why_text(enum scr_lost_why why);

#endif

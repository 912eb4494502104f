/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the parts of the repair search share: bad blocks, zones, components, trial assignments.
 *
 * A *position* is a byte's place in its column, 0 .. c-1. Every block, also one that goes on in the
 * next column, has its bytes at distinct positions, because it is not longer than c: it covers the
 * positions first .. first + length - 1 modulo c. So at one position each column offers one block
 * at most, and "which column" and "which block" are the same question.
 *
 * A *zone* is a run of positions between two edges (of bad blocks or of unreadable ranges): the
 * same blocks are candidates all over it.
 */
#ifndef SCR_PARITY_SEARCH_INTERNAL_H
#define SCR_PARITY_SEARCH_INTERNAL_H

#include <stddef.h>

#include "parity/search.h"

#define SCR_NONE UINT32_MAX

/* A block of data or parity that fails a checksum or could not be read whole. */
struct scr_bad {
	uint8_t *bytes;         /* in the caller's data or parity */
	uint32_t start, length; /* start: in the extent, or in the parity */
	uint32_t first;         /* position of its first byte */
	struct scr_check want, is;
	bool parity;
	bool gap;               /* part of it could not be read */
	bool twice;             /* an unreadable byte of it meets another one */
	bool fixed;             /* is right now */
	bool hopeless;          /* its own checksums don't put it right */
	bool touched;           /* its surroundings have changed in this round */
	uint32_t parent;        /* union-find: blocks of one component */
	uint32_t residue, need; /* CRC of the error that forced positions leave; what is open */
	uint8_t state, why;
};

enum scr_zone_kind {
	SCR_ZONE_FREE,      /* no bad block: S must be 0 */
	SCR_ZONE_FORCED,    /* the error is the owner's */
	SCR_ZONE_LOST,      /* two unreadable blocks, or nobody whose checksums could tell */
	SCR_ZONE_QUIET,     /* several candidates, no error to be shared out */
	SCR_ZONE_AMBIGUOUS, /* several candidates */
};

struct scr_zone {
	uint32_t start, end; /* positions */
	size_t cands;        /* its bad blocks: hunt.cands[cands .. cands + count - 1] */
	uint32_t count;
	uint32_t owner; /* FORCED: who */
	bool other;     /* a candidate can't be verified, because it is lost anyway */
	enum scr_zone_kind kind;
};

/* Positions of one zone that are given to a block: the unit of an assignment. */
struct scr_piece {
	uint32_t start, end, owner; /* owner SCR_NONE: a block that is lost anyway */
};

struct scr_pieces {
	struct scr_piece *p;
	uint32_t count, cap;
};

struct scr_hunt {
	struct scr_search *s;
	uint32_t columns;  /* of data; column number @columns is the parity */
	uint8_t *syndrome; /* S, c bytes; NULL: there is no parity */
	struct scr_bad *bad;
	uint32_t bads;
	uint32_t *bad_of; /* by block, data then parity: index into bad, or SCR_NONE */
	struct scr_zone *zones;
	uint32_t zone_count;
	uint32_t *cands;
	size_t cand_count, cand_cap;
	uint8_t *scratch; /* one block */
	uint32_t *powers; /* [m] = x^(8m+32) mod P, m < block length; made when needed */
	struct scr_pieces trial, found;
	uint64_t effort; /* combinations that may still be tried: seconds, not hours */
};

#define SCR_EFFORT (UINT64_C(1) << 26)

/* A connected component: bad blocks that share ambiguous positions. None of them is twice. */
struct scr_group {
	const uint32_t *members; /* ascending; into hunt.bad */
	uint32_t count;
	const uint32_t *zones; /* its ambiguous ones, ascending; into hunt.zones */
	uint32_t zone_count;
	bool other; /* a zone of it has a candidate that can't be verified */
};

/* How a level ended. Not an error, and 0 or positive beside -ENOMEM. */
enum scr_outcome {
	SCR_NO_FIT,
	SCR_ONE_FIT, /* it is in hunt.found */
	SCR_MORE_FITS,
	SCR_BEYOND, /* not tried: too many candidates */
};

/* search_blocks.c: checksums and bytes of blocks. */
struct scr_check scr_block_check(const struct scr_kernels *k, const uint8_t *p, uint32_t len);
bool scr_check_equal(struct scr_check a, struct scr_check b);
/* Fills hunt.bad and hunt.bad_of, and the states of all other blocks. 0 or -ENOMEM. */
int scr_hunt_verify(struct scr_hunt *h);
/* Leaves in hunt.scratch what block @b would be with its forced errors and its pieces. */
void scr_hunt_overlay(struct scr_hunt *h, uint32_t b, const struct scr_pieces *pieces);
/* The same into the block itself, and what was given to it leaves S. */
void scr_hunt_apply(struct scr_hunt *h, uint32_t b, const struct scr_pieces *pieces);
/* Block @b is right now, and no candidate from the next round on. */
void scr_hunt_fixed(struct scr_hunt *h, uint32_t b, enum scr_block_state state);
/* Counts a fit if hunt.trial makes all blocks of @g right; the first goes to hunt.found. */
void scr_hunt_try(struct scr_hunt *h, const struct scr_group *g, uint32_t *fits);
int scr_pieces_add(struct scr_pieces *ps, uint32_t start, uint32_t end, uint32_t owner);

/* Where position @pos lies in @b; @b must cover it. */
static inline uint32_t scr_bad_offset(const struct scr_hunt *h, const struct scr_bad *b,
				      uint32_t pos)
{
	return pos >= b->first ? pos - b->first : pos + h->s->cut.column - b->first;
}

/* The bad block that column @column has at @pos, or SCR_NONE. */
static inline uint32_t scr_hunt_bad_at(const struct scr_hunt *h, uint32_t column, uint32_t pos)
{
	const struct scr_cut *cut = &h->s->cut;
	uint32_t at;

	if (column == h->columns)
		return h->bad_of[cut->blocks + pos / cut->block];
	at = column * cut->column + pos;
	return at < cut->length ? h->bad_of[at / cut->block] : SCR_NONE;
}

/* search_zones.c */
/* Cuts the positions into zones, by the blocks that are bad now. 0 or -ENOMEM. */
int scr_hunt_zones(struct scr_hunt *h);
/* The zone that begins where @b begins; the next ones follow until @b's length is used up. */
uint32_t scr_zone_of(const struct scr_hunt *h, const struct scr_bad *b);
/* Whether one of @len bytes is not 0; *at: the first such one. */
bool scr_find_nonzero(const uint8_t *p, uint32_t len, uint32_t *at);

/* search_groups.c */
/* Calls @solve for each component that is not right yet. 0 or -errno of @solve. */
typedef int scr_group_fn(struct scr_hunt *h, const struct scr_group *g);
int scr_hunt_groups(struct scr_hunt *h, scr_group_fn *solve);

/* Levels 1 and 2: an outcome or -ENOMEM. */
int scr_hunt_window(struct scr_hunt *h, const struct scr_group *g);
int scr_hunt_cells(struct scr_hunt *h, const struct scr_group *g);
/* Level 3: blocks that their checksums alone put right; returns how many. */
uint32_t scr_hunt_by_checksum(struct scr_hunt *h);

/* search_crc.c: CRC-32 as arithmetic. Polynomials modulo P, reflected: bit 31 is x^0. */
uint32_t scr_crc_mul(uint32_t a, uint32_t b);
/* x^(8n) mod P: what n further bytes do to a CRC. */
uint32_t scr_crc_shift(uint32_t n);
/* table[m] = x^(8m+32) mod P, m < n: the CRC of a byte 0x80 (which is x^0) before m zero bytes. */
void scr_crc_powers(uint32_t *table, uint32_t n);

/* a * s mod P for a byte @s, whose highest bit is x^0. */
static inline uint32_t scr_crc_mul_byte(uint32_t a, uint8_t s)
{
	uint32_t r = 0;

	for (unsigned int i = 0; i < 8; i++, s = (uint8_t)(s << 1)) {
		r ^= a & -(uint32_t)(s >> 7);
		a = a >> 1 ^ (UINT32_C(0xedb88320) & -(a & 1));
	}
	return r;
}

#endif

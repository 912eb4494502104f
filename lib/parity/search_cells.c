/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Level 2 of the repair search: S in cells, coarse to fine, each to one of its candidates.
 *
 * Cells end where the candidates change, where S is 0 for long enough, and at multiples of 4096 and
 * 512, the units in which media lose data; at last each byte is one. Coarse comes first because few
 * candidates leave less room for a wrong one. The errors of several sectors, flipped bits and
 * bursts are found by it, as long as no byte of S has two causes.
 */
#include <config.h>
#include "parity/search_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "parity/search_cells.h"

/* How S is cut. */
struct grain {
	uint32_t gap;  /* zeros that a cell may bridge */
	uint32_t grid; /* no cell reaches over a multiple of this */
};

#define ANY UINT32_MAX

static const struct grain grains[] = {
	{ANY, ANY}, {ANY, 4096}, {ANY, 512}, {64, 512}, {16, 512},
	{4, ANY},   {1, ANY},    {0, ANY},   {0, 1},
};

/* ---- how many candidates are safe ---------------------------------------------------------- */

/*
 * A wrong result is accepted, if the right one is not among the candidates, with the number of
 * candidates times the chance that all checksums agree with one. The CRCs of b blocks that share
 * positions are tied: their differences, shifted, XOR to the CRC of S whatever the assignment. So
 * they give 32 (b-1) independent bits; the Internet checksums 16 a block, or some 5 for sparse
 * errors.
 */
static unsigned int limit(const struct scr_group *g)
{
	/* A block beside ones that can't be verified: its CRC is not tied, but there is one sum. */
	if (g->count == 1)
		return 8;
	return SCR_MIN(40u, 32 * (g->count - 1) - 16);
}

/*
 * The same must hold inside of a large component: cells that two blocks may own between them are
 * told apart by 32 bits, whatever other blocks take part elsewhere.
 */
#define PAIR_CELLS 16
#define OTHER_CELLS 8

static bool has_option(const struct scr_cells *cs, const struct scr_cell *c, uint32_t block)
{
	for (uint32_t i = 0; i < c->options; i++) {
		if (cs->option[c->first + i].block == block)
			return true;
	}
	return false;
}

static bool pair_exceeds(const struct scr_cells *cs, uint32_t a, uint32_t b)
{
	uint32_t both = 0;

	for (const struct scr_cell *c = cs->cell; c < cs->cell + cs->count; c++)
		both += has_option(cs, c, a) && has_option(cs, c, b);
	return both > (a == SCR_NONE || b == SCR_NONE ? OTHER_CELLS : PAIR_CELLS);
}

static bool pairs_exceed(const struct scr_cells *cs)
{
	if (cs->count <= OTHER_CELLS)
		return false;
	for (const struct scr_cell *c = cs->cell; c < cs->cell + cs->count; c++) {
		const struct scr_option *o = cs->option + c->first;

		for (uint32_t i = 0; i < c->options; i++) {
			for (uint32_t j = 0; j < i; j++) {
				if (pair_exceeds(cs, o[i].block, o[j].block))
					return true;
			}
		}
	}
	return false;
}

static bool too_many(const struct scr_group *g, const struct scr_cells *cs)
{
	uint64_t most = UINT64_C(1) << limit(g), product = 1;

	for (uint32_t i = 0; i < cs->count; i++) {
		product *= cs->cell[i].options; /* at most 2^40 * 257 */
		if (product > most)
			return true;
	}
	return pairs_exceed(cs);
}

/* ---- cutting ------------------------------------------------------------------------------- */

/* Opens a cell at @pos. False: there are too many. */
static bool open_cell(const struct scr_hunt *h, const struct scr_zone *z, uint32_t pos,
		      struct scr_cells *cs)
{
	struct scr_cell *c = cs->cell + cs->count;

	if (cs->count == SCR_CELLS_MAX || cs->options + z->count > SCR_OPTIONS_MAX)
		return false;
	*c = (struct scr_cell){.start = pos, .end = pos + 1, .first = cs->options};
	for (uint32_t i = 0; i < z->count; i++) {
		uint32_t b = h->cands[z->cands + i];

		if (!h->bad[b].twice)
			cs->option[c->first + c->options++].block = b;
	}
	/* All that can't be verified are one: who of them owns it makes no difference. */
	if (z->other)
		cs->option[c->first + c->options++].block = SCR_NONE;
	cs->options += c->options;
	cs->count++;
	return true;
}

static bool same_cell(const struct scr_cell *c, uint32_t pos, struct grain grain)
{
	return pos - c->end <= grain.gap && pos / grain.grid == c->start / grain.grid;
}

static bool cut_zone(const struct scr_hunt *h, const struct scr_zone *z, struct grain grain,
		     struct scr_cells *cs)
{
	struct scr_cell *open = NULL;

	for (uint32_t pos = z->start, skip; pos < z->end; pos++) {
		if (!scr_find_nonzero(h->syndrome + pos, z->end - pos, &skip))
			break;
		pos += skip;
		if (open && same_cell(open, pos, grain)) {
			open->end = pos + 1;
			continue;
		}
		open = cs->cell + cs->count;
		if (!open_cell(h, z, pos, cs))
			return false;
	}
	return true;
}

static bool cut(const struct scr_hunt *h, const struct scr_group *g, struct grain grain,
		struct scr_cells *cs)
{
	cs->count = 0;
	cs->options = 0;
	for (uint32_t i = 0; i < g->zone_count; i++) {
		if (!cut_zone(h, &h->zones[g->zones[i]], grain, cs))
			return false;
	}
	return !too_many(g, cs);
}

/* ---- digests ------------------------------------------------------------------------------- */

/* Any 32 bits but 0, from a number (a mixing step of MurmurHash3). */
static uint32_t mix(uint32_t x)
{
	x = (x ^ x >> 16) * UINT32_C(0x85ebca6b);
	x = (x ^ x >> 13) * UINT32_C(0xc2b2ae35);
	x ^= x >> 16;
	return x ? x : 1;
}

/* Two fixed random multiples of the CRC: XOR of such pairs is a hash that is linear over GF(2). */
uint64_t scr_crc_digest(uint32_t b, uint32_t crc)
{
	uint64_t upper = scr_crc_mul(mix(2 * b + 1), crc);

	return upper << 32 | scr_crc_mul(mix(2 * b + 2), crc);
}

/* What cell @c of S adds to the CRC of each block that may own it. */
static void digest_cell(const struct scr_hunt *h, struct scr_cells *cs, const struct scr_cell *c)
{
	uint32_t len = c->end - c->start;
	uint32_t crc = ~h->s->kernels->crc32->fn.crc32(UINT32_MAX, h->syndrome + c->start, len);

	for (uint32_t i = c->first; i < c->first + c->options; i++) {
		struct scr_option *o = &cs->option[i];
		const struct scr_bad *b = &h->bad[o->block];
		uint32_t behind;

		o->digest = 0;
		if (o->block == SCR_NONE)
			continue;
		behind = b->length - 1 - scr_bad_offset(h, b, c->end - 1);
		o->digest = scr_crc_digest(o->block, scr_crc_mul(crc, scr_crc_shift(behind)));
	}
}

static void digest(const struct scr_hunt *h, const struct scr_group *g, struct scr_cells *cs)
{
	cs->target = 0;
	for (uint32_t i = 0; i < g->count; i++)
		cs->target ^= scr_crc_digest(g->members[i], h->bad[g->members[i]].residue);
	for (uint32_t i = 0; i < cs->count; i++)
		digest_cell(h, cs, &cs->cell[i]);
}

/* ---- coarse to fine ------------------------------------------------------------------------ */

/* Whether @now are the cells that were tried before. */
static bool same_cells(const struct scr_cells *now, const struct scr_cells *before)
{
	if (now->count != before->count)
		return false;
	for (uint32_t i = 0; i < now->count; i++) {
		if (now->cell[i].start != before->cell[i].start ||
		    now->cell[i].end != before->cell[i].end)
			return false;
	}
	return true;
}

/* @cells[2]: the level that is tried, and the last one that was. */
static int each_grain(struct scr_hunt *h, const struct scr_group *g, struct scr_cells *cells)
{
	struct scr_cells *now = &cells[0], *before = &cells[1], *swap;
	int outcome = SCR_NO_FIT, tried = SCR_NO_FIT;

	before->count = 0;
	for (size_t i = 0; i < sizeof(grains) / sizeof(grains[0]); i++) {
		if (!cut(h, g, grains[i], now)) {
			outcome = SCR_BEYOND;
			continue;
		}
		/* The answer for the finest cells stands, also if some in between were too many. */
		if (same_cells(now, before)) {
			outcome = tried;
			continue;
		}
		digest(h, g, now);
		outcome = tried = scr_cells_meet(h, g, now);
		if (outcome != SCR_NO_FIT && outcome != SCR_BEYOND)
			break;
		swap = now;
		now = before;
		before = swap;
	}
	return outcome;
}

int scr_hunt_cells(struct scr_hunt *h, const struct scr_group *g)
{
	struct scr_cells *cells = malloc(2 * sizeof(*cells));
	int outcome = cells ? each_grain(h, g, cells) : -ENOMEM;

	free(cells);
	return outcome;
}

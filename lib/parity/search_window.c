/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Level 1 of the repair search: one burst, wherever it begins.
 *
 * A burst of at most c bytes lies in a window [a, a + c) of the extent, in which each position
 * occurs once, so given a, the error is known: position j belongs to column q = a / c if q c + j >=
 * a, else to column q + 1. No gap in S is needed to find the cut, and none would do: the two ends
 * of a burst meet in S without a seam. So all a are tried. From one to the next a single position
 * changes its column; if its error byte is s, one block loses and one gains s x^(8m+32), m being
 * the number of bytes behind it in the block, and that is all that happens to the CRCs.
 *
 * Forced positions are not part of this: they stay where they are. Starts between two errors are
 * one and the same candidate.
 */
#include <config.h>
#include "parity/search_internal.h"

#include <errno.h>
#include <stdlib.h>

#include "base/compiler.h"

struct window {
	struct scr_hunt *h;
	const struct scr_group *g;
	uint32_t column;    /* q, of the start */
	uint32_t outside;   /* errors that lie in no bad block */
	uint32_t open;      /* blocks whose CRC is not right yet */
	uint32_t low, high; /* the first and the last start to try */
	uint32_t fits;
};

/* Takes the error at @pos to block @b, or away from it. */
static void toggle(struct window *w, uint32_t b, uint32_t pos)
{
	struct scr_bad *bad = &w->h->bad[b];
	uint32_t behind = bad->length - 1 - scr_bad_offset(w->h, bad, pos);

	w->open -= bad->need != 0;
	bad->need ^= scr_crc_mul_byte(w->h->powers[behind], w->h->syndrome[pos]);
	w->open += bad->need != 0;
}

static void put(struct window *w, uint32_t b, uint32_t pos)
{
	if (b == SCR_NONE)
		w->outside++;
	else
		toggle(w, b, pos);
}

static void take(struct window *w, uint32_t b, uint32_t pos)
{
	if (b == SCR_NONE)
		w->outside--;
	else
		toggle(w, b, pos);
}

/* Column @columns is the parity, which a burst in the data does not reach. */
static uint32_t block_at(const struct window *w, uint32_t column, uint32_t pos)
{
	return column < w->h->columns ? scr_hunt_bad_at(w->h, column, pos) : SCR_NONE;
}

static const struct scr_zone *zone_at(const struct window *w, uint32_t i)
{
	return &w->h->zones[w->g->zones[i]];
}

/* The candidate that begins at @cut in w->column, as pieces for a full verification. */
static int try_cut(struct window *w, uint32_t cut)
{
	struct scr_pieces *trial = &w->h->trial;
	int err = 0;

	trial->count = 0;
	for (uint32_t i = 0; !err && i < w->g->zone_count; i++) {
		const struct scr_zone *z = zone_at(w, i);
		uint32_t middle = SCR_MIN(SCR_MAX(cut, z->start), z->end);

		if (z->start < middle)
			err = scr_pieces_add(trial, z->start, middle,
					     block_at(w, w->column + 1, z->start));
		if (!err && middle < z->end)
			err = scr_pieces_add(trial, middle, z->end,
					     block_at(w, w->column, z->start));
	}
	if (!err)
		scr_hunt_try(w->h, w->g, &w->fits);
	return err;
}

static int look(struct window *w, uint32_t cut)
{
	return w->outside == 0 && w->open == 0 ? try_cut(w, cut) : 0;
}

/* All errors of zone @z into the window that begins at position @cut of w->column. */
static void place_zone(struct window *w, const struct scr_zone *z, uint32_t cut)
{
	uint32_t here = block_at(w, w->column, z->start);
	uint32_t next = block_at(w, w->column + 1, z->start);

	for (uint32_t pos = z->start; pos < z->end; pos++) {
		if (w->h->syndrome[pos])
			put(w, pos >= cut ? here : next, pos);
	}
}

/* Moves the start over the positions [from, to) of zone @z. */
static int slide_zone(struct window *w, const struct scr_zone *z, uint32_t from, uint32_t to)
{
	uint32_t here = block_at(w, w->column, z->start);
	uint32_t next = block_at(w, w->column + 1, z->start);
	int err = 0;

	if (here == SCR_NONE && next == SCR_NONE)
		return 0;
	for (uint32_t pos = from; !err && pos < to; pos++) {
		if (!w->h->syndrome[pos])
			continue;
		take(w, here, pos);
		put(w, next, pos);
		err = look(w, pos + 1);
	}
	return err;
}

/* Moves the start from position @from to position @to of one column. */
static int slide_column(struct window *w, uint32_t from, uint32_t to)
{
	int err = 0;

	for (uint32_t i = 0; !err && i < w->g->zone_count; i++) {
		const struct scr_zone *z = zone_at(w, i);

		err = slide_zone(w, z, SCR_MAX(from, z->start), SCR_MIN(to, z->end));
	}
	return err;
}

static int slide(struct window *w)
{
	uint32_t c = w->h->s->cut.column, from = w->low % c;
	int err;

	w->column = w->low / c;
	for (uint32_t i = 0; i < w->g->zone_count; i++)
		place_zone(w, zone_at(w, i), from);
	err = look(w, from);
	for (; !err && w->column < w->high / c; w->column++, from = 0)
		err = slide_column(w, from, c);
	if (!err)
		err = slide_column(w, from, w->high % c);
	return err;
}

/*
 * Which starts are worth trying: a block whose CRC needs an error must have bytes in the window. So
 * no further than c before the beginning of the last such block, and before the end of the first.
 */
static bool bound(struct window *w)
{
	uint32_t last = 0, end = UINT32_MAX, c = w->h->s->cut.column;

	for (uint32_t i = 0; i < w->g->count; i++) {
		const struct scr_bad *b = &w->h->bad[w->g->members[i]];

		if (!b->residue)
			continue;
		if (b->parity)
			return false;
		last = SCR_MAX(last, b->start);
		end = SCR_MIN(end, b->start + b->length);
	}
	w->low = last >= c ? last - c + 1 : 0;
	w->high = end - 1;
	return end != UINT32_MAX && w->low <= w->high;
}

static int make_powers(struct scr_hunt *h)
{
	if (h->powers)
		return 0;
	h->powers = malloc(h->s->cut.block * sizeof(*h->powers));
	if (!h->powers)
		return -ENOMEM;
	scr_crc_powers(h->powers, h->s->cut.block);
	return 0;
}

int scr_hunt_window(struct scr_hunt *h, const struct scr_group *g)
{
	struct window w = {.h = h, .g = g};

	/* With a block that can't be verified the checksums are too few for so many candidates. */
	if (g->other || !bound(&w))
		return SCR_NO_FIT;
	if (make_powers(h))
		return -ENOMEM;
	for (uint32_t i = 0; i < g->count; i++) {
		struct scr_bad *b = &h->bad[g->members[i]];

		b->need = b->residue;
		w.open += b->need != 0;
	}
	if (slide(&w))
		return -ENOMEM;
	return w.fits == 0 ? SCR_NO_FIT : w.fits == 1 ? SCR_ONE_FIT : SCR_MORE_FITS;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The blocks of the repair search: which are bad, and whether an assignment makes them right. */
#include <config.h>
#include "parity/search_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"

struct scr_check scr_block_check(const struct scr_kernels *k, const uint8_t *p, uint32_t len)
{
	return (struct scr_check){
		.crc = k->crc32->fn.crc32(0, p, len),
		.inet = scr_inet_fold(k->inet->fn.inet(0, p, len)),
	};
}

bool scr_check_equal(struct scr_check a, struct scr_check b)
{
	return a.crc == b.crc && a.inet == b.inet;
}

/* ---- which are bad ------------------------------------------------------------------------- */

/* Data or parity, as a row of blocks. */
struct row {
	uint8_t *bytes;
	uint32_t length, blocks;
	const struct scr_check *checks;
	const struct scr_gap *gap, *gap_end;
	uint8_t *state, *why;
	bool parity;
};

static struct row data_row(const struct scr_search *s)
{
	return (struct row){
		.bytes = s->data,
		.length = s->cut.length,
		.blocks = s->cut.blocks,
		.checks = s->checks,
		.gap = s->gaps,
		.gap_end = s->gaps + s->gap_count,
		.state = s->state,
		.why = s->why,
	};
}

static struct row parity_row(const struct scr_search *s)
{
	return (struct row){
		.bytes = s->parity,
		.length = s->cut.column,
		.blocks = s->cut.parity_blocks,
		.checks = s->parity_checks,
		.gap = s->parity_gaps,
		.gap_end = s->parity_gaps + s->parity_gap_count,
		.state = s->parity_state,
		.why = s->parity_why,
		.parity = true,
	};
}

/* Whether part of [start, end) could not be read; asked for ascending blocks. */
static bool has_gap(struct row *r, uint32_t start, uint32_t end)
{
	while (r->gap < r->gap_end && r->gap->start + r->gap->length <= start)
		r->gap++;
	return r->gap < r->gap_end && r->gap->start < end;
}

static void verify_row(struct scr_hunt *h, struct row r, uint32_t *bad_of)
{
	uint32_t size = h->s->cut.block;

	for (uint32_t i = 0; i < r.blocks; i++) {
		uint32_t start = i * size, len = SCR_MIN(size, r.length - start);
		struct scr_check is = scr_block_check(h->s->kernels, r.bytes + start, len);
		bool gap = has_gap(&r, start, start + len);

		bad_of[i] = SCR_NONE;
		r.state[i] = SCR_BLOCK_SOUND;
		r.why[i] = 0;
		if (!gap && scr_check_equal(is, r.checks[i]))
			continue;
		bad_of[i] = h->bads;
		h->bad[h->bads++] = (struct scr_bad){
			.bytes = r.bytes + start,
			.start = start,
			.length = len,
			.first = start % h->s->cut.column,
			.want = r.checks[i],
			.is = is,
			.parity = r.parity,
			.gap = gap,
			.state = SCR_BLOCK_LOST,
			.why = SCR_LOST_NO_FIT,
		};
	}
}

/* Parity of zeros takes no bytes and is sound by definition. */
static void no_parity_row(struct scr_hunt *h, uint32_t *bad_of)
{
	const struct scr_search *s = h->s;

	for (uint32_t i = 0; i < s->cut.parity_blocks; i++) {
		bad_of[i] = SCR_NONE;
		if (s->parity_state)
			s->parity_state[i] = SCR_BLOCK_SOUND;
		if (s->parity_why)
			s->parity_why[i] = 0;
	}
}

int scr_hunt_verify(struct scr_hunt *h)
{
	const struct scr_search *s = h->s;
	size_t blocks = (size_t)s->cut.blocks + s->cut.parity_blocks;

	h->bad_of = malloc(blocks * sizeof(*h->bad_of));
	h->bad = malloc(blocks * sizeof(*h->bad));
	if (!h->bad_of || !h->bad)
		return -ENOMEM;
	verify_row(h, data_row(s), h->bad_of);
	if (s->parity_checks && s->parity && !s->parity_zero)
		verify_row(h, parity_row(s), h->bad_of + s->cut.blocks);
	else
		no_parity_row(h, h->bad_of + s->cut.blocks);
	return 0;
}

/* ---- assignments --------------------------------------------------------------------------- */

int scr_pieces_add(struct scr_pieces *ps, uint32_t start, uint32_t end, uint32_t owner)
{
	if (ps->count == ps->cap) {
		uint32_t cap = ps->cap ? 2 * ps->cap : 64;
		struct scr_piece *p = realloc(ps->p, cap * sizeof(*p));

		if (!p)
			return -ENOMEM;
		ps->p = p;
		ps->cap = cap;
	}
	ps->p[ps->count++] = (struct scr_piece){start, end, owner};
	return 0;
}

static void xor_syndrome(struct scr_hunt *h, const struct scr_bad *b, uint8_t *bytes,
			 uint32_t start, uint32_t end)
{
	const uint8_t *src = h->syndrome + start;

	h->s->kernels->xor_->fn.xor_(bytes + scr_bad_offset(h, b, start), &src, 1, end - start);
}

/* Calls @fn for all positions whose error belongs to block @b. */
typedef void span_fn(struct scr_hunt *h, struct scr_bad *b, uint32_t start, uint32_t end);

static void each_span(struct scr_hunt *h, uint32_t b, const struct scr_pieces *pieces, span_fn *fn)
{
	struct scr_bad *bad = &h->bad[b];
	uint32_t z = scr_zone_of(h, bad), left = bad->length;

	for (; left > 0; z = z + 1 < h->zone_count ? z + 1 : 0) {
		const struct scr_zone *zone = &h->zones[z];

		if (zone->kind == SCR_ZONE_FORCED && zone->owner == b)
			fn(h, bad, zone->start, zone->end);
		left -= zone->end - zone->start;
	}
	for (uint32_t i = 0; pieces && i < pieces->count; i++) {
		if (pieces->p[i].owner == b)
			fn(h, bad, pieces->p[i].start, pieces->p[i].end);
	}
}

void scr_hunt_fixed(struct scr_hunt *h, uint32_t b, enum scr_block_state state)
{
	const struct scr_cut *cut = &h->s->cut;
	struct scr_bad *bad = &h->bad[b];

	bad->fixed = true;
	bad->state = state;
	bad->why = 0;
	h->bad_of[(bad->parity ? cut->blocks : 0) + bad->start / cut->block] = SCR_NONE;
}

static void overlay_span(struct scr_hunt *h, struct scr_bad *b, uint32_t start, uint32_t end)
{
	xor_syndrome(h, b, h->scratch, start, end);
}

static void apply_span(struct scr_hunt *h, struct scr_bad *b, uint32_t start, uint32_t end)
{
	xor_syndrome(h, b, b->bytes, start, end);
	memset(h->syndrome + start, 0, end - start);
}

void scr_hunt_overlay(struct scr_hunt *h, uint32_t b, const struct scr_pieces *pieces)
{
	memcpy(h->scratch, h->bad[b].bytes, h->bad[b].length);
	each_span(h, b, pieces, overlay_span);
}

void scr_hunt_apply(struct scr_hunt *h, uint32_t b, const struct scr_pieces *pieces)
{
	each_span(h, b, pieces, apply_span);
	scr_hunt_fixed(h, b, SCR_BLOCK_REPAIRED);
}

static bool block_fits(struct scr_hunt *h, uint32_t b, const struct scr_pieces *pieces)
{
	const struct scr_bad *bad = &h->bad[b];

	scr_hunt_overlay(h, b, pieces);
	return scr_check_equal(scr_block_check(h->s->kernels, h->scratch, bad->length), bad->want);
}

void scr_hunt_try(struct scr_hunt *h, const struct scr_group *g, uint32_t *fits)
{
	struct scr_pieces swap = h->found;

	for (uint32_t i = 0; i < g->count; i++) {
		if (!block_fits(h, g->members[i], &h->trial))
			return;
	}
	if (++*fits > 1)
		return;
	h->found = h->trial;
	h->trial = swap;
}

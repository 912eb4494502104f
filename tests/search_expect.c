/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What should become of damage, worked out byte by byte from the damage itself: the oracle.
 *
 * It knows the original and shares no code with the search: it asks of each position how often it
 * was hit, which blocks a search may suspect there, and then whether the true owners of all errors
 * lie within what the levels of the search try: one window of c bytes, or cells of some grain, of
 * which there are not too many.
 */
#include <config.h>
#include "search_trial.h"

#include <stdlib.h>
#include <string.h>

#define NOBODY UINT32_MAX
#define OTHER (UINT32_MAX - 1) /* any block that is lost anyway */
#define COLUMNS 257u

struct oracle {
	struct trial *t;
	uint32_t c, columns, blocks;    /* columns of data; blocks of data and parity */
	bool parity;                    /* there are bytes of it */
	uint8_t *data_gap, *parity_gap; /* by byte: unreadable */
	bool *bad, *twice, *hopeless;   /* by block */
	uint32_t *parent;               /* by block: union-find */
	uint32_t *run;                  /* by position: number of the run of equal suspects */
	uint32_t *last, *before; /* chains of a component's ambiguous positions, by its root */
};

static void *take(size_t n, size_t size)
{
	void *p = calloc(n, size);

	if (!p)
		abort();
	return p;
}

/* The block at a position of a column; NOBODY: there is none. */
static uint32_t block_at(const struct oracle *o, uint32_t column, uint32_t pos)
{
	const struct scr_cut *cut = &o->t->s.cut;

	if (column == o->columns)
		return o->parity ? cut->blocks + pos / cut->block : NOBODY;
	if (column * o->c + pos >= cut->length)
		return NOBODY;
	return (column * o->c + pos) / cut->block;
}

static uint8_t error_at(const struct oracle *o, uint32_t column, uint32_t pos)
{
	const struct trial *t = o->t;

	if (column == o->columns)
		return t->parity[pos] ^ t->parity_read[pos];
	return t->data[column * o->c + pos] ^ t->data_read[column * o->c + pos];
}

static bool gap_at(const struct oracle *o, uint32_t column, uint32_t pos)
{
	return column == o->columns ? o->parity_gap[pos] : o->data_gap[column * o->c + pos];
}

static uint32_t root(const struct oracle *o, uint32_t b)
{
	while (o->parent[b] != b)
		b = o->parent[b] = o->parent[o->parent[b]];
	return b;
}

/* All that can be said of one position. */
struct spot {
	uint32_t cand[COLUMNS], count; /* bad blocks */
	bool gap[COLUMNS];
	uint8_t error[COLUMNS], s;
	uint32_t gaps, hits; /* unreadable; unreadable or wrong */
	uint32_t owner;      /* of the error, if hit once */
	uint32_t owner_column;
};

static void look(const struct oracle *o, uint32_t pos, struct spot *p)
{
	p->count = p->gaps = p->hits = 0;
	p->s = 0;
	p->owner = NOBODY;
	for (uint32_t i = 0; i <= o->columns; i++) {
		uint32_t b = block_at(o, i, pos), n = p->count;

		if (b == NOBODY || !o->bad[b])
			continue;
		p->cand[n] = b;
		p->gap[n] = gap_at(o, i, pos);
		p->error[n] = error_at(o, i, pos);
		p->s ^= p->error[n];
		p->gaps += p->gap[n];
		if (p->gap[n] || p->error[n]) {
			p->hits++;
			p->owner = b;
			p->owner_column = i;
		}
		p->count++;
	}
}

/* ---- damage -------------------------------------------------------------------------------- */

static void mark_gaps(const struct scr_gap *gap, uint32_t count, uint8_t *map)
{
	for (uint32_t i = 0; i < count; i++)
		memset(map + gap[i].start, 1, gap[i].length);
}

static void mark_bad(struct oracle *o)
{
	for (uint32_t i = 0; i <= o->columns; i++) {
		for (uint32_t pos = 0; pos < o->c; pos++) {
			uint32_t b = block_at(o, i, pos);

			if (b != NOBODY && (error_at(o, i, pos) || gap_at(o, i, pos)))
				o->bad[b] = true;
		}
	}
}

/*
 * Hit twice: every wrong block there would need an error that S does not show. But a lone
 * unreadable byte gets what it needs if the errors of the others cancel.
 */
static void mark_hits(struct oracle *o)
{
	struct spot p;

	for (uint32_t pos = 0; pos < o->c; pos++) {
		look(o, pos, &p);
		for (uint32_t i = 0; i < p.count && p.hits > 1; i++) {
			if (p.gaps > 1 && p.gap[i])
				o->twice[p.cand[i]] = true;
			if (p.error[i] != (p.gap[i] && p.gaps == 1 ? p.s : 0))
				o->hopeless[p.cand[i]] = true;
		}
	}
}

/* The first suspect that is not lost anyway; NOBODY: none. */
static uint32_t first_suspect(const struct oracle *o, const struct spot *p)
{
	for (uint32_t i = 0; i < p->count; i++) {
		if (!o->twice[p->cand[i]])
			return p->cand[i];
	}
	return NOBODY;
}

/* Ambiguous: no unreadable byte, an error, several suspects, not all of them lost anyway. */
static bool ambiguous(const struct oracle *o, const struct spot *p)
{
	return p->count > 1 && !p->gaps && p->s && first_suspect(o, p) != NOBODY;
}

static bool same_suspects(const struct spot *a, const struct spot *b)
{
	return a->count == b->count && !memcmp(a->cand, b->cand, a->count * sizeof(a->cand[0])) &&
	       !memcmp(a->gap, b->gap, a->count * sizeof(a->gap[0]));
}

static void join(struct oracle *o)
{
	struct spot p;

	for (uint32_t pos = 0; pos < o->c; pos++) {
		look(o, pos, &p);
		for (uint32_t i = 0; i < p.count && ambiguous(o, &p); i++) {
			if (!o->twice[p.cand[i]])
				o->parent[root(o, p.cand[i])] = root(o, first_suspect(o, &p));
		}
	}
}

/* Chains the ambiguous positions of each component, from the last to the first. */
static void chain(struct oracle *o)
{
	struct spot p, previous = {.count = 0};

	for (uint32_t pos = 0; pos < o->c; pos++) {
		uint32_t r;

		look(o, pos, &p);
		o->run[pos] = pos ? o->run[pos - 1] + !same_suspects(&p, &previous) : 0;
		previous = p;
		if (!ambiguous(o, &p))
			continue;
		r = root(o, first_suspect(o, &p));
		o->before[pos] = o->last[r];
		o->last[r] = pos;
	}
}

/* ---- one component ------------------------------------------------------------------------- */

struct component {
	uint32_t *mark; /* its ambiguous errors, descending positions */
	uint32_t marks, blocks;
	bool other, hopeless; /* other: a suspect is lost anyway */
};

static void gather(const struct oracle *o, uint32_t r, struct component *k)
{
	struct spot p;

	for (uint32_t pos = o->last[r]; pos != NOBODY; pos = o->before[pos]) {
		k->mark[k->marks++] = pos;
		look(o, pos, &p);
		for (uint32_t i = 0; i < p.count; i++)
			k->other |= o->twice[p.cand[i]];
	}
	for (uint32_t b = 0; b < o->blocks; b++) {
		if (!o->bad[b] || o->twice[b] || root(o, b) != r)
			continue;
		k->blocks++;
		k->hopeless |= o->hopeless[b];
	}
}

static bool in_window(const struct oracle *o, const struct component *k)
{
	uint32_t low = UINT32_MAX, high = 0;
	struct spot p;

	for (uint32_t i = 0; i < k->marks; i++) {
		uint32_t at;

		look(o, k->mark[i], &p);
		if (p.owner_column == o->columns)
			return false;
		at = p.owner_column * o->c + k->mark[i];
		low = at < low ? at : low;
		high = at > high ? at : high;
	}
	return !k->other && high - low < o->c;
}

/* Who really owns the error at a position. */
static uint32_t owner(const struct oracle *o, uint32_t pos)
{
	struct spot p;

	look(o, pos, &p);
	return o->twice[p.owner] ? OTHER : p.owner;
}

#define CELLS 64u

/*
 * Whether cells cut by @gap and @grid have one true owner each; *cell[]: a position of each. The
 * grid counts from the first byte of a cell, so the positions are taken in ascending order.
 */
static bool in_cells(const struct oracle *o, const struct component *k, uint32_t gap, uint32_t grid,
		     uint32_t *cell, uint32_t *cells)
{
	*cells = 0;
	for (uint32_t i = k->marks; i-- > 0;) {
		uint32_t pos = k->mark[i], last = i + 1 < k->marks ? k->mark[i + 1] : 0;
		uint32_t first = *cells ? cell[*cells - 1] : 0;

		if (*cells && o->run[pos] == o->run[last] && pos - last - 1 <= gap &&
		    pos / grid == first / grid) {
			if (owner(o, pos) != owner(o, first))
				return false;
			continue;
		}
		if (*cells == CELLS)
			return false;
		cell[(*cells)++] = pos;
	}
	return true;
}

/* The suspects at a position, all that are lost anyway being one. */
static uint32_t list_suspects(const struct oracle *o, uint32_t pos, uint32_t *list)
{
	struct spot p;
	bool other = false;
	uint32_t n = 0;

	look(o, pos, &p);
	for (uint32_t i = 0; i < p.count; i++) {
		if (o->twice[p.cand[i]])
			other = true;
		else
			list[n++] = p.cand[i];
	}
	if (other)
		list[n++] = OTHER;
	return n;
}

static bool pair_within_bound(const struct oracle *o, const uint32_t *cell, uint32_t cells,
			      uint32_t a, uint32_t b)
{
	uint32_t list[COLUMNS], both = 0;

	for (uint32_t j = 0; j < cells; j++) {
		uint32_t n = list_suspects(o, cell[j], list), found = 0;

		for (uint32_t i = 0; i < n; i++)
			found += list[i] == a || list[i] == b;
		both += found == 2;
	}
	return both <= (b == OTHER ? 8 : 16);
}

/* 2^min(40, 32 (b - 1) - 16) in all; 16 cells between any two blocks, 8 where one is lost anyway.
 */
static bool within_bound(const struct oracle *o, const struct component *k, const uint32_t *cell,
			 uint32_t cells)
{
	double limit = k->blocks > 2 ? 0x1p40 : k->blocks > 1 ? 0x1p16 : 0x1p8, product = 1;
	uint32_t list[COLUMNS];

	for (uint32_t i = 0; i < cells; i++) {
		uint32_t n = list_suspects(o, cell[i], list);

		product *= n;
		if (product > limit)
			return false;
		for (uint32_t a = 0; a < n && cells > 8; a++) {
			for (uint32_t b = a + 1; b < n; b++) {
				if (!pair_within_bound(o, cell, cells, list[a], list[b]))
					return false;
			}
		}
	}
	return true;
}

static enum expect judge(const struct oracle *o, const struct component *k)
{
	static const uint32_t grain[][2] = {
		{UINT32_MAX, UINT32_MAX},
		{UINT32_MAX, 4096},
		{UINT32_MAX, 512},
		{64, 512},
		{16, 512},
		{4, UINT32_MAX},
		{1, UINT32_MAX},
		{0, UINT32_MAX},
		{0, 1},
	};
	uint32_t cell[CELLS], cells;

	if (k->hopeless)
		return EXPECT_REFUSE;
	if (k->marks == 0 || in_window(o, k))
		return EXPECT_REPAIR;
	for (uint32_t i = 0; i < 9; i++) {
		if (in_cells(o, k, grain[i][0], grain[i][1], cell, &cells) &&
		    within_bound(o, k, cell, cells))
			return EXPECT_REPAIR;
	}
	return EXPECT_EITHER;
}

static void judge_component(struct oracle *o, uint32_t r)
{
	struct component k = {.mark = take(o->c, sizeof(uint32_t))};
	enum expect e;

	gather(o, r, &k);
	e = judge(o, &k);
	if (e == EXPECT_REFUSE && o->t->s.allow_syndrome)
		e = EXPECT_EITHER;
	for (uint32_t b = 0; b < o->blocks; b++) {
		if (o->bad[b] && !o->twice[b] && root(o, b) == r)
			o->t->expect[b] = (uint8_t)e;
	}
	free(k.mark);
}

/* ---- all of it ----------------------------------------------------------------------------- */

/* Without parity: only one flipped bit, and only if that is asked for. */
static void expect_alone(struct oracle *o)
{
	const struct scr_cut *cut = &o->t->s.cut;

	for (uint32_t b = 0; b < cut->blocks; b++) {
		uint32_t bits = 0, gaps = 0;

		for (uint32_t at = b * cut->block; at < cut->length && at / cut->block == b; at++) {
			bits += (uint32_t)__builtin_popcount(o->t->data[at] ^ o->t->data_read[at]);
			gaps += o->data_gap[at];
		}
		if (!bits && !gaps)
			continue;
		o->t->expect[b] = EXPECT_REFUSE;
		if (o->t->s.allow_syndrome)
			o->t->expect[b] = bits < 2 ? EXPECT_REPAIR : EXPECT_EITHER;
		if (o->t->s.allow_syndrome && gaps && bits)
			o->t->expect[b] = EXPECT_EITHER;
	}
}

static void expect_fold(struct oracle *o)
{
	mark_bad(o);
	mark_hits(o);
	for (uint32_t b = 0; b < o->blocks; b++)
		o->parent[b] = b;
	join(o);
	chain(o);
	for (uint32_t b = 0; b < o->blocks; b++) {
		if (o->twice[b])
			o->t->expect[b] = o->t->s.allow_syndrome ? EXPECT_EITHER : EXPECT_REFUSE;
		else if (o->bad[b] && root(o, b) == b)
			judge_component(o, b);
	}
}

void trial_expect(struct trial *t)
{
	const struct scr_search *s = &t->s;
	struct oracle o = {.t = t, .c = s->cut.column};

	o.parity = s->parity_checks && !s->parity_zero;
	o.columns = (s->cut.length + o.c - 1) / o.c;
	o.blocks = s->cut.blocks + (o.parity ? s->cut.parity_blocks : 0);
	o.data_gap = take(s->cut.length, 1);
	o.parity_gap = take(o.c, 1);
	o.bad = take(o.blocks, sizeof(bool));
	o.twice = take(o.blocks, sizeof(bool));
	o.hopeless = take(o.blocks, sizeof(bool));
	o.parent = take(o.blocks, sizeof(uint32_t));
	o.run = take(o.c, sizeof(uint32_t));
	o.before = take(o.c, sizeof(uint32_t));
	o.last = take(o.blocks, sizeof(uint32_t));
	memset(o.last, 0xff, o.blocks * sizeof(uint32_t));
	mark_gaps(s->gaps, s->gap_count, o.data_gap);
	mark_gaps(s->parity_gaps, s->parity_gap_count, o.parity_gap);
	memset(t->expect, EXPECT_SOUND, s->cut.blocks + s->cut.parity_blocks);
	if (!s->parity_checks && !s->parity_zero)
		expect_alone(&o);
	else
		expect_fold(&o);
	free(o.data_gap);
	free(o.parity_gap);
	free(o.bad);
	free(o.twice);
	free(o.hopeless);
	free(o.parent);
	free(o.run);
	free(o.before);
	free(o.last);
}

static const char *unmet(uint8_t expect, uint8_t state)
{
	if (expect == EXPECT_REPAIR && state == SCR_BLOCK_LOST)
		return "should have been repaired";
	if (expect == EXPECT_REFUSE && state != SCR_BLOCK_LOST)
		return "should have been refused";
	return NULL;
}

const char *trial_unmet(const struct trial *t)
{
	const struct scr_cut *cut = &t->s.cut;
	const char *what = NULL;

	for (uint32_t b = 0; !what && b < cut->blocks; b++)
		what = unmet(t->expect[b], t->s.state[b]);
	for (uint32_t b = 0; !what && b < cut->parity_blocks; b++)
		what = unmet(t->expect[cut->blocks + b], t->s.parity_state[b]);
	return what;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What should become of a damaged file, extent by extent, by the oracle of the search
 * (search_expect.c) and by what repair adds to it: copies of blocks in the file, whole units of
 * writing, and files that grow no further than what is right. */
#include <config.h>
#include "campaign.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define UNIT 4096u /* of writing */

const char *const outcome_names[CLASSES] = {
	"must repair", "must refuse", "either", "mixed", "parity only",
};

/* What is known when an extent is judged. */
struct judge {
	struct victim *v;
	const struct scr_geometry *g;
	const uint8_t *after;
	uint64_t size; /* after */
	bool syndrome;
	bool end_lost; /* something behind the present end is not sure to come back */
	struct totals *sum;
};

static uint64_t smaller(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* ---- blocks ------------------------------------------------------------------------------- */

struct range {
	uint64_t from, to;
};

static struct range block_of(const struct scr_cut *cut, uint32_t i)
{
	uint64_t from = cut->offset + (uint64_t)i * cut->block;

	return (struct range){from, from + scr_block_length(cut, i)};
}

/* Whether the block was sound after the damage; or is after the repair. */
static bool sound_before(const struct judge *j, struct range b)
{
	const struct victim *v = j->v;

	return b.to <= v->size_now && !victim_lost(v, b.from, b.to) &&
	       !memcmp(v->now + b.from, v->was + b.from, b.to - b.from);
}

static bool right_after(const struct judge *j, struct range b)
{
	return b.to <= j->size && !memcmp(j->after + b.from, j->v->was + b.from, b.to - b.from);
}

/* Byte by byte what the damage left, and no byte more. */
static bool same_after(const struct judge *j, struct range b)
{
	const struct victim *v = j->v;
	uint64_t end = smaller(b.to, v->size_now);

	if (b.to > v->size_now && j->size > v->size_now && j->size > b.from)
		return false;
	return end <= b.from ||
	       (j->size >= end && !memcmp(j->after + b.from, v->now + b.from, end - b.from));
}

/* Whether another block of the file holds the same when extent @k is repaired. */
static bool has_copy(const struct judge *j, uint32_t k, struct range b)
{
	const struct victim *v = j->v;

	for (uint32_t i = 0; i < v->places; i++) {
		const struct scr_cut *cut = &v->place[i].cut;

		if (i != k && v->place[i].hole)
			continue;
		for (uint32_t n = 0; n < cut->blocks; n++) {
			struct range o = block_of(cut, n);

			if (o.from == b.from || o.to - o.from != b.to - b.from ||
			    memcmp(v->was + o.from, v->was + b.from, b.to - b.from) != 0)
				continue;
			if (i < k ? right_after(j, o) : sound_before(j, o))
				return true;
		}
	}
	return false;
}

/* ---- the oracle's view -------------------------------------------------------------------- */

/* The part of a gap in each block that has no copy. False: too many of them. */
static bool add_gap(struct trial *t, const bool *copied, uint64_t from, uint64_t to)
{
	uint32_t block = t->s.cut.block;

	while (from < to) {
		uint64_t end = from;

		while (end < to && copied[end / block] == copied[from / block])
			end = smaller(to, (end / block + 1) * block);
		if (!copied[from / block]) {
			if (t->s.gap_count == TRIAL_GAPS)
				return false;
			trial_gap(t, (uint32_t)from, (uint32_t)(end - from));
		}
		from = end;
	}
	return true;
}

static bool add_gaps(const struct judge *j, const struct place *p, struct trial *t,
		     const bool *copied)
{
	uint64_t base = p->cut.offset, end = base + p->cut.length;
	bool fits = true;

	for (uint32_t i = 0; i < j->v->lost_count; i++) {
		struct span s = j->v->lost[i];

		s.from = s.from < base ? base : s.from;
		s.to = smaller(s.to, end);
		if (s.from < s.to)
			fits &= add_gap(t, copied, s.from - base, s.to - base);
	}
	if (j->v->size_now < end) {
		uint64_t from = j->v->size_now < base ? base : j->v->size_now;

		fits &= add_gap(t, copied, from - base, p->cut.length);
	}
	for (uint32_t i = 0; i < p->lost_count; i++)
		trial_parity_gap(t, (uint32_t)p->lost[i].from,
				 (uint32_t)(p->lost[i].to - p->lost[i].from));
	return fits;
}

static const char *recorded_otherwise(const struct place *p, const struct trial *t)
{
	bool zero = true;

	for (uint32_t i = 0; i < p->cut.column; i++)
		zero &= t->parity[i] == 0;
	if (p->cut.column != t->s.cut.column || p->cut.block != t->s.cut.block)
		return "the extent was cut otherwise";
	if (zero != (p->zero || p->hole) || zero != (p->parity == NULL))
		return "parity of zeros, or not";
	if (p->parity && !p->parity_hit && memcmp(p->parity, t->parity, p->cut.column) != 0)
		return "the stored parity is not that of the extent";
	return NULL;
}

/* Fills @t with the extent as damaged, and @expect by block. */
static const char *foresee(const struct judge *j, uint32_t k, struct trial *t, bool *copied,
			   uint8_t *expect)
{
	const struct victim *v = j->v;
	const struct place *p = &v->place[k];
	const char *what;
	bool fits;

	memcpy(t->data, v->was + p->cut.offset, p->cut.length);
	trial_record(t, NULL);
	what = recorded_otherwise(p, t);
	if (what)
		return what;
	memcpy(t->s.data, v->now + p->cut.offset, p->cut.length);
	for (uint32_t i = 0; i < p->cut.blocks; i++) {
		struct range b = block_of(&p->cut, i);

		copied[i] = !sound_before(j, b) && has_copy(j, k, b);
		if (copied[i])
			memcpy(t->s.data + (b.from - p->cut.offset), v->was + b.from,
			       b.to - b.from);
	}
	if (p->parity)
		memcpy(t->s.parity, p->parity, p->cut.column);
	t->s.parity_zero = !p->parity;
	fits = add_gaps(j, p, t, copied);
	trial_settle(t, j->syndrome);
	trial_expect(t);
	for (uint32_t i = 0; i < p->cut.blocks; i++) {
		expect[i] = t->expect[i];
		if (copied[i])
			expect[i] = EXPECT_REPAIR;
		else if (!fits && expect[i] != EXPECT_SOUND)
			expect[i] = EXPECT_EITHER;
	}
	return NULL;
}

/* ---- units, and the end ------------------------------------------------------------------- */

static bool share_unit(const struct scr_cut *cut, uint32_t a, uint32_t b)
{
	uint32_t end = (a + 1) * cut->block - 1;

	return b * cut->block / UNIT <= end / UNIT;
}

static bool unsure(uint8_t e)
{
	return e == EXPECT_REFUSE || e == EXPECT_EITHER;
}

/* A block whose unit holds something that may be lost need not be written. */
static void weaken_units(const struct scr_cut *cut, uint8_t *expect)
{
	bool again = true;

	while (again) {
		again = false;
		for (uint32_t a = 0; a < cut->blocks; a++) {
			for (uint32_t b = a + 1; b < cut->blocks && share_unit(cut, a, b); b++) {
				if (unsure(expect[a]) == unsure(expect[b]))
					continue;
				if (expect[a] == EXPECT_REPAIR || expect[b] == EXPECT_REPAIR)
					again = true;
				if (expect[a] == EXPECT_REPAIR)
					expect[a] = EXPECT_EITHER;
				if (expect[b] == EXPECT_REPAIR)
					expect[b] = EXPECT_EITHER;
			}
		}
	}
}

/* Behind the present end all has to come back, from there on. */
static void weaken_end(struct judge *j, const struct scr_cut *cut, uint8_t *expect)
{
	uint64_t size = j->v->size_now;

	for (uint32_t i = 0; i < cut->blocks; i++)
		j->end_lost |= block_of(cut, i).to > size && unsure(expect[i]);
	for (uint32_t i = 0; j->end_lost && i < cut->blocks; i++) {
		/* A unit reaches over the end of its first block. */
		if (block_of(cut, i).to + UNIT > size && expect[i] == EXPECT_REPAIR)
			expect[i] = EXPECT_EITHER;
	}
}

/* Too long, and something in the page of the recorded end can't be read: that is left. */
static bool end_unreadable(const struct victim *v)
{
	uint64_t start = v->size / UNIT * UNIT;

	return v->size_now > v->size && start < v->size && victim_lost(v, start, v->size);
}

static void weaken_long(const struct judge *j, const struct scr_cut *cut, uint8_t *expect)
{
	uint32_t start = cut->length / UNIT * UNIT;

	if (!end_unreadable(j->v) || cut->offset + cut->length != j->v->size)
		return;
	for (uint32_t i = start / cut->block; i < cut->blocks; i++)
		if (expect[i] == EXPECT_REPAIR)
			expect[i] = EXPECT_EITHER;
}

/* ---- the verdict -------------------------------------------------------------------------- */

static const char *compare(const struct judge *j, const struct scr_cut *cut, const uint8_t *expect)
{
	for (uint32_t i = 0; i < cut->blocks; i++) {
		struct range b = block_of(cut, i);
		bool right = right_after(j, b), same = same_after(j, b);

		if (!right && !same)
			return "WRONG BYTES";
		if (expect[i] == EXPECT_SOUND && !right)
			return "a sound block was spoilt";
		if (expect[i] == EXPECT_REPAIR && !right)
			return "should have been repaired";
		if (expect[i] == EXPECT_REFUSE && !same)
			return "should have been refused";
		if (expect[i] == EXPECT_SOUND)
			continue;
		j->sum->blocks_repaired += right;
		j->sum->blocks_left += !right;
	}
	return NULL;
}

static void count(const struct judge *j, const struct place *p, const uint8_t *expect)
{
	uint32_t seen = 0;
	bool whole = true;
	enum outcome o;

	for (uint32_t i = 0; i < p->cut.blocks; i++) {
		seen |= 1u << expect[i];
		whole &= right_after(j, block_of(&p->cut, i));
	}
	seen &= ~(1u << EXPECT_SOUND);
	o = seen == 0                     ? PARITY_ONLY
	    : seen == 1u << EXPECT_REPAIR ? REPAIR
	    : seen == 1u << EXPECT_REFUSE ? REFUSE
	    : seen == 1u << EXPECT_EITHER ? EITHER
					  : MIXED;
	if (o == PARITY_ONLY && !p->parity_hit)
		return;
	j->sum->extents[o]++;
	j->sum->whole[o] += whole;
}

static bool untouched(const struct judge *j, uint32_t k)
{
	const struct place *p = &j->v->place[k];
	struct range all = {p->cut.offset, p->cut.offset + p->cut.length};

	return !p->parity_hit && sound_before(j, all);
}

static const char *judge_extent(struct judge *j, uint32_t k)
{
	const struct place *p = &j->v->place[k];
	struct range all = {p->cut.offset, p->cut.offset + p->cut.length};
	bool *copied;
	uint8_t *expect;
	const char *what;
	struct trial t;

	if (untouched(j, k))
		return right_after(j, all) ? NULL : "a sound extent was spoilt";
	copied = calloc(p->cut.blocks, sizeof(bool));
	expect = calloc(p->cut.blocks, 1);
	if (!copied || !expect)
		abort();
	trial_start(&t, j->g, p->cut.length);
	what = foresee(j, k, &t, copied, expect);
	if (!what) {
		weaken_long(j, &p->cut, expect);
		weaken_units(&p->cut, expect);
		weaken_end(j, &p->cut, expect);
		what = compare(j, &p->cut, expect);
		count(j, p, expect);
	}
	trial_free(&t);
	free(copied);
	free(expect);
	return what;
}

static const char *judge_size(const struct judge *j)
{
	const struct victim *v = j->v;

	if (v->size_now == v->size)
		return j->size == v->size ? NULL : "the size was changed";
	j->sum->sizes_repaired += j->size == v->size;
	j->sum->sizes_left += j->size != v->size;
	if (v->size_now > v->size && j->size == v->size_now && end_unreadable(v))
		return NULL;
	if (v->size_now > v->size)
		return j->size == v->size ? NULL : "too long still";
	if (j->size < v->size_now || j->size > v->size)
		return "a size that it never had";
	return j->end_lost || j->size == v->size ? NULL : "too short still";
}

const char *victim_judge(struct victim *v, const struct scr_geometry *g, const uint8_t *after,
			 uint64_t size, bool syndrome, struct totals *sum)
{
	struct judge j = {v, g, after, size, syndrome, false, sum};
	const char *what = NULL;

	for (uint32_t k = 0; !what && k < v->places; k++)
		what = judge_extent(&j, k);
	return what ? what : judge_size(&j);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* An extent in memory: content, checksums, damage, a run of the repair search, and its results. */
#include <config.h>
#include "search_trial.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

uint64_t dice_roll(struct dice *d)
{
	uint64_t z = d->state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

uint32_t dice_below(struct dice *d, uint32_t n)
{
	return (uint32_t)(((dice_roll(d) >> 32) * n) >> 32);
}

static void *take(size_t n)
{
	void *p = calloc(n ? n : 1, 1);

	if (!p)
		abort();
	return p;
}

void trial_start(struct trial *t, const struct scr_geometry *g, uint32_t size)
{
	*t = (struct trial){.s.cut = scr_cut_extent(g, size, 0)};
	t->data = take(size);
	t->data_read = take(size);
	t->s.data = take(size);
	t->parity = take(t->s.cut.column);
	t->parity_read = take(t->s.cut.column);
	t->s.parity = take(t->s.cut.column);
	t->checks = take(t->s.cut.blocks * sizeof(*t->checks));
	t->parity_checks = take(t->s.cut.parity_blocks * sizeof(*t->checks));
	t->s.state = take(t->s.cut.blocks);
	t->s.why = take(t->s.cut.blocks);
	t->s.parity_state = take(t->s.cut.parity_blocks);
	t->s.parity_why = take(t->s.cut.parity_blocks);
	t->expect = take(t->s.cut.blocks + t->s.cut.parity_blocks);
}

void trial_free(struct trial *t)
{
	free(t->data);
	free(t->data_read);
	free(t->s.data);
	free(t->parity);
	free(t->parity_read);
	free(t->s.parity);
	free(t->checks);
	free(t->parity_checks);
	free(t->s.state);
	free(t->s.why);
	free(t->s.parity_state);
	free(t->s.parity_why);
	free(t->expect);
}

/* The checksums by other code than the search's: zlib, and RFC 1071 word by word. */
static void record_blocks(const struct scr_cut *cut, const uint8_t *p, uint32_t len,
			  struct scr_check *checks)
{
	for (uint32_t start = 0; start < len; start += cut->block, checks++) {
		uint32_t n = len - start < cut->block ? len - start : cut->block;
		uint64_t sum = 0;

		for (uint32_t i = 0; i < n; i++)
			sum += (uint64_t)p[start + i] << (i % 2 ? 0 : 8);
		while (sum >> 16)
			sum = (sum >> 16) + (sum & 0xffff);
		checks->inet = (uint16_t)~sum;
		checks->crc = (uint32_t)crc32(0, p + start, n);
	}
}

void trial_record(struct trial *t, const struct scr_kernels *k)
{
	const struct scr_cut *cut = &t->s.cut;

	for (uint32_t i = 0; i < cut->length; i++)
		t->parity[i % cut->column] ^= t->data[i];
	record_blocks(cut, t->data, cut->length, t->checks);
	record_blocks(cut, t->parity, cut->column, t->parity_checks);
	memcpy(t->s.data, t->data, cut->length);
	memcpy(t->s.parity, t->parity, cut->column);
	t->s.kernels = k;
	t->s.checks = t->checks;
	t->s.parity_checks = t->parity_checks;
	t->s.gaps = t->gaps;
	t->s.parity_gaps = t->parity_gaps;
}

void trial_restore_parity(struct trial *t, const uint8_t *parity)
{
	memcpy(t->parity, parity, t->s.cut.column);
	memcpy(t->s.parity, parity, t->s.cut.column);
	record_blocks(&t->s.cut, t->parity, t->s.cut.column, t->parity_checks);
}

static void add_gap(struct scr_gap *gap, uint32_t *count, uint32_t start, uint32_t length)
{
	if (length && *count < TRIAL_GAPS)
		gap[(*count)++] = (struct scr_gap){start, length};
}

void trial_gap(struct trial *t, uint32_t start, uint32_t length)
{
	add_gap(t->gaps, &t->s.gap_count, start, length);
}

void trial_parity_gap(struct trial *t, uint32_t start, uint32_t length)
{
	add_gap(t->parity_gaps, &t->s.parity_gap_count, start, length);
}

static int compare_gaps(const void *a, const void *b)
{
	const struct scr_gap *x = a, *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

/* Sorts, joins those that overlap or touch, and reads zeros there. */
static void settle_gaps(struct scr_gap *gap, uint32_t *count, uint8_t *bytes)
{
	uint32_t n = 0;

	qsort(gap, *count, sizeof(*gap), compare_gaps);
	for (uint32_t i = 0; i < *count; i++) {
		uint32_t end = gap[i].start + gap[i].length;

		memset(bytes + gap[i].start, 0, gap[i].length);
		if (n && gap[i].start <= gap[n - 1].start + gap[n - 1].length) {
			if (end > gap[n - 1].start + gap[n - 1].length)
				gap[n - 1].length = end - gap[n - 1].start;
			continue;
		}
		gap[n++] = gap[i];
	}
	*count = n;
}

void trial_settle(struct trial *t, bool allow_syndrome)
{
	settle_gaps(t->gaps, &t->s.gap_count, t->s.data);
	settle_gaps(t->parity_gaps, &t->s.parity_gap_count, t->s.parity);
	memcpy(t->data_read, t->s.data, t->s.cut.length);
	memcpy(t->parity_read, t->s.parity, t->s.cut.column);
	t->s.allow_syndrome = allow_syndrome;
}

void trial_run(struct trial *t, bool allow_syndrome)
{
	trial_settle(t, allow_syndrome);
	if (scr_search_extent(&t->s))
		abort();
}

/* ---- what must never be -------------------------------------------------------------------- */

static bool overlaps(const struct scr_gap *gap, uint32_t count, uint32_t start, uint32_t end)
{
	for (uint32_t i = 0; i < count; i++) {
		if (gap[i].start < end && gap[i].start + gap[i].length > start)
			return true;
	}
	return false;
}

struct row {
	const uint8_t *want, *read, *left, *state, *why;
	const struct scr_gap *gap;
	uint32_t length, blocks, size, gaps;
	bool syndrome;
};

static const char *block_wrong(const struct row *r, uint32_t i)
{
	uint32_t start = i * r->size, end = start + r->size;
	bool sound, unchanged, right;
	size_t n;

	end = end < r->length ? end : r->length;
	n = end - start;
	sound = !memcmp(r->read + start, r->want + start, n) &&
		!overlaps(r->gap, r->gaps, start, end);
	right = !memcmp(r->left + start, r->want + start, n);
	unchanged = !memcmp(r->left + start, r->read + start, n);
	if ((r->state[i] == SCR_BLOCK_LOST) != (r->why[i] != 0))
		return "a reason belongs to lost blocks only";
	switch (r->state[i]) {
	case SCR_BLOCK_SOUND:
		return sound && right ? NULL : "called sound and is not";
	case SCR_BLOCK_BY_SYNDROME:
		if (!r->syndrome)
			return "repaired by checksum alone without permission";
		/* fall through */
	case SCR_BLOCK_REPAIRED:
		return !right ? "repaired to WRONG BYTES" : sound ? "repaired a sound one" : NULL;
	default:
		return sound ? "lost a sound one" : unchanged ? NULL : "lost, and changed";
	}
}

static const char *row_wrong(const struct row *r, uint32_t *repaired, uint32_t *lost)
{
	for (uint32_t i = 0; i < r->blocks; i++) {
		const char *wrong = block_wrong(r, i);

		if (wrong)
			return wrong;
		*lost += r->state[i] == SCR_BLOCK_LOST;
		*repaired +=
			r->state[i] == SCR_BLOCK_REPAIRED || r->state[i] == SCR_BLOCK_BY_SYNDROME;
	}
	return NULL;
}

const char *trial_wrong(const struct trial *t)
{
	const struct scr_search *s = &t->s;
	struct row data = {t->data,      t->data_read, s->data,          s->state,
			   s->why,       s->gaps,      s->cut.length,    s->cut.blocks,
			   s->cut.block, s->gap_count, s->allow_syndrome};
	struct row parity = {t->parity,           t->parity_read,       s->parity,
			     s->parity_state,     s->parity_why,        s->parity_gaps,
			     s->cut.column,       s->cut.parity_blocks, s->cut.block,
			     s->parity_gap_count, s->allow_syndrome};
	uint32_t repaired = 0, lost = 0, unused = 0;
	const char *wrong = row_wrong(&data, &repaired, &lost);

	if (!wrong && (repaired != s->repaired || lost != s->lost))
		wrong = "miscounted";
	if (!wrong && s->parity_checks && !s->parity_zero)
		wrong = row_wrong(&parity, &unused, &unused);
	return wrong;
}

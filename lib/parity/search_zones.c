/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Zones: runs of positions at which the same blocks are candidates. */
#include <config.h>
#include "parity/search_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- edges --------------------------------------------------------------------------------- */

static int compare(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

static uint32_t add_gap_edges(const struct scr_gap *gap, uint32_t count, uint32_t c, uint32_t *edge)
{
	for (uint32_t i = 0; i < count; i++) {
		edge[2 * i] = gap[i].start % c;
		edge[2 * i + 1] = (gap[i].start + gap[i].length) % c;
	}
	return 2 * count;
}

/* All positions at which a set of candidates may change, ascending, with c at the end. */
static uint32_t list_edges(const struct scr_hunt *h, uint32_t *edge)
{
	const struct scr_search *s = h->s;
	uint32_t n = 0, distinct = 0, c = s->cut.column;

	edge[n++] = 0;
	for (const struct scr_bad *b = h->bad; b < h->bad + h->bads; b++) {
		edge[n++] = b->first;
		edge[n++] = (b->first + b->length) % c;
	}
	n += add_gap_edges(s->gaps, s->gap_count, c, edge + n);
	n += add_gap_edges(s->parity_gaps, s->parity_gap_count, c, edge + n);
	qsort(edge, n, sizeof(*edge), compare);
	for (uint32_t i = 0; i < n; i++) {
		if (i == 0 || edge[i] != edge[i - 1])
			edge[distinct++] = edge[i];
	}
	edge[distinct] = c;
	return distinct;
}

/* ---- candidates ---------------------------------------------------------------------------- */

/* Whether @at lies in one of the sorted gaps. */
static bool in_gap(const struct scr_gap *gap, uint32_t count, uint32_t at)
{
	uint32_t low = 0, high = count;

	while (low < high) {
		uint32_t mid = low + (high - low) / 2;

		if (gap[mid].start + gap[mid].length <= at)
			low = mid + 1;
		else
			high = mid;
	}
	return low < count && gap[low].start <= at;
}

static bool unreadable(const struct scr_hunt *h, const struct scr_bad *b, uint32_t pos)
{
	const struct scr_search *s = h->s;
	uint32_t at = b->start + scr_bad_offset(h, b, pos);

	if (!b->gap)
		return false;
	return b->parity ? in_gap(s->parity_gaps, s->parity_gap_count, at)
			 : in_gap(s->gaps, s->gap_count, at);
}

static int add_cand(struct scr_hunt *h, uint32_t b)
{
	if (h->cand_count == h->cand_cap) {
		size_t cap = h->cand_cap ? 2 * h->cand_cap : 256;
		uint32_t *p = realloc(h->cands, cap * sizeof(*p));

		if (!p)
			return -ENOMEM;
		h->cands = p;
		h->cand_cap = cap;
	}
	h->cands[h->cand_count++] = b;
	return 0;
}

static int list_cands(struct scr_hunt *h, struct scr_zone *z)
{
	z->cands = h->cand_count;
	for (uint32_t i = 0; i <= h->columns; i++) {
		uint32_t b = scr_hunt_bad_at(h, i, z->start);

		if (b != SCR_NONE && add_cand(h, b))
			return -ENOMEM;
	}
	z->count = (uint32_t)(h->cand_count - z->cands);
	return 0;
}

/* An unreadable byte alone decides its position; two leave more unknowns than equations. */
static void look_for_gaps(struct scr_hunt *h, struct scr_zone *z)
{
	const uint32_t *cand = z->count ? h->cands + z->cands : NULL;
	uint32_t gaps = 0;

	z->owner = z->count == 1 ? cand[0] : SCR_NONE;
	for (uint32_t i = 0; i < z->count; i++) {
		if (!unreadable(h, &h->bad[cand[i]], z->start))
			continue;
		gaps++;
		z->owner = cand[i];
	}
	if (gaps > 1)
		z->kind = SCR_ZONE_LOST;
	else if (z->owner != SCR_NONE)
		z->kind = SCR_ZONE_FORCED;
	else
		z->kind = z->count ? SCR_ZONE_AMBIGUOUS : SCR_ZONE_FREE;
	for (uint32_t i = 0; gaps > 1 && i < z->count; i++) {
		struct scr_bad *b = &h->bad[cand[i]];

		b->twice |= unreadable(h, b, z->start);
	}
}

/* When it is known which blocks are lost anyway: such a block may own an error, but nothing can
 * prove it. */
static void look_for_doubt(struct scr_hunt *h, struct scr_zone *z)
{
	uint32_t first, lost = 0;

	if (z->kind != SCR_ZONE_AMBIGUOUS)
		return;
	for (uint32_t i = 0; i < z->count; i++)
		lost += h->bad[h->cands[z->cands + i]].twice;
	z->other = lost > 0;
	if (lost == z->count)
		z->kind = SCR_ZONE_LOST;
	else if (!scr_find_nonzero(h->syndrome + z->start, z->end - z->start, &first))
		z->kind = SCR_ZONE_QUIET;
}

bool scr_find_nonzero(const uint8_t *p, uint32_t len, uint32_t *at)
{
	uint64_t eight;
	uint32_t i = 0;

	/* Mostly zeros: eight at a time. */
	for (; len - i >= 8; i += 8) {
		memcpy(&eight, p + i, 8);
		if (eight)
			break;
	}
	while (i < len && !p[i])
		i++;
	*at = i;
	return i < len;
}

int scr_hunt_zones(struct scr_hunt *h)
{
	const struct scr_search *s = h->s;
	size_t edges = 2 * ((size_t)h->bads + s->gap_count + s->parity_gap_count) + 2;
	uint32_t *edge = malloc(edges * sizeof(*edge));
	int err = edge ? 0 : -ENOMEM;

	free(h->zones);
	h->zones = NULL;
	h->zone_count = edge ? list_edges(h, edge) : 0;
	h->cand_count = 0;
	for (uint32_t i = 0; i < h->bads; i++)
		h->bad[i].twice = false;
	if (!err)
		h->zones = calloc(h->zone_count, sizeof(*h->zones));
	err = h->zones ? 0 : -ENOMEM;
	for (uint32_t i = 0; !err && i < h->zone_count; i++) {
		h->zones[i] = (struct scr_zone){.start = edge[i], .end = edge[i + 1]};
		err = list_cands(h, &h->zones[i]);
	}
	for (uint32_t i = 0; !err && i < h->zone_count; i++)
		look_for_gaps(h, &h->zones[i]);
	for (uint32_t i = 0; !err && i < h->zone_count; i++)
		look_for_doubt(h, &h->zones[i]);
	free(edge);
	return err;
}

uint32_t scr_zone_of(const struct scr_hunt *h, const struct scr_bad *b)
{
	uint32_t low = 0, high = h->zone_count - 1;

	while (low < high) {
		uint32_t mid = low + (high - low) / 2;

		if (h->zones[mid].start < b->first)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

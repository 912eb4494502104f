/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Components: bad blocks joined by errors that more than one of them may own.
 *
 * Blocks that share no such position say nothing about each other, so each component is searched,
 * and accepted or refused, by itself. A block that is lost anyway joins nobody.
 */
#include <config.h>
#include "parity/search_internal.h"

#include <errno.h>
#include <stdlib.h>

static uint32_t root(struct scr_hunt *h, uint32_t b)
{
	while (h->bad[b].parent != b) {
		h->bad[b].parent = h->bad[h->bad[b].parent].parent;
		b = h->bad[b].parent;
	}
	return b;
}

/* The first candidate of an ambiguous zone that can be verified: there is one. */
static uint32_t first_cand(const struct scr_hunt *h, const struct scr_zone *z)
{
	const uint32_t *cand = h->cands + z->cands;

	while (h->bad[*cand].twice)
		cand++;
	return *cand;
}

static void join_zone(struct scr_hunt *h, const struct scr_zone *z)
{
	uint32_t first = root(h, first_cand(h, z));

	for (uint32_t i = 0; i < z->count; i++) {
		uint32_t b = h->cands[z->cands + i];

		if (!h->bad[b].twice)
			h->bad[root(h, b)].parent = first;
	}
}

/* Things sorted by the component that they belong to. */
struct sorted {
	uint32_t *end; /* by root: where its things end in item[] */
	uint32_t *item;
};

static void sorted_free(struct sorted *s)
{
	free(s->end);
	free(s->item);
}

/* Sorts 0 .. count - 1 by root_of[], of @roots; SCR_NONE: left out. Counting sort, so stable. */
static int sort_by_root(struct sorted *s, const uint32_t *root_of, uint32_t count, uint32_t roots)
{
	uint32_t sum = 0;

	s->end = calloc((size_t)roots + 1, sizeof(*s->end));
	s->item = malloc(((size_t)count + 1) * sizeof(*s->item));
	if (!s->end || !s->item)
		return -ENOMEM;
	for (uint32_t i = 0; i < count; i++) {
		if (root_of[i] != SCR_NONE)
			s->end[root_of[i]]++;
	}
	for (uint32_t r = 0; r < roots; r++) {
		uint32_t n = s->end[r];

		s->end[r] = sum;
		sum += n;
	}
	for (uint32_t i = 0; i < count; i++) {
		if (root_of[i] != SCR_NONE)
			s->item[s->end[root_of[i]]++] = i;
	}
	return 0;
}

static int sort_blocks(struct scr_hunt *h, struct sorted *s, uint32_t *root_of)
{
	for (uint32_t i = 0; i < h->bads; i++) {
		const struct scr_bad *b = &h->bad[i];

		root_of[i] = b->fixed || b->twice ? SCR_NONE : root(h, i);
	}
	return sort_by_root(s, root_of, h->bads, h->bads);
}

static int sort_zones(struct scr_hunt *h, struct sorted *s, uint32_t *root_of)
{
	for (uint32_t i = 0; i < h->zone_count; i++) {
		const struct scr_zone *z = &h->zones[i];

		root_of[i] = z->kind == SCR_ZONE_AMBIGUOUS ? root(h, first_cand(h, z)) : SCR_NONE;
	}
	return sort_by_root(s, root_of, h->zone_count, h->bads);
}

static int each_group(struct scr_hunt *h, const struct sorted *blocks, const struct sorted *zones,
		      scr_group_fn *solve)
{
	uint32_t block = 0, zone = 0;
	int err = 0;

	for (uint32_t r = 0; !err && r < h->bads; r++) {
		struct scr_group g = {
			.members = blocks->item + block,
			.count = blocks->end[r] - block,
			.zones = zones->item + zone,
			.zone_count = zones->end[r] - zone,
		};

		block = blocks->end[r];
		zone = zones->end[r];
		for (uint32_t i = 0; i < g.zone_count; i++)
			g.other |= h->zones[g.zones[i]].other;
		if (g.count)
			err = solve(h, &g);
	}
	return err;
}

int scr_hunt_groups(struct scr_hunt *h, scr_group_fn *solve)
{
	size_t most = (size_t)h->bads + h->zone_count;
	uint32_t *root_of = calloc(most, sizeof(*root_of));
	struct sorted blocks = {0}, zones = {0};
	int err = root_of ? 0 : -ENOMEM;

	for (uint32_t i = 0; i < h->bads; i++)
		h->bad[i].parent = i;
	for (uint32_t i = 0; i < h->zone_count; i++) {
		if (h->zones[i].kind == SCR_ZONE_AMBIGUOUS)
			join_zone(h, &h->zones[i]);
	}
	if (!err)
		err = sort_blocks(h, &blocks, root_of);
	if (!err)
		err = sort_zones(h, &zones, root_of);
	if (!err)
		err = each_group(h, &blocks, &zones, solve);
	sorted_free(&blocks);
	sorted_free(&zones);
	free(root_of);
	return err;
}

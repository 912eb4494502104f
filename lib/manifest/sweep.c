/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Of several updates of a path: which one counts for which extent. */
#include <config.h>

#include <errno.h>
#include <stdlib.h>

#include "base/compiler.h"
#include "manifest/journal.h"

void scr_journal_set_size(struct scr_journal *j, uint64_t size)
{
	j->size = size;
	j->sweep.pos = 0;
	j->sweep.count = 0;
}

/* The end of @item as far as it is cut alike under the size that counts; @item->index or less:
 * nothing of it fits. */
static uint64_t fitting_end(const struct scr_journal *j, const struct scr_item *item)
{
	return SCR_MIN(item->end, scr_extents_alike(item->size, j->size));
}

/* Adds @item up to @end, and drops what is older and no longer. */
static int activate(struct scr_sweep *s, const struct scr_item *item, uint64_t end)
{
	size_t kept = 0;

	for (size_t i = 0; i < s->count; i++)
		if (s->active[i].where > item->where && s->active[i].end >= end)
			return 0;
	for (size_t i = 0; i < s->count; i++)
		if (s->active[i].where > item->where || s->active[i].end > end)
			s->active[kept++] = s->active[i];
	s->count = kept;
	if (s->count == s->cap) {
		size_t cap = s->cap ? s->cap * 2 : 8;
		struct scr_item *p = realloc(s->active, cap * sizeof(*p));

		if (!p)
			return -ENOMEM;
		s->active = p;
		s->cap = cap;
	}
	memcpy(&s->active[s->count], item, offsetof(struct scr_item, path));
	s->active[s->count++].end = end;
	return 0;
}

/* Takes all items that begin at or before @pos. */
static int collect(struct scr_journal *j, uint64_t pos)
{
	const struct scr_item *item;
	int r = 0;

	while (r == 0 && scr_journal_look(j, &item) > 0 && item->index <= pos) {
		uint64_t end = fitting_end(j, item);

		if (end > pos)
			r = activate(&j->sweep, item, end);
		if (r == 0)
			r = scr_journal_skip(j);
	}
	return r;
}

static void expire(struct scr_sweep *s)
{
	size_t kept = 0;

	for (size_t i = 0; i < s->count; i++)
		if (s->active[i].end > s->pos)
			s->active[kept++] = s->active[i];
	s->count = kept;
}

/* Moves on to the first index that an update has. Returns 1, 0 at the end, -errno. */
static int find_start(struct scr_journal *j)
{
	struct scr_sweep *s = &j->sweep;

	for (;;) {
		const struct scr_item *item;
		int r = collect(j, s->pos);

		if (r < 0)
			return r;
		expire(s);
		if (s->count)
			return 1;
		if (scr_journal_look(j, &item) == 0)
			return 0;
		s->pos = item->index;
	}
}

/* Where the winner stops to count: at its end, or where a newer update begins. Older ones that
 * begin before are collected on the way. */
static int find_end(struct scr_journal *j, const struct scr_item *winner, uint64_t *end)
{
	const struct scr_item *item;

	*end = winner->end;
	while (scr_journal_look(j, &item) > 0 && item->index < *end) {
		uint64_t fits = fitting_end(j, item);
		int r = 0;

		if (item->where > winner->where && fits > item->index) {
			*end = item->index;
			return 0;
		}
		if (fits > *end)
			r = activate(&j->sweep, item, fits);
		if (r == 0)
			r = scr_journal_skip(j);
		if (r < 0)
			return r;
	}
	return 0;
}

static size_t newest(const struct scr_sweep *s)
{
	size_t best = 0;

	for (size_t i = 1; i < s->count; i++)
		if (s->active[i].where > s->active[best].where)
			best = i;
	return best;
}

int scr_journal_extent(struct scr_journal *j, struct scr_extent *e)
{
	struct scr_item winner;
	const uint8_t *p;
	uint64_t end;
	int r = find_start(j);

	if (r <= 0)
		return r;
	winner = j->sweep.active[newest(&j->sweep)];
	r = find_end(j, &winner, &end);
	if (r < 0)
		return r;
	r = scr_window_get(&j->window, winner.where, winner.len, &p);
	if (r <= 0)
		return r < 0 ? r : -EIO;
	r = scr_decode_extent(&j->codec, (enum scr_type)winner.type, winner.size, NULL, p,
			      winner.len, e);
	if (r < 0)
		return r;
	if (e->run > 1)
		scr_extent_narrow(e, &j->codec.geometry, j->size, j->sweep.pos, end);
	j->sweep.pos = end;
	return 1;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Handing out files, several small ones together, and chunks of large ones. */
#include <config.h>
#include "pass/feed_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"

/* ---- chunks ------------------------------------------------------------------------------ */

static void clear_chunk(struct scr_chunk *c)
{
	for (uint32_t i = 0; i < c->count; i++)
		scr_extent_free(&c->base[i]);
	c->count = 0;
	c->work = NULL;
	c->whole = false;
	c->chosen = 0;
	c->due = 0;
}

/* Moves @e into the chunk. */
static int take_extent(struct scr_chunk *c, struct scr_extent *e)
{
	if (c->count == c->cap) {
		uint32_t cap = c->cap ? c->cap * 2 : SCR_CHUNK_EXTENTS;
		struct scr_extent *base = realloc(c->base, cap * sizeof(*base));

		if (!base)
			return -ENOMEM;
		c->base = base;
		c->cap = cap;
	}
	c->base[c->count++] = *e;
	memset(e, 0, sizeof(*e));
	return 0;
}

uint64_t scr_feed_size(const struct scr_work *w)
{
	return scr_work_size(w);
}

uint64_t scr_feed_hole_run(struct scr_worker *k, const struct scr_work *w, uint64_t i,
			   uint64_t extents)
{
	uint64_t size = scr_feed_size(w), at = i * SCR_EXTENT_SIZE, hole;

	if ((uint64_t)w->st.st_blocks * 512 >= (uint64_t)w->st.st_size ||
	    size != (uint64_t)w->st.st_size)
		return 0;
	hole = scr_reader_hole(k->reader, at, size - at);
	if (at + hole >= size)
		return extents - i;
	/* All but the last extent have the same size. */
	return SCR_MIN(hole / SCR_EXTENT_SIZE, extents - 1 - i);
}

static int load_pending(struct scr_feed *f, struct scr_work *w)
{
	int r = 0;

	if (!f->have_pending && w->has_base) {
		r = f->ops->extent(f->arg, w, &f->pending);
		f->have_pending = r == 1;
	}
	return r < 0 ? r : 0;
}

static bool pending_covers(const struct scr_feed *f, uint64_t i)
{
	return f->have_pending && f->pending.cut.index <= i &&
	       i < f->pending.cut.index + f->pending.run;
}

/* A file that was all holes and still is one comes as one chunk, however large. */
static uint64_t chunk_end(struct scr_feed *f, struct scr_worker *k, struct scr_work *w, uint64_t i)
{
	uint64_t end = SCR_MIN(i + SCR_CHUNK_EXTENTS, w->extents);
	uint64_t run = scr_feed_hole_run(k, w, i, w->extents);

	if (run <= SCR_CHUNK_EXTENTS)
		return end;
	if (!w->has_base || w->record_all)
		return i + run;
	if (!pending_covers(f, i) || !f->pending.hole)
		return end;
	return SCR_MIN(i + run, f->pending.cut.index + f->pending.run);
}

/* The part of the pending run from extent @i on stays pending; what comes before is copied. */
static int split_pending(struct scr_feed *f, struct scr_chunk *c, uint64_t end)
{
	struct scr_extent part;
	int r = scr_extent_copy(&part, &f->pending);

	if (r < 0)
		return r;
	r = take_extent(c, &part);
	if (r < 0)
		scr_extent_free(&part);
	else if (f->pending.cut.index + f->pending.run <= end)
		f->have_pending = false;
	return r;
}

static int load_base(struct scr_feed *f, struct scr_chunk *c)
{
	int r = load_pending(f, c->work);

	while (r == 0 && f->have_pending && f->pending.cut.index < c->end) {
		if (f->pending.run > 1) {
			r = split_pending(f, c, c->end);
			if (f->have_pending)
				break;
		} else {
			r = take_extent(c, &f->pending);
			f->have_pending = false;
		}
		if (r == 0)
			r = load_pending(f, c->work);
	}
	return r;
}

struct scr_extent *scr_feed_base(struct scr_chunk *c, uint64_t i)
{
	for (uint32_t j = 0; j < c->count; j++)
		if (c->base[j].cut.index <= i && i < c->base[j].cut.index + c->base[j].run)
			return &c->base[j];
	return NULL;
}

/*
 * What a limited pass reads of the extents up to @end, cut by @size; @k: to find holes with, or NULL.
 * What is not chosen here, because a file turns out to have more extents, is asked for in its turn.
 */
static void choose(struct scr_feed *f, struct scr_worker *k, struct scr_chunk *c, uint64_t end,
		   uint64_t size)
{
	const struct scr_geometry *g = &f->p->header.settings.geometry;
	struct scr_work *w = c->work;

	if (!f->ops->due || !f->p->limit || end - c->first > SCR_CHUNK_EXTENTS)
		return;
	c->chosen = end;
	for (uint64_t i = c->first; i < end; i++) {
		struct scr_cut cut = scr_cut_extent(g, size, i);
		uint64_t run = k ? scr_feed_hole_run(k, w, i, w->extents) : 1;

		if (f->ops->due(f->arg, w, &cut, SCR_MAX(run, 1), scr_feed_base(c, i)))
			c->due |= 1u << (i - c->first);
	}
}

static int next_chunk(struct scr_feed *f, struct scr_worker *k, struct scr_chunk *c)
{
	struct scr_work *w = f->current;
	int r;

	scr_worker_attach(k, w);
	c->work = w;
	c->first = w->next_extent;
	r = load_pending(f, w);
	if (r < 0)
		return r;
	c->end = chunk_end(f, k, w, c->first);
	r = load_base(f, c);
	if (r == 0)
		choose(f, k, c, c->end, scr_feed_size(w));
	w->next_extent = c->end;
	w->chunks++;
	if (w->next_extent >= w->extents || w->state != SCR_WORK_OPEN) {
		w->next_extent = w->extents;
		f->current = NULL;
	}
	return r;
}

/* ---- files ------------------------------------------------------------------------------- */

static bool is_large(const struct scr_work *w)
{
	uint64_t limit = (uint64_t)SCR_CHUNK_EXTENTS * SCR_EXTENT_SIZE;

	return w->e.size > limit || (w->has_base && w->base.stamp.size > limit);
}

void scr_feed_drop_pending(struct scr_feed *f)
{
	scr_extent_free(&f->pending);
	f->have_pending = false;
}

/* Opens a large file under the lock, so that the others can share it. */
static int start_large(struct scr_feed *f, struct scr_worker *k, struct scr_work *w,
		       struct scr_chunk *c)
{
	int r = scr_work_begin(k, w);

	if (r < 0)
		return r;
	w->extents = scr_extent_count(scr_feed_size(w));
	if (w->state != SCR_WORK_OPEN || w->extents == 0) {
		w->extents = w->next_extent = 0;
		w->chunks = 1;
		c->work = w;
		c->first = c->end = 0;
		return 0;
	}
	f->current = w;
	return next_chunk(f, k, c);
}

/* The next file of the source, as a chunk if it is a small one. 1, 0, -errno. */
static int take_file(struct scr_feed *f, struct scr_chunk *c)
{
	struct scr_work *w = NULL;
	uint64_t size;
	int r;

	scr_feed_drop_pending(f);
	r = f->ops->next(f->arg, &w);
	if (r <= 0) {
		f->ended = true;
		return r;
	}
	if (is_large(w)) {
		f->queued = w;
		return 1;
	}
	c->work = w;
	c->whole = w->whole = true;
	c->first = 0;
	c->end = UINT64_MAX;
	w->chunks = 1;
	r = load_base(f, c);
	if (r < 0)
		return r;
	size = w->has_base ? w->base.stamp.size : w->e.size;
	choose(f, NULL, c, scr_extent_count(size), size);
	return 1;
}

static int take_queued(struct scr_feed *f, struct scr_worker *k, struct scr_chunk *c)
{
	struct scr_work *w = f->queued;
	int r;

	f->queued = NULL;
	r = start_large(f, k, w, c);
	if (r < 0 && f->current != w) {
		scr_work_free(w);
		c->work = NULL;
	}
	return r;
}

/* Small files, until there are enough. 1, 0, -errno. */
static int take_small(struct scr_feed *f, struct scr_batch *b)
{
	uint64_t bytes = 0;
	int r = 1;

	while (b->count < f->room.batch && bytes < f->room.batch_bytes && !f->ended) {
		struct scr_chunk *c = &b->chunk[b->count];

		r = take_file(f, c);
		b->count += c->work != NULL;
		if (r <= 0 || f->queued)
			break;
		bytes += SCR_MAX(c->work->e.size, 1);
	}
	return r < 0 ? r : b->count > 0 || f->queued;
}

/* About where a file lies: file systems put inodes, and their data, in order. */
static uint64_t place_of(const struct scr_chunk *c)
{
	return c->work->has_base ? c->work->base.stamp.ino : c->work->e.ino;
}

static int by_place(const void *a, const void *b)
{
	uint64_t x = place_of(a), y = place_of(b);

	return x < y ? -1 : x > y;
}

int scr_feed_take(struct scr_feed *f, struct scr_worker *k, struct scr_batch *b)
{
	int r = 1;

	b->count = 0;
	if (!f->current && !f->queued)
		r = take_small(f, b);
	if (f->in_place && b->count > 1)
		qsort(b->chunk, b->count, sizeof(b->chunk[0]), by_place);
	if (r <= 0 || b->count > 0)
		return r;
	b->count = 1;
	r = f->current ? next_chunk(f, k, &b->chunk[0]) : take_queued(f, k, &b->chunk[0]);
	return r < 0 ? r : 1;
}

void scr_feed_clear(struct scr_batch *b)
{
	for (unsigned int i = 0; i < SCR_BATCH_FILES; i++)
		clear_chunk(&b->chunk[i]);
	b->count = 0;
}

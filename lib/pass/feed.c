/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Phase 2, READ: threads that take files, and chunks of large files, from a source. */
#include <config.h>
#include "pass/feed.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "pass/suspect.h"

struct feed {
	struct scr_pass *p;
	const struct scr_feed_ops *ops;
	void *arg;
	pthread_mutex_t lock;
	struct scr_work *current;  /* a large file with extents left to hand out */
	struct scr_extent pending; /* of current: read from the source, not yet handed out */
	bool have_pending;
	bool ended;
	atomic_int error;          /* the first -errno that ends the pass */
	atomic_bool gone;
	atomic_uint lost;          /* files in a row whose device seems to be gone */
	pthread_mutex_t suspect_lock;
	struct scr_suspects suspects;
};

/* What a thread works on. */
struct chunk {
	struct scr_work *work;
	bool whole;                /* all of the file, begin included */
	uint64_t first, end;       /* extents; end is not known yet if whole */
	struct scr_extent *base;   /* recorded extents of the range, by index */
	uint32_t count, cap;
};

/* ---- chunks ------------------------------------------------------------------------------ */

static void clear_chunk(struct chunk *c)
{
	for (uint32_t i = 0; i < c->count; i++)
		scr_extent_free(&c->base[i]);
	c->count = 0;
	c->work = NULL;
	c->whole = false;
}

/* Moves @e into the chunk. */
static int take_extent(struct chunk *c, struct scr_extent *e)
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

static uint64_t size_of(const struct scr_work *w)
{
	return scr_work_size(w);
}

static struct scr_cut cut_of(const struct scr_work *w, uint64_t i)
{
	return scr_cut_extent(&w->p->header.settings.geometry, size_of(w), i);
}

/* The number of whole extents from @i on that are one hole. */
static uint64_t hole_run(struct scr_worker *k, const struct scr_work *w, uint64_t i,
			 uint64_t extents)
{
	uint64_t size = size_of(w), at = i * SCR_EXTENT_SIZE, hole;

	if ((uint64_t)w->st.st_blocks * 512 >= (uint64_t)w->st.st_size ||
	    size != (uint64_t)w->st.st_size)
		return 0;
	hole = scr_reader_hole(k->reader, at, size - at);
	if (at + hole >= size)
		return extents - i;
	/* All but the last extent have the same size. */
	return SCR_MIN(hole / SCR_EXTENT_SIZE, extents - 1 - i);
}

static int load_pending(struct feed *f, struct scr_work *w)
{
	int r = 0;

	if (!f->have_pending && w->has_base) {
		r = f->ops->extent(f->arg, w, &f->pending);
		f->have_pending = r == 1;
	}
	return r < 0 ? r : 0;
}

static bool pending_covers(const struct feed *f, uint64_t i)
{
	return f->have_pending && f->pending.cut.index <= i &&
	       i < f->pending.cut.index + f->pending.run;
}

/* A file that was all holes and still is one comes as one chunk, however large. */
static uint64_t chunk_end(struct feed *f, struct scr_worker *k, struct scr_work *w, uint64_t i)
{
	uint64_t end = SCR_MIN(i + SCR_CHUNK_EXTENTS, w->extents);
	uint64_t run = hole_run(k, w, i, w->extents);

	if (run <= SCR_CHUNK_EXTENTS)
		return end;
	if (!w->has_base || w->record_all)
		return i + run;
	if (!pending_covers(f, i) || !f->pending.hole)
		return end;
	return SCR_MIN(i + run, f->pending.cut.index + f->pending.run);
}

/* The part of the pending run from extent @i on stays pending; what comes before is copied. */
static int split_pending(struct feed *f, struct chunk *c, uint64_t end)
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

static int load_base(struct feed *f, struct chunk *c)
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

static int next_chunk(struct feed *f, struct scr_worker *k, struct chunk *c)
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

static void drop_pending(struct feed *f)
{
	scr_extent_free(&f->pending);
	f->have_pending = false;
}

/* Opens a large file under the lock, so that the others can share it. */
static int start_large(struct feed *f, struct scr_worker *k, struct scr_work *w, struct chunk *c)
{
	int r = scr_work_begin(k, w);

	if (r < 0)
		return r;
	w->extents = scr_extent_count(size_of(w));
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

/* Takes a chunk or a file. 1, 0 if there is nothing left, -errno. */
static int take(struct feed *f, struct scr_worker *k, struct chunk *c)
{
	struct scr_work *w = NULL;
	int r;

	if (f->current) {
		r = next_chunk(f, k, c);
		return r < 0 ? r : 1;
	}
	if (f->ended)
		return 0;
	drop_pending(f);
	r = f->ops->next(f->arg, &w);
	if (r <= 0) {
		f->ended = true;
		return r;
	}
	if (is_large(w)) {
		r = start_large(f, k, w, c);
	} else {
		c->work = w;
		c->whole = w->whole = true;
		c->first = 0;
		c->end = UINT64_MAX;
		w->chunks = 1;
		r = load_base(f, c);
	}
	if (r < 0 && f->current != w) {
		scr_work_free(w);
		c->work = NULL;
	}
	return r < 0 ? r : 1;
}

/* ---- working ----------------------------------------------------------------------------- */

static struct scr_extent *base_of(struct chunk *c, uint64_t i)
{
	if (c->work->resized && i >= c->work->fit)
		return NULL; /* cut otherwise, and compared before */
	for (uint32_t j = 0; j < c->count; j++)
		if (c->base[j].cut.index <= i && i < c->base[j].cut.index + c->base[j].run)
			return &c->base[j];
	return NULL;
}

/* Extent @i of a recorded run of holes, as if it were recorded alone. */
static struct scr_extent slice(const struct scr_extent *run, const struct scr_cut *cut)
{
	struct scr_extent e = *run;

	e.cut = *cut;
	e.run = 1;
	e.run_length = cut->length;
	return e;
}

/* How many extents from @i on can be taken as one run of holes; 1: none. */
static uint64_t run_at(struct scr_worker *k, struct scr_work *w, struct chunk *c, uint64_t i)
{
	const struct scr_extent *base = w->record_all ? NULL : base_of(c, i);
	uint64_t run = hole_run(k, w, i, w->extents);

	run = SCR_MIN(run, c->end - i);
	if (run <= 1 || (w->has_base && !w->record_all && !base))
		return 1;
	if (!base)
		return run;
	if (!base->hole || base->run == 1 || base->damage_count)
		return 1;
	return SCR_MIN(run, base->cut.index + base->run - i);
}

static int process(struct feed *f, struct scr_worker *k, struct chunk *c)
{
	struct scr_work *w = c->work;
	int r = 0;

	for (uint64_t i = c->first; r == 0 && i < c->end && w->state == SCR_WORK_OPEN;) {
		struct scr_cut cut = cut_of(w, i);
		uint64_t run = run_at(k, w, c, i);
		struct scr_extent *base = w->record_all ? NULL : base_of(c, i), one;

		if (f->p->ctx->stop || f->error)
			return -EINTR;
		if (base && base->run > 1 && run == 1) {
			one = slice(base, &cut);
			base = &one;
		}
		r = scr_extent_process(k, w, &cut, run, base);
		i += run;
	}
	return r;
}

static int call_done(struct feed *f, struct scr_worker *k, struct scr_work *w, bool last, int r)
{
	int e;

	/* Finished extents count even when the pass ends here. */
	if (r < 0 && ((r != -EINTR && r != -ENODEV) || last))
		return r;
	e = f->ops->done(f->arg, k, w, last);
	scr_worker_clear(k);
	return e < 0 ? e : r;
}

/*
 * Journals what is in @k and finishes the file with its last chunk. @r: how its reading ended.
 * Of a shared file each chunk is through with it before it counts itself off: whoever counts to
 * zero is alone with it.
 */
static int complete(struct feed *f, struct scr_worker *k, struct scr_work *w, int r)
{
	bool last = w->whole;

	if (!last) {
		r = call_done(f, k, w, false, r);
		pthread_mutex_lock(&f->lock);
		w->cut_short |= r < 0;
		last = --w->chunks == 0 && f->current != w;
		pthread_mutex_unlock(&f->lock);
	}
	if (last) {
		r = call_done(f, k, w, r == 0 && !w->cut_short, r);
		f->p->ctx->files_done++;
		scr_work_free(w);
	}
	scr_worker_clear(k);
	return r;
}

/* The medium errors held back were true: under suspect_lock. */
static int believe(struct feed *f, struct scr_worker *k)
{
	struct scr_work *w;
	int r = 0;

	while (r == 0 && (w = scr_suspect_pop(&f->suspects, k)))
		r = complete(f, k, w, 0);
	return r;
}

static int device_gone(struct feed *f)
{
	if (atomic_exchange(&f->gone, true))
		return -EIO; /* another thread has told */
	scr_trouble(f->p, NULL, 0, EIO,
		    "the device does not answer%s: stopped; none of this counts as damage",
		    f->suspects.any_good ? " any more, not even where it read well before" : "");
	return -EIO;
}

static int hold_back(struct feed *f, struct scr_worker *k, struct scr_work *w)
{
	int r = 0;

	pthread_mutex_lock(&f->suspect_lock);
	scr_suspect_push(&f->suspects, k, w);
	if (scr_suspect_full(&f->suspects))
		r = scr_suspect_probe(&f->suspects, k) ? believe(f, k) : device_gone(f);
	pthread_mutex_unlock(&f->suspect_lock);
	return r;
}

/* Files that failed for a reason that speaks of the device, in a row. */
static int count_lost(struct feed *f, struct scr_worker *k, struct scr_work *w)
{
	bool lost = w->state == SCR_WORK_FAILED && w->lost;
	int r = complete(f, k, w, 0);

	if (r == 0 && lost && ++f->lost >= SCR_SUSPECT_FILES)
		r = device_gone(f);
	return r;
}

/* Something was read well from the medium: what was held back is believed. */
static int complete_good(struct feed *f, struct scr_worker *k, struct scr_work *w, int r,
			 uint64_t offset)
{
	f->lost = 0;
	pthread_mutex_lock(&f->suspect_lock);
	if (scr_suspect_good(&f->suspects, w, offset) < 0)
		r = r < 0 ? r : -ENOMEM;
	if (r == 0 && f->suspects.count > 0) {
		r = complete(f, k, w, r);
		w = NULL;
		if (r == 0)
			r = believe(f, k);
	}
	pthread_mutex_unlock(&f->suspect_lock);
	return w ? complete(f, k, w, r) : r;
}

/* At the end: the device is asked once more before its last errors are believed. */
static int settle_suspects(struct feed *f)
{
	struct scr_worker k;
	struct scr_work *w;
	int r = scr_worker_init(&k, f->p);

	if (r == 0 && f->suspects.count > 0 && f->error == 0)
		r = scr_suspect_probe(&f->suspects, &k) ? believe(f, &k) : device_gone(f);
	while ((w = scr_suspect_pop(&f->suspects, &k)))
		if (--w->chunks == 0 && f->current != w)
			scr_work_free(w);
	scr_worker_free(&k);
	return r;
}

static int work_on(struct feed *f, struct scr_worker *k, struct chunk *c)
{
	struct scr_reader_counts before, after;
	struct scr_work *w = c->work;
	bool good;
	int r = 0;

	scr_reader_get_counts(k->reader, &before);
	if (c->whole) {
		r = scr_work_begin(k, w);
		w->extents = w->next_extent = scr_extent_count(size_of(w));
		c->end = w->extents;
	}
	if (r == 0 && w->state == SCR_WORK_OPEN)
		r = process(f, k, c);
	scr_reader_get_counts(k->reader, &after);
	good = after.total - after.cache > before.total - before.cache;
	if (r == 0 && scr_suspect_is(k, w))
		return hold_back(f, k, w);
	if (!good)
		return r == 0 ? count_lost(f, k, w) : complete(f, k, w, r);
	return complete_good(f, k, w, r, c->first * (uint64_t)SCR_EXTENT_SIZE);
}

static void set_error(struct feed *f, int r)
{
	int none = 0;

	atomic_compare_exchange_strong(&f->error, &none, r);
}

static void add_counts(struct feed *f, struct scr_worker *k)
{
	struct scr_reader_counts n;

	scr_reader_get_counts(k->reader, &n);
	pthread_mutex_lock(&f->p->ctx->lock);
	f->p->sum.bytes_read += n.total;
	f->p->sum.bytes_from_medium += n.medium;
	f->p->sum.bytes_unknown += n.unknown;
	f->p->sum.bytes_from_cache += n.cache;
	pthread_mutex_unlock(&f->p->ctx->lock);
}

static void *thread_main(void *arg)
{
	struct feed *f = arg;
	struct chunk c = {0};
	struct scr_worker k;
	int r = scr_worker_init(&k, f->p);

	while (r == 0 && !f->error) {
		if (f->p->ctx->stop) {
			r = -EINTR;
			break;
		}
		pthread_mutex_lock(&f->lock);
		r = take(f, &k, &c);
		pthread_mutex_unlock(&f->lock);
		if (r <= 0)
			break;
		r = work_on(f, &k, &c);
		clear_chunk(&c);
	}
	if (r < 0)
		set_error(f, r);
	clear_chunk(&c);
	free(c.base);
	if (k.reader)
		add_counts(f, &k);
	scr_worker_free(&k);
	return NULL;
}

unsigned int scr_feed_threads(const struct scr_pass *p)
{
	cpu_set_t set;
	unsigned int n = p->ctx->opt.threads;

	if (n == 0)
		n = sched_getaffinity(0, sizeof(set), &set) == 0 ? (unsigned int)CPU_COUNT(&set) : 1;
	return SCR_MIN(SCR_MAX(n, 1u), 256u);
}

int scr_feed_run(struct scr_pass *p, const struct scr_feed_ops *ops, void *arg,
		 unsigned int threads)
{
	struct feed f = {.p = p, .ops = ops, .arg = arg};
	pthread_t *ids = calloc(threads, sizeof(*ids));
	unsigned int started = 0;
	int r;

	if (!ids)
		return -ENOMEM;
	pthread_mutex_init(&f.lock, NULL);
	pthread_mutex_init(&f.suspect_lock, NULL);
	/* This thread is one of them: a single one needs no others. */
	while (started + 1 < threads &&
	       pthread_create(&ids[started], NULL, thread_main, &f) == 0)
		started++;
	thread_main(&f);
	for (unsigned int i = 0; i < started; i++)
		pthread_join(ids[i], NULL);
	free(ids);
	r = settle_suspects(&f);
	if (r < 0)
		set_error(&f, r);
	drop_pending(&f);
	scr_work_free(f.current);
	scr_suspect_free(&f.suspects);
	pthread_mutex_destroy(&f.suspect_lock);
	pthread_mutex_destroy(&f.lock);
	return f.error;
}

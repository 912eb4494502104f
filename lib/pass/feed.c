/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Phase 2, READ: threads that take files, and chunks of large files, from a source. */
#include <config.h>
#include "pass/feed_internal.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "pass/parity.h"

/* Threads that read a medium which has no moving parts. */
#define READERS 16u
#define READERS_MAX 256u
/* Small files wait no longer than this to be finished together. */
#define HOLD_NS (SCR_NS_PER_S / 20)

static struct scr_cut cut_of(const struct scr_work *w, uint64_t i)
{
	return scr_cut_extent(&w->p->header.settings.geometry, scr_feed_size(w), i);
}

/* ---- working ----------------------------------------------------------------------------- */

static struct scr_extent *base_of(struct scr_chunk *c, uint64_t i)
{
	if (c->work->resized && i >= c->work->fit)
		return NULL; /* cut otherwise, and compared before */
	return scr_feed_base(c, i);
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
static uint64_t run_at(struct scr_worker *k, struct scr_work *w, struct scr_chunk *c, uint64_t i)
{
	const struct scr_extent *base = w->record_all ? NULL : base_of(c, i);
	uint64_t run = scr_feed_hole_run(k, w, i, w->extents);

	run = SCR_MIN(run, c->end - i);
	if (run <= 1 || (w->has_base && !w->record_all && !base))
		return 1;
	if (!base)
		return run;
	if (!base->hole || base->run == 1 || base->damage_count)
		return 1;
	return SCR_MIN(run, base->cut.index + base->run - i);
}

static bool is_due(struct scr_feed *f, struct scr_chunk *c, const struct scr_cut *cut, uint64_t run)
{
	const struct scr_extent *base = base_of(c, cut->index);
	uint64_t i = cut->index;

	if (!f->ops->due)
		return true;
	if (i < c->chosen ? !(c->due >> (i - c->first) & 1)
			  : !f->ops->due(f->arg, c->work, cut, run, base))
		return false;
	return !f->ops->in_time || f->ops->in_time(f->arg, c->work, cut, run, base);
}

static int process(struct scr_feed *f, struct scr_worker *k, struct scr_chunk *c)
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
		if (is_due(f, c, &cut, run)) {
			uint64_t room = run > 1 ? 0 : scr_room_enter(&f->room, &cut, k->p->segments);

			r = scr_extent_process(k, w, &cut, run, base);
			scr_room_leave(&f->room, k, room);
		}
		i += run;
	}
	return r;
}

static int call_done(struct scr_feed *f, struct scr_worker *k, struct scr_work *w, bool last, int r)
{
	int e;

	/* Finished extents count even when the pass ends here, whatever ends it; a file does not. */
	if (r < 0 && last)
		return r;
	e = f->ops->done(f->arg, k, w, last);
	/* Of a shared file, whoever finishes it may be another thread: that comes behind this. */
	if (e == 0 && !w->whole)
		e = f->ops->flush(f->arg, k);
	scr_worker_clear(k);
	return e < 0 ? e : r;
}

/*
 * Journals what is in @k and finishes the file with its last chunk. @r: how its reading ended.
 * Of a shared file each chunk is through with it before it counts itself off: whoever counts to
 * zero is alone with it.
 */
static int complete(struct scr_feed *f, struct scr_worker *k, struct scr_work *w, int r)
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
static int believe(struct scr_feed *f, struct scr_worker *k)
{
	struct scr_work *w;
	int r = 0;

	while (r == 0 && (w = scr_suspect_pop(&f->suspects, k)))
		r = complete(f, k, w, 0);
	return r;
}

static int device_gone(struct scr_feed *f)
{
	if (atomic_exchange(&f->gone, true))
		return -EIO; /* another thread has told */
	scr_trouble(f->p, NULL, 0, EIO,
		    "the device does not answer%s: stopped; none of this counts as damage",
		    f->suspects.any_good ? " any more, not even where it read well before" : "");
	return -EIO;
}

static int hold_back(struct scr_feed *f, struct scr_worker *k, struct scr_work *w)
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
static int count_lost(struct scr_feed *f, struct scr_worker *k, struct scr_work *w)
{
	bool lost = w->state == SCR_WORK_FAILED && w->lost;
	int r = complete(f, k, w, 0);

	if (r == 0 && lost && ++f->lost >= SCR_SUSPECT_FILES)
		r = device_gone(f);
	return r;
}

/* Something was read well from the medium just now: what was held back is believed. Nothing is in
 * @k. */
static int note_good(struct scr_feed *f, struct scr_worker *k, const struct scr_work *w,
		     uint64_t offset)
{
	int r;

	f->lost = 0;
	pthread_mutex_lock(&f->suspect_lock);
	r = scr_suspect_good(&f->suspects, w, offset);
	if (r == 0 && f->suspects.count > 0)
		r = believe(f, k);
	pthread_mutex_unlock(&f->suspect_lock);
	return r;
}

/* At the end: the device is asked once more before its last errors are believed. */
static int settle_suspects(struct scr_feed *f)
{
	struct scr_worker k;
	struct scr_work *w;
	int r = scr_worker_init(&k, f->p);

	if (r == 0 && f->suspects.count > 0 && f->error == 0)
		r = scr_suspect_probe(&f->suspects, &k) ? believe(f, &k) : device_gone(f);
	while ((w = scr_suspect_pop(&f->suspects, &k)))
		if (--w->chunks == 0 && f->current != w)
			scr_work_free(w);
	if (r == 0)
		r = f->ops->flush(f->arg, &k);
	scr_worker_free(&k);
	return r;
}

/* Reads a chunk. *good: something came well from elsewhere than the cache. */
static int read_chunk(struct scr_feed *f, struct scr_worker *k, struct scr_chunk *c, bool *good)
{
	struct scr_reader_counts before, after;
	struct scr_work *w = c->work;
	int r = 0;

	scr_reader_get_counts(k->reader, &before);
	if (c->whole) {
		r = scr_work_begin(k, w);
		w->extents = w->next_extent = scr_extent_count(scr_feed_size(w));
		c->end = w->extents;
	}
	if (r == 0 && w->state == SCR_WORK_OPEN)
		r = process(f, k, c);
	scr_reader_get_counts(k->reader, &after);
	*good = after.total - after.cache > before.total - before.cache;
	return r;
}

/* A chunk of a large file. */
static int work_on_chunk(struct scr_feed *f, struct scr_worker *k, struct scr_chunk *c)
{
	struct scr_work *w = c->work;
	bool good;
	int r = read_chunk(f, k, c, &good), e;

	c->work = NULL;
	if (r == 0 && scr_suspect_is(k, w))
		return hold_back(f, k, w);
	if (!good)
		return r == 0 ? count_lost(f, k, w) : complete(f, k, w, r);
	/* Out of the way of what may be believed by that. */
	scr_worker_hold(k, w);
	e = note_good(f, k, w, c->first * (uint64_t)SCR_EXTENT_SIZE);
	scr_worker_unhold(k, --k->held_count);
	return complete(f, k, w, r < 0 ? r : e);
}

/* ---- small files, several at a time ------------------------------------------------------ */

/* Finishes what is held in @k: first its parity is written, in one piece, then it is journalled.
 * Files whose parity did not get to the disk are as if they had not been read. */
static int finish_held(struct scr_feed *f, struct scr_worker *k)
{
	int r = scr_worker_flush_parity(k), e = 0;

	for (unsigned int i = 0; i < k->held_count; i++) {
		struct scr_work *w = scr_worker_unhold(k, i);

		if (e == 0 && !scr_worker_lacks_parity(k)) {
			e = complete(f, k, w, 0);
		} else {
			scr_work_free(w);
			scr_worker_clear(k);
		}
	}
	k->held_count = 0;
	if (r == 0)
		r = e;
	e = f->ops->flush(f->arg, k);
	return r < 0 ? r : e;
}

/* Whether there is more to do with the open file than to journal what was found. */
static bool is_open_case(const struct scr_work *w)
{
	return w->state != SCR_WORK_OPEN || w->damage_left || w->file_news ||
	       w->worst > SCR_CHANGED;
}

static bool held_long(const struct scr_feed *f, const struct scr_worker *k)
{
	const struct scr_work *oldest = k->held[0].work;

	return scr_clock_wall(f->p->ctx->clock) - oldest->began_ns > HOLD_NS;
}

/* Small file @c. It is finished together with those before it, unless there is more to it. */
static int work_on_file(struct scr_feed *f, struct scr_worker *k, struct scr_chunk *c)
{
	struct scr_work *w = c->work;
	bool good, lost;
	int r = read_chunk(f, k, c, &good);

	c->work = NULL;
	if (r < 0)
		return complete(f, k, w, r);
	if (scr_suspect_is(k, w)) {
		r = scr_worker_flush_parity(k);
		return r < 0 ? complete(f, k, w, r) : hold_back(f, k, w);
	}
	lost = w->state == SCR_WORK_FAILED && w->lost;
	if (!is_open_case(w))
		scr_work_close(w);
	scr_worker_hold(k, w);
	if (good)
		r = note_good(f, k, w, 0);
	if (r == 0 && (w->fd >= 0 || held_long(f, k)))
		r = finish_held(f, k);
	if (r == 0 && lost && ++f->lost >= SCR_SUSPECT_FILES)
		r = device_gone(f);
	return r;
}

static int work_on_files(struct scr_feed *f, struct scr_worker *k, struct scr_batch *b)
{
	int r = 0, e;

	for (unsigned int i = 0; r == 0 && i < b->count; i++)
		r = work_on_file(f, k, &b->chunk[i]);
	/* What was finished counts, also where somebody stops here. */
	e = finish_held(f, k);
	return r < 0 ? r : e;
}

static void set_error(struct scr_feed *f, int r)
{
	int none = 0;

	atomic_compare_exchange_strong(&f->error, &none, r);
}

static void add_counts(struct scr_feed *f, struct scr_worker *k)
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

static int work_on(struct scr_feed *f, struct scr_worker *k, struct scr_batch *b)
{
	int r = b->chunk[0].whole ? work_on_files(f, k, b) : work_on_chunk(f, k, &b->chunk[0]);
	int e = f->ops->flush(f->arg, k);

	scr_opener_close(&k->opener);
	return r < 0 ? r : e;
}

/* Files that were taken and not worked on. */
static void free_rest(struct scr_batch *b)
{
	for (unsigned int i = 0; i < b->count; i++)
		if (b->chunk[i].work && b->chunk[i].whole)
			scr_work_free(b->chunk[i].work);
	scr_feed_clear(b);
}

static int work(struct scr_feed *f, struct scr_worker *k, struct scr_batch *b)
{
	int r = 0;

	while (r == 0 && !f->error) {
		if (f->p->ctx->stop)
			return -EINTR;
		pthread_mutex_lock(&f->lock);
		r = scr_feed_take(f, k, b);
		pthread_mutex_unlock(&f->lock);
		if (r > 0)
			r = work_on(f, k, b);
		else if (r == 0)
			break;
		free_rest(b);
	}
	return r;
}

static void *thread_main(void *arg)
{
	struct scr_feed *f = arg;
	struct scr_batch *b = calloc(1, sizeof(*b));
	struct scr_worker k;
	int r = scr_worker_init(&k, f->p);

	k.ahead = f->room.ahead;
	k.gate = f->gated ? &f->gate : NULL;
	if (r == 0)
		r = b ? work(f, &k, b) : -ENOMEM;
	if (r < 0)
		set_error(f, r);
	for (unsigned int i = 0; b && i < SCR_BATCH_FILES; i++)
		free(b->chunk[i].base);
	free(b);
	if (k.reader)
		add_counts(f, &k);
	scr_worker_free(&k);
	return NULL;
}

/* Those that this process may use. */
static unsigned int processors(void)
{
	cpu_set_t set;

	return sched_getaffinity(0, sizeof(set), &set) == 0 ? (unsigned int)CPU_COUNT(&set) : 1;
}

unsigned int scr_feed_threads(const struct scr_pass *p)
{
	unsigned int n = p->ctx->opt.threads;

	if (n == 0)
		n = processors();
	return SCR_MIN(SCR_MAX(n, 1u), 256u);
}

/*
 * How many threads read. A disk that rotates is read by one, in order; others have many requests in
 * flight, so that while some wait for the medium others compute. What is in memory already is copied
 * by one more than compute, if there is a processor for it.
 */
static unsigned int reading_threads(const struct scr_pass *p, unsigned int computing)
{
	unsigned int n = p->ctx->opt.reads_in_flight;

	if (n == 0 && p->ctx->opt.cached)
		n = computing < processors() ? computing + 1 : computing;
	if (n == 0)
		n = p->fs.rotational ? 1 : SCR_MAX(READERS, computing);
	return SCR_MIN(n, READERS_MAX);
}

static int init(struct scr_feed *f, unsigned int readers, unsigned int computing)
{
	int r = scr_guard_install();

	if (r < 0)
		return r;
	f->gated = readers > computing;
	f->in_place = f->p->fs.rotational && !f->p->ctx->opt.cached;
	if (f->gated && sem_init(&f->gate, 0, computing) < 0)
		return -errno;
	scr_room_init(&f->room, readers, f->p->header.settings.geometry.columns,
		      f->p->segments != NULL);
	pthread_mutex_init(&f->lock, NULL);
	pthread_mutex_init(&f->suspect_lock, NULL);
	return 0;
}

static void destroy(struct scr_feed *f)
{
	scr_feed_drop_pending(f);
	scr_work_free(f->current);
	scr_work_free(f->queued);
	scr_suspect_free(&f->suspects);
	pthread_mutex_destroy(&f->suspect_lock);
	pthread_mutex_destroy(&f->lock);
	scr_room_destroy(&f->room);
	if (f->gated)
		sem_destroy(&f->gate);
}

int scr_feed_run(struct scr_pass *p, const struct scr_feed_ops *ops, void *arg,
		 unsigned int threads)
{
	unsigned int readers = reading_threads(p, threads), started = 0;
	struct scr_feed f = {.p = p, .ops = ops, .arg = arg};
	pthread_t ids[READERS_MAX];
	int r = init(&f, readers, threads);

	if (r < 0)
		return r;
	p->ways.threads[SCR_WAY_READ] = SCR_MIN(readers, processors());
	p->ways.threads[SCR_WAY_MAPPED] = SCR_MIN(SCR_MIN(readers, threads), processors());
	/* This thread is one of them: a single one needs no others. */
	while (started + 1 < readers && pthread_create(&ids[started], NULL, thread_main, &f) == 0)
		started++;
	thread_main(&f);
	for (unsigned int i = 0; i < started; i++)
		pthread_join(ids[i], NULL);
	r = settle_suspects(&f);
	if (r < 0)
		set_error(&f, r);
	destroy(&f);
	return f.error;
}

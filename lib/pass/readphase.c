/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Phase 2, READ, of a run: the plan's files by bands, results to the journal. */
#include <config.h>
#include "pass/readphase.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "pass/feed.h"
#include "pass/limit.h"

struct read_phase {
	struct scr_pass *p;
	struct scr_planned *planned;
	struct scr_journalist *j;
	struct scr_plan_cursor cursor;
	int band;
	/* Files that changed while being read: tried once more at the end. */
	pthread_mutex_t retry_lock;
	uint64_t *retry;
	size_t retry_count, retry_cap, retry_next;
};

/* ---- the source -------------------------------------------------------------------------- */

static bool is_read(const struct scr_plan_entry *e)
{
	return e->action == SCR_PLAN_CHECK || e->action == SCR_PLAN_RECORD ||
	       e->action == SCR_PLAN_ACCEPT;
}

/* Other threads add to the list meanwhile. */
static bool next_retry(struct read_phase *rp, uint64_t *pos)
{
	bool any;

	pthread_mutex_lock(&rp->retry_lock);
	any = rp->retry_next < rp->retry_count;
	if (any)
		*pos = rp->retry[rp->retry_next++];
	pthread_mutex_unlock(&rp->retry_lock);
	return any;
}

/* The next entry of a limited pass. 1, 0, -errno. */
static int next_limited(struct read_phase *rp, struct scr_limit *l, struct scr_work *w)
{
	int r;

	while (!l->ended) {
		while ((r = scr_plan_next(&rp->cursor, &w->e, &w->path, &w->pos)) == 1) {
			if (!is_read(&w->e) || (w->e.flags & SCR_PLAN_TOLD) ||
			    !scr_limit_visits(l, &w->e))
				continue;
			w->band = l->band;
			if (w->e.size == 0 || scr_limit_open(l))
				return 1;
			break;
		}
		if (r < 0)
			return r;
		scr_limit_next_band(l);
		scr_plan_cursor_rewind(&rp->cursor);
	}
	return 0;
}

/* The next entry of all of them. 1, 0, -errno. */
static int next_of_all(struct read_phase *rp, struct scr_work *w)
{
	int r;

	while (rp->band < SCR_PLAN_BANDS) {
		if (rp->planned->bands[rp->band] > 0) {
			while ((r = scr_plan_next(&rp->cursor, &w->e, &w->path, &w->pos)) == 1)
				if (is_read(&w->e) && w->e.band == rp->band)
					return 1;
			if (r < 0)
				return r;
		}
		rp->band++;
		rp->cursor.next = 0;
	}
	return 0;
}

/* The next entry of the bands, then the retries. 1, 0, -errno. */
static int next_entry(struct read_phase *rp, struct scr_work *w)
{
	int r = rp->p->limit ? next_limited(rp, rp->p->limit, w) : next_of_all(rp, w);

	if (r != 0)
		return r;
	if (!next_retry(rp, &w->pos))
		return 0;
	r = scr_plan_get(rp->planned->plan, w->pos, &w->e, &w->path);
	return r < 0 ? r : 1;
}

static int keep_damaged_copy(struct scr_work *w, const struct scr_extent *e)
{
	struct scr_extent *list =
		realloc(w->damaged, (w->damaged_count + 1) * sizeof(*w->damaged));

	if (!list)
		return -ENOMEM;
	w->damaged = list;
	memset(&list[w->damaged_count], 0, sizeof(*list));
	return scr_extent_copy(&list[w->damaged_count++], e);
}

static int load_base_file(struct read_phase *rp, struct scr_work *w)
{
	struct scr_link_record l;
	int r = scr_mreader_seek(rp->p->old, w->e.source);

	if (r == 0)
		r = scr_mreader_next(rp->p->old, &w->base, &l, NULL);
	if (r < 0)
		return r;
	if (r != SCR_RECORD_FILE)
		return -EBADMSG;
	scr_buf_clear(&w->base_path);
	r = scr_buf_append(&w->base_path, w->base.path, w->base.path_len);
	w->base.path = (char *)w->base_path.data;
	w->has_base = true;
	return r;
}

/* Copies of the extents with open damage, for what is decided before anything is read. */
static int load_damaged(struct read_phase *rp, struct scr_work *w)
{
	struct scr_extent e = {0};
	int r;

	while ((r = scr_mreader_extent(rp->p->old, &e)) == 1) {
		if (e.damage_count == 0)
			continue;
		r = keep_damaged_copy(w, &e);
		if (r < 0)
			break;
	}
	scr_extent_free(&e);
	return r < 0 ? r : load_base_file(rp, w);
}

/* Whether there may be open damage: what was planned from a record of another path does not say. */
static bool may_be_damaged(const struct scr_plan_entry *e)
{
	return (e->flags & (SCR_PLAN_DAMAGED | SCR_PLAN_WAS_LINK | SCR_PLAN_MOVED)) ||
	       !(e->flags & SCR_PLAN_HAD_RECORD);
}

static int feed_next(void *arg, struct scr_work **out)
{
	struct read_phase *rp = arg;
	struct scr_work *w = scr_work_new(rp->p, false);
	int r = w ? next_entry(rp, w) : -ENOMEM;

	if (r == 1 && w->e.source != SCR_PLAN_NONE) {
		r = load_base_file(rp, w);
		if (r == 0 && may_be_damaged(&w->e))
			r = load_damaged(rp, w);
		r = r < 0 ? r : 1;
	}
	if (r <= 0) {
		scr_work_free(w);
		if (r < 0)
			scr_trouble(rp->p, NULL, 0, -r, "cannot read plan or manifest in %s",
				    rp->p->state.path);
		return r;
	}
	*out = w;
	return 1;
}

static int feed_extent(void *arg, struct scr_work *w, struct scr_extent *e)
{
	struct read_phase *rp = arg;

	(void)w;
	return scr_mreader_extent(rp->p->old, e);
}

static bool feed_in_time(void *arg, struct scr_work *w, const struct scr_cut *cut, uint64_t run,
			 const struct scr_extent *base)
{
	struct read_phase *rp = arg;

	return !rp->p->limit || scr_limit_in_time(rp->p->limit, w, cut, run, base);
}

static bool feed_due(void *arg, struct scr_work *w, const struct scr_cut *cut, uint64_t run,
		     const struct scr_extent *base)
{
	struct read_phase *rp = arg;

	return !rp->p->limit || scr_limit_due(rp->p->limit, w, cut, run, base);
}

/* ---- results ----------------------------------------------------------------------------- */

static int add_retry(struct read_phase *rp, uint64_t pos)
{
	int r = 0;

	pthread_mutex_lock(&rp->retry_lock);
	if (rp->retry_count == rp->retry_cap) {
		size_t cap = rp->retry_cap ? rp->retry_cap * 2 : 64;
		uint64_t *list = realloc(rp->retry, cap * sizeof(*list));

		if (!list)
			r = -ENOMEM;
		else
			rp->retry = list;
		rp->retry_cap = list ? cap : rp->retry_cap;
	}
	if (r == 0)
		rp->retry[rp->retry_count++] = pos;
	pthread_mutex_unlock(&rp->retry_lock);
	return r;
}

static int retry_later(struct read_phase *rp, struct scr_work *w)
{
	int r;

	w->e.flags |= SCR_PLAN_RETRIED;
	r = scr_plan_patch(rp->planned->plan, w->pos, &w->e);
	return r < 0 ? r : add_retry(rp, w->pos);
}

/* Too little of a vanished file is here for a move: it is gone, and this is a new one. */
static int undo_move(struct read_phase *rp, struct scr_work *w)
{
	struct scr_plan_entry from;
	int r = scr_plan_get(rp->planned->plan, w->e.owner, &from, NULL);

	if (r < 0)
		return r;
	from.action = SCR_PLAN_GONE;
	r = scr_plan_patch(rp->planned->plan, w->e.owner, &from);
	w->e.action = SCR_PLAN_RECORD;
	w->e.source = SCR_PLAN_NONE;
	w->e.flags &= (uint16_t)~(SCR_PLAN_MOVED | SCR_PLAN_DAMAGED);
	return r < 0 ? r : retry_later(rp, w);
}

/* With so few blocks one damaged block is half of the file: that the inode, its size and its time
 * are the recorded ones then says more than the rule of the half, or rot would hide behind a rename. */
#define TELLING_BLOCKS 3

static bool is_no_move(const struct scr_work *w)
{
	return (w->e.flags & SCR_PLAN_MOVED) && w->blocks_compared >= TELLING_BLOCKS &&
	       w->blocks_differing * 2 > w->blocks_compared;
}

static bool may_retry(const struct scr_work *w)
{
	return w->state == SCR_WORK_CHANGED && !(w->e.flags & SCR_PLAN_RETRIED);
}

/* A limited pass may visit it more than once: it counts once, by the worst. */
static void count_once(struct read_phase *rp, struct scr_work *w, enum scr_verdict before)
{
	struct scr_summary *s = &rp->p->sum;
	enum scr_verdict worst = scr_verdict_worst(before, w->worst);

	pthread_mutex_lock(&rp->p->ctx->lock);
	s->verdicts[before]--;
	s->verdicts[w->worst]--;
	s->verdicts[worst]++;
	pthread_mutex_unlock(&rp->p->ctx->lock);
	w->worst = worst;
}

/* Links of the inode are counted with the verdict of its first path. */
static int note_verdict(struct read_phase *rp, struct scr_work *w)
{
	struct scr_plan_entry e;
	int r;

	if (w->e.nlink < 2 && (!rp->p->limit || w->e.size < SCR_EXTENT_SIZE))
		return 0;
	pthread_mutex_lock(&rp->retry_lock);
	r = scr_plan_get(rp->planned->plan, w->pos, &e, NULL);
	if (r == 0 && (e.flags & SCR_PLAN_VISITED))
		count_once(rp, w, (enum scr_verdict)e.verdict);
	e.verdict = (uint8_t)w->worst;
	e.flags |= SCR_PLAN_VISITED;
	if (r == 0)
		r = scr_plan_patch(rp->planned->plan, w->pos, &e);
	pthread_mutex_unlock(&rp->retry_lock);
	return r;
}

/* Accepting that a file is gone: its record goes. */
static int accept_gone(struct read_phase *rp, struct scr_work *w)
{
	w->e.action = SCR_PLAN_GONE;
	scr_emit_file(rp->p, &(struct scr_file_event){
				     .name = {(char *)w->path.data, w->path.len},
				     .verdict = SCR_REMOVED,
			     });
	return scr_plan_patch(rp->planned->plan, w->pos, &w->e);
}

/* Nothing of it was due after all, or there was nothing left in the budget. */
static bool not_looked_at(const struct read_phase *rp, const struct scr_work *w)
{
	return rp->p->limit && w->looked == 0 && w->extents > 0 && w->state == SCR_WORK_OPEN;
}

/* What was settled before anything of it was read needs no second visit of a limited pass. 1: it had
 * one already; 0, -errno. */
static int told_before(struct read_phase *rp, struct scr_work *w)
{
	struct scr_plan_entry e;
	int r;

	if (!rp->p->limit || w->state == SCR_WORK_OPEN || w->looked > 0 || w->only_visit)
		return 0;
	pthread_mutex_lock(&rp->retry_lock);
	r = scr_plan_get(rp->planned->plan, w->pos, &e, NULL);
	if (r == 0 && (e.flags & SCR_PLAN_TOLD)) {
		r = 1;
	} else if (r == 0 && !may_retry(w)) {
		e.flags |= SCR_PLAN_TOLD;
		r = scr_plan_patch(rp->planned->plan, w->pos, &e);
		w->only_visit = true;
	}
	pthread_mutex_unlock(&rp->retry_lock);
	return r;
}

static int feed_done(void *arg, struct scr_worker *k, struct scr_work *w, bool last)
{
	struct read_phase *rp = arg;
	struct scr_file_record f;
	int r = told_before(rp, w);

	if (last && rp->p->limit && w->state != SCR_WORK_OPEN &&
	    (w->state != SCR_WORK_SETTLED || w->looked == 0))
		scr_limit_give_back(rp->p->limit, w);
	if (r != 0)
		return r < 0 ? r : 0;
	if (last && not_looked_at(rp, w))
		return 0;
	if (last && is_no_move(w))
		return undo_move(rp, w);
	if (last && w->e.action == SCR_PLAN_ACCEPT && w->state == SCR_WORK_CHANGED && !w->opened)
		return accept_gone(rp, w);
	if (last && may_retry(w))
		return retry_later(rp, w);
	scr_tell_results(k, w);
	if (!last) {
		if (k->result_count == 0)
			return 0;
		f = scr_work_interim(w);
		return scr_journalist_put(rp->j, k, &f, false);
	}
	r = scr_work_finish(w, &f) ? scr_journalist_put(rp->j, k, &f, true) : 0;
	return r < 0 ? r : note_verdict(rp, w);
}

static int feed_flush(void *arg, struct scr_worker *k)
{
	struct read_phase *rp = arg;

	return scr_journalist_flush(rp->j, k);
}

/* ---- the phase --------------------------------------------------------------------------- */

static const struct scr_feed_ops ops = {
	.next = feed_next,
	.extent = feed_extent,
	.due = feed_due,
	.in_time = feed_in_time,
	.done = feed_done,
	.flush = feed_flush,
};

int scr_read_phase(struct scr_pass *p, struct scr_planned *planned, struct scr_journalist *j)
{
	struct read_phase rp = {.p = p, .planned = planned, .j = j};
	unsigned int threads = scr_feed_threads(p);
	int r, s;

	scr_ctx_phase(p->ctx, "reading", planned->files,
		      p->limit ? scr_limit_total(p->limit) : planned->bytes);
	pthread_mutex_init(&rp.retry_lock, NULL);
	scr_plan_cursor_init(&rp.cursor, planned->plan);
	r = scr_feed_run(p, &ops, &rp, threads);
	/* What became due for a second try when the last files were under way. */
	if (r == 0 && rp.retry_next < rp.retry_count)
		r = scr_feed_run(p, &ops, &rp, 1);
	s = scr_journalist_sync(j);
	scr_plan_cursor_free(&rp.cursor);
	pthread_mutex_destroy(&rp.retry_lock);
	free(rp.retry);
	return r < 0 ? r : s;
}

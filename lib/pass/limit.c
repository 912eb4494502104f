/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A pass that looks at a part only: bands, budget, and what is due. */
#include <config.h>
#include "pass/limit.h"

#include <errno.h>
#include <stdlib.h>

#include "base/compiler.h"

/* Each band is one more walk through the plan: so many of them that this stays cheap. */
#define BANDS_LEAST 8
#define BANDS_MOST 1024
#define BANDS_WORK (UINT64_C(1) << 23)

#define MILLION 1000000u

bool scr_limit_wanted(const struct scr_options *opt)
{
	return opt->max_time_ns || opt->max_bytes || opt->portion || opt->older_than_ns ||
	       opt->only_new || opt->only_damaged;
}

/* @part millionths of @all, rounded up. */
static uint64_t portion_of(uint64_t all, uint32_t part)
{
	uint64_t rest = all % MILLION * part;

	return all / MILLION * part + rest / MILLION + (rest % MILLION > 0);
}

static void set_budget(struct scr_limit *l)
{
	const struct scr_options *opt = &l->p->ctx->opt;

	l->budget = UINT64_MAX;
	if (opt->max_bytes) {
		l->budget = opt->max_bytes;
		l->budget_name = "max-bytes";
	}
	if (opt->portion && portion_of(l->all, opt->portion) < l->budget) {
		l->budget = portion_of(l->all, opt->portion);
		l->budget_name = "portion";
	}
	l->reading_ns = scr_clock_monotonic(l->p->ctx->clock);
	l->deadline_ns = opt->max_time_ns ? l->p->start_ns + opt->max_time_ns : INT64_MAX;
}

static void start_queue(struct scr_limit *l, enum scr_queue q)
{
	uint64_t work = l->planned->entries + scr_mreader_trailer(l->p->old)->extents + 1;
	uint64_t bands = BANDS_WORK / work;

	bands = SCR_MIN(SCR_MAX(bands, (uint64_t)BANDS_LEAST), (uint64_t)BANDS_MOST);
	l->share = l->ages[q]->total / bands + 1;
	l->band = (struct scr_band){.queue = (uint8_t)q};
	l->band.end = scr_ages_band(l->ages[q], 0, l->share);
}

/* True for half of all numbers, in no rhythm that any rhythm of publishing could be in step with.
 */
static bool takes_turns(uint64_t generation)
{
	return __builtin_parityll(generation);
}

int scr_limit_new(struct scr_pass *p, const struct scr_planned *planned, struct scr_limit **out)
{
	const struct scr_trailer *t = scr_mreader_trailer(p->old);
	struct scr_limit *l = calloc(1, sizeof(*l));
	int r = 0;

	if (!l)
		return -ENOMEM;
	l->p = p;
	l->planned = planned;
	pthread_mutex_init(&l->lock, NULL);
	l->wanted_before = INT64_MAX;
	l->missing_first = takes_turns(p->header.generation);
	if (p->ctx->opt.older_than_ns)
		l->wanted_before = p->start_wall_ns - p->ctx->opt.older_than_ns;
	for (int q = 0; r == 0 && q < SCR_QUEUES; q++) {
		l->ages[q] = malloc(sizeof(*l->ages[q]));
		if (l->ages[q])
			scr_ages_init(l->ages[q], p->start_wall_ns, t->newest_check_ns);
		else
			r = -ENOMEM;
	}
	if (r == 0)
		r = scr_limit_survey(l);
	if (r < 0) {
		scr_limit_free(l);
		return r;
	}
	set_budget(l);
	start_queue(l, SCR_QUEUE_FRESH);
	*out = l;
	return 0;
}

void scr_limit_free(struct scr_limit *l)
{
	if (!l)
		return;
	for (int q = 0; q < SCR_QUEUES; q++)
		free(l->ages[q]);
	pthread_mutex_destroy(&l->lock);
	free(l);
}

static uint64_t wanted_bytes(const struct scr_limit *l)
{
	return l->ages[SCR_QUEUE_FRESH]->total + l->ages[SCR_QUEUE_KNOWN]->total;
}

uint64_t scr_limit_total(const struct scr_limit *l)
{
	return SCR_MIN(l->budget, wanted_bytes(l));
}

/* ---- the budget -------------------------------------------------------------------------- */

/* Bytes that fresh data may take: all that overdue data leaves, and not less than half. */
static uint64_t fresh_bytes(const struct scr_limit *l)
{
	uint64_t half = l->budget / 2 + (l->budget & 1);

	return l->overdue < half ? l->budget - l->overdue : half;
}

/* The same for time, where what overdue data needs is known by the rate so far. */
static bool fresh_has_time(const struct scr_limit *l, int64_t now)
{
	int64_t spent = now - l->reading_ns, left = l->deadline_ns - now;
	uint64_t done = l->begun[SCR_QUEUE_FRESH];

	if (l->overdue == 0 || spent < left)
		return true;
	return done > 0 && (double)l->overdue * (double)spent / (double)done < (double)left;
}

/* Whether there is no time for more of queue @q. Under l->lock. */
static bool is_late(const struct scr_limit *l, enum scr_queue q)
{
	int64_t now;

	if (l->deadline_ns == INT64_MAX)
		return false;
	now = scr_clock_monotonic(l->p->ctx->clock);
	return now >= l->deadline_ns || (q == SCR_QUEUE_FRESH && !fresh_has_time(l, now));
}

/* Why nothing more is to be taken of queue @q; NULL: something is. Under l->lock. */
static const char *spent(const struct scr_limit *l, enum scr_queue q)
{
	if (!l->any[q])
		return NULL;
	if (l->budget != UINT64_MAX &&
	    (l->used[SCR_QUEUE_FRESH] + l->used[SCR_QUEUE_KNOWN] >= l->budget ||
	     (q == SCR_QUEUE_FRESH && l->used[q] >= fresh_bytes(l))))
		return l->budget_name;
	return is_late(l, q) ? "max-time" : NULL;
}

/* Pays for @bytes of queue @q, if that can be. */
static bool pay(struct scr_limit *l, struct scr_work *w, enum scr_queue q, uint64_t bytes)
{
	const char *why;

	pthread_mutex_lock(&l->lock);
	why = spent(l, q);
	if (why) {
		l->refused = why;
	} else {
		l->used[q] += bytes;
		l->any[q] |= bytes > 0;
		w->paid[q] += bytes;
	}
	pthread_mutex_unlock(&l->lock);
	return !why;
}

void scr_limit_give_back(struct scr_limit *l, struct scr_work *w)
{
	pthread_mutex_lock(&l->lock);
	for (int q = 0; q < SCR_QUEUES; q++) {
		l->used[q] -= w->paid[q];
		l->any[q] = l->used[q] > 0;
		w->paid[q] = 0;
	}
	pthread_mutex_unlock(&l->lock);
}

/* ---- bands ------------------------------------------------------------------------------- */

bool scr_limit_open(struct scr_limit *l)
{
	const char *why;

	pthread_mutex_lock(&l->lock);
	why = spent(l, l->band.queue);
	if (why)
		l->refused = why;
	pthread_mutex_unlock(&l->lock);
	if (why)
		l->band.end = SCR_AGES_SLOTS; /* nor does any band behind it get more */
	return !why;
}

bool scr_limit_next_band(struct scr_limit *l)
{
	enum scr_queue q = l->band.queue;

	if (l->band.end < SCR_AGES_SLOTS) {
		l->band.first = l->band.end;
		l->band.end = scr_ages_band(l->ages[q], l->band.first, l->share);
	} else if (q == SCR_QUEUE_FRESH) {
		start_queue(l, SCR_QUEUE_KNOWN);
	} else {
		l->ended = true;
	}
	return !l->ended;
}

static bool in_band(const struct scr_band *b, uint32_t slot)
{
	return b->first <= slot && slot < b->end;
}

bool scr_limit_visits(const struct scr_limit *l, const struct scr_plan_entry *e)
{
	const struct scr_ages *a = l->ages[l->band.queue];
	const struct scr_options *opt = &l->p->ctx->opt;
	bool fresh = l->band.queue == SCR_QUEUE_FRESH, damaged = e->flags & SCR_PLAN_DAMAGED;
	uint32_t first;

	if (e->source == SCR_PLAN_NONE)
		return fresh && scr_limit_wants(l, SCR_QUEUE_FRESH, e->ctime_ns, false) &&
		       in_band(&l->band, scr_ages_slot(a, e->ctime_ns));
	if (!(e->flags & SCR_PLAN_AGED))
		return true;
	if (opt->only_damaged && !opt->only_new && !damaged)
		return false;
	if ((e->flags & SCR_PLAN_UNIFORM) &&
	    (fresh || !scr_limit_wants(l, SCR_QUEUE_KNOWN, e->oldest_ns, damaged)))
		return false;
	if (scr_ages_is_future(a, e->newest_ns))
		return true;
	/* Something may be missing of it, which has a place of its own. */
	first = scr_ages_slot(a, e->oldest_ns);
	if (!(e->flags & SCR_PLAN_UNIFORM))
		first = SCR_MIN(first, scr_ages_slot(a, scr_limit_key(l, e, NULL, NULL)));
	return first < l->band.end && l->band.first <= scr_ages_slot(a, e->newest_ns);
}

/* Bytes to be read for it: holes cost nothing. */
static uint64_t price(const struct scr_cut *cut, uint64_t run, const struct scr_extent *base)
{
	return run > 1 || (base && base->hole) ? 0 : cut->length;
}

bool scr_limit_in_time(struct scr_limit *l, struct scr_work *w, const struct scr_cut *cut,
		       uint64_t run, const struct scr_extent *base)
{
	enum scr_queue q = scr_limit_queue(&w->e, w->has_base ? &w->base : NULL, base);
	uint64_t bytes;
	bool late;

	pthread_mutex_lock(&l->lock);
	bytes = SCR_MIN(price(cut, run, base), w->paid[q]);
	late = l->begun[q] > 0 && is_late(l, q);
	if (late) {
		l->refused = "max-time";
		l->used[q] -= bytes;
		w->paid[q] -= bytes;
	} else {
		l->begun[q] += bytes;
		w->looked++;
	}
	pthread_mutex_unlock(&l->lock);
	return !late;
}

bool scr_limit_due(struct scr_limit *l, struct scr_work *w, const struct scr_cut *cut, uint64_t run,
		   const struct scr_extent *base)
{
	const struct scr_file_record *f = w->has_base ? &w->base : NULL;
	enum scr_queue q = scr_limit_queue(&w->e, f, base);
	int64_t key = scr_limit_key(l, &w->e, f, base);
	uint64_t bytes = price(cut, run, base);
	bool damaged = (f && f->damage.kind) || (base && base->damage_count);

	if (!scr_limit_wants(l, q, key, damaged))
		return false;
	if (!(w->e.flags & SCR_PLAN_RETRIED) &&
	    (q != (enum scr_queue)w->band.queue ||
	     !in_band(&w->band, scr_ages_slot(l->ages[q], key))))
		return false;
	return pay(l, w, q, bytes);
}

/* ---- the end ----------------------------------------------------------------------------- */

void scr_limit_tell(struct scr_limit *l)
{
	const struct scr_options *opt = &l->p->ctx->opt;
	uint64_t used = l->used[SCR_QUEUE_FRESH] + l->used[SCR_QUEUE_KNOWN];
	struct scr_summary *s = &l->p->sum;

	s->limited = l->refused;
	if (!s->limited && l->filtered)
		s->limited = opt->only_new || opt->only_damaged ? "only" : "older-than";
	s->bytes_left = s->limited && l->all > used ? l->all - used : 0;
}

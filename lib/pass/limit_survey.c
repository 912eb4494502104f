/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What there is to read, by queue and time of the last check: one walk through plan and manifest.
 */
#include <config.h>
#include "pass/limit.h"

#include <errno.h>

#include "base/compiler.h"

static bool same_stamp(const struct scr_stamp *s, uint64_t size, int64_t mtime_ns)
{
	return s->size == size && s->mtime_ns == mtime_ns;
}

/* A lone move of ctime changes no file's place. */
enum scr_queue scr_limit_queue(const struct scr_plan_entry *e, const struct scr_file_record *base,
			       const struct scr_extent *x)
{
	if (!base || !x || (x->flags & SCR_EXTENT_UNRECORDED))
		return SCR_QUEUE_FRESH;
	/* A device has no times that would tell. */
	if (S_ISBLK(e->mode))
		return SCR_QUEUE_KNOWN;
	if (!same_stamp(&base->stamp, e->size, e->mtime_ns) ||
	    !same_stamp(&x->stamp, e->size, e->mtime_ns))
		return SCR_QUEUE_FRESH;
	return SCR_QUEUE_KNOWN;
}

/*
 * New files queue by their ctime, which no archiver sets back. What is missing of a recorded file
 * has no time of its own. In some passes it goes before what is recorded of that file, or the
 * beginning of a large file that changes every day would be read for ever; in the others after it,
 * or a file that grows every day would keep the others waiting for ever.
 */
int64_t scr_limit_key(const struct scr_limit *l, const struct scr_plan_entry *e,
		      const struct scr_file_record *base, const struct scr_extent *x)
{
	int64_t last = base ? base->recorded_ns : 0;

	if (x)
		return x->checked_ns;
	if (e->source == SCR_PLAN_NONE)
		return e->ctime_ns;
	if (e->flags & SCR_PLAN_AGED)
		last = l->missing_first ? e->oldest_ns : e->newest_ns;
	if (l->missing_first) /* into an earlier slot for certain */
		last = scr_ages_before(l->ages[SCR_QUEUE_FRESH], last);
	return SCR_MAX(last, (int64_t)0);
}

bool scr_limit_wants(const struct scr_limit *l, enum scr_queue q, int64_t key, bool damaged)
{
	const struct scr_options *opt = &l->p->ctx->opt;

	if (opt->only_new || opt->only_damaged)
		if (!(opt->only_new && q == SCR_QUEUE_FRESH) && !(opt->only_damaged && damaged))
			return false;
	return q == SCR_QUEUE_FRESH || key < l->wanted_before ||
	       scr_ages_is_future(l->ages[q], key);
}

static bool is_overdue(const struct scr_limit *l, int64_t key)
{
	const struct scr_pass *p = l->p;
	int64_t after = p->ctx->opt.older_than_ns ? p->ctx->opt.older_than_ns : SCR_OVERDUE_NS;

	return key < p->start_wall_ns - after || scr_ages_is_future(l->ages[0], key);
}

static void add(struct scr_limit *l, enum scr_queue q, int64_t key, uint64_t bytes, bool damaged)
{
	l->all += bytes;
	if (!scr_limit_wants(l, q, key, damaged)) {
		l->filtered = true;
		return;
	}
	scr_ages_add(l->ages[q], key, bytes);
	if (q == SCR_QUEUE_KNOWN && is_overdue(l, key))
		l->overdue += bytes;
}

/* Extent by extent, and then what is missing. */
static int add_recorded(struct scr_limit *l, const struct scr_plan_entry *e, struct scr_extent *x)
{
	struct scr_mreader *m = l->p->old;
	struct scr_file_record f;
	struct scr_link_record link;
	uint64_t seen = 0;
	int r = scr_mreader_seek(m, e->source);

	if (r == 0)
		r = scr_mreader_next(m, &f, &link, NULL);
	if (r != SCR_RECORD_FILE)
		return r < 0 ? r : -EBADMSG;
	while ((r = scr_mreader_extent(m, x)) == 1) {
		seen += x->run_length;
		add(l, scr_limit_queue(e, &f, x), scr_limit_key(l, e, &f, x),
		    x->hole ? 0 : x->run_length, f.damage.kind || x->damage_count);
	}
	if (r == 0 && seen < e->size)
		add(l, SCR_QUEUE_FRESH, scr_limit_key(l, e, &f, NULL), e->size - seen,
		    f.damage.kind);
	return r;
}

static int add_entry(struct scr_limit *l, const struct scr_plan_entry *e, struct scr_extent *x)
{
	bool one_age = (e->flags & SCR_PLAN_AGED) && (e->flags & SCR_PLAN_UNIFORM) &&
		       e->oldest_ns == e->newest_ns && !(e->flags & SCR_PLAN_DAMAGED);

	if (e->action != SCR_PLAN_CHECK && e->action != SCR_PLAN_RECORD)
		return 0;
	if (e->source == SCR_PLAN_NONE)
		add(l, SCR_QUEUE_FRESH, e->ctime_ns, e->size, false);
	else if (one_age)
		add(l, SCR_QUEUE_KNOWN, e->oldest_ns, e->size - e->holes, false);
	else
		return add_recorded(l, e, x);
	return 0;
}

int scr_limit_survey(struct scr_limit *l)
{
	struct scr_extent x = {0};
	struct scr_plan_cursor c;
	struct scr_plan_entry e;
	struct scr_buf path = {0};
	uint64_t pos;
	int r;

	scr_plan_cursor_init(&c, l->planned->plan);
	while ((r = scr_plan_next(&c, &e, &path, &pos)) == 1) {
		if (scr_pass_stopped(l->p))
			r = -EINTR;
		else
			r = add_entry(l, &e, &x);
		if (r < 0)
			break;
	}
	scr_plan_cursor_free(&c);
	scr_buf_free(&path);
	scr_extent_free(&x);
	return r;
}

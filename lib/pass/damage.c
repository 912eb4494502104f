/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Damage of an extent, told as runs of blocks. */
#include <config.h>
#include "pass/work.h"

#include <errno.h>

static enum scr_damage_kind kind_of(const struct scr_work *w, const struct scr_extent *e,
				    const struct scr_damage_record *d)
{
	enum scr_relation rel;

	if (d->kind == SCR_REC_UNREADABLE)
		return SCR_DAMAGE_UNREADABLE;
	if (d->kind == SCR_REC_ROT)
		return SCR_DAMAGE_ROT;
	if (!w->verify)
		return SCR_DAMAGE_ALTERED;
	/* verify writes no record, so its third kind needs no place in one. */
	rel = scr_judge(&w->p->policy, &e->stamp, &w->base, &w->st, false);
	return rel == SCR_REL_MTIME ? SCR_DAMAGE_CHANGED : SCR_DAMAGE_ALTERED;
}

static struct scr_damage describe(const struct scr_work *w, const struct scr_extent *e,
				  const struct scr_damage_record *d)
{
	uint64_t size = w->has_base && !w->record_all ? w->base.stamp.size
						       : (uint64_t)w->st.st_size;
	const struct scr_geometry *g = &w->p->header.settings.geometry;

	return (struct scr_damage){
		.name = {(char *)w->path.data, w->path.len},
		.kind = kind_of(w, e, d),
		.block = scr_blocks_before(g, size, e->cut.index) + d->block,
		.blocks = 1,
		.offset = e->cut.offset + (uint64_t)d->block * e->cut.block + d->start,
		.length = d->length,
		.size_was = -1,
		.size_now = -1,
		.since = d->first_ns < w->began_ns ? d->first_ns : 0,
		.known = d->first_ns < w->began_ns,
		.carried = d->flags & SCR_DAMAGE_CARRIED,
		.metadata_changed = d->kind == SCR_REC_ROT && w->p->policy.use_ctime &&
				    e->stamp.ctime_ns != scr_ctime_ns(&w->st),
		.err = d->kind == SCR_REC_UNREADABLE ? EIO : 0,
	};
}

/* Whether @b goes on where @a ends, and is the same. */
static bool joins(const struct scr_damage *a, const struct scr_damage *b)
{
	return a->kind == b->kind && a->known == b->known && a->since == b->since &&
	       a->carried == b->carried && a->offset + a->length == b->offset;
}

static void tell_extent(struct scr_work *w, const struct scr_extent *e)
{
	uint32_t count = e->damage_count;
	struct scr_damage run, d;

	for (uint32_t i = 0; i < count; i++) {
		d = describe(w, e, &e->damage[i]);
		if (i > 0 && joins(&run, &d)) {
			run.blocks += d.block != run.block + run.blocks - 1;
			run.length += d.length;
			continue;
		}
		if (i > 0)
			scr_emit_damage(w->p, &run);
		run = d;
	}
	if (count > 0)
		scr_emit_damage(w->p, &run);
	pthread_mutex_lock(&w->p->ctx->lock);
	w->p->sum.blocks_damaged += count;
	pthread_mutex_unlock(&w->p->ctx->lock);
}

void scr_tell_results(struct scr_worker *k, struct scr_work *w)
{
	for (uint32_t i = 0; i < k->result_count; i++)
		if (k->results[i].damage_count > 0)
			tell_extent(w, &k->results[i]);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Damage of an extent, told as runs of blocks. */
#include <config.h>
#include "pass/device.h"
#include "pass/diagnose.h"

#include <errno.h>
#include <string.h>

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
	if (w->p->device)
		return scr_device_judge(w->p, &e->cut, &e->stamp, d->block) >= SCR_JUDGED_WRITTEN
			       ? SCR_DAMAGE_CHANGED
			       : SCR_DAMAGE_ALTERED;
	rel = scr_judge(&w->p->policy, &e->stamp, &w->base, &w->st, false);
	return rel == SCR_REL_MTIME ? SCR_DAMAGE_CHANGED : SCR_DAMAGE_ALTERED;
}

static void add_diagnosis(struct scr_damage *d, const struct scr_diagnosis *x)
{
	d->repairable = x->repairable;
	d->why_not = x->why;
	d->pattern = x->pattern;
	d->bits_flipped = x->bits;
	d->bytes_differ = x->bytes;
	d->differ_first = x->first;
	d->differ_last = x->last;
	d->byte_was = x->was;
	d->byte_now = x->is;
	if (x->holds)
		d->holds = (struct scr_name){x->holds, strlen(x->holds)};
	d->holds_block = x->holds_block;
}

static struct scr_damage describe(const struct scr_work *w, const struct scr_extent *e,
				  const struct scr_damage_record *d)
{
	uint64_t size = scr_work_size(w);
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
				    !w->p->device &&
				    e->stamp.ctime_ns != scr_ctime_ns(&w->st),
		.err = d->kind == SCR_REC_UNREADABLE ? EIO : 0,
	};
}

/* Whether @b goes on where @a ends, and is the same. */
static bool joins(const struct scr_damage *a, const struct scr_damage *b)
{
	return a->kind == b->kind && a->known == b->known && a->since == b->since &&
	       a->carried == b->carried && a->offset + a->length == b->offset &&
	       a->repairable == b->repairable && a->why_not == b->why_not &&
	       a->pattern == b->pattern && !a->holds.path && !b->holds.path;
}

static void join(struct scr_damage *run, const struct scr_damage *d)
{
	/* Two ranges of one block carry the same diagnosis: it counts once. */
	if (d->block != run->block + run->blocks - 1) {
		run->blocks++;
		run->bits_flipped += d->bits_flipped;
		if (d->bytes_differ && !run->bytes_differ)
			run->differ_first = d->differ_first;
		if (d->bytes_differ)
			run->differ_last = d->differ_last;
		run->bytes_differ += d->bytes_differ;
	}
	run->length += d->length;
}

static void tell_extent(struct scr_worker *k, struct scr_work *w, const struct scr_extent *e)
{
	uint32_t count = e->damage_count, blocks = 0;
	struct scr_diagnoses found;
	struct scr_damage run, d;

	scr_diagnose(k, w, e, &found);
	for (uint32_t i = 0; i < count; i++) {
		d = describe(w, e, &e->damage[i]);
		/* Several bad ranges of one block are one damaged block. */
		blocks += i == 0 || e->damage[i].block != e->damage[i - 1].block;
		if (found.list)
			add_diagnosis(&d, &found.list[e->damage[i].block]);
		if (i > 0 && joins(&run, &d)) {
			join(&run, &d);
			continue;
		}
		if (i > 0)
			scr_emit_damage(w->p, &run);
		run = d;
	}
	if (count > 0)
		scr_emit_damage(w->p, &run);
	scr_diagnoses_free(&found);
	pthread_mutex_lock(&w->p->ctx->lock);
	w->p->sum.blocks_damaged += blocks;
	pthread_mutex_unlock(&w->p->ctx->lock);
}

void scr_tell_results(struct scr_worker *k, struct scr_work *w)
{
	for (uint32_t i = 0; i < k->result_count; i++)
		if (k->results[i].damage_count > 0)
			tell_extent(k, w, &k->results[i]);
}

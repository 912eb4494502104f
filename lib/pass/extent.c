/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* One extent: read once, then recorded or compared; a difference is confirmed before it is told. */
#include <config.h>
#include "pass/extent_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "fold/bitflip.h"
#include "pass/device.h"
#include "pass/parity.h"

/* ---- recording --------------------------------------------------------------------------- */

static bool is_racy(const struct scr_work *w)
{
	return w->unsynced || !strcmp(w->p->fs.type, "tmpfs") ||
	       scr_work_younger(w, SCR_RACY_WINDOW_NS);
}

struct scr_stamp scr_extent_stamp(const struct scr_work *w, const struct scr_cut *cut)
{
	return w->p->device ? scr_device_stamp(w->p, cut->offset, cut->length)
			    : scr_stamp_of(&w->st);
}

/* What every result of this pass shares; out->cut is set. */
static void stamp_result(struct scr_extent *out, const struct scr_work *w)
{
	out->stamp = scr_extent_stamp(w, &out->cut);
	out->checked_ns = w->began_ns;
	out->recorded_ns = w->began_ns;
	out->flags = is_racy(w) ? SCR_EXTENT_RACY : 0;
}

static struct scr_damage_record unreadable(const struct scr_work *w, const struct scr_bad_bytes *b)
{
	return (struct scr_damage_record){
		.block = b->block,
		.kind = SCR_REC_UNREADABLE,
		.start = b->start,
		.length = b->length,
		.first_ns = w->began_ns,
		.last_ns = w->began_ns,
	};
}

const struct scr_damage_record *scr_extent_known(const struct scr_extent *base, uint32_t block)
{
	for (uint32_t j = 0; j < base->damage_count; j++)
		if (base->damage[j].block == block)
			return &base->damage[j];
	return NULL;
}

/* Never a checksum of a gap: an extent that can't be read whole is marked unrecorded. @base: the
 * same extent as an earlier pass failed to read it, or NULL. */
static int record_unreadable(const struct scr_work *w, const struct scr_content *c,
			     const struct scr_extent *base, struct scr_extent *out)
{
	bool again = base && (base->flags & SCR_EXTENT_UNRECORDED) && !w->record_all;

	out->damage = calloc(c->bad_count, sizeof(*out->damage));
	if (!out->damage)
		return -ENOMEM;
	for (uint32_t i = 0; i < c->bad_count; i++) {
		const struct scr_damage_record *k =
			again ? scr_extent_known(base, c->bad[i].block) : NULL;

		out->damage[i] = unreadable(w, &c->bad[i]);
		if (k)
			out->damage[i].first_ns = k->first_ns;
	}
	out->damage_count = c->bad_count;
	out->flags |= SCR_EXTENT_UNRECORDED;
	out->recorded_ns = 0;
	return 0;
}

static int copy_content(const struct scr_content *c, struct scr_extent *out)
{
	size_t bytes = (c->cut.blocks + 7) / 8;

	out->hole = c->all_hole;
	if (c->all_hole)
		return 0;
	out->checks = malloc(c->cut.blocks * sizeof(*out->checks));
	if (!out->checks)
		return -ENOMEM;
	memcpy(out->checks, c->checks, c->cut.blocks * sizeof(*out->checks));
	if (!c->any_hole)
		return 0;
	out->holes = malloc(bytes);
	if (!out->holes)
		return -ENOMEM;
	memcpy(out->holes, c->holes, bytes);
	return 0;
}

/* Data and parity that don't belong together are read and computed again, by the plain kernels. */
static int store_content(struct scr_worker *k, struct scr_work *w, struct scr_extent *out)
{
	struct scr_content_reader again = scr_worker_content_reader(k, w, true);
	int r = scr_parity_store(k, w, out);

	if (r == -EBADMSG) {
		scr_warn(w->p, (char *)w->path.data, w->path.len,
			 "checksums and parity computed from one read don't belong together: check "
			 "the memory; reading again");
		again.fold = true;
		r = scr_content_read(&again, &out->cut, &k->content);
		if (r == 0)
			r = scr_parity_store(k, w, out);
	}
	return r < 0 ? r : copy_content(&k->content, out);
}

int scr_extent_record(struct scr_worker *k, struct scr_work *w, const struct scr_extent *base)
{
	struct scr_content *c = &k->content;
	struct scr_extent *out;

	/* What can't be read can't be taken as right either: the record stays. */
	if (c->bad_count > 0 && w->e.action == SCR_PLAN_ACCEPT)
		return scr_work_read_error(w, -c->bad[0].err);
	out = scr_worker_result(k);
	if (!out)
		return -ENOMEM;
	out->cut = c->cut;
	out->run = 1;
	out->run_length = c->cut.length;
	stamp_result(out, w);
	if (c->bad_count == 0)
		return store_content(k, w, out);
	if (record_unreadable(w, c, base, out) < 0)
		return -ENOMEM;
	scr_work_found(w, SCR_UNREADABLE, true);
	return 0;
}

/* ---- comparing --------------------------------------------------------------------------- */

static struct scr_check expected(const struct scr_extent *base, uint32_t i)
{
	return base->hole ? scr_check_zeros(scr_block_length(&base->cut, i)) : base->checks[i];
}

bool scr_extent_equal(const struct scr_content *c, const struct scr_extent *base, uint32_t i)
{
	return scr_content_length(c, i) == scr_block_length(&base->cut, i) &&
	       scr_check_equal(c->checks[i], expected(base, i));
}

static int push(struct scr_findings *f, const struct scr_extent *base, struct scr_damage_record d)
{
	const struct scr_damage_record *k = scr_extent_known(base, d.block);

	if (f->count == f->cap) {
		uint32_t cap = f->cap ? f->cap * 2 : 8;
		struct scr_damage_record *list = realloc(f->list, cap * sizeof(*list));

		if (!list)
			return -ENOMEM;
		f->list = list;
		f->cap = cap;
	}
	if (k)
		d.first_ns = k->first_ns;
	/* The same bad content is what it was, whatever was done to the times since. */
	if (k && k->kind == SCR_REC_ROT && d.kind == SCR_REC_ALTERED &&
	    scr_check_equal(k->seen, d.seen) && k->seen_length == d.seen_length)
		d.kind = SCR_REC_ROT;
	f->list[f->count++] = d;
	return 0;
}

/* Reads block @i again, from the medium, and computes with the reference kernels. Returns 1 if it
 * is right now (a transient mismatch, told), 0 if not, -errno. */
static int confirm(struct scr_worker *k, struct scr_work *w, const struct scr_extent *base,
		   uint32_t i)
{
	struct scr_content_reader again = scr_worker_content_reader(k, w, true);
	int r = scr_content_read_block(&again, i, &k->content);

	if (r < 0 || scr_content_is_bad(&k->content, i) || !scr_extent_equal(&k->content, base, i))
		return r;
	pthread_mutex_lock(&w->p->ctx->lock);
	w->p->sum.transient++;
	pthread_mutex_unlock(&w->p->ctx->lock);
	scr_warn(w->p, (char *)w->path.data, w->path.len,
		 "read wrong at first and right at the second try, at byte %llu: check memory, "
		 "cable and controller",
		 (unsigned long long)(base->cut.offset + (uint64_t)i * base->cut.block));
	return 1;
}

int scr_extent_find_bad(struct scr_worker *k, struct scr_work *w, const struct scr_extent *base,
			uint32_t i, struct scr_findings *f)
{
	int r = 0;

	for (uint32_t j = 0; r == 0 && j < k->content.bad_count; j++)
		if (k->content.bad[j].block == i)
			r = push(f, base, unreadable(w, &k->content.bad[j]));
	return r;
}

int scr_extent_find(struct scr_worker *k, struct scr_work *w, const struct scr_extent *base,
		    uint32_t i, uint8_t kind, struct scr_findings *f)
{
	struct scr_content *c = &k->content;
	int r;

	if (!scr_content_is_bad(c, i)) {
		if (scr_extent_equal(c, base, i))
			return 0;
		r = confirm(k, w, base, i);
		if (r != 0)
			return r < 0 ? r : 0;
	}
	if (scr_content_is_bad(c, i))
		return scr_extent_find_bad(k, w, base, i, f);
	return push(f, base,
		    (struct scr_damage_record){
			    .block = i,
			    .kind = kind,
			    .seen = c->checks[i],
			    .seen_length = scr_content_length(c, i),
			    .length = scr_block_length(&base->cut, i),
			    .first_ns = w->began_ns,
			    .last_ns = w->began_ns,
		    });
}

enum scr_verdict scr_findings_verdict(const struct scr_findings *f, enum scr_verdict difference)
{
	enum scr_verdict v = SCR_OK;

	for (uint32_t i = 0; i < f->count; i++) {
		if (f->list[i].kind == SCR_REC_UNREADABLE)
			v = scr_verdict_worst(v, SCR_UNREADABLE);
		else
			v = scr_verdict_worst(v, f->list[i].kind == SCR_REC_ROT ? SCR_ROT
										: difference);
	}
	return v;
}

/* The base with what was found now: its record, stamp and parity stay. */
int scr_extent_keep_damaged(struct scr_worker *k, struct scr_work *w, const struct scr_extent *base,
			    struct scr_findings *f)
{
	struct scr_extent *out = scr_worker_result(k);
	int r = out ? scr_extent_copy(out, base) : -ENOMEM;

	if (r < 0)
		return r;
	free(out->damage);
	out->damage = f->list;
	out->damage_count = f->count;
	out->checked_ns = w->began_ns;
	*f = (struct scr_findings){0};
	return 0;
}

int scr_extent_keep_sound(struct scr_worker *k, struct scr_work *w, const struct scr_extent *base,
			  bool renew)
{
	struct scr_extent *out = scr_worker_result(k);
	int r = out ? scr_extent_copy(out, base) : -ENOMEM;

	if (r < 0)
		return r;
	free(out->damage);
	out->damage = NULL;
	out->damage_count = 0;
	r = scr_parity_check(k, w, base, out);
	if (r < 0)
		return r;
	out->checked_ns = w->began_ns;
	out->flags &= ~(uint32_t)SCR_EXTENT_RACY;
	if (is_racy(w))
		out->flags |= SCR_EXTENT_RACY;
	if (renew)
		out->stamp = scr_extent_stamp(w, &base->cut);
	return 0;
}

void scr_extent_count_blocks(struct scr_work *w, uint64_t compared, uint64_t differing)
{
	pthread_mutex_lock(&w->lock);
	w->blocks_compared += compared;
	w->blocks_differing += differing;
	pthread_mutex_unlock(&w->lock);
}

/* Blocks that speak against this being the recorded file: not those that can't be read, nor those
 * that show the bad content that is known of them. */
static uint32_t count_strange(const struct scr_extent *base, const struct scr_findings *f)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < f->count; i++) {
		const struct scr_damage_record *d = &f->list[i],
					       *k = scr_extent_known(base, d->block);

		n += d->kind != SCR_REC_UNREADABLE &&
		     !(k && k->kind != SCR_REC_UNREADABLE && k->seen_length == d->seen_length &&
		       scr_check_equal(k->seen, d->seen));
	}
	return n;
}

static uint64_t bytes_read(const struct scr_worker *k)
{
	struct scr_reader_counts n;

	scr_reader_get_counts(k->reader, &n);
	return n.total;
}

/* Nothing may have changed here: differences are damage. */
static int compare_strictly(struct scr_worker *k, struct scr_work *w, const struct scr_extent *base,
			    enum scr_relation rel)
{
	/* lazytime keeps times in memory: a crash can lose those of a legitimate write. */
	bool lazy = w->p->fs.lazytime && base->recorded_ns < w->p->boot_ns;
	bool racy = (base->flags & SCR_EXTENT_RACY) || lazy;
	enum scr_verdict v = scr_judge_difference(rel, racy);
	const uint64_t before = bytes_read(k);
	struct scr_findings f = {0};
	uint8_t kind;
	int r = 0;

	if (v == SCR_CHANGED && !w->verify)
		v = SCR_ALTERED; /* frozen */
	kind = v == SCR_ROT ? SCR_REC_ROT : SCR_REC_ALTERED;
	for (uint32_t i = 0; r == 0 && i < base->cut.blocks; i++)
		r = scr_extent_find(k, w, base, i, kind, &f);
	/* A file that is being written is no news, whatever was found in it. */
	if (r < 0 || ((f.count > 0 || bytes_read(k) != before) && !scr_work_unchanged(k, w)))
		goto out;
	scr_extent_count_blocks(w, base->cut.blocks, count_strange(base, &f));
	if (f.count > 0) {
		scr_work_found(w, scr_findings_verdict(&f, v), true);
		r = scr_extent_keep_damaged(k, w, base, &f);
	} else {
		if (rel != SCR_REL_SAME)
			w->any_touched = true;
		r = w->verify ? scr_parity_check(k, w, base, NULL)
			      : scr_extent_keep_sound(k, w, base, rel != SCR_REL_SAME);
	}
out:
	free(f.list);
	return r;
}

/* mtime moved and part can't be read: nobody knows what changed, so the record stays. */
static int keep_unreadable(struct scr_worker *k, struct scr_work *w, const struct scr_extent *base)
{
	struct scr_findings f = {0};
	int r = 0;

	for (uint32_t j = 0; r == 0 && j < k->content.bad_count; j++)
		r = push(&f, base, unreadable(w, &k->content.bad[j]));
	if (r == 0) {
		scr_work_found(w, SCR_UNREADABLE, true);
		r = scr_extent_keep_damaged(k, w, base, &f);
	}
	free(f.list);
	return r;
}

/* Whether block @i differs in one bit from what was recorded. */
bool scr_extent_looks_like_flip(const struct scr_content *c, const struct scr_extent *base,
				uint32_t i)
{
	struct scr_check was = expected(base, i), now = c->checks[i];
	uint32_t byte;
	unsigned int bit;

	return scr_content_length(c, i) == scr_block_length(&base->cut, i) &&
	       scr_bitflip_find(was.crc, was.inet, now.crc, now.inet,
				scr_block_length(&base->cut, i), &byte, &bit);
}

/* mtime moved: other content is a change. */
static int compare_changed(struct scr_worker *k, struct scr_work *w, const struct scr_extent *base)
{
	struct scr_content *c = &k->content;
	uint32_t differing = 0, first = 0;

	if (c->bad_count > 0)
		return keep_unreadable(k, w, base);
	for (uint32_t i = 0; i < base->cut.blocks; i++)
		if (!scr_extent_equal(c, base, i) && differing++ == 0)
			first = i;
	scr_extent_count_blocks(w, base->cut.blocks, differing);
	if (differing == 1 && scr_extent_looks_like_flip(c, base, first))
		w->any_flip = true;
	w->any_touched = true;
	if (differing == 0)
		return scr_extent_keep_sound(k, w, base, true);
	scr_work_found(w, SCR_CHANGED, false);
	return scr_extent_record(k, w, NULL);
}

static int process_content(struct scr_worker *k, struct scr_work *w, const struct scr_extent *base)
{
	enum scr_relation rel;

	if (!base || w->record_all || (base->flags & SCR_EXTENT_UNRECORDED) ||
	    w->e.action == SCR_PLAN_ACCEPT) {
		if (k->content.present < k->content.cut.length)
			return scr_work_read_error(w, -ESTALE);
		/* Nothing to compare with; but what still can't be read is damage, and known. */
		if (k->content.bad_count > 0 && w->verify && base)
			return keep_unreadable(k, w, base);
		w->any_new = true;
		return w->verify ? 0 : scr_extent_record(k, w, base);
	}
	if (w->p->device)
		return scr_device_check(k, w, base);
	rel = scr_judge(&w->p->policy, &base->stamp, &w->base, &w->st, w->e.flags & SCR_PLAN_MOVED);
	if (rel == SCR_REL_MTIME && !w->verify && !(w->e.flags & SCR_PLAN_FROZEN) &&
	    !w->differs_in_size)
		return compare_changed(k, w, base);
	return compare_strictly(k, w, base, rel);
}

/* A run of holes, recorded or found equal to a recorded one: no content to read. */
static int process_run(struct scr_worker *k, struct scr_work *w, const struct scr_cut *cut,
		       uint64_t run, const struct scr_extent *base)
{
	uint64_t size =
		w->record_all || !w->has_base ? (uint64_t)w->st.st_size : w->base.stamp.size;
	struct scr_cut last =
		scr_cut_extent(&w->p->header.settings.geometry, size, cut->index + run - 1);
	struct scr_extent *out;

	k->p->ctx->bytes_done += last.offset + last.length - cut->offset;
	if (!scr_work_unchanged(k, w))
		return 0;
	if (!base)
		w->any_new = true;
	else if (scr_judge(&w->p->policy, &base->stamp, &w->base, &w->st,
			   w->e.flags & SCR_PLAN_MOVED) != SCR_REL_SAME)
		w->any_touched = true;
	if (w->verify)
		return 0;
	out = scr_worker_result(k);
	if (!out)
		return -ENOMEM;
	out->cut = *cut;
	stamp_result(out, w);
	if (base)
		out->recorded_ns = base->recorded_ns;
	out->run = run;
	out->run_length = last.offset + last.length - cut->offset;
	out->hole = true;
	return 0;
}

/* Of a device only what is damaged is accepted: the rest may hold rot that nobody knows yet. */
static bool is_left_alone(const struct scr_work *w, const struct scr_extent *base)
{
	return w->p->device && w->e.action == SCR_PLAN_ACCEPT && base && base->damage_count == 0;
}

/* Whether the fold is of any use: there is parity to compare it with, or to be written. */
static bool wants_fold(const struct scr_work *w, const struct scr_extent *base)
{
	return (!w->verify && w->p->header.settings.parity) ||
	       (base && (base->parity_segment || (base->flags & SCR_EXTENT_PARITY_ZERO)));
}

int scr_extent_process(struct scr_worker *k, struct scr_work *w, const struct scr_cut *cut,
		       uint64_t run, const struct scr_extent *base)
{
	struct scr_content_reader cr = scr_worker_content_reader(k, w, false);
	uint32_t before = k->result_count;
	bool failed;
	int r;

	if (w->state != SCR_WORK_OPEN || is_left_alone(w, base))
		return 0;
	if (run > 1)
		return process_run(k, w, cut, run, base);
	cr.fold &= wants_fold(w, base);
	r = scr_content_read(&cr, cut, &k->content);
	if (r < 0)
		return scr_work_read_error(w, r);
	if (w->p->device && scr_device_believe(k, w) < 0)
		return -ENODEV;
	if (w->resized && cut->index >= w->fit)
		w->recut = true;
	if (!scr_work_unchanged(k, w))
		return 0;
	r = process_content(k, w, base);
	failed = r < 0;
	if (failed && !k->store_failed)
		r = scr_work_read_error(w, r);
	/* What was not settled well is not journalled. */
	if (failed || w->state != SCR_WORK_OPEN)
		while (k->result_count > before)
			scr_extent_free(&k->results[--k->result_count]);
	return r;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Checking a device: extent by extent, each difference judged by the region that it lies in.
 *
 *	a part that is gone              missing, as the device as a whole; its records stay
 *	a part that is new               recorded, once the old last extent was compared as it was
 *cut a block that differs             rot, altered, or written; see scr_stamp_judge() any rot in an
 *extent             the whole extent keeps its record all reads fail                   the device
 *is asked where it read well before
 */
#include <config.h>
#include "pass/device.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "pass/extent_internal.h"
#include "pass/parity.h"

/* Places all over a device that are asked whether it still answers. */
#define PROBE_PLACES 16
#define PROBE_TRIES 3
#define PROBE_BYTES 4096u
/* Whether somebody came to write is looked at again after this. */
#define LOOK_AGAIN_NS SCR_NS_PER_S

/* ---- whether it is there ----------------------------------------------------------------- */

static bool reads_at(struct scr_worker *k, uint64_t offset)
{
	struct scr_bad_range bad;
	unsigned int nbad = 0;
	const uint8_t *data;
	ssize_t n = scr_reader_reread(k->reader, offset, PROBE_BYTES, &data, &bad, 1, &nbad);

	return n > 0 && nbad == 0;
}

/* A page of the extent that could be read a moment ago; false: there is none. */
static bool find_good(const struct scr_content *c, uint64_t *offset)
{
	uint32_t at = 0;

	for (uint32_t i = 0; i < c->bad_count; i++) {
		uint32_t from = c->bad[i].block * c->cut.block + c->bad[i].start;

		if (from >= at + PROBE_BYTES)
			break;
		at = from + c->bad[i].length;
		at += (PROBE_BYTES - at % PROBE_BYTES) % PROBE_BYTES;
	}
	*offset = c->cut.offset + at;
	return (uint64_t)at + PROBE_BYTES <= c->present;
}

static bool answers(struct scr_worker *k, const struct scr_content *c)
{
	struct scr_pass_device *d = k->p->device;
	uint64_t pages = d->d.size / PROBE_BYTES, near = 0, at;
	bool any, have = find_good(c, &near);

	pthread_mutex_lock(&d->lock);
	any = d->any_good;
	at = d->good_at;
	pthread_mutex_unlock(&d->lock);
	/* A disk that fails now and then is still there. */
	for (int i = 0; i < PROBE_TRIES; i++)
		if ((have && reads_at(k, near)) || (any && reads_at(k, at)))
			return true;
	for (uint64_t i = 0; i < PROBE_PLACES && pages > 0; i++)
		if (reads_at(k, pages * i / PROBE_PLACES * PROBE_BYTES))
			return true;
	return false;
}

int scr_device_believe(struct scr_worker *k, struct scr_work *w)
{
	struct scr_pass_device *d = k->p->device;
	bool told, good = k->content.bad_count == 0;

	if (!good && !answers(k, &k->content)) {
		pthread_mutex_lock(&d->lock);
		told = d->gone;
		d->gone = true;
		pthread_mutex_unlock(&d->lock);
		if (!told)
			scr_trouble(w->p, NULL, 0, EIO,
				    "the device does not answer%s: stopped; what was done before "
				    "is kept, and none of this counts as damage",
				    d->any_good ? " any more, not even where it read well before"
						: "");
		return -ENODEV;
	}
	if (!good || k->content.present < PROBE_BYTES)
		return 0;
	pthread_mutex_lock(&d->lock);
	d->any_good = true;
	d->good_at = k->content.cut.offset;
	pthread_mutex_unlock(&d->lock);
	return 0;
}

/* ---- whether somebody writes ------------------------------------------------------------- */

/* Whether the regions show what they showed when the pass began. */
static bool regions_same(struct scr_pass *p)
{
	const struct scr_pass_device *d = p->device;
	struct scr_region *now = NULL;
	size_t count = 0;
	bool same;

	if (scr_regions_probe(p->rootfd, d->d.size, d->d.logical, &now, &count) < 0)
		return true; /* what can't be read says nothing */
	same = count == d->region_count;
	for (size_t i = 0; same && i < count; i++)
		same = now[i].offset == d->regions[i].offset && now[i].kind == d->regions[i].kind &&
		       now[i].evidence == d->regions[i].evidence &&
		       now[i].token == d->regions[i].token;
	free(now);
	return same;
}

/* Looked at before anything new is called rot: a device can be mounted in the middle of a pass. */
static bool is_disturbed(struct scr_pass *p)
{
	struct scr_pass_device *d = p->device;
	struct scr_use use = {0};
	int64_t now = scr_clock_monotonic(p->ctx->clock);
	bool disturbed, told;

	if (d->forced)
		return false;
	pthread_mutex_lock(&d->lock);
	told = d->disturbed;
	if (!told && (!d->looked_ns || now - d->looked_ns > LOOK_AGAIN_NS)) {
		d->looked_ns = now;
		d->disturbed = scr_device_use(p, &use) == 1 || !regions_same(p);
	}
	disturbed = d->disturbed;
	pthread_mutex_unlock(&d->lock);
	if (disturbed && !told)
		scr_trouble(p, NULL, 0, 0,
			    "the device came into use while it was being read%s%s: differences "
			    "prove nothing, and are left for another pass",
			    use.kind ? ": " : "", use.kind ? use.what : "");
	return disturbed;
}

/* ---- comparing --------------------------------------------------------------------------- */

/* What is found in one extent, besides damage. */
struct difference {
	struct scr_findings damage;
	uint32_t written, unsure, in_use; /* blocks that differ */
	uint32_t first;                   /* of the written ones */
	bool cut_off;                     /* part of it is behind the end of the device */
};

/* Known damage that still shows what it showed. */
static bool shows_bad(const struct scr_content *c, const struct scr_damage_record *d, uint32_t i)
{
	return d && d->kind != SCR_REC_UNREADABLE && d->seen_length == scr_content_length(c, i) &&
	       scr_check_equal(d->seen, c->checks[i]);
}

static int find_damage(struct scr_worker *k, struct scr_work *w, const struct scr_extent *base,
		       uint32_t i, enum scr_device_judgement judged, struct difference *x)
{
	uint32_t before = x->damage.count;
	uint8_t kind = judged == SCR_JUDGED_ROT ? SCR_REC_ROT : SCR_REC_ALTERED;
	int r = scr_extent_find(k, w, base, i, kind, &x->damage);

	/* Damage that the file system was written around is no longer rot alone. */
	for (uint32_t j = before; j < x->damage.count && judged >= SCR_JUDGED_WRITTEN; j++) {
		if (x->damage.list[j].kind == SCR_REC_UNREADABLE)
			continue;
		x->damage.list[j].kind = SCR_REC_ALTERED;
		if (!w->verify)
			x->damage.list[j].flags |= SCR_DAMAGE_CARRIED;
	}
	return r;
}

static int differs(struct scr_worker *k, struct scr_work *w, const struct scr_extent *base,
		   uint32_t i, struct difference *x)
{
	enum scr_device_judgement judged = scr_device_judge(w->p, &base->cut, &base->stamp, i);
	bool known = shows_bad(&k->content, scr_extent_known(base, i), i);

	if (w->p->device->forced && !known) {
		x->in_use++;
		return 0;
	}
	if (judged >= SCR_JUDGED_WRITTEN && !known && !w->verify) {
		if (x->written++ == 0)
			x->first = i;
		x->unsure += judged == SCR_JUDGED_UNSURE;
		return 0;
	}
	return find_damage(k, w, base, i, judged, x);
}

static int look_at(struct scr_worker *k, struct scr_work *w, const struct scr_extent *base,
		   uint32_t i, struct difference *x)
{
	const struct scr_content *c = &k->content;

	if (scr_content_is_bad(c, i))
		return scr_extent_find_bad(k, w, base, i, &x->damage);
	if (scr_content_length(c, i) < scr_block_length(&base->cut, i)) {
		x->cut_off = true; /* told of the device as a whole */
		return 0;
	}
	return scr_extent_equal(c, base, i) ? 0 : differs(k, w, base, i, x);
}

static bool any_news(const struct scr_extent *base, const struct difference *x)
{
	for (uint32_t i = 0; i < x->damage.count; i++)
		if (x->damage.list[i].kind != SCR_REC_UNREADABLE &&
		    !scr_extent_known(base, x->damage.list[i].block))
			return true;
	return false;
}

static void count_others(struct scr_work *w, const struct scr_extent *base,
			 const struct difference *x)
{
	struct scr_pass_device *d = w->p->device;

	pthread_mutex_lock(&d->lock);
	d->in_use_blocks += x->in_use;
	d->unsure_blocks += x->damage.count ? 0 : x->unsure;
	pthread_mutex_unlock(&d->lock);
	scr_extent_count_blocks(w, base->cut.blocks, x->written);
}

/* Nothing is damaged. */
static int settle_sound(struct scr_worker *k, struct scr_work *w, const struct scr_extent *base,
			const struct difference *x)
{
	struct scr_stamp now = scr_device_stamp(w->p, base->cut.offset, base->cut.length);
	bool renew = scr_stamp_judge(&base->stamp, &now, &now) >= SCR_JUDGED_WRITTEN;

	if (x->in_use) {
		scr_work_found(w, SCR_SKIPPED, false);
		return 0;
	}
	if (x->written)
		scr_work_found(w, SCR_CHANGED, false);
	if (x->cut_off)
		return 0;
	if (x->written) {
		if (x->written == 1 && scr_extent_looks_like_flip(&k->content, base, x->first))
			w->any_flip = true;
		return scr_extent_record(k, w, NULL);
	}
	if (w->verify)
		return scr_parity_check(k, w, base, NULL);
	return scr_extent_keep_sound(k, w, base, renew && !w->p->device->forced);
}

int scr_device_check(struct scr_worker *k, struct scr_work *w, const struct scr_extent *base)
{
	struct difference x = {0};
	int r = 0;

	for (uint32_t i = 0; r == 0 && i < base->cut.blocks; i++)
		r = look_at(k, w, base, i, &x);
	if (r < 0 || !scr_work_unchanged(k, w))
		goto out;
	if (any_news(base, &x) && is_disturbed(w->p)) {
		scr_work_found(w, SCR_SKIPPED, false);
		goto out;
	}
	count_others(w, base, &x);
	if (x.damage.count > 0) {
		scr_work_found(w, scr_findings_verdict(&x.damage, SCR_ALTERED), true);
		r = scr_extent_keep_damaged(k, w, base, &x.damage);
	} else {
		r = settle_sound(k, w, base, &x);
	}
out:
	free(x.damage.list);
	return r;
}

/* ---- size -------------------------------------------------------------------------------- */

/* The last recorded extent of the device into @e. 0 or -errno. */
static int load_last(struct scr_work *w, struct scr_extent *e)
{
	struct scr_mreader *m = NULL;
	struct scr_file_record f;
	struct scr_link_record l;
	const char *why;
	int r = scr_mreader_open(w->p->manifest_fd, scr_kernels_reference(), &m, &why);

	if (r == 0)
		r = scr_mreader_seek(m, w->e.source);
	if (r == 0)
		r = scr_mreader_next(m, &f, &l, NULL);
	while (r > 0)
		r = scr_mreader_extent(m, e);
	scr_mreader_free(m);
	return r;
}

/* Whether the last extent, as it was cut, holds what is recorded, or was written since. 1, 0,
 * -errno. What differs keeps its record: cut anew, its rot would be recorded as right. */
static int last_is_sound(struct scr_worker *k, struct scr_work *w, const struct scr_extent *base)
{
	struct scr_content_reader cr = scr_worker_content_reader(k, w, false);
	int r;

	if (base->flags & SCR_EXTENT_UNRECORDED)
		return 1;
	r = scr_content_read(&cr, &base->cut, &k->content);
	if (r < 0)
		return r;
	for (uint32_t i = 0; i < base->cut.blocks; i++) {
		if (scr_content_is_bad(&k->content, i))
			return 0;
		if (scr_extent_equal(&k->content, base, i))
			continue;
		if (shows_bad(&k->content, scr_extent_known(base, i), i) ||
		    scr_device_judge(w->p, &base->cut, &base->stamp, i) < SCR_JUDGED_WRITTEN)
			return 0;
	}
	return 1;
}

static void resize(struct scr_work *w)
{
	w->resized = true;
	w->fit = scr_extents_alike(w->base.stamp.size, (uint64_t)w->st.st_size);
}

static int decide_grown(struct scr_worker *k, struct scr_work *w)
{
	uint64_t more = (uint64_t)w->st.st_size - w->base.stamp.size;
	uint64_t extents = scr_extent_count(w->base.stamp.size);
	struct scr_extent last = {0};
	int r = 1;

	if (w->verify || w->p->device->forced) {
		scr_note(w->p, "the device has %" PRIu64 " bytes more than are recorded", more);
		return 0;
	}
	if (scr_extents_alike(w->base.stamp.size, (uint64_t)w->st.st_size) < extents) {
		r = load_last(w, &last);
		if (r == 0)
			r = last.checks || last.hole ? last_is_sound(k, w, &last) : 1;
	}
	scr_extent_free(&last);
	if (r < 0)
		return scr_work_read_error(w, r);
	if (r > 0)
		resize(w);
	else
		scr_warn(w->p, NULL, 0,
			 "the device has %" PRIu64
			 " bytes more than are recorded; they are recorded when the damage at its "
			 "old end is repaired or accepted",
			 more);
	return 0;
}

/* A part that is not there any more is damage, whoever did it: its record is all that is left. */
static void decide_shrunk(struct scr_work *w)
{
	w->differs_in_size = true;
	scr_work_file_damage(w, SCR_REC_MISSING, (uint64_t)w->st.st_size);
	scr_work_note_damage(w, SCR_DAMAGE_MISSING, 0);
	scr_work_found(w, SCR_MISSING, true);
}

int scr_device_decide(struct scr_worker *k, struct scr_work *w)
{
	uint64_t was = w->base.stamp.size, is = (uint64_t)w->st.st_size;

	if (was == is)
		return 0;
	if (w->e.action == SCR_PLAN_ACCEPT)
		resize(w);
	else if (was < is)
		return decide_grown(k, w);
	else
		decide_shrunk(w);
	return 0;
}

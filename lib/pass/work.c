/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A file's beginning and end: open, decide about known damage, judge. */
#include <config.h>
#include "pass/work.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "pass/device.h"

/* ---- opening ----------------------------------------------------------------------------- */

static bool is_vanished(int err)
{
	return err == ENOENT || err == ENOTDIR || err == ELOOP || err == EINVAL || err == EXDEV;
}

/* Damage of the file as a whole, to be told when its verdict is. */
void scr_work_note_damage(struct scr_work *w, enum scr_damage_kind kind, int err)
{
	w->file_news = true;
	w->file_kind = kind;
	w->file_err = err;
}

static void tell_file_damage(struct scr_work *w)
{
	int64_t since = w->has_base ? w->base.damage.first_ns : 0;
	bool sized = w->differs_in_size;
	uint64_t from = sized && w->p->device ? (uint64_t)w->st.st_size : 0;

	if (!w->file_news)
		return;

	scr_emit_damage(w->p, &(struct scr_damage){
				      .name = {(char *)w->path.data, w->path.len},
				      .kind = w->file_kind,
				      .block = SCR_NO_BLOCK,
				      .offset = from,
				      .length = w->has_base ? w->base.stamp.size - from : 0,
				      .size_was = sized ? (int64_t)w->base.stamp.size : -1,
				      .size_now = sized ? (int64_t)w->st.st_size : -1,
				      .since = since,
				      .known = since != 0,
				      .carried = w->file_damage.flags & SCR_DAMAGE_CARRIED,
				      .err = w->file_err,
			      });
}

void scr_work_file_damage(struct scr_work *w, uint8_t kind, uint64_t size)
{
	bool known = w->has_base && w->base.damage.kind;

	w->file_damage = (struct scr_damage_record){
		.block = SCR_NO_BLOCK32,
		.kind = kind,
		.size_seen = size,
		.first_ns = known ? w->base.damage.first_ns : w->began_ns,
		.last_ns = w->began_ns,
	};
}

static void cannot_open(struct scr_work *w, int err)
{
	const char *path = (char *)w->path.data;

	if (is_vanished(err) && w->verify) {
		scr_work_note_damage(w, SCR_DAMAGE_MISSING, 0);
		scr_work_found(w, SCR_MISSING, true);
		w->state = SCR_WORK_SETTLED;
	} else if (is_vanished(err)) {
		w->state = SCR_WORK_CHANGED;
	} else if (scr_errno_is_medium(err)) {
		scr_work_file_damage(w, SCR_REC_UNREADABLE, 0);
		scr_work_note_damage(w, SCR_DAMAGE_UNREADABLE, err);
		scr_work_found(w, SCR_UNREADABLE, true);
		w->state = SCR_WORK_SETTLED;
	} else {
		scr_trouble(w->p, path, w->path.len, err, "cannot open the file");
		w->lost = scr_work_errno_lost(err);
		w->state = SCR_WORK_FAILED;
	}
}

static int open_file(struct scr_worker *k, struct scr_work *w)
{
	const struct scr_pass *p = w->p;
	bool leaf = p->leaf && w->path.len == 1;
	const char *name = leaf ? p->leaf : (char *)w->path.data;
	size_t len = leaf ? strlen(name) : w->path.len;
	int fd = p->device ? scr_device_open_file(w->p, &w->st)
			   : scr_opener_open(&k->opener, p->rootfd, name, len,
					     !p->policy.cross_mounts, &w->st);

	if (fd < 0)
		return fd;
	w->fd = fd;
	w->opened = true;
	return 0;
}

/* ---- known damage under an edit ---------------------------------------------------------- */

static bool is_recorded(struct scr_worker *k, const struct scr_extent *e, uint32_t block,
			const uint8_t *data, uint32_t len)
{
	struct scr_check was = e->hole ? scr_check_zeros(len) : e->checks[block];

	return scr_check_equal(scr_check_bytes(k->kernels, data, len), was);
}

/* Whether block @d->block of the open file still shows the bad content of @d. 1, 0, -errno. */
static int shows_bad_content(struct scr_worker *k, const struct scr_extent *e,
			     const struct scr_damage_record *d)
{
	struct scr_bad_range bad[1];
	unsigned int nbad = 0;
	const uint8_t *data;
	uint64_t at = e->cut.offset + (uint64_t)d->block * e->cut.block;
	uint32_t len = scr_block_length(&e->cut, d->block);
	ssize_t n = scr_reader_read(k->reader, at, len, &data, bad, 1, &nbad);

	if (n < 0)
		return (int)n;
	if (nbad > 0 || d->kind == SCR_REC_UNREADABLE)
		return nbad > 0;
	if (n < d->seen_length || d->seen_length == 0)
		return 0;
	/* What was cut short may have its end again. */
	if (n == len && is_recorded(k, e, d->block, data, len))
		return 0;
	return scr_check_equal(scr_check_bytes(k->kernels, data, d->seen_length), d->seen);
}

/* Keeps extent @e with its damage marked as carried along by an edit. */
static int carry(struct scr_worker *k, struct scr_work *w, const struct scr_extent *e)
{
	struct scr_extent *out = scr_worker_result(k);
	int r = out ? scr_extent_copy(out, e) : -ENOMEM;

	if (r < 0)
		return r;
	for (uint32_t i = 0; i < out->damage_count; i++) {
		/* Somebody wrote the file since: what is left of the damage is no longer rot alone. */
		if (out->damage[i].kind == SCR_REC_ROT)
			out->damage[i].kind = SCR_REC_ALTERED;
		if (out->damage[i].kind == SCR_REC_UNREADABLE)
			scr_work_found(w, SCR_UNREADABLE, true);
		out->damage[i].flags |= SCR_DAMAGE_CARRIED;
		out->damage[i].last_ns = w->began_ns;
	}
	return 0;
}

/* A size that was damage and is still the same under new times. */
static bool size_still_bad(const struct scr_work *w)
{
	uint8_t kind = w->base.damage.kind;

	return (kind == SCR_REC_ROT || kind == SCR_REC_ALTERED) &&
	       w->base.damage.size_seen == (uint64_t)w->st.st_size &&
	       w->base.stamp.size != (uint64_t)w->st.st_size;
}

static int any_bad_content(struct scr_worker *k, struct scr_work *w)
{
	for (uint32_t i = 0; i < w->damaged_count; i++) {
		const struct scr_extent *e = &w->damaged[i];

		if (scr_judge(&w->p->policy, &e->stamp, &w->base, &w->st, false) != SCR_REL_MTIME)
			continue;
		for (uint32_t j = 0; j < e->damage_count; j++) {
			int r = shows_bad_content(k, e, &e->damage[j]);

			if (r != 0)
				return r;
		}
	}
	return 0;
}

/*
 * An edit must not launder rot: if a damaged block still shows the bad content, the file was not
 * replaced, and its record stays.
 */
static int decide_carried(struct scr_worker *k, struct scr_work *w)
{
	bool size_bad = size_still_bad(w) &&
			scr_judge(&w->p->policy, &w->base.stamp, &w->base, &w->st, false) ==
				SCR_REL_MTIME;
	int r = any_bad_content(k, w);

	if (r < 0)
		return scr_work_read_error(w, r);
	if (r == 0 && !size_bad)
		return 0;
	for (uint32_t i = 0; i < w->damaged_count; i++) {
		r = carry(k, w, &w->damaged[i]);
		if (r < 0)
			return r;
	}
	/* That it could not be opened, or was missing, is over. */
	if (w->base.damage.kind == SCR_REC_ROT || w->base.damage.kind == SCR_REC_ALTERED) {
		w->file_damage = w->base.damage;
		if (w->file_damage.kind == SCR_REC_ROT)
			w->file_damage.kind = SCR_REC_ALTERED;
		w->file_damage.flags |= SCR_DAMAGE_CARRIED;
		w->file_damage.last_ns = w->began_ns;
		scr_work_note_damage(w, SCR_DAMAGE_ALTERED, 0);
	}
	scr_work_found(w, SCR_ALTERED, true);
	w->state = SCR_WORK_SETTLED;
	return 0;
}

/* ---- size -------------------------------------------------------------------------------- */

/* The recorded size is another one and no edit explains it. */
static void size_is_damage(struct scr_work *w, enum scr_relation rel)
{
	enum scr_verdict v = scr_judge_difference(rel, false);
	enum scr_damage_kind kind = v == SCR_ROT ? SCR_DAMAGE_ROT : SCR_DAMAGE_ALTERED;

	if (v == SCR_CHANGED && w->verify)
		kind = SCR_DAMAGE_CHANGED;
	else if (v == SCR_CHANGED)
		v = SCR_ALTERED;
	w->differs_in_size = true;
	scr_work_file_damage(w, v == SCR_ROT ? SCR_REC_ROT : SCR_REC_ALTERED,
			(uint64_t)w->st.st_size);
	scr_work_note_damage(w, kind, 0);
	scr_work_found(w, v, true);
}

static void decide_size(struct scr_work *w)
{
	enum scr_relation rel;

	if ((uint64_t)w->st.st_size == w->base.stamp.size)
		return;
	rel = scr_judge(&w->p->policy, &w->base.stamp, &w->base, &w->st,
			w->e.flags & SCR_PLAN_MOVED);
	if (rel == SCR_REL_MTIME && !w->verify && !(w->e.flags & SCR_PLAN_FROZEN)) {
		w->record_all = true;
		scr_work_found(w, SCR_CHANGED, false);
		return;
	}
	size_is_damage(w, rel);
}

/* ---- begin ------------------------------------------------------------------------------- */

static int decide(struct scr_worker *k, struct scr_work *w)
{
	int r = 0;

	if (w->p->device && w->has_base)
		return scr_device_decide(k, w);
	if (!w->has_base || w->e.action == SCR_PLAN_ACCEPT) {
		w->record_all = true;
		return 0;
	}
	/* Another inode than planned has no claim on a vanished path's record. */
	if ((w->e.flags & SCR_PLAN_MOVED) && w->st.st_ino != w->e.ino) {
		w->state = SCR_WORK_CHANGED;
		return 0;
	}
	if (!w->verify && !(w->e.flags & SCR_PLAN_FROZEN))
		r = decide_carried(k, w);
	if (r == 0 && w->state == SCR_WORK_OPEN)
		decide_size(w);
	return r;
}

bool scr_work_younger(const struct scr_work *w, int64_t window_ns)
{
	int64_t t = w->p->policy.use_ctime ? scr_ctime_ns(&w->st) : scr_mtime_ns(&w->st);
	int64_t now = w->began_ns + w->p->clock_skew_ns;

	return t > now - window_ns && t <= now + SCR_FUTURE_NS;
}

/*
 * Stores through a mapping move the times only when their page is written back and stored to
 * again: a young file is synced first, so that any later store must move them.
 */
static void sync_young(struct scr_work *w)
{
	const struct scr_reader_ops *ops = w->p->ctx->reader_ops;

	if (w->verify || !scr_work_younger(w, SCR_SYNC_WINDOW_NS))
		return;
	w->unsynced = fdatasync(w->fd) < 0 || ops->fstat(ops->arg, w->fd, &w->st) < 0;
}

int scr_work_begin(struct scr_worker *k, struct scr_work *w)
{
	int r;

	w->began_ns = scr_clock_wall(w->p->ctx->clock);
	scr_ctx_path(w->p->ctx, (char *)w->path.data, w->path.len);
	r = open_file(k, w);
	if (r < 0) {
		if (r == -ENOMEM)
			return r;
		cannot_open(w, -r);
		return 0;
	}
	sync_young(w);
	scr_worker_attach(k, w);
	r = decide(k, w);
	scr_worker_attach(k, w); /* deciding may have settled how it is read */
	return r;
}

/* ---- finish ------------------------------------------------------------------------------ */

static struct scr_file_record from_stat(const struct scr_work *w)
{
	return (struct scr_file_record){
		.stamp = scr_stamp_of(&w->st),
		.fs = w->e.fs,
		.mode = w->st.st_mode,
		.uid = w->st.st_uid,
		.gid = w->st.st_gid,
		.nlink = (uint32_t)w->st.st_nlink,
		.recorded_ns = w->has_base ? w->base.recorded_ns : w->began_ns,
		.path = (char *)w->path.data,
		.path_len = (uint32_t)w->path.len,
	};
}

/* Of a file that could not be opened, as the walk saw it. */
static struct scr_file_record from_plan(const struct scr_work *w)
{
	return (struct scr_file_record){
		.stamp = {.size = w->e.size,
			  .ino = w->e.ino,
			  .mtime_ns = w->e.mtime_ns,
			  .ctime_ns = w->e.ctime_ns},
		.fs = w->e.fs,
		.mode = w->e.mode,
		.uid = w->e.uid,
		.gid = w->e.gid,
		.nlink = w->e.nlink,
		.recorded_ns = w->began_ns,
		.path = (char *)w->path.data,
		.path_len = (uint32_t)w->path.len,
	};
}

static struct scr_file_record from_base(const struct scr_work *w)
{
	struct scr_file_record f = w->base;

	f.path = (char *)w->path.data;
	f.path_len = (uint32_t)w->path.len;
	return f;
}

struct scr_file_record scr_work_interim(const struct scr_work *w)
{
	/* Under another size the old last extent has no place: it stays until that is recorded anew. */
	bool anew = w->record_all || (w->resized && w->recut);

	return w->has_base && !anew ? from_base(w) : from_stat(w);
}

static enum scr_verdict final_verdict(const struct scr_work *w)
{
	enum scr_verdict v = w->worst;

	if (w->e.flags & SCR_PLAN_MOVED)
		v = scr_verdict_worst(v, SCR_MOVED);
	if (w->any_touched)
		v = scr_verdict_worst(v, SCR_TOUCHED);
	if (w->any_new || !w->has_base)
		v = scr_verdict_worst(v, w->has_base && w->record_all ? SCR_CHANGED : SCR_NEW);
	return v;
}

/* The file's times or metadata moved while its content stayed: an empty file shows no extent. */
static bool metadata_moved(const struct scr_work *w)
{
	const struct scr_file_record *b = &w->base;

	if (!w->opened || !w->has_base)
		return false;
	return b->mode != w->st.st_mode || b->uid != w->st.st_uid || b->gid != w->st.st_gid ||
	       b->nlink != w->st.st_nlink ||
	       scr_judge(&w->p->policy, &b->stamp, b, &w->st, false) != SCR_REL_SAME;
}

/* Skipped files are silent, but not for ever. */
static bool skip(struct scr_work *w, struct scr_file_record *f)
{
	int64_t now = scr_clock_wall(w->p->ctx->clock);
	const char *path = (char *)w->path.data;
	uint64_t since;

	w->worst = SCR_SKIPPED;
	scr_emit_file(w->p, &(struct scr_file_event){.name = {path, w->path.len},
						     .verdict = SCR_SKIPPED});
	if (!w->has_base || w->verify)
		return false;
	*f = from_base(w);
	if (!f->skipped_since_ns)
		f->skipped_since_ns = now;
	/* Unsigned: a manifest may hold any time. */
	since = now > f->skipped_since_ns ? (uint64_t)now - (uint64_t)f->skipped_since_ns : 0;
	if (since > (uint64_t)w->p->policy.stale_after_ns)
		scr_trouble(w->p, path, w->path.len, 0,
			    "no pass could check the file for %llu days",
			    (unsigned long long)(since / SCR_NS_PER_S / 86400));
	return true;
}

/* Damage keeps the old record; a new file has none yet. */
static struct scr_file_record new_record(const struct scr_work *w)
{
	if (w->damage_left && w->has_base && !w->record_all && !w->resized)
		return from_base(w);
	return w->opened ? from_stat(w) : from_plan(w);
}

bool scr_work_finish(struct scr_work *w, struct scr_file_record *f)
{
	struct scr_file_event ev = {.name = {(char *)w->path.data, w->path.len}};

	if (w->state == SCR_WORK_CHANGED || w->state == SCR_WORK_FAILED)
		return skip(w, f);
	if (metadata_moved(w) && w->worst == SCR_OK && !w->record_all)
		w->any_touched = true;
	ev.verdict = final_verdict(w);
	if (w->e.action == SCR_PLAN_ACCEPT && !w->damage_left)
		ev.verdict = SCR_CHANGED;
	w->worst = ev.verdict;
	tell_file_damage(w);
	if (w->e.flags & SCR_PLAN_MOVED)
		ev.from = (struct scr_name){w->base.path, w->base.path_len};
	ev.bit_flip = ev.verdict == SCR_CHANGED && w->blocks_differing == 1 && w->any_flip;
	if (w->damage_left) {
		pthread_mutex_lock(&w->p->ctx->lock);
		w->p->sum.files_damaged++;
		pthread_mutex_unlock(&w->p->ctx->lock);
	}
	scr_emit_file(w->p, &ev);
	*f = new_record(w);
	f->damage = w->file_damage;
	f->skipped_since_ns = 0;
	return !w->verify;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Phase 3, PUBLISH: write beside, sync, read back, verify, then rename. */
#include <config.h>
#include "pass/publish.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/path.h"
#include "pass/copies.h"
#include "pass/parity.h"

#define TEMPORARY SCR_MANIFEST_NAME SCR_TEMPORARY_SUFFIX

struct publisher {
	struct scr_pass *p;
	struct scr_mwriter *w;
	int fd;
	struct scr_trailer pass;
};

static int start(struct publisher *pub, struct scr_pass *p)
{
	struct scr_why why = {""};

	*pub = (struct publisher){.p = p, .fd = -1};
	p->header.generation += p->ctx->opt.from_previous && !p->published ? 2 : 1;
	p->header.published_ns = scr_clock_wall(p->ctx->clock);
	pub->fd = scr_state_new_file(&p->state, TEMPORARY, &why);
	if (pub->fd < 0)
		return pub->fd;
	if (p->old) {
		const struct scr_trailer *t = scr_mreader_trailer(p->old);

		pub->pass.pass_start_ns = t->pass_start_ns;
		pub->pass.pass_ns = t->pass_ns;
		pub->pass.last_complete_ns = t->last_complete_ns;
		pub->pass.pass_bytes = t->pass_bytes;
		pub->pass.pass_exit = t->pass_exit;
		pub->pass.window_start_ns = t->window_start_ns;
		pub->pass.window_bytes = t->window_bytes;
	}
	return scr_mwriter_new(pub->fd, scr_pass_kernels(p), &p->header, p->header.published_ns,
			       &pub->w);
}

/* Reads what was written, past the cache as far as that goes, and checks all of it. */
static int verify(struct publisher *pub)
{
	struct scr_mreader *r = NULL;
	const char *why;
	int err;

	posix_fadvise(pub->fd, 0, 0, POSIX_FADV_DONTNEED);
	err = scr_mreader_open(pub->fd, scr_kernels_reference(), &r, &why);
	if (err == 0)
		err = scr_mreader_check(r);
	if (err == 0) {
		struct scr_mreader_damage d;

		scr_mreader_get_damage(r, &d);
		if (d.groups_repaired)
			err = -EBADMSG;
	}
	scr_mreader_free(r);
	return err;
}

static int put_in_place(struct publisher *pub)
{
	struct scr_why why = {""};
	struct scr_trailer t = {0};
	int r = scr_mwriter_finish(pub->w, &pub->pass, &t);

	if (r == 0 && pub->p->segments)
		r = scr_segments_sync(pub->p->segments);
	if (r == 0 && fsync(pub->fd) < 0)
		r = -errno;
	if (r == 0)
		r = verify(pub);
	if (r == 0)
		r = scr_state_publish(&pub->p->state, TEMPORARY, &why);
	if (r < 0) {
		scr_trailer_free(&t);
		return r;
	}
	scr_trailer_free(&pub->p->trailer);
	pub->p->trailer = t;
	pub->p->published = true;
	/* From here on the journal is of another generation and ignored anyway. */
	scr_state_unlink(&pub->p->state, SCR_JOURNAL_NAME);
	return 0;
}

/* Closes what start() opened; @r is the outcome so far. */
static int finish(struct publisher *pub, int r)
{
	struct scr_pass *p = pub->p;

	if (r == 0)
		r = put_in_place(pub);
	scr_mwriter_free(pub->w);
	if (pub->fd >= 0)
		close(pub->fd);
	if (r == 0) {
		/* What was copied to a new segment is no longer needed where it was. */
		if (p->segments)
			scr_segments_collect(p->segments, &p->trailer);
		return scr_publish_copies(p);
	}
	p->header.generation--;
	scr_state_unlink(&p->state, TEMPORARY);
	if (!scr_pass_interrupted(p, r))
		scr_trouble(p, NULL, 0, -r,
			    "cannot write the new manifest in %s; what was known before is kept",
			    p->state.path);
	return r;
}

int scr_publish_empty(struct scr_pass *p)
{
	struct publisher pub;
	int r = finish(&pub, start(&pub, p));

	return r < 0 ? r : scr_pass_reload(p);
}

static int copy_extents(struct publisher *pub, struct scr_view *v, struct scr_extent *e)
{
	int r;

	while ((r = scr_view_extent(v, e)) == 1) {
		r = scr_parity_compact(pub->p, e);
		if (r == 0)
			r = scr_mwriter_extent(pub->w, e);
		if (r < 0)
			return r;
	}
	return r;
}

static int copy_view(struct publisher *pub, struct scr_view *v, struct scr_extent *e)
{
	struct scr_file_record f;
	struct scr_link_record l;
	int r;

	while ((r = scr_view_next(v, &f, &l)) > 0) {
		if (scr_pass_stopped(pub->p)) {
			r = -EINTR;
		} else if (r == SCR_RECORD_LINK) {
			r = scr_mwriter_link(pub->w, &l);
		} else {
			r = scr_mwriter_file(pub->w, &f);
			if (r == 0)
				r = copy_extents(pub, v, e);
		}
		if (r < 0)
			break;
	}
	return r;
}

int scr_publish_view(struct scr_pass *p)
{
	struct scr_extent e = {0};
	struct scr_view *v = NULL;
	struct publisher pub;
	int r = start(&pub, p);

	if (r == 0)
		r = scr_mreader_rewind(p->old);
	if (r == 0)
		r = scr_unseen_copy(p->old, pub.w);
	if (r == 0)
		r = scr_view_new(p->old, p->journal, &v);
	if (r == 0)
		r = copy_view(&pub, v, &e);
	scr_view_free(v);
	scr_extent_free(&e);
	r = finish(&pub, r);
	return r < 0 ? r : scr_pass_reload(p);
}

/* ---- the result of a pass ---------------------------------------------------------------- */

/* What is at hand while the plan is gone through. */
struct merge {
	struct publisher pub;
	const struct scr_planned *planned;
	struct scr_journal *journal;
	struct scr_view *view;
	struct scr_extent extent;
	struct scr_plan_entry e;
	struct scr_buf path, owner;
	uint64_t pos;
};

/* Moves the journal to the plan's path. 1 if it has updates, 0 if not, -errno. */
static int find_update(struct merge *m, struct scr_file_record *f)
{
	const char *path;
	uint32_t len;
	bool done;
	int c, r;

	while ((r = scr_journal_peek(m->journal, &path, &len)) == 1) {
		c = scr_path_cmp(path, len, (char *)m->path.data, m->path.len);
		if (c > 0)
			return 0;
		r = scr_journal_next(m->journal, f, &done);
		if (c == 0 || r < 0)
			return r;
	}
	return r;
}

static int load_base(struct merge *m, struct scr_file_record *f)
{
	struct scr_link_record l;
	int r = scr_mreader_seek(m->pub.p->old, m->e.source);

	if (r == 0)
		r = scr_mreader_next(m->pub.p->old, f, &l, NULL);
	if (r == SCR_RECORD_FILE)
		return 0;
	return r < 0 ? r : -EBADMSG;
}

static void mark_missing(struct merge *m, struct scr_file_record *f)
{
	if (!(m->e.flags & SCR_PLAN_MISSING) || f->damage.kind == SCR_REC_MISSING)
		return;
	f->damage = (struct scr_damage_record){
		.block = SCR_NO_BLOCK32,
		.kind = SCR_REC_MISSING,
		.first_ns = m->pub.p->start_wall_ns,
		.last_ns = m->pub.p->start_wall_ns,
	};
}

/* A file that the walk could not look at. What else is known of it as a whole says more. */
static void mark_unseen(struct merge *m, struct scr_file_record *f)
{
	if (!(m->e.flags & SCR_PLAN_UNSEEN) || !m->planned->unseen.believed)
		return;
	if (f->damage.kind == SCR_REC_UNREADABLE)
		f->damage.last_ns = m->pub.p->start_wall_ns;
	if (f->damage.kind)
		return;
	f->damage = (struct scr_damage_record){
		.block = SCR_NO_BLOCK32,
		.kind = SCR_REC_UNREADABLE,
		.first_ns = m->pub.p->start_wall_ns,
		.last_ns = m->pub.p->start_wall_ns,
	};
}

/* Nothing was read of it, and nothing is recorded: its links have no owner either. */
static int leave_out(struct merge *m)
{
	m->e.flags |= SCR_PLAN_UNWRITTEN;
	return scr_plan_patch(m->planned->plan, m->pos, &m->e);
}

static int write_file(struct merge *m)
{
	struct scr_file_record f;
	int updated = find_update(m, &f), r = 0;

	if (updated < 0)
		return updated;
	if (!updated && m->e.source == SCR_PLAN_NONE)
		return leave_out(m);
	if (!updated)
		r = load_base(m, &f);
	if (r < 0)
		return r;
	f.path = (char *)m->path.data;
	f.path_len = (uint32_t)m->path.len;
	mark_missing(m, &f);
	mark_unseen(m, &f);
	r = scr_mwriter_file(m->pub.w, &f);
	if (r == 0)
		r = scr_view_file_at(m->view, m->e.source, updated, f.stamp.size);
	return r < 0 ? r : copy_extents(&m->pub, m->view, &m->extent);
}

static int write_link(struct merge *m)
{
	struct scr_plan_entry owner;
	struct scr_link_record l = {
		.ino = m->e.ino,
		.fs = m->e.fs,
		.path = (char *)m->path.data,
		.path_len = (uint32_t)m->path.len,
	};
	int r = scr_plan_get(m->planned->plan, m->e.owner, &owner, &m->owner);

	if (r < 0 || (owner.flags & SCR_PLAN_UNWRITTEN))
		return r;
	l.owner = (char *)m->owner.data;
	l.owner_len = (uint32_t)m->owner.len;
	return scr_mwriter_link(m->pub.w, &l);
}

static int write_entry(struct merge *m)
{
	switch ((enum scr_plan_action)m->e.action) {
	case SCR_PLAN_CHECK:
	case SCR_PLAN_RECORD:
	case SCR_PLAN_ACCEPT:
	case SCR_PLAN_KEEP:
		return write_file(m);
	case SCR_PLAN_LINK:
		return write_link(m);
	case SCR_PLAN_GONE:
	case SCR_PLAN_EXCLUDED:
	case SCR_PLAN_MOVED_AWAY:
		break;
	}
	return 0;
}

static int write_plan(struct merge *m)
{
	struct scr_plan_cursor c;
	int r;

	scr_plan_cursor_init(&c, m->planned->plan);
	while ((r = scr_plan_next(&c, &m->e, &m->path, &m->pos)) == 1) {
		r = scr_pass_stopped(m->pub.p) ? -EINTR : write_entry(m);
		if (r < 0)
			break;
		m->pub.p->ctx->files_done++;
	}
	scr_plan_cursor_free(&c);
	return r;
}

/* A window of months: what was read earlier counts less and less, however long this goes on. */
#define WINDOW_NS (60 * 86400 * SCR_NS_PER_S)

/* The first pass only opens it: what it recorded says nothing about checking. */
static void count_in_window(struct scr_trailer *t, int64_t now)
{
	int64_t age = now - t->window_start_ns;

	if (t->window_start_ns == 0 || age < 0) {
		t->window_start_ns = now;
		t->window_bytes = 0;
		return;
	}
	t->window_bytes += t->pass_bytes;
	if (age > WINDOW_NS) {
		t->window_start_ns += age / 2;
		t->window_bytes /= 2;
	}
}

static void describe_pass(struct merge *m, bool complete)
{
	struct scr_pass *p = m->pub.p;
	struct scr_trailer *t = &m->pub.pass;

	t->pass_start_ns = p->start_wall_ns;
	t->pass_ns = scr_clock_monotonic(p->ctx->clock) - p->start_ns;
	t->pass_bytes = p->sum.bytes_read;
	t->pass_exit = (uint32_t)scr_pass_exit_bits(p);
	count_in_window(t, scr_clock_wall(p->ctx->clock));
	if (complete)
		t->last_complete_ns = p->start_wall_ns;
}

/* Damage that is open also counts for a pass that did not look at it. */
static void note_open_damage(struct merge *m)
{
	const struct scr_trailer *sum = scr_mwriter_sum(m->pub.w);

	if (sum->blocks_damaged || sum->files_damaged)
		m->pub.pass.pass_exit |= SCR_EXIT_DAMAGE;
}

int scr_publish_plan(struct scr_pass *p, const struct scr_planned *planned, int journal_fd,
		     bool complete)
{
	struct merge m = {.planned = planned};
	uint64_t valid;
	int r;

	scr_ctx_phase(p->ctx, "publishing", planned->entries, 0);
	r = scr_journal_open(journal_fd, p->header.generation, scr_pass_state_tmpfile, p, &m.journal,
			     &valid);
	if (r == 0)
		r = scr_view_new(p->old, m.journal, &m.view);
	if (r == 0) {
		r = start(&m.pub, p);
		if (r == 0)
			describe_pass(&m, complete);
		if (r == 0)
			r = scr_unseen_write(&planned->unseen, m.pub.w);
		if (r == 0)
			r = write_plan(&m);
		if (r == 0)
			note_open_damage(&m);
		r = finish(&m.pub, r);
	} else {
		scr_trouble(p, NULL, 0, -r, "cannot read the journal in %s", p->state.path);
	}
	scr_view_free(m.view);
	scr_journal_free(m.journal);
	scr_extent_free(&m.extent);
	scr_buf_free(&m.path);
	scr_buf_free(&m.owner);
	return r;
}

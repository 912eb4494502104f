/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* list and status: what is recorded, told without reading any data. */
#include <config.h>
#include "pass/verbs.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "manifest/tally.h"
#include "parity/undo.h"
#include "pass/device.h"
#include "pass/filesum.h"
#include "pass/parity.h"
#include "pass/select.h"

static int open_peek(struct scr_pass *p)
{
	int r = scr_pass_open_state(p, SCR_ACCESS_PEEK);

	return r == -ENOENT && !p->ctx->opt.manifest ? scr_pass_no_manifest(p) : r;
}

/* ---- list -------------------------------------------------------------------------------- */

static enum scr_damage_kind kind_of(uint8_t kind)
{
	switch (kind) {
	case SCR_REC_ROT:
		return SCR_DAMAGE_ROT;
	case SCR_REC_UNREADABLE:
		return SCR_DAMAGE_UNREADABLE;
	case SCR_REC_MISSING:
		return SCR_DAMAGE_MISSING;
	default:
		return SCR_DAMAGE_ALTERED;
	}
}

static void add_damage(struct scr_list_entry *e, const struct scr_damage_record *d)
{
	if (e->damaged_blocks++ == 0) {
		e->damage_kind = kind_of(d->kind);
		e->damaged_since = d->first_ns;
	}
	if (d->first_ns < e->damaged_since)
		e->damaged_since = d->first_ns;
}

static void add_extent(struct scr_list_entry *e, const struct scr_extent *x)
{
	e->blocks += x->cut.blocks * x->run;
	if (e->checked_ns == 0 || x->checked_ns < e->checked_ns)
		e->checked_ns = x->checked_ns;
	e->unrecorded |= (x->flags & SCR_EXTENT_UNRECORDED) != 0;
	for (uint32_t i = 0; i < x->damage_count; i++)
		add_damage(e, &x->damage[i]);
}

static int fill_entry(struct scr_view *v, struct scr_extent *x, const struct scr_file_record *f,
		      struct scr_list_entry *e)
{
	struct scr_filesum sum = {0};
	int r;

	*e = (struct scr_list_entry){
		.name = {f->path, f->path_len},
		.size = f->stamp.size,
		.ino = f->stamp.ino,
		.mtime_ns = f->stamp.mtime_ns,
		.ctime_ns = f->stamp.ctime_ns,
		.recorded_ns = f->recorded_ns,
		.mode = f->mode,
		.uid = f->uid,
		.gid = f->gid,
		.nlink = f->nlink,
	};
	if (f->damage.kind)
		add_damage(e, &f->damage);
	while ((r = scr_view_extent(v, x)) == 1) {
		add_extent(e, x);
		scr_filesum_add(&sum, x);
	}
	e->unrecorded |= sum.length != f->stamp.size;
	e->crc32 = sum.crc;
	return r;
}

static void emit_list(struct scr_pass *p, struct scr_list_entry *e)
{
	struct scr_event ev = {.type = SCR_EV_LIST, .target = p->target, .u.list = e};

	e->name = scr_pass_name(p, e->name.path, e->name.len);
	if (p->ctx->sink)
		p->ctx->sink(p->ctx->sink_arg, &ev);
}

static void list_link(struct scr_pass *p, struct scr_paths *paths, const struct scr_link_record *l)
{
	struct scr_list_entry e = {
		.name = {l->path, l->path_len},
		.link_owner = {l->owner, l->owner_len},
		.ino = l->ino,
	};

	if (scr_paths_take(paths, l->path, l->path_len, false) && !p->ctx->opt.damaged_only)
		emit_list(p, &e);
}

static int list_unseen(struct scr_pass *p, struct scr_paths *paths)
{
	struct scr_unseen_record u;
	int r = scr_mreader_rewind(p->old);

	while (r == 0 && (r = scr_mreader_unseen(p->old, &u)) == 1) {
		struct scr_list_entry e = {
			.name = {u.path, u.path_len},
			.unseen = true,
			.unrecorded = true,
			.mode = u.is_dir ? S_IFDIR : 0,
			.damage_kind = SCR_DAMAGE_UNREADABLE,
			.damaged_since = u.first_ns,
		};

		p->sum.files_damaged++;
		if (scr_paths_take(paths, u.path, u.path_len, true))
			emit_list(p, &e);
		r = 0;
	}
	return r;
}

static int list_all(struct scr_pass *p, struct scr_paths *paths, struct scr_view *v)
{
	struct scr_extent x = {0};
	struct scr_list_entry e;
	struct scr_file_record f;
	struct scr_link_record l;
	int r = 0;

	while (!scr_pass_stopped(p) && (r = scr_view_next(v, &f, &l)) > 0) {
		if (r == SCR_RECORD_LINK) {
			list_link(p, paths, &l);
			continue;
		}
		r = fill_entry(v, &x, &f, &e);
		if (r < 0)
			break;
		if (e.damaged_blocks)
			p->sum.files_damaged++;
		p->sum.blocks_damaged += e.damaged_blocks;
		if (scr_paths_take(paths, f.path, f.path_len, e.damaged_blocks) &&
		    (e.damaged_blocks || !p->ctx->opt.damaged_only))
			emit_list(p, &e);
	}
	scr_extent_free(&x);
	return scr_pass_stopped(p) ? -EINTR : r;
}

int scr_verb_list(struct scr_ctx *ctx, const char *target, const char *const *paths,
		  size_t npaths, struct scr_summary *out)
{
	struct scr_paths select = {0};
	struct scr_view *v = NULL;
	struct scr_pass p;
	int r = scr_pass_begin(&p, ctx, "list", target, false);

	if (r == 0)
		r = scr_paths_init(&select, &p, paths, npaths);
	if (r == 0)
		r = open_peek(&p);
	if (r == 0)
		r = list_unseen(&p, &select);
	if (r == 0)
		r = scr_view_new(p.old, p.journal, &v);
	if (r == 0) {
		r = list_all(&p, &select, v);
		if (r < 0 && !scr_pass_interrupted(&p, r))
			scr_trouble(&p, NULL, 0, r == -EBADMSG ? 0 : -r, "cannot read the manifest");
		scr_paths_tell_unseen(&select);
		p.sum.complete = r == 0;
	}
	scr_view_free(v);
	scr_paths_free(&select);
	return scr_pass_end(&p, r, out);
}

/* ---- status ------------------------------------------------------------------------------ */

/* Less says nothing about how often passes run. */
#define LEAST_WINDOW_NS (86400 * SCR_NS_PER_S)

static double cycle_days(const struct scr_header *h, const struct scr_trailer *t)
{
	int64_t window = h->published_ns - t->window_start_ns;

	if (t->window_start_ns == 0 || window < LEAST_WINDOW_NS || t->window_bytes == 0)
		return 0;
	return (double)(t->bytes - t->hole_bytes) / (double)t->window_bytes * (double)window /
	       (86400.0 * SCR_NS_PER_S);
}

/* As if the checks of a bucket were spread evenly over it. */
static double median_days(const struct scr_trailer *t)
{
	double all = 0, below = 0;

	for (int i = 0; i < SCR_TRAILER_BUCKETS; i++)
		all += (double)t->age_bytes[i];
	for (int i = 0; i < SCR_TRAILER_BUCKETS; i++) {
		double n = (double)t->age_bytes[i], from = i ? (double)(1u << (i - 1)) : 0;

		if (n > 0 && below + n >= all / 2)
			return from + ((double)(1u << i) - from) * (all / 2 - below) / n;
		below += n;
	}
	return -1;
}

/* Recorded bytes that were never checked, and those of recorded files that have no record yet. */
static uint64_t never_checked(const struct scr_trailer *t)
{
	uint64_t known = t->bytes_never_checked;

	for (unsigned int i = 0; i < SCR_TRAILER_BUCKETS; i++)
		known += t->age_bytes[i];
	return t->bytes_never_checked + (t->bytes > known ? t->bytes - known : 0);
}

/* What is recorded, and when it was checked. */
static void fill_counts(struct scr_status *s, const struct scr_trailer *t)
{
	s->files = t->files;
	s->links = t->links;
	s->bytes = t->bytes;
	s->extents = t->extents;
	s->blocks = t->blocks;
	s->hole_bytes = t->hole_bytes;
	s->files_damaged = t->files_damaged;
	s->unseen = t->unseen;
	s->blocks_damaged = t->blocks_damaged;
	s->bytes_damaged = t->bytes_damaged;
	s->extents_unrecorded = t->extents_unrecorded;
	s->parity_bytes = t->parity_bytes;
	s->oldest_check_ns = t->oldest_check_ns;
	s->newest_check_ns = t->newest_check_ns;
	s->bytes_never_checked = never_checked(t);
	s->median_days = median_days(t);
	memcpy(s->age_bytes, t->age_bytes, sizeof(s->age_bytes));
}

static void fill_status(struct scr_pass *p, struct scr_status *s)
{
	const struct scr_header *h = &p->header;
	const struct scr_trailer *t = scr_mreader_trailer(p->old);

	*s = (struct scr_status){
		.generation = h->generation,
		.created_ns = h->created_ns,
		.published_ns = h->published_ns,
		.block_size = h->settings.geometry.block_size,
		.columns = h->settings.geometry.columns,
		.parity_unit = h->settings.geometry.parity_unit,
		.parity = h->settings.parity,
		.cycle_days = cycle_days(h, t),
		.last_pass_start_ns = t->pass_start_ns,
		.last_pass_ns = t->pass_ns,
		.last_complete_ns = t->last_complete_ns,
		.last_pass_bytes = t->pass_bytes,
		.last_pass_exit = (int)t->pass_exit,
	};
	fill_counts(s, t);
	snprintf(s->target, sizeof(s->target), "%s", h->target ? h->target : "");
	snprintf(s->state, sizeof(s->state), "%s",
		 p->ctx->opt.manifest ? p->ctx->opt.manifest : p->state.path);
}

static int tally_extents(struct scr_tally *t, struct scr_view *v, const struct scr_geometry *g,
			 struct scr_extent *x)
{
	int r;

	while ((r = scr_view_extent(v, x)) == 1) {
		r = scr_tally_extent(t, g, x);
		if (r < 0)
			break;
	}
	return r;
}

static int tally_view(struct scr_tally *t, struct scr_view *v, const struct scr_geometry *g)
{
	struct scr_extent x = {0};
	struct scr_file_record f;
	struct scr_link_record l;
	int r;

	while ((r = scr_view_next(v, &f, &l)) > 0) {
		if (r == SCR_RECORD_LINK) {
			scr_tally_link(t);
			continue;
		}
		scr_tally_file(t, &f);
		r = tally_extents(t, v, g, &x);
		if (r < 0)
			break;
	}
	scr_extent_free(&x);
	return r;
}

/* With a journal left behind the trailer of the manifest is not the whole truth: counted anew. */
static int count_with_journal(struct scr_pass *p, struct scr_status *s)
{
	struct scr_tally t;
	struct scr_view *v = NULL;
	struct scr_unseen_record u;
	int r = scr_mreader_rewind(p->old);

	scr_tally_start(&t, scr_clock_wall(p->ctx->clock));
	while (r == 0 && (r = scr_mreader_unseen(p->old, &u)) == 1) {
		scr_tally_unseen(&t);
		r = 0;
	}
	if (r == 0)
		r = scr_view_new(p->old, p->journal, &v);
	if (r == 0)
		r = tally_view(&t, v, &p->header.settings.geometry);
	if (r == 0)
		fill_counts(s, &t.sum);
	scr_tally_free(&t);
	scr_view_free(v);
	return r;
}

/* What is kept of repairs. */
static void fill_undo(struct scr_pass *p, struct scr_status *s)
{
	struct scr_undo_counts n = {0};
	struct scr_undo_log *log = NULL;
	struct scr_why why = {""};
	int r = scr_undo_log_open(&p->state, true, &log, &why);

	if (r == 0)
		r = scr_undo_count(log, &n);
	scr_undo_log_free(log);
	if (r < 0)
		scr_trouble(p, NULL, 0, r == -EPERM ? 0 : -r, "cannot read the undo log in %s%s%s",
			    p->state.path, *why.text ? ": " : "", why.text);
	s->undo_open = n.open;
	s->undo_done = n.done;
	s->undo_damaged = n.damaged;
	s->undo_bytes = n.bytes;
	s->undo_oldest_ns = n.oldest_ns;
	s->undo_newest_ns = n.newest_ns;
	if (n.open && !s->pass_running)
		p->sum.exit |= SCR_EXIT_TROUBLE;
}

static int status(struct scr_pass *p, struct scr_status *s)
{
	int r = 0;

	fill_status(p, s);
	if (p->state.path && !p->locked) {
		s->running_pid = scr_state_holder(&p->state);
		s->pass_running = s->running_pid != 0;
	}
	if (p->state.dirfd >= 0)
		fill_undo(p, s);
	if (p->journal && !s->pass_running) {
		s->journal_records = scr_journal_count(p->journal);
		r = count_with_journal(p, s);
		if (r < 0)
			scr_trouble(p, NULL, 0, r == -EBADMSG ? 0 : -r,
				    "cannot read manifest or journal");
	}
	scr_parity_status(p, s);
	if (p->device) {
		s->device = p->sum.device;
		s->unsure_bytes = scr_device_unsure_bytes(p);
	}
	p->sum.files = s->files + s->links;
	p->sum.bytes = s->bytes;
	p->sum.blocks = s->blocks;
	p->sum.files_damaged = s->files_damaged;
	p->sum.blocks_damaged = s->blocks_damaged;
	p->sum.complete = r == 0;
	return r;
}

int scr_verb_status(struct scr_ctx *ctx, const char *target, struct scr_status *out,
		    struct scr_summary *sum)
{
	struct scr_pass p;
	int r = scr_pass_begin(&p, ctx, "status", target, false);

	if (r == 0)
		r = open_peek(&p);
	if (r == 0)
		r = status(&p, out);
	return scr_pass_end(&p, r, sum);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Phase 1, PLAN: the merge of walk and manifest. */
#include <config.h>
#include "pass/planner.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/path.h"
#include "pass/device.h"
#include "pass/parity.h"
#include "pass/repair.h"
#include "pass/planner_internal.h"
#include "pass/space.h"
#include "walk/resolve.h"

/* The oldest check comes first; the youngest band is never empty of reasons to wait. */
uint8_t scr_plan_band(int64_t now_ns, int64_t oldest_check_ns)
{
	static const int days[] = {90, 30, 7, 1};
	/* Unsigned: a manifest may hold any time. */
	uint64_t age = now_ns > oldest_check_ns ? (uint64_t)now_ns - (uint64_t)oldest_check_ns : 0;
	uint8_t band = 1;

	for (size_t i = 0; i < SCR_ARRAY_SIZE(days); i++, band++)
		if (oldest_check_ns == 0 || age > (uint64_t)(days[i] * 86400 * SCR_NS_PER_S))
			return band;
	return band;
}

/* Reads the extents of the FILE record just read for what planning needs of them. */
static int summarise_extents(struct planner *pl)
{
	struct old_record *o = &pl->old;
	struct scr_extent *e = &pl->extent;
	uint64_t extents = 0;
	int r;

	o->uniform = true;
	o->bare = false;
	o->oldest_ns = INT64_MAX;
	o->newest_ns = 0;
	o->hole_bytes = 0;
	o->damaged = o->file.damage.kind != 0;
	while ((r = scr_mreader_extent(pl->p->old, e)) == 1) {
		/* Extents of a device have stamps of their own. */
		if ((!pl->p->device && !scr_stamp_equal(&e->stamp, &o->file.stamp)) ||
		    (e->flags & SCR_EXTENT_UNRECORDED))
			o->uniform = false;
		o->oldest_ns = SCR_MIN(o->oldest_ns, e->checked_ns);
		o->newest_ns = SCR_MAX(o->newest_ns, e->checked_ns);
		o->hole_bytes += e->hole ? e->run_length : 0;
		o->damaged |= e->damage_count > 0;
		o->bare |= !e->hole && !e->parity_segment && !(e->flags & SCR_EXTENT_PARITY_ZERO);
		extents += e->run;
	}
	o->whole = extents == scr_extent_count(o->file.stamp.size);
	if (o->oldest_ns == INT64_MAX)
		o->oldest_ns = 0;
	return r;
}

/* The next record of the manifest into pl->old; its path is copied. */
int scr_planner_load_old(struct planner *pl)
{
	struct old_record *o = &pl->old;
	int r;

	o->type = SCR_RECORD_END;
	if (!pl->p->old)
		return 0;
	r = scr_mreader_next(pl->p->old, &o->file, &o->link, &o->offset);
	if (r <= 0)
		return r;
	o->type = r;
	pl->out->recorded++;
	scr_buf_clear(&o->path);
	r = r == SCR_RECORD_FILE ? scr_buf_append(&o->path, o->file.path, o->file.path_len)
				 : scr_buf_append(&o->path, o->link.path, o->link.path_len);
	if (r < 0 || o->type == SCR_RECORD_LINK)
		return r;
	r = summarise_extents(pl);
	if (r == 0 && o->file.nlink > 1)
		r = scr_map_put(&pl->old_links, o->file.fs, o->file.stamp.ino, o->offset);
	return r;
}

/* A place that could not be looked at: what is recorded there stays. */
static int note_unlisted(struct planner *pl, const struct scr_walk_entry *w)
{
	const struct scr_buf *old = &pl->old.path;
	int r = 0;

	/* What follows its SCR_WALK_ERROR is noted already. */
	if (w->type == SCR_WALK_ERROR || w->err == EXDEV)
		r = scr_unseen_note(&pl->out->unseen, w->path, w->len, w->is_dir, w->err);
	if (r < 0)
		return r;
	/* No record that is still to come can be in it. */
	if (pl->old.type == SCR_RECORD_END ||
	    (!scr_path_covers(w->path, w->len, (char *)old->data, old->len) &&
	     scr_path_cmp(w->path, w->len, (char *)old->data, old->len) < 0))
		return 0;
	return scr_unlisted_add(&pl->unlisted, w->path, w->len);
}

static void tell_walk_error(struct planner *pl, const struct scr_walk_entry *w)
{
	(void)pl;
	/* ENOENT: vanished while it was listed: skipped, quietly. Medium errors are told later. */
	if (w->err == ENOENT || scr_errno_is_medium(w->err))
		return;
	scr_trouble(pl->p, w->path, w->len, w->err,
		    w->is_dir ? "cannot list the directory" : "cannot look at the file");
}

static int handle_other(struct planner *pl, const struct scr_walk_entry *w)
{
	switch (w->type) {
	case SCR_WALK_ERROR:
		tell_walk_error(pl, w);
		return note_unlisted(pl, w);
	case SCR_WALK_UNLISTED:
		if (w->err == EXDEV)
			scr_note(pl->p, "%.*s is another file system and was left out",
				 (int)w->len, w->path);
		return note_unlisted(pl, w);
	case SCR_WALK_NOTE:
		scr_note(pl->p, "%.*s was taken for state and passed over", (int)w->len, w->path);
		break;
	default:
		break;
	}
	return 0;
}

/* The next regular file of the walk into pl->new. */
int scr_planner_load_new(struct planner *pl)
{
	int r;

	do {
		if (scr_pass_stopped(pl->p))
			return -EINTR;
		r = scr_walk_next(pl->walk, &pl->new);
		if (r == 0 && pl->new.type != SCR_WALK_FILE)
			r = handle_other(pl, &pl->new);
	} while (r == 0 && pl->new.type != SCR_WALK_FILE && pl->new.type != SCR_WALK_END);
	if (r == 0 && pl->new.type == SCR_WALK_FILE) {
		pl->out->walked++;
		pl->p->ctx->files_done++;
		if ((pl->out->walked & 63) == 0)
			scr_ctx_path(pl->p->ctx, pl->new.path, pl->new.len);
	}
	return r;
}

/* The identity of the file system with number @dev, learned once through one of its files. */
static int fs_of(struct planner *pl, const struct scr_walk_entry *w, uint32_t *fs)
{
	struct scr_fs_info info = pl->p->fs;
	struct stat st;
	int fd, r;

	for (uint32_t i = 0; i < pl->dev_count; i++) {
		if (pl->devs[i].dev == w->st.st_dev) {
			*fs = pl->devs[i].fs;
			return 0;
		}
	}
	if (w->st.st_dev != pl->p->root_dev) {
		fd = scr_open_beneath(pl->p->rootfd, w->path, w->len, false, &st);
		if (fd >= 0) {
			scr_fs_info(fd, &info);
			close(fd);
		}
	}
	r = scr_pass_identity(pl->p, &info);
	if (r < 0)
		return r;
	*fs = (uint32_t)r;
	/* More file systems than places: the last place is used again, learning costs time only. */
	pl->devs[pl->dev_count] = (struct dev_fs){w->st.st_dev, *fs};
	if (pl->dev_count + 1 < SCR_ARRAY_SIZE(pl->devs))
		pl->dev_count++;
	return 0;
}

static void fill_entry(struct scr_plan_entry *e, const struct scr_walk_entry *w, uint32_t fs)
{
	*e = (struct scr_plan_entry){
		.source = SCR_PLAN_NONE,
		.owner = SCR_PLAN_NONE,
		.dev = w->st.st_dev,
		.ino = w->st.st_ino,
		.size = (uint64_t)w->st.st_size,
		.mtime_ns = scr_mtime_ns(&w->st),
		.ctime_ns = scr_ctime_ns(&w->st),
		.mode = w->st.st_mode,
		.uid = w->st.st_uid,
		.gid = w->st.st_gid,
		.nlink = (uint32_t)w->st.st_nlink,
		.fs = fs,
		.path_len = (uint32_t)w->len,
		.action = SCR_PLAN_RECORD,
	};
}

/* What a device that has become larger takes more. */
static uint64_t device_parity(const struct planner *pl, uint64_t size)
{
	const struct scr_geometry *g = &pl->p->header.settings.geometry;
	uint64_t was = pl->old.file.stamp.size;

	return size > was ? scr_parity_estimate(g, size - was, size - was) : 0;
}

static void count_entry(struct planner *pl, const struct scr_plan_entry *e)
{
	pl->out->entries++;
	if (e->action != SCR_PLAN_CHECK && e->action != SCR_PLAN_RECORD)
		return;
	pl->out->files++;
	pl->out->bytes += e->size;
	pl->out->bands[e->band]++;
	if (e->action == SCR_PLAN_RECORD)
		pl->out->record_bytes += scr_space_of_records(&pl->p->header.settings.geometry,
							      e->size,
							      (uint64_t)pl->new.st.st_blocks * 512,
							      e->path_len);
	/* New and changed content gets new parity; the rest where it has none yet. */
	if (pl->p->device && e->source != SCR_PLAN_NONE && !pl->old.bare)
		pl->out->parity_bytes += device_parity(pl, e->size);
	else if (e->action == SCR_PLAN_RECORD || e->band == 0 || pl->old.bare)
		pl->out->parity_bytes += scr_parity_estimate(
			&pl->p->header.settings.geometry, e->size,
			(uint64_t)pl->new.st.st_blocks * 512);
}

/* Whether somebody wrote half of it. What is as it was recorded may be looked at in any case. */
static bool under_repair(const struct planner *pl, const struct scr_plan_entry *e, const char *path)
{
	if (scr_repair_holds(pl->p, path, e->path_len, e->ino))
		return true;
	return !(e->flags & SCR_PLAN_UNIFORM) && scr_repair_may_hold(pl->p, e->ctime_ns);
}

/* Adds a walked file; of an inode of several links only the first path is read. */
static int add_walked(struct planner *pl, struct scr_plan_entry *e, const char *path)
{
	uint64_t *owner = NULL, pos;
	int r;

	if (scr_filter_covers(pl->p->policy.frozen, path, e->path_len))
		e->flags |= SCR_PLAN_FROZEN;
	if (e->nlink > 1)
		owner = scr_map_get(&pl->new_links, e->dev, e->ino);
	if (owner) {
		e->action = SCR_PLAN_LINK;
		e->owner = *owner;
	} else if (under_repair(pl, e, path)) {
		e->action = SCR_PLAN_KEEP;
	}
	r = scr_plan_add(pl->out->plan, e, path, &pos);
	if (r == 0 && e->nlink > 1 && !owner) {
		pl->any_links = true;
		r = scr_map_put(&pl->new_links, e->dev, e->ino, pos);
	}
	count_entry(pl, e);
	return r;
}

static int add_new(struct planner *pl)
{
	struct scr_plan_entry e;
	uint32_t fs;
	int r;

	if (pl->new.len > SCR_PATH_LIMIT) {
		scr_trouble(pl->p, pl->new.path, pl->new.len, ENAMETOOLONG,
			    "cannot record the file: its path is longer than %u bytes",
			    SCR_PATH_LIMIT);
		return 0;
	}
	r = fs_of(pl, &pl->new, &fs);
	if (r < 0)
		return r;
	fill_entry(&e, &pl->new, fs);
	return add_walked(pl, &e, pl->new.path);
}

/* Where the extents of the record at this path are: its own, or for a LINK its owner's. */
static uint64_t source_of_old(struct planner *pl)
{
	uint64_t *offset;

	if (pl->old.type == SCR_RECORD_FILE)
		return pl->old.offset;
	offset = scr_map_get(&pl->old_links, pl->old.link.fs, pl->old.link.ino);
	return offset ? *offset : SCR_PLAN_NONE;
}

static void judge_both(struct planner *pl, struct scr_plan_entry *e)
{
	const struct old_record *o = &pl->old;
	struct scr_stamp now = scr_stamp_of(&pl->new.st);

	e->flags |= SCR_PLAN_HAD_RECORD;
	if (o->type == SCR_RECORD_LINK) {
		e->flags |= SCR_PLAN_WAS_LINK;
		return;
	}
	if (o->damaged)
		e->flags |= SCR_PLAN_DAMAGED;
	if (!o->whole)
		e->flags |= SCR_PLAN_PARTIAL;
	if (o->file.stamp.size > 0 && now.size == 0)
		pl->out->emptied++;
	/* A lone ctime move does not change a file's place. */
	if (o->uniform && o->file.stamp.size == now.size &&
	    o->file.stamp.mtime_ns == now.mtime_ns) {
		e->band = scr_plan_band(pl->p->start_wall_ns,
					now.size ? o->oldest_ns : pl->p->start_wall_ns);
		e->flags |= o->whole ? SCR_PLAN_UNIFORM : 0;
	}
	e->flags |= SCR_PLAN_AGED;
	e->oldest_ns = o->oldest_ns;
	e->newest_ns = o->newest_ns;
	e->holes = o->hole_bytes;
}

static int add_both(struct planner *pl)
{
	struct scr_plan_entry e;
	uint32_t fs;
	int r = fs_of(pl, &pl->new, &fs);

	if (r < 0)
		return r;
	fill_entry(&e, &pl->new, fs);
	judge_both(pl, &e);
	e.source = source_of_old(pl);
	if (e.source != SCR_PLAN_NONE)
		e.action = SCR_PLAN_CHECK;
	return add_walked(pl, &e, pl->new.path);
}

static int push_vanished(struct planner *pl, uint64_t pos)
{
	const struct old_record *o = &pl->old;
	struct vanished *list;

	if (pl->vanished_count == pl->vanished_cap) {
		size_t cap = pl->vanished_cap ? pl->vanished_cap * 2 : 64;

		list = realloc(pl->vanished, cap * sizeof(*list));
		if (!list)
			return -ENOMEM;
		pl->vanished = list;
		pl->vanished_cap = cap;
	}
	pl->vanished[pl->vanished_count++] = (struct vanished){
		.ino = o->file.stamp.ino,
		.size = o->file.stamp.size,
		.mtime_ns = o->file.stamp.mtime_ns,
		.source = o->offset,
		.pos = pos,
		.fs = o->file.fs,
		.whole = o->whole,
		.uniform = o->uniform,
		.oldest_ns = o->oldest_ns,
		.newest_ns = o->newest_ns,
		.hole_bytes = o->hole_bytes,
	};
	return 0;
}

/* Whether a medium error hid this very file, which its record then says. */
static bool unseen(struct planner *pl, const char *path, size_t len)
{
	const struct scr_damage_record *d = &pl->old.file.damage;

	return pl->old.type == SCR_RECORD_FILE &&
	       scr_unseen_claim(&pl->out->unseen, path, len,
				d->kind == SCR_REC_UNREADABLE ? d->first_ns : 0);
}

static enum scr_plan_action action_of_absent(struct planner *pl, struct scr_plan_entry *e)
{
	const char *path = (char *)pl->old.path.data;
	size_t len = pl->old.path.len;

	if (scr_filter_covers(pl->p->policy.exclude, path, len))
		return SCR_PLAN_EXCLUDED;
	if (scr_unlisted_covers(&pl->unlisted, path, len)) {
		if (unseen(pl, path, len))
			e->flags |= SCR_PLAN_UNSEEN;
		return SCR_PLAN_KEEP;
	}
	if (scr_filter_covers(pl->p->policy.frozen, path, len)) {
		e->flags |= SCR_PLAN_MISSING | SCR_PLAN_FROZEN;
		return SCR_PLAN_KEEP;
	}
	return SCR_PLAN_GONE;
}

void scr_planner_fill_old(struct planner *pl, struct scr_plan_entry *e)
{
	const struct old_record *o = &pl->old;
	bool link = o->type == SCR_RECORD_LINK;

	*e = (struct scr_plan_entry){
		.source = source_of_old(pl),
		.owner = SCR_PLAN_NONE,
		.ino = link ? o->link.ino : o->file.stamp.ino,
		.fs = link ? o->link.fs : o->file.fs,
		.size = link ? 0 : o->file.stamp.size,
		.nlink = link ? 2 : o->file.nlink,
		.path_len = (uint32_t)o->path.len,
		.flags = SCR_PLAN_HAD_RECORD,
	};
	if (link)
		e->flags |= SCR_PLAN_WAS_LINK;
	else if (o->damaged)
		e->flags |= SCR_PLAN_DAMAGED;
}

static int add_absent(struct planner *pl)
{
	struct scr_plan_entry e;
	uint64_t pos;
	int r;

	scr_planner_fill_old(pl, &e);
	e.action = action_of_absent(pl, &e);
	pl->any_links |= (e.flags & SCR_PLAN_WAS_LINK) != 0;
	if (e.action == SCR_PLAN_EXCLUDED)
		pl->out->recorded--;
	if (e.action == SCR_PLAN_GONE) {
		pl->out->gone++;
		pl->fs_gone[e.fs]++;
	}
	r = scr_plan_add(pl->out->plan, &e, (char *)pl->old.path.data, &pos);
	if (r == 0 && e.action == SCR_PLAN_GONE && pl->old.type == SCR_RECORD_FILE)
		r = push_vanished(pl, pos);
	count_entry(pl, &e);
	return r;
}

static int merge_step(struct planner *pl)
{
	bool have_old = pl->old.type != SCR_RECORD_END, have_new = pl->new.type != SCR_WALK_END;
	int c, r;

	if (have_old && have_new)
		c = scr_path_cmp(pl->new.path, pl->new.len, (char *)pl->old.path.data,
				 pl->old.path.len);
	else
		c = have_new ? -1 : 1;
	if (c < 0)
		r = add_new(pl);
	else if (c > 0)
		r = add_absent(pl);
	else
		r = add_both(pl);
	if (r == 0 && c >= 0)
		r = scr_planner_load_old(pl);
	if (r == 0 && c <= 0)
		r = scr_planner_load_new(pl);
	return r;
}

static int merge(struct planner *pl)
{
	int r = scr_planner_load_old(pl);

	if (r == 0)
		r = scr_planner_load_new(pl);
	while (r == 0 && (pl->old.type != SCR_RECORD_END || pl->new.type != SCR_WALK_END))
		r = merge_step(pl);
	return r < 0 ? r : scr_unseen_walked(&pl->out->unseen);
}

static bool exclude(void *arg, const char *path, size_t len, bool is_dir)
{
	const struct scr_policy *policy = arg;

	return scr_filter_match(policy->exclude, path, len, is_dir);
}

static int start_walk(struct planner *pl)
{
	struct scr_walk_options o = {
		.cross_mounts = pl->p->policy.cross_mounts,
		.state_dev = pl->p->state.dev,
		.state_ino = pl->p->state.ino,
		.exclude = exclude,
		.arg = &pl->p->policy,
	};

	return scr_walk_new(pl->p->rootfd, &o, &pl->walk);
}

/* The plan of a target that is one file: one entry, no walk. */
static int merge_single(struct planner *pl)
{
	struct scr_pass *p = pl->p;
	struct scr_walk_entry *w = &pl->new;
	int r = 0;

	if (p->device)
		scr_device_stat(p, &w->st);
	else
		r = scr_stat_beneath(p->rootfd, p->leaf, strlen(p->leaf), &w->st);
	if (r == 0 && !p->device && !S_ISREG(w->st.st_mode))
		r = -ENOTSUP;
	if (r < 0)
		return r;
	w->type = SCR_WALK_FILE;
	w->path = ".";
	w->len = 1;
	pl->out->walked = 1;
	r = scr_planner_load_old(pl);
	if (r == 0)
		r = pl->old.type == SCR_RECORD_END ? add_new(pl) : add_both(pl);
	return r;
}

void scr_planner_free(struct planner *pl)
{
	scr_walk_free(pl->walk);
	scr_map_free(&pl->new_links);
	scr_map_free(&pl->old_links);
	scr_buf_free(&pl->old.path);
	scr_buf_free(&pl->unlisted.paths);
	scr_extent_free(&pl->extent);
	free(pl->fs_gone);
	free(pl->vanished);
}

int scr_planner_start(struct planner *pl, struct scr_pass *p, struct scr_planned *out)
{
	int fd = scr_state_unnamed_file(&p->state);
	int r = fd < 0 ? fd : scr_plan_new(fd, &out->plan);

	if (r < 0) {
		if (fd >= 0)
			close(fd);
		return r;
	}
	pl->p = p;
	pl->out = out;
	out->absent = -1;
	pl->fs_gone = calloc(p->header.identity_count + 1, sizeof(*pl->fs_gone));
	if (!pl->fs_gone)
		return -ENOMEM;
	r = p->old ? scr_mreader_rewind(p->old) : 0;
	return r < 0 ? r : scr_unseen_start(&out->unseen, p->old);
}

int scr_plan_run(struct scr_pass *p, struct scr_planned *out)
{
	struct planner pl = {0};
	int r;

	scr_unseen_free(&out->unseen);
	*out = (struct scr_planned){0};
	scr_ctx_phase(p->ctx, "planning", 0, 0);
	r = scr_planner_start(&pl, p, out);
	if (r == 0 && p->kind != SCR_TARGET_DIR)
		r = merge_single(&pl);
	else if (r == 0 && (r = start_walk(&pl)) == 0)
		r = merge(&pl);
	if (r == 0)
		r = scr_plan_seal(out->plan);
	if (r == 0)
		r = scr_planner_settle(&pl);
	scr_planner_free(&pl);
	if (r < 0 && !scr_pass_interrupted(p, r))
		scr_trouble(p, NULL, 0, -r, "cannot plan the pass (the plan is kept in %s)",
			    p->state.path);
	return r;
}

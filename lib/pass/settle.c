/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Phase 1, PLAN: moves and inodes of several links, once walk and manifest are known; guards. */
#include <config.h>
#include "pass/planner_internal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* By inode; of two records of one inode (a stopped pass saw a move) the whole one first. */
static int by_inode(const void *a, const void *b)
{
	const struct vanished *x = a, *y = b;

	if (x->fs != y->fs)
		return x->fs < y->fs ? -1 : 1;
	if (x->ino != y->ino)
		return x->ino < y->ino ? -1 : 1;
	if (x->whole != y->whole)
		return x->whole ? -1 : 1;
	return x->pos < y->pos ? -1 : x->pos > y->pos;
}

static struct vanished *find_vanished(struct planner *pl, uint32_t fs, uint64_t ino)
{
	size_t low = 0, high = pl->vanished_count;

	while (low < high) {
		size_t mid = low + (high - low) / 2;
		const struct vanished *v = &pl->vanished[mid];

		if (v->fs < fs || (v->fs == fs && v->ino < ino))
			low = mid + 1;
		else
			high = mid;
	}
	if (low == pl->vanished_count || pl->vanished[low].fs != fs || pl->vanished[low].ino != ino)
		return NULL;
	return &pl->vanished[low];
}

/* Turns a new file into a check against the record of a path that vanished. */
static int try_moved(struct planner *pl, struct scr_plan_entry *e, uint64_t pos)
{
	struct vanished *v = find_vanished(pl, e->fs, e->ino);
	struct scr_plan_entry from;
	int r;

	if (!v || v->moved || v->size != e->size || v->mtime_ns != e->mtime_ns)
		return 0;
	v->moved = true;
	pl->out->gone--;
	r = scr_plan_get(pl->out->plan, v->pos, &from, NULL);
	if (r < 0)
		return r;
	from.action = SCR_PLAN_MOVED_AWAY;
	r = scr_plan_patch(pl->out->plan, v->pos, &from);
	if (r < 0)
		return r;
	e->action = SCR_PLAN_CHECK;
	e->flags &= (uint16_t)~(SCR_PLAN_PARTIAL | SCR_PLAN_DAMAGED | SCR_PLAN_UNIFORM);
	e->flags |= SCR_PLAN_MOVED | SCR_PLAN_AGED | (from.flags & SCR_PLAN_DAMAGED) |
		    (v->uniform && v->whole ? SCR_PLAN_UNIFORM : 0);
	e->oldest_ns = v->oldest_ns;
	e->newest_ns = v->newest_ns;
	e->holes = v->hole_bytes;
	e->source = v->source;
	e->owner = v->pos;
	return scr_plan_patch(pl->out->plan, pos, e);
}

/* A path without a record of its own, of an inode that is recorded under another path. */
static int try_known_inode(struct planner *pl, struct scr_plan_entry *e, uint64_t pos)
{
	uint64_t *offset = scr_map_get(&pl->old_links, e->fs, e->ino);
	struct scr_file_record f;
	struct scr_link_record l;
	uint64_t at;
	int r;

	if (!offset)
		return 0;
	r = scr_mreader_seek(pl->p->old, *offset);
	if (r == 0)
		r = scr_mreader_next(pl->p->old, &f, &l, &at);
	if (r < 0)
		return r;
	if (r != SCR_RECORD_FILE || f.stamp.size != e->size || f.stamp.mtime_ns != e->mtime_ns)
		return 0;
	e->action = SCR_PLAN_CHECK;
	e->source = *offset;
	return scr_plan_patch(pl->out->plan, pos, e);
}

/*
 * A recorded path whose inode has got an earlier one: its record is the inode's, where the earlier
 * path has none, or only what a stopped pass came to.
 */
static int lend_record(struct planner *pl, const struct scr_plan_entry *e)
{
	struct scr_plan_entry owner;
	struct scr_file_record f;
	struct scr_link_record l;
	int r = scr_plan_get(pl->out->plan, e->owner, &owner, NULL);

	if (r < 0 || (owner.flags & SCR_PLAN_MOVED) ||
	    (owner.action != SCR_PLAN_RECORD && !(owner.flags & SCR_PLAN_PARTIAL)))
		return r;
	r = scr_mreader_seek(pl->p->old, e->source);
	if (r == 0)
		r = scr_mreader_next(pl->p->old, &f, &l, NULL);
	if (r != SCR_RECORD_FILE || (pl->p->policy.use_inode && f.stamp.ino != e->ino))
		return r < 0 ? r : 0;
	owner.action = SCR_PLAN_CHECK;
	owner.source = e->source;
	owner.flags &= (uint16_t)~(SCR_PLAN_PARTIAL | SCR_PLAN_DAMAGED | SCR_PLAN_AGED |
				   SCR_PLAN_UNIFORM);
	owner.flags |= e->flags & SCR_PLAN_DAMAGED;
	return scr_plan_patch(pl->out->plan, e->owner, &owner);
}

/* The plan entry that owns inode (@fs, @ino), if it comes before @pos. */
static bool owner_before(struct planner *pl, uint32_t fs, uint64_t ino, uint64_t pos,
			 uint64_t *owner)
{
	for (uint32_t i = 0; i < pl->dev_count; i++) {
		uint64_t *at;

		if (pl->devs[i].fs != fs)
			continue;
		at = scr_map_get(&pl->new_links, pl->devs[i].dev, ino);
		if (at && *at < pos) {
			*owner = *at;
			return true;
		}
	}
	return false;
}

/* A LINK record that could not be looked at stays one where its owner does; else it takes over. */
static int settle_kept_link(struct planner *pl, struct scr_plan_entry *e, uint64_t pos)
{
	uint64_t owner;

	if (!owner_before(pl, e->fs, e->ino, pos, &owner))
		return 0;
	e->action = SCR_PLAN_LINK;
	e->owner = owner;
	return scr_plan_patch(pl->out->plan, pos, e);
}

/* Damage of a path that is gone lives on where its inode has another path. */
static int settle_gone(struct planner *pl, struct scr_plan_entry *e, uint64_t pos)
{
	uint64_t owner;
	int r;

	if (!(e->flags & SCR_PLAN_DAMAGED) || e->nlink < 2 ||
	    !owner_before(pl, e->fs, e->ino, UINT64_MAX, &owner))
		return 0;
	/* What was read ahead may not know yet that it has moved. */
	r = scr_plan_get(pl->out->plan, pos, e, NULL);
	if (r < 0 || e->action != SCR_PLAN_GONE)
		return r;
	e->flags &= (uint16_t)~SCR_PLAN_DAMAGED;
	return scr_plan_patch(pl->out->plan, pos, e);
}

static int settle_entry(struct planner *pl, struct scr_plan_entry *e, uint64_t pos)
{
	int r;

	if (e->action == SCR_PLAN_GONE)
		return settle_gone(pl, e, pos);
	if (e->action == SCR_PLAN_KEEP && (e->flags & SCR_PLAN_WAS_LINK))
		return settle_kept_link(pl, e, pos);
	if (e->action == SCR_PLAN_LINK && e->source != SCR_PLAN_NONE &&
	    !(e->flags & (SCR_PLAN_WAS_LINK | SCR_PLAN_PARTIAL)))
		return lend_record(pl, e);
	if (!pl->p->policy.use_inode)
		return 0;
	/* Half a record, and a whole one under a path that is gone: a stopped pass saw the move. */
	if (e->action == SCR_PLAN_CHECK && (e->flags & SCR_PLAN_PARTIAL))
		return try_moved(pl, e, pos);
	if (e->action != SCR_PLAN_RECORD)
		return 0;
	r = try_moved(pl, e, pos);
	if (r == 0 && e->action == SCR_PLAN_RECORD && e->nlink > 1 && pl->p->old)
		r = try_known_inode(pl, e, pos);
	return r;
}

/* A recorded file system, not the root's, that has lost files and was not met anywhere. The root's
 * is there, even if no file is left on it. */
static void find_absent(struct planner *pl)
{
	const struct scr_header *h = scr_mreader_header(pl->p->old);

	for (uint32_t i = 0; i < h->identity_count; i++) {
		const struct scr_identity *id = &h->identities[i];
		bool met = scr_fs_same(id->type, id->uuid, id->subvol, id->fsid, &pl->p->fs);

		for (uint32_t j = 0; j < pl->dev_count; j++)
			met |= pl->devs[j].fs == i;
		if (!met && pl->fs_gone[i] > 0)
			pl->out->absent = (int)i;
	}
}

int scr_planner_settle(struct planner *pl)
{
	struct scr_plan_cursor c;
	struct scr_plan_entry e;
	struct scr_buf path = {0};
	uint64_t pos;
	int r = 0;

	if (pl->p->old && pl->p->policy.cross_mounts)
		find_absent(pl);
	if (pl->vanished_count == 0 && !pl->any_links)
		return 0;
	if (pl->vanished_count > 0)
		qsort(pl->vanished, pl->vanished_count, sizeof(*pl->vanished), by_inode);
	scr_plan_cursor_init(&c, pl->out->plan);
	while (r == 0 && (r = scr_plan_next(&c, &e, &path, &pos)) == 1)
		r = settle_entry(pl, &e, pos);
	scr_plan_cursor_free(&c);
	scr_buf_free(&path);
	return r;
}

/* ---- guards ------------------------------------------------------------------------------ */

static int refuse(struct scr_pass *p, const char *why, const char *option)
{
	scr_trouble(p, NULL, 0, 0, "%s: nothing was read or changed; if this is right, use %s", why,
		    option);
	return -ECANCELED;
}

static void describe(char *out, size_t size, const char *type, const char *uuid, uint64_t fsid)
{
	if (*uuid)
		snprintf(out, size, "%s %s", type, uuid);
	else
		snprintf(out, size, "%s, id %016" PRIx64, type, fsid);
}

int scr_plan_guards(struct scr_pass *p, const struct scr_planned *planned)
{
	uint64_t recorded = planned->recorded, gone = planned->gone, empty = planned->emptied;
	char why[256], was[160];

	if (p->ctx->opt.allow_missing || recorded == 0)
		return 0;
	if (planned->absent >= 0) {
		const struct scr_identity *id = &p->header.identities[planned->absent];

		describe(was, sizeof(was), id->type, id->uuid, id->fsid);
		snprintf(why, sizeof(why), "a recorded file system (%s) is not mounted", was);
		return refuse(p, why, "--allow-missing");
	}
	if (gone == recorded || (recorded >= 100 && gone * 10 > recorded * 4)) {
		snprintf(why, sizeof(why), "%s%" PRIu64 " of %" PRIu64 " recorded files %s gone",
			 gone == recorded && gone > 1 ? "all " : "", gone, recorded,
			 gone == 1 ? "is" : "are");
		return refuse(p, why, "--allow-missing");
	}
	if (empty > 10 && empty * 100 > recorded) {
		snprintf(why, sizeof(why), "%" PRIu64 " recorded files are newly empty", empty);
		return refuse(p, why, "--allow-missing");
	}
	return 0;
}

/* Makes identity 0, the root's, that of the present file system. */
static int replace_identity(struct scr_pass *p)
{
	struct scr_identity *id = &p->header.identities[0];
	char *type = strdup(p->fs.type), *uuid = strdup(p->fs.uuid), *subvol = strdup(p->fs.subvol);

	if (!type || !uuid || !subvol) {
		free(type);
		free(uuid);
		free(subvol);
		return -ENOMEM;
	}
	free(id->type);
	free(id->uuid);
	free(id->subvol);
	*id = (struct scr_identity){type, uuid, subvol, p->fs.fsid};
	/* Times and inodes of another file system prove nothing about this one's. */
	p->policy.use_ctime = p->policy.use_inode = false;
	return 0;
}

int scr_plan_guard_identity(struct scr_pass *p)
{
	const struct scr_header *h = &p->header;
	char was[160], is[160], why[512];

	for (uint32_t i = 0; i < h->identity_count; i++) {
		const struct scr_identity *id = &h->identities[i];

		if (scr_fs_same(id->type, id->uuid, id->subvol, id->fsid, &p->fs))
			return 0;
	}
	if (h->identity_count == 0 || !p->old || scr_mreader_trailer(p->old)->files == 0)
		return 0;
	if (p->ctx->opt.allow_moved)
		return replace_identity(p);
	describe(was, sizeof(was), h->identities[0].type, h->identities[0].uuid,
		 h->identities[0].fsid);
	describe(is, sizeof(is), p->fs.type, p->fs.uuid, p->fs.fsid);
	snprintf(why, sizeof(why),
		 "is the right disk mounted? the target is on another file system (%s) than recorded (%s)",
		 is, was);
	return refuse(p, why, "--allow-moved");
}

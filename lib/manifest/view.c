/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The manifest with the journal applied. */
#include <config.h>

#include <errno.h>
#include <stdlib.h>

#include "base/compiler.h"
#include "base/path.h"
#include "manifest/journal.h"
#include "manifest/mreader.h"

/* An extent, or a run of holes, that waits to be given out: [start, end) of it. */
struct waiting {
	struct scr_extent e;
	bool there;
	uint64_t start, end;
};

struct scr_view {
	struct scr_mreader *r;
	struct scr_journal *j;
	struct scr_geometry geometry;
	/* The record of the manifest that was read ahead; type < 0: none. */
	int type;
	struct scr_file_record file;
	struct scr_link_record link;
	/* The extents of the current file. */
	bool use_manifest, use_journal;
	uint64_t size;       /* under which they must fit */
	uint64_t fit;        /* extents of the manifest that do */
	struct waiting m, n; /* of the manifest, of the journal (newer) */
};

int scr_view_new(struct scr_mreader *r, struct scr_journal *j, struct scr_view **out)
{
	const struct scr_geometry *g = &r->codec.geometry;
	struct scr_view *v;
	int ret;

	if (j && j->count &&
	    (j->codec.geometry.block_size != g->block_size ||
	     j->codec.geometry.columns != g->columns ||
	     j->codec.geometry.parity_unit != g->parity_unit))
		return -EBADMSG;
	ret = scr_mreader_rewind(r);
	if (ret == 0 && j)
		ret = scr_journal_rewind(j);
	if (ret < 0)
		return ret;
	v = calloc(1, sizeof(*v));
	if (!v)
		return -ENOMEM;
	v->r = r;
	v->j = j;
	v->geometry = *g;
	v->type = -1;
	*out = v;
	return 0;
}

void scr_view_free(struct scr_view *v)
{
	if (!v)
		return;
	scr_extent_free(&v->m.e);
	scr_extent_free(&v->n.e);
	free(v);
}

/* ---- files and links ---------------------------------------------------------------------- */

/* Begins the extents of a file of @size bytes; @old: its size in the manifest. */
static void begin_extents(struct scr_view *v, bool manifest, uint64_t old, bool journal,
			  uint64_t size)
{
	v->use_manifest = manifest;
	v->use_journal = journal;
	v->size = size;
	v->fit = manifest ? scr_extents_alike(old, size) : 0;
	v->m.there = v->n.there = false;
	if (journal)
		scr_journal_set_size(v->j, size);
}

/* How the record that waits in the manifest compares with the next path of the journal: below 0 it
 * comes first, above 0 the journal does. Returns -errno or 1; 0: both are at their end. */
static int compare(struct scr_view *v, int *order)
{
	const char *path = NULL, *mine;
	uint32_t len = 0, mine_len;
	int r = v->j ? scr_journal_peek(v->j, &path, &len) : 0;

	if (r < 0)
		return r;
	if (r == 0 || v->type == SCR_RECORD_END) {
		*order = r == 0 ? -1 : 1;
		return r || v->type != SCR_RECORD_END;
	}
	mine = v->type == SCR_RECORD_FILE ? v->file.path : v->link.path;
	mine_len = v->type == SCR_RECORD_FILE ? v->file.path_len : v->link.path_len;
	*order = scr_path_cmp(mine, mine_len, path, len);
	return 1;
}

static int next_of_manifest(struct scr_view *v, struct scr_file_record *f,
			    struct scr_link_record *l)
{
	int type = v->type;

	v->type = -1;
	if (type == SCR_RECORD_LINK) {
		begin_extents(v, false, 0, false, 0);
		*l = v->link;
	} else {
		begin_extents(v, true, v->file.stamp.size, false, v->file.stamp.size);
		*f = v->file;
	}
	return type;
}

/* The journal's next file; @both: it replaces the record that waits in the manifest. */
static int next_of_journal(struct scr_view *v, bool both, struct scr_file_record *f)
{
	bool overlay = both && v->type == SCR_RECORD_FILE, done;
	struct scr_file_record newest;
	int r = scr_journal_next(v->j, &newest, &done);

	if (r <= 0)
		return r < 0 ? r : -EIO;
	if (both)
		v->type = -1;
	begin_extents(v, overlay, v->file.stamp.size, true, newest.stamp.size);
	*f = newest;
	return SCR_RECORD_FILE;
}

int scr_view_next(struct scr_view *v, struct scr_file_record *f, struct scr_link_record *l)
{
	int order, r;

	if (v->type < 0) {
		r = scr_mreader_next(v->r, &v->file, &v->link, NULL);
		if (r < 0)
			return r;
		v->type = r;
	}
	r = compare(v, &order);
	if (r <= 0)
		return r < 0 ? r : SCR_RECORD_END;
	return order < 0 ? next_of_manifest(v, f, l) : next_of_journal(v, order == 0, f);
}

int scr_view_file_at(struct scr_view *v, uint64_t offset, bool journal, uint64_t size)
{
	struct scr_link_record l;
	int r;

	v->type = -1;
	begin_extents(v, false, 0, journal, size);
	if (offset == UINT64_MAX)
		return 0;
	r = scr_mreader_seek(v->r, offset);
	if (r == 0)
		r = scr_mreader_next(v->r, &v->file, &l, NULL);
	if (r < 0)
		return r;
	if (r != SCR_RECORD_FILE)
		return -EBADMSG;
	begin_extents(v, true, v->file.stamp.size, journal, size);
	return 0;
}

/* ---- extents ------------------------------------------------------------------------------ */

static void set_range(struct waiting *w)
{
	w->there = true;
	w->start = w->e.cut.index;
	w->end = w->start + w->e.run;
}

static int fill_from_manifest(struct scr_view *v)
{
	int r;

	if (!v->use_manifest || v->m.there)
		return 0;
	r = scr_mreader_extent(v->r, &v->m.e);
	if (r > 0)
		set_range(&v->m);
	v->m.end = SCR_MIN(v->m.end, v->fit);
	/* Indexes ascend: nothing that follows fits. */
	if (r <= 0 || v->m.start >= v->m.end)
		v->m.there = v->use_manifest = false;
	return r < 0 ? r : 0;
}

static int fill_from_journal(struct scr_view *v)
{
	int r;

	if (!v->use_journal || v->n.there)
		return 0;
	r = scr_journal_extent(v->j, &v->n.e);
	if (r > 0)
		set_range(&v->n);
	else
		v->use_journal = false;
	return r < 0 ? r : 0;
}

/* Gives out [w->start, @end), and keeps what is left. */
static void give(struct scr_view *v, struct waiting *w, uint64_t end, struct scr_extent *e)
{
	struct scr_extent old = *e;

	if (end == w->end) { /* all that is left: its arrays change hands */
		*e = w->e;
		w->e = old;
		w->there = false;
	} else { /* a part of a run of holes, which has no arrays */
		scr_extent_free(&old);
		*e = w->e;
	}
	if (e->run > 1)
		scr_extent_narrow(e, &v->geometry, v->size, w->start, end);
	w->start = end;
}

/* Cuts from what waits of the manifest all that is replaced by [start, end). */
static void replace(struct waiting *m, uint64_t start, uint64_t end)
{
	if (m->there && m->start >= start && m->start < end)
		m->start = SCR_MIN(end, m->end);
	if (m->there && m->start == m->end)
		m->there = false;
}

int scr_view_extent(struct scr_view *v, struct scr_extent *e)
{
	int r = fill_from_journal(v);

	while (r == 0) {
		r = fill_from_manifest(v);
		if (r < 0 || !v->m.there || !v->n.there)
			break;
		if (v->m.start < v->n.start) {
			give(v, &v->m, SCR_MIN(v->m.end, v->n.start), e);
			return 1;
		}
		if (v->m.start >= v->n.end)
			break;
		replace(&v->m, v->n.start, v->n.end);
	}
	if (r < 0)
		return r;
	if (v->n.there)
		give(v, &v->n, v->n.end, e);
	else if (v->m.there)
		give(v, &v->m, v->m.end, e);
	else
		return 0;
	return 1;
}

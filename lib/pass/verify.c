/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* verify: everything recorded is compared with what is there; nothing is written, anywhere.
 *
 * Files come straight from the manifest, in its order. Links whose inode is the owner's need no
 * reading; on a copy where they have become files of their own they are compared in a second scan.
 */
#include <config.h>
#include "pass/verbs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "pass/device.h"
#include "pass/feed.h"
#include "pass/parity.h"
#include "pass/select.h"
#include "pass/unseen.h"
#include "walk/resolve.h"

/* A path of several links that is no link of its owner here. */
struct stray {
	char *path, *owner;
	uint32_t path_len, owner_len;
};

struct verify {
	struct scr_pass *p;
	struct scr_paths paths;
	struct scr_view *view;
	struct stray *strays;
	size_t stray_count, stray_cap, stray_next;
	bool second_scan;
	uint64_t files, bytes, blocks;
};

/* ---- links ------------------------------------------------------------------------------- */

static int add_stray(struct verify *v, const struct scr_link_record *l)
{
	struct stray *s;

	if (v->stray_count == v->stray_cap) {
		size_t cap = v->stray_cap ? v->stray_cap * 2 : 16;

		s = realloc(v->strays, cap * sizeof(*s));
		if (!s)
			return -ENOMEM;
		v->strays = s;
		v->stray_cap = cap;
	}
	s = &v->strays[v->stray_count];
	*s = (struct stray){strndup(l->path, l->path_len), strndup(l->owner, l->owner_len),
			    l->path_len, l->owner_len};
	if (!s->path || !s->owner) {
		free(s->path);
		free(s->owner);
		return -ENOMEM;
	}
	v->stray_count++;
	return 0;
}

static int look_at_link(struct verify *v, const struct scr_link_record *l)
{
	struct scr_file_event ev = {.name = {l->path, l->path_len}, .verdict = SCR_OK};
	struct stat own, owner;
	int r = scr_stat_beneath(v->p->rootfd, l->path, l->path_len, &own);
	int o = scr_stat_beneath(v->p->rootfd, l->owner, l->owner_len, &owner);

	if (r == 0 && S_ISREG(own.st_mode) &&
	    (o < 0 || own.st_dev != owner.st_dev || own.st_ino != owner.st_ino))
		return add_stray(v, l);
	if (r == -ENOENT || r == -ENOTDIR || (r == 0 && !S_ISREG(own.st_mode))) {
		scr_emit_damage(v->p, &(struct scr_damage){
					      .name = {l->path, l->path_len},
					      .kind = SCR_DAMAGE_MISSING,
					      .block = SCR_NO_BLOCK,
					      .size_was = -1,
					      .size_now = -1,
				      });
		v->p->sum.files_damaged++;
		ev.verdict = SCR_MISSING;
	} else if (r < 0) {
		scr_trouble(v->p, l->path, l->path_len, -r, "cannot look at the file");
		ev.verdict = SCR_SKIPPED;
	}
	scr_emit_file(v->p, &ev);
	return 0;
}

static int by_owner(const void *a, const void *b)
{
	const struct stray *x = a, *y = b;

	return strcmp(x->owner, y->owner);
}

/* ---- the source -------------------------------------------------------------------------- */

static struct scr_work *make_work(struct verify *v, const struct scr_file_record *f,
				  const char *path, uint32_t len)
{
	struct scr_work *w = scr_work_new(v->p, true);
	int r;

	if (!w)
		return NULL;
	r = scr_buf_append(&w->path, path, len);
	if (r == 0)
		r = scr_buf_append(&w->path, "", 1);
	if (r < 0) {
		scr_work_free(w);
		return NULL;
	}
	w->path.len = len;
	w->base = *f;
	w->base.path = (char *)w->path.data;
	w->base.path_len = len;
	w->has_base = true;
	w->e = (struct scr_plan_entry){.action = SCR_PLAN_CHECK, .size = f->stamp.size,
				       .nlink = f->nlink, .path_len = len};
	return w;
}

static void count_file(struct verify *v, const struct scr_file_record *f)
{
	const struct scr_geometry *g = &v->p->header.settings.geometry;
	uint64_t n = scr_extent_count(f->stamp.size);

	v->files++;
	v->bytes += f->stamp.size;
	if (n > 0)
		v->blocks += scr_blocks_before(g, f->stamp.size, n - 1) +
			     scr_cut_extent(g, f->stamp.size, n - 1).blocks;
}

static int first_scan(struct verify *v, struct scr_work **w)
{
	struct scr_file_record f;
	struct scr_link_record l;
	int r;

	while ((r = scr_view_next(v->view, &f, &l)) > 0) {
		if (r == SCR_RECORD_LINK) {
			if (!scr_paths_take(&v->paths, l.path, l.path_len, false))
				continue;
			v->files++;
			r = look_at_link(v, &l);
			if (r < 0)
				return r;
			continue;
		}
		if (!scr_paths_take(&v->paths, f.path, f.path_len, false))
			continue;
		count_file(v, &f);
		*w = make_work(v, &f, f.path, f.path_len);
		return *w ? 1 : -ENOMEM;
	}
	return r;
}

/* Each stray link against the extents of its owner. Several strays of one owner: the scan is
 * repeated for each next one, by rewinding. */
static int second_scan(struct verify *v, struct scr_work **w)
{
	struct scr_file_record f;
	struct scr_link_record l;
	struct stray *s;
	int r;

	if (v->stray_next == v->stray_count)
		return 0;
	s = &v->strays[v->stray_next++];
	scr_view_free(v->view);
	v->view = NULL;
	r = scr_mreader_rewind(v->p->old);
	if (r == 0 && v->p->journal)
		r = scr_journal_rewind(v->p->journal);
	if (r == 0)
		r = scr_view_new(v->p->old, v->p->journal, &v->view);
	while (r == 0 && (r = scr_view_next(v->view, &f, &l)) > 0) {
		if (r == SCR_RECORD_FILE && f.path_len == s->owner_len &&
		    !memcmp(f.path, s->owner, f.path_len)) {
			*w = make_work(v, &f, s->path, s->path_len);
			return *w ? 1 : -ENOMEM;
		}
		r = 0;
	}
	return r < 0 ? r : -EBADMSG;
}

static int feed_next(void *arg, struct scr_work **w)
{
	struct verify *v = arg;
	int r = v->second_scan ? second_scan(v, w) : first_scan(v, w);

	if (r < 0 && r != -ENOMEM)
		scr_trouble(v->p, NULL, 0, r == -EBADMSG ? 0 : -r,
			    "the manifest is damaged beyond repair; nothing after this was compared");
	return r;
}

static int feed_extent(void *arg, struct scr_work *w, struct scr_extent *e)
{
	struct verify *v = arg;

	(void)w;
	return scr_view_extent(v->view, e);
}

static int feed_done(void *arg, struct scr_worker *k, struct scr_work *w, bool last)
{
	struct scr_file_record f;

	(void)arg;
	scr_tell_results(k, w);
	if (last)
		scr_work_finish(w, &f);
	return 0;
}

/* Nothing is written. */
static int feed_flush(void *arg, struct scr_worker *k)
{
	(void)arg, (void)k;
	return 0;
}

static const struct scr_feed_ops ops = {
	.next = feed_next,
	.extent = feed_extent,
	.done = feed_done,
	.flush = feed_flush,
};

/* ---- what could not be looked at --------------------------------------------------------- */

static bool take_unseen(void *arg, const char *path, size_t len)
{
	struct verify *v = arg;

	return scr_paths_take(&v->paths, path, len, true);
}

/* ---- the verb ---------------------------------------------------------------------------- */

static int compare_all(struct verify *v)
{
	const struct scr_trailer *t = scr_mreader_trailer(v->p->old);
	unsigned int threads = scr_feed_threads(v->p);
	int r;

	scr_ctx_phase(v->p->ctx, "reading", t->files, t->bytes);
	r = scr_unseen_verify(v->p, take_unseen, v);
	if (r == 0)
		r = scr_view_new(v->p->old, v->p->journal, &v->view);
	if (r == 0)
		r = scr_feed_run(v->p, &ops, v, threads);
	if (r == 0 && v->stray_count > 0) {
		qsort(v->strays, v->stray_count, sizeof(*v->strays), by_owner);
		v->second_scan = true;
		r = scr_feed_run(v->p, &ops, v, threads);
	}
	return r;
}

static void free_verify(struct verify *v)
{
	for (size_t i = 0; i < v->stray_count; i++) {
		free(v->strays[i].path);
		free(v->strays[i].owner);
	}
	free(v->strays);
	scr_view_free(v->view);
	scr_paths_free(&v->paths);
}

static int verify(struct verify *v)
{
	int r = scr_parity_open(v->p, false);

	/* No permission is said; the data can be compared without parity. */
	if (r == 0 || r == -EACCES)
		r = compare_all(v);
	scr_paths_tell_unseen(&v->paths);
	v->p->sum.files = v->files;
	v->p->sum.bytes = v->bytes;
	v->p->sum.blocks = v->blocks;
	/* Damage that is known elsewhere stays open, whatever these paths are like. */
	if (v->paths.count > 0) {
		const struct scr_trailer *t = scr_mreader_trailer(v->p->old);

		v->p->sum.files_damaged = SCR_MAX(v->p->sum.files_damaged, t->files_damaged);
		v->p->sum.blocks_damaged = SCR_MAX(v->p->sum.blocks_damaged, t->blocks_damaged);
	}
	v->p->sum.complete = r == 0 && v->p->sum.trouble == 0 &&
			     v->p->sum.verdicts[SCR_SKIPPED] == 0;
	return r;
}

int scr_verb_verify(struct scr_ctx *ctx, const char *target, const char *const *paths,
		    size_t npaths, struct scr_summary *out)
{
	struct scr_pass p;
	struct verify v = {.p = &p};
	int r = scr_pass_begin(&p, ctx, "verify", target, true);

	if (r == 0)
		r = scr_device_guard_use(&p, false);
	if (r == 0)
		r = scr_paths_init(&v.paths, &p, paths, npaths);
	if (r == 0) {
		r = scr_pass_open_state(&p, SCR_ACCESS_READ);
		if (r == -ENOENT && !ctx->opt.manifest)
			r = scr_pass_no_manifest(&p);
	}
	if (r == 0)
		r = verify(&v);
	if (r == 0) {
		scr_device_tell_limits(&p);
		scr_device_tell_owners(&p);
	}
	free_verify(&v);
	return scr_pass_end(&p, r, out);
}

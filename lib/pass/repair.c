/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* repair: what is known to be damaged, or is named, is put back. */
#include <config.h>
#include "pass/repair_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pass/device.h"
#include "pass/parity.h"
#include "pass/planner.h"
#include "pass/publish.h"
#include "pass/tally.h"
#include "pass/verbs.h"

/* ---- beginning and end ------------------------------------------------------------------- */

static int open_log(struct scr_repair *r)
{
	struct scr_pass *p = r->p;
	struct scr_why why = {""};
	int err = scr_undo_log_open(&p->state, r->dry_run, &r->undo, &why);

	if (err < 0) {
		scr_trouble(p, NULL, 0, err == -EPERM ? 0 : -err,
			    "cannot use the undo log in %s%s%s", p->state.path,
			    *why.text ? ": " : "", why.text);
	}
	return err;
}

int scr_repair_init(struct scr_repair *r, struct scr_pass *p)
{
	int err;

	*r = (struct scr_repair){.p = p, .from = -1, .good_fd = -1};
	r->dry_run = p->ctx->opt.dry_run;
	r->force = p->ctx->opt.force;
	r->window = malloc(SCR_REPAIR_WINDOW);
	err = scr_worker_init(&r->k, p);
	if (err < 0 || !r->window)
		return err < 0 ? err : -ENOMEM;
	return open_log(r);
}

void scr_repair_free(struct scr_repair *r)
{
	struct scr_reader_counts n;

	if (r->k.reader) {
		scr_reader_get_counts(r->k.reader, &n);
		r->p->sum.bytes_read += n.total;
		r->p->sum.bytes_from_medium += n.medium;
		r->p->sum.bytes_unknown += n.unknown;
		r->p->sum.bytes_from_cache += n.cache;
	}
	if (r->journalling)
		scr_journalist_close(&r->journal);
	scr_undo_log_free(r->undo);
	scr_repair_notes_free(r->open);
	scr_worker_free(&r->k);
	scr_mend_free(&r->mend);
	free(r->window);
	scr_buf_free(&r->owners);
	if (r->from >= 0)
		close(r->from);
	if (r->good_fd >= 0)
		close(r->good_fd);
	*r = (struct scr_repair){.from = -1, .good_fd = -1};
}

int scr_repair_finish(struct scr_repair *r, int ret)
{
	int err;

	if (!r->journalling)
		return ret;
	err = scr_journalist_sync(&r->journal);
	scr_journalist_close(&r->journal);
	r->journalling = false;
	/* A journal that stays is folded in by whoever comes next. */
	if (err < 0 || scr_pass_stopped(r->p))
		return ret < 0 ? ret : err;
	err = scr_pass_reload(r->p);
	if (err == 0)
		err = scr_publish_view(r->p);
	return ret < 0 ? ret : err;
}

/* ---- file by file ------------------------------------------------------------------------ */

/* Whether the file has open damage, and whether some of it is rot: its extents are read through. */
static int look_through(struct scr_pass *p, const struct scr_file_record *f, struct scr_extent *e,
			bool *damaged, bool *rotten)
{
	int err;

	*damaged = f->damage.kind != 0;
	*rotten = f->damage.kind == SCR_REC_ROT;
	while ((err = scr_mreader_extent(p->old, e)) == 1) {
		*damaged |= e->damage_count > 0;
		for (uint32_t i = 0; i < e->damage_count; i++)
			*rotten |= e->damage[i].kind == SCR_REC_ROT;
	}
	return err;
}

static int do_file(struct scr_repair *r, const struct scr_file_record *f, uint64_t offset,
		   scr_repair_fn *fn)
{
	struct scr_repair_file rf = {.f = *f, .offset = offset, .fd = -1, .disturbed = true};
	int err = scr_buf_append(&rf.path, f->path, f->path_len);

	if (err == 0)
		err = scr_buf_append(&rf.path, "", 1);
	if (err == 0) {
		rf.path.len = f->path_len;
		rf.f.path = (char *)rf.path.data;
		err = fn(r, &rf);
	}
	scr_repair_free_file(&rf);
	return err;
}

/* Goes behind the FILE record at @offset, whatever was read in between. */
static int step_over(struct scr_pass *p, uint64_t offset)
{
	struct scr_file_record f;
	struct scr_link_record l;
	int err = scr_mreader_seek(p->old, offset);

	if (err == 0)
		err = scr_mreader_next(p->old, &f, &l, NULL);
	return err < 0 ? err : 0;
}

int scr_repair_each(struct scr_repair *r, scr_repair_select_fn *select, scr_repair_fn *fn)
{
	struct scr_pass *p = r->p;
	struct scr_extent e = {0};
	struct scr_file_record f;
	struct scr_link_record l;
	uint64_t offset;
	int err = scr_mreader_rewind(p->old);

	while (err == 0 && !r->broken && (err = scr_mreader_next(p->old, &f, &l, &offset)) > 0) {
		bool damaged, rotten;

		if (scr_pass_stopped(p)) {
			err = -EINTR;
			break;
		}
		if (err == SCR_RECORD_LINK) {
			err = 0;
			continue;
		}
		err = look_through(p, &f, &e, &damaged, &rotten);
		if (err < 0 || !select(r, &f, damaged))
			continue;
		err = do_file(r, &f, offset, fn);
		if (err == 0)
			err = step_over(p, offset);
		p->ctx->files_done++;
	}
	scr_extent_free(&e);
	if (err == -EBADMSG)
		scr_trouble(p, NULL, 0, 0, "cannot read the manifest in %s", p->state.path);
	return err < 0 ? err : r->broken ? -EIO : 0;
}

/* ---- the stop ---------------------------------------------------------------------------- */

/* A path that is a further link stands for its inode, whose record comes earlier. */
static int note_owner(struct scr_repair *r, const struct scr_link_record *l)
{
	int err;

	if (!r->named || !scr_paths_take(r->paths, l->path, l->path_len, false))
		return 0;
	err = scr_buf_append(&r->owners, l->owner, l->owner_len);
	return err < 0 ? err : scr_buf_append(&r->owners, "", 1);
}

static bool is_owner(const struct scr_repair *r, const struct scr_file_record *f)
{
	const char *at = (char *)r->owners.data;

	for (size_t pos = 0; pos < r->owners.len; pos += strlen(at + pos) + 1)
		if (strlen(at + pos) == f->path_len && !memcmp(at + pos, f->path, f->path_len))
			return true;
	return false;
}

static int count_rotten(struct scr_repair *r, uint64_t *files, uint64_t *rotten)
{
	struct scr_pass *p = r->p;
	struct scr_extent e = {0};
	struct scr_file_record f;
	struct scr_link_record l;
	int err = scr_mreader_rewind(p->old);

	*files = *rotten = 0;
	while (err == 0 && (err = scr_mreader_next(p->old, &f, &l, NULL)) > 0) {
		bool damaged, rot;

		if (err == SCR_RECORD_LINK) {
			err = note_owner(r, &l);
			continue;
		}
		err = look_through(p, &f, &e, &damaged, &rot);
		++*files;
		*rotten += rot;
	}
	scr_extent_free(&e);
	return err;
}

/* So many files don't rot at once: something else is wrong, and repair would make it worse. */
static int guard_mass(struct scr_repair *r)
{
	uint64_t files, rotten;
	int err = count_rotten(r, &files, &rotten);

	if (err < 0 || r->force || rotten <= 10 || rotten * 10 <= files)
		return err;
	scr_trouble(r->p, NULL, 0, 0,
		    "%llu of %llu files look rotten: that is a wrong or restored disk, a tool that keeps modification times, or bad memory, rather than rot; nothing was repaired; if it is rot, use --force",
		    (unsigned long long)rotten, (unsigned long long)files);
	return -ECANCELED;
}

/* ---- the verb ---------------------------------------------------------------------------- */

static int open_from(struct scr_repair *r)
{
	const char *dir = r->p->ctx->opt.from_dir;
	struct stat st;

	if (!dir)
		return 0;
	r->from = open(dir, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (r->from < 0 || fstat(r->from, &st) < 0)
		return scr_usage(r->p, NULL, "cannot open %s: %s", dir, strerror(errno));
	r->from_file = (S_ISREG(st.st_mode) || S_ISBLK(st.st_mode)) &&
		       r->p->kind != SCR_TARGET_DIR;
	if (!S_ISDIR(st.st_mode) && !r->from_file)
		return scr_usage(r->p, NULL, "%s is not a directory", dir);
	if (r->p->device && !r->from_file)
		return scr_usage(r->p, NULL, "%s is neither a device nor an image of one", dir);
	return 0;
}

static bool select_damaged(struct scr_repair *r, const struct scr_file_record *f, bool damaged)
{
	if (!r->named)
		return damaged;
	return scr_paths_take(r->paths, f->path, f->path_len, damaged) || is_owner(r, f);
}

static int mend(struct scr_repair *r)
{
	int err = open_from(r);

	if (err == 0)
		err = scr_parity_open(r->p, !r->dry_run);
	if (err == 0)
		err = guard_mass(r);
	if (err < 0)
		return err;
	scr_ctx_phase(r->p->ctx, "repairing", 0, 0);
	err = scr_repair_each(r, select_damaged, scr_repair_mend_file);
	if (r->named)
		scr_paths_tell_unseen(r->paths);
	return err;
}

static int work(struct scr_repair *r)
{
	const struct scr_options *o = &r->p->ctx->opt;

	if (o->undo && o->purge)
		return scr_repair_purge(r);
	return o->undo ? scr_repair_undo(r) : mend(r);
}

static int repair(struct scr_pass *p, struct scr_paths *paths)
{
	struct scr_repair r;
	int err = scr_repair_init(&r, p);

	r.paths = paths;
	r.named = paths->count > 0;
	if (err == 0)
		err = work(&r);
	err = scr_repair_finish(&r, err);
	p->sum.complete = err == 0;
	if (p->old)
		scr_tally_totals(p, scr_mreader_trailer(p->old));
	scr_repair_free(&r);
	return err;
}

static int open_state(struct scr_pass *p)
{
	bool dry = p->ctx->opt.dry_run;
	int err = scr_pass_open_state(p, dry ? SCR_ACCESS_READ : SCR_ACCESS_WRITE);

	if (err == -ENOENT)
		err = scr_pass_no_manifest(p);
	if (err == 0)
		err = scr_plan_guard_identity(p);
	if (err == 0 && p->journal && dry)
		scr_note(p, "a pass was stopped; what it found is not looked at here");
	else if (err == 0 && p->journal)
		err = scr_publish_view(p);
	return err;
}

static int check_options(struct scr_pass *p)
{
	const struct scr_options *o = &p->ctx->opt;

	if (o->purge && !o->undo)
		return scr_usage(p, NULL, "--purge goes with --undo");
	if (o->undo && (o->from_dir || o->force))
		return scr_usage(p, NULL, "--undo takes neither --from nor --force");
	return 0;
}

int scr_verb_repair(struct scr_ctx *ctx, const char *target, const char *const *paths,
		    size_t npaths, struct scr_summary *out)
{
	struct scr_paths select = {0};
	struct scr_pass p;
	int err = scr_pass_begin(&p, ctx, "repair", target, true);

	if (err == 0)
		err = check_options(&p);
	if (err == 0)
		err = scr_paths_init(&select, &p, paths, npaths);
	if (err == 0)
		err = scr_device_guard_use(&p, true);
	if (err == 0)
		err = open_state(&p);
	if (err == 0 && !ctx->opt.dry_run && !ctx->opt.purge)
		err = scr_repair_recover(&p);
	if (err == 0)
		err = repair(&p, &select);
	scr_repair_forget(&p);
	scr_paths_free(&select);
	return scr_pass_end(&p, err, out);
}

/* ---- run --repair ------------------------------------------------------------------------ */

int scr_repair_after_run(struct scr_pass *p)
{
	struct scr_repair r;
	int err = scr_device_guard_use(p, true);

	if (err == 0)
		err = scr_pass_reload(p);
	if (err < 0)
		return err;
	err = scr_repair_init(&r, p);
	r.unattended = true;
	r.force = false;
	if (err == 0)
		err = mend(&r);
	err = scr_repair_finish(&r, err);
	if (p->old)
		scr_tally_totals(p, scr_mreader_trailer(p->old));
	scr_repair_free(&r);
	return err;
}

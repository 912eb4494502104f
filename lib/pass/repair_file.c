/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* One file under repair: opened, and closed with what became of it in the journal. */
#include <config.h>
#include "pass/repair_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/compiler.h"
#include "manifest/codec.h"
#include "pass/device.h"
#include "pass/judge.h"

/* Extents of one UPDATE. */
#define UPDATE_EXTENTS 64

int64_t scr_repair_now(const struct scr_repair *r)
{
	return scr_clock_wall(r->p->ctx->clock);
}

/* ---- opening ----------------------------------------------------------------------------- */

static const char *why_not_open(int err)
{
	switch (err) {
	case ENOENT:
	case ENOTDIR:
		return "the file is not there";
	case ELOOP:
	case EINVAL:
		return "it is not a regular file any more";
	case EXDEV:
		return "it is on another file system now";
	case EACCES:
	case EPERM:
		return "no permission to read the file";
	default:
		return scr_errno_is_medium(err) ? "the file can't be opened for a medium error"
						: "the file can't be opened";
	}
}

int scr_repair_open_file(struct scr_repair *r, struct scr_repair_file *rf)
{
	scr_ctx_path(r->p->ctx, (char *)rf->path.data, rf->path.len);
	rf->fd = scr_pass_open_file(r->p, (char *)rf->path.data, rf->path.len, &rf->before);
	if (rf->fd == -ENOMEM)
		return rf->fd;
	if (rf->fd < 0) {
		rf->open_err = -rf->fd;
		rf->refused = why_not_open(rf->open_err);
		rf->fd = -1;
		return 0;
	}
	rf->now = rf->before;
	rf->unit = scr_writer_unit(rf->fd);
	return 0;
}

bool scr_repair_open_writer(struct scr_repair *r, struct scr_repair_file *rf)
{
	int err = 0;

	if (rf->writer)
		return true;
	rf->refused = scr_writer_refusal(rf->fd, 0);
	if (!rf->refused) {
		err = scr_writer_open(r->p->ctx->writer_ops, rf->fd, &rf->writer);
		if (err < 0)
			rf->refused = scr_writer_refusal(rf->fd, -err);
	}
	/* It is trouble, and the events of its blocks say which. */
	r->p->sum.trouble += rf->refused != NULL;
	return !rf->refused;
}

bool scr_repair_unchanged(const struct scr_repair *r, struct scr_repair_file *rf)
{
	struct scr_stamp was = scr_stamp_of(&rf->now), is;
	struct stat st;

	if (scr_pass_stat_file(r->p, rf->fd, &st) < 0)
		return false;
	is = scr_stamp_of(&st);
	return scr_stamp_equal(&was, &is);
}

int scr_repair_same_file(const struct scr_repair *r, const struct scr_repair_file *rf,
			 const struct scr_undo_entry *e)
{
	struct scr_fs_info fs;
	char key[sizeof(fs.uuid)];
	int err;

	if (r->p->device) {
		scr_device_key(r->p, key, sizeof(key));
		return !strcmp(e->fs.type, r->p->fs.type) && !strcmp(e->fs.uuid, key);
	}
	if (rf->now.st_ino != e->stamp.ino)
		return 0;
	err = scr_fs_info(rf->fd, &fs);
	if (err < 0)
		return err;
	return scr_fs_same(e->fs.type, e->fs.uuid, e->fs.subvol, e->fs.fsid, &fs);
}

void scr_repair_free_file(struct scr_repair_file *rf)
{
	scr_writer_free(rf->writer);
	if (rf->fd >= 0)
		close(rf->fd);
	for (uint32_t i = 0; i < rf->changed_count; i++)
		scr_extent_free(&rf->changed[i]);
	for (uint32_t i = 0; i < rf->entry_count; i++)
		scr_undo_entry_free(&rf->entries[i]);
	free(rf->changed);
	free(rf->entries);
	scr_buf_free(&rf->path);
}

/* ---- extents ----------------------------------------------------------------------------- */

/* The reader of the manifest was elsewhere: back to this file's extents. */
static int come_back(struct scr_repair *r, struct scr_repair_file *rf)
{
	struct scr_file_record f;
	struct scr_link_record l;
	int err = scr_mreader_seek(r->p->old, rf->offset);

	rf->disturbed = false;
	if (err == 0)
		err = scr_mreader_next(r->p->old, &f, &l, NULL);
	return err == SCR_RECORD_FILE ? 0 : err < 0 ? err : -EBADMSG;
}

int scr_repair_next_extent(struct scr_repair *r, struct scr_repair_file *rf, struct scr_extent *e)
{
	int err = rf->disturbed ? come_back(r, rf) : 0;

	if (err < 0)
		return err;
	do {
		err = scr_mreader_extent(r->p->old, e);
	} while (err == 1 && e->cut.index + e->run <= rf->next_index);
	if (err == 1)
		rf->next_index = e->cut.index + e->run;
	return err;
}

int scr_repair_changed(struct scr_repair_file *rf, struct scr_extent *e)
{
	uint32_t i = rf->changed_count;

	while (i > 0 && rf->changed[i - 1].cut.index >= e->cut.index)
		i--;
	if (i < rf->changed_count && rf->changed[i].cut.index == e->cut.index) {
		scr_extent_free(&rf->changed[i]);
		rf->changed[i] = *e;
		*e = (struct scr_extent){0};
		return 0;
	}
	if (rf->changed_count == rf->changed_cap) {
		uint32_t cap = rf->changed_cap ? rf->changed_cap * 2 : 8;
		struct scr_extent *list = realloc(rf->changed, cap * sizeof(*list));

		if (!list)
			return -ENOMEM;
		rf->changed = list;
		rf->changed_cap = cap;
	}
	memmove(&rf->changed[i + 1], &rf->changed[i],
		(rf->changed_count++ - i) * sizeof(*rf->changed));
	rf->changed[i] = *e;
	*e = (struct scr_extent){0};
	return 0;
}

/* ---- closing ----------------------------------------------------------------------------- */

/* The FILE record as it shall be now. Its size stays the recorded one: extents are cut by it. */
static struct scr_file_record record_of(const struct scr_repair *r,
					const struct scr_repair_file *rf)
{
	struct scr_file_record f = rf->f;
	const struct stat *st = &rf->now;

	(void)r;
	f.path = (char *)rf->path.data;
	f.path_len = (uint32_t)rf->path.len;
	if (rf->wrote && rf->renew) {
		f.stamp = scr_stamp_of(st);
		f.stamp.size = rf->f.stamp.size;
		f.mode = st->st_mode;
		f.uid = st->st_uid;
		f.gid = st->st_gid;
		f.nlink = (uint32_t)st->st_nlink;
	}
	if ((uint64_t)st->st_size == rf->f.stamp.size && f.damage.kind != SCR_REC_MISSING)
		f.damage = (struct scr_damage_record){0};
	return f;
}

static int flush(struct scr_repair *r, const struct scr_file_record *f)
{
	int err = 0;

	if (r->k.result_count > 0)
		err = scr_journalist_append(&r->journal, &r->k, f, false);
	scr_worker_clear(&r->k);
	return err;
}

static int append(struct scr_repair *r, const struct scr_file_record *f,
		  const struct scr_extent *e, bool renew)
{
	struct scr_extent *out = scr_worker_result(&r->k);
	int err = out ? scr_extent_copy(out, e) : -ENOMEM;

	if (err < 0)
		return err;
	if (renew)
		out->stamp = f->stamp;
	return r->k.result_count == UPDATE_EXTENTS ? flush(r, f) : 0;
}

/* Whether our own writing is all that moved the times since @e was recorded. */
static bool is_renewable(const struct scr_repair *r, const struct scr_repair_file *rf,
			 const struct scr_extent *e)
{
	enum scr_relation rel = scr_judge(&r->p->policy, &e->stamp, &rf->f, &rf->before, false);

	return rel == SCR_REL_SAME || rel == SCR_REL_EXPLAINED;
}

/* Every extent that was recorded under the times before gets those of now. */
static int renew_all(struct scr_repair *r, struct scr_repair_file *rf,
		     const struct scr_file_record *f)
{
	struct scr_extent e = {0};
	int err = 0;

	rf->disturbed = true;
	rf->next_index = 0;
	while (err == 0 && (err = scr_repair_next_extent(r, rf, &e)) == 1)
		err = is_renewable(r, rf, &e) ? append(r, f, &e, true) : 0;
	scr_extent_free(&e);
	return err < 0 ? err : flush(r, f);
}

/* Those that were looked at, in an UPDATE of their own: it counts more than those before. */
static int append_changed(struct scr_repair *r, struct scr_repair_file *rf,
			  const struct scr_file_record *f)
{
	struct scr_stamp now = scr_stamp_of(&rf->now);
	int err = 0;

	now.size = f->stamp.size;
	for (uint32_t i = 0; err == 0 && i < rf->changed_count; i++) {
		if (rf->wrote && !r->p->device)
			rf->changed[i].stamp = now;
		err = append(r, f, &rf->changed[i], false);
	}
	return err < 0 ? err : flush(r, f);
}

/* No extent changed, but the file as a whole: an UPDATE without extents. */
static int append_file(struct scr_repair *r, const struct scr_file_record *f)
{
	scr_worker_clear(&r->k);
	return scr_journalist_append(&r->journal, &r->k, f, false);
}

static int start_journal(struct scr_repair *r)
{
	int err;

	if (r->journalling)
		return 0;
	err = scr_journalist_open(&r->journal, r->p);
	r->journalling = err == 0;
	return err;
}

static int journal(struct scr_repair *r, struct scr_repair_file *rf,
		   const struct scr_file_record *f)
{
	int err = start_journal(r);

	if (err == 0)
		err = append_file(r, f);
	/* Nothing that an extent of a device is judged by has moved. */
	if (err == 0 && rf->wrote && rf->renew && !r->p->device)
		err = renew_all(r, rf, f);
	if (err == 0)
		err = append_changed(r, rf, f);
	return err < 0 ? err : scr_journalist_sync(&r->journal);
}

/* Only what is journalled on the medium is done. */
static int mark_entries(struct scr_repair *r, struct scr_repair_file *rf)
{
	struct scr_stamp stamp = scr_stamp_of(&rf->now);
	int err = 0;

	for (uint32_t i = 0; err == 0 && i < rf->entry_count; i++) {
		err = scr_undo_mark(r->undo, &rf->entries[i], rf->entries[i].mark.state, &stamp,
				    scr_repair_now(r));
		scr_undo_park(&rf->entries[i]);
	}
	if (err < 0)
		scr_trouble(r->p, NULL, 0, -err, "cannot write the undo log in %s",
			    r->p->state.path);
	return err;
}

int scr_repair_close_file(struct scr_repair *r, struct scr_repair_file *rf)
{
	struct scr_file_record f = record_of(r, rf);
	bool news = rf->wrote || rf->changed_count > 0 || f.damage.kind != rf->f.damage.kind;
	int err = 0;

	if (r->dry_run || !news || r->broken)
		return 0;
	if (rf->offset != UINT64_MAX)
		err = journal(r, rf, &f);
	rf->disturbed = true;
	return err < 0 ? err : mark_entries(r, rf);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* repair --undo: the bytes from before a repair are put back; --purge: their log is dropped. */
#include <config.h>
#include "pass/repair_internal.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/compiler.h"
#include "pass/judge.h"

static const char not_as_written[] =
	"it does not hold what the repair wrote any more, so it is left as it is";
static const char was_unreadable[] =
	"it could not be read before the repair, so there is nothing to put back";

static bool is_selected(struct scr_repair *r, const struct scr_undo_entry *e)
{
	return scr_paths_take(r->paths, e->path, e->path_len, false);
}

/* ---- undo -------------------------------------------------------------------------------- */

/* Whether the file still holds, in all ranges, what the repair wrote. 1, 0, -errno. */
static int is_as_written(struct scr_repair *r, struct scr_repair_file *rf,
			 const struct scr_undo_entry *e)
{
	scr_reader_attach(r->k.reader, rf->fd, SCR_READ_CHECK);
	for (uint32_t i = 0; i < e->count; i++) {
		const struct scr_undo_range *range = &e->ranges[i];
		struct scr_bad_range bad[1];
		unsigned int nbad = 0;
		const uint8_t *data;
		ssize_t n;

		if (range->length == 0)
			continue;
		n = scr_reader_read(r->k.reader, range->offset, range->length, &data, bad, 1,
				    &nbad);
		if (n < 0)
			return (int)n;
		if (n < (ssize_t)range->length || nbad > 0 ||
		    !scr_check_equal(scr_check_bytes(r->k.kernels, data, range->length),
				     range->check))
			return 0;
	}
	return 1;
}

/* Whether there is anything to put back: bytes that could be read, or a size. */
static bool has_any(const struct scr_undo_entry *e)
{
	for (uint32_t i = 0; i < e->count; i++)
		if (!(e->ranges[i].flags & SCR_UNDO_UNREADABLE))
			return true;
	return e->size_after != e->stamp.size;
}

static const char *why_not(struct scr_repair *r, struct scr_repair_file *rf,
			   const struct scr_undo_entry *e, int *err)
{
	if (rf->refused)
		return rf->refused;
	*err = scr_repair_same_file(r, rf, e);
	if (*err <= 0)
		return not_as_written;
	*err = 0;
	if ((uint64_t)rf->now.st_size != e->size_after)
		return not_as_written;
	*err = is_as_written(r, rf, e);
	if (*err <= 0)
		return not_as_written;
	*err = 0;
	return has_any(e) ? NULL : was_unreadable;
}

static uint64_t first_byte(const struct scr_undo_entry *e)
{
	return e->count ? e->ranges[0].offset : 0;
}

static uint64_t bytes_of(const struct scr_undo_entry *e)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < e->count; i++)
		n += SCR_MAX(e->ranges[i].length, e->ranges[i].old_length);
	return n;
}

static uint32_t span(const struct scr_undo_range *range)
{
	return SCR_MAX(range->length, range->old_length);
}

/* Ranges that follow on each other and had one fate are told as one. */
static void tell_undone(struct scr_repair *r, const struct scr_repair_file *rf,
			const struct scr_undo_entry *e)
{
	uint64_t length;
	uint32_t j;

	for (uint32_t i = 0; i < e->count; i = j) {
		const struct scr_undo_range *first = &e->ranges[i];
		bool kept = first->flags & SCR_UNDO_UNREADABLE;

		length = span(first);
		for (j = i + 1; j < e->count && e->ranges[j].flags == first->flags &&
				e->ranges[j].offset == first->offset + length; j++)
			length += span(&e->ranges[j]);
		scr_repair_tell_range(r, rf, kept ? SCR_REPAIR_KEPT : SCR_REPAIR_UNDONE,
				      first->offset, length, kept ? was_unreadable : NULL);
	}
}

/* Reopens size damage that the undo brought back. */
static void reopen_size(struct scr_repair *r, struct scr_repair_file *rf,
			const struct scr_undo_entry *e)
{
	if ((uint64_t)rf->now.st_size == rf->f.stamp.size || rf->f.damage.kind)
		return;
	rf->f.damage = (struct scr_damage_record){
		.block = SCR_NO_BLOCK32,
		.kind = e->damage_kind == SCR_REC_ALTERED ? SCR_REC_ALTERED : SCR_REC_ROT,
		.size_seen = (uint64_t)rf->now.st_size,
		.first_ns = e->since_ns,
		.last_ns = scr_repair_now(r),
	};
}

static int put_back(struct scr_repair *r, struct scr_repair_file *rf, struct scr_undo_entry *e)
{
	struct scr_stamp before = scr_stamp_of(&rf->now);
	int64_t mtime = scr_mtime_ns(&rf->now);
	uint64_t kept;
	int err;

	if (!scr_repair_open_writer(r, rf)) {
		scr_repair_tell_file(r, rf, SCR_REPAIR_NOT, rf->refused);
		return 0;
	}
	err = scr_undo_mark(r->undo, e, SCR_UNDO_UNDOING, &before, scr_repair_now(r));
	if (err == 0)
		err = scr_repair_put_back(r, rf, e, mtime, &kept);
	if (err < 0) {
		scr_trouble(r->p, (char *)rf->path.data, rf->path.len, -err,
			    "the old bytes can't be put back; the file stays under repair");
		r->broken = true;
		return err;
	}
	reopen_size(r, rf, e);
	tell_undone(r, rf, e);
	err = scr_repair_reassess(r, rf, e);
	return err < 0 ? err : scr_repair_keep_entry(rf, e, SCR_UNDO_UNDONE);
}

static int undo_note(struct scr_repair *r, struct scr_repair_file *rf,
		     struct scr_repair_note *note)
{
	struct scr_undo_entry e;
	struct scr_why why = {""};
	const char *not;
	int err = scr_undo_load(r->undo, note->number, true, &e, &why);

	note->dealt_with = true;
	if (err < 0) {
		scr_trouble(r->p, note->path, note->path_len, err == -EBADMSG ? 0 : -err,
			    "the undo entry %08u is damaged or can't be read%s%s", note->number,
			    *why.text ? ": " : "", why.text);
		return err == -ENOMEM ? err : 0;
	}
	not = why_not(r, rf, &e, &err);
	if (err == 0 && not)
		scr_repair_tell_range(r, rf, SCR_REPAIR_NOT, first_byte(&e), bytes_of(&e), not);
	else if (err == 0 && r->dry_run)
		tell_undone(r, rf, &e);
	else if (err == 0)
		err = put_back(r, rf, &e);
	scr_undo_entry_free(&e);
	return err;
}

/* All entries of one file, the newest first. */
static int undo_file(struct scr_repair *r, struct scr_repair_file *rf)
{
	uint32_t n;
	struct scr_repair_note *notes = scr_repair_notes_of(r->open, (char *)rf->path.data,
							    rf->path.len, &n);
	int err = scr_repair_open_file(r, rf), closed;

	rf->renew = true;
	while (err == 0 && n > 0)
		err = undo_note(r, rf, &notes[--n]);
	closed = scr_repair_close_file(r, rf);
	return err < 0 ? err : closed;
}

static bool select_noted(struct scr_repair *r, const struct scr_file_record *f, bool damaged)
{
	uint32_t n;

	(void)damaged;
	return scr_repair_notes_of(r->open, f->path, f->path_len, &n) != NULL;
}

static bool want_done(struct scr_repair *r, const struct scr_undo_entry *e)
{
	return e->mark.state == SCR_UNDO_DONE && is_selected(r, e);
}

static int undo_rest(struct scr_repair *r)
{
	for (uint32_t i = 0; i < r->open->count; i++) {
		const struct scr_repair_note *note = &r->open->list[i];

		if (note->dealt_with)
			continue;
		scr_trouble(r->p, note->path, note->path_len, 0,
			    "the file is not recorded any more, so its repair can't be undone");
	}
	return 0;
}

int scr_repair_undo(struct scr_repair *r)
{
	int err = scr_repair_notes(r, want_done, false, &r->open);

	if (err < 0)
		return err;
	if (r->open->count == 0)
		scr_note(r->p, "there is no repair to undo");
	err = scr_repair_each(r, select_noted, undo_file);
	if (err == 0)
		err = undo_rest(r);
	scr_paths_tell_unseen(r->paths);
	return err;
}

/* ---- purge ------------------------------------------------------------------------------- */

static bool want_closed(struct scr_repair *r, const struct scr_undo_entry *e)
{
	bool open = e->mark.state == SCR_UNDO_OPEN || e->mark.state == SCR_UNDO_UNDOING;

	if (!is_selected(r, e))
		return false;
	if (open)
		scr_trouble(r->p, e->path, e->path_len, 0,
			    "the file is under repair: 'repair' completes that first");
	return !open;
}

int scr_repair_purge(struct scr_repair *r)
{
	int err = scr_repair_notes(r, want_closed, !r->dry_run, &r->open);

	for (uint32_t i = 0; err == 0 && !r->dry_run && i < r->open->count; i++)
		err = scr_undo_remove(r->undo, r->open->list[i].number);
	if (err < 0) {
		scr_trouble(r->p, NULL, 0, -err, "cannot drop the undo log in %s",
			    r->p->state.path);
		return err;
	}
	scr_note(r->p, "%u undo entries %s", r->open->count,
		 r->dry_run ? "would be dropped" : "dropped");
	return 0;
}

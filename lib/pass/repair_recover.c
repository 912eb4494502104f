/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Undo entries that were left open: a repair or an undo was killed, or failed half-way.
 *
 *	OPEN     the content is right by the record: forward, the entry is DONE
 *	         else the old bytes are put back: the entry is UNDONE
 *	UNDOING  the old bytes are put back: UNDONE
 *
 * The times of the file then are those of before. It is left alone, and its entry means nothing any
 * more, if it is another file now or somebody changed it since: its times are neither those of
 * before nor later than the entry. Extents that the entry is not about keep their standing only if
 * ctime, which nobody can set, says that nothing happened to the file after our own writing.
 */
#include <config.h>
#include "pass/repair_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "base/path.h"
#include "manifest/codec.h"
#include "pass/judge.h"
#include "pass/parity.h"

/* File systems keep times more coarsely than clocks. */
#define TIME_SLACK_NS (2 * SCR_NS_PER_S)
/* One extent is written within this after its entry. */
#define WRITING_NS (60 * SCR_NS_PER_S)
/* The same by the clocks of two file systems, in either direction. */
#define APART_NS (2 * WRITING_NS)

/* ---- which entries there are -------------------------------------------------------------- */

void scr_repair_notes_free(struct scr_repair_held *h)
{
	if (!h)
		return;
	for (uint32_t i = 0; i < h->count; i++)
		free(h->list[i].path);
	free(h->list);
	free(h->unread);
	free(h);
}

static int add_note(struct scr_repair_held *h, struct scr_undo_entry *e)
{
	if (h->count == h->cap) {
		uint32_t cap = h->cap ? h->cap * 2 : 16;
		struct scr_repair_note *list = realloc(h->list, cap * sizeof(*list));

		if (!list)
			return -ENOMEM;
		h->list = list;
		h->cap = cap;
	}
	h->list[h->count++] = (struct scr_repair_note){
		.number = e->number,
		.path = e->path,
		.path_len = e->path_len,
		.ino = e->stamp.ino,
		.state = e->mark.state,
	};
	e->path = NULL;
	return 0;
}

static int by_path(const void *a, const void *b)
{
	const struct scr_repair_note *x = a, *y = b;
	int c = scr_path_cmp(x->path, x->path_len, y->path, y->path_len);

	return c ? c : x->number < y->number ? -1 : x->number > y->number;
}

static int add_unread(struct scr_repair *r, struct scr_repair_held *h, uint32_t number)
{
	int64_t *list = realloc(h->unread, (h->unread_count + 1) * sizeof(*list));

	if (!list)
		return -ENOMEM;
	h->unread = list;
	if (scr_undo_written(r->undo, number, &list[h->unread_count]) < 0)
		list[h->unread_count] = INT64_MIN;
	h->unread_count++;
	return 0;
}

static int note_entry(struct scr_repair *r, uint32_t number, scr_repair_want_fn *want, bool remove,
		      struct scr_repair_held *h)
{
	struct scr_undo_entry e;
	struct scr_why why = {""};
	int err = scr_undo_load(r->undo, number, false, &e, &why);

	if (err == -ENOMEM)
		return err;
	if (err == -ENODATA)
		return remove ? scr_undo_remove(r->undo, number) : 0;
	if (err < 0) {
		scr_trouble(r->p, NULL, 0, err == -EBADMSG || err == -EPERM ? 0 : -err,
			    "the undo entry %s/undo/%08u is damaged or can't be read; files that "
			    "were changed when it was written may be half repaired, and are not "
			    "recorded as long as it is there%s%s",
			    r->p->state.path, number, *why.text ? ": " : "", why.text);
		return add_unread(r, h, number);
	}
	err = want(r, &e) ? add_note(h, &e) : 0;
	scr_undo_entry_free(&e);
	return err;
}

int scr_repair_notes(struct scr_repair *r, scr_repair_want_fn *want, bool remove,
		     struct scr_repair_held **out)
{
	struct scr_repair_held *h = calloc(1, sizeof(*h));
	const uint32_t *numbers = NULL, *list;
	uint32_t n = 0;
	int err = h ? scr_undo_log_list(r->undo, &numbers, &n) : -ENOMEM;

	list = numbers;
	for (uint32_t i = 0; err == 0 && i < n; i++)
		err = note_entry(r, list[i], want, remove, h);
	if (err < 0) {
		scr_repair_notes_free(h);
		return err;
	}
	if (h->count > 0)
		qsort(h->list, h->count, sizeof(*h->list), by_path);
	*out = h;
	return 0;
}

struct scr_repair_note *scr_repair_notes_of(const struct scr_repair_held *h, const char *path,
					    size_t len, uint32_t *n)
{
	uint32_t low = 0, high = h->count;

	while (low < high) {
		uint32_t mid = low + (high - low) / 2;

		if (scr_path_cmp(h->list[mid].path, h->list[mid].path_len, path, len) < 0)
			low = mid + 1;
		else
			high = mid;
	}
	*n = 0;
	while (low + *n < h->count && h->list[low + *n].path_len == len &&
	       !memcmp(h->list[low + *n].path, path, len))
		++*n;
	return *n ? &h->list[low] : NULL;
}

/* ---- what both directions share ----------------------------------------------------------- */

int scr_repair_reassess(struct scr_repair *r, struct scr_repair_file *rf,
			const struct scr_undo_entry *e)
{
	uint8_t kind = e->damage_kind == SCR_REC_ALTERED ? SCR_REC_ALTERED : SCR_REC_ROT;
	struct scr_extent base = {0}, out = {0};
	int err;

	if (rf->offset == UINT64_MAX)
		return 0;
	rf->disturbed = true;
	rf->next_index = 0;
	do {
		err = scr_repair_next_extent(r, rf, &base);
	} while (err == 1 && base.cut.index + base.run <= e->extent);
	if (err == 1 && base.cut.index <= e->extent && !(base.flags & SCR_EXTENT_UNRECORDED)) {
		if (base.run > 1)
			scr_extent_narrow(&base, &r->p->header.settings.geometry,
					  rf->f.stamp.size, e->extent, e->extent + 1);
		err = scr_mend_load(r, rf, &base);
		if (err == 0)
			err = scr_mend_result(r, &base, kind, e->since_ns, &out);
		if (err == 0)
			err = scr_repair_changed(rf, &out);
	}
	scr_extent_free(&base);
	scr_extent_free(&out);
	return SCR_MIN(err, 0);
}

/* ---- completing --------------------------------------------------------------------------- */

/* Hostile times are as good as any that is far away. */
static int64_t near(int64_t ns)
{
	return SCR_MIN(SCR_MAX(ns, INT64_MIN / 2), INT64_MAX / 2);
}

static bool is_ours(const struct scr_repair *r, const struct scr_repair_file *rf,
		    const struct scr_undo_entry *e)
{
	int64_t mtime = scr_mtime_ns(&rf->now), size = rf->now.st_size;
	/* Not the time of the mark, which is later when completing it was cut short, too. */
	int64_t began = near(e->created_ns) + r->p->clock_skew_ns - TIME_SLACK_NS;
	uint64_t low = SCR_MIN(e->stamp.size, e->size_after);
	uint64_t high = SCR_MAX(e->stamp.size, e->size_after) + e->unit;

	return (uint64_t)size >= low && (uint64_t)size < high &&
	       (mtime == e->mark.stamp.mtime_ns || mtime >= began);
}

/* Whether nothing happened to the file after what @e stands for. */
static bool is_ours_alone(const struct scr_repair *r, const struct scr_repair_file *rf,
			  const struct scr_undo_entry *e)
{
	int64_t ctime = scr_ctime_ns(&rf->now);

	return ctime == e->mark.stamp.ctime_ns ||
	       ctime <= near(e->mark.time_ns) + r->p->clock_skew_ns + WRITING_NS;
}

/* Whether the blocks under @range of the extent that was just looked at are all right. */
static bool range_right(const struct scr_mend *m, const struct scr_undo_range *range)
{
	uint64_t first, last;

	if (range->length == 0)
		return true;
	if (range->offset < m->cut.offset ||
	    range->offset + range->length > m->cut.offset + m->cut.length)
		return false;
	first = (range->offset - m->cut.offset) / m->cut.block;
	last = (range->offset - m->cut.offset + range->length - 1) / m->cut.block;
	for (uint64_t i = first; i <= last; i++)
		if (m->state[i] == SCR_BLOCK_LOST)
			return false;
	return true;
}

/* Whether everything that @e replaces is right by the record. 1, 0, -errno. */
static int is_right(struct scr_repair *r, struct scr_repair_file *rf,
		    const struct scr_undo_entry *e)
{
	bool right = (uint64_t)rf->now.st_size == e->size_after;
	int err;

	r->mend.cut = (struct scr_cut){.block = 1};
	err = scr_repair_reassess(r, rf, e);
	for (uint32_t i = 0; right && i < e->count; i++)
		right = range_right(&r->mend, &e->ranges[i]);
	return err < 0 ? err : right;
}

static int set_times(struct scr_repair *r, struct scr_repair_file *rf, int64_t mtime_ns)
{
	int err;

	rf->wrote = true;
	if (scr_mtime_ns(&rf->now) == mtime_ns)
		return 0;
	err = scr_writer_set_mtime(rf->writer, mtime_ns);
	if (err == 0)
		err = scr_writer_sync(rf->writer);
	return err < 0 ? err : scr_pass_stat_file(r->p, rf->fd, &rf->now);
}

static int forward(struct scr_repair *r, struct scr_repair_file *rf, struct scr_undo_entry *e)
{
	int err = set_times(r, rf, e->stamp.mtime_ns);

	if (err < 0)
		return err;
	r->p->sum.repaired++;
	scr_repair_tell_file(r, rf, SCR_REPAIR_FINISHED, NULL);
	return scr_repair_keep_entry(rf, e, SCR_UNDO_DONE);
}

static int backward(struct scr_repair *r, struct scr_repair_file *rf, struct scr_undo_entry *e)
{
	uint64_t kept;
	int err = scr_repair_put_back(r, rf, e, e->mark.stamp.mtime_ns, &kept);

	if (err == 0)
		err = scr_repair_reassess(r, rf, e);
	if (err < 0)
		return err;
	scr_repair_tell_file(r, rf, SCR_REPAIR_TAKEN_BACK, NULL);
	return scr_repair_keep_entry(rf, e, SCR_UNDO_UNDONE);
}

static int give_up(struct scr_repair *r, struct scr_repair_file *rf, struct scr_undo_entry *e)
{
	scr_warn(r->p, (char *)rf->path.data, rf->path.len,
		 "a repair of it was cut short, and it was changed or replaced since: it is left as it is");
	return scr_undo_mark(r->undo, e, SCR_UNDO_UNDONE, &e->mark.stamp, scr_repair_now(r));
}

static int complete(struct scr_repair *r, struct scr_repair_file *rf, struct scr_undo_entry *e)
{
	int right = 0, err = 0, same = rf->fd >= 0 ? scr_repair_same_file(r, rf, e) : 0;

	/* Not to know where it is does not make it another file. */
	if (same < 0)
		return same;
	if (!same || !is_ours(r, rf, e))
		return give_up(r, rf, e);
	if (!scr_repair_open_writer(r, rf))
		return -EACCES;
	rf->unit = SCR_MAX(rf->unit, e->unit);
	/* If this is cut short too, the next one shall still know that nobody else was here. */
	if (is_ours_alone(r, rf, e))
		err = scr_undo_mark(r->undo, e, e->mark.state, &e->mark.stamp, scr_repair_now(r));
	else
		rf->renew = false;
	if (err == 0 && e->mark.state == SCR_UNDO_OPEN)
		right = is_right(r, rf, e);
	if (err < 0 || right < 0)
		return err < 0 ? err : right;
	return right ? forward(r, rf, e) : backward(r, rf, e);
}

static int complete_note(struct scr_repair *r, struct scr_repair_file *rf,
			 struct scr_repair_note *note)
{
	struct scr_undo_entry e;
	struct scr_why why = {""};
	int err = scr_undo_load(r->undo, note->number, true, &e, &why);

	if (err == 0) {
		err = complete(r, rf, &e);
		scr_undo_entry_free(&e);
	}
	note->dealt_with = err == 0;
	return err;
}

/* For extents that were recorded before the first of the entries: the times that it saw. */
static int see_as_before(struct scr_repair *r, struct scr_repair_file *rf,
			 const struct scr_repair_note *first)
{
	struct scr_undo_entry e;
	struct scr_why why = {""};
	int err = scr_undo_load(r->undo, first->number, false, &e, &why);

	if (err < 0)
		return err;
	rf->before.st_mtim.tv_sec = (time_t)(e.mark.stamp.mtime_ns / SCR_NS_PER_S);
	rf->before.st_mtim.tv_nsec = (long)(e.mark.stamp.mtime_ns % SCR_NS_PER_S);
	rf->before.st_ctim.tv_sec = (time_t)(e.mark.stamp.ctime_ns / SCR_NS_PER_S);
	rf->before.st_ctim.tv_nsec = (long)(e.mark.stamp.ctime_ns % SCR_NS_PER_S);
	rf->renew = true;
	scr_undo_entry_free(&e);
	return 0;
}

/* It may come back: that it can't be opened now does not make it another file. */
static bool is_away(const struct scr_repair *r, const struct scr_repair_file *rf)
{
	if (rf->fd >= 0)
		return false;
	return (rf->open_err != ENOENT && rf->open_err != ENOTDIR && rf->open_err != ELOOP &&
		rf->open_err != EINVAL) || r->p->policy.cross_mounts;
}

/* All entries of one file, the newest first: each goes back to what stood there before it. */
static int complete_notes(struct scr_repair *r, struct scr_repair_file *rf,
			  struct scr_repair_note *notes, uint32_t n)
{
	int err = scr_repair_open_file(r, rf);

	if (err == 0 && is_away(r, rf))
		err = -EACCES;
	if (err == 0)
		err = see_as_before(r, rf, notes);
	for (uint32_t i = n; err == 0 && i-- > 0;)
		err = complete_note(r, rf, &notes[i]);
	if (err == 0)
		err = scr_repair_close_file(r, rf);
	if (err == 0 || err == -ENOMEM || scr_pass_interrupted(r->p, err))
		return err;
	for (uint32_t i = 0; i < n; i++)
		notes[i].dealt_with = false;
	scr_trouble(r->p, notes->path, notes->path_len, err == -EACCES ? 0 : -err,
		    "the file is under repair, and that can't be completed%s%s",
		    rf->refused ? ": " : "", rf->refused ? rf->refused : "");
	return 0;
}

static int complete_file(struct scr_repair *r, struct scr_repair_file *rf)
{
	uint32_t n;
	struct scr_repair_note *notes = scr_repair_notes_of(r->open, (char *)rf->path.data,
							    rf->path.len, &n);

	for (uint32_t i = 0; i < n; i++)
		notes[i].tried = true;
	return complete_notes(r, rf, notes, n);
}

static bool select_open(struct scr_repair *r, const struct scr_file_record *f, bool damaged)
{
	uint32_t n;

	(void)damaged;
	return scr_repair_notes_of(r->open, f->path, f->path_len, &n) != NULL;
}

/* Entries of a file without a record: it is known by them alone. */
static int complete_unrecorded(struct scr_repair *r, struct scr_repair_note *notes, uint32_t n)
{
	struct scr_repair_file rf = {.fd = -1, .offset = UINT64_MAX};
	int err = scr_buf_append(&rf.path, notes->path, notes->path_len);

	if (err == 0)
		err = scr_buf_append(&rf.path, "", 1);
	rf.path.len = notes->path_len;
	if (err == 0)
		err = complete_notes(r, &rf, notes, n);
	scr_repair_free_file(&rf);
	return err;
}

static int complete_rest(struct scr_repair *r)
{
	struct scr_repair_note *list = r->open->list;
	uint32_t n = 0;
	int err = 0;

	for (uint32_t i = 0; err == 0 && i < r->open->count; i += n) {
		scr_repair_notes_of(r->open, list[i].path, list[i].path_len, &n);
		if (!list[i].tried)
			err = complete_unrecorded(r, &list[i], n);
	}
	return err;
}

static bool want_open(struct scr_repair *r, const struct scr_undo_entry *e)
{
	(void)r;
	return e->mark.state == SCR_UNDO_OPEN || e->mark.state == SCR_UNDO_UNDOING;
}

static void hold_rest(struct scr_repair *r)
{
	struct scr_repair_held *h = r->open;
	uint32_t n = 0;

	for (uint32_t i = 0; i < h->count; i++) {
		if (h->list[i].dealt_with)
			free(h->list[i].path);
		else
			h->list[n++] = h->list[i];
	}
	h->count = n;
	r->p->held = h;
	r->open = NULL;
}

int scr_repair_recover(struct scr_pass *p)
{
	struct scr_repair r;
	int err = scr_repair_init(&r, p);

	if (err == 0)
		err = scr_repair_notes(&r, want_open, true, &r.open);
	if (err == 0 && r.open->count > 0) {
		scr_note(p, "completing repairs that were cut short");
		err = scr_repair_each(&r, select_open, complete_file);
		if (err == 0)
			err = complete_rest(&r);
		hold_rest(&r);
		err = scr_repair_finish(&r, err);
	} else if (err == 0 && r.open->unread_count > 0) {
		hold_rest(&r);
	}
	scr_repair_free(&r);
	return err;
}

bool scr_repair_holds(const struct scr_pass *p, const char *path, size_t len, uint64_t ino)
{
	const struct scr_repair_held *h = p->held;

	for (uint32_t i = 0; h && i < h->count; i++)
		if (h->list[i].ino == ino ||
		    (h->list[i].path_len == len && !memcmp(h->list[i].path, path, len)))
			return true;
	return false;
}

bool scr_repair_may_hold(const struct scr_pass *p, int64_t ctime_ns)
{
	const struct scr_repair_held *h = p->held;

	for (uint32_t i = 0; h && i < h->unread_count; i++) {
		int64_t written = h->unread[i];

		if (written == INT64_MIN || (near(ctime_ns) >= near(written) - APART_NS &&
					     near(ctime_ns) <= near(written) + APART_NS))
			return true;
	}
	return false;
}

bool scr_repair_unsure(const struct scr_pass *p)
{
	return p->held && p->held->unread_count > 0;
}

void scr_repair_forget(struct scr_pass *p)
{
	scr_repair_notes_free(p->held);
	p->held = NULL;
}

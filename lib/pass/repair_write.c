/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Changing a file under repair: undo entry first, then the write, read back, and the times. */
#include <config.h>
#include "pass/device.h"
#include "pass/repair_internal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"

#define BAD_MAX 64

/* ---- the entry --------------------------------------------------------------------------- */

struct ranges {
	struct scr_undo_range *v;
	uint32_t count, cap;
};

static int add_range(struct ranges *l, struct scr_undo_range range)
{
	if (l->count == l->cap) {
		uint32_t cap = l->cap ? l->cap * 2 : 32;
		struct scr_undo_range *v = realloc(l->v, cap * sizeof(*v));

		if (!v)
			return -ENOMEM;
		l->v = v;
		l->cap = cap;
	}
	l->v[l->count++] = range;
	return 0;
}

/* Where the state of what was read changes behind @at: readable, unreadable, not there at all. */
static uint32_t state_end(const struct scr_mend *m, uint32_t at, uint32_t end, bool *unreadable,
			  bool *absent)
{
	*unreadable = false;
	*absent = at >= m->present;
	if (*absent)
		return end;
	end = SCR_MIN(end, m->present);
	for (uint32_t i = 0; i < m->gaps.count; i++) {
		uint32_t from = m->gaps.list[i].start, to = from + m->gaps.list[i].length;

		if (to <= at)
			continue;
		if (from > at)
			return SCR_MIN(end, from);
		*unreadable = true;
		return SCR_MIN(end, to);
	}
	return end;
}

/* One run of units becomes ranges that are wholly readable, wholly unreadable, or new. */
static int add_run(const struct scr_repair *r, struct ranges *l, const struct scr_mend_run *run)
{
	const struct scr_mend *m = &r->mend;
	uint32_t at = run->start, end = run->start + run->length;
	int err = 0;

	while (err == 0 && at < end) {
		bool unreadable, absent;
		uint32_t to = state_end(m, at, SCR_MIN(end, at + SCR_UNDO_RANGE_MAX), &unreadable,
					&absent);

		err = add_range(l, (struct scr_undo_range){
					   .offset = m->cut.offset + at,
					   .length = to - at,
					   .old_length = absent ? 0 : to - at,
					   .flags = unreadable ? SCR_UNDO_UNREADABLE : 0,
					   .check = scr_check_bytes(r->k.kernels, m->data + at,
								    to - at),
					   .old = m->read + at,
				   });
		at = to;
	}
	return err;
}

static struct scr_identity identity_of(const struct scr_pass *p, uint32_t fs)
{
	const struct scr_identity *id = &p->header.identities[fs];
	char key[64];

	if (p->device) {
		scr_device_key(p, key, sizeof(key));
		return (struct scr_identity){strdup(p->fs.type), strdup(key), strdup(""), 0};
	}
	return (struct scr_identity){strdup(id->type), strdup(id->uuid), strdup(id->subvol),
				     id->fsid};
}

/* All of an entry but its ranges. 0 or -ENOMEM. */
static int describe(struct scr_repair *r, const struct scr_repair_file *rf, uint8_t kind,
		    int64_t since, struct scr_undo_entry *e)
{
	*e = (struct scr_undo_entry){
		.created_ns = scr_repair_now(r),
		.stamp = scr_stamp_of(&rf->now),
		.size_after = (uint64_t)rf->now.st_size,
		.extent = r->mend.cut.index,
		.unit = rf->unit,
		.damage_kind = kind,
		.since_ns = since,
		.fs = identity_of(r->p, rf->f.fs),
		.path = strndup((char *)rf->path.data, rf->path.len),
		.path_len = (uint32_t)rf->path.len,
		.fd = -1,
	};
	return e->fs.type && e->fs.uuid && e->fs.subvol && e->path ? 0 : -ENOMEM;
}

int scr_repair_keep_entry(struct scr_repair_file *rf, struct scr_undo_entry *e,
			  enum scr_undo_state target)
{
	if (rf->entry_count == rf->entry_cap) {
		uint32_t cap = rf->entry_cap ? rf->entry_cap * 2 : 8;
		struct scr_undo_entry *list = realloc(rf->entries, cap * sizeof(*list));

		if (!list)
			return -ENOMEM;
		rf->entries = list;
		rf->entry_cap = cap;
	}
	scr_undo_park(e);
	e->mark.state = target;
	rf->entries[rf->entry_count++] = *e;
	*e = (struct scr_undo_entry){.fd = -1};
	return 0;
}

/* ---- putting back ------------------------------------------------------------------------ */

/* What stands in [@start, @start + @len) now, into r->window; *got bytes of it exist. */
static int read_window(struct scr_repair *r, struct scr_repair_file *rf, uint64_t start,
		       uint32_t len, uint32_t *got, struct scr_bad_range *bad, unsigned int *nbad)
{
	uint32_t pos = 0;

	*nbad = 0;
	memset(r->window, 0, len);
	scr_reader_attach(r->k.reader, rf->fd, SCR_READ_CHECK);
	while (pos < len) {
		unsigned int n = 0;
		const uint8_t *data;
		ssize_t m = scr_reader_reread(r->k.reader, start + pos,
					      SCR_MIN(len - pos, SCR_READER_BUFFER), &data,
					      bad + *nbad, BAD_MAX - *nbad, &n);

		if (m < 0)
			return (int)m;
		if (m == 0)
			break;
		memcpy(r->window + pos, data, (size_t)m);
		*nbad += n;
		pos += (uint32_t)m;
		if (*nbad == BAD_MAX)
			return -EIO;
	}
	*got = pos;
	return 0;
}

/* Whether a byte of the unit at @at, outside of [@from, @to), can't be read. */
static bool unit_bad(uint64_t at, uint32_t unit, uint64_t from, uint64_t to,
		     const struct scr_bad_range *bad, unsigned int nbad)
{
	for (unsigned int i = 0; i < nbad; i++) {
		uint64_t b = SCR_MAX(bad[i].offset, at);
		uint64_t e = SCR_MIN(bad[i].offset + bad[i].length, at + unit);

		if (b < e && (b < from || e > to))
			return true;
	}
	return false;
}

/*
 * Puts the old bytes of range @i back, in whole units whose other bytes stay as they are. A unit of
 * which something else can't be read was never written, so its old bytes are still there.
 */
static int put_range(struct scr_repair *r, struct scr_repair_file *rf,
		     const struct scr_undo_entry *e, uint32_t i)
{
	const struct scr_undo_range *range = &e->ranges[i];
	uint64_t unit = rf->unit, from = range->offset, to = from + range->old_length;
	uint64_t start = from / unit * unit;
	uint64_t end = SCR_MIN((to + unit - 1) / unit * unit, e->stamp.size);
	struct scr_bad_range bad[BAD_MAX];
	unsigned int nbad;
	uint32_t got;
	int err = read_window(r, rf, start, (uint32_t)(end - start), &got, bad, &nbad);

	if (err == 0)
		err = scr_undo_old(e, i, r->window + (from - start));
	for (uint64_t at = start; err == 0 && at < end; at += unit) {
		if (unit_bad(at, rf->unit, from, to, bad, nbad))
			continue;
		err = scr_writer_put(rf->writer, at, r->window + (at - start),
				     (size_t)SCR_MIN(unit, end - at));
	}
	return err;
}

/* Whether the old bytes of range @i are there again. */
static int check_range(struct scr_repair *r, struct scr_repair_file *rf,
		       const struct scr_undo_entry *e, uint32_t i)
{
	const struct scr_undo_range *range = &e->ranges[i];
	struct scr_bad_range bad[BAD_MAX];
	uint8_t *old = malloc(range->old_length);
	unsigned int nbad;
	uint32_t got;
	int err = old ? scr_undo_old(e, i, old) : -ENOMEM;

	if (err == 0)
		err = read_window(r, rf, range->offset, range->old_length, &got, bad, &nbad);
	if (err == 0 && (nbad > 0 || got < range->old_length ||
			 memcmp(old, r->window, range->old_length) != 0))
		err = -EBADMSG;
	free(old);
	return err;
}

static bool has_old(const struct scr_undo_range *range)
{
	return range->old_length > 0 && !(range->flags & SCR_UNDO_UNREADABLE);
}

static int put_all(struct scr_repair *r, struct scr_repair_file *rf,
		   const struct scr_undo_entry *e)
{
	int err = 0;

	for (uint32_t i = 0; err == 0 && i < e->count; i++)
		if (has_old(&e->ranges[i]))
			err = put_range(r, rf, e, i);
	if (err == 0)
		err = scr_writer_resize(rf->writer, e->stamp.size);
	if (err == 0)
		err = scr_writer_sync(rf->writer);
	for (uint32_t i = 0; err == 0 && i < e->count; i++)
		if (has_old(&e->ranges[i]))
			err = check_range(r, rf, e, i);
	return err;
}

static int settle_times(struct scr_repair *r, struct scr_repair_file *rf, int64_t mtime_ns)
{
	int err = scr_writer_set_mtime(rf->writer, mtime_ns);

	if (err == 0)
		err = scr_writer_sync(rf->writer);
	return err < 0 ? err : scr_pass_stat_file(r->p, rf->fd, &rf->now);
}

int scr_repair_put_back(struct scr_repair *r, struct scr_repair_file *rf,
			const struct scr_undo_entry *e, int64_t mtime_ns, uint64_t *kept)
{
	int err;

	*kept = 0;
	for (uint32_t i = 0; i < e->count; i++)
		if (e->ranges[i].flags & SCR_UNDO_UNREADABLE)
			*kept += e->ranges[i].length;
	rf->wrote = true;
	err = put_all(r, rf, e);
	return err < 0 ? err : settle_times(r, rf, mtime_ns);
}

/* ---- writing ----------------------------------------------------------------------------- */

static int write_runs(struct scr_repair *r, struct scr_repair_file *rf)
{
	const struct scr_mend *m = &r->mend;
	int err = 0;

	for (uint32_t i = 0; err == 0 && i < m->run_count; i++)
		err = scr_writer_put(rf->writer, m->cut.offset + m->runs[i].start,
				     m->data + m->runs[i].start, m->runs[i].length);
	return err;
}

static int compare_runs(struct scr_repair *r, struct scr_repair_file *rf)
{
	const struct scr_mend *m = &r->mend;
	int err = 0;

	for (uint32_t i = 0; err == 0 && i < m->run_count; i++)
		err = scr_writer_compare(rf->writer, m->cut.offset + m->runs[i].start,
					 m->data + m->runs[i].start, m->runs[i].length);
	return err;
}

static int change(struct scr_repair *r, struct scr_repair_file *rf,
		  const struct scr_undo_entry *e)
{
	int err;

	rf->wrote = true;
	err = write_runs(r, rf);
	if (err == 0 && e->size_after != e->stamp.size)
		err = scr_writer_resize(rf->writer, e->size_after);
	if (err == 0)
		err = scr_writer_sync(rf->writer);
	if (err == 0)
		err = compare_runs(r, rf);
	return err < 0 ? err : settle_times(r, rf, e->stamp.mtime_ns);
}

/* What @err means to people. */
static const char *reason(int err)
{
	switch (-err) {
	case EBADMSG:
		return "the medium does not keep what is written to it: the old bytes were put back";
	case ENOSPC:
	case EDQUOT:
		return "there is no room to write it: the old bytes were put back";
	case EROFS:
		return "the file system became read-only: the old bytes were put back";
	default:
		return "it could not be written: the old bytes were put back";
	}
}

/* Takes back at once what could not be finished. If even that fails, the entry stays open. */
static int take_back(struct scr_repair *r, struct scr_repair_file *rf, struct scr_undo_entry *e,
		     int failed)
{
	const char *path = (char *)rf->path.data;
	struct scr_undo_entry sound;
	struct scr_why why = {""};
	uint64_t kept;
	/* By what is on disk, with its checksums, as a later repair would do it. */
	int err = scr_undo_load(r->undo, e->number, true, &sound, &why);

	if (err == 0) {
		err = scr_repair_put_back(r, rf, &sound, e->stamp.mtime_ns, &kept);
		scr_undo_entry_free(&sound);
	}
	scr_trouble(r->p, path, rf->path.len, -failed, "cannot repair the file");
	rf->refused = reason(failed);
	scr_mend_give_up(&r->mend);
	if (err == 0) {
		err = scr_undo_remove(r->undo, e->number);
		return err < 0 ? err : -EREMCHG;
	}
	r->broken = true;
	rf->refused = "it could not be written, nor the old bytes be put back: it stays under repair";
	scr_trouble(r->p, path, rf->path.len, -err,
		    "the file is half-written and stays under repair; undo/%08" PRIu32
		    " has the old bytes; the next repair or run tries again",
		    e->number);
	return -EREMCHG;
}

static int refuse(struct scr_repair *r, struct scr_repair_file *rf, const char *why)
{
	rf->refused = why;
	scr_mend_give_up(&r->mend);
	return -EREMCHG;
}

/* Writes what is planned under the entry @e, which has its ranges. */
static int carry_out(struct scr_repair *r, struct scr_repair_file *rf, struct scr_undo_entry *e)
{
	struct scr_why why = {""};
	int err;

	if (!scr_repair_unchanged(r, rf))
		return refuse(r, rf, "the file was changed while it was being repaired");
	err = scr_undo_create(r->undo, e, scr_repair_now(r), &why);
	if (err < 0) {
		scr_trouble(r->p, NULL, 0, -err, "cannot write the undo log in %s%s%s",
			    r->p->state.path, *why.text ? ": " : "", why.text);
		return refuse(r, rf, "the undo log can't be written");
	}
	err = change(r, rf, e);
	return err < 0 ? take_back(r, rf, e, err) : scr_repair_keep_entry(rf, e, SCR_UNDO_DONE);
}

static uint64_t size_after(const struct scr_repair *r, const struct scr_repair_file *rf)
{
	const struct scr_mend *m = &r->mend;
	uint64_t size = (uint64_t)rf->now.st_size;

	if (m->run_count == 0)
		return size;
	return SCR_MAX(size, m->cut.offset + m->runs[m->run_count - 1].start +
				     m->runs[m->run_count - 1].length);
}

int scr_mend_apply(struct scr_repair *r, struct scr_repair_file *rf, uint8_t kind, int64_t since)
{
	struct scr_undo_entry e;
	struct ranges l = {0};
	int err;

	if (!scr_repair_open_writer(r, rf))
		return refuse(r, rf, rf->refused);
	err = describe(r, rf, kind, since, &e);
	for (uint32_t i = 0; err == 0 && i < r->mend.run_count; i++)
		err = add_run(r, &l, &r->mend.runs[i]);
	e.ranges = l.v;
	e.count = l.count;
	e.size_after = size_after(r, rf);
	if (err == 0)
		err = carry_out(r, rf, &e);
	scr_undo_entry_free(&e);
	return err;
}

/* ---- a file that is too long ------------------------------------------------------------- */

/* The part of [@at, @end) from @at on that could be read, or could not. */
static uint64_t tail_end(uint64_t at, uint64_t end, const struct scr_bad_range *bad,
			 unsigned int nbad, bool *unreadable)
{
	*unreadable = false;
	for (unsigned int i = 0; i < nbad; i++) {
		if (bad[i].offset + bad[i].length <= at)
			continue;
		if (bad[i].offset > at)
			return SCR_MIN(end, bad[i].offset);
		*unreadable = true;
		return SCR_MIN(end, bad[i].offset + bad[i].length);
	}
	return end;
}

/* Ranges of what stands behind the recorded end, read into @buf. */
static int add_tail(struct scr_repair *r, struct scr_repair_file *rf, struct ranges *l,
		    uint8_t *buf, uint64_t end)
{
	uint64_t at = rf->f.stamp.size;
	int err = 0;

	while (err == 0 && at < end) {
		struct scr_bad_range bad[BAD_MAX];
		uint32_t len = (uint32_t)SCR_MIN(end - at, SCR_UNDO_RANGE_MAX), got;
		uint64_t stop = at + len, to;
		unsigned int nbad;

		err = read_window(r, rf, at, len, &got, bad, &nbad);
		if (err == 0 && got < len)
			err = -ESTALE;
		if (err == 0)
			memcpy(buf, r->window, len);
		for (; err == 0 && at < stop; buf += to - at, at = to) {
			bool unreadable;

			to = tail_end(at, stop, bad, nbad, &unreadable);
			err = add_range(l, (struct scr_undo_range){
						   .offset = at,
						   .old_length = (uint32_t)(to - at),
						   .flags = unreadable ? SCR_UNDO_UNREADABLE : 0,
						   .check = scr_check_bytes(r->k.kernels, buf, 0),
						   .old = buf,
					   });
		}
	}
	return err;
}

/* Whether the unit in which the file shall end reads well: else undo could not make it longer
 * again. 1, 0, -errno. */
static int end_readable(struct scr_repair *r, struct scr_repair_file *rf)
{
	uint64_t size = (uint64_t)rf->now.st_size;
	uint64_t start = rf->f.stamp.size / rf->unit * rf->unit;
	struct scr_bad_range bad[BAD_MAX];
	unsigned int nbad;
	uint32_t got;
	int err;

	if (start == rf->f.stamp.size)
		return 1;
	err = read_window(r, rf, start, (uint32_t)SCR_MIN(rf->unit, size - start), &got, bad,
			  &nbad);
	return err < 0 ? err : nbad == 0;
}

int scr_repair_cut(struct scr_repair *r, struct scr_repair_file *rf)
{
	uint64_t size = (uint64_t)rf->now.st_size, extra = size - rf->f.stamp.size;
	uint64_t extents = scr_extent_count(rf->f.stamp.size);
	struct scr_undo_entry e;
	struct ranges l = {0};
	uint8_t *buf;
	int err;

	r->mend.run_count = 0;
	if (extra > SCR_UNDO_BYTES_MAX)
		return refuse(r, rf, "it is longer by more than the undo log takes: truncate it yourself");
	if (!scr_repair_open_writer(r, rf))
		return -EREMCHG;
	err = end_readable(r, rf);
	if (err <= 0)
		return err < 0 ? err : refuse(r, rf, "the page in which it should end can't be read whole, so it can't be cut");
	buf = malloc(extra);
	if (!buf)
		return -ENOMEM;
	err = describe(r, rf, rf->f.damage.kind == SCR_REC_ALTERED ? SCR_REC_ALTERED : SCR_REC_ROT,
		       rf->f.damage.first_ns, &e);
	if (err == 0)
		err = add_tail(r, rf, &l, buf, size);
	e.ranges = l.v;
	e.count = l.count;
	e.size_after = rf->f.stamp.size;
	e.extent = extents ? extents - 1 : 0;
	if (err == 0)
		err = carry_out(r, rf, &e);
	scr_undo_entry_free(&e);
	free(buf);
	return err;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reading a part of the window, and finding out what is bad where that fails.
 *
 *	1 MiB fails -> all of it in pieces of 64 KiB -> those that failed, 4 KiB -> the same, sectors
 *
 * Level by level, so that what reads well is had before anything bad is asked for once more. On each
 * level a stretch that failed is narrowed from its front; after a few failures in a row the rest
 * is skipped and narrowed from its back; then what lies between is come back to. So both ends of
 * a bad area are found with few reads, and each failing one may cost a worn disk seconds.
 *
 * Therefore they are bounded too. A window is allowed so many; then what has failed counts as bad
 * as it stands, with the borders found so far. Behind a window in which nothing could be read at all
 * only few are allowed, until something reads well again: where a dead area ends is found exactly,
 * and its inside costs little.
 */
#include <config.h>
#include "io/reader_internal.h"

#include <errno.h>
#include <string.h>

#include "base/compiler.h"

/* Failing reads that a window is allowed, and one behind a window without anything good. */
#define FAILURES_MAX 512u
#define FAILURES_DEAD 32u
/* Failures in a row after which the rest of a stretch is skipped for now. */
#define ROW_MAX 8u
/* Sectors in a window. */
#define SECTORS (BUFFER_SIZE / SCR_SECTOR)

/* A part of the window in which something failed. */
struct search {
	struct scr_read_job *j;
	size_t from, to;
	size_t end;             /* where the bytes end that exist */
	uint16_t err[SECTORS];  /* of each sector of the window; 0: it was read */
};

/* Where the file ends in the window, or the window itself. */
static size_t end_of_file(const struct scr_read_job *j)
{
	uint64_t end = j->size > j->base ? j->size - j->base : 0;

	return (size_t)SCR_MIN(end, (uint64_t)SIZE_MAX / 2);
}

/* Adds what is wanted of [@from, @to) to the bad ranges. */
static void add_bad(struct scr_read_job *j, size_t from, size_t to, int err)
{
	struct scr_bad_range *last = j->nbad > 0 ? &j->bad[j->nbad - 1] : NULL;
	uint64_t start;

	memset(j->buf + from, 0, to - from);
	from = SCR_MAX(from, j->want_from);
	to = SCR_MIN(to, SCR_MIN(j->want_to, end_of_file(j)));
	if (from >= to || j->maxbad == 0)
		return;
	start = j->base + from;
	if (last && (j->nbad == j->maxbad ||
		     (last->offset + last->length == start && last->err == err))) {
		last->length = start + (to - from) - last->offset;
		return;
	}
	j->bad[j->nbad++] = (struct scr_bad_range){start, to - from, err};
}

/* Whether the file ends at @at; it may have become shorter. */
static bool at_end(const struct scr_read_job *j, size_t at)
{
	struct stat st;

	if (at >= end_of_file(j))
		return true;
	return j->ops->fstat(j->ops->arg, j->fd, &st) == 0 && S_ISREG(st.st_mode) &&
	       j->base + at >= (uint64_t)st.st_size;
}

/*
 * Reads [@from, @to), up to the end of the file or the first error. Returns where that is; *err
 * receives 0 or the positive errno that stopped it.
 */
static size_t read_plain(const struct scr_read_job *j, size_t from, size_t to, int *err)
{
	*err = 0;
	while (from < to) {
		ssize_t n = j->ops->pread(j->ops->arg, j->fd, j->buf + from, to - from,
					  (off_t)(j->base + from));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			*err = errno;
		if (n <= 0)
			break;
		from += (size_t)n;
		if (from % j->align == 0)
			continue;
		/* Cut in the middle of what can be read directly: at the end of the file, else go on
		 * from the last place where a direct read can begin. */
		if (at_end(j, from))
			break;
		if ((size_t)n < j->align) {
			from -= (size_t)n;
			*err = EIO; /* it gives a part of a sector, time and again */
			break;
		}
		from -= from % j->align;
	}
	return from;
}

static void mark(struct search *s, size_t from, size_t to, int err)
{
	for (size_t i = from / SCR_SECTOR; i * SCR_SECTOR < to; i++)
		s->err[i] = (uint16_t)err;
}

/* Reads a piece, and marks what failed of it. 1: it is good; 0: it is not; -errno. */
static int try_piece(struct search *s, size_t from, size_t to)
{
	struct scr_read_job *j = s->j;
	int err;
	size_t at = read_plain(j, from, to, &err);

	if (err && !scr_errno_is_medium(err))
		return -err;
	if (at > from || err == 0) {
		j->any_good = true;
		j->allowed = FAILURES_MAX;
	}
	if (err == 0 && at < to)
		s->end = SCR_MIN(s->end, at);
	mark(s, from, err ? at : to, 0);
	if (err == 0)
		return 1;
	mark(s, at, to, err);
	j->failures++;
	return 0;
}

/* Where the piece that begins, or ends, at @at has its other end: at a multiple of @step. */
static size_t piece_end(const struct scr_read_job *j, size_t at, size_t to, size_t step)
{
	return SCR_MIN(to, at + step - (size_t)((j->base + at) % step));
}

static size_t piece_start(const struct scr_read_job *j, size_t at, size_t from, size_t step)
{
	size_t over = (size_t)((j->base + at) % step);

	over = over ? over : step;
	return at - from > over ? at - over : from;
}

/* Tries the stretch [@*from, @*to) from its front, until @row pieces fail in a row. */
static int narrow_front(struct search *s, size_t *from, size_t to, size_t step, unsigned int row)
{
	unsigned int failed = 0;
	int r = 0;

	while (r >= 0 && *from < to && failed < row && s->j->failures < s->j->allowed) {
		size_t end = piece_end(s->j, *from, to, step);

		r = try_piece(s, *from, end);
		failed = r == 0 ? failed + 1 : 0;
		*from = end;
	}
	return SCR_MIN(r, 0);
}

static int narrow_back(struct search *s, size_t from, size_t *to, size_t step, unsigned int row)
{
	unsigned int failed = 0;
	int r = 0;

	while (r >= 0 && from < *to && failed < row && s->j->failures < s->j->allowed) {
		size_t start = piece_start(s->j, *to, from, step);

		r = try_piece(s, start, *to);
		failed = r == 0 ? failed + 1 : 0;
		*to = start;
	}
	return SCR_MIN(r, 0);
}

/* The next stretch of sectors at or behind @at that failed, in bytes. False: there is none. */
static bool next_stretch(const struct search *s, size_t at, size_t *from, size_t *to)
{
	size_t i = at / SCR_SECTOR;

	if (at >= s->to)
		return false;
	while (i * SCR_SECTOR < s->to && !s->err[i])
		i++;
	*from = SCR_MAX(i * SCR_SECTOR, s->from);
	while (i * SCR_SECTOR < s->to && s->err[i])
		i++;
	*to = SCR_MIN(i * SCR_SECTOR, s->to);
	return *from < *to;
}

/* Tries all that has failed once more, in pieces of @step. */
static int search_level(struct search *s, size_t step)
{
	size_t from, to = s->from;
	int r = 0;

	while (r == 0 && next_stretch(s, to, &from, &to)) {
		size_t back = to;

		r = narrow_front(s, &from, to, step, ROW_MAX);
		if (r == 0)
			r = narrow_back(s, from, &back, step, ROW_MAX);
		if (r == 0)
			r = narrow_front(s, &from, back, step, UINT32_MAX);
	}
	return r;
}

static int search_levels(struct search *s)
{
	const size_t least = SCR_MAX(s->j->sector, s->j->align);
	size_t steps[] = {64u << 10, 4096, SCR_SECTOR}, last = SIZE_MAX;
	int r = 0;

	for (size_t i = 0; r == 0 && i < SCR_ARRAY_SIZE(steps); i++) {
		size_t step = SCR_MAX(steps[i], least);

		/* One piece that is all of what failed has failed already. */
		if (step < last && piece_end(s->j, s->from, s->to, step) < s->to)
			r = search_level(s, step);
		last = step;
	}
	return r;
}

static void tell_bad(struct search *s)
{
	size_t at = s->from;

	while (at < s->to) {
		size_t end = SCR_MIN((at / SCR_SECTOR + 1) * SCR_SECTOR, s->to);
		int err = s->err[at / SCR_SECTOR];

		if (err && at < s->end)
			add_bad(s->j, at, end, err);
		at = end;
	}
}

ssize_t scr_read_part(struct scr_read_job *j, size_t from, size_t to)
{
	struct search s = {.j = j, .from = from, .to = to};
	int err, r;

	s.from = read_plain(j, from, to, &err);
	s.end = end_of_file(j);
	j->any_good |= s.from > from;
	if (err == 0)
		return (ssize_t)s.from;
	if (!scr_errno_is_medium(err))
		return -err;
	j->failures++;
	/* What is behind the end of the file may fail like the rest, but does not exist. */
	if (s.end <= s.from)
		return (ssize_t)s.from;
	if (s.end < to)
		s.to = SCR_MIN(to, s.end + (j->align - s.end % j->align) % j->align);
	mark(&s, s.from, s.to, err);
	r = search_levels(&s);
	if (r < 0)
		return r;
	tell_bad(&s);
	return (ssize_t)SCR_MIN(s.to, s.end);
}

unsigned int scr_read_allowance(bool dead)
{
	return dead ? FAILURES_DEAD : FAILURES_MAX;
}

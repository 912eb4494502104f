/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reading a part of the window, and stepping down to the sector where that fails.
 *
 *	1 MiB fails -> pieces of 64 KiB -> of those that fail, 4 KiB -> 512 bytes
 *
 * Few steps, because each failing read may cost a worn disk seconds: one bad sector in a window is
 * four of them.
 */
#include <config.h>
#include "io/reader_internal.h"

#include <errno.h>
#include <string.h>

#include "base/compiler.h"

/* After so many failing reads in one window, pieces that fail are no longer taken apart. */
#define FAILURES_MAX 512

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

/* The size of the pieces in which a failed piece of @len bytes is tried again. */
static size_t step_below(const struct scr_read_job *j, size_t len)
{
	size_t step = len > (64u << 10) ? 64u << 10 : len > 4096 ? 4096 : SCR_SECTOR;

	return SCR_MAX(step, j->align);
}

/* Where the piece that starts at @at ends: at a multiple of @step in the file. */
static size_t piece_end(const struct scr_read_job *j, size_t at, size_t to, size_t step)
{
	return SCR_MIN(to, at + step - (size_t)((j->base + at) % step));
}

/* Whether a failed piece is given up: the smallest there is, or there have been too many. */
static bool give_up(struct scr_read_job *j, size_t len, size_t step)
{
	size_t least = SCR_MAX(SCR_SECTOR, j->align);

	return ++j->failures >= FAILURES_MAX || step <= least || len <= least;
}

/*
 * Reads [@from, @to) in pieces of @step, and those that fail in smaller ones. As scr_read_part().
 * It calls itself at most three deep.
 */
static ssize_t read_pieces(struct scr_read_job *j, size_t from, size_t to, size_t step)
{
	while (from < to) {
		size_t end = piece_end(j, from, to, step);
		ssize_t got;
		int err;

		from = read_plain(j, from, end, &err);
		if (err == 0 && from < end)
			return (ssize_t)from; /* the end of the file */
		if (err == 0)
			continue;
		if (!scr_errno_is_medium(err))
			return -err;
		if (give_up(j, end - from, step)) {
			add_bad(j, from, end, err);
			from = end;
			continue;
		}
		got = read_pieces(j, from, end, step_below(j, SCR_MIN(step, end - from)));
		if (got < 0 || (size_t)got < end)
			return got;
		from = end;
	}
	return (ssize_t)to;
}

ssize_t scr_read_part(struct scr_read_job *j, size_t from, size_t to)
{
	int err;
	size_t at = read_plain(j, from, to, &err), end = end_of_file(j);
	ssize_t got;

	if (err == 0)
		return (ssize_t)at;
	if (!scr_errno_is_medium(err))
		return -err;
	j->failures++;
	/* What is behind the end of the file may fail like the rest, but does not exist. */
	if (end <= at)
		return (ssize_t)at;
	if (end < to)
		to = SCR_MIN(to, end + (j->align - end % j->align) % j->align);
	got = read_pieces(j, at, to, step_below(j, to - at));
	return got < 0 ? got : (ssize_t)SCR_MIN((size_t)got, end);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reading the content of one file, and finding exactly what can't be read of it. */
#include <config.h>
#include "io/reader.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/compiler.h"

#define BUFFER_ALIGN 4096
#define SECTOR 512u

/* After so many failing reads in one call, pieces that fail are no longer taken apart: each costs a
 * worn disk seconds. */
#define FAILURES_MAX 512

struct scr_reader {
	const struct scr_reader_ops *ops;
	int fd;
	enum scr_reader_mode mode;
	uint8_t *buf;
	struct scr_reader_counts counts;
};

/* One scr_reader_read(): the part of the file that stands in the buffer, and its bad ranges. */
struct job {
	struct scr_reader *r;
	uint64_t offset;      /* of the buffer's first byte */
	struct scr_bad_range *bad;
	unsigned int maxbad, nbad;
	unsigned int failures;
};

static ssize_t system_pread(void *arg SCR_UNUSED, int fd, void *buf, size_t len, off_t offset)
{
	return pread(fd, buf, len, offset);
}

static off_t system_lseek(void *arg SCR_UNUSED, int fd, off_t offset, int whence)
{
	return lseek(fd, offset, whence);
}

static int system_fstat(void *arg SCR_UNUSED, int fd, struct stat *st)
{
	return fstat(fd, st);
}

static int system_fadvise(void *arg SCR_UNUSED, int fd, off_t offset, off_t len, int advice)
{
	return posix_fadvise(fd, offset, len, advice);
}

const struct scr_reader_ops scr_reader_ops_system = {
	.pread = system_pread,
	.lseek = system_lseek,
	.fstat = system_fstat,
	.fadvise = system_fadvise,
};

int scr_reader_new(const struct scr_reader_ops *ops, struct scr_reader **out)
{
	struct scr_reader *r = calloc(1, sizeof(*r));

	if (!r)
		return -ENOMEM;
	r->buf = aligned_alloc(BUFFER_ALIGN, SCR_READER_BUFFER);
	if (!r->buf) {
		free(r);
		return -ENOMEM;
	}
	r->ops = ops ? ops : &scr_reader_ops_system;
	r->fd = -1;
	*out = r;
	return 0;
}

void scr_reader_free(struct scr_reader *r)
{
	if (!r)
		return;
	free(r->buf);
	free(r);
}

void scr_reader_attach(struct scr_reader *r, int fd, enum scr_reader_mode mode)
{
	r->fd = fd;
	r->mode = mode;
}

void scr_reader_detach(struct scr_reader *r)
{
	r->fd = -1;
}

uint64_t scr_reader_hole(struct scr_reader *r, uint64_t offset, uint64_t len)
{
	off_t data = r->ops->lseek(r->ops->arg, r->fd, (off_t)offset, SEEK_DATA);
	struct stat st;
	uint64_t end;

	if (data < 0 && errno != ENXIO)
		return 0;
	if (data >= 0) {
		end = (uint64_t)data;
	} else { /* no data from here to the end */
		if (r->ops->fstat(r->ops->arg, r->fd, &st) < 0 || !S_ISREG(st.st_mode))
			return 0;
		end = (uint64_t)st.st_size;
	}
	return end > offset ? SCR_MIN(end - offset, len) : 0;
}

/* Adds [@from, @to) of the buffer to the bad ranges. */
static void add_bad(struct job *j, size_t from, size_t to, int err)
{
	struct scr_bad_range *last = j->nbad > 0 ? &j->bad[j->nbad - 1] : NULL;
	uint64_t start = j->offset + from;

	memset(j->r->buf + from, 0, to - from);
	if (j->maxbad == 0)
		return;
	if (last && (j->nbad == j->maxbad ||
		     (last->offset + last->length == start && last->err == err))) {
		last->length = start + (to - from) - last->offset;
		return;
	}
	j->bad[j->nbad++] = (struct scr_bad_range){start, to - from, err};
}

/*
 * Reads [@from, @to) of the buffer from the file, up to its end or the first error. Returns the
 * bytes read; *err receives 0 or the positive errno that stopped it.
 */
static size_t read_plain(struct job *j, size_t from, size_t to, int *err)
{
	const struct scr_reader *r = j->r;
	size_t at = from;

	*err = 0;
	while (at < to) {
		ssize_t n = r->ops->pread(r->ops->arg, r->fd, r->buf + at, to - at,
					  (off_t)(j->offset + at));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			*err = errno;
		if (n <= 0)
			break;
		at += (size_t)n;
	}
	return at - from;
}

/* The size of the pieces in which a failed piece of @len bytes is tried again. */
static size_t step_below(size_t len)
{
	if (len > (64u << 10))
		return 64u << 10;
	return len > 4096 ? 4096 : SECTOR;
}

/* Where the piece that starts at @at ends: at a multiple of @step in the file. */
static size_t piece_end(const struct job *j, size_t at, size_t to, size_t step)
{
	uint64_t pos = j->offset + at;

	return SCR_MIN(to, at + (size_t)(step - pos % step));
}

/*
 * Reads [@from, @to) in pieces of @step, and those that fail in smaller ones, down to the sector.
 * Returns where the bytes that exist end (@to, or less at the end of the file), or -errno. It calls
 * itself at most three deep.
 */
static ssize_t read_pieces(struct job *j, size_t from, size_t to, size_t step)
{
	while (from < to) {
		size_t end = piece_end(j, from, to, step);
		int err;
		size_t n = read_plain(j, from, end, &err);
		ssize_t got;

		from += n;
		if (err == 0 && from < end)
			return (ssize_t)from; /* the end of the file */
		if (err == 0)
			continue;
		if (!scr_errno_is_medium(err))
			return -err;
		if (++j->failures >= FAILURES_MAX || step <= SECTOR || end - from <= SECTOR) {
			add_bad(j, from, end, err);
			from = end;
			continue;
		}
		got = read_pieces(j, from, end, step_below(SCR_MIN(step, end - from)));
		if (got < 0 || (size_t)got < end)
			return got;
		from = end;
	}
	return (ssize_t)to;
}

/* A piece beyond the end of the file may fail like one inside of it: such bytes don't exist. */
static ssize_t clip_to_size(struct job *j, size_t len)
{
	struct stat st;
	uint64_t size;

	if (j->r->ops->fstat(j->r->ops->arg, j->r->fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode))
		return (ssize_t)len;
	size = (uint64_t)st.st_size;
	return size <= j->offset ? 0 : (ssize_t)SCR_MIN(size - j->offset, len);
}

static ssize_t read_job(struct job *j, size_t len)
{
	int err;
	size_t n = read_plain(j, 0, len, &err);
	ssize_t end;

	if (err == 0)
		return (ssize_t)n;
	if (!scr_errno_is_medium(err))
		return -err;
	end = clip_to_size(j, len);
	if (end < 0 || (size_t)end <= n)
		return end < 0 ? end : (ssize_t)n;
	return read_pieces(j, n, (size_t)end, step_below((size_t)end - n));
}

ssize_t scr_reader_read(struct scr_reader *r, uint64_t offset, size_t len, const uint8_t **data,
			struct scr_bad_range *bad, unsigned int maxbad, unsigned int *nbad)
{
	struct job j = {.r = r, .offset = offset, .bad = bad, .maxbad = maxbad};
	ssize_t got = read_job(&j, SCR_MIN(len, SCR_READER_BUFFER));

	if (got < 0)
		return got;
	r->counts.total += (uint64_t)got;
	r->counts.unknown += (uint64_t)got;
	*data = r->buf;
	*nbad = j.nbad;
	return got;
}

ssize_t scr_reader_reread(struct scr_reader *r, uint64_t offset, size_t len, const uint8_t **data,
			  struct scr_bad_range *bad, unsigned int maxbad, unsigned int *nbad)
{
	/* Whole pages: a page is only dropped if all of it is asked for. */
	uint64_t start = offset & ~(uint64_t)(BUFFER_ALIGN - 1);
	uint64_t end = (offset + len + BUFFER_ALIGN - 1) & ~(uint64_t)(BUFFER_ALIGN - 1);

	r->ops->fadvise(r->ops->arg, r->fd, (off_t)start, (off_t)(end - start),
			POSIX_FADV_DONTNEED);
	return scr_reader_read(r, offset, len, data, bad, maxbad, nbad);
}

void scr_reader_get_counts(const struct scr_reader *r, struct scr_reader_counts *out)
{
	*out = r->counts;
}

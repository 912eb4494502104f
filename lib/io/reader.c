/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reading the content of one file: from where each part of it should come.
 *
 *	check    directly, all of it
 *	record   what is in the cache from there, the rest directly
 *	cached   all through the cache
 *
 * Where direct reads are not possible, the rest is read through the cache and dropped from it
 * afterwards. "Dropped" always means: what was not in it before.
 */
#include <config.h>
#include "io/reader_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/compiler.h"
#include "io/pages.h"

enum source {
	DIRECT,
	CACHED,        /* through the cache, where it is */
	PASSING,       /* through the cache, to be dropped */
	PLAIN,         /* through the cache, and nothing is known about it */
};

int scr_reader_new(const struct scr_reader_ops *ops, struct scr_reader **out)
{
	struct scr_reader *r = calloc(1, sizeof(*r));

	if (!r)
		return -ENOMEM;
	r->buf = aligned_alloc(SCR_READER_ALIGN_MAX, BUFFER_SIZE);
	if (!r->buf) {
		free(r);
		return -ENOMEM;
	}
	r->ops = ops ? ops : &scr_reader_ops_system;
	r->fd = r->direct_fd = r->turned = -1;
	*out = r;
	return 0;
}

void scr_reader_free(struct scr_reader *r)
{
	if (!r)
		return;
	scr_reader_detach(r);
	free(r->buf);
	free(r);
}

void scr_reader_slim(struct scr_reader *r, size_t keep)
{
	if (keep < BUFFER_SIZE)
		scr_pages_drop(r->buf + keep, BUFFER_SIZE - keep);
}

/* The file's own descriptor stays as it was turned: it may be closed, its number another's. */
static void drop_direct(struct scr_reader *r)
{
	if (r->direct_fd >= 0 && r->direct_fd != r->fd)
		r->ops->close_direct(r->ops->arg, r->direct_fd);
	r->direct_fd = -1;
	r->direct.possible = false;
}

static void turn_back(struct scr_reader *r)
{
	r->ops->turn_direct(r->ops->arg, r->turned, false);
	r->turned = -1;
}

/* Direct reads don't go, after all. */
static void stop_direct(struct scr_reader *r)
{
	if (r->direct_fd >= 0 && r->direct_fd == r->turned)
		turn_back(r);
	drop_direct(r);
}

void scr_reader_attach(struct scr_reader *r, int fd, enum scr_reader_mode mode)
{
	scr_reader_detach(r);
	if (r->turned == fd)
		turn_back(r);
	r->fd = fd;
	r->mode = mode;
}

static void know_size(struct scr_reader *r, const struct stat *st)
{
	r->size = S_ISREG(st->st_mode) ? (uint64_t)st->st_size : UINT64_MAX;
	r->prepared = true;
}

void scr_reader_attach_known(struct scr_reader *r, int fd, enum scr_reader_mode mode,
			     const struct stat *st)
{
	scr_reader_attach(r, fd, mode);
	know_size(r, st);
}

void scr_reader_detach(struct scr_reader *r)
{
	scr_reader_unmap(r);
	drop_direct(r);
	r->own = false;
	r->fd = -1;
	r->prepared = r->probed = r->no_readahead = r->dead = false;
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

void scr_reader_own(struct scr_reader *r)
{
	/* In the other modes ordinary reads come between. */
	r->own = r->mode == SCR_READ_CHECK;
}

/* Learns how large the file is, when it is read for the first time. */
static int prepare(struct scr_reader *r)
{
	struct stat st;

	if (r->prepared)
		return 0;
	if (r->ops->fstat(r->ops->arg, r->fd, &st) < 0)
		return -errno;
	know_size(r, &st);
	return 0;
}

/* Learns whether it can be read directly: only when that is of interest. */
static void probe(struct scr_reader *r)
{
	if (r->probed)
		return;
	if (!r->ops->probe || r->ops->probe(r->ops->arg, r->fd, &r->direct) < 0 ||
	    r->direct.align > SCR_READER_ALIGN_MAX || (r->direct.align & (r->direct.align - 1)))
		r->direct.possible = false;
	r->probed = true;
}

static bool open_direct(struct scr_reader *r)
{
	probe(r);
	if (r->direct.possible && r->direct_fd < 0) {
		if (r->own && r->ops->turn_direct &&
		    r->ops->turn_direct(r->ops->arg, r->fd, true) == 0)
			r->direct_fd = r->turned = r->fd;
		else
			r->direct_fd = r->ops->open_direct(r->ops->arg, r->fd);
		r->direct.possible = r->direct_fd >= 0;
	}
	return r->direct.possible;
}

/* What runs of equal residency are measured in: whole pages, and what can be read directly. */
static size_t unit_of(const struct scr_reader *r)
{
	return r->direct.possible ? SCR_MAX(r->direct.align, SCR_READER_PAGE) : SCR_READER_PAGE;
}

/* Whether all of unit @at of the window is in the cache. */
static bool unit_resident(const struct scr_reader *r, size_t at, size_t unit)
{
	for (size_t i = at / SCR_READER_PAGE; i < (at + unit) / SCR_READER_PAGE; i++)
		if (!r->resident[i])
			return false;
	return true;
}

/* Where bytes come from that are not in the cache, or of which that isn't known. */
static enum source source_of_missing(struct scr_reader *r, const struct scr_read_job *j)
{
	if ((r->mode != SCR_READ_CACHED || j->again) && open_direct(r))
		return DIRECT;
	return j->known ? PASSING : PLAIN;
}

/* The part of the window that begins at @from: its source, and where it ends. */
static enum source next_part(struct scr_reader *r, const struct scr_read_job *j, size_t from,
			     size_t *to)
{
	size_t unit = unit_of(r), at = from - from % unit;
	enum source source = CACHED;

	*to = j->want_to;
	if (!j->known)
		return source_of_missing(r, j);
	if (!unit_resident(r, at, unit))
		source = source_of_missing(r, j);
	if (source == PASSING) { /* page by page, so that none is dropped that was there */
		unit = SCR_READER_PAGE;
		at = from - from % unit;
		source = unit_resident(r, at, unit) ? CACHED : PASSING;
	}
	do {
		at += unit;
	} while (at < j->want_to && unit_resident(r, at, unit) == (source == CACHED));
	*to = SCR_MIN(at, j->want_to);
	return source;
}

static void advise(const struct scr_reader *r, uint64_t start, uint64_t end, int advice)
{
	r->ops->fadvise(r->ops->arg, r->fd, (off_t)start, (off_t)(end - start), advice);
}

/* Drops the pages of [@from, @to) of the window; one at an end too, it was not there before. */
static void drop(const struct scr_reader *r, uint64_t base, size_t from, size_t to)
{
	from -= from % SCR_READER_PAGE;
	to += (SCR_READER_PAGE - to % SCR_READER_PAGE) % SCR_READER_PAGE;
	advise(r, base + from, base + to, POSIX_FADV_DONTNEED);
}

/* Reads [@from, @to) from @source. As scr_read_part(). */
static ssize_t read_from(struct scr_reader *r, struct scr_read_job *j, enum source source,
			 size_t from, size_t to)
{
	ssize_t end;

	j->fd = source == DIRECT ? r->direct_fd : r->fd;
	j->align = source == DIRECT ? r->direct.align : 1;
	j->sector = SCR_MAX(r->direct.sector, SCR_SECTOR);
	if (source == DIRECT) {
		from -= from % j->align;
		to += (j->align - to % j->align) % j->align;
	}
	if (source == PASSING && !r->no_readahead) {
		/* Readahead would fill the cache with what nobody asked for. */
		advise(r, 0, 0, POSIX_FADV_RANDOM);
		r->no_readahead = true;
	}
	end = scr_read_part(j, from, to);
	if (source == PASSING)
		drop(r, j->base, from, to);
	return end;
}

static void count(struct scr_reader_counts *c, const struct scr_reader *r, enum source source,
		  uint64_t bytes)
{
	c->total += bytes;
	if (source == DIRECT && r->direct.medium)
		c->medium += bytes;
	else if (source == CACHED)
		c->cache += bytes;
	else
		c->unknown += bytes;
}

/* Fills in r->resident for the window of @j, in whole units of @unit. What is behind the end of the
 * file counts as being in the cache. */
static bool fill_resident(struct scr_reader *r, const struct scr_read_job *j, size_t unit)
{
	size_t len = j->want_to + (unit - j->want_to % unit) % unit;
	size_t exists = r->size > j->base ? (size_t)SCR_MIN(len, r->size - j->base) : 0;

	memset(r->resident, 1, sizeof(r->resident));
	return exists == 0 ||
	       r->ops->resident(r->ops->arg, r->fd, (off_t)j->base, exists, r->resident) == 0;
}

/*
 * Whether it could be learned what of the window of @j is in the cache; only if anybody wants to
 * know. Where all of it is, nobody asks how it could be read directly.
 */
static bool ask_resident(struct scr_reader *r, const struct scr_read_job *j)
{
	const size_t first = j->want_from / SCR_READER_PAGE;
	size_t end = (j->want_to + SCR_READER_PAGE - 1) / SCR_READER_PAGE;

	if (j->again || !r->ops->resident || (r->mode == SCR_READ_CHECK && open_direct(r)))
		return false;
	if (!fill_resident(r, j, SCR_READER_PAGE))
		return false;
	if (r->probed || !memchr(r->resident + first, 0, end - first))
		return true;
	probe(r);
	return fill_resident(r, j, unit_of(r));
}

/* Reads the window. Returns where the bytes that exist end; -EINVAL too if the file system takes
 * back its word about direct reads. */
static ssize_t read_window(struct scr_reader *r, struct scr_read_job *j)
{
	struct scr_reader_counts c = r->counts;
	size_t at = j->want_from;

	j->known = ask_resident(r, j);

	while (at < j->want_to) {
		size_t to;
		enum source source = next_part(r, j, at, &to);
		ssize_t end = read_from(r, j, source, at, to);

		if (end == -EINVAL && source == DIRECT)
			stop_direct(r);
		if (end < 0)
			return end;
		if ((size_t)end > at)
			count(&c, r, source, SCR_MIN((size_t)end, to) - at);
		if ((size_t)end < to) {
			at = SCR_MAX(at, (size_t)end);
			break;
		}
		at = to;
	}
	r->counts = c;
	return (ssize_t)at;
}

/* Reads @len bytes at @offset, if need be once more without direct reads. */
static ssize_t read_at(struct scr_reader *r, uint64_t offset, size_t len, struct scr_read_job *j)
{
	const size_t lead = (size_t)(offset % SCR_READER_ALIGN_MAX);
	bool was_direct;
	ssize_t end;

	j->ops = r->ops;
	j->buf = r->buf;
	j->base = offset - lead;
	j->size = r->size;
	j->want_from = lead;
	j->want_to = lead + SCR_MIN(len, SCR_READER_BUFFER);
	j->nbad = j->failures = 0;
	j->allowed = scr_read_allowance(r->dead);
	j->any_good = false;
	if (j->again && !open_direct(r))
		drop(r, j->base, j->want_from, j->want_to);
	was_direct = r->direct.possible || !r->probed;
	end = read_window(r, j);
	r->dead = j->failures > 0 && !j->any_good;
	if (end == -EINVAL && was_direct && !r->direct.possible)
		return read_at(r, offset, len, j);
	return end < 0 ? end : end - (ssize_t)lead;
}

static ssize_t read_one(struct scr_reader *r, uint64_t offset, size_t len, struct scr_read_job *j,
			const uint8_t **data, unsigned int *nbad)
{
	ssize_t got = prepare(r);

	if (got == 0)
		got = read_at(r, offset, len, j);
	if (got < 0)
		return got;
	*data = r->buf + j->want_from;
	*nbad = j->nbad;
	return got;
}

ssize_t scr_reader_read(struct scr_reader *r, uint64_t offset, size_t len, const uint8_t **data,
			struct scr_bad_range *bad, unsigned int maxbad, unsigned int *nbad)
{
	struct scr_read_job j = {.bad = bad, .maxbad = maxbad};

	return read_one(r, offset, len, &j, data, nbad);
}

ssize_t scr_reader_reread(struct scr_reader *r, uint64_t offset, size_t len, const uint8_t **data,
			  struct scr_bad_range *bad, unsigned int maxbad, unsigned int *nbad)
{
	struct scr_read_job j = {.bad = bad, .maxbad = maxbad, .again = true};

	return read_one(r, offset, len, &j, data, nbad);
}

void scr_reader_get_counts(const struct scr_reader *r, struct scr_reader_counts *out)
{
	*out = r->counts;
}

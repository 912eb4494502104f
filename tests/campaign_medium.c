/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A medium with sectors that can't be read until something is written to them. */
#include <config.h>
#include "campaign.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#define SECTOR 512u
#define PAGE 4096u

bool medium_lost(const struct medium *m, ino_t ino, uint64_t from, uint64_t to)
{
	for (uint32_t i = 0; i < m->count; i++) {
		const struct hole *h = &m->list[i];

		if (h->ino == ino && h->from < to && h->to > from)
			return true;
	}
	return false;
}

bool medium_lose(struct medium *m, ino_t ino, uint64_t from, uint64_t to)
{
	if (m->count == HOLES)
		return false;
	m->list[m->count++] =
		(struct hole){ino, from / SECTOR * SECTOR, (to + SECTOR - 1) / SECTOR * SECTOR};
	return true;
}

/* Written sectors can be read again; a hole that lies around them is cut in two. */
static void renew(struct medium *m, ino_t ino, uint64_t from, uint64_t to)
{
	for (uint32_t i = m->count; i-- > 0;) {
		struct hole h = m->list[i];

		if (h.ino != ino || h.from >= to || h.to <= from)
			continue;
		m->list[i] = m->list[--m->count];
		if (h.from < from)
			medium_lose(m, ino, h.from, from);
		if (h.to > to)
			medium_lose(m, ino, to, h.to);
	}
}

static ssize_t medium_pread(void *arg, int fd, void *buf, size_t len, off_t offset)
{
	const struct medium *m = arg;
	struct stat st;

	if (m->count && fstat(fd, &st) == 0 &&
	    medium_lost(m, st.st_ino, (uint64_t)offset, (uint64_t)offset + len)) {
		errno = EIO;
		return -1;
	}
	return pread(fd, buf, len, offset);
}

/* Of a page that is written in part the rest is read first. */
static bool torn(const struct medium *m, ino_t ino, uint64_t at)
{
	uint64_t page = at / PAGE * PAGE;

	return at != page && medium_lost(m, ino, page, page + PAGE);
}

static ssize_t medium_pwrite(void *arg, int fd, const void *buf, size_t len, off_t offset)
{
	struct medium *m = arg;
	uint64_t start = (uint64_t)offset;
	struct stat st;
	ssize_t n;

	if (!m->count || fstat(fd, &st) < 0)
		return pwrite(fd, buf, len, offset);
	if (torn(m, st.st_ino, start) || torn(m, st.st_ino, start + len)) {
		errno = EIO;
		return -1;
	}
	n = pwrite(fd, buf, len, offset);
	if (n > 0)
		renew(m, st.st_ino, start, start + (uint64_t)n);
	return n;
}

static int medium_open(void *arg, int fd, int flags)
{
	(void)arg;
	return scr_writer_ops_system.open(scr_writer_ops_system.arg, fd, flags & ~O_DIRECT);
}

/* In place of those of libc, for the whole program: nothing here has to outlive a power cut, and
 * most of the time would go into them. */
int fsync(int fd)
{
	(void)fd;
	return 0;
}

int fdatasync(int fd)
{
	(void)fd;
	return 0;
}

struct scr_reader_ops medium_reader(struct medium *m)
{
	struct scr_reader_ops ops = scr_reader_ops_system;

	ops.pread = medium_pread;
	ops.map = NULL; /* what is mapped is not asked for */
	ops.probe = NULL;
	ops.open_direct = ops.close_direct = NULL;
	ops.resident = NULL;
	ops.arg = m;
	return ops;
}

struct scr_writer_ops medium_writer(struct medium *m)
{
	struct scr_writer_ops ops = scr_writer_ops_system;

	ops.open = medium_open;
	ops.pwrite = medium_pwrite;
	ops.pread = medium_pread;
	ops.arg = m;
	return ops;
}

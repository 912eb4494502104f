/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A disk with faults and a page cache before it, as the reader's ops. */
#ifndef TESTS_IO_DISK_H
#define TESTS_IO_DISK_H

#include "sys_util.h"

#include <stdbool.h>

#include "base/compiler.h"
#include "io/reader.h"

#define SIZE (3u << 20)
#define ODD_SIZE (SIZE + 1234)

#define DISK_PAGES (ODD_SIZE / 4096 + 1)

enum { ORDINARY_FD = 99, DIRECT_FD = 100 };

/* Its content is byte i -> pattern(i). */
struct disk {
	uint64_t size;
	struct {
		uint64_t from, to;
		int err;
	} bad[8];
	unsigned int nbad;
	size_t most;             /* a read gives at most so many bytes; 0: no limit */
	unsigned int interrupt;  /* every n-th call fails with EINTR */
	uint64_t page;           /* failing reads fail by whole pages of this size; 0: exactly */
	unsigned int calls, failures, advised;
	bool all_or_nothing; /* a read that meets a bad sector gives nothing */
	uint64_t advised_from, advised_to;
	/* Direct reads and the cache, for rigs that have them: */
	struct scr_reader_direct direct;
	bool takes_back;         /* the descriptor opens, and reads say EINVAL */
	bool cached[DISK_PAGES];
	uint64_t from_cache, from_disk, directly; /* bytes */
	unsigned int direct_open;
};

static inline uint8_t pattern(uint64_t i)
{
	return (uint8_t)(i * 31 + (i >> 8) * 7 + (i >> 16));
}

static inline bool disk_may_directly(const struct disk *d, const void *buf, size_t len,
				     uint64_t offset)
{
	const uint64_t align = d->direct.align;

	return !d->takes_back && offset % align == 0 && len % align == 0 &&
	       (uintptr_t)buf % align == 0;
}

static inline void disk_through_cache(struct disk *d, uint64_t from, uint64_t to)
{
	for (uint64_t i = from; i < to; i++) {
		if (d->cached[i / 4096])
			d->from_cache++;
		else
			d->from_disk++;
	}
	for (uint64_t page = from / 4096; page * 4096 < to; page++)
		d->cached[page] = true;
}

static inline ssize_t disk_pread(void *arg, int fd, void *buf, size_t len, off_t offset)
{
	struct disk *d = arg;
	uint64_t from = (uint64_t)offset, to;

	d->calls++;
	if (d->interrupt && d->calls % d->interrupt == 0) {
		errno = EINTR;
		return -1;
	}
	if (fd == DIRECT_FD && !disk_may_directly(d, buf, len, from)) {
		errno = EINVAL;
		return -1;
	}
	if (from >= d->size)
		return 0;
	if (d->most)
		len = SCR_MIN(len, d->most);
	to = SCR_MIN(from + len, d->size);
	for (unsigned int i = 0; i < d->nbad; i++) {
		uint64_t bad_from = d->bad[i].from, bad_to = d->bad[i].to;

		if (d->page) {
			bad_from -= bad_from % d->page;
			bad_to += (d->page - bad_to % d->page) % d->page;
		}
		/* As the kernel does, mostly: what comes before the error is given first. */
		if ((from >= bad_from || d->all_or_nothing) && from < bad_to && to > bad_from) {
			d->failures++;
			errno = d->bad[i].err;
			return -1;
		}
		if (from < bad_from && to > bad_from)
			to = bad_from;
	}
	for (uint64_t i = from; i < to; i++)
		((uint8_t *)buf)[i - from] = pattern(i);
	if (fd == DIRECT_FD)
		d->directly += to - from;
	else
		disk_through_cache(d, from, to);
	return (ssize_t)(to - from);
}

static inline int disk_fstat(void *arg, int fd, struct stat *st)
{
	const struct disk *d = arg;

	(void)fd;
	*st = (struct stat){.st_mode = S_IFREG | 0644, .st_size = (off_t)d->size};
	return 0;
}

static inline int disk_fadvise(void *arg, int fd, off_t offset, off_t len, int advice)
{
	struct disk *d = arg;

	assert_int_equal(fd, ORDINARY_FD);
	if (advice == POSIX_FADV_RANDOM)
		return 0;
	assert_int_equal(advice, POSIX_FADV_DONTNEED);
	for (uint64_t page = 0; page < DISK_PAGES; page++)
		if (page * 4096 >= (uint64_t)offset &&
		    (page + 1) * 4096 <= (uint64_t)(offset + len))
			d->cached[page] = false;
	d->advised++;
	d->advised_from = (uint64_t)offset;
	d->advised_to = (uint64_t)(offset + len);
	return 0;
}

static inline off_t disk_lseek(void *arg, int fd, off_t offset, int whence)
{
	(void)arg, (void)fd, (void)offset, (void)whence;
	errno = EINVAL;
	return -1;
}

static inline int disk_probe(void *arg, int fd, struct scr_reader_direct *out)
{
	const struct disk *d = arg;

	assert_int_equal(fd, ORDINARY_FD);
	*out = d->direct;
	return 0;
}

static inline int disk_open_direct(void *arg, int fd)
{
	struct disk *d = arg;

	assert_int_equal(fd, ORDINARY_FD);
	d->direct_open++;
	return DIRECT_FD;
}

static inline int disk_close_direct(void *arg, int fd)
{
	struct disk *d = arg;

	assert_int_equal(fd, DIRECT_FD);
	d->direct_open--;
	return 0;
}

static inline int disk_resident(void *arg, int fd, off_t offset, size_t len, uint8_t *vec)
{
	const struct disk *d = arg;

	assert_int_equal(fd, ORDINARY_FD);
	assert_int_equal(offset % 4096, 0);
	for (size_t i = 0; i * 4096 < len; i++)
		vec[i] = (size_t)offset / 4096 + i < DISK_PAGES &&
			 d->cached[(size_t)offset / 4096 + i];
	return 0;
}

struct rig {
	struct disk disk;
	struct scr_reader_ops ops;
	struct scr_reader *r;
	const uint8_t *data;
	struct scr_bad_range bad[16];
	unsigned int nbad;
};

static inline int rig_setup(void **state)
{
	struct rig *g = calloc(1, sizeof(*g));

	if (!g)
		return -1;
	g->disk.size = ODD_SIZE;
	g->ops = (struct scr_reader_ops){
		.pread = disk_pread,
		.lseek = disk_lseek,
		.fstat = disk_fstat,
		.fadvise = disk_fadvise,
		.arg = &g->disk,
	};
	*state = g;
	if (scr_reader_new(&g->ops, &g->r) < 0)
		return -1;
	scr_reader_attach(g->r, ORDINARY_FD, SCR_READ_RECORD);
	return 0;
}

static inline int rig_teardown(void **state)
{
	struct rig *g = *state;

	scr_reader_detach(g->r);
	scr_reader_free(g->r);
	scr_reader_free(NULL);
	assert_int_equal(g->disk.direct_open, 0);
	free(g);
	return 0;
}

static inline void add_bad(struct rig *g, uint64_t from, uint64_t to, int err)
{
	g->disk.bad[g->disk.nbad].from = from;
	g->disk.bad[g->disk.nbad].to = to;
	g->disk.bad[g->disk.nbad++].err = err;
}

static inline ssize_t read_at(struct rig *g, uint64_t offset, size_t len)
{
	return scr_reader_read(g->r, offset, len, &g->data, g->bad, SCR_ARRAY_SIZE(g->bad),
			       &g->nbad);
}

/* The content is right, and zero where it is bad. */
static inline void assert_content(const struct rig *g, uint64_t offset, size_t len)
{
	unsigned int b = 0;

	for (size_t i = 0; i < len; i++) {
		uint64_t pos = offset + i;
		bool bad;

		while (b < g->nbad && pos >= g->bad[b].offset + g->bad[b].length)
			b++;
		bad = b < g->nbad && pos >= g->bad[b].offset;
		if (g->data[i] != (bad ? 0 : pattern(pos)))
			fail_msg("byte %llu is %u", (unsigned long long)pos, g->data[i]);
	}
}

static inline void assert_bad(const struct rig *g, unsigned int i, uint64_t from, uint64_t to, int err)
{
	assert_true(i < g->nbad);
	assert_int_equal(g->bad[i].offset, from);
	assert_int_equal(g->bad[i].offset + g->bad[i].length, to);
	assert_int_equal(g->bad[i].err, err);
}

#endif

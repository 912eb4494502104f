/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Owners by FS_IOC_GETFSMAP, which ext4 and xfs have: ioctl_getfsmap(2). */
#include <config.h>
#include "dev/owner_internal.h"

#include <errno.h>
#include <linux/fsmap.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/sysmacros.h>

#include "base/compiler.h"

#define RECORDS 128

/* What the codes of ext4 (fs/ext4/fsmap.h) and xfs (libxfs/xfs_fs.h) mean. */
static const char *special(uint64_t owner)
{
	static const struct {
		uint64_t owner;
		const char *what;
	} names[] = {
		{FMR_OWNER('X', 1), "superblock"},
		{FMR_OWNER('X', 2), "the journal"},
		{FMR_OWNER('X', 3), "allocation groups"},
		{FMR_OWNER('X', 4), "inode index"},
		{FMR_OWNER('X', 5), "inodes"},
		{FMR_OWNER('X', 6), "reference counts"},
		{FMR_OWNER('X', 7), "reserved for copy-on-write"},
		{FMR_OWNER('X', 8), "bad blocks"},
		{FMR_OWNER('f', 1), "group descriptors"},
		{FMR_OWNER('f', 2), "reserved group descriptors"},
		{FMR_OWNER('f', 3), "block bitmap"},
		{FMR_OWNER('f', 4), "inode bitmap"},
	};

	for (size_t i = 0; i < SCR_ARRAY_SIZE(names); i++)
		if (names[i].owner == owner)
			return names[i].what;
	return "metadata";
}

/* What record @r says, without its place. */
static struct scr_piece meaning(const struct fsmap *r)
{
	struct scr_piece p = {.kind = SCR_OWNER_METADATA};

	if (!(r->fmr_flags & FMR_OF_SPECIAL_OWNER)) {
		p.ino = r->fmr_owner;
		if (r->fmr_flags & FMR_OF_ATTR_FORK)
			p.what = "extended attributes";
		else if (r->fmr_flags & FMR_OF_EXTENT_MAP)
			p.what = "extent map";
		else
			p.kind = SCR_OWNER_FILE;
	} else if (r->fmr_owner == FMR_OWN_FREE) {
		p.kind = SCR_OWNER_FREE;
	} else if (r->fmr_owner == FMR_OWN_UNKNOWN) {
		p.kind = SCR_OWNER_UNKNOWN;
		p.pending = true;
	} else {
		p.what = special(r->fmr_owner);
	}
	return p;
}

/* Adds what record @r says of [@at, @end); *at goes to where that ends. Parts that no record covers
 * are pending. Of shared space each owner has a record: then *at stays behind the longest. */
static int take(const struct fsmap *r, uint64_t from, uint64_t *at, uint64_t end,
		struct scr_pieces *out)
{
	uint64_t start = SCR_MAX(r->fmr_physical, from);
	uint64_t stop = SCR_MIN(r->fmr_physical + r->fmr_length, end);
	struct scr_piece p = meaning(r);
	int ret = 0;

	if (start >= stop)
		return 0;
	if (start > *at)
		ret = scr_owner_pieces_add(out, &(struct scr_piece){.offset = *at,
							      .length = start - *at,
							      .kind = SCR_OWNER_UNKNOWN,
							      .pending = true});
	p.offset = start;
	p.length = stop - start;
	if (p.kind == SCR_OWNER_FILE)
		p.file_offset = r->fmr_offset + (start - r->fmr_physical);
	*at = SCR_MAX(*at, stop);
	return ret < 0 ? ret : scr_owner_pieces_add(out, &p);
}

/* dev_t as the kernel tells it in 32 bits. */
static uint32_t encode(dev_t dev)
{
	unsigned int minor = minor(dev);

	return (minor & 0xff) | major(dev) << 8 | (minor & ~0xffu) << 12;
}

static void set_keys(struct fsmap_head *h, dev_t dev, uint64_t offset, uint64_t end)
{
	memset(h, 0, sizeof(*h));
	h->fmh_count = RECORDS;
	h->fmh_keys[0].fmr_device = encode(dev);
	h->fmh_keys[0].fmr_physical = offset;
	h->fmh_keys[1].fmr_device = encode(dev);
	h->fmh_keys[1].fmr_physical = end - 1;
	h->fmh_keys[1].fmr_owner = UINT64_MAX;
	h->fmh_keys[1].fmr_offset = UINT64_MAX;
	h->fmh_keys[1].fmr_flags = UINT32_MAX;
}

static int read_all(int fd, struct fsmap_head *h, uint64_t from, uint64_t *at, uint64_t end,
		    struct scr_pieces *out)
{
	for (;;) {
		bool last = false;
		int ret = 0;

		/* A kernel without it, or this caller may not: the walk must tell. */
		if (ioctl(fd, FS_IOC_GETFSMAP, h) < 0)
			return errno == ENOMEM ? -ENOMEM : 0;
		for (uint32_t i = 0; i < h->fmh_entries && ret == 0; i++) {
			ret = take(&h->fmh_recs[i], from, at, end, out);
			last = h->fmh_recs[i].fmr_flags & FMR_OF_LAST;
		}
		if (ret < 0 || last || h->fmh_entries < h->fmh_count)
			return ret;
		fsmap_advance(h);
	}
}

int scr_fsmap_ask(int fd, dev_t dev, uint64_t offset, uint64_t length, struct scr_pieces *out)
{
	struct fsmap_head *h = calloc(1, fsmap_sizeof(RECORDS));
	uint64_t at = offset, end = offset + length;
	int ret = h ? 0 : -ENOMEM;

	if (ret == 0) {
		set_keys(h, dev, offset, end);
		ret = read_all(fd, h, offset, &at, end, out);
	}
	if (ret == 0 && at < end)
		ret = scr_owner_pieces_add(out, &(struct scr_piece){.offset = at,
							      .length = end - at,
							      .kind = SCR_OWNER_UNKNOWN,
							      .pending = true});
	free(h);
	return ret;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Owners of a btrfs: device to logical address by the chunk tree, what is there by the extent tree.
 */
#include <config.h>

#include <errno.h>
#include <linux/btrfs.h>
#include <linux/btrfs_tree.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/compiler.h"
#include "base/endian.h"
#include "dev/owner_btrfs.h"

/* No extent is longer: one that begins farther before an address doesn't reach it. */
#define EXTENT_MAX (UINT64_C(128) << 20)

struct extent {
	uint64_t logical, length;
	bool data;
};

static int add_stripe(struct scr_btrfs *b, const struct scr_stripe *s)
{
	if (b->count == b->cap) {
		size_t cap = b->cap ? 2 * b->cap : 16;
		struct scr_stripe *list = realloc(b->stripes, cap * sizeof(*list));

		if (!list)
			return -ENOMEM;
		b->stripes = list;
		b->cap = cap;
	}
	b->stripes[b->count++] = *s;
	return 0;
}

struct chunk_arg {
	struct scr_btrfs *b;
	uint64_t devid;
};

static int take_chunk(void *arg, const struct btrfs_ioctl_search_header *h, const uint8_t *item)
{
	struct chunk_arg *c = arg;
	uint32_t n = h->type == BTRFS_CHUNK_ITEM_KEY ? scr_stripe_count(item, h->len) : 0;

	for (uint32_t i = 0; i < n; i++) {
		struct scr_stripe s;
		uint64_t devid;
		int ret;

		if (!scr_stripe_parse(item, h->len, h->offset, i, &s, &devid) || devid != c->devid)
			continue;
		ret = add_stripe(c->b, &s);
		if (ret < 0)
			return ret;
	}
	return 0;
}

static int by_physical(const void *a, const void *b)
{
	const struct scr_stripe *x = a, *y = b;

	return x->physical < y->physical ? -1 : x->physical > y->physical;
}

static int read_chunks(struct scr_btrfs *b, uint64_t devid)
{
	const struct btrfs_ioctl_search_key key = {
		.tree_id = BTRFS_CHUNK_TREE_OBJECTID,
		.min_objectid = BTRFS_FIRST_CHUNK_TREE_OBJECTID,
		.max_objectid = BTRFS_FIRST_CHUNK_TREE_OBJECTID,
		.min_type = BTRFS_CHUNK_ITEM_KEY,
		.max_type = BTRFS_CHUNK_ITEM_KEY,
		.max_offset = UINT64_MAX,
	};
	struct chunk_arg arg = {b, devid};
	int ret = scr_btrfs_items(b, &key, take_chunk, &arg);

	if (ret == 0 && b->count)
		qsort(b->stripes, b->count, sizeof(*b->stripes), by_physical);
	return ret;
}

/* The number by which the file system knows device @dev; 0: none of its. */
static uint64_t find_devid(int fd, uint64_t max_id, dev_t dev)
{
	struct btrfs_ioctl_dev_info_args *info = malloc(sizeof(*info));
	struct stat st;
	uint64_t found = 0;

	for (uint64_t id = 1; info && id <= max_id && !found; id++) {
		memset(info, 0, sizeof(*info));
		info->devid = id;
		if (ioctl(fd, BTRFS_IOC_DEV_INFO, info) == 0 &&
		    stat((const char *)info->path, &st) == 0 && S_ISBLK(st.st_mode) &&
		    st.st_rdev == dev)
			found = id;
	}
	free(info);
	return found;
}

static int read_basics(struct scr_btrfs *b, dev_t dev, uint64_t *devid)
{
	struct btrfs_ioctl_ino_lookup_args own = {.objectid = BTRFS_FIRST_FREE_OBJECTID};
	struct btrfs_ioctl_fs_info_args fs = {0};

	if (ioctl(b->fd, BTRFS_IOC_FS_INFO, &fs) < 0 ||
	    ioctl(b->fd, BTRFS_IOC_INO_LOOKUP, &own) < 0)
		return -errno;
	b->sector = fs.sectorsize;
	b->node = fs.nodesize;
	b->subvol = own.treeid;
	*devid = find_devid(b->fd, fs.max_id, dev);
	return *devid ? 0 : -EXDEV;
}

int scr_btrfs_open(int fd, dev_t dev, struct scr_btrfs **out)
{
	struct scr_btrfs *b = calloc(1, sizeof(*b));
	uint64_t devid = 0;
	int ret = -ENOMEM;

	if (!b)
		return ret;
	b->fd = fd;
	b->search = calloc(1, sizeof(*b->search) + SCR_BTRFS_SEARCH);
	b->inodes = calloc(1, SCR_BTRFS_INODES);
	if (b->search && b->inodes)
		ret = read_basics(b, dev, &devid);
	if (ret == 0)
		ret = read_chunks(b, devid);
	if (ret < 0)
		scr_btrfs_close(b);
	else
		*out = b;
	return ret;
}

void scr_btrfs_close(struct scr_btrfs *b)
{
	if (!b)
		return;
	free(b->stripes);
	free(b->search);
	free(b->inodes);
	free(b);
}

struct extents_arg {
	uint64_t from, to, node;
	struct extent *list;
	size_t count, cap;
};

static int take_extent(void *arg, const struct btrfs_ioctl_search_header *h, const uint8_t *item)
{
	struct extents_arg *a = arg;
	struct extent e = {.logical = h->objectid};

	if ((h->type != BTRFS_EXTENT_ITEM_KEY && h->type != BTRFS_METADATA_ITEM_KEY) || h->len < 24)
		return 0;
	e.length = h->type == BTRFS_EXTENT_ITEM_KEY ? h->offset : a->node;
	e.data = scr_get_le64(item + 16) & BTRFS_EXTENT_FLAG_DATA;
	if (e.logical + e.length <= a->from || e.logical >= a->to)
		return 0;
	if (a->count == a->cap) {
		size_t cap = a->cap ? 2 * a->cap : 16;
		struct extent *list = realloc(a->list, cap * sizeof(*list));

		if (!list)
			return -ENOMEM;
		a->list = list;
		a->cap = cap;
	}
	a->list[a->count++] = e;
	return 0;
}

/* Adds data extent @e of the logical range, sector by sector, as each may have files of its own. */
static int add_data(struct scr_btrfs *b, uint64_t physical, uint64_t logical, uint64_t length,
		    int64_t deadline_ns, struct scr_pieces *out)
{
	uint64_t at = 0;
	int ret = 0;

	while (at < length && ret == 0) {
		uint64_t sector = (logical + at) % b->sector;
		struct scr_piece p = {.offset = physical + at,
				      .length = SCR_MIN(b->sector - sector, length - at)};

		if (scr_owner_late(deadline_ns)) {
			p.length = length - at;
			p.kind = SCR_OWNER_UNKNOWN;
			return scr_owner_pieces_add(out, &p);
		}
		ret = scr_btrfs_files(b, &p, logical + at, out);
		at += p.length;
	}
	return ret;
}

static int add_plain(struct scr_pieces *out, uint64_t offset, uint64_t length,
		     enum scr_owner_kind kind, const char *what)
{
	const struct scr_piece p = {.offset = offset, .length = length, .kind = kind, .what = what};

	return length ? scr_owner_pieces_add(out, &p) : 0;
}

/* Adds @length bytes at @logical, which lie at @physical. */
static int ask_logical(struct scr_btrfs *b, uint64_t physical, uint64_t logical, uint64_t length,
		       int64_t deadline_ns, struct scr_pieces *out)
{
	const struct btrfs_ioctl_search_key key = {
		.tree_id = BTRFS_EXTENT_TREE_OBJECTID,
		.min_objectid = logical > EXTENT_MAX ? logical - EXTENT_MAX : 0,
		.max_objectid = logical + length - 1,
		.max_type = UINT8_MAX,
		.max_offset = UINT64_MAX,
	};
	struct extents_arg a = {.from = logical, .to = logical + length, .node = b->node};
	int ret = scr_btrfs_items(b, &key, take_extent, &a);
	uint64_t at = logical;

	for (size_t i = 0; i < a.count && ret == 0; i++) {
		const struct extent *e = &a.list[i];
		uint64_t start = SCR_MAX(e->logical, at), stop;

		stop = SCR_MIN(e->logical + e->length, logical + length);
		if (start >= stop)
			continue;
		ret = add_plain(out, physical + (at - logical), start - at, SCR_OWNER_FREE, NULL);
		if (ret == 0 && e->data)
			ret = add_data(b, physical + (start - logical), start, stop - start,
				       deadline_ns, out);
		else if (ret == 0)
			ret = add_plain(out, physical + (start - logical), stop - start,
					SCR_OWNER_METADATA, "tree node");
		at = stop;
	}
	if (ret == 0)
		ret = add_plain(out, physical + (at - logical), logical + length - at,
				SCR_OWNER_FREE, NULL);
	free(a.list);
	return ret;
}

/* Part of a stripe. */
static int ask_stripe(struct scr_btrfs *b, const struct scr_stripe *s, uint64_t offset,
		      uint64_t length, int64_t deadline_ns, struct scr_pieces *out)
{
	uint64_t at = offset - s->physical, end = at + length;
	int ret = 0;

	while (at < end && ret == 0) {
		uint64_t logical, run;

		if (!scr_stripe_logical(s, at, &logical, &run)) {
			run = SCR_MIN(run, end - at);
			ret = add_plain(out, s->physical + at, run, SCR_OWNER_METADATA, "parity");
		} else {
			run = SCR_MIN(run, end - at);
			ret = ask_logical(b, s->physical + at, logical, run, deadline_ns, out);
		}
		at += run;
	}
	return ret;
}

/* A range without superblocks. What is of no chunk was never given out. */
static int ask_range(struct scr_btrfs *b, uint64_t at, uint64_t end, int64_t deadline_ns,
		     struct scr_pieces *out)
{
	int ret = 0;

	for (size_t i = 0; i < b->count && ret == 0; i++) {
		const struct scr_stripe *s = &b->stripes[i];
		uint64_t start = SCR_MAX(s->physical, at);
		uint64_t stop = SCR_MIN(s->physical + s->length, end);

		if (start >= stop)
			continue;
		ret = add_plain(out, at, start - at, SCR_OWNER_FREE, NULL);
		if (ret == 0)
			ret = ask_stripe(b, s, start, stop - start, deadline_ns, out);
		at = stop;
	}
	return ret < 0 ? ret : add_plain(out, at, end - at, SCR_OWNER_FREE, NULL);
}

int scr_btrfs_ask(struct scr_btrfs *b, uint64_t offset, uint64_t length, int64_t deadline_ns,
		  struct scr_pieces *out)
{
	/* Where superblocks lie nothing else does, though a chunk may go over it. */
	static const uint64_t supers[] = {UINT64_C(64) << 10, UINT64_C(64) << 20,
					  UINT64_C(256) << 30};
	uint64_t at = offset, end = offset + length;
	int ret = 0;

	for (size_t i = 0; i < SCR_ARRAY_SIZE(supers) && ret == 0; i++) {
		uint64_t start = SCR_MAX(supers[i], at), stop = SCR_MIN(supers[i] + 4096, end);

		if (start >= stop)
			continue;
		ret = ask_range(b, at, start, deadline_ns, out);
		if (ret == 0)
			ret = add_plain(out, start, stop - start, SCR_OWNER_METADATA, "superblock");
		at = stop;
	}
	return ret < 0 || at >= end ? ret : ask_range(b, at, end, deadline_ns, out);
}

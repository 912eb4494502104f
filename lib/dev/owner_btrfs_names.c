/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Files of a btrfs: which have an address, by LOGICAL_INO, and their names, by INO_LOOKUP, which
 * works in every subvolume.
 */
#include <config.h>
#include "dev/owner_btrfs.h"

#include <errno.h>
#include <linux/btrfs_tree.h>
#include <string.h>
#include <sys/ioctl.h>

#include "base/buf.h"
#include "base/endian.h"

/* Subvolumes in subvolumes: more than anybody has, to end a loop. */
#define DEPTH_MAX 64

int scr_btrfs_items(struct scr_btrfs *b, const struct btrfs_ioctl_search_key *key,
		    scr_btrfs_item_fn fn, void *arg)
{
	struct btrfs_ioctl_search_args_v2 *s = b->search;
	/* Of bytes or of 64-bit words, depending on the age of the header. */
	const uint8_t *found = (const uint8_t *)s->buf;
	struct btrfs_ioctl_search_header h = {0};
	int ret = 0;

	s->key = *key;
	s->key.max_transid = UINT64_MAX;
	for (;;) {
		size_t at = 0;

		s->key.nr_items = UINT32_MAX;
		s->buf_size = SCR_BTRFS_SEARCH;
		if (ioctl(b->fd, BTRFS_IOC_TREE_SEARCH_V2, s) < 0)
			return -errno;
		if (s->key.nr_items == 0)
			return 0;
		for (uint32_t i = 0; i < s->key.nr_items; i++) {
			memcpy(&h, found + at, sizeof(h));
			at += sizeof(h);
			ret = fn(arg, &h, found + at);
			if (ret != 0)
				return ret;
			at += h.len;
		}
		/* On behind the last one: its key is a number of 136 bits. */
		s->key.min_objectid = h.objectid;
		s->key.min_type = h.type;
		s->key.min_offset = h.offset + 1;
		if (s->key.min_offset == 0 && ++s->key.min_type > UINT8_MAX) {
			s->key.min_type = 0;
			s->key.min_objectid++;
		}
	}
}

/* Puts @text before what @path has. */
static int prepend(struct scr_buf *path, const char *text)
{
	size_t n = strlen(text);

	if (scr_buf_reserve(path, n + 1) < 0)
		return -ENOMEM;
	memmove(path->data + n, path->data, path->len);
	memcpy(path->data, text, n);
	path->len += n;
	return 0;
}

struct backref {
	uint64_t parent, dir;
	char name[256];
	bool found;
};

static int take_backref(void *arg, const struct btrfs_ioctl_search_header *h, const uint8_t *item)
{
	struct backref *r = arg;
	size_t n;

	/* struct btrfs_root_ref: directory, sequence, length of the name, and the name. */
	if (h->type != BTRFS_ROOT_BACKREF_KEY || h->len < 18)
		return 0;
	n = scr_get_le16(item + 16);
	if (n > h->len - 18 || n >= sizeof(r->name))
		return 0;
	r->parent = h->offset;
	r->dir = scr_get_le64(item);
	memcpy(r->name, item + 18, n);
	r->name[n] = '\0';
	r->found = true;
	return 1;
}

/* The path of inode @ino below its subvolume @root, put before @path; it ends in '/' unless it is
 * the subvolume itself. 0, -ENOENT, ... */
static int prepend_inode(struct scr_btrfs *b, uint64_t root, uint64_t ino, struct scr_buf *path)
{
	struct btrfs_ioctl_ino_lookup_args args = {.treeid = root, .objectid = ino};

	if (ioctl(b->fd, BTRFS_IOC_INO_LOOKUP, &args) < 0)
		return -errno;
	return prepend(path, args.name);
}

/* The path of an inode below the mount point. -ENOENT: it has none there. */
static int path_of(struct scr_btrfs *b, uint64_t root, uint64_t ino, struct scr_buf *path)
{
	int ret = prepend_inode(b, root, ino, path);

	for (unsigned int depth = 0; ret == 0 && root != b->subvol; depth++) {
		const struct btrfs_ioctl_search_key key = {
			.tree_id = BTRFS_ROOT_TREE_OBJECTID,
			.min_objectid = root,
			.max_objectid = root,
			.min_type = BTRFS_ROOT_BACKREF_KEY,
			.max_type = BTRFS_ROOT_BACKREF_KEY,
			.max_offset = UINT64_MAX,
		};
		struct backref r = {0};

		ret = scr_btrfs_items(b, &key, take_backref, &r);
		if (ret < 0)
			return ret;
		if (!r.found || depth >= DEPTH_MAX)
			return -ENOENT;
		ret = prepend(path, "/");
		if (ret == 0)
			ret = prepend(path, r.name);
		if (ret == 0)
			ret = prepend_inode(b, r.parent, r.dir, path);
		root = r.parent;
	}
	if (ret == 0 && path->len > 0 && path->data[path->len - 1] == '/')
		path->len--;
	return ret;
}

/* Adds that file @ino of @root has [@p->offset, @p->length) at @file_offset. */
static int add_file(struct scr_btrfs *b, const struct scr_piece *p, uint64_t ino,
		    uint64_t file_offset, uint64_t root, struct scr_pieces *out)
{
	struct scr_piece f = *p;
	struct scr_buf path = {0};
	int ret = path_of(b, root, ino, &path);

	if (ret == 0)
		ret = scr_buf_append(&path, "", 1); /* for a NUL */
	if (ret < 0) {
		scr_buf_free(&path);
		return ret == -ENOMEM ? ret : 1;
	}
	f.kind = SCR_OWNER_FILE;
	f.file_offset = file_offset;
	f.path = (char *)path.data;
	f.path_len = path.len - 1;
	return scr_owner_pieces_add(out, &f);
}

int scr_btrfs_files(struct scr_btrfs *b, const struct scr_piece *p, uint64_t logical,
		    struct scr_pieces *out)
{
	struct btrfs_ioctl_logical_ino_args args = {
		.logical = logical,
		.size = SCR_BTRFS_INODES,
		.inodes = (uintptr_t)b->inodes,
	};
	struct scr_piece nobody = *p;
	bool found = false;

	if (ioctl(b->fd, BTRFS_IOC_LOGICAL_INO, &args) < 0)
		b->inodes->elem_cnt = 0;
	for (uint32_t i = 0; i + 2 < b->inodes->elem_cnt; i += 3) {
		const __u64 *v = b->inodes->val + i;
		int ret = add_file(b, p, v[0], v[1], v[2], out);

		if (ret < 0)
			return ret;
		found |= ret == 0;
	}
	if (found)
		return 0;
	/* Part of an extent that no file refers to any more, or of a subvolume not shown here. */
	nobody.kind = SCR_OWNER_UNKNOWN;
	return scr_owner_pieces_add(out, &nobody);
}

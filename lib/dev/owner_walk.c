/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Owners by one walk over all files: names of inodes, and places by FIEMAP.
 *
 * It stays on the file system, follows nothing, and opens nothing but directories and regular
 * files.
 */
#include <config.h>
#include "dev/owner_internal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/fiemap.h>
#include <linux/fs.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/compiler.h"
#include "base/map.h"

/* One descriptor a level. */
#define DEPTH_MAX 200
#define EXTENTS 64

struct walk {
	struct scr_pieces *pieces;
	struct scr_pieces pending; /* those of them that are; their memory belongs to pieces */
	struct scr_pieces found;
	struct scr_buf path;
	struct scr_map wanted; /* inodes whose path is looked for */
	struct scr_map seen;   /* inodes of several links whose place was looked up */
	struct fiemap *map;
	dev_t dev;
	int64_t deadline_ns;
	bool by_place, by_number; /* what is looked for */
	bool incomplete;          /* some part was not seen */
	unsigned int depth;
};

static int set_path(const struct walk *w, struct scr_piece *p)
{
	p->path = malloc(w->path.len + 1);
	if (!p->path)
		return -ENOMEM;
	memcpy(p->path, w->path.data, w->path.len);
	p->path[w->path.len] = '\0';
	p->path_len = w->path.len;
	return 0;
}

/* Gives the pieces of inode @ino the present path, unless they have one. */
static int name_pieces(struct walk *w, uint64_t ino, bool is_dir)
{
	int ret = 0;

	if (!scr_map_get(&w->wanted, ino, 0))
		return 0;
	for (size_t i = 0; i < w->pieces->count && ret == 0; i++) {
		struct scr_piece *p = &w->pieces->list[i];

		if (p->ino != ino || p->path)
			continue;
		ret = set_path(w, p);
		if (is_dir && p->kind == SCR_OWNER_FILE) {
			p->kind = SCR_OWNER_METADATA;
			p->what = "directory";
		}
	}
	return ret;
}

/* The first piece that ends behind @at. */
static size_t first_behind(const struct scr_pieces *l, uint64_t at)
{
	size_t low = 0, high = l->count;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (l->list[mid].offset + l->list[mid].length <= at)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/* Finds the pending pieces that extent @e is in. @what: NULL for the content of a file. */
static int match(struct walk *w, const struct fiemap_extent *e, const char *what)
{
	uint64_t end = e->fe_physical + e->fe_length;

	if (e->fe_flags & (FIEMAP_EXTENT_UNKNOWN | FIEMAP_EXTENT_DATA_INLINE))
		return 0;
	for (size_t i = first_behind(&w->pending, e->fe_physical); i < w->pending.count; i++) {
		const struct scr_piece *p = &w->pending.list[i];
		uint64_t start = SCR_MAX(p->offset, e->fe_physical);
		uint64_t stop = SCR_MIN(p->offset + p->length, end);
		struct scr_piece f = {.offset = start, .length = stop - start, .what = what};
		int ret;

		if (p->offset >= end)
			break;
		f.kind = what ? SCR_OWNER_METADATA : SCR_OWNER_FILE;
		f.file_offset = e->fe_logical + (start - e->fe_physical);
		ret = set_path(w, &f);
		if (ret == 0)
			ret = scr_owner_pieces_add(&w->found, &f);
		if (ret < 0)
			return ret;
	}
	return 0;
}

/* All extents of @fd; those of its attributes with @flags FIEMAP_FLAG_XATTR. */
static int match_extents(struct walk *w, int fd, uint32_t flags, const char *what)
{
	struct fiemap *m = w->map;
	uint64_t at = 0;

	for (;;) {
		int ret = 0;

		memset(m, 0, sizeof(*m));
		m->fm_start = at;
		m->fm_length = FIEMAP_MAX_OFFSET - at;
		m->fm_flags = flags;
		m->fm_extent_count = EXTENTS;
		if (ioctl(fd, FS_IOC_FIEMAP, m) < 0 || m->fm_mapped_extents == 0)
			return 0;
		for (uint32_t i = 0; i < m->fm_mapped_extents && ret == 0; i++)
			ret = match(w, &m->fm_extents[i], what);
		if (ret < 0)
			return ret;
		m->fm_mapped_extents = SCR_MIN(m->fm_mapped_extents, (uint32_t)EXTENTS);
		at = m->fm_extents[m->fm_mapped_extents - 1].fe_logical +
		     m->fm_extents[m->fm_mapped_extents - 1].fe_length;
		if (m->fm_extents[m->fm_mapped_extents - 1].fe_flags & FIEMAP_EXTENT_LAST)
			return 0;
		if (scr_owner_late(w->deadline_ns)) {
			w->incomplete = true;
			return 0;
		}
	}
}

static int look_at(struct walk *w, int fd, const struct stat *st)
{
	bool is_dir = S_ISDIR(st->st_mode);
	int ret = 0;

	if (!w->by_place)
		return 0;
	if (!is_dir && st->st_nlink > 1) {
		if (scr_map_get(&w->seen, st->st_ino, 0))
			return 0;
		ret = scr_map_put(&w->seen, st->st_ino, 0, 1);
	}
	if (ret == 0)
		ret = match_extents(w, fd, 0, is_dir ? "directory" : NULL);
	if (ret == 0)
		ret = match_extents(w, fd, FIEMAP_FLAG_XATTR, "extended attributes");
	return ret;
}

static int walk_dir(struct walk *w, int fd);

/* The regular file or directory @name in @parent. */
static int visit(struct walk *w, int parent, const char *name, bool is_dir)
{
	int flags = O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY | O_NONBLOCK;
	int fd = openat(parent, name, flags | O_NOATIME | (is_dir ? O_DIRECTORY : 0));
	struct stat st;
	int ret = 0;

	if (fd < 0 && errno == EPERM)
		fd = openat(parent, name, flags | (is_dir ? O_DIRECTORY : 0));
	if (fd < 0 || fstat(fd, &st) < 0 ||
	    (is_dir ? !S_ISDIR(st.st_mode) : !S_ISREG(st.st_mode))) {
		w->incomplete = true;
	} else if (st.st_dev == w->dev) {
		ret = look_at(w, fd, &st);
		if (ret == 0 && is_dir) {
			ret = walk_dir(w, fd); /* takes fd */
			fd = -1;
		}
	}
	if (fd >= 0)
		close(fd);
	return ret;
}

/* DT_UNKNOWN is asked for. Not what is opened: that is checked again. */
static int type_of(int parent, const struct dirent *e)
{
	struct stat st;

	if (e->d_type != DT_UNKNOWN)
		return e->d_type;
	if (fstatat(parent, e->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return DT_UNKNOWN;
	return S_ISDIR(st.st_mode) ? DT_DIR : S_ISREG(st.st_mode) ? DT_REG : DT_LNK;
}

static int visit_entry(struct walk *w, int parent, const struct dirent *e)
{
	size_t before = w->path.len;
	int type = type_of(parent, e), ret = 0;

	if (before)
		ret = scr_buf_append(&w->path, "/", 1);
	if (ret == 0)
		ret = scr_buf_append(&w->path, e->d_name, strlen(e->d_name));
	if (ret == 0 && w->by_number)
		ret = name_pieces(w, e->d_ino, type == DT_DIR);
	if (ret == 0 && (type == DT_DIR || (type == DT_REG && w->by_place)))
		ret = visit(w, parent, e->d_name, type == DT_DIR);
	w->path.len = before;
	return ret;
}

/* Closes @fd. */
static int walk_dir(struct walk *w, int fd)
{
	DIR *d = w->depth < DEPTH_MAX ? fdopendir(fd) : NULL;
	struct dirent *e;
	int ret = 0;

	if (!d) {
		close(fd);
		w->incomplete = true;
		return 0;
	}
	w->depth++;
	while (ret == 0 && (e = readdir(d))) {
		if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
			continue;
		if (scr_owner_late(w->deadline_ns)) {
			w->incomplete = true;
			break;
		}
		ret = visit_entry(w, fd, e);
	}
	w->depth--;
	closedir(d);
	return ret;
}

/* The mount point itself, and all below. */
static int walk_root(struct walk *w, int root)
{
	int fd = openat(root, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct stat st;
	int ret;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) < 0) {
		ret = -errno;
		close(fd);
		return ret;
	}
	w->dev = st.st_dev;
	ret = scr_buf_append(&w->path, ".", 1);
	if (ret == 0 && w->by_number)
		ret = name_pieces(w, st.st_ino, true);
	if (ret == 0)
		ret = look_at(w, fd, &st);
	w->path.len = 0;
	if (ret < 0) {
		close(fd);
		return ret;
	}
	return walk_dir(w, fd);
}

/* What of a pending piece no file has: metadata if all files were seen. GETFSMAP of ext4 knows
 * neither its journal nor index blocks, that of xfs without rmapbt nothing but free space. */
static int add_gap(struct scr_pieces *out, const struct walk *w, uint64_t from, uint64_t to)
{
	struct scr_piece gap = {.offset = from, .length = to - from, .kind = SCR_OWNER_UNKNOWN};

	if (from >= to)
		return 0;
	if (!w->incomplete) {
		gap.kind = SCR_OWNER_METADATA;
		gap.what = "journal, index, or a file without a name";
	}
	return scr_owner_pieces_add(out, &gap);
}

/* Adds the gaps that the sorted @w->found leaves in @p. */
static int add_gaps(struct scr_pieces *out, const struct walk *w, const struct scr_piece *p)
{
	uint64_t at = p->offset, end = p->offset + p->length;
	int ret = 0;

	for (size_t i = 0; i < w->found.count && ret == 0; i++) {
		const struct scr_piece *f = &w->found.list[i];

		if (f->offset + f->length <= at)
			continue;
		if (f->offset >= end)
			break;
		ret = add_gap(out, w, at, f->offset);
		at = SCR_MAX(at, f->offset + f->length);
	}
	return ret < 0 ? ret : add_gap(out, w, at, end);
}

/* The pending pieces out, what was found for them in. */
static int replace_pending(struct walk *w)
{
	struct scr_pieces out = {0};
	int ret = 0;

	scr_pieces_sort(&w->found);
	for (size_t i = 0; i < w->pieces->count && ret == 0; i++) {
		struct scr_piece *p = &w->pieces->list[i];

		if (p->pending) {
			ret = add_gaps(&out, w, p);
			continue;
		}
		ret = scr_owner_pieces_add(&out, p);
		p->path = NULL;
	}
	for (size_t i = 0; i < w->found.count && ret == 0; i++) {
		ret = scr_owner_pieces_add(&out, &w->found.list[i]);
		w->found.list[i].path = NULL;
	}
	if (ret < 0) {
		scr_pieces_free(&out);
		return ret;
	}
	scr_pieces_free(w->pieces);
	*w->pieces = out;
	return 0;
}

/* What to look for. Pending pieces don't overlap, so both their ends ascend. */
static int plan(struct walk *w)
{
	int ret = 0;

	for (size_t i = 0; i < w->pieces->count && ret == 0; i++) {
		const struct scr_piece *p = &w->pieces->list[i];

		if (p->pending)
			ret = scr_owner_pieces_add(&w->pending, p);
		else if (p->ino)
			ret = scr_map_put(&w->wanted, p->ino, 0, 1);
	}
	w->by_place = w->pending.count > 0;
	w->by_number = w->wanted.count > 0;
	return ret;
}

int scr_owner_walk(int fd, int64_t deadline_ns, struct scr_pieces *pieces)
{
	struct walk w = {.pieces = pieces, .deadline_ns = deadline_ns};
	int ret = plan(&w);

	w.map = calloc(1, sizeof(*w.map) + EXTENTS * sizeof(struct fiemap_extent));
	if (!w.map)
		ret = -ENOMEM;
	if (ret == 0)
		ret = walk_root(&w, fd);
	if (ret == 0)
		ret = replace_pending(&w);
	free(w.map);
	scr_buf_free(&w.path);
	scr_map_free(&w.wanted);
	scr_map_free(&w.seen);
	free(w.pending.list);
	scr_pieces_free(&w.found);
	return ret;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Whose bytes: the ranges, the answers, and their order. */
#include <config.h>
#include "dev/owner_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/compiler.h"

#define EXT_MAGIC 0xef53
#define XFS_MAGIC 0x58465342
#define BTRFS_MAGIC 0x9123683e

bool scr_owner_late(int64_t deadline_ns)
{
	return scr_clock_monotonic(&scr_clock_system) >= deadline_ns;
}

int scr_owner_pieces_add(struct scr_pieces *l, const struct scr_piece *p)
{
	if (l->count == l->cap) {
		size_t cap = l->cap ? 2 * l->cap : 16;
		struct scr_piece *list = realloc(l->list, cap * sizeof(*list));

		if (!list) {
			free(p->path);
			return -ENOMEM;
		}
		l->list = list;
		l->cap = cap;
	}
	l->list[l->count++] = *p;
	return 0;
}

static int compare(const void *a, const void *b)
{
	const struct scr_piece *x = a, *y = b;
	size_t n = SCR_MIN(x->path_len, y->path_len);
	int c;

	if (x->offset != y->offset)
		return x->offset < y->offset ? -1 : 1;
	c = n ? memcmp(x->path, y->path, n) : 0;
	return c ? c : x->path_len < y->path_len ? -1 : x->path_len > y->path_len;
}

void scr_pieces_sort(struct scr_pieces *l)
{
	if (l->count)
		qsort(l->list, l->count, sizeof(*l->list), compare);
}

void scr_pieces_free(struct scr_pieces *l)
{
	for (size_t i = 0; i < l->count; i++)
		free(l->list[i].path);
	free(l->list);
	*l = (struct scr_pieces){0};
}

/* Prepares what the kind of file system needs. */
static int begin(struct scr_owners *o)
{
	struct statfs fs;
	struct stat st;

	if (fstatfs(o->fd, &fs) < 0 || fstat(o->fd, &st) < 0)
		return -errno;
	switch ((uint32_t)fs.f_type) {
	case EXT_MAGIC:
	case XFS_MAGIC:
		return st.st_dev == o->dev ? 0 : -EXDEV;
	case BTRFS_MAGIC:
		return scr_btrfs_open(o->fd, o->dev, &o->btrfs);
	default:
		return -ENOTSUP;
	}
}

int scr_owners_open(const char *mountpoint, dev_t dev, uint64_t device_offset,
		    struct scr_owners **out)
{
	struct scr_owners *o = calloc(1, sizeof(*o));
	int ret;

	if (!o)
		return -ENOMEM;
	o->dev = dev;
	o->base = device_offset;
	o->fd = open(mountpoint, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	ret = o->fd < 0 ? -errno : begin(o);
	if (ret < 0)
		scr_owners_close(o);
	else
		*out = o;
	return ret;
}

void scr_owners_close(struct scr_owners *o)
{
	if (!o)
		return;
	scr_btrfs_close(o->btrfs);
	scr_pieces_free(&o->ranges);
	if (o->fd >= 0)
		close(o->fd);
	free(o);
}

int scr_owners_add(struct scr_owners *o, uint64_t offset, uint64_t length)
{
	if (offset < o->base || length > UINT64_MAX - offset)
		return -EINVAL;
	return length ? scr_owner_pieces_add(&o->ranges, &(struct scr_piece){.offset = offset - o->base,
								       .length = length})
		      : 0;
}

/* Sorts the ranges and joins those that touch. */
static void normalise(struct scr_pieces *ranges)
{
	size_t kept = 0;

	scr_pieces_sort(ranges);
	for (size_t i = 1; i < ranges->count; i++) {
		struct scr_piece *last = &ranges->list[kept], *next = &ranges->list[i];
		uint64_t end = last->offset + last->length;

		if (next->offset > end)
			ranges->list[++kept] = *next;
		else
			last->length = SCR_MAX(end, next->offset + next->length) - last->offset;
	}
	ranges->count = ranges->count ? kept + 1 : 0;
}

static int ask(struct scr_owners *o, const struct scr_piece *r, int64_t deadline_ns,
	       struct scr_pieces *out)
{
	if (o->btrfs)
		return scr_btrfs_ask(o->btrfs, r->offset, r->length, deadline_ns, out);
	return scr_fsmap_ask(o->fd, o->dev, r->offset, r->length, out);
}

static bool walk_helps(const struct scr_pieces *pieces)
{
	for (size_t i = 0; i < pieces->count; i++)
		if (pieces->list[i].pending || pieces->list[i].ino)
			return true;
	return false;
}

/* One run that was told in parts. */
static bool goes_on(const struct scr_piece *a, const struct scr_piece *b)
{
	return a->offset + a->length == b->offset && a->kind == b->kind && a->what == b->what &&
	       a->path_len == b->path_len && !a->path == !b->path &&
	       (!a->path || memcmp(a->path, b->path, a->path_len) == 0) &&
	       (a->kind != SCR_OWNER_FILE || a->file_offset + a->length == b->file_offset);
}

/* Joins parts of one run. Parts of several owners alternate, so each looks for its own. */
static void join(struct scr_pieces *l)
{
	size_t kept = 0;

	for (size_t i = 0; i < l->count; i++) {
		bool joined = false;

		for (size_t k = kept > 8 ? kept - 8 : 0; k < kept && !joined; k++) {
			if (!goes_on(&l->list[k], &l->list[i]))
				continue;
			l->list[k].length += l->list[i].length;
			free(l->list[i].path);
			joined = true;
		}
		if (!joined)
			l->list[kept++] = l->list[i];
	}
	l->count = kept;
}

static void tell(const struct scr_owners *o, const struct scr_pieces *l,
		 void (*fn)(void *arg, const struct scr_owner *owner), void *arg)
{
	for (size_t i = 0; i < l->count; i++) {
		const struct scr_piece *p = &l->list[i];
		struct scr_owner owner = {
			.offset = o->base + p->offset,
			.length = p->length,
			.kind = p->kind,
			.path = p->path,
			.path_len = p->path_len,
			.file_offset = p->kind == SCR_OWNER_FILE ? p->file_offset : 0,
			.what = p->what,
		};

		/* A file without a name is nothing to tell. */
		if (owner.kind == SCR_OWNER_FILE && !owner.path)
			owner.kind = SCR_OWNER_UNKNOWN;
		fn(arg, &owner);
	}
}

int scr_owners_find(struct scr_owners *o, int64_t deadline_ns,
		    void (*fn)(void *arg, const struct scr_owner *owner), void *arg)
{
	struct scr_pieces pieces = {0};
	int ret = 0;

	normalise(&o->ranges);
	for (size_t i = 0; i < o->ranges.count && ret == 0; i++)
		ret = ask(o, &o->ranges.list[i], deadline_ns, &pieces);
	scr_pieces_sort(&pieces);
	if (ret == 0 && walk_helps(&pieces))
		ret = scr_owner_walk(o->fd, deadline_ns, &pieces);
	if (ret == 0) {
		scr_pieces_sort(&pieces);
		join(&pieces);
		tell(o, &pieces, fn, arg);
	}
	scr_pieces_free(&pieces);
	return ret;
}

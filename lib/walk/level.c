/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The stack of directories of a walk, with few descriptors however deep it is.
 *
 * The descriptors of the outermost levels are closed when there are too many. Coming back up to
 * one, it is opened again from the root downwards, never by "..": a directory that was moved
 * meanwhile would lead out of the tree that way. Device and inode tell whether it is still the one
 * that was listed.
 */
#include <config.h>
#include "walk/walk_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/compiler.h"
#include "walk/resolve_internal.h"

static int grow(struct scr_walk *w)
{
	size_t cap = SCR_MAX(w->cap * 2, 64);
	struct scr_level *levels = reallocarray(w->levels, cap, sizeof(*levels));

	if (!levels)
		return -ENOMEM;
	w->levels = levels;
	w->cap = cap;
	return 0;
}

int scr_level_push(struct scr_walk *w, int fd, const struct stat *st, enum scr_state_level state,
		   int *list_error)
{
	struct scr_level *l;
	int ret = w->depth == w->cap ? grow(w) : 0;

	if (ret < 0) {
		close(fd);
		return ret;
	}
	l = &w->levels[w->depth];
	*l = (struct scr_level){
		.fd = fd,
		.dev = st->st_dev,
		.ino = st->st_ino,
		.path_len = w->path_len,
		.state = state,
	};
	*list_error = scr_names_list(&l->names, fd, w->buf, SCR_WALK_BUFFER);
	if (*list_error == -ENOMEM) {
		close(fd);
		return -ENOMEM;
	}
	w->depth++;
	if (w->depth - w->first_open > SCR_WALK_OPEN_MAX) {
		close(w->levels[w->first_open].fd);
		w->levels[w->first_open++].fd = -1;
	}
	return 0;
}

void scr_level_pop(struct scr_walk *w)
{
	struct scr_level *l = &w->levels[--w->depth];

	if (l->fd >= 0)
		close(l->fd);
	scr_names_free(&l->names);
	w->first_open = SCR_MIN(w->first_open, w->depth);
}

/* Sets the descriptor of level @i to @fd (or -errno) if it is the directory that was listed. */
static int set_again(struct scr_walk *w, size_t i, int fd)
{
	struct scr_level *l = &w->levels[i];
	struct stat st;

	if (fd == -ENOTDIR || fd == -ELOOP || fd == -EXDEV)
		return -ENOENT; /* something else stands there now */
	if (fd < 0)
		return fd;
	if (fstat(fd, &st) < 0 || st.st_dev != l->dev || st.st_ino != l->ino) {
		close(fd);
		return -ENOENT;
	}
	l->fd = fd;
	return 0;
}

static int open_child_again(struct scr_walk *w, size_t i)
{
	const struct scr_level *parent = &w->levels[i - 1];
	size_t start = parent->path_len > 0 ? parent->path_len + 1 : 0;
	size_t len = w->levels[i].path_len - start;
	int fd;

	fd = scr_open_dir_beneath(parent->fd, w->path + start, len, !w->opt.cross_mounts);
	return set_again(w, i, fd);
}

static int open_again(struct scr_walk *w)
{
	size_t top = w->depth - 1, first = top - SCR_MIN(top, SCR_WALK_OPEN_AGAIN - 1);
	int fd = scr_open_dir_beneath(w->rootfd, w->path, w->levels[first].path_len,
				      !w->opt.cross_mounts);
	int ret = set_again(w, first, fd);

	for (size_t i = first + 1; ret == 0 && i <= top; i++)
		ret = open_child_again(w, i);
	if (ret == 0) {
		w->first_open = first;
		return 0;
	}
	for (size_t i = first; i <= top; i++) {
		if (w->levels[i].fd >= 0)
			close(w->levels[i].fd);
		w->levels[i].fd = -1;
	}
	return ret;
}

int scr_level_fd(struct scr_walk *w)
{
	const struct scr_level *top = &w->levels[w->depth - 1];
	int ret = top->fd < 0 ? open_again(w) : 0;

	return ret < 0 ? ret : top->fd;
}

bool scr_level_loops(const struct scr_walk *w, const struct stat *st)
{
	for (size_t i = 0; i < w->depth; i++)
		if (w->levels[i].ino == st->st_ino && w->levels[i].dev == st->st_dev)
			return true;
	return false;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The walk: one directory is opened and listed at a time, each name is looked at when its turn
 * comes. Everything goes by the descriptor of its directory; a path is only built to be given out.
 */
#include <config.h>
#include "walk/walk_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/compiler.h"
#include "walk/resolve_internal.h"

/* Returned by the functions below for "nothing to give out, go on". */
#define NOTHING 1

static int set_path(struct scr_walk *w, size_t dir_len, const char *name)
{
	size_t n = strlen(name), need = dir_len + n + 2;

	if (need > w->path_cap) {
		size_t cap = SCR_MAX(need, w->path_cap * 2);
		char *path = realloc(w->path, cap);

		if (!path)
			return -ENOMEM;
		w->path = path;
		w->path_cap = cap;
	}
	if (dir_len > 0)
		w->path[dir_len++] = '/';
	memcpy(w->path + dir_len, name, n + 1);
	w->path_len = dir_len + n;
	return 0;
}

/* An entry for the present path. The root itself is called ".". */
static int give(const struct scr_walk *w, enum scr_walk_type type, bool is_dir, int err,
		struct scr_walk_entry *e)
{
	*e = (struct scr_walk_entry){
		.type = type,
		.path = w->path_len ? w->path : ".",
		.len = w->path_len ? w->path_len : 1,
		.is_dir = is_dir,
		.err = err,
	};
	return 0;
}

/* @err (-errno): the present path could not be looked at; what is below it is unknown. */
static int give_error(struct scr_walk *w, bool is_dir, int err, struct scr_walk_entry *e)
{
	if (err == -ENOMEM)
		return err;
	/* It was listed, and is gone or is something else by now. */
	if (err == -ENOTDIR || err == -ELOOP)
		err = -ENOENT;
	if (is_dir)
		give(w, SCR_WALK_UNLISTED, true, -err, &w->pending);
	return give(w, SCR_WALK_ERROR, is_dir, -err, e);
}

static bool excluded(const struct scr_walk *w, bool is_dir)
{
	return w->opt.exclude && w->opt.exclude(w->opt.arg, w->path, w->path_len, is_dir);
}

static int open_dir(const struct scr_walk *w, int parentfd, const char *name)
{
	const int flags = O_RDONLY | O_DIRECTORY | O_NONBLOCK;
	int fd = scr_step(parentfd, name, flags | O_NOATIME, !w->opt.cross_mounts);

	return fd == -EPERM ? scr_step(parentfd, name, flags, !w->opt.cross_mounts) : fd;
}

/* A directory that can't be opened: state of ours that is none of this user's business, or
 * trouble. */
static int closed_dir(struct scr_walk *w, int parentfd, const char *name, int err,
		      struct scr_walk_entry *e)
{
	struct stat st;

	if (err == -EXDEV)
		return give(w, SCR_WALK_UNLISTED, true, EXDEV, e);
	if (err == -EACCES && scr_state_name_fits(name) &&
	    fstatat(parentfd, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && scr_foreign_trusted(&st))
		return give(w, SCR_WALK_NOTE, true, EACCES, e);
	return give_error(w, true, err, e);
}

/* Goes into the open directory @fd (taken over). */
static int enter(struct scr_walk *w, int fd, const struct stat *st, enum scr_state_level state,
		 struct scr_walk_entry *e)
{
	int list_error = 0, ret = scr_level_push(w, fd, st, state, &list_error);

	if (ret < 0)
		return ret;
	return list_error < 0 ? give_error(w, true, list_error, e) : NOTHING;
}

/* As enter(), for a directory whose name is that of a state directory. */
static int enter_fitting(struct scr_walk *w, int fd, const struct stat *st,
			 struct scr_walk_entry *e)
{
	enum scr_foreign found = scr_foreign_look(fd);
	int ret;

	if (found == SCR_FOREIGN_NO) {
		if (!excluded(w, true))
			return enter(w, fd, st, SCR_STATE_NONE, e);
		close(fd);
		return give(w, SCR_WALK_EXCLUDED, true, 0, e);
	}
	ret = enter(w, fd, st, SCR_STATE_TOP, e);
	if (ret == NOTHING && found == SCR_FOREIGN_CLOSED)
		return give(w, SCR_WALK_NOTE, true, EACCES, e);
	return ret;
}

static int visit_opened(struct scr_walk *w, int fd, const char *name, struct scr_walk_entry *e)
{
	const struct scr_level *parent = &w->levels[w->depth - 1];
	struct stat st;
	int ret;

	if (fstat(fd, &st) < 0)
		ret = give_error(w, true, -errno, e);
	else if (st.st_dev == w->opt.state_dev && st.st_ino == w->opt.state_ino && st.st_ino)
		ret = NOTHING;
	else if (!w->opt.cross_mounts && st.st_dev != parent->dev)
		ret = give(w, SCR_WALK_UNLISTED, true, EXDEV, e);
	else if (scr_level_loops(w, &st))
		ret = give_error(w, true, -EUCLEAN, e);
	else if (scr_state_name_fits(name))
		return enter_fitting(w, fd, &st, e);
	else
		return enter(w, fd, &st, scr_state_name_level(parent->state, name), e);
	close(fd);
	return ret;
}

static int visit_dir(struct scr_walk *w, int parentfd, const char *name, struct scr_walk_entry *e)
{
	int fd;

	/* What may be state is asked about later: passing over state is no exclusion. */
	if (!scr_state_name_fits(name) && excluded(w, true))
		return give(w, SCR_WALK_EXCLUDED, true, 0, e);
	fd = open_dir(w, parentfd, name);
	if (fd < 0)
		return closed_dir(w, parentfd, name, fd, e);
	return visit_opened(w, fd, name, e);
}

static int visit_file(struct scr_walk *w, int parentfd, const char *name, struct scr_walk_entry *e)
{
	const struct scr_level *parent = &w->levels[w->depth - 1];
	struct stat st;

	if (scr_state_name_defined(parent->state, name, false))
		return NOTHING;
	if (excluded(w, false))
		return give(w, SCR_WALK_EXCLUDED, false, 0, e);
	if (fstatat(parentfd, name, &st, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT) < 0)
		return give_error(w, false, -errno, e);
	if (!S_ISREG(st.st_mode))
		return give_error(w, false, -ENOENT, e);
	if (!w->opt.cross_mounts && scr_other_fs(parentfd, name, &st, parent->dev))
		return give(w, SCR_WALK_UNLISTED, false, EXDEV, e);
	give(w, SCR_WALK_FILE, false, 0, e);
	e->st = st;
	return 0;
}

/* The file system's readdir doesn't tell types. */
static int visit_unknown(struct scr_walk *w, int parentfd, const char *name,
			 struct scr_walk_entry *e)
{
	struct stat st;

	if (fstatat(parentfd, name, &st, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT) < 0)
		return give_error(w, false, -errno, e);
	if (S_ISDIR(st.st_mode))
		return visit_dir(w, parentfd, name, e);
	return S_ISREG(st.st_mode) ? visit_file(w, parentfd, name, e) : NOTHING;
}

/* The next name of the top level: 0 (@e is filled), NOTHING or -errno. */
static int visit(struct scr_walk *w, struct scr_walk_entry *e)
{
	struct scr_level *l = &w->levels[w->depth - 1];
	const char *name = scr_names_get(&l->names, l->next);
	enum scr_name_type type = scr_names_type(&l->names, l->next);
	int fd, ret = set_path(w, l->path_len, name);

	l->next++;
	if (ret < 0)
		return ret;
	fd = scr_level_fd(w);
	if (fd < 0)
		return give_error(w, type != SCR_NAME_FILE, fd, e);
	if (type == SCR_NAME_DIR)
		return visit_dir(w, fd, name, e);
	return type == SCR_NAME_FILE ? visit_file(w, fd, name, e) : visit_unknown(w, fd, name, e);
}

static int take_waiting(struct scr_walk_entry *waiting, struct scr_walk_entry *e)
{
	if (waiting->type == SCR_WALK_END)
		return NOTHING;
	*e = *waiting;
	waiting->type = SCR_WALK_END;
	return 0;
}

int scr_walk_next(struct scr_walk *w, struct scr_walk_entry *e)
{
	int ret = take_waiting(&w->first, e);

	if (ret == NOTHING)
		ret = take_waiting(&w->pending, e);
	while (ret == NOTHING) {
		const struct scr_level *l;

		if (w->depth == 0) {
			*e = (struct scr_walk_entry){.type = SCR_WALK_END};
			return 0;
		}
		l = &w->levels[w->depth - 1];
		if (l->next < l->names.count)
			ret = visit(w, e);
		else
			scr_level_pop(w);
	}
	return ret;
}

static int enter_root(struct scr_walk *w)
{
	const int flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC;
	int fd = openat(w->rootfd, ".", flags | O_NOATIME), ret;
	struct scr_walk_entry e;
	struct stat st;

	if (fd < 0 && errno == EPERM)
		fd = openat(w->rootfd, ".", flags);
	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) < 0) {
		ret = -errno;
		close(fd);
		return ret;
	}
	ret = enter(w, fd, &st, SCR_STATE_NONE, &e);
	if (ret != 0)
		return ret == NOTHING ? 0 : ret;
	w->first = e; /* its listing broke off; UNLISTED is pending behind that */
	return 0;
}

int scr_walk_new(int rootfd, const struct scr_walk_options *opt, struct scr_walk **out)
{
	struct scr_walk *w = calloc(1, sizeof(*w));
	int ret = -ENOMEM;

	if (!w)
		return ret;
	w->rootfd = rootfd;
	if (opt)
		w->opt = *opt;
	w->buf = malloc(SCR_WALK_BUFFER);
	if (!w->buf || set_path(w, 0, "") < 0)
		goto fail;
	ret = enter_root(w);
	if (ret < 0)
		goto fail;
	*out = w;
	return 0;
fail:
	scr_walk_free(w);
	return ret;
}

void scr_walk_free(struct scr_walk *w)
{
	if (!w)
		return;
	while (w->depth > 0)
		scr_level_pop(w);
	free(w->levels);
	free(w->path);
	free(w->buf);
	free(w);
}

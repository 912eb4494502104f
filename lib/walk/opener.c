/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Opening many files of one directory without coming down from the root for each. */
#include <config.h>
#include "walk/resolve_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "base/path.h"

void scr_opener_close(struct scr_opener *o)
{
	if (o->ready)
		close(o->dirfd);
	o->ready = false;
}

void scr_opener_free(struct scr_opener *o)
{
	scr_opener_close(o);
	scr_buf_free(&o->dir);
}

/* Whether nobody but root and the effective user can change what names in the directory stand for.
 * With an ACL the group's bits are its mask: the most that it gives to anybody. */
static bool is_trusted(const struct stat *dir)
{
	return (dir->st_uid == 0 || dir->st_uid == geteuid()) &&
	       !(dir->st_mode & (S_IWGRP | S_IWOTH));
}

static bool is_in(const struct scr_opener *o, int rootfd, const char *dir, size_t len, bool same_fs)
{
	return o->ready && o->rootfd == rootfd && o->same_fs == same_fs && o->dir.len == len &&
	       (len == 0 || memcmp(o->dir.data, dir, len) == 0);
}

static int enter(struct scr_opener *o, int rootfd, const char *dir, size_t len, bool same_fs)
{
	struct stat root, st;
	int r;

	if (is_in(o, rootfd, dir, len, same_fs))
		return 0;
	scr_opener_close(o);
	scr_buf_clear(&o->dir);
	r = scr_buf_append(&o->dir, dir, len);
	if (r < 0)
		return r;
	r = scr_open_dir_beneath(rootfd, dir, len, same_fs);
	if (r < 0)
		return r;
	o->dirfd = r;
	o->ready = true;
	if (fstat(rootfd, &root) < 0 || fstat(o->dirfd, &st) < 0) {
		r = -errno;
		scr_opener_close(o);
		return r;
	}
	o->rootfd = rootfd;
	o->root_dev = root.st_dev;
	o->same_fs = same_fs;
	o->trusted = is_trusted(&st);
	return 0;
}

/*
 * Looks first: what is there is opened if it is a plain file where it should be. Whether it is still
 * the same that was opened, in a directory in which nobody else can change that, is seen by who
 * looks at the descriptor after reading.
 */
static int open_trusted(const struct scr_opener *o, const char *name, struct stat *st)
{
	const int flags = O_RDONLY | O_NONBLOCK | O_NOCTTY | O_NOATIME;
	struct stat seen;
	int fd;

	if (fstatat(o->dirfd, name, &seen, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT) < 0)
		return -errno;
	if (!S_ISREG(seen.st_mode) || (o->same_fs && seen.st_dev != o->root_dev))
		return -EINVAL;
	fd = scr_step(o->dirfd, name, flags, o->same_fs);
	if (fd >= 0)
		*st = seen;
	return fd;
}

static int open_by_path(const struct scr_opener *o, const char *name, struct stat *st)
{
	int fd, pathfd = scr_step(o->dirfd, name, O_PATH, o->same_fs);

	if (pathfd < 0)
		return pathfd;
	fd = scr_open_checked(pathfd, o->dirfd, name, o->same_fs, o->root_dev, st);
	close(pathfd);
	return fd;
}

int scr_opener_open(struct scr_opener *o, int rootfd, const char *path, size_t len, bool same_fs,
		    struct stat *st)
{
	const char *slash = memrchr(path, '/', len), *leaf = slash ? slash + 1 : path;
	const size_t dir = slash ? (size_t)(slash - path) : 0, left = len - (size_t)(leaf - path);
	char name[NAME_MAX + 1];
	int fd = -EINVAL;

	if (scr_path_valid(path, len) && left <= NAME_MAX && !(len == 1 && path[0] == '.') &&
	    enter(o, rootfd, path, dir, same_fs) == 0) {
		memcpy(name, leaf, left);
		name[left] = '\0';
		fd = o->trusted ? open_trusted(o, name, st) : open_by_path(o, name, st);
	}
	/* Whatever is wrong, the long way knows best what it is. */
	return fd >= 0 ? fd : scr_open_beneath(rootfd, path, len, same_fs, st);
}

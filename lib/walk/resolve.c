/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Opening names below a root without ever leaving it. */
#include <config.h>
#include "walk/resolve_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/path.h"

/* Bytes of @path for one step: all of it, or up to a '/' within @max bytes; 0: a name too long. */
static size_t chunk_length(const char *path, size_t len, size_t max)
{
	const char *slash;

	if (len <= max)
		return len;
	slash = memrchr(path, '/', max + 1);
	return slash ? (size_t)(slash - path) : 0;
}

/*
 * Goes down to the directory of the last chunk of @path, whose text goes to @chunk (PATH_MAX
 * bytes). Returns a descriptor, @rootfd itself if one step is enough, or -errno.
 */
static int descend(scr_step_fn step, int rootfd, const char *path, size_t len, bool same_fs,
		   char *chunk)
{
	int at = rootfd;

	for (;;) {
		size_t n = chunk_length(path, len, PATH_MAX - 1);
		int fd = -ENAMETOOLONG;

		memcpy(chunk, path, n);
		chunk[n] = '\0';
		if (n == len)
			return at;
		if (n > 0)
			fd = step(at, chunk, O_PATH | O_DIRECTORY, same_fs);
		if (at != rootfd)
			close(at);
		if (fd < 0)
			return fd;
		at = fd;
		path += n + 1;
		len -= n + 1;
	}
}

static int open_for_reading(const char *proc_path, int extra)
{
	const int flags = O_RDONLY | O_CLOEXEC | O_NOCTTY | extra;
	int fd = open(proc_path, flags | O_NOATIME);

	/* O_NOATIME is for the owner and root. */
	if (fd < 0 && errno == EPERM)
		fd = open(proc_path, flags);
	return fd < 0 ? -errno : fd;
}

/* By name once more: then what was opened must be what was looked at. */
static int reopen_by_name(int dirfd, const char *name, const struct stat *st)
{
	const int flags = O_RDONLY | O_NONBLOCK | O_NOCTTY;
	int fd = scr_step(dirfd, name, flags | O_NOATIME, false);
	struct stat now;

	if (fd == -EPERM)
		fd = scr_step(dirfd, name, flags, false);
	if (fd < 0)
		return fd;
	if (fstat(fd, &now) < 0 || now.st_dev != st->st_dev || now.st_ino != st->st_ino) {
		close(fd);
		return -ESTALE;
	}
	return fd;
}

int scr_reopen_regular(int pathfd, int dirfd, const char *name, const struct stat *st)
{
	char proc_path[40];
	int fd;

	snprintf(proc_path, sizeof(proc_path), "/proc/self/fd/%d", pathfd);
	fd = open_for_reading(proc_path, O_NONBLOCK);
	if (fd == -EAGAIN) /* somebody has a lease (Samba): let the kernel take it back */
		fd = open_for_reading(proc_path, 0);
	if (fd == -ENOENT || fd == -ENOTDIR) /* no /proc here */
		fd = reopen_by_name(dirfd, name, st);
	return fd;
}

int scr_open_checked(int pathfd, int dirfd, const char *name, bool same_fs, dev_t root_dev,
		     struct stat *st)
{
	struct stat found;
	int fd;

	if (fstat(pathfd, &found) < 0)
		return -errno;
	if (!S_ISREG(found.st_mode))
		return S_ISLNK(found.st_mode) ? -ELOOP : -EINVAL;
	if (same_fs && scr_other_fs(pathfd, NULL, &found, root_dev))
		return -EXDEV;
	fd = scr_reopen_regular(pathfd, dirfd, name, &found);
	if (fd < 0)
		return fd;
	if (fstat(fd, &found) < 0) {
		int err = errno;

		close(fd);
		return -err;
	}
	*st = found;
	return fd;
}

int scr_open_dir_beneath(int rootfd, const char *path, size_t len, bool same_fs)
{
	char chunk[PATH_MAX];
	int at, fd;

	if (len == 0)
		return scr_step_openat(rootfd, ".", O_PATH | O_DIRECTORY, same_fs);
	at = descend(scr_step, rootfd, path, len, same_fs, chunk);
	if (at < 0)
		return at;
	fd = scr_step(at, chunk, O_PATH | O_DIRECTORY, same_fs);
	if (at != rootfd)
		close(at);
	return fd;
}

int scr_open_beneath_by(scr_step_fn step, int rootfd, const char *path, size_t len, bool same_fs,
			struct stat *st)
{
	char chunk[PATH_MAX];
	struct stat root;
	int at, pathfd, fd;

	if (!scr_path_valid(path, len))
		return -EINVAL;
	if (fstat(rootfd, &root) < 0)
		return -errno;
	if (len == 1 && path[0] == '.') /* the root is the file itself */
		return scr_open_checked(rootfd, rootfd, "", same_fs, root.st_dev, st);
	at = descend(step, rootfd, path, len, same_fs, chunk);
	if (at < 0)
		return at;
	pathfd = step(at, chunk, O_PATH, same_fs);
	fd = pathfd;
	if (pathfd >= 0) {
		fd = scr_open_checked(pathfd, at, chunk, same_fs, root.st_dev, st);
		close(pathfd);
	}
	if (at != rootfd)
		close(at);
	return fd;
}

int scr_stat_beneath_by(scr_step_fn step, int rootfd, const char *path, size_t len,
			struct stat *st)
{
	char chunk[PATH_MAX];
	struct stat found;
	char *name;
	int at, dir, ret = 0;

	if (!scr_path_valid(path, len))
		return -EINVAL;
	if (len == 1 && path[0] == '.')
		return fstat(rootfd, st) < 0 ? -errno : 0;
	at = descend(step, rootfd, path, len, false, chunk);
	if (at < 0)
		return at;
	/* fstatat() follows symlinks on the way to the last name, so that is a step of its own. */
	name = strrchr(chunk, '/');
	dir = at;
	if (name) {
		*name = '\0';
		dir = step(at, chunk, O_PATH | O_DIRECTORY, false);
	}
	if (dir < 0)
		ret = dir;
	else if (fstatat(dir, name ? name + 1 : chunk, &found,
			 AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT) < 0)
		ret = -errno;
	else
		*st = found;
	if (dir >= 0 && dir != at)
		close(dir);
	if (at != rootfd)
		close(at);
	return ret;
}

int scr_open_beneath(int rootfd, const char *path, size_t len, bool same_fs, struct stat *st)
{
	return scr_open_beneath_by(scr_step, rootfd, path, len, same_fs, st);
}

int scr_stat_beneath(int rootfd, const char *path, size_t len, struct stat *st)
{
	return scr_stat_beneath_by(scr_step, rootfd, path, len, st);
}

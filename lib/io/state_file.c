/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Files in the state directory: opened, created, removed by its descriptor. */
#include <config.h>
#include "io/state_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int file_errno(const struct scr_state *s, int err, const char *doing, const char *name,
		      struct scr_why *why)
{
	char *path = scr_path_join(s->path, name);

	if (!path)
		return err;
	scr_why_errno(why, err, doing, path);
	free(path);
	return err;
}

static bool name_is_plain(const char *name)
{
	return name[0] && !strchr(name, '/') && strcmp(name, ".") != 0 && strcmp(name, "..") != 0;
}

int scr_state_open_file(const struct scr_state *s, const char *name, int flags, bool reading,
			struct scr_why *why)
{
	struct stat st;
	int fd, ret;

	if (!name_is_plain(name) || (flags & O_CREAT))
		return file_errno(s, -EINVAL, "open", name, why);
	/* Looked at before it is opened, so that no FIFO or device is. */
	if (fstatat(s->dirfd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return file_errno(s, -errno, "open", name, why);
	ret = scr_state_check_file(s->dirfd, s->path, name, &st, -1, reading, why);
	if (ret < 0)
		return ret;
	fd = openat(s->dirfd, name, flags | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd < 0)
		return file_errno(s, -errno, "open", name, why);
	if (fstat(fd, &st) < 0)
		ret = file_errno(s, -errno, "look at", name, why);
	else
		ret = scr_state_check_file(s->dirfd, s->path, name, &st, fd, reading, why);
	if (ret < 0) {
		close(fd);
		return ret;
	}
	return fd;
}

/* Removes what an earlier pass left under the temporary @name. */
static int remove_stale(const struct scr_state *s, const char *name, struct scr_why *why)
{
	struct stat st;

	if (fstatat(s->dirfd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT ? 0 : file_errno(s, -errno, "look at", name, why);
	if (st.st_uid != geteuid() || !S_ISREG(st.st_mode))
		return scr_why_set(why, -EPERM, "%.4000s/%.255s is in the way and was not made by "
				   "this program: remove it", s->path, name);
	return unlinkat(s->dirfd, name, 0) < 0 ? file_errno(s, -errno, "remove", name, why) : 0;
}

int scr_state_new_file(const struct scr_state *s, const char *name, struct scr_why *why)
{
	const int flags = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
	int fd, ret;

	if (!name_is_plain(name))
		return file_errno(s, -EINVAL, "create", name, why);
	fd = openat(s->dirfd, name, flags, 0600);
	if (fd < 0 && errno == EEXIST && scr_state_name_temporary(name)) {
		ret = remove_stale(s, name, why);
		if (ret < 0)
			return ret;
		fd = openat(s->dirfd, name, flags, 0600);
	}
	if (fd < 0)
		return file_errno(s, -errno, "create", name, why);
	/* Against the umask; file systems without modes refuse, and that is all right. */
	if (fchmod(fd, 0600) < 0 && errno != EPERM && errno != EOPNOTSUPP) {
		ret = file_errno(s, -errno, "create", name, why);
		close(fd);
		return ret;
	}
	return fd;
}

static int unnamed_by_unlink(const struct scr_state *s)
{
	char name[64];

	for (unsigned int i = 0; i < 1000; i++) {
		int fd;

		snprintf(name, sizeof(name), "unnamed-%ld-%u" SCR_TEMPORARY_SUFFIX, (long)getpid(),
			 i);
		fd = openat(s->dirfd, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
			    0600);
		if (fd < 0 && errno == EEXIST)
			continue;
		if (fd < 0)
			return -errno;
		unlinkat(s->dirfd, name, 0);
		return fd;
	}
	return -EEXIST;
}

int scr_state_unnamed_file(const struct scr_state *s)
{
	int fd = openat(s->dirfd, ".", O_TMPFILE | O_RDWR | O_EXCL | O_CLOEXEC, 0600);

	if (fd >= 0)
		return fd;
	if (errno != EOPNOTSUPP && errno != EISDIR && errno != ENOENT && errno != EINVAL)
		return -errno;
	return unnamed_by_unlink(s);
}

int scr_state_replace(const struct scr_state *s, const char *tmp, const char *name)
{
	if (!name_is_plain(tmp) || !name_is_plain(name))
		return -EINVAL;
	if (renameat(s->dirfd, tmp, s->dirfd, name) < 0)
		return -errno;
	return scr_state_sync(s);
}

int scr_state_unlink(const struct scr_state *s, const char *name)
{
	if (!name_is_plain(name))
		return -EINVAL;
	if (unlinkat(s->dirfd, name, 0) < 0 && errno != ENOENT)
		return -errno;
	return 0;
}

int scr_state_sync(const struct scr_state *s)
{
	return fsync(s->dirfd) < 0 ? -errno : 0;
}

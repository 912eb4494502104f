/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* One step down a tree that others may change meanwhile. */
#include <config.h>
#include "walk/resolve_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>
#include <linux/magic.h>
#ifdef HAVE_LINUX_OPENAT2_H
#include <linux/openat2.h>
#endif

#if defined(HAVE_LINUX_OPENAT2_H) && defined(SYS_openat2)
int scr_step_openat2(int dirfd, const char *path, int flags, bool same_fs)
{
	/* Not O_NOFOLLOW, with which O_PATH opens a symlink itself instead of refusing it. */
	struct open_how how = {
		.flags = (uint64_t)(unsigned int)(flags | O_CLOEXEC),
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS |
			   (same_fs ? RESOLVE_NO_XDEV : 0),
	};
	long fd;

	do {
		fd = syscall(SYS_openat2, dirfd, path, &how, sizeof(how));
	} while (fd < 0 && errno == EINTR);
	return fd < 0 ? -errno : (int)fd;
}
#else
int scr_step_openat2(int dirfd, const char *path, int flags, bool same_fs)
{
	(void)dirfd, (void)path, (void)flags, (void)same_fs;
	return -ENOSYS;
}
#endif

/* O_DIRECTORY turns the ELOOP of a symlink into ENOTDIR: say what it is. */
static int openat_nofollow(int dirfd, const char *name, int flags)
{
	struct stat st;
	int fd = openat(dirfd, name, flags | O_NOFOLLOW | O_CLOEXEC);
	int err = fd < 0 ? errno : 0;

	if (err == ENOTDIR && fstatat(dirfd, name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	    S_ISLNK(st.st_mode))
		return -ELOOP;
	if (fd >= 0 && (flags & O_PATH) && fstat(fd, &st) == 0 && S_ISLNK(st.st_mode)) {
		close(fd);
		return -ELOOP;
	}
	return fd < 0 ? -err : fd;
}

/* Whether @name in @fd is where a file system is mounted; true if that can't be learned. */
static bool is_mount_point(int fd, const char *name)
{
	struct statx stx;

	if (statx(fd, name ? name : "", AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT | AT_EMPTY_PATH, 0,
		  &stx) < 0 || !(stx.stx_attributes_mask & STATX_ATTR_MOUNT_ROOT))
		return true;
	return stx.stx_attributes & STATX_ATTR_MOUNT_ROOT;
}

bool scr_other_fs(int fd, const char *name, const struct stat *st, dev_t dir_dev)
{
	struct statfs fs;

	if (st->st_dev == dir_dev)
		return false;
	if (S_ISDIR(st->st_mode) || fstatfs(fd, &fs) < 0 || fs.f_type != OVERLAYFS_SUPER_MAGIC)
		return true;
	return is_mount_point(fd, name);
}

static int on_device(int fd, dev_t dev)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return -errno;
	return scr_other_fs(fd, NULL, &st, dev) ? -EXDEV : 0;
}

/* Opens one component, and with @same_fs checks that it is on the file system of @dirfd. */
static int step_component(int dirfd, const char *name, int flags, bool same_fs)
{
	struct stat st;
	int fd, ret;

	if (same_fs && fstat(dirfd, &st) < 0)
		return -errno;
	fd = openat_nofollow(dirfd, name, flags);
	if (fd < 0 || !same_fs)
		return fd;
	ret = on_device(fd, st.st_dev);
	if (ret < 0) {
		close(fd);
		return ret;
	}
	return fd;
}

/*
 * Component by component, each from the descriptor of the one before: without ".." and without
 * symlinks nothing leads out of the root.
 */
int scr_step_openat(int dirfd, const char *path, int flags, bool same_fs)
{
	char name[NAME_MAX + 1];
	int at = dirfd;

	for (;;) {
		const char *slash = strchr(path, '/');
		size_t n = slash ? (size_t)(slash - path) : strlen(path);
		int fd;

		if (n > NAME_MAX) {
			fd = -ENAMETOOLONG;
		} else {
			memcpy(name, path, n);
			name[n] = '\0';
			fd = step_component(at, name, slash ? O_PATH | O_DIRECTORY : flags, same_fs);
		}
		if (at != dirfd)
			close(at);
		if (fd < 0 || !slash)
			return fd;
		at = fd;
		path = slash + 1;
	}
}

int scr_step(int dirfd, const char *path, int flags, bool same_fs)
{
	int fd = scr_step_openat2(dirfd, path, flags, same_fs);

	/* EPERM is what older sandboxes say to system calls that they don't know. EAGAIN: something
	 * was renamed meanwhile and the kernel could not be sure. */
	if (fd == -ENOSYS || fd == -EPERM || fd == -EAGAIN)
		return scr_step_openat(dirfd, path, flags, same_fs);
	return fd;
}

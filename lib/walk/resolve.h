/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Opening names below a root without ever leaving it. */
#ifndef SCR_WALK_RESOLVE_H
#define SCR_WALK_RESOLVE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

/*
 * Opens @path (relative, any length, beyond PATH_MAX too) beneath @rootfd for reading: no symlink
 * on any component, nothing outside of the root (openat2 RESOLVE_BENEATH|RESOLVE_NO_SYMLINKS, else
 * openat component by component with O_NOFOLLOW and a check of type, device and inode), O_NOATIME
 * where allowed, O_NONBLOCK, O_CLOEXEC, and only a regular file: *st is of the open descriptor.
 * With @same_fs, a file on another device than *st_dev of the root is -EXDEV.
 * Returns the descriptor; -ENOENT, -ENOTDIR, -ELOOP (a symlink now), -EINVAL (no regular file),
 * -errno. A FIFO or device node is never opened.
 */
int scr_open_beneath(int rootfd, const char *path, size_t len, bool same_fs, struct stat *st);

/* fstatat of @path without following symlinks, same rules, opens nothing. 0 or -errno. */
int scr_stat_beneath(int rootfd, const char *path, size_t len, struct stat *st);

#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the walk and the opening of single paths share, and what tests look at. */
#ifndef SCR_WALK_RESOLVE_INTERNAL_H
#define SCR_WALK_RESOLVE_INTERNAL_H

#include "walk/resolve.h"

/*
 * One step down: opens the relative @path (no ".", no "..", shorter than PATH_MAX) beneath @dirfd
 * with @flags and O_CLOEXEC, -ELOOP for a symlink on any component; with @same_fs, -EXDEV where a
 * file system is mounted. Returns the descriptor or -errno.
 */
typedef int (*scr_step_fn)(int dirfd, const char *path, int flags, bool same_fs);

int scr_step_openat2(int dirfd, const char *path, int flags, bool same_fs);
/* For kernels without openat2(2), and where a sandbox forbids it. */
int scr_step_openat(int dirfd, const char *path, int flags, bool same_fs);
/* The first, or the second where the first isn't there. */
int scr_step(int dirfd, const char *path, int flags, bool same_fs);

/* scr_open_beneath() and scr_stat_beneath() by the @step given. */
int scr_open_beneath_by(scr_step_fn step, int rootfd, const char *path, size_t len, bool same_fs,
			struct stat *st);
int scr_stat_beneath_by(scr_step_fn step, int rootfd, const char *path, size_t len,
			struct stat *st);

/* Descriptor (O_PATH) of directory @path, as scr_open_beneath(). @len 0: of the root itself. */
int scr_open_dir_beneath(int rootfd, const char *path, size_t len, bool same_fs);

/*
 * Whether @st, found beneath a directory on device @dir_dev, lies on another file system. Overlays
 * give files device numbers of their own, so there only a mount point on @fd or on @name in it
 * (NULL: @fd itself) counts.
 */
bool scr_other_fs(int fd, const char *name, const struct stat *st, dev_t dir_dev);

/*
 * Opens the regular file that @pathfd (O_PATH) stands for, for reading, without using its name
 * again; where /proc is not mounted, by @name in @dirfd, checked to be the same inode.
 * @st: of @pathfd.
 */
int scr_reopen_regular(int pathfd, int dirfd, const char *name, const struct stat *st);

/*
 * Opens @pathfd, which is open with O_PATH, for reading, if it is a regular file (and, with
 * @same_fs, on @root_dev): nothing else is opened, whatever it is. @dirfd and @name as above. *st
 * receives its state. The descriptor or -errno.
 */
int scr_open_checked(int pathfd, int dirfd, const char *name, bool same_fs, dev_t root_dev,
		     struct stat *st);

#endif

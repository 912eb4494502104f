/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Opening names below a root without ever leaving it. */
#ifndef SCR_WALK_RESOLVE_H
#define SCR_WALK_RESOLVE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

#include "base/buf.h"

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

/* A directory kept open for files that follow each other; zeros: none. One thread's. */
struct scr_opener {
	bool ready;             /* dirfd and what follows are of dir, below rootfd */
	int rootfd, dirfd;
	dev_t root_dev;
	bool same_fs, trusted;
	struct scr_buf dir;
};

/*
 * scr_open_beneath(), for many files of one directory: it stays open, and names are opened in it
 * until scr_opener_close(), which should come soon: a directory that is renamed meanwhile is not
 * noticed. Where only root and the effective user can put something else in a name's place, it is
 * looked at and then opened, else opened by way of O_PATH: no FIFO or device is ever opened.
 * *st is what was found under the name just before: what is read counts if fstat() of the descriptor
 * tells the same afterwards (scr_work_unchanged()).
 */
int scr_opener_open(struct scr_opener *o, int rootfd, const char *path, size_t len, bool same_fs,
		    struct stat *st);
/* Lets go of the directory; @o may be used again. */
void scr_opener_close(struct scr_opener *o);
void scr_opener_free(struct scr_opener *o);

/* fstatat of @path without following symlinks, same rules, opens nothing. 0 or -errno. */
int scr_stat_beneath(int rootfd, const char *path, size_t len, struct stat *st);

#endif

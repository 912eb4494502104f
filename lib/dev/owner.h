/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Whose bytes: from a range of a block device to file names, through a mounted file system.
 *
 *	scr_owners_open(mountpoint, ...)
 *	scr_owners_add(range) for every damaged range
 *	scr_owners_find(deadline, fn)     one answer or more a range, once, at the end of the pass
 *	scr_owners_close()
 *
 * ext4 and xfs by FS_IOC_GETFSMAP, which tells metadata, free space and on xfs with rmapbt the
 * inode; what it leaves open by one walk over the files, with FIEMAP. The walk is needed for names
 * too: a file opened by its number has no name unless somebody has used it lately. btrfs by the
 * chunk tree, the extent tree and LOGICAL_INO. All of it is for root.
 */
#ifndef SCR_DEV_OWNER_H
#define SCR_DEV_OWNER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum scr_owner_kind {
	SCR_OWNER_FILE,     /* path, and the offset in it */
	SCR_OWNER_FREE,     /* free space */
	SCR_OWNER_METADATA, /* of the file system: what tells which; path is set if it is of a file or
			     * directory */
	SCR_OWNER_UNKNOWN,  /* the time was over, or the file system can't tell */
};

struct scr_owner {
	uint64_t offset, length;  /* part of the range asked for, on the device */
	enum scr_owner_kind kind;
	const char *path;         /* relative to the mount point, bytes; else NULL */
	size_t path_len;
	uint64_t file_offset;     /* of a FILE: where in it this part begins; bytes */
	const char *what;         /* METADATA: "inodes", "the journal", ..., for people; else NULL */
};

struct scr_owners;

/* @device_offset: where the file system begins on the device asked about (a partition of a disk).
 * @dev: the device the file system is on, to be checked against the mount. 0; -ENOTSUP: another
 * kind of file system; -EXDEV: what is mounted there is not on this device; -errno. */
int scr_owners_open(const char *mountpoint, dev_t dev, uint64_t device_offset,
		    struct scr_owners **out);
/* 0, -ENOMEM; -EINVAL: it begins before the file system. */
int scr_owners_add(struct scr_owners *o, uint64_t offset, uint64_t length);
/* Calls @fn, in order of offset; a part that several files share once for each. It looks no longer
 * than until the monotonic time @deadline_ns (of scr_clock_system); what is not known by then is
 * UNKNOWN. 0 or -errno, and then @fn was not called. */
int scr_owners_find(struct scr_owners *o, int64_t deadline_ns,
		    void (*fn)(void *arg, const struct scr_owner *owner), void *arg);
void scr_owners_close(struct scr_owners *o);

#endif

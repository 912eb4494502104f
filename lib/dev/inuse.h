/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Whether the content of a block device may change while it is read. */
#ifndef SCR_DEV_INUSE_H
#define SCR_DEV_INUSE_H

#include <stdbool.h>
#include <sys/types.h>

enum scr_use_kind {
	SCR_USE_NONE,
	SCR_USE_MOUNTED,   /* read-write, it or a partition of it or something stacked on it */
	SCR_USE_SWAP,
	SCR_USE_MEMBER,    /* of an active md, dm, LVM or bcache device, or multi-device btrfs */
	SCR_USE_LOOP,      /* the whole disk is the backing store of a writable loop device */
	SCR_USE_EXCLUSIVE, /* O_EXCL is refused and nobody tells who holds it */
};

struct scr_use {
	enum scr_use_kind kind;
	char what[256];    /* for people: "/dev/sda2 is mounted read-write on /srv" */
	char way_out[256]; /* "umount /srv, or mount it read-only: mount -o remount,ro /srv" */
};

/* 1: in use, *out says how; 0: not; -errno. Looks at the device, its partitions, the disk it is a
 * partition of where that matters, and holders, recursively. A read-only mount is no use. In a
 * container what other namespaces have mounted shows by O_EXCL only. */
int scr_device_in_use(dev_t dev, struct scr_use *out);

/* Where the file system on @dev (or on a holder of it: LVM, LUKS) is mounted in this namespace,
 * read-only mounts too, malloc'd in *where; for btrfs any mount of a file system that has @dev as a
 * member. 0, -ENOENT, -errno. */
int scr_device_mountpoint(dev_t dev, char **where);

#endif

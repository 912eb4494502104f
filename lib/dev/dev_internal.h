/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The sources that the identity of a file system is put together from. */
#ifndef SCR_DEV_DEV_INTERNAL_H
#define SCR_DEV_DEV_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* One line of /proc/self/mountinfo. */
struct scr_mount {
	uint64_t id;
	dev_t dev;
	bool lazytime;
	bool read_only; /* the file system itself, whatever this mount of it */
	char type[32];
	char source[4096]; /* unescaped, as the next two */
	char root[4096];   /* what of the file system is mounted: "/" is all of it */
	char point[4096];
};

/* Takes @line apart; false if it is none. */
bool scr_mount_parse(const char *line, struct scr_mount *out);
/* The mount that @fd is on: by its mount id, else the last one of its device. 0 or -ENOENT, ... */
int scr_mount_of(int fd, struct scr_mount *out);

/* The name in /dev of block device @dev by sysfs. 0 or -errno. */
int scr_dev_name(dev_t dev, char *out, size_t size);
/* Whether block device @dev, its disk, or what it is stacked on rotates. @sys_dev_block: NULL for
 * /sys/dev/block. */
bool scr_dev_rotational(dev_t dev, const char *sys_dev_block);
/* The disk that the file behind loop device @dev is on, whose bit it has, whatever that is worth;
 * @dev if it is no loop device, or that can't be told. */
dev_t scr_dev_below_loop(dev_t dev, const char *sys_dev_block);

/* UUID of the file system of @fd, whose block device is @dev (0: none known); @btrfs: its type.
 * @out is empty if it can't be learned. */
void scr_dev_uuid(int fd, bool btrfs, dev_t dev, char *out, size_t size);
/* The btrfs subvolume of @fd: its id; @out is empty if it can't be learned. */
void scr_dev_subvol(int fd, char *out, size_t size);

#endif

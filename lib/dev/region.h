/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What lies where on a block device, and whether it was written: partitions, file systems, and the
 * evidence in their superblocks.
 *
 * Evidence is a number (a token) made of what a file system changes when it is written: ext2/3/4
 * write time, mount time and mount count; where the log of xfs ends; btrfs generation. It comes
 * only from a superblock whose own checksum is valid, or (without checksums) that agrees with a
 * backup copy, and only if the file system was unmounted in order. Two passes that see the same
 * token for the same file system know that it was not written in between, so that a block that
 * differs has rotted. What was read while the device was in use has no such evidence, whatever is
 * told here: data may reach the medium later than the superblock.
 */
#ifndef SCR_DEV_REGION_H
#define SCR_DEV_REGION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum scr_region_kind {
	SCR_REGION_BARE,  /* outside of any partition or file system: nobody writes here */
	SCR_REGION_TABLE, /* the partition table: MBR, GPT and its backup */
	SCR_REGION_FS,    /* a file system */
	SCR_REGION_STACK, /* member of md, LVM, LUKS, zfs, ...: content changes unseen */
	SCR_REGION_EMPTY, /* a partition without anything that libblkid knows */
};

struct scr_region {
	uint64_t offset, length;
	enum scr_region_kind kind;
	int partition;  /* number; 0: none */
	char type[32];  /* libblkid TYPE: "ext4", "LVM2_member", "swap"; or "gpt", "dos" */
	char uuid[64];  /* of the file system */
	char label[64]; /* escaped, for people */
	bool evidence;  /* token is valid */
	uint64_t token; /* 0 never is one */
	bool dirty;     /* no evidence, since a sound superblock or log says that the file system
			 * was not unmounted in order: written since it last had evidence */
	bool damaged;   /* a superblock or table here is wrong, gone but for its backup, or
			 * unreadable: what is told may not be what was there before, and no
			 * change of it means that somebody wrote */
};

/* The regions of the device or image of @size bytes that @fd is open on (without O_DIRECT): sorted,
 * disjoint, covering all of it; malloc'd, NULL for a size of 0. @logical: sector size, bytes. 0,
 * -ENOMEM, -EIO: not even tried. A damaged primary superblock or table gives a region without
 * evidence, never an error. */
int scr_regions_probe(int fd, uint64_t size, uint32_t logical, struct scr_region **out,
		      size_t *count);

/* The region that @offset lies in; NULL beyond the end. */
const struct scr_region *scr_region_at(const struct scr_region *list, size_t count,
				       uint64_t offset);

/* For people: "partition 2 (ext4 'data')", "the primary GPT", "outside of the partitions". */
void scr_region_describe(const struct scr_region *r, char *out, size_t size);

#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A mounted btrfs that is asked for owners. */
#ifndef SCR_DEV_OWNER_BTRFS_H
#define SCR_DEV_OWNER_BTRFS_H

#include <linux/btrfs.h>

#include "dev/owner_chunk.h"
#include "dev/owner_internal.h"

#define SCR_BTRFS_SEARCH (64 << 10) /* bytes for items */
#define SCR_BTRFS_INODES (64 << 10) /* bytes for inodes */

struct scr_btrfs {
	int fd;
	uint64_t sector, node;      /* bytes */
	uint64_t subvol;            /* that the mount point shows */
	struct scr_stripe *stripes; /* on the device, by place */
	size_t count, cap;
	struct btrfs_ioctl_search_args_v2 *search;
	struct btrfs_data_container *inodes;
};

typedef int (*scr_btrfs_item_fn)(void *arg, const struct btrfs_ioctl_search_header *h,
				 const uint8_t *item);

/* Calls @fn for the items of tree @key->tree_id from the minimum to the maximum of @key, until it
 * returns something else than 0. 0, that, or -errno. */
int scr_btrfs_items(struct scr_btrfs *b, const struct btrfs_ioctl_search_key *key,
		    scr_btrfs_item_fn fn, void *arg);

/* Adds the files that have sector @p, which is data at @logical. 0 or -errno. */
int scr_btrfs_files(struct scr_btrfs *b, const struct scr_piece *p, uint64_t logical,
		    struct scr_pieces *out);

#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Parts of ranges and what is known of them. Offsets here count from where the file system
 * begins. */
#ifndef SCR_DEV_OWNER_INTERNAL_H
#define SCR_DEV_OWNER_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dev/owner.h"

struct scr_piece {
	uint64_t offset, length;
	enum scr_owner_kind kind;
	bool pending;        /* allocated, to whom a walk may tell */
	uint64_t ino;        /* whose path the walk is to find; 0: none */
	uint64_t file_offset;
	char *path;          /* owned, or NULL */
	size_t path_len;
	const char *what;
};

/* Zero-initialised is empty. */
struct scr_pieces {
	struct scr_piece *list;
	size_t count, cap;
};

/* Appends @p, whose path becomes the list's, also on failure. 0 or -ENOMEM. */
int scr_owner_pieces_add(struct scr_pieces *l, const struct scr_piece *p);
/* By offset, then by path. */
void scr_pieces_sort(struct scr_pieces *l);
void scr_pieces_free(struct scr_pieces *l);

struct scr_btrfs;

struct scr_owners {
	int fd;              /* of the mount point */
	dev_t dev;
	uint64_t base;       /* where the file system begins on the device */
	struct scr_pieces ranges; /* asked for */
	struct scr_btrfs *btrfs;  /* NULL: ext4 or xfs */
};

/* Whether the time is over. */
bool scr_owner_late(int64_t deadline_ns);

/* Appends what GETFSMAP knows of [@offset, @offset + @length). 0 or -errno. */
int scr_fsmap_ask(int fd, dev_t dev, uint64_t offset, uint64_t length, struct scr_pieces *out);

/*
 * Goes over the files at @fd. Finds the paths of the inodes of @pieces, and replaces what is
 * pending in it by what files say. @pieces is sorted. 0 or -ENOMEM, ...
 */
int scr_owner_walk(int fd, int64_t deadline_ns, struct scr_pieces *pieces);

/* Reads the chunks of the btrfs at @fd that lie on @dev. 0; -EXDEV: it isn't one of its devices;
 * -errno. */
int scr_btrfs_open(int fd, dev_t dev, struct scr_btrfs **out);
int scr_btrfs_ask(struct scr_btrfs *b, uint64_t offset, uint64_t length, int64_t deadline_ns,
		  struct scr_pieces *out);
void scr_btrfs_close(struct scr_btrfs *b);

#endif

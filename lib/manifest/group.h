/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* One group of the container: its head, checks and parity over its own bytes. Pure.
 *
 * The data of a group are folded by the code that folds files: an extent with 16 columns, unit and
 * block 4096.
 */
#ifndef SCR_MANIFEST_GROUP_H
#define SCR_MANIFEST_GROUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernels/kernel.h"
#include "manifest/format.h"

struct scr_group_head {
	uint64_t number, writing, generation;
	uint64_t trailer;      /* last group: where the TRAILER begins in the stream */
	uint32_t used;         /* bytes of the stream */
	uint32_t data, parity; /* bytes on disk */
	bool last;
};

/* Units of one group, head and tail included: at most this many. */
#define SCR_GROUP_UNITS (SCR_GROUP_BLOCKS + 2)

/* What opening a group had to do. */
struct scr_group_repair {
	bool any;
	uint32_t blocks;       /* data blocks rebuilt */
	uint32_t first;        /* offset in the group of the first damage; valid if any */
};

/* The size on disk of a group with @used bytes of the stream. */
size_t scr_group_size(uint32_t used);

/* Completes the group at @group, whose stream bytes stand behind the head: fills up, parity,
 * checks, head, tail. number, writing, generation, trailer, used and last of @h count. */
void scr_group_seal(const struct scr_kernels *k, struct scr_group_head *h, uint8_t *group);

/*
 * Checks the group of @size bytes at @group and repairs its data in place. @unreadable[i]: unit i
 * could not be read. Returns 0 with *h and *repair, or -EBADMSG.
 */
int scr_group_open(const struct scr_kernels *k, uint8_t *group, size_t size,
		   const bool *unreadable, struct scr_group_head *h,
		   struct scr_group_repair *repair);

#endif

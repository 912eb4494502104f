/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The chunks of a btrfs: from bytes of a device to its logical addresses. Pure. */
#ifndef SCR_DEV_OWNER_CHUNK_H
#define SCR_DEV_OWNER_CHUNK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One stripe of a chunk that lies on the device. */
struct scr_stripe {
	uint64_t physical, length; /* on the device; bytes */
	uint64_t logical;          /* of the chunk */
	uint64_t type;             /* BTRFS_BLOCK_GROUP_... of the chunk */
	uint64_t unit;             /* bytes that lie together: stripe_len */
	uint32_t index, count;     /* which stripe of how many */
	uint32_t sub;              /* copies in raid10 */
};

/* Fills @out, with length, by the item of @len bytes of a chunk at @logical, for its stripe @index.
 * False: the item makes no sense. */
bool scr_stripe_parse(const uint8_t *item, size_t len, uint64_t logical, uint32_t index,
		      struct scr_stripe *out, uint64_t *devid);
/* Stripes of a chunk item; 0: it makes no sense. */
uint32_t scr_stripe_count(const uint8_t *item, size_t len);

/* The logical address of the byte @at into @s, and in *run how many bytes go on from there. False:
 * parity. */
bool scr_stripe_logical(const struct scr_stripe *s, uint64_t at, uint64_t *logical, uint64_t *run);

#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The chunks of a btrfs. Layout: include/uapi/linux/btrfs_tree.h in Linux. */
#include <config.h>
#include "dev/owner_chunk.h"

#include <linux/btrfs.h>
#include <linux/btrfs_tree.h>

#include "base/compiler.h"
#include "base/endian.h"

/* Of struct btrfs_chunk. */
#define LENGTH 0
#define STRIPE_LEN 16
#define TYPE 24
#define NUM_STRIPES 44
#define SUB_STRIPES 46
#define STRIPES 48
#define STRIPE_SIZE 32

uint32_t scr_stripe_count(const uint8_t *item, size_t len)
{
	uint32_t n;

	if (len < STRIPES)
		return 0;
	n = scr_get_le16(item + NUM_STRIPES);
	return n <= (len - STRIPES) / STRIPE_SIZE ? n : 0;
}

/* Parity stripes of @s. */
static uint32_t parities(const struct scr_stripe *s)
{
	return s->type & BTRFS_BLOCK_GROUP_RAID6 ? 2 : s->type & BTRFS_BLOCK_GROUP_RAID5 ? 1 : 0;
}

/* Stripes that hold different data. 0: that can't be. */
static uint32_t spread(const struct scr_stripe *s)
{
	if (s->type & BTRFS_BLOCK_GROUP_RAID0)
		return s->count;
	if (s->type & BTRFS_BLOCK_GROUP_RAID10)
		return s->sub ? s->count / s->sub : 0;
	if (s->type & BTRFS_BLOCK_GROUP_RAID56_MASK)
		return s->count > parities(s) ? s->count - parities(s) : 0;
	return 1;
}

bool scr_stripe_parse(const uint8_t *item, size_t len, uint64_t logical, uint32_t index,
		      struct scr_stripe *out, uint64_t *devid)
{
	struct scr_stripe s = {.logical = logical, .index = index};
	const uint8_t *stripe = item + STRIPES + (size_t)index * STRIPE_SIZE;

	s.count = scr_stripe_count(item, len);
	if (index >= s.count)
		return false;
	s.type = scr_get_le64(item + TYPE);
	s.unit = scr_get_le64(item + STRIPE_LEN);
	s.sub = scr_get_le16(item + SUB_STRIPES);
	s.physical = scr_get_le64(stripe + 8);
	*devid = scr_get_le64(stripe);
	if (s.unit == 0 || spread(&s) == 0)
		return false;
	s.length = scr_get_le64(item + LENGTH) / spread(&s);
	*out = s;
	return true;
}

bool scr_stripe_logical(const struct scr_stripe *s, uint64_t at, uint64_t *logical, uint64_t *run)
{
	uint64_t row = at / s->unit, in = at % s->unit;
	uint32_t n = spread(s), column;

	if (n == 1) {
		*logical = s->logical + at;
		*run = s->length - at;
		return true;
	}
	*run = SCR_MIN(s->unit - in, s->length - at);
	if (s->type & BTRFS_BLOCK_GROUP_RAID56_MASK) {
		/* Data and parity turn by one stripe each row. */
		column = (uint32_t)((s->index + s->count - row % s->count) % s->count);
		if (column >= n)
			return false;
	} else {
		column = s->type & BTRFS_BLOCK_GROUP_RAID10 ? s->index / s->sub : s->index;
	}
	*logical = s->logical + (row * n + column) * s->unit + in;
	return true;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Evidence of btrfs: the generation, which every commit increments. While there is a log tree,
 * which fsync writes between commits, it was not unmounted, and there is none.
 *
 * The superblock of 4096 bytes lies at 64 KiB, with copies at 64 MiB and 256 GiB. It begins with a
 * checksum of the rest. Kinds of checksum other than CRC-32C are not computed here: then a copy
 * that is equal from the flags on does instead (only checksum and position differ in it).
 * Source: include/uapi/linux/btrfs_tree.h in Linux.
 */
#include <config.h>
#include "dev/region_internal.h"

#include <stdio.h>
#include <string.h>

#include "base/endian.h"

#define SB_SIZE 4096
#define PRIMARY (UINT64_C(64) << 10)
#define MIRROR (UINT64_C(64) << 20)

#define FSID 32
#define BYTENR 48
#define FLAGS 56
#define MAGIC 64
#define GENERATION 72
#define LOG_ROOT 96
#define CSUM_TYPE 196

static bool read_super(const struct scr_place *p, uint64_t at, uint8_t *sb)
{
	return scr_place_read(p, at, sb, SB_SIZE) && memcmp(sb + MAGIC, "_BHRfS_M", 8) == 0 &&
	       scr_get_le64(sb + BYTENR) == at;
}

static bool checksum_right(const uint8_t *sb)
{
	return scr_get_le16(sb + CSUM_TYPE) == 0 &&
	       ~scr_crc32c(~0u, sb + FSID, SB_SIZE - FSID) == scr_get_le32(sb);
}

static bool mirrored(const struct scr_place *p, const uint8_t *sb)
{
	uint8_t copy[SB_SIZE];

	return scr_get_le16(sb + CSUM_TYPE) != 0 && read_super(p, MIRROR, copy) &&
	       memcmp(sb + FSID, copy + FSID, 16) == 0 &&
	       memcmp(sb + FLAGS, copy + FLAGS, SB_SIZE - FLAGS) == 0;
}

bool scr_evidence_btrfs(const struct scr_place *p, struct scr_region *r)
{
	uint8_t sb[SB_SIZE];
	bool right;
	uint64_t t;

	if (!read_super(p, PRIMARY, sb)) {
		r->damaged = true;
		return false;
	}
	right = checksum_right(sb);
	r->damaged |= !right && scr_get_le16(sb + CSUM_TYPE) == 0;
	if (!right && !mirrored(p, sb))
		return false;
	r->dirty = scr_get_le64(sb + LOG_ROOT) != 0;
	if (r->dirty)
		return false;
	t = scr_token_mix_bytes(0, sb + FSID, 16);
	r->token = scr_token_mix(t, scr_get_le64(sb + GENERATION));
	return true;
}

bool scr_backup_btrfs(const struct scr_place *p, struct scr_region *out)
{
	uint8_t sb[SB_SIZE];
	char *to = out->uuid;

	if (!read_super(p, MIRROR, sb) || !checksum_right(sb))
		return false;
	out->kind = SCR_REGION_FS;
	out->damaged = true;
	strcpy(out->type, "btrfs");
	for (unsigned int i = 0; i < 16; i++)
		to += sprintf(to, "%s%02x", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "",
			      sb[FSID + i]);
	return true;
}

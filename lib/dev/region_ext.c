/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Evidence of ext2, ext3 and ext4.
 *
 * The superblock lies at byte 1024 (Documentation/filesystems/ext4/super.rst in Linux). Mounting
 * for writing, checking and every tool that changes the file system write it; a read-only mount of
 * a clean one doesn't. With metadata_csum it ends in a CRC-32C of its first 1020 bytes.
 *
 * Without, nothing covers the times. Then a superblock counts that agrees in all that never
 * changes with its backup in block group 1, and whose times are in order. That leaves a flip in one
 * of the 24 bytes that the token is made of: it would make a file system look written, and hide rot
 * elsewhere if there is any at the same time; two accidents, the one in 24 bytes. A superblock
 * overwritten, shifted or torn is found out.
 *
 * One that was not unmounted is no evidence: it looks the same from the moment of mounting on.
 */
#include <config.h>
#include "dev/region_internal.h"

#include <stdio.h>
#include <string.h>

#include "base/compiler.h"
#include "base/endian.h"

#define SB_AT 1024
#define SB_SIZE 1024

/* Offsets in the superblock. */
#define INODES_COUNT 0x00
#define BLOCKS_COUNT 0x04
#define FIRST_DATA_BLOCK 0x14
#define LOG_BLOCK_SIZE 0x18
#define BLOCKS_PER_GROUP 0x20
#define INODES_PER_GROUP 0x28
#define MTIME 0x2c
#define WTIME 0x30
#define MNT_COUNT 0x34
#define MAGIC 0x38
#define STATE 0x3a
#define LASTCHECK 0x40
#define CREATOR_OS 0x48
#define REV_LEVEL 0x4c
#define FIRST_INO 0x54
#define INODE_SIZE 0x58
#define FEATURE_COMPAT 0x5c
#define FEATURE_INCOMPAT 0x60
#define FEATURE_RO_COMPAT 0x64
#define UUID 0x68
#define MKFS_TIME 0x108
#define BLOCKS_COUNT_HI 0x150
#define KBYTES_WRITTEN 0x178
#define BACKUP_GROUPS 0x24c
#define TIMES_HI 0x274 /* four bytes: of wtime, mtime, mkfs time, lastcheck */
#define CHECKSUM 0x3fc

#define EXT_MAGIC 0xef53
#define STATE_CLEAN 0x1
#define INCOMPAT_RECOVER 0x4
#define COMPAT_HAS_JOURNAL 0x4
#define COMPAT_SPARSE_SUPER2 0x200
#define RO_COMPAT_METADATA_CSUM 0x400

static bool checksum_right(const uint8_t *sb)
{
	return scr_crc32c(~0u, sb, CHECKSUM) == scr_get_le32(sb + CHECKSUM);
}

/* Where the first backup lies: in group 1, unless sparse_super2 put it elsewhere. 0: nowhere. */
static uint64_t backup_at(const uint8_t *sb)
{
	uint64_t group = 1;
	uint32_t log = scr_get_le32(sb + LOG_BLOCK_SIZE);

	if (scr_get_le32(sb + FEATURE_COMPAT) & COMPAT_SPARSE_SUPER2)
		group = scr_get_le32(sb + BACKUP_GROUPS);
	/* Group 0 has the superblock itself, with which it always agrees. */
	if (log > 6 || group == 0)
		return 0;
	return group * scr_get_le32(sb + BLOCKS_PER_GROUP) * (UINT64_C(1024) << log) +
	       (uint64_t)scr_get_le32(sb + FIRST_DATA_BLOCK) * (UINT64_C(1024) << log);
}

static bool same(const uint8_t *a, const uint8_t *b, size_t at, size_t len)
{
	return memcmp(a + at, b + at, len) == 0;
}

/* What only resizing and tuning change, and they change it in the backups too. */
static bool agrees_with(const uint8_t *sb, const uint8_t *backup)
{
	static const uint16_t words[] = {INODES_COUNT,    BLOCKS_COUNT,     FIRST_DATA_BLOCK,
					 LOG_BLOCK_SIZE,  BLOCKS_PER_GROUP, INODES_PER_GROUP,
					 CREATOR_OS,      REV_LEVEL,        FIRST_INO,
					 BLOCKS_COUNT_HI, MKFS_TIME};

	for (size_t i = 0; i < SCR_ARRAY_SIZE(words); i++)
		if (!same(sb, backup, words[i], 4))
			return false;
	return same(sb, backup, MAGIC, 2) && same(sb, backup, INODE_SIZE, 2) &&
	       same(sb, backup, UUID, 16);
}

static bool times_in_order(const uint8_t *sb)
{
	uint32_t made = scr_get_le32(sb + MKFS_TIME), mounted = scr_get_le32(sb + MTIME);
	uint32_t written = scr_get_le32(sb + WTIME), checked = scr_get_le32(sb + LASTCHECK);

	return made <= written && mounted <= written && checked <= written &&
	       (mounted == 0 || made <= mounted);
}

static bool unmounted(const uint8_t *sb)
{
	return (scr_get_le16(sb + STATE) & STATE_CLEAN) &&
	       !(scr_get_le32(sb + FEATURE_INCOMPAT) & INCOMPAT_RECOVER);
}

/* Whether nothing speaks against @sb; if it is wrong, r->damaged is set too. */
static bool is_sound(const struct scr_place *p, const uint8_t *sb, struct scr_region *r)
{
	uint8_t backup[SB_SIZE];
	uint64_t at;

	if (scr_get_le32(sb + FEATURE_RO_COMPAT) & RO_COMPAT_METADATA_CSUM) {
		r->damaged |= !checksum_right(sb);
		return checksum_right(sb);
	}
	at = backup_at(sb);
	if (!at || !scr_place_read(p, at, backup, sizeof(backup)))
		return false;
	r->damaged |= !agrees_with(sb, backup);
	return agrees_with(sb, backup) && times_in_order(sb);
}

bool scr_evidence_ext(const struct scr_place *p, struct scr_region *r)
{
	uint8_t sb[SB_SIZE];
	uint64_t t;

	if (!scr_place_read(p, SB_AT, sb, sizeof(sb)) || scr_get_le16(sb + MAGIC) != EXT_MAGIC)
		return false;
	if (!is_sound(p, sb, r))
		return false;
	r->dirty = !unmounted(sb);
	if (r->dirty)
		return false;
	t = scr_token_mix_bytes(0, sb + UUID, 16);
	t = scr_token_mix(t, scr_get_le32(sb + WTIME));
	t = scr_token_mix(t, scr_get_le32(sb + MTIME));
	t = scr_token_mix(t, scr_get_le32(sb + LASTCHECK));
	t = scr_token_mix(t, scr_get_le32(sb + TIMES_HI));
	t = scr_token_mix(t, scr_get_le16(sb + MNT_COUNT));
	t = scr_token_mix(t, scr_get_le16(sb + STATE));
	r->token = scr_token_mix(t, scr_get_le64(sb + KBYTES_WRITTEN));
	return true;
}

static void uuid_text(const uint8_t *u, char *out)
{
	for (unsigned int i = 0; i < 16; i++)
		out += sprintf(out, "%s%02x", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "",
			       u[i]);
}

bool scr_backup_ext(const struct scr_place *p, struct scr_region *out)
{
	uint8_t sb[SB_SIZE];

	/* Block group 1 for blocks of 1, 2 and 4 KiB, with as many in a group as fit a bitmap. */
	for (uint32_t log = 0; log <= 2; log++) {
		uint64_t block = UINT64_C(1024) << log;
		uint64_t at = block * 8 * block + (log == 0 ? block : 0);

		if (!scr_place_read(p, at, sb, sizeof(sb)) ||
		    scr_get_le16(sb + MAGIC) != EXT_MAGIC ||
		    scr_get_le32(sb + LOG_BLOCK_SIZE) != log || backup_at(sb) != at)
			continue;
		out->kind = SCR_REGION_FS;
		out->damaged = true;
		if (scr_get_le32(sb + FEATURE_RO_COMPAT) & RO_COMPAT_METADATA_CSUM)
			strcpy(out->type, "ext4");
		else
			strcpy(out->type, scr_get_le32(sb + FEATURE_COMPAT) & COMPAT_HAS_JOURNAL
						  ? "ext3"
						  : "ext2");
		uuid_text(sb + UUID, out->uuid);
		return true;
	}
	return false;
}

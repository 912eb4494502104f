/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Evidence of xfs: where its log ends.
 *
 * Counters and times in the superblock of xfs are kept lazily. But every change goes through the
 * log, and every mount for writing ends with a record of its own, so the end of the log moves: a
 * pair of cycle and block that never comes back. Each sector of the log begins with the number of
 * the cycle that wrote it (the record header with a magic number, and then the cycle): from sector
 * 0 to the end it is that of the current cycle, behind it that of the one before. The end is found
 * by halving, and counts only if a record header of this file system says that its record ends
 * exactly there and that it lies where it lies, and if the sectors behind are of the cycle before:
 * a flipped cycle number can't move the end. That record must be the one that unmounting writes;
 * else the file system may be in use, and data that is written in place later need not move the
 * end. A read-only mount writes to the log too, and moves the end, unless the device is read-only
 * or norecovery is given. Sources: fs/xfs/libxfs/xfs_log_format.h, xfs_format.h in Linux.
 */
#include <config.h>
#include "dev/region_internal.h"

#include <string.h>

#include "base/compiler.h"
#include "base/endian.h"

#define SECTOR 512
#define RECORD_MAGIC 0xfeedbabe
/* The longest record that xfs writes is 256 KiB, and headers for it. */
#define RECORD_SECTORS 640
/* Sectors behind the end that are looked at: more than one flip would have to agree. */
#define BEHIND 16
/* What the checksum of a record covers of its first header, and of each other one. */
#define HEADER_SIZE 328
#define MORE_HEADER_SIZE 260

struct log {
	const struct scr_place *p;
	uint64_t at; /* of the log, bytes in the place */
	uint32_t sectors;
	const uint8_t *uuid; /* of the file system */
};

static uint32_t get_be32(const uint8_t *p)
{
	return (uint32_t)scr_get_be16(p) << 16 | scr_get_be16(p + 2);
}

static uint64_t get_be64(const uint8_t *p)
{
	return (uint64_t)get_be32(p) << 32 | get_be32(p + 4);
}

static bool read_sector(const struct log *l, uint32_t i, uint8_t *out)
{
	return scr_place_read(l->p, l->at + (uint64_t)i * SECTOR, out, SECTOR);
}

/* The cycle that wrote sector @i. */
static bool cycle_of(const struct log *l, uint32_t i, uint32_t *cycle)
{
	uint8_t sector[SECTOR];

	if (!read_sector(l, i, sector))
		return false;
	*cycle = get_be32(sector);
	if (*cycle == RECORD_MAGIC)
		*cycle = get_be32(sector + 4);
	return true;
}

/* The first sector that is not of the cycle of sector 0; all of them: 0, of the next cycle. */
static bool find_end(const struct log *l, uint32_t *cycle, uint32_t *end)
{
	uint32_t low = 1, high = l->sectors, c;

	if (!cycle_of(l, 0, cycle) || *cycle == 0)
		return false;
	while (low < high) {
		uint32_t mid = low + (high - low) / 2;

		if (!cycle_of(l, mid, &c))
			return false;
		if (c == *cycle)
			low = mid + 1;
		else
			high = mid;
	}
	*end = low;
	return true;
}

/* Whether the sectors behind the end are of the cycle before; in the first one, unwritten. */
static bool old_behind(const struct log *l, uint32_t cycle, uint32_t end)
{
	uint32_t last = SCR_MIN(l->sectors, end + BEHIND), c;

	for (uint32_t i = end; i < last; i++)
		if (!cycle_of(l, i, &c) || (c != cycle - 1 && !(cycle == 1 && c == 0)))
			return false;
	return true;
}

/* Sectors of the record whose header is @h, headers included; 0: it is none of this log at @i. */
static uint32_t record_length(const struct log *l, const uint8_t *h, uint32_t i, uint32_t cycle,
			      uint32_t *headers)
{
	uint32_t len = get_be32(h + 12), size = get_be32(h + 320);

	if (get_be32(h) != RECORD_MAGIC || get_be32(h + 4) != cycle ||
	    get_be64(h + 16) != ((uint64_t)cycle << 32 | i) || memcmp(h + 304, l->uuid, 16) != 0)
		return 0;
	/* A header for each 32 KiB of the buffer size, in version 2 of the log. */
	*headers = get_be32(h + 8) & 2 && size > 32768 ? (size + 32767) / 32768 : 1;
	if (len > 512 * 1024 || *headers > 64)
		return 0;
	return *headers + (len + SECTOR - 1) / SECTOR;
}

/* Whether the record of header @h holds nothing but the operation by which unmounting is told;
 * @data: the sector behind its headers. Offsets in an operation: client 8, flags 9. */
static bool tells_unmount(const struct log *l, const uint8_t *h, uint32_t data)
{
	uint8_t op[SECTOR];

	return get_be32(h + 40) == 1 && read_sector(l, data, op) && op[8] == 0xaa && (op[9] & 0x20);
}

/* Whether the checksum of the record at sector @i is right: a CRC-32C of the header, without
 * itself, of the headers behind it, and of the data as it is on the disk. */
static bool record_sound(const struct log *l, uint32_t i, uint32_t headers, uint32_t sectors)
{
	uint8_t s[SECTOR];
	uint32_t crc = ~0u, right = 0, left = 0;

	for (uint32_t n = 0; n < sectors; n++) {
		if (!read_sector(l, (i + n) % l->sectors, s))
			return false;
		if (n == 0) {
			right = scr_get_le32(s + 32);
			left = get_be32(s + 12);
			memset(s + 32, 0, 4);
			crc = scr_crc32c(crc, s, HEADER_SIZE);
		} else if (n < headers) {
			crc = scr_crc32c(crc, s, MORE_HEADER_SIZE);
		} else {
			crc = scr_crc32c(crc, s, SCR_MIN(left, (uint32_t)SECTOR));
			left -= SCR_MIN(left, (uint32_t)SECTOR);
		}
	}
	return ~crc == right;
}

/* Looks backwards from the end, round the corner too, for the record that ends there; whether
 * unmounting wrote it. *dirty: something else did, for certain. */
static bool unmounted_at(const struct log *l, uint32_t cycle, uint32_t end, bool *dirty)
{
	uint8_t h[SECTOR];

	for (uint32_t back = 1; back <= SCR_MIN(RECORD_SECTORS, l->sectors - 1); back++) {
		bool before = back > end;
		uint32_t i = before ? end + l->sectors - back : end - back;
		uint32_t headers, len;

		if (!read_sector(l, i, h))
			return false;
		len = record_length(l, h, i, before ? cycle - 1 : cycle, &headers);
		if (len) {
			if (len != back)
				return false;
			if (tells_unmount(l, h, (i + headers) % l->sectors))
				return true;
			*dirty = record_sound(l, i, headers, len);
			return false;
		}
	}
	return false;
}

/* Describes the log by superblock @sb, whose checksum is right. False: it lies elsewhere. */
static bool find_log(const struct scr_place *p, const uint8_t *sb, struct log *l)
{
	uint64_t start = get_be64(sb + 48), block = get_be32(sb + 4);
	uint64_t blocks = get_be32(sb + 96), sectors = blocks * block / SECTOR;
	uint8_t log2 = sb[124];

	if (start == 0 || log2 == 0 || log2 > 31 || sectors < 2 || sectors > UINT32_MAX)
		return false;
	/* Group of blocks, and block in it. */
	start = (start >> log2) * get_be32(sb + 84) + (start & ((UINT64_C(1) << log2) - 1));
	if (start > p->length / block)
		return false;
	*l = (struct log){p, start * block, (uint32_t)sectors, sb + 32};
	return true;
}

/* Version 5, which has a checksum of the whole sector. */
static bool read_superblock(const struct scr_place *p, uint8_t *sb, size_t size, bool *damaged)
{
	static const uint8_t zero[4];
	bool was = *damaged; /* as libblkid found it */
	uint32_t crc, sector;

	if (!scr_place_read(p, 0, sb, SECTOR) || memcmp(sb, "XFSB", 4) != 0)
		return false;
	if ((scr_get_be16(sb + 100) & 0xf) == 4)
		return false;
	sector = scr_get_be16(sb + 102);
	*damaged = true;
	if ((scr_get_be16(sb + 100) & 0xf) != 5 || sector < SECTOR || sector > size ||
	    !scr_place_read(p, 0, sb, sector))
		return false;
	crc = scr_crc32c(~0u, sb, 224);
	crc = scr_crc32c(crc, zero, 4);
	crc = scr_crc32c(crc, sb + 228, sector - 228);
	if (~crc != scr_get_le32(sb + 224))
		return false;
	*damaged = was;
	return true;
}

bool scr_evidence_xfs(const struct scr_place *p, struct scr_region *r)
{
	uint8_t sb[32768];
	uint32_t cycle, end;
	struct log l;
	uint64_t t;

	if (!read_superblock(p, sb, sizeof(sb), &r->damaged) || !find_log(p, sb, &l) ||
	    !find_end(&l, &cycle, &end) || !old_behind(&l, cycle, end) ||
	    !unmounted_at(&l, cycle, end, &r->dirty))
		return false;
	t = scr_token_mix_bytes(0, l.uuid, 16);
	r->token = scr_token_mix(t, (uint64_t)cycle << 32 | end);
	return true;
}

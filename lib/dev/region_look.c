/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What lies in one partition, by libblkid and by its superblock. */
#include <config.h>
#include "dev/region_internal.h"

#include <blkid/blkid.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/compiler.h"

bool scr_place_read(const struct scr_place *p, uint64_t at, void *out, size_t len)
{
	size_t done = 0;

	if (at > p->length || len > p->length - at)
		return false;
	while (done < len) {
		ssize_t n = pread(p->fd, (char *)out + done, len - done,
				  (off_t)(p->offset + at + done));

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		done += (size_t)n;
	}
	return true;
}

/* Bit by bit is fast enough for a few kilobytes. 0x82f63b78: Castagnoli's polynomial, reflected. */
uint32_t scr_crc32c(uint32_t crc, const void *data, size_t len)
{
	const uint8_t *p = data;

	while (len--) {
		crc ^= *p++;
		for (int i = 0; i < 8; i++)
			crc = crc >> 1 ^ (crc & 1 ? 0x82f63b78 : 0);
	}
	return crc;
}

/* One round of splitmix64 over the sum: every bit of @value moves half of the token's. */
uint64_t scr_token_mix(uint64_t token, uint64_t value)
{
	uint64_t z = (token ^ value) + UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	z ^= z >> 31;
	return z ? z : 1;
}

uint64_t scr_token_mix_bytes(uint64_t token, const uint8_t *p, size_t len)
{
	while (len--)
		token = scr_token_mix(token, *p++);
	return token;
}

static const char *value(blkid_probe probe, const char *key)
{
	const char *text;

	return blkid_probe_lookup_value(probe, key, &text, NULL) == 0 ? text : "";
}

/* Of a label, what can be printed; the rest as \xNN. */
static void escape_label(const char *label, char *out, size_t size)
{
	size_t n = 0;

	for (const char *p = label; *p; p++) {
		unsigned char c = (unsigned char)*p;
		bool plain = c >= ' ' && c < 0x7f && c != '\\';

		if (n + (plain ? 1 : 4) >= size)
			break;
		n += (size_t)(plain ? snprintf(out + n, size - n, "%c", c)
				    : snprintf(out + n, size - n, "\\x%02x", c));
	}
	out[n] = '\0';
}

static bool is_stack(const char *usage, const char *type)
{
	return strcmp(usage, "raid") == 0 || strcmp(usage, "crypto") == 0 ||
	       strcmp(type, "zfs_member") == 0;
}

static void take_names(blkid_probe probe, struct scr_region *r)
{
	const char *type = value(probe, "TYPE");

	if (!type[0])
		return;
	r->kind = is_stack(value(probe, "USAGE"), type) ? SCR_REGION_STACK : SCR_REGION_FS;
	snprintf(r->type, sizeof(r->type), "%s", type);
	snprintf(r->uuid, sizeof(r->uuid), "%s", value(probe, "UUID"));
	r->damaged |= value(probe, "SBBADCSUM")[0] == '1';
	escape_label(value(probe, "LABEL"), r->label, sizeof(r->label));
}

static bool find_evidence(const struct scr_place *p, struct scr_region *r)
{
	static const struct {
		const char *type;
		bool (*find)(const struct scr_place *p, struct scr_region *r);
	} kinds[] = {
		{"ext2", scr_evidence_ext},    {"ext3", scr_evidence_ext},
		{"ext4", scr_evidence_ext},    {"xfs", scr_evidence_xfs},
		{"btrfs", scr_evidence_btrfs},
	};
	bool found = false;

	for (size_t i = 0; i < SCR_ARRAY_SIZE(kinds); i++)
		if (strcmp(kinds[i].type, r->type) == 0)
			found = kinds[i].find(p, r);
	return found;
}

/* Whether what most kinds have at their beginning can be read: all that libblkid finds but for the
 * rare ones that have it at the end. */
static bool readable(const struct scr_place *p)
{
	uint8_t head[4096];
	static const uint64_t places[] = {0, UINT64_C(64) << 10};

	for (size_t i = 0; i < SCR_ARRAY_SIZE(places); i++)
		if (places[i] < p->length &&
		    !scr_place_read(p, places[i], head,
				    SCR_MIN(sizeof(head), p->length - places[i])))
			return false;
	return true;
}

int scr_region_look(int fd, uint32_t logical, struct scr_region *r)
{
	const struct scr_place place = {fd, r->offset, r->length};
	blkid_probe probe = blkid_new_probe();

	if (!probe)
		return -ENOMEM;
	blkid_probe_enable_superblocks(probe, 1);
	/* One with a wrong checksum is still seen to be there, but is no evidence. */
	blkid_probe_set_superblocks_flags(probe, BLKID_SUBLKS_TYPE | BLKID_SUBLKS_UUID |
							 BLKID_SUBLKS_LABEL | BLKID_SUBLKS_USAGE |
							 BLKID_SUBLKS_BADCSUM);
	if (blkid_probe_set_device(probe, fd, (blkid_loff_t)r->offset, (blkid_loff_t)r->length) ==
	    0) {
		blkid_probe_set_sectorsize(probe, logical);
		if (blkid_do_safeprobe(probe) == 0)
			take_names(probe, r);
	}
	blkid_free_probe(probe);
	if (r->kind == SCR_REGION_FS) {
		r->evidence = find_evidence(&place, r);
	} else if (r->kind == SCR_REGION_EMPTY) {
		r->damaged = !readable(&place);
		if (!scr_backup_ext(&place, r))
			scr_backup_btrfs(&place, r);
	}
	return 0;
}

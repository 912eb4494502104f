/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Evidence in superblocks: one function for each kind of file system. */
#ifndef SCR_DEV_REGION_INTERNAL_H
#define SCR_DEV_REGION_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dev/region.h"

/* Where a file system lies. */
struct scr_place {
	int fd;
	uint64_t offset, length; /* bytes */
};

/* Reads exactly @len bytes from @at within the place. False: outside, or unreadable. */
bool scr_place_read(const struct scr_place *p, uint64_t at, void *out, size_t len);

/* CRC-32C without the inversions before and after, as ext4 and xfs keep it. */
uint32_t scr_crc32c(uint32_t crc, const void *data, size_t len);

/* A token that also depends on @value. */
uint64_t scr_token_mix(uint64_t token, uint64_t value);
uint64_t scr_token_mix_bytes(uint64_t token, const uint8_t *p, size_t len);

/* Whether there is evidence: r->token. Sets r->damaged if the superblock is wrong, r->dirty if it
 * is right and says that the file system was not unmounted. */
bool scr_evidence_ext(const struct scr_place *p, struct scr_region *r);
bool scr_evidence_xfs(const struct scr_place *p, struct scr_region *r);
bool scr_evidence_btrfs(const struct scr_place *p, struct scr_region *r);

/* A file system whose primary superblock is beyond recognition, by a backup of it: type and UUID.
 * False: none is found. */
bool scr_backup_ext(const struct scr_place *p, struct scr_region *out);
bool scr_backup_btrfs(const struct scr_place *p, struct scr_region *out);

/* Fills kind, type, uuid, label and evidence of @r by what lies in its range. 0 or -ENOMEM. */
int scr_region_look(int fd, uint32_t logical, struct scr_region *r);

/* A list of regions under construction, in any order. Zero-initialised is empty. */
struct scr_claims {
	struct scr_region *list;
	size_t count, cap;
};

int scr_claims_add(struct scr_claims *c, const struct scr_region *r);
/* Adds tables and partitions, by libblkid. *partitions: how many. 0 or -ENOMEM, -EIO. */
int scr_claims_partitions(struct scr_claims *c, int fd, uint64_t size, uint32_t logical,
			  size_t *partitions);
/* Sorts the claims, cuts what overlaps, and fills the gaps up to @size. 0 or -ENOMEM. */
int scr_claims_settle(struct scr_claims *c, uint64_t size);

#endif

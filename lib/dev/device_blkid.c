/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What libblkid tells of the identity of a block device. */
#include <config.h>
#include "dev/device_internal.h"

#include <blkid/blkid.h>
#include <errno.h>
#include <string.h>

/* A value that doesn't fit is left out: half a name would be the name of something else. */
static void get(blkid_probe probe, const char *key, char *out, size_t size)
{
	const char *text;

	if (blkid_probe_lookup_value(probe, key, &text, NULL) == 0 && strlen(text) < size)
		strcpy(out, text);
}

static void read_superblock(blkid_probe probe, struct scr_blkid_ids *out)
{
	blkid_probe_enable_superblocks(probe, 1);
	blkid_probe_set_superblocks_flags(probe, BLKID_SUBLKS_TYPE | BLKID_SUBLKS_UUID |
							 BLKID_SUBLKS_LABEL | BLKID_SUBLKS_USAGE);
	/* Not 0: nothing, or more than one: then neither is its name. */
	if (blkid_do_safeprobe(probe) != 0)
		return;
	get(probe, "TYPE", out->type, sizeof(out->type));
	get(probe, "USAGE", out->usage, sizeof(out->usage));
	get(probe, "UUID", out->uuid, sizeof(out->uuid));
	get(probe, "LABEL", out->label, sizeof(out->label));
}

static void read_tables(blkid_probe probe, struct scr_blkid_ids *out)
{
	blkid_probe_enable_superblocks(probe, 0);
	blkid_probe_enable_partitions(probe, 1);
	blkid_probe_set_partitions_flags(probe, BLKID_PARTS_ENTRY_DETAILS);
	if (blkid_do_safeprobe(probe) != 0)
		return;
	get(probe, "PTUUID", out->ptuuid, sizeof(out->ptuuid));
	get(probe, "PTTYPE", out->pttype, sizeof(out->pttype));
	get(probe, "PART_ENTRY_UUID", out->partuuid, sizeof(out->partuuid));
	get(probe, "PART_ENTRY_NAME", out->partlabel, sizeof(out->partlabel));
}

int scr_blkid_ids(int fd, struct scr_blkid_ids *out)
{
	blkid_probe probe = blkid_new_probe();
	int ret = 0;

	memset(out, 0, sizeof(*out));
	if (!probe)
		return -ENOMEM;
	errno = 0;
	if (blkid_probe_set_device(probe, fd, 0, 0) != 0) {
		ret = errno == ENOMEM ? -ENOMEM : -EIO;
	} else {
		read_superblock(probe, out);
		read_tables(probe, out);
	}
	blkid_free_probe(probe);
	return ret;
}

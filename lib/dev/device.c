/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What is known about a block device. */
#include <config.h>
#include "dev/device.h"

#include <errno.h>
#include <linux/fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>

#include "dev/dev_internal.h"
#include "dev/device_internal.h"

static int read_geometry(int fd, struct scr_device *d)
{
	unsigned int physical = 0;
	int logical = 0, read_only = 0;
	struct stat st;

	if (fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISBLK(st.st_mode))
		return -ENOTBLK;
	d->dev = st.st_rdev;
	if (ioctl(fd, BLKGETSIZE64, &d->size) < 0 || ioctl(fd, BLKSSZGET, &logical) < 0)
		return -errno;
	d->logical = (uint32_t)logical;
	d->physical = ioctl(fd, BLKPBSZGET, &physical) == 0 && physical ? physical : d->logical;
	d->read_only = ioctl(fd, BLKROGET, &read_only) == 0 && read_only;
	d->rotational = scr_dev_rotational(scr_dev_below_loop(d->dev, NULL), NULL);
	return 0;
}

static void compose(const struct scr_device *d, const struct scr_sysfs_ids *sys,
		    const struct scr_blkid_ids *b, struct scr_ids *ids)
{
	scr_ids_add_number(ids, "size", d->size);
	scr_ids_add_number(ids, "logical", d->logical);
	scr_ids_add_number(ids, "physical", d->physical);
	scr_ids_add(ids, "ptuuid", b->ptuuid);
	scr_ids_add(ids, "pttype", b->pttype);
	scr_ids_add(ids, "partuuid", b->partuuid[0] ? b->partuuid : sys->partuuid);
	if (sys->partition > 0)
		scr_ids_add_number(ids, "partition", (uint64_t)sys->partition);
	scr_ids_add(ids, "type", b->type);
	scr_ids_add(ids, "uuid", b->uuid);
	scr_ids_add(ids, "label", b->label);
	scr_ids_add(ids, "wwn", sys->wwn);
	scr_ids_add(ids, "serial", sys->serial);
	scr_ids_add(ids, "model", sys->model);
	scr_ids_add(ids, "dm-uuid", sys->dm_uuid);
	scr_ids_add(ids, "md-uuid", sys->md_uuid);
	scr_ids_add(ids, "backing", sys->backing);
}

int scr_device_probe(int fd, struct scr_device *out)
{
	struct scr_device d = {0};
	struct scr_sysfs_ids *sys = NULL;
	struct scr_blkid_ids *b = NULL;
	struct scr_ids ids = {0};
	int ret = read_geometry(fd, &d);

	if (ret < 0)
		return ret;
	sys = calloc(1, sizeof(*sys));
	b = calloc(1, sizeof(*b));
	ret = sys && b ? 0 : -ENOMEM;
	if (ret < 0)
		goto out;
	scr_sysfs_ids(SCR_SYSFS, SCR_UDEV_DATA, d.dev, sys);
	/* A device whose superblock can't be read is a device all the same. */
	ret = scr_blkid_ids(fd, b);
	if (ret == -ENOMEM)
		goto out;
	compose(&d, sys, b, &ids);
	ret = ids.error;
	if (ret < 0) {
		scr_identity_free(ids.list);
		goto out;
	}
	snprintf(d.name, sizeof(d.name), "%s", sys->name);
	d.loop = sys->loop;
	d.partition = sys->partition > 0;
	d.identity = ids.list;
	*out = d;
out:
	free(sys);
	free(b);
	return ret;
}

void scr_device_free(struct scr_device *d)
{
	scr_identity_free(d->identity);
	d->identity = NULL;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* From a disk to the devices of its partitions: its folders in sysfs that have a "partition". */
#include <config.h>
#include "dev/partition.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/sysmacros.h>

/* Reads @format from file @name of folder @dir of @root. Whether all @want items were there. */
static int read_numbers(const char *root, const char *dir, const char *name, unsigned int n[2])
{
	char path[512];
	int got = 0;
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s/%s", root, dir, name);
	f = fopen(path, "re");
	if (!f)
		return 0;
	got = fscanf(f, "%u:%u", &n[0], &n[1]);
	fclose(f);
	return got;
}

int scr_device_partition(dev_t disk, int number, dev_t *out)
{
	char root[64];
	struct dirent *e;
	unsigned int n[2];
	int ret = -ENOENT;
	DIR *d;

	snprintf(root, sizeof(root), "/sys/dev/block/%u:%u", major(disk), minor(disk));
	d = opendir(root);
	if (!d)
		return -errno;
	while (ret < 0 && (e = readdir(d))) {
		if (e->d_name[0] == '.' || read_numbers(root, e->d_name, "partition", n) < 1 ||
		    n[0] != (unsigned int)number || read_numbers(root, e->d_name, "dev", n) != 2)
			continue;
		*out = makedev(n[0], n[1]);
		ret = 0;
	}
	closedir(d);
	return ret;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which mounts are of a device or of its relatives. */
#include <config.h>
#include "dev/inuse_internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "dev/device_internal.h"

#define MOUNTINFO "/proc/self/mountinfo"

int scr_mounts_each(const char *path, int (*fn)(void *arg, const struct scr_mount *m), void *arg)
{
	struct scr_mount *m = malloc(sizeof(*m));
	FILE *f = m ? fopen(path, "re") : NULL;
	int ret = !m ? -ENOMEM : !f ? -errno : 0;
	char *line = NULL;
	size_t size = 0;

	while (ret == 0 && getline(&line, &size, f) > 0)
		if (scr_mount_parse(line, m))
			ret = fn(arg, m);
	if (f)
		fclose(f);
	free(line);
	free(m);
	return ret;
}

const struct scr_relative *scr_family_mounted(const struct scr_family *f, const struct scr_mount *m)
{
	struct stat st;

	if (major(m->dev) != 0)
		return scr_family_find(f, m->dev);
	/* A number of its own, as btrfs has: by the name of its device. */
	if (m->source[0] != '/' || stat(m->source, &st) < 0 || !S_ISBLK(st.st_mode))
		return NULL;
	return scr_family_find(f, st.st_rdev);
}

struct where {
	const struct scr_family *family;
	char *point;
	int rank; /* the smaller the better */
	int error;
};

/* 0: the whole of the file system on the device itself; more: a part of it, or on a holder; -1: not
 * of this device. */
static int rank(const struct scr_family *f, const struct scr_mount *m)
{
	const struct scr_relative *r = scr_family_mounted(f, m);
	struct stat st;

	if (!r)
		return -1;
	if (r->relation != SCR_REL_SELF && r->relation != SCR_REL_ABOVE &&
	    r->relation != SCR_REL_PEER)
		return -1;
	/* What lies below another mount can't be reached. */
	if (stat(m->point, &st) < 0 || (major(m->dev) != 0 && st.st_dev != m->dev))
		return -1;
	return (r->relation == SCR_REL_ABOVE ? 2 : 0) + (strcmp(m->root, "/") != 0);
}

static int consider(void *arg, const struct scr_mount *m)
{
	struct where *w = arg;
	int n = rank(w->family, m);
	char *point;

	if (n < 0 || (w->point && n >= w->rank))
		return 0;
	point = strdup(m->point);
	if (!point)
		return -ENOMEM;
	free(w->point);
	w->point = point;
	w->rank = n;
	return 0;
}

int scr_device_mountpoint(dev_t dev, char **where)
{
	struct scr_family family;
	struct where w = {.family = &family};
	int ret = scr_family_read(SCR_SYSFS, dev, &family);

	if (ret < 0)
		return ret;
	ret = scr_mounts_each(MOUNTINFO, consider, &w);
	scr_family_free(&family);
	if (ret == 0 && !w.point)
		ret = -ENOENT;
	if (ret == 0)
		*where = w.point;
	else
		free(w.point);
	return ret;
}

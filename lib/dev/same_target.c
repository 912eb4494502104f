/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Names of targets that stand for the same thing. */
#include <config.h>
#include "dev/device.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* The path that @name stands for, malloc'd; NULL if it stands for nothing now. */
static char *path_of(const char *name)
{
	char *path = NULL;
	int r = scr_device_resolve_tag(name, &path);

	return r == -EINVAL ? strdup(name) : path;
}

/* A tag looks like a relative path. */
static bool looks_like_tag(const char *name)
{
	return name[0] != '/' && strchr(name, '=');
}

static bool is_device(const char *name)
{
	struct stat st;

	return stat(name, &st) == 0 && S_ISBLK(st.st_mode);
}

static bool same_path(const char *a, const char *b)
{
	char *ra = realpath(a, NULL), *rb = realpath(b, NULL);
	struct stat sa, sb;
	bool same = ra && rb && strcmp(ra, rb) == 0;

	/* Nodes of one device may have several names that are no links. */
	if (ra && rb && !same && stat(ra, &sa) == 0 && stat(rb, &sb) == 0)
		same = S_ISBLK(sa.st_mode) && S_ISBLK(sb.st_mode) && sa.st_rdev == sb.st_rdev;
	free(ra);
	free(rb);
	return same;
}

bool scr_device_same_target(const char *a, const char *b)
{
	char *pa, *pb;
	bool same;

	if (strcmp(a, b) == 0)
		return true;
	if (!looks_like_tag(a) && !looks_like_tag(b))
		return same_path(a, b);
	/* A directory is none of the devices, which need not be asked then. */
	if ((!looks_like_tag(a) && !is_device(a)) || (!looks_like_tag(b) && !is_device(b)))
		return false;
	pa = path_of(a);
	pb = path_of(b);
	same = pa && pb && same_path(pa, pb);
	free(pa);
	free(pb);
	return same;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What sysfs knows of a block device. */
#include <config.h>
#include "dev/dev_internal.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "base/compiler.h"

#define SYS_DEV_BLOCK "/sys/dev/block"

/* Devices stacked on devices: more layers than anybody builds, to end a loop. */
#define DEPTH_MAX 8

int scr_dev_name(dev_t dev, char *out, size_t size)
{
	char path[64], line[256];
	struct stat st;
	FILE *f;
	int ret = -ENOENT;

	snprintf(path, sizeof(path), SYS_DEV_BLOCK "/%u:%u/uevent", major(dev), minor(dev));
	f = fopen(path, "re");
	if (!f)
		return -errno;
	while (ret < 0 && fgets(line, sizeof(line), f)) {
		line[strcspn(line, "\n")] = '\0';
		if (strncmp(line, "DEVNAME=", 8) != 0)
			continue;
		if ((size_t)snprintf(out, size, "/dev/%s", line + 8) < size)
			ret = 0;
		break;
	}
	fclose(f);
	/* In a container the name may be missing or be that of something else. */
	if (ret == 0 && (stat(out, &st) < 0 || !S_ISBLK(st.st_mode) || st.st_rdev != dev))
		ret = -ENOENT;
	return ret;
}

/* queue/rotational below @dir: 0, 1, or -1 if there is none. */
static int read_rotational(const char *dir)
{
	char path[PATH_MAX + 32];
	FILE *f;
	int c;

	snprintf(path, sizeof(path), "%s/queue/rotational", dir);
	f = fopen(path, "re");
	if (!f)
		return -1;
	c = fgetc(f);
	fclose(f);
	return c == '1' ? 1 : c == '0' ? 0 : -1;
}

/*
 * Whether the disk at @dir is a virtual one (virtio, Xen): its bit is set because nobody said
 * anything else, whatever is behind it.
 */
static bool is_virtual(const char *dir)
{
	return strstr(dir, "/virtio") || strstr(dir, "/vbd-");
}

static bool rotates(const char *dir, unsigned int depth);

/* Whether one of the devices that the one at @dir is made of rotates. */
static bool slave_rotates(const char *dir, unsigned int depth)
{
	char path[PATH_MAX + 16], slave[PATH_MAX + NAME_MAX + 32];
	bool found = false;
	struct dirent *e;
	DIR *d;

	snprintf(path, sizeof(path), "%s/slaves", dir);
	d = opendir(path);
	while (d && !found && (e = readdir(d))) {
		if (e->d_name[0] == '.')
			continue;
		snprintf(slave, sizeof(slave), "%s/%s", path, e->d_name);
		found = rotates(slave, depth + 1);
	}
	if (d)
		closedir(d);
	return found;
}

static bool rotates(const char *dir, unsigned int depth)
{
	char *real = realpath(dir, NULL), *slash;
	bool found = false;
	int own;

	if (!real || depth > DEPTH_MAX)
		goto out;
	found = slave_rotates(real, depth);
	own = read_rotational(real);
	slash = strrchr(real, '/');
	if (own < 0 && slash) { /* a partition has the queue of its disk */
		*slash = '\0';
		own = read_rotational(real);
	}
	found = found || (own == 1 && !is_virtual(real));
out:
	free(real);
	return found;
}

bool scr_dev_rotational(dev_t dev, const char *sys_dev_block)
{
	char path[PATH_MAX];

	if (major(dev) == 0)
		return false;
	snprintf(path, sizeof(path), "%.4000s/%u:%u", sys_dev_block ? sys_dev_block : SYS_DEV_BLOCK,
		 major(dev), minor(dev));
	return rotates(path, 0);
}

/* The file behind the loop device at @dir, or behind the one that it is a partition of. */
static bool backing_file(const char *dir, char *out, int size)
{
	static const char *const places[] = {"loop", "../loop"};
	char path[PATH_MAX];
	bool found = false;

	for (size_t i = 0; !found && i < SCR_ARRAY_SIZE(places); i++) {
		FILE *f;

		snprintf(path, sizeof(path), "%.4000s/%s/backing_file", dir, places[i]);
		f = fopen(path, "re");
		found = f && fgets(out, size, f);
		if (f)
			fclose(f);
	}
	out[found ? strcspn(out, "\n") : 0] = '\0';
	return found;
}

dev_t scr_dev_below_loop(dev_t dev, const char *sys_dev_block)
{
	char path[PATH_MAX], file[PATH_MAX], *real;
	struct stat st;

	snprintf(path, sizeof(path), "%.4000s/%u:%u", sys_dev_block ? sys_dev_block : SYS_DEV_BLOCK,
		 major(dev), minor(dev));
	real = realpath(path, NULL);
	if (real && backing_file(real, file, sizeof(file)) && stat(file, &st) == 0 &&
	    (S_ISBLK(st.st_mode) || major(st.st_dev) != 0))
		dev = S_ISBLK(st.st_mode) ? st.st_rdev : st.st_dev;
	free(real);
	return dev;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The relatives of a block device, by sysfs. */
#include <config.h>
#include "dev/inuse_internal.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "dev/device_internal.h"

const struct scr_relative *scr_family_find(const struct scr_family *f, dev_t dev)
{
	for (size_t i = 0; i < f->count; i++)
		if (f->list[i].dev == dev)
			return &f->list[i];
	return NULL;
}

void scr_family_free(struct scr_family *f)
{
	for (size_t i = 0; i < f->count; i++)
		free(f->list[i].dir);
	free(f->list);
	*f = (struct scr_family){0};
}

static int make_room(struct scr_family *f)
{
	size_t cap = f->cap ? 2 * f->cap : 16;
	struct scr_relative *list;

	if (f->count < f->cap)
		return 0;
	list = realloc(f->list, cap * sizeof(*list));
	if (!list)
		return -ENOMEM;
	f->list = list;
	f->cap = cap;
	return 0;
}

/* Adds the device of the sysfs directory @dir, which becomes the family's, unless it is known. */
static int add(struct scr_family *f, char *dir, enum scr_relation relation)
{
	dev_t dev = dir ? scr_sysfs_number(dir) : 0;
	struct scr_relative *r;
	char text[64];

	if (!dev || scr_family_find(f, dev)) {
		free(dir);
		return 0;
	}
	if (make_room(f) < 0) {
		free(dir);
		return -ENOMEM;
	}
	r = &f->list[f->count++];
	*r = (struct scr_relative){.dev = dev, .relation = relation, .dir = dir};
	r->read_only = scr_sysfs_text(dir, "ro", text, sizeof(text)) && strcmp(text, "1") == 0;
	snprintf(r->name, sizeof(r->name), "/dev/%.80s", strrchr(dir, '/') + 1);
	for (char *p = r->name; (p = strchr(p, '!'));) /* sysfs's '/' in a name */
		*p = '/';
	scr_sysfs_text(dir, "dm/name", r->nick, sizeof(r->nick));
	return 0;
}

static char *below(const char *dir, const char *name)
{
	char path[PATH_MAX];

	if ((size_t)snprintf(path, sizeof(path), "%s/%s", dir, name) >= sizeof(path))
		return NULL;
	return realpath(path, NULL);
}

/* Adds the devices that the entries of @dir/@sub are links to. */
static int add_links(struct scr_family *f, const char *dir, const char *sub,
		     enum scr_relation relation)
{
	char *path = below(dir, sub);
	DIR *d = path ? opendir(path) : NULL;
	struct dirent *e;
	int ret = 0;

	while (d && ret == 0 && (e = readdir(d)))
		if (e->d_name[0] != '.')
			ret = add(f, below(path, e->d_name), relation);
	if (d)
		closedir(d);
	free(path);
	return ret;
}

static int add_partitions(struct scr_family *f, const char *dir)
{
	DIR *d = opendir(dir);
	struct dirent *e;
	char text[16];
	int ret = 0;

	while (d && ret == 0 && (e = readdir(d))) {
		char *part;

		if (e->d_name[0] == '.' || e->d_type != DT_DIR)
			continue;
		part = below(dir, e->d_name);
		if (part && scr_sysfs_text(part, "partition", text, sizeof(text)))
			ret = add(f, part, SCR_REL_PARTITION);
		else
			free(part);
	}
	if (d)
		closedir(d);
	return ret;
}

static int add_disk(struct scr_family *f, const char *dir)
{
	char text[16];

	if (!scr_sysfs_text(dir, "partition", text, sizeof(text)))
		return 0;
	return add(f, below(dir, ".."), SCR_REL_DISK);
}

/* What the loop device at @dir is over: a device number, or a path. */
static dev_t loop_over(const char *dir, char *path, size_t size)
{
	struct stat st;

	if (!scr_sysfs_text(dir, "loop/backing_file", path, size))
		return 0;
	return stat(path, &st) == 0 && S_ISBLK(st.st_mode) ? st.st_rdev : 0;
}

/* Adds the loop devices over @dev, and those over the file @file. */
static int add_loops(struct scr_family *f, const char *sys, dev_t dev, const char *file)
{
	char path[PATH_MAX], other[PATH_MAX];
	struct dirent *e;
	int ret = 0;
	DIR *d;

	snprintf(path, sizeof(path), "%.3900s/block", sys);
	d = opendir(path);
	while (d && ret == 0 && (e = readdir(d))) {
		char *dir = strncmp(e->d_name, "loop", 4) == 0 ? below(path, e->d_name) : NULL;
		dev_t over = dir ? loop_over(dir, other, sizeof(other)) : 0;

		if (dir && over && over == dev)
			ret = add(f, dir, SCR_REL_LOOP);
		else if (dir && !over && file[0] && strcmp(other, file) == 0)
			ret = add(f, dir, SCR_REL_TWIN);
		else
			free(dir);
	}
	if (d)
		closedir(d);
	return ret;
}

/* What @dir is made of, at any depth; *@file: the file that it is a loop device over. */
static int add_below(struct scr_family *f, const char *sys, const char *dir, char *file,
		     size_t size)
{
	dev_t over = loop_over(dir, file, size);
	int ret = add_links(f, dir, "slaves", SCR_REL_BELOW);

	if (ret == 0 && over)
		ret = add(f, scr_sysfs_dir(sys, over), SCR_REL_BELOW);
	if (over)
		file[0] = '\0';
	return ret;
}

/* The relatives of relative @i. The list grows behind it. */
static int expand(struct scr_family *f, const char *sys, size_t i)
{
	struct scr_relative r = f->list[i];
	char file[PATH_MAX] = "";
	int ret = 0;

	if (r.relation == SCR_REL_PEER)
		return 0;
	if (r.relation == SCR_REL_SELF || r.relation == SCR_REL_BELOW)
		ret = add_below(f, sys, r.dir, file, sizeof(file));
	if (r.relation == SCR_REL_BELOW || ret < 0)
		return ret;
	if (r.relation == SCR_REL_SELF)
		ret = add_disk(f, r.dir);
	if (ret == 0 && r.relation != SCR_REL_DISK)
		ret = add_partitions(f, r.dir);
	if (ret == 0)
		ret = add_links(f, r.dir, "holders", SCR_REL_ABOVE);
	return ret < 0 ? ret : add_loops(f, sys, r.dev, file);
}

/* Whether one of the family is in the btrfs at @dir. */
static bool in_btrfs(const struct scr_family *f, const char *dir)
{
	char *path = below(dir, "devices");
	DIR *d = path ? opendir(path) : NULL;
	bool found = false;
	struct dirent *e;

	while (d && !found && (e = readdir(d))) {
		char *device = e->d_name[0] == '.' ? NULL : below(path, e->d_name);

		found = device && scr_family_find(f, scr_sysfs_number(device));
		free(device);
	}
	if (d)
		closedir(d);
	free(path);
	return found;
}

/* The other members of each btrfs that has one of the family: a mount names only one of them. */
static int add_peers(struct scr_family *f, const char *sys)
{
	char path[PATH_MAX];
	struct dirent *e;
	int ret = 0;
	DIR *d;

	snprintf(path, sizeof(path), "%.3900s/fs/btrfs", sys);
	d = opendir(path);
	while (d && ret == 0 && (e = readdir(d))) {
		char *dir = e->d_name[0] == '.' ? NULL : below(path, e->d_name);

		if (dir && in_btrfs(f, dir))
			ret = add_links(f, dir, "devices", SCR_REL_PEER);
		free(dir);
	}
	if (d)
		closedir(d);
	return ret;
}

int scr_family_read(const char *sys, dev_t dev, struct scr_family *out)
{
	struct scr_family f = {0};
	char *dir = scr_sysfs_dir(sys, dev);
	int ret = dir ? add(&f, dir, SCR_REL_SELF) : -ENOENT;

	if (ret == 0 && f.count == 0)
		ret = -ENOENT;
	for (size_t i = 0; ret == 0 && i < f.count; i++)
		ret = expand(&f, sys, i);
	if (ret == 0)
		ret = add_peers(&f, sys);
	if (ret < 0)
		scr_family_free(&f);
	else
		*out = f;
	return ret;
}

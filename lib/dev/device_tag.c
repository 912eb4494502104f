/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* "UUID=..." and the like to a path in /dev. Every device that the kernel knows is asked, so that
 * udev is not needed, and two devices of one name are seen.
 */
#include <config.h>
#include "dev/device.h"

#include <blkid/blkid.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/compiler.h"
#include "dev/dev_internal.h"
#include "dev/device_internal.h"

enum tag { UUID, LABEL, PARTUUID, PARTLABEL };

struct search {
	enum tag tag;
	const char *value;
	dev_t *found;
	size_t count;
	bool unread; /* a device could not be looked at */
};

/* The members of an array carry its UUID, and are not what is meant. */
static bool usable(const struct scr_blkid_ids *ids)
{
	return strcmp(ids->usage, "raid") != 0;
}

static bool fits(const struct search *s, const struct scr_blkid_ids *ids)
{
	switch (s->tag) {
	case UUID:
		return usable(ids) && strcasecmp(ids->uuid, s->value) == 0;
	case LABEL:
		return usable(ids) && strcmp(ids->label, s->value) == 0;
	case PARTUUID:
		return strcasecmp(ids->partuuid, s->value) == 0;
	case PARTLABEL:
		return strcmp(ids->partlabel, s->value) == 0;
	}
	return false;
}

static int remember(struct search *s, dev_t dev)
{
	dev_t *found = realloc(s->found, (s->count + 1) * sizeof(*found));

	if (!found)
		return -ENOMEM;
	found[s->count++] = dev;
	s->found = found;
	return 0;
}

static int look_at(struct search *s, dev_t dev)
{
	struct scr_blkid_ids ids;
	char name[256];
	int fd, ret;

	if (scr_dev_name(dev, name, sizeof(name)) < 0)
		return 0;
	fd = open(name, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
	if (fd < 0) {
		s->unread = true;
		return 0;
	}
	ret = scr_blkid_ids(fd, &ids);
	close(fd);
	if (ret == -ENOMEM)
		return ret;
	s->unread |= ret < 0;
	return ret == 0 && fits(s, &ids) ? remember(s, dev) : 0;
}

static int look_at_all(struct search *s)
{
	FILE *f = fopen("/proc/partitions", "re");
	unsigned int a, b;
	char line[256];
	int ret = 0;

	if (!f)
		return -errno;
	while (ret == 0 && fgets(line, sizeof(line), f))
		if (sscanf(line, "%u %u", &a, &b) == 2)
			ret = look_at(s, makedev(a, b));
	fclose(f);
	return ret;
}

/* A disk below its multipath device shows the same: the one on top counts. */
static void keep_topmost(struct search *s)
{
	size_t kept = 0;

	for (size_t i = 0; i < s->count; i++) {
		bool covered = false;

		for (size_t k = 0; k < s->count && !covered; k++)
			covered = scr_sysfs_holds(SCR_SYSFS, s->found[i], s->found[k]);
		/* What was moved forward is still compared with all: the order doesn't matter. */
		if (!covered) {
			dev_t dev = s->found[kept];

			s->found[kept++] = s->found[i];
			s->found[i] = dev;
		}
	}
	s->count = kept;
}

static int parse_tag(const char *arg, enum tag *tag, char **value)
{
	static const char *const names[] = {"UUID", "LABEL", "PARTUUID", "PARTLABEL"};
	char *name = NULL;
	int ret = -EINVAL;

	if (blkid_parse_tag_string(arg, &name, value) != 0)
		return -EINVAL;
	for (unsigned int i = 0; i < SCR_ARRAY_SIZE(names); i++)
		if (name && strcmp(name, names[i]) == 0) {
			*tag = (enum tag)i;
			ret = 0;
		}
	free(name);
	if (ret == 0 && *value && **value)
		return 0;
	free(*value);
	return -EINVAL;
}

int scr_device_resolve_tag(const char *arg, char **path)
{
	struct search s = {0};
	char *value = NULL, name[256];
	int ret = parse_tag(arg, &s.tag, &value);

	if (ret < 0)
		return ret;
	s.value = value;
	ret = look_at_all(&s);
	if (ret < 0)
		goto out;
	keep_topmost(&s);
	if (s.count == 0)
		ret = s.unread ? -EACCES : -ENOENT;
	else if (s.count > 1)
		ret = -ENOTUNIQ;
	else
		ret = scr_dev_name(s.found[0], name, sizeof(name));
	if (ret == 0) {
		char *copy = strdup(name);

		if (copy)
			*path = copy;
		else
			ret = -ENOMEM;
	}
out:
	free(s.found);
	free(value);
	return ret;
}

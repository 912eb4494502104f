/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Whether the content of a block device may change while it is read. */
#include <config.h>
#include "dev/inuse_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/compiler.h"
#include "dev/device_internal.h"

struct judge {
	const struct scr_family *family;
	struct scr_use *use;
	bool explained;
};

SCR_PRINTF(2, 3) static void say_what(struct scr_use *use, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(use->what, sizeof(use->what), format, args);
	va_end(args);
}

SCR_PRINTF(2, 3) static void say_way(struct scr_use *use, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(use->way_out, sizeof(use->way_out), format, args);
	va_end(args);
}

/* How @r is related, to stand behind its name: ", a partition of it,". */
static const char *kinship(const struct scr_relative *r)
{
	switch (r->relation) {
	case SCR_REL_SELF:
		return "";
	case SCR_REL_PARTITION:
		return ", a partition of it,";
	case SCR_REL_DISK:
		return ", the disk that it is a partition of,";
	case SCR_REL_ABOVE:
	case SCR_REL_LOOP:
		return ", which lies on it,";
	case SCR_REL_BELOW:
		return ", which it lies on,";
	case SCR_REL_TWIN:
		return ", a loop device over the same file,";
	case SCR_REL_PEER:
		return ", in one file system with it,";
	}
	return "";
}

static int judge_mount(void *arg, const struct scr_mount *m)
{
	struct judge *j = arg;
	const struct scr_relative *r = scr_family_mounted(j->family, m);

	if (!r)
		return 0;
	if (m->read_only) {
		/* It holds the device as a mount that writes does, but doesn't write. */
		j->explained |= r->relation != SCR_REL_LOOP && r->relation != SCR_REL_TWIN;
		return 0;
	}
	j->use->kind = SCR_USE_MOUNTED;
	say_what(j->use, "%s%s is mounted read-write on %.100s", r->name, kinship(r), m->point);
	if (strcmp(m->point, "/") == 0)
		say_way(j->use, "check it from a rescue system, or its files: scrub run /");
	else
		say_way(j->use, "umount %.60s, or make it read-only: mount -o remount,ro %.60s",
			m->point, m->point);
	return 1;
}

/* One line of /proc/swaps: the path, escaped as in mountinfo, and what it is. */
static bool judge_swap(struct judge *j, const char *line)
{
	const struct scr_relative *r;
	char path[256], type[32];
	struct stat st;

	if (sscanf(line, "%255s %31s", path, type) != 2 || strcmp(type, "partition") != 0)
		return false;
	if (stat(path, &st) < 0 || !S_ISBLK(st.st_mode))
		return false;
	r = scr_family_find(j->family, st.st_rdev);
	if (!r)
		return false;
	j->use->kind = SCR_USE_SWAP;
	say_what(j->use, "%s%s is swap space in use", r->name, kinship(r));
	say_way(j->use, "swapoff %s", r->name);
	return true;
}

static int judge_swaps(struct judge *j, const char *path)
{
	FILE *f = fopen(path, "re");
	char line[1024];
	int ret = 0;

	if (!f) /* a kernel without swap has no such file */
		return errno == ENOENT ? 0 : -errno;
	while (ret == 0 && fgets(line, sizeof(line), f))
		ret = judge_swap(j, line);
	fclose(f);
	return ret;
}

static void tell_member(struct scr_use *use, const struct scr_relative *self,
			const struct scr_relative *r)
{
	const char *base = strrchr(r->name, '/') + 1;

	use->kind = SCR_USE_MEMBER;
	say_what(use, "%s is in use by %s%s%s%s", self->name, r->name, r->nick[0] ? " (" : "",
		 r->nick, r->nick[0] ? ")" : "");
	if (r->nick[0])
		say_way(use, "take %s instead, or close it: dmsetup remove %s (LVM: lvchange -an)",
			r->name, r->nick);
	else if (strncmp(base, "md", 2) == 0)
		say_way(use, "take %s instead, or stop it: mdadm --stop %s", r->name, r->name);
	else
		say_way(use, "take %s instead, or stop it", r->name);
}

static int judge_relatives(struct judge *j)
{
	const struct scr_relative *self = j->family->list;

	for (size_t i = 1; i < j->family->count; i++) {
		const struct scr_relative *r = &j->family->list[i];

		if (r->relation == SCR_REL_ABOVE && !r->read_only) {
			tell_member(j->use, self, r);
			return 1;
		}
		j->explained |= r->relation == SCR_REL_ABOVE;
	}
	for (size_t i = 1; i < j->family->count; i++) {
		const struct scr_relative *r = &j->family->list[i];

		if (r->relation != SCR_REL_LOOP || r->read_only)
			continue;
		j->use->kind = SCR_USE_LOOP;
		say_what(j->use, "%s is a writable loop device over %s", r->name, self->name);
		say_way(j->use, "losetup -d %s", r->name);
		return 1;
	}
	return 0;
}

int scr_use_told(const struct scr_use_sources *from, dev_t dev, struct scr_use *out,
		 bool *explained)
{
	struct scr_family family;
	struct judge j = {.family = &family, .use = out};
	int ret = scr_family_read(from->sys, dev, &family);

	if (ret < 0)
		return ret;
	ret = scr_mounts_each(from->mountinfo, judge_mount, &j);
	if (ret == 0)
		ret = judge_swaps(&j, from->swaps);
	if (ret == 0)
		ret = judge_relatives(&j);
	*explained = j.explained;
	scr_family_free(&family);
	return ret;
}

/* The kernel's word: whoever writes to a device as its owner holds it, in any container. */
static int ask_kernel(dev_t dev, bool explained, struct scr_use *out)
{
	char name[256];
	int ret = scr_dev_name(dev, name, sizeof(name)), fd;

	if (ret < 0)
		return ret;
	fd = open(name, O_RDONLY | O_EXCL | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (fd >= 0) {
		close(fd);
		return 0;
	}
	if (errno != EBUSY)
		return -errno;
	if (explained)
		return 0;
	out->kind = SCR_USE_EXCLUSIVE;
	say_what(out, "%s is held by somebody (a container, zfs, another program)", name);
	say_way(out, "see who has it: fuser -v %s, zpool status, dmsetup ls", name);
	return 1;
}

int scr_device_in_use(dev_t dev, struct scr_use *out)
{
	static const struct scr_use_sources from = {SCR_SYSFS, "/proc/self/mountinfo",
						    "/proc/swaps"};
	struct scr_use use = {0};
	bool explained = false;
	int ret = scr_use_told(&from, dev, &use, &explained);

	if (ret == 0)
		ret = ask_kernel(dev, explained, &use);
	if (ret >= 0)
		*out = use;
	return ret;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A target that is a block device: what it is, where its state belongs, whether it may be read. */
#include <config.h>
#include "pass/device.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/compiler.h"

#include "pass/work.h"

/* Who holds a device for a moment (a probe, a mount that is just ending, another pass that asks the
 * same) is waited for: so often, so long. */
#define HELD_TRIES 20
#define HELD_NS (SCR_NS_PER_S / 10)

char **scr_strings_copy(char *const *list)
{
	size_t n = 0;
	char **copy;

	while (list && list[n])
		n++;
	copy = calloc(n + 1, sizeof(*copy));
	for (size_t i = 0; copy && i < n; i++) {
		copy[i] = strdup(list[i]);
		if (!copy[i]) {
			scr_strings_free(copy);
			return NULL;
		}
	}
	return copy;
}

void scr_strings_free(char **list)
{
	for (char **s = list; s && *s; s++)
		free(*s);
	free(list);
}

/* ---- opening ----------------------------------------------------------------------------- */

static int cannot_open(struct scr_pass *p, int err, const struct stat *st)
{
	struct group group, *found = NULL;
	char text[1024];

	if (err != EACCES && err != EPERM) {
		scr_trouble(p, NULL, 0, err, "cannot open the device");
	} else if ((st->st_mode & S_IRGRP) && st->st_gid != 0 &&
		   getgrgid_r(st->st_gid, &group, text, sizeof(text), &found) == 0 && found) {
		scr_trouble(p, NULL, 0, err,
			    "no permission to read the device: use sudo, or become a member of the "
			    "group '%s'",
			    group.gr_name);
	} else {
		scr_trouble(p, NULL, 0, err,
			    "no permission to read the device: use sudo, or run as root");
	}
	return -err;
}

/* What stands for the file system of files: nothing about it is compared. */
static struct scr_fs_info fs_of(const struct scr_device *d)
{
	return (struct scr_fs_info){
		.type = "block",
		.read_only = d->read_only,
		.rotational = d->rotational,
	};
}

int scr_device_open(struct scr_pass *p)
{
	struct scr_pass_device *d;
	struct stat st;
	int r;

	if (stat(p->path, &st) < 0)
		return -errno;
	p->rootfd = open(p->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (p->rootfd < 0)
		return cannot_open(p, errno, &st);
	d = calloc(1, sizeof(*d));
	if (!d)
		return -ENOMEM;
	r = scr_device_probe(p->rootfd, &d->d);
	if (r == 0)
		r = scr_regions_probe(p->rootfd, d->d.size, d->d.logical, &d->regions,
				      &d->region_count);
	if (r < 0) {
		scr_trouble(p, NULL, 0, -r, "cannot learn what the device is");
		scr_device_free(&d->d);
		free(d);
		return r;
	}
	pthread_mutex_init(&d->lock, NULL);
	p->device = d;
	p->fs = fs_of(&d->d);
	p->ctx->device = scr_strings_copy(d->d.identity);
	p->sum.device = p->ctx->device;
	return p->ctx->device ? 0 : -ENOMEM;
}

void scr_device_close(struct scr_pass *p)
{
	struct scr_pass_device *d = p->device;

	if (!d)
		return;
	scr_device_free(&d->d);
	free(d->regions);
	free(d->ranges);
	pthread_mutex_destroy(&d->lock);
	free(d);
	p->device = NULL;
}

void scr_device_stat(const struct scr_pass *p, struct stat *st)
{
	*st = (struct stat){
		.st_mode = S_IFBLK | 0600,
		.st_nlink = 1,
		.st_size = (off_t)p->device->d.size,
		.st_blocks = (blkcnt_t)(p->device->d.size / 512 + 1),
		.st_blksize = 4096,
	};
}

/* Not a duplicate: the reader makes it direct, and what the regions are read through must not be.
 */
int scr_device_open_file(struct scr_pass *p, struct stat *st)
{
	int fd = open(p->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat is;

	if (fd < 0)
		return errno == ENOENT ? -ENODEV : -errno; /* it is no file that was removed */
	/* The name may be another disk's by now. */
	if (fstat(fd, &is) < 0 || !S_ISBLK(is.st_mode) || is.st_rdev != p->device->d.dev) {
		close(fd);
		return -ENODEV;
	}
	scr_device_stat(p, st);
	return fd;
}

bool scr_device_same_size(const struct scr_pass *p, int fd)
{
	const struct scr_reader_ops *ops = p->ctx->reader_ops;
	off_t end = ops->lseek(ops->arg, fd, 0, SEEK_END);

	/* A device that does not tell is asked by reading it. */
	return end < 0 || (uint64_t)end == p->device->d.size;
}

/* ---- state ------------------------------------------------------------------------------- */

int scr_device_place(struct scr_pass *p, struct scr_state_place *out)
{
	const struct scr_device *d = &p->device->d;
	const char *backing = scr_identity_get(d->identity, "backing");
	char name[300];
	int r = 0;

	if (!p->ctx->opt.state_dir)
		r = scr_device_state_name(d, name, sizeof(name));
	if (r == -ENOENT) {
		scr_trouble(p, NULL, 0, 0,
			    "nothing lasting tells this device from others, so its state has no "
			    "place of its own: name one with --state DIR%s%s",
			    backing ? ", or check the file behind it: " : "",
			    backing ? backing : "");
		return -ENOTSUP;
	}
	if (r == 0)
		r = scr_state_place_named(name, p->ctx->opt.state_dir, p->ctx->state_root, out);
	if (r < 0)
		scr_trouble(p, NULL, 0, -r, "cannot find a place for the state");
	return r;
}

void scr_device_key(const struct scr_pass *p, char *out, size_t size)
{
	char name[300];

	out[0] = '\0';
	if (scr_device_state_name(&p->device->d, name, sizeof(name)) == 0)
		snprintf(out, size, "%.*s", (int)size - 1, name);
}

/* ---- identity ---------------------------------------------------------------------------- */

int scr_device_note_identity(struct scr_pass *p)
{
	char **copy = scr_strings_copy(p->device->d.identity);

	if (!copy)
		return -ENOMEM;
	scr_strings_free(p->header.device);
	p->header.device = copy;
	return 0;
}

/* Identity in a line: what a person would compare. */
static void describe(char *const *identity, char *out, size_t size)
{
	static const char *const keys[] = {"model",  "serial",   "wwn",  "dm-uuid", "md-uuid",
					   "ptuuid", "partuuid", "type", "uuid",    "size"};
	size_t n = 0;

	out[0] = '\0';
	for (size_t i = 0; i < SCR_ARRAY_SIZE(keys) && n < size; i++) {
		const char *v = scr_identity_get(identity, keys[i]);

		if (v)
			n += (size_t)snprintf(out + n, size - n, "%s%s %s", n ? ", " : "", keys[i],
					      v);
	}
}

int scr_device_guard_identity(struct scr_pass *p, enum scr_access access)
{
	char was[1024], is[1024];
	enum scr_device_match match = scr_device_compare(p->header.device, p->device->d.identity);

	if (match != SCR_DEVICE_OTHER || p->ctx->opt.allow_moved)
		return access == SCR_ACCESS_WRITE ? scr_device_note_identity(p) : 0;
	describe(p->header.device, was, sizeof(was));
	describe(p->device->d.identity, is, sizeof(is));
	if (access == SCR_ACCESS_PEEK) {
		scr_warn(p, NULL, 0, "this is about another device: %s; the device is: %s", was,
			 is);
		return 0;
	}
	scr_trouble(p, NULL, 0, 0,
		    "this is another device than the one that was recorded (%s): it is %s; nothing "
		    "was read or changed; if this is right, use --allow-moved",
		    was, is);
	return -EBADMSG;
}

/* ---- use --------------------------------------------------------------------------------- */

int scr_device_use(const struct scr_pass *p, struct scr_use *use)
{
	int r = scr_device_in_use(p->device->d.dev, use);

	for (int i = 0; i < HELD_TRIES && r == 1 && use->kind == SCR_USE_EXCLUSIVE; i++) {
		scr_clock_sleep(p->ctx->clock, HELD_NS);
		r = scr_device_in_use(p->device->d.dev, use);
	}
	return r;
}

int scr_device_guard_medium(struct scr_pass *p)
{
	if (!p->device || p->device->d.size > 0)
		return 0;
	scr_trouble(p, NULL, 0, 0,
		    "the device has no size: there is no medium in it, or nothing is attached to "
		    "it; nothing was read or changed");
	return -ENOMEDIUM;
}

int scr_device_guard_use(struct scr_pass *p, bool strict)
{
	struct scr_pass_device *d = p->device;
	int r = scr_device_guard_medium(p);

	if (r == 0 && d)
		r = scr_device_use(p, &d->use);
	if (r == -ENOMEDIUM)
		return r;
	if (r < 0) {
		scr_trouble(p, NULL, 0, -r, "cannot tell whether the device is in use");
		return r;
	}
	if (r == 0)
		return 0;
	if (strict || !p->ctx->opt.force_mounted) {
		scr_trouble(p, NULL, 0, 0,
			    "the device is in use, so its content may change any moment: %s; %s%s",
			    d->use.what, d->use.way_out,
			    strict ? ""
				   : "; --force-mounted reads it all the same, and proves little");
		return -EBUSY;
	}
	d->forced = true;
	scr_warn(p, NULL, 0,
		 "the device is in use: %s; differences prove nothing, and are neither recorded "
		 "nor called damage",
		 d->use.what);
	return 0;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The relatives of a block device: all whose use means that its content may change. */
#ifndef SCR_DEV_INUSE_INTERNAL_H
#define SCR_DEV_INUSE_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "dev/dev_internal.h"
#include "dev/inuse.h"

enum scr_relation {
	SCR_REL_SELF,
	SCR_REL_PARTITION, /* of it, or of what lies on it */
	SCR_REL_DISK,      /* that it is a partition of */
	SCR_REL_ABOVE,     /* device mapper, md, bcache: made of it */
	SCR_REL_BELOW,     /* what it is made of */
	SCR_REL_LOOP,      /* loop device over it */
	SCR_REL_TWIN,      /* loop device over the same file */
	SCR_REL_PEER,      /* in one btrfs with it or with one of the others */
};

struct scr_relative {
	dev_t dev;
	enum scr_relation relation;
	bool read_only;      /* the device */
	char name[96];       /* "/dev/dm-0" */
	char nick[64];       /* of a mapping: "vg-root"; else "" */
	char *dir;           /* in sysfs */
};

struct scr_family {
	struct scr_relative *list; /* the device itself first */
	size_t count, cap;
};

/* The family of @dev by the sysfs at @sys. 0, -ENOENT: no such device, -ENOMEM. */
int scr_family_read(const char *sys, dev_t dev, struct scr_family *out);
void scr_family_free(struct scr_family *f);
/* The relative of number @dev, or NULL. */
const struct scr_relative *scr_family_find(const struct scr_family *f, dev_t dev);

/* The relative that @m is a mount of, or NULL. */
const struct scr_relative *scr_family_mounted(const struct scr_family *f,
					      const struct scr_mount *m);

/* Calls @fn for each line of the mountinfo file @path until it returns something else than 0,
 * which is returned; 0, or -errno. */
int scr_mounts_each(const char *path, int (*fn)(void *arg, const struct scr_mount *m), void *arg);

/* Where the system tells who uses what; tests have their own. */
struct scr_use_sources {
	const char *sys, *mountinfo, *swaps;
};

/* As scr_device_in_use(), without the last word of O_EXCL. *@explained: something that is no use
 * explains that O_EXCL is refused. */
int scr_use_told(const struct scr_use_sources *from, dev_t dev, struct scr_use *out,
		 bool *explained);

#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The sources that the identity of a block device is put together from. */
#ifndef SCR_DEV_DEVICE_INTERNAL_H
#define SCR_DEV_DEVICE_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define SCR_SYSFS "/sys"
#define SCR_UDEV_DATA "/run/udev/data"

/* What sysfs tells; "" and 0 where it tells nothing. */
struct scr_sysfs_ids {
	char name[64];       /* in /dev */
	int partition;       /* its number; 0: it is none */
	char wwn[256], serial[256], model[256]; /* of a partition: of its disk */
	char dm_uuid[256], md_uuid[64];
	char partuuid[64];   /* kernels since 6.12, or udev's database */
	bool loop;
	char backing[4096];  /* file that the loop device is on */
};

/* Reads what is known of @dev below @sys ("/sys") and @udev ("/run/udev/data"). 0 or -ENOENT. */
int scr_sysfs_ids(const char *sys, const char *udev, dev_t dev, struct scr_sysfs_ids *out);

/* The directory of @dev below @sys, without symlinks: malloc'd, or NULL. */
char *scr_sysfs_dir(const char *sys, dev_t dev);
/* The text of attribute @name in @dir without blanks at its ends. False, and "": there is none. */
bool scr_sysfs_text(const char *dir, const char *name, char *out, size_t size);
/* The number ("8:1") in attribute "dev" of @dir; 0: none. */
dev_t scr_sysfs_number(const char *dir);
/* Whether @holder is stacked on @dev, at whatever height. */
bool scr_sysfs_holds(const char *sys, dev_t dev, dev_t holder);

/* What libblkid reads; "" where it finds nothing. */
struct scr_blkid_ids {
	char type[64], usage[32], uuid[64], label[256];
	char ptuuid[64], pttype[32];
	char partuuid[64], partlabel[256]; /* from the table of the disk that it is a partition of */
};

/* Reads superblocks and tables of the device that @fd is open on. 0, -ENOMEM, -EIO. */
int scr_blkid_ids(int fd, struct scr_blkid_ids *out);

/* An identity under construction. Zero-initialised is empty. */
struct scr_ids {
	char **list;
	size_t count;
	int error;           /* 0 or -ENOMEM */
};

/* Appends "key=value", escaped, unless @value is empty. */
void scr_ids_add(struct scr_ids *ids, const char *key, const char *value);
void scr_ids_add_number(struct scr_ids *ids, const char *key, uint64_t value);
void scr_identity_free(char **identity);

#endif

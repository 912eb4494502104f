/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A block device: geometry, what tells it from others, and the names that a user may give it.
 *
 * Identity is a list of "key=value" strings in a fixed order; only keys that are known are in it:
 * size, logical, physical (bytes), ptuuid, pttype (of the table on it), partuuid and partition (the
 * number, of the partition that it is), type, uuid, label (of the file system on it), wwn, serial,
 * model (of a partition: of its disk), dm-uuid, md-uuid, backing (loop: path of the file). Values
 * are as libblkid and sysfs tell them, without blanks at their ends; bytes that are not printable
 * ASCII, and backslashes, are escaped as \xNN.
 */
#ifndef SCR_DEV_DEVICE_H
#define SCR_DEV_DEVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct scr_device {
	dev_t dev;
	char name[64];         /* in /dev, by sysfs: "sda1", "loop0", "mapper/x" stays "dm-0" */
	uint64_t size;         /* bytes */
	uint32_t logical, physical; /* sector sizes, bytes */
	bool rotational, read_only, loop, partition;
	char **identity;       /* owned, NULL-terminated */
};

/* What is known about the block device that @fd is open on. 0, -ENOTBLK, -ENOMEM, -errno; what
 * can't be learned (no permission, no udev) is left out, never guessed. Reads superblocks from
 * @fd, and from the disk of a partition. */
int scr_device_probe(int fd, struct scr_device *out);
void scr_device_free(struct scr_device *d);

/* The value of @key in an identity list, or NULL. */
const char *scr_identity_get(char *const *identity, const char *key);

enum scr_device_match {
	SCR_DEVICE_SAME,       /* a lasting key (partuuid, dm-uuid, md-uuid, wwn, serial, ptuuid, uuid)
				* agrees, and none of at least that strength disagrees */
	SCR_DEVICE_OTHER,      /* such a key disagrees */
	SCR_DEVICE_UNKNOWN,    /* nothing to compare by: a loop device with an empty disk, say */
};

/* Whether two identities are of one device: the strongest key that both sides know decides. Of a
 * partition the keys of its disk count only together with its number. Label and size may change on
 * the same device, and never decide. */
enum scr_device_match scr_device_compare(char *const *was, char *const *is);

/* The name of its directory in the state root, from partuuid, dm-uuid, md-uuid, wwn, or model and
 * serial, in this order ("partuuid-1234-01"), characters that systemd-escape would escape written
 * the same way, but '-' as it is; a partition without a PARTUUID gets "-partN" behind what its
 * disk has. 0; -ENOENT: nothing lasting is known (loop: pass the backing file or --state);
 * -ENAMETOOLONG: @size is too small. 256 bytes are enough: longer names are cut, plus CRC-32. */
int scr_device_state_name(const struct scr_device *d, char *out, size_t size);

/* "UUID=", "LABEL=", "PARTUUID=", "PARTLABEL=" arguments: the path in /dev, malloc'd in *path. 0;
 * -EINVAL: not such an argument; -ENOENT: no such device; -ENOTUNIQ: several (those that are the
 * same thing, as an md device and its members or a disk and its multipath, count as one: the one
 * on top); -EACCES: not found, and some devices could not be read; -ENOMEM. */
int scr_device_resolve_tag(const char *arg, char **path);

/* Whether targets @a and @b, paths or arguments as above, are the same file, directory or device as
 * far as this can be found out now. Devices are asked for their tags only if one of them is a
 * device. */
bool scr_device_same_target(const char *a, const char *b);

#endif

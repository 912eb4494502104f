/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The UUID of a file system: by libblkid from its superblock (root), by the kernel, or by the links
 * that udev made. All three say the same text.
 */
#include <config.h>
#include "dev/dev_internal.h"

#include <blkid/blkid.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/btrfs.h>
#include <linux/btrfs_tree.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/compiler.h"

#define BY_UUID "/dev/disk/by-uuid"

/* FS_IOC_GETFSUUID of Linux 6.9, which headers in use don't have yet. */
struct fs_uuid {
	uint8_t len;
	uint8_t uuid[16];
};

#define GET_FS_UUID _IOR(0x15, 0, struct fs_uuid)

static bool set_text(char *out, size_t size, const char *text)
{
	if (strlen(text) >= size)
		return false;
	strcpy(out, text);
	return true;
}

/* All zeros is how tools say that there is none. */
static bool set_bytes(char *out, size_t size, const uint8_t *u)
{
	static const uint8_t none[16];
	char text[37];

	if (memcmp(u, none, sizeof(none)) == 0)
		return false;
	for (unsigned int i = 0, at = 0; i < 16; i++) {
		if (i == 4 || i == 6 || i == 8 || i == 10)
			text[at++] = '-';
		at += (unsigned int)snprintf(text + at, sizeof(text) - at, "%02x", u[i]);
	}
	return set_text(out, size, text);
}

static bool by_libblkid(dev_t dev, char *out, size_t size)
{
	char name[256];
	const char *text;
	blkid_probe probe;
	bool found = false;

	if (scr_dev_name(dev, name, sizeof(name)) < 0)
		return false;
	probe = blkid_new_probe_from_filename(name);
	if (!probe)
		return false;
	blkid_probe_enable_superblocks(probe, 1);
	blkid_probe_set_superblocks_flags(probe, BLKID_SUBLKS_UUID | BLKID_SUBLKS_TYPE);
	if (blkid_do_safeprobe(probe) == 0 &&
	    blkid_probe_lookup_value(probe, "UUID", &text, NULL) == 0)
		found = set_text(out, size, text);
	blkid_free_probe(probe);
	return found;
}

/* btrfs has answered this for long, and for whole file systems of several devices. */
static bool by_btrfs(int fd, char *out, size_t size)
{
	struct btrfs_ioctl_fs_info_args info = {0};

	return ioctl(fd, BTRFS_IOC_FS_INFO, &info) == 0 && set_bytes(out, size, info.fsid);
}

static bool by_kernel(int fd, char *out, size_t size)
{
	struct fs_uuid u = {0};

	return ioctl(fd, GET_FS_UUID, &u) == 0 && u.len == sizeof(u.uuid) &&
	       set_bytes(out, size, u.uuid);
}

static bool by_udev(dev_t dev, char *out, size_t size)
{
	DIR *d = opendir(BY_UUID);
	bool found = false;
	struct dirent *e;
	struct stat st;

	while (d && !found && (e = readdir(d)))
		if (fstatat(dirfd(d), e->d_name, &st, 0) == 0 && S_ISBLK(st.st_mode) &&
		    st.st_rdev == dev)
			found = set_text(out, size, e->d_name);
	if (d)
		closedir(d);
	return found;
}

void scr_dev_uuid(int fd, bool btrfs, dev_t dev, char *out, size_t size)
{
	out[0] = '\0';
	if (btrfs && by_btrfs(fd, out, size))
		return;
	/* Without a device below (tmpfs, overlay) the kernel's UUID is a new one at every mount. */
	if (!dev || by_libblkid(dev, out, size) || by_kernel(fd, out, size))
		return;
	by_udev(dev, out, size);
}

void scr_dev_subvol(int fd, char *out, size_t size)
{
	struct btrfs_ioctl_ino_lookup_args args = {.objectid = BTRFS_FIRST_FREE_OBJECTID};

	out[0] = '\0';
	/* With treeid 0 it says in which subvolume @fd is; allowed to everybody for this inode. */
	if (ioctl(fd, BTRFS_IOC_INO_LOOKUP, &args) == 0)
		snprintf(out, size, "%" PRIu64, (uint64_t)args.treeid);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which file system a descriptor lives on. */
#include <config.h>
#include "dev/identity.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/compiler.h"
#include "dev/dev_internal.h"

static bool type_times_weak(const char *type)
{
	static const char *const weak[] = {"vfat", "msdos", "exfat", "cifs", "smb3", "9p"};

	if (strncmp(type, "fuse", 4) == 0)
		return true;
	for (size_t i = 0; i < SCR_ARRAY_SIZE(weak); i++)
		if (strcmp(type, weak[i]) == 0)
			return true;
	return false;
}

/* The block device below: st_dev, or for file systems with anonymous numbers (btrfs) the device
 * that mountinfo names. 0: there is none. */
static dev_t block_device(const struct scr_mount *m)
{
	struct stat st;

	if (major(m->dev) != 0)
		return m->dev;
	if (m->source[0] == '/' && stat(m->source, &st) == 0 && S_ISBLK(st.st_mode))
		return st.st_rdev;
	return 0;
}

static int fill_space(int fd, struct scr_fs_info *out)
{
	struct statvfs vfs;
	struct statfs fs;
	uint32_t id[2];

	if (fstatfs(fd, &fs) < 0 || fstatvfs(fd, &vfs) < 0)
		return -errno;
	memcpy(id, &fs.f_fsid, sizeof(id));
	out->fsid = (uint64_t)id[1] << 32 | id[0];
	out->read_only = vfs.f_flag & ST_RDONLY;
	out->total = (uint64_t)vfs.f_blocks * vfs.f_frsize;
	out->available = (uint64_t)(geteuid() == 0 ? vfs.f_bfree : vfs.f_bavail) * vfs.f_frsize;
	return 0;
}

/* A descriptor that ioctl takes, for one that may be O_PATH: -errno if there is none. */
static int open_for_ioctl(int fd)
{
	char path[40];
	struct stat st;

	if (fstat(fd, &st) < 0 || !(S_ISDIR(st.st_mode) || S_ISREG(st.st_mode)))
		return -EINVAL;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
	return fd < 0 ? -errno : fd;
}

static void fill_by_mount(int fd, const struct scr_mount *m, struct scr_fs_info *out)
{
	bool btrfs = strcmp(m->type, "btrfs") == 0;
	dev_t dev = block_device(m);
	int ioctl_fd = open_for_ioctl(fd);

	snprintf(out->type, sizeof(out->type), "%s", m->type);
	out->times_weak = type_times_weak(m->type);
	out->lazytime = m->lazytime;
	out->rotational = scr_dev_rotational(dev, NULL);
	scr_dev_uuid(ioctl_fd, btrfs, dev, out->uuid, sizeof(out->uuid));
	if (btrfs)
		scr_dev_subvol(ioctl_fd, out->subvol, sizeof(out->subvol));
	if (ioctl_fd >= 0)
		close(ioctl_fd);
}

/* Without /proc: the magic number is all there is. */
static void fill_by_magic(int fd, struct scr_fs_info *out)
{
	struct statfs fs;

	if (fstatfs(fd, &fs) == 0)
		snprintf(out->type, sizeof(out->type), "0x%lx", (unsigned long)fs.f_type);
}

int scr_fs_info(int fd, struct scr_fs_info *out)
{
	struct scr_fs_info info = {0};
	struct scr_mount *m = malloc(sizeof(*m));
	int ret = m ? fill_space(fd, &info) : -ENOMEM;

	if (ret < 0)
		goto out;
	ret = scr_mount_of(fd, m);
	/* Only where there is no such list: a file system must not change its name for an error. */
	if (ret == -ENOENT || ret == -EACCES || ret == -ENOSYS || ret == -EPERM)
		fill_by_magic(fd, &info);
	else if (ret < 0)
		goto out;
	else
		fill_by_mount(fd, m, &info);
	ret = 0;
	*out = info;
out:
	free(m);
	return ret;
}

bool scr_fs_same(const char *type_a, const char *uuid_a, const char *subvol_a, uint64_t fsid_a,
		 const struct scr_fs_info *b)
{
	if (strcmp(type_a, b->type) != 0)
		return false;
	if (!uuid_a[0] || !b->uuid[0])
		return fsid_a == b->fsid;
	if (strcmp(uuid_a, b->uuid) != 0)
		return false;
	return !subvol_a[0] || !b->subvol[0] || strcmp(subvol_a, b->subvol) == 0;
}

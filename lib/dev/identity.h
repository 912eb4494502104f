/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which file system a descriptor lives on, by what survives a reboot: type and UUID from
 * libblkid, for btrfs with the subvolume; else f_fsid of statfs(2). Never st_dev. */
#ifndef SCR_DEV_IDENTITY_H
#define SCR_DEV_IDENTITY_H

#include <stdbool.h>
#include <stdint.h>

struct scr_fs_info {
	char type[32];       /* "ext4", "xfs", "btrfs", "tmpfs", ...; as mountinfo says */
	char uuid[64];       /* empty if it can't be learned */
	char subvol[32];     /* btrfs: subvolume id */
	uint64_t fsid;       /* f_fsid */
	bool times_weak;     /* fuse, vfat, exfat, cifs, 9p: ctime and inode are ignored by default */
	bool read_only;
	bool lazytime;
	bool rotational;     /* backed by a rotational device, as far as sysfs tells */
	uint64_t total, available; /* bytes; available to the effective user */
};

/* Fills @out for the file system of @fd. 0 or -errno. */
int scr_fs_info(int fd, struct scr_fs_info *out);

/* Whether two identities are of one file system: type and UUID (and subvolume) where both know
 * them, else type and fsid. A UUID known on one side only does not decide. */
bool scr_fs_same(const char *type_a, const char *uuid_a, const char *subvol_a, uint64_t fsid_a,
		 const struct scr_fs_info *b);

#endif

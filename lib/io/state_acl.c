/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* POSIX ACLs as the kernel stores them in the extended attribute system.posix_acl_access.
 *
 * linux/posix_acl_xattr.h: a little-endian 32-bit version (2), then entries of eight bytes: 16 bits
 * tag, 16 bits permissions (4 read, 2 write, 1 execute), 32 bits user or group. What a named user,
 * a named group and the owning group may do is their entry AND the entry "mask".
 */
#include <config.h>
#include "io/state_internal.h"

#include "base/endian.h"

enum {
	ACL_VERSION = 2,
	ACL_HEADER = 4,
	ACL_ENTRY = 8,
	ACL_WRITE = 2,
	TAG_USER = 0x02,
	TAG_GROUP = 0x08,
	TAG_MASK = 0x10,
};

static bool mask_lets_write(const uint8_t *acl, size_t len)
{
	for (size_t i = ACL_HEADER; i < len; i += ACL_ENTRY)
		if (scr_get_le16(acl + i) == TAG_MASK)
			return scr_get_le16(acl + i + 2) & ACL_WRITE;
	return true;
}

bool scr_acl_lets_write(const uint8_t *acl, size_t len, uid_t euid, struct scr_acl_writer *who)
{
	*who = (struct scr_acl_writer){0};
	if (len < ACL_HEADER || (len - ACL_HEADER) % ACL_ENTRY || scr_get_le32(acl) != ACL_VERSION)
		return true;
	if (!mask_lets_write(acl, len))
		return false;
	for (size_t i = ACL_HEADER; i < len; i += ACL_ENTRY) {
		uint16_t tag = scr_get_le16(acl + i);
		uint32_t id = scr_get_le32(acl + i + 4);

		if (!(scr_get_le16(acl + i + 2) & ACL_WRITE))
			continue;
		if (tag == TAG_GROUP || (tag == TAG_USER && id != 0 && id != euid)) {
			*who = (struct scr_acl_writer){tag == TAG_GROUP, id};
			return true;
		}
	}
	return false;
}

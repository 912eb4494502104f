/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Settings of a manifest: their syntax, and what they mean for a pass. */
#ifndef SCR_PASS_POLICY_H
#define SCR_PASS_POLICY_H

#include "dev/identity.h"
#include "manifest/record.h"
#include "walk/filter.h"

/* What is wrong with a setting, for people. */
struct scr_setting_error {
	char text[512];
};

void scr_settings_default(struct scr_settings *s); /* no pairs */
void scr_settings_free(struct scr_settings *s);

/*
 * Applies "KEY=VALUE" to @s. Repeatable keys (exclude, frozen, copy): "KEY=VALUE" and "KEY+=VALUE"
 * add, "KEY=" removes all of them. Keys: block-size, parity (off | 2..256), parity-unit, exclude,
 * frozen, ctime, inode (use | ignore), mtime-window (seconds), stale-after (days), copy,
 * cross-mounts (yes | no), content (auto | fixed | changing). @has_records: the manifest is not empty, so the geometry is fixed.
 * 0, -EINVAL (@err says why), -ENOMEM.
 */
int scr_settings_apply(struct scr_settings *s, const char *pair, bool has_records,
		       struct scr_setting_error *err);

/* Calls @fn for every setting, defaults included, in a fixed order. */
void scr_settings_each(const struct scr_settings *s, const struct scr_fs_info *fs,
		       void (*fn)(void *arg, const char *key, const char *value), void *arg);

/* Setting content=: what to think of bytes of a device that no evidence tells about. */
enum scr_device_content {
	SCR_CONTENT_AUTO,       /* fixed but for stack members and file systems */
	SCR_CONTENT_FIXED,
	SCR_CONTENT_CHANGING,
};

/* Settings, made ready for use. */
struct scr_policy {
	bool use_ctime, use_inode;
	bool cross_mounts;
	enum scr_device_content content;
	int64_t mtime_window_ns;
	int64_t stale_after_ns;
	struct scr_filter *exclude, *frozen;
};

/* @fs: the target's file system, for defaults that depend on its type. 0, -EINVAL (a manifest
 * with settings that this version can't read; @err), -ENOMEM. */
int scr_policy_init(struct scr_policy *p, const struct scr_settings *s,
		    const struct scr_fs_info *fs, struct scr_setting_error *err);
void scr_policy_free(struct scr_policy *p);

#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Putting a new manifest in the place of the old one, in one step.
 *
 *	link   manifest -> manifest.1.tmp     a kill here: recover removes manifest.1.tmp
 *	rename manifest.1.tmp -> manifest.1   a kill here: manifest and manifest.1 are one inode
 *	rename TMP -> manifest
 *	fsync  the directory
 *
 * "manifest" is a whole one at every moment. Where a publish was cut short, the old manifest and
 * the journal still say all that is known, so recovery takes the superfluous name away and the
 * next pass publishes again.
 */
#include <config.h>
#include "io/state_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PREVIOUS_TEMPORARY SCR_MANIFEST_PREVIOUS SCR_TEMPORARY_SUFFIX

/* The names that are a second link of the manifest; nothing else is touched. */
struct twin {
	const struct scr_state *s;
	struct stat manifest;
};

static int remove_twin(void *arg, const char *name)
{
	const struct twin *t = arg;
	struct stat st;

	if (strcmp(name, SCR_MANIFEST_PREVIOUS) != 0 && !scr_state_name_temporary(name))
		return 0;
	if (fstatat(t->s->dirfd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return 0;
	if (st.st_dev != t->manifest.st_dev || st.st_ino != t->manifest.st_ino)
		return 0;
	return unlinkat(t->s->dirfd, name, 0) < 0 ? -errno : 0;
}

int scr_state_recover(const struct scr_state *s, struct scr_why *why)
{
	struct twin t = {.s = s};
	int ret;

	if (fstatat(s->dirfd, SCR_MANIFEST_NAME, &t.manifest, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT ? 0 : scr_why_errno(why, -errno, "look into", s->path);
	if (t.manifest.st_nlink < 2)
		return 0;
	ret = scr_dir_each(s->dirfd, remove_twin, &t);
	if (ret == 0)
		ret = scr_state_sync(s);
	return ret < 0 ? scr_why_errno(why, ret, "complete the last publish in", s->path) : 0;
}

/* Without hard links there is one copy only, and manifest.1 would be an older one: it goes. */
static bool no_hard_links(int err)
{
	return err == EPERM || err == EOPNOTSUPP || err == ENOSYS || err == EMLINK;
}

/* The present manifest becomes manifest.1, keeping its own name. */
static int keep_previous(const struct scr_state *s)
{
	int ret = scr_state_unlink(s, PREVIOUS_TEMPORARY);

	if (ret < 0)
		return ret;
	if (linkat(s->dirfd, SCR_MANIFEST_NAME, s->dirfd, PREVIOUS_TEMPORARY, 0) < 0) {
		if (errno == ENOENT)
			return 0; /* the first one */
		return no_hard_links(errno) ? scr_state_unlink(s, SCR_MANIFEST_PREVIOUS) : -errno;
	}
	if (renameat(s->dirfd, PREVIOUS_TEMPORARY, s->dirfd, SCR_MANIFEST_PREVIOUS) < 0)
		return -errno;
	return 0;
}

int scr_state_publish(const struct scr_state *s, const char *tmp, struct scr_why *why)
{
	int ret = scr_state_recover(s, why);

	if (ret < 0)
		return ret;
	ret = keep_previous(s);
	if (ret < 0)
		return scr_why_errno(why, ret, "keep the previous manifest in", s->path);
	if (renameat(s->dirfd, tmp, s->dirfd, SCR_MANIFEST_NAME) < 0)
		return scr_why_errno(why, -errno, "publish the manifest in", s->path);
	ret = scr_state_sync(s);
	return ret < 0 ? scr_why_errno(why, ret, "sync", s->path) : 0;
}

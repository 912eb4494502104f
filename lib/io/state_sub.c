/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Subdirectories of the state: parity/ and undo/. */
#include <config.h>
#include "io/state_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int sub_errno(const struct scr_state *s, int err, const char *doing, const char *name,
		     struct scr_why *why)
{
	char *path = scr_path_join(s->path, name);

	if (path)
		scr_why_errno(why, err, doing, path);
	free(path);
	return err;
}

/* The directory's own entry is durable before anything in it is. */
static int make_sub(const struct scr_state *s, const char *name)
{
	if (mkdirat(s->dirfd, name, 0700) < 0)
		return errno == EEXIST ? 0 : -errno;
	/* Against the umask; file systems without modes refuse, and that is all right. */
	if (fchmodat(s->dirfd, name, 0700, 0) < 0 && errno != EPERM && errno != EOPNOTSUPP)
		return -errno;
	return scr_state_sync(s);
}

struct sub {
	const struct scr_state *dir;
	enum scr_state_level level;
	bool reading;
	struct scr_why *why;
};

static int check_entry(void *arg, const char *name)
{
	const struct sub *sub = arg;
	struct stat st;

	if (scr_state_name_temporary(name) || !scr_state_name_defined(sub->level, name, false))
		return 0;
	if (fstatat(sub->dir->dirfd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT ? 0 : -errno;
	return scr_state_check_file(sub->dir->dirfd, sub->dir->path, name, &st, -1, sub->reading,
				    sub->why);
}

static int check_sub(struct sub *sub)
{
	struct stat st;
	int ret;

	if (fstat(sub->dir->dirfd, &st) < 0)
		return -errno;
	ret = scr_state_check_access(sub->dir->path, &st, sub->dir->dirfd, sub->reading, sub->why);
	return ret < 0 ? ret : scr_state_each(sub->dir, check_entry, sub);
}

int scr_state_open_sub(const struct scr_state *s, const char *name, bool create, bool reading,
		       struct scr_state *out, struct scr_why *why)
{
	struct scr_state dir = {.dirfd = -1};
	struct sub sub = {&dir, scr_state_name_level(SCR_STATE_TOP, name), reading, why};
	int ret = create ? make_sub(s, name) : 0;

	if (ret < 0)
		return sub_errno(s, ret, "create", name, why);
	dir.dirfd = openat(s->dirfd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (dir.dirfd < 0)
		return sub_errno(s, -errno, "open", name, why);
	dir.path = scr_path_join(s->path, name);
	if (!dir.path) {
		close(dir.dirfd);
		return -ENOMEM;
	}
	ret = check_sub(&sub);
	if (ret < 0) {
		scr_state_close(&dir);
		return ret == -EPERM ? ret : sub_errno(s, ret, "look into", name, why);
	}
	*out = dir;
	return 0;
}

int scr_state_each(const struct scr_state *s, int (*fn)(void *arg, const char *name), void *arg)
{
	return scr_dir_each(s->dirfd, fn, arg);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What is demanded of a state directory and of each file in it before it is used. */
#include <config.h>
#include "io/state_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/xattr.h>
#include <unistd.h>

bool scr_stat_writable_by_others(const struct stat *st)
{
	if (st->st_uid != 0 && st->st_uid != geteuid())
		return true;
	return st->st_mode & (S_IWGRP | S_IWOTH);
}

static int check_acl(const char *path, int fd, struct scr_why *why)
{
	uint8_t acl[4096];
	struct scr_acl_writer who;
	ssize_t n = fgetxattr(fd, "system.posix_acl_access", acl, sizeof(acl));

	if (n < 0 && errno != ERANGE)
		return 0; /* none, or the file system has no ACLs */
	if (n >= 0 && !scr_acl_lets_write(acl, (size_t)n, geteuid(), &who))
		return 0;
	if (n < 0 || (!who.group && who.id == 0))
		return scr_why_set(why, -EPERM, "%.4096s has an ACL that may let others write to "
				   "it: remove it (setfacl -b)", path);
	return scr_why_set(why, -EPERM, "%.4096s can be written by %s %u through an ACL: remove "
			   "the ACL (setfacl -b) if you trust what is there, else remove %s",
			   path, who.group ? "group" : "user", (unsigned int)who.id, "it");
}

/* What another user made he may have forged: a manifest that fits changed files would say that all
 * is right. Only root, who could anyway, is believed besides the effective user, and never written. */
static int check_owner(const char *path, uid_t owner, bool reading, struct scr_why *why)
{
	const uid_t self = geteuid();

	if (owner == self || (reading && owner == 0))
		return 0;
	if (reading)
		return scr_why_set(why, -EPERM, "%.4000s belongs to user %u, neither root nor you "
				   "(user %u), who may have made up what it says: run this as that "
				   "user, keep your own state elsewhere with --state DIR, or name "
				   "the manifest with -m FILE if you trust it nevertheless", path,
				   (unsigned int)owner, (unsigned int)self);
	return scr_why_set(why, -EPERM, "%.4096s belongs to user %u and not to you (user %u): run "
			   "this as that user, or keep your own state elsewhere with --state DIR",
			   path, (unsigned int)owner, (unsigned int)self);
}

int scr_state_check_access(const char *path, const struct stat *st, int fd, bool reading,
			   struct scr_why *why)
{
	int ret = check_owner(path, st->st_uid, reading, why);

	if (ret < 0)
		return ret;
	/* First, because it says more than the group bits, which are the mask of an ACL. */
	ret = fd >= 0 ? check_acl(path, fd, why) : 0;
	if (ret < 0)
		return ret;
	if (st->st_mode & (S_IWGRP | S_IWOTH))
		return scr_why_set(why, -EPERM, "%.4096s can be written by others (mode %04o): "
				   "chmod go-w it if you trust what is there, else remove it",
				   path, (unsigned int)st->st_mode & 07777);
	return 0;
}

struct link_count {
	int dirfd;
	dev_t dev;
	ino_t ino;
	nlink_t found;
};

static int count_link(void *arg, const char *name)
{
	struct link_count *c = arg;
	struct stat st;

	if (strcmp(name, SCR_MANIFEST_NAME) != 0 && strcmp(name, SCR_MANIFEST_PREVIOUS) != 0 &&
	    !scr_state_name_temporary(name))
		return 0;
	if (fstatat(c->dirfd, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && st.st_dev == c->dev &&
	    st.st_ino == c->ino)
		c->found++;
	return 0;
}

/* Several links are a publish cut short if all of them are names of the manifest in here. */
static bool links_are_ours(int dirfd, const struct stat *st)
{
	struct link_count c = {dirfd, st->st_dev, st->st_ino, 0};

	return scr_dir_each(dirfd, count_link, &c) == 0 && c.found == st->st_nlink;
}

static int check_file(int dirfd, const char *path, const struct stat *st, int fd, bool reading,
		      struct scr_why *why)
{
	if (S_ISLNK(st->st_mode))
		return scr_why_set(why, -EPERM, "%.4096s is a symbolic link, which state never "
				   "is: remove it", path);
	if (!S_ISREG(st->st_mode))
		return scr_why_set(why, -EPERM, "%.4096s is no regular file: remove it", path);
	if (st->st_nlink > 1 && !links_are_ours(dirfd, st))
		return scr_why_set(why, -EPERM, "%.4096s has %lu links, so it can be changed by "
				   "another name: replace it by a copy of itself if you trust "
				   "what is there", path, (unsigned long)st->st_nlink);
	return scr_state_check_access(path, st, fd, reading, why);
}

int scr_state_check_file(int dirfd, const char *dirpath, const char *name, const struct stat *st,
			 int fd, bool reading, struct scr_why *why)
{
	char *path = scr_path_join(dirpath, name);
	int ret = path ? check_file(dirfd, path, st, fd, reading, why) : -ENOMEM;

	free(path);
	return ret;
}

struct content {
	int dirfd;
	const char *path;
	bool reading, bare;
	struct scr_why *why;
};

static int check_subdir(const struct content *c, const char *name, const struct stat *st)
{
	char *path = scr_path_join(c->path, name);
	int ret;

	if (!path)
		return -ENOMEM;
	if (S_ISDIR(st->st_mode))
		ret = scr_state_check_access(path, st, -1, c->reading, c->why);
	else
		ret = scr_why_set(c->why, -EPERM, "%.4096s is no directory: remove it", path);
	free(path);
	return ret;
}

static int check_entry(void *arg, const char *name)
{
	struct content *c = arg;
	struct stat st;
	bool temporary = scr_state_name_temporary(name);

	if (!temporary)
		c->bare = false;
	if (fstatat(c->dirfd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT ? 0 : -errno;
	if (scr_state_name_level(SCR_STATE_TOP, name) != SCR_STATE_NONE)
		return check_subdir(c, name, &st);
	/* Temporary names are never read: scr_state_new_file() looks at what it replaces. */
	if (temporary || !scr_state_name_defined(SCR_STATE_TOP, name, false))
		return 0;
	return scr_state_check_file(c->dirfd, c->path, name, &st, -1, c->reading, c->why);
}

int scr_state_check_content(int dirfd, const char *path, bool reading, bool *bare,
			    struct scr_why *why)
{
	struct content c = {dirfd, path, reading, true, why};
	int ret;

	/* A sentence of a refusal must not be overwritten by that of a failing call. */
	if (why)
		why->text[0] = '\0';
	ret = scr_dir_each(dirfd, check_entry, &c);
	if (ret < 0 && why && !why->text[0])
		return scr_why_errno(why, ret, "look at what is in", path);
	if (ret == 0)
		*bare = c.bare;
	return ret;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Creating the state directory. */
#include <config.h>
#include "io/state_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Creates the state root and what is missing above it, and checks that it is safe. */
static int make_root(const char *in_root, struct scr_why *why)
{
	const char *slash = strrchr(in_root, '/');
	char *root = strndup(in_root, (size_t)(slash - in_root));
	struct stat st;
	int ret = 0;

	if (!root)
		return -ENOMEM;
	for (char *p = strchr(root + 1, '/'); p; p = strchr(p + 1, '/')) {
		*p = '\0';
		mkdir(root, 0755); /* what fails here fails below */
		*p = '/';
	}
	if (mkdir(root, 0700) < 0 && errno != EEXIST)
		ret = scr_why_errno(why, -errno, "create", root);
	else if (stat(root, &st) < 0)
		ret = scr_why_errno(why, -errno, "look at", root);
	else if (scr_stat_writable_by_others(&st))
		ret = scr_why_set(why, -EPERM, "%.4096s can be written by others (owner %u, mode "
				  "%04o): chown it to root and chmod go-w it", root,
				  (unsigned int)st.st_uid, (unsigned int)st.st_mode & 07777);
	free(root);
	return ret;
}

/* mkdir, and mode 0700 whatever the umask and a default ACL make of it. */
static int make_dir(int parentfd, const char *name)
{
	int fd;

	if (mkdirat(parentfd, name, 0700) < 0)
		return -errno;
	fd = openat(parentfd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 && errno == EACCES) /* a umask that takes the owner's bits */
		return fchmodat(parentfd, name, 0700, AT_SYMLINK_NOFOLLOW) < 0 ? -errno : 0;
	if (fd < 0)
		return -errno;
	/* File systems without modes refuse; what counts is checked when it is opened. */
	if (fchmod(fd, 0700) < 0 && errno != EPERM && errno != EOPNOTSUPP) {
		int err = errno;

		close(fd);
		return -err;
	}
	close(fd);
	return 0;
}

/* Root creates nothing where others could swap it; what scr_state_place() saw may have changed. */
static int check_parent(int parentfd, const char *path, struct scr_why *why)
{
	struct stat st;

	if (fstat(parentfd, &st) < 0)
		return scr_why_errno(why, -errno, "look at the directory of", path);
	if (geteuid() == 0 && scr_stat_writable_by_others(&st))
		return scr_why_set(why, -EPERM, "the directory of %.4096s can be written by others "
				   "by now: try again, or keep the state elsewhere with --state "
				   "DIR", path);
	return 0;
}

static int sync_dir(int parentfd)
{
	int fd = openat(parentfd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), ret = 0;

	if (fd < 0)
		return errno == EACCES ? 0 : -errno; /* may be written, not read */
	if (fsync(fd) < 0 && errno != EINVAL)
		ret = -errno;
	close(fd);
	return ret;
}

static int create_at(const struct scr_state_place *p, const char *path, struct scr_why *why)
{
	const bool in_target = path == p->in_target;
	const char *name;
	int parentfd = scr_open_parent(path, in_target ? O_NOFOLLOW : 0, &name, why), ret;
	char reason[128];

	if (parentfd < 0)
		return parentfd;
	ret = in_target ? check_parent(parentfd, path, why) : 0;
	if (ret < 0)
		goto out;
	ret = make_dir(parentfd, name);
	if (ret == -EEXIST)
		ret = 0;
	if (ret == 0) /* the name must be on disk before anything is that relies on it */
		ret = sync_dir(parentfd);
	if (ret < 0)
		scr_why_set(why, ret, "cannot create %.4000s: %s%s", path,
			    strerror_r(-ret, reason, sizeof(reason)),
			    in_target ? "; the state can be kept elsewhere with --state DIR" : "");
out:
	close(parentfd);
	return ret;
}

int scr_state_create(const struct scr_state_place *p, struct scr_state *out, struct scr_why *why)
{
	int ret = scr_state_find(p, false, true, out, why);

	if (ret != -ENOENT)
		return ret;
	ret = p->use_root ? make_root(p->in_root, why) : 0;
	if (ret == 0)
		ret = create_at(p, scr_place_path(p, p->use_root), why);
	if (ret == 0)
		ret = scr_state_find(p, false, true, out, why);
	if (ret == 0)
		out->created = true;
	return ret;
}

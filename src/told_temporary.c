/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The temporary file that --metrics writes first, beside FILE: FILE.bitscrub-XXXXXX.
 *
 * Whoever writes to one holds a lock (flock) on it, so one that is not locked was left behind by a
 * process that was killed. It may also be one whose owner has not come to locking it yet. Therefore
 * who removes one locks it too; and who has locked his own looks whether it still has a name.
 */
#include <config.h>
#include "told.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define MARK ".bitscrub-"
#define RANDOM 6u /* characters behind it */

/* Without locks nobody can tell ours from one that was left behind: then we just go on. */
static void lock(int fd)
{
	while (flock(fd, LOCK_EX) < 0 && errno == EINTR)
		;
}

/* A new one, locked, in *fd. 1: somebody took it for one that was left behind; -errno. */
static int create(const char *file, char **name, int *fd)
{
	struct stat st;
	int r;

	if (asprintf(name, "%s" MARK "XXXXXX", file) < 0)
		return -ENOMEM;
	*fd = mkostemp(*name, O_CLOEXEC);
	if (*fd < 0) {
		r = -errno;
		free(*name);
		return r;
	}
	lock(*fd);
	r = fstat(*fd, &st) < 0 ? -errno : st.st_nlink == 0;
	if (r != 0) {
		if (r < 0)
			unlink(*name);
		close(*fd);
		free(*name);
	}
	return r;
}

int metrics_temporary(const char *file, char **name)
{
	int fd, r;

	do
		r = create(file, name, &fd);
	while (r == 1);
	return r < 0 ? r : fd;
}

/* ---- what was left behind -------------------------------------------------------------------- */

static bool is_ours(const struct stat *st)
{
	return S_ISREG(st->st_mode) && st->st_uid == geteuid() && st->st_nlink == 1;
}

/* Removes @name in @dir, if it is a file of ours that nobody holds. */
static void remove_stale(int dir, const char *name)
{
	struct stat st, now;
	int fd;

	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0 || !is_ours(&st))
		return;
	fd = openat(dir, name, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return;
	/* It may have become FILE meanwhile, and the name another's. */
	if (flock(fd, LOCK_EX | LOCK_NB) == 0 && fstat(fd, &st) == 0 && is_ours(&st) &&
	    fstatat(dir, name, &now, AT_SYMLINK_NOFOLLOW) == 0 && now.st_dev == st.st_dev &&
	    now.st_ino == st.st_ino)
		unlinkat(dir, name, 0);
	close(fd);
}

static bool is_temporary(const char *name, const char *base)
{
	size_t len = strlen(base);

	return !strncmp(name, base, len) && !strncmp(name + len, MARK, strlen(MARK)) &&
	       strlen(name + len) == strlen(MARK) + RANDOM;
}

void metrics_remove_stale(const char *file)
{
	const char *slash = strrchr(file, '/'), *base = slash ? slash + 1 : file;
	char *dir = slash ? strndup(file, (size_t)(base - file)) : strdup(".");
	DIR *d = dir ? opendir(dir) : NULL;
	struct dirent *e;

	while (d && (e = readdir(d)))
		if (is_temporary(e->d_name, base))
			remove_stale(dirfd(d), e->d_name);
	if (d)
		closedir(d);
	free(dir);
}

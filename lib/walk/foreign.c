/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Telling the state directories of other passes from ordinary directories. */
#include <config.h>
#include "walk/walk_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "walk/resolve_internal.h"

bool scr_foreign_trusted(const struct stat *st)
{
	return st->st_uid == 0 || st->st_uid == geteuid();
}

/* Reads the beginning of the manifest: its length or -errno. -EINVAL: no regular file. */
static ssize_t read_head(int dirfd, char *head, size_t size)
{
	int pathfd = scr_step(dirfd, SCR_MANIFEST_NAME, O_PATH, false), fd;
	struct stat st;
	ssize_t n;

	if (pathfd < 0)
		return pathfd;
	if (fstat(pathfd, &st) < 0 || !S_ISREG(st.st_mode)) {
		close(pathfd);
		return -EINVAL;
	}
	fd = scr_reopen_regular(pathfd, dirfd, SCR_MANIFEST_NAME, &st);
	close(pathfd);
	if (fd < 0)
		return fd;
	n = pread(fd, head, size, 0);
	if (n < 0)
		n = -errno;
	close(fd);
	return n;
}

enum scr_foreign scr_foreign_look(int fd)
{
	char head[SCR_MANIFEST_MAGIC_LEN];
	ssize_t n = read_head(fd, head, sizeof(head));
	struct stat st;

	if (n >= 0)
		return scr_manifest_head_fits(head, (size_t)n) ? SCR_FOREIGN_STATE : SCR_FOREIGN_NO;
	if ((n == -EACCES || n == -EPERM) && fstat(fd, &st) == 0 && scr_foreign_trusted(&st))
		return SCR_FOREIGN_CLOSED;
	return SCR_FOREIGN_NO;
}

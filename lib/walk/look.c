/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* One path, looked at as the walk does. */
#include <config.h>
#include "walk/look.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "walk/resolve_internal.h"
#include "walk/walk_internal.h"

/* Lists the directory @fd, which is taken over. */
static int list(int fd)
{
	struct scr_names names = {0};
	char *buf = malloc(SCR_WALK_BUFFER);
	int r = buf ? scr_names_list(&names, fd, buf, SCR_WALK_BUFFER) : -ENOMEM;

	scr_names_free(&names);
	free(buf);
	close(fd);
	return r;
}

static int list_beneath(int rootfd, const char *path, size_t len, bool same_fs)
{
	bool root = len == 1 && path[0] == '.';
	int dir = scr_open_dir_beneath(rootfd, path, root ? 0 : len, same_fs), fd, r;

	if (dir < 0)
		return dir;
	fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_NONBLOCK | O_CLOEXEC);
	r = fd < 0 ? -errno : list(fd);
	close(dir);
	return r;
}

int scr_look_beneath(int rootfd, const char *path, size_t len, bool same_fs)
{
	struct stat st;
	int r = scr_stat_beneath(rootfd, path, len, &st);

	if (r == 0 && S_ISDIR(st.st_mode))
		r = list_beneath(rootfd, path, len, same_fs);
	return r == -ENOENT || r == -ENOTDIR || r == -ELOOP || r == -EXDEV ? 0 : r;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* copy=DIR: a second copy of the manifest elsewhere, after publishing. */
#include <config.h>
#include "pass/copies.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int copy_bytes(int from, int to)
{
	char buf[1 << 16];
	uint64_t at = 0;
	ssize_t n;
	int r = 0;

	while (r == 0 && (n = pread(from, buf, sizeof(buf), (off_t)at)) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		r = scr_write_all(to, buf, (size_t)n);
		at += (uint64_t)n;
	}
	return r;
}

static int copy_to(struct scr_pass *p, int from, int dirfd, const char *name)
{
	char tmp[300];
	int fd, r;

	(void)p;
	snprintf(tmp, sizeof(tmp), "%s%s", name, SCR_TEMPORARY_SUFFIX);
	unlinkat(dirfd, tmp, 0);
	fd = openat(dirfd, tmp, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	r = copy_bytes(from, fd);
	if (r == 0 && fsync(fd) < 0)
		r = -errno;
	close(fd);
	if (r == 0 && renameat(dirfd, tmp, dirfd, name) < 0)
		r = -errno;
	if (r == 0 && fsync(dirfd) < 0)
		r = -errno;
	if (r < 0)
		unlinkat(dirfd, tmp, 0);
	return r;
}

static int make_copy(struct scr_pass *p, const char *dir)
{
	char *escaped = scr_state_escape(p->path), name[260];
	struct scr_why why;
	int dirfd, from, r;

	if (!escaped)
		return -ENOMEM;
	snprintf(name, sizeof(name), "%s.manifest", escaped);
	free(escaped);
	dirfd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dirfd < 0)
		return -errno;
	from = scr_state_open_file(&p->state, SCR_MANIFEST_NAME, O_RDONLY, false, &why);
	r = from < 0 ? from : copy_to(p, from, dirfd, name);
	if (from >= 0)
		close(from);
	close(dirfd);
	return r;
}

int scr_publish_copies(struct scr_pass *p)
{
	for (char **s = p->header.settings.pairs; s && *s; s++) {
		int r;

		if (strncmp(*s, "copy=", 5) != 0)
			continue;
		r = make_copy(p, *s + 5);
		if (r < 0)
			scr_trouble(p, NULL, 0, -r, "cannot write a copy of the manifest to %s",
				    *s + 5);
	}
	return 0;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The sentences that failing calls on the state directory say, and small helpers. */
#include <config.h>
#include "io/state_internal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int scr_why_set(struct scr_why *why, int err, const char *fmt, ...)
{
	va_list ap;

	if (!why)
		return err;
	va_start(ap, fmt);
	vsnprintf(why->text, sizeof(why->text), fmt, ap);
	va_end(ap);
	return err;
}

int scr_why_errno(struct scr_why *why, int err, const char *doing, const char *path)
{
	char reason[128];

	return scr_why_set(why, err, "cannot %s %.4096s: %s", doing, path,
			   strerror_r(-err, reason, sizeof(reason)));
}

char *scr_path_join(const char *dir, const char *name)
{
	size_t n = strlen(dir);
	char *path;

	if (asprintf(&path, "%s%s%s", dir, n > 0 && dir[n - 1] == '/' ? "" : "/", name) < 0)
		return NULL;
	return path;
}

int scr_dir_each(int dirfd, int (*fn)(void *arg, const char *name), void *arg)
{
	int fd = openat(dirfd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *e;
	int ret = 0;

	if (!dir) {
		ret = -errno;
		if (fd >= 0)
			close(fd);
		return ret;
	}
	while (ret == 0) {
		errno = 0;
		e = readdir(dir);
		if (!e) {
			ret = -errno;
			break;
		}
		if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
			ret = fn(arg, e->d_name);
	}
	closedir(dir);
	return ret;
}

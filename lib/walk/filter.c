/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A list of patterns. */
#include <config.h>
#include "walk/filter.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "walk/glob.h"

struct scr_filter {
	struct scr_glob **globs;
	size_t count;
};

struct scr_filter *scr_filter_new(void)
{
	return calloc(1, sizeof(struct scr_filter));
}

int scr_filter_add(struct scr_filter *f, const char *pattern, const char **why)
{
	struct scr_glob **globs = reallocarray(f->globs, f->count + 1, sizeof(*globs));
	int ret;

	if (!globs)
		return -ENOMEM;
	f->globs = globs;
	ret = scr_glob_new(pattern, &globs[f->count], why);
	if (ret == 0)
		f->count++;
	return ret;
}

bool scr_filter_match(const struct scr_filter *f, const char *path, size_t len, bool is_dir)
{
	for (size_t i = 0; i < f->count; i++)
		if (scr_glob_match(f->globs[i], path, len, is_dir))
			return true;
	return false;
}

bool scr_filter_covers(const struct scr_filter *f, const char *path, size_t len)
{
	const char *p = path, *end = path + len;

	if (f->count == 0)
		return false;
	while ((p = memchr(p, '/', (size_t)(end - p)))) {
		if (scr_filter_match(f, path, (size_t)(p - path), true))
			return true;
		p++;
	}
	return scr_filter_match(f, path, len, false);
}

bool scr_filter_empty(const struct scr_filter *f)
{
	return f->count == 0;
}

void scr_filter_free(struct scr_filter *f)
{
	if (!f)
		return;
	for (size_t i = 0; i < f->count; i++)
		scr_glob_free(f->globs[i]);
	free(f->globs);
	free(f);
}

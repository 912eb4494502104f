/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* PATH arguments: which recorded paths a verb is about. */
#include <config.h>
#include "pass/select.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/path.h"

/* An absolute path without the target in front of it; NULL if it is not below. */
static const char *below_target(const struct scr_pass *p, const char *path)
{
	const char *roots[2] = {p->path, p->target};

	for (int i = 0; i < 2; i++) {
		size_t n = strlen(roots[i]);

		while (n > 0 && roots[i][n - 1] == '/')
			n--;
		if (!strncmp(path, roots[i], n) && (path[n] == '/' || path[n] == '\0'))
			return path + n;
	}
	return NULL;
}

/* Takes away empty and "." components. */
static char *squeeze(const char *path)
{
	char *out = malloc(strlen(path) + 2), *to = out;

	while (out && *path) {
		size_t n = strcspn(path, "/");

		if (n > 0 && !(n == 1 && path[0] == '.')) {
			if (to > out)
				*to++ = '/';
			memcpy(to, path, n);
			to += n;
		}
		path += n + (path[n] == '/');
	}
	if (out && to == out)
		*to++ = '.';
	if (out)
		*to = '\0';
	return out;
}

static int normalise(struct scr_pass *p, const char *path, char **out)
{
	const char *rel = path;
	char *s;

	if (path[0] == '/')
		rel = below_target(p, path);
	s = rel ? squeeze(rel) : NULL;
	if (rel && !s)
		return -ENOMEM;
	if (s && p->leaf && !strcmp(s, p->leaf))
		strcpy(s, ".");
	if (!s || !scr_path_valid(s, strlen(s))) {
		free(s);
		return scr_usage(p, path,
				 "is not a path below the target: give it as reports print it");
	}
	*out = s;
	return 0;
}

int scr_paths_init(struct scr_paths *s, struct scr_pass *p, const char *const *paths,
		   size_t npaths)
{
	int r = 0;

	*s = (struct scr_paths){.p = p};
	if (npaths == 0)
		return 0;
	s->list = calloc(npaths, sizeof(*s->list));
	s->seen = calloc(npaths, sizeof(*s->seen));
	s->damaged = calloc(npaths, sizeof(*s->damaged));
	if (!s->list || !s->seen || !s->damaged)
		return -ENOMEM;
	for (; r == 0 && s->count < npaths; s->count += r == 0)
		r = normalise(p, paths[s->count], &s->list[s->count]);
	return r;
}

bool scr_paths_take(struct scr_paths *s, const char *path, size_t len, bool damaged)
{
	bool taken = s->count == 0;

	for (size_t i = 0; i < s->count; i++) {
		if (!scr_path_covers(s->list[i], strlen(s->list[i]), path, len))
			continue;
		s->seen[i] = true;
		s->damaged[i] |= damaged;
		taken = true;
	}
	return taken;
}

void scr_paths_tell_unseen(struct scr_paths *s)
{
	for (size_t i = 0; i < s->count; i++)
		if (!s->seen[i] && strcmp(s->list[i], ".") != 0)
			scr_trouble(s->p, s->list[i], strlen(s->list[i]), 0,
				    "nothing is recorded under this path");
}

void scr_paths_free(struct scr_paths *s)
{
	for (size_t i = 0; i < s->count; i++)
		free(s->list[i]);
	free(s->list);
	free(s->seen);
	free(s->damaged);
}

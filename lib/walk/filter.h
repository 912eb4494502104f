/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Glob patterns for exclude= and frozen=, anchored as in gitignore(5). */
#ifndef SCR_WALK_FILTER_H
#define SCR_WALK_FILTER_H

#include <stdbool.h>
#include <stddef.h>

struct scr_filter;

/* An empty filter; NULL if out of memory. */
struct scr_filter *scr_filter_new(void);
/*
 * Adds a pattern: '*' and '?' don't match '/', '**' matches across directories, '[...]' classes,
 * a backslash quotes; with a '/' at the start or in the middle it is anchored at the root, else it
 * matches at any depth; with a '/' at the end only directories. '!' negation is refused: -EINVAL,
 * *why (static) says so; so are empty patterns and unclosed classes. -ENOMEM.
 */
int scr_filter_add(struct scr_filter *f, const char *pattern, const char **why);
/* Whether a pattern matches @path itself (not its parents: the walk has asked about those). */
bool scr_filter_match(const struct scr_filter *f, const char *path, size_t len, bool is_dir);
/* Whether a pattern matches @path or one of its parent directories. */
bool scr_filter_covers(const struct scr_filter *f, const char *path, size_t len);
bool scr_filter_empty(const struct scr_filter *f);
void scr_filter_free(struct scr_filter *f);

#endif

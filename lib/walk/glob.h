/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* One compiled pattern: a list of tokens, matched without catastrophic backtracking. */
#ifndef SCR_WALK_GLOB_H
#define SCR_WALK_GLOB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct scr_glob;

/* Compiles @pattern as filter.h says. 0, -ENOMEM, or -EINVAL with a static sentence in *why. */
int scr_glob_new(const char *pattern, struct scr_glob **out, const char **why);
/* Whether it matches the whole of @path (relative). */
bool scr_glob_match(const struct scr_glob *g, const char *path, size_t len, bool is_dir);
void scr_glob_free(struct scr_glob *g);

#endif

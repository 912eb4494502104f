/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Recorded paths: relative, byte strings, in walk order. */
#ifndef SCR_BASE_PATH_H
#define SCR_BASE_PATH_H

#include <stdbool.h>
#include <stddef.h>

/* Walk order: byte by byte as unsigned, with '/' before every other byte, a prefix first; that is
 * component-wise byte order. Returns <0, 0, >0. */
int scr_path_cmp(const char *a, size_t alen, const char *b, size_t blen);

/* The same with "." for the root of the walk, which comes before everything in it. */
int scr_place_cmp(const char *a, size_t alen, const char *b, size_t blen);

/* Whether @path is one that may be recorded: not empty, no NUL, no leading or trailing '/', no
 * component that is empty, "." or "..". The path "." alone is legal: a target that is one file. */
bool scr_path_valid(const char *path, size_t len);

/* Whether @path is @dir or lies below it; @dir of length 0 or "." covers everything. */
bool scr_path_covers(const char *dir, size_t dirlen, const char *path, size_t len);

#endif

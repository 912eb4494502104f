/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Recorded paths: relative, byte strings, in walk order. */
#include <config.h>
#include "base/path.h"

#include <string.h>

int scr_path_cmp(const char *a, size_t alen, const char *b, size_t blen)
{
	size_t n = alen < blen ? alen : blen;

	for (size_t i = 0; i < n; i++) {
		unsigned char ca = (unsigned char)a[i], cb = (unsigned char)b[i];

		if (ca == cb)
			continue;
		if (ca == '/')
			return -1;
		if (cb == '/')
			return 1;
		return ca < cb ? -1 : 1;
	}
	return alen < blen ? -1 : alen > blen;
}

int scr_place_cmp(const char *a, size_t alen, const char *b, size_t blen)
{
	bool a_root = alen == 1 && a[0] == '.', b_root = blen == 1 && b[0] == '.';

	return scr_path_cmp(a, a_root ? 0 : alen, b, b_root ? 0 : blen);
}

static bool component_valid(const char *c, size_t len)
{
	if (len == 0)
		return false;
	return !(c[0] == '.' && (len == 1 || (len == 2 && c[1] == '.')));
}

bool scr_path_valid(const char *path, size_t len)
{
	const char *end = path + len;

	if (len == 0 || memchr(path, '\0', len))
		return false;
	if (len == 1 && path[0] == '.')
		return true;
	for (;;) {
		const char *slash = memchr(path, '/', (size_t)(end - path));

		if (!component_valid(path, (size_t)((slash ? slash : end) - path)))
			return false;
		if (!slash)
			return true;
		path = slash + 1;
	}
}

bool scr_path_covers(const char *dir, size_t dirlen, const char *path, size_t len)
{
	if (dirlen == 0 || (dirlen == 1 && dir[0] == '.'))
		return true;
	if (len < dirlen || memcmp(dir, path, dirlen) != 0)
		return false;
	return len == dirlen || path[dirlen] == '/';
}

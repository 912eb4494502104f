/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Places that the walk could not look at, between the record and the file that the merge has come to.
 *
 * There may be many in a row before the next file, and each hides records of its own. They come in
 * walk order, as the records do that are asked about, so what is behind the merge is forgotten.
 */
#include <config.h>
#include "pass/planner_internal.h"

#include <string.h>

#include "base/path.h"

int scr_unlisted_add(struct unlisted *u, const char *path, size_t len)
{
	int r;

	if (u->paths.len > 0) {
		const char *last = (char *)u->paths.data + u->last;

		if (scr_path_covers(last, strlen(last), path, len))
			return 0;
	}
	u->last = u->paths.len;
	r = scr_buf_append(&u->paths, path, len);
	return r < 0 ? r : scr_buf_append(&u->paths, "", 1);
}

bool scr_unlisted_covers(struct unlisted *u, const char *path, size_t len)
{
	while (u->first < u->paths.len) {
		const char *place = (char *)u->paths.data + u->first;
		size_t n = strlen(place);

		if (scr_path_covers(place, n, path, len))
			return true;
		if (scr_path_cmp(place, n, path, len) > 0)
			return false;
		u->first += n + 1;
	}
	scr_buf_clear(&u->paths);
	u->first = u->last = 0;
	return false;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Looking at one path as the walk does. */
#ifndef SCR_WALK_LOOK_H
#define SCR_WALK_LOOK_H

#include <stdbool.h>
#include <stddef.h>

/* Whether what is at @path beneath @rootfd ("." is itself) can be looked at, and a directory be
 * listed to its end, on the file system of the root if @same_fs. 0, also where nothing or something
 * else is there by now, or -errno. */
int scr_look_beneath(int rootfd, const char *path, size_t len, bool same_fs);

#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* PATH arguments: which recorded paths a verb is about. */
#ifndef SCR_PASS_SELECT_H
#define SCR_PASS_SELECT_H

#include "pass/pass.h"

struct scr_paths {
	struct scr_pass *p;
	char **list;          /* relative, normalised, owned */
	bool *seen;           /* covers a recorded path */
	bool *damaged;        /* covers one with open damage */
	size_t count;         /* 0: everything */
};

/* Normalises @paths: relative to the target, or absolute below it; "./", "//" and a trailing "/"
 * are taken away. -EINVAL (said) for a path outside of the target or with "..". */
int scr_paths_init(struct scr_paths *s, struct scr_pass *p, const char *const *paths,
		   size_t npaths);
/* Whether the recorded @path is covered; remembers what covered something. */
bool scr_paths_take(struct scr_paths *s, const char *path, size_t len, bool damaged);
/* Says, as trouble, which paths covered nothing that is recorded. */
void scr_paths_tell_unseen(struct scr_paths *s);
void scr_paths_free(struct scr_paths *s);

#endif

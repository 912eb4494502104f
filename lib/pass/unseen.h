/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Medium errors of the walk. They are told once reading has shown whether the device is there: if it
 * is, they are damage, else they are a part of its trouble.
 */
#ifndef SCR_PASS_UNSEEN_H
#define SCR_PASS_UNSEEN_H

#include "pass/planner.h"

/* @unseen: of a struct scr_planned. @path could not be looked at or listed. 0 or -errno. */
int scr_unseen_add(struct scr_buf *unseen, const char *path, size_t len, int err);
/* Tells and forgets them. */
void scr_unseen_tell(struct scr_pass *p, struct scr_planned *planned, bool damage);

#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Medium errors of the walk: one after another, the errno, then the path and a NUL. */
#include <config.h>
#include "pass/unseen.h"

#include <string.h>

int scr_unseen_add(struct scr_buf *unseen, const char *path, size_t len, int err)
{
	int r = scr_buf_append(unseen, &err, sizeof(err));

	if (r == 0)
		r = scr_buf_append(unseen, path, len);
	return r < 0 ? r : scr_buf_append(unseen, "", 1);
}

static void tell(struct scr_pass *p, struct scr_name name, int err, bool damage)
{
	if (!damage) {
		scr_trouble(p, name.path, name.len, err, "cannot look at it");
		return;
	}
	p->sum.files_damaged++;
	scr_emit_damage(p, &(struct scr_damage){
				   .name = name,
				   .kind = SCR_DAMAGE_UNREADABLE,
				   .block = SCR_NO_BLOCK,
				   .size_was = -1,
				   .size_now = -1,
				   .err = err,
			   });
}

void scr_unseen_tell(struct scr_pass *p, struct scr_planned *planned, bool damage)
{
	const char *at = (char *)planned->unseen.data, *end = at + planned->unseen.len;
	int err;

	while (at < end) {
		memcpy(&err, at, sizeof(err));
		at += sizeof(err);
		tell(p, (struct scr_name){at, strlen(at)}, err, damage);
		at += strlen(at) + 1;
	}
	scr_buf_clear(&planned->unseen);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The file "history" of a state directory: a PASS record for each of the last passes, oldest first.
 *
 * It is for people, and nothing depends on it: a damaged record costs that record.
 */
#ifndef SCR_MANIFEST_HISTORY_H
#define SCR_MANIFEST_HISTORY_H

#include "base/buf.h"
#include "bitscrub.h"

#define SCR_HISTORY_PASSES 100
/* More than so many passes take, with room for records of later versions. */
#define SCR_HISTORY_LIMIT (1u << 20)

/* Appends one whole record to @b. 0 or -ENOMEM. */
int scr_history_encode(struct scr_buf *b, const struct scr_pass_record *r);

/* What is in a history. @at and @damaged are for the walk over it. */
struct scr_history_cursor {
	const uint8_t *p;
	size_t len, at;
	size_t from;          /* of the record that was given last */
	unsigned int damaged; /* gaps between sound records so far, and before the end */
};

/* The next sound record: 1, or 0 at the end. What lies between is passed over and counted. */
int scr_history_next(struct scr_history_cursor *c, struct scr_pass_record *out);

/* Makes the history @old (sound records only, the last of them) followed by @r in @out. */
int scr_history_append(const struct scr_buf *old, const struct scr_pass_record *r,
		       struct scr_buf *out);

#endif

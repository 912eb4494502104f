/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The early no: a state that can't be written, or has no room, is noticed before hours of reading.
 */
#ifndef SCR_PASS_SPACE_H
#define SCR_PASS_SPACE_H

#include "pass/planner.h"

/* Whether files can be made in the state. 0 or -errno (said). */
int scr_space_probe(struct scr_pass *p);

/*
 * What a pass needs at its fullest: the journal of all that it looks at, the new manifest beside
 * the old one, and new parity. An estimate from above, by a little.
 */
uint64_t scr_space_needed(const struct scr_pass *p, const struct scr_planned *planned,
			  uint64_t manifest_size);
/* Refuses if that is more than what is free. 0, -ENOSPC or -errno (said). */
int scr_space_check(struct scr_pass *p, const struct scr_planned *planned);

/* Bytes of the records of one file of @size bytes, of which @allocated are no holes, with a path of
 * that length, at most. */
uint64_t scr_space_of_records(const struct scr_geometry *g, uint64_t size, uint64_t allocated,
			      uint32_t path_len);

#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The counts of a trailer, kept by the writer and, to compare, by who reads from start to end. */
#ifndef SCR_MANIFEST_TALLY_H
#define SCR_MANIFEST_TALLY_H

#include <stdbool.h>

#include "manifest/record.h"

struct scr_tally {
	struct scr_trailer sum; /* the counts; segments owned, ascending */
	uint32_t segment_cap;
	int64_t now_ns;         /* for ages */
	bool damaged;           /* the current file was counted as damaged */
	bool fixed;             /* no other segments than those at the start: -EBADMSG */
};

void scr_tally_start(struct scr_tally *t, int64_t now_ns);
/* To compare with @trailer, whose segments are the only ones that may occur: hostile records can't
 * make the list grow. Returns 0 or -ENOMEM. */
int scr_tally_start_like(struct scr_tally *t, const struct scr_trailer *trailer);
void scr_tally_file(struct scr_tally *t, const struct scr_file_record *f);
void scr_tally_link(struct scr_tally *t);
void scr_tally_unseen(struct scr_tally *t);
/* An extent of the file that was counted last. @g: to count the blocks of a run. Returns 0,
 * -ENOMEM or -EBADMSG. */
int scr_tally_extent(struct scr_tally *t, const struct scr_geometry *g,
		     const struct scr_extent *e);
/* Whether @trailer has the same counts; ages are compared by their sum, since they have their own
 * time. */
bool scr_tally_agrees(const struct scr_tally *t, const struct scr_trailer *trailer);
void scr_tally_free(struct scr_tally *t);

#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Medium errors that may be the device going away: held back until something proves it is there.
 *
 *	a chunk with a medium error       is held back
 *	a chunk read well from the medium proves that the device is there: all held back are believed
 *	16 files in a row held back       the block that read well last is read again: if it does, all
 *	                                  are believed; else the device is gone and none of them is
 *	nothing read well before          the same, if there are two files or more and not one
 *	                                  sector of them can be read
 */
#ifndef SCR_PASS_SUSPECT_H
#define SCR_PASS_SUSPECT_H

#include "pass/work.h"

/* Files (and chunks) with medium errors in a row before the device itself is asked. */
#define SCR_SUSPECT_FILES 16
#define SCR_SUSPECT_CHUNKS 64

/* A finished chunk whose results wait. */
struct scr_suspect {
	struct scr_work *work;
	struct scr_extent *results;
	uint32_t count;
};

struct scr_suspects {
	struct scr_suspect list[SCR_SUSPECT_CHUNKS];
	unsigned int count, files;
	/* What read well last. */
	struct scr_buf good_path;
	uint64_t good_offset;
	bool any_good;
};

/* Whether the chunk whose results are in @k met a medium error. */
bool scr_suspect_is(const struct scr_worker *k, const struct scr_work *w);
/* Holds it back: takes the results out of @k. */
void scr_suspect_push(struct scr_suspects *s, struct scr_worker *k, struct scr_work *w);
/* Takes out the next one, its results into @k; NULL if there is none. */
struct scr_work *scr_suspect_pop(struct scr_suspects *s, struct scr_worker *k);
bool scr_suspect_full(const struct scr_suspects *s);
/* Remembers that the file of @w, open still, reads well at @offset. 0 or -ENOMEM. */
int scr_suspect_good(struct scr_suspects *s, const struct scr_work *w, uint64_t offset);
/* Reads what read well last, if anything did, again from the medium. False: the device is gone. */
bool scr_suspect_probe(const struct scr_suspects *s, struct scr_worker *k);
void scr_suspect_free(struct scr_suspects *s);

#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Parity of extents in a pass: stored with what is recorded, checked with what is compared. */
#ifndef SCR_PASS_PARITY_H
#define SCR_PASS_PARITY_H

#include "pass/planner.h"
#include "pass/work.h"

/* Opens the store for reading, or for writing if the settings want parity: under the lock.
 * Segments that nothing refers to are removed. 0 or -errno (said). */
int scr_parity_open(struct scr_pass *p, bool write);

/* Bytes of parity that the pass will write at most. That of a part of one file or device is that part
 * of the whole, and of an extent more from each queue. */
uint64_t scr_parity_needed(const struct scr_pass *p, const struct scr_planned *planned);

/*
 * Says how much parity the plan will write and where; refuses if too little would stay free.
 * 0, or -ENOSPC (said, with the ways out).
 */
int scr_parity_check_space(struct scr_pass *p, const struct scr_planned *planned);

/* Parity bytes of a file of @size bytes of which @allocated are no holes, at most. */
uint64_t scr_parity_estimate(const struct scr_geometry *g, uint64_t size, uint64_t allocated);

/*
 * Appends the parity of the content in @k to the store and describes it in @out, whose checks are
 * filled in. Nothing to do with parity off, for holes, and where all of it is zero.
 * -EBADMSG: the CRCs of data and parity don't belong together, so a kernel or the memory erred.
 */
int scr_parity_store(struct scr_worker *k, struct scr_work *w, struct scr_extent *out);

/* Appends, in one piece, the parity of all that is held in @k and of its results, which was kept in
 * memory so far. 0 or -errno (said): then scr_worker_lacks_parity() tells of what it was not. */
int scr_worker_flush_parity(struct scr_worker *k);
/* Whether there are results in @k whose parity is not stored: they must not be journalled. */
bool scr_worker_lacks_parity(const struct scr_worker *k);

/*
 * Checks the stored parity of @base, whose blocks have all been found right. A run rebuilds what is
 * damaged and fills in what is missing, in @out; verify (@out NULL) tells. 0 or -errno.
 */
int scr_parity_check(struct scr_worker *k, struct scr_work *w, const struct scr_extent *base,
		     struct scr_extent *out);

/* Fills in what status says about the store. What can't be learned stays 0. */
void scr_parity_status(struct scr_pass *p, struct scr_status *s);

/* Whether segment @n has so little in use that publishing copies it to a new one. */
bool scr_parity_is_sparse(const struct scr_pass *p, uint32_t n);
/* Copies the parity of @e to the new segment if its own is sparse. 0 or -errno. */
int scr_parity_compact(struct scr_pass *p, struct scr_extent *e);

#endif

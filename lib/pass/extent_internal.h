/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What checks of files and of devices share: findings in one extent, and what becomes of them. */
#ifndef SCR_PASS_EXTENT_INTERNAL_H
#define SCR_PASS_EXTENT_INTERNAL_H

#include "pass/work.h"

/* A list of damage that grows. */
struct scr_findings {
	struct scr_damage_record *list;
	uint32_t count, cap;
};

/* The stamp under which what is read now of the extent @cut is recorded. */
struct scr_stamp scr_extent_stamp(const struct scr_work *w, const struct scr_cut *cut);
/* What is known of block @block in @base, or NULL. */
const struct scr_damage_record *scr_extent_known(const struct scr_extent *base, uint32_t block);
bool scr_extent_equal(const struct scr_content *c, const struct scr_extent *base, uint32_t i);
/* Adds what can't be read of block @i. 0 or -ENOMEM. */
int scr_extent_find_bad(struct scr_worker *k, struct scr_work *w, const struct scr_extent *base,
			uint32_t i, struct scr_findings *f);
/* Adds block @i as @kind if it still differs when it is read again. 0 or -errno. */
int scr_extent_find(struct scr_worker *k, struct scr_work *w, const struct scr_extent *base,
		    uint32_t i, uint8_t kind, struct scr_findings *f);
/* The verdict of the findings; @difference: of those that are not rot. */
enum scr_verdict scr_findings_verdict(const struct scr_findings *f, enum scr_verdict difference);
/* Results: the base with what was found; the base, sound (@renew: under the present stamp); what is
 * there now. 0 or -errno. */
int scr_extent_keep_damaged(struct scr_worker *k, struct scr_work *w, const struct scr_extent *base,
			    struct scr_findings *f);
int scr_extent_keep_sound(struct scr_worker *k, struct scr_work *w, const struct scr_extent *base,
			  bool renew);
int scr_extent_record(struct scr_worker *k, struct scr_work *w, const struct scr_extent *base);
void scr_extent_count_blocks(struct scr_work *w, uint64_t compared, uint64_t differing);
bool scr_extent_looks_like_flip(const struct scr_content *c, const struct scr_extent *base,
				uint32_t i);

#endif

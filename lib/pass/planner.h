/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Phase 1, PLAN: walk and manifest are merged by metadata alone.
 *
 *	for each path, in walk order, of the walk or of the manifest:
 *		both      CHECK (or LINK, if its inode has an entry already)
 *		walk      RECORD (or LINK)
 *		manifest  GONE, EXCLUDED, or KEEP (where the walk could not look)
 *	then      RECORD whose inode, size and mtime vanished elsewhere: CHECK, moved
 *	          RECORD or KEEP whose inode is recorded under another path: CHECK or LINK
 *	guards    too much gone, too much newly empty, a file system absent
 */
#ifndef SCR_PASS_PLANNER_H
#define SCR_PASS_PLANNER_H

#include "pass/pass.h"
#include "pass/plan.h"
#include "pass/unseen.h"

struct scr_planned {
	struct scr_plan *plan;
	uint64_t entries;
	uint64_t files, bytes;                /* to be read: entries; bytes, an inode once */
	uint64_t bands[SCR_PLAN_BANDS];       /* entries to be read, by band */
	uint64_t parity_bytes;                /* at most to be written */
	uint64_t record_bytes;                /* at most, of what has no record yet */
	uint64_t walked;                      /* regular files that the walk found */
	uint64_t recorded, gone, emptied;     /* for the guards */
	int absent;                           /* identity whose every recorded file is gone and that
					       * the walk did not meet; -1: none */
	struct scr_unseen unseen;
};

/* Makes the plan of a run. What could not be listed has been said. 0 or -errno (said). */
int scr_plan_run(struct scr_pass *p, struct scr_planned *out);

/* Whether @path is one that accept was asked for; @damaged: it has open damage. */
typedef bool scr_plan_select_fn(void *arg, const char *path, size_t len, bool damaged);

/* Makes the plan of accept: no walk; recorded files that @select takes are ACCEPT, all others are
 * KEEP or stay LINK. 0 or -errno (said). */
int scr_plan_accept(struct scr_pass *p, scr_plan_select_fn *select, void *arg,
		    struct scr_planned *out);

/* Judges the guards: every recorded file gone, or more than 40 % of at least 100; more than 10 and
 * 1 % newly empty; a recorded file system absent. 0, or -ECANCELED after saying which and how to go on. */
int scr_plan_guards(struct scr_pass *p, const struct scr_planned *planned);
/* The guard that needs no plan: the target's file system is one that is recorded. With
 * --allow-moved the new identity replaces the old one. 0, -ECANCELED (said), -ENOMEM. */
int scr_plan_guard_identity(struct scr_pass *p);

#endif

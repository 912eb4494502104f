/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Phase 3, PUBLISH: a new manifest, verified before it takes the old one's place. */
#ifndef SCR_PASS_PUBLISH_H
#define SCR_PASS_PUBLISH_H

#include "pass/pass.h"
#include "pass/planner.h"

/* Each writes p->header with the next generation; on success the old manifest is manifest.1, the
 * journal is gone, p->trailer is the new trailer and p->published is set. 0 or -errno (said);
 * after an error the old manifest and the journal are as they were. */

/* No records: for init and a first run. Loads it. */
int scr_publish_empty(struct scr_pass *p);
/* What is recorded, with the journal of a stopped pass applied and the present header. Loads it. */
int scr_publish_view(struct scr_pass *p);
/* The result of a pass: plan and journal (@journal_fd). @complete: nothing was left out. */
int scr_publish_plan(struct scr_pass *p, const struct scr_planned *planned, int journal_fd,
		     bool complete);

#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Verdicts that follow from the plan alone, told once reading is through. */
#ifndef SCR_PASS_TALLY_H
#define SCR_PASS_TALLY_H

#include "pass/planner.h"

/* Tells and counts links, removed, excluded, kept and missing entries. 0 or -errno. */
int scr_tally(struct scr_pass *p, const struct scr_planned *planned);
/* Puts the totals of the manifest that is now in place into the summary. */
void scr_tally_totals(struct scr_pass *p, const struct scr_trailer *t);

#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Phase 2, READ, of a run: the plan's files by bands, results to the journal. */
#ifndef SCR_PASS_READPHASE_H
#define SCR_PASS_READPHASE_H

#include "pass/journalist.h"
#include "pass/planner.h"

/* Reads what is planned. 0; -EINTR stopped by a signal, the journal is synced; -errno (said). */
int scr_read_phase(struct scr_pass *p, struct scr_planned *planned, struct scr_journalist *j);

#endif

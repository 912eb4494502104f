/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What passes there were: kept in the state directory, beside the manifest. */
#ifndef SCR_PASS_HISTORY_H
#define SCR_PASS_HISTORY_H

#include "base/buf.h"
#include "pass/pass.h"

/* Appends this pass with what is in p->sum. A failure is trouble, said, and nothing else: the
 * manifest is published by then. */
void scr_history_record(struct scr_pass *p);

/* Loads the whole file; empty if there is none. 0 or -errno, with a sentence in @why. */
int scr_history_load(struct scr_pass *p, struct scr_buf *out, struct scr_why *why);

#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Repair, as the other verbs see it. The verb itself is in verbs.h. */
#ifndef SCR_PASS_REPAIR_H
#define SCR_PASS_REPAIR_H

#include "pass/pass.h"

/*
 * Completes what a killed repair or undo left open: forward if the content is right by the record,
 * else back. For writers, right after their state is open and the journal of a stopped pass is
 * folded in; publishes if anything was completed. What could not be completed is trouble, said, and
 * stays under repair: scr_repair_holds(). 0 or -errno (said).
 */
int scr_repair_recover(struct scr_pass *p);
/* Whether the recorded @path, or inode @ino, is under repair and must not be recorded anew. */
bool scr_repair_holds(const struct scr_pass *p, const char *path, size_t len, uint64_t ino);
/*
 * Whether the file whose ctime is @ctime_ns, and which is not as it was recorded, may be under
 * repair by an undo entry that can't be read. Nobody can say which file that is about, so it is any
 * that was written at about the same time.
 */
bool scr_repair_may_hold(const struct scr_pass *p, int64_t ctime_ns);
/* Whether there is such an entry at all. */
bool scr_repair_unsure(const struct scr_pass *p);
void scr_repair_forget(struct scr_pass *p);

/*
 * run --repair: after the pass has published and its manifest is loaded, repairs open damage that
 * is rot or unreadable, never by checksum alone, and publishes again if anything came of it.
 * 0, -EINTR, -errno (said).
 */
int scr_repair_after_run(struct scr_pass *p);

#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What times and metadata say before any content is read: pure functions, no I/O. */
#ifndef SCR_PASS_JUDGE_H
#define SCR_PASS_JUDGE_H

#include <sys/stat.h>

#include "bitscrub.h"
#include "manifest/record.h"
#include "pass/policy.h"

/* How a file stands to the stamp under which content was recorded. */
enum scr_relation {
	SCR_REL_SAME,       /* size apart: nothing moved. Other content is rot */
	SCR_REL_EXPLAINED,  /* ctime moved with mode, owner, links or path. Other content is rot */
	SCR_REL_CTIME,      /* ctime (or the inode) moved for no recorded reason: altered */
	SCR_REL_MTIME,      /* mtime moved: changed */
};

/*
 * The relation of @now to @stamp. @file holds the metadata recorded with it (mode, owner, links);
 * @moved: the path is another one than recorded.
 */
enum scr_relation scr_judge(const struct scr_policy *p, const struct scr_stamp *stamp,
			    const struct scr_file_record *file, const struct stat *now, bool moved);

/* What content that differs is called. @racy: the record's content may have changed within the
 * clock tick of its recording. */
enum scr_verdict scr_judge_difference(enum scr_relation rel, bool racy);

struct scr_stamp scr_stamp_of(const struct stat *st);
bool scr_stamp_equal(const struct scr_stamp *a, const struct scr_stamp *b);

/* Times of @st in nanoseconds. */
int64_t scr_mtime_ns(const struct stat *st);
int64_t scr_ctime_ns(const struct stat *st);

/* The worse of two verdicts, as a file is counted: unreadable, rot, altered, skipped, changed,
 * moved, touched, new, ok. */
enum scr_verdict scr_verdict_worst(enum scr_verdict a, enum scr_verdict b);

#endif

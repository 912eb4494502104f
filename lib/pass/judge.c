/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What times and metadata say before any content is read. */
#include <config.h>
#include "pass/judge.h"

#include "base/clock.h"
#include "base/compiler.h"

/* File systems can say times that nanoseconds can't, after 2262: those wrap, but always alike. */
static int64_t in_ns(const struct timespec *t)
{
	return (int64_t)((uint64_t)t->tv_sec * (uint64_t)SCR_NS_PER_S + (uint64_t)t->tv_nsec);
}

int64_t scr_mtime_ns(const struct stat *st)
{
	return in_ns(&st->st_mtim);
}

int64_t scr_ctime_ns(const struct stat *st)
{
	return in_ns(&st->st_ctim);
}

struct scr_stamp scr_stamp_of(const struct stat *st)
{
	return (struct scr_stamp){
		.size = (uint64_t)st->st_size,
		.ino = st->st_ino,
		.mtime_ns = scr_mtime_ns(st),
		.ctime_ns = scr_ctime_ns(st),
	};
}

bool scr_stamp_equal(const struct scr_stamp *a, const struct scr_stamp *b)
{
	return a->size == b->size && a->ino == b->ino && a->mtime_ns == b->mtime_ns &&
	       a->ctime_ns == b->ctime_ns;
}

/* Unsigned: a manifest may hold any time. */
static uint64_t distance(int64_t a, int64_t b)
{
	return a > b ? (uint64_t)a - (uint64_t)b : (uint64_t)b - (uint64_t)a;
}

/* mode, owner, number of links or path differ from what is recorded: each of them moves ctime. */
static bool metadata_moved(const struct scr_file_record *f, const struct stat *now, bool moved)
{
	return moved || f->mode != now->st_mode || f->uid != now->st_uid || f->gid != now->st_gid ||
	       f->nlink != now->st_nlink;
}

enum scr_relation scr_judge(const struct scr_policy *p, const struct scr_stamp *stamp,
			    const struct scr_file_record *file, const struct stat *now, bool moved)
{
	if (distance(stamp->mtime_ns, scr_mtime_ns(now)) > (uint64_t)p->mtime_window_ns)
		return SCR_REL_MTIME;
	if (!p->use_ctime)
		return SCR_REL_SAME;
	if (p->use_inode && stamp->ino != now->st_ino)
		return SCR_REL_CTIME;
	if (distance(stamp->ctime_ns, scr_ctime_ns(now)) <= (uint64_t)p->mtime_window_ns)
		return SCR_REL_SAME;
	return metadata_moved(file, now, moved) ? SCR_REL_EXPLAINED : SCR_REL_CTIME;
}

enum scr_verdict scr_judge_difference(enum scr_relation rel, bool racy)
{
	switch (rel) {
	case SCR_REL_SAME:
	case SCR_REL_EXPLAINED:
		return racy ? SCR_ALTERED : SCR_ROT;
	case SCR_REL_CTIME:
		return SCR_ALTERED;
	case SCR_REL_MTIME:
		break;
	}
	return SCR_CHANGED;
}

static int severity(enum scr_verdict v)
{
	static const enum scr_verdict order[] = {
		SCR_OK,      SCR_NEW,	  SCR_EXCLUDED, SCR_REMOVED, SCR_TOUCHED, SCR_MOVED,
		SCR_CHANGED, SCR_SKIPPED, SCR_ALTERED,  SCR_ROT,     SCR_MISSING, SCR_UNREADABLE,
	};

	for (int i = 0; i < (int)SCR_ARRAY_SIZE(order); i++)
		if (order[i] == v)
			return i;
	return 0;
}

enum scr_verdict scr_verdict_worst(enum scr_verdict a, enum scr_verdict b)
{
	return severity(a) >= severity(b) ? a : b;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What planner.c, settle.c and accept planning share. */
#ifndef SCR_PASS_PLANNER_INTERNAL_H
#define SCR_PASS_PLANNER_INTERNAL_H

#include "base/map.h"
#include "pass/judge.h"
#include "pass/planner.h"
#include "walk/walk.h"

/* The manifest's record at the merge point, with what its extents say. */
struct old_record {
	int type;               /* enum scr_record_type */
	struct scr_file_record file;
	struct scr_link_record link;
	uint64_t offset;
	struct scr_buf path;
	bool bare;              /* some content has no parity */
	bool uniform;           /* all extents recorded, under the stamp of the file */
	bool damaged;
	bool whole;             /* there is a record of every extent */
	int64_t oldest_ns, newest_ns; /* checks of its extents; 0, 0: it has none */
	uint64_t hole_bytes;    /* of extents that are holes */
};

struct vanished {
	uint64_t ino, size, source, pos;
	int64_t mtime_ns;
	int64_t oldest_ns, newest_ns;
	uint64_t hole_bytes;
	uint32_t fs;
	bool moved, whole, uniform;
};

struct dev_fs {
	uint64_t dev;
	uint32_t fs;
};

/* Places below which nothing is known; zero-initialised: none. */
struct unlisted {
	struct scr_buf paths;   /* NUL-terminated, in walk order */
	size_t first, last;     /* offsets: of the first that may still matter, of the last */
};

struct planner {
	struct scr_pass *p;
	struct scr_planned *out;
	struct scr_walk *walk;
	struct scr_walk_entry new;
	struct old_record old;
	struct scr_extent extent;       /* reused */
	struct unlisted unlisted;
	bool any_links;
	struct scr_map new_links;       /* (dev, ino) -> plan entry of the first path */
	struct scr_map old_links;       /* (fs, ino) -> manifest offset of the FILE record */
	struct vanished *vanished;
	size_t vanished_count, vanished_cap;
	uint64_t *fs_gone;              /* recorded files that are gone, by identity */
	struct dev_fs devs[32];
	uint32_t dev_count;
};

int scr_unlisted_add(struct unlisted *u, const char *path, size_t len);
/* Whether @path, which is not before those asked about earlier, is in one of the places. */
bool scr_unlisted_covers(struct unlisted *u, const char *path, size_t len);

uint8_t scr_plan_band(int64_t now_ns, int64_t oldest_check_ns);
int scr_planner_start(struct planner *pl, struct scr_pass *p, struct scr_planned *out);
int scr_planner_load_old(struct planner *pl);
int scr_planner_load_new(struct planner *pl);
void scr_planner_fill_old(struct planner *pl, struct scr_plan_entry *e);
void scr_planner_free(struct planner *pl);
/* Settles moves and links once the merge is through. */
int scr_planner_settle(struct planner *pl);

#endif

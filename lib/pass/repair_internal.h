/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* One repair at work: the target, a file of it, an extent of that.
 *
 *	for each recorded file that has open damage, or was named:
 *		open it, refuse what must not be touched
 *		for each extent with open damage (named: for each):
 *			read it; blocks that fail are read again
 *			other copies of bad blocks, then the search over data and parity
 *			only whole units are written, every byte of which is verified
 *			undo entry OPEN -> write -> sync -> read back -> mtime
 *		journal the new stamp and the closed damage; undo entries DONE
 *	publish
 *
 * What goes wrong between OPEN and DONE is taken back at once, or by the next repair or run.
 */
#ifndef SCR_PASS_REPAIR_INTERNAL_H
#define SCR_PASS_REPAIR_INTERNAL_H

#include "io/writer.h"
#include "parity/search.h"
#include "parity/segments.h"
#include "parity/undo.h"
#include "pass/journalist.h"
#include "pass/repair.h"
#include "pass/select.h"

/* ---- one extent -------------------------------------------------------------------------- */

/* Why a block stays as it is, beyond enum scr_lost_why. */
enum scr_left_why {
	SCR_LEFT_UNIT = 100,  /* shares a unit of writing with a block that is lost */
	SCR_LEFT_END,         /* what stands before it, behind the present end, is lost */
	SCR_LEFT_LONG,        /* its unit goes on behind the recorded end, and can't be read whole */
};

struct scr_gaps {
	struct scr_gap *list;
	uint32_t count, cap;
};

/* A run of units to be written, in the extent. */
struct scr_mend_run {
	uint32_t start, length;
};

struct scr_mend {
	struct scr_cut cut;
	struct scr_check *checks;    /* as recorded */
	struct scr_check *parity_checks; /* NULL: no parity */
	bool parity_zero;
	uint8_t *read;               /* as it was read; 0 where it couldn't be */
	uint8_t *data;               /* as it shall be */
	uint8_t *parity;
	uint32_t present;            /* bytes of the extent that exist */
	struct scr_gaps gaps;        /* of read; what does not exist is not among them */
	struct scr_gaps left;        /* what the search has to do without, absent bytes too */
	struct scr_gaps parity_gaps;
	uint8_t *state, *why;        /* a block: enum scr_block_state; enum scr_lost_why, _left_why */
	uint8_t *how;                /* of repaired ones: enum scr_repair_how */
	uint8_t *parity_state, *parity_why;
	uint32_t bad, mended;        /* blocks: LOST; repaired */
	bool parity_read, parity_bad; /* parity was looked at; some of it was wrong and is right now */
	bool inconsistent;           /* all blocks check, and yet data and parity don't fit */
	struct scr_mend_run *runs;   /* what has to be written */
	uint32_t run_count, run_cap;
	size_t data_cap, parity_cap, block_cap, parity_block_cap, check_cap;
};

/* ---- one file ---------------------------------------------------------------------------- */

struct scr_repair_file {
	struct scr_file_record f;
	struct scr_buf path;
	uint64_t offset;             /* of the FILE record in the manifest */
	int fd;
	struct stat before, now;     /* before anything was written; after what was written last */
	struct scr_writer *writer;   /* opened when there is something to write */
	uint32_t unit;
	int open_err;                /* positive errno of opening it */
	const char *refused;         /* why nothing more is written to it */
	bool told;                   /* that, with its blocks */
	bool wrote;                  /* times have moved by our hand */
	bool renew;                  /* extents recorded under the times before get those of now */
	bool no_growth;              /* something behind the present end is lost */
	bool altered;                /* content differs although a tool moved ctime */
	bool rotten;
	struct scr_extent *changed;  /* extents as they shall be recorded, ascending */
	uint32_t changed_count, changed_cap;
	struct scr_undo_entry *entries; /* parked; mark.state: what they will be marked */
	uint32_t entry_count, entry_cap;
	uint32_t duplicates_sought;
	/* The extents of the record, one after the other. */
	uint64_t next_index;
	bool disturbed;              /* the reader of the manifest was used in between */
};

/* ---- the whole --------------------------------------------------------------------------- */

struct scr_repair {
	struct scr_pass *p;
	struct scr_paths *paths;     /* NULL: none given */
	bool named, dry_run, force, unattended;
	int from;                    /* --from DIR, or a file or device; -1: none */
	bool from_file;
	struct scr_undo_log *undo;
	struct scr_segments *parity;
	struct scr_journalist journal;
	bool journalling, broken;    /* broken: something is left half-written */
	struct scr_worker k;         /* reader, and results to be journalled */
	struct scr_mend mend;
	uint8_t *window;             /* SCR_REPAIR_WINDOW bytes, for old bytes */
	uint64_t looked_at, rotten;  /* files, for the stop */
	int good_fd;                 /* a file, and a place in it, that read well; -1: none */
	uint64_t good_at;
	uint32_t good_length;
	uint32_t elsewhere_sought;   /* extents that looked through the whole manifest */
	unsigned int dead;           /* extents in a row of which nothing could be read */
	struct scr_repair_held *open; /* entries to be completed or undone */
	struct scr_buf owners;       /* paths, each with a NUL, of inodes that were named by a link */
};

#define SCR_REPAIR_WINDOW (SCR_UNDO_RANGE_MAX + 2 * (64u << 10))

int scr_repair_init(struct scr_repair *r, struct scr_pass *p);
/* Closes the journal and publishes what is in it. @ret: the outcome so far. 0 or -errno. */
int scr_repair_finish(struct scr_repair *r, int ret);

void scr_repair_free(struct scr_repair *r);

typedef int scr_repair_fn(struct scr_repair *r, struct scr_repair_file *rf);
/* Which FILE records scr_repair_each() is about; @damaged: with open damage. */
typedef bool scr_repair_select_fn(struct scr_repair *r, const struct scr_file_record *f,
				  bool damaged);
/* Calls @fn for each FILE record that @select takes, not opened yet. 0, -EINTR, -errno. */
int scr_repair_each(struct scr_repair *r, scr_repair_select_fn *select, scr_repair_fn *fn);

/* repair_file.c */
/* Opens the file of the record. 0; else rf->refused says why not. -ENOMEM. */
int scr_repair_open_file(struct scr_repair *r, struct scr_repair_file *rf);
/* Opens it for writing. Whether that went well; else rf->refused. */
bool scr_repair_open_writer(struct scr_repair *r, struct scr_repair_file *rf);
/* The next recorded extent, in order. 1, 0, -errno. */
int scr_repair_next_extent(struct scr_repair *r, struct scr_repair_file *rf, struct scr_extent *e);
/* Records @e (moved) when the file is closed, instead of what was to be for that extent. */
int scr_repair_changed(struct scr_repair_file *rf, struct scr_extent *e);
/* Journals what became of the file, and then marks its entries. 0 or -errno (said). */
int scr_repair_close_file(struct scr_repair *r, struct scr_repair_file *rf);
void scr_repair_free_file(struct scr_repair_file *rf);
/* Whether the file still is as it was after our own last write. */
bool scr_repair_unchanged(const struct scr_repair *r, struct scr_repair_file *rf);
/* Whether it is on the file system, and the inode, that the entry is about. 1, 0, -errno. */
int scr_repair_same_file(const struct scr_repair *r, const struct scr_repair_file *rf,
			 const struct scr_undo_entry *e);
int64_t scr_repair_now(const struct scr_repair *r);
/* Repairs one file. */
int scr_repair_mend_file(struct scr_repair *r, struct scr_repair_file *rf);

/* repair_extent.c */
/* Reads what extent @e holds now and compares. 0 or -errno. */
int scr_mend_load(struct scr_repair *r, struct scr_repair_file *rf, const struct scr_extent *e);
/* Finds the right content of bad blocks. 0 or -errno. */
int scr_mend_fix(struct scr_repair *r, struct scr_repair_file *rf, const struct scr_extent *e);

/* repair_plan.c */
/* What has to be written, in whole verified units; takes back what can't be. 0 or -ENOMEM. */
int scr_mend_plan(struct scr_repair_file *rf, struct scr_mend *m);
/* @e as it shall be recorded, by what is known of it now. @kind, @since: of damage that the record
 * does not know. 0 or -ENOMEM. */
int scr_mend_result(struct scr_repair *r, const struct scr_extent *e, uint8_t kind, int64_t since,
		    struct scr_extent *out);
/* Counts bad and mended blocks. */
void scr_mend_count(struct scr_mend *m);
bool scr_gaps_overlap(const struct scr_gaps *g, uint32_t start, uint32_t length);
/* Nothing of the extent was repaired after all. */
void scr_mend_give_up(struct scr_mend *m);
void scr_mend_free(struct scr_mend *m);

/* repair_source.c */
/* Looks for whole copies of bad blocks elsewhere. 0 or -errno. */
int scr_mend_sources(struct scr_repair *r, struct scr_repair_file *rf, const struct scr_extent *e);
/* Takes @p as the content of bad block @i if its checksums are right. */
bool scr_mend_take(struct scr_mend *m, uint32_t i, const uint8_t *p, uint8_t how);

/* repair_write.c */
/* Writes the planned runs of the extent, with an undo entry. 0; -EREMCHG: not written, and
 * rf->refused says why; -errno: of the whole repair. */
int scr_mend_apply(struct scr_repair *r, struct scr_repair_file *rf, uint8_t kind, int64_t since);
/* Cuts the file to its recorded size. As above. */
int scr_repair_cut(struct scr_repair *r, struct scr_repair_file *rf);
/* Puts the old bytes of @e, loaded whole, back where they can be, and the old size and @mtime_ns.
 * *kept: bytes that could not be read then and are left. 0 or -errno. */
int scr_repair_put_back(struct scr_repair *r, struct scr_repair_file *rf,
			const struct scr_undo_entry *e, int64_t mtime_ns, uint64_t *kept);

/* repair_undo.c: both also where no record of the file is left. */
int scr_repair_undo(struct scr_repair *r);
int scr_repair_purge(struct scr_repair *r);

/* repair_recover.c */
/* An undo entry, as far as it says which file it is about. */
struct scr_repair_note {
	uint32_t number;
	char *path;
	uint32_t path_len;
	uint64_t ino;
	enum scr_undo_state state;
	bool tried, dealt_with;
};

struct scr_repair_held {
	struct scr_repair_note *list; /* by path in walk order, then by number */
	uint32_t count, cap;
	int64_t *unread;              /* when entries that can't be read were written, INT64_MIN: */
	uint32_t unread_count;        /* nobody knows; owned */
};

/* The entries that @want takes by state and path. What can't be read is trouble, said; what was
 * never finished is removed if @remove. 0 or -errno. */
typedef bool scr_repair_want_fn(struct scr_repair *r, const struct scr_undo_entry *e);
int scr_repair_notes(struct scr_repair *r, scr_repair_want_fn *want, bool remove,
		     struct scr_repair_held **out);
void scr_repair_notes_free(struct scr_repair_held *h);
/* The notes about @path: the first one, and how many. */
struct scr_repair_note *scr_repair_notes_of(const struct scr_repair_held *h, const char *path,
					    size_t len, uint32_t *n);
/* Looks at extent @index of the record again and records what is found. 0 or -errno. */
int scr_repair_reassess(struct scr_repair *r, struct scr_repair_file *rf,
			const struct scr_undo_entry *e);
/* Moves @e to the entries that are marked, as @target, when the file is closed. 0 or -ENOMEM. */
int scr_repair_keep_entry(struct scr_repair_file *rf, struct scr_undo_entry *e,
			  enum scr_undo_state target);

/* repair_tell.c */
/* Tells how each block of the extent was repaired, or why not. */
void scr_repair_tell(struct scr_repair *r, const struct scr_repair_file *rf);
/* Something about the file as a whole. @why: for NOT. */
void scr_repair_tell_file(struct scr_repair *r, const struct scr_repair_file *rf,
			  enum scr_repair_how how, const char *why);
void scr_repair_tell_range(struct scr_repair *r, const struct scr_repair_file *rf,
			   enum scr_repair_how how, uint64_t offset, uint64_t length,
			   const char *why);

#endif

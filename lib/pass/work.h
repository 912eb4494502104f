/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* One file being read: opened once, its extents handed to workers in chunks, judged at the end.
 *
 *	scr_work_begin()                 open, stat, decide how extents are treated
 *	scr_extent_process() for each    read, compare or record, one result to journal
 *	scr_work_finish()                by whoever finished the last chunk: verdict, FILE record
 */
#ifndef SCR_PASS_WORK_H
#define SCR_PASS_WORK_H

#include "pass/content.h"
#include "pass/judge.h"
#include "pass/pass.h"
#include "pass/plan.h"
#include "walk/resolve.h"

enum scr_work_state {
	SCR_WORK_OPEN,     /* extents are to be processed */
	SCR_WORK_SETTLED,  /* the verdict stands: nothing (more) is to be read */
	SCR_WORK_CHANGED,  /* it changed or vanished while being read */
	SCR_WORK_FAILED,   /* trouble, said: the record stays as it is */
};

/* What a visit of a limited pass is about; see limit.h. */
struct scr_band {
	uint8_t queue;
	uint32_t first, end;       /* slots of its histogram */
};

struct scr_work {
	struct scr_pass *p;
	bool verify;               /* compare only; nothing is kept */
	uint64_t pos;              /* of the plan entry; NONE: verify */
	struct scr_plan_entry e;
	struct scr_buf path;

	bool has_base;             /* there is a FILE record to compare with */
	struct scr_file_record base;
	struct scr_buf base_path;
	struct scr_extent *damaged; /* copies of the base's extents with open damage */
	uint32_t damaged_count;

	int fd;                    /* -1: not opened, or closed already */
	bool opened;
	struct stat st;
	int64_t began_ns;          /* wall clock when reading began */
	bool unsynced;             /* young content could not be synced before it was read */
	bool record_all;           /* content is taken as it is, under the present size */
	bool resized;              /* a device of another size: cut by that, ... */
	uint64_t fit;              /* ... and this many recorded extents are cut alike */
	atomic_bool recut;         /* one of the others was reached */
	bool differs_in_size;
	struct scr_damage_record file_damage; /* what the FILE record will say; kind 0: none */
	bool file_news;            /* damage of the file as a whole is told at the end ... */
	enum scr_damage_kind file_kind;
	int file_err;              /* ... as this */

	/* Under the feed's lock. */
	uint64_t next_extent, extents;
	bool whole;                /* one chunk is all of it */
	unsigned int chunks;       /* handed out and not finished */
	bool cut_short;            /* a chunk did not come to its end: nor does the file */

	/* Of a limited pass. */
	struct scr_band band;
	uint64_t paid[2];          /* bytes taken from the budget, by queue */
	uint64_t looked;           /* extents that were due, and in time */
	bool only_visit;           /* nothing of it is to be read: others say no more of it */

	/* Results; what is not atomic is under lock. */
	pthread_mutex_t lock;
	_Atomic(enum scr_work_state) state;
	atomic_bool any_new, any_touched, any_flip;
	enum scr_verdict worst;
	bool damage_left;
	bool lost;                 /* FAILED, and the errno speaks of the whole device */
	uint64_t blocks_compared, blocks_differing;
};

/* A work for plan entry or recorded file; NULL if out of memory. */
struct scr_work *scr_work_new(struct scr_pass *p, bool verify);
void scr_work_free(struct scr_work *w);
/* Its content is no longer needed. */
void scr_work_close(struct scr_work *w);

/* Small files that are finished together. */
#define SCR_BATCH_FILES 64
/* They are handed out together until they have so many bytes. */
#define SCR_BATCH_BYTES (1u << 20)
/* Stored parity that is read ahead for them. */
#define SCR_PARITY_AHEAD (256u << 10)

/* A file that was read and waits to be finished, with its results. */
struct scr_held {
	struct scr_work *work;
	struct scr_extent *results;
	uint32_t count, cap;
};

/* What a worker thread owns. */
struct scr_worker {
	struct scr_pass *p;
	struct scr_reader *reader;
	struct scr_content content, scratch;
	const struct scr_kernels *kernels;
	struct scr_extent *results;      /* of the chunk, to be journalled */
	uint32_t result_count, result_cap;
	struct scr_buf record, parity;
	struct scr_opener opener;
	sem_t *gate;                     /* entered for computing; NULL: no limit */
	struct scr_held held[SCR_BATCH_FILES];
	unsigned int held_count;
	struct scr_buf pending;          /* parity of what is held, to be appended in one piece */
	struct scr_segments_window *window; /* stored parity read ahead */
	uint32_t ahead;                  /* bytes of that */
	bool store_failed;               /* parity could not be written, which was said */
};

int scr_worker_init(struct scr_worker *k, struct scr_pass *p);
void scr_worker_free(struct scr_worker *k);
/* Gives back the memory of its buffers, but for the first @keep bytes that are read into. */
void scr_worker_slim(struct scr_worker *k, size_t keep);
/* A zeroed place for one more result, or NULL. */
struct scr_extent *scr_worker_result(struct scr_worker *k);
void scr_worker_clear(struct scr_worker *k);
/* Sets @w aside, with the results in @k; at most SCR_BATCH_FILES. */
void scr_worker_hold(struct scr_worker *k, struct scr_work *w);
/* The results of held file @i into @k, which has none. Returns the file; held_count stays. */
struct scr_work *scr_worker_unhold(struct scr_worker *k, unsigned int i);
void scr_worker_attach(struct scr_worker *k, struct scr_work *w);
/* How content of @w is read by @k. */
struct scr_content_reader scr_worker_content_reader(struct scr_worker *k, const struct scr_work *w,
						    bool again);

/* Opens and decides; on return w->state says how it goes on. Results (carried damage) are in
 * @k. 0, or -errno only for what must end the pass (-ENOMEM). */
int scr_work_begin(struct scr_worker *k, struct scr_work *w);

/*
 * Processes extent @cut of the open file of @w against @base (NULL: none), or a run of @run
 * whole-hole extents (@run > 1; @base NULL or a run of the same holes). Adds a result to @k (not for
 * verify). Returns 0; -EINTR stopped; -errno for what must end the pass.
 */
int scr_extent_process(struct scr_worker *k, struct scr_work *w, const struct scr_cut *cut,
		       uint64_t run, const struct scr_extent *base);

/* Whether the file still is as it was when it was opened. Settles w->state if not. */
bool scr_work_unchanged(struct scr_worker *k, struct scr_work *w);
/* A negative errno of reading content: settles w->state and says it; -EINTR is passed on. */
int scr_work_read_error(struct scr_work *w, int r);
/* Whether positive errno @err says that a device or server is gone. */
bool scr_work_errno_lost(int err);

/* The verdict: counts, tells, fills *f with the FILE record to journal (false: none). */
bool scr_work_finish(struct scr_work *w, struct scr_file_record *f);
/* The FILE record under which extents are journalled while the file is not finished. */
struct scr_file_record scr_work_interim(const struct scr_work *w);

/* Content written this shortly before it is read may change again without moving a time. */
#define SCR_RACY_WINDOW_NS (2 * SCR_NS_PER_S)
/* Content written this shortly before is synced first, so that later stores move its times. */
#define SCR_SYNC_WINDOW_NS (60 * SCR_NS_PER_S)
/* Times further ahead than this come from a wrong clock, not from the present. */
#define SCR_FUTURE_NS (60 * SCR_NS_PER_S)

/* Whether the file's ctime (mtime where ctime is ignored) is later than @window before its reading
 * began, by the clock of its file system. */
bool scr_work_younger(const struct scr_work *w, int64_t window_ns);

/* The size by which its extents are cut. */
static inline uint64_t scr_work_size(const struct scr_work *w)
{
	return w->has_base && !w->record_all && !w->resized ? w->base.stamp.size
							     : (uint64_t)w->st.st_size;
}

/* Damage of the file as a whole: what its record will say (@size: that was seen), and what is told
 * with the verdict. */
void scr_work_file_damage(struct scr_work *w, uint8_t kind, uint64_t size);
void scr_work_note_damage(struct scr_work *w, enum scr_damage_kind kind, int err);

/* Adds @v to the file's verdict; @left: damage stays open. */
void scr_work_found(struct scr_work *w, enum scr_verdict v, bool left);

/* Tells and counts the damage in the results of @k, joined to runs. */
void scr_tell_results(struct scr_worker *k, struct scr_work *w);

#endif

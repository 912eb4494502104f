/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Phase 2, READ: threads that take files, and chunks of large files, from a source.
 *
 *	each thread: lock; take a chunk of the current large file, or the next small files; unlock
 *	             begin (large files: under the lock); process their extents; journal
 *	             whoever finishes the last chunk of a file finishes the file
 *
 * No data is handed from one thread to another.
 */
#ifndef SCR_PASS_FEED_H
#define SCR_PASS_FEED_H

#include "pass/work.h"

/* Extents in a chunk: 64 MiB, a tenth of a second. */
#define SCR_CHUNK_EXTENTS 4

/* Where files come from. Called under the feed's lock, but for in_time() and
 * done(). */
struct scr_feed_ops {
	/* The next file: 1 and *w, 0 at the end, -errno. */
	int (*next)(void *arg, struct scr_work **w);
	/* The next recorded extent of that file, in order, into @e (reused). 1, 0, -errno. */
	int (*extent)(void *arg, struct scr_work *w, struct scr_extent *e);
	/* Whether this extent (@run of them, if holes) is to be read; @base: as recorded, or NULL.
	 * Asked when it is handed out, so in the order of the source, whichever thread comes to it
	 * first (but for long runs of holes, which cost nothing). NULL: all are. */
	bool (*due)(void *arg, struct scr_work *w, const struct scr_cut *cut, uint64_t run,
		    const struct scr_extent *base);
	/* Whether it still is, now that its turn has come. Any thread, no lock. NULL: it is. */
	bool (*in_time)(void *arg, struct scr_work *w, const struct scr_cut *cut, uint64_t run,
			const struct scr_extent *base);
	/* Results of a chunk, in @k; @last: the file is finished. Frees nothing. 0 or -errno. */
	int (*done)(void *arg, struct scr_worker *k, struct scr_work *w, bool last);
	/* What done() kept in @k goes to where it belongs. 0 or -errno. */
	int (*flush)(void *arg, struct scr_worker *k);
};

/*
 * Runs threads until the source is exhausted, somebody fails or the user stops: as many as are to
 * read at a time (struct scr_options.reads_in_flight), of which at most @threads compute.
 * Adds the bytes read to the summary. 0, -EINTR, -errno.
 */
int scr_feed_run(struct scr_pass *p, const struct scr_feed_ops *ops, void *arg,
		 unsigned int threads);

/* The number of computing threads that the user wants. */
unsigned int scr_feed_threads(const struct scr_pass *p);

#endif

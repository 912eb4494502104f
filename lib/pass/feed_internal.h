/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the two halves of the feed share: feed_take.c hands out, feed.c works on it. */
#ifndef SCR_PASS_FEED_INTERNAL_H
#define SCR_PASS_FEED_INTERNAL_H

#include "pass/feed.h"
#include "pass/room.h"
#include "pass/suspect.h"

struct scr_feed {
	struct scr_pass *p;
	const struct scr_feed_ops *ops;
	void *arg;
	sem_t gate; /* threads that may compute; unless all may */
	bool gated;
	struct scr_room room;
	bool in_place;             /* files of a batch are read in the order of the medium */
	pthread_mutex_t lock;
	struct scr_work *current;  /* a large file with extents left to hand out */
	struct scr_work *queued;   /* a large file that is to be begun next */
	struct scr_extent pending; /* of current: read from the source, not yet handed out */
	bool have_pending;
	bool ended;
	atomic_int error; /* the first -errno that ends the pass */
	atomic_bool gone;
	atomic_uint lost; /* files in a row whose device seems to be gone */
	pthread_mutex_t suspect_lock;
	struct scr_suspects suspects;
};

/* A part of a file, or a small file. */
struct scr_chunk {
	struct scr_work *work;
	bool whole;              /* all of the file, begin included */
	uint64_t first, end;     /* extents; end is not known yet if whole */
	struct scr_extent *base; /* recorded extents of the range, by index */
	uint32_t count, cap;
	uint64_t chosen;         /* which extents before this are to be read was asked: ... */
	uint32_t due;            /* ... bit i: extent first + i */
};

/* What a thread works on: one chunk of a large file, or whole small files. */
struct scr_batch {
	struct scr_chunk chunk[SCR_BATCH_FILES];
	unsigned int count;
};

/* Takes the next batch, under the feed's lock. 1, 0 if there is nothing left, -errno. */
int scr_feed_take(struct scr_feed *f, struct scr_worker *k, struct scr_batch *b);
/* Frees recorded extents, not the works. */
void scr_feed_clear(struct scr_batch *b);
void scr_feed_drop_pending(struct scr_feed *f);
/* The size by which the file is cut. */
uint64_t scr_feed_size(const struct scr_work *w);
/* The recorded extent, or run of holes, that extent @i is in; or NULL. */
struct scr_extent *scr_feed_base(struct scr_chunk *c, uint64_t i);
/* The number of whole extents from @i on, of @extents, that are one hole. */
uint64_t scr_feed_hole_run(struct scr_worker *k, const struct scr_work *w, uint64_t i,
			   uint64_t extents);

#endif

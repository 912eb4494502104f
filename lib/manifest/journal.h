/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The journal inside of its own folder. */
#ifndef SCR_MANIFEST_JOURNAL_H
#define SCR_MANIFEST_JOURNAL_H

#include "manifest/sort.h"
#include "manifest/store.h"
#include "manifest/update.h"
#include "manifest/window.h"

/*
 * Which extents of one path count: a sweep over indexes. Items come by index, newest first; those
 * that reach the present index wait in active[], and the newest of them wins.
 */
struct scr_sweep {
	uint64_t pos;             /* the next index */
	struct scr_item *active;  /* without paths; none is older and shorter than another */
	size_t count, cap;
};

struct scr_journal {
	struct scr_window window;
	struct scr_codec codec;
	struct scr_sorter *sorter;
	uint64_t count;                /* UPDATE records */
	const struct scr_item *head;   /* the next item; NULL: at the end */
	bool started;                  /* head is set */
	struct scr_buf path;           /* of the current path; empty: none */
	uint64_t size;                 /* extents must fit a file of this size */
	struct scr_sweep sweep;
};

/* As scr_journal_open(), with the limits that a test wants. */
int scr_journal_open_with(int fd, uint64_t generation, const struct scr_sort_limits *limits,
			  int (*tmpfile)(void *arg), void *arg, struct scr_journal **out,
			  uint64_t *valid);
/* Reads @j's file and hands its parts to the sorter; *valid as scr_journal_open(). */
int scr_journal_scan(struct scr_journal *j, uint64_t generation, uint64_t *valid);
/* Extents of the current path must fit @size instead; before the first one was taken. */
void scr_journal_set_size(struct scr_journal *j, uint64_t size);
/* The next item in *item without moving, if it belongs to the current path. Returns 1, 0, -errno. */
int scr_journal_look(struct scr_journal *j, const struct scr_item **item);
int scr_journal_skip(struct scr_journal *j); /* passes over that item */

#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Sorted runs in a file, and merging them. */
#ifndef SCR_MANIFEST_SORT_RUN_H
#define SCR_MANIFEST_SORT_RUN_H

#include "manifest/sort.h"

int scr_item_cmp(const struct scr_item *a, const struct scr_item *b);
/* Bytes of an item with its path, a multiple of 8. */
size_t scr_item_size(uint32_t path_len);

/* A run is a range of the file. */
struct scr_run {
	uint64_t start, end;
};

struct scr_merge;

/* Begins to merge @n runs of @fd; @runs may go away. */
int scr_merge_new(int fd, const struct scr_run *runs, unsigned int n, struct scr_merge **out);
/* *item is valid until the next call. Returns 1, 0 at the end, -errno. */
int scr_merge_next(struct scr_merge *m, const struct scr_item **item);
void scr_merge_free(struct scr_merge *m);

/* Appends items to a run that ends at *end, through a buffer. */
struct scr_run_writer {
	int fd;
	uint64_t end; /* of what was flushed */
	uint8_t *buf;
	size_t len;
};

int scr_run_writer_init(struct scr_run_writer *w, int fd, uint64_t end);
int scr_run_write(struct scr_run_writer *w, const struct scr_item *item);
int scr_run_flush(struct scr_run_writer *w);
void scr_run_writer_free(struct scr_run_writer *w);

#endif

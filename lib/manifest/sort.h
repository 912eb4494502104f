/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* External merge sort of what is in a journal: small items that say where a payload is.
 *
 * Items are collected in a bounded arena; a full one is sorted and appended as a run to a temporary
 * file, and runs are merged. What fits the arena never touches a file.
 */
#ifndef SCR_MANIFEST_SORT_H
#define SCR_MANIFEST_SORT_H

#include <stddef.h>
#include <stdint.h>

/* Order: path in walk order, file parts before extents, index, newest (highest @where) first. */
struct scr_item {
	uint64_t where;      /* offset of the payload in the journal */
	uint64_t index, end; /* extents [index, end); 0, 0 for a file part */
	uint64_t size;       /* of the file in that update */
	uint32_t len;        /* of the payload */
	uint32_t path_len;
	uint8_t type;        /* SCR_TYPE_FILE, _EXTENT, _HOLES */
	uint8_t done;        /* file part: the update finished the file */
	char path[];
};

/* How much memory to use; small numbers make tests go through all paths. */
struct scr_sort_limits {
	size_t arena;        /* bytes of items in memory; at least one is held */
	unsigned int fan_in; /* runs merged at once, 2 or more; each has a buffer of 128 KiB */
};

extern const struct scr_sort_limits scr_sort_default; /* together below 10 MiB */

struct scr_sorter;

int scr_sorter_new(const struct scr_sort_limits *limits, int (*tmpfile)(void *arg), void *arg,
		   struct scr_sorter **out);
/* Adds *fixed with @path (path_len bytes). Returns 0 or -errno. */
int scr_sorter_add(struct scr_sorter *s, const struct scr_item *fixed, const char *path);
/* Ends adding; the first item is next. */
int scr_sorter_sort(struct scr_sorter *s);
/* *item is valid until the next call. Returns 1, 0 at the end, -errno. */
int scr_sorter_next(struct scr_sorter *s, const struct scr_item **item);
int scr_sorter_rewind(struct scr_sorter *s);
void scr_sorter_free(struct scr_sorter *s);

#endif

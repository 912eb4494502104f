/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A hash map from a pair of 64-bit numbers to one, 24 bytes an entry: inodes of several links. */
#ifndef SCR_BASE_MAP_H
#define SCR_BASE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct scr_map_entry {
	uint64_t key[2];
	uint64_t value;
	bool used;
};

/* Zero-initialised is empty. */
struct scr_map {
	struct scr_map_entry *slots;
	size_t count, cap;
};

/* The value of (@a, @b), or NULL. The pointer is good until the next scr_map_put(). */
uint64_t *scr_map_get(const struct scr_map *m, uint64_t a, uint64_t b);
/* Sets the value of (@a, @b). Returns 0 or -ENOMEM. */
int scr_map_put(struct scr_map *m, uint64_t a, uint64_t b, uint64_t value);
void scr_map_free(struct scr_map *m);

#endif

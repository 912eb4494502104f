/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A strict reader of ddrescue's mapfiles.
 *
 *	# comments, anywhere
 *	0x00000000     ?               1        where it is, what it does, in which pass
 *	0x00000000  0x00010000  +               then runs: place, length, status
 *
 * (GNU ddrescue manual, "Mapfile structure".) Runs begin at 0, each where the one before ends, and
 * neighbours differ.
 */
#ifndef TESTS_FUZZ_DDRESCUE_MAP_H
#define TESTS_FUZZ_DDRESCUE_MAP_H

#include <stddef.h>
#include <stdint.h>

struct fuzz_map_run {
	uint64_t start, length;
	char status;
};

struct fuzz_map {
	struct fuzz_map_run *runs;
	uint32_t count;
	uint64_t size; /* where the last run ends */
};

/* Ends the process where @text is no such map, or where what it does does not fit the runs. */
void fuzz_map_parse(struct fuzz_map *map, const void *text, size_t len);
/* The status of byte @at, below the size. */
char fuzz_map_at(const struct fuzz_map *map, uint64_t at);
void fuzz_map_free(struct fuzz_map *map);

#endif

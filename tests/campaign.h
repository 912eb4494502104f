/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* For the campaign of whole repairs: files, the medium they are on, and what should become of
 * them. */
#ifndef TESTS_CAMPAIGN_H
#define TESTS_CAMPAIGN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "io/reader.h"
#include "io/writer.h"
#include "search_trial.h"

#define CAMPAIGN_MTIME 1000000000 /* of all files, always */

/* ---- the medium: campaign_medium.c -------------------------------------------------------- */

/* Bytes of a file that can't be read until they are written again. */
struct hole {
	ino_t ino;
	uint64_t from, to;
};

#define HOLES 4096u

struct medium {
	struct hole list[HOLES];
	uint32_t count;
};

struct scr_reader_ops medium_reader(struct medium *m);
struct scr_writer_ops medium_writer(struct medium *m);
/* Sectors of 512 bytes; false: there is no room for more. */
bool medium_lose(struct medium *m, ino_t ino, uint64_t from, uint64_t to);
/* Whether bytes of the file can't be read. */
bool medium_lost(const struct medium *m, ino_t ino, uint64_t from, uint64_t to);

/* ---- a file ------------------------------------------------------------------------------- */

struct span {
	uint64_t from, to;
};

/* An extent, as the manifest has it, and its parity. */
struct place {
	struct scr_cut cut;
	bool hole, zero;            /* recorded as a hole; parity of zeros */
	uint32_t segment;
	uint64_t offset;
	uint8_t *parity;            /* as it is after the damage; NULL: takes no bytes */
	bool parity_hit;
	struct span lost[8];        /* of parity: unreadable */
	uint32_t lost_count;
	int fd;                     /* if any is: so that no other file gets its inode */
};

#define SPANS 16u

struct victim {
	char name[16];
	ino_t ino;
	uint64_t size, size_now;    /* as recorded; as damaged */
	uint8_t *was, *now;         /* now: garbage where it can't be read */
	uint64_t room;              /* of now */
	bool sparse;                /* zeros are holes */
	struct span lost[SPANS];
	uint32_t lost_count;
	struct place *place;
	uint32_t places;
	uint32_t damages;
	bool reported;              /* damage, by the last pass */
};

/* campaign_case.c: content, and damage of one file. */
void victim_make(struct victim *v, struct dice *d, uint64_t size_max, bool large,
		 const struct scr_geometry *g);
void victim_damage(struct victim *v, struct dice *d);
/* Writes what differs from what was recorded; all of it at first. */
bool victim_write(const struct victim *v, const char *dir, bool first);
bool victim_lost(const struct victim *v, uint64_t from, uint64_t to);
uint64_t victim_lost_bytes(const struct victim *v);
void victim_free(struct victim *v);

/* ---- what should become of it: campaign_judge.c ------------------------------------------- */

enum outcome { REPAIR, REFUSE, EITHER, MIXED, PARITY_ONLY, CLASSES };

extern const char *const outcome_names[CLASSES];

struct totals {
	uint64_t files, rounds, bytes;
	uint64_t extents[CLASSES], whole[CLASSES]; /* whole: nothing of it is lost afterwards */
	uint64_t blocks_repaired, blocks_left, sizes_repaired, sizes_left;
	uint64_t rebuilt, kept, wrong;
};

/*
 * Compares what the file holds after the repair, @after of @size bytes, with what it should.
 * @syndrome: repair by checksum alone is allowed. NULL, or what is wrong.
 */
const char *victim_judge(struct victim *v, const struct scr_geometry *g, const uint8_t *after,
			 uint64_t size, bool syndrome, struct totals *sum);

#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* For tests of the repair search: an extent in memory, its damage, and what should become of it. */
#ifndef TESTS_SEARCH_TRIAL_H
#define TESTS_SEARCH_TRIAL_H

#include <stdbool.h>
#include <stdint.h>

#include "parity/search.h"

/* SplitMix64. */
struct dice {
	uint64_t state;
};

uint64_t dice_roll(struct dice *d);
uint32_t dice_below(struct dice *d, uint32_t n); /* 0 .. n - 1; n > 0 */

#define TRIAL_GAPS 64u

/* What PARITY's rules say of a block, worked out from the damage itself. */
enum expect {
	EXPECT_SOUND,
	EXPECT_REPAIR, /* no byte hit twice, and within the bound */
	EXPECT_REFUSE, /* a byte of its component is hit twice */
	EXPECT_EITHER,
};

struct trial {
	struct scr_search s;              /* data and parity: as read, later as left */
	uint8_t *data, *parity;           /* as recorded */
	uint8_t *data_read, *parity_read; /* as read */
	struct scr_check *checks, *parity_checks;
	struct scr_gap gaps[TRIAL_GAPS], parity_gaps[TRIAL_GAPS];
	uint8_t *expect; /* enum expect by block, data then parity */
	bool stale;      /* the parity was never right: expect nothing */
};

/* An extent of @size bytes, all zero, with room for everything. */
void trial_start(struct trial *t, const struct scr_geometry *g, uint32_t size);
/* Its content is in t->data now: makes parity and checksums, and an undamaged copy. */
void trial_record(struct trial *t, const struct scr_kernels *k);
/* From now on @parity is what was recorded as parity, right or not. */
void trial_restore_parity(struct trial *t, const uint8_t *parity);
/* Damage is done by writing to t->s.data and t->s.parity, and by these; gaps may overlap. */
void trial_gap(struct trial *t, uint32_t start, uint32_t length);
void trial_parity_gap(struct trial *t, uint32_t start, uint32_t length);
/* The damage is complete: what is read of it is in t->data_read and t->parity_read. */
void trial_settle(struct trial *t, bool allow_syndrome);
/* That, and the search. */
void trial_run(struct trial *t, bool allow_syndrome);
/* NULL, or what must never be: wrong bytes, wrong counts, a state that the bytes belie. */
const char *trial_wrong(const struct trial *t);
void trial_free(struct trial *t);

/* search_expect.c: fills t->expect; between trial_settle() or trial_run() and trial_free(). */
void trial_expect(struct trial *t);
/* NULL, or which expectation was not met. */
const char *trial_unmet(const struct trial *t);

#endif

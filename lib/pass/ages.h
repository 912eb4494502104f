/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How many bytes were last looked at when: a histogram fine enough to find the oldest first in.
 *
 * Times are keys of one queue. A check dated in the future comes from a clock that was wrong then
 * or is wrong now: it proves no age, so it goes before all others, and among its kind the earlier
 * date goes first: whatever the clock does from pass to pass, what was looked at last comes last
 * again.
 *
 * The younger a check is, the finer its slot: a slot of the past is at most a 2048th of the age. So
 * passes that follow each other within seconds are told apart as well as those of one night each,
 * whatever else is months old.
 */
#ifndef SCR_PASS_AGES_H
#define SCR_PASS_AGES_H

#include <stdbool.h>
#include <stdint.h>

#define SCR_AGES_FUTURE 4096u
#define SCR_AGES_PAST (33u << 11) /* ages up to 2^63 ns */
#define SCR_AGES_SLOTS (SCR_AGES_FUTURE + SCR_AGES_PAST)

/* Of two clocks that were set by the same hand: no step yet. */
#define SCR_AGES_SLACK_NS (60 * INT64_C(1000000000))

struct scr_ages {
	int64_t now;         /* later keys are in the future */
	int64_t future_step; /* nanoseconds of a slot of the future */
	uint64_t total;
	uint64_t bytes[SCR_AGES_SLOTS];
};

/* @newest: the latest key expected; later ones share the last slot of the future. */
void scr_ages_init(struct scr_ages *a, int64_t now, int64_t newest);
/* The place of a key in the queue; 0 (never) is the first. */
uint32_t scr_ages_slot(const struct scr_ages *a, int64_t key);
bool scr_ages_is_future(const struct scr_ages *a, int64_t key);
/* A key in an earlier slot than @key's, as close to it as that is certain; 0 before all others. */
int64_t scr_ages_before(const struct scr_ages *a, int64_t key);
void scr_ages_add(struct scr_ages *a, int64_t key, uint64_t bytes);
/* The end of the band that begins at slot @from: the fewest slots that hold @share bytes, or all
 * that are left if the rest is less. SCR_AGES_SLOTS at the end. */
uint32_t scr_ages_band(const struct scr_ages *a, uint32_t from, uint64_t share);

#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The ways in which bytes go wrong, for campaigns: all by the dice. */
#ifndef TESTS_SPOIL_H
#define TESTS_SPOIL_H

#include <stdint.h>

#include "search_trial.h"

struct spoiler {
	struct dice *d;
	/* How this campaign makes random bytes: what a seed stands for stays. */
	void (*fill)(struct dice *d, uint8_t *p, uint64_t len);
};

/* 0 .. n - 1; n > 0. The same as dice_below() where that can be. */
uint64_t spoil_below(struct dice *d, uint64_t n);
/* Overwrites @len bytes in one of the ways; at least one. */
void spoil(const struct spoiler *s, uint8_t *p, uint64_t len);
/* Of @len bytes: one bit; @unit bytes, aligned; a burst of up to @limit bytes, often of all. */
void spoil_bit(const struct spoiler *s, uint8_t *p, uint64_t len);
void spoil_unit(const struct spoiler *s, uint8_t *p, uint64_t len, uint32_t unit);
void spoil_burst(const struct spoiler *s, uint8_t *p, uint64_t len, uint64_t limit);
/* Two aligned stretches of @unit bytes change places. */
void spoil_swap(const struct spoiler *s, uint8_t *p, uint64_t len, uint32_t unit);

#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Timing that tells apart what is 10 % apart, with any clock and at any speed.
 *
 *	step = smallest step that the clock makes
 *	for each subject: repetitions = enough for 30 steps, at least 50
 *	seven times:
 *		for each subject: attempt = time of so many repetitions
 *	for each subject: the smallest attempt that another one confirms
 *
 * An attempt of 30 steps is read with an error below one step, a thirtieth: less than half of 10 %
 * even if it errs in opposite directions for two subjects. Attempts take turns, so that a change
 * of the CPU clock or a busy neighbour hits all subjects alike. Disturbances only ever add time,
 * hence the minimum; but a minimum that stands alone, with no other attempt within 3 % or one step
 * of it, is a clock's fault or luck, and does not count.
 */
#ifndef SCR_SELECT_MEASURE_H
#define SCR_SELECT_MEASURE_H

#include <stddef.h>
#include <stdint.h>

#include "base/clock.h"

#define SCR_MEASURE_STEPS 30
#define SCR_MEASURE_REPS 50
#define SCR_MEASURE_ATTEMPTS 7

/* Does the work of subject @i, @reps times. */
typedef void scr_work_fn(void *arg, size_t i, unsigned int reps);

/* The smallest difference but 0 between two readings of @clock, in nanoseconds: its resolution, or
 * the time that reading it takes. */
int64_t scr_clock_step(const struct scr_clock *clock);

/* ps[i] = picoseconds that one repetition of subject @i takes, at least 1. */
void scr_measure(const struct scr_clock *clock, scr_work_fn *work, void *arg, size_t n,
		 int64_t *ps);

/*
 * The same as Linux has done it since 2020 (crypto/xor.c, calibrate_xor_blocks): for each subject
 * three attempts in a row of 800 repetitions, and the best counts. The constant fits 4 KiB blocks
 * at the speeds of that day: with a clock of 32 kHz, two subjects within 10 % of each other are
 * confused only above 10 GB/s.
 */
void scr_measure_classic(const struct scr_clock *clock, scr_work_fn *work, void *arg, size_t n,
			 int64_t *ps);

/* The subject to be used: one replaces an earlier one only if it is more than 3 % faster, so that
 * chance does not decide between equals. @n is not 0. */
size_t scr_measure_choose(const int64_t *ps, size_t n);

#endif

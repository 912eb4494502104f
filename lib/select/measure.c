/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Timing by any clock: repetitions derived from its step, attempts that take turns. */
#include <config.h>
#include "select/measure.h"

#include "base/compiler.h"

#define STEP_SAMPLES 16
#define MOST_REPS (1U << 24)
#define CLASSIC_REPS 800
#define CLASSIC_ATTEMPTS 3
#define TIE_PERCENT 3
#define SUBJECTS 32 /* measured in one round; more are measured in several */

struct subject {
	unsigned int reps;
	int64_t t[SCR_MEASURE_ATTEMPTS];
};

int64_t scr_clock_step(const struct scr_clock *clock)
{
	int64_t step = INT64_MAX, last = scr_clock_monotonic(clock);
	unsigned int i;

	for (i = 0; i < STEP_SAMPLES; i++) {
		int64_t now = scr_clock_monotonic(clock);

		while (now == last)
			now = scr_clock_monotonic(clock);
		step = SCR_MIN(step, now - last);
		last = now;
	}
	return SCR_MAX(step, 1);
}

static int64_t attempt(const struct scr_clock *clock, scr_work_fn *work, void *arg, size_t i,
		       unsigned int reps)
{
	int64_t start = scr_clock_monotonic(clock);

	work(arg, i, reps);
	return scr_clock_monotonic(clock) - start;
}

/* Enough repetitions for two steps more than are asked for: later attempts may be faster. The tries
 * warm up caches and clocks, too. */
static unsigned int find_reps(const struct scr_clock *clock, scr_work_fn *work, void *arg, size_t i,
			      int64_t step)
{
	unsigned int reps = SCR_MEASURE_REPS;

	while (reps < MOST_REPS) {
		int64_t t = attempt(clock, work, arg, i, reps);
		int64_t want = (SCR_MEASURE_STEPS + 2) * step;

		if (t >= want)
			break;
		if (t < 8 * step) /* too coarse to extrapolate from */
			reps *= 4;
		else
			reps = (unsigned int)(reps * want / (t - step)) + 1;
	}
	return reps;
}

static void sort(int64_t *t, unsigned int n)
{
	unsigned int i, j;

	for (i = 1; i < n; i++) {
		int64_t v = t[i];

		for (j = i; j > 0 && t[j - 1] > v; j--)
			t[j] = t[j - 1];
		t[j] = v;
	}
}

/* The smallest attempt with another one within 3 % or a step of it; the median if there is none. */
static int64_t confirmed_minimum(int64_t *t, int64_t step)
{
	unsigned int i;

	sort(t, SCR_MEASURE_ATTEMPTS);
	for (i = 0; i + 1 < SCR_MEASURE_ATTEMPTS; i++) {
		if (t[i + 1] - t[i] <= SCR_MAX(t[i] * TIE_PERCENT / 100, step))
			return t[i];
	}
	return t[SCR_MEASURE_ATTEMPTS / 2];
}

static int64_t per_rep(int64_t ns, unsigned int reps)
{
	return SCR_MAX(ns * 1000 / reps, 1);
}

/* One round: subjects @first to @first + @n - 1. */
static void measure_some(const struct scr_clock *clock, scr_work_fn *work, void *arg, size_t first,
			 size_t n, int64_t *ps)
{
	int64_t step = scr_clock_step(clock);
	struct subject s[SUBJECTS];
	unsigned int a;
	size_t i;

	for (i = 0; i < n; i++)
		s[i].reps = find_reps(clock, work, arg, first + i, step);
	for (a = 0; a < SCR_MEASURE_ATTEMPTS; a++) {
		for (i = 0; i < n; i++)
			s[i].t[a] = attempt(clock, work, arg, first + i, s[i].reps);
	}
	for (i = 0; i < n; i++)
		ps[first + i] = per_rep(confirmed_minimum(s[i].t, step), s[i].reps);
}

void scr_measure(const struct scr_clock *clock, scr_work_fn *work, void *arg, size_t n, int64_t *ps)
{
	size_t i;

	for (i = 0; i < n; i += SUBJECTS)
		measure_some(clock, work, arg, i, SCR_MIN(n - i, SUBJECTS), ps);
}

void scr_measure_classic(const struct scr_clock *clock, scr_work_fn *work, void *arg, size_t n,
			 int64_t *ps)
{
	unsigned int a;
	size_t i;

	for (i = 0; i < n; i++) {
		int64_t best = INT64_MAX;

		for (a = 0; a < CLASSIC_ATTEMPTS; a++) {
			int64_t t = attempt(clock, work, arg, i, CLASSIC_REPS);

			best = SCR_MIN(best, t);
		}
		ps[i] = per_rep(SCR_MAX(best, 1), CLASSIC_REPS);
	}
}

size_t scr_measure_choose(const int64_t *ps, size_t n)
{
	size_t best = 0, i;

	for (i = 1; i < n; i++) {
		/* more than 3 % faster: the old one takes more than 1.03 times as long */
		if (ps[best] * 100 > ps[i] * (100 + TIE_PERCENT))
			best = i;
	}
	return best;
}

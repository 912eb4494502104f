/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What calibrations with coarse clocks would have picked among kernels of known speed.
 *
 * The race is run for real, by the same functions, but time is simulated: a repetition takes what
 * was measured here and up to 1 % more, and the clock shows multiples of its step.
 */
#include <config.h>
#include "bench/internal.h"

#include "base/compiler.h"
#include "select/measure.h"

#define TRIES 300
#define READING_PS 20000 /* a look at the clock */
#define NOISE 100        /* hundredths of a percent */
#define TICK_COUNTS 5

struct sim {
	int64_t now_ps, step_ps;
	const int64_t *ps;
	uint64_t rng;
};

static uint64_t rng(struct sim *s)
{
	s->rng ^= s->rng << 13;
	s->rng ^= s->rng >> 7;
	s->rng ^= s->rng << 17;
	return s->rng;
}

static int64_t now(void *arg)
{
	struct sim *s = arg;

	s->now_ps += READING_PS;
	return s->now_ps / s->step_ps * s->step_ps / 1000;
}

static int64_t noisy(struct sim *s, int64_t t)
{
	return t + t / 10000 * (int64_t)(rng(s) % NOISE);
}

static void work(void *arg, size_t i, unsigned int reps)
{
	struct sim *s = arg;

	s->now_ps += noisy(s, s->ps[i] * reps);
}

typedef void measure_fn(const struct scr_clock *, scr_work_fn *, void *, size_t, int64_t *);

/*
 * Linux before 2020: how many blocks are done from one tick to the next, best of five. Precise,
 * because there are many blocks in a tick, and slow, because ticks are milliseconds.
 */
static void count_per_tick(const struct scr_clock *clock, scr_work_fn *do_work, void *arg, size_t n,
			   int64_t *ps)
{
	struct sim *s = arg;
	unsigned int k;
	size_t i;

	(void)clock;
	(void)do_work;
	for (i = 0; i < n; i++) {
		int64_t best = 1;

		for (k = 0; k < TICK_COUNTS; k++) {
			int64_t count = s->step_ps / noisy(s, s->ps[i]);

			s->now_ps += s->step_ps + s->step_ps / 2; /* wait for a tick, then count */
			best = SCR_MAX(best, count);
		}
		ps[i] = s->step_ps / best;
	}
}

/* All but ours take the first of the fastest. */
static size_t pick(measure_fn *measure, const int64_t *ps, size_t n)
{
	size_t best = 0, i;

	if (measure == scr_measure)
		return scr_measure_choose(ps, n);
	for (i = 1; i < n; i++) {
		if (ps[i] < ps[best])
			best = i;
	}
	return best;
}

static int64_t fastest(const int64_t *ps, size_t n)
{
	return ps[pick(NULL, ps, n)];
}

static size_t most(const unsigned int *count, size_t n)
{
	size_t best = 0, i;

	for (i = 1; i < n; i++) {
		if (count[i] > count[best])
			best = i;
	}
	return best;
}

static void simulate(struct scr_classic *out, const int64_t *ps, measure_fn *measure,
		     int64_t step_ps, const char *clock, const char *method)
{
	struct scr_classic_pick *p = &out->pick[out->npick++];
	unsigned int picked[SCR_CLASSIC_MAX] = {0}, i;
	int64_t seen[SCR_CLASSIC_MAX], spent = 0;

	*p = (struct scr_classic_pick){.clock = clock, .method = method, .tries = TRIES};
	for (i = 0; i < TRIES; i++) {
		/* each try begins at another phase of the clock */
		int64_t start = (i + 1) * INT64_C(1000000007);
		struct sim s = {.now_ps = start, .step_ps = step_ps, .ps = ps, .rng = i + 1};
		struct scr_clock c = {.wall_ns = now, .monotonic_ns = now, .arg = &s};
		size_t k;

		measure(&c, work, &s, out->nxor, seen);
		k = pick(measure, seen, out->nxor);
		picked[k]++;
		p->right += ps[k] * 100 <= fastest(ps, out->nxor) * 103;
		spent += s.now_ps - start;
	}
	p->most_picked = out->xor_[most(picked, out->nxor)].name;
	p->milliseconds = (double)spent / TRIES / 1e9;
}

void scr_classic_simulate(struct scr_classic *out, const int64_t *ps)
{
	static const struct {
		const char *name;
		int64_t step_ps;
	} clocks[] = {
		{"1 ns", 1000},
		{"32 kHz", 30517578},
		{"HZ tick", INT64_C(4000000000)}, /* HZ = 250 */
	};
	size_t i;

	for (i = 0; i < SCR_ARRAY_SIZE(clocks); i++)
		simulate(out, ps, scr_measure_classic, clocks[i].step_ps, clocks[i].name,
			 "3 x 800");
	simulate(out, ps, count_per_tick, clocks[2].step_ps, clocks[2].name, "count per tick");
	for (i = 0; i < SCR_ARRAY_SIZE(clocks); i++)
		simulate(out, ps, scr_measure, clocks[i].step_ps, clocks[i].name, "bitscrub");
}

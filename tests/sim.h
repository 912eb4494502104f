/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A simulated clock of any coarseness, and work that takes simulated time. */
#ifndef TESTS_SIM_H
#define TESTS_SIM_H

#include <stddef.h>
#include <stdint.h>

#include "base/clock.h"

#define SIM_SUBJECTS 8

struct sim {
	int64_t now_ps;            /* the real time, which nobody sees */
	int64_t step_ps;           /* what the clock shows is a multiple of this */
	int64_t ps[SIM_SUBJECTS];  /* what one repetition of a subject takes */
	unsigned int noise_permil; /* an attempt takes up to so much longer */
	uint64_t rng;
	int lucky_subject, lucky_call; /* this call of this subject takes a tenth; -1 for none */
	int calls[SIM_SUBJECTS];
};

static inline uint64_t sim_rng(struct sim *s)
{
	s->rng ^= s->rng << 13;
	s->rng ^= s->rng >> 7;
	s->rng ^= s->rng << 17;
	return s->rng;
}

/* Reading takes 20 ns. */
static inline int64_t sim_now(void *arg)
{
	struct sim *s = arg;

	s->now_ps += 20000;
	return s->now_ps / s->step_ps * s->step_ps / 1000;
}

static inline void sim_work(void *arg, size_t i, unsigned int reps)
{
	struct sim *s = arg;
	int64_t t = s->ps[i] * reps;

	if ((int)i == s->lucky_subject && s->calls[i] == s->lucky_call)
		t /= 10;
	s->calls[i]++;
	if (s->noise_permil)
		t += t / 1000 * (int64_t)(sim_rng(s) % s->noise_permil);
	s->now_ps += t;
}

static inline struct scr_clock sim_clock(struct sim *s)
{
	return (struct scr_clock){.wall_ns = sim_now, .monotonic_ns = sim_now, .arg = s};
}

#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Timing by simulated clocks: ours tells kernels apart at any speed, the classic one does not. */
#include <config.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "select/measure.h"
#include "sim.h"

#define TRIES 300
#define BLOCK 4096
#define SLOWER(ps) ((ps)*112 / 100)

typedef void measure_fn(const struct scr_clock *, scr_work_fn *, void *, size_t, int64_t *);

/* 1 ns, 1 us, and 32768 Hz as many embedded boards have it, in picoseconds. */
static const int64_t steps[] = {1000, 1000000, 30517578};
static const int64_t gb_per_s[] = {9, 30, 107};

/* How often of TRIES the faster of two, 12 % apart, is not chosen. The slower one comes first in
 * the table, so a tie goes wrong; each try begins at another phase of the clock, and attempts take
 * up to 1 % longer than they should. */
static unsigned int wrong(measure_fn *measure, int64_t step_ps, int64_t slow, int64_t fast)
{
	int64_t ps[2];
	unsigned int bad = 0, i;

	for (i = 0; i < TRIES; i++) {
		struct sim s = {.now_ps = INT64_C(1000000007) * (i + 1),
				.step_ps = step_ps,
				.ps = {slow, fast},
				.noise_permil = 10,
				.rng = 88172645463325252U + i,
				.lucky_subject = -1};
		struct scr_clock c = sim_clock(&s);

		measure(&c, sim_work, &s, 2, ps);
		bad += measure == scr_measure ? scr_measure_choose(ps, 2) != 1 : ps[1] >= ps[0];
	}
	return bad;
}

static void test_step(void **state)
{
	size_t i;

	(void)state;
	for (i = 1; i < 3; i++) {
		struct sim s = {.step_ps = steps[i], .lucky_subject = -1};
		struct scr_clock c = sim_clock(&s);

		assert_in_range(scr_clock_step(&c), steps[i] / 1000 - 1, steps[i] / 1000 + 1);
	}
}

/* A repetition at @rate, and the two that are 12 % away. */
#define AT(rate) (BLOCK * INT64_C(1000) / (rate))
#define FASTER(ps) ((ps)*100 / 112)
#define SLOWER(ps) ((ps)*112 / 100)

static void always_told_apart(int64_t step_ps, int64_t rate)
{
	assert_int_equal(wrong(scr_measure, step_ps, AT(rate), FASTER(AT(rate))), 0);
	assert_int_equal(wrong(scr_measure, step_ps, SLOWER(AT(rate)), AT(rate)), 0);
}

static void test_always_told_apart(void **state)
{
	size_t i, j;

	(void)state;
	for (i = 0; i < 3; i++) {
		for (j = 0; j < 3; j++)
			always_told_apart(steps[i], gb_per_s[j]);
	}
}

/* The three speeds are not special. */
static void test_far_outside(void **state)
{
	(void)state;
	always_told_apart(steps[2], 1);
	always_told_apart(steps[2], 400);
	always_told_apart(steps[0], 400);
}

static unsigned int classic_wrong(int64_t step_ps, int64_t slow, int64_t fast)
{
	return wrong(scr_measure_classic, step_ps, slow, fast);
}

/* What the classic constant promises: right with a good clock, or below 10 GB/s. */
static void test_classic_where_it_works(void **state)
{
	size_t j;

	(void)state;
	for (j = 0; j < 3; j++)
		assert_int_equal(classic_wrong(steps[0], SLOWER(AT(gb_per_s[j])), AT(gb_per_s[j])),
				 0);
	assert_int_equal(classic_wrong(steps[2], SLOWER(AT(9)), AT(9)), 0);
}

/* 800 blocks at 30 GB/s are 3.6 ticks and a faster kernel's are 3.2; at 107 GB/s they are one. */
static void test_classic_where_it_fails(void **state)
{
	(void)state;
	assert_in_range(classic_wrong(steps[2], AT(30), FASTER(AT(30))), TRIES / 4, TRIES);
	assert_in_range(classic_wrong(steps[2], AT(107), FASTER(AT(107))), TRIES / 2, TRIES);
}

/* The lucky call is every one that there is, once: the tries for repetitions and each attempt. */
static void test_lucky_attempt(void **state)
{
	int64_t ps[2];
	int call;
	size_t i;

	(void)state;
	for (i = 0; i < 3; i++) {
		for (call = 0; call < 16; call++) {
			struct sim s = {.step_ps = steps[i],
					.ps = {100000, 112000},
					.lucky_subject = 1,
					.lucky_call = call,
					.rng = 1};
			struct scr_clock c = sim_clock(&s);

			scr_measure(&c, sim_work, &s, 2, ps);
			assert_int_equal(scr_measure_choose(ps, 2), 0);
		}
	}
}

static void test_measures_right(void **state)
{
	static const int64_t want[] = {38000, 136000, 455000, 1600000, 120};
	int64_t ps[5];
	size_t i, j;

	(void)state;
	for (i = 0; i < 3; i++) {
		struct sim s = {.step_ps = steps[i], .lucky_subject = -1, .rng = 1};
		struct scr_clock c = sim_clock(&s);

		for (j = 0; j < 5; j++)
			s.ps[j] = want[j];
		scr_measure(&c, sim_work, &s, 5, ps);
		for (j = 0; j < 5; j++)
			assert_in_range(ps[j], want[j] * 95 / 100, want[j] * 105 / 100);
	}
}

static void test_repetitions(void **state)
{
	struct sim s = {.step_ps = 1000, .ps = {455000}, .lucky_subject = -1, .rng = 1};
	struct scr_clock c = sim_clock(&s);
	int64_t ps, start = s.now_ps;

	(void)state;
	scr_measure(&c, sim_work, &s, 1, &ps);
	/* one try, seven attempts of 50 repetitions */
	assert_int_equal(s.calls[0], 1 + SCR_MEASURE_ATTEMPTS);
	assert_in_range(s.now_ps - start, 8 * 50 * 455000, 8 * 50 * 455000 + 2000000);
}

static void test_tie(void **state)
{
	const int64_t equal[] = {103, 100, 100}, faster[] = {104, 100, 98},
		      creep[] = {1060, 1035, 1020};

	(void)state;
	assert_int_equal(scr_measure_choose(equal, 3), 0);
	assert_int_equal(scr_measure_choose(faster, 3), 1);
	assert_int_equal(scr_measure_choose(creep, 3), 2);
	assert_int_equal(scr_measure_choose(equal, 1), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_step),
		cmocka_unit_test(test_always_told_apart),
		cmocka_unit_test(test_far_outside),
		cmocka_unit_test(test_classic_where_it_works),
		cmocka_unit_test(test_classic_where_it_fails),
		cmocka_unit_test(test_lucky_attempt),
		cmocka_unit_test(test_measures_right),
		cmocka_unit_test(test_repetitions),
		cmocka_unit_test(test_tie),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

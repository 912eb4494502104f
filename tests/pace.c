/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The token bucket under a clock that the test moves. */
#include <config.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <cmocka.h>

#include "base/pace.h"

#define MB 1000000u

struct clock {
	int64_t now, slept;
	unsigned int naps;
};

static int64_t now_of(void *arg)
{
	return ((struct clock *)arg)->now;
}

static void nap(void *arg, int64_t ns)
{
	struct clock *c = arg;

	c->now += ns;
	c->slept += ns;
	c->naps++;
}

static struct scr_clock clock_of(struct clock *c)
{
	return (struct scr_clock){
		.wall_ns = now_of, .monotonic_ns = now_of, .arg = c, .sleep_ns = nap};
}

static void test_no_rate_is_no_wait(void **state)
{
	struct clock c = {.now = 5};
	struct scr_clock clock = clock_of(&c);
	struct scr_pace p;

	(void)state;
	scr_pace_init(&p, &clock, 0);
	for (int i = 0; i < 1000; i++)
		assert_int_equal(scr_pace_take(&p, 1000 * MB), 0);
	scr_pace_destroy(&p);
}

static void test_rate_is_kept_exactly(void **state)
{
	struct clock c = {.now = 77};
	struct scr_clock clock = clock_of(&c);
	atomic_int stop = 0;
	struct scr_pace p;

	(void)state;
	scr_pace_init(&p, &clock, 100 * MB);
	for (int i = 0; i < 1000; i++)
		scr_pace_wait(&p, MB, &stop);
	/* A thousand megabytes at a hundred a second; rounding is below a microsecond. */
	assert_in_range(c.now - 77, 10 * SCR_NS_PER_S - 1000, 10 * SCR_NS_PER_S + 1000);
	scr_pace_destroy(&p);
}

/* Whoever takes while others owe waits behind them. */
static void test_threads_queue_up(void **state)
{
	struct clock c = {.now = 0};
	struct scr_clock clock = clock_of(&c);
	struct scr_pace p;

	(void)state;
	scr_pace_init(&p, &clock, 10 * MB);
	assert_int_equal(scr_pace_take(&p, 10 * MB), SCR_NS_PER_S);
	assert_int_equal(scr_pace_take(&p, 10 * MB), 2 * SCR_NS_PER_S);
	c.now = SCR_NS_PER_S / 2;
	assert_int_equal(scr_pace_take(&p, 5 * MB), 2 * SCR_NS_PER_S);
	scr_pace_destroy(&p);
}

/* The process was stopped, or the machine slept, for an hour: a quarter of a second is free. */
static void test_pause_gives_no_burst(void **state)
{
	struct clock c = {.now = 0};
	struct scr_clock clock = clock_of(&c);
	struct scr_pace p;

	(void)state;
	scr_pace_init(&p, &clock, 100 * MB);
	assert_int_equal(scr_pace_take(&p, 10 * MB), SCR_NS_PER_S / 10);
	c.now += 3600 * SCR_NS_PER_S;
	assert_int_equal(scr_pace_take(&p, 25 * MB), 0);
	assert_int_equal(scr_pace_take(&p, 10 * MB), SCR_NS_PER_S / 10);
	scr_pace_destroy(&p);
}

static void test_stop_ends_a_wait(void **state)
{
	struct clock c = {.now = 0};
	struct scr_clock clock = clock_of(&c);
	atomic_int stop = 1;
	struct scr_pace p;

	(void)state;
	scr_pace_init(&p, &clock, 1);
	scr_pace_wait(&p, MB, &stop);
	assert_int_equal(c.slept, 0);
	/* A long wait is cut into naps, so that a stop is seen in between. */
	stop = 0;
	scr_pace_destroy(&p);
	scr_pace_init(&p, &clock, MB);
	scr_pace_wait(&p, 2 * MB, &stop);
	assert_int_equal(c.slept, 2 * SCR_NS_PER_S);
	assert_int_equal(c.naps, 20);
	scr_pace_destroy(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_no_rate_is_no_wait),
		cmocka_unit_test(test_rate_is_kept_exactly),
		cmocka_unit_test(test_threads_queue_up),
		cmocka_unit_test(test_pause_gives_no_burst),
		cmocka_unit_test(test_stop_ends_a_wait),
	};

	return cmocka_run_group_tests_name("pace", tests, NULL, NULL);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The queue of what to look at next: never, then the future, then the oldest. */
#include <config.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>

#include "base/clock.h"
#include "pass/ages.h"

#define DAY (86400 * SCR_NS_PER_S)
#define NOW (20000 * DAY)

static struct scr_ages *make(int64_t oldest, int64_t newest)
{
	struct scr_ages *a = malloc(sizeof(*a));

	assert_non_null(a);
	scr_ages_init(a, NOW, oldest, newest);
	return a;
}

static void test_order(void **state)
{
	const int64_t keys[] = {
		0,
		NOW + DAY,
		NOW + 2 * DAY,
		NOW + 400 * DAY,
		NOW - 400 * DAY,
		NOW - 399 * DAY,
		NOW - 30 * DAY,
		NOW - DAY,
		NOW - DAY / 2,
		NOW - DAY / 4,
		NOW,
	};
	struct scr_ages *a = make(NOW - 400 * DAY, NOW + 400 * DAY);

	(void)state;
	for (size_t i = 1; i < sizeof(keys) / sizeof(keys[0]); i++)
		assert_true(scr_ages_slot(a, keys[i - 1]) < scr_ages_slot(a, keys[i]));
	free(a);
}

static void test_what_is_outside_shares_the_ends(void **state)
{
	struct scr_ages *a = make(NOW - 100 * DAY, NOW + 10 * DAY);

	(void)state;
	assert_int_equal(scr_ages_slot(a, NOW - 5000 * DAY), SCR_AGES_FUTURE);
	/* There is room before the oldest, for what is to come just before it. */
	assert_true(scr_ages_slot(a, NOW - 100 * DAY - 2 * a->past_step) <
		    scr_ages_slot(a, NOW - 100 * DAY));
	assert_int_equal(scr_ages_slot(a, INT64_MIN), SCR_AGES_FUTURE);
	assert_int_equal(scr_ages_slot(a, INT64_MAX), SCR_AGES_FUTURE - 1);
	assert_true(scr_ages_slot(a, NOW + SCR_AGES_SLACK_NS) < SCR_AGES_SLOTS);
	assert_false(scr_ages_is_future(a, NOW + SCR_AGES_SLACK_NS));
	assert_true(scr_ages_is_future(a, NOW + SCR_AGES_SLACK_NS + 1));
	free(a);
}

static void test_bands_cover_each_slot_once(void **state)
{
	struct scr_ages *a = make(NOW - 64 * DAY, 0);
	uint64_t sum = 0;
	unsigned int bands = 0;

	(void)state;
	for (int i = 0; i < 64; i++)
		scr_ages_add(a, NOW - i * DAY, 100);
	assert_int_equal(a->total, 6400);
	for (uint32_t from = 0, end; from < SCR_AGES_SLOTS; from = end, bands++) {
		uint64_t band = 0;

		end = scr_ages_band(a, from, 640);
		assert_true(end > from);
		for (uint32_t i = from; i < end; i++)
			band += a->bytes[i];
		assert_in_range(band, 100, 700);
		sum += band;
	}
	assert_int_equal(sum, 6400);
	assert_int_equal(bands, 10);
	free(a);
}

static void test_nothing_is_one_band(void **state)
{
	struct scr_ages *a = make(0, 0);

	(void)state;
	assert_int_equal(scr_ages_band(a, 0, 1), SCR_AGES_SLOTS);
	free(a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_what_is_outside_shares_the_ends),
		cmocka_unit_test(test_bands_cover_each_slot_once),
		cmocka_unit_test(test_nothing_is_one_band),
	};

	return cmocka_run_group_tests_name("ages", tests, NULL, NULL);
}

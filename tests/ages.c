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

static struct scr_ages *make(int64_t newest)
{
	struct scr_ages *a = malloc(sizeof(*a));

	assert_non_null(a);
	scr_ages_init(a, NOW, newest);
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
	struct scr_ages *a = make(NOW + 400 * DAY);

	(void)state;
	for (size_t i = 1; i < sizeof(keys) / sizeof(keys[0]); i++)
		assert_true(scr_ages_slot(a, keys[i - 1]) < scr_ages_slot(a, keys[i]));
	free(a);
}

static void test_what_is_outside_shares_the_ends(void **state)
{
	struct scr_ages *a = make(NOW + 10 * DAY);

	(void)state;
	assert_int_equal(scr_ages_slot(a, INT64_MIN), SCR_AGES_FUTURE);
	assert_int_equal(scr_ages_slot(a, INT64_MAX), SCR_AGES_FUTURE - 1);
	assert_true(scr_ages_slot(a, NOW + SCR_AGES_SLACK_NS) < SCR_AGES_SLOTS);
	assert_false(scr_ages_is_future(a, NOW + SCR_AGES_SLACK_NS));
	assert_true(scr_ages_is_future(a, NOW + SCR_AGES_SLACK_NS + 1));
	free(a);
}

/* Passes may follow each other at once, whatever else is years old. */
static void test_a_second_is_told_apart_in_the_last_half_hour(void **state)
{
	struct scr_ages *a = make(0);

	(void)state;
	for (int64_t s = 0; s < 1800; s++)
		assert_true(scr_ages_slot(a, NOW - (s + 1) * SCR_NS_PER_S) <
			    scr_ages_slot(a, NOW - s * SCR_NS_PER_S));
	/* A day, in the last five years. */
	for (int64_t d = 0; d < 1800; d++)
		assert_true(scr_ages_slot(a, NOW - (d + 1) * DAY) < scr_ages_slot(a, NOW - d * DAY));
	free(a);
}

static void test_before_is_an_earlier_slot_and_close(void **state)
{
	struct scr_ages *a = make(NOW + 40 * DAY);

	(void)state;
	for (int64_t age = 1; age < NOW; age += age / 3 + 1) {
		int64_t key = NOW - age, before = scr_ages_before(a, key);

		assert_true(before < key);
		assert_true(scr_ages_slot(a, before) < scr_ages_slot(a, key));
		assert_true(key - before <= age / 1024 + (4 << 20) || before == 0);
	}
	assert_true(scr_ages_slot(a, scr_ages_before(a, NOW + 20 * DAY)) <
		    scr_ages_slot(a, NOW + 20 * DAY));
	/* Before the first of the future there is nothing of the future; it never becomes past. */
	assert_true(scr_ages_is_future(a, scr_ages_before(a, NOW + 2 * SCR_AGES_SLACK_NS)));
	assert_int_equal(scr_ages_before(a, 1), 0);
	free(a);
}

static void test_bands_cover_each_slot_once(void **state)
{
	struct scr_ages *a = make(0);
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
	struct scr_ages *a = make(0);

	(void)state;
	assert_int_equal(scr_ages_band(a, 0, 1), SCR_AGES_SLOTS);
	free(a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_what_is_outside_shares_the_ends),
		cmocka_unit_test(test_a_second_is_told_apart_in_the_last_half_hour),
		cmocka_unit_test(test_before_is_an_earlier_slot_and_close),
		cmocka_unit_test(test_bands_cover_each_slot_once),
		cmocka_unit_test(test_nothing_is_one_band),
	};

	return cmocka_run_group_tests_name("ages", tests, NULL, NULL);
}

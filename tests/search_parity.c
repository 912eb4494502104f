/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The repair search: unreadable bytes, damaged parity, none, stale parity, single bits. */
#include <config.h>
#include "search_checks.h"

#include <stdlib.h>
#include <string.h>

/* ---- unreadable ---------------------------------------------------------------------------- */

static void test_unreadable_pieces(void **state)
{
	static const uint32_t sizes[] = {1, 700, 5000, 65536, 100001, 300000};
	struct trial t;

	(void)state;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		uint32_t c = scr_cut_extent(&standard, sizes[i], 0).column;

		for (uint32_t at = 0; at + c <= sizes[i]; at += c / 3 + 1) {
			start(&t, &standard, sizes[i]);
			trial_gap(&t, at, c);
			run(&t, false);
			assert_int_equal(t.s.lost, 0);
			assert_true(t.s.repaired > 0);
			trial_free(&t);
		}
		/* Cut off. */
		start(&t, &standard, sizes[i]);
		trial_gap(&t, sizes[i] - c, c);
		run(&t, false);
		assert_int_equal(t.s.lost, 0);
		trial_free(&t);
	}
}

static void test_unreadable_sectors_at_distinct_positions(void **state)
{
	struct trial t;

	(void)state;
	start_64k(&t);
	for (uint32_t i = 0; i < 8; i++)
		trial_gap(&t, (2 * i + 1) * 4096 + i * 512, 512);
	expect_all(&t, 8);
}

static void test_unreadable_sectors_at_one_position(void **state)
{
	struct trial t;

	(void)state;
	start_64k(&t);
	trial_gap(&t, 4096 + 512, 512);
	trial_gap(&t, 3 * 4096 + 512, 512);
	expect_none(&t, 2, SCR_LOST_TWICE);

	/* One byte in common is enough. */
	start_64k(&t);
	trial_gap(&t, 4096 + 512, 512);
	trial_gap(&t, 3 * 4096 + 1023, 512);
	expect_none(&t, 2, SCR_LOST_TWICE);
}

/* A third block beside two that are lost is worked on. */
static void test_beside_lost_blocks(void **state)
{
	struct trial t;

	(void)state;
	start_64k(&t);
	trial_gap(&t, 4096 + 512, 512);
	trial_gap(&t, 3 * 4096 + 512, 512);
	spoil(column(&t, 7) + 2048, 900, 3);
	run(&t, false);
	assert_int_equal(t.s.state[7], SCR_BLOCK_REPAIRED);
	assert_int_equal(t.s.lost, 2);
	assert_int_equal(t.s.why[1], SCR_LOST_TWICE);
	trial_free(&t);

	/* Also if one of those has more errors of its own. */
	start_64k(&t);
	trial_gap(&t, 4096 + 512, 512);
	trial_gap(&t, 3 * 4096 + 512, 512);
	spoil(column(&t, 7) + 2048, 512, 3);
	spoil(column(&t, 1) + 3072, 512, 3);
	run(&t, false);
	assert_int_equal(t.s.state[7], SCR_BLOCK_REPAIRED);
	assert_int_equal(t.s.lost, 2);
	trial_free(&t);
}

/* Bits in block 7 and in a lost one, in turn: eight cells are told apart, more are not tried. */
static void test_cells_beside_lost_blocks(void **state)
{
	(void)state;
	for (uint32_t bits = 2; bits <= 10; bits++) {
		struct trial t;

		start_64k(&t);
		trial_gap(&t, 4096, 512);
		trial_gap(&t, 3 * 4096, 512);
		for (uint32_t i = 0; i < bits; i++)
			column(&t, i % 2 ? 7 : 1)[1000 + 100 * i] ^= 4;
		run(&t, false);
		assert_int_equal(t.s.state[7], bits <= 8 ? SCR_BLOCK_REPAIRED : SCR_BLOCK_LOST);
		assert_int_equal(t.s.why[7], bits <= 8 ? 0 : SCR_LOST_TOO_MANY);
		assert_int_equal(t.s.why[1], SCR_LOST_TWICE);
		trial_free(&t);
	}
}

static void test_an_unreadable_sector_over_an_error(void **state)
{
	struct trial t;

	(void)state;
	start_64k(&t);
	trial_gap(&t, 4096 + 512, 512);
	spoil(column(&t, 7) + 600, 2, 3);
	expect_none(&t, 2, SCR_LOST_NO_FIT);
}

/* ---- parity -------------------------------------------------------------------------------- */

static void test_damaged_parity(void **state)
{
	struct trial t;

	(void)state;
	start_64k(&t);
	spoil(t.s.parity + 5, 4000, 1);
	expect_all(&t, 0);

	start_64k(&t);
	trial_parity_gap(&t, 0, 4096);
	expect_all(&t, 0);

	start(&t, &standard, 16 * MIB);
	spoil(t.s.parity + 70000, 200000, 1);
	spoil(t.s.data + 5 * MIB + 400000, 100000, 2);
	run(&t, false);
	assert_int_equal(t.s.lost, 0);
	assert_int_equal(t.s.parity_state[1], SCR_BLOCK_REPAIRED);
	assert_int_equal(t.s.parity_state[0], SCR_BLOCK_SOUND);
	assert_memory_equal(t.s.parity, t.parity, t.s.cut.column);
	trial_free(&t);
}

static void test_damaged_parity_and_data_in_one_component(void **state)
{
	struct trial t;

	(void)state;
	start_64k(&t);
	spoil(t.s.parity + 512, 512, 1);
	spoil(column(&t, 5) + 1024, 512, 2);
	t.s.data[9 * 4096 + 7] ^= 1;
	expect_all(&t, 2);
}

static void test_unreadable_parity_and_damaged_data(void **state)
{
	struct trial t;

	(void)state;
	start_64k(&t);
	trial_parity_gap(&t, 512, 512);
	spoil(column(&t, 5) + 1024, 512, 2);
	expect_all(&t, 1);

	start_64k(&t);
	trial_parity_gap(&t, 0, 4096);
	spoil(column(&t, 5) + 1024, 512, 2);
	expect_none(&t, 1, SCR_LOST_NO_FIT);
}

static void test_parity_of_zeros(void **state)
{
	struct trial t;

	(void)state;
	trial_start(&t, &standard, 64 * KIB);
	for (uint32_t i = 0; i < 16; i++)
		fill(t.data + (size_t)i * 4096, 4096, 9);
	record(&t);
	t.s.parity_zero = true;
	free(t.s.parity);
	t.s.parity = NULL;
	t.s.parity_checks = NULL;
	spoil(column(&t, 5) + 1024, 2000, 2);
	spoil(column(&t, 6) + 200, 100, 2);
	trial_parity_gap(&t, 0, 0);
	t.s.parity = calloc(1, t.s.cut.column);
	expect_all(&t, 2);
}

/* ---- single bits --------------------------------------------------------------------------- */

static void start_without_parity(struct trial *t)
{
	start(t, &standard, 300000);
	t->s.parity_checks = NULL;
	t->s.data[100000] ^= 0x20;
}

static void test_no_parity(void **state)
{
	struct trial t;

	(void)state;
	start_without_parity(&t);
	expect_none(&t, 1, SCR_LOST_NO_PARITY);

	start_without_parity(&t);
	run(&t, true);
	assert_int_equal(t.s.lost, 0);
	assert_int_equal(t.s.state[100000 / t.s.cut.block], SCR_BLOCK_BY_SYNDROME);
	trial_free(&t);

	start_without_parity(&t);
	t.s.data[100001] ^= 0x20;
	run(&t, true);
	assert_int_equal(t.s.lost, 1);
	assert_int_equal(t.s.why[100000 / t.s.cut.block], SCR_LOST_NO_PARITY);
	trial_free(&t);
}

static void start_two_bits_of_one_byte(struct trial *t)
{
	start_64k(t);
	column(t, 3)[77] ^= 0x01;
	column(t, 8)[77] ^= 0x40;
}

/* The first by its checksum, then the fold has one unknown only. */
static void test_syndrome_then_fold(void **state)
{
	struct trial t;

	(void)state;
	start_two_bits_of_one_byte(&t);
	expect_none(&t, 2, SCR_LOST_NO_FIT);

	start_two_bits_of_one_byte(&t);
	run(&t, true);
	assert_int_equal(t.s.state[3], SCR_BLOCK_BY_SYNDROME);
	assert_int_equal(t.s.state[8], SCR_BLOCK_REPAIRED);
	trial_free(&t);

	start_64k(&t);
	column(&t, 3)[77] ^= 0x01;
	trial_gap(&t, 8 * 4096, 512);
	run(&t, true);
	assert_int_equal(t.s.state[3], SCR_BLOCK_BY_SYNDROME);
	assert_int_equal(t.s.state[8], SCR_BLOCK_REPAIRED);
	trial_free(&t);
}

/* Two unreadable sectors at one place, but one was zeros: its checksums say so. */
static void test_zeros_that_could_not_be_read(void **state)
{
	for (int allow = 0; allow < 2; allow++) {
		struct trial t;

		trial_start(&t, &standard, 64 * KIB);
		fill(t.data, 64 * KIB, 5);
		memset(t.data + 3 * 4096, 0, 512);
		record(&t);
		trial_gap(&t, 3 * 4096, 512);
		trial_gap(&t, 7 * 4096, 512);
		run(&t, allow);
		assert_int_equal(t.s.lost, allow ? 0 : 2);
		trial_free(&t);
	}
	(void)state;
}

/* Where parity is sound it must show that very bit. */
static void test_syndrome_against_parity(void **state)
{
	struct trial t;
	uint8_t *parity;

	(void)state;
	start_64k(&t);
	parity = malloc(4096);
	assert_non_null(parity);
	memcpy(parity, t.parity, 4096);
	parity[99] ^= 3;
	trial_restore_parity(&t, parity);
	column(&t, 3)[77] ^= 0x01;
	run(&t, true);
	assert_int_equal(t.s.state[3], SCR_BLOCK_LOST);
	assert_int_equal(t.s.why[3], SCR_LOST_NO_FIT);
	free(parity);
	trial_free(&t);
}

/* ---- inconsistent -------------------------------------------------------------------------- */

static void test_stale_parity(void **state)
{
	struct trial t;
	uint8_t *parity;

	(void)state;
	start(&t, &standard, 300000);
	parity = malloc(t.s.cut.column);
	assert_non_null(parity);
	memcpy(parity, t.parity, t.s.cut.column);
	parity[1234] ^= 3;
	parity[1236] ^= 1;
	parity[t.s.cut.column - 1] ^= 0x80;
	trial_restore_parity(&t, parity);
	run(&t, true);
	assert_int_equal(t.s.lost + t.s.repaired, 0);
	assert_int_equal(t.s.inconsistent, 3);
	assert_int_equal(t.s.first_inconsistent, 1234);
	free(parity);
	trial_free(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_unreadable_pieces),
		cmocka_unit_test(test_unreadable_sectors_at_distinct_positions),
		cmocka_unit_test(test_unreadable_sectors_at_one_position),
		cmocka_unit_test(test_beside_lost_blocks),
		cmocka_unit_test(test_cells_beside_lost_blocks),
		cmocka_unit_test(test_an_unreadable_sector_over_an_error),
		cmocka_unit_test(test_damaged_parity),
		cmocka_unit_test(test_damaged_parity_and_data_in_one_component),
		cmocka_unit_test(test_unreadable_parity_and_damaged_data),
		cmocka_unit_test(test_parity_of_zeros),
		cmocka_unit_test(test_no_parity),
		cmocka_unit_test(test_syndrome_then_fold),
		cmocka_unit_test(test_zeros_that_could_not_be_read),
		cmocka_unit_test(test_syndrome_against_parity),
		cmocka_unit_test(test_stale_parity),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The repair search against every counter-example that a simpler one fell for. */
#include <config.h>
#include "search_checks.h"

#include <stdlib.h>
#include <string.h>

#include "parity/search_internal.h"

/* A burst in 64 KiB of 4 KiB columns across the border of columns 5 and 6, 1500 bytes into 6. */
#define BURST_AT (6 * 4096u - 2596u)

/* 1. All c bytes differ: S has no gap, yet two columns take part, and the cut is at any byte. */
static void test_no_gap_in_s(void **state)
{
	struct trial t;

	(void)state;
	for (uint32_t at = 0; at <= 15 * 4096; at += 997) {
		start_64k(&t);
		spoil(t.s.data + at, 4096, at);
		expect_all(&t, at % 4096 ? 2 : 1);
	}
}

/* 2. First and last byte only: in S these are neighbours, and the shortest arc is the wrong one. */
static void test_only_the_ends_differ(void **state)
{
	struct trial t;

	(void)state;
	for (uint32_t len = 4096; len > 4000; len--) {
		start_64k(&t);
		t.s.data[BURST_AT] ^= 0xa5;
		t.s.data[BURST_AT + len - 1] ^= 0x5a;
		expect_all(&t, 2);
	}
}

/* 3. Zeros inside: S falls into hundreds of segments. */
static void test_a_burst_full_of_zeros(void **state)
{
	struct trial t;

	(void)state;
	start_64k(&t);
	for (uint32_t i = 0; i < 4096; i += 5)
		t.s.data[BURST_AT + i] ^= (uint8_t)(1 + i % 255);
	expect_all(&t, 2);
}

/* 4. Equal errors at equal places cancel: S is 0, two blocks are bad, nothing to go by. */
static void test_errors_that_cancel(void **state)
{
	struct trial t;

	(void)state;
	start_64k(&t);
	spoil(column(&t, 2) + 100, 300, 1);
	spoil(column(&t, 9) + 100, 300, 1);
	expect_none(&t, 2, SCR_LOST_NO_FIT);

	/* The same fill over equal columns. */
	trial_start(&t, &standard, 64 * KIB);
	for (uint32_t i = 0; i < 16; i++)
		fill(t.data + (size_t)i * 4096, 4096, 7);
	record(&t);
	memset(column(&t, 3) + 512, 0xff, 512);
	memset(column(&t, 4) + 512, 0xff, 512);
	expect_none(&t, 2, SCR_LOST_NO_FIT);
}

/* Swapped blocks: the same, if they stand at one place; else each is simply forced. */
static void test_swapped_blocks(void **state)
{
	struct trial t;

	(void)state;
	start_64k(&t);
	memcpy(column(&t, 1), t.data + 12 * 4096, 4096);
	memcpy(column(&t, 12), t.data + 4096, 4096);
	expect_none(&t, 2, SCR_LOST_NO_FIT);

	start(&t, &standard, 4 * MIB);
	memcpy(t.s.data, t.data + 7 * 64 * KIB, 64 * KIB);
	memcpy(t.s.data + 7 * 64 * KIB, t.data, 64 * KIB);
	expect_all(&t, 2);
}

/* 5. Content that is equal everywhere: CRCs alone tell the columns apart, at every shift. */
static void equal_content(uint32_t period, uint8_t byte)
{
	struct trial t;

	for (uint32_t at = 0; at < 4096; at += 313) {
		trial_start(&t, &standard, 64 * KIB);
		memset(t.data, byte, 64 * KIB);
		fill(t.data, period, 3);
		for (uint32_t i = period; period && i < 64 * KIB; i++)
			t.data[i] = t.data[i - period];
		record(&t);
		column(&t, 4)[at] ^= 0x11;
		column(&t, 5)[at ^ 1] ^= 0x11;
		column(&t, 11)[at ^ 2] ^= 0x11;
		expect_all(&t, 3);
	}
}

static void test_equal_columns(void **state)
{
	(void)state;
	equal_content(4096, 0);
	equal_content(31, 0);
	equal_content(0, 0);
	equal_content(0, 0xff);
}

/* 6. Complementary columns: the Internet checksum accepts a flipped bit in the wrong one. */
static void test_complementary_columns(void **state)
{
	struct trial t;

	(void)state;
	for (uint32_t bit = 0; bit < 64; bit++) {
		trial_start(&t, &standard, 64 * KIB);
		fill(t.data, 4096, 3);
		for (uint32_t i = 4096; i < 64 * KIB; i++)
			t.data[i] = (uint8_t)~t.data[i - 4096];
		record(&t);
		column(&t, 4)[100 + bit] ^= (uint8_t)(1 << bit % 8);
		column(&t, 5)[300 + bit] ^= (uint8_t)(1 << bit % 8);
		expect_all(&t, 2);
	}
}

/* 7. A short last column is no candidate behind its end, and a burst may end with it. */
static void test_short_last_column(void **state)
{
	uint32_t size = 15 * 4096 + 100;
	struct trial t;

	(void)state;
	start(&t, &standard, size);
	assert_int_equal(t.s.cut.column, 4096);
	spoil(t.s.data + size - 4096, 4096, 1);
	expect_all(&t, 2);

	start(&t, &standard, size);
	spoil(column(&t, 3) + 50, 100, 1);
	spoil(column(&t, 15), 40, 2);
	expect_all(&t, 2);
}

/* 8. Parity damaged at the very positions of a burst; and beside them. */
static void test_parity_under_a_burst(void **state)
{
	struct trial t;

	(void)state;
	start_64k(&t);
	spoil(column(&t, 3) + 512, 512, 1);
	t.s.parity[600] ^= 1;
	expect_none(&t, 1, SCR_LOST_TOO_MANY);

	start_64k(&t);
	spoil(column(&t, 3) + 512, 512, 1);
	t.s.parity[1024] ^= 1;
	expect_all(&t, 1);
}

/* 9. Two bits at one place can't be told apart; at neighbouring places they can. */
static void test_bits_side_by_side(void **state)
{
	struct trial t;

	(void)state;
	start_64k(&t);
	column(&t, 3)[77] ^= 0x01;
	column(&t, 8)[77] ^= 0x40;
	expect_none(&t, 2, SCR_LOST_NO_FIT);

	start_64k(&t);
	column(&t, 8)[76] ^= 0x40;
	column(&t, 3)[77] ^= 0x01;
	column(&t, 8)[78] ^= 0x04;
	expect_all(&t, 2);
}

/* 10. Sectors of two columns side by side: garbage touches garbage, without a gap. */
static void test_neighbouring_sectors(void **state)
{
	struct trial t;

	(void)state;
	for (uint32_t at = 512; at < 4096; at += 512) {
		start_64k(&t);
		spoil(column(&t, 12) + at - 512, 512, at);
		spoil(column(&t, 3) + at, 512, at + 1);
		expect_all(&t, 2);
	}
}

/* 11. S is not 0 where nobody is bad: told, and nothing is touched. Beside it all goes on. */
static void test_missed_by_both_checksums(void **state)
{
	struct trial t;
	uint8_t *stale;

	(void)state;
	start(&t, &standard, 4 * MIB);
	stale = malloc(t.s.cut.column);
	assert_non_null(stale);
	memcpy(stale, t.parity, t.s.cut.column);
	stale[200000] ^= 0x10;
	trial_restore_parity(&t, stale);
	free(stale);
	spoil(t.s.data, 3000, 1);
	run(&t, true);
	assert_int_equal(t.s.repaired, 1);
	assert_int_equal(t.s.lost, 0);
	assert_int_equal(t.s.inconsistent, 1);
	assert_int_equal(t.s.first_inconsistent, 200000);
	trial_free(&t);
}

/* 12. A file that was cut off by up to c bytes. */
static void test_cut_off(void **state)
{
	struct trial t;

	(void)state;
	for (uint32_t size = 4096; size < 300000; size = size * 5 / 3) {
		uint32_t c = scr_cut_extent(&standard, size, 0).column;

		for (uint32_t missing = 1; missing <= c; missing = missing == c ? c + 1 : c) {
			start(&t, &standard, size);
			trial_gap(&t, size - missing, missing);
			run(&t, false);
			assert_int_equal(t.s.lost, 0);
			trial_free(&t);
		}
	}
}

/* Eight bits in eight blocks of 64 KiB: 16^8 candidates against one CRC, if blocks were longer. */
static void test_all_blocks_hit(void **state)
{
	struct trial t;

	(void)state;
	start_64k(&t);
	for (uint32_t i = 0; i < 10; i++)
		column(&t, i)[i * 400] ^= 1;
	expect_all(&t, 10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_no_gap_in_s),
		cmocka_unit_test(test_only_the_ends_differ),
		cmocka_unit_test(test_a_burst_full_of_zeros),
		cmocka_unit_test(test_errors_that_cancel),
		cmocka_unit_test(test_swapped_blocks),
		cmocka_unit_test(test_equal_columns),
		cmocka_unit_test(test_complementary_columns),
		cmocka_unit_test(test_short_last_column),
		cmocka_unit_test(test_parity_under_a_burst),
		cmocka_unit_test(test_bits_side_by_side),
		cmocka_unit_test(test_neighbouring_sectors),
		cmocka_unit_test(test_missed_by_both_checksums),
		cmocka_unit_test(test_cut_off),
		cmocka_unit_test(test_all_blocks_hit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

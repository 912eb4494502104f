/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The repair search: its arithmetic, forced positions, bursts, cells, time. */
#include <config.h>
#include "search_checks.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <zlib.h>

#include "base/compiler.h"
#include "parity/search_internal.h"

/* ---- arithmetic ---------------------------------------------------------------------------- */

static uint32_t raw_crc(const uint8_t *p, uint32_t len)
{
	return ~(uint32_t)crc32(UINT32_MAX, p, len);
}

static void test_crc_of_a_byte_before_zeros(void **state)
{
	uint8_t message[64] = {0};
	uint32_t powers[64];

	(void)state;
	scr_crc_powers(powers, 64);
	for (uint32_t at = 0; at < 64; at++) {
		for (unsigned int byte = 0; byte < 256; byte++) {
			message[at] = (uint8_t)byte;
			assert_int_equal(scr_crc_mul_byte(powers[63 - at], (uint8_t)byte),
					 raw_crc(message, 64));
			assert_int_equal(
				scr_crc_mul(scr_crc_shift(63 - at), raw_crc(message, at + 1)),
				raw_crc(message, 64));
		}
		message[at] = 0;
	}
}

static void test_finding_what_is_not_zero(void **state)
{
	uint8_t p[40] = {0};
	uint32_t at;

	(void)state;
	for (uint32_t len = 0; len <= 40; len++) {
		assert_false(scr_find_nonzero(p, len, &at));
		for (uint32_t i = 0; i < len; i++) {
			p[i] = 0x80;
			assert_true(scr_find_nonzero(p, len, &at));
			assert_int_equal(at, i);
			assert_int_equal(scr_find_nonzero(p, i, &at), false);
			p[i] = 0;
		}
	}
}

/* ---- level 0: forced positions ------------------------------------------------------------- */

static void test_nothing_is_wrong(void **state)
{
	struct trial t;

	(void)state;
	start_64k(&t);
	expect_all(&t, 0);
}

static void test_one_bad_block(void **state)
{
	static const uint32_t sizes[] = {
		1, 2, 63, 64, 100, 4095, 4096, 4097, 8193, 65535, 65537, 200001, MIB, 3 * MIB + 5,
	};
	struct trial t;

	(void)state;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		uint32_t last;

		start(&t, &standard, sizes[i]);
		spoil(t.s.data, scr_block_length(&t.s.cut, 0), i);
		expect_all(&t, 1);

		start(&t, &standard, sizes[i]);
		last = t.s.cut.blocks - 1;
		spoil(t.s.data + (size_t)last * t.s.cut.block, scr_block_length(&t.s.cut, last), i);
		expect_all(&t, 1);
	}
}

/* Of what fits the parity, either checksum alone can refuse. */
static void test_each_checksum_counts(void **state)
{
	struct trial t;

	(void)state;
	for (unsigned int i = 0; i < 3; i++) {
		start_64k(&t);
		t.checks[3].inet ^= i == 0;
		t.checks[3].crc ^= (uint32_t)(i == 1) << 31;
		column(&t, 3)[100] ^= 4;
		if (i < 2)
			expect_none(&t, 1, SCR_LOST_NO_FIT);
		else
			expect_all(&t, 1);
	}
}

static void test_every_bit_of_a_small_extent(void **state)
{
	static const struct scr_geometry g = {.block_size = 512, .columns = 4, .parity_unit = 64};
	struct trial t;

	(void)state;
	for (uint32_t bit = 0; bit < 8 * 300; bit++) {
		start(&t, &g, 300);
		t.s.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
		expect_all(&t, 1);
	}
}

static void test_blocks_that_share_no_position(void **state)
{
	struct trial t;

	(void)state;
	start(&t, &standard, 16 * MIB);
	for (uint32_t i = 0; i < 16; i++)
		spoil(column(&t, i) + (size_t)i * t.s.cut.block, t.s.cut.block, i);
	expect_all(&t, 16);
}

/* ---- level 1: a burst ---------------------------------------------------------------------- */

static void burst(const struct scr_geometry *g, uint32_t size, uint32_t at, uint32_t len)
{
	struct trial t;

	start(&t, g, size);
	spoil(t.s.data + at, SCR_MIN(len, size - at), at);
	run(&t, false);
	if (t.s.lost)
		fail_msg("burst of %u at %u of %u: %u lost", len, at, size, t.s.lost);
	assert_true(t.s.repaired > 0);
	trial_free(&t);
}

static void test_bursts_of_c_bytes(void **state)
{
	static const uint32_t sizes[] = {5000, 65536, 70000, 131072, 300001};

	(void)state;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct scr_cut cut = scr_cut_extent(&standard, sizes[i], 0);
		uint32_t last = sizes[i] - cut.column;

		for (uint32_t at = 0; at < last; at += cut.column / 5)
			burst(&standard, sizes[i], at, cut.column);
		burst(&standard, sizes[i], last, cut.column);
		burst(&standard, sizes[i], last / cut.column * cut.column, cut.column);
	}
}

static void test_bursts_at_borders(void **state)
{
	static const struct scr_geometry small = {
		.block_size = 512, .columns = 4, .parity_unit = 512};
	uint32_t size = 10000, c = scr_cut_extent(&small, size, 0).column;

	(void)state;
	assert_int_equal(c, 2560);
	for (uint32_t border = 512; border < 8000; border += 512) {
		for (uint32_t len = 1; len <= c; len = len * 3 + 1) {
			burst(&small, size, border - 1, len);
			burst(&small, size, border, len);
			burst(&small, size, border - SCR_MIN(len, border), len);
			burst(&small, size, border - len / 2 % border, len);
		}
		burst(&small, size, border - 1, c - 1);
		burst(&small, size, border - 1, c - 511);
		burst(&small, size, border - 1, c - 513);
	}
}

static void test_a_burst_in_a_large_extent(void **state)
{
	uint32_t merged = 16 * MIB + 197385, c = scr_cut_extent(&standard, merged, 0).column;

	(void)state;
	burst(&standard, 16 * MIB, 5 * MIB + 12345, MIB);
	burst(&standard, 16 * MIB, 15 * MIB, MIB);
	burst(&standard, 16 * MIB, 7 * MIB + 4096, MIB - 64 * KIB + 1);
	assert_int_equal(c, 1064960);
	burst(&standard, merged, merged - c, c);
	burst(&standard, merged, 3 * MIB + 1, c);
	burst(&standard, merged, merged - 100, 100);
}

static void test_a_burst_and_sectors(void **state)
{
	struct trial t;

	(void)state;
	start(&t, &standard, MIB);
	spoil(t.s.data + 100000, 60000, 1);
	trial_gap(&t, 14 * 64 * KIB + 29 * KIB, 4 * KIB);
	run(&t, false);
	assert_int_equal(t.s.lost, 0);
	trial_free(&t);
}

/* ---- level 2: cells ------------------------------------------------------------------------ */

static void test_bits_in_many_blocks(void **state)
{
	struct trial t;

	(void)state;
	start_64k(&t);
	for (uint32_t i = 0; i < 8; i++)
		column(&t, 2 * i)[i * 97 + 5] ^= (uint8_t)(1 << i);
	expect_all(&t, 8);
}

static void test_sectors_in_several_blocks(void **state)
{
	struct trial t;

	(void)state;
	start_64k(&t);
	for (uint32_t i = 0; i < 8; i++)
		spoil(column(&t, i * 5 % 16) + i * 512, 512, i);
	expect_all(&t, 8);
}

static void test_sixteen_cells_of_two_blocks(void **state)
{
	struct trial t;

	(void)state;
	start_64k(&t);
	for (uint32_t i = 0; i < 16; i++)
		column(&t, i % 2 ? 3 : 9)[i * 200] ^= 0x10;
	expect_all(&t, 2);
}

static void test_forty_cells_of_many_blocks(void **state)
{
	struct trial t;

	(void)state;
	/* 13 cells, 8 candidates each: 2^39. */
	start_64k(&t);
	for (uint32_t i = 0; i < 13; i++)
		column(&t, i * 5 % 8)[i * 300] ^= 0x21;
	expect_all(&t, 8);
}

static void test_too_many(void **state)
{
	struct trial t;

	(void)state;
	start_64k(&t);
	for (uint32_t i = 0; i < 18; i++)
		column(&t, i % 2 ? 3 : 9)[i * 200] ^= 0x10;
	expect_none(&t, 2, SCR_LOST_TOO_MANY);

	start_64k(&t);
	for (uint32_t i = 0; i < 14; i++)
		column(&t, i * 5 % 8)[i * 280] ^= 0x21;
	expect_none(&t, 8, SCR_LOST_TOO_MANY);
}

/* What is too much in one component is nothing to another. */
static void test_components_are_independent(void **state)
{
	struct trial t;

	(void)state;
	start(&t, &standard, 16 * MIB);
	for (uint32_t i = 0; i < 18; i++)
		column(&t, i % 2 ? 3 : 9)[i * 200] ^= 0x10;
	spoil(column(&t, 3) + 10 * t.s.cut.block, 700, 1);
	spoil(column(&t, 4) + 10 * t.s.cut.block + 4096, 700, 2);
	run(&t, false);
	assert_int_equal(t.s.lost, 2);
	assert_int_equal(t.s.repaired, 2);
	trial_free(&t);
}

/*
 * An error that no CRC sees (a multiple of P), twice, over bytes that are 0 in one place and 0xff
 * in the other, so that no sum sees it: it fits both of two bad blocks.
 */
static void fits_both(uint32_t at)
{
	uint8_t blind[5] = {1};
	uint32_t crc = raw_crc(blind, 1);
	struct trial t;

	for (uint32_t i = 0; i < 4; i++)
		blind[1 + i] = (uint8_t)(crc >> 8 * i);
	trial_start(&t, &standard, 64 * KIB);
	fill(t.data, 64 * KIB, 5);
	for (uint32_t i = 0; i < 4; i += 2) {
		memset(t.data + (size_t)i * t.s.cut.column + at, 0, 8);
		memset(t.data + (size_t)i * t.s.cut.column + at + 8, 0xff, 8);
	}
	record(&t);
	for (uint32_t i = 0; i < 5; i++) {
		column(&t, 2)[at + i] ^= blind[i];
		column(&t, 2)[at + 8 + i] ^= blind[i];
	}
	column(&t, 0)[2000] ^= 4;
	column(&t, 2)[3000] ^= 8;
	expect_none(&t, 2, SCR_LOST_AMBIGUOUS);
}

/* With the doubtful cell in either half of the table. */
static void test_ambiguous(void **state)
{
	(void)state;
	fits_both(0);
	fits_both(3600);
}

/* ---- time ---------------------------------------------------------------------------------- */

static double seconds_of(struct trial *t)
{
	struct timespec a, b;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &a);
	run(t, false);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &b);
	return (double)(b.tv_sec - a.tv_sec) + (double)(b.tv_nsec - a.tv_nsec) * 1e-9;
}

/* Generous limits: these run under valgrind and sanitizers, too. */
static void test_it_ends(void **state)
{
	struct trial t;

	(void)state;
	start(&t, &standard, 16 * MIB);
	spoil(t.s.data + 7 * MIB, 64 * KIB, 1);
	print_message("# one bad block of 16 MiB: %.3f s\n", seconds_of(&t));
	assert_int_equal(t.s.repaired, 1);
	trial_free(&t);

	start(&t, &standard, 16 * MIB);
	spoil(t.s.data + 7 * MIB + 777, MIB, 1);
	print_message("# a burst of 1 MiB: %.3f s\n", seconds_of(&t));
	assert_int_equal(t.s.repaired, 17);
	trial_free(&t);

	start(&t, &standard, 32 * MIB - 1);
	spoil(t.s.data, 32 * MIB - 1, 1);
	print_message("# nothing but garbage: %.3f s\n", seconds_of(&t));
	assert_int_equal(t.s.lost, t.s.cut.blocks);
	trial_free(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_crc_of_a_byte_before_zeros),
		cmocka_unit_test(test_finding_what_is_not_zero),
		cmocka_unit_test(test_nothing_is_wrong),
		cmocka_unit_test(test_one_bad_block),
		cmocka_unit_test(test_each_checksum_counts),
		cmocka_unit_test(test_every_bit_of_a_small_extent),
		cmocka_unit_test(test_blocks_that_share_no_position),
		cmocka_unit_test(test_bursts_of_c_bytes),
		cmocka_unit_test(test_bursts_at_borders),
		cmocka_unit_test(test_a_burst_in_a_large_extent),
		cmocka_unit_test(test_a_burst_and_sectors),
		cmocka_unit_test(test_bits_in_many_blocks),
		cmocka_unit_test(test_sectors_in_several_blocks),
		cmocka_unit_test(test_sixteen_cells_of_two_blocks),
		cmocka_unit_test(test_forty_cells_of_many_blocks),
		cmocka_unit_test(test_too_many),
		cmocka_unit_test(test_components_are_independent),
		cmocka_unit_test(test_ambiguous),
		cmocka_unit_test(test_it_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

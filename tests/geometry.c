/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How files are cut, against figures worked out by hand and against a model; and the fold. */
#include <config.h>
#include "store_common.h"

#include "fold/fold.h"

static const struct scr_geometry standard = {65536, 16, 4096};

/* Of the study that the geometry comes from: bytes of parity with units of 512 and of 4096, bytes
 * of checks (6 a block, parity included) with 4096. */
static const struct {
	uint64_t size, parity_512, parity_4096, checks;
} costs[] = {
	{1, 1, 1, 12},
	{64, 64, 64, 12},
	{100, 100, 100, 12},
	{500, 500, 500, 12},
	{1000, 512, 1000, 12},
	{1025, 512, 1025, 12},
	{4096, 512, 4096, 12},
	{16384, 1024, 4096, 30},
	{65536, 4096, 4096, 102},
	{65537, 4608, 8192, 60},
	{1048576, 65536, 65536, 102},
	{4000000, 250368, 253952, 396},
	{16777216, 1048576, 1048576, 1632},
	{1073741824, 67108864, 67108864, 104448},
};

static void add_up(const struct scr_geometry *g, uint64_t size, uint64_t *parity, uint64_t *blocks)
{
	*parity = *blocks = 0;
	for (uint64_t i = 0; i < scr_extent_count(size); i++) {
		struct scr_cut cut = scr_cut_extent(g, size, i);

		*parity += cut.column;
		*blocks += cut.blocks + cut.parity_blocks;
	}
}

static void test_costs(void **state)
{
	const struct scr_geometry fine = {65536, 16, 512};
	uint64_t parity, blocks;

	(void)state;
	for (size_t i = 0; i < sizeof(costs) / sizeof(costs[0]); i++) {
		add_up(&fine, costs[i].size, &parity, &blocks);
		assert_int_equal(parity, costs[i].parity_512);
		add_up(&standard, costs[i].size, &parity, &blocks);
		assert_int_equal(parity, costs[i].parity_4096);
		assert_int_equal(blocks * 6, costs[i].checks);
	}
}

/* The longest burst that the last extent survives. */
static void test_no_weak_tail(void **state)
{
	static const uint64_t limits[][2] = {
		{64 * MIB + 1, 1052672}, {64 * MIB + 65536, 1052672}, {68 * MIB, 1310720},
		{16 * MIB, 1048576},     {32 * MIB - 1, 2097152},     {32 * MIB, 1048576},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
		uint64_t size = limits[i][0], last = scr_extent_count(size) - 1;

		assert_int_equal(scr_cut_extent(&standard, size, last).column, limits[i][1]);
	}
}

/* The model: the same cut by repeated subtraction and by trying. */
static uint32_t model_length(uint64_t size, uint64_t index)
{
	while (index-- > 0) {
		assert_true(size >= 32 * MIB);
		size -= 16 * MIB;
	}
	return (uint32_t)(size >= 32 * MIB ? 16 * MIB : size);
}

static uint32_t model_column(const struct scr_geometry *g, uint32_t length)
{
	uint32_t c = 0;

	/* In steps of the unit, coarse first so that it ends soon. */
	for (uint32_t step = 1u << 14; step > 0; step /= 2)
		while ((uint64_t)(c + step * g->parity_unit) * g->columns < length)
			c += step * g->parity_unit;
	c += g->parity_unit;
	return c < length ? c : length;
}

static void check_extent(const struct scr_geometry *g, uint64_t size, uint64_t index)
{
	struct scr_cut cut = scr_cut_extent(g, size, index);
	uint64_t sum = 0;

	assert_int_equal(cut.index, index);
	assert_true(cut.offset == index * 16 * MIB);
	assert_int_equal(cut.length, model_length(size, index));
	assert_true(cut.length > 0 && cut.length < SCR_EXTENT_LIMIT);
	assert_int_equal(cut.column, model_column(g, cut.length));
	assert_int_equal(cut.block, cut.column < g->block_size ? cut.column : g->block_size);
	/* Positions of a block are distinct. */
	assert_true(cut.block <= cut.column);
	assert_true((uint64_t)cut.column * g->columns >= cut.length);
	assert_true(scr_fold_columns(&cut) <= g->columns);
	if (cut.blocks > 4096) {
		assert_int_equal(cut.blocks, (cut.length - 1) / cut.block + 1);
		sum = (uint64_t)(cut.blocks - 1) * cut.block +
		      scr_block_length(&cut, cut.blocks - 1);
	} else {
		for (uint32_t i = 0; i < cut.blocks; i++) {
			uint32_t len = scr_block_length(&cut, i);

			assert_true(len == cut.block || (i + 1 == cut.blocks && len > 0));
			sum += len;
		}
	}
	assert_true(sum == cut.length);
	assert_int_equal(cut.parity_blocks, (cut.column - 1) / cut.block + 1);
}

static void check_size(const struct scr_geometry *g, uint64_t size)
{
	uint64_t count = scr_extent_count(size), bytes = 0, blocks = 0;

	for (uint64_t i = 0; i < count; i++) {
		struct scr_cut cut = scr_cut_extent(g, size, i);

		check_extent(g, size, i);
		assert_true(cut.offset == bytes);
		assert_true(scr_blocks_before(g, size, i) == blocks);
		bytes += cut.length;
		blocks += cut.blocks;
	}
	assert_true(bytes == size);
	assert_true(scr_blocks_before(g, size, count) == blocks);
}

static const struct scr_geometry geometries[] = {
	{65536, 16, 4096}, {512, 2, 64},        {1u << 20, 256, 64}, {4096, 7, 512},
	{65536, 3, 4096},  {1u << 20, 2, 4096}, {2048, 100, 128},
};

static void test_every_small_size(void **state)
{
	(void)state;
	for (size_t g = 0; g < 7; g++)
		for (uint64_t size = 0; size < 70000; size += g < 2 ? 1 : 1 + size % 7)
			check_size(&geometries[g], size);
}

static void test_large_sizes(void **state)
{
	struct rng rng = {1};

	(void)state;
	for (size_t g = 0; g < 7; g++) {
		for (uint64_t m = 1; m < 20; m++)
			for (int d = -3; d <= 3; d++)
				check_size(&geometries[g], m * 16 * MIB + (uint64_t)d);
		for (unsigned int i = 0; i < 300; i++)
			check_size(&geometries[g], rng_next(&rng) % (300 * MIB));
	}
	assert_true(scr_extent_count(UINT64_MAX) == (UINT64_C(1) << 40) - 1);
	check_extent(&standard, INT64_MAX, 0);
}

static void test_alike(void **state)
{
	struct rng rng = {2};

	(void)state;
	for (unsigned int i = 0; i < 20000; i++) {
		uint64_t a = rng_below(&rng, 6) * 16 * MIB + rng_below(&rng, 3) * 8 * MIB;
		uint64_t b = rng_below(&rng, 6) * 16 * MIB + rng_below(&rng, 3) * 8 * MIB;
		uint64_t n = 0;

		if (rng_below(&rng, 4) == 0)
			b += rng_below(&rng, 2);
		while (n < scr_extent_count(a) && n < scr_extent_count(b) &&
		       scr_cut_extent(&standard, a, n).length ==
			       scr_cut_extent(&standard, b, n).length)
			n++;
		assert_true(scr_extents_alike(a, b) == n);
		assert_true(scr_extents_alike(b, a) == n);
	}
}

static void test_valid(void **state)
{
	static const struct scr_geometry bad[] = {
		{0, 16, 4096},    {256, 16, 4096},   {1u << 21, 16, 4096}, {1000, 16, 4096},
		{65536, 0, 4096}, {65536, 1, 4096},  {65536, 257, 4096},   {65536, 16, 0},
		{65536, 16, 32},  {65536, 16, 8192}, {65536, 16, 65},
	};

	(void)state;
	for (size_t i = 0; i < 7; i++)
		assert_true(scr_geometry_valid(&geometries[i]));
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_false(scr_geometry_valid(&bad[i]));
}

/* ---- the fold ------------------------------------------------------------------------------ */

static void fold_pieces(struct rng *rng, struct scr_fold *f, const uint8_t *data, uint32_t len)
{
	uint32_t middle = rng_below(rng, len + 1);

	/* The second half first: order does not matter. */
	for (uint32_t at = middle, n; at < len; at += n) {
		n = 1 + rng_below(rng, len - at);
		scr_fold_add(f, at, data + at, n);
	}
	for (uint32_t at = 0, n; at < middle; at += n) {
		n = 1 + rng_below(rng, middle - at);
		scr_fold_add(f, at, data + at, n);
	}
}

static void check_rebuild(struct rng *rng, const struct scr_cut *cut, uint8_t *data,
			  uint8_t *parity)
{
	const struct scr_kernels *k = scr_kernels_reference();
	uint32_t columns = scr_fold_columns(cut), victim = rng_below(rng, columns + 1);
	uint32_t start = rng_below(rng, cut->column);
	uint32_t len = 1 + rng_below(rng, cut->column - start);
	size_t total = cut->length, have = cut->column;
	uint8_t *good = malloc(total + cut->column);
	uint8_t *at = (victim < columns ? data + (size_t)victim * cut->column : parity) + start;

	assert_non_null(good);
	memcpy(good, data, total);
	memcpy(good + total, parity, cut->column);
	if (victim < columns)
		have = SCR_EXTENT_LIMIT;
	if (victim + 1 == columns)
		have = cut->length - (size_t)victim * cut->column;
	if (victim < columns && have > cut->column)
		have = cut->column;
	if (start < have)
		memset(at, 0x5a, have - start < len ? have - start : len);
	scr_fold_rebuild(k, cut, data, parity, victim, start, len);
	assert_memory_equal(good, data, total);
	assert_memory_equal(good + total, parity, cut->column);
	free(good);
}

static void test_fold(void **state)
{
	const struct scr_kernels *k = scr_kernels_reference();
	struct rng rng = {3};

	(void)state;
	for (unsigned int round = 0; round < 600; round++) {
		const struct scr_geometry *g = &geometries[round % 7];
		uint32_t size = 1 + rng_below(&rng, round % 5 ? 3000 : 300000);
		struct scr_cut cut = scr_cut_extent(g, size, 0);
		/* Exact sizes, so that a sanitizer sees a byte too many. */
		uint8_t *data = malloc(size), *parity = malloc(cut.column);
		uint8_t *want = calloc(1, cut.column);
		struct scr_fold f;

		assert_true(data && parity && want);
		for (uint32_t i = 0; i < size; i++) {
			data[i] = (uint8_t)rng_next(&rng);
			want[i % cut.column] ^= data[i];
		}
		scr_fold_start(&f, k, cut.column, parity);
		fold_pieces(&rng, &f, data, size);
		assert_memory_equal(parity, want, cut.column);
		check_rebuild(&rng, &cut, data, parity);
		/* With the parity folded in, nothing is left. */
		scr_fold_add_column(&f, 0, want, cut.column);
		memset(want, 0, cut.column);
		assert_memory_equal(parity, want, cut.column);
		free(data);
		free(parity);
		free(want);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_costs),
		cmocka_unit_test(test_no_weak_tail),
		cmocka_unit_test(test_every_small_size),
		cmocka_unit_test(test_large_sizes),
		cmocka_unit_test(test_alike),
		cmocka_unit_test(test_valid),
		cmocka_unit_test(test_fold),
	};

	return cmocka_run_group_tests_name("geometry", tests, NULL, NULL);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Extents of random bytes, damage, and the two outcomes that most tests look for. */
#include <config.h>
#include "search_checks.h"

#include <string.h>

const struct scr_geometry standard = {
	.block_size = 64 * KIB,
	.columns = 16,
	.parity_unit = 4 * KIB,
};

void fill(uint8_t *p, uint32_t len, uint64_t seed)
{
	struct dice d = {seed};

	for (uint32_t i = 0; i < len; i++)
		p[i] = (uint8_t)(dice_roll(&d) >> 56);
}

void record(struct trial *t)
{
	trial_record(t, scr_kernels_reference());
}

void start(struct trial *t, const struct scr_geometry *g, uint32_t size)
{
	trial_start(t, g, size);
	fill(t->data, size, size);
	record(t);
}

void start_64k(struct trial *t)
{
	start(t, &standard, 64 * KIB);
	assert_int_equal(t->s.cut.column, 4 * KIB);
	assert_int_equal(t->s.cut.block, 4 * KIB);
}

uint8_t *column(struct trial *t, uint32_t i)
{
	return t->s.data + (size_t)i * t->s.cut.column;
}

void spoil(uint8_t *p, uint32_t len, uint64_t seed)
{
	struct dice d = {seed};

	for (uint32_t i = 0; i < len; i++)
		p[i] ^= (uint8_t)(1 + dice_below(&d, 255));
}

void run(struct trial *t, bool allow_syndrome)
{
	const char *what;

	trial_run(t, allow_syndrome);
	what = trial_wrong(t);
	if (what)
		fail_msg("%s", what);
}

void expect_all(struct trial *t, uint32_t repaired)
{
	run(t, false);
	assert_int_equal(t->s.lost, 0);
	assert_int_equal(t->s.repaired, repaired);
	assert_int_equal(t->s.inconsistent, 0);
	assert_memory_equal(t->s.data, t->data, t->s.cut.length);
	if (!t->s.parity_zero)
		assert_memory_equal(t->s.parity, t->parity, t->s.cut.column);
	trial_free(t);
}

void expect_none(struct trial *t, uint32_t lost, enum scr_lost_why why)
{
	run(t, false);
	assert_int_equal(t->s.repaired, 0);
	assert_int_equal(t->s.lost, lost);
	for (uint32_t i = 0; i < t->s.cut.blocks; i++) {
		if (t->s.state[i] == SCR_BLOCK_LOST)
			assert_int_equal(t->s.why[i], why);
	}
	assert_memory_equal(t->s.data, t->data_read, t->s.cut.length);
	trial_free(t);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The history of passes: bytes and back, the last hundred, and what damage costs. */
#include <config.h>
#include "store_common.h"

#include <errno.h>

#include "manifest/codec.h"
#include "manifest/history.h"

#define SIZE 212u /* of one record: 8 + 200 + 4 */

static struct scr_pass_record any_pass(struct rng *rng)
{
	struct scr_pass_record r = {
		.start_ns = (int64_t)rng_next(rng),
		.duration_ns = (int64_t)rng_next(rng),
		.generation = rng_next(rng),
		.files = rng_next(rng),
		.bytes = rng_next(rng),
		.bytes_read = rng_next(rng),
		.transient = rng_next(rng),
		.repaired = rng_next(rng),
		.blocks_damaged = rng_next(rng),
		.files_damaged = rng_next(rng),
		.trouble = rng_next(rng),
		.exit = (int)(rng_next(rng) & 0x3f),
		.complete = rng_next(rng) & 1,
		.first = rng_next(rng) & 1,
		.limited = rng_next(rng) & 1,
	};

	for (int v = 0; v < SCR_VERDICTS; v++)
		r.verdicts[v] = rng_next(rng);
	return r;
}

static void assert_same(const struct scr_pass_record *a, const struct scr_pass_record *b)
{
	assert_true(a->start_ns == b->start_ns && a->duration_ns == b->duration_ns);
	assert_true(a->generation == b->generation && a->files == b->files);
	assert_true(a->bytes == b->bytes && a->bytes_read == b->bytes_read);
	assert_true(a->transient == b->transient && a->repaired == b->repaired);
	assert_true(a->blocks_damaged == b->blocks_damaged);
	assert_true(a->files_damaged == b->files_damaged && a->trouble == b->trouble);
	assert_true(a->exit == b->exit && a->complete == b->complete);
	assert_true(a->first == b->first && a->limited == b->limited);
	assert_memory_equal(a->verdicts, b->verdicts, sizeof(a->verdicts));
}

static struct scr_history_cursor over(const struct scr_buf *b)
{
	return (struct scr_history_cursor){.p = b->data, .len = b->len};
}

/* A history of @n passes, appended one at a time. */
static struct scr_buf history(unsigned int n, struct scr_pass_record *passes)
{
	struct rng rng = {n};
	struct scr_buf b = {0};

	for (unsigned int i = 0; i < n; i++) {
		struct scr_buf out = {0};

		passes[i] = any_pass(&rng);
		assert_int_equal(scr_history_append(&b, &passes[i], &out), 0);
		scr_buf_free(&b);
		b = out;
	}
	return b;
}

static void test_round_trip(void **state)
{
	struct scr_pass_record passes[7], back;
	struct scr_buf b = history(7, passes);
	struct scr_history_cursor c = over(&b);

	(void)state;
	assert_int_equal(b.len, 7 * SIZE);
	for (int i = 0; i < 7; i++) {
		assert_int_equal(scr_history_next(&c, &back), 1);
		assert_same(&back, &passes[i]);
	}
	assert_int_equal(scr_history_next(&c, &back), 0);
	assert_int_equal(c.damaged, 0);
	scr_buf_free(&b);
}

static void test_last_hundred(void **state)
{
	static struct scr_pass_record passes[250];

	(void)state;
	for (unsigned int n = 98; n < 250; n += 38) {
		struct scr_buf b = history(n, passes);
		struct scr_history_cursor c = over(&b);
		struct scr_pass_record back;
		unsigned int first = n > 100 ? n - 100 : 0;

		for (unsigned int i = first; i < n; i++) {
			assert_int_equal(scr_history_next(&c, &back), 1);
			assert_same(&back, &passes[i]);
		}
		assert_int_equal(scr_history_next(&c, &back), 0);
		scr_buf_free(&b);
	}
}

/* The passes that can still be read, as bits; *damaged: what is said. */
static unsigned int readable(const struct scr_buf *b, const struct scr_pass_record *passes,
			     unsigned int n, unsigned int *damaged)
{
	struct scr_history_cursor c = over(b);
	struct scr_pass_record back;
	unsigned int bits = 0;

	while (scr_history_next(&c, &back))
		for (unsigned int i = 0; i < n; i++)
			if (back.start_ns == passes[i].start_ns) {
				assert_same(&back, &passes[i]);
				bits |= 1u << i;
			}
	*damaged = c.damaged;
	return bits;
}

static void test_damage(void **state)
{
	struct scr_pass_record passes[4];
	struct scr_buf b = history(4, passes);
	unsigned int damaged;

	(void)state;
	for (size_t at = 0; at < b.len; at++) {
		for (unsigned int bit = 0; bit < 8; bit++) {
			b.data[at] ^= (uint8_t)(1u << bit);
			assert_int_equal(readable(&b, passes, 4, &damaged),
					 0xf & ~(1u << at / SIZE));
			assert_int_equal(damaged, 1);
			b.data[at] ^= (uint8_t)(1u << bit);
		}
	}
	scr_buf_free(&b);
}

/* Cut off anywhere: what was whole before that is there, and the rest is said. */
static void test_cut(void **state)
{
	struct scr_pass_record passes[4];
	struct scr_buf b = history(4, passes), cut;
	unsigned int damaged;

	(void)state;
	for (size_t len = 0; len <= b.len; len++) {
		cut = (struct scr_buf){.data = b.data, .len = len};
		assert_int_equal(readable(&cut, passes, 4, &damaged), (1u << len / SIZE) - 1);
		assert_int_equal(damaged, len % SIZE != 0);
	}
	scr_buf_free(&b);
}

/* What damage left is kept at the next pass, and the damage is gone. */
static void test_append_mends(void **state)
{
	struct scr_pass_record passes[4];
	struct scr_buf b = history(4, passes), out = {0};
	unsigned int damaged;

	(void)state;
	memset(b.data + SIZE, 0xee, SIZE + SIZE / 2);
	assert_int_equal(scr_history_append(&b, &passes[1], &out), 0);
	assert_int_equal(out.len, 3 * SIZE);
	assert_int_equal(readable(&out, passes, 4, &damaged), 1 | 2 | 8);
	assert_int_equal(damaged, 0);
	scr_buf_free(&b);
	scr_buf_free(&out);
}

/* A record of a later version has more behind: it is read as far as known, and kept whole. */
static void test_later_version(void **state)
{
	struct scr_pass_record pass, back;
	struct scr_buf b = history(1, &pass), longer = {0}, out = {0};
	struct scr_history_cursor c;
	size_t at;

	(void)state;
	assert_int_equal(scr_frame_begin(&longer, SCR_TYPE_PASS, &at), 0);
	b.data[8] = 2;
	assert_int_equal(scr_buf_append(&longer, b.data + 8, SIZE - 12), 0);
	assert_int_equal(scr_buf_append(&longer, "and more", 8), 0);
	assert_int_equal(scr_frame_end(&longer, at), 0);
	assert_int_equal(scr_history_append(&longer, &pass, &out), 0);
	assert_int_equal(out.len, 2 * SIZE + 8);
	assert_memory_equal(out.data, longer.data, longer.len);
	c = over(&out);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(scr_history_next(&c, &back), 1);
		assert_same(&back, &pass);
	}
	assert_int_equal(c.damaged, 0);
	scr_buf_free(&b);
	scr_buf_free(&longer);
	scr_buf_free(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip),   cmocka_unit_test(test_last_hundred),
		cmocka_unit_test(test_damage),       cmocka_unit_test(test_cut),
		cmocka_unit_test(test_append_mends), cmocka_unit_test(test_later_version),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

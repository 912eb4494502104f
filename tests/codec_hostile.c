/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Payloads that no writer wrote. */
#include <config.h>
#include "store_common.h"

#include <errno.h>

#include "manifest/update.h"

static struct scr_codec codec_for(unsigned int round)
{
	return (struct scr_codec){.geometry = any_geometry[round % 4], .identities = 3};
}

/* Decodes an exact copy, so that a sanitizer sees every byte too far. */
static int decode_extent_copy(const struct scr_codec *codec, enum scr_type type, uint64_t size,
			      const uint8_t *p, size_t len, struct scr_extent *e)
{
	uint8_t *exact = malloc(len ? len : 1);
	int r;

	assert_non_null(exact);
	memcpy(exact, p, len);
	r = scr_decode_extent(codec, type, size, NULL, exact, len, e);
	free(exact);
	return r;
}

static void test_truncated_extents(void **state)
{
	struct rng rng = {4};
	struct scr_extent back = {0};

	(void)state;
	for (unsigned int round = 0; round < 300; round++) {
		struct scr_codec codec = codec_for(round);
		uint64_t size = 1 + rng_below(&rng, 20000);
		struct scr_extent e = any_extent(&rng, &codec.geometry, size);
		struct scr_buf b = {0};

		assert_int_equal(scr_encode_extent(&b, &e, NULL), 0);
		for (size_t len = 0; len < b.len; len += 1 + len / 64)
			assert_int_equal(decode_extent_copy(&codec, scr_extent_type(&e), size,
							    b.data, len, &back),
					 -EBADMSG);
		assert_int_equal(
			decode_extent_copy(&codec, scr_extent_type(&e), size, b.data, b.len, &back),
			0);
		scr_extent_free(&e);
		scr_buf_free(&b);
	}
	scr_extent_free(&back);
}

/* What is accepted in spite of a changed byte is valid, and encodes to the same bytes again. */
static void test_mutated_extents(void **state)
{
	static const uint8_t values[] = {0, 1, 0x7f, 0x80, 0xff};
	unsigned int accepted = 0, refused = 0;
	struct rng rng = {5};
	struct scr_extent back = {0};

	(void)state;
	for (unsigned int round = 0; round < 8000; round++) {
		struct scr_codec codec = codec_for(round);
		uint64_t size = any_size(&rng) % (40 * MIB) + 1;
		struct scr_extent e = any_extent(&rng, &codec.geometry, size);
		struct scr_buf b = {0}, again = {0};
		size_t at;

		assert_int_equal(scr_encode_extent(&b, &e, NULL), 0);
		at = rng_below(&rng, (uint32_t)(b.len < 100 ? b.len : 100));
		b.data[at] =
			rng_below(&rng, 2) ? values[rng_below(&rng, 5)] : (uint8_t)rng_next(&rng);
		if (decode_extent_copy(&codec, scr_extent_type(&e), size, b.data, b.len, &back)) {
			refused++;
		} else {
			accepted++;
			assert_true(scr_extent_valid(&codec, size, &back));
			assert_int_equal(scr_encode_extent(&again, &back, NULL), 0);
			assert_int_equal(again.len, b.len);
		}
		scr_extent_free(&e);
		scr_buf_free(&b);
		scr_buf_free(&again);
	}
	scr_extent_free(&back);
	assert_true(accepted > 1000 && refused > 1000);
}

/* One field made wrong at a time. */
static int decode_with(struct scr_extent *e, uint64_t size, size_t at, uint64_t value, size_t width)
{
	struct scr_codec codec = codec_for(0);
	struct scr_extent back = {0};
	struct scr_buf b = {0};
	int r;

	assert_int_equal(scr_encode_extent(&b, e, NULL), 0);
	assert_true(at + width <= b.len);
	for (size_t i = 0; i < width; i++)
		b.data[at + i] = (uint8_t)(value >> 8 * i);
	r = decode_extent_copy(&codec, scr_extent_type(e), size, b.data, b.len, &back);
	scr_extent_free(&back);
	scr_buf_free(&b);
	return r;
}

static void test_wrong_extents(void **state)
{
	struct rng rng = {6};
	uint64_t size = 70 * MIB;
	struct scr_extent run = random_run(&rng, &any_geometry[0], size, 1, 2), e = {0};

	(void)state;
	do {
		scr_extent_free(&e);
		e = random_extent(&rng, &any_geometry[0], size, 1);
	} while (!e.parity_segment || !e.damage_count || !e.holes || e.cut.blocks % 8);
	assert_int_equal(decode_with(&e, size, 0, 1, 8), 0);
	assert_int_equal(decode_with(&e, size, 0, 0, 8), 0);        /* also 16 MiB long */
	assert_int_equal(decode_with(&e, size, 0, 4, 8), -EBADMSG); /* beyond the file */
	assert_int_equal(decode_with(&e, size, 0, UINT64_MAX, 8), -EBADMSG);
	assert_int_equal(decode_with(&e, size, 8, 16 * MIB + 1, 4), -EBADMSG);
	assert_int_equal(decode_with(&e, size, 12, 1u << 31, 4), -EBADMSG);
	assert_int_equal(decode_with(&e, size, 12, 0x702, 4),
			 -EBADMSG); /* unrecorded, yet checks */
	assert_int_equal(decode_with(&e, size, 12, 0x704, 4), -EBADMSG); /* parity zero and there */
	assert_int_equal(decode_with(&e, size, 40, UINT32_MAX, 4), -EBADMSG); /* damages */
	assert_int_equal(decode_with(&e, size, 40, e.damage_count + 1, 4), -EBADMSG);
	assert_int_equal(decode_with(&e, size, 76, 0, 4), -EBADMSG); /* segment */
	assert_int_equal(decode_with(&e, size, 80, e.cut.column + 1, 4), -EBADMSG);
	assert_int_equal(decode_with(&e, size + 1, 0, 1, 8), 0);
	assert_int_equal(decode_with(&e, 33 * MIB, 0, 1, 8), -EBADMSG); /* cut otherwise */
	assert_int_equal(decode_with(&run, size, 44, 2, 8), 0);
	assert_int_equal(decode_with(&run, size, 44, 3, 8), 0);
	assert_int_equal(decode_with(&run, size, 44, 4, 8), -EBADMSG);
	assert_int_equal(decode_with(&run, size, 44, 0, 8), -EBADMSG);
	assert_int_equal(decode_with(&run, size, 44, UINT64_MAX, 8), -EBADMSG);
	assert_int_equal(decode_with(&run, size, 12, 0x102, 4), -EBADMSG);
	assert_int_equal(decode_with(&run, size, 12, 0x300, 4), -EBADMSG);
	scr_extent_free(&e);
}

/* Bits of a bitmap behind the last block. */
static void test_wrong_bitmap(void **state)
{
	uint8_t holes[2] = {0xff, 0x1f};
	struct scr_check checks[13] = {{0, 0}};
	struct scr_codec codec = codec_for(0);
	struct scr_extent e = {.cut = scr_cut_extent(&codec.geometry, 100000, 0), .run = 1};

	(void)state;
	e.run_length = e.cut.length;
	e.checks = checks;
	e.holes = holes;
	assert_int_equal(e.cut.blocks, 13);
	assert_int_equal(decode_with(&e, 100000, 0, 0, 8), 0);
	holes[1] = 0x20;
	assert_int_equal(decode_with(&e, 100000, 0, 0, 8), -EBADMSG);
	assert_false(scr_extent_valid(&codec, 100000, &e));
}

/* Damage entries that lie outside of their block. */
static void test_wrong_damage(void **state)
{
	struct scr_codec codec = codec_for(0);
	struct scr_cut cut = scr_cut_extent(&codec.geometry, 100000, 0);
	const struct scr_damage_record good = {.block = 12, .kind = 3, .start = 8191, .length = 1};
	struct scr_damage_record d = good;

	(void)state;
	assert_int_equal(cut.block, 8192);
	assert_int_equal(cut.blocks, 13);
	assert_false(scr_block_damage_valid(&cut, &d)); /* the last block has 1696 bytes */
	d.start = 1695;
	assert_true(scr_block_damage_valid(&cut, &d));
	d.length = 2;
	assert_false(scr_block_damage_valid(&cut, &d));
	d.length = UINT32_MAX;
	assert_false(scr_block_damage_valid(&cut, &d));
	d.length = 0;
	assert_false(scr_block_damage_valid(&cut, &d));
	d.length = 1;
	d.seen_length = 1697;
	assert_false(scr_block_damage_valid(&cut, &d));
	d.seen_length = 1696;
	assert_true(scr_block_damage_valid(&cut, &d));
	d.kind = 4;
	assert_false(scr_block_damage_valid(&cut, &d));
	d.kind = 0;
	assert_false(scr_block_damage_valid(&cut, &d));
	d.kind = 1;
	d.flags = 2;
	assert_false(scr_block_damage_valid(&cut, &d));
	d.flags = 1;
	d.block = 13;
	assert_false(scr_block_damage_valid(&cut, &d));
}

static void check_path(const char *path, size_t len, bool good)
{
	struct scr_codec codec = codec_for(0);
	struct scr_file_record f = {.path = path, .path_len = (uint32_t)len}, back;
	struct scr_buf b = {0};

	assert_int_equal(scr_encode_file(&b, &f), 0);
	assert_int_equal(scr_decode_file(&codec, b.data, b.len, &back), good ? 0 : -EBADMSG);
	scr_buf_free(&b);
}

static void test_paths(void **state)
{
	char *longest = malloc(65536);

	(void)state;
	assert_non_null(longest);
	memset(longest, 'x', 65536);
	check_path("a", 1, true);
	check_path(".", 1, true);
	check_path("..a/...", 7, true);
	check_path(longest, 65535, true);
	check_path(longest, 65536, false);
	check_path("", 0, false);
	check_path("/", 1, false);
	check_path("/a", 2, false);
	check_path("a/", 2, false);
	check_path("a//b", 4, false);
	check_path("..", 2, false);
	check_path("a/../b", 6, false);
	check_path("a/.", 3, false);
	check_path("a\0b", 3, false);
	free(longest);
}

static void test_wrong_files(void **state)
{
	struct scr_codec codec = codec_for(0);
	struct scr_file_record f = {.path = "p", .path_len = 1}, back;
	struct scr_buf b = {0};

	(void)state;
	assert_int_equal(scr_encode_file(&b, &f), 0);
	b.data[48] = 3; /* identity */
	assert_int_equal(scr_decode_file(&codec, b.data, b.len, &back), -EBADMSG);
	b.data[48] = 2;
	assert_int_equal(scr_decode_file(&codec, b.data, b.len, &back), 0);
	b.data[68] = 2; /* flags */
	assert_int_equal(scr_decode_file(&codec, b.data, b.len, &back), -EBADMSG);
	b.data[68] = 1;
	assert_int_equal(scr_decode_file(&codec, b.data, b.len, &back), 0);
	b.data[72] = 2; /* path length */
	assert_int_equal(scr_decode_file(&codec, b.data, b.len, &back), -EBADMSG);
	b.data[72] = 1;
	b.data[75] = 0xff;
	assert_int_equal(scr_decode_file(&codec, b.data, b.len, &back), -EBADMSG);
	b.data[75] = 0;
	b.data[76] = 1; /* a damage entry that is not there */
	assert_int_equal(scr_decode_file(&codec, b.data, b.len, &back), -EBADMSG);
	for (size_t len = 0; len < b.len; len++)
		assert_int_equal(scr_decode_file(&codec, b.data, len, &back), -EBADMSG);
	scr_buf_free(&b);
}

static void test_wrong_links(void **state)
{
	struct scr_codec codec = codec_for(0);
	struct scr_link_record later = {1, 0, "a", "b", 1, 1}, same = {1, 0, "a", "a", 1, 1};
	struct scr_link_record back;
	struct scr_buf b = {0};

	(void)state;
	assert_int_equal(scr_encode_link(&b, &later), 0);
	assert_int_equal(scr_decode_link(&codec, b.data, b.len, &back), -EBADMSG);
	scr_buf_clear(&b);
	assert_int_equal(scr_encode_link(&b, &same), 0);
	assert_int_equal(scr_decode_link(&codec, b.data, b.len, &back), -EBADMSG);
	scr_buf_free(&b);
}

static void test_wrong_unseen(void **state)
{
	struct scr_codec codec = codec_for(0);
	struct scr_unseen_record u = {"p", 1, false, 1, 2}, back;
	struct scr_buf b = {0};

	(void)state;
	assert_int_equal(scr_encode_unseen(&b, &u), 0);
	for (size_t len = 0; len < b.len; len++)
		assert_int_equal(scr_decode_unseen(&codec, b.data, len, &back), -EBADMSG);
	b.data[16] = 2; /* flags */
	assert_int_equal(scr_decode_unseen(&codec, b.data, b.len, &back), -EBADMSG);
	b.data[16] = 1;
	assert_int_equal(scr_decode_unseen(&codec, b.data, b.len, &back), 0);
	b.data[32] = '/'; /* the path */
	assert_int_equal(scr_decode_unseen(&codec, b.data, b.len, &back), -EBADMSG);
	b.data[32] = 'p';
	b.data[23] = 0xff; /* its length */
	assert_int_equal(scr_decode_unseen(&codec, b.data, b.len, &back), -EBADMSG);
	b.data[23] = 0;
	assert_int_equal(scr_buf_append(&b, "q", 1), 0);
	assert_int_equal(scr_decode_unseen(&codec, b.data, b.len, &back), -EBADMSG);
	scr_buf_free(&b);
}

static void test_wrong_headers(void **state)
{
	static const struct {
		size_t at;
		uint8_t value;
	} wrong[] = {
		{0, 'B'},  {48, 0}, {48, 4}, {52, 1},    {56, 1},    {57, 2},    {60, 1},
		{64, 1},   {68, 2}, {72, 2}, {79, 0x7f}, {83, 0x7f}, {87, 0x7f}, {91, 0x7f},
		{76, 200}, {80, 4}, {84, 4}, {88, 3},    {104, 0},
	};
	struct scr_header h = sample_header(&any_geometry[0]), back;
	struct scr_buf b = {0};

	(void)state;
	assert_int_equal(scr_encode_header(&b, &h), 0);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		uint8_t was = b.data[wrong[i].at];

		b.data[wrong[i].at] = wrong[i].value;
		assert_int_equal(scr_decode_header(b.data, b.len, &back), -EBADMSG);
		b.data[wrong[i].at] = was;
	}
	for (size_t len = 0; len < b.len; len++) {
		uint8_t *exact = malloc(len ? len : 1);

		assert_non_null(exact);
		memcpy(exact, b.data, len);
		assert_int_equal(scr_decode_header(exact, len, &back), -EBADMSG);
		free(exact);
	}
	scr_header_free(&h);
	scr_buf_free(&b);
}

static void test_wrong_trailers(void **state)
{
	struct scr_parity_use use[2] = {{2, 77}, {1, 5}};
	struct scr_trailer t = {.segments = use, .segment_count = 2}, back;
	struct scr_codec codec = codec_for(0);
	struct scr_buf b = {0};

	(void)state;
	assert_int_equal(scr_encode_trailer(&b, &t), 0);
	assert_int_equal(scr_decode_trailer(&codec, b.data, b.len, &back), -EBADMSG);
	b.data[312 + 12] = 3;
	assert_int_equal(scr_decode_trailer(&codec, b.data, b.len, &back), 0);
	scr_trailer_free(&back);
	b.data[291] = 0xff; /* number of segments */
	assert_int_equal(scr_decode_trailer(&codec, b.data, b.len, &back), -EBADMSG);
	for (size_t len = 0; len < 312; len++)
		assert_int_equal(scr_decode_trailer(&codec, b.data, len, &back), -EBADMSG);
	scr_buf_free(&b);
}

/* ---- updates -------------------------------------------------------------------------------- */

static int walk(const struct scr_codec *codec, const uint8_t *p, size_t len)
{
	struct scr_update_walk w = {0};
	struct scr_part part;
	uint8_t *exact = malloc(len ? len : 1);
	int r;

	assert_non_null(exact);
	memcpy(exact, p, len);
	r = scr_update_begin(&w, codec, exact, len, &part);
	while (r == 0 && (r = scr_update_next(&w, &part)) > 0)
		r = 0;
	scr_extent_free(&w.scratch);
	free(exact);
	return r;
}

static void test_updates(void **state)
{
	struct rng rng = {8};
	struct scr_codec codec = codec_for(1);
	struct scr_extent e[2] = {
		random_extent(&rng, &codec.geometry, 40 * MIB, 0),
		random_extent(&rng, &codec.geometry, 40 * MIB, 1),
	};
	struct scr_update u = {.done = true, .extents = e, .count = 2};
	struct scr_buf b = {0};

	(void)state;
	u.file = random_file(&rng, 40 * MIB);
	u.file.path = "some/path";
	u.file.path_len = 9;
	assert_int_equal(scr_journal_encode(&b, &codec.geometry, &u), 0);
	codec.identities = UINT32_MAX;
	assert_int_equal(walk(&codec, b.data + 8, b.len - 12), 0);
	for (size_t len = 0; len < b.len - 12; len += 1 + len / 50)
		assert_int_equal(walk(&codec, b.data + 8, len), -EBADMSG);
	for (unsigned int i = 0; i < 3000; i++) {
		size_t at = 8 + rng_below(&rng, (uint32_t)(b.len < 400 ? b.len - 12 : 400));
		uint8_t was = b.data[at];

		b.data[at] = (uint8_t)rng_next(&rng);
		(void)walk(&codec, b.data + 8, b.len - 12);
		b.data[at] = was;
	}
	scr_extent_free(&e[0]);
	scr_extent_free(&e[1]);
	scr_buf_free(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_truncated_extents),
		cmocka_unit_test(test_mutated_extents),
		cmocka_unit_test(test_wrong_extents),
		cmocka_unit_test(test_wrong_bitmap),
		cmocka_unit_test(test_wrong_damage),
		cmocka_unit_test(test_paths),
		cmocka_unit_test(test_wrong_files),
		cmocka_unit_test(test_wrong_links),
		cmocka_unit_test(test_wrong_unseen),
		cmocka_unit_test(test_wrong_headers),
		cmocka_unit_test(test_wrong_trailers),
		cmocka_unit_test(test_updates),
	};

	return cmocka_run_group_tests_name("codec_hostile", tests, NULL, NULL);
}

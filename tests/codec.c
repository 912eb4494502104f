/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Records to bytes and back. */
#include <config.h>
#include "store_common.h"

#include <errno.h>

#include "manifest/codec.h"

#define ROUNDS 3000u

static struct scr_codec codec_for(unsigned int round)
{
	return (struct scr_codec){.geometry = any_geometry[round % 4], .identities = 3};
}

/* ---- round trips -------------------------------------------------------------------------- */

static void test_extents(void **state)
{
	struct rng rng = {1};
	struct scr_extent back = {0};

	(void)state;
	for (unsigned int round = 0; round < ROUNDS; round++) {
		struct scr_codec codec = codec_for(round);
		uint64_t size = any_size(&rng);
		struct scr_extent e = any_extent(&rng, &codec.geometry, size), copy;
		const struct scr_stamp *file = round % 3 ? &e.stamp : NULL;
		struct scr_buf b = {0};

		assert_true(scr_extent_valid(&codec, size, &e));
		assert_int_equal(scr_encode_extent(&b, &e, file), 0);
		/* Into a struct that was filled before. */
		assert_int_equal(scr_decode_extent(&codec, scr_extent_type(&e), size, file, b.data,
						   b.len, &back),
				 0);
		assert_extents_equal(&e, &back);
		assert_int_equal(scr_extent_copy(&copy, &back), 0);
		assert_extents_equal(&e, &copy);
		scr_extent_free(&copy);
		scr_extent_free(&e);
		scr_buf_free(&b);
	}
	scr_extent_free(&back);
	scr_extent_free(NULL);
}

static void test_files(void **state)
{
	struct rng rng = {2};
	struct scr_codec codec = codec_for(0);

	(void)state;
	for (unsigned int round = 0; round < ROUNDS; round++) {
		struct scr_file_record f = random_file(&rng, rng_next(&rng)), back;
		char *path = random_path(&rng);
		struct scr_buf b = {0};

		f.path = path;
		f.path_len = (uint32_t)strlen(path);
		assert_true(scr_file_valid(&codec, &f));
		assert_int_equal(scr_encode_file(&b, &f), 0);
		assert_int_equal(b.len, 88 + f.path_len + (f.damage.kind ? 56 : 0));
		assert_int_equal(scr_decode_file(&codec, b.data, b.len, &back), 0);
		assert_files_equal(&f, &back);
		scr_buf_free(&b);
		free(path);
	}
}

static void test_links(void **state)
{
	struct scr_codec codec = codec_for(0);
	struct scr_link_record l = {77, 2, "b/c", "b", 3, 1}, back;
	struct scr_buf b = {0};

	(void)state;
	assert_int_equal(scr_encode_link(&b, &l), 0);
	assert_int_equal(scr_decode_link(&codec, b.data, b.len, &back), 0);
	assert_true(back.ino == 77 && back.fs == 2 && back.path_len == 3 && back.owner_len == 1);
	assert_memory_equal(back.path, "b/c", 3);
	assert_memory_equal(back.owner, "b", 1);
	scr_buf_free(&b);
}

static void test_unseen(void **state)
{
	struct scr_codec codec = codec_for(0);
	struct scr_unseen_record u = {"b/c", 3, true, -5, INT64_MAX}, back;
	struct scr_buf b = {0};

	(void)state;
	assert_int_equal(scr_encode_unseen(&b, &u), 0);
	assert_int_equal(b.len, 32 + 3);
	assert_int_equal(scr_decode_unseen(&codec, b.data, b.len, &back), 0);
	assert_true(back.is_dir && back.first_ns == -5 && back.last_ns == INT64_MAX);
	assert_int_equal(back.path_len, 3);
	assert_memory_equal(back.path, "b/c", 3);
	scr_buf_free(&b);
}

static void test_headers(void **state)
{
	struct scr_header h = sample_header(&any_geometry[1]), back, copy;
	struct scr_buf b = {0};

	(void)state;
	h.compat = 5;
	h.ro_compat = 6;
	assert_int_equal(scr_encode_header(&b, &h), 0);
	assert_int_equal(scr_decode_header(b.data, b.len, &back), 0);
	assert_headers_equal(&h, &back);
	assert_int_equal(scr_header_copy(&copy, &back), 0);
	assert_headers_equal(&h, &copy);
	scr_header_free(&copy);
	scr_header_free(&back);
	scr_header_free(&h);
	scr_header_free(NULL);
	scr_buf_free(&b);
}

static void test_bare_header(void **state)
{
	struct scr_header h = {.version = 1, .kind = SCR_TARGET_FILE, .parities = 1}, back;
	struct scr_buf b = {0};

	(void)state;
	h.settings.geometry = any_geometry[0];
	assert_int_equal(scr_encode_header(&b, &h), 0);
	assert_int_equal(b.len, 104);
	assert_int_equal(scr_decode_header(b.data, b.len, &back), 0);
	assert_string_equal(back.target, "");
	assert_int_equal(back.identity_count, 0);
	assert_null(back.device);
	scr_header_free(&back);
	scr_buf_free(&b);
}

static void test_trailers(void **state)
{
	struct scr_parity_use use[2] = {{1, 77}, {9, UINT64_MAX}};
	struct scr_codec codec = codec_for(0);
	struct scr_trailer t, back;
	struct scr_buf b = {0};

	(void)state;
	memset(&t, 0x31, sizeof(t));
	t.segments = use;
	t.segment_count = 2;
	assert_int_equal(scr_encode_trailer(&b, &t), 0);
	assert_int_equal(b.len, 312 + 24);
	assert_int_equal(scr_decode_trailer(&codec, b.data, b.len, &back), 0);
	assert_trailers_equal(&t, &back);
	scr_trailer_free(&back);
	scr_trailer_free(NULL);
	scr_buf_free(&b);
}

/* ---- growth --------------------------------------------------------------------------------- */

static int decode_longer(bool lax)
{
	struct scr_codec codec = codec_for(0);
	struct scr_link_record l = {77, 2, "b/c", "b", 3, 1}, back;
	struct scr_buf b = {0};
	int r;

	codec.lax = lax;
	assert_int_equal(scr_encode_link(&b, &l), 0);
	assert_int_equal(scr_buf_append_le32(&b, 7), 0);
	r = scr_decode_link(&codec, b.data, b.len, &back);
	scr_buf_free(&b);
	return r;
}

static int decode_header_with(uint32_t version, uint32_t compat, uint32_t ro, uint32_t incompat,
			      size_t extra)
{
	struct scr_header h = sample_header(&any_geometry[0]), back;
	struct scr_buf b = {0};
	int r;

	h.version = version;
	h.compat = compat;
	h.ro_compat = ro;
	h.incompat = incompat;
	assert_int_equal(scr_encode_header(&b, &h), 0);
	assert_int_equal(scr_buf_append(&b, "later fields", extra), 0);
	r = scr_decode_header(b.data, b.len, &back);
	if (r == 0)
		scr_header_free(&back);
	scr_header_free(&h);
	scr_buf_free(&b);
	return r;
}

static void test_later_versions(void **state)
{
	(void)state;
	assert_int_equal(decode_longer(false), -EBADMSG);
	assert_int_equal(decode_longer(true), 0);
	assert_int_equal(decode_header_with(1, 0, 0, 0, 0), 0);
	assert_int_equal(decode_header_with(1, 0, 0, 0, 5), -EBADMSG);
	assert_int_equal(decode_header_with(1, 8, 0, 0, 5), 0);
	assert_int_equal(decode_header_with(1, 0, 8, 0, 5), 0);
	assert_int_equal(decode_header_with(1, 0, 0, 8, 0), -EPROTONOSUPPORT);
	assert_int_equal(decode_header_with(2, 0, 0, 0, 0), -EPROTONOSUPPORT);
	assert_int_equal(decode_header_with(0, 0, 0, 0, 0), -EBADMSG);
}

/* What would end a journal for its readers is not written. */
static void test_invalid_update(void **state)
{
	struct rng rng = {9};
	struct scr_extent e[2] = {
		random_run(&rng, &small_geometry, 64 * MIB, 1, 2),
		random_run(&rng, &small_geometry, 64 * MIB, 2, 1),
	};
	struct scr_update u = {.extents = e, .count = 2};
	struct scr_buf b = {0};

	(void)state;
	u.file = random_file(&rng, 64 * MIB);
	u.file.path = "x";
	u.file.path_len = 1;
	assert_int_equal(scr_journal_encode(&b, &small_geometry, &u), -EINVAL);
	e[0].run = 1;
	e[0].run_length = 16 * MIB;
	assert_int_equal(scr_journal_encode(&b, &small_geometry, &u), 0);
	scr_buf_clear(&b);
	e[1].cut.length--;
	assert_int_equal(scr_journal_encode(&b, &small_geometry, &u), -EINVAL);
	u.count = 1;
	u.file.path = "../x";
	u.file.path_len = 4;
	assert_int_equal(scr_journal_encode(&b, &small_geometry, &u), -EINVAL);
	assert_int_equal(b.len, 0);
	scr_buf_free(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_extents),        cmocka_unit_test(test_files),
		cmocka_unit_test(test_unseen),
		cmocka_unit_test(test_links),          cmocka_unit_test(test_headers),
		cmocka_unit_test(test_bare_header),    cmocka_unit_test(test_trailers),
		cmocka_unit_test(test_later_versions), cmocka_unit_test(test_invalid_update),
	};

	return cmocka_run_group_tests_name("codec", tests, NULL, NULL);
}

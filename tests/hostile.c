/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Manifests that no writer wrote, in a sound container and with right CRCs. */
#include <config.h>
#include "store_common.h"

#include <errno.h>
#include <unistd.h>
#include <zlib.h>

#include "base/endian.h"
#include "manifest/codec.h"

static const struct scr_geometry geometry = {1u << 20, 16, 4096};

/* A stream that is put together record by record. */
struct forge {
	struct scr_buf stream;
	uint64_t trailer;       /* where it begins; 0: at the last record */
	struct scr_trailer sum; /* what the trailer says */
	bool right_crc;
};

static size_t begin(struct forge *f, uint8_t type)
{
	size_t at;

	assert_int_equal(scr_frame_begin(&f->stream, (enum scr_type)type, &at), 0);
	return at;
}

static void end(struct forge *f, size_t at)
{
	assert_int_equal(scr_frame_end(&f->stream, at), 0);
}

static void put_header(struct forge *f)
{
	struct scr_header h = sample_header(&geometry);
	size_t at = begin(f, SCR_TYPE_HEADER);

	assert_int_equal(scr_encode_header(&f->stream, &h), 0);
	end(f, at);
	scr_header_free(&h);
}

static void put_file(struct forge *f, const char *path, uint64_t size)
{
	struct scr_file_record file = {.stamp = {.size = size}, .path = path};
	size_t at = begin(f, SCR_TYPE_FILE);

	file.path_len = (uint32_t)strlen(path);
	assert_int_equal(scr_encode_file(&f->stream, &file), 0);
	end(f, at);
	f->sum.files++;
	f->sum.bytes += size;
}

static void put_link(struct forge *f, const char *path, const char *owner)
{
	struct scr_link_record l = {.path = path, .owner = owner};
	size_t at = begin(f, SCR_TYPE_LINK);

	l.path_len = (uint32_t)strlen(path);
	l.owner_len = (uint32_t)strlen(owner);
	assert_int_equal(scr_encode_link(&f->stream, &l), 0);
	end(f, at);
	f->sum.links++;
}

/* An extent of a file of @size bytes, all of it holes. */
static void put_hole(struct forge *f, uint64_t size, uint64_t index, uint64_t run)
{
	struct rng rng = {1};
	struct scr_extent e = random_run(&rng, &geometry, size, index, run);
	size_t at = begin(f, SCR_TYPE_HOLES);

	e.checked_ns = 0;
	assert_int_equal(scr_encode_extent(&f->stream, &e, NULL), 0);
	end(f, at);
	f->sum.extents += run;
	f->sum.blocks += run * 16;
	f->sum.hole_bytes += e.run_length;
	f->sum.bytes_never_checked += e.run_length;
}

static void put_trailer(struct forge *f)
{
	size_t at = f->stream.len;

	if (!f->trailer)
		f->trailer = at;
	f->sum.generation = 42;
	f->sum.body_crc ^= (uint32_t)crc32(0, f->stream.data, (uInt)f->stream.len);
	begin(f, SCR_TYPE_TRAILER);
	assert_int_equal(scr_encode_trailer(&f->stream, &f->sum), 0);
	end(f, at);
}

/* Opens and reads all of it. */
static int read_all(int fd)
{
	struct scr_extent e = {0};
	struct scr_file_record f;
	struct scr_link_record l;
	struct scr_mreader *r;
	const char *why;
	int ret = scr_mreader_open(fd, scr_kernels_reference(), &r, &why);

	if (ret < 0)
		return ret;
	while ((ret = scr_mreader_next(r, &f, &l, NULL)) > 0)
		while ((ret = scr_mreader_extent(r, &e)) > 0)
			assert_true(e.run > 0 && e.run_length > 0);
	/* However it is read, the verdict is the same. */
	assert_int_equal(scr_mreader_check(r), ret);
	scr_mreader_free(r);
	scr_extent_free(&e);
	return ret;
}

static int finish(struct forge *f)
{
	int fd = temp_file(NULL), r;

	make_container(fd, f->stream.data, f->stream.len, f->trailer);
	r = read_all(fd);
	close(fd);
	scr_buf_free(&f->stream);
	*f = (struct forge){.trailer = 0};
	return r;
}

/* The beginning of a manifest with one file of three extents. */
static struct forge start(void)
{
	struct forge f = {.trailer = 0};

	put_header(&f);
	put_file(&f, "b", 48 * MIB);
	return f;
}

static int end_well(struct forge *f)
{
	put_trailer(f);
	return finish(f);
}

/* ---- order ---------------------------------------------------------------------------------- */

static void test_good(void **state)
{
	struct forge f = start();

	(void)state;
	put_hole(&f, 48 * MIB, 0, 2);
	put_hole(&f, 48 * MIB, 2, 1);
	put_link(&f, "b/c", "b");
	put_file(&f, "b!", 0);
	assert_int_equal(end_well(&f), 0);
}

static void test_order_of_paths(void **state)
{
	struct forge f = start();

	(void)state;
	put_file(&f, "b", 0);
	assert_int_equal(end_well(&f), -EBADMSG);
	f = start();
	put_file(&f, "a", 0);
	assert_int_equal(end_well(&f), -EBADMSG);
	f = start();
	put_link(&f, "b", "a");
	assert_int_equal(end_well(&f), -EBADMSG);
	f = start();
	put_link(&f, "c", "d");
	assert_int_equal(end_well(&f), -EBADMSG);
	f = start();
	put_file(&f, "b!", 0);
	put_file(&f, "b/c", 0);
	assert_int_equal(end_well(&f), -EBADMSG);
}

static void test_order_of_extents(void **state)
{
	struct forge f = start();

	(void)state;
	put_hole(&f, 48 * MIB, 1, 1);
	put_hole(&f, 48 * MIB, 0, 1);
	assert_int_equal(end_well(&f), -EBADMSG);
	f = start();
	put_hole(&f, 48 * MIB, 0, 2);
	put_hole(&f, 48 * MIB, 1, 2);
	assert_int_equal(end_well(&f), -EBADMSG);
	f = start();
	put_hole(&f, 64 * MIB, 3, 1);
	assert_int_equal(end_well(&f), -EBADMSG);
	f = start();
	put_link(&f, "b/c", "b");
	put_hole(&f, 48 * MIB, 0, 1);
	assert_int_equal(end_well(&f), -EBADMSG);
	f = (struct forge){.trailer = 0};
	put_header(&f);
	put_hole(&f, 48 * MIB, 0, 1);
	assert_int_equal(end_well(&f), -EBADMSG);
}

static void test_order_of_records(void **state)
{
	struct forge f = {.trailer = 0};
	size_t at;

	(void)state;
	put_file(&f, "b", 0);
	assert_int_equal(end_well(&f), -EBADMSG); /* no header */
	f = start();
	put_header(&f);
	assert_int_equal(end_well(&f), -EBADMSG); /* two */
	f = start();
	at = begin(&f, 'X');
	end(&f, at);
	assert_int_equal(end_well(&f), -EBADMSG);
	f = start();
	at = begin(&f, SCR_TYPE_UPDATE);
	end(&f, at);
	assert_int_equal(end_well(&f), -EBADMSG);
	f = start();
	put_trailer(&f);
	put_file(&f, "c", 0);
	assert_int_equal(finish(&f), -EBADMSG); /* something behind the trailer */
	f = start();
	put_trailer(&f);
	put_trailer(&f);
	assert_int_equal(finish(&f), -EBADMSG);
	f = (struct forge){.trailer = 0};
	put_trailer(&f);
	assert_int_equal(finish(&f), -EBADMSG); /* nothing else */
}

/* ---- trailer -------------------------------------------------------------------------------- */

static void test_counts(void **state)
{
	const size_t fields[] = {
		offsetof(struct scr_trailer, files),
		offsetof(struct scr_trailer, links),
		offsetof(struct scr_trailer, extents),
		offsetof(struct scr_trailer, blocks),
		offsetof(struct scr_trailer, bytes),
		offsetof(struct scr_trailer, hole_bytes),
		offsetof(struct scr_trailer, files_damaged),
		offsetof(struct scr_trailer, blocks_damaged),
		offsetof(struct scr_trailer, bytes_damaged),
		offsetof(struct scr_trailer, extents_unrecorded),
		offsetof(struct scr_trailer, parity_bytes),
		offsetof(struct scr_trailer, oldest_check_ns),
		offsetof(struct scr_trailer, newest_check_ns),
		offsetof(struct scr_trailer, bytes_never_checked),
		offsetof(struct scr_trailer, age_bytes),
		offsetof(struct scr_trailer, body_crc),
	};

	(void)state;
	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
		struct forge f = start();
		uint8_t *field = (uint8_t *)&f.sum + fields[i];

		put_hole(&f, 48 * MIB, 0, 3);
		*field ^= 1;
		assert_int_equal(end_well(&f), -EBADMSG);
	}
}

static void test_trailer_place(void **state)
{
	struct forge f = start();
	uint64_t good = f.stream.len;

	(void)state;
	put_trailer(&f);
	f.trailer = good;
	assert_int_equal(finish(&f), 0);
	for (int i = 0; i < 6; i++) {
		const uint64_t wrong[] = {1, good - 1, good + 1, good + 400, UINT64_MAX, 50};

		f = start();
		put_trailer(&f);
		f.trailer = wrong[i];
		assert_int_equal(finish(&f), -EBADMSG);
	}
}

static void test_trailer_segments(void **state)
{
	struct scr_parity_use use = {7, 5};
	struct forge f = start();

	(void)state;
	f.sum.segments = &use;
	f.sum.segment_count = 1;
	assert_int_equal(end_well(&f), -EBADMSG); /* nothing refers to it */
}

/* ---- frames --------------------------------------------------------------------------------- */

/* A record whose length goes beyond its place. */
static void test_lengths(void **state)
{
	static const uint32_t lengths[] = {0, 1, 87, 300, 5000, 8388608, 8388609, UINT32_MAX};

	(void)state;
	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		struct forge f = start();
		size_t at = f.stream.len;

		put_file(&f, "c", 0);
		scr_put_le32(f.stream.data + at + 4, lengths[i]);
		assert_int_equal(end_well(&f), -EBADMSG);
	}
}

static void test_reserved_of_frame(void **state)
{
	struct forge f;

	(void)state;
	for (size_t i = 1; i <= 3; i++) {
		size_t at;

		f = start();
		at = begin(&f, SCR_TYPE_FILE);
		f.stream.data[at + i] = 1;
		scr_buf_append(&f.stream, f.stream.data, 88);
		end(&f, at);
		assert_int_equal(end_well(&f), -EBADMSG);
	}
}

/* ---- at random ------------------------------------------------------------------------------ */

/* Where the records of a stream begin; their number. */
static size_t find_records(const uint8_t *p, size_t len, size_t *at)
{
	size_t n = 0;

	for (size_t i = 0; i < len; i += 12 + (size_t)scr_get_le32(p + i + 4))
		at[n++] = i;
	return n;
}

/* Changes bytes of one record, mostly its fixed part, and makes its CRC right again. */
static void mutate(struct rng *rng, uint8_t *record)
{
	static const uint8_t values[] = {0, 1, 2, 0x7f, 0x80, 0xff};
	uint32_t len = scr_get_le32(record + 4);

	for (uint32_t i = 1 + rng_below(rng, 3); i > 0; i--) {
		uint32_t at = 8 + rng_below(rng, len > 110 && rng_below(rng, 4) ? 110 : len);

		if (rng_below(rng, 30) == 0)
			at = rng_below(rng, 4);
		record[at] = rng_below(rng, 2) ? values[rng_below(rng, 6)] : (uint8_t)rng_next(rng);
	}
	scr_put_le32(record + 8 + len, (uint32_t)crc32(0, record, len + 8));
}

static void test_random(void **state)
{
	struct rng rng = {77};
	struct sample s = make_sample(8, &geometry, 12);
	int fd = write_sample(&s), r;
	unsigned int accepted = 0, refused = 0;
	size_t len, at[500], n;
	uint8_t *good = take_stream(fd, &len), *p = malloc(len);

	(void)state;
	assert_non_null(p);
	n = find_records(good, len, at);
	assert_in_range(n, 20, 500);
	for (unsigned int i = 0; i < 6000; i++) {
		memcpy(p, good, len);
		mutate(&rng, p + at[rng_below(&rng, (uint32_t)n)]);
		/* The CRC over all is right too. */
		scr_put_le32(p + at[n - 1] + 8 + 284, (uint32_t)crc32(0, p, (uInt)at[n - 1]));
		scr_put_le32(p + len - 4,
			     (uint32_t)crc32(0, p + at[n - 1], (uInt)(len - 4 - at[n - 1])));
		make_container(fd, p, len, at[n - 1]);
		r = read_all(fd);
		assert_true(r == 0 || r == -EBADMSG || r == -EPROTONOSUPPORT);
		*(r ? &refused : &accepted) += 1;
	}
	assert_true(accepted > 500 && refused > 500);
	free(good);
	free(p);
	close(fd);
	free_sample(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_good),
		cmocka_unit_test(test_order_of_paths),
		cmocka_unit_test(test_order_of_extents),
		cmocka_unit_test(test_order_of_records),
		cmocka_unit_test(test_counts),
		cmocka_unit_test(test_trailer_place),
		cmocka_unit_test(test_trailer_segments),
		cmocka_unit_test(test_lengths),
		cmocka_unit_test(test_reserved_of_frame),
		cmocka_unit_test(test_random),
	};

	return cmocka_run_group_tests_name("hostile", tests, NULL, NULL);
}

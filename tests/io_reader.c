/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The reader, over ops that fail in every way that disks do. */
#include <config.h>
#include "io_disk.h"

static void test_plain(void **state)
{
	struct rig *g = *state;
	struct scr_reader_counts c;

	assert_int_equal(read_at(g, 0, 1 << 20), 1 << 20);
	assert_int_equal(g->nbad, 0);
	assert_int_equal((uintptr_t)g->data % 4096, 0);
	assert_content(g, 0, 1 << 20);
	assert_int_equal(read_at(g, 777, 1000), 1000);
	assert_content(g, 777, 1000);
	assert_int_equal(read_at(g, SIZE, 1 << 20), 1234);
	assert_content(g, SIZE, 1234);
	assert_int_equal(read_at(g, ODD_SIZE, 10), 0);
	assert_int_equal(read_at(g, ODD_SIZE + 100, 10), 0);
	assert_int_equal(read_at(g, 0, 2 << 20), 1 << 20); /* never more than the buffer */
	scr_reader_get_counts(g->r, &c);
	assert_int_equal(c.total, (2 << 20) + 1000 + 1234);
	assert_int_equal(c.medium + c.unknown + c.cache, c.total);
}

static void test_short_and_interrupted(void **state)
{
	struct rig *g = *state;

	g->disk.most = 1000;
	g->disk.interrupt = 3;
	assert_int_equal(read_at(g, 5000, 300000), 300000);
	assert_int_equal(g->nbad, 0);
	assert_content(g, 5000, 300000);
	assert_int_equal(read_at(g, SIZE, 5000), 1234);
	assert_content(g, SIZE, 1234);
}

static void test_one_bad_sector(void **state)
{
	struct rig *g = *state;
	const uint64_t at = 123 * 4096 + 1024;

	add_bad(g, at, at + 512, EIO);
	assert_int_equal(read_at(g, 0, 1 << 20), 1 << 20);
	assert_int_equal(g->nbad, 1);
	assert_bad(g, 0, at, at + 512, EIO);
	assert_content(g, 0, 1 << 20);
	/* Each failing read may cost seconds. */
	assert_in_range(g->disk.failures, 1, 5);
}

/* The first, the last, adjacent ones, ones at the borders of steps, with different errors. */
static void test_bad_sectors(void **state)
{
	struct rig *g = *state;

	add_bad(g, 0, 512, EIO);
	add_bad(g, 65536 - 512, 65536 + 1024, EIO);
	add_bad(g, 200 * 512, 201 * 512, EIO);
	add_bad(g, 201 * 512, 202 * 512, ENODATA);
	add_bad(g, (1 << 20) - 512, 1 << 20, EILSEQ);
	assert_int_equal(read_at(g, 0, 1 << 20), 1 << 20);
	assert_int_equal(g->nbad, 5);
	assert_bad(g, 0, 0, 512, EIO);
	assert_bad(g, 1, 65536 - 512, 65536 + 1024, EIO);
	assert_bad(g, 2, 200 * 512, 201 * 512, EIO);
	assert_bad(g, 3, 201 * 512, 202 * 512, ENODATA);
	assert_bad(g, 4, (1 << 20) - 512, 1 << 20, EILSEQ);
	assert_content(g, 0, 1 << 20);
}

/* Reads need not start at a sector: bad ranges still end at sectors, or where the read does. */
static void test_unaligned(void **state)
{
	struct rig *g = *state;

	add_bad(g, 8192, 8192 + 512, EIO);
	assert_int_equal(read_at(g, 8000, 10000), 10000);
	assert_int_equal(g->nbad, 1);
	assert_bad(g, 0, 8192, 8704, EIO);
	assert_content(g, 8000, 10000);
	assert_int_equal(read_at(g, 8300, 100), 100);
	assert_int_equal(g->nbad, 1);
	assert_bad(g, 0, 8300, 8400, EIO);
	assert_content(g, 8300, 100);
}

static void test_bad_tail(void **state)
{
	struct rig *g = *state;

	/* The last sector of the disk is longer than the file. */
	add_bad(g, SIZE + 1024, SIZE + 1536, EIO);
	assert_int_equal(read_at(g, SIZE - 4096, 1 << 20), 4096 + 1234);
	assert_int_equal(g->nbad, 1);
	assert_bad(g, 0, SIZE + 1024, ODD_SIZE, EIO);
	assert_content(g, SIZE - 4096, 4096 + 1234);
	/* All is bad, behind the end too. */
	g->disk.nbad = 0;
	add_bad(g, 0, SIZE * 2, EIO);
	assert_int_equal(read_at(g, SIZE, 1 << 20), 1234);
	assert_int_equal(g->nbad, 1);
	assert_bad(g, 0, SIZE, ODD_SIZE, EIO);
}

static void test_whole_pages_fail(void **state)
{
	struct rig *g = *state;

	g->disk.page = 4096;
	add_bad(g, 40960 + 100, 40960 + 101, EIO);
	assert_int_equal(read_at(g, 0, 1 << 20), 1 << 20);
	assert_int_equal(g->nbad, 1);
	assert_bad(g, 0, 40960, 40960 + 4096, EIO);
	assert_content(g, 0, 1 << 20);
}

/* Less than a sector, but not within one: only the bad one is bad. */
static void test_across_a_border(void **state)
{
	struct rig *g = *state;

	g->disk.all_or_nothing = true;
	add_bad(g, 512, 1024, EIO);
	assert_int_equal(read_at(g, 256, 475), 475);
	assert_int_equal(g->nbad, 1);
	assert_bad(g, 0, 512, 731, EIO);
	assert_content(g, 256, 475);
	assert_int_equal(read_at(g, 700, 400), 400);
	assert_int_equal(g->nbad, 1);
	assert_bad(g, 0, 700, 1024, EIO);
	assert_content(g, 700, 400);
}

/* A dead region: the number of failing reads has a bound, and everything is bad in the end. */
static void test_bounded(void **state)
{
	struct rig *g = *state;

	add_bad(g, 0, SIZE, EIO);
	assert_int_equal(read_at(g, 1 << 20, 1 << 20), 1 << 20);
	assert_int_equal(g->nbad, 1);
	assert_bad(g, 0, 1 << 20, 2 << 20, EIO);
	assert_in_range(g->disk.failures, 1, 1000);
	assert_content(g, 1 << 20, 1 << 20);
}

/* Reads all in windows of 256 KiB; what is bad must be [@from, @to), whatever the windows. */
static void read_windows(struct rig *g, uint64_t from, uint64_t to)
{
	const size_t window = 256u << 10;

	for (uint64_t at = 0; at < SIZE; at += window) {
		const uint64_t lo = SCR_MAX(from, at), hi = SCR_MIN(to, at + window);

		assert_int_equal(read_at(g, at, window), window);
		assert_int_equal(g->nbad, lo < hi);
		if (lo < hi)
			assert_bad(g, 0, lo, hi, EIO);
		assert_content(g, at, window);
	}
}

/* Inside of a dead area little is asked for; where it begins and ends is exact. */
static void test_dead_area(void **state)
{
	struct rig *g = *state;
	const uint64_t from = (300u << 10) + 512, to = (2600u << 10) + 1536;

	add_bad(g, from, to, EIO);
	read_windows(g, from, to);
	/* The windows with its ends, the first one inside; then 8 with a few each. */
	assert_in_range(g->disk.failures, 100, 3 * 520 + 8 * 32);
}

/* Its ends are found before its inside is taken apart, and what is good there is come back to. */
static void test_skip_and_come_back(void **state)
{
	struct rig *g = *state;

	add_bad(g, 65536, 65536 + 40 * 4096, EIO);
	add_bad(g, 65536 + 41 * 4096, 65536 + 80 * 4096, EIO);
	assert_int_equal(read_at(g, 0, 1 << 20), 1 << 20);
	assert_int_equal(g->nbad, 2);
	assert_bad(g, 0, 65536, 65536 + 40 * 4096, EIO);
	assert_bad(g, 1, 65536 + 41 * 4096, 65536 + 80 * 4096, EIO);
	assert_content(g, 0, 1 << 20);
	/* So many that they can't all be asked for: the far end is exact nevertheless. */
	g->disk.nbad = 0;
	add_bad(g, 512, (900u << 10) + 512, EIO);
	assert_int_equal(read_at(g, 0, 1 << 20), 1 << 20);
	assert_int_equal(g->nbad, 1);
	assert_bad(g, 0, 512, (900u << 10) + 512, EIO);
}

static void test_more_than_ranges(void **state)
{
	struct rig *g = *state;

	add_bad(g, 4096, 4608, EIO);
	add_bad(g, 8192, 8704, EIO);
	add_bad(g, 16384, 16896, EIO);
	assert_int_equal(scr_reader_read(g->r, 0, 65536, &g->data, g->bad, 2, &g->nbad), 65536);
	assert_int_equal(g->nbad, 2);
	assert_bad(g, 0, 4096, 4608, EIO);
	assert_bad(g, 1, 8192, 16896, EIO); /* covers the rest */
	assert_int_equal(g->data[12000], pattern(12000));
	assert_int_equal(scr_reader_read(g->r, 0, 65536, &g->data, NULL, 0, &g->nbad), 65536);
	assert_int_equal(g->nbad, 0);
}

/* Not the medium: nothing is taken apart. */
static void test_trouble(void **state)
{
	static const int errors[] = {ENOMEM, ESTALE, ETIMEDOUT, ENOTCONN, ENODEV, ENXIO, EACCES};
	struct rig *g = *state;

	for (size_t i = 0; i < SCR_ARRAY_SIZE(errors); i++) {
		g->disk.nbad = 0;
		g->disk.failures = 0;
		add_bad(g, 50000, 50512, errors[i]);
		assert_int_equal(read_at(g, 0, 1 << 20), -errors[i]);
		assert_int_equal(g->disk.failures, 1);
		assert_false(scr_errno_is_medium(errors[i]));
	}
	/* Behind a medium error too: a device that goes away meanwhile. */
	add_bad(g, 4096, 4608, EIO);
	assert_int_equal(read_at(g, 0, 1 << 20), -EACCES);
	assert_true(scr_errno_is_medium(EIO));
	assert_true(scr_errno_is_medium(EUCLEAN));
	assert_true(scr_errno_is_medium(EBADMSG));
	assert_false(scr_errno_is_medium(0));
}

static void test_faults_together(void **state)
{
	struct rig *g = *state;
	unsigned int seed = 11;

	g->disk.interrupt = 5;
	g->disk.most = 70000;
	for (unsigned int t = 0; t < 300; t++) {
		uint64_t offset = (uint64_t)rand_r(&seed) % SIZE, at = 0;
		size_t len = 1 + (size_t)rand_r(&seed) % (1 << 20);
		uint64_t end = SCR_MIN(offset + len, ODD_SIZE), bytes = 0, want = 0;

		g->disk.nbad = 0;
		for (unsigned int i = 0; i < 6; i++) {
			uint64_t n = 512 * (1 + (uint64_t)rand_r(&seed) % 40);

			at += 512 * (1 + (uint64_t)rand_r(&seed) % 1500);
			add_bad(g, at, at + n, EIO);
			if (at + n > offset && at < end)
				want += SCR_MIN(at + n, end) - SCR_MAX(at, offset);
			at += n;
		}
		assert_int_equal(read_at(g, offset, len), end - offset);
		for (unsigned int i = 0; i < g->nbad; i++)
			bytes += g->bad[i].length;
		assert_int_equal(bytes, want);
		assert_content(g, offset, (size_t)(end - offset));
	}
}

static void test_reread(void **state)
{
	struct rig *g = *state;

	assert_int_equal(scr_reader_reread(g->r, 5000, 1000, &g->data, g->bad, 16, &g->nbad), 1000);
	assert_content(g, 5000, 1000);
	assert_int_equal(g->disk.advised, 1);
	assert_int_equal(g->disk.advised_from, 4096);
	assert_int_equal(g->disk.advised_to, 8192);
}

static void test_holes_unknown(void **state)
{
	struct rig *g = *state;

	assert_int_equal(scr_reader_hole(g->r, 0, 1000), 0);
}

/* Real files: a hole in the middle, one at the end. */
static void test_holes(void **state)
{
	struct scr_reader *r;
	off_t data;
	int fd;

	(void)state;
	fd = open("f", O_RDWR | O_CREAT, 0600);
	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, 10 << 20), 0);
	assert_int_equal(pwrite(fd, "x", 1, 4 << 20), 1);
	data = lseek(fd, 0, SEEK_DATA);
	SKIP_UNLESS(data == 4 << 20, "holes can't be told on this file system");
	assert_int_equal(scr_reader_new(NULL, &r), 0);
	scr_reader_attach(r, fd, SCR_READ_RECORD);
	assert_int_equal(scr_reader_hole(r, 0, 1 << 20), 1 << 20);
	assert_int_equal(scr_reader_hole(r, 0, 8 << 20), 4 << 20);
	assert_int_equal(scr_reader_hole(r, (4 << 20) - 10, 100), 10);
	assert_int_equal(scr_reader_hole(r, 4 << 20, 100), 0);
	assert_int_equal(scr_reader_hole(r, 6 << 20, 100 << 20), 4 << 20);
	assert_int_equal(scr_reader_hole(r, 10 << 20, 100), 0);
	scr_reader_free(r);
	close(fd);
}

static void test_real_file(void **state)
{
	struct scr_reader *r;
	const uint8_t *data;
	unsigned int nbad = 9;
	int fd;

	(void)state;
	sys_write("f", "hello, world", 12, 0600);
	fd = open("f", O_RDONLY);
	assert_int_equal(scr_reader_new(&scr_reader_ops_system, &r), 0);
	for (int mode = SCR_READ_RECORD; mode <= SCR_READ_CACHED; mode++) {
		scr_reader_attach(r, fd, (enum scr_reader_mode)mode);
		assert_int_equal(scr_reader_read(r, 0, 1 << 20, &data, NULL, 0, &nbad), 12);
		assert_memory_equal(data, "hello, world", 12);
		assert_int_equal(scr_reader_reread(r, 7, 3, &data, NULL, 0, &nbad), 3);
		assert_memory_equal(data, "wor", 3);
		assert_int_equal(nbad, 0);
		scr_reader_detach(r);
	}
	scr_reader_free(r);
	close(fd);
}

#define R(f) cmocka_unit_test_setup_teardown(f, rig_setup, rig_teardown)
#define T(f) cmocka_unit_test_setup_teardown(f, sys_setup, sys_teardown)

static const struct CMUnitTest tests[] = {
	R(test_plain),
	R(test_short_and_interrupted),
	R(test_one_bad_sector),
	R(test_bad_sectors),
	R(test_unaligned),
	R(test_bad_tail),
	R(test_whole_pages_fail),
	R(test_across_a_border),
	R(test_bounded),
	R(test_dead_area),
	R(test_skip_and_come_back),
	R(test_more_than_ranges),
	R(test_trouble),
	R(test_faults_together),
	R(test_reread),
	R(test_holes_unknown),
	T(test_holes),
	T(test_real_file),
};

SYS_MAIN(tests)

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Damaged manifests: repaired in memory and counted, or refused; never wrong, never a crash. */
#include <config.h>
#include "store_common.h"

#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>

#include "base/endian.h"
#include "manifest/mreader.h"

#define HEAD ((size_t)SCR_GROUP_HEAD)
#define STRIDE ((size_t)SCR_GROUP_STRIDE)
#define GUARANTEED (SCR_GROUP_PARITY - SCR_GROUP_UNIT + 1) /* a burst, wherever it lies */

static const struct scr_geometry geometry = {1u << 20, 16, 4096};

/* One manifest, and a copy that is damaged and mended. */
struct bench {
	struct sample sample;
	uint8_t *good, *bad;
	size_t size;
	int fd;
};

static void set_up(struct bench *b, uint64_t seed, uint32_t files)
{
	int fd;

	b->sample = make_sample(seed, &geometry, files);
	fd = write_sample(&b->sample);
	b->good = read_whole(fd, &b->size);
	close(fd);
	b->fd = temp_file(NULL);
	write_whole(b->fd, b->good, b->size);
	b->bad = mmap(NULL, b->size, PROT_READ | PROT_WRITE, MAP_SHARED, b->fd, 0);
	assert_true(b->bad != MAP_FAILED);
}

static void tear_down(struct bench *b)
{
	munmap(b->bad, b->size);
	close(b->fd);
	free(b->good);
	free_sample(&b->sample);
}

/* Loads it all. 0 if it has the content of the sample, or what it was refused with. */
static int load(const struct bench *b, int fd, scr_pread_fn *pread_fn,
		struct scr_mreader_damage *damage)
{
	struct scr_mreader *r;
	const char *why = NULL;
	int ret = scr_mreader_open_with(fd, pread_fn, scr_kernels_reference(), &r, &why);

	if (ret < 0) {
		assert_non_null(why);
		return ret;
	}
	assert_headers_equal(scr_mreader_header(r), &b->sample.header);
	ret = read_sample(r, &b->sample);
	/* Damage is counted once, however often it is read. */
	if (ret == 0)
		ret = scr_mreader_check(r);
	scr_mreader_get_damage(r, damage);
	scr_mreader_free(r);
	return ret;
}

static int load_bad(const struct bench *b, struct scr_mreader_damage *damage)
{
	return load(b, b->fd, pread, damage);
}

/* ---- one byte ------------------------------------------------------------------------------- */

static void test_every_byte(void **state)
{
	static const uint8_t flips[] = {0x01, 0x80, 0xff};
	struct scr_mreader_damage d;
	struct bench b;

	(void)state;
	set_up(&b, 5, 14);
	assert_in_range(b.size, 16384, 40000);
	assert_int_equal(load_bad(&b, &d), 0);
	assert_int_equal(d.groups_repaired, 0);
	for (size_t at = 0; at < b.size; at++)
		for (size_t i = 0; i < 3; i++) {
			bool data = at >= HEAD && at < b.size - HEAD - HEAD;

			b.bad[at] ^= flips[i];
			assert_int_equal(load_bad(&b, &d), 0);
			assert_int_equal(d.groups_repaired, 1);
			assert_int_equal(d.blocks_repaired, data);
			assert_int_equal(d.first_offset, at / 4096 * 4096);
			b.bad[at] ^= flips[i];
		}
	tear_down(&b);
}

static void test_large(void **state)
{
	struct scr_mreader_damage d;
	struct rng rng = {1};
	struct bench b;

	(void)state;
	set_up(&b, 6, 12000);
	assert_true(b.size > 2 * STRIDE && b.size < 3 * STRIDE);
	for (unsigned int i = 0; i < 36; i++) {
		size_t at = rng_below(&rng, (uint32_t)b.size);

		b.bad[at] ^= (uint8_t)(1 + rng_below(&rng, 255));
		assert_int_equal(load_bad(&b, &d), 0);
		assert_int_equal(d.groups_repaired, 1);
		assert_int_equal(d.first_offset, at / 4096 * 4096);
		b.bad[at] = b.good[at];
	}
	tear_down(&b);
}

/* ---- bursts --------------------------------------------------------------------------------- */

static void burst(struct bench *b, struct rng *rng, size_t at, size_t len)
{
	for (size_t i = at; i < at + len; i++)
		b->bad[i] ^= (uint8_t)(1 + rng_below(rng, 255));
}

static void test_bursts(void **state)
{
	struct scr_mreader_damage d;
	struct rng rng = {2};
	struct bench b;

	(void)state;
	set_up(&b, 6, 12000);
	for (unsigned int i = 0; i < 36; i++) {
		size_t len = GUARANTEED - rng_below(&rng, i % 2 ? GUARANTEED : 1);
		size_t at = rng_below(&rng, (uint32_t)(2 * STRIDE - len));

		/* Around the border of two groups too. */
		if (i % 3 == 0)
			at = STRIDE - rng_below(&rng, (uint32_t)len);
		burst(&b, &rng, at, len);
		assert_int_equal(load_bad(&b, &d), 0);
		assert_in_range(d.groups_repaired, 1, 2);
		assert_int_equal(d.first_offset, at / 4096 * 4096);
		memcpy(b.bad + at, b.good + at, len);
	}
	tear_down(&b);
}

/* Blocks of one group: those at one position can't stand in for each other. */
static void test_two_blocks(void **state)
{
	struct scr_mreader_damage d;
	struct rng rng = {3};
	struct bench b;

	(void)state;
	set_up(&b, 6, 12000);
	for (unsigned int i = 0; i < 50; i++) {
		uint32_t x = rng_below(&rng, 272), y = rng_below(&rng, 272);
		size_t group = rng_below(&rng, 2) * STRIDE;

		if (i % 2)
			y = (x + 16 * (1 + rng_below(&rng, 16))) % 272;
		if (x == y)
			continue;
		burst(&b, &rng, group + HEAD + x * 4096 + 7, 3);
		burst(&b, &rng, group + HEAD + y * 4096 + 9, 3);
		if (x % 16 == y % 16) {
			assert_int_equal(load_bad(&b, &d), -EBADMSG);
		} else {
			assert_int_equal(load_bad(&b, &d), 0);
			assert_int_equal(d.groups_repaired, 1);
			assert_int_equal(d.blocks_repaired, (x < 256) + (y < 256));
		}
		memcpy(b.bad + group, b.good + group, STRIDE);
	}
	tear_down(&b);
}

/* ---- heads ---------------------------------------------------------------------------------- */

static void test_both_heads(void **state)
{
	struct scr_mreader_damage d;
	struct bench b;

	(void)state;
	set_up(&b, 6, 12000);
	for (size_t group = 0; group + STRIDE < b.size; group += STRIDE) {
		b.bad[group + 100] ^= 1;
		b.bad[group + STRIDE - 1] ^= 1;
		assert_int_equal(load_bad(&b, &d), -EBADMSG);
		b.bad[group + 100] ^= 1;
		assert_int_equal(load_bad(&b, &d), 0);
		assert_int_equal(d.groups_repaired, 1);
		assert_int_equal(d.blocks_repaired, 0);
		b.bad[group + STRIDE - 1] ^= 1;
	}
	tear_down(&b);
}

static void fix_crc(uint8_t *head)
{
	scr_put_le32(head + 4092, (uint32_t)crc32(0, head, 4092));
}

/* Every field made wrong, in one copy or in both, under a right CRC. */
static void test_wrong_heads(void **state)
{
	static const size_t fields[] = {0, 4, 8, 16, 24, 32, 36, 40, 44, 48, 52, 56, 64, 96, 101};
	struct scr_mreader_damage d;
	struct bench b;

	(void)state;
	set_up(&b, 6, 12000);
	assert_true(b.size > 2 * STRIDE);
	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
		/* A check that is wrong makes its block bad, and nothing can match it. */
		uint8_t *first = b.bad + STRIDE, *second = b.bad + 2 * STRIDE - HEAD;

		first[fields[i]] ^= 2;
		fix_crc(first);
		assert_int_equal(load_bad(&b, &d), -EBADMSG);
		second[fields[i]] ^= 2;
		fix_crc(second);
		assert_int_equal(load_bad(&b, &d), -EBADMSG);
		memcpy(first, b.good + STRIDE, HEAD);
		memcpy(second, b.good + 2 * STRIDE - HEAD, HEAD);
	}
	/* Reserved bytes mean nothing, but both copies must be the same. */
	b.bad[STRIDE + 60] = 1;
	fix_crc(b.bad + STRIDE);
	assert_int_equal(load_bad(&b, &d), -EBADMSG);
	memcpy(b.bad + 2 * STRIDE - HEAD, b.bad + STRIDE, HEAD);
	assert_int_equal(load_bad(&b, &d), 0);
	assert_int_equal(d.groups_repaired, 0);
	memcpy(b.bad, b.good, b.size);
	/* The flag of the last group on the first one. */
	b.bad[44] = b.bad[STRIDE - HEAD + 44] = 1;
	fix_crc(b.bad);
	fix_crc(b.bad + STRIDE - HEAD);
	assert_int_equal(load_bad(&b, &d), -EBADMSG);
	tear_down(&b);
}

/* Behind the stream there is nothing but zeros, whatever the checks say. */
static void test_fill(void **state)
{
	struct scr_mreader_damage d;
	const struct scr_kernels *k = scr_kernels_reference();
	struct bench b;

	(void)state;
	set_up(&b, 1, 0);
	for (unsigned int i = 0; i < 2; i++) {
		uint8_t *data = b.bad + HEAD, *head = b.bad;

		data[4095] = (uint8_t)i;
		memcpy(data + 4096, data, 4096);
		for (uint8_t *c = head + 96; c < head + 96 + 12; c += 6) {
			scr_put_be16(c, scr_inet_fold(k->inet->fn.inet(0, data, 4096)));
			scr_put_le32(c + 2, (uint32_t)crc32(0, data, 4096));
		}
		fix_crc(head);
		memcpy(b.bad + 3 * HEAD, head, HEAD);
		assert_int_equal(load_bad(&b, &d), i ? -EBADMSG : 0);
	}
	tear_down(&b);
}

/* ---- size and order ------------------------------------------------------------------------- */

static void test_truncated(void **state)
{
	struct scr_mreader_damage d;
	struct bench b;
	int fd = temp_file(NULL);

	(void)state;
	set_up(&b, 5, 14);
	for (size_t len = 0; len < b.size; len++) {
		write_whole(fd, b.good, len);
		assert_int_equal(load(&b, fd, pread, &d), -EBADMSG);
	}
	tear_down(&b);
	set_up(&b, 6, 12000);
	for (size_t len = STRIDE; len < b.size; len += STRIDE) {
		write_whole(fd, b.good, len);
		assert_int_equal(load(&b, fd, pread, &d), -EBADMSG);
		write_whole(fd, b.good, len + 4 * HEAD);
		assert_int_equal(load(&b, fd, pread, &d), -EBADMSG);
	}
	tear_down(&b);
	close(fd);
}

static void test_appended(void **state)
{
	static const size_t more[] = {1, 100, 4096, 8192, 16384, 65536};
	struct scr_mreader_damage d;
	uint8_t *p;
	struct bench b;
	int fd = temp_file(NULL);

	(void)state;
	set_up(&b, 5, 14);
	p = calloc(1, b.size + 2 * STRIDE);
	assert_non_null(p);
	memcpy(p, b.good, b.size);
	for (size_t i = 0; i < sizeof(more) / sizeof(more[0]); i++) {
		write_whole(fd, p, b.size + more[i]);
		assert_int_equal(load(&b, fd, pread, &d), -EBADMSG);
	}
	memcpy(p + b.size, b.good, b.size);
	write_whole(fd, p, 2 * b.size);
	assert_int_equal(load(&b, fd, pread, &d), -EBADMSG);
	free(p);
	close(fd);
	tear_down(&b);
}

static void test_garbage(void **state)
{
	static const size_t sizes[] = {1, 4095, 4096, 16384, 20480, 1122304, 1138688};
	struct scr_mreader_damage d;
	struct rng rng = {4};
	struct bench b;
	uint8_t *p = malloc(1138688);
	int fd = temp_file(NULL);

	(void)state;
	assert_non_null(p);
	set_up(&b, 5, 1);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		for (unsigned int kind = 0; kind < 3; kind++) {
			for (size_t x = 0; x < sizes[i]; x++)
				p[x] = kind == 2 ? (uint8_t)rng_next(&rng) : kind ? 0xff : 0;
			write_whole(fd, p, sizes[i]);
			assert_int_equal(load(&b, fd, pread, &d), -EBADMSG);
		}
	free(p);
	close(fd);
	tear_down(&b);
}

static void test_mixed_groups(void **state)
{
	struct scr_mreader_damage d;
	struct bench b, other;

	(void)state;
	set_up(&b, 6, 12000);
	set_up(&other, 6, 12000); /* equal but for the number of the writing */
	assert_int_equal(b.size, other.size);
	for (size_t group = 0; group < b.size; group += STRIDE) {
		size_t len = b.size - group < STRIDE ? b.size - group : STRIDE;

		memcpy(b.bad + group, other.good + group, len);
		assert_int_equal(load_bad(&b, &d), -EBADMSG);
		memcpy(b.bad + group, b.good + group, len);
	}
	memcpy(b.bad, b.good + STRIDE, STRIDE);
	memcpy(b.bad + STRIDE, b.good, STRIDE);
	assert_int_equal(load_bad(&b, &d), -EBADMSG);
	tear_down(&other);
	tear_down(&b);
}

/* ---- errors of the medium ---------------------------------------------------------------------
 */

static struct {
	off_t start[2], end[2]; /* ranges that can't be read */
	int err;
	unsigned int calls;
	bool choppy; /* short reads and interruptions */
} medium;

static ssize_t bad_pread(int fd, void *buf, size_t len, off_t at)
{
	medium.calls++;
	for (unsigned int i = 0; i < 2; i++)
		if (at < medium.end[i] && at + (off_t)len > medium.start[i]) {
			errno = medium.err;
			return -1;
		}
	if (medium.choppy && medium.calls % 3 == 0) {
		errno = EINTR;
		return -1;
	}
	return pread(fd, buf, medium.choppy && len > 1000 ? len / 2 : len, at);
}

static void break_unit(unsigned int i, size_t at)
{
	medium.start[i] = (off_t)at;
	medium.end[i] = (off_t)at + 4096;
}

static void test_unreadable(void **state)
{
	struct scr_mreader_damage d;
	struct rng rng = {5};
	struct bench b;

	(void)state;
	set_up(&b, 6, 12000);
	memset(&medium, 0, sizeof(medium));
	medium.err = EIO;
	for (unsigned int i = 0; i < 40; i++) {
		size_t at = rng_below(&rng, (uint32_t)(b.size / 4096)) * 4096;

		break_unit(0, at);
		assert_int_equal(load(&b, b.fd, bad_pread, &d), 0);
		assert_int_equal(d.groups_repaired, 1);
		assert_int_equal(d.first_offset, at);
	}
	break_unit(0, HEAD + 4096);
	break_unit(1, HEAD + 17 * 4096); /* the same position of the next column */
	assert_int_equal(load(&b, b.fd, bad_pread, &d), -EBADMSG);
	break_unit(1, HEAD + 18 * 4096);
	assert_int_equal(load(&b, b.fd, bad_pread, &d), 0);
	assert_int_equal(d.blocks_repaired, 2);
	/* What says nothing about the medium is not damage. */
	medium.err = ESTALE;
	assert_int_equal(load(&b, b.fd, bad_pread, &d), -ESTALE);
	memset(&medium, 0, sizeof(medium));
	medium.choppy = true;
	assert_int_equal(load(&b, b.fd, bad_pread, &d), 0);
	assert_int_equal(d.groups_repaired, 0);
	tear_down(&b);
}

/* In the smallest manifest any one bad sector is survived. */
static void test_smallest(void **state)
{
	struct scr_mreader_damage d;
	struct bench b;

	(void)state;
	set_up(&b, 1, 0);
	assert_int_equal(b.size, 16384);
	memset(&medium, 0, sizeof(medium));
	medium.err = EIO;
	for (size_t at = 0; at < b.size; at += 4096) {
		break_unit(0, at);
		assert_int_equal(load(&b, b.fd, bad_pread, &d), 0);
		assert_int_equal(d.groups_repaired, 1);
		memset(b.bad + at, 0, 4096);
		assert_int_equal(load_bad(&b, &d), 0);
		assert_int_equal(d.groups_repaired, 1);
		memcpy(b.bad + at, b.good + at, 4096);
	}
	tear_down(&b);
}

static void test_opening_reads_little(void **state)
{
	struct scr_mreader *r;
	const char *why;
	struct bench b;

	(void)state;
	set_up(&b, 6, 12000);
	memset(&medium, 0, sizeof(medium));
	assert_int_equal(scr_mreader_open_with(b.fd, bad_pread, scr_kernels_reference(), &r, &why),
			 0);
	assert_in_range(medium.calls, 2, 3); /* the trailer may begin in the group before */
	scr_mreader_free(r);
	tear_down(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_byte),
		cmocka_unit_test(test_large),
		cmocka_unit_test(test_bursts),
		cmocka_unit_test(test_two_blocks),
		cmocka_unit_test(test_both_heads),
		cmocka_unit_test(test_wrong_heads),
		cmocka_unit_test(test_fill),
		cmocka_unit_test(test_truncated),
		cmocka_unit_test(test_appended),
		cmocka_unit_test(test_garbage),
		cmocka_unit_test(test_mixed_groups),
		cmocka_unit_test(test_unreadable),
		cmocka_unit_test(test_smallest),
		cmocka_unit_test(test_opening_reads_little),
	};

	return cmocka_run_group_tests_name("manifest_damage", tests, NULL, NULL);
}

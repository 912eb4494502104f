/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Each bit of what scrub keeps, flipped by itself; then random damage in large ones.
 *
 * Damage is always noticed, repaired to the original where the arithmetic says so, and else
 * refused; nothing wrong is ever believed. (Bits of undo entries: parity_undo; of journals:
 * journal.)
 */
#include <config.h>
#include "store_common.h"

#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/compiler.h"
#include "manifest/group.h"
#include "manifest/journal.h"
#include "search_trial.h"

#define HEAD ((size_t)SCR_GROUP_HEAD)
#define STRIDE ((size_t)SCR_GROUP_STRIDE)

/* ---- manifests ------------------------------------------------------------------------------ */

/* A manifest mapped into memory, to be damaged there. */
struct mapped {
	struct sample sample;
	uint8_t *p, *good;
	size_t size;
	int fd;
};

static void make(struct mapped *m, uint64_t seed, uint32_t files)
{
	m->sample = make_sample(seed, &small_geometry, files);
	m->fd = write_sample(&m->sample);
	m->good = read_whole(m->fd, &m->size);
	m->p = mmap(NULL, m->size, PROT_READ | PROT_WRITE, MAP_SHARED, m->fd, 0);
	assert_true(m->p != MAP_FAILED);
}

static void unmake(struct mapped *m)
{
	munmap(m->p, m->size);
	close(m->fd);
	free(m->good);
	free_sample(&m->sample);
}

/* 0: all of it has come, and as it was written; else what it was refused with. */
static int load(const struct mapped *m, struct scr_mreader_damage *d)
{
	struct scr_mreader *r;
	const char *why;
	int ret = scr_mreader_open(m->fd, scr_kernels_reference(), &r, &why);

	if (ret < 0)
		return ret;
	assert_headers_equal(scr_mreader_header(r), &m->sample.header);
	ret = read_sample(r, &m->sample);
	scr_mreader_get_damage(r, d);
	scr_mreader_free(r);
	return ret;
}

static void test_manifest_bits(void **state)
{
	struct scr_mreader_damage d;
	struct mapped m;

	(void)state;
	make(&m, 9, 2);
	assert_int_equal(m.size, 4 * HEAD);
	for (size_t bit = 0; bit < m.size * 8; bit++) {
		size_t at = bit / 8;

		m.p[at] ^= (uint8_t)(1u << bit % 8);
		assert_int_equal(load(&m, &d), 0);
		assert_int_equal(d.groups_repaired, 1);
		assert_int_equal(d.blocks_repaired, at >= HEAD && at < 2 * HEAD);
		assert_int_equal(d.first_offset, at / HEAD * HEAD);
		m.p[at] ^= (uint8_t)(1u << bit % 8);
	}
	unmake(&m);
}

/* Which unit of which group: 0 is the head, then data, then parity, the tail last. */
struct hits {
	bool unit[4][SCR_GROUP_UNITS];
};

/* A group is repaired if a head is left and no position of its columns is hit twice. */
static bool repairable(const struct hits *h, size_t group, size_t size)
{
	/* As the format has it: parity is one block for each 16 of data, rounded up. */
	size_t units = size / HEAD, column = (units - 2 + 16) / 17, data = units - 2 - column;

	if (h->unit[group][0] && h->unit[group][units - 1])
		return false;
	for (size_t pos = 0; pos < column; pos++) {
		unsigned int n = h->unit[group][1 + data + pos];

		for (size_t i = pos; i < data; i += column)
			n += h->unit[group][1 + i];
		if (n > 1)
			return false;
	}
	return true;
}

static bool any_hit(const struct hits *h, size_t group)
{
	for (size_t i = 0; i < SCR_GROUP_UNITS; i++)
		if (h->unit[group][i])
			return true;
	return false;
}

/* Up to 16 pieces of up to 200 bytes. */
static void damage(struct mapped *m, struct rng *rng, struct hits *h)
{
	memset(h, 0, sizeof(*h));
	for (uint32_t n = 1 + rng_below(rng, 16); n > 0; n--) {
		size_t at = rng_below(rng, (uint32_t)m->size - 200), len = 1 + rng_below(rng, 200);

		for (size_t i = at; i < at + len; i++) {
			m->p[i] = m->good[i] ^ (uint8_t)(1 + rng_below(rng, 255));
			h->unit[i / STRIDE][i % STRIDE / HEAD] = true;
		}
	}
}

static void test_manifest_random(void **state)
{
	unsigned int mended = 0, refused = 0;
	struct rng rng = {77};
	struct mapped m;

	(void)state;
	make(&m, 6, 12000);
	assert_true(m.size > 2 * STRIDE && m.size < 4 * STRIDE);
	for (unsigned int round = 0; round < 150; round++) {
		struct scr_mreader_damage d;
		uint64_t groups = 0;
		struct hits h;
		bool good = true;

		damage(&m, &rng, &h);
		for (size_t at = 0; at < m.size; at += STRIDE) {
			good &= repairable(&h, at / STRIDE, SCR_MIN(STRIDE, m.size - at));
			groups += any_hit(&h, at / STRIDE);
		}
		assert_int_equal(load(&m, &d), good ? 0 : -EBADMSG);
		if (good)
			assert_int_equal(d.groups_repaired, groups);
		mended += good;
		refused += !good;
		memcpy(m.p, m.good, m.size);
	}
	assert_true(mended > 40 && refused > 40);
	unmake(&m);
}

/* ---- journals ------------------------------------------------------------------------------- */

#define UPDATES 400u

/* A journal of many updates, each of a file of its own whose mode is its number. */
static void fill_journal(struct scr_buf *b, size_t *ends)
{
	const struct scr_geometry *g = &small_geometry;
	int fd = temp_file(NULL);
	struct rng r = {5};
	uint8_t *head;
	size_t len;

	assert_int_equal(scr_journal_start(fd, 42, g, 1), 0);
	head = read_whole(fd, &len);
	assert_int_equal(scr_buf_append(b, head, len), 0);
	free(head);
	close(fd);
	for (uint32_t i = 0; i < UPDATES; i++) {
		struct scr_extent e = random_extent(&r, g, 1 + i * 37, 0);
		struct scr_update u = {.done = true, .extents = &e, .count = 1};
		char path[16];

		ends[i] = b->len;
		u.file = random_file(&r, 1 + i * 37);
		u.file.path = path;
		u.file.path_len = (uint32_t)sprintf(path, "%06u", i);
		u.file.mode = i;
		assert_int_equal(scr_journal_encode(b, g, &u), 0);
		scr_extent_free(&e);
	}
	ends[UPDATES] = b->len;
}

/* The first @n updates, whose files come in order, and no more. */
static void expect_updates(int fd, uint32_t n, uint64_t length)
{
	struct scr_file_record f;
	struct scr_journal *j;
	uint64_t valid;
	bool done;

	assert_int_equal(scr_journal_open(fd, 42, temp_file, NULL, &j, &valid), 0);
	assert_int_equal(valid, length);
	assert_int_equal(scr_journal_count(j), n);
	for (uint32_t i = 0; i < n; i++) {
		assert_int_equal(scr_journal_next(j, &f, &done), 1);
		assert_int_equal(f.mode, i);
		assert_int_equal(f.stamp.size, 1 + i * 37);
		assert_true(done);
	}
	assert_int_equal(scr_journal_next(j, &f, &done), 0);
	scr_journal_free(j);
}

/* What stands before the first damaged record counts, whatever is behind. */
static void test_journal_random(void **state)
{
	size_t ends[UPDATES + 1];
	struct rng rng = {6};
	struct scr_buf b = {0};
	int fd = temp_file(NULL);

	(void)state;
	fill_journal(&b, ends);
	write_whole(fd, b.data, b.len);
	expect_updates(fd, UPDATES, b.len);
	for (unsigned int round = 0; round < 500; round++) {
		uint8_t *p = malloc(b.len);
		size_t first = b.len;
		uint32_t n = 0;

		assert_non_null(p);
		memcpy(p, b.data, b.len);
		for (uint32_t k = 1 + rng_below(&rng, 6); k > 0; k--) {
			size_t at = rng_below(&rng, (uint32_t)b.len);

			p[at] = b.data[at] ^ (uint8_t)(1 + rng_below(&rng, 255));
			first = SCR_MIN(first, at);
		}
		while (n < UPDATES && ends[n + 1] <= first)
			n++;
		write_whole(fd, p, b.len);
		expect_updates(fd, n, first < ends[0] ? 0 : ends[n]);
		free(p);
	}
	scr_buf_free(&b);
	close(fd);
}

/* ---- content and parity --------------------------------------------------------------------- */

/* One bit of an extent of three columns, the last one short, or of its parity. */
static void check_bit(struct trial *t, uint8_t *p, size_t bit, bool in_data)
{
	p[bit / 8] ^= (uint8_t)(1u << bit % 8);
	trial_run(t, false);
	assert_null(trial_wrong(t));
	assert_int_equal(t->s.repaired, in_data);
	assert_int_equal(t->s.lost, 0);
	assert_int_equal(t->s.inconsistent, 0);
	assert_memory_equal(t->s.data, t->data, t->s.cut.length);
	assert_memory_equal(t->s.parity, t->parity, t->s.cut.column);
	/* In parity it was seen, too, by the block that holds it. */
	for (uint32_t i = 0; !in_data && i < t->s.cut.parity_blocks; i++)
		assert_int_equal(t->s.parity_state[i] == SCR_BLOCK_REPAIRED,
				 i == bit / 8 / t->s.cut.block);
}

static void test_parity_bits(void **state)
{
	static const struct scr_geometry g = {512, 3, 512};
	struct dice dice = {3};
	struct trial t;

	(void)state;
	trial_start(&t, &g, 2900);
	for (uint32_t i = 0; i < 2900; i++)
		t.data[i] = (uint8_t)(dice_roll(&dice) >> 56);
	trial_record(&t, scr_kernels_reference());
	assert_int_equal(t.s.cut.column, 1024);
	assert_int_equal(t.s.cut.parity_blocks, 2);
	for (size_t bit = 0; bit < 2900 * 8; bit++)
		check_bit(&t, t.s.data, bit, true);
	for (size_t bit = 0; bit < 1024 * 8; bit++)
		check_bit(&t, t.s.parity, bit, false);
	trial_free(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_manifest_bits),
		cmocka_unit_test(test_manifest_random),
		cmocka_unit_test(test_journal_random),
		cmocka_unit_test(test_parity_bits),
	};

	return cmocka_run_group_tests_name("flips", tests, NULL, NULL);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Writing and reading manifests. */
#include <config.h>
#include "store_common.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "manifest/mreader.h"

static const struct scr_geometry geometries[] = {
	{1u << 20, 16, 4096},
	{4096, 7, 512},
	{65536, 16, 4096},
	{512, 2, 64},
};

static struct scr_mreader *open_reader(int fd)
{
	struct scr_mreader *r;
	const char *why = NULL;

	assert_int_equal(scr_mreader_open(fd, scr_kernels_reference(), &r, &why), 0);
	return r;
}

/* ---- counts, one by one --------------------------------------------------------------------- */

static void model_damage(const struct scr_extent *e, struct scr_trailer *t)
{
	for (uint32_t b = 0; b < e->cut.blocks; b++) {
		uint64_t bytes = 0;

		for (uint32_t i = 0; i < e->damage_count; i++)
			if (e->damage[i].block == b)
				bytes += e->damage[i].length;
		if (bytes > scr_block_length(&e->cut, b))
			bytes = scr_block_length(&e->cut, b);
		t->blocks_damaged += bytes != 0;
		t->bytes_damaged += bytes;
	}
}

static void model_extent(const struct scr_geometry *g, const struct scr_extent *e, uint64_t size,
			 struct scr_trailer *t)
{
	for (uint64_t i = e->cut.index; i < e->cut.index + e->run; i++) {
		struct scr_cut cut = scr_cut_extent(g, size, i);

		t->extents++;
		t->blocks += cut.blocks;
		if (e->hole)
			t->hole_bytes += cut.length;
		for (uint32_t b = 0; e->holes && b < cut.blocks; b++)
			if (e->holes[b / 8] & 1 << b % 8)
				t->hole_bytes += scr_block_length(&cut, b);
		if (e->checked_ns == 0)
			t->bytes_never_checked += cut.length;
	}
	if (e->checked_ns && (!t->oldest_check_ns || e->checked_ns < t->oldest_check_ns))
		t->oldest_check_ns = e->checked_ns;
	if (e->checked_ns && (!t->newest_check_ns || e->checked_ns > t->newest_check_ns))
		t->newest_check_ns = e->checked_ns;
	t->extents_unrecorded += !!(e->flags & SCR_EXTENT_UNRECORDED);
	if (e->parity_segment)
		t->parity_bytes += e->parity_length;
	model_damage(e, t);
}

static struct scr_trailer model_counts(const struct sample *s)
{
	struct scr_trailer t = {.unseen = s->unseen_count, .files_damaged = s->unseen_count};

	for (uint32_t i = 0; i < s->count; i++) {
		const struct sample_entry *e = &s->entries[i];
		bool damaged = !e->is_link && e->file.damage.kind;

		t.links += e->is_link;
		t.files += !e->is_link;
		t.bytes += e->is_link ? 0 : e->file.stamp.size;
		for (uint32_t x = 0; x < e->extent_count; x++) {
			model_extent(&s->header.settings.geometry, &e->extents[x],
				     e->file.stamp.size, &t);
			damaged |= e->extents[x].damage_count > 0;
		}
		t.files_damaged += damaged;
	}
	return t;
}

static void check_segments(const struct sample *s, const struct scr_trailer *t)
{
	uint64_t live[16] = {0}, segments = 0;

	for (uint32_t i = 0; i < s->count; i++)
		for (uint32_t x = 0; x < s->entries[i].extent_count; x++) {
			const struct scr_extent *e = &s->entries[i].extents[x];

			live[e->parity_segment] += e->parity_length;
		}
	for (uint32_t i = 1; i < 16; i++)
		segments += live[i] != 0;
	assert_int_equal(t->segment_count, segments);
	for (uint32_t i = 0; i < t->segment_count; i++)
		assert_true(t->segments[i].live == live[t->segments[i].segment]);
}

static void check_trailer(const struct sample *s, const struct scr_trailer *t)
{
	struct scr_trailer m = model_counts(s);

	assert_true(t->generation == 42 && t->files == m.files && t->links == m.links &&
		    t->extents == m.extents && t->blocks == m.blocks && t->bytes == m.bytes &&
		    t->unseen == m.unseen && t->hole_bytes == m.hole_bytes &&
		    t->files_damaged == m.files_damaged && t->blocks_damaged == m.blocks_damaged &&
		    t->bytes_damaged == m.bytes_damaged &&
		    t->extents_unrecorded == m.extents_unrecorded &&
		    t->parity_bytes == m.parity_bytes && t->oldest_check_ns == m.oldest_check_ns &&
		    t->newest_check_ns == m.newest_check_ns &&
		    t->bytes_never_checked == m.bytes_never_checked);
	assert_true(t->pass_start_ns == 11 && t->pass_ns == 12 && t->last_complete_ns == 13 &&
		    t->pass_bytes == 14 && t->pass_exit == 4 && t->window_start_ns == 15 &&
		    t->window_bytes == 16);
	check_segments(s, t);
}

/* ---- round trips ---------------------------------------------------------------------------- */

static void check_seeks(struct scr_mreader *r, const struct sample *s)
{
	uint64_t *offsets = calloc(s->count, sizeof(*offsets));
	struct scr_file_record f;
	struct scr_link_record l;
	struct scr_extent e = {0};

	assert_non_null(offsets);
	assert_int_equal(scr_mreader_rewind(r), 0);
	for (uint32_t i = 0; i < s->count; i++)
		assert_true(scr_mreader_next(r, &f, &l, &offsets[i]) > 0);
	assert_int_equal(scr_mreader_next(r, &f, &l, NULL), SCR_RECORD_END);
	assert_int_equal(scr_mreader_next(r, &f, &l, NULL), SCR_RECORD_END);
	for (uint32_t i = s->count; i-- > 0;) {
		const struct sample_entry *want = &s->entries[i];

		assert_int_equal(scr_mreader_seek(r, offsets[i]), 0);
		assert_true(scr_mreader_next(r, &f, &l, NULL) > 0);
		assert_string_equal(want->is_link ? l.path : f.path, s->paths[i]);
		if (want->extent_count) {
			assert_int_equal(scr_mreader_extent(r, &e), 1);
			assert_extents_equal(&e, &want->extents[0]);
		}
		/* On to the next, over what is left. */
		assert_int_equal(scr_mreader_next(r, &f, &l, NULL) > 0, i + 1 < s->count);
	}
	assert_int_equal(scr_mreader_seek(r, 0), -EINVAL);
	assert_int_equal(scr_mreader_seek(r, UINT64_MAX), -EINVAL);
	scr_extent_free(&e);
	free(offsets);
}

static void test_round_trips(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 40; seed++) {
		struct sample s = make_sample(seed, &geometries[seed % 3],
					      seed == 40 ? 12000 : (uint32_t)seed * 3);
		struct scr_mreader_damage damage;
		struct scr_mreader *r;
		int fd = write_sample(&s);

		/* Groups of more than one, in the last round. */
		assert_int_equal(lseek(fd, 0, SEEK_END) % 4096, 0);
		assert_int_equal(lseek(fd, 0, SEEK_END) > 3 * 1122304, seed == 40);
		r = open_reader(fd);
		assert_headers_equal(scr_mreader_header(r), &s.header);
		check_trailer(&s, scr_mreader_trailer(r));
		assert_int_equal(read_sample(r, &s), 0);
		check_seeks(r, &s);
		assert_int_equal(scr_mreader_check(r), 0);
		assert_int_equal(read_sample(r, &s), 0);
		scr_mreader_get_damage(r, &damage);
		assert_int_equal(damage.groups_repaired, 0);
		scr_mreader_free(r);
		close(fd);
		free_sample(&s);
	}
}

static void test_empty(void **state)
{
	struct sample s = make_sample(1, &geometries[0], 0);
	int fd = write_sample(&s);
	struct scr_mreader *r;

	(void)state;
	assert_int_equal(lseek(fd, 0, SEEK_END), 4 * 4096);
	r = open_reader(fd);
	check_trailer(&s, scr_mreader_trailer(r));
	assert_int_equal(read_sample(r, &s), 0);
	assert_int_equal(scr_mreader_check(r), 0);
	scr_mreader_free(r);
	scr_mreader_free(NULL);
	close(fd);
	free_sample(&s);
}

/* An extent of 64 Ki blocks, all of them damaged: a record of four groups. */
static struct scr_extent large_extent(const struct scr_geometry *g)
{
	struct scr_extent e = {.cut = scr_cut_extent(g, 32 * MIB - 1, 0), .run = 1};

	e.run_length = e.cut.length;
	assert_int_equal(e.cut.blocks, 65536);
	e.checks = calloc(e.cut.blocks, sizeof(*e.checks));
	e.damage = calloc(e.cut.blocks, sizeof(*e.damage));
	assert_true(e.checks && e.damage);
	for (uint32_t i = 0; i < e.cut.blocks; i++) {
		e.checks[i] = (struct scr_check){i * 77, (uint16_t)i};
		e.damage[i] = (struct scr_damage_record){.block = i, .kind = 3, .length = 1};
	}
	e.damage_count = e.cut.blocks;
	return e;
}

static void test_large_record(void **state)
{
	struct sample s = make_sample(3, &geometries[3], 3);
	struct sample_entry *e = &s.entries[0];
	struct scr_mreader *r;
	int fd;

	(void)state;
	for (uint32_t i = 0; i < e->extent_count; i++)
		scr_extent_free(&e->extents[i]);
	e->file.stamp.size = 32 * MIB - 1;
	e->extent_count = 1;
	e->extents = realloc(e->extents, sizeof(*e->extents));
	assert_non_null(e->extents);
	e->extents[0] = large_extent(&geometries[3]);
	fd = write_sample(&s);
	r = open_reader(fd);
	assert_int_equal(read_sample(r, &s), 0);
	check_seeks(r, &s);
	check_trailer(&s, scr_mreader_trailer(r));
	scr_mreader_free(r);
	close(fd);
	free_sample(&s);
}

/* ---- runs of holes -------------------------------------------------------------------------- */

static void test_holes_merge(void **state)
{
	struct sample s = make_sample(1, &geometries[0], 0);
	struct scr_file_record f = {.stamp = {.size = 800 * MIB + 5}, .path = "a", .path_len = 1};
	struct rng rng = {1};
	struct scr_extent e = {0}, hole = random_run(&rng, &geometries[0], f.stamp.size, 0, 1);
	struct scr_link_record l;
	struct scr_mwriter *w;
	struct scr_mreader *r;
	int fd = temp_file(NULL);

	(void)state;
	assert_int_equal(scr_mwriter_new(fd, scr_kernels_reference(), &s.header, 0, &w), 0);
	assert_int_equal(scr_mwriter_file(w, &f), 0);
	for (uint64_t i = 0; i < 50; i++) {
		hole.cut = scr_cut_extent(&geometries[0], f.stamp.size, i);
		hole.run_length = hole.cut.length;
		if (i == 20)
			hole.checked_ns++;
		if (i != 30)
			assert_int_equal(scr_mwriter_extent(w, &hole), 0);
	}
	assert_int_equal(scr_mwriter_finish(w, NULL, NULL), 0);
	scr_mwriter_free(w);
	r = open_reader(fd);
	assert_int_equal(scr_mreader_trailer(r)->extents, 49);
	assert_int_equal(scr_mreader_next(r, &f, &l, NULL), SCR_RECORD_FILE);
	assert_int_equal(scr_mreader_extent(r, &e), 1);
	assert_true(e.cut.index == 0 && e.run == 20 && e.run_length == 320 * MIB);
	assert_int_equal(scr_mreader_extent(r, &e), 1);
	assert_true(e.cut.index == 20 && e.run == 10);
	assert_int_equal(scr_mreader_extent(r, &e), 1);
	assert_true(e.cut.index == 31 && e.run == 19 && e.run_length == 304 * MIB + 5);
	assert_int_equal(scr_mreader_extent(r, &e), 0);
	assert_int_equal(scr_mreader_check(r), 0);
	scr_mreader_free(r);
	scr_extent_free(&e);
	close(fd);
	free_sample(&s);
}

/* Writes two holes that follow on each other and reads back how many records they became. */
static unsigned int records_of(const struct scr_extent *a, const struct scr_extent *b)
{
	struct sample s = make_sample(1, &geometries[0], 0);
	struct scr_file_record f = {.stamp = {.size = 64 * MIB}, .path = "a", .path_len = 1};
	struct scr_extent e = {0};
	struct scr_link_record l;
	struct scr_mwriter *w;
	struct scr_mreader *r;
	unsigned int n = 0;
	int fd = temp_file(NULL);

	assert_int_equal(scr_mwriter_new(fd, scr_kernels_reference(), &s.header, 0, &w), 0);
	assert_int_equal(scr_mwriter_file(w, &f), 0);
	assert_int_equal(scr_mwriter_extent(w, a), 0);
	assert_int_equal(scr_mwriter_extent(w, b), 0);
	assert_int_equal(scr_mwriter_finish(w, NULL, NULL), 0);
	scr_mwriter_free(w);
	r = open_reader(fd);
	assert_int_equal(scr_mreader_next(r, &f, &l, NULL), SCR_RECORD_FILE);
	for (; scr_mreader_extent(r, &e) == 1; n++)
		if (n == 1)
			assert_extents_equal(&e, b);
	scr_mreader_free(r);
	scr_extent_free(&e);
	close(fd);
	free_sample(&s);
	return n;
}

/* One record stands for several holes only if they are alike in everything. */
static void test_holes_stay_apart(void **state)
{
	struct rng rng = {1};
	struct scr_extent a = random_run(&rng, &geometries[0], 64 * MIB, 1, 1), same = a, b;

	(void)state;
	same.cut = scr_cut_extent(&geometries[0], 64 * MIB, 2);
	assert_int_equal(records_of(&a, &same), 1);
	b = same;
	b.stamp.size++;
	assert_int_equal(records_of(&a, &b), 2);
	b = same;
	b.stamp.ino++;
	assert_int_equal(records_of(&a, &b), 2);
	b = same;
	b.stamp.mtime_ns++;
	assert_int_equal(records_of(&a, &b), 2);
	b = same;
	b.stamp.ctime_ns++;
	assert_int_equal(records_of(&a, &b), 2);
	b = same;
	b.recorded_ns++;
	assert_int_equal(records_of(&a, &b), 2);
	b = same;
	b.checked_ns++;
	assert_int_equal(records_of(&a, &b), 2);
	b = same;
	b.reserved++;
	assert_int_equal(records_of(&a, &b), 2);
	b = same;
	b.flags ^= SCR_EXTENT_RACY;
	assert_int_equal(records_of(&a, &b), 2);
}

/* Two places change their turn in a container that is sound: refused however it is read. */
static void test_unseen_out_of_order(void **state)
{
	struct sample s = make_sample(3, &geometries[0], 3);
	struct scr_file_record f;
	struct scr_link_record l;
	struct scr_unseen_record u;
	struct scr_mreader *r;
	uint8_t *stream, first[12 + 33];
	uint64_t trailer;
	int fd = write_sample(&s);
	size_t len, at;

	(void)state;
	r = open_reader(fd);
	trailer = r->stream.last.trailer;
	at = r->first;
	scr_mreader_free(r);
	stream = take_stream(fd, &len);
	assert_int_equal(stream[at], 'X');
	memcpy(first, stream + at, sizeof(first));
	memmove(stream + at, stream + at + sizeof(first), 12 + 36);
	memcpy(stream + at + 12 + 36, first, sizeof(first));
	make_container(fd, stream, len, trailer);
	r = open_reader(fd);
	assert_int_equal(scr_mreader_check(r), -EBADMSG);
	assert_int_equal(scr_mreader_rewind(r), 0);
	assert_int_equal(scr_mreader_next(r, &f, &l, NULL), -EBADMSG);
	assert_int_equal(scr_mreader_rewind(r), 0);
	assert_int_equal(scr_mreader_unseen(r, &u), 1);
	assert_string_equal(u.path, "!a/b");
	assert_int_equal(scr_mreader_unseen(r, &u), -EBADMSG);
	scr_mreader_free(r);
	free(stream);
	close(fd);
	free_sample(&s);
}

static void test_ages(void **state)
{
	static const struct {
		int64_t days;
		unsigned int bucket;
	} ages[] = {{-5, 0}, {0, 0}, {1, 1},      {2, 2},      {3, 2},     {4, 3},
		    {7, 3},  {8, 4}, {16383, 14}, {16384, 15}, {30000, 15}};
	struct sample s = make_sample(1, &geometries[0], 0);
	const int64_t day = INT64_C(86400000000000), now = 40000 * day;

	(void)state;
	for (size_t i = 0; i < sizeof(ages) / sizeof(ages[0]); i++) {
		struct scr_file_record f = {.stamp = {.size = 7}, .path = "a", .path_len = 1};
		struct scr_check check = {0};
		struct scr_extent e = {.cut = scr_cut_extent(&geometries[0], 7, 0),
				       .run = 1,
				       .run_length = 7,
				       .checks = &check};
		struct scr_mwriter *w;
		struct scr_trailer t;
		int fd = temp_file(NULL);

		e.checked_ns = now - ages[i].days * day;
		assert_int_equal(scr_mwriter_new(fd, scr_kernels_reference(), &s.header, now, &w),
				 0);
		assert_int_equal(scr_mwriter_file(w, &f), 0);
		assert_int_equal(scr_mwriter_extent(w, &e), 0);
		assert_int_equal(scr_mwriter_finish(w, NULL, &t), 0);
		for (unsigned int b = 0; b < SCR_TRAILER_BUCKETS; b++)
			assert_int_equal(t.age_bytes[b], b == ages[i].bucket ? 7 : 0);
		scr_trailer_free(&t);
		scr_mwriter_free(w);
		close(fd);
	}
	free_sample(&s);
}

/* ---- a fast kernel that errs ----------------------------------------------------------------- */

static uint32_t wrong_crc32(uint32_t crc, const uint8_t *p, size_t len)
{
	return ~scr_kernels_reference()->crc32->fn.crc32(crc, p, len);
}

/* It makes nothing look damaged. */
static void test_wrong_kernel(void **state)
{
	static const struct scr_kernel wrong = {
		.name = "wrong", .class = SCR_CRC32, .fn.crc32 = wrong_crc32};
	struct sample s = make_sample(5, &geometries[2], 40);
	int fd = write_sample(&s);
	struct scr_mreader *r = open_reader(fd);

	(void)state;
	scr_mreader_use(r, &wrong);
	assert_int_equal(scr_mreader_check(r), 0);
	scr_mreader_free(r);
	close(fd);
	free_sample(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trips),  cmocka_unit_test(test_empty),
		cmocka_unit_test(test_large_record), cmocka_unit_test(test_holes_merge),

		cmocka_unit_test(test_ages),         cmocka_unit_test(test_holes_stay_apart),
		cmocka_unit_test(test_wrong_kernel), cmocka_unit_test(test_unseen_out_of_order),
	};

	return cmocka_run_group_tests_name("manifest", tests, NULL, NULL);
}

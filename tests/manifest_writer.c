/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the writer of manifests refuses: paths, places and extents that are out of order, or wrong.
 */
#include <config.h>
#include "store_common.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

static const struct scr_geometry geometries[] = {
	{1u << 20, 16, 4096},
};

static struct scr_mwriter *new_writer(const struct sample *s)
{
	struct scr_mwriter *w;
	int fd = open("/dev/null", O_WRONLY);

	/* Small manifests reach the descriptor at the end only: never. */
	assert_int_equal(scr_mwriter_new(fd, scr_kernels_reference(), &s->header, 0, &w), 0);
	close(fd);
	return w;
}

static int put_path(struct scr_mwriter *w, const char *path, uint32_t len)
{
	struct scr_file_record f = {.stamp = {.size = 64 * MIB}, .path = path, .path_len = len};

	return scr_mwriter_file(w, &f);
}

static int put_two(const struct sample *s, const char *first, const char *second)
{
	struct scr_mwriter *w = new_writer(s);
	int r;

	assert_int_equal(put_path(w, first, (uint32_t)strlen(first)), 0);
	r = put_path(w, second, (uint32_t)strlen(second));
	/* A writer that failed once stays failed. */
	if (r < 0)
		assert_int_equal(scr_mwriter_finish(w, NULL, NULL), r);
	scr_mwriter_free(w);
	return r;
}

static void test_refused_paths(void **state)
{
	struct sample s = make_sample(1, &geometries[0], 0);
	char *longest = calloc(1, 65537);

	(void)state;
	assert_non_null(longest);
	memset(longest, 'z', 65536);
	assert_int_equal(put_two(&s, "a", "b"), 0);
	assert_int_equal(put_two(&s, "a", "a/b"), 0);
	assert_int_equal(put_two(&s, "a/b", "a!b"), 0);
	assert_int_equal(put_two(&s, "a!b", "a/b"), -EINVAL);
	assert_int_equal(put_two(&s, "a", "a"), -EINVAL);
	assert_int_equal(put_two(&s, "b", "a"), -EINVAL);
	assert_int_equal(put_two(&s, "b", "c/.."), -EINVAL);
	assert_int_equal(put_two(&s, "b", longest), -ENAMETOOLONG);
	free(longest);
	free_sample(&s);
}

static int put_unseen(struct scr_mwriter *w, const char *path)
{
	return scr_mwriter_unseen(
		w, &(struct scr_unseen_record){.path = path, .path_len = (uint32_t)strlen(path)});
}

static int put_two_unseen(const struct sample *s, const char *a, const char *b)
{
	struct scr_mwriter *w = new_writer(s);
	int r;

	assert_int_equal(put_unseen(w, a), 0);
	r = put_unseen(w, b);
	scr_mwriter_free(w);
	return r;
}

/* Places stand before files, in their own order, and have nothing to do with the files' paths. */
static void test_refused_unseen(void **state)
{
	struct sample s = make_sample(8, &geometries[0], 0);
	char *longest = calloc(1, 65537);
	struct scr_mwriter *w;

	(void)state;
	assert_non_null(longest);
	memset(longest, 'z', 65536);
	assert_int_equal(put_two_unseen(&s, ".", "!"), 0);
	assert_int_equal(put_two_unseen(&s, "!", "."), -EINVAL);
	assert_int_equal(put_two_unseen(&s, ".", "."), -EINVAL);
	assert_int_equal(put_two_unseen(&s, "a", "a/b"), 0);
	assert_int_equal(put_two_unseen(&s, "a", "a"), -EINVAL);
	assert_int_equal(put_two_unseen(&s, "b", "a"), -EINVAL);
	assert_int_equal(put_two_unseen(&s, "b", "c/.."), -EINVAL);
	assert_int_equal(put_two_unseen(&s, "b", longest), -ENAMETOOLONG);
	w = new_writer(&s);
	assert_int_equal(put_unseen(w, "b"), 0);
	assert_int_equal(put_path(w, "a", 1), 0);
	assert_int_equal(put_unseen(w, "c"), -EINVAL);
	scr_mwriter_free(w);
	free(longest);
	free_sample(&s);
}

static int put_extents(const struct sample *s, struct scr_extent *a, struct scr_extent *b)
{
	struct scr_mwriter *w = new_writer(s);
	int r;

	assert_int_equal(put_path(w, "a", 1), 0);
	assert_int_equal(scr_mwriter_extent(w, a), 0);
	r = scr_mwriter_extent(w, b);
	scr_mwriter_free(w);
	return r;
}

static void test_refused_extents(void **state)
{
	struct sample s = make_sample(1, &geometries[0], 0);
	struct rng rng = {1};
	struct scr_extent a = random_run(&rng, &geometries[0], 64 * MIB, 1, 2), b;
	struct scr_mwriter *w = new_writer(&s);

	(void)state;
	assert_int_equal(scr_mwriter_extent(w, &a), -EINVAL); /* no file */
	scr_mwriter_free(w);
	b = random_run(&rng, &geometries[0], 64 * MIB, 3, 1);
	assert_int_equal(put_extents(&s, &a, &b), 0);
	b = random_run(&rng, &geometries[0], 64 * MIB, 2, 1);
	assert_int_equal(put_extents(&s, &a, &b), -EINVAL);
	b = random_run(&rng, &geometries[0], 64 * MIB, 0, 1);
	assert_int_equal(put_extents(&s, &a, &b), -EINVAL);
	b = random_run(&rng, &geometries[0], 96 * MIB, 4, 1);
	assert_int_equal(put_extents(&s, &a, &b), -EINVAL);
	b = random_run(&rng, &geometries[0], 64 * MIB, 3, 1);
	b.cut.blocks--;
	assert_int_equal(put_extents(&s, &a, &b), -EINVAL);
	b.cut.blocks++;
	b.hole = false; /* and no checks */
	assert_int_equal(put_extents(&s, &a, &b), -EINVAL);
	free_sample(&s);
}

static void test_full_disk(void **state)
{
	struct sample s = make_sample(1, &geometries[0], 0);
	int fd = open("/dev/full", O_WRONLY);
	struct scr_mwriter *w;

	(void)state;
	assert_int_equal(scr_mwriter_new(fd, scr_kernels_reference(), &s.header, 0, &w), 0);
	assert_int_equal(scr_mwriter_finish(w, NULL, NULL), -ENOSPC);
	assert_int_equal(scr_mwriter_finish(w, NULL, NULL), -ENOSPC);
	scr_mwriter_free(w);
	scr_mwriter_free(NULL);
	close(fd);
	free_sample(&s);
}

static void test_finish_gives_trailer(void **state)
{
	struct sample s = make_sample(9, &geometries[0], 30);
	struct scr_mwriter *w;
	struct scr_trailer t;

	(void)state;
	w = new_writer(&s);
	assert_int_equal(put_path(w, "a", 1), 0);
	scr_mwriter_free(w);
	assert_int_equal(
		scr_mwriter_new(temp_file(NULL), scr_kernels_reference(), &s.header, 0, &w), 0);
	assert_int_equal(put_path(w, "a", 1), 0);
	assert_int_equal(scr_mwriter_finish(w, &sample_pass, &t), 0);
	assert_true(t.files == 1 && t.bytes == 64 * MIB && t.pass_bytes == 14);
	assert_int_equal(put_path(w, "b", 1), -EINVAL);
	scr_mwriter_free(w);
	scr_trailer_free(&t);
	free_sample(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_refused_paths),        cmocka_unit_test(test_refused_unseen),
		cmocka_unit_test(test_refused_extents),      cmocka_unit_test(test_full_disk),
		cmocka_unit_test(test_finish_gives_trailer),
	};

	return cmocka_run_group_tests_name("manifest_writer", tests, NULL, NULL);
}

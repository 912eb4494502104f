/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The parity store: appended, synced, read back with gaps, collected, refused when not safe. */
#include <config.h>
#include "sys_util.h"

#include <pthread.h>
#include <stdbool.h>
#include <sys/resource.h>

#include "parity/segments_internal.h"

static struct scr_why why;

/* The state of the test is the current directory. */
static struct scr_state state_here(const char *dir)
{
	struct scr_state s = {.dirfd = sys_opendir("."), .path = strdup(dir)};

	chmod(".", 0700);
	return s;
}

static struct scr_segments *opened(const struct scr_state *s, uint32_t above)
{
	struct scr_segments *g;

	assert_int_equal(scr_segments_open(s, false, &g, &why), 0);
	if (above != UINT32_MAX)
		assert_int_equal(scr_segments_write(g, above, &why), 0);
	return g;
}

static void fill(uint8_t *p, size_t len, uint8_t seed)
{
	for (size_t i = 0; i < len; i++)
		p[i] = (uint8_t)(i * 7 + i / 251 + seed);
}

static void append(struct scr_segments *g, uint8_t seed, uint32_t len, uint32_t want_segment,
		   uint64_t want_offset)
{
	uint8_t *p = malloc(len);
	uint32_t segment = 0;
	uint64_t offset = 0;

	fill(p, len, seed);
	assert_int_equal(scr_segments_append(g, p, len, &segment, &offset), 0);
	assert_int_equal(segment, want_segment);
	assert_int_equal(offset, want_offset);
	free(p);
}

static void assert_reads(struct scr_segments *g, uint8_t seed, uint32_t len, uint32_t segment,
			 uint64_t offset)
{
	uint8_t *p = malloc(len), *q = malloc(len);
	struct scr_parity_gap gap[1];
	unsigned int n = 99;

	fill(q, len, seed);
	memset(p, 0xee, len);
	assert_int_equal(scr_segments_read(g, segment, offset, p, len, gap, 1, &n), 0);
	assert_int_equal(n, 0);
	assert_memory_equal(p, q, len);
	free(p);
	free(q);
}

static void assert_missing(struct scr_segments *g, uint32_t segment, uint64_t offset, uint32_t len,
			   uint32_t start)
{
	uint8_t *p = malloc(len);
	struct scr_parity_gap gap[4];
	unsigned int n = 99;

	memset(p, 0xee, len);
	assert_int_equal(scr_segments_read(g, segment, offset, p, len, gap, 4, &n), 0);
	assert_int_equal(n, 1);
	assert_int_equal(gap[0].start, start);
	assert_int_equal(gap[0].length, len - start);
	assert_int_equal(gap[0].err, ENOENT);
	for (uint32_t i = start; i < len; i++)
		assert_int_equal(p[i], 0);
	free(p);
}

static struct scr_trailer trailer_with(struct scr_parity_use *use, uint32_t n)
{
	return (struct scr_trailer){.segments = use, .segment_count = n};
}

static void test_append_and_read(void **state)
{
	struct scr_state s = state_here(*state);
	struct scr_segments *g = opened(&s, 0);
	struct stat st;

	append(g, 1, 4096, 1, 0);
	append(g, 2, 1, 1, 4096);
	append(g, 3, 3 << 20, 1, 4097);
	assert_int_equal(scr_segments_sync(g), 0);
	assert_reads(g, 1, 4096, 1, 0);
	assert_reads(g, 2, 1, 1, 4096);
	assert_reads(g, 3, 3 << 20, 1, 4097);
	assert_int_equal(scr_segments_size(g, 1), 4097 + (3 << 20));
	assert_int_equal(scr_segments_size(g, 2), 0);
	assert_int_equal(stat("parity", &st), 0);
	assert_int_equal(st.st_mode & 07777, 0700);
	assert_int_equal(stat("parity/00000001", &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	scr_segments_free(g);

	/* Another process appends to a new one, above what there is and above what is known. */
	g = opened(&s, 0);
	append(g, 4, 10, 2, 0);
	scr_segments_free(g);
	g = opened(&s, 7);
	append(g, 5, 10, 8, 0);
	assert_reads(g, 4, 10, 2, 0);
	scr_segments_free(g);
	scr_state_close(&s);
}

static void test_limit(void **state)
{
	struct scr_state s = state_here(*state);
	struct scr_segments *g = opened(&s, 0);
	uint32_t segment;
	uint64_t offset;

	assert_int_equal(scr_segments_append(g, "x", 0, &segment, &offset), -EINVAL);
	append(g, 1, 16, 1, 0);
	/* As if almost a whole segment had been appended: it is sparse. */
	g->length = SCR_SEGMENT_LIMIT - 100;
	append(g, 2, 100, 1, SCR_SEGMENT_LIMIT - 100);
	append(g, 3, 1, 2, 0);
	g->length = SCR_SEGMENT_LIMIT - 100;
	/* A piece that would cross the limit begins the next segment. */
	append(g, 4, 101, 3, 0);
	assert_reads(g, 2, 100, 1, SCR_SEGMENT_LIMIT - 100);
	assert_reads(g, 3, 1, 2, 0);
	assert_reads(g, 4, 101, 3, 0);
	assert_int_equal(scr_segments_size(g, 1), SCR_SEGMENT_LIMIT);
	scr_segments_free(g);
	scr_state_close(&s);
}

static void test_missing(void **state)
{
	struct scr_state s = state_here(*state);
	struct scr_segments *g = opened(&s, UINT32_MAX);
	uint64_t bytes = 1, room = 0;

	assert_missing(g, 1, 0, 100, 0);
	assert_int_equal(scr_segments_usage(g, &bytes, &room), 0);
	assert_int_equal(bytes, 0);
	assert_true(room > 0);
	assert_int_equal(scr_segments_write(g, 0, &why), 0);
	append(g, 1, 1000, 1, 0);
	assert_missing(g, 1, 0, 1500, 1000);
	assert_missing(g, 1, 5000, 10, 0);
	assert_missing(g, 0, 0, 10, 0);
	assert_missing(g, UINT32_MAX, 0, 10, 0);
	assert_missing(g, 2, 0, 10, 0);
	assert_int_equal(scr_segments_usage(g, &bytes, &room), 0);
	assert_int_equal(bytes, 1000);
	scr_segments_free(g);
	scr_state_close(&s);
}

/* ---- bad media --------------------------------------------------------------------------- */

struct bad_medium {
	uint64_t from, to;
	int err;
};

static ssize_t bad_pread(void *arg, int fd, void *buf, size_t len, off_t offset)
{
	const struct bad_medium *bad = arg;
	uint64_t at = (uint64_t)offset;

	if (at < bad->to && at + len > bad->from) {
		if (at >= bad->from) {
			errno = bad->err;
			return -1;
		}
		len = bad->from - at;
	}
	return pread(fd, buf, len, offset);
}

static void test_gaps(void **state)
{
	struct scr_state s = state_here(*state);
	struct scr_segments *g = opened(&s, 0);
	struct bad_medium bad = {2 << 20, (2 << 20) + 1024, EIO};
	struct scr_reader_ops ops = scr_reader_ops_system;
	uint32_t len = 4 << 20;
	uint8_t *p = malloc(len), *q = malloc(len);
	struct scr_parity_gap gap[4];
	unsigned int n = 0;

	ops.pread = bad_pread;
	ops.map = NULL;
	ops.arg = &bad;
	scr_segments_set_reader(g, &ops);
	append(g, 1, 512, 1, 0);
	append(g, 2, len, 1, 512);
	fill(q, len, 2);
	assert_int_equal(scr_segments_read(g, 1, 512, p, len, gap, 4, &n), 0);
	assert_int_equal(n, 1);
	assert_int_equal(gap[0].start, (2 << 20) - 512);
	assert_int_equal(gap[0].length, 1024);
	assert_int_equal(gap[0].err, EIO);
	memset(q + gap[0].start, 0, gap[0].length);
	assert_memory_equal(p, q, len);

	/* Trouble is no gap. */
	bad.err = ENOTCONN;
	assert_int_equal(scr_segments_read(g, 1, 512, p, len, gap, 4, &n), -ENOTCONN);
	free(p);
	free(q);
	scr_segments_free(g);
	scr_state_close(&s);
}

/* More gaps than there is room for: the last one covers the rest. */
static void test_many_gaps(void **state)
{
	struct scr_state s = state_here(*state);
	struct scr_segments *g = opened(&s, 0);
	struct bad_medium bad = {1024, 1536, EIO};
	struct scr_reader_ops ops = scr_reader_ops_system;
	uint8_t p[4096];
	struct scr_parity_gap gap[1];
	unsigned int n = 0;

	ops.pread = bad_pread;
	ops.map = NULL;
	ops.arg = &bad;
	scr_segments_set_reader(g, &ops);
	append(g, 1, 3000, 1, 0);
	assert_int_equal(scr_segments_read(g, 1, 0, p, 4096, gap, 1, &n), 0);
	assert_int_equal(n, 1);
	assert_int_equal(gap[0].start, 1024);
	assert_int_equal(gap[0].length, 4096 - 1024);
	scr_segments_free(g);
	scr_state_close(&s);
}

/* ---- write errors ------------------------------------------------------------------------ */

static int append_beyond_limit(void *arg)
{
	struct scr_segments *g = arg;
	struct rlimit limit = {3000, 3000};
	uint8_t p[4096] = {0};
	uint32_t segment = 0;
	uint64_t offset = 1;

	signal(SIGXFSZ, SIG_IGN);
	setrlimit(RLIMIT_FSIZE, &limit);
	if (scr_segments_append(g, p, 2000, &segment, &offset) != 0 || segment != 1)
		return 1;
	if (scr_segments_append(g, p, 2000, &segment, &offset) != -EFBIG)
		return 2;
	/* The first segment is given up. */
	if (scr_segments_append(g, p, 2000, &segment, &offset) != 0 || segment != 2 || offset != 0)
		return 3;
	return scr_segments_sync(g) == 0 ? 0 : 4;
}

static void test_write_error(void **state)
{
	struct scr_state s = state_here(*state);
	struct scr_segments *g = opened(&s, 0);

	assert_int_equal(sys_as(geteuid(), append_beyond_limit, g), 0);
	scr_segments_free(g);
	g = opened(&s, UINT32_MAX);
	assert_true(scr_segments_size(g, 1) >= 2000);
	assert_int_equal(scr_segments_size(g, 2), 2000);
	scr_segments_free(g);
	scr_state_close(&s);
}

/* ---- collecting -------------------------------------------------------------------------- */

static void test_collect(void **state)
{
	struct scr_state s = state_here(*state);
	struct scr_segments *g;
	struct scr_parity_use use[] = {{1, 10}, {3, 0}};
	struct scr_trailer t = trailer_with(use, 2);

	for (uint32_t i = 1; i <= 4; i++) {
		g = opened(&s, 0);
		append(g, (uint8_t)i, 10, i, 0);
		scr_segments_free(g);
	}
	sys_touch("parity/junk.tmp");
	sys_touch("parity/README");
	g = opened(&s, 0);
	append(g, 5, 10, 5, 0);
	assert_reads(g, 2, 10, 2, 0);
	assert_int_equal(scr_segments_collect(g, &t), 0);
	assert_reads(g, 1, 10, 1, 0);
	assert_missing(g, 2, 0, 10, 0);
	assert_missing(g, 3, 0, 10, 0);
	assert_missing(g, 4, 0, 10, 0);
	assert_reads(g, 5, 10, 5, 0);
	assert_int_equal(access("parity/junk.tmp", F_OK), -1);
	assert_int_equal(access("parity/README", F_OK), 0);
	scr_segments_free(g);
	scr_state_close(&s);
}

/* ---- safety ------------------------------------------------------------------------------ */

static void assert_refused(const struct scr_state *s)
{
	struct scr_segments *g;

	why.text[0] = '\0';
	assert_int_equal(scr_segments_open(s, false, &g, &why), -EPERM);
	assert_non_null(strstr(why.text, "parity"));
}

static void test_unsafe(void **state)
{
	struct scr_state s = state_here(*state);
	struct scr_segments *g = opened(&s, 0);

	append(g, 1, 10, 1, 0);
	scr_segments_free(g);
	chmod("parity", 0770);
	assert_refused(&s);
	chmod("parity", 0700);
	chmod("parity/00000001", 0666);
	assert_refused(&s);
	chmod("parity/00000001", 0600);
	assert_int_equal(link("parity/00000001", "other"), 0);
	assert_refused(&s);
	unlink("other");
	assert_int_equal(symlink("/dev/zero", "parity/00000002"), 0);
	assert_refused(&s);
	unlink("parity/00000002");

	/* It became unsafe later: reading refuses too. */
	g = opened(&s, UINT32_MAX);
	chmod("parity/00000001", 0666);
	{
		struct scr_parity_gap gap[1];
		unsigned int n;
		uint8_t p[10];

		assert_int_equal(scr_segments_read(g, 1, 0, p, 10, gap, 1, &n), -EPERM);
	}
	scr_segments_free(g);
	assert_int_equal(rename("parity", "elsewhere"), 0);
	assert_int_equal(symlink("elsewhere", "parity"), 0);
	assert_true(scr_segments_open(&s, false, &g, &why) < 0);
	scr_state_close(&s);
}

/* ---- threads ----------------------------------------------------------------------------- */

static void *append_many(void *arg)
{
	struct scr_segments *g = arg;
	uint8_t p[512], q[512];

	for (unsigned int i = 0; i < 200; i++) {
		struct scr_parity_gap gap[1];
		unsigned int n;
		uint32_t segment;
		uint64_t offset;

		fill(p, sizeof(p), (uint8_t)i);
		if (scr_segments_append(g, p, sizeof(p), &segment, &offset) < 0)
			return arg;
		if (i % 50 == 0 && scr_segments_sync(g) < 0)
			return arg;
		if (scr_segments_read(g, segment, offset, q, sizeof(q), gap, 1, &n) < 0 || n > 0 ||
		    memcmp(p, q, sizeof(p)) != 0)
			return arg;
	}
	return NULL;
}

static void test_threads(void **state)
{
	struct scr_state s = state_here(*state);
	struct scr_segments *g = opened(&s, 0);
	pthread_t id[8];
	void *bad;

	for (unsigned int i = 0; i < 8; i++)
		assert_int_equal(pthread_create(&id[i], NULL, append_many, g), 0);
	for (unsigned int i = 0; i < 8; i++) {
		pthread_join(id[i], &bad);
		assert_null(bad);
	}
	assert_int_equal(scr_segments_size(g, 1), 8 * 200 * 512);
	scr_segments_free(g);
	scr_state_close(&s);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, sys_setup, sys_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_append_and_read),
		TEST(test_limit),
		TEST(test_missing),
		TEST(test_gaps),
		TEST(test_many_gaps),
		TEST(test_write_error),
		TEST(test_collect),
		TEST(test_unsafe),
		TEST(test_threads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

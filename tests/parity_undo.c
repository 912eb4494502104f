/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Undo entries: written, loaded, marked; cut short or damaged anywhere, they are never misread. */
#include <config.h>
#include "sys_util.h"

#include <stdbool.h>

#include "parity/undo.h"

static struct scr_why why;

static struct scr_state state_here(const char *dir)
{
	struct scr_state s = {.dirfd = sys_opendir("."), .path = strdup(dir)};

	chmod(".", 0700);
	return s;
}

static struct scr_undo_log *opened(const struct scr_state *s)
{
	struct scr_undo_log *log;

	assert_int_equal(scr_undo_log_open(s, false, &log, &why), 0);
	return log;
}

static const uint8_t old_bytes[3000] = {1, 2, 3};

/* A file of 10000 bytes: something readable, something not, and an end that was cut off. */
static struct scr_undo_entry sample(void)
{
	struct scr_undo_entry e = {
		.created_ns = 1234,
		.stamp = {9000, 77, -5, 6},
		.size_after = 10000,
		.extent = 0,
		.unit = 4096,
		.damage_kind = SCR_REC_ROT,
		.since_ns = 99,
		.fs = {strdup("ext4"), strdup("u-u"), strdup(""), 42},
		.path = strdup("a/b"),
		.path_len = 3,
		.count = 3,
		.fd = -1,
	};

	e.ranges = calloc(3, sizeof(*e.ranges));
	e.ranges[0] = (struct scr_undo_range){.offset = 0, .length = 3000, .old_length = 3000,
					      .check = {0x12345678, 0xabcd}, .old = old_bytes};
	e.ranges[1] = (struct scr_undo_range){.offset = 4096, .length = 512, .old_length = 512,
					      .flags = SCR_UNDO_UNREADABLE};
	e.ranges[2] = (struct scr_undo_range){.offset = 8192, .length = 1808, .old_length = 808,
					      .old = old_bytes + 100};
	return e;
}

static void assert_old(const struct scr_undo_entry *e)
{
	uint8_t buf[3000];

	assert_int_equal(scr_undo_old(e, 0, buf), 0);
	assert_memory_equal(buf, old_bytes, 3000);
	assert_int_equal(scr_undo_old(e, 1, buf), -ENODATA);
	assert_int_equal(scr_undo_old(e, 2, buf), 0);
	assert_memory_equal(buf, old_bytes + 100, 808);
}

static uint32_t create(struct scr_undo_log *log)
{
	struct scr_undo_entry e = sample();
	uint32_t number;

	assert_int_equal(scr_undo_create(log, &e, 5000, &why), 0);
	number = e.number;
	assert_old(&e);
	scr_undo_entry_free(&e);
	return number;
}

static void assert_loads(struct scr_undo_log *log, uint32_t number, bool all,
			 enum scr_undo_state state)
{
	struct scr_undo_entry e;

	assert_int_equal(scr_undo_load(log, number, all, &e, &why), 0);
	assert_string_equal(e.path, "a/b");
	assert_string_equal(e.fs.type, "ext4");
	assert_string_equal(e.fs.uuid, "u-u");
	assert_int_equal(e.fs.fsid, 42);
	assert_int_equal(e.stamp.mtime_ns, -5);
	assert_int_equal(e.size_after, 10000);
	assert_int_equal(e.since_ns, 99);
	assert_int_equal(e.count, 3);
	assert_int_equal(e.ranges[0].check.crc, 0x12345678);
	assert_int_equal(e.ranges[0].check.inet, 0xabcd);
	assert_int_equal(e.ranges[1].flags, SCR_UNDO_UNREADABLE);
	assert_int_equal(e.ranges[2].offset, 8192);
	assert_int_equal(e.mark.state, state);
	assert_old(&e);
	scr_undo_entry_free(&e);
}

static void mark(struct scr_undo_log *log, uint32_t number, enum scr_undo_state state)
{
	struct scr_stamp stamp = {10000, 77, -5, 8};
	struct scr_undo_entry e;

	assert_int_equal(scr_undo_load(log, number, true, &e, &why), 0);
	scr_undo_park(&e);
	assert_int_equal(scr_undo_mark(log, &e, state, &stamp, 6000), 0);
	scr_undo_entry_free(&e);
}

static void test_states(void **state)
{
	struct scr_state s = state_here(*state);
	struct scr_undo_log *log = opened(&s);
	const uint32_t *numbers;
	struct scr_undo_counts n;
	uint32_t count;

	assert_int_equal(scr_undo_log_list(log, &numbers, &count), 0);
	assert_int_equal(count, 0);
	assert_int_equal(create(log), 1);
	assert_int_equal(create(log), 2);
	assert_int_equal(create(log), 3);
	assert_loads(log, 1, true, SCR_UNDO_OPEN);
	mark(log, 1, SCR_UNDO_DONE);
	assert_loads(log, 1, true, SCR_UNDO_DONE);
	assert_loads(log, 1, false, SCR_UNDO_DONE);
	mark(log, 1, SCR_UNDO_UNDOING);
	mark(log, 1, SCR_UNDO_UNDONE);
	assert_loads(log, 1, true, SCR_UNDO_UNDONE);
	mark(log, 2, SCR_UNDO_DONE);
	assert_int_equal(scr_undo_count(log, &n), 0);
	assert_int_equal(n.open, 1);
	assert_int_equal(n.done, 1);
	assert_int_equal(n.undone, 1);
	assert_int_equal(n.oldest_ns, 1234);
	assert_int_equal(scr_undo_remove(log, 2), 0);
	assert_int_equal(scr_undo_log_list(log, &numbers, &count), 0);
	assert_int_equal(count, 2);
	assert_int_equal(numbers[1], 3);
	/* Numbers are not used again while a higher one is there. */
	assert_int_equal(create(log), 4);
	scr_undo_log_free(log);
	scr_state_close(&s);
}

static size_t read_entry(uint8_t **p)
{
	struct stat st;
	int fd = open("undo/00000001", O_RDONLY);

	assert_true(fd >= 0);
	assert_int_equal(fstat(fd, &st), 0);
	*p = malloc((size_t)st.st_size);
	assert_int_equal(read(fd, *p, (size_t)st.st_size), st.st_size);
	close(fd);
	return (size_t)st.st_size;
}

static int load(struct scr_undo_log *log, bool all, enum scr_undo_state *state)
{
	struct scr_undo_entry e;
	int r = scr_undo_load(log, 1, all, &e, &why);

	if (r == 0) {
		*state = e.mark.state;
		scr_undo_entry_free(&e);
	}
	return r;
}

/* Cut anywhere: never finished, or the state before. */
static void test_cut(void **state)
{
	struct scr_state s = state_here(*state);
	struct scr_undo_log *log = opened(&s);
	enum scr_undo_state is = SCR_UNDO_UNDONE;
	size_t open_length, len;
	uint8_t *p;

	create(log);
	open_length = read_entry(&p);
	free(p);
	mark(log, 1, SCR_UNDO_DONE);
	len = read_entry(&p);
	for (size_t n = 0; n < len; n++) {
		sys_write("undo/00000001", p, n, 0600);
		if (n < open_length) {
			assert_int_equal(load(log, true, &is), -ENODATA);
			continue;
		}
		assert_int_equal(load(log, true, &is), 0);
		assert_int_equal(is, SCR_UNDO_OPEN);
	}
	/* What was cut short is not in the way of the next state. */
	mark(log, 1, SCR_UNDO_DONE);
	assert_loads(log, 1, true, SCR_UNDO_DONE);
	free(p);
	scr_undo_log_free(log);
	scr_state_close(&s);
}

static void flip(int fd, uint8_t *p, size_t bit)
{
	p[bit / 8] ^= (uint8_t)(1u << bit % 8);
	assert_int_equal(pwrite(fd, p + bit / 8, 1, (off_t)(bit / 8)), 1);
}

/*
 * Every bit, in state OPEN and in state DONE. Damaged before the last state: refused, and never
 * taken for unfinished, which would be removed. In the last one: as if that had been cut off, except
 * that an entry always has its first.
 */
static void test_flips(void **state)
{
	struct scr_state s = state_here(*state);
	struct scr_undo_log *log = opened(&s);
	size_t last = 0, len;
	uint8_t *p;
	int fd;

	create(log);
	for (unsigned int done = 0; done < 2; done++) {
		len = read_entry(&p);
		fd = open("undo/00000001", O_WRONLY);
		for (size_t bit = 0; bit < len * 8; bit++) {
			enum scr_undo_state is = SCR_UNDO_UNDONE;
			bool before = !done || bit / 8 < last;

			flip(fd, p, bit);
			assert_int_equal(load(log, true, &is), before ? -EBADMSG : 0);
			assert_int_equal(is, before ? SCR_UNDO_UNDONE : SCR_UNDO_OPEN);
			flip(fd, p, bit);
		}
		close(fd);
		free(p);
		assert_loads(log, 1, true, done ? SCR_UNDO_DONE : SCR_UNDO_OPEN);
		last = len;
		if (!done)
			mark(log, 1, SCR_UNDO_DONE);
	}
	scr_undo_log_free(log);
	scr_state_close(&s);
}

/* Sectors of the first state that never reached the medium. */
static void test_torn_state(void **state)
{
	struct scr_state s = state_here(*state);
	struct scr_undo_log *log = opened(&s);
	enum scr_undo_state is = SCR_UNDO_UNDONE;
	uint8_t *p, *torn;
	size_t len, edge;

	create(log);
	len = read_entry(&p);
	edge = len / 512 * 512;
	torn = malloc(len);
	if (edge <= len - 60)
		edge = len; /* in one sector: all of it or nothing */
	memcpy(torn, p, len);
	memset(torn + len - 60, 0, edge - (len - 60));
	sys_write("undo/00000001", torn, len, 0600);
	assert_int_equal(load(log, true, &is), -ENODATA);
	torn[len - 60] = 1;
	sys_write("undo/00000001", torn, len, 0600);
	assert_int_equal(load(log, true, &is), -EBADMSG);
	free(torn);
	free(p);
	scr_undo_log_free(log);
	scr_state_close(&s);
}

static void assert_invalid(struct scr_undo_log *log, struct scr_undo_entry e)
{
	assert_int_equal(scr_undo_create(log, &e, 1, &why), -EINVAL);
	scr_undo_entry_free(&e);
}

/* What the reader would refuse is never written. */
static void test_invalid(void **state)
{
	struct scr_state s = state_here(*state);
	struct scr_undo_log *log = opened(&s);
	struct scr_undo_entry e = sample();

	e.ranges[1].offset = 2999; /* overlaps */
	assert_invalid(log, e);
	e = sample();
	e.size_after = 9999; /* new bytes behind the end */
	assert_invalid(log, e);
	e = sample();
	e.stamp.size = 8999; /* old ones */
	assert_invalid(log, e);
	e = sample();
	e.ranges[1].length = e.ranges[1].old_length = 0;
	assert_invalid(log, e);
	assert_int_equal(access("undo/00000001", F_OK), -1);
	scr_undo_log_free(log);
	scr_state_close(&s);
}

static void test_unsafe(void **state)
{
	struct scr_state s = state_here(*state);
	struct scr_undo_log *log = opened(&s);

	create(log);
	scr_undo_log_free(log);
	chmod("undo/00000001", 0620);
	assert_int_equal(scr_undo_log_open(&s, false, &log, &why), -EPERM);
	chmod("undo/00000001", 0600);
	assert_int_equal(rename("undo", "real"), 0);
	assert_int_equal(symlink("real", "undo"), 0);
	assert_true(scr_undo_log_open(&s, false, &log, &why) < 0);
	scr_state_close(&s);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, sys_setup, sys_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_states),
		TEST(test_cut),
		TEST(test_flips),
		TEST(test_torn_state),
		TEST(test_invalid),
		TEST(test_unsafe),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Repair on media that can't be read, can't be written, or lie. */
#include <config.h>
#include "sys_util.h"

#include <stdbool.h>

#include "base/compiler.h"
#include "pass/ctx.h"

#define SIZE 300000u

enum fault { NONE, ERROR, SHORT, LIE, LIE_ALWAYS };

struct medium {
	/* Writing. */
	enum fault fault;
	int err;
	unsigned int good, writes; /* so many go well before */
	unsigned int failures;     /* then so many fail; 0: all */
	/* Reading: these bytes of the file can't be read until they have been written. */
	off_t from, to;
	bool unreadable;
	off_t wrong;               /* LIE: this byte reads otherwise */
	bool wrote;
};

struct test {
	struct medium medium;
	unsigned int how[SCR_REPAIR_HOWS], trouble;
	char why[512];
	struct scr_summary sum;
	uint8_t data[SIZE];
};

/* ---- the medium -------------------------------------------------------------------------- */

static int faulty_open(void *arg, int fd, int flags)
{
	return scr_writer_ops_system.open(arg, fd, flags & ~O_DIRECT);
}

static ssize_t faulty_pwrite(void *arg, int fd, const void *buf, size_t len, off_t offset)
{
	struct medium *m = arg;
	unsigned int n = m->writes++;
	bool fails = n >= m->good && (m->failures == 0 || n < m->good + m->failures);

	m->wrote = true;
	if (m->fault == ERROR && fails) {
		errno = m->err;
		return -1;
	}
	if (m->fault == SHORT && len > 1000)
		len = 1000;
	if (m->unreadable && offset <= m->from && offset + (off_t)len >= m->to)
		m->unreadable = false;
	return pwrite(fd, buf, len, offset);
}

static ssize_t faulty_pread(void *arg, int fd, void *buf, size_t len, off_t offset)
{
	struct medium *m = arg;
	struct stat st;
	ssize_t n;

	if (m->unreadable && offset < m->to && offset + (off_t)len > m->from &&
	    fstat(fd, &st) == 0 && st.st_size == SIZE) {
		errno = EIO;
		return -1;
	}
	n = pread(fd, buf, len, offset);
	if (m->wrote && (m->fault == LIE || m->fault == LIE_ALWAYS) && n > 0 &&
	    m->wrong >= offset && m->wrong < offset + n) {
		((uint8_t *)buf)[m->wrong - offset] ^= 1;
		m->fault = m->fault == LIE ? NONE : LIE_ALWAYS;
	}
	return n;
}

static int faulty_fsync(void *arg, int fd)
{
	struct medium *m = arg;

	if (m->fault == ERROR && m->good == 1000 && m->wrote) {
		errno = m->err;
		return -1;
	}
	return scr_writer_ops_system.fsync(NULL, fd);
}

static int plain_ftruncate(void *arg SCR_UNUSED, int fd, off_t size)
{
	return ftruncate(fd, size);
}

static int plain_futimens(void *arg SCR_UNUSED, int fd, const struct timespec t[2])
{
	return futimens(fd, t);
}

/* ---- the target -------------------------------------------------------------------------- */

static void on_event(void *arg, const struct scr_event *ev)
{
	struct test *t = arg;

	if (ev->type == SCR_EV_REPAIR) {
		t->how[ev->u.repair->how]++;
		snprintf(t->why, sizeof(t->why), "%s", ev->u.repair->why ? ev->u.repair->why : "");
	} else if (ev->type == SCR_EV_TROUBLE) {
		t->trouble += !ev->u.trouble->warning;
	}
}

typedef int verb_fn(struct scr_ctx *ctx, struct scr_summary *sum);

static int do_run(struct scr_ctx *ctx, struct scr_summary *sum)
{
	return scr_run(ctx, "t", sum);
}

static int do_repair(struct scr_ctx *ctx, struct scr_summary *sum)
{
	return scr_repair(ctx, "t", NULL, 0, sum);
}

static int call(struct test *t, verb_fn *verb, struct scr_options o)
{
	/* ctime is ignored: so the test can make rot with an ordinary write. */
	static const char *const settings[] = {"ctime=ignore", NULL};
	struct scr_reader_ops reader = scr_reader_ops_system;
	struct scr_writer_ops writer = {faulty_open, faulty_pwrite, faulty_pread, plain_ftruncate,
					faulty_fsync, plain_futimens, &t->medium};
	struct scr_ctx *ctx;
	int r;

	o.threads = 1;
	if (access("t/.bitscrub", F_OK) < 0)
		o.settings = settings;
	reader.pread = faulty_pread;
	reader.map = NULL;
	reader.probe = NULL;
	reader.open_direct = reader.close_direct = NULL;
	reader.resident = NULL;
	reader.arg = &t->medium;
	ctx = scr_new(&o, on_event, t);
	assert_non_null(ctx);
	ctx->reader_ops = &reader;
	ctx->writer_ops = &writer;
	memset(t->how, 0, sizeof(t->how));
	t->trouble = 0;
	t->why[0] = '\0';
	r = verb(ctx, &t->sum);
	scr_free(ctx);
	return r;
}

static int run(struct test *t)
{
	return call(t, do_run, (struct scr_options){0});
}

static int repair(struct test *t)
{
	return call(t, do_repair, (struct scr_options){0});
}

static int undo(struct test *t)
{
	return call(t, do_repair, (struct scr_options){.undo = true});
}

static void put(const void *p, size_t len, off_t at)
{
	struct timespec past[2] = {{.tv_sec = 1000000000}, {.tv_sec = 1000000000}};
	int fd = open("t/f", O_WRONLY | O_CREAT, 0644);

	assert_true(fd >= 0);
	assert_int_equal(pwrite(fd, p, len, at), len);
	assert_int_equal(futimens(fd, past), 0);
	close(fd);
}

static bool holds(const uint8_t *p, size_t len)
{
	uint8_t *q = malloc(SIZE + 1);
	struct stat st;
	int fd = open("t/f", O_RDONLY);
	bool same;

	assert_true(fd >= 0);
	same = read(fd, q, SIZE + 1) == (ssize_t)len && memcmp(p, q, len) == 0;
	assert_int_equal(fstat(fd, &st), 0);
	/* Whatever happens, nobody's time moves. */
	assert_int_equal(st.st_mtim.tv_sec, 1000000000);
	close(fd);
	free(q);
	return same;
}

static void assert_exit(const struct test *t, int bits)
{
	if (t->sum.exit != bits)
		print_message("# exit %d, not %d; %s\n", t->sum.exit, bits, t->why);
	assert_int_equal(t->sum.exit, bits);
}

/* A recorded file, in which then @len bytes at @at rot. */
static struct test *rotten(off_t at, size_t len)
{
	struct test *t = calloc(1, sizeof(*t));
	uint8_t *junk = malloc(len ? len : 1);

	assert_non_null(t);
	assert_int_equal(mkdir("t", 0755), 0);
	for (uint32_t i = 0; i < SIZE; i++)
		t->data[i] = (uint8_t)((i * 2654435761u) >> 13);
	put(t->data, SIZE, 0);
	assert_int_equal(run(t), 0);
	assert_exit(t, 0);
	for (size_t i = 0; i < len; i++)
		junk[i] = (uint8_t)(t->data[(size_t)at + i] ^ (0x5a + i % 3));
	if (len) {
		put(junk, len, at);
		assert_int_equal(run(t), 0);
		assert_exit(t, SCR_EXIT_DAMAGE);
	}
	free(junk);
	return t;
}

static void assert_sound(struct test *t)
{
	memset(&t->medium, 0, sizeof(t->medium));
	assert_int_equal(run(t), 0);
	assert_exit(t, 0);
	assert_int_equal(t->sum.verdicts[SCR_OK], 1);
	assert_true(holds(t->data, SIZE));
}

/* ---- tests ------------------------------------------------------------------------------- */

static void test_plain(void **state)
{
	struct test *t = rotten(50000, 3000);

	(void)state;
	assert_int_equal(repair(t), 0);
	assert_exit(t, SCR_EXIT_REPAIRED);
	assert_int_equal(t->how[SCR_REPAIR_PARITY], 1);
	assert_sound(t);
	free(t);
}

static void test_short_writes(void **state)
{
	struct test *t = rotten(50000, 3000);

	(void)state;
	t->medium.fault = SHORT;
	assert_int_equal(repair(t), 0);
	assert_exit(t, SCR_EXIT_REPAIRED);
	assert_sound(t);
	free(t);
}

/* The first write fails, the others go well: what stood there is put back. */
static void test_errors_taken_back(void **state)
{
	static const int errors[] = {ENOSPC, EIO, EROFS, EDQUOT};
	struct test *t = rotten(50000, 3000);
	uint8_t *bad = malloc(SIZE);
	int fd = open("t/f", O_RDONLY);

	(void)state;
	assert_int_equal(read(fd, bad, SIZE), SIZE);
	close(fd);
	for (size_t i = 0; i < SCR_ARRAY_SIZE(errors); i++) {
		t->medium = (struct medium){.fault = ERROR, .err = errors[i], .failures = 1};
		assert_int_equal(repair(t), 0);
		assert_exit(t, SCR_EXIT_DAMAGE | SCR_EXIT_TROUBLE);
		assert_int_equal(t->how[SCR_REPAIR_NOT], 1);
		assert_non_null(strstr(t->why, "put back"));
		assert_true(holds(bad, SIZE));
	}
	assert_int_equal(access("t/.bitscrub/undo/00000001", F_OK), -1);
	t->medium = (struct medium){0};
	assert_int_equal(repair(t), 0);
	assert_exit(t, SCR_EXIT_REPAIRED);
	assert_sound(t);
	free(bad);
	free(t);
}

/* Nothing can be written any more, after the first piece: under repair, and completed later. */
static void test_errors_that_stay(void **state)
{
	struct test *t = rotten(50000, 3000);
	struct stat st;

	(void)state;
	t->medium = (struct medium){.fault = ERROR, .err = EIO, .good = 1000};
	assert_true(repair(t) < 0);
	assert_int_equal(t->sum.exit & SCR_EXIT_TROUBLE, SCR_EXIT_TROUBLE);
	assert_int_equal(access("t/.bitscrub/undo/00000001", F_OK), 0);
	/* Neither run records it while it can't be completed ... */
	t->medium.fault = ERROR;
	run(t);
	assert_int_equal(t->sum.exit & SCR_EXIT_TROUBLE, SCR_EXIT_TROUBLE);
	assert_int_equal(stat("t/f", &st), 0);
	/* ... nor is anything lost when it can. */
	t->medium = (struct medium){0};
	assert_int_equal(repair(t), 0);
	assert_int_equal(t->sum.exit & ~SCR_EXIT_REPAIRED, 0);
	assert_sound(t);
	free(t);
}

/* What is read back is not what was written: taken back. */
static void test_lies(void **state)
{
	struct test *t = rotten(50000, 3000);

	(void)state;
	t->medium = (struct medium){.fault = LIE, .wrong = 51000};
	assert_int_equal(repair(t), 0);
	assert_exit(t, SCR_EXIT_DAMAGE | SCR_EXIT_TROUBLE);
	assert_int_equal(t->how[SCR_REPAIR_NOT], 1);
	assert_non_null(strstr(t->why, "does not keep"));
	t->medium = (struct medium){0};
	assert_int_equal(repair(t), 0);
	assert_exit(t, SCR_EXIT_REPAIRED);
	assert_sound(t);
	free(t);
}

/* And it lies about the old bytes too: under repair until it does not. */
static void test_lies_always(void **state)
{
	struct test *t = rotten(50000, 3000);

	(void)state;
	t->medium = (struct medium){.fault = LIE_ALWAYS, .wrong = 51000};
	assert_true(repair(t) < 0);
	assert_int_equal(t->sum.exit & SCR_EXIT_TROUBLE, SCR_EXIT_TROUBLE);
	t->medium = (struct medium){0};
	assert_int_equal(repair(t), 0);
	assert_sound(t);
	free(t);
}

static void test_unreadable(void **state)
{
	struct test *t = rotten(0, 0);

	(void)state;
	t->medium = (struct medium){.unreadable = true, .from = 102400, .to = 102400 + 512};
	assert_int_equal(run(t), 0);
	assert_exit(t, SCR_EXIT_DAMAGE);
	assert_int_equal(t->sum.verdicts[SCR_UNREADABLE], 1);
	assert_int_equal(repair(t), 0);
	assert_exit(t, SCR_EXIT_REPAIRED);
	/* The cache may have it still. */
	assert_int_equal(t->how[SCR_REPAIR_PARITY] + t->how[SCR_REPAIR_CACHE], 1);
	assert_false(t->medium.unreadable);
	assert_true(holds(t->data, SIZE));
	/* Undo has nothing to put back but what could be read. */
	assert_int_equal(undo(t), 0);
	assert_int_equal(t->how[SCR_REPAIR_KEPT] + t->how[SCR_REPAIR_NOT], 1);
	assert_sound(t);
	free(t);
}

/* Undo, with each of its writes failing once: in the end the rot is back. */
static void test_undo_errors(void **state)
{
	struct test *t = rotten(50000, 15000);
	uint8_t *bad = malloc(SIZE);
	int fd = open("t/f", O_RDONLY);

	(void)state;
	assert_int_equal(read(fd, bad, SIZE), SIZE);
	close(fd);
	assert_int_equal(repair(t), 0);
	assert_exit(t, SCR_EXIT_REPAIRED);
	t->medium = (struct medium){.fault = ERROR, .err = EIO};
	assert_true(undo(t) < 0);
	assert_int_equal(t->sum.exit & SCR_EXIT_TROUBLE, SCR_EXIT_TROUBLE);
	t->medium = (struct medium){0};
	run(t);
	assert_int_equal(t->sum.exit & SCR_EXIT_DAMAGE, SCR_EXIT_DAMAGE);
	assert_true(holds(bad, SIZE));
	assert_int_equal(repair(t), 0);
	assert_exit(t, SCR_EXIT_REPAIRED);
	assert_sound(t);
	free(bad);
	free(t);
}

/* What changed after the repair is not put back. */
static void test_undo_refuses(void **state)
{
	struct test *t = rotten(50000, 3000);
	uint8_t x = (uint8_t)(t->data[51000] ^ 7);

	(void)state;
	assert_int_equal(repair(t), 0);
	put(&x, 1, 51000);
	assert_int_equal(undo(t), 0);
	assert_int_equal(t->how[SCR_REPAIR_UNDONE], 0);
	assert_int_equal(t->how[SCR_REPAIR_NOT], 1);
	t->data[51000] ^= 7;
	assert_true(holds(t->data, SIZE));
	free(t);
}

static void test_dry_run(void **state)
{
	struct test *t = rotten(50000, 3000);

	(void)state;
	t->medium = (struct medium){.fault = ERROR, .err = EIO};
	assert_int_equal(call(t, do_repair, (struct scr_options){.dry_run = true}), 0);
	assert_exit(t, SCR_EXIT_DAMAGE);
	assert_int_equal(t->how[SCR_REPAIR_PARITY], 1);
	assert_int_equal(t->medium.writes, 0);
	assert_int_equal(access("t/.bitscrub/undo", F_OK), -1);
	free(t);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, sys_setup, sys_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_plain),
		TEST(test_short_writes),
		TEST(test_errors_taken_back),
		TEST(test_errors_that_stay),
		TEST(test_lies),
		TEST(test_lies_always),
		TEST(test_unreadable),
		TEST(test_undo_errors),
		TEST(test_undo_refuses),
		TEST(test_dry_run),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

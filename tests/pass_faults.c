/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Whole passes over media, cables, memory and kernels that err: what is damage, what is not. */
#include <config.h>

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/compiler.h"
#include "pass/ctx.h"

#define FILES 40
#define SIZE 20000u /* five blocks of 4096 */

/* ---- the faulty medium ------------------------------------------------------------------- */

enum fault { NONE, FLIP_ONCE, FLIP, MEDIUM, GONE, SHORT, INTERRUPT };

struct medium {
	enum fault fault;
	ino_t first, last;     /* inodes of the files that are hit; 0: all */
	off_t from, to;        /* the bytes that are hit */
	int err;
	unsigned int reads, hits;
	unsigned int good;     /* GONE: so many reads go well before the device goes away */
	dev_t other_dev;       /* added to st_dev of what is hit, by fstat */
	mode_t other_type;     /* and this to its mode */
};

static bool is_hit(const struct medium *m, int fd, off_t offset, size_t len)
{
	struct stat st;

	if (m->from >= offset + (off_t)len || m->to <= offset || fstat(fd, &st) < 0)
		return false;
	return m->first == 0 || (st.st_ino >= m->first && st.st_ino <= m->last);
}

static ssize_t faulty_pread(void *arg, int fd, void *buf, size_t len, off_t offset)
{
	struct medium *m = arg;
	bool hit = is_hit(m, fd, offset, len);
	ssize_t n;

	m->reads++;
	m->hits += hit;
	if (m->fault == INTERRUPT && m->reads % 2) {
		errno = EINTR;
		return -1;
	}
	if ((m->fault == MEDIUM && hit) || (m->fault == GONE && m->reads > m->good)) {
		errno = m->err;
		return -1;
	}
	if (m->fault == SHORT && len > 1000)
		len = 1000;
	n = pread(fd, buf, len, offset);
	if (hit && (m->fault == FLIP || (m->fault == FLIP_ONCE && m->hits == 1)) &&
	    n > m->from - offset)
		((uint8_t *)buf)[m->from - offset] ^= 0x40;
	return n;
}

static off_t plain_lseek(void *arg SCR_UNUSED, int fd, off_t offset, int whence)
{
	return lseek(fd, offset, whence);
}

static int other_fstat(void *arg, int fd, struct stat *st)
{
	const struct medium *m = arg;
	int r = fstat(fd, st);

	if (r == 0 && st->st_ino >= m->first && st->st_ino <= m->last) {
		st->st_dev += m->other_dev;
		st->st_mode |= m->other_type;
	}
	return r;
}

static int plain_fadvise(void *arg SCR_UNUSED, int fd SCR_UNUSED, off_t offset SCR_UNUSED,
			 off_t len SCR_UNUSED, int advice SCR_UNUSED)
{
	return 0;
}

/* ---- the tree ---------------------------------------------------------------------------- */

struct seen {
	unsigned int damage[SCR_DAMAGE_KINDS];
	struct scr_damage last;
	unsigned int trouble, warnings;
	char message[512];
};

struct tree {
	char dir[64];
	struct medium medium;
	struct scr_kernels kernels;
	bool use_kernels;
	struct seen seen;
	struct scr_summary sum;
};

static void on_event(void *arg, const struct scr_event *ev)
{
	struct seen *s = arg;

	if (ev->type == SCR_EV_DAMAGE) {
		s->damage[ev->u.damage->kind]++;
		s->last = *ev->u.damage;
	} else if (ev->type == SCR_EV_TROUBLE) {
		*(ev->u.trouble->warning ? &s->warnings : &s->trouble) += 1;
		snprintf(s->message, sizeof(s->message), "%s", ev->u.trouble->message);
	}
}

static void write_file(const char *dir, unsigned int i)
{
	struct timespec past[2] = {{.tv_sec = 1000000000}, {.tv_sec = 1000000000}};
	uint8_t data[SIZE];
	char path[128];
	int fd;

	for (unsigned int j = 0; j < SIZE; j++)
		data[j] = (uint8_t)((j * 2654435761u + i * 40503u) >> 13);
	snprintf(path, sizeof(path), "%s/f%02u", dir, i);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, data, SIZE), SIZE);
	assert_int_equal(futimens(fd, past), 0);
	close(fd);
}

static ino_t inode(const struct tree *t, unsigned int i)
{
	char path[128];
	struct stat st;

	snprintf(path, sizeof(path), "%s/f%02u", t->dir, i);
	assert_int_equal(stat(path, &st), 0);
	return st.st_ino;
}

/* One pass with the medium as it is. ctime is ignored, so that records are not racy. */
static int run(struct tree *t, bool first)
{
	static const char *const settings[] = {"ctime=ignore", "block-size=4096", NULL};
	struct scr_options o = {.threads = 1, .settings = first ? settings : NULL};
	struct scr_reader_ops ops = {.pread = faulty_pread, .lseek = plain_lseek,
				     .fstat = other_fstat, .fadvise = plain_fadvise,
				     .arg = &t->medium};
	struct scr_ctx *ctx = scr_new(&o, on_event, &t->seen);
	int r;

	assert_non_null(ctx);
	memset(&t->seen, 0, sizeof(t->seen));
	t->medium.reads = t->medium.hits = 0;
	ctx->reader_ops = &ops;
	if (t->use_kernels)
		ctx->kernels = &t->kernels;
	r = scr_run(ctx, t->dir, &t->sum);
	scr_free(ctx);
	return r;
}

static int setup(void **state)
{
	struct tree *t = calloc(1, sizeof(*t));

	strcpy(t->dir, "faults-XXXXXX");
	assert_non_null(mkdtemp(t->dir));
	for (unsigned int i = 0; i < FILES; i++)
		write_file(t->dir, i);
	assert_int_equal(run(t, true), 0);
	assert_int_equal(t->sum.exit, 0);
	assert_int_equal(t->sum.verdicts[SCR_NEW], FILES);
	*state = t;
	return 0;
}

static int teardown(void **state)
{
	struct tree *t = *state;
	char command[128];

	snprintf(command, sizeof(command), "rm -rf '%s'", t->dir);
	assert_int_equal(system(command), 0);
	free(t);
	return 0;
}

static void hit(struct tree *t, enum fault fault, unsigned int file, off_t from, off_t to)
{
	t->medium = (struct medium){.fault = fault, .from = from, .to = to, .err = EIO};
	t->medium.first = t->medium.last = inode(t, file);
}

/* After the fault is gone the tree is as sound as ever: nothing was recorded of it. */
static void expect_sound(struct tree *t)
{
	t->medium = (struct medium){.fault = NONE};
	t->use_kernels = false;
	assert_int_equal(run(t, false), 0);
	assert_int_equal(t->sum.exit, 0);
	assert_int_equal(t->sum.verdicts[SCR_OK], FILES);
	assert_int_equal(t->sum.files_damaged, 0);
}

/* ---- the cases --------------------------------------------------------------------------- */

static void test_flip_in_first_read_is_transient(void **state)
{
	struct tree *t = *state;

	hit(t, FLIP_ONCE, 7, 5000, 5001);
	assert_int_equal(run(t, false), 0);
	assert_int_equal(t->sum.transient, 1);
	assert_int_equal(t->seen.warnings, 1);
	assert_int_equal(t->sum.exit, SCR_EXIT_TROUBLE);
	assert_int_equal(t->sum.verdicts[SCR_OK], FILES);
	expect_sound(t);
}

static void test_flip_in_each_read_is_rot(void **state)
{
	struct tree *t = *state;

	hit(t, FLIP, 7, 5000, 5001);
	assert_int_equal(run(t, false), 0);
	assert_int_equal(t->sum.transient, 0);
	assert_int_equal(t->seen.damage[SCR_DAMAGE_ROT], 1);
	assert_int_equal(t->seen.last.block, 1);
	assert_int_equal(t->seen.last.offset, 4096);
	assert_int_equal(t->seen.last.length, 4096);
	assert_int_equal(t->sum.verdicts[SCR_ROT], 1);
	assert_int_equal(t->sum.exit, SCR_EXIT_DAMAGE);
	/* Healed by itself: closed. */
	expect_sound(t);
}

static scr_fused_fn wrong_once;
static bool erred;

static void wrong_once(const struct scr_kernels *k SCR_UNUSED, uint64_t *sum, uint32_t *crc,
		       uint8_t *dst, const uint8_t *src, size_t len)
{
	const struct scr_kernels *ref = scr_kernels_reference();

	ref->fused->fn.fused(ref, sum, crc, dst, src, len);
	if (!erred && len == SIZE % 4096) {
		*crc ^= 1;
		erred = true;
	}
}

static void test_kernel_that_errs_once_is_transient(void **state)
{
	static const struct scr_kernel wrong = {"wrong", SCR_FUSED, 0, {.fused = wrong_once}};
	struct tree *t = *state;

	t->medium = (struct medium){.fault = NONE};
	t->kernels = *scr_kernels_reference();
	t->kernels.fused = &wrong;
	t->use_kernels = true;
	erred = false;
	assert_int_equal(run(t, false), 0);
	assert_true(erred);
	assert_int_equal(t->sum.transient, 1);
	assert_int_equal(t->sum.exit, SCR_EXIT_TROUBLE);
	assert_int_equal(t->sum.files_damaged, 0);
	expect_sound(t);
}

static void test_short_and_interrupted_reads_are_nothing(void **state)
{
	struct tree *t = *state;

	t->medium = (struct medium){.fault = SHORT};
	assert_int_equal(run(t, false), 0);
	assert_int_equal(t->sum.exit, 0);
	assert_int_equal(t->sum.verdicts[SCR_OK], FILES);
	t->medium = (struct medium){.fault = INTERRUPT};
	assert_int_equal(run(t, false), 0);
	assert_int_equal(t->sum.exit, 0);
	assert_int_equal(t->sum.verdicts[SCR_OK], FILES);
}

static void test_unreadable_sector_exactly(void **state)
{
	struct tree *t = *state;

	hit(t, MEDIUM, 3, 9000, 9001);
	assert_int_equal(run(t, false), 0);
	assert_int_equal(t->seen.damage[SCR_DAMAGE_UNREADABLE], 1);
	assert_int_equal(t->seen.last.block, 2);
	assert_int_equal(t->seen.last.offset, 8704);
	assert_int_equal(t->seen.last.length, 512);
	assert_int_equal(t->sum.verdicts[SCR_UNREADABLE], 1);
	assert_int_equal(t->sum.verdicts[SCR_OK], FILES - 1);
	assert_int_equal(t->sum.exit, SCR_EXIT_DAMAGE);
	expect_sound(t);
}

static void test_many_unreadable_files_of_a_device_that_is_there(void **state)
{
	struct tree *t = *state;

	hit(t, MEDIUM, 0, 0, 100);
	t->medium.first = 1;
	t->medium.last = (ino_t)-1;
	/* Every file has lost its first sector; the block that is asked for again reads well. */
	t->medium.to = 0;
	assert_int_equal(run(t, false), 0);
	assert_int_equal(t->sum.exit, 0);
	t->medium.to = 100;
	assert_int_equal(run(t, false), 0);
	assert_int_equal(t->sum.verdicts[SCR_UNREADABLE], FILES);
	assert_int_equal(t->sum.exit, SCR_EXIT_DAMAGE);
	expect_sound(t);
}

static void test_device_that_goes_away_is_no_damage(void **state)
{
	static const int errors[] = {EIO, ENXIO, ENODEV};
	struct tree *t = *state;

	for (size_t i = 0; i < SCR_ARRAY_SIZE(errors); i++) {
		t->medium = (struct medium){.fault = GONE, .good = 10, .err = errors[i], .to = SIZE};
		assert_true(run(t, false) < 0);
		assert_int_equal(t->sum.exit, SCR_EXIT_TROUBLE);
		assert_non_null(strstr(t->seen.message, "does not answer"));
		assert_int_equal(t->seen.damage[SCR_DAMAGE_UNREADABLE], 0);
		assert_int_equal(t->sum.files_damaged, 0);
		assert_false(t->sum.complete);
		expect_sound(t);
	}
}

/* Something else took the place of the name before it was opened: that content is nobody's damage. */
static void test_other_file_than_was_looked_at(void **state)
{
	struct tree *t = *state;

	for (int i = 0; i < 2; i++) {
		hit(t, FLIP, 5, 100, 101);
		t->medium.other_dev = i == 0;
		t->medium.other_type = i == 0 ? 0 : S_IFSOCK;
		assert_int_equal(run(t, false), 0);
		assert_int_equal(t->sum.verdicts[SCR_SKIPPED], 1);
		assert_int_equal(t->sum.verdicts[SCR_OK], FILES - 1);
		assert_int_equal(t->sum.files_damaged, 0);
		assert_int_equal(t->sum.exit, 0);
		expect_sound(t);
	}
}

int main(void)
{
#define CASE(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		CASE(test_flip_in_first_read_is_transient),
		CASE(test_flip_in_each_read_is_rot),
		CASE(test_kernel_that_errs_once_is_transient),
		CASE(test_short_and_interrupted_reads_are_nothing),
		CASE(test_unreadable_sector_exactly),
		CASE(test_many_unreadable_files_of_a_device_that_is_there),
		CASE(test_device_that_goes_away_is_no_damage),
		CASE(test_other_file_than_was_looked_at),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

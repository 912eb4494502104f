/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A hundred nights of passes that look at a part only: everything is reached, whatever the limits,
 * the churn and the clock. */
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

#define NIGHTS 100
#define DAY_NS (86400 * SCR_NS_PER_S)
#define OLD 40    /* files that stay as they are ... */
#define EDITED 10 /* ... that are written anew each night ... */
#define SIZE 8192u
#define NEW_A_NIGHT 4 /* ... and that come new */
#define NEW (NIGHTS * NEW_A_NIGHT)
#define EXTENT (16u << 20)
#define EXTENTS 5 /* of the big file */

struct world {
	char dir[64];
	int64_t wall, monotonic;
	int64_t ns_a_byte; /* of reading */
	int64_t ns_a_look; /* at the clock */
	struct scr_options opt;
	struct scr_summary sum;
	int64_t step; /* the clock is set by this, back and forth */
	/* How often each was looked at. */
	unsigned int old[OLD], edited[EDITED], fresh[NEW];
	unsigned int extents[EXTENTS];
	ino_t big;
	int night;
};

/* ---- clock and medium -------------------------------------------------------------------- */

static int64_t world_wall(void *arg)
{
	return ((struct world *)arg)->wall;
}

static int64_t world_monotonic(void *arg)
{
	struct world *w = arg;

	w->monotonic += w->ns_a_look;
	return w->monotonic;
}

static ssize_t world_pread(void *arg, int fd, void *buf, size_t len, off_t offset)
{
	struct world *w = arg;
	ssize_t n = pread(fd, buf, len, offset);
	struct stat st;

	w->monotonic += n * w->ns_a_byte;
	if (w->big && fstat(fd, &st) == 0 && st.st_ino == w->big && offset % EXTENT == 0)
		w->extents[SCR_MIN(offset / EXTENT, EXTENTS - 1)]++;
	return n;
}

static off_t world_lseek(void *arg SCR_UNUSED, int fd, off_t offset, int whence)
{
	return lseek(fd, offset, whence);
}

static int world_fstat(void *arg SCR_UNUSED, int fd, struct stat *st)
{
	return fstat(fd, st);
}

static int world_fadvise(void *arg SCR_UNUSED, int fd SCR_UNUSED, off_t offset SCR_UNUSED,
			 off_t len SCR_UNUSED, int advice SCR_UNUSED)
{
	return 0;
}

/* ---- the tree ---------------------------------------------------------------------------- */

static void write_file(struct world *w, const char *kind, unsigned int i, uint64_t size)
{
	struct timespec past[2] = {{.tv_sec = 1000000000 + w->night},
				   {.tv_sec = 1000000000 + w->night}};
	static uint8_t data[1u << 20];
	char path[128];
	int fd;

	for (size_t j = 0; j < SIZE; j++)
		data[j] = (uint8_t)((j * 2654435761u + i * 40503u + (unsigned int)w->night) >> 7);
	snprintf(path, sizeof(path), "%s/%s%03u", w->dir, kind, i);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
	assert_true(fd >= 0);
	for (uint64_t at = 0; at < size; at += sizeof(data))
		assert_true(write(fd, data, SCR_MIN(size - at, sizeof(data))) > 0);
	assert_int_equal(futimens(fd, past), 0);
	close(fd);
}

/* Each extent has some data at its end, or it would cost nothing. */
static void grow(struct world *w, const char *kind, unsigned int i, uint64_t by)
{
	struct timespec past[2] = {{.tv_sec = 1000000000 + w->night},
				   {.tv_sec = 1000000000 + w->night}};
	static const uint8_t data[4096] = {1};
	char path[128];
	struct stat st;
	int fd;

	snprintf(path, sizeof(path), "%s/%s%03u", w->dir, kind, i);
	fd = open(path, O_WRONLY);
	assert_true(fd >= 0);
	assert_int_equal(fstat(fd, &st), 0);
	for (uint64_t at = EXTENT; at <= by; at += EXTENT)
		assert_int_equal(pwrite(fd, data, sizeof(data), st.st_size + (off_t)at - 4096),
				 4096);
	assert_int_equal(futimens(fd, past), 0);
	close(fd);
}

static void on_event(void *arg, const struct scr_event *ev)
{
	struct world *w = arg;
	const struct scr_file_event *f = ev->u.file;
	unsigned int i;

	assert_int_not_equal(ev->type, SCR_EV_DAMAGE);
	if (ev->type != SCR_EV_FILE || f->verdict == SCR_SKIPPED)
		return;
	assert_non_null(f->name.path);
	i = (unsigned int)strtoul(f->name.path + 1, NULL, 10);
	if (f->name.path[0] == 'o')
		w->old[i]++;
	else if (f->name.path[0] == 'e')
		w->edited[i]++;
	else if (f->name.path[0] == 'n')
		w->fresh[i]++;
}

static void run_with(struct world *w, const struct scr_options *opt)
{
	struct scr_reader_ops ops = {.pread = world_pread,
				     .lseek = world_lseek,
				     .fstat = world_fstat,
				     .fadvise = world_fadvise,
				     .arg = w};
	const struct scr_clock clock = {
		.wall_ns = world_wall, .monotonic_ns = world_monotonic, .arg = w};
	struct scr_ctx *ctx = scr_new(opt, on_event, w);

	assert_non_null(ctx);
	ctx->reader_ops = &ops;
	ctx->clock = &clock;
	assert_int_equal(scr_run(ctx, w->dir, &w->sum), 0);
	assert_int_equal(w->sum.exit, 0);
	scr_free(ctx);
}

/* The next day; the clock is set back or forth in every other one. */
static void next_day(struct world *w)
{
	w->night++;
	w->wall += DAY_NS + (w->night % 2 ? w->step : -w->step);
}

static void run_once(struct world *w)
{
	struct scr_options opt = w->opt;

	opt.threads = opt.reads_in_flight = 1;
	opt.verbose_files = true;
	run_with(w, &opt);
}

static void night(struct world *w)
{
	next_day(w);
	run_once(w);
}

static void first_night(struct world *w)
{
	static const char *const settings[] = {"ctime=ignore", "block-size=4096", "parity=off", NULL};
	const struct scr_options opt = {.threads = 1, .reads_in_flight = 1, .settings = settings};

	run_with(w, &opt);
	assert_true(w->sum.complete);
	assert_null(w->sum.limited);
}

static int setup(void **state)
{
	struct world *w = calloc(1, sizeof(*w));
	struct timespec now;

	strcpy(w->dir, "nights-XXXXXX");
	assert_non_null(mkdtemp(w->dir));
	clock_gettime(CLOCK_REALTIME, &now);
	w->wall = (now.tv_sec + 100) * SCR_NS_PER_S;
	w->monotonic = SCR_NS_PER_S;
	w->ns_a_look = 1000;
	w->ns_a_byte = 10;
	*state = w;
	return 0;
}

static int teardown(void **state)
{
	struct world *w = *state;
	char command[128];

	snprintf(command, sizeof(command), "rm -rf '%s'", w->dir);
	assert_int_equal(system(command), 0);
	free(w);
	return 0;
}

static void populate(struct world *w)
{
	for (unsigned int i = 0; i < OLD; i++)
		write_file(w, "o", i, SIZE);
}

/* A hundred nights with churn. New files are numbered as they come: in this tree the time of their
 * coming is all the same. */
static void live(struct world *w)
{
	for (unsigned int i = 0; i < EDITED; i++)
		write_file(w, "e", i, SIZE);
	first_night(w);
	while (w->night < NIGHTS) {
		next_day(w);
		for (unsigned int i = 0; i < EDITED; i++)
			write_file(w, "e", i, SIZE);
		for (unsigned int i = 0; i < NEW_A_NIGHT; i++)
			write_file(w, "n", (unsigned int)(w->night - 1) * NEW_A_NIGHT + i, SIZE);
		run_once(w);
		assert_false(w->sum.complete);
	}
}

/* Passes that looked at a fresh file, and at one that is known. */
static unsigned int count_fresh(const struct world *w)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < EDITED; i++)
		n += w->edited[i];
	for (unsigned int i = 0; i < NEW; i++)
		n += w->fresh[i] > 0;
	return n;
}

static unsigned int count_known(const struct world *w)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < OLD; i++)
		n += w->old[i];
	for (unsigned int i = 0; i < NEW; i++)
		n += w->fresh[i] > 1 ? w->fresh[i] - 1 : 0;
	return n;
}

/* All that waits in one queue gets its turn, one after the other: none is ahead of another by more
 * than one, and of the new files those that came first were recorded first. */
static void expect_fair(const struct world *w, unsigned int least)
{
	for (unsigned int i = 0; i < OLD; i++) {
		assert_true(w->old[i] >= least);
		assert_true(w->old[i] >= w->old[0] - 1 && w->old[i] <= w->old[0]);
	}
	for (unsigned int i = 0; i < EDITED; i++)
		assert_true(w->edited[i] >= 1);
	for (unsigned int i = 1; i < NEW; i++)
		assert_true(w->fresh[i - 1] > 0 || w->fresh[i] == 0);
	assert_true(w->fresh[0] > 0);
}

/* ---- the nights -------------------------------------------------------------------------- */

static void test_a_portion_of_5_percent_takes_20_passes(void **state)
{
	struct world *w = *state;

	populate(w);
	first_night(w);
	w->opt.portion = 50000;
	for (int n = 1; n <= 40; n++) {
		unsigned int done = 0;

		night(w);
		assert_int_equal(w->sum.verdicts[SCR_OK], OLD / 20);
		assert_string_equal(w->sum.limited, "portion");
		assert_int_equal(w->sum.bytes_left, SIZE * (OLD - OLD / 20));
		for (unsigned int i = 0; i < OLD; i++)
			done += w->old[i] >= (unsigned int)(n + 19) / 20;
		assert_int_equal(done, OLD / 20 * ((n - 1) % 20 + 1));
	}
}

static void test_one_byte_a_night(void **state)
{
	struct world *w = *state;

	populate(w);
	w->opt.max_bytes = 1;
	live(w);
	/* One known and one fresh file a night. */
	assert_int_equal(count_known(w), NIGHTS);
	assert_int_equal(count_fresh(w), NIGHTS);
	expect_fair(w, 1);
}

static void test_churn_beyond_the_budget_gets_half(void **state)
{
	struct world *w = *state;

	populate(w);
	w->opt.max_bytes = 8 * SIZE;
	/* Everything is overdue, always. */
	w->opt.older_than_ns = DAY_NS / 2;
	live(w);
	assert_int_equal(count_known(w), 4 * NIGHTS);
	assert_int_equal(count_fresh(w), 4 * NIGHTS);
	expect_fair(w, 2);
}

/* Nothing is older than 30 days at first: what is new goes first, and all of it. */
static void test_fresh_data_goes_first_while_nothing_is_overdue(void **state)
{
	struct world *w = *state;

	populate(w);
	first_night(w);
	for (unsigned int i = 0; i < 6; i++)
		write_file(w, "n", i, SIZE);
	w->opt.max_bytes = 8 * SIZE;
	night(w);
	assert_int_equal(w->sum.verdicts[SCR_NEW], 6);
	assert_int_equal(w->sum.verdicts[SCR_OK], 2);
	/* Now everything is: half, and what the overdue leave. */
	w->wall += 40 * DAY_NS;
	for (unsigned int i = 6; i < 12; i++)
		write_file(w, "n", i, SIZE);
	night(w);
	assert_int_equal(w->sum.verdicts[SCR_NEW], 4);
	assert_int_equal(w->sum.verdicts[SCR_OK], 4);
}

static void test_limited_by_time(void **state)
{
	struct world *w = *state;

	populate(w);
	w->opt.max_time_ns = 8 * SIZE * 10;
	w->ns_a_look = 10;
	live(w);
	assert_string_equal(w->sum.limited, "max-time");
	assert_in_range(count_known(w), 2 * NIGHTS, 5 * NIGHTS);
	expect_fair(w, 1);
}

/* Planning alone takes longer than the pass may. */
static void test_no_time_at_all(void **state)
{
	struct world *w = *state;

	populate(w);
	w->opt.max_time_ns = 1;
	live(w);
	assert_int_equal(count_known(w), NIGHTS);
	assert_int_equal(count_fresh(w), NIGHTS);
	expect_fair(w, 1);
}

static void test_clock_steps(void **state)
{
	static const int64_t steps[] = {3600 * SCR_NS_PER_S, 10 * DAY_NS, 400 * DAY_NS};
	struct world *w = *state;

	populate(w);
	first_night(w);
	w->opt.max_bytes = 4 * SIZE;
	for (size_t s = 0; s < SCR_ARRAY_SIZE(steps); s++) {
		memset(w->old, 0, sizeof(w->old));
		w->step = steps[s];
		for (int n = 0; n < NIGHTS; n++)
			night(w);
		/* Where the clock runs back and forth, half of the nights may be lost, no more. */
		for (unsigned int i = 0; i < OLD; i++)
			assert_true(w->old[i] >= 4 * NIGHTS / OLD / 2 - 1);
	}
}

/* Five extents, one a night, the oldest first: and again. */
static void test_a_file_too_big_for_one_night(void **state)
{
	struct world *w = *state;
	char path[128];
	struct stat st;

	write_file(w, "o", 0, (uint64_t)EXTENTS * EXTENT);
	first_night(w);
	snprintf(path, sizeof(path), "%s/o000", w->dir);
	assert_int_equal(stat(path, &st), 0);
	w->big = st.st_ino;
	w->opt.max_bytes = EXTENT;
	for (int n = 0; n < 2 * EXTENTS; n++) {
		night(w);
		assert_int_equal(w->sum.verdicts[SCR_OK], 1);
		assert_int_equal(w->sum.bytes_read, EXTENT);
		assert_int_equal(w->sum.bytes_left, (EXTENTS - 1) * (uint64_t)EXTENT);
		for (int i = 0; i < EXTENTS; i++)
			assert_int_equal(w->extents[i],
					 (unsigned int)(n / EXTENTS + (i <= n % EXTENTS)));
	}
}

/* New, and edited each night: it is recorded bit by bit all the same. */
static void test_a_new_file_too_big_that_changes(void **state)
{
	struct world *w = *state;
	char path[128];
	struct stat st;

	write_file(w, "o", 1, SIZE);
	first_night(w);
	write_file(w, "o", 0, (uint64_t)EXTENTS * EXTENT);
	snprintf(path, sizeof(path), "%s/o000", w->dir);
	assert_int_equal(stat(path, &st), 0);
	w->big = st.st_ino;
	w->opt.max_bytes = EXTENT;
	for (int n = 0; n < 3 * EXTENTS; n++) {
		night(w);
		write_file(w, "o", 0, (uint64_t)EXTENTS * EXTENT);
	}
	for (int i = 0; i < EXTENTS; i++)
		assert_true(w->extents[i] >= 1);
	/* Left alone, it comes to rest. */
	memset(&w->opt, 0, sizeof(w->opt));
	night(w);
	night(w);
	assert_true(w->sum.complete);
	assert_int_equal(w->sum.verdicts[SCR_OK], 2);
}

/* Grows by more than a night can record, and changes: no end of it, and still the others get their
 * turn. */
static void test_a_file_that_grows_for_ever(void **state)
{
	struct world *w = *state;
	unsigned int edited = 0;

	write_file(w, "g", 0, EXTENT);
	for (unsigned int i = 0; i < EDITED; i++)
		write_file(w, "e", i, SIZE);
	first_night(w);
	w->opt.max_bytes = 1;
	for (int n = 0; n < 3 * EDITED; n++) {
		next_day(w);
		for (unsigned int i = 0; i < EDITED; i++)
			write_file(w, "e", i, SIZE);
		grow(w, "g", 0, 2 * EXTENT);
		run_once(w);
	}
	for (unsigned int i = 0; i < EDITED; i++) {
		assert_true(w->edited[i] >= 1);
		edited += w->edited[i];
	}
	assert_true(edited < 3 * EDITED);
}

int main(void)
{
#define CASE(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)
	const struct CMUnitTest tests[] = {
		CASE(test_a_portion_of_5_percent_takes_20_passes),
		CASE(test_one_byte_a_night),
		CASE(test_churn_beyond_the_budget_gets_half),
		CASE(test_fresh_data_goes_first_while_nothing_is_overdue),
		CASE(test_limited_by_time),
		CASE(test_no_time_at_all),
		CASE(test_clock_steps),
		CASE(test_a_file_too_big_for_one_night),
		CASE(test_a_new_file_too_big_that_changes),
		CASE(test_a_file_that_grows_for_ever),
	};

	return cmocka_run_group_tests_name("nights", tests, NULL, NULL);
}

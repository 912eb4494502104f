/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The table of verdicts by times alone, and the syntax of settings. */
#include <config.h>

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/clock.h"
#include "base/compiler.h"
#include "pass/judge.h"
#include "pass/planner_internal.h"
#include "pass/policy.h"

#define S SCR_NS_PER_S

/* ---- judge ------------------------------------------------------------------------------- */

static const struct scr_stamp stamp = {.size = 10, .ino = 7, .mtime_ns = 100 * S, .ctime_ns = 200 * S};
static const struct scr_file_record file = {
	.stamp = {.size = 10, .ino = 7, .mtime_ns = 100 * S, .ctime_ns = 200 * S},
	.mode = 0100644, .uid = 1, .gid = 2, .nlink = 1,
};

static struct stat same(void)
{
	struct stat st = {.st_ino = 7, .st_mode = 0100644, .st_uid = 1, .st_gid = 2, .st_nlink = 1,
			  .st_size = 10};

	st.st_mtim.tv_sec = 100;
	st.st_ctim.tv_sec = 200;
	return st;
}

static const struct scr_policy strict = {.use_ctime = true, .use_inode = true};

static enum scr_relation judge(const struct scr_policy *p, const struct stat *st, bool moved)
{
	return scr_judge(p, &stamp, &file, st, moved);
}

static void test_relations(void **state SCR_UNUSED)
{
	struct stat st = same();

	assert_int_equal(judge(&strict, &st, false), SCR_REL_SAME);
	/* Size alone moves nothing. */
	st.st_size = 11;
	assert_int_equal(judge(&strict, &st, false), SCR_REL_SAME);
	st = same();
	st.st_mtim.tv_nsec = 1;
	assert_int_equal(judge(&strict, &st, false), SCR_REL_MTIME);
	st = same();
	st.st_ctim.tv_sec = 201;
	assert_int_equal(judge(&strict, &st, false), SCR_REL_CTIME);
	/* The path explains it. */
	assert_int_equal(judge(&strict, &st, true), SCR_REL_EXPLAINED);
	/* Another inode under the same name, times kept. */
	st = same();
	st.st_ino = 8;
	assert_int_equal(judge(&strict, &st, false), SCR_REL_CTIME);
}

static void test_explained(void **state SCR_UNUSED)
{
	struct stat st[4] = {same(), same(), same(), same()};

	st[0].st_mode = 0100600;
	st[1].st_uid = 9;
	st[2].st_gid = 9;
	st[3].st_nlink = 2;
	for (size_t i = 0; i < SCR_ARRAY_SIZE(st); i++) {
		/* Metadata that moved without ctime is nothing. */
		assert_int_equal(judge(&strict, &st[i], false), SCR_REL_SAME);
		st[i].st_ctim.tv_sec++;
		assert_int_equal(judge(&strict, &st[i], false), SCR_REL_EXPLAINED);
		/* mtime decides before anything else. */
		st[i].st_mtim.tv_sec++;
		assert_int_equal(judge(&strict, &st[i], false), SCR_REL_MTIME);
	}
}

static void test_settings_that_ignore(void **state SCR_UNUSED)
{
	struct scr_policy weak = {0};
	struct scr_policy window = strict;
	struct stat st = same();

	st.st_ctim.tv_sec = 300;
	st.st_ino = 8;
	assert_int_equal(judge(&weak, &st, false), SCR_REL_SAME);
	weak.use_ctime = true;
	assert_int_equal(judge(&weak, &st, false), SCR_REL_CTIME);
	st = same();
	st.st_mtim.tv_sec = 102;
	window.mtime_window_ns = 2 * S;
	assert_int_equal(judge(&window, &st, false), SCR_REL_SAME);
	st.st_mtim.tv_nsec = 1;
	assert_int_equal(judge(&window, &st, false), SCR_REL_MTIME);
}

static void test_difference(void **state SCR_UNUSED)
{
	assert_int_equal(scr_judge_difference(SCR_REL_SAME, false), SCR_ROT);
	assert_int_equal(scr_judge_difference(SCR_REL_EXPLAINED, false), SCR_ROT);
	assert_int_equal(scr_judge_difference(SCR_REL_SAME, true), SCR_ALTERED);
	assert_int_equal(scr_judge_difference(SCR_REL_EXPLAINED, true), SCR_ALTERED);
	assert_int_equal(scr_judge_difference(SCR_REL_CTIME, false), SCR_ALTERED);
	assert_int_equal(scr_judge_difference(SCR_REL_CTIME, true), SCR_ALTERED);
	assert_int_equal(scr_judge_difference(SCR_REL_MTIME, false), SCR_CHANGED);
	assert_int_equal(scr_judge_difference(SCR_REL_MTIME, true), SCR_CHANGED);
}

static void test_worst(void **state SCR_UNUSED)
{
	static const enum scr_verdict order[] = {SCR_OK, SCR_TOUCHED, SCR_MOVED, SCR_CHANGED,
						 SCR_ALTERED, SCR_ROT, SCR_UNREADABLE};

	for (size_t i = 0; i < SCR_ARRAY_SIZE(order); i++)
		for (size_t j = 0; j <= i; j++) {
			assert_int_equal(scr_verdict_worst(order[i], order[j]), order[i]);
			assert_int_equal(scr_verdict_worst(order[j], order[i]), order[i]);
		}
}

/* ---- settings ---------------------------------------------------------------------------- */

static void test_bad_settings_are_refused(void **state SCR_UNUSED)
{
	static const char *const bad[] = {
		"", "block-size", "=1", "block-size=", "block-size=0", "block-size=1000",
		"block-size=256", "block-size=2M", "block-size=64X", "block-size=-4096",
		"block-size=0x1000", "block-size=64KK", "block-size+=4096", "parity=1",
		"parity=257", "parity=maybe", "parity-unit=32", "parity-unit=8192", "ctime=maybe",
		"inode=yes", "mtime-window=-1", "mtime-window=1.5", "mtime-window=1e3",
		"mtime-window=1000001", "stale-after=soon", "cross-mounts=1", "copy=relative",
		"exclude=!keep", "exclude=[a", "exclude+=", "frozen=", "blocksize=4096", "no-such=1",
		"block-size=99999999999999999999",
	};
	struct scr_settings s;
	struct scr_setting_error err;

	scr_settings_default(&s);
	for (size_t i = 0; i < SCR_ARRAY_SIZE(bad); i++) {
		if (!strcmp(bad[i], "frozen="))
			continue; /* removes, legal */
		err.text[0] = '\0';
		assert_int_equal(scr_settings_apply(&s, bad[i], false, &err), -EINVAL);
		assert_true(err.text[0] != '\0');
		assert_null(s.pairs);
		assert_int_equal(s.geometry.block_size, SCR_BLOCK_SIZE_DEFAULT);
	}
	scr_settings_free(&s);
}

static size_t count(const struct scr_settings *s)
{
	size_t n = 0;

	while (s->pairs && s->pairs[n])
		n++;
	return n;
}

static void test_lists_and_single_values(void **state SCR_UNUSED)
{
	struct scr_setting_error err;
	struct scr_settings s;

	scr_settings_default(&s);
	assert_int_equal(scr_settings_apply(&s, "exclude=*.tmp", false, &err), 0);
	assert_int_equal(scr_settings_apply(&s, "exclude+=/cache/", false, &err), 0);
	assert_int_equal(scr_settings_apply(&s, "frozen=photos/**", false, &err), 0);
	assert_int_equal(count(&s), 3);
	assert_int_equal(scr_settings_apply(&s, "exclude=*.o", false, &err), 0);
	assert_int_equal(count(&s), 2);
	assert_int_equal(scr_settings_apply(&s, "exclude+=*.a", false, &err), 0);
	assert_int_equal(count(&s), 3);
	assert_int_equal(scr_settings_apply(&s, "ctime=ignore", false, &err), 0);
	assert_int_equal(scr_settings_apply(&s, "ctime=use", false, &err), 0);
	assert_int_equal(count(&s), 4);
	assert_int_equal(scr_settings_apply(&s, "exclude=", false, &err), 0);
	assert_int_equal(count(&s), 2);
	assert_string_equal(s.pairs[0], "frozen=photos/**");
	assert_string_equal(s.pairs[1], "ctime=use");
	scr_settings_free(&s);
}

static void test_geometry_is_fixed_by_records(void **state SCR_UNUSED)
{
	struct scr_setting_error err;
	struct scr_settings s;

	scr_settings_default(&s);
	assert_int_equal(scr_settings_apply(&s, "block-size=4K", false, &err), 0);
	assert_int_equal(s.geometry.block_size, 4096);
	assert_int_equal(scr_settings_apply(&s, "parity-unit=512", false, &err), 0);
	assert_int_equal(s.geometry.parity_unit, 512);
	/* The same value again is no change. */
	assert_int_equal(scr_settings_apply(&s, "block-size=4096", true, &err), 0);
	assert_int_equal(scr_settings_apply(&s, "block-size=8K", true, &err), -EINVAL);
	assert_int_equal(scr_settings_apply(&s, "parity-unit=4096", true, &err), -EINVAL);
	assert_int_equal(s.geometry.block_size, 4096);
	scr_settings_free(&s);
}

static void test_defaults_follow_the_file_system(void **state SCR_UNUSED)
{
	struct scr_fs_info ext4 = {.type = "ext4"}, vfat = {.type = "vfat", .times_weak = true};
	struct scr_setting_error err;
	struct scr_settings s;
	struct scr_policy p;

	scr_settings_default(&s);
	assert_int_equal(scr_policy_init(&p, &s, &ext4, &err), 0);
	assert_true(p.use_ctime && p.use_inode && !p.cross_mounts);
	assert_int_equal(p.stale_after_ns, 30 * 86400 * S);
	scr_policy_free(&p);
	assert_int_equal(scr_policy_init(&p, &s, &vfat, &err), 0);
	assert_false(p.use_ctime || p.use_inode);
	scr_policy_free(&p);
	/* What is set wins. */
	assert_int_equal(scr_settings_apply(&s, "ctime=use", true, &err), 0);
	assert_int_equal(scr_settings_apply(&s, "stale-after=1", true, &err), 0);
	assert_int_equal(scr_policy_init(&p, &s, &vfat, &err), 0);
	assert_true(p.use_ctime && !p.use_inode);
	assert_int_equal(p.stale_after_ns, 86400 * S);
	scr_policy_free(&p);
	scr_settings_free(&s);
}

/* Bands of a limited pass: the older the last check, the earlier. */
static void test_bands(void **state SCR_UNUSED)
{
	static const struct {
		int64_t days;
		uint8_t band;
	} rows[] = {
		{-10000, 5}, {-1, 5}, {0, 5}, {1, 4}, {6, 4}, {7, 3}, {29, 3},
		{30, 2}, {89, 2}, {90, 1}, {19999, 1},
	};
	const int64_t day = 86400 * S, now = 20000 * day;

	for (size_t i = 0; i < SCR_ARRAY_SIZE(rows); i++)
		assert_int_equal(scr_plan_band(now, now - rows[i].days * day - 1), rows[i].band);
	assert_int_equal(scr_plan_band(now, now - day), 5);
	assert_int_equal(scr_plan_band(now, now - 90 * day), 2);
	/* Never checked, or in no time that is possible. */
	assert_int_equal(scr_plan_band(now, 0), 1);
	assert_int_equal(scr_plan_band(now, INT64_MIN), 1);
	assert_int_equal(scr_plan_band(now, INT64_MAX), 5);
}

/* Times of a manifest that no file system gave. */
static void test_times_far_away(void **state SCR_UNUSED)
{
	static const struct scr_policy lax = {.use_ctime = true, .mtime_window_ns = 1000000 * S};
	struct scr_stamp far = stamp;
	struct stat st = same();

	far.mtime_ns = INT64_MIN;
	assert_int_equal(scr_judge(&lax, &far, &file, &st, false), SCR_REL_MTIME);
	far = stamp;
	far.ctime_ns = INT64_MIN;
	st.st_ctim.tv_sec = INT64_MAX / S;
	assert_int_equal(scr_judge(&lax, &far, &file, &st, false), SCR_REL_CTIME);
}

/* What no config took is not used unseen, whatever manifest it comes in. */
static void test_settings_of_a_manifest(void **state SCR_UNUSED)
{
	static const struct {
		const char *pair;
		int result;
	} rows[] = {
		{"mtime-window=soon", -EINVAL}, {"mtime-window=1000001", -EINVAL},
		{"stale-after=-1", -EINVAL}, {"ctime=maybe", -EINVAL}, {"exclude=[a", -EINVAL},
		{"copy=x", -EINVAL}, {"later-version=anything", 0}, {"stale-after=1000000", 0},
	};
	static const struct scr_fs_info fs = {.times_weak = false};

	for (size_t i = 0; i < SCR_ARRAY_SIZE(rows); i++) {
		char *pairs[] = {(char *)(uintptr_t)rows[i].pair, NULL};
		struct scr_setting_error err = {""};
		struct scr_settings s;
		struct scr_policy p;

		scr_settings_default(&s);
		s.pairs = pairs;
		assert_int_equal(scr_policy_init(&p, &s, &fs, &err), rows[i].result);
		if (rows[i].result < 0) {
			assert_true(strstr(err.text, rows[i].pair) != NULL);
			continue;
		}
		/* A million days are more than nanoseconds can count. */
		assert_true(p.stale_after_ns == (i == 7 ? INT64_MAX : 30 * 86400 * S));
		scr_policy_free(&p);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_relations),
		cmocka_unit_test(test_explained),
		cmocka_unit_test(test_settings_that_ignore),
		cmocka_unit_test(test_difference),
		cmocka_unit_test(test_worst),
		cmocka_unit_test(test_bad_settings_are_refused),
		cmocka_unit_test(test_lists_and_single_values),
		cmocka_unit_test(test_geometry_is_fixed_by_records),
		cmocka_unit_test(test_defaults_follow_the_file_system),
		cmocka_unit_test(test_bands),
		cmocka_unit_test(test_times_far_away),
		cmocka_unit_test(test_settings_of_a_manifest),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Stamps of a device's extents, and what a difference is called by them. */
#include <config.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/compiler.h"
#include "pass/device.h"

#define MIB (UINT64_C(1) << 20)
#define SIZE (100 * MIB)

/* A table, ext4 with evidence, LVM, an empty partition, nothing, and the backup of the table. */
static const struct scr_region disk[] = {
	{.offset = 0, .length = MIB, .kind = SCR_REGION_TABLE, .type = "gpt"},
	{.offset = MIB,
	 .length = 39 * MIB,
	 .kind = SCR_REGION_FS,
	 .partition = 1,
	 .type = "ext4",
	 .uuid = "a",
	 .evidence = true,
	 .token = 7},
	{.offset = 40 * MIB,
	 .length = 20 * MIB,
	 .kind = SCR_REGION_STACK,
	 .partition = 2,
	 .type = "LVM2_member",
	 .uuid = "b"},
	{.offset = 60 * MIB, .length = 20 * MIB, .kind = SCR_REGION_EMPTY, .partition = 3},
	{.offset = 80 * MIB, .length = 19 * MIB, .kind = SCR_REGION_BARE},
	{.offset = 99 * MIB, .length = MIB, .kind = SCR_REGION_TABLE, .type = "gpt"},
};
#define REGIONS SCR_ARRAY_SIZE(disk)

static struct scr_stamp stamp(const struct scr_region *list, enum scr_device_content content,
			      uint64_t offset, uint64_t length)
{
	return scr_region_stamp(list, REGIONS, SIZE, content, offset, length);
}

/* The judgement of a block of 64 KiB at @offset, in the extent of 16 MiB around it. */
static enum scr_device_judgement judge(const struct scr_region *then, const struct scr_region *now,
				       enum scr_device_content content, uint64_t offset)
{
	uint64_t start = offset / (16 * MIB) * (16 * MIB);
	struct scr_stamp was = stamp(then, content, start, 16 * MIB);
	struct scr_stamp is = stamp(now, content, start, 16 * MIB);
	struct scr_stamp block = stamp(now, content, offset, 65536);

	return scr_stamp_judge(&was, &is, &block);
}

static void test_classes(void **state SCR_UNUSED)
{
	struct scr_stamp s = stamp(disk, SCR_CONTENT_AUTO, 0, MIB);

	assert_int_equal(s.size, SIZE);
	assert_int_equal(s.ino, 0);
	assert_int_equal(s.mtime_ns, 0);
	assert_int_equal(stamp(disk, SCR_CONTENT_AUTO, 0, 16 * MIB).ino, SCR_STAMP_EVIDENCE);
	assert_int_equal(stamp(disk, SCR_CONTENT_AUTO, 32 * MIB, 16 * MIB).ino,
			 SCR_STAMP_EVIDENCE | SCR_STAMP_CHANGING);
	assert_int_equal(stamp(disk, SCR_CONTENT_AUTO, 60 * MIB, 30 * MIB).ino, 0);
	assert_int_equal(stamp(disk, SCR_CONTENT_FIXED, 40 * MIB, 16 * MIB).ino, 0);
	/* content=changing is for what has no other rule: not for tables and what lies between. */
	assert_int_equal(stamp(disk, SCR_CONTENT_CHANGING, 60 * MIB, MIB).ino,
			 SCR_STAMP_CHANGING | SCR_STAMP_UNKNOWN);
	assert_int_equal(stamp(disk, SCR_CONTENT_CHANGING, 80 * MIB, 20 * MIB).ino, 0);
}

static void test_bare_device(void **state SCR_UNUSED)
{
	const struct scr_region bare = {.length = SIZE, .kind = SCR_REGION_BARE};

	assert_int_equal(scr_region_stamp(&bare, 1, SIZE, SCR_CONTENT_AUTO, 0, MIB).ino, 0);
	assert_int_equal(scr_region_stamp(&bare, 1, SIZE, SCR_CONTENT_CHANGING, 0, MIB).ino,
			 SCR_STAMP_CHANGING | SCR_STAMP_UNKNOWN);
}

static void test_untouched(void **state SCR_UNUSED)
{
	assert_int_equal(judge(disk, disk, SCR_CONTENT_AUTO, 0), SCR_JUDGED_ROT);
	assert_int_equal(judge(disk, disk, SCR_CONTENT_AUTO, 20 * MIB), SCR_JUDGED_ROT);
	assert_int_equal(judge(disk, disk, SCR_CONTENT_AUTO, 50 * MIB), SCR_JUDGED_UNSURE);
	assert_int_equal(judge(disk, disk, SCR_CONTENT_FIXED, 50 * MIB), SCR_JUDGED_ROT);
	assert_int_equal(judge(disk, disk, SCR_CONTENT_AUTO, 70 * MIB), SCR_JUDGED_ROT);
	assert_int_equal(judge(disk, disk, SCR_CONTENT_AUTO, 90 * MIB), SCR_JUDGED_ROT);
}

static void test_written(void **state SCR_UNUSED)
{
	struct scr_region now[REGIONS];

	memcpy(now, disk, sizeof(now));
	now[1].token = 8;
	assert_int_equal(judge(disk, now, SCR_CONTENT_AUTO, 20 * MIB), SCR_JUDGED_WRITTEN);
	/* The table in the same extent is not written by that. */
	assert_int_equal(judge(disk, now, SCR_CONTENT_AUTO, 0), SCR_JUDGED_ROT);
	/* A block on the border may be either's. */
	assert_int_equal(judge(disk, now, SCR_CONTENT_AUTO, MIB - 32768), SCR_JUDGED_WRITTEN);
}

static void test_another_file_system(void **state SCR_UNUSED)
{
	struct scr_region now[REGIONS];

	memcpy(now, disk, sizeof(now));
	strcpy(now[1].uuid, "c");
	assert_int_equal(judge(disk, now, SCR_CONTENT_AUTO, 20 * MIB), SCR_JUDGED_WRITTEN);
	/* mkfs where nothing was. */
	memcpy(now, disk, sizeof(now));
	now[3] = (struct scr_region){.offset = 60 * MIB,
				     .length = 20 * MIB,
				     .kind = SCR_REGION_FS,
				     .type = "xfs",
				     .uuid = "d",
				     .evidence = true,
				     .token = 1};
	assert_int_equal(judge(disk, now, SCR_CONTENT_AUTO, 70 * MIB), SCR_JUDGED_WRITTEN);
}

/* A superblock that went bad must not make rot look like a write. */
static void test_lost_evidence(void **state SCR_UNUSED)
{
	struct scr_region now[REGIONS];

	memcpy(now, disk, sizeof(now));
	now[1].evidence = false;
	assert_int_equal(judge(disk, now, SCR_CONTENT_AUTO, 20 * MIB), SCR_JUDGED_ALTERED);
	assert_int_equal(judge(disk, now, SCR_CONTENT_FIXED, 20 * MIB), SCR_JUDGED_ROT);
	/* Nor one that isn't recognised at all; nor a table that lost a partition. */
	now[1] = (struct scr_region){
		.offset = MIB, .length = 39 * MIB, .kind = SCR_REGION_EMPTY, .partition = 1};
	assert_int_equal(judge(disk, now, SCR_CONTENT_AUTO, 20 * MIB), SCR_JUDGED_ALTERED);
	now[1].kind = SCR_REGION_BARE;
	now[1].partition = 0;
	assert_int_equal(judge(disk, now, SCR_CONTENT_AUTO, 20 * MIB), SCR_JUDGED_ALTERED);
}

/* What went bad is no write, whatever else can be told: not another UUID, read from a superblock
 * that is wrong, nor a neighbour in the same extent that lost its evidence. */
static void test_damaged(void **state SCR_UNUSED)
{
	struct scr_region now[REGIONS];

	memcpy(now, disk, sizeof(now));
	now[1].evidence = false;
	now[1].damaged = true;
	strcpy(now[1].uuid, "A");
	assert_int_equal(judge(disk, now, SCR_CONTENT_AUTO, 20 * MIB), SCR_JUDGED_ALTERED);
	assert_int_equal(judge(disk, now, SCR_CONTENT_CHANGING, 20 * MIB), SCR_JUDGED_ALTERED);
	assert_int_equal(judge(disk, now, SCR_CONTENT_AUTO, 50 * MIB), SCR_JUDGED_UNSURE);
	/* LVM in the second half of that extent. */
	assert_int_equal(judge(disk, now, SCR_CONTENT_AUTO, 41 * MIB), SCR_JUDGED_ALTERED);
	/* LVM that is damaged itself, beside ext4 that shows that it was not written, or was. */
	memcpy(now, disk, sizeof(now));
	now[2].damaged = true;
	assert_int_equal(judge(disk, now, SCR_CONTENT_AUTO, 50 * MIB), SCR_JUDGED_ALTERED);
	assert_int_equal(judge(disk, now, SCR_CONTENT_AUTO, 39 * MIB), SCR_JUDGED_ROT);
	now[1].token = 8;
	assert_int_equal(judge(disk, now, SCR_CONTENT_AUTO, 39 * MIB), SCR_JUDGED_ALTERED);
	assert_int_equal(judge(disk, now, SCR_CONTENT_AUTO, 20 * MIB), SCR_JUDGED_WRITTEN);
	/* It was recorded like that: no news. */
	assert_int_equal(judge(now, now, SCR_CONTENT_AUTO, 50 * MIB), SCR_JUDGED_UNSURE);
	/* A damaged table. */
	memcpy(now, disk, sizeof(now));
	now[0].damaged = true;
	assert_int_equal(judge(disk, now, SCR_CONTENT_AUTO, 0), SCR_JUDGED_ROT);
	now[1].token = 8;
	assert_int_equal(judge(disk, now, SCR_CONTENT_AUTO, 2 * MIB), SCR_JUDGED_ALTERED);
}

/* Not recognised at all, where differences are said to be writes. */
static void test_lost_and_changing(void **state SCR_UNUSED)
{
	struct scr_region now[REGIONS];

	memcpy(now, disk, sizeof(now));
	now[1] = (struct scr_region){
		.offset = MIB, .length = 39 * MIB, .kind = SCR_REGION_EMPTY, .partition = 1};
	assert_int_equal(judge(disk, now, SCR_CONTENT_CHANGING, 20 * MIB), SCR_JUDGED_ALTERED);
	assert_int_equal(judge(now, now, SCR_CONTENT_CHANGING, 20 * MIB), SCR_JUDGED_UNSURE);
}

/* A machine that crashed: its file system shows that it was mounted, which is writing. */
static void test_dirty(void **state SCR_UNUSED)
{
	struct scr_region now[REGIONS];

	memcpy(now, disk, sizeof(now));
	now[1].evidence = false;
	now[1].dirty = true;
	assert_int_equal(judge(disk, now, SCR_CONTENT_AUTO, 20 * MIB), SCR_JUDGED_WRITTEN);
	assert_int_equal(judge(disk, now, SCR_CONTENT_FIXED, 20 * MIB), SCR_JUDGED_ROT);
	assert_int_equal(judge(disk, now, SCR_CONTENT_AUTO, 0), SCR_JUDGED_ROT);
	/* Its neighbour in that extent is as uncertain as ever. */
	assert_int_equal(judge(disk, now, SCR_CONTENT_AUTO, 41 * MIB), SCR_JUDGED_UNSURE);
	/* It was that already. */
	assert_int_equal(judge(now, now, SCR_CONTENT_AUTO, 20 * MIB), SCR_JUDGED_UNSURE);
	now[1].damaged = true;
	assert_int_equal(judge(disk, now, SCR_CONTENT_AUTO, 20 * MIB), SCR_JUDGED_ALTERED);
}

static void test_recorded_in_use(void **state SCR_UNUSED)
{
	struct scr_stamp is = stamp(disk, SCR_CONTENT_AUTO, 16 * MIB, 16 * MIB), was = is;

	assert_int_equal(scr_stamp_judge(&was, &is, &is), SCR_JUDGED_ROT);
	was.ino |= SCR_STAMP_IN_USE;
	assert_int_equal(scr_stamp_judge(&was, &is, &is), SCR_JUDGED_WRITTEN);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_classes),
		cmocka_unit_test(test_bare_device),
		cmocka_unit_test(test_untouched),
		cmocka_unit_test(test_written),
		cmocka_unit_test(test_another_file_system),
		cmocka_unit_test(test_lost_evidence),
		cmocka_unit_test(test_damaged),
		cmocka_unit_test(test_lost_and_changing),
		cmocka_unit_test(test_dirty),
		cmocka_unit_test(test_recorded_in_use),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What lies where on a device: partition tables in image files. */
#include <config.h>
#include "dev_util.h"

#include "dev/region.h"
#include "dev/region_internal.h"

static struct scr_region *list;
static size_t count;

static void probe_sectors(const char *path, uint32_t logical)
{
	int fd = dev_open(path);
	uint64_t at = 0;
	struct stat st;

	free(list);
	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(scr_regions_probe(fd, (uint64_t)st.st_size, logical, &list, &count), 0);
	close(fd);
	for (size_t i = 0; i < count; i++) {
		assert_int_equal(list[i].offset, at);
		assert_true(list[i].length > 0);
		assert_ptr_equal(scr_region_at(list, count, at), &list[i]);
		at += list[i].length;
		assert_ptr_equal(scr_region_at(list, count, at - 1), &list[i]);
		assert_true(!list[i].evidence == !list[i].token);
	}
	assert_int_equal(at, st.st_size);
	assert_null(scr_region_at(list, count, at));
}

static void is(size_t i, uint64_t offset, uint64_t length, enum scr_region_kind kind,
	       const char *text)
{
	char said[128];

	assert_true(i < count);
	assert_int_equal(list[i].offset, offset);
	assert_int_equal(list[i].length, length);
	assert_int_equal(list[i].kind, kind);
	scr_region_describe(&list[i], said, sizeof(said));
	assert_string_equal(said, text);
}

static void test_crc32c(void **state)
{
	(void)state;
	assert_int_equal(~scr_crc32c(~0u, "123456789", 9), 0xe3069283);
	assert_int_equal(scr_crc32c(scr_crc32c(~0u, "1234", 4), "56789", 5),
			 scr_crc32c(~0u, "123456789", 9));
}

static void claim(struct scr_claims *c, uint64_t offset, uint64_t length, int partition)
{
	struct scr_region r = {.offset = offset, .length = length, .kind = SCR_REGION_EMPTY};

	r.partition = partition;
	assert_int_equal(scr_claims_add(c, &r), 0);
}

/* "offset+length:partition ..." */
static const char *settled(struct scr_claims *c, uint64_t size)
{
	static char text[512];
	size_t n = 0;

	text[0] = '\0';
	assert_int_equal(scr_claims_settle(c, size), 0);
	for (size_t i = 0; i < c->count; i++)
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%u+%u:%d", i ? " " : "",
				      (unsigned int)c->list[i].offset,
				      (unsigned int)c->list[i].length, c->list[i].partition);
	free(c->list);
	*c = (struct scr_claims){0};
	return text;
}

static void test_settle(void **state)
{
	struct scr_claims c = {0};

	(void)state;
	assert_string_equal(settled(&c, 10), "0+10:0");
	claim(&c, 4, 2, 2);
	claim(&c, 1, 3, 1);
	assert_string_equal(settled(&c, 10), "0+1:0 1+3:1 4+2:2 6+4:0");
	/* partitions in another */
	claim(&c, 2, 10, 9);
	claim(&c, 3, 2, 5);
	claim(&c, 6, 6, 6);
	assert_string_equal(settled(&c, 14), "0+2:0 2+1:9 3+2:5 5+1:9 6+6:6 12+2:0");
	claim(&c, 0, 4, 5);
	claim(&c, 0, 8, 9);
	assert_string_equal(settled(&c, 8), "0+4:5 4+4:9");
	/* tables that make no sense */
	claim(&c, 0, 6, 1);
	claim(&c, 4, 6, 2);
	claim(&c, 5, 1, 3);
	assert_string_equal(settled(&c, 10), "0+4:1 4+1:2 5+1:3 6+4:2");
	claim(&c, 8, 99, 1);
	assert_string_equal(settled(&c, 10), "0+8:0 8+2:1");
}

#define MIB (1 << 20)

static void test_gpt(void **state)
{
	(void)state;
	assert_true(dev_sh("truncate -s 64M d && printf 'label: gpt\\nsize=16M\\nsize=8M\\n"
			   "start=30M,size=4M\\nsize=4M\\n' | sfdisk -q d && "
			   "mkfs.ext4 -q -L \"my 'x'\" -E offset=1048576 d 16M && "
			   "mkswap -q -L s t && false; truncate -s 4M t && mkswap -L s t && "
			   "dd if=t of=d bs=1M seek=30 conv=notrunc && "
			   "printf 'LUKS\\272\\276\\0\\1' | dd of=d bs=1M seek=34 conv=notrunc"));
	probe_sectors("d", 512);
	assert_int_equal(count, 9);
	is(0, 0, 34 * 512, SCR_REGION_TABLE, "the primary GPT");
	is(1, 34 * 512, MIB - 34 * 512, SCR_REGION_BARE, "outside of the partitions");
	is(2, MIB, 16 * MIB, SCR_REGION_FS, "partition 1 (ext4 'my 'x'')");
	assert_true(list[2].evidence && list[2].uuid[0]);
	is(3, 17 * MIB, 8 * MIB, SCR_REGION_EMPTY, "partition 2 (no known content)");
	is(4, 25 * MIB, 5 * MIB, SCR_REGION_BARE, "outside of the partitions");
	is(5, 30 * MIB, 4 * MIB, SCR_REGION_FS, "partition 3 (swap 's')");
	assert_false(list[5].evidence);
	is(6, 34 * MIB, 4 * MIB, SCR_REGION_STACK, "partition 4 (crypto_LUKS)");
	is(7, 38 * MIB, 26 * MIB - 33 * 512, SCR_REGION_BARE, "outside of the partitions");
	is(8, 64 * MIB - 33 * 512, 33 * 512, SCR_REGION_TABLE, "the backup GPT");
	/* The backup does when the primary is gone. */
	assert_true(dev_sh("dd if=/dev/zero of=d bs=512 seek=1 count=1 conv=notrunc"));
	probe_sectors("d", 512);
	assert_int_equal(count, 9);
	is(2, MIB, 16 * MIB, SCR_REGION_FS, "partition 1 (ext4 'my 'x'')");
	assert_true(list[0].damaged && !list[2].damaged && !list[8].damaged);
}

static void test_dos(void **state)
{
	(void)state;
	assert_true(dev_sh(
		"truncate -s 40M d && printf 'label: dos\\n1: size=8M\\n2: size=20M,type=5\\n"
		"5: size=5M\\n6: size=6M\\n' | sfdisk -q d"));
	/* The logical ones begin 1 MiB into what is left of the extended one. */
	assert_true(dev_sh("mkfs.ext4 -q -L two -E offset=$((16 << 20)) d 6M"));
	probe_sectors("d", 512);
	assert_int_equal(count, 9);
	is(0, 0, 512, SCR_REGION_TABLE, "the partition table");
	is(1, 512, MIB - 512, SCR_REGION_BARE, "outside of the partitions");
	is(2, MIB, 8 * MIB, SCR_REGION_EMPTY, "partition 1 (no known content)");
	is(3, 9 * MIB, MIB, SCR_REGION_TABLE, "the tables of the logical partitions");
	is(4, 10 * MIB, 5 * MIB, SCR_REGION_EMPTY, "partition 5 (no known content)");
	is(5, 15 * MIB, MIB, SCR_REGION_TABLE, "the tables of the logical partitions");
	is(6, 16 * MIB, 6 * MIB, SCR_REGION_FS, "partition 6 (ext4 'two')");
	assert_true(list[6].evidence);
	is(7, 22 * MIB, 7 * MIB, SCR_REGION_TABLE, "the tables of the logical partitions");
	is(8, 29 * MIB, 11 * MIB, SCR_REGION_BARE, "outside of the partitions");
}

static void test_sectors_of_4096(void **state)
{
	char *name;

	(void)state;
	NEED_LOOP();
	assert_true(dev_sh("truncate -s 32M d"));
	name = dev_attach("d", "-b 4096");
	assert_true(dev_sh("printf 'label: gpt\\nsize=8M\\n' | sfdisk -q --no-reread %s", name));
	dev_detach(name);
	probe_sectors("d", 4096);
	assert_int_equal(count, 5);
	is(0, 0, 2 * 4096 + 16384, SCR_REGION_TABLE, "the primary GPT");
	is(2, MIB, 8 * MIB, SCR_REGION_EMPTY, "partition 1 (no known content)");
	is(4, 32 * MIB - 5 * 4096, 5 * 4096, SCR_REGION_TABLE, "the backup GPT");
}

static void test_whole(void **state)
{
	int fd;

	(void)state;
	/* nothing, in sizes that are no sectors */
	assert_true(dev_sh("truncate -s 1234567 d"));
	probe_sectors("d", 512);
	assert_int_equal(count, 1);
	is(0, 0, 1234567, SCR_REGION_EMPTY, "a device without known content");
	sys_write("e", "", 0, 0644);
	fd = dev_open("e");
	free(list);
	assert_int_equal(scr_regions_probe(fd, 0, 512, &list, &count), 0);
	assert_int_equal(count, 0);
	assert_null(list);
	close(fd);
	sys_write("e", "x", 1, 0644);
	probe_sectors("e", 512);
	assert_int_equal(count, 1);
	/* a file system without a table */
	assert_true(dev_sh("mkfs.ext4 -q -L all d"));
	probe_sectors("d", 512);
	assert_int_equal(count, 1);
	is(0, 0, 1234567, SCR_REGION_FS, "the ext4 'all'");
	assert_true(list[0].evidence);
	/* a table without partitions */
	assert_true(dev_sh("truncate -s 0 d; truncate -s 2M d; echo label: dos | sfdisk -q d"));
	probe_sectors("d", 512);
	assert_int_equal(count, 2);
	is(0, 0, 512, SCR_REGION_TABLE, "the partition table");
	is(1, 512, 2 * MIB - 512, SCR_REGION_BARE, "outside of the partitions");
	/* a file system and a table with partitions: which is right? */
	assert_true(dev_sh("truncate -s 0 d; truncate -s 16M d; mkfs.ext4 -q d; "
			   "echo size=2M | sfdisk -q --wipe never d"));
	probe_sectors("d", 512);
	assert_int_equal(count, 1);
	assert_int_equal(list[0].kind, SCR_REGION_FS);
	assert_false(list[0].evidence);
}

static int teardown(void **state)
{
	free(list);
	list = NULL;
	return dev_teardown(state);
}

#define T(f) cmocka_unit_test_setup_teardown(f, sys_setup, teardown)

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_crc32c),
	cmocka_unit_test(test_settle),
	T(test_gpt),
	T(test_dos),
	T(test_sectors_of_4096),
	T(test_whole),
};

DEV_MAIN(tests)

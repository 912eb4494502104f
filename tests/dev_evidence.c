/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Evidence of writing: images of file systems, mounted, written, and with flipped bytes. */
#include <config.h>
#include "dev_util.h"

#include "base/compiler.h"
#include "dev/region.h"

/* What is found at the beginning of "img". */
static struct scr_region look(void)
{
	struct scr_region *list, r;
	int fd = dev_open("img");
	size_t count;
	struct stat st;

	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(scr_regions_probe(fd, (uint64_t)st.st_size, 512, &list, &count), 0);
	assert_int_equal(count, 1);
	r = list[0];
	free(list);
	close(fd);
	return r;
}

static uint64_t token(void)
{
	struct scr_region r = look();

	assert_int_equal(r.kind, SCR_REGION_FS);
	assert_true(!r.evidence == !r.token);
	return r.token;
}

static void flip(uint64_t at, uint8_t bits)
{
	int fd = open("img", O_RDWR | O_CLOEXEC);
	uint8_t byte;

	assert_int_equal(pread(fd, &byte, 1, (off_t)at), 1);
	byte ^= bits;
	assert_int_equal(pwrite(fd, &byte, 1, (off_t)at), 1);
	close(fd);
}

/* Mounts "img" with @options, runs @command there, lets go. */
static bool with(const char *options, const char *command)
{
	mkdir("m", 0755);
	return dev_sh("mount -o loop,%s img m && { (cd m && %s); s=$?; umount m; exit $s; }",
		      options, command);
}

/* Of what was copied while it was mounted for writing. */
static void crashed(void)
{
	uint64_t clean = token();
	struct scr_region r;

	assert_true(clean);
	SKIP_UNLESS(
		with("rw", "seq 99 >c; sync; echo d >e; sync -d e; sleep 0.1; cp ../img ../copy"),
		"this kernel doesn't mount it");
	assert_true(dev_sh("cp img unmounted && mv copy img"));
	r = look();
	assert_int_equal(r.kind, SCR_REGION_FS);
	assert_false(r.evidence);
	assert_false(r.damaged);
	assert_true(r.dirty);
	assert_true(dev_sh("mv unmounted img"));
	assert_true(token());
}

/* What "img" becomes by @command never has the token that it had, unless it is the same. */
static void honest(const char *command)
{
	uint64_t before = token();
	bool same;

	assert_true(before);
	assert_true(dev_sh("cp img before && { %s; }", command));
	same = dev_sh("cmp -s before img");
	assert_true(same == (token() == before));
}

/* Mounted read-only, where the device could be written: xfs writes then. */
static void read_only_mount(void)
{
	char *name = dev_attach("img", "");
	char command[256];

	snprintf(command, sizeof(command), "mount -o ro %s m && ls m && sync && umount m && sync",
		 name);
	honest(command);
	honest(command);
	/* What is there in between. */
	snprintf(command, sizeof(command),
		 "mount -o ro %s m && ls m && sync && cp img copy && umount m && sync && mv img "
		 "after && "
		 "mv copy img",
		 name);
	honest(command);
	assert_true(dev_sh("mv after img"));
	dev_detach(name);
}

/* What holds for each file system that was just made in "img". */
static void lifetime(void)
{
	uint64_t fresh = token(), mounted, written, again;

	assert_true(fresh);
	assert_true(token() == fresh);
	SKIP_UNLESS(with("rw", "true"), "this kernel doesn't mount it");
	mounted = token();
	assert_true(mounted);
	assert_true(with("rw", "seq 9999 >a && sync"));
	written = token();
	assert_true(written && written != mounted && written != fresh);
	assert_true(with("ro", "cat a && ls -l"));
	assert_true(token() == written);
	assert_true(with("ro", "cat a && ls -l"));
	assert_true(token() == written);
	read_only_mount();
	written = token();
	/* over what was there, without any more space */
	assert_true(with("rw", "echo x | dd of=a bs=1 seek=100 conv=notrunc"));
	again = token();
	assert_true(again && again != written && again != mounted && again != fresh);
}

/* No byte of [@from, @to) can be flipped without being noticed: there is no evidence, or (where it
 * isn't part of it) the same. */
static void flips(uint64_t from, uint64_t to, unsigned int step)
{
	uint64_t right = token();

	assert_true(right);
	for (uint64_t at = from; at < to; at += step) {
		struct scr_region r;

		flip(at, (uint8_t)(1 << (at / step % 8)));
		r = look();
		flip(at, (uint8_t)(1 << (at / step % 8)));
		if (r.evidence && r.token != right)
			fail_msg("another token by a flip at %llu", (unsigned long long)at);
		if (r.dirty)
			fail_msg("written, by a flip at %llu", (unsigned long long)at);
	}
	assert_true(token() == right);
}

static bool evidence_with(uint64_t at)
{
	struct scr_region r;

	flip(at, 1);
	r = look();
	flip(at, 1);
	return r.evidence;
}

static void test_ext4(void **state)
{
	(void)state;
	assert_true(dev_sh("truncate -s 16M img && mkfs.ext4 -q img"));
	flips(1024, 2048, 1);
	assert_false(evidence_with(1024 + 0x30));
	assert_false(evidence_with(1024 + 0x34));
	assert_false(evidence_with(1024 + 0x3fd));
	/* Known to be there all the same. */
	flip(1024 + 0x30, 1);
	assert_string_equal(look().type, "ext4");
	assert_true(look().damaged);
	flip(1024 + 0x30, 1);
	assert_false(look().damaged);
	lifetime();
	crashed();
}

/* Of ext2 and ext3, which have no checksum. */
static void without_checksum(const char *make)
{
	assert_true(dev_sh("truncate -s 16M img && %s img", make));
	assert_true(token());
	assert_false(evidence_with(1024 + 0x00)); /* inodes */
	assert_false(evidence_with(1024 + 0x68)); /* UUID */
	assert_false(evidence_with(1024 + 0x2b)); /* inodes in a group */
	flip(1024 + 0x33, 0x80);                  /* written before 1970 */
	flip(1024 + 0x33, 0x80);
	lifetime();
}

static void test_ext3(void **state)
{
	(void)state;
	without_checksum("mkfs.ext3 -q -b 1024");
}

static void test_ext2(void **state)
{
	(void)state;
	without_checksum("mkfs.ext2 -q -b 1024");
	crashed();
}

/* One block group, no backup. */
static void test_ext2_small(void **state)
{
	(void)state;
	assert_true(dev_sh("truncate -s 4M img && mkfs.ext2 -q -b 1024 img"));
	assert_int_equal(look().kind, SCR_REGION_FS);
	assert_int_equal(token(), 0);
}

/* The superblock is not its own backup. */
static void test_ext2_no_backup(void **state)
{
	(void)state;
	assert_true(dev_sh("truncate -s 16M img && mkfs.ext2 -q -b 1024 "
			   "-O sparse_super2 -E num_backup_sb=0 img"));
	assert_int_equal(look().kind, SCR_REGION_FS);
	assert_false(look().damaged);
	assert_int_equal(token(), 0);
}

static void test_tools(void **state)
{
	uint64_t before;

	(void)state;
	assert_true(dev_sh("truncate -s 16M img && mkfs.ext4 -q img"));
	before = token();
	assert_true(dev_sh("e2fsck -fn img; dumpe2fs img"));
	assert_true(token() == before);
	assert_true(dev_sh("sleep 1.1; debugfs -w -R 'write /bin/sh sh' img"));
	assert_true(token() && token() != before);
}

/* The primary superblock beyond recognition: a backup tells what was here, but not when. */
static void test_lost_superblock(void **state)
{
	struct scr_region r;

	(void)state;
	assert_true(dev_sh("truncate -s 32M img && mkfs.ext4 -q -b 1024 -U "
			   "12345678-1234-4321-8765-123456789abc img"));
	flip(1024 + 0x38, 1);
	r = look();
	assert_int_equal(r.kind, SCR_REGION_FS);
	assert_string_equal(r.type, "ext4");
	assert_string_equal(r.uuid, "12345678-1234-4321-8765-123456789abc");
	assert_true(r.damaged);
	assert_false(r.evidence);
	assert_true(dev_sh("rm img; truncate -s 200M img && mkfs.btrfs -q -U "
			   "12345678-1234-4321-8765-123456789abc img"));
	flip(65536 + 64, 1);
	r = look();
	assert_string_equal(r.type, "btrfs");
	assert_string_equal(r.uuid, "12345678-1234-4321-8765-123456789abc");
	assert_true(r.damaged);
	assert_false(r.evidence);
}

/* Where the log of the xfs in "img" lies, and its length, in bytes. */
static void find_log(uint64_t *at, uint64_t *length)
{
	const char *line =
		dev_line("xfs_db -r -c 'sb 0' -c 'p logstart logblocks agblklog agblocks' img | "
			 "awk '{print $3}' | tr '\\n' ' '");
	unsigned long long start, blocks, log2, size;

	assert_int_equal(sscanf(line, "%llu %llu %llu %llu", &start, &blocks, &log2, &size), 4);
	*at = ((start >> log2) * size + (start & ((1ULL << log2) - 1))) * 4096;
	*length = blocks * 4096;
}

/* Any flip in the numbers of cycles and record headers leaves no evidence, or the right one. */
static void log_flips(uint64_t at, uint64_t length)
{
	/* where halving looks first, and the beginning, where it ends */
	for (uint64_t part = length; part >= 1 << 14; part /= 2)
		flips(at + part - 512, at + SCR_MIN(part + 512, length), 509);
	for (unsigned int byte = 0; byte < 24; byte += 3)
		flips(at + byte, at + (200 << 10), 512);
	flips(at, at + 1024, 1);
}

static void test_xfs(void **state)
{
	uint64_t at, length, before;

	(void)state;
	assert_true(dev_sh("truncate -s 320M img && mkfs.xfs -q -d agcount=2 img"));
	flips(0, 512, 1);
	assert_false(evidence_with(240)); /* its LSN */
	find_log(&at, &length);
	log_flips(at, length);
	lifetime();
	crashed();
	log_flips(at, length);
	before = token();
	assert_true(dev_sh("xfs_repair -n img; xfs_db -r -c 'sb 0' -c p img"));
	assert_true(token() == before);
}

/* Appends @n times to a file and syncs it: a record in the log each time. */
#define APPENDS(n)                                                                                 \
	"python3 -c \"import os; f = os.open('a', os.O_WRONLY | os.O_CREAT | os.O_APPEND);"        \
	" [(os.write(f, b'x'), os.fsync(f)) for i in range(" n ")]\""

/* mkfs.xfs makes logs below 64 MiB only for the tests of xfs. */
#define SMALL "TEST_DIR=x TEST_DEV=x QA_CHECK_FS=x mkfs.xfs -q -d agcount=2 -l size=1504b"

static uint8_t first_cycle(uint64_t at)
{
	uint8_t head[8] = {0};
	int fd = dev_open("img");

	assert_int_equal(pread(fd, head, sizeof(head), (off_t)at), sizeof(head));
	close(fd);
	return head[0] == 0xfe ? head[7] : head[3];
}

/* Round the corner of the smallest log, whose records don't fit in evenly. */
static void test_xfs_corner(void **state)
{
	uint64_t last = 0, at, length;
	unsigned int rounds = 0;

	(void)state;
	assert_true(dev_sh("truncate -s 40M img && " SMALL " img"));
	find_log(&at, &length);
	do {
		uint64_t now;

		SKIP_UNLESS(with("rw", APPENDS("700")), "this kernel mounts no xfs");
		now = token();
		assert_true(now && now != last);
		last = now;
	} while (first_cycle(at) == 1 && ++rounds < 20);
	assert_int_equal(first_cycle(at), 2);
	log_flips(at, length);
}

/* Several times round, with padded records. */
static void test_xfs_cycles(void **state)
{
	uint64_t last = 0, at, length;

	(void)state;
	assert_true(dev_sh("truncate -s 40M img && " SMALL ",su=32k img"));
	find_log(&at, &length);
	for (unsigned int i = 0; i < 12; i++) {
		uint64_t now;

		SKIP_UNLESS(with("rw", APPENDS("70")), "this kernel mounts no xfs");
		now = token();
		assert_true(now && now != last);
		last = now;
	}
	assert_true(first_cycle(at) >= 3);
	log_flips(at, length);
}

/* A record of several headers, a striped log. */
static void test_xfs_wide(void **state)
{
	(void)state;
	assert_true(dev_sh("truncate -s 320M img && mkfs.xfs -q -d agcount=2 -l su=256k img"));
	assert_true(token());
	SKIP_UNLESS(with("logbsize=256k", "for i in $(seq 3000); do echo $i >f$i; done; sync"),
		    "this kernel mounts no xfs");
	assert_true(token());
	lifetime();
}

/* Version 4 has no checksums; kernels may no longer mount it. */
static void test_xfs_v4(void **state)
{
	(void)state;
	assert_true(dev_sh("truncate -s 320M img && mkfs.xfs -q -m crc=0 img"));
	assert_string_equal(look().type, "xfs");
	assert_int_equal(token(), 0);
}

static void test_btrfs(void **state)
{
	(void)state;
	assert_true(dev_sh("truncate -s 200M img && mkfs.btrfs -q img"));
	flips(65536, 65536 + 4096, 7);
	assert_false(evidence_with(65536 + 72));
	assert_false(evidence_with(65536 + 4095));
	lifetime();
	/* fsync writes a log between commits */
	crashed();
}

static void test_btrfs_xxhash(void **state)
{
	(void)state;
	assert_true(dev_sh("truncate -s 200M img && mkfs.btrfs -q --csum sha256 img"));
	assert_true(token());
	assert_false(evidence_with(65536 + 72));
	lifetime();
}

static void test_others(void **state)
{
	(void)state;
	assert_true(dev_sh("truncate -s 16M img && mkfs.vfat img"));
	assert_string_equal(look().type, "vfat");
	assert_int_equal(token(), 0);
}

static const struct CMUnitTest tests[] = {
	DEV_T(test_ext4),
	DEV_T(test_ext3),
	DEV_T(test_ext2),
	DEV_T(test_ext2_no_backup),
	DEV_T(test_ext2_small),
	DEV_T(test_tools),
	DEV_T(test_lost_superblock),
	DEV_T(test_xfs),
	DEV_T(test_xfs_corner),
	DEV_T(test_xfs_cycles),
	DEV_T(test_xfs_wide),
	DEV_T(test_xfs_v4),
	DEV_T(test_btrfs),
	DEV_T(test_btrfs_xxhash),
	DEV_T(test_others),
};

DEV_MAIN(tests)

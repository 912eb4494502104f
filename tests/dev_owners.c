/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Whose bytes: files, free space and metadata of mounted images, by where filefrag says they are.
 */
#include <config.h>
#include "dev_util.h"

#include <linux/btrfs_tree.h>
#include <sys/ioctl.h>

#include "base/clock.h"
#include "base/compiler.h"
#include "base/endian.h"
#include "dev/owner.h"
#include "dev/owner_chunk.h"

/* What was told, a line each: "OFFSET+LENGTH KIND PATH@OFFSET WHAT". */
static char said[8192];

static void note(void *arg, const struct scr_owner *o)
{
	static const char *const kinds[] = {"file", "free", "metadata", "unknown"};
	size_t n = strlen(said);

	(void)arg;
	n += (size_t)snprintf(said + n, sizeof(said) - n, "%llu+%llu %s",
			      (unsigned long long)o->offset, (unsigned long long)o->length,
			      kinds[o->kind]);
	if (o->path)
		n += (size_t)snprintf(said + n, sizeof(said) - n, " %.*s", (int)o->path_len,
				      o->path);
	if (o->kind == SCR_OWNER_FILE)
		n += (size_t)snprintf(said + n, sizeof(said) - n, "@%llu",
				      (unsigned long long)o->file_offset);
	if (o->what)
		n += (size_t)snprintf(said + n, sizeof(said) - n, " (%s)", o->what);
	snprintf(said + n, sizeof(said) - n, "\n");
}

static char *device;  /* mounted at "m" */
static uint64_t base; /* where the file system begins on what is asked about */

static const char *ask_until(int64_t deadline_ns, uint64_t a, uint64_t a_len, uint64_t b,
			     uint64_t b_len)
{
	struct scr_owners *o = NULL;

	said[0] = '\0';
	assert_int_equal(scr_owners_open("m", dev_number(device), base, &o), 0);
	assert_int_equal(scr_owners_add(o, base + a, a_len), 0);
	assert_int_equal(scr_owners_add(o, base + b, b_len), 0);
	assert_int_equal(scr_owners_find(o, deadline_ns, note, NULL), 0);
	scr_owners_close(o);
	return said;
}

static const char *ask(uint64_t at, uint64_t len)
{
	int64_t now = scr_clock_monotonic(&scr_clock_system);

	return ask_until(now + 60 * SCR_NS_PER_S, at, len, 0, 0);
}

SCR_PRINTF(3, 4) static void is(uint64_t at, uint64_t len, const char *format, ...)
{
	char expect[1024];
	int n = snprintf(expect, sizeof(expect), "%llu+%llu ", (unsigned long long)(base + at),
			 (unsigned long long)len);
	va_list args;

	va_start(args, format);
	vsnprintf(expect + n, sizeof(expect) - (size_t)n, format, args);
	va_end(args);
	strcat(expect, "\n");
	assert_string_equal(ask(at, len), expect);
}

/* Where byte @offset of m/@path is, by FIEMAP. */
static uint64_t where(const char *path, uint64_t offset)
{
	const char *line =
		dev_line("filefrag -b1 -v m/%s | tr .: '  ' | awk -v o=%llu "
			 "'$1 ~ /^[0-9]+$/ && $2 <= o + 0 && o + 0 <= $3 {print $4 + o - $2}'",
			 path, (unsigned long long)offset);

	assert_true(line[0]);
	return strtoull(line, NULL, 10);
}

/* "img" mounted from the loop device, with files in it. False: the kernel can't. */
static bool make(const char *mkfs, const char *size)
{
	base = 0;
	mkdir("m", 0755);
	assert_true(dev_sh("truncate -s %s img && %s img", size, mkfs));
	device = dev_attach("img", "");
	if (!dev_sh("mount %s m", device))
		return false;
	assert_true(
		dev_sh("cd m && mkdir -p 'd/e f' && head -c 3000000 /dev/urandom >'d/e f/big' && "
		       "head -c 9000 /dev/urandom >small && ln small d/link && "
		       "head -c 500000 /dev/urandom >gone && sync && filefrag -b1 -v gone"));
	return true;
}

static void release(void)
{
	assert_true(dev_sh("umount m"));
	dev_detach(device);
	device = NULL;
}

/* What holds for each file system. */
static void files(void)
{
	uint64_t at = where("'d/e f/big'", 1234567 & ~511), gone = where("gone", 0);
	const char *both;

	/* from the middle of a block to the middle of the next */
	is(at, 512, "file d/e f/big@%u", 1234567 & ~511);
	is(at + 512, 8192, "file d/e f/big@%u", (1234567 & ~511) + 512);
	is(at + 1, 1, "file d/e f/big@%u", (1234567 & ~511) + 1);
	/* by one of its names */
	both = ask(where("small", 4096), 4096);
	assert_true(strstr(both, "file small@4096\n") || strstr(both, "file d/link@4096\n"));
	is(gone, 4096, "file gone@0");
	assert_true(dev_sh("rm m/gone && sync -f m && sleep 0.1 && sync -f m"));
}

static void test_refused(void **state)
{
	struct scr_owners *o = NULL;
	char *other;

	(void)state;
	assert_int_equal(scr_owners_open("/nowhere", 1, 0, &o), -ENOENT);
	assert_int_equal(scr_owners_open("/proc", 1, 0, &o), -ENOTSUP);
	assert_null(o);
	NEED_LOOP();
	SKIP_UNLESS(make("mkfs.ext4 -q", "16M"), "this kernel mounts no ext4");
	assert_true(dev_sh("cp img other"));
	other = dev_attach("other", "");
	assert_int_equal(scr_owners_open("m", dev_number(other), 0, &o), -EXDEV);
	assert_int_equal(scr_owners_open("m", dev_number(device), 4096, &o), 0);
	assert_int_equal(scr_owners_add(o, 4095, 1), -EINVAL);
	scr_owners_close(o);
	scr_owners_close(NULL);
	dev_detach(other);
	release();
}

static void test_ext4(void **state)
{
	uint64_t gone, at, dir;
	const char *line;

	(void)state;
	NEED_LOOP();
	SKIP_UNLESS(make("mkfs.ext4 -q -b 4096", "40M"), "this kernel mounts no ext4");
	gone = where("gone", 0);
	files();
	is(gone, 4096, "free");
	is(1024, 1024, "metadata (superblock)");
	is(4096, 4096, "metadata (group descriptors)");
	line = dev_line("dumpe2fs img | sed -n 's/.*Inode table at \\([0-9]*\\)-.*/\\1/p'");
	assert_true(line[0]);
	is(strtoull(line, NULL, 10) * 4096, 4096, "metadata (inodes)");
	line = dev_line("debugfs -R 'bmap <8> 5' img");
	assert_true(line[0]);
	is(strtoull(line, NULL, 10) * 4096, 4096,
	   "metadata (journal, index, or a file without a name)");
	line = dev_line("debugfs -R 'bmap /d 0' img");
	assert_true(line[0]);
	is(strtoull(line, NULL, 10) * 4096, 4096, "metadata d (directory)");
	dir = strtoull(dev_line("debugfs -R 'bmap / 0' img"), NULL, 10) * 4096;
	is(dir, 4096, "metadata . (directory)");

	/* Two ranges in one walk, in order, and one that reaches beyond the file. */
	at = where("small", 0);
	ask_until(INT64_MAX, at + 4096, 4096, dir, 1);
	line = strchr(said, '\n') + 1;
	assert_true(dir < at ? strstr(said, "metadata . (directory)") < line
			     : strstr(line, "metadata . (directory)") != NULL);
	assert_true(strstr(said, "@4096\n"));

	/* No time left: what needs the walk is unknown, what doesn't isn't. */
	ask_until(0, at, 4096, 1024, 1024);
	assert_true(strstr(said, "unknown\n") && strstr(said, "metadata (superblock)\n"));

	/* On a disk that begins before the file system. */
	base = 1 << 20;
	is(at, 512, strstr(ask(at, 512), "d/link") ? "file d/link@0" : "file small@0");
	release();
}

/* A file that is open, but has no name any more; small blocks. */
static void test_ext4_nameless(void **state)
{
	uint64_t at;
	int fd;

	(void)state;
	NEED_LOOP();
	SKIP_UNLESS(make("mkfs.ext4 -q -b 1024", "40M"), "this kernel mounts no ext4");
	files();
	fd = open("m/x", O_RDWR | O_CREAT, 0600);
	assert_int_equal(ftruncate(fd, 0), 0);
	assert_int_equal(write(fd, said, 2000), 2000);
	assert_int_equal(fsync(fd), 0);
	at = where("x", 1024);
	is(at, 1024, "file x@1024");
	assert_int_equal(unlink("m/x"), 0);
	is(at, 1024, "metadata (journal, index, or a file without a name)");
	close(fd);
	release();
}

static void xfs(const char *mkfs, bool rmap)
{
	uint64_t gone;
	const char *line;

	SKIP_UNLESS(make(mkfs, "320M"), "this kernel mounts no xfs");
	gone = where("gone", 0);
	files();
	is(gone + 65536, 4096, "free");
	is(0, 512,
	   rmap ? "metadata (superblock)" : "metadata (journal, index, or a file without a name)");
	line = dev_line("xfs_db -r -c 'sb 0' -c 'p logstart' -c 'p agblklog' -c 'p agblocks' img | "
			"awk '{v[NR] = $3} END {a = int(v[1] / 2 ^ v[2]); print (a * v[3] + v[1] - "
			"a * 2 ^ v[2]) * 4096}'");
	assert_true(line[0]);
	if (rmap)
		is(strtoull(line, NULL, 10) + 4096, 4096, "metadata (the journal)");
	/* two files share one place */
	if (dev_sh("cp --reflink=always 'm/d/e f/big' m/twin && sync")) {
		ask(where("twin", 40960), 8192);
		assert_true(strstr(said, "+8192 file d/e f/big@40960\n"));
		assert_true(strstr(said, "+8192 file twin@40960\n"));
	}
	release();
}

static void test_xfs(void **state)
{
	(void)state;
	NEED_LOOP();
	xfs("mkfs.xfs -q -m rmapbt=0", false);
}

static void test_xfs_rmap(void **state)
{
	(void)state;
	NEED_LOOP();
	xfs("mkfs.xfs -q -m rmapbt=1", true);
}

/* From the logical address that FIEMAP tells of a btrfs to the device, by an independent tool. */
static uint64_t physical(uint64_t logical)
{
	const char *line =
		dev_line("btrfs-map-logical -l %llu %s | sed -n 's/^mirror 1 .* physical "
			 "\\([0-9]*\\) .*/\\1/p'",
			 (unsigned long long)logical, device);

	assert_true(line[0]);
	return strtoull(line, NULL, 10);
}

static void test_btrfs(void **state)
{
	uint64_t at, gone, deep, node;

	(void)state;
	NEED_LOOP();
	SKIP_UNLESS(make("mkfs.btrfs -q -s 4096", "300M"), "this kernel mounts no btrfs");
	assert_true(dev_sh("btrfs subvolume create m/sub && mkdir m/sub/x && "
			   "head -c 100000 /dev/urandom >m/sub/x/deep && "
			   "cp --reflink=always 'm/d/e f/big' m/twin && sync -f m"));
	at = physical(where("'d/e f/big'", 1228800));
	ask(at + 1, 5000);
	assert_true(strstr(said, "+5000 file d/e f/big@1228801\n"));
	assert_true(strstr(said, "+5000 file twin@1228801\n"));
	deep = physical(where("sub/x/deep", 8192));
	is(deep, 4096, "file sub/x/deep@8192");
	gone = physical(where("gone", 0));
	is(gone, 512, "file gone@0");
	assert_true(dev_sh("rm m/gone && sync -f m && sync -f m"));
	is(gone, 512, "free");
	is(65536, 4096, "metadata (superblock)");
	is(64 << 20, 4096, "metadata (superblock)");
	node = strtoull(
		dev_line("btrfs inspect-internal dump-super %s | awk '$1 == \"root\" {print $2}'",
			 device),
		NULL, 10);
	assert_true(node);
	is(physical(node), 4096, "metadata (tree node)");
	is(299 << 20, 4096, "free");
	/* Only the subvolume is mounted: names begin there; what is outside has none. */
	assert_true(dev_sh("umount m && mount -o subvol=sub %s m", device));
	is(deep, 4096, "file x/deep@8192");
	is(at, 4096, "unknown");
	release();
}

/* Several devices: each byte of a file is found on the device that an independent tool names, and
 * so is the mirror. */
static void raid(const char *profile, unsigned int n, const char *mirrors)
{
	char *name[4] = {NULL}, all[256] = "", path[64];
	unsigned int asked = 0;

	mkdir("m", 0755);
	for (unsigned int i = 0; i < n; i++) {
		snprintf(path, sizeof(path), "img%u", i);
		assert_true(dev_sh("rm -f %s; truncate -s 200M %s", path, path));
		name[i] = dev_attach(path, "");
		snprintf(all + strlen(all), sizeof(all) - strlen(all), " %s", name[i]);
	}
	SKIP_UNLESS(
		dev_sh("mkfs.btrfs -q -f -m raid1 -d %s %s && btrfs device scan %s && mount %s m",
		       profile, all, all, name[0]),
		"this kernel mounts no btrfs of this profile");
	/* Two extents at least: the tool tells of all in the 16 KiB that begin at what is asked. */
	assert_true(dev_sh("head -c 1331200 /dev/urandom >m/f && sync -f m && "
			   "head -c 668800 /dev/urandom >>m/f && sync -f m"));
	for (uint64_t at = 0; at < 1900000; at += 5 * 65536 + 4096) {
		unsigned long long logical = where("f", at);
		const char *line =
			dev_line("btrfs-map-logical -l %llu %s | sed -n 's/^mirror %s logical %llu "
				 "physical \\([0-9]*\\) device \\(.*\\)/\\1 \\2/p' | tr '\\n' ' '",
				 logical, name[0], mirrors, logical);
		unsigned long long place;
		char told[1024];

		snprintf(told, sizeof(told), "%s", line);
		for (const char *p = told; sscanf(p, "%llu %63s", &place, path) == 2; asked++) {
			device = strdup(path);
			is(place, 4096, "file f@%llu", (unsigned long long)at);
			free(device);
			device = NULL;
			p = strstr(p, path) + strlen(path);
		}
	}
	assert_true(asked >= 5);
	assert_true(dev_sh("umount m; for d in %s; do btrfs device scan --forget $d; done", all));
	for (unsigned int i = 0; i < n; i++)
		dev_detach(name[i]);
}

static void test_btrfs_raid(void **state)
{
	(void)state;
	NEED_LOOP();
	raid("raid1", 2, ".");
	raid("raid0", 3, ".");
	raid("raid10", 4, ".");
	raid("raid5", 3, "1");
	raid("raid6", 4, "1");
}

static void put_chunk(uint8_t *item, uint64_t length, uint64_t type, unsigned int n,
		      unsigned int sub)
{
	memset(item, 0, 48 + 32 * 8);
	scr_put_le64(item, length);
	scr_put_le64(item + 16, 65536);
	scr_put_le64(item + 24, type);
	scr_put_le16(item + 44, (uint16_t)n);
	scr_put_le16(item + 46, (uint16_t)sub);
	for (unsigned int i = 0; i < n; i++) {
		scr_put_le64(item + 48 + 32 * i, i + 1);
		scr_put_le64(item + 56 + 32 * i, 1000000 * (i + 1));
	}
}

/* Every logical unit is found in the stripes as often as it has copies, and each unit of a stripe
 * is one of them or parity. */
static void check_chunk(uint64_t type, unsigned int n, unsigned int sub, unsigned int copies,
			unsigned int parity)
{
	const uint64_t units = 60;
	uint8_t item[48 + 32 * 8];
	unsigned int count[60] = {0}, lost = 0;

	put_chunk(item, units * 65536, type, n, sub);
	for (unsigned int i = 0; i < n; i++) {
		struct scr_stripe s;
		uint64_t devid, logical, run, at = 0;

		assert_true(scr_stripe_parse(item, 48 + 32 * n, 7 << 20, i, &s, &devid));
		assert_int_equal(devid, i + 1);
		assert_int_equal(s.physical, 1000000 * (i + 1));
		for (at = 0; at < s.length; at += 65536) {
			if (!scr_stripe_logical(&s, at + 5, &logical, &run)) {
				lost++;
				continue;
			}
			assert_true(run >= 65536 - 5);
			assert_int_equal((logical - (7 << 20)) % 65536, 5);
			count[(logical - (7 << 20)) / 65536]++;
		}
	}
	for (unsigned int u = 0; u < units; u++)
		assert_int_equal(count[u], copies);
	assert_int_equal(lost, parity);
}

static void test_chunks(void **state)
{
	struct scr_stripe s;
	uint8_t item[48 + 32 * 8];
	uint64_t devid, logical, run;

	(void)state;
	check_chunk(BTRFS_BLOCK_GROUP_DATA, 1, 0, 1, 0);
	check_chunk(BTRFS_BLOCK_GROUP_DUP, 2, 1, 2, 0);
	check_chunk(BTRFS_BLOCK_GROUP_RAID1, 2, 1, 2, 0);
	check_chunk(BTRFS_BLOCK_GROUP_RAID1C4, 4, 1, 4, 0);
	check_chunk(BTRFS_BLOCK_GROUP_RAID0, 3, 1, 1, 0);
	check_chunk(BTRFS_BLOCK_GROUP_RAID10, 4, 2, 2, 0);
	check_chunk(BTRFS_BLOCK_GROUP_RAID5, 4, 1, 1, 20);
	check_chunk(BTRFS_BLOCK_GROUP_RAID6, 5, 1, 1, 40);
	/* Row 1 of RAID5 on three: data 2 on the second device, 3 on the third, parity on the
	 * first. */
	put_chunk(item, 60 * 65536, BTRFS_BLOCK_GROUP_RAID5, 3, 1);
	assert_true(scr_stripe_parse(item, sizeof(item), 0, 1, &s, &devid));
	assert_true(scr_stripe_logical(&s, 65536, &logical, &run));
	assert_int_equal(logical, 2 * 65536);
	assert_true(scr_stripe_parse(item, sizeof(item), 0, 0, &s, &devid));
	assert_false(scr_stripe_logical(&s, 65536, &logical, &run));
	/* items that make no sense */
	assert_false(scr_stripe_parse(item, 48 + 32 * 2, 0, 0, &s, &devid));
	assert_false(scr_stripe_parse(item, 20, 0, 0, &s, &devid));
	assert_false(scr_stripe_parse(item, sizeof(item), 0, 3, &s, &devid));
	put_chunk(item, 60 * 65536, BTRFS_BLOCK_GROUP_RAID10, 4, 0);
	assert_false(scr_stripe_parse(item, sizeof(item), 0, 0, &s, &devid));
	put_chunk(item, 60 * 65536, BTRFS_BLOCK_GROUP_RAID6, 2, 1);
	assert_false(scr_stripe_parse(item, sizeof(item), 0, 0, &s, &devid));
}

static int teardown(void **state)
{
	free(device);
	device = NULL;
	return dev_teardown(state);
}

#define T(f) cmocka_unit_test_setup_teardown(f, sys_setup, teardown)

static const struct CMUnitTest tests[] = {
	T(test_refused),  T(test_ext4),  T(test_ext4_nameless), T(test_xfs),
	T(test_xfs_rmap), T(test_btrfs), T(test_btrfs_raid),    cmocka_unit_test(test_chunks),
};

DEV_MAIN(tests)

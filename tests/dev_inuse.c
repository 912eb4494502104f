/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Whether a block device is in use: made-up trees of disks and mappings, and loop devices as root.
 */
#include <config.h>
#include "dev_util.h"

#include "dev/inuse.h"
#include "dev/inuse_internal.h"

/* sda with sda1 and sda2; dm-0 (crypt) on sda2, dm-1 on dm-0; md0 on sdb. */
static void make_tree(void)
{
	dev_put("sys/devices/sda/dev", "8:0\n");
	dev_put("sys/devices/sda/sda1/dev", "8:1\n");
	dev_put("sys/devices/sda/sda1/partition", "1\n");
	dev_put("sys/devices/sda/sda2/dev", "8:2\n");
	dev_put("sys/devices/sda/sda2/partition", "2\n");
	dev_put("sys/devices/sdb/dev", "8:16\n");
	dev_put("sys/devices/dm-0/dev", "8:100\n");
	dev_put("sys/devices/dm-0/dm/name", "luks-x\n");
	dev_put("sys/devices/dm-0/ro", "0\n");
	dev_put("sys/devices/dm-1/dev", "8:101\n");
	dev_put("sys/devices/dm-1/dm/name", "vg-root\n");
	dev_put("sys/devices/md0/dev", "8:110\n");
	dev_put("sys/devices/md0/md0p1/dev", "8:111\n");
	dev_put("sys/devices/md0/md0p1/partition", "1\n");
	dev_link("../../../dm-0", "sys/devices/sda/sda2/holders/dm-0");
	dev_link("../../dm-1", "sys/devices/dm-0/holders/dm-1");
	dev_link("../../sda/sda2", "sys/devices/dm-0/slaves/sda2");
	dev_link("../../dm-0", "sys/devices/dm-1/slaves/dm-0");
	dev_link("../../md0", "sys/devices/sdb/holders/md0");
	dev_link("../../devices/sda", "sys/dev/block/8:0");
	dev_link("../../devices/sda/sda1", "sys/dev/block/8:1");
	dev_link("../../devices/sda/sda2", "sys/dev/block/8:2");
	dev_link("../../devices/sdb", "sys/dev/block/8:16");
	dev_link("../../devices/dm-0", "sys/dev/block/8:100");
	dev_link("../../devices/dm-1", "sys/dev/block/8:101");
	dev_put("swaps", "Filename Type Size Used Priority\n/nowhere/x partition 1 0 -2\n");
}

static struct scr_use use;
static bool explained;

static int told(const char *cwd, unsigned int minor, const char *mounts)
{
	char sys[256], mountinfo[256], swaps[256];
	const struct scr_use_sources from = {sys, mountinfo, swaps};

	snprintf(sys, sizeof(sys), "%s/sys", cwd);
	snprintf(mountinfo, sizeof(mountinfo), "%s/mountinfo", cwd);
	snprintf(swaps, sizeof(swaps), "%s/swaps", cwd);
	dev_put("mountinfo", mounts);
	use = (struct scr_use){0};
	explained = false;
	return scr_use_told(&from, makedev(8, minor), &use, &explained);
}

#define RW_1 "20 1 8:1 / /srv/a\\040b rw - ext4 /dev/sda1 rw,errors=remount-ro\n"
#define RO_1 "20 1 8:1 / /srv rw - ext4 /dev/sda1 ro\n"
#define RO_BIND_1 "20 1 8:1 / /srv ro - ext4 /dev/sda1 rw\n"
#define RW_DM1 "21 1 8:101 / / rw shared:1 - ext4 /dev/mapper/vg-root rw\n"
#define RO_DM1 "21 1 8:101 / / ro shared:1 - ext4 /dev/mapper/vg-root ro\n"

static void test_partitions(void **state)
{
	make_tree();
	assert_int_equal(told(*state, 1, ""), 0);
	assert_int_equal(use.kind, SCR_USE_NONE);
	assert_false(explained);
	assert_int_equal(told(*state, 1, RW_1), 1);
	assert_int_equal(use.kind, SCR_USE_MOUNTED);
	assert_string_equal(use.what, "/dev/sda1 is mounted read-write on /srv/a b");
	assert_string_equal(use.way_out,
			    "umount /srv/a b, or make it read-only: mount -o remount,ro "
			    "/srv/a b");
	/* its other mounts don't matter, the file system does */
	assert_int_equal(told(*state, 1, RO_BIND_1), 1);
	assert_int_equal(told(*state, 1, RO_1), 0);
	assert_true(explained);
	/* the disk by its partition, the partition by its disk, but not by another partition */
	assert_int_equal(told(*state, 0, RW_1), 1);
	assert_string_equal(use.what,
			    "/dev/sda1, a partition of it, is mounted read-write on /srv/a b");
	assert_int_equal(told(*state, 2, RW_1 RO_DM1), 1);
	assert_int_equal(use.kind, SCR_USE_MEMBER);
	assert_int_equal(told(*state, 1, "5 1 8:0 / /m rw - ext4 /dev/sda rw\n"), 1);
	assert_string_equal(use.what, "/dev/sda, the disk that it is a partition of, is mounted "
				      "read-write on /m");
	assert_int_equal(told(*state, 9, ""), -ENOENT);
}

static void test_mappings(void **state)
{
	make_tree();
	assert_int_equal(told(*state, 2, RW_DM1), 1);
	assert_int_equal(use.kind, SCR_USE_MOUNTED);
	assert_string_equal(use.what, "/dev/dm-1, which lies on it, is mounted read-write on /");
	assert_string_equal(use.way_out,
			    "check it from a rescue system, or its files: scrub run /");
	assert_int_equal(told(*state, 0, RW_DM1), 1);
	assert_int_equal(told(*state, 1, RW_DM1), 0);
	assert_int_equal(told(*state, 101, RW_DM1), 1);
	assert_string_equal(use.what, "/dev/dm-1 is mounted read-write on /");
	assert_int_equal(told(*state, 2, ""), 1);
	assert_int_equal(use.kind, SCR_USE_MEMBER);
	assert_string_equal(use.what, "/dev/sda2 is in use by /dev/dm-0 (luks-x)");
	assert_string_equal(use.way_out,
			    "take /dev/dm-0 instead, or close it: dmsetup remove luks-x "
			    "(LVM: lvchange -an)");
	/* mappings that can't write are no use */
	dev_put("sys/devices/dm-0/ro", "1\n");
	dev_put("sys/devices/dm-1/ro", "1\n");
	assert_int_equal(told(*state, 2, ""), 0);
	assert_true(explained);
	assert_int_equal(told(*state, 101, ""), 0);
	/* what a mapping lies on */
	assert_int_equal(told(*state, 101, "5 1 8:2 / /m rw - ext4 /dev/sda2 rw\n"), 1);
	assert_string_equal(use.what, "/dev/sda2, which it lies on, is mounted read-write on /m");
	assert_int_equal(told(*state, 16, ""), 1);
	assert_string_equal(use.what, "/dev/sdb is in use by /dev/md0");
	assert_string_equal(use.way_out,
			    "take /dev/md0 instead, or stop it: mdadm --stop /dev/md0");
	assert_int_equal(told(*state, 16, "5 1 8:111 / /m rw - ext4 /dev/md0p1 rw\n"), 1);
	assert_int_equal(use.kind, SCR_USE_MOUNTED);
}

static int in_use(const char *name)
{
	use = (struct scr_use){0};
	return scr_device_in_use(dev_number(name), &use);
}

static void mounted_at(const char *name, int expect, const char *cwd, const char *point)
{
	char path[400], *where = NULL;

	assert_int_equal(scr_device_mountpoint(dev_number(name), &where), expect);
	snprintf(path, sizeof(path), "%s/%s", cwd, point);
	if (expect == 0)
		assert_string_equal(where, path);
	free(where);
}

static void test_ext4(void **state)
{
	char *name, *over, *twin;

	NEED_LOOP();
	mkdir("m", 0755);
	mkdir("sub", 0755);
	assert_true(dev_sh("truncate -s 16M a.img && mkfs.ext4 -q a.img"));
	name = dev_attach("a.img", "");
	assert_int_equal(in_use(name), 0);
	mounted_at(name, -ENOENT, *state, "");
	SKIP_UNLESS(dev_sh("mount %s m && mkdir m/d && mount --bind m/d sub", name),
		    "this kernel mounts no ext4");
	assert_int_equal(in_use(name), 1);
	assert_int_equal(use.kind, SCR_USE_MOUNTED);
	mounted_at(name, 0, *state, "m");
	/* The whole of it can't be reached any more, a part can. */
	assert_true(dev_sh("mount -t tmpfs none m"));
	mounted_at(name, 0, *state, "sub");
	assert_true(dev_sh("umount m; umount sub; mount -o remount,ro m"));
	assert_int_equal(in_use(name), 0);
	mounted_at(name, 0, *state, "m");
	assert_true(dev_sh("umount m"));
	assert_int_equal(in_use(name), 0);

	over = dev_attach(name, "");
	assert_int_equal(in_use(name), 1);
	assert_int_equal(use.kind, SCR_USE_LOOP);
	assert_int_equal(in_use(over), 0);
	dev_detach(over);
	over = dev_attach(name, "-r");
	assert_int_equal(in_use(name), 0);
	dev_detach(over);

	twin = dev_attach("a.img", "");
	assert_int_equal(in_use(name), 0);
	assert_true(dev_sh("mount %s m", twin));
	assert_int_equal(in_use(name), 1);
	assert_true(strstr(use.what, "a loop device over the same file"));
	assert_true(dev_sh("umount m"));
	dev_detach(twin);
	dev_detach(name);
}

/* Mounted where this process sees no mount; and opened by a program. */
static void test_exclusive(void **state)
{
	char *name;
	int fd;

	(void)state;
	NEED_LOOP();
	mkdir("m", 0755);
	assert_true(dev_sh("truncate -s 16M a.img && mkfs.ext4 -q a.img"));
	name = dev_attach("a.img", "");
	fd = open(name, O_RDONLY | O_EXCL | O_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(in_use(name), 1);
	assert_int_equal(use.kind, SCR_USE_EXCLUSIVE);
	assert_true(strstr(use.what, name) && use.way_out[0]);
	close(fd);
	assert_int_equal(in_use(name), 0);
	if (dev_sh("mkfifo go gone; unshare -m --propagation private sh -c 'mount %s m && echo >go "
		   "&& "
		   "read x <gone' & read x <go",
		   name)) {
		assert_int_equal(in_use(name), 1);
		assert_int_equal(use.kind, SCR_USE_EXCLUSIVE);
		mounted_at(name, -ENOENT, *state, "");
		assert_true(dev_sh("echo >gone"));
	}
	dev_detach(name);
}

static void test_swap(void **state)
{
	char *name;

	(void)state;
	NEED_LOOP();
	assert_true(dev_sh("dd if=/dev/zero of=a.img bs=1M count=8 && mkswap a.img"));
	name = dev_attach("a.img", "");
	assert_int_equal(in_use(name), 0);
	SKIP_UNLESS(dev_sh("swapon -p 0 %s", name), "this kernel has no swap");
	assert_int_equal(in_use(name), 1);
	dev_sh("swapoff %s", name);
	assert_int_equal(use.kind, SCR_USE_SWAP);
	assert_int_equal(in_use(name), 0);
	dev_detach(name);
}

static void test_partition_mounted(void **state)
{
	char *name, part[64], other[64];

	(void)state;
	NEED_LOOP();
	mkdir("m", 0755);
	assert_true(dev_sh(
		"truncate -s 40M a.img && printf 'size=16M\\nsize=16M\\n' | sfdisk -q a.img && "
		"mkfs.ext4 -q -E offset=1048576 a.img 16M"));
	name = dev_attach("a.img", "-P");
	dev_sh("partx -a %s", name);
	snprintf(part, sizeof(part), "%sp1", name);
	snprintf(other, sizeof(other), "%sp2", name);
	assert_true(dev_sh("mount %s m", part));
	assert_int_equal(in_use(part), 1);
	assert_int_equal(in_use(other), 0);
	assert_int_equal(in_use(name), 1);
	assert_int_equal(use.kind, SCR_USE_MOUNTED);
	assert_true(strstr(use.what, part));
	assert_true(dev_sh("mount -o remount,ro m"));
	assert_int_equal(in_use(part), 0);
	assert_int_equal(in_use(name), 0);
	assert_true(dev_sh("umount m"));
	dev_detach(name);
}

static void test_btrfs(void **state)
{
	char *a, *b;

	NEED_LOOP();
	mkdir("m", 0755);
	assert_true(dev_sh("truncate -s 200M a.img b.img"));
	a = dev_attach("a.img", "");
	b = dev_attach("b.img", "");
	SKIP_UNLESS(dev_sh("mkfs.btrfs -q -d single -m raid1 %s %s && btrfs device scan %s %s && "
			   "mount %s m",
			   a, b, a, b, a),
		    "this kernel mounts no btrfs");
	assert_int_equal(in_use(a), 1);
	assert_int_equal(use.kind, SCR_USE_MOUNTED);
	assert_int_equal(in_use(b), 1);
	assert_int_equal(use.kind, SCR_USE_MOUNTED);
	mounted_at(b, 0, *state, "m");
	assert_true(dev_sh("mount -o remount,ro m"));
	assert_int_equal(in_use(a), 0);
	assert_int_equal(in_use(b), 0);
	assert_true(dev_sh("umount m"));
	mounted_at(b, -ENOENT, *state, "m");
	dev_sh("btrfs device scan --forget %s; btrfs device scan --forget %s", a, b);
	dev_detach(a);
	dev_detach(b);
}

static const struct CMUnitTest tests[] = {
	DEV_T(test_partitions), DEV_T(test_mappings), DEV_T(test_ext4),
	DEV_T(test_exclusive),  DEV_T(test_swap),     DEV_T(test_partition_mounted),
	DEV_T(test_btrfs),
};

DEV_MAIN(tests)

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What is known of a file system: parsed lines, made-up sysfs trees, and loop devices as root. */
#include <config.h>
#include "sys_util.h"

#include <limits.h>
#include <stdbool.h>
#include <sys/mount.h>
#include <sys/sysmacros.h>

#include "dev/dev_internal.h"
#include "dev/identity.h"

static void test_mount_lines(void **state)
{
	static struct scr_mount m;

	(void)state;
	assert_true(scr_mount_parse("36 35 98:5 /mnt1 /mnt\\0402 rw,noatime master:1 - ext3 "
				    "/dev/my\\040root rw,errors=continue,lazytime\n",
				    &m));
	assert_int_equal(m.id, 36);
	assert_true(m.dev == makedev(98, 5));
	assert_string_equal(m.type, "ext3");
	assert_string_equal(m.source, "/dev/my root");
	assert_true(m.lazytime);
	assert_true(scr_mount_parse("1 2 0:7 / /a rw - fuse.sshfs me@host: rw,user_id=0\n", &m));
	assert_string_equal(m.type, "fuse.sshfs");
	assert_string_equal(m.source, "me@host:");
	assert_false(m.lazytime);
	/* an empty source; an option that only begins like it */
	assert_true(scr_mount_parse("1 2 0:7 / /a rw - tmpfs  rw,lazytimes\n", &m));
	assert_string_equal(m.type, "tmpfs");
	assert_string_equal(m.source, "");
	assert_false(m.lazytime);
	assert_false(scr_mount_parse("", &m));
	assert_false(scr_mount_parse("1 2 0:7 / /a rw\n", &m));
	assert_false(scr_mount_parse("x - ext4 /dev/a rw\n", &m));
}

static void put(const char *path, const char *text)
{
	char dir[256];

	snprintf(dir, sizeof(dir), "%s", path);
	for (char *p = strchr(dir, '/'); p; p = strchr(p + 1, '/')) {
		*p = '\0';
		mkdir(dir, 0755);
		*p = '/';
	}
	sys_write(path, text, strlen(text), 0644);
}

static bool rotates(const char *cwd, unsigned int minor)
{
	char path[512];

	snprintf(path, sizeof(path), "%s/block", cwd);
	return scr_dev_rotational(makedev(8, minor), path);
}

static dev_t below(const char *cwd, unsigned int minor)
{
	char path[512];

	snprintf(path, sizeof(path), "%s/block", cwd);
	return scr_dev_below_loop(makedev(7, minor), path);
}

static void test_below_loop(void **state)
{
	const char *cwd = *state;
	char name[PATH_MAX + 2];
	struct stat st;

	assert_int_equal(stat(".", &st), 0);
	snprintf(name, sizeof(name), "%s\n", cwd);
	put("devices/loop0/loop/backing_file", name);
	put("devices/loop0/loop0p1/partition", "1\n");
	put("devices/loop1/loop/backing_file", "/not/there\n");
	put("devices/loop2/size", "0\n");
	mkdir("block", 0755);
	assert_int_equal(symlink("../devices/loop0", "block/7:0"), 0);
	assert_int_equal(symlink("../devices/loop1", "block/7:1"), 0);
	assert_int_equal(symlink("../devices/loop2", "block/7:2"), 0);
	assert_int_equal(symlink("../devices/loop0/loop0p1", "block/7:3"), 0);
	/* A file system without a disk tells nothing. */
	assert_int_equal(below(cwd, 0), major(st.st_dev) ? st.st_dev : makedev(7, 0));
	assert_int_equal(below(cwd, 3), major(st.st_dev) ? st.st_dev : makedev(7, 3));
	for (unsigned int i = 1; i <= 4; i++)
		if (i != 3)
			assert_int_equal(below(cwd, i), makedev(7, i));
}

/* A disk with a partition, an SSD, and mappings over both. */
static void test_rotational(void **state)
{
	const char *cwd = *state;

	put("devices/sda/queue/rotational", "1\n");
	put("devices/sda/sda1/partition", "1\n");
	put("devices/sdb/queue/rotational", "0\n");
	put("devices/dm-0/queue/rotational", "0\n");
	put("devices/dm-1/queue/rotational", "0\n");
	mkdir("devices/dm-0/slaves", 0755);
	mkdir("devices/dm-1/slaves", 0755);
	mkdir("block", 0755);
	assert_int_equal(symlink("../devices/sda", "block/8:0"), 0);
	assert_int_equal(symlink("../devices/sda/sda1", "block/8:1"), 0);
	assert_int_equal(symlink("../devices/sdb", "block/8:2"), 0);
	assert_int_equal(symlink("../devices/dm-0", "block/8:3"), 0);
	assert_int_equal(symlink("../devices/dm-1", "block/8:4"), 0);
	assert_int_equal(symlink("../../sdb", "devices/dm-0/slaves/sdb"), 0);
	assert_int_equal(symlink("../../dm-0", "devices/dm-1/slaves/dm-0"), 0);
	assert_true(rotates(cwd, 0));
	assert_true(rotates(cwd, 1));
	assert_false(rotates(cwd, 2));
	assert_false(rotates(cwd, 3));
	assert_false(rotates(cwd, 4));
	assert_int_equal(symlink("../../sda/sda1", "devices/dm-0/slaves/sda1"), 0);
	assert_true(rotates(cwd, 3));
	assert_true(rotates(cwd, 4));
	assert_false(rotates(cwd, 5)); /* not there */
	/* A loop of mappings, which no kernel has, ends. */
	assert_int_equal(unlink("devices/dm-0/slaves/sda1"), 0);
	assert_int_equal(symlink("../../dm-1", "devices/dm-0/slaves/dm-1"), 0);
	assert_false(rotates(cwd, 4));
}

static void test_same(void **state)
{
	struct scr_fs_info b = {.type = "ext4", .uuid = "u-1", .fsid = 7};

	(void)state;
	assert_true(scr_fs_same("ext4", "u-1", "", 7, &b));
	assert_true(scr_fs_same("ext4", "u-1", "", 8, &b));
	assert_false(scr_fs_same("ext4", "u-2", "", 7, &b));
	assert_false(scr_fs_same("xfs", "u-1", "", 7, &b));
	/* A UUID that one side doesn't know decides nothing. */
	assert_true(scr_fs_same("ext4", "", "", 7, &b));
	assert_false(scr_fs_same("ext4", "", "", 8, &b));
	strcpy(b.subvol, "256");
	assert_true(scr_fs_same("ext4", "u-1", "256", 7, &b));
	assert_false(scr_fs_same("ext4", "u-1", "257", 7, &b));
	assert_true(scr_fs_same("ext4", "u-1", "", 7, &b));
	b.uuid[0] = '\0';
	assert_true(scr_fs_same("ext4", "u-1", "", 7, &b));
	assert_false(scr_fs_same("ext4", "u-1", "", 9, &b));
}

static void test_here(void **state)
{
	struct scr_fs_info a, b;
	int fd = sys_opendir(*state), path_fd;

	sys_touch("f");
	path_fd = open("f", O_PATH);
	assert_int_equal(scr_fs_info(fd, &a), 0);
	assert_int_equal(scr_fs_info(path_fd, &b), 0);
	assert_true(a.type[0]);
	assert_true(a.total > 0 && a.available <= a.total);
	assert_false(a.read_only);
	assert_true(scr_fs_same(a.type, a.uuid, a.subvol, a.fsid, &b));
	close(fd);
	close(path_fd);
	assert_int_equal(scr_fs_info(-1, &b), -EBADF);
	fd = open("/proc", O_RDONLY | O_DIRECTORY);
	assert_int_equal(scr_fs_info(fd, &b), 0);
	assert_string_equal(b.type, "proc");
	assert_string_equal(b.uuid, "");
	close(fd);
}

/* What a child tells of an image that it has mounted, through a file. */
struct image {
	const char *type, *make, *options;
	unsigned long flags;
};

static int look(void *arg)
{
	const struct scr_fs_info *root = arg;
	struct scr_fs_info info;

	if (setgid(NOBODY) < 0 || setuid(NOBODY) < 0 || scr_fs_info(sys_opendir("m"), &info) < 0)
		return 1;
	return strcmp(root->uuid, info.uuid) == 0 || !info.uuid[0] ? 0 : 2;
}

static int mount_and_look(void *arg)
{
	const struct image *i = arg;
	struct scr_fs_info info;
	char command[512];
	int ret = 0, fd;

	if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
		return 77;
	snprintf(command, sizeof(command),
		 "PATH=$PATH:/usr/sbin:/sbin; truncate -s 400M img && %s >/dev/null 2>&1 && "
		 "mount -t %s -o loop,%s img m 2>/dev/null",
		 i->make, i->type, i->options);
	if (system(command) != 0)
		return 77;
	chmod("m", 0755);
	fd = sys_opendir("m");
	if (scr_fs_info(fd, &info) < 0)
		ret = 1;
	else if (strcmp(info.type, i->type) != 0)
		ret = 2;
	else if (strcmp(info.uuid, "12345678-1234-4321-8765-123456789abc") != 0)
		ret = 3;
	else if (info.lazytime != !!strstr(i->options, "lazytime"))
		ret = 4;
	else if (info.read_only != !strncmp(i->options, "ro", 2))
		ret = 5;
	else if (!!info.subvol[0] != !strcmp(i->type, "btrfs"))
		ret = 6;
	else if (sys_as(0, look, &info) != 0)
		ret = 7;
	close(fd);
	if (system("umount m") != 0)
		ret = 8;
	return ret;
}

#define UUID "12345678-1234-4321-8765-123456789abc"

static void test_image(const struct image *image)
{
	int ret;

	SKIP_UNLESS(geteuid() == 0, "needs root, to mount");
	chmod(".", 0755);
	mkdir("m", 0755);
	ret = sys_as(0, mount_and_look, (void *)(uintptr_t)image);
	SKIP_UNLESS(ret != 77, "it can't be made and mounted on a loop device here");
	assert_int_equal(ret, 0);
}

static void test_ext4(void **state)
{
	static const struct image i = {"ext4", "mkfs.ext4 -q -U " UUID " img", "rw,lazytime", 0};

	(void)state;
	test_image(&i);
}

static void test_xfs(void **state)
{
	static const struct image i = {"xfs", "mkfs.xfs -q -m uuid=" UUID " img", "ro", 0};

	(void)state;
	test_image(&i);
}

static void test_btrfs(void **state)
{
	static const struct image i = {"btrfs", "mkfs.btrfs -q -U " UUID " img", "rw", 0};

	(void)state;
	test_image(&i);
}

#define T(f) cmocka_unit_test_setup_teardown(f, sys_setup, sys_teardown)

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_mount_lines),
	T(test_rotational),
	T(test_below_loop),
	cmocka_unit_test(test_same),
	T(test_here),
	T(test_ext4),
	T(test_xfs),
	T(test_btrfs),
};

SYS_MAIN(tests)

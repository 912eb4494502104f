/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What is known of a block device: made-up sysfs trees, identities, and loop devices as root. */
#include <config.h>
#include "dev_util.h"

#include "dev/device.h"
#include "dev/device_internal.h"

static void read_ids(const char *cwd, unsigned int minor, struct scr_sysfs_ids *ids)
{
	char sys[256], udev[256];

	snprintf(sys, sizeof(sys), "%s/sys", cwd);
	snprintf(udev, sizeof(udev), "%s/udev", cwd);
	assert_int_equal(scr_sysfs_ids(sys, udev, makedev(8, minor), ids), 0);
}

/* A SATA disk with two partitions, one of which udev knows. */
static void test_scsi(void **state)
{
	static struct scr_sysfs_ids ids;

	dev_put("sys/devices/a/block/sda/uevent", "MAJOR=8\nMINOR=0\nDEVNAME=sda\n");
	dev_put("sys/devices/a/block/sda/device/wwid", "naa.5000c500a1b2c3d4\n");
	dev_put("sys/devices/a/block/sda/device/model", "ST4000VN008-2DR1\n");
	dev_put_bytes("sys/devices/a/block/sda/device/vpd_pg80", "\0\x80\0\x0c    ZDH0ABCD", 16);
	dev_put("sys/devices/a/block/sda/sda2/uevent", "DEVNAME=sda2\nPARTN=2\n");
	dev_put("sys/devices/a/block/sda/sda2/partition", "2\n");
	dev_put("sys/devices/a/block/sda/sda3/uevent", "DEVNAME=sda3\nPARTUUID=cafe-03\n");
	dev_put("sys/devices/a/block/sda/sda3/partition", "3\n");
	dev_put("udev/b8:2", "S:disk/x\nE:ID_PART_ENTRY_UUID_X=no\nE:ID_PART_ENTRY_UUID=cafe-02\n");
	dev_link("../../devices/a/block/sda", "sys/dev/block/8:0");
	dev_link("../../devices/a/block/sda/sda2", "sys/dev/block/8:2");
	dev_link("../../devices/a/block/sda/sda3", "sys/dev/block/8:3");
	read_ids(*state, 0, &ids);
	assert_string_equal(ids.name, "sda");
	assert_int_equal(ids.partition, 0);
	assert_string_equal(ids.wwn, "naa.5000c500a1b2c3d4");
	assert_string_equal(ids.serial, "ZDH0ABCD");
	assert_string_equal(ids.model, "ST4000VN008-2DR1");
	assert_string_equal(ids.partuuid, "");
	assert_false(ids.loop);
	read_ids(*state, 2, &ids);
	assert_string_equal(ids.name, "sda2");
	assert_int_equal(ids.partition, 2);
	assert_string_equal(ids.wwn, "naa.5000c500a1b2c3d4");
	assert_string_equal(ids.serial, "ZDH0ABCD");
	assert_string_equal(ids.partuuid, "cafe-02");
	read_ids(*state, 3, &ids);
	assert_string_equal(ids.partuuid, "cafe-03");
	assert_int_equal(scr_sysfs_ids("/nowhere", "/nowhere", makedev(8, 9), &ids), -ENOENT);
}

/* NVMe has its names elsewhere; a USB bridge passes none on; zeros are no number. */
static void test_other_buses(void **state)
{
	static struct scr_sysfs_ids ids;

	dev_put("sys/devices/n/nvme/nvme0/nvme0n1/uevent", "DEVNAME=nvme0n1\n");
	dev_put("sys/devices/n/nvme/nvme0/nvme0n1/wwid", "eui.0025385b21404321\n");
	dev_put("sys/devices/n/nvme/nvme0/serial", "S4EWNX0R123456W     \n");
	dev_put("sys/devices/n/nvme/nvme0/model", "Samsung SSD 970 EVO Plus  \n");
	dev_link("../../nvme0", "sys/devices/n/nvme/nvme0/nvme0n1/device");
	dev_link("../../devices/n/nvme/nvme0/nvme0n1", "sys/dev/block/8:0");
	assert_int_equal(unlink("sys/devices/n/nvme/nvme0/nvme0n1/device"), 0);
	assert_int_equal(symlink("..", "sys/devices/n/nvme/nvme0/nvme0n1/device"), 0);
	read_ids(*state, 0, &ids);
	assert_string_equal(ids.wwn, "eui.0025385b21404321");
	assert_string_equal(ids.serial, "S4EWNX0R123456W");
	assert_string_equal(ids.model, "Samsung SSD 970 EVO Plus");

	dev_put("sys/devices/usb2/2-1/idVendor", "152d\n");
	dev_put("sys/devices/usb2/2-1/serial", "DB98765432\n");
	dev_put("sys/devices/usb2/2-1/host6/block/sdb/uevent", "DEVNAME=sdb\n");
	dev_put_bytes("sys/devices/usb2/2-1/host6/block/sdb/device/vpd_pg80",
		      "\0\x80\0\x08"
		      "00000000",
		      12);
	dev_link("../../devices/usb2/2-1/host6/block/sdb", "sys/dev/block/8:16");
	read_ids(*state, 16, &ids);
	assert_string_equal(ids.serial, "DB98765432");
	assert_string_equal(ids.wwn, "");
	dev_put("sys/devices/usb2/2-1/serial", "000000000000\n");
	read_ids(*state, 16, &ids);
	assert_string_equal(ids.serial, "");
}

static void test_mappings(void **state)
{
	static struct scr_sysfs_ids ids;
	char sys[256];

	snprintf(sys, sizeof(sys), "%s/sys", (const char *)*state);
	dev_put("sys/devices/virtual/block/dm-0/dm/uuid", "LVM-abcDEF\n");
	dev_put("sys/devices/virtual/block/dm-0/dev", "8:32\n");
	dev_put("sys/devices/virtual/block/dm-1/dev", "8:33\n");
	dev_put("sys/devices/virtual/block/md0/md/uuid", "0a-0b\n");
	dev_put("sys/devices/virtual/block/md1/size", "1\n");
	dev_put("udev/b8:49", "E:MD_UUID=12:34\n");
	dev_put("sys/devices/virtual/block/loop7/uevent", "DEVNAME=loop7\n");
	dev_put("sys/devices/virtual/block/loop7/loop/backing_file", "/srv/a disk.img\n");
	dev_put("sys/devices/a/block/sda/dev", "8:0\n");
	dev_link("../../../../virtual/block/dm-0", "sys/devices/a/block/sda/holders/dm-0");
	dev_link("../../dm-1", "sys/devices/virtual/block/dm-0/holders/dm-1");
	dev_link("../../devices/a/block/sda", "sys/dev/block/8:0");
	dev_link("../../devices/virtual/block/dm-0", "sys/dev/block/8:32");
	dev_link("../../devices/virtual/block/dm-1", "sys/dev/block/8:33");
	dev_link("../../devices/virtual/block/md0", "sys/dev/block/8:48");
	dev_link("../../devices/virtual/block/md1", "sys/dev/block/8:49");
	dev_link("../../devices/virtual/block/loop7", "sys/dev/block/8:64");
	assert_int_equal(unlink("sys/devices/a/block/sda/holders/dm-0"), 0);
	assert_int_equal(
		symlink("../../../../virtual/block/dm-0", "sys/devices/a/block/sda/holders/dm-0"),
		0);
	read_ids(*state, 32, &ids);
	assert_string_equal(ids.dm_uuid, "LVM-abcDEF");
	read_ids(*state, 48, &ids);
	assert_string_equal(ids.md_uuid, "0a-0b");
	read_ids(*state, 49, &ids);
	assert_string_equal(ids.md_uuid, "12:34");
	read_ids(*state, 64, &ids);
	assert_true(ids.loop);
	assert_string_equal(ids.backing, "/srv/a disk.img");
	assert_true(scr_sysfs_holds(sys, makedev(8, 32), makedev(8, 33)));
	assert_true(scr_sysfs_holds(sys, makedev(8, 0), makedev(8, 32)));
	assert_true(scr_sysfs_holds(sys, makedev(8, 0), makedev(8, 33)));
	assert_false(scr_sysfs_holds(sys, makedev(8, 33), makedev(8, 0)));
}

#define LIST(...) ((char **)(uintptr_t)(const char *const[]){__VA_ARGS__, NULL})

static void test_compare(void **state)
{
	(void)state;
	assert_int_equal(scr_device_compare(LIST("size=1", "wwn=a"), LIST("size=2", "wwn=a")),
			 SCR_DEVICE_SAME);
	/* the stronger name decides */
	assert_int_equal(scr_device_compare(LIST("wwn=a", "uuid=1"), LIST("wwn=b", "uuid=1")),
			 SCR_DEVICE_OTHER);
	assert_int_equal(scr_device_compare(LIST("wwn=a", "uuid=1"), LIST("wwn=a", "uuid=2")),
			 SCR_DEVICE_SAME);
	assert_int_equal(
		scr_device_compare(LIST("partuuid=1-1", "wwn=a"), LIST("partuuid=1-1", "wwn=b")),
		SCR_DEVICE_SAME);
	/* a name that only one side knows doesn't */
	assert_int_equal(scr_device_compare(LIST("wwn=a", "uuid=1"), LIST("uuid=1")),
			 SCR_DEVICE_SAME);
	assert_int_equal(scr_device_compare(LIST("ptuuid=1"), LIST("ptuuid=2", "serial=q")),
			 SCR_DEVICE_OTHER);
	assert_int_equal(
		scr_device_compare(LIST("serial=1", "model=a"), LIST("serial=1", "model=b")),
		SCR_DEVICE_OTHER);
	/* partitions of one disk */
	assert_int_equal(
		scr_device_compare(LIST("partition=1", "wwn=a"), LIST("partition=2", "wwn=a")),
		SCR_DEVICE_OTHER);
	assert_int_equal(scr_device_compare(LIST("partition=1", "wwn=a"), LIST("wwn=a")),
			 SCR_DEVICE_OTHER);
	assert_int_equal(
		scr_device_compare(LIST("partition=1", "wwn=a"), LIST("partition=1", "wwn=a")),
		SCR_DEVICE_SAME);
	/* neither size nor label nor backing file */
	assert_int_equal(scr_device_compare(LIST("size=1", "label=a", "backing=/a"),
					    LIST("size=1", "label=a", "backing=/a")),
			 SCR_DEVICE_UNKNOWN);
	assert_int_equal(scr_device_compare(LIST("size=1"), NULL), SCR_DEVICE_UNKNOWN);
	assert_string_equal(scr_identity_get(LIST("uuid=1", "partuuid=2=3"), "partuuid"), "2=3");
	assert_null(scr_identity_get(LIST("uuid=1"), "uu"));
}

static const char *state_name(char *const *identity)
{
	static char name[256];
	struct scr_device d = {.identity = (char **)(uintptr_t)identity};

	assert_int_equal(scr_device_state_name(&d, name, sizeof(name)), 0);
	return name;
}

static void test_state_name(void **state)
{
	struct scr_device d = {.identity = LIST("size=1", "uuid=1", "model=m")};
	char name[256], *longer;
	const char *cut;

	(void)state;
	assert_string_equal(state_name(LIST("partuuid=1234-01", "wwn=naa.5")), "partuuid-1234-01");
	assert_string_equal(state_name(LIST("md-uuid=0a:0b", "wwn=naa.5")), "md-uuid-0a:0b");
	assert_string_equal(state_name(LIST("wwn=t10.ATA  X/1", "serial=s")),
			    "wwn-t10.ATA\\x20\\x20X\\x2f1");
	assert_string_equal(state_name(LIST("partition=3", "wwn=naa.5")), "wwn-naa.5-part3");
	assert_string_equal(state_name(LIST("serial=s1", "model=A b")), "A\\x20b-s1");
	assert_string_equal(state_name(LIST("serial=s1")), "serial-s1");
	assert_int_equal(scr_device_state_name(&d, name, sizeof(name)), -ENOENT);
	d.identity = NULL;
	assert_int_equal(scr_device_state_name(&d, name, sizeof(name)), -ENOENT);
	longer = malloc(400);
	memset(longer, 'x', 399);
	longer[399] = '\0';
	memcpy(longer, "dm-uuid=", 8);
	cut = state_name(LIST(longer));
	assert_int_equal(strlen(cut), 209);
	assert_true(strncmp(cut, "dm-uuid-xxx", 11) == 0 && cut[200] == '-');
	strcpy(name, cut);
	longer[398] = 'y';
	assert_string_not_equal(state_name(LIST(longer)), name);
	d.identity = LIST(longer);
	assert_int_equal(scr_device_state_name(&d, name, 100), -ENAMETOOLONG);
	free(longer);
}

static void test_escape(void **state)
{
	struct scr_ids ids = {0};

	(void)state;
	scr_ids_add(&ids, "label", "a\\b\n\xc3\xa4 c");
	scr_ids_add(&ids, "uuid", "");
	scr_ids_add_number(&ids, "size", UINT64_MAX);
	assert_int_equal(ids.error, 0);
	assert_int_equal(ids.count, 2);
	assert_string_equal(ids.list[0], "label=a\\x5cb\\x0a\\xc3\\xa4 c");
	assert_string_equal(ids.list[1], "size=18446744073709551615");
	assert_null(ids.list[2]);
	scr_identity_free(ids.list);
}

static void has(const struct scr_device *d, const char *key, const char *value)
{
	const char *is = scr_identity_get(d->identity, key);

	if (!value)
		assert_null(is);
	else
		assert_string_equal(is ? is : "(none)", value);
}

static void probe(const char *name, struct scr_device *d)
{
	int fd = dev_open(name);

	assert_int_equal(scr_device_probe(fd, d), 0);
	close(fd);
}

#define DISK_UUID "11111111-2222-3333-4444-555555555555"
#define PART_UUID "aaaaaaaa-0000-0000-0000-00000000000"

static void test_partitioned(void **state)
{
	struct scr_device disk, part;
	char *name, path[300];

	NEED_LOOP();
	assert_true(dev_sh("truncate -s 64M d.img && printf 'label: gpt\\nlabel-id: " DISK_UUID
			   "\\nsize=16M, uuid=" PART_UUID "1\\nsize=20M, uuid=" PART_UUID
			   "2\\n' | sfdisk -q d.img"));
	name = dev_attach("d.img", "-P");
	assert_true(
		dev_sh("mkfs.ext4 -q -L 'my data' -U " DISK_UUID " -E offset=1048576 d.img 16M"));
	probe(name, &disk);
	assert_string_equal(disk.name, name + 5);
	assert_true(disk.dev == dev_number(name));
	assert_int_equal(disk.size, 64 << 20);
	assert_int_equal(disk.logical, 512);
	assert_true(disk.loop && !disk.partition && !disk.read_only);
	has(&disk, "size", "67108864");
	has(&disk, "ptuuid", DISK_UUID);
	has(&disk, "pttype", "gpt");
	has(&disk, "partuuid", NULL);
	has(&disk, "partition", NULL);
	has(&disk, "type", NULL);
	snprintf(path, sizeof(path), "%s/d.img", (const char *)*state);
	has(&disk, "backing", path);
	assert_int_equal(scr_device_state_name(&disk, path, sizeof(path)), -ENOENT);

	/* Where the kernel reads no tables, partx does. */
	dev_sh("partx -a %s", name);
	snprintf(path, sizeof(path), "%sp1", name);
	probe(path, &part);
	assert_true(part.loop && part.partition);
	assert_int_equal(part.size, 16 << 20);
	has(&part, "partuuid", PART_UUID "1");
	has(&part, "partition", "1");
	has(&part, "type", "ext4");
	has(&part, "label", "my data");
	has(&part, "uuid", DISK_UUID);
	has(&part, "ptuuid", NULL);
	assert_int_equal(scr_device_state_name(&part, path, sizeof(path)), 0);
	assert_string_equal(path, "partuuid-" PART_UUID "1");
	assert_int_equal(scr_device_compare(part.identity, part.identity), SCR_DEVICE_SAME);
	assert_int_equal(scr_device_compare(disk.identity, disk.identity), SCR_DEVICE_SAME);
	scr_device_free(&disk);
	scr_device_free(&part);
	dev_detach(name);
}

/* Sectors of 4 KiB, read-only, nothing on it. */
static void test_plain(void **state)
{
	struct scr_device d;
	char *name;

	(void)state;
	NEED_LOOP();
	assert_true(dev_sh("truncate -s 1028K d.img"));
	name = dev_attach("d.img", "-r -b 4096");
	probe(name, &d);
	assert_int_equal(d.size, 1028 << 10);
	assert_int_equal(d.logical, 4096);
	assert_int_equal(d.physical, 4096);
	assert_true(d.read_only && d.loop);
	has(&d, "logical", "4096");
	has(&d, "uuid", NULL);
	assert_int_equal(scr_device_compare(d.identity, d.identity), SCR_DEVICE_UNKNOWN);
	scr_device_free(&d);
	dev_detach(name);
}

static void test_not_a_device(void **state)
{
	struct scr_device d;
	int fd;

	(void)state;
	sys_touch("f");
	fd = dev_open("f");
	assert_int_equal(scr_device_probe(fd, &d), -ENOTBLK);
	close(fd);
	assert_int_equal(scr_device_probe(-1, &d), -EBADF);
}

static void resolves(const char *arg, int expect, const char *name)
{
	char *path = NULL;

	assert_int_equal(scr_device_resolve_tag(arg, &path), expect);
	if (name)
		assert_string_equal(path ? path : "(none)", name);
	else
		assert_null(path);
	free(path);
}

/* What is said of a name that no device has: in a container there may be devices that nobody may
 * look at. */
static int nowhere(void)
{
	return dev_sh("awk 'NR > 2 {print \"/dev/\" $4}' /proc/partitions | "
		      "while read d; do test ! -b $d || head -c1 $d || exit 1; done")
		       ? -ENOENT
		       : -EACCES;
}

static void test_tags(void **state)
{
	char *name, *twin, uuid[64], label[32], tag[128], part[64];

	(void)state;
	resolves("/dev/sda", -EINVAL, NULL);
	resolves("UUID", -EINVAL, NULL);
	resolves("UUID=", -EINVAL, NULL);
	resolves("TYPE=ext4", -EINVAL, NULL);
	NEED_LOOP();
	/* This process's own, as other tests run at the same time. */
	snprintf(uuid, sizeof(uuid), "0badcafe-1234-4321-8765-%012u", (unsigned int)getpid());
	snprintf(label, sizeof(label), "t %u", (unsigned int)getpid());
	snprintf(tag, sizeof(tag), "UUID=%s", uuid);
	resolves(tag, nowhere(), NULL);
	assert_true(
		dev_sh("truncate -s 4M a.img && mkfs.ext4 -q -U %s -L '%s' a.img && cp a.img b.img",
		       uuid, label));
	name = dev_attach("a.img", "");
	resolves(tag, 0, name);
	for (char *p = tag + 5; *p; p++)
		if (*p >= 'a' && *p <= 'f')
			*p = (char)(*p - 'a' + 'A');
	resolves(tag, 0, name);
	snprintf(tag, sizeof(tag), "LABEL=%s", label);
	resolves(tag, 0, name);
	snprintf(tag, sizeof(tag), "PARTUUID=%s", uuid);
	resolves(tag, nowhere(), NULL);
	twin = dev_attach("b.img", "");
	snprintf(tag, sizeof(tag), "UUID=%s", uuid);
	resolves(tag, -ENOTUNIQ, NULL);
	dev_detach(name);
	resolves(tag, 0, twin);
	dev_detach(twin);
	resolves(tag, nowhere(), NULL);

	assert_true(dev_sh(
		"truncate -s 8M c.img && printf 'label: gpt\\nsize=2M, name=\"%s\", uuid=%s\\n' "
		"| sfdisk -q c.img",
		label, uuid));
	name = dev_attach("c.img", "-P");
	dev_sh("partx -a %s", name);
	snprintf(part, sizeof(part), "%sp1", name);
	snprintf(tag, sizeof(tag), "PARTUUID=%s", uuid);
	resolves(tag, 0, part);
	snprintf(tag, sizeof(tag), "PARTLABEL=\"%s\"", label);
	resolves(tag, 0, part);
	dev_detach(name);
}

static const struct CMUnitTest tests[] = {
	DEV_T(test_scsi),
	DEV_T(test_other_buses),
	DEV_T(test_mappings),
	cmocka_unit_test(test_compare),
	cmocka_unit_test(test_state_name),
	cmocka_unit_test(test_escape),
	DEV_T(test_partitioned),
	DEV_T(test_plain),
	DEV_T(test_not_a_device),
	DEV_T(test_tags),
};

DEV_MAIN(tests)

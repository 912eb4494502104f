/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What sysfs tells of the identity of a block device. */
#include <config.h>
#include "dev/device_internal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/compiler.h"
#include "base/endian.h"

/* Devices stacked on devices: more layers than anybody builds, to end a loop. */
#define DEPTH_MAX 8

char *scr_sysfs_dir(const char *sys, dev_t dev)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%.3900s/dev/block/%u:%u", sys, major(dev), minor(dev));
	return realpath(path, NULL);
}

/* Bytes of attribute @name; -1: there is none. A NUL is put behind. */
static ssize_t read_attribute(const char *dir, const char *name, char *out, size_t size)
{
	char path[PATH_MAX];
	ssize_t n;
	int fd;

	out[0] = '\0';
	if ((size_t)snprintf(path, sizeof(path), "%s/%s", dir, name) >= sizeof(path))
		return -1;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	n = read(fd, out, size - 1);
	close(fd);
	out[n > 0 ? n : 0] = '\0';
	return n;
}

static void trim(char *s)
{
	size_t lead = strspn(s, " \t\n"), n = strlen(s + lead);

	memmove(s, s + lead, n + 1);
	while (n > 0 && strchr(" \t\n", s[n - 1]))
		s[--n] = '\0';
}

bool scr_sysfs_text(const char *dir, const char *name, char *out, size_t size)
{
	if (read_attribute(dir, name, out, size) < 0)
		return false;
	trim(out);
	return out[0] != '\0';
}

dev_t scr_sysfs_number(const char *dir)
{
	unsigned int a, b;
	char text[32];

	if (!scr_sysfs_text(dir, "dev", text, sizeof(text)) || sscanf(text, "%u:%u", &a, &b) != 2)
		return 0;
	return makedev(a, b);
}

/* The value of the line "@key=value" in the file @dir/@name. */
static void keyed_line(const char *dir, const char *name, const char *key, char *out, size_t size)
{
	char path[PATH_MAX], line[1024];
	size_t n = strlen(key);
	FILE *f;

	if ((size_t)snprintf(path, sizeof(path), "%s/%s", dir, name) >= sizeof(path))
		return;
	f = fopen(path, "re");
	while (f && !out[0] && fgets(line, sizeof(line), f)) {
		line[strcspn(line, "\n")] = '\0';
		if (strncmp(line, key, n) == 0 && line[n] == '=' && strlen(line + n + 1) < size)
			strcpy(out, line + n + 1);
	}
	if (f)
		fclose(f);
}

/* Makers who don't number their devices fill in zeros. */
static void drop_dummy(char *s)
{
	if (s[strspn(s, "0 ")] == '\0')
		s[0] = '\0';
}

/* SCSI page 0x80: four bytes of head, the last two of them the length, then the number. */
static void serial_by_vpd(const char *dir, char *out, size_t size)
{
	char page[256];
	ssize_t n = read_attribute(dir, "device/vpd_pg80", page, sizeof(page));
	size_t len;

	if (n <= 4 || (uint8_t)page[1] != 0x80)
		return;
	len = SCR_MIN((size_t)scr_get_be16((const uint8_t *)page + 2), (size_t)n - 4);
	len = strnlen(page + 4, len);
	if (len >= size)
		return;
	memcpy(out, page + 4, len);
	out[len] = '\0';
	trim(out);
}

/* USB: the number of the device that the disk hangs on; disks behind a bridge often have none. */
static void serial_by_usb(const char *dir, char *out, size_t size)
{
	char up[PATH_MAX], vendor[32], *slash;

	snprintf(up, sizeof(up), "%s", dir);
	while ((slash = strrchr(up, '/')) && slash != up) {
		*slash = '\0';
		if (scr_sysfs_text(up, "idVendor", vendor, sizeof(vendor))) {
			scr_sysfs_text(up, "serial", out, size);
			return;
		}
	}
}

static void read_serial(const char *dir, char *out, size_t size)
{
	static const char *const names[] = {"device/serial", "serial"};

	for (size_t i = 0; i < SCR_ARRAY_SIZE(names) && !out[0]; i++) {
		scr_sysfs_text(dir, names[i], out, size);
		drop_dummy(out);
	}
	if (!out[0])
		serial_by_vpd(dir, out, size);
	drop_dummy(out);
	if (!out[0])
		serial_by_usb(dir, out, size);
	drop_dummy(out);
}

/* @dir: of the disk. */
static void read_hardware(const char *dir, struct scr_sysfs_ids *out)
{
	if (!scr_sysfs_text(dir, "wwid", out->wwn, sizeof(out->wwn)))
		scr_sysfs_text(dir, "device/wwid", out->wwn, sizeof(out->wwn));
	read_serial(dir, out->serial, sizeof(out->serial));
	if (!scr_sysfs_text(dir, "device/model", out->model, sizeof(out->model)))
		scr_sysfs_text(dir, "device/name", out->model, sizeof(out->model));
}

static void read_virtual(const char *dir, struct scr_sysfs_ids *out)
{
	char path[PATH_MAX];

	scr_sysfs_text(dir, "dm/uuid", out->dm_uuid, sizeof(out->dm_uuid));
	scr_sysfs_text(dir, "md/uuid", out->md_uuid, sizeof(out->md_uuid));
	snprintf(path, sizeof(path), "%s/loop", dir);
	out->loop = access(path, F_OK) == 0 || strncmp(out->name, "loop", 4) == 0;
	if (read_attribute(dir, "loop/backing_file", out->backing, sizeof(out->backing)) > 0)
		out->backing[strcspn(out->backing, "\n")] = '\0';
}

int scr_sysfs_ids(const char *sys, const char *udev, dev_t dev, struct scr_sysfs_ids *out)
{
	char *dir = scr_sysfs_dir(sys, dev), *slash;
	char record[32], number[16];

	if (!dir)
		return -ENOENT;
	memset(out, 0, sizeof(*out));
	snprintf(record, sizeof(record), "b%u:%u", major(dev), minor(dev));
	keyed_line(dir, "uevent", "DEVNAME", out->name, sizeof(out->name));
	keyed_line(dir, "uevent", "PARTUUID", out->partuuid, sizeof(out->partuuid));
	keyed_line(udev, record, "E:ID_PART_ENTRY_UUID", out->partuuid, sizeof(out->partuuid));
	read_virtual(dir, out);
	if (!out->md_uuid[0])
		keyed_line(udev, record, "E:MD_UUID", out->md_uuid, sizeof(out->md_uuid));
	if (scr_sysfs_text(dir, "partition", number, sizeof(number))) {
		out->partition = atoi(number);
		slash = strrchr(dir, '/');
		*slash = '\0';
		if (scr_sysfs_text(dir, "loop/backing_file", out->backing, sizeof(out->backing)))
			out->loop = true;
	}
	read_hardware(dir, out);
	free(dir);
	return 0;
}

static bool holds(const char *dir, dev_t holder, unsigned int depth)
{
	char path[PATH_MAX], name[PATH_MAX + NAME_MAX + 2];
	bool found = false;
	struct dirent *e;
	DIR *d;

	if (depth > DEPTH_MAX ||
	    (size_t)snprintf(path, sizeof(path), "%s/holders", dir) >= sizeof(path))
		return false;
	d = opendir(path);
	while (d && !found && (e = readdir(d))) {
		char *real;

		if (e->d_name[0] == '.')
			continue;
		snprintf(name, sizeof(name), "%s/%s", path, e->d_name);
		real = realpath(name, NULL);
		found = real &&
			(scr_sysfs_number(real) == holder || holds(real, holder, depth + 1));
		free(real);
	}
	if (d)
		closedir(d);
	return found;
}

bool scr_sysfs_holds(const char *sys, dev_t dev, dev_t holder)
{
	char *dir = scr_sysfs_dir(sys, dev);
	bool found = dir && holds(dir, holder, 0);

	free(dir);
	return found;
}

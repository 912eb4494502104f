/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* For tests of lib/dev: shell commands, made-up sysfs trees, images on loop devices and mounts. */
#ifndef TESTS_DEV_UTIL_H
#define TESTS_DEV_UTIL_H

#include "sys_util.h"

#include <stdbool.h>
#include <sys/mount.h>
#include <sys/sysmacros.h>

/* Runs a command of the shell; whether it ended well. Its output goes to the file "said". */
__attribute__((format(printf, 1, 2))) static inline bool dev_sh(const char *format, ...)
{
	char text[2048] = "PATH=$PATH:/usr/sbin:/sbin; exec >>said 2>&1; ";
	size_t n = strlen(text);
	va_list args;

	va_start(args, format);
	vsnprintf(text + n, sizeof(text) - n, format, args);
	va_end(args);
	return system(text) == 0;
}

/* The first line that a command prints, in static memory; "" if it failed. */
__attribute__((format(printf, 1, 2))) static inline const char *dev_line(const char *format, ...)
{
	static char line[4096];
	char text[2048] = "PATH=$PATH:/usr/sbin:/sbin; exec 2>>said; ";
	size_t n = strlen(text);
	va_list args;
	FILE *f;

	va_start(args, format);
	vsnprintf(text + n, sizeof(text) - n, format, args);
	va_end(args);
	f = popen(text, "re");
	line[0] = '\0';
	if (f && !fgets(line, sizeof(line), f))
		line[0] = '\0';
	if (f && pclose(f) != 0)
		line[0] = '\0';
	line[strcspn(line, "\n")] = '\0';
	return line;
}

/* Writes a file of @len bytes, and the directories above it. */
static inline void dev_put_bytes(const char *path, const void *data, size_t len)
{
	char dir[512];

	snprintf(dir, sizeof(dir), "%s", path);
	for (char *p = strchr(dir + 1, '/'); p; p = strchr(p + 1, '/')) {
		*p = '\0';
		mkdir(dir, 0755);
		*p = '/';
	}
	sys_write(path, data, len, 0644);
}

static inline void dev_put(const char *path, const char *text)
{
	dev_put_bytes(path, text, strlen(text));
}

/* A symlink, and the directories above it. */
static inline void dev_link(const char *to, const char *path)
{
	dev_put(path, "");
	assert_int_equal(unlink(path), 0);
	assert_int_equal(symlink(to, path), 0);
}

/* Attaches @image to a loop device with @options of losetup; its name, malloc'd. */
static inline char *dev_attach(const char *image, const char *options)
{
	const char *name = dev_line("losetup -f --show %s %s", options, image);

	if (!name[0])
		fail_msg("no loop device for %s", image);
	return strdup(name);
}

static inline void dev_detach(char *name)
{
	if (name)
		dev_sh("losetup -d %s", name);
	free(name);
}

static inline dev_t dev_number(const char *name)
{
	struct stat st;

	assert_int_equal(stat(name, &st), 0);
	assert_true(S_ISBLK(st.st_mode));
	return st.st_rdev;
}

static inline int dev_open(const char *name)
{
	int fd = open(name, O_RDONLY | O_CLOEXEC);

	assert_true(fd >= 0);
	return fd;
}

/* Like sys_teardown(), and whatever the test left mounted or attached is let go. */
static inline int dev_teardown(void **state)
{
	const char *cwd = *state;

	if (geteuid() == 0 && chdir(cwd) == 0) {
		dev_sh("for m in $(awk '{print $5}' /proc/self/mountinfo | grep '^%s/' | tac); do "
		       "umount -l $m; done",
		       cwd);
		dev_sh("losetup -n -O NAME,BACK-FILE | awk '$2 ~ \"^%s/\" {print $1}' | "
		       "while read d; do losetup -d $d; done",
		       cwd);
	}
	return sys_teardown(state);
}

/* In a namespace of our own: copies of what other tests have mounted would keep it in use after they
 * unmount it. */
static inline void drop_mounts(void)
{
	/* The type is of no effect; valgrind reads it. */
	if (mount("none", "/", "none", MS_REC | MS_PRIVATE, NULL) < 0)
		fprintf(stderr, "mounts are shared: %s\n", strerror(errno));
	if (system("findmnt -rno TARGET,SOURCE | sed -n 's,\\(.*\\) /dev/loop.*,\\1,p' | "
		   "while read -r m; do umount -l $m; done 2>/dev/null") != 0)
		fprintf(stderr, "mounts of others may be kept\n");
}

/* main() of a program whose mounts are its own: a copy of one in the namespace of another test that
 * runs meanwhile would keep the file system in use after umount. */
#define DEV_MAIN(tests)                                                                            \
	static int run_all(void)                                                                   \
	{                                                                                          \
		if (geteuid() == 0 && unshare(CLONE_NEWNS) == 0)                                   \
			drop_mounts();                                                             \
		return cmocka_run_group_tests(tests, NULL, NULL);                                  \
	}                                                                                          \
	int main(void)                                                                             \
	{                                                                                          \
		return sys_run(run_all);                                                           \
	}

#define DEV_T(f) cmocka_unit_test_setup_teardown(f, sys_setup, dev_teardown)

#define NEED_LOOP()                                                                                \
	do {                                                                                       \
		SKIP_UNLESS(geteuid() == 0, "needs root, for loop devices");                       \
		SKIP_UNLESS(access("/dev/loop-control", W_OK) == 0, "needs loop devices");         \
	} while (0)

#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Opening names beneath a root, by openat2(2) and without it. */
#include <config.h>
#include "walk_tree.h"

#include <stdbool.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/sysmacros.h>
#include <sys/un.h>

#include "walk/resolve_internal.h"

static const scr_step_fn steps[] = {scr_step, scr_step_openat2, scr_step_openat};
#define STEPS (sizeof(steps) / sizeof(steps[0]))

/* For each way down that this kernel has. */
#define FOR_EACH_STEP(step)                                                                        \
	for (size_t step##_i = 0; step##_i < STEPS; step##_i++)                                    \
		for (scr_step_fn step = usable(steps[step##_i]); step; step = NULL)

static scr_step_fn usable(scr_step_fn step)
{
	int fd = step(AT_FDCWD, "", O_PATH, false);

	return fd == -ENOSYS || fd == -EPERM ? NULL : step;
}

static int open_by(scr_step_fn step, int root, const char *path)
{
	struct stat st;

	return scr_open_beneath_by(step, root, path, strlen(path), false, &st);
}

static void test_plain(void **state)
{
	int root = sys_opendir(*state);

	mkdir("d", 0755);
	mkdir("d/e", 0755);
	sys_write("d/e/f", "hello", 5, 0644);
	FOR_EACH_STEP(step) {
		struct stat st = {0}, by_name;
		char buf[8];
		int fd = scr_open_beneath_by(step, root, "d/e/f", 5, true, &st);

		assert_true(fd >= 0);
		assert_int_equal(read(fd, buf, sizeof(buf)), 5);
		assert_memory_equal(buf, "hello", 5);
		assert_int_equal(st.st_size, 5);
		assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
		close(fd);
		assert_int_equal(scr_stat_beneath_by(step, root, "d/e/f", 5, &by_name), 0);
		assert_int_equal(by_name.st_ino, st.st_ino);
		assert_int_equal(scr_stat_beneath_by(step, root, "d", 1, &by_name), 0);
		assert_true(S_ISDIR(by_name.st_mode));
	}
	close(root);
}

static void test_refused_paths(void **state)
{
	static const char *const bad[] = {"", "/etc/passwd", "../x", "d/../f", "./f", "d//f", "d/"};
	int root = sys_opendir(*state);
	struct stat st;

	sys_touch("f");
	FOR_EACH_STEP(step) {
		for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
			assert_int_equal(open_by(step, root, bad[i]), -EINVAL);
			assert_int_equal(scr_stat_beneath_by(step, root, bad[i], strlen(bad[i]),
							     &st), -EINVAL);
		}
		assert_int_equal(open_by(step, root, "none"), -ENOENT);
		assert_int_equal(open_by(step, root, "f/g"), -ENOTDIR);
	}
	close(root);
}

static void test_symlinks(void **state)
{
	int root;
	struct stat st;

	mkdir("root", 0755);
	mkdir("outside", 0755);
	mkdir("root/d", 0755);
	sys_touch("outside/f");
	sys_touch("root/d/f");
	assert_int_equal(symlink("../outside", "root/out"), 0);
	assert_int_equal(symlink("d/f", "root/link"), 0);
	assert_int_equal(symlink("d", "root/dir"), 0);
	assert_int_equal(symlink("loop", "root/loop"), 0);
	root = sys_opendir("root");
	FOR_EACH_STEP(step) {
		assert_int_equal(open_by(step, root, "out/f"), -ELOOP);
		assert_int_equal(open_by(step, root, "link"), -ELOOP);
		assert_int_equal(open_by(step, root, "dir/f"), -ELOOP);
		assert_int_equal(open_by(step, root, "loop"), -ELOOP);
		assert_int_equal(scr_stat_beneath_by(step, root, "out/f", 5, &st), -ELOOP);
		/* stat says that it is a symlink, and doesn't follow it */
		assert_int_equal(scr_stat_beneath_by(step, root, "link", 4, &st), 0);
		assert_true(S_ISLNK(st.st_mode));
	}
	close(root);
	(void)state;
}

/* A FIFO that nobody writes to would block an ordinary open for ever. */
static void test_not_regular(void **state)
{
	struct sockaddr_un name = {.sun_family = AF_UNIX, .sun_path = "socket"};
	int root = sys_opendir(*state), s = socket(AF_UNIX, SOCK_STREAM, 0);
	bool device = mknod("device", S_IFCHR | 0666, makedev(10, 237)) == 0;

	assert_int_equal(mkfifo("fifo", 0666), 0);
	assert_int_equal(bind(s, (struct sockaddr *)&name, sizeof(name)), 0);
	mkdir("d", 0755);
	alarm(20);
	FOR_EACH_STEP(step) {
		assert_int_equal(open_by(step, root, "fifo"), -EINVAL);
		assert_int_equal(open_by(step, root, "socket"), -EINVAL);
		assert_int_equal(open_by(step, root, "d"), -EINVAL);
		if (device)
			assert_int_equal(open_by(step, root, "device"), -EINVAL);
	}
	alarm(0);
	close(s);
	close(root);
}

static void test_long_path(void **state)
{
	size_t len = 0, cap = 5000 * 4 + 2;
	char *path = malloc(cap);
	int root = sys_opendir(*state);

	assert_non_null(path);
	tree_deep(".", "ddd", 3000);
	for (unsigned int i = 0; i < 2999; i++) {
		memcpy(path + len, "ddd/", 4);
		len += 4;
	}
	path[len++] = 'z';
	FOR_EACH_STEP(step) {
		struct stat st, by_name;
		int fd = scr_open_beneath_by(step, root, path, len, true, &st);

		assert_true(fd >= 0);
		close(fd);
		assert_int_equal(scr_stat_beneath_by(step, root, path, len, &by_name), 0);
		assert_int_equal(st.st_ino, by_name.st_ino);
		path[len - 1] = 'q';
		assert_int_equal(scr_open_beneath_by(step, root, path, len, true, &st), -ENOENT);
		path[len - 1] = 'z';
	}
	memset(path, 'n', 6000);
	FOR_EACH_STEP(step) {
		struct stat st;

		assert_int_equal(scr_open_beneath_by(step, root, path, 6000, false, &st),
				 -ENAMETOOLONG);
		assert_int_equal(scr_open_beneath_by(step, root, path, 300, false, &st),
				 -ENAMETOOLONG);
	}
	tree_deep_remove(".", "ddd");
	free(path);
	close(root);
}

static void test_root_is_the_file(void **state)
{
	struct stat st;
	int root, fd;
	char c;

	(void)state;
	sys_touch("f");
	root = open("f", O_PATH | O_CLOEXEC);
	fd = scr_open_beneath(root, ".", 1, true, &st);
	assert_true(fd >= 0);
	assert_int_equal(read(fd, &c, 1), 1);
	assert_int_equal(scr_stat_beneath(root, ".", 1, &st), 0);
	assert_true(S_ISREG(st.st_mode));
	close(fd);
	close(root);
}

static int open_without_proc(void *arg)
{
	int root = sys_opendir(arg), pathfd, fd;
	struct stat st, other;

	if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
	    mount("none", "/proc", "tmpfs", 0, NULL) < 0)
		return 77;
	fd = scr_open_beneath(root, "f", 1, true, &st);
	if (fd < 0)
		return 1;
	/* Another inode has the name by now. */
	pathfd = openat(root, "f", O_PATH);
	rename("g", "f");
	if (fstat(pathfd, &other) < 0 || scr_reopen_regular(pathfd, root, "f", &other) != -ESTALE)
		return 2;
	return 0;
}

static void test_without_proc(void **state)
{
	int ret;

	SKIP_UNLESS(geteuid() == 0, "needs root, to hide /proc");
	sys_touch("f");
	sys_touch("g");
	ret = sys_as(0, open_without_proc, *state);
	SKIP_UNLESS(ret != 77, "mount namespaces are not allowed here");
	assert_int_equal(ret, 0);
}

static int cross(void *arg)
{
	int root;
	struct stat st;

	(void)arg;
	if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
	    mount("none", "m", "tmpfs", 0, NULL) < 0)
		return 77;
	sys_touch("m/f");
	root = sys_opendir(".");
	for (size_t i = 0; i < STEPS; i++) {
		scr_step_fn step = usable(steps[i]);
		int fd;

		if (!step)
			continue;
		if (scr_open_beneath_by(step, root, "m/f", 3, true, &st) != -EXDEV)
			return 1;
		fd = scr_open_beneath_by(step, root, "m/f", 3, false, &st);
		if (fd < 0)
			return 2;
		close(fd);
	}
	return 0;
}

static void test_other_file_system(void **state)
{
	int ret;

	SKIP_UNLESS(geteuid() == 0, "needs root, to mount");
	mkdir("m", 0755);
	ret = sys_as(0, cross, *state);
	SKIP_UNLESS(ret != 77, "mount namespaces are not allowed here");
	assert_int_equal(ret, 0);
}

/* Somebody swaps directory and symlink all the time: either the right file or an error. */
static void test_race(void **state)
{
	pid_t pid;
	int root;

	mkdir("root", 0755);
	mkdir("root/d", 0755);
	mkdir("outside", 0755);
	sys_write("root/d/f", "in", 2, 0644);
	sys_write("outside/f", "out", 3, 0644);
	assert_int_equal(symlink("../outside", "root/s"), 0);
	pid = fork();
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			renameat2(AT_FDCWD, "root/d", AT_FDCWD, "root/s", RENAME_EXCHANGE);
	}
	root = sys_opendir("root");
	FOR_EACH_STEP(step) {
		for (unsigned int i = 0; i < 3000; i++) {
			struct stat st;
			int fd = scr_open_beneath_by(step, root, "d/f", 3, true, &st);

			if (fd >= 0) {
				assert_int_equal(st.st_size, 2);
				close(fd);
			} else {
				assert_true(fd == -ELOOP || fd == -EAGAIN || fd == -ENOTDIR);
			}
		}
	}
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	close(root);
	(void)state;
}

#define T(f) cmocka_unit_test_setup_teardown(f, sys_setup, sys_teardown)

static const struct CMUnitTest tests[] = {
	T(test_plain),
	T(test_refused_paths),
	T(test_symlinks),
	T(test_not_regular),
	T(test_long_path),
	T(test_root_is_the_file),
	T(test_without_proc),
	T(test_other_file_system),
	T(test_race),
};

SYS_MAIN(tests)

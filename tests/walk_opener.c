/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Opening many files of a directory that is kept open. */
#include <config.h>
#include "sys_util.h"

#include "walk/resolve.h"

struct rig {
	struct scr_opener opener;
	int root;
};

static void make(struct rig *g, mode_t mode)
{
	*g = (struct rig){.root = -1};
	assert_int_equal(mkdir("d", 0755), 0);
	assert_int_equal(mkdir("d/sub", 0755), 0);
	sys_write("top", "top", 3, 0600);
	sys_write("d/a", "a", 1, 0600);
	sys_write("d/b", "bb", 2, 0600);
	sys_write("d/sub/c", "ccc", 3, 0600);
	assert_int_equal(symlink("a", "d/link"), 0);
	assert_int_equal(symlink("d", "e"), 0);
	assert_int_equal(mkfifo("d/fifo", 0600), 0);
	assert_int_equal(chmod("d", mode), 0);
	g->root = open(".", O_PATH | O_DIRECTORY);
	assert_true(g->root >= 0);
}

static void done(struct rig *g)
{
	scr_opener_free(&g->opener);
	close(g->root);
}

/* What opening @path gives: the size of the file, or -errno. */
static int size_of(struct rig *g, const char *path)
{
	struct stat st, now;
	int fd = scr_opener_open(&g->opener, g->root, path, strlen(path), true, &st);

	if (fd < 0)
		return fd;
	assert_int_equal(fstat(fd, &now), 0);
	assert_int_equal(now.st_ino, st.st_ino);
	assert_int_equal(fcntl(fd, F_GETFL) & O_ACCMODE, O_RDONLY);
	assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
	close(fd);
	return (int)st.st_size;
}

static void check_names(mode_t mode)
{
	struct rig g;

	make(&g, mode);
	for (int twice = 0; twice < 2; twice++) {
		assert_int_equal(size_of(&g, "d/a"), 1);
		assert_int_equal(size_of(&g, "d/b"), 2);
		assert_int_equal(size_of(&g, "top"), 3);
		assert_int_equal(size_of(&g, "d/sub/c"), 3);
		assert_int_equal(size_of(&g, "d/missing"), -ENOENT);
		assert_int_equal(size_of(&g, "d/link"), -ELOOP);
		assert_int_equal(size_of(&g, "d/fifo"), -EINVAL);
		assert_int_equal(size_of(&g, "d/sub"), -EINVAL);
		assert_int_equal(size_of(&g, "e/a"), -ELOOP);
		assert_int_equal(size_of(&g, "top/x"), -ENOTDIR);
		assert_int_equal(size_of(&g, "d/../top"), -EINVAL);
		assert_int_equal(size_of(&g, "d//a"), -EINVAL);
		assert_int_equal(size_of(&g, "/d/a"), -EINVAL);
		assert_int_equal(size_of(&g, ""), -EINVAL);
	}
	done(&g);
}

static void test_names(void **state)
{
	(void)state;
	check_names(0755);
}

/* Where others can change names it goes another way, and finds the same. */
static void test_untrusted(void **state)
{
	(void)state;
	check_names(0777);
}

static void test_trust(void **state)
{
	struct rig g;

	(void)state;
	make(&g, 0755);
	assert_int_equal(size_of(&g, "d/a"), 1);
	assert_true(g.opener.ready && g.opener.trusted);
	scr_opener_close(&g.opener);
	assert_false(g.opener.ready);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(chmod("d", i ? 0757 : 0775), 0);
		assert_int_equal(size_of(&g, "d/a"), 1);
		assert_false(g.opener.trusted);
		scr_opener_close(&g.opener);
	}
	assert_int_equal(chmod("d", 0755), 0);
	if (geteuid() == 0) {
		assert_int_equal(chown("d", NOBODY, NOBODY), 0);
		assert_int_equal(size_of(&g, "d/a"), 1);
		assert_false(g.opener.trusted);
	}
	done(&g);
}

/* It stays open until it is let go; names in it are looked up each time. */
static void test_changes(void **state)
{
	struct rig g;

	(void)state;
	make(&g, 0755);
	assert_int_equal(size_of(&g, "d/a"), 1);
	assert_int_equal(rename("d/b", "d/a"), 0);
	assert_int_equal(size_of(&g, "d/a"), 2);
	assert_int_equal(unlink("d/a"), 0);
	assert_int_equal(mkfifo("d/a", 0600), 0);
	assert_int_equal(size_of(&g, "d/a"), -EINVAL);
	assert_int_equal(rename("d", "was"), 0);
	assert_int_equal(mkdir("d", 0755), 0);
	sys_write("d/a", "other", 5, 0600);
	scr_opener_close(&g.opener);
	assert_int_equal(size_of(&g, "d/a"), 5);
	done(&g);
}

#define T(f) cmocka_unit_test_setup_teardown(f, sys_setup, sys_teardown)

static const struct CMUnitTest tests[] = {
	T(test_names),
	T(test_untrusted),
	T(test_trust),
	T(test_changes),
};

SYS_MAIN(tests)

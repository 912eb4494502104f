/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Trees deeper than PATH_MAX: made and removed by descriptors. */
#ifndef TESTS_WALK_TREE_H
#define TESTS_WALK_TREE_H

#include "sys_util.h"

/* Makes @depth directories @name below @top, each with a file "a" and a file "z". */
static inline void tree_deep(const char *top, const char *name, unsigned int depth)
{
	int fd = sys_opendir(top);

	for (unsigned int i = 0; i < depth; i++) {
		int next, a = openat(fd, "a", O_CREAT | O_WRONLY, 0644);
		int z = openat(fd, "z", O_CREAT | O_WRONLY, 0644);

		assert_int_equal(mkdirat(fd, name, 0755), 0);
		next = openat(fd, name, O_RDONLY | O_DIRECTORY);
		assert_true(a >= 0 && z >= 0 && next >= 0);
		close(a);
		close(z);
		close(fd);
		fd = next;
	}
	close(fd);
}

/* Removes what tree_deep() made: goes down by ".." free steps, moving each level's child up. */
static inline void tree_deep_remove(const char *top, const char *name)
{
	int fd = sys_opendir(top);

	for (;;) {
		int child = openat(fd, name, O_RDONLY | O_DIRECTORY);

		if (child < 0)
			break;
		unlinkat(child, "a", 0);
		unlinkat(child, "z", 0);
		/* The grandchild takes the place of the child, which is empty then. */
		if (renameat(child, name, fd, "grandchild") < 0) {
			close(child);
			unlinkat(fd, name, AT_REMOVEDIR);
			break;
		}
		close(child);
		assert_int_equal(unlinkat(fd, name, AT_REMOVEDIR), 0);
		assert_int_equal(renameat(fd, "grandchild", fd, name), 0);
	}
	unlinkat(fd, "a", 0);
	unlinkat(fd, "z", 0);
	close(fd);
}

#endif

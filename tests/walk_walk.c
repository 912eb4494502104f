/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The walk: its order, its depth, what it passes over, and trees that change under it. */
#include <config.h>
#include "walk_tree.h"

#include <dirent.h>
#include <stdbool.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>

#include "base/path.h"
#include "walk/walk.h"

/* "F path\n" for each entry; E error, U unlisted, X excluded, N note, with "=errno". */
struct log {
	char text[65536];
	size_t len;
};

static void log_entry(struct log *log, const struct scr_walk_entry *e)
{
	log->len += (size_t)snprintf(log->text + log->len, sizeof(log->text) - log->len,
				     e->err ? "%c %s=%s\n" : "%c %s\n", "-FEUXN"[e->type], e->path,
				     e->err ? strerrorname_np(e->err) : "");
	assert_true(log->len < sizeof(log->text));
	assert_int_equal(strlen(e->path), e->len);
}

static void walk_all(const char *root, const struct scr_walk_options *opt, struct log *log)
{
	int fd = sys_opendir(root);
	struct scr_walk *w;
	struct scr_walk_entry e;

	*log = (struct log){0};
	assert_int_equal(scr_walk_new(fd, opt, &w), 0);
	for (;;) {
		assert_int_equal(scr_walk_next(w, &e), 0);
		if (e.type == SCR_WALK_END)
			break;
		log_entry(log, &e);
	}
	assert_int_equal(scr_walk_next(w, &e), 0); /* the end stays the end */
	assert_int_equal(e.type, SCR_WALK_END);
	scr_walk_free(w);
	scr_walk_free(NULL);
	close(fd);
}

#define assert_walk(root, opt, expected)                                                           \
	do {                                                                                       \
		static struct log log_;                                                            \
		walk_all(root, opt, &log_);                                                        \
		assert_string_equal(log_.text, expected);                                          \
	} while (0)

static void test_empty(void **state)
{
	(void)state;
	assert_walk(".", NULL, "");
	mkdir("d", 0755);
	assert_walk(".", NULL, "");
}

static void test_order(void **state)
{
	(void)state;
	mkdir("a", 0755);
	sys_touch("a/b");
	sys_touch("a.txt");
	sys_touch("a b");
	sys_touch("\x01");
	sys_touch("B");
	sys_touch("\xff");
	sys_touch("\xc3\xa4");
	mkdir("a-", 0755);
	sys_touch("a-/x");
	assert_walk(".", NULL, "F \x01\nF B\nF a/b\nF a b\nF a-/x\nF a.txt\nF \xc3\xa4\nF \xff\n");
}

static void test_regular_files_only(void **state)
{
	struct sockaddr_un name = {.sun_family = AF_UNIX, .sun_path = "socket"};
	int s = socket(AF_UNIX, SOCK_STREAM, 0);

	(void)state;
	sys_touch("f");
	mkdir("d", 0755);
	sys_touch("d/g");
	assert_int_equal(symlink("d", "link"), 0);
	assert_int_equal(symlink("f", "linkf"), 0);
	assert_int_equal(symlink("loop", "loop"), 0);
	assert_int_equal(mkfifo("fifo", 0666), 0);
	assert_int_equal(bind(s, (struct sockaddr *)&name, sizeof(name)), 0);
	alarm(20);
	assert_walk(".", NULL, "F d/g\nF f\n");
	alarm(0);
	close(s);
}

static void random_tree(unsigned int *seed, unsigned int depth)
{
	static const char alphabet[] = "a.-b\x01\x80 0";

	for (unsigned int i = 0; i < 6; i++) {
		char name[4] = {0};

		for (int j = 0; j < 1 + rand_r(seed) % 3; j++)
			name[j] = alphabet[(size_t)rand_r(seed) % (sizeof(alphabet) - 1)];
		if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
			continue;
		if (rand_r(seed) % 2 && depth < 4) {
			if (mkdir(name, 0755) < 0 || chdir(name) < 0)
				continue;
			random_tree(seed, depth + 1);
			assert_int_equal(chdir(".."), 0);
		} else if (access(name, F_OK) < 0) {
			sys_touch(name);
		}
	}
}

/* The oracle of the order is scr_path_cmp(). */
static void test_order_on_random_trees(void **state)
{
	unsigned int seed = 3, files = 0;

	(void)state;
	for (unsigned int t = 0; t < 20; t++) {
		char dir[16], last[256] = "";
		struct scr_walk_entry e;
		struct scr_walk *w;
		int fd;

		snprintf(dir, sizeof(dir), "t%u", t);
		mkdir(dir, 0755);
		assert_int_equal(chdir(dir), 0);
		random_tree(&seed, 0);
		assert_int_equal(chdir(".."), 0);
		fd = sys_opendir(dir);
		assert_int_equal(scr_walk_new(fd, NULL, &w), 0);
		while (scr_walk_next(w, &e) == 0 && e.type != SCR_WALK_END) {
			assert_int_equal(e.type, SCR_WALK_FILE);
			assert_true(scr_path_cmp(last, strlen(last), e.path, e.len) < 0);
			assert_true(scr_path_valid(e.path, e.len));
			memcpy(last, e.path, e.len + 1);
			files++;
		}
		scr_walk_free(w);
		close(fd);
	}
	assert_true(files > 500);
}

/* 5000 levels, two files each, one behind the subdirectory: the way back up counts too. */
static void test_deep(void **state)
{
	const unsigned int depth = 5000;
	struct rlimit before, few;
	unsigned int files = 0;
	size_t longest = 0;
	struct scr_walk_entry e;
	struct scr_walk *w;
	int fd;

	(void)state;
	tree_deep(".", "dd", depth);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	few = before;
	few.rlim_cur = 48;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
	fd = sys_opendir(".");
	assert_int_equal(scr_walk_new(fd, NULL, &w), 0);
	while (scr_walk_next(w, &e) == 0 && e.type != SCR_WALK_END) {
		assert_int_equal(e.type, SCR_WALK_FILE);
		assert_int_equal(e.path[e.len - 1], files < depth ? 'a' : 'z');
		longest = e.len > longest ? e.len : longest;
		files++;
	}
	scr_walk_free(w);
	close(fd);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
	assert_int_equal(files, 2 * depth);
	assert_int_equal(longest, (depth - 1) * 3 + 1);
	tree_deep_remove(".", "dd");
}

/* Directories that the walk has closed are moved or replaced before it comes back to them. */
static void test_swapped_on_the_way_back(void **state)
{
	unsigned int files = 0, gone = 0;
	struct scr_walk_entry e;
	struct scr_walk *w;
	bool swapped = false;
	int fd;

	(void)state;
	mkdir("root", 0755);
	tree_deep("root", "dd", 100);
	fd = sys_opendir("root");
	assert_int_equal(scr_walk_new(fd, NULL, &w), 0);
	while (scr_walk_next(w, &e) == 0 && e.type != SCR_WALK_END) {
		if (e.len == 99 * 3 + 1 && !swapped) {
			/* The tree leaves the root; a symlink to it stands in its place. */
			assert_int_equal(rename("root/dd", "moved"), 0);
			assert_int_equal(symlink("../moved", "root/dd"), 0);
			swapped = true;
		}
		files += e.type == SCR_WALK_FILE;
		if (e.type == SCR_WALK_FILE)
			continue;
		assert_int_equal(e.type, SCR_WALK_ERROR);
		assert_int_equal(e.err, ENOENT);
		assert_int_equal(e.path[e.len - 1], 'z');
		gone++;
	}
	scr_walk_free(w);
	close(fd);
	assert_true(swapped);
	/* Those levels that were still open by then could be finished. */
	assert_int_equal(files + gone, 200);
	assert_in_range(gone, 60, 80);
	assert_int_equal(unlink("root/dd"), 0);
	assert_int_equal(rename("moved", "root/dd"), 0);
	tree_deep_remove("root", "dd");
}

static void test_vanished(void **state)
{
	struct scr_walk_entry e;
	struct scr_walk *w;
	static struct log log;
	int fd = sys_opendir(*state);

	sys_touch("a");
	sys_touch("b");
	mkdir("c", 0755);
	sys_touch("c/x");
	mkdir("d", 0755);
	sys_touch("d/x");
	sys_touch("e");
	assert_int_equal(scr_walk_new(fd, NULL, &w), 0);
	assert_int_equal(scr_walk_next(w, &e), 0);
	log = (struct log){0};
	log_entry(&log, &e);
	unlink("b");
	rename("c", "a.moved");
	rename("d", "a.too");
	symlink("a.too", "d");
	unlink("e");
	mkfifo("e", 0644);
	while (scr_walk_next(w, &e) == 0 && e.type != SCR_WALK_END)
		log_entry(&log, &e);
	assert_string_equal(log.text, "F a\nE b=ENOENT\nE c=ENOENT\nU c=ENOENT\nE d=ENOENT\n"
				      "U d=ENOENT\nE e=ENOENT\n");
	scr_walk_free(w);
	close(fd);
}

static bool exclude_x(void *arg, const char *path, size_t len, bool is_dir)
{
	(void)arg, (void)is_dir;
	return path[len - 1] == 'x';
}

static void test_excluded(void **state)
{
	const struct scr_walk_options opt = {.exclude = exclude_x};

	(void)state;
	mkdir("dx", 0);
	mkdir("e", 0755);
	sys_touch("e/fx");
	sys_touch("e/g");
	assert_int_equal(symlink("e", "sx"), 0);
	assert_walk(".", &opt, "X dx\nX e/fx\nF e/g\n");
}

static int walk_as_nobody(void *arg)
{
	static struct log log;

	walk_all(".", NULL, &log);
	if (strcmp(log.text, arg) == 0)
		return 0;
	print_message("# got:\n%s", log.text);
	return 1;
}

static void test_no_permission(void **state)
{
	uid_t uid = geteuid() == 0 ? NOBODY : geteuid();

	(void)state;
	assert_int_equal(chmod(".", 0755), 0);
	mkdir("a", 0755);
	sys_touch("a/f");
	mkdir("b", 0);
	mkdir("c", 0755);
	sys_touch("c/f");
	mkdir("c/sub", 0755);
	if (geteuid() == 0)
		assert_int_equal(chown("c", 1, 1), 0);
	assert_int_equal(chmod("c", 0744), 0); /* to be listed, not to be looked into */
	if (geteuid() != 0)
		chmod("c", 0444);
	assert_int_equal(sys_as(uid, walk_as_nobody,
				(void *)(uintptr_t) "F a/f\nE b=EACCES\nU b=EACCES\nE c/f=EACCES\n"
						    "E c/sub=EACCES\nU c/sub=EACCES\n"), 0);
	chmod("c", 0755);
}

static void make_state(const char *dir, const char *head)
{
	char path[256];

	mkdir(dir, 0700);
	snprintf(path, sizeof(path), "%s/manifest", dir);
	sys_write(path, head, strlen(head), 0600);
}

static void test_state_directories(void **state)
{
	struct scr_walk_options opt = {0};
	struct stat st;

	(void)state;
	make_state(".bitscrub", "BSG1xxxx");
	sys_touch(".bitscrub/manifest.1");
	sys_touch(".bitscrub/journal");
	sys_touch(".bitscrub/history");
	sys_touch(".bitscrub/manifest.tmp");
	sys_touch(".bitscrub/holiday.jpg");
	mkdir(".bitscrub/parity", 0700);
	sys_touch(".bitscrub/parity/00000001");
	sys_touch(".bitscrub/parity/hidden");
	mkdir(".bitscrub/other", 0700);
	sys_touch(".bitscrub/other/journal");
	make_state("own", "BSG1");
	sys_touch("own/anything");
	make_state("img.bitscrub", "BSG1");
	make_state("no.bitscrub", "BSG2");
	sys_touch("no.bitscrub/journal");
	make_state("plain", "BSG1");
	sys_touch("file.bitscrub");
	mkdir("empty.bitscrub", 0700);
	mkdir("sneaky.bitscrub", 0700);
	assert_int_equal(symlink("../own/manifest", "sneaky.bitscrub/manifest"), 0);
	sys_touch("sneaky.bitscrub/journal");
	assert_int_equal(stat("own", &st), 0);
	opt.state_dev = st.st_dev;
	opt.state_ino = st.st_ino;
	assert_walk(".", &opt,
		    "F .bitscrub/holiday.jpg\nF .bitscrub/other/journal\n"
		    "F .bitscrub/parity/hidden\nF file.bitscrub\nF no.bitscrub/journal\n"
		    "F no.bitscrub/manifest\nF plain/manifest\nF sneaky.bitscrub/journal\n");
}

static bool exclude_state(void *arg, const char *path, size_t len, bool is_dir)
{
	(void)arg;
	return is_dir && len > 9 && strcmp(path + len - 9, ".bitscrub") == 0;
}

static void test_excluded_state(void **state)
{
	const struct scr_walk_options opt = {.exclude = exclude_state};

	(void)state;
	make_state("a.bitscrub", "BSG1");
	make_state("b.bitscrub", "none");
	assert_walk(".", &opt, "X b.bitscrub\n");
}

/* State of root that others may not open is no trouble of theirs; a stranger's directory is. */
static void test_closed_state(void **state)
{
	(void)state;
	SKIP_UNLESS(geteuid() == 0, "needs root, to make directories of others");
	assert_int_equal(chmod(".", 0755), 0);
	make_state("a.bitscrub", "BSG1");
	make_state("b.bitscrub", "BSG1");
	assert_int_equal(chown("b.bitscrub", 1, 1), 0);
	make_state("c.bitscrub", "BSG1");
	assert_int_equal(chmod("c.bitscrub", 0755), 0);
	sys_touch("c.bitscrub/f");
	assert_int_equal(sys_as(NOBODY, walk_as_nobody,
				(void *)(uintptr_t) "N a.bitscrub=EACCES\nE b.bitscrub=EACCES\n"
						    "U b.bitscrub=EACCES\nN c.bitscrub=EACCES\n"
						    "F c.bitscrub/f\n"), 0);
}

static int walk_mounts(void *arg)
{
	static struct log log;
	const struct scr_walk_options cross = {.cross_mounts = true};

	(void)arg;
	if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
	    mount("none", "m", "tmpfs", 0, NULL) < 0 || mount("d", "same", NULL, MS_BIND, NULL) < 0 ||
	    mount("d/f", "filemount", NULL, MS_BIND, NULL) < 0)
		return 77;
	sys_touch("m/f");
	walk_all(".", NULL, &log);
	/* A bind mount of the same file system has the same device number; a file that is mounted
	 * over another one of the same file system can't be told, and is content of this tree. */
	if (strcmp(log.text, "F d/f\nF filemount\nU m=EXDEV\nU same=EXDEV\n") != 0) {
		print_message("# got:\n%s", log.text);
		return 1;
	}
	walk_all(".", &cross, &log);
	return strcmp(log.text, "F d/f\nF filemount\nF m/f\nF same/f\n") == 0 ? 0 : 2;
}

static void test_mounts(void **state)
{
	int ret;

	SKIP_UNLESS(geteuid() == 0, "needs root, to mount");
	mkdir("d", 0755);
	sys_touch("d/f");
	mkdir("m", 0755);
	mkdir("same", 0755);
	sys_touch("filemount");
	ret = sys_as(0, walk_mounts, *state);
	SKIP_UNLESS(ret != 77, "mount namespaces are not allowed here");
	assert_int_equal(ret, 0);
}

/* ---- readdir that fails, or tells no types ------------------------------------------------ */

static struct {
	unsigned int fail_at;   /* the call that fails; 0: none */
	size_t size;            /* bytes a call may give; 0: as many as asked for */
	bool no_types;
	unsigned int calls;
} readdir_fault;

/* In the place of the one in libc. */
ssize_t getdents64(int fd, void *buf, size_t size)
{
	long n;

	if (readdir_fault.fail_at && ++readdir_fault.calls == readdir_fault.fail_at) {
		errno = EIO;
		return -1;
	}
	if (readdir_fault.size && readdir_fault.size < size)
		size = readdir_fault.size;
	n = syscall(SYS_getdents64, fd, buf, size);
	for (long at = 0; readdir_fault.no_types && at < n;) {
		struct dirent64 *e = (void *)((char *)buf + at);

		e->d_type = DT_UNKNOWN;
		at += e->d_reclen;
	}
	return n;
}

static void test_no_types(void **state)
{
	(void)state;
	mkdir("d", 0755);
	sys_touch("d/f");
	sys_touch("f");
	make_state("s.bitscrub", "BSG1");
	assert_int_equal(symlink("f", "link"), 0);
	assert_int_equal(mkfifo("fifo", 0600), 0);
	readdir_fault.no_types = true;
	assert_walk(".", NULL, "F d/f\nF f\n");
	readdir_fault.no_types = false;
}

/* What was listed before the error comes; the rest is unknown, and said to be before that. */
static void test_listing_breaks_off(void **state)
{
	static struct log log;
	unsigned int files = 0;

	(void)state;
	mkdir("d", 0755);
	for (char c = 'a'; c <= 'z'; c++) {
		char path[] = {'d', '/', c, '\0'};

		sys_touch(path);
	}
	sys_touch("e");
	/* The root takes two calls (entries, end). */
	readdir_fault.size = 256;
	readdir_fault.calls = 0;
	readdir_fault.fail_at = 4;
	walk_all(".", NULL, &log);
	assert_memory_equal(log.text, "E d=EIO\nU d=EIO\nF d/", 20);
	assert_string_equal(log.text + log.len - 4, "F e\n");
	for (const char *p = log.text; (p = strstr(p, "F d/")); p++)
		files++;
	assert_in_range(files, 1, 25);
	readdir_fault.calls = 0;
	readdir_fault.fail_at = 2;
	walk_all(".", NULL, &log);
	assert_memory_equal(log.text, "E .=EIO\nU .=EIO\n", 16);
	readdir_fault.calls = 0;
	readdir_fault.fail_at = 1;
	assert_walk(".", NULL, "E .=EIO\nU .=EIO\n");
	readdir_fault.fail_at = 0;
	readdir_fault.size = 0;
}

static void test_large_directory(void **state)
{
	struct scr_walk_entry e;
	struct scr_walk *w;
	unsigned int n = 0;
	int fd = sys_opendir(*state);

	for (unsigned int i = 0; i < 20000; i++) {
		char name[16];

		snprintf(name, sizeof(name), "%05u", (i * 7919) % 20000);
		close(openat(fd, name, O_CREAT | O_WRONLY, 0644));
	}
	assert_int_equal(scr_walk_new(fd, NULL, &w), 0);
	while (scr_walk_next(w, &e) == 0 && e.type != SCR_WALK_END)
		assert_int_equal(strtoul(e.path, NULL, 10), n++);
	assert_int_equal(n, 20000);
	scr_walk_free(w);
	close(fd);
}

static void test_root_is_no_directory(void **state)
{
	struct scr_walk *w = NULL;
	int fd;

	(void)state;
	sys_touch("f");
	fd = open("f", O_RDONLY);
	assert_int_equal(scr_walk_new(fd, NULL, &w), -ENOTDIR);
	assert_null(w);
	close(fd);
}

#define T(f) cmocka_unit_test_setup_teardown(f, sys_setup, sys_teardown)

static const struct CMUnitTest tests[] = {
	T(test_empty),
	T(test_order),
	T(test_regular_files_only),
	T(test_order_on_random_trees),
	T(test_deep),
	T(test_swapped_on_the_way_back),
	T(test_vanished),
	T(test_excluded),
	T(test_no_permission),
	T(test_state_directories),
	T(test_excluded_state),
	T(test_closed_state),
	T(test_mounts),
	T(test_no_types),
	T(test_listing_breaks_off),
	T(test_large_directory),
	T(test_root_is_no_directory),
};

SYS_MAIN(tests)

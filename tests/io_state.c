/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The state directory in ordinary use: places, creation, files, lock, publishing. */
#include <config.h>
#include "sys_util.h"

#include <stdbool.h>
#include <sys/file.h>
#include <sys/time.h>

#include "io/state_internal.h"

static struct scr_why why;

static struct scr_state_place place_of(const char *dir, const char *target, bool is_dir)
{
	struct scr_state_place p;
	char *path = scr_path_join(dir, target), *root = scr_path_join(dir, "root");

	assert_int_equal(scr_state_place(path, is_dir, NULL, root, &p, &why), 0);
	free(path);
	free(root);
	return p;
}

static struct scr_state created(const char *dir)
{
	struct scr_state_place p;
	struct scr_state s;

	mkdir("t", 0755);
	p = place_of(dir, "t", true);
	assert_int_equal(scr_state_create(&p, &s, &why), 0);
	scr_state_place_free(&p);
	return s;
}

static void put(const struct scr_state *s, const char *name, const char *text)
{
	int fd = scr_state_new_file(s, name, &why);

	assert_true(fd >= 0);
	assert_int_equal(scr_write_all(fd, text, strlen(text)), 0);
	close(fd);
}

static void assert_holds(const struct scr_state *s, const char *name, const char *text)
{
	int fd = scr_state_open_file(s, name, O_RDONLY, false, &why);
	char buf[64] = "";

	if (!text) {
		assert_int_equal(fd, -ENOENT);
		return;
	}
	assert_true(fd >= 0);
	assert_true(read(fd, buf, sizeof(buf) - 1) >= 0);
	assert_string_equal(buf, text);
	close(fd);
}

static mode_t mode_of(const char *path)
{
	struct stat st;

	assert_int_equal(lstat(path, &st), 0);
	return st.st_mode & 07777;
}

static void test_escape(void **state)
{
	static const char *const rows[][2] = {
		{"/home/me/My Files", "home-me-My\\x20Files"},
		{"/", "-"},
		{"//", "-"},
		{"/a//b/", "a-b"},
		{"/.hidden/.x", "\\x2ehidden-.x"},
		{"/a-b", "a\\x2db"},
		{"/a:b_c.d", "a:b_c.d"},
		{"/\xc3\xa4\\", "\\xc3\\xa4\\x5c"},
	};
	char long_path[1002], *a, *b;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		a = scr_state_escape(rows[i][0]);
		assert_string_equal(a, rows[i][1]);
		free(a);
	}
	memset(long_path, 'p', sizeof(long_path) - 1);
	long_path[0] = '/';
	long_path[sizeof(long_path) - 1] = '\0';
	a = scr_state_escape(long_path);
	assert_int_equal(strlen(a), 209);
	assert_int_equal(a[200], '-');
	long_path[1000] = 'q';
	b = scr_state_escape(long_path);
	assert_string_not_equal(a, b);
	assert_memory_equal(a, b, 201);
	free(a);
	free(b);
}

static void test_places(void **state)
{
	struct scr_state_place p;
	char *cwd = *state;

	mkdir("t", 0755);
	sys_touch("f");
	p = place_of(cwd, "t", true);
	assert_string_equal(p.in_target + strlen(cwd), "/t/.bitscrub");
	assert_non_null(strstr(p.in_root, "/root/tmp-scrub"));
	assert_null(p.given);
	assert_false(p.use_root);
	scr_state_place_free(&p);
	p = place_of(cwd, "f", false);
	assert_string_equal(p.in_target + strlen(cwd), "/f.bitscrub");
	scr_state_place_free(&p);
	assert_int_equal(scr_state_place("/", true, NULL, NULL, &p, &why), 0);
	assert_string_equal(p.in_target, "/.bitscrub");
	assert_string_equal(p.in_root, SCR_STATEDIR "/-");
	scr_state_place_free(&p);
	assert_int_equal(scr_state_place("/", true, "some/dir//", NULL, &p, &why), 0);
	assert_null(p.in_target);
	assert_null(p.in_root);
	assert_string_equal(p.given + strlen(cwd), "/some/dir");
	scr_state_place_free(&p);
	scr_state_place_free(&p);
	scr_state_place_free(NULL);
}

static void test_create_and_open(void **state)
{
	struct scr_state_place p;
	struct scr_state s = {0}, again = {0};
	struct stat st;

	mkdir("t", 0755);
	umask(0777);
	p = place_of(*state, "t", true);
	assert_int_equal(scr_state_open(&p, false, &s, &why), -ENOENT);
	assert_null(s.path);
	assert_int_equal(scr_state_create(&p, &s, &why), 0);
	assert_true(s.created);
	assert_string_equal(s.path, p.in_target);
	assert_int_equal(mode_of("t/.bitscrub"), 0700);
	assert_int_equal(stat("t/.bitscrub", &st), 0);
	assert_true(s.dev == st.st_dev && s.ino == st.st_ino);
	/* bare, or with temporary names only: none */
	assert_int_equal(scr_state_open(&p, false, &again, &why), -ENOENT);
	put(&s, "manifest.tmp", "x");
	assert_int_equal(mode_of("t/.bitscrub/manifest.tmp"), 0600);
	assert_int_equal(scr_state_open(&p, false, &again, &why), -ENOENT);
	assert_int_equal(scr_state_create(&p, &again, &why), 0);
	assert_false(again.created);
	scr_state_close(&again);
	assert_int_equal(scr_state_publish(&s, "manifest.tmp", &why), 0);
	assert_int_equal(scr_state_open(&p, false, &again, &why), 0);
	assert_false(again.created);
	scr_state_close(&again);
	scr_state_close(&again);
	scr_state_close(&s);
	scr_state_close(NULL);
	scr_state_place_free(&p);
}

/* A manifest that was lost is no fresh start: the directory still counts. */
static void test_lost_manifest_counts(void **state)
{
	struct scr_state s = created(*state), again;
	struct scr_state_place p = place_of(*state, "t", true);

	assert_int_equal(mkdirat(s.dirfd, "parity", 0700), 0);
	assert_int_equal(scr_state_open(&p, false, &again, &why), 0);
	assert_int_equal(scr_state_open_file(&again, SCR_MANIFEST_NAME, O_RDONLY, false, &why),
			 -ENOENT);
	assert_non_null(strstr(why.text, "manifest"));
	scr_state_close(&again);
	scr_state_close(&s);
	scr_state_place_free(&p);
}

static void test_two_found(void **state)
{
	struct scr_state_place p;
	struct scr_state s;

	mkdir("t", 0755);
	p = place_of(*state, "t", true);
	mkdir("root", 0700);
	mkdir(p.in_target, 0700);
	mkdir(p.in_root, 0700);
	/* both bare */
	assert_int_equal(scr_state_open(&p, false, &s, &why), -ENOENT);
	sys_touch("t/.bitscrub/manifest");
	assert_int_equal(scr_state_open(&p, false, &s, &why), 0);
	assert_string_equal(s.path, p.in_target);
	scr_state_close(&s);
	assert_int_equal(chdir(p.in_root), 0);
	sys_touch("manifest");
	assert_int_equal(scr_state_open(&p, false, &s, &why), -ENOTUNIQ);
	assert_non_null(strstr(why.text, p.in_target));
	assert_non_null(strstr(why.text, p.in_root));
	assert_int_equal(scr_state_create(&p, &s, &why), -ENOTUNIQ);
	unlink("../../t/.bitscrub/manifest");
	assert_int_equal(scr_state_open(&p, false, &s, &why), 0);
	assert_string_equal(s.path, p.in_root);
	scr_state_close(&s);
	scr_state_place_free(&p);
}

static void test_given(void **state)
{
	struct scr_state_place p;
	struct scr_state s;

	mkdir("t", 0755);
	mkdir("t/.bitscrub", 0700);
	sys_touch("t/.bitscrub/manifest");
	assert_int_equal(scr_state_place(*state, true, "mine", NULL, &p, &why), 0);
	assert_int_equal(scr_state_open(&p, false, &s, &why), -ENOENT);
	assert_int_equal(scr_state_create(&p, &s, &why), 0);
	assert_string_equal(s.path, p.given);
	assert_int_equal(mode_of("mine"), 0700);
	scr_state_close(&s);
	scr_state_place_free(&p);
	assert_int_equal(scr_state_place(*state, true, "no/such/mine", NULL, &p, &why), 0);
	assert_int_equal(scr_state_create(&p, &s, &why), -ENOENT);
	assert_non_null(strstr(why.text, "no/such"));
	scr_state_place_free(&p);
}

static void test_files(void **state)
{
	struct scr_state s = created(*state);
	int fd;

	umask(0);
	put(&s, "a.tmp", "one");
	assert_int_equal(mode_of("t/.bitscrub/a.tmp"), 0600);
	put(&s, "a.tmp", "two"); /* an old temporary one makes room */
	assert_holds(&s, "a.tmp", "two");
	put(&s, "journal", "j");
	assert_int_equal(scr_state_new_file(&s, "journal", &why), -EEXIST);
	assert_int_equal(scr_state_new_file(&s, "../x", &why), -EINVAL);
	assert_int_equal(scr_state_open_file(&s, "../t", O_RDONLY, false, &why), -EINVAL);
	assert_int_equal(scr_state_open_file(&s, "..", O_RDONLY, false, &why), -EINVAL);
	assert_int_equal(scr_state_unlink(&s, "../t"), -EINVAL);
	fd = scr_state_open_file(&s, "journal", O_RDWR | O_APPEND, false, &why);
	assert_true(fd >= 0);
	assert_int_equal(scr_write_all(fd, "k", 1), 0);
	close(fd);
	assert_holds(&s, "journal", "jk");
	assert_int_equal(scr_state_unlink(&s, "journal"), 0);
	assert_int_equal(scr_state_unlink(&s, "journal"), 0);
	assert_holds(&s, "journal", NULL);
	assert_int_equal(scr_state_sync(&s), 0);
	scr_state_close(&s);
}

static void test_unnamed(void **state)
{
	struct scr_state s = created(*state);
	struct scr_state_place p = place_of(*state, "t", true);
	struct scr_state again;
	int fd = scr_state_unnamed_file(&s);
	char buf[4];

	assert_true(fd >= 0);
	assert_int_equal(scr_pwrite_all(fd, "abcd", 4, 10), 0);
	assert_int_equal(scr_pread_all(fd, buf, 4, 10), 0);
	assert_memory_equal(buf, "abcd", 4);
	assert_int_equal(scr_pread_all(fd, buf, 4, 11), -ENODATA);
	assert_int_equal(scr_pread_all(-1, buf, 4, 11), -EBADF);
	assert_int_equal(scr_state_open(&p, false, &again, &why), -ENOENT); /* it has no name */
	close(fd);
	scr_state_close(&s);
	scr_state_place_free(&p);
}

static void test_publish(void **state)
{
	struct scr_state s = created(*state);

	put(&s, "new.tmp", "1");
	assert_int_equal(scr_state_publish(&s, "new.tmp", &why), 0);
	assert_holds(&s, "manifest", "1");
	assert_holds(&s, "manifest.1", NULL);
	put(&s, "new.tmp", "2");
	assert_int_equal(scr_state_publish(&s, "new.tmp", &why), 0);
	assert_holds(&s, "manifest", "2");
	assert_holds(&s, "manifest.1", "1");
	put(&s, "new.tmp", "3");
	assert_int_equal(scr_state_publish(&s, "new.tmp", &why), 0);
	assert_holds(&s, "manifest", "3");
	assert_holds(&s, "manifest.1", "2");
	assert_holds(&s, "new.tmp", NULL);
	assert_holds(&s, "manifest.1.tmp", NULL);
	assert_int_equal(scr_state_publish(&s, "none.tmp", &why), -ENOENT);
	assert_holds(&s, "manifest", "3");
	scr_state_close(&s);
}

/* Killed after each of the steps of a publish. */
static void test_publish_cut_short(void **state)
{
	struct scr_state s = created(*state), again;
	struct scr_state_place p = place_of(*state, "t", true);

	put(&s, "new.tmp", "1");
	assert_int_equal(scr_state_publish(&s, "new.tmp", &why), 0);
	put(&s, "new.tmp", "2");
	assert_int_equal(scr_state_publish(&s, "new.tmp", &why), 0);
	put(&s, "new.tmp", "3");
	/* behind the link */
	assert_int_equal(linkat(s.dirfd, "manifest", s.dirfd, "manifest.1.tmp", 0), 0);
	assert_int_equal(scr_state_open(&p, false, &again, &why), 0);
	scr_state_close(&again);
	assert_holds(&s, "manifest", "2");
	assert_int_equal(scr_state_recover(&s, &why), 0);
	assert_holds(&s, "manifest.1.tmp", NULL);
	assert_holds(&s, "manifest.1", "1");
	/* behind the first rename */
	assert_int_equal(linkat(s.dirfd, "manifest", s.dirfd, "x.tmp", 0), 0);
	assert_int_equal(renameat(s.dirfd, "x.tmp", s.dirfd, "manifest.1"), 0);
	assert_int_equal(scr_state_open(&p, false, &again, &why), 0);
	scr_state_close(&again);
	assert_holds(&s, "manifest.1", "2");
	assert_int_equal(scr_state_publish(&s, "new.tmp", &why), 0);
	assert_holds(&s, "manifest", "3");
	assert_holds(&s, "manifest.1", "2");
	assert_int_equal(scr_state_recover(&s, &why), 0);
	assert_holds(&s, "manifest", "3");
	assert_holds(&s, "manifest.1", "2");
	scr_state_close(&s);
	scr_state_place_free(&p);
}

/* A child that holds the lock until it is told to go: its pid. */
static pid_t lock_in_child(const char *path, int how, int go[2])
{
	int ready[2];
	pid_t pid;
	char c;

	assert_int_equal(pipe(ready), 0);
	assert_int_equal(pipe(go), 0);
	pid = fork();
	if (pid == 0) {
		int fd = open(path, O_RDONLY | O_DIRECTORY);

		close(go[1]);
		if (fd < 0 || flock(fd, how) < 0 || write(ready[1], "r", 1) != 1)
			_exit(1);
		_exit(read(go[0], &c, 1) < 0);
	}
	assert_int_equal(read(ready[0], &c, 1), 1);
	close(ready[0]);
	close(ready[1]);
	close(go[0]);
	return pid;
}

static void test_lock(void **state)
{
	struct scr_state s = created(*state);
	char pid_text[32];
	atomic_int stop = 1;
	int go[2];
	pid_t pid = lock_in_child(s.path, LOCK_EX, go);

	assert_int_equal(scr_state_lock(&s, true, 0, NULL, &why), -EWOULDBLOCK);
	snprintf(pid_text, sizeof(pid_text), "process %ld (", (long)pid);
	assert_non_null(strstr(why.text, s.path));
	assert_non_null(strstr(why.text, pid_text));
	assert_non_null(strstr(why.text, "running since 2"));
	assert_int_equal(scr_state_lock(&s, false, 0, NULL, &why), -EWOULDBLOCK);
	assert_int_equal(scr_state_holder(&s), pid);
	assert_int_equal(scr_state_lock(&s, true, INT64_MAX, &stop, &why), -EINTR);
	close(go[1]);
	assert_int_equal(scr_state_lock(&s, true, INT64_MAX, NULL, &why), 0);
	waitpid(pid, NULL, 0);
	assert_int_equal(scr_state_holder(&s), 0); /* not oneself */
	scr_state_close(&s);
}

static void test_shared_lock(void **state)
{
	struct scr_state s = created(*state);
	int go[2];
	pid_t pid = lock_in_child(s.path, LOCK_SH, go);

	assert_int_equal(scr_state_lock(&s, false, 0, NULL, &why), 0);
	assert_int_equal(scr_state_holder(&s), 0);
	assert_int_equal(scr_state_lock(&s, true, 0, NULL, &why), -EWOULDBLOCK);
	assert_non_null(strstr(why.text, "process"));
	close(go[1]);
	waitpid(pid, NULL, 0);
	assert_int_equal(scr_state_lock(&s, true, 0, NULL, &why), 0);
	scr_state_close(&s);
}

static void test_lock_lines(void **state)
{
	struct scr_lock_line l;

	(void)state;
	assert_true(scr_lock_parse("1: FLOCK  ADVISORY  WRITE 1234 fd:0a:5678 0 EOF\n", &l));
	assert_true(l.exclusive && !l.waiting);
	assert_int_equal(l.pid, 1234);
	assert_int_equal(l.major, 0xfd);
	assert_int_equal(l.minor, 0x0a);
	assert_int_equal(l.ino, 5678);
	assert_true(scr_lock_parse("12: -> FLOCK  ADVISORY  READ  7 00:1f:9 0 EOF\n", &l));
	assert_true(!l.exclusive && l.waiting);
	assert_false(scr_lock_parse("2: POSIX  ADVISORY  WRITE 1 fd:00:5678 0 EOF\n", &l));
	assert_false(scr_lock_parse("2: FLOCK  ADVISORY  WRITE\n", &l));
	assert_false(scr_lock_parse("\n", &l));
}

static void wake(int signal)
{
	(void)signal;
}

/* Reads all of @fd and tells whether byte i was (i * 7 + i / 251) & 0xff. */
static int reads_pattern(int fd, size_t len)
{
	uint8_t *p = malloc(len + 1);
	size_t n = 0, same = 0;
	ssize_t got = 1;
	bool ended;

	usleep(50000); /* so that the writer fills the pipe, and is woken in the middle */
	while (p && n < len && (got = read(fd, p + n, len + 1 - n)) > 0)
		n += (size_t)got;
	while (same < n && p[same] == (uint8_t)(same * 7 + same / 251))
		same++;
	ended = n == len && got > 0 && read(fd, p, 1) == 0;
	free(p);
	return same == n && ended ? 0 : 1;
}

/* Signals cut writes to a pipe short, and what is left is written behind. */
static void test_short_writes(void **state)
{
	const struct itimerval often = {{0, 5000}, {0, 5000}}, never = {{0, 0}, {0, 0}};
	const struct sigaction on_alarm = {.sa_handler = wake};
	const size_t len = 1 << 20;
	uint8_t *p = malloc(len);
	int ends[2], status;
	pid_t pid;

	(void)state;
	assert_non_null(p);
	for (size_t i = 0; i < len; i++)
		p[i] = (uint8_t)(i * 7 + i / 251);
	assert_int_equal(pipe(ends), 0);
	pid = fork();
	if (pid == 0) {
		free(p); /* or valgrind counts the copy as lost */
		close(ends[1]);
		_exit(reads_pattern(ends[0], len));
	}
	close(ends[0]);
	assert_int_equal(sigaction(SIGALRM, &on_alarm, NULL), 0);
	assert_int_equal(setitimer(ITIMER_REAL, &often, NULL), 0);
	assert_int_equal(scr_write_all(ends[1], p, len), 0);
	assert_int_equal(setitimer(ITIMER_REAL, &never, NULL), 0);
	signal(SIGALRM, SIG_DFL);
	close(ends[1]);
	while (waitpid(pid, &status, 0) < 0)
		assert_int_equal(errno, EINTR);
	assert_int_equal(status, 0);
	free(p);
}

#define T(f) cmocka_unit_test_setup_teardown(f, sys_setup, sys_teardown)

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_escape),
	T(test_places),
	T(test_create_and_open),
	T(test_lost_manifest_counts),
	T(test_two_found),
	T(test_given),
	T(test_files),
	T(test_unnamed),
	T(test_publish),
	T(test_publish_cut_short),
	T(test_lock),
	T(test_shared_lock),
	cmocka_unit_test(test_lock_lines),
	cmocka_unit_test(test_short_writes),
};

SYS_MAIN(tests)

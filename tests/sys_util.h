/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* For tests of system calls: a temporary directory each, other users in a child, small files. */
#ifndef TESTS_SYS_UTIL_H
#define TESTS_SYS_UTIL_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOBODY 65534

/* Skips the test, and sys_run() shows the reason. */
#define SKIP_UNLESS(condition, reason)                                                             \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			print_message("# because: %s\n", reason);                                  \
			skip();                                                                    \
		}                                                                                  \
	} while (0)

/* Copies TAP from @in, and makes "ok N # SKIP reason" of what cmocka 1.1.5 writes for a skipped
 * test: "not ok N # SKIP name", which is a failure. */
static inline void sys_mend_tap(FILE *in)
{
	char line[4096], reason[256] = "";
	unsigned int n;

	while (fgets(line, sizeof(line), in)) {
		if (sscanf(line, "# because: %255[^\n]", reason) == 1)
			continue;
		if (sscanf(line, "not ok %u # SKIP", &n) == 1 && strstr(line, "# SKIP"))
			printf("ok %u # SKIP %s\n", n, reason);
		else
			fputs(line, stdout);
		fflush(stdout);
	}
}

/* Runs @fn, which runs cmocka, in a child whose TAP is mended. Its exit status. */
static inline int sys_run(int (*fn)(void))
{
	int p[2], status;
	FILE *in;
	pid_t pid;

	if (pipe(p) < 0 || !(in = fdopen(p[0], "r")) || (pid = fork()) < 0)
		return 99;
	if (pid == 0) {
		fclose(in);
		dup2(p[1], STDOUT_FILENO);
		close(p[1]);
		exit(fn());
	}
	close(p[1]);
	sys_mend_tap(in);
	fclose(in);
	return waitpid(pid, &status, 0) == pid && WIFEXITED(status) ? WEXITSTATUS(status) : 99;
}

/* main() of a test program that may skip tests. */
#define SYS_MAIN(tests)                                                                            \
	static int run_all(void)                                                                   \
	{                                                                                          \
		return cmocka_run_group_tests(tests, NULL, NULL);                                  \
	}                                                                                          \
	int main(void)                                                                             \
	{                                                                                          \
		return sys_run(run_all);                                                           \
	}

/* A fresh directory becomes the current one; *state is its absolute path. */
static inline int sys_setup(void **state)
{
	const char *base = getenv("TMPDIR");
	char *dir = NULL;

	umask(022);
	if (asprintf(&dir, "%s/scrub-test-XXXXXX", base && base[0] == '/' ? base : "/tmp") < 0)
		return -1;
	if (!mkdtemp(dir) || chdir(dir) < 0)
		return -1;
	free(dir);
	*state = getcwd(NULL, 0);
	return *state ? 0 : -1;
}

/* rm -rf without following anything; the tests with trees too deep for it remove them. */
static inline int sys_remove(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
	(void)st, (void)flag, (void)ftw;
	if (remove(path) < 0 && errno == EACCES)
		chmod(path, 0700);
	return 0;
}

static inline int sys_teardown(void **state)
{
	if (chdir("/") < 0)
		return -1;
	nftw(*state, sys_remove, 16, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
	free(*state);
	return 0;
}

static inline void sys_write(const char *path, const void *data, size_t len, mode_t mode)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, data, len), len);
	assert_int_equal(fchmod(fd, mode), 0);
	close(fd);
}

static inline void sys_touch(const char *path)
{
	sys_write(path, "x", 1, 0644);
}

static inline int sys_opendir(const char *path)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	assert_true(fd >= 0);
	return fd;
}

/* Runs @fn as user @uid in a child. Returns its result (0..255); -1 if it died. */
static inline int sys_as(uid_t uid, int (*fn)(void *arg), void *arg)
{
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		if (uid != geteuid() && (setgid(uid) < 0 || setuid(uid) < 0))
			_exit(254);
		_exit(fn(arg));
	}
	assert_true(pid > 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

#endif

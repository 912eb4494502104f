/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* --on-damage: a command, by /bin/sh. */
#include <config.h>
#include "told.h"

#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define POLL_NS 50000000 /* between two looks at whether it has ended */
#define GRACE 100        /* looks between SIGTERM and SIGKILL: 5 s */

static char *failed(const char *what, int n)
{
	char *text = NULL;

	if (asprintf(&text, "--on-damage: the command %s %d", what, n) < 0)
		return strdup("--on-damage: the command failed");
	return text;
}

/* Our environment with two words more; NULL if out of memory. Only the array and the last two
 * strings are to be freed. */
static char **make_environment(const char *target, int exit, char *own[2])
{
	size_t n = 0, kept = 0;
	char **env;

	own[0] = own[1] = NULL;
	while (environ[n])
		n++;
	env = calloc(n + 3, sizeof(*env));
	if (!env || asprintf(&own[0], "SCRUB_TARGET=%s", target) < 0 ||
	    asprintf(&own[1], "SCRUB_EXIT=%d", exit) < 0) {
		free(env);
		return NULL;
	}
	for (size_t i = 0; i < n; i++)
		if (strncmp(environ[i], "SCRUB_TARGET=", 13) &&
		    strncmp(environ[i], "SCRUB_EXIT=", 11))
			env[kept++] = environ[i];
	env[kept++] = own[0];
	env[kept] = own[1];
	return env;
}

/* Its own process group, to be stopped as a whole; signals as if we had touched none; its output
 * goes with our talk, because ours is data. 0 or an errno. */
static int start(const char *cmd, char **env, int fd, pid_t *pid)
{
	const char *const argv[] = {"sh", "-c", cmd, NULL};
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attr;
	sigset_t none, defaults;
	int r = posix_spawn_file_actions_init(&actions);

	if (r)
		return r;
	r = posix_spawnattr_init(&attr);
	if (r == 0) {
		sigemptyset(&none);
		sigemptyset(&defaults);
		sigaddset(&defaults, SIGPIPE);
		posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK |
							POSIX_SPAWN_SETSIGDEF);
		posix_spawnattr_setpgroup(&attr, 0);
		posix_spawnattr_setsigmask(&attr, &none);
		posix_spawnattr_setsigdefault(&attr, &defaults);
		r = posix_spawn_file_actions_adddup2(&actions, fd, STDIN_FILENO);
		if (r == 0)
			r = posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO,
							     STDOUT_FILENO);
		if (r == 0)
			r = posix_spawn(pid, "/bin/sh", &actions, &attr, (char **)(uintptr_t)argv,
					env);
		posix_spawnattr_destroy(&attr);
	}
	posix_spawn_file_actions_destroy(&actions);
	return r;
}

/* Its wait status. Where somebody wants us to stop, it is told so, and then made to. */
static int wait_for(pid_t pid, const atomic_int *stopped)
{
	const struct timespec pause = {0, POLL_NS};
	unsigned int after = 0;
	int status = 0;
	pid_t r;

	while ((r = waitpid(pid, &status, WNOHANG)) == 0 || (r < 0 && errno == EINTR)) {
		if (atomic_load(stopped) && after++ % GRACE == 0)
			kill(-pid, after == 1 ? SIGTERM : SIGKILL);
		nanosleep(&pause, NULL);
	}
	return r < 0 ? -1 : status;
}

/* Who started us may have ignored it, and then nothing is left to wait for. */
static void see_children(void)
{
	const struct sigaction action = {.sa_handler = SIG_DFL};

	sigaction(SIGCHLD, &action, NULL);
}

char *told_run(const char *cmd, const char *target, int exit, int fd, const atomic_int *stopped)
{
	char *own[2], **env = make_environment(target, exit, own);
	int status = -1, r = env ? 0 : ENOMEM;
	pid_t pid;

	see_children();
	if (r == 0)
		r = start(cmd, env, fd, &pid);
	if (r == 0)
		status = wait_for(pid, stopped);
	free(env);
	free(own[0]);
	free(own[1]);
	if (r)
		return failed("could not be started: error", r);
	if (WIFSIGNALED(status))
		return failed("was ended by signal", WTERMSIG(status));
	if (status != 0)
		return failed("ended with exit status", WEXITSTATUS(status));
	return NULL;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The lock: flock on the directory's descriptor, and who holds it. */
#include <config.h>
#include "io/state_internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

bool scr_lock_parse(const char *line, struct scr_lock_line *out)
{
	char mode[16];
	int at = 0;

	*out = (struct scr_lock_line){0};
	if (sscanf(line, "%*d: %n", &at) < 0 || at == 0)
		return false;
	if (strncmp(line + at, "-> ", 3) == 0) {
		out->waiting = true;
		at += 3;
	}
	/* 1: FLOCK  ADVISORY  WRITE 1234 fd:00:5678 0 EOF */
	if (sscanf(line + at, "FLOCK %*s %15s %ld %x:%x:%llu", mode, &out->pid, &out->major,
		   &out->minor, &out->ino) != 5)
		return false;
	out->exclusive = strcmp(mode, "WRITE") == 0;
	return true;
}

/* The holder of a lock on the directory: an exact match of the device if there is one, else by
 * inode alone, because btrfs has st_dev of its own for each subvolume. */
struct holder {
	long pid;
	bool exact;
};

static void consider(const struct scr_state *s, const struct scr_lock_line *l, struct holder *h)
{
	bool exact = l->major == major(s->dev) && l->minor == minor(s->dev);

	if (l->waiting || l->ino != (unsigned long long)s->ino || l->pid == (long)getpid())
		return;
	if (h->pid != 0 && (h->exact || !exact))
		return;
	*h = (struct holder){l->pid, exact};
}

static long find_holder(const struct scr_state *s, bool exclusive_only)
{
	FILE *f = fopen("/proc/locks", "re");
	struct holder h = {0, false};
	char line[256];

	if (!f)
		return 0;
	while (fgets(line, sizeof(line), f)) {
		struct scr_lock_line l;

		if (scr_lock_parse(line, &l) && (l.exclusive || !exclusive_only))
			consider(s, &l, &h);
	}
	fclose(f);
	return h.pid > 0 ? h.pid : 0; /* 0 or less: in another PID namespace */
}

pid_t scr_state_holder(const struct scr_state *s)
{
	return (pid_t)find_holder(s, true);
}

static void read_line(long pid, const char *file, char *out, size_t size)
{
	char path[64];
	FILE *f;

	out[0] = '\0';
	snprintf(path, sizeof(path), "/proc/%ld/%s", pid, file);
	f = fopen(path, "re");
	if (!f)
		return;
	if (!fgets(out, (int)size, f))
		out[0] = '\0';
	out[strcspn(out, "\n")] = '\0';
	fclose(f);
}

/* Seconds that process @pid has been running, or -1. */
static long running_for(long pid)
{
	char line[1024];
	unsigned long long start;
	struct timespec now;
	const char *p;

	read_line(pid, "stat", line, sizeof(line));
	p = strrchr(line, ')'); /* the command may hold anything */
	if (!p || sscanf(p + 1, " %*c %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s "
			 "%*s %*s %*s %llu", &start) != 1)
		return -1;
	if (clock_gettime(CLOCK_BOOTTIME, &now) < 0)
		return -1;
	return (long)(now.tv_sec - (time_t)(start / (unsigned long)sysconf(_SC_CLK_TCK)));
}

static void describe_holder(const struct scr_state *s, struct scr_why *why)
{
	long pid = find_holder(s, false), seconds = pid ? running_for(pid) : -1;
	char comm[64], since[64] = "";
	time_t start = time(NULL) - seconds;
	struct tm tm;

	if (!pid) {
		scr_why_set(why, 0, "%.4096s is in use by another process", s->path);
		return;
	}
	read_line(pid, "comm", comm, sizeof(comm));
	if (seconds >= 0 && localtime_r(&start, &tm))
		strftime(since, sizeof(since), ", running since %Y-%m-%d %H:%M:%S", &tm);
	scr_why_set(why, 0, "%.4096s is in use by process %ld (%s%s)", s->path, pid,
		    comm[0] ? comm : "unknown", since);
}

/* By a clock that nobody sets. */
static int64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * INT64_C(1000000000) + ts.tv_nsec;
}

int scr_state_lock(struct scr_state *s, bool exclusive, int64_t wait_ns, const atomic_int *stop,
		   struct scr_why *why)
{
	int64_t start = now_ns();
	const struct timespec pause = {0, 100 * 1000 * 1000};

	for (;;) {
		if (flock(s->dirfd, (exclusive ? LOCK_EX : LOCK_SH) | LOCK_NB) == 0)
			return 0;
		if (errno == EINTR)
			continue;
		if (errno != EWOULDBLOCK)
			return scr_why_errno(why, -errno, "lock", s->path);
		if (wait_ns <= now_ns() - start) {
			describe_holder(s, why);
			return -EWOULDBLOCK;
		}
		/* Polled, so that a signal handler that only sets *stop ends it in any case. */
		if (stop && *stop)
			return scr_why_set(why, -EINTR, "stopped while waiting for %.4096s",
					   s->path);
		nanosleep(&pause, NULL);
	}
}

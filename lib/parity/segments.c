/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The parity store: opening, appending, collecting. */
#include <config.h>
#include "parity/segments_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/compiler.h"

#define WRITE_AHEAD (UINT64_C(8) << 20)

void scr_segment_name(char *out, uint32_t segment)
{
	snprintf(out, SCR_SEGMENT_NAME, "%08u", SCR_MIN(segment, SCR_SEGMENT_MAX));
}

/* The number that @name stands for; 0: it is no segment. */
static uint32_t number_of(const char *name)
{
	if (scr_state_name_temporary(name) ||
	    !scr_state_name_defined(SCR_STATE_PARITY, name, false))
		return 0;
	return (uint32_t)strtoul(name, NULL, 10);
}

int scr_segments_open(const struct scr_state *s, bool reading, struct scr_segments **out,
		      struct scr_why *why)
{
	struct scr_segments *g = calloc(1, sizeof(*g));
	int r;

	if (!g)
		return -ENOMEM;
	g->state = s;
	g->dir.dirfd = g->fd = -1;
	g->reading = reading;
	g->mode = SCR_READ_CHECK;
	r = s->dirfd < 0 ? -ENOENT
			 : scr_state_open_sub(s, SCR_PARITY_DIR_NAME, false, reading, &g->dir, why);
	if (r < 0 && r != -ENOENT) {
		free(g);
		return r;
	}
	pthread_mutex_init(&g->lock, NULL);
	*out = g;
	return 0;
}

void scr_segments_set_reader(struct scr_segments *g, const struct scr_reader_ops *ops)
{
	g->ops = ops;
}

void scr_segments_set_cached(struct scr_segments *g)
{
	g->mode = SCR_READ_RECORD;
}

/* ---- appending --------------------------------------------------------------------------- */

static int find_highest(void *arg, const char *name)
{
	uint32_t *highest = arg;

	*highest = SCR_MAX(*highest, number_of(name));
	return 0;
}

int scr_segments_write(struct scr_segments *g, uint32_t above, struct scr_why *why)
{
	uint32_t highest = above;
	int r;

	if (g->writable)
		return 0;
	if (g->dir.dirfd < 0) {
		r = scr_state_open_sub(g->state, SCR_PARITY_DIR_NAME, true, g->reading, &g->dir,
				       why);
		if (r < 0)
			return r;
	}
	r = scr_state_each(&g->dir, find_highest, &highest);
	if (r < 0)
		return r;
	g->first_own = g->next = highest + 1;
	g->writable = true;
	return 0;
}

static int start_segment(struct scr_segments *g)
{
	char name[SCR_SEGMENT_NAME];
	struct scr_why why;
	int fd;

	if (g->next > SCR_SEGMENT_MAX)
		return -EOVERFLOW;
	scr_segment_name(name, g->next);
	fd = scr_state_new_file(&g->dir, name, &why);
	if (fd < 0)
		return fd;
	g->fd = fd;
	g->segment = g->next++;
	g->length = g->begun = 0;
	g->dir_unsynced = true;
	return 0;
}

/* Nothing more goes into the present segment; what is in it stays. */
static int end_segment(struct scr_segments *g)
{
	int r = 0;

	if (g->fd < 0)
		return 0;
	if (fdatasync(g->fd) < 0)
		r = -errno;
	/* Parity is written once and read at the next check: it need not stay in the cache. */
	posix_fadvise(g->fd, 0, 0, POSIX_FADV_DONTNEED);
	close(g->fd);
	g->fd = -1;
	if (r < 0 && g->failed == 0)
		g->failed = r;
	return r;
}

/* Lets the medium begin with what is there, so that it is busy while more is computed and the sync
 * at the end waits for little. No promise, so errors are nothing: the sync tells. */
static void start_writing(struct scr_segments *g)
{
	if (g->length - g->begun < WRITE_AHEAD)
		return;
	sync_file_range(g->fd, (off_t)g->begun, (off_t)(g->length - g->begun),
			SYNC_FILE_RANGE_WRITE);
	g->begun = g->length;
}

static int append_locked(struct scr_segments *g, const void *p, uint32_t len, uint32_t *segment,
			 uint64_t *offset)
{
	int r = 0;

	if (g->fd >= 0 && g->length + len > SCR_SEGMENT_LIMIT)
		r = end_segment(g);
	if (r == 0 && g->fd < 0)
		r = start_segment(g);
	if (r < 0)
		return r;
	r = scr_pwrite_all(g->fd, p, len, g->length);
	if (r < 0) {
		end_segment(g);
		return r;
	}
	*segment = g->segment;
	*offset = g->length;
	g->length += len;
	start_writing(g);
	return 0;
}

int scr_segments_append(struct scr_segments *g, const void *p, uint32_t len, uint32_t *segment,
			uint64_t *offset)
{
	int r;

	if (!g->writable || len == 0 || len > SCR_SEGMENT_LIMIT)
		return -EINVAL;
	pthread_mutex_lock(&g->lock);
	r = append_locked(g, p, len, segment, offset);
	pthread_mutex_unlock(&g->lock);
	return r;
}

/* What has to be synced now, so that nobody who appends waits for the medium. */
static int take_unsynced(struct scr_segments *g, bool *dir)
{
	int fd = -1;

	pthread_mutex_lock(&g->lock);
	if (g->fd >= 0) {
		fd = fcntl(g->fd, F_DUPFD_CLOEXEC, 0);
		if (fd < 0 && g->failed == 0)
			g->failed = -errno;
	}
	*dir = g->dir_unsynced;
	g->dir_unsynced = false;
	pthread_mutex_unlock(&g->lock);
	return fd;
}

/* An error is remembered: the kernel reports a lost write once only. */
static void remember_failure(struct scr_segments *g, int r)
{
	pthread_mutex_lock(&g->lock);
	if (g->failed == 0)
		g->failed = r;
	pthread_mutex_unlock(&g->lock);
}

int scr_segments_sync(struct scr_segments *g)
{
	bool dir;
	int r;
	int fd = take_unsynced(g, &dir);

	if (fd >= 0) {
		if (fdatasync(fd) < 0)
			remember_failure(g, -errno);
		posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
		close(fd);
	}
	if (dir) {
		r = scr_state_sync(&g->dir);
		if (r < 0)
			remember_failure(g, r);
	}
	pthread_mutex_lock(&g->lock);
	r = g->failed;
	pthread_mutex_unlock(&g->lock);
	return r;
}

/* ---- collecting, counting ---------------------------------------------------------------- */

struct collection {
	struct scr_segments *g;
	const struct scr_trailer *t;
	bool removed;
};

static bool is_live(const struct collection *c, uint32_t segment)
{
	for (uint32_t i = 0; i < c->t->segment_count; i++)
		if (c->t->segments[i].segment == segment)
			return c->t->segments[i].live > 0;
	return false;
}

static int collect_one(void *arg, const char *name)
{
	struct collection *c = arg;
	uint32_t segment = number_of(name);
	int r;

	if (segment == 0 && !scr_state_name_temporary(name))
		return 0;
	if (segment > 0 && (is_live(c, segment) ||
			    (c->g->writable && segment >= c->g->first_own)))
		return 0;
	r = scr_state_unlink(&c->g->dir, name);
	c->removed |= r == 0;
	return r;
}

int scr_segments_collect(struct scr_segments *g, const struct scr_trailer *t)
{
	struct collection c = {g, t, false};
	int r;

	if (g->dir.dirfd < 0)
		return 0;
	pthread_mutex_lock(&g->lock);
	scr_segments_forget(g);
	r = scr_state_each(&g->dir, collect_one, &c);
	pthread_mutex_unlock(&g->lock);
	if (r == 0 && c.removed)
		r = scr_state_sync(&g->dir);
	return r;
}

struct usage {
	const struct scr_segments *g;
	uint64_t bytes;
};

static int add_usage(void *arg, const char *name)
{
	struct usage *u = arg;
	uint32_t segment = number_of(name);

	u->bytes += segment ? scr_segments_size(u->g, segment) : 0;
	return 0;
}

int scr_segments_usage(const struct scr_segments *g, uint64_t *bytes, uint64_t *free_bytes)
{
	struct usage u = {g, 0};
	struct statvfs fs;
	int fd = g->dir.dirfd >= 0 ? g->dir.dirfd : g->state->dirfd;
	int r = g->dir.dirfd >= 0 ? scr_state_each(&g->dir, add_usage, &u) : 0;

	if (r < 0)
		return r;
	if (fstatvfs(fd, &fs) < 0)
		return -errno;
	*bytes = u.bytes;
	*free_bytes = (uint64_t)(geteuid() == 0 ? fs.f_bfree : fs.f_bavail) * fs.f_frsize;
	return 0;
}

uint64_t scr_segments_size(const struct scr_segments *g, uint32_t segment)
{
	char name[SCR_SEGMENT_NAME];
	struct stat st;

	scr_segment_name(name, segment);
	if (g->dir.dirfd < 0 || fstatat(g->dir.dirfd, name, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
	    !S_ISREG(st.st_mode))
		return 0;
	return (uint64_t)st.st_size;
}

void scr_segments_free(struct scr_segments *g)
{
	if (!g)
		return;
	if (g->fd >= 0)
		close(g->fd);
	scr_segments_forget(g);
	for (unsigned int i = 0; i < g->reader_count; i++)
		scr_reader_free(g->readers[i]);
	scr_state_close(&g->dir);
	pthread_mutex_destroy(&g->lock);
	free(g);
}

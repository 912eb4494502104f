/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The undo log as a directory of entries. */
#include <config.h>
#include "parity/undo_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "base/compiler.h"

#define NAME_SIZE 12
#define NUMBER_MAX 99999999u

struct scr_undo_log {
	const struct scr_state *state;
	struct scr_state dir;  /* undo/; dirfd -1: there is none */
	bool reading;
	uint32_t *numbers;     /* of the last list */
	uint32_t count, cap;
};

static void name_of(char *out, uint32_t number)
{
	snprintf(out, NAME_SIZE, "%08u", SCR_MIN(number, NUMBER_MAX));
}

int scr_undo_log_open(const struct scr_state *s, bool reading, struct scr_undo_log **out,
		      struct scr_why *why)
{
	struct scr_undo_log *log = calloc(1, sizeof(*log));
	int r;

	if (!log)
		return -ENOMEM;
	log->state = s;
	log->dir.dirfd = -1;
	log->reading = reading;
	r = s->dirfd < 0 ? -ENOENT
			 : scr_state_open_sub(s, SCR_UNDO_DIR_NAME, false, reading, &log->dir, why);
	if (r < 0 && r != -ENOENT) {
		free(log);
		return r;
	}
	*out = log;
	return 0;
}

void scr_undo_log_free(struct scr_undo_log *log)
{
	if (!log)
		return;
	scr_state_close(&log->dir);
	free(log->numbers);
	free(log);
}

/* ---- listing ----------------------------------------------------------------------------- */

static int add_number(void *arg, const char *name)
{
	struct scr_undo_log *log = arg;

	if (scr_state_name_temporary(name) || !scr_state_name_defined(SCR_STATE_UNDO, name, false))
		return 0;
	if (log->count == log->cap) {
		uint32_t cap = log->cap ? log->cap * 2 : 64;
		uint32_t *list = realloc(log->numbers, cap * sizeof(*list));

		if (!list)
			return -ENOMEM;
		log->numbers = list;
		log->cap = cap;
	}
	log->numbers[log->count++] = (uint32_t)strtoul(name, NULL, 10);
	return 0;
}

static int ascending(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

int scr_undo_log_list(struct scr_undo_log *log, const uint32_t **numbers, uint32_t *count)
{
	int r;

	log->count = 0;
	r = log->dir.dirfd < 0 ? 0 : scr_state_each(&log->dir, add_number, log);
	if (r < 0)
		return r;
	if (log->count > 0)
		qsort(log->numbers, log->count, sizeof(*log->numbers), ascending);
	*numbers = log->numbers;
	*count = log->count;
	return 0;
}

/* ---- writing ----------------------------------------------------------------------------- */

/* Writes all before the first state. */
static int write_body(struct scr_undo_entry *e)
{
	struct scr_buf b = {0};
	int r = scr_undo_encode_head(&b, e);

	for (uint32_t i = 0; r == 0; i++) {
		e->body_crc = (uint32_t)crc32_z(e->body_crc, b.data, b.len);
		r = scr_write_all(e->fd, b.data, b.len);
		if (r < 0 || i == e->count)
			break;
		e->length += b.len;
		e->ranges[i].at = e->length + SCR_RECORD_HEAD + SCR_UNDO_RANGE_FIXED;
		scr_buf_clear(&b);
		r = scr_undo_encode_range(&b, &e->ranges[i]);
	}
	e->length += b.len;
	scr_buf_free(&b);
	return r;
}

static int write_mark(struct scr_undo_entry *e, const struct scr_undo_mark *m)
{
	struct scr_buf b = {0};
	int r = scr_undo_encode_mark(&b, m, e->body_crc);

	/* What was cut short behind the last state must not stand before the new one. */
	if (r == 0 && ftruncate(e->fd, (off_t)e->length) < 0)
		r = -errno;
	if (r == 0)
		r = scr_pwrite_all(e->fd, b.data, b.len, e->length);
	if (r == 0 && fsync(e->fd) < 0)
		r = -errno;
	if (r == 0) {
		e->length += b.len;
		e->mark = *m;
	}
	scr_buf_free(&b);
	return r;
}

static int write_entry(struct scr_undo_log *log, struct scr_undo_entry *e, int64_t now_ns)
{
	struct scr_undo_mark mark = {SCR_UNDO_OPEN, now_ns, e->stamp};
	int r;

	e->length = 0;
	e->body_crc = 0;
	r = write_body(e);
	/* The state goes last, and only onto a body that is on the medium. */
	if (r == 0 && fsync(e->fd) < 0)
		r = -errno;
	if (r == 0)
		r = write_mark(e, &mark);
	return r < 0 ? r : scr_state_sync(&log->dir);
}

/* A number that no entry has: one more than the highest. */
static int next_number(struct scr_undo_log *log, uint32_t *number)
{
	const uint32_t *numbers;
	uint32_t count;
	int r = scr_undo_log_list(log, &numbers, &count);

	if (r < 0)
		return r;
	*number = count ? numbers[count - 1] + 1 : 1;
	return *number > NUMBER_MAX ? -EOVERFLOW : 0;
}

int scr_undo_create(struct scr_undo_log *log, struct scr_undo_entry *e, int64_t now_ns,
		    struct scr_why *why)
{
	char name[NAME_SIZE];
	int r = 0;

	if (!scr_undo_entry_valid(e) || e->count > SCR_UNDO_RANGES_MAX)
		return -EINVAL;
	if (log->dir.dirfd < 0)
		r = scr_state_open_sub(log->state, SCR_UNDO_DIR_NAME, true, log->reading,
				       &log->dir, why);
	if (r == 0)
		r = next_number(log, &e->number);
	if (r < 0)
		return r;
	name_of(name, e->number);
	e->fd = scr_state_new_file(&log->dir, name, why);
	if (e->fd < 0)
		return e->fd;
	r = write_entry(log, e, now_ns);
	if (r < 0) {
		close(e->fd);
		e->fd = -1;
		scr_state_unlink(&log->dir, name);
	}
	return r;
}

int scr_undo_mark(struct scr_undo_log *log, struct scr_undo_entry *e, enum scr_undo_state state,
		  const struct scr_stamp *stamp, int64_t now_ns)
{
	struct scr_undo_mark mark = {state, now_ns, *stamp};
	char name[NAME_SIZE];
	struct scr_why why;

	if (e->fd < 0) {
		name_of(name, e->number);
		e->fd = scr_state_open_file(&log->dir, name, O_RDWR, false, &why);
	}
	return e->fd < 0 ? e->fd : write_mark(e, &mark);
}

int scr_undo_remove(struct scr_undo_log *log, uint32_t number)
{
	char name[NAME_SIZE];
	int r;

	name_of(name, number);
	if (log->dir.dirfd < 0)
		return 0;
	r = scr_state_unlink(&log->dir, name);
	return r < 0 ? r : scr_state_sync(&log->dir);
}

/* ---- reading ----------------------------------------------------------------------------- */

int scr_undo_load(struct scr_undo_log *log, uint32_t number, bool all, struct scr_undo_entry *out,
		  struct scr_why *why)
{
	struct scr_undo_entry e = {.fd = -1, .number = number};
	char name[NAME_SIZE];
	int r;

	if (log->dir.dirfd < 0 || number > NUMBER_MAX)
		return -ENOENT;
	name_of(name, number);
	e.fd = scr_state_open_file(&log->dir, name, log->reading ? O_RDONLY : O_RDWR, log->reading,
				   why);
	if (e.fd < 0)
		return e.fd;
	r = scr_undo_parse(e.fd, all, &e);
	if (r < 0) {
		scr_undo_entry_free(&e);
		return r;
	}
	*out = e;
	return 0;
}

int scr_undo_written(const struct scr_undo_log *log, uint32_t number, int64_t *ns)
{
	char name[NAME_SIZE];
	struct stat st;

	name_of(name, number);
	if (fstatat(log->dir.dirfd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return -errno;
	*ns = st.st_mtim.tv_sec * INT64_C(1000000000) + st.st_mtim.tv_nsec;
	return 0;
}

static void count_entry(struct scr_undo_counts *out, const struct scr_undo_entry *e)
{
	switch (e->mark.state) {
	case SCR_UNDO_OPEN:
	case SCR_UNDO_UNDOING:
		out->open++;
		break;
	case SCR_UNDO_DONE:
		out->done++;
		if (!out->oldest_ns || e->created_ns < out->oldest_ns)
			out->oldest_ns = e->created_ns;
		out->newest_ns = SCR_MAX(out->newest_ns, e->created_ns);
		break;
	case SCR_UNDO_UNDONE:
		out->undone++;
		break;
	}
	out->bytes += e->length;
}

int scr_undo_count(struct scr_undo_log *log, struct scr_undo_counts *out)
{
	struct scr_undo_counts counts = {0};
	const uint32_t *numbers;
	uint32_t n;
	int r = scr_undo_log_list(log, &numbers, &n);

	for (uint32_t i = 0; r == 0 && i < n; i++) {
		struct scr_undo_entry e;
		struct scr_why why;

		r = scr_undo_load(log, numbers[i], false, &e, &why);
		if (r == 0) {
			count_entry(&counts, &e);
			scr_undo_entry_free(&e);
		} else if (r != -ENOMEM) {
			counts.damaged += r != -ENODATA && r != -ENOENT;
			r = 0;
		}
	}
	if (r == 0)
		*out = counts;
	return r;
}

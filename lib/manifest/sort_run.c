/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Sorted runs in a file, and merging them through a heap. */
#include <config.h>
#include "manifest/sort_run.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/compiler.h"
#include "base/path.h"
#include "io/state.h"
#include "manifest/format.h"

/* Holds the largest item. */
#define BUFFER_SIZE (128u << 10)

size_t scr_item_size(uint32_t path_len)
{
	return SCR_MAX(sizeof(struct scr_item),
		       (offsetof(struct scr_item, path) + path_len + 7) / 8 * 8);
}

int scr_item_cmp(const struct scr_item *a, const struct scr_item *b)
{
	int c = scr_path_cmp(a->path, a->path_len, b->path, b->path_len);
	bool fa = a->type == SCR_TYPE_FILE, fb = b->type == SCR_TYPE_FILE;

	if (c)
		return c;
	if (fa != fb)
		return fa ? -1 : 1;
	if (a->index != b->index)
		return a->index < b->index ? -1 : 1;
	return a->where == b->where ? 0 : a->where > b->where ? -1 : 1;
}

/* ---- reading one run ---------------------------------------------------------------------- */

struct source {
	uint64_t pos, end; /* of the file, not read yet */
	uint8_t *buf;      /* BUFFER_SIZE */
	size_t at, len;    /* of the buffer */
};

static int refill(int fd, struct source *s)
{
	memmove(s->buf, s->buf + s->at, s->len - s->at);
	s->len -= s->at;
	s->at = 0;
	while (s->pos < s->end && s->len < BUFFER_SIZE) {
		size_t want = (size_t)SCR_MIN(s->end - s->pos, BUFFER_SIZE - s->len);
		ssize_t n = pread(fd, s->buf + s->len, want, (off_t)s->pos);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -EIO;
		s->len += (size_t)n;
		s->pos += (uint64_t)n;
	}
	return 0;
}

static const struct scr_item *current(const struct source *s)
{
	return (const struct scr_item *)(const void *)(s->buf + s->at);
}

static bool whole_item(const struct source *s)
{
	size_t have = s->len - s->at;

	return have >= sizeof(struct scr_item) && have >= scr_item_size(current(s)->path_len);
}

/* Makes the item at s->at whole. Returns 1, 0 at the end of the run, -errno. */
static int need_item(int fd, struct source *s)
{
	int r;

	if (whole_item(s))
		return 1;
	if (s->pos == s->end && s->at == s->len)
		return 0;
	r = refill(fd, s);
	if (r < 0)
		return r;
	return whole_item(s) ? 1 : -EIO;
}

/* ---- merging ------------------------------------------------------------------------------ */

struct scr_merge {
	int fd;
	unsigned int n; /* sources with an item, in heap[] */
	bool started;   /* the top was given out and has to move on */
	unsigned int count;
	struct source *sources;
	struct source **heap; /* the smallest on top */
};

static void sift_down(struct scr_merge *m, unsigned int i)
{
	for (;;) {
		unsigned int least = i, child = 2 * i + 1;
		struct source *tmp = m->heap[i];

		for (unsigned int c = child; c < child + 2 && c < m->n; c++)
			if (scr_item_cmp(current(m->heap[c]), current(m->heap[least])) < 0)
				least = c;
		if (least == i)
			return;
		m->heap[i] = m->heap[least];
		m->heap[least] = tmp;
		i = least;
	}
}

static int start_sources(struct scr_merge *m, const struct scr_run *runs)
{
	for (unsigned int i = 0; i < m->count; i++) {
		struct source *s = &m->sources[i];
		int r;

		s->pos = runs[i].start;
		s->end = runs[i].end;
		s->buf = malloc(BUFFER_SIZE);
		if (!s->buf)
			return -ENOMEM;
		r = need_item(m->fd, s);
		if (r < 0)
			return r;
		if (r > 0)
			m->heap[m->n++] = s;
	}
	for (unsigned int i = m->n / 2; i-- > 0;)
		sift_down(m, i);
	return 0;
}

int scr_merge_new(int fd, const struct scr_run *runs, unsigned int n, struct scr_merge **out)
{
	struct scr_merge *m = calloc(1, sizeof(*m));
	int r = -ENOMEM;

	if (!m)
		return -ENOMEM;
	m->fd = fd;
	m->sources = calloc(n, sizeof(*m->sources));
	m->heap = calloc(n, sizeof(*m->heap));
	if (m->sources && m->heap) {
		m->count = n;
		r = start_sources(m, runs);
	}
	if (r < 0)
		scr_merge_free(m);
	else
		*out = m;
	return r;
}

/* Moves the source that gave the last item to its next one. */
static int move_on(struct scr_merge *m)
{
	struct source *s = m->heap[0];
	int r;

	s->at += scr_item_size(current(s)->path_len);
	r = need_item(m->fd, s);
	if (r < 0)
		return r;
	if (r == 0)
		m->heap[0] = m->heap[--m->n];
	if (m->n)
		sift_down(m, 0);
	return 0;
}

int scr_merge_next(struct scr_merge *m, const struct scr_item **item)
{
	int r = m->started && m->n ? move_on(m) : 0;

	if (r < 0)
		return r;
	m->started = true;
	if (m->n == 0)
		return 0;
	*item = current(m->heap[0]);
	return 1;
}

void scr_merge_free(struct scr_merge *m)
{
	if (!m)
		return;
	for (unsigned int i = 0; i < m->count; i++)
		free(m->sources[i].buf);
	free(m->sources);
	free(m->heap);
	free(m);
}

/* ---- writing ------------------------------------------------------------------------------ */

int scr_run_writer_init(struct scr_run_writer *w, int fd, uint64_t end)
{
	*w = (struct scr_run_writer){.fd = fd, .end = end, .buf = malloc(BUFFER_SIZE)};
	return w->buf ? 0 : -ENOMEM;
}

int scr_run_flush(struct scr_run_writer *w)
{
	int r = scr_pwrite_all(w->fd, w->buf, w->len, w->end);

	if (r < 0)
		return r;
	w->end += w->len;
	w->len = 0;
	return 0;
}

int scr_run_write(struct scr_run_writer *w, const struct scr_item *item)
{
	size_t size = scr_item_size(item->path_len);
	int r = size > BUFFER_SIZE - w->len ? scr_run_flush(w) : 0;

	if (r < 0)
		return r;
	memcpy(w->buf + w->len, item, size);
	w->len += size;
	return 0;
}

void scr_run_writer_free(struct scr_run_writer *w)
{
	free(w->buf);
	*w = (struct scr_run_writer){.fd = -1};
}

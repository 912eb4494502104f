/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* External merge sort of what is in a journal. */
#include <config.h>
#include "manifest/sort.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/compiler.h"
#include "manifest/sort_run.h"

const struct scr_sort_limits scr_sort_default = {.arena = 5u << 20, .fan_in = 32};

struct scr_sorter {
	struct scr_sort_limits limits;
	int (*tmpfile)(void *arg);
	void *arg;
	int fd; /* of the runs; -1: none yet */
	uint8_t *arena;
	size_t used, cap;
	struct scr_item **items; /* in the arena */
	size_t count, items_cap;
	size_t at; /* next of items[] */
	struct scr_run *runs;
	unsigned int run_count;
	uint64_t end; /* of the file */
	struct scr_merge *merge;
};

int scr_sorter_new(const struct scr_sort_limits *limits, int (*tmpfile)(void *arg), void *arg,
		   struct scr_sorter **out)
{
	struct scr_sorter *s = calloc(1, sizeof(*s));

	if (!s)
		return -ENOMEM;
	s->limits = *limits;
	s->tmpfile = tmpfile;
	s->arg = arg;
	s->fd = -1;
	*out = s;
	return 0;
}

/* ---- collecting --------------------------------------------------------------------------- */

static int cmp_items(const void *a, const void *b)
{
	const struct scr_item *const *x = a, *const *y = b;

	return scr_item_cmp(*x, *y);
}

static void sort_arena(struct scr_sorter *s)
{
	if (s->count > 1)
		qsort(s->items, s->count, sizeof(*s->items), cmp_items);
}

static int add_run(struct scr_sorter *s, uint64_t start, uint64_t end)
{
	struct scr_run *p = realloc(s->runs, (s->run_count + 1) * sizeof(*p));

	if (!p)
		return -ENOMEM;
	s->runs = p;
	p[s->run_count++] = (struct scr_run){start, end};
	return 0;
}

static int open_file(struct scr_sorter *s)
{
	int fd;

	if (s->fd >= 0)
		return 0;
	fd = s->tmpfile(s->arg);
	if (fd < 0)
		return fd;
	s->fd = fd;
	return 0;
}

/* Writes the arena as one run and empties it. */
static int spill(struct scr_sorter *s)
{
	struct scr_run_writer w = {.fd = -1};
	int r = open_file(s);

	if (r == 0)
		r = scr_run_writer_init(&w, s->fd, s->end);
	sort_arena(s);
	for (size_t i = 0; r == 0 && i < s->count; i++)
		r = scr_run_write(&w, s->items[i]);
	if (r == 0)
		r = scr_run_flush(&w);
	if (r == 0)
		r = add_run(s, s->end, w.end);
	if (r == 0)
		s->end = w.end;
	s->used = s->count = 0;
	scr_run_writer_free(&w);
	return r;
}

static int grow_items(struct scr_sorter *s)
{
	size_t cap = s->items_cap ? s->items_cap * 2 : 64;
	struct scr_item **p;

	if (s->count < s->items_cap)
		return 0;
	p = realloc(s->items, cap * sizeof(*p));
	if (!p)
		return -ENOMEM;
	s->items = p;
	s->items_cap = cap;
	return 0;
}

/* Memory for @size more bytes of items. The arena never moves: items[] points into it. */
static int make_room(struct scr_sorter *s, size_t size)
{
	if (!s->arena) {
		s->cap = SCR_MAX(s->limits.arena, scr_item_size(UINT16_MAX));
		s->arena = malloc(s->cap);
		if (!s->arena)
			return -ENOMEM;
	}
	/* Pointers count too. */
	if (s->count && s->used + size + (s->count + 1) * sizeof(*s->items) > s->limits.arena)
		return spill(s);
	return 0;
}

int scr_sorter_add(struct scr_sorter *s, const struct scr_item *fixed, const char *path)
{
	size_t size = scr_item_size(fixed->path_len);
	struct scr_item *item;
	int r;

	if (fixed->path_len > UINT16_MAX)
		return -ENAMETOOLONG;
	r = make_room(s, size);
	if (r == 0)
		r = grow_items(s);
	if (r < 0)
		return r;
	item = (struct scr_item *)(void *)(s->arena + s->used);
	memset(item, 0, size);
	memcpy(item, fixed, offsetof(struct scr_item, path));
	memcpy(item->path, path, fixed->path_len);
	s->items[s->count++] = item;
	s->used += size;
	return 0;
}

/* ---- sorting ------------------------------------------------------------------------------ */

static void drop_arena(struct scr_sorter *s)
{
	free(s->arena);
	free(s->items);
	s->arena = NULL;
	s->items = NULL;
	s->count = s->items_cap = s->used = 0;
}

/* Copies a merge to the end of the file. */
static int write_merge(struct scr_sorter *s, struct scr_merge *m, uint64_t *end)
{
	struct scr_run_writer w;
	const struct scr_item *item;
	int r = scr_run_writer_init(&w, s->fd, s->end);

	if (r < 0)
		return r;
	while ((r = scr_merge_next(m, &item)) > 0) {
		r = scr_run_write(&w, item);
		if (r < 0)
			break;
	}
	if (r == 0)
		r = scr_run_flush(&w);
	*end = w.end;
	scr_run_writer_free(&w);
	return r;
}

/* Makes one run of the first @n. */
static int merge_some(struct scr_sorter *s, unsigned int n)
{
	struct scr_merge *m;
	uint64_t end = 0;
	int r = scr_merge_new(s->fd, s->runs, n, &m);

	if (r < 0)
		return r;
	r = write_merge(s, m, &end);
	scr_merge_free(m);
	if (r < 0)
		return r;
	memmove(s->runs, s->runs + n, (s->run_count - n) * sizeof(*s->runs));
	s->run_count -= n;
	r = add_run(s, s->end, end);
	s->end = end;
	return r;
}

int scr_sorter_sort(struct scr_sorter *s)
{
	int r = 0;

	if (s->fd < 0) {
		sort_arena(s);
		return 0;
	}
	if (s->count)
		r = spill(s);
	drop_arena(s);
	while (r == 0 && s->run_count > s->limits.fan_in)
		r = merge_some(s, s->limits.fan_in);
	return r < 0 ? r : scr_sorter_rewind(s);
}

int scr_sorter_next(struct scr_sorter *s, const struct scr_item **item)
{
	if (s->fd >= 0)
		return scr_merge_next(s->merge, item);
	if (s->at == s->count)
		return 0;
	*item = s->items[s->at++];
	return 1;
}

int scr_sorter_rewind(struct scr_sorter *s)
{
	s->at = 0;
	if (s->fd < 0)
		return 0;
	scr_merge_free(s->merge);
	s->merge = NULL;
	return scr_merge_new(s->fd, s->runs, s->run_count, &s->merge);
}

void scr_sorter_free(struct scr_sorter *s)
{
	if (!s)
		return;
	drop_arena(s);
	scr_merge_free(s->merge);
	free(s->runs);
	if (s->fd >= 0)
		close(s->fd);
	free(s);
}

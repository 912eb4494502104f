/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The updates of a journal, path by path. */
#include <config.h>
#include "manifest/journal.h"

#include <errno.h>
#include <stdlib.h>

/* ---- opening ------------------------------------------------------------------------------ */

int scr_journal_open_with(int fd, uint64_t generation, const struct scr_sort_limits *limits,
			  int (*tmpfile)(void *arg), void *arg, struct scr_journal **out,
			  uint64_t *valid)
{
	struct scr_journal *j = calloc(1, sizeof(*j));
	uint64_t good = 0;
	int r;

	if (!j)
		return -ENOMEM;
	scr_window_init(&j->window, fd);
	r = scr_sorter_new(limits, tmpfile, arg, &j->sorter);
	if (r == 0)
		r = scr_journal_scan(j, generation, &good);
	if (r == 0)
		r = scr_sorter_sort(j->sorter);
	if (r < 0) {
		scr_journal_free(j);
		return r;
	}
	*out = j;
	*valid = good;
	return 0;
}

int scr_journal_open(int fd, uint64_t generation, int (*tmpfile)(void *arg), void *arg,
		     struct scr_journal **out, uint64_t *valid)
{
	return scr_journal_open_with(fd, generation, &scr_sort_default, tmpfile, arg, out, valid);
}

uint64_t scr_journal_count(const struct scr_journal *j)
{
	return j->count;
}

int scr_journal_rewind(struct scr_journal *j)
{
	scr_buf_clear(&j->path);
	j->head = NULL;
	j->started = false;
	return scr_sorter_rewind(j->sorter);
}

void scr_journal_free(struct scr_journal *j)
{
	if (!j)
		return;
	scr_window_free(&j->window);
	scr_sorter_free(j->sorter);
	scr_buf_free(&j->path);
	free(j->sweep.active);
	free(j);
}

/* ---- items -------------------------------------------------------------------------------- */

int scr_journal_skip(struct scr_journal *j)
{
	int r;

	j->started = true;
	j->head = NULL;
	r = scr_sorter_next(j->sorter, &j->head);
	return r < 0 ? r : 0;
}

int scr_journal_look(struct scr_journal *j, const struct scr_item **item)
{
	const struct scr_item *head = j->head;

	if (!head || head->path_len != j->path.len ||
	    memcmp(head->path, j->path.data, head->path_len) != 0)
		return 0;
	*item = head;
	return 1;
}

/* Moves to the first item of the next path. */
static int finish_path(struct scr_journal *j)
{
	const struct scr_item *item;
	int r = j->started ? 0 : scr_journal_skip(j);

	while (r == 0 && scr_journal_look(j, &item) > 0)
		r = scr_journal_skip(j);
	scr_buf_clear(&j->path);
	return r;
}

int scr_journal_peek(struct scr_journal *j, const char **path, uint32_t *len)
{
	int r = finish_path(j);

	if (r < 0 || !j->head)
		return r;
	*path = j->head->path;
	*len = j->head->path_len;
	return 1;
}

/* ---- files -------------------------------------------------------------------------------- */

static int keep_path(struct scr_journal *j)
{
	scr_buf_clear(&j->path);
	if (scr_buf_append(&j->path, j->head->path, j->head->path_len) < 0 ||
	    scr_buf_reserve(&j->path, 1) < 0)
		return -ENOMEM;
	j->path.data[j->path.len] = '\0';
	return 0;
}

/* The file part that @item stands for. Its path is j->path. */
static int read_file(struct scr_journal *j, const struct scr_item *item, struct scr_file_record *f)
{
	const uint8_t *p;
	int r = scr_window_get(&j->window, item->where, item->len, &p);

	if (r <= 0)
		return r < 0 ? r : -EIO;
	r = scr_decode_file(&j->codec, p, item->len, f);
	f->path = (const char *)j->path.data;
	return r;
}

static bool same_stamp(const struct scr_stamp *a, const struct scr_stamp *b)
{
	return a->size == b->size && a->ino == b->ino && a->mtime_ns == b->mtime_ns &&
	       a->ctime_ns == b->ctime_ns;
}

/* Passes over the older file parts, looking whether one of the same stamp finished the file. */
static int read_older(struct scr_journal *j, const struct scr_file_record *newest, bool *done)
{
	const struct scr_item *item;

	while (scr_journal_look(j, &item) > 0 && item->type == SCR_TYPE_FILE) {
		struct scr_file_record f;
		int r = 0;

		if (item->done && !*done) {
			r = read_file(j, item, &f);
			*done = r == 0 && same_stamp(&f.stamp, &newest->stamp);
		}
		if (r == 0)
			r = scr_journal_skip(j);
		if (r < 0)
			return r;
	}
	return 0;
}

int scr_journal_next(struct scr_journal *j, struct scr_file_record *f, bool *done)
{
	struct scr_file_record newest;
	bool finished;
	int r = finish_path(j);

	if (r < 0 || !j->head)
		return r;
	finished = j->head->done;
	r = keep_path(j);
	if (r == 0)
		r = read_file(j, j->head, &newest);
	if (r == 0)
		r = scr_journal_skip(j);
	if (r == 0)
		r = read_older(j, &newest, &finished);
	if (r < 0)
		return r;
	scr_journal_set_size(j, newest.stamp.size);
	*f = newest;
	*done = finished;
	return 1;
}

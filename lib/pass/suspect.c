/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Medium errors that may be the device going away. */
#include <config.h>
#include "pass/suspect.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "walk/resolve.h"

#define PROBES 3

bool scr_suspect_is(const struct scr_worker *k, const struct scr_work *w)
{
	/* A device is one file: it was asked at once; see scr_device_believe(). */
	if (w->p->device)
		return false;
	if (w->file_news && w->file_kind == SCR_DAMAGE_UNREADABLE)
		return true;
	for (uint32_t i = 0; i < k->result_count; i++)
		for (uint32_t j = 0; j < k->results[i].damage_count; j++)
			if (k->results[i].damage[j].kind == SCR_REC_UNREADABLE)
				return true;
	return false;
}

/* A limited pass may have come to the same file in another band. */
static bool is_listed(const struct scr_suspects *s, const struct scr_work *w)
{
	for (unsigned int i = 0; i < s->count; i++) {
		const struct scr_buf *path = &s->list[i].work->path;

		if (path->len == w->path.len && !memcmp(path->data, w->path.data, path->len))
			return true;
	}
	return false;
}

void scr_suspect_push(struct scr_suspects *s, struct scr_worker *k, struct scr_work *w)
{
	s->files += !is_listed(s, w);
	s->list[s->count++] = (struct scr_suspect){w, k->results, k->result_count};
	k->results = NULL;
	k->result_count = k->result_cap = 0;
}

struct scr_work *scr_suspect_pop(struct scr_suspects *s, struct scr_worker *k)
{
	struct scr_suspect *t;

	if (s->count == 0) {
		s->files = 0;
		return NULL;
	}
	t = &s->list[--s->count];
	scr_worker_clear(k);
	free(k->results);
	k->results = t->results;
	k->result_count = k->result_cap = t->count;
	return t->work;
}

bool scr_suspect_full(const struct scr_suspects *s)
{
	return s->files >= SCR_SUSPECT_FILES || s->count >= SCR_SUSPECT_CHUNKS;
}

int scr_suspect_good(struct scr_suspects *s, const struct scr_work *w, uint64_t offset)
{
	int r;

	scr_buf_clear(&s->good_path);
	r = scr_buf_append(&s->good_path, w->path.data, w->path.len);
	s->good_offset = offset;
	s->any_good = r == 0;
	return r;
}

/* Whether a part of what was read for @e came well. */
static bool any_read(const struct scr_extent *e)
{
	uint64_t bad = 0;

	for (uint32_t i = 0; i < e->damage_count; i++) {
		if (e->damage[i].flags & SCR_DAMAGE_CARRIED)
			return false; /* as recorded: not all of it was read */
		if (e->damage[i].kind == SCR_REC_UNREADABLE)
			bad += e->damage[i].length;
	}
	return !e->hole && bad < e->cut.length;
}

/*
 * Nothing read well yet in this pass, so there is nothing to ask. One file that is lost as a whole
 * may be damage; several of which not one sector can be read are a device that is gone.
 */
static bool may_be_damage(const struct scr_suspects *s)
{
	for (unsigned int i = 0; i < s->count; i++)
		for (uint32_t j = 0; j < s->list[i].count; j++)
			if (any_read(&s->list[i].results[j]))
				return true;
	return s->files < 2;
}

/* One try at the block that read well last. 1 it reads, 0 it does not, -1 there is nothing to ask. */
static int try_good(const struct scr_suspects *s, struct scr_worker *k)
{
	const char *name = k->p->leaf ? k->p->leaf : (char *)s->good_path.data;
	size_t len = k->p->leaf ? strlen(name) : s->good_path.len;
	struct scr_bad_range bad;
	unsigned int nbad = 0;
	const uint8_t *data;
	struct stat st;
	ssize_t n;
	int fd = scr_open_beneath(k->p->rootfd, name, len, false, &st);

	if (fd < 0)
		return fd == -ENOENT ? -1 : 0;
	scr_reader_attach(k->reader, fd, SCR_READ_CHECK);
	n = scr_reader_reread(k->reader, s->good_offset, 4096, &data, &bad, 1, &nbad);
	scr_reader_detach(k->reader);
	close(fd);
	return n >= 0 && nbad == 0;
}

bool scr_suspect_probe(const struct scr_suspects *s, struct scr_worker *k)
{
	if (!s->any_good)
		return may_be_damage(s);
	/* A disk that fails now and then is still there. */
	for (int i = 0; i < PROBES; i++)
		if (try_good(s, k) != 0)
			return true;
	return false;
}

void scr_suspect_free(struct scr_suspects *s)
{
	for (unsigned int i = 0; i < s->count; i++) {
		for (uint32_t j = 0; j < s->list[i].count; j++)
			scr_extent_free(&s->list[i].results[j]);
		free(s->list[i].results);
	}
	s->count = 0;
	scr_buf_free(&s->good_path);
}

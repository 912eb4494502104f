/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The parity store: reading, with exact gaps where the medium fails. */
#include <config.h>
#include "parity/segments_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/compiler.h"

/* More bad ranges in one read than this are joined. */
#define BAD_MAX 64
/* What is read at once. Many threads read: their buffers should stay small. */
#define STEP (256u << 10)

/* ---- descriptors ------------------------------------------------------------------------- */

void scr_segments_forget(struct scr_segments *g)
{
	for (unsigned int i = 0; i < SCR_SEGMENTS_OPEN; i++) {
		struct scr_segment_fd *o = &g->open[i];

		if (o->segment && o->users == 0) {
			close(o->fd);
			*o = (struct scr_segment_fd){0};
		}
	}
}

/* The slot of @segment, or the one to take for it: free, or unused for longest; NULL: all busy. */
static struct scr_segment_fd *find_slot(struct scr_segments *g, uint32_t segment)
{
	struct scr_segment_fd *best = NULL;

	for (unsigned int i = 0; i < SCR_SEGMENTS_OPEN; i++) {
		struct scr_segment_fd *o = &g->open[i];

		if (o->segment == segment)
			return o;
		if (o->users == 0 && (!best || o->used < best->used))
			best = o;
	}
	return best;
}

/* Opens @segment in slot @o. Missing, or on a bad medium: -errno for a gap. */
static int open_slot(struct scr_segments *g, struct scr_segment_fd *o, uint32_t segment)
{
	char name[SCR_SEGMENT_NAME];
	struct scr_why why;
	int fd;

	if (o->segment)
		close(o->fd);
	*o = (struct scr_segment_fd){0};
	scr_segment_name(name, segment);
	fd = scr_state_open_file(&g->dir, name, O_RDONLY, g->reading, &why);
	if (fd < 0)
		return fd;
	o->segment = segment;
	o->fd = fd;
	return 0;
}

static int acquire_locked(struct scr_segments *g, uint32_t segment, struct scr_segment_fd **out,
			  struct scr_reader **reader)
{
	struct scr_segment_fd *o;
	int r = 0;

	if (g->dir.dirfd < 0 || segment == 0 || segment > SCR_SEGMENT_MAX)
		return -ENOENT;
	o = find_slot(g, segment);
	if (!o)
		return -EMFILE;
	if (o->segment != segment)
		r = open_slot(g, o, segment);
	if (r == 0 && g->reader_count > 0)
		*reader = g->readers[--g->reader_count];
	else if (r == 0)
		r = scr_reader_new(g->ops, reader);
	if (r < 0)
		return r;
	o->users++;
	o->used = ++g->reads;
	*out = o;
	return 0;
}

static void release(struct scr_segments *g, struct scr_segment_fd *o, struct scr_reader *reader)
{
	scr_reader_detach(reader);
	pthread_mutex_lock(&g->lock);
	o->users--;
	if (g->reader_count < SCR_SEGMENTS_READERS) {
		g->readers[g->reader_count++] = reader;
		reader = NULL;
	}
	pthread_mutex_unlock(&g->lock);
	scr_reader_free(reader);
}

/* ---- gaps -------------------------------------------------------------------------------- */

struct gaps {
	struct scr_parity_gap *list;
	unsigned int max, count;
};

static void add_gap(struct gaps *g, uint32_t start, uint32_t length, int err)
{
	struct scr_parity_gap *last = g->count > 0 ? &g->list[g->count - 1] : NULL;

	if (last && (g->count == g->max ||
		     (last->start + last->length == start && last->err == err)))
		last->length = start + length - last->start;
	else if (g->max > 0)
		g->list[g->count++] = (struct scr_parity_gap){start, length, err};
}

/* Reads up to a reader's buffer at @pos of the piece. Returns the bytes that exist, or -errno. */
static ssize_t read_some(struct scr_reader *r, uint64_t offset, uint8_t *p, uint32_t pos,
			 uint32_t len, struct gaps *gaps)
{
	struct scr_bad_range bad[BAD_MAX];
	unsigned int nbad = 0;
	const uint8_t *data;
	ssize_t n = scr_reader_read(r, offset + pos, SCR_MIN(len - pos, STEP), &data,
				    bad, BAD_MAX, &nbad);

	if (n <= 0)
		return n;
	memcpy(p + pos, data, (size_t)n);
	for (unsigned int i = 0; i < nbad; i++)
		add_gap(gaps, (uint32_t)(bad[i].offset - offset), (uint32_t)bad[i].length,
			bad[i].err);
	return n;
}

int scr_segments_read(struct scr_segments *g, uint32_t segment, uint64_t offset, void *p,
		      uint32_t len, struct scr_parity_gap *gaps, unsigned int max,
		      unsigned int *ngaps)
{
	struct gaps found = {gaps, max, 0};
	struct scr_segment_fd *o;
	struct scr_reader *reader;
	uint32_t pos = 0;
	ssize_t n = 1;
	int r;

	pthread_mutex_lock(&g->lock);
	r = acquire_locked(g, segment, &o, &reader);
	pthread_mutex_unlock(&g->lock);
	if (r < 0 && r != -ENOENT && !scr_errno_is_medium(-r))
		return r;
	if (r == 0) {
		scr_reader_attach(reader, o->fd, g->mode);
		while (pos < len && (n = read_some(reader, offset, p, pos, len, &found)) > 0)
			pos += (uint32_t)n;
		release(g, o, reader);
		if (n < 0)
			return (int)n;
		r = -ENOENT;
	}
	if (pos < len) {
		memset((uint8_t *)p + pos, 0, len - pos);
		add_gap(&found, pos, len - pos, -r);
	}
	*ngaps = found.count;
	return 0;
}

/* ---- reading ahead ----------------------------------------------------------------------- */

struct scr_segments_window {
	uint32_t segment;   /* 0: nothing is in it */
	uint32_t len;
	uint64_t offset;
	uint32_t size;
	uint8_t data[];
};

static bool holds(const struct scr_segments_window *w, uint32_t segment, uint64_t offset,
		  uint32_t len)
{
	return w->segment == segment && offset >= w->offset &&
	       offset + len <= w->offset + w->len;
}

/* Whether this process may still append to @segment: then a window of it would not stay true. */
static bool is_own(struct scr_segments *g, uint32_t segment)
{
	return g->writable && segment >= g->first_own;
}

static int fill(struct scr_segments *g, struct scr_segments_window *w, uint32_t segment,
		uint64_t offset)
{
	struct scr_parity_gap gap;
	unsigned int ngaps = 0;
	int r;

	w->segment = 0;
	r = scr_segments_read(g, segment, offset, w->data, w->size, &gap, 1, &ngaps);
	if (r < 0)
		return r;
	/* What comes before the end, or before what can't be read, is good. */
	w->len = ngaps > 0 ? gap.start : w->size;
	w->offset = offset;
	w->segment = segment;
	return 0;
}

int scr_segments_look(struct scr_segments *g, struct scr_segments_window **w, uint32_t ahead,
		      uint32_t segment, uint64_t offset, uint32_t len, const uint8_t **p)
{
	int r = 0;

	if (len > ahead / 4 || is_own(g, segment))
		return 0;
	if (!*w) {
		*w = calloc(1, sizeof(**w) + ahead);
		if (!*w)
			return -ENOMEM;
		(*w)->size = ahead;
	}
	if (!holds(*w, segment, offset, len))
		r = fill(g, *w, segment, offset);
	if (r < 0 || !holds(*w, segment, offset, len))
		return r;
	*p = (*w)->data + (offset - (*w)->offset);
	return 1;
}

void scr_segments_window_free(struct scr_segments_window *w)
{
	free(w);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The stream of a manifest file: groups read one at a time, checked, repaired, cached. */
#include <config.h>
#include "manifest/stream.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/compiler.h"
#include "manifest/medium.h"

/* ---- reading ------------------------------------------------------------------------------ */

/* All of @len bytes; -ENODATA, as from a bad medium, if the file ends before. */
static int read_all(struct scr_stream *s, uint8_t *p, size_t len, uint64_t offset)
{
	while (len > 0) {
		ssize_t n = s->pread(s->fd, p, len, (off_t)offset);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			return -ENODATA;
		p += n;
		offset += (uint64_t)n;
		len -= (size_t)n;
	}
	return 0;
}

/* A group, unit by unit where it has to be; what can't be read is zeros and marked. */
static int read_group(struct scr_stream *s, size_t size, uint64_t offset, bool *unreadable)
{
	int r = read_all(s, s->group, size, offset);

	memset(unreadable, 0, SCR_GROUP_UNITS * sizeof(*unreadable));
	if (r == 0 || !scr_medium_error(-r))
		return r;
	for (size_t at = 0; at < size; at += SCR_GROUP_UNIT) {
		r = read_all(s, s->group + at, SCR_GROUP_UNIT, offset + at);
		if (r == 0)
			continue;
		if (!scr_medium_error(-r))
			return r;
		memset(s->group + at, 0, SCR_GROUP_UNIT);
		unreadable[at / SCR_GROUP_UNIT] = true;
	}
	return 0;
}

static int count_damage(struct scr_stream *s, uint64_t number,
			const struct scr_group_repair *repair)
{
	uint64_t offset = number * SCR_GROUP_STRIDE + repair->first;

	if (!repair->any || scr_map_get(&s->damaged, number, 0))
		return 0;
	if (scr_map_put(&s->damaged, number, 0, 1) < 0)
		return -ENOMEM;
	if (s->damage.groups_repaired == 0 || offset < s->damage.first_offset)
		s->damage.first_offset = offset;
	s->damage.groups_repaired++;
	s->damage.blocks_repaired += repair->blocks;
	return 0;
}

/* Reads group @number and repairs it; *h is what its head says. */
static int load(struct scr_stream *s, uint64_t number, struct scr_group_head *h)
{
	size_t size = number + 1 == s->groups ? s->last_size : SCR_GROUP_STRIDE;
	bool unreadable[SCR_GROUP_UNITS];
	struct scr_group_repair repair;
	int r;

	s->loaded = UINT64_MAX;
	r = read_group(s, size, number * SCR_GROUP_STRIDE, unreadable);
	if (r == 0)
		r = scr_group_open(s->k, s->group, size, unreadable, h, &repair);
	if (r == 0 && (h->number != number || h->last != (number + 1 == s->groups)))
		r = -EBADMSG;
	if (r == 0)
		r = count_damage(s, number, &repair);
	if (r == 0)
		s->loaded = number;
	return r;
}

static bool same_writing(const struct scr_group_head *a, const struct scr_group_head *b)
{
	return a->writing == b->writing && a->generation == b->generation;
}

static int need_group(struct scr_stream *s, uint64_t number)
{
	struct scr_group_head h;
	int r;

	if (s->loaded == number)
		return 0;
	r = load(s, number, &h);
	if (r == 0 && !same_writing(&h, &s->last)) {
		s->loaded = UINT64_MAX;
		r = -EBADMSG;
	}
	return r;
}

/* ---- the stream --------------------------------------------------------------------------- */

int scr_stream_get(struct scr_stream *s, uint64_t offset, size_t len, const uint8_t **p)
{
	uint32_t at = offset % SCR_GROUP_DATA;
	int r;

	if (offset > s->length || len > s->length - offset)
		return -EBADMSG;
	if (len <= SCR_GROUP_DATA - at) {
		r = need_group(s, offset / SCR_GROUP_DATA);
		*p = s->group + SCR_GROUP_HEAD + at;
		return r;
	}
	scr_buf_clear(&s->spill);
	r = scr_buf_reserve(&s->spill, len);
	while (r == 0 && len > 0) {
		size_t n = SCR_MIN(len, SCR_GROUP_DATA - at);

		r = need_group(s, offset / SCR_GROUP_DATA);
		if (r == 0)
			r = scr_buf_append(&s->spill, s->group + SCR_GROUP_HEAD + at, n);
		offset += n;
		len -= n;
		at = 0;
	}
	*p = s->spill.data;
	return r;
}

static int measure(struct scr_stream *s, const char **why)
{
	struct stat st;
	uint64_t size;

	if (fstat(s->fd, &st) < 0) {
		*why = "it can't be looked at";
		return -errno;
	}
	size = st.st_size < 0 ? 0 : (uint64_t)st.st_size;
	if (size == 0) {
		*why = "it is empty";
		return -EBADMSG;
	}
	s->groups = (size - 1) / SCR_GROUP_STRIDE + 1;
	s->last_size = (size_t)(size - (s->groups - 1) * SCR_GROUP_STRIDE);
	if (size % SCR_GROUP_UNIT != 0 || s->last_size < scr_group_size(1) ||
	    s->groups > SCR_GROUP_LIMIT) {
		*why = "its size is not that of a manifest: truncated, or something else";
		return -EBADMSG;
	}
	return 0;
}

static bool zeros(const uint8_t *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (p[i])
			return false;
	return true;
}

/* The last group tells how long the stream is; the first must be of the same writing. */
static int read_ends(struct scr_stream *s, const char **why)
{
	int r = load(s, s->groups - 1, &s->last);

	*why = "its last part is damaged beyond repair, or missing";
	if (r < 0)
		return r;
	s->length = (s->groups - 1) * SCR_GROUP_DATA + s->last.used;
	if (!zeros(s->group + SCR_GROUP_HEAD + s->last.used, s->last.data - s->last.used))
		return -EBADMSG;
	r = s->groups > 1 ? load(s, 0, &s->first) : 0;
	if (s->groups == 1)
		s->first = s->last;
	*why = "its first part is damaged beyond repair";
	if (r < 0)
		return r;
	*why = "it is a mixture of two manifests";
	return same_writing(&s->first, &s->last) ? 0 : -EBADMSG;
}

int scr_stream_open(struct scr_stream *s, int fd, scr_pread_fn *pread_fn,
		    const struct scr_kernels *k, const char **why)
{
	int r;

	*s = (struct scr_stream){.fd = fd, .pread = pread_fn, .k = k, .loaded = UINT64_MAX};
	r = measure(s, why);
	if (r < 0)
		return r;
	s->group = aligned_alloc(SCR_GROUP_UNIT, SCR_GROUP_STRIDE);
	if (!s->group) {
		*why = "out of memory";
		return -ENOMEM;
	}
	r = read_ends(s, why);
	if (r < 0)
		scr_stream_close(s);
	return r;
}

void scr_stream_close(struct scr_stream *s)
{
	free(s->group);
	scr_buf_free(&s->spill);
	scr_map_free(&s->damaged);
	*s = (struct scr_stream){.fd = -1};
}

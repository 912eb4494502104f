/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The records of an undo entry: pure, and total on hostile input. */
#include <config.h>
#include "parity/undo_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/compiler.h"
#include "base/path.h"

#define UNDO_VERSION 1u
#define NAME_MAX_LENGTH 4096u /* of a file system's type, UUID, subvolume */

enum {
	HEAD_SIZE = 128,
	RANGE_SIZE = SCR_UNDO_RANGE_FIXED,
	MARK_SIZE = SCR_UNDO_MARK_SIZE,
};

void scr_undo_park(struct scr_undo_entry *e)
{
	free(e->ranges);
	e->ranges = NULL;
	e->count = 0;
	if (e->fd >= 0)
		close(e->fd);
	e->fd = -1;
}

void scr_undo_entry_free(struct scr_undo_entry *e)
{
	scr_undo_park(e);
	free(e->fs.type);
	free(e->fs.uuid);
	free(e->fs.subvol);
	free(e->path);
	*e = (struct scr_undo_entry){.fd = -1};
}

/* ---- encoding ---------------------------------------------------------------------------- */

static void put_head(uint8_t *p, const struct scr_undo_entry *e)
{
	scr_put_bytes(&p, SCR_MAGIC, SCR_MAGIC_LENGTH);
	scr_put32(&p, UNDO_VERSION);
	scr_put32(&p, 0);
	scr_put_time(&p, e->created_ns);
	scr_put_stamp(&p, &e->stamp);
	scr_put64(&p, e->size_after);
	scr_put64(&p, e->extent);
	scr_put_time(&p, e->since_ns);
	scr_put32(&p, e->unit);
	scr_put8(&p, e->damage_kind);
	scr_put_zeros(&p, 3);
	scr_put64(&p, e->fs.fsid);
	scr_put32(&p, (uint32_t)strlen(e->fs.type));
	scr_put32(&p, (uint32_t)strlen(e->fs.uuid));
	scr_put32(&p, (uint32_t)strlen(e->fs.subvol));
	scr_put32(&p, e->path_len);
	scr_put32(&p, e->count);
	scr_put_zeros(&p, 12);
}

int scr_undo_encode_head(struct scr_buf *b, const struct scr_undo_entry *e)
{
	const char *const names[] = {e->fs.type, e->fs.uuid, e->fs.subvol};
	uint8_t fixed[HEAD_SIZE];
	size_t at;
	int r = scr_frame_begin(b, SCR_TYPE_UNDO, &at);

	put_head(fixed, e);
	if (r == 0)
		r = scr_buf_append(b, fixed, sizeof(fixed));
	for (size_t i = 0; r == 0 && i < SCR_ARRAY_SIZE(names); i++)
		r = scr_buf_append(b, names[i], strlen(names[i]));
	if (r == 0)
		r = scr_buf_append(b, e->path, e->path_len);
	return r < 0 ? r : scr_frame_end(b, at);
}

int scr_undo_encode_range(struct scr_buf *b, const struct scr_undo_range *range)
{
	uint8_t fixed[RANGE_SIZE], *p = fixed;
	bool kept = !(range->flags & SCR_UNDO_UNREADABLE);
	size_t at;
	int r = scr_frame_begin(b, SCR_TYPE_RANGE, &at);

	scr_put64(&p, range->offset);
	scr_put32(&p, range->length);
	scr_put32(&p, range->old_length);
	scr_put32(&p, range->flags);
	scr_put_check(&p, range->check);
	scr_put_zeros(&p, 6);
	if (r == 0)
		r = scr_buf_append(b, fixed, sizeof(fixed));
	if (r == 0 && kept)
		r = scr_buf_append(b, range->old, range->old_length);
	return r < 0 ? r : scr_frame_end(b, at);
}

int scr_undo_encode_mark(struct scr_buf *b, const struct scr_undo_mark *m, uint32_t crc)
{
	uint8_t fixed[MARK_SIZE], *p = fixed;
	size_t at;
	int r = scr_frame_begin(b, SCR_TYPE_STATE, &at);

	scr_put32(&p, m->state);
	scr_put32(&p, crc);
	scr_put_time(&p, m->time_ns);
	scr_put_stamp(&p, &m->stamp);
	if (r == 0)
		r = scr_buf_append(b, fixed, sizeof(fixed));
	return r < 0 ? r : scr_frame_end(b, at);
}

/* ---- decoding ---------------------------------------------------------------------------- */

static int take_string(struct scr_cursor *c, uint32_t len, uint32_t max, char **out)
{
	const uint8_t *p = len <= max ? scr_take(c, len) : NULL;

	if (!p || memchr(p, 0, len))
		return -EBADMSG;
	*out = strndup((const char *)p, len);
	return *out ? 0 : -ENOMEM;
}

static int take_strings(struct scr_cursor *c, const uint32_t *len, struct scr_undo_entry *e)
{
	int r = take_string(c, len[0], NAME_MAX_LENGTH, &e->fs.type);

	if (r == 0)
		r = take_string(c, len[1], NAME_MAX_LENGTH, &e->fs.uuid);
	if (r == 0)
		r = take_string(c, len[2], NAME_MAX_LENGTH, &e->fs.subvol);
	if (r == 0)
		r = take_string(c, len[3], SCR_PATH_LIMIT, &e->path);
	e->path_len = len[3];
	return r;
}

/* Up to the strings; their lengths go to @len. */
static int take_head(struct scr_cursor *c, struct scr_undo_entry *e, uint32_t *len)
{
	const uint8_t *magic = scr_take(c, SCR_MAGIC_LENGTH);
	uint32_t version = scr_take32(c), incompat = scr_take32(c);

	if (!magic || memcmp(magic, SCR_MAGIC, SCR_MAGIC_LENGTH) != 0)
		return -EBADMSG;
	if (version != UNDO_VERSION || incompat)
		return -EPROTONOSUPPORT;
	e->created_ns = scr_take_time(c);
	e->stamp = scr_take_stamp(c);
	e->size_after = scr_take64(c);
	e->extent = scr_take64(c);
	e->since_ns = scr_take_time(c);
	e->unit = scr_take32(c);
	e->damage_kind = scr_take8(c);
	scr_take(c, 3);
	e->fs.fsid = scr_take64(c);
	for (int i = 0; i < 4; i++)
		len[i] = scr_take32(c);
	e->count = scr_take32(c);
	scr_take(c, 12);
	return c->bad ? -EBADMSG : 0;
}

static bool head_valid(const struct scr_undo_entry *e)
{
	uint64_t largest = SCR_MAX(e->stamp.size, e->size_after);
	bool power = e->unit && !(e->unit & (e->unit - 1));

	return scr_path_valid(e->path, e->path_len) && largest <= INT64_MAX - SCR_UNDO_UNIT_MAX &&
	       power && e->unit <= SCR_UNDO_UNIT_MAX && e->count <= SCR_UNDO_RANGES_MAX &&
	       e->damage_kind >= SCR_REC_ROT && e->damage_kind <= SCR_REC_UNREADABLE;
}

int scr_undo_decode_head(const uint8_t *p, size_t len, struct scr_undo_entry *e)
{
	struct scr_cursor c = {p, len, false};
	uint32_t lengths[4];
	int r = take_head(&c, e, lengths);

	if (r == 0)
		r = take_strings(&c, lengths, e);
	if (r == 0 && (c.left || !head_valid(e)))
		r = -EBADMSG;
	if (r == 0) {
		e->ranges = calloc(e->count + 1u, sizeof(*e->ranges));
		r = e->ranges ? 0 : -ENOMEM;
	}
	return r;
}

int scr_undo_decode_range(const uint8_t *p, size_t len, uint64_t at, struct scr_undo_range *r)
{
	struct scr_cursor c = {p, len, false};
	uint32_t kept;

	*r = (struct scr_undo_range){.at = at + RANGE_SIZE};
	r->offset = scr_take64(&c);
	r->length = scr_take32(&c);
	r->old_length = scr_take32(&c);
	r->flags = scr_take32(&c);
	r->check = scr_take_check(&c);
	scr_take(&c, 6);
	if (c.bad || (r->flags & ~(uint32_t)SCR_UNDO_UNREADABLE) ||
	    r->length > SCR_UNDO_RANGE_MAX || r->old_length > SCR_UNDO_RANGE_MAX)
		return -EBADMSG;
	kept = r->flags & SCR_UNDO_UNREADABLE ? 0 : r->old_length;
	return c.left == kept ? 0 : -EBADMSG;
}

int scr_undo_decode_mark(const uint8_t *p, size_t len, const uint32_t *crc,
			 struct scr_undo_mark *m)
{
	struct scr_cursor c = {p, len, false};
	uint32_t state = scr_take32(&c), body = scr_take32(&c);
	struct scr_undo_mark mark = {.time_ns = scr_take_time(&c)};

	mark.stamp = scr_take_stamp(&c);
	if (c.bad || c.left || (crc && body != *crc) || state < SCR_UNDO_OPEN ||
	    state > SCR_UNDO_UNDONE)
		return -EBADMSG;
	mark.state = (enum scr_undo_state)state;
	*m = mark;
	return 0;
}

/* New bytes end where the file ends after, old ones where it ended before. */
static bool range_valid(const struct scr_undo_entry *e, const struct scr_undo_range *r)
{
	uint64_t most = SCR_MAX(r->length, r->old_length);

	return most > 0 && r->offset <= INT64_MAX - most &&
	       (r->length == 0 || r->offset + r->length <= e->size_after) &&
	       (r->old_length == 0 || r->offset + r->old_length <= e->stamp.size) &&
	       (r->length == 0 || r->old_length <= r->length ||
		r->offset + r->length == e->size_after);
}

bool scr_undo_entry_valid(const struct scr_undo_entry *e)
{
	uint64_t end = 0, bytes = 0;

	for (uint32_t i = 0; i < e->count; i++) {
		const struct scr_undo_range *r = &e->ranges[i];

		if (!range_valid(e, r) || r->offset < end)
			return false;
		end = r->offset + SCR_MAX(r->length, r->old_length);
		bytes += SCR_MAX(r->length, r->old_length);
	}
	return bytes <= SCR_UNDO_BYTES_MAX;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* One undo entry in its file: read record by record, and checked before any of it is used. */
#include <config.h>
#include "parity/undo_internal.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "base/compiler.h"

#define SECTOR 512u /* what a medium writes whole, at least */
#define STATE_RECORD ((size_t)SCR_UNDO_MARK_SIZE + SCR_RECORD_FRAME)

/* What is being read. */
struct parse {
	int fd;
	bool all;
	bool marks;            /* the body is behind us */
	uint64_t at, size;
	struct scr_buf record; /* the one that begins at @at: whole, or a range's fixed part */
	uint32_t payload;      /* its length */
	uint32_t crc;          /* of all bytes before @at, up to the first state */
};

/* Loads the record at p->at. 1; 0: there is no whole and sound one; -errno. */
static int load(struct parse *p)
{
	uint8_t head[SCR_RECORD_HEAD];
	uint32_t want;
	bool light;
	int r;

	scr_buf_clear(&p->record);
	if (p->size - p->at < SCR_RECORD_FRAME)
		return 0;
	r = scr_pread_all(p->fd, head, sizeof(head), p->at);
	if (r < 0)
		return r;
	if (scr_frame_length(head, &p->payload) < 0 ||
	    p->payload > p->size - p->at - SCR_RECORD_FRAME)
		return 0;
	light = !p->all && !p->marks && head[0] == SCR_TYPE_RANGE && p->payload >= SCR_UNDO_RANGE_FIXED;
	want = light ? SCR_RECORD_HEAD + SCR_UNDO_RANGE_FIXED : p->payload + SCR_RECORD_FRAME;
	r = scr_buf_reserve(&p->record, want);
	if (r == 0)
		r = scr_pread_all(p->fd, p->record.data, want, p->at);
	if (r < 0)
		return r;
	p->record.len = want;
	return light || scr_frame_sound(p->record.data, p->payload);
}

static uint8_t type_of(const struct parse *p)
{
	return p->record.data[0];
}

static const uint8_t *payload_of(const struct parse *p)
{
	return p->record.data + SCR_RECORD_HEAD;
}

static void pass_over(struct parse *p)
{
	p->crc = (uint32_t)crc32_z(p->crc, p->record.data, p->record.len);
	p->at += p->payload + SCR_RECORD_FRAME;
}

/*
 * Whether a sound state ends the file, or almost. It was written only when all before it was on the
 * medium: what is not sound there now was damaged since, and may be the only way back.
 */
static int has_state(const struct parse *p)
{
	uint8_t tail[3 * STATE_RECORD];
	size_t len = (size_t)SCR_MIN(p->size, sizeof(tail));
	int r = scr_pread_all(p->fd, tail, len, p->size - len);
	uint32_t payload;

	for (size_t at = 0; r == 0 && at + STATE_RECORD <= len; at++)
		if (tail[at] == SCR_TYPE_STATE && scr_frame_length(tail + at, &payload) == 0 &&
		    payload == SCR_UNDO_MARK_SIZE && scr_frame_sound(tail + at, payload))
			return 1;
	return r;
}

static bool zeros(const uint8_t *p, size_t n)
{
	while (n > 0 && p[n - 1] == 0)
		n--;
	return n == 0;
}

/*
 * What stands where the first state belongs and is not sound: 1 if its writing was cut short, so
 * that the file ends early or whole sectors of it are zeros, 0 if it was damaged; -errno.
 */
static int cut_short(const struct parse *p)
{
	uint8_t state[STATE_RECORD];
	size_t first = (size_t)(SECTOR - p->at % SECTOR);
	int r;

	if (p->size - p->at < sizeof(state))
		return 1;
	r = scr_pread_all(p->fd, state, sizeof(state), p->at);
	if (r < 0)
		return r;
	if (first >= sizeof(state))
		return zeros(state, sizeof(state));
	return zeros(state, first) || zeros(state + first, sizeof(state) - first);
}

/* The body has no sound record at p->at: the entry was never finished, or was damaged. */
static int unsound_body(const struct parse *p)
{
	int r = has_state(p);

	return r < 0 ? r : r > 0 ? -EBADMSG : -ENODATA;
}

/* The same of the first state, at p->at. */
static int unsound_state(const struct parse *p)
{
	int damaged = has_state(p), cut;

	if (damaged != 0)
		return damaged < 0 ? damaged : -EBADMSG;
	cut = cut_short(p);
	return cut < 0 ? cut : cut ? -ENODATA : -EBADMSG;
}

/* Before the first state everything must be there. */
static int parse_body(struct parse *p, struct scr_undo_entry *e)
{
	int r = load(p);

	if (r <= 0)
		return r < 0 ? r : unsound_body(p);
	if (type_of(p) != SCR_TYPE_UNDO)
		return -EBADMSG;
	r = scr_undo_decode_head(payload_of(p), p->payload, e);
	pass_over(p);
	for (uint32_t i = 0; r == 0 && i < e->count; i++) {
		r = load(p);
		if (r <= 0)
			return r < 0 ? r : unsound_body(p);
		if (type_of(p) != SCR_TYPE_RANGE)
			return -EBADMSG;
		r = scr_undo_decode_range(payload_of(p), p->payload, p->at + SCR_RECORD_HEAD,
					  &e->ranges[i]);
		pass_over(p);
	}
	return r == 0 && !scr_undo_entry_valid(e) ? -EBADMSG : r;
}

/* The last sound state counts; what stands behind it was cut short. */
static int parse_marks(struct parse *p, struct scr_undo_entry *e)
{
	uint32_t marks = 0;
	int r;

	p->marks = true;
	while ((r = load(p)) == 1) {
		if (type_of(p) != SCR_TYPE_STATE ||
		    scr_undo_decode_mark(payload_of(p), p->payload, p->all ? &p->crc : NULL,
					 &e->mark) < 0)
			return -EBADMSG;
		p->at += p->record.len;
		marks++;
	}
	e->length = p->at;
	e->body_crc = p->all ? p->crc : 0;
	return r < 0 || marks > 0 ? r : unsound_state(p);
}

int scr_undo_parse(int fd, bool all, struct scr_undo_entry *e)
{
	struct parse p = {.fd = fd, .all = all};
	struct stat st;
	int r;

	if (fstat(fd, &st) < 0)
		return -errno;
	p.size = (uint64_t)st.st_size;
	r = parse_body(&p, e);
	if (r == 0)
		r = parse_marks(&p, e);
	scr_buf_free(&p.record);
	return r;
}

int scr_undo_old(const struct scr_undo_entry *e, uint32_t i, void *p)
{
	const struct scr_undo_range *r = &e->ranges[i];

	if (r->flags & SCR_UNDO_UNREADABLE)
		return -ENODATA;
	return scr_pread_all(e->fd, p, r->old_length, r->at);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* One undo entry in its file: read record by record, and checked before any of it is used. */
#include <config.h>
#include "parity/undo_internal.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "base/compiler.h"

/* What is being read. */
struct parse {
	int fd;
	bool all;
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
	light = !p->all && head[0] == SCR_TYPE_RANGE && p->payload >= SCR_UNDO_RANGE_FIXED;
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

/* Before the first state everything must be there, else the entry was never finished. */
static int parse_body(struct parse *p, struct scr_undo_entry *e)
{
	int r = load(p);

	if (r <= 0)
		return r < 0 ? r : -ENODATA;
	if (type_of(p) != SCR_TYPE_UNDO)
		return -EBADMSG;
	r = scr_undo_decode_head(payload_of(p), p->payload, e);
	pass_over(p);
	for (uint32_t i = 0; r == 0 && i < e->count; i++) {
		r = load(p);
		if (r <= 0)
			return r < 0 ? r : -ENODATA;
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
	return r < 0 || marks > 0 ? r : -ENODATA;
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

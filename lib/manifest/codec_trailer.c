/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The TRAILER record. */
#include <config.h>

#include <errno.h>
#include <stdlib.h>

#include "manifest/codec.h"

static void put_fixed(uint8_t **p, const struct scr_trailer *t)
{
	const uint64_t counts[] = {
		t->generation,
		t->files,
		t->links,
		t->extents,
		t->blocks,
		t->bytes,
		t->hole_bytes,
		t->files_damaged,
		t->blocks_damaged,
		t->bytes_damaged,
		t->extents_unrecorded,
		t->parity_bytes,
	};

	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
		scr_put64(p, counts[i]);
	scr_put_time(p, t->oldest_check_ns);
	scr_put_time(p, t->newest_check_ns);
	scr_put64(p, t->bytes_never_checked);
	for (size_t i = 0; i < SCR_TRAILER_BUCKETS; i++)
		scr_put64(p, t->age_bytes[i]);
	scr_put_time(p, t->pass_start_ns);
	scr_put_time(p, t->pass_ns);
	scr_put_time(p, t->last_complete_ns);
	scr_put64(p, t->pass_bytes);
	scr_put32(p, t->pass_exit);
	scr_put32(p, t->body_crc);
	scr_put32(p, t->segment_count);
	scr_put_time(p, t->window_start_ns);
	scr_put64(p, t->window_bytes);
	scr_put32(p, t->unseen);
}

int scr_encode_trailer(struct scr_buf *b, const struct scr_trailer *t)
{
	size_t len = SCR_TRAILER_SIZE + (size_t)t->segment_count * SCR_SEGMENT_SIZE;
	uint8_t *p;

	if (scr_buf_reserve(b, len) < 0)
		return -ENOMEM;
	p = b->data + b->len;
	put_fixed(&p, t);
	for (uint32_t i = 0; i < t->segment_count; i++) {
		scr_put32(&p, t->segments[i].segment);
		scr_put64(&p, t->segments[i].live);
	}
	b->len += len;
	return 0;
}

static void take_counts(struct scr_cursor *c, struct scr_trailer *t)
{
	t->generation = scr_take64(c);
	t->files = scr_take64(c);
	t->links = scr_take64(c);
	t->extents = scr_take64(c);
	t->blocks = scr_take64(c);
	t->bytes = scr_take64(c);
	t->hole_bytes = scr_take64(c);
	t->files_damaged = scr_take64(c);
	t->blocks_damaged = scr_take64(c);
	t->bytes_damaged = scr_take64(c);
	t->extents_unrecorded = scr_take64(c);
	t->parity_bytes = scr_take64(c);
	t->oldest_check_ns = scr_take_time(c);
	t->newest_check_ns = scr_take_time(c);
	t->bytes_never_checked = scr_take64(c);
	for (size_t i = 0; i < SCR_TRAILER_BUCKETS; i++)
		t->age_bytes[i] = scr_take64(c);
}

static void take_pass(struct scr_cursor *c, struct scr_trailer *t)
{
	t->pass_start_ns = scr_take_time(c);
	t->pass_ns = scr_take_time(c);
	t->last_complete_ns = scr_take_time(c);
	t->pass_bytes = scr_take64(c);
	t->pass_exit = scr_take32(c);
	t->body_crc = scr_take32(c);
	t->segment_count = scr_take32(c);
	t->window_start_ns = scr_take_time(c);
	t->window_bytes = scr_take64(c);
	t->unseen = scr_take32(c);
}

static int take_segments(struct scr_cursor *c, struct scr_trailer *t)
{
	if (t->segment_count > c->left / SCR_SEGMENT_SIZE)
		return -EBADMSG;
	if (t->segment_count == 0)
		return 0;
	t->segments = calloc(t->segment_count, sizeof(*t->segments));
	if (!t->segments)
		return -ENOMEM;
	for (uint32_t i = 0; i < t->segment_count; i++) {
		t->segments[i].segment = scr_take32(c);
		t->segments[i].live = scr_take64(c);
		if (t->segments[i].segment <= (i ? t->segments[i - 1].segment : 0))
			return -EBADMSG;
	}
	return 0;
}

int scr_decode_trailer(const struct scr_codec *codec, const uint8_t *p, size_t len,
		       struct scr_trailer *out)
{
	struct scr_cursor c = {.p = p, .left = len};
	struct scr_trailer t = {0};
	int r;

	take_counts(&c, &t);
	take_pass(&c, &t);
	r = c.bad ? -EBADMSG : take_segments(&c, &t);
	if (r == 0)
		r = scr_payload_end(codec, &c);
	if (r < 0)
		scr_trailer_free(&t);
	else
		*out = t;
	return r;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* JOURNAL and UPDATE records as bytes. */
#include <config.h>

#include <errno.h>

#include "manifest/update.h"

int scr_encode_journal(struct scr_buf *b, const struct scr_journal_head *h)
{
	uint8_t payload[SCR_JOURNAL_SIZE], *p = payload;

	scr_put_bytes(&p, SCR_MAGIC, SCR_MAGIC_LENGTH);
	scr_put32(&p, h->version);
	scr_put32(&p, h->compat);
	scr_put32(&p, h->incompat);
	scr_put32(&p, h->geometry.block_size);
	scr_put64(&p, h->generation);
	scr_put_time(&p, h->started_ns);
	scr_put32(&p, h->geometry.columns);
	scr_put32(&p, h->geometry.parity_unit);
	scr_put64(&p, 0);
	return scr_buf_append(b, payload, sizeof(payload));
}

int scr_decode_journal(const uint8_t *p, size_t len, struct scr_journal_head *out)
{
	struct scr_cursor c = {.p = p, .left = len};
	const uint8_t *magic = scr_take(&c, SCR_MAGIC_LENGTH);
	struct scr_journal_head h;
	struct scr_codec codec = {0};

	h.version = scr_take32(&c);
	h.compat = scr_take32(&c);
	h.incompat = scr_take32(&c);
	if (c.bad || memcmp(magic, SCR_MAGIC, SCR_MAGIC_LENGTH) != 0 || h.version == 0)
		return -EBADMSG;
	if (h.version > SCR_FORMAT_VERSION || h.incompat)
		return -EPROTONOSUPPORT;
	h.geometry.block_size = scr_take32(&c);
	h.generation = scr_take64(&c);
	h.started_ns = scr_take_time(&c);
	h.geometry.columns = scr_take32(&c);
	h.geometry.parity_unit = scr_take32(&c);
	scr_take64(&c);
	codec.lax = h.compat;
	if (scr_payload_end(&codec, &c) < 0 || !scr_geometry_valid(&h.geometry))
		return -EBADMSG;
	*out = h;
	return 0;
}

/* ---- writing ------------------------------------------------------------------------------ */

static bool update_valid(const struct scr_codec *codec, const struct scr_update *u)
{
	uint64_t next = 0;

	if (!scr_file_valid(codec, &u->file))
		return false;
	for (uint32_t i = 0; i < u->count; i++) {
		const struct scr_extent *e = &u->extents[i];

		if (e->cut.index < next || !scr_extent_valid(codec, u->file.stamp.size, e))
			return false;
		next = e->cut.index + e->run;
	}
	return true;
}

/* As a record without CRC, which that of the UPDATE makes superfluous. */
static int append_extent(struct scr_buf *b, const struct scr_extent *e)
{
	size_t at;
	int r = scr_frame_begin(b, scr_extent_type(e), &at);

	if (r == 0)
		r = scr_encode_extent(b, e, NULL);
	if (r == 0)
		scr_put_le32(b->data + at + 4, (uint32_t)(b->len - at - SCR_RECORD_HEAD));
	return r;
}

static int append_update(struct scr_buf *b, const struct scr_update *u)
{
	uint8_t fixed[SCR_UPDATE_SIZE] = {0};
	size_t at = b->len;
	int r;

	scr_put_le32(fixed, u->done ? SCR_UPDATE_DONE : 0);
	scr_put_le32(fixed + 4, u->count);
	r = scr_buf_append(b, fixed, sizeof(fixed));
	if (r == 0)
		r = scr_encode_file(b, &u->file);
	if (r == 0)
		scr_put_le32(b->data + at + 8, (uint32_t)(b->len - at - sizeof(fixed)));
	for (uint32_t i = 0; r == 0 && i < u->count; i++)
		r = append_extent(b, &u->extents[i]);
	return r;
}

int scr_journal_encode(struct scr_buf *out, const struct scr_geometry *g,
		       const struct scr_update *u)
{
	struct scr_codec codec = {.geometry = *g, .identities = UINT32_MAX};
	size_t at, before = out->len;
	int r;

	if (u->file.path_len > SCR_PATH_LIMIT)
		return -ENAMETOOLONG;
	if (!update_valid(&codec, u))
		return -EINVAL;
	r = scr_frame_begin(out, SCR_TYPE_UPDATE, &at);
	if (r == 0)
		r = append_update(out, u);
	if (r == 0)
		r = scr_frame_end(out, at);
	if (r < 0)
		out->len = before;
	return r;
}

/* ---- reading ------------------------------------------------------------------------------ */

int scr_update_begin(struct scr_update_walk *w, const struct scr_codec *codec, const uint8_t *p,
		     size_t len, struct scr_part *part)
{
	uint32_t flags;

	w->codec = codec;
	w->c = (struct scr_cursor){.p = p, .left = len};
	w->next_index = 0;
	flags = scr_take32(&w->c);
	w->left = scr_take32(&w->c);
	*part = (struct scr_part){.type = SCR_TYPE_FILE, .len = scr_take32(&w->c)};
	scr_take32(&w->c);
	part->payload = scr_take(&w->c, part->len);
	if (!part->payload || flags & ~(uint32_t)SCR_UPDATE_DONE)
		return -EBADMSG;
	w->done = flags & SCR_UPDATE_DONE;
	return scr_decode_file(codec, part->payload, part->len, &w->file);
}

/* The frame of an extent in the walk. */
static int take_part(struct scr_update_walk *w, struct scr_part *part)
{
	const uint8_t *head = scr_take(&w->c, SCR_RECORD_HEAD);

	if (!head || scr_frame_length(head, &part->len) < 0 ||
	    (head[0] != SCR_TYPE_EXTENT && head[0] != SCR_TYPE_HOLES))
		return -EBADMSG;
	part->type = (enum scr_type)head[0];
	part->payload = scr_take(&w->c, part->len);
	return part->payload ? 0 : -EBADMSG;
}

int scr_update_next(struct scr_update_walk *w, struct scr_part *part)
{
	int r;

	if (w->left == 0)
		return scr_payload_end(w->codec, &w->c);
	w->left--;
	r = take_part(w, part);
	if (r == 0)
		r = scr_decode_extent(w->codec, part->type, w->file.stamp.size, NULL, part->payload,
				      part->len, &w->scratch);
	if (r < 0)
		return r;
	part->index = w->scratch.cut.index;
	part->end = part->index + w->scratch.run;
	if (part->index < w->next_index)
		return -EBADMSG;
	w->next_index = part->end;
	return 1;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What surrounds every payload: type and length before, CRC-32 behind. */
#include <config.h>

#include <errno.h>
#include <zlib.h>

#include "manifest/codec.h"

int scr_frame_begin(struct scr_buf *b, enum scr_type type, size_t *at)
{
	uint8_t head[SCR_RECORD_HEAD] = {(uint8_t)type};

	*at = b->len;
	return scr_buf_append(b, head, sizeof(head));
}

int scr_frame_end(struct scr_buf *b, size_t at)
{
	size_t len = b->len - at - SCR_RECORD_HEAD;

	if (len > SCR_PAYLOAD_LIMIT)
		return -EMSGSIZE;
	scr_put_le32(b->data + at + 4, (uint32_t)len);
	return scr_buf_append_le32(b, (uint32_t)crc32_z(0, b->data + at, b->len - at));
}

int scr_frame_length(const uint8_t *head, uint32_t *len)
{
	uint32_t n = scr_get_le32(head + 4);

	if (head[1] || head[2] || head[3] || n > SCR_PAYLOAD_LIMIT)
		return -EBADMSG;
	*len = n;
	return 0;
}

bool scr_frame_sound(const uint8_t *p, uint32_t len)
{
	size_t n = (size_t)SCR_RECORD_HEAD + len;

	return scr_get_le32(p + n) == crc32_z(0, p, n);
}

int scr_payload_end(const struct scr_codec *codec, const struct scr_cursor *c)
{
	return c->bad || (c->left && !codec->lax) ? -EBADMSG : 0;
}

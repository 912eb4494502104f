/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A growable run of bytes. */
#include <config.h>
#include "base/buf.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/endian.h"

int scr_buf_reserve(struct scr_buf *b, size_t extra)
{
	size_t cap = b->cap ? b->cap : 64;
	uint8_t *data;

	if (b->cap - b->len >= extra)
		return 0;
	if (extra > SIZE_MAX / 2 - b->len)
		return -ENOMEM;
	while (cap - b->len < extra)
		cap *= 2;
	data = realloc(b->data, cap);
	if (!data)
		return -ENOMEM;
	b->data = data;
	b->cap = cap;
	return 0;
}

int scr_buf_append(struct scr_buf *b, const void *p, size_t len)
{
	int r = scr_buf_reserve(b, len);

	if (r < 0)
		return r;
	if (len)
		memcpy(b->data + b->len, p, len);
	b->len += len;
	return 0;
}

int scr_buf_append_le16(struct scr_buf *b, uint16_t v)
{
	uint8_t p[2];

	scr_put_le16(p, v);
	return scr_buf_append(b, p, sizeof(p));
}

int scr_buf_append_le32(struct scr_buf *b, uint32_t v)
{
	uint8_t p[4];

	scr_put_le32(p, v);
	return scr_buf_append(b, p, sizeof(p));
}

int scr_buf_append_le64(struct scr_buf *b, uint64_t v)
{
	uint8_t p[8];

	scr_put_le64(p, v);
	return scr_buf_append(b, p, sizeof(p));
}

int scr_buf_set_string(struct scr_buf *b, const char *s)
{
	size_t len = strlen(s);
	int r;

	b->len = 0;
	r = scr_buf_reserve(b, len + 1);
	if (r < 0)
		return r;
	memcpy(b->data, s, len + 1);
	b->len = len;
	return 0;
}

void scr_buf_clear(struct scr_buf *b)
{
	b->len = 0;
}

void scr_buf_free(struct scr_buf *b)
{
	free(b->data);
	*b = (struct scr_buf){0};
}

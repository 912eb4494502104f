/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A growable run of bytes. */
#ifndef SCR_BASE_BUF_H
#define SCR_BASE_BUF_H

#include <stddef.h>
#include <stdint.h>

/* Zero-initialised is empty. @data is owned; it moves when the buffer grows. */
struct scr_buf {
	uint8_t *data;
	size_t len, cap;
};

/* Room for @extra more bytes behind @len. Returns 0 or -ENOMEM. */
int scr_buf_reserve(struct scr_buf *b, size_t extra);
/* Appends @len bytes of @p. Returns 0 or -ENOMEM. */
int scr_buf_append(struct scr_buf *b, const void *p, size_t len);
int scr_buf_append_le16(struct scr_buf *b, uint16_t v);
int scr_buf_append_le32(struct scr_buf *b, uint32_t v);
int scr_buf_append_le64(struct scr_buf *b, uint64_t v);
/* Replaces the content by the string @s and a NUL behind it, not counted in len. 0 or -ENOMEM. */
int scr_buf_set_string(struct scr_buf *b, const char *s);
void scr_buf_clear(struct scr_buf *b); /* len = 0; memory is kept */
void scr_buf_free(struct scr_buf *b);

#endif

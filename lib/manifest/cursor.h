/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Taking fields out of hostile bytes, and putting them into a reserved place.
 *
 * A cursor that was asked for more than there is turns bad for good and gives zeros, so a decoder
 * takes what it needs and looks at the verdict once, before it uses anything.
 */
#ifndef SCR_MANIFEST_CURSOR_H
#define SCR_MANIFEST_CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/endian.h"

struct scr_cursor {
	const uint8_t *p;
	size_t left;
	bool bad;
};

/* The next @n bytes, or NULL. */
static inline const uint8_t *scr_take(struct scr_cursor *c, size_t n)
{
	const uint8_t *p = c->p;

	if (c->bad || n > c->left) {
		c->bad = true;
		return NULL;
	}
	c->p += n;
	c->left -= n;
	return p;
}

static inline uint8_t scr_take8(struct scr_cursor *c)
{
	const uint8_t *p = scr_take(c, 1);

	return p ? *p : 0;
}

static inline uint16_t scr_take_be16(struct scr_cursor *c)
{
	const uint8_t *p = scr_take(c, 2);

	return p ? scr_get_be16(p) : 0;
}

static inline uint32_t scr_take32(struct scr_cursor *c)
{
	const uint8_t *p = scr_take(c, 4);

	return p ? scr_get_le32(p) : 0;
}

static inline uint64_t scr_take64(struct scr_cursor *c)
{
	const uint8_t *p = scr_take(c, 8);

	return p ? scr_get_le64(p) : 0;
}

static inline int64_t scr_take_time(struct scr_cursor *c)
{
	return (int64_t)scr_take64(c);
}

/* Puts advance *p; the place was reserved. */
static inline void scr_put8(uint8_t **p, uint8_t v)
{
	*(*p)++ = v;
}

static inline void scr_put16_be(uint8_t **p, uint16_t v)
{
	scr_put_be16(*p, v);
	*p += 2;
}

static inline void scr_put32(uint8_t **p, uint32_t v)
{
	scr_put_le32(*p, v);
	*p += 4;
}

static inline void scr_put64(uint8_t **p, uint64_t v)
{
	scr_put_le64(*p, v);
	*p += 8;
}

static inline void scr_put_time(uint8_t **p, int64_t v)
{
	scr_put64(p, (uint64_t)v);
}

static inline void scr_put_bytes(uint8_t **p, const void *src, size_t n)
{
	if (n)
		memcpy(*p, src, n);
	*p += n;
}

static inline void scr_put_zeros(uint8_t **p, size_t n)
{
	memset(*p, 0, n);
	*p += n;
}

#endif

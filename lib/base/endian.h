/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Little- and big-endian integers at any address, independent of the host. */
#ifndef SCR_BASE_ENDIAN_H
#define SCR_BASE_ENDIAN_H

#include <stdint.h>

static inline uint16_t scr_get_le16(const uint8_t *p)
{
	return (uint16_t)(p[0] | p[1] << 8);
}

static inline uint32_t scr_get_le32(const uint8_t *p)
{
	return (uint32_t)scr_get_le16(p) | (uint32_t)scr_get_le16(p + 2) << 16;
}

static inline uint64_t scr_get_le64(const uint8_t *p)
{
	return (uint64_t)scr_get_le32(p) | (uint64_t)scr_get_le32(p + 4) << 32;
}

static inline uint16_t scr_get_be16(const uint8_t *p)
{
	return (uint16_t)(p[0] << 8 | p[1]);
}

static inline void scr_put_le16(uint8_t *p, uint16_t v)
{
	p[0] = (uint8_t)v;
	p[1] = (uint8_t)(v >> 8);
}

static inline void scr_put_le32(uint8_t *p, uint32_t v)
{
	scr_put_le16(p, (uint16_t)v);
	scr_put_le16(p + 2, (uint16_t)(v >> 16));
}

static inline void scr_put_le64(uint8_t *p, uint64_t v)
{
	scr_put_le32(p, (uint32_t)v);
	scr_put_le32(p + 4, (uint32_t)(v >> 32));
}

static inline void scr_put_be16(uint8_t *p, uint16_t v)
{
	p[0] = (uint8_t)(v >> 8);
	p[1] = (uint8_t)v;
}

#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the CRC-32 kernels share: tables, and the last bytes. */
#ifndef SCR_KERNELS_CRC32_H
#define SCR_KERNELS_CRC32_H

#include <stddef.h>
#include <stdint.h>

/* [k][b]: the register after byte b and k zero bytes. */
extern const uint32_t scr_crc32_tables[8][256];

/* One byte into the raw register (not complemented as zlib's crc argument is). */
static inline uint32_t scr_crc32_byte(uint32_t reg, uint8_t byte)
{
	return reg >> 8 ^ scr_crc32_tables[0][(reg ^ byte) & 0xff];
}

/* The raw register after @len bytes, eight at a time. */
uint32_t scr_crc32_slice8_raw(uint32_t reg, const uint8_t *p, size_t len);

#endif

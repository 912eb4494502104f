/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* CRC-32 without special instructions: zlib's own, and slicing by eight.
 *
 * The message is a polynomial over GF(2), one bit a coefficient; its CRC is the remainder modulo
 * P = x^32 + x^26 + ... + 1. The plain loop keeps a 32-bit register (bits reversed: the highest
 * power is bit 0), shifts it right by one for each message bit, and subtracts P, that is XORs
 * 0xedb88320, when a one falls out. Complementing the register before and after is a convention
 * that makes leading zeros count.
 *
 * Eight such steps depend on the lowest byte of the register alone, so a table of 256 entries does
 * a byte at once. The remainder is linear: the remainder of a sum is the sum of the remainders. So
 * eight bytes can be looked up independently of each other, each in a table that knows how many
 * bytes come after it, and XORed together. The register just counts as four bytes of the message.
 */
#include <config.h>
#include "kernels/rows.h"

#include <zlib.h>

#include "base/endian.h"
#include "kernels/crc32.h"

static uint32_t eight_bytes(uint32_t reg, const uint8_t *p)
{
	const uint32_t(*t)[256] = scr_crc32_tables;
	uint32_t lo = reg ^ scr_get_le32(p), hi = scr_get_le32(p + 4);

	return t[7][lo & 0xff] ^ t[6][lo >> 8 & 0xff] ^ t[5][lo >> 16 & 0xff] ^ t[4][lo >> 24] ^
	       t[3][hi & 0xff] ^ t[2][hi >> 8 & 0xff] ^ t[1][hi >> 16 & 0xff] ^ t[0][hi >> 24];
}

uint32_t scr_crc32_slice8_raw(uint32_t reg, const uint8_t *p, size_t len)
{
	for (; len >= 8; p += 8, len -= 8)
		reg = eight_bytes(reg, p);
	while (len--)
		reg = scr_crc32_byte(reg, *p++);
	return reg;
}

static uint32_t slice8(uint32_t crc, const uint8_t *p, size_t len)
{
	return ~scr_crc32_slice8_raw(~crc, p, len);
}

/* zlib takes a null pointer for "give me the start value", so nothing is not passed on to it. */
static uint32_t by_zlib(uint32_t crc, const uint8_t *p, size_t len)
{
	return len ? (uint32_t)crc32_z(crc, p, len) : crc;
}

const struct scr_kernel scr_crc32_zlib = {"zlib", SCR_CRC32, 0, {.crc32 = by_zlib}};
const struct scr_kernel scr_crc32_slice8 = {"slice8", SCR_CRC32, 0, {.crc32 = slice8}};

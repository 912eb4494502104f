/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* CRC-32 as arithmetic with polynomials over GF(2) modulo P = x^32 + x^26 + x^23 + ... + 1.
 *
 * Without its inversions the CRC of a message M(x) is M(x) x^32 mod P, the first bit being the
 * highest power. So it is linear, an error's CRC is the difference of two CRCs, and n zero bytes
 * behind a message multiply its CRC by x^(8n).
 */
#include <config.h>
#include "parity/search_internal.h"

#include "kernels/crc32.h"

#define ONE (UINT32_C(1) << 31)
#define X8 (UINT32_C(1) << 23)
#define X32 UINT32_C(0xedb88320) /* x^32 mod P is P without its highest term */

uint32_t scr_crc_mul(uint32_t a, uint32_t b)
{
	uint32_t r = 0;

	for (; a; a <<= 1) {
		if (a & ONE)
			r ^= b;
		b = b >> 1 ^ (X32 & -(b & 1));
	}
	return r;
}

uint32_t scr_crc_shift(uint32_t n)
{
	uint32_t r = ONE, power = X8;

	for (; n; n >>= 1) {
		if (n & 1)
			r = scr_crc_mul(r, power);
		power = scr_crc_mul(power, power);
	}
	return r;
}

void scr_crc_powers(uint32_t *table, uint32_t n)
{
	uint32_t power = X32;

	for (uint32_t m = 0; m < n; m++) {
		table[m] = power;
		power = scr_crc32_byte(power, 0);
	}
}

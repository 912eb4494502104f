/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Whether two pairs of checksums can stem from one flipped bit. */
#include <config.h>
#include "pass/bitflip.h"

#define POLYNOMIAL 0xedb88320u /* CRC-32 of zlib, reflected */
#define ONES 65535u            /* sums are modulo 2^16 - 1 */

/* The weight of bit @bit of byte @byte in the sum of big-endian words. */
static uint32_t weight(uint32_t byte, unsigned int bit)
{
	return 1u << (bit + (byte % 2 == 0 ? 8 : 0));
}

static bool sums_agree(struct scr_check was, struct scr_check is, uint32_t w)
{
	/* Checksums are complements: sum = 65535 - checksum. */
	uint32_t up = ((uint32_t)was.inet + ONES - is.inet) % ONES;

	return up == w || up == ONES - w;
}

bool scr_is_bit_flip(struct scr_check was, struct scr_check is, uint32_t len, uint64_t *bit)
{
	uint32_t want = was.crc ^ is.crc, s = POLYNOMIAL;

	/* The CRC is linear: the difference of a bit that is followed by k others is x^(32+k) mod P.
	 * The highest bit of the last byte comes last. */
	for (uint64_t k = 0; k < (uint64_t)len * 8; k++) {
		if (s == want) {
			uint32_t byte = len - 1 - (uint32_t)(k / 8);
			unsigned int b = 7 - (unsigned int)(k % 8);

			if (!sums_agree(was, is, weight(byte, b)))
				return false;
			if (bit)
				*bit = (uint64_t)byte * 8 + b;
			return true;
		}
		s = (s >> 1) ^ (s & 1 ? POLYNOMIAL : 0);
	}
	return false;
}

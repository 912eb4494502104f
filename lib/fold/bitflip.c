/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* One flipped bit, found from checksums.
 *
 * CRCs of equal lengths are linear: crc(a) ^ crc(b) is the register that the error a ^ b alone leaves,
 * without initial and final inversion. Of one bit that is the polynomial itself if it is the last bit,
 * and one shift more for each bit further ahead. These values are all different for less than 2^32 - 1
 * bits, so the first that fits is the only one. The Internet checksum then must differ by that bit's
 * weight, up or down, modulo 65535.
 */
#include <config.h>
#include "fold/bitflip.h"

#define POLYNOMIAL 0xedb88320u
#define MODULUS 65535u

static bool sums_differ_by(uint16_t inet_was, uint16_t inet_now, uint32_t weight)
{
	/* The checksum is the complement of the sum, so its difference has the opposite sign. */
	uint32_t up = (inet_was + weight) % MODULUS, down = (inet_now + weight) % MODULUS;

	return up == inet_now % MODULUS || down == inet_was % MODULUS;
}

bool scr_bitflip_find(uint32_t crc_was, uint16_t inet_was, uint32_t crc_now, uint16_t inet_now,
		      uint32_t len, uint32_t *byte, unsigned int *bit)
{
	uint64_t bits = (uint64_t)len * 8;
	uint32_t error = crc_was ^ crc_now, r = POLYNOMIAL;

	for (uint64_t ahead = 0; ahead < bits; ahead++, r = r >> 1 ^ (r & 1 ? POLYNOMIAL : 0)) {
		uint64_t at = bits - 1 - ahead;

		if (r != error)
			continue;
		*byte = (uint32_t)(at / 8);
		*bit = (unsigned int)(at % 8);
		/* The byte at an even place is the high one of its word. */
		return sums_differ_by(inet_was, inet_now, 1u << (*bit + (*byte % 2 ? 0 : 8)));
	}
	return false;
}

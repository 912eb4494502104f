/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The definitions of the three computations, byte by byte. */
#include <config.h>
#include "kernels/oracle.h"

uint64_t scr_oracle_inet(uint64_t sum, const uint8_t *p, size_t len)
{
	size_t i;

	for (i = 0; i < len; i++)
		sum += i % 2 ? p[i] : (uint64_t)p[i] << 8;
	return sum;
}

uint16_t scr_oracle_inet_fold(uint64_t sum)
{
	while (sum > 0xffff)
		sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t)~sum;
}

uint32_t scr_oracle_crc32(uint32_t crc, const uint8_t *p, size_t len)
{
	unsigned int bit;

	crc = ~crc;
	while (len--) {
		crc ^= *p++;
		for (bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (0xedb88320 & -(crc & 1));
	}
	return ~crc;
}

void scr_oracle_xor(uint8_t *dst, const uint8_t *const *src, unsigned int nsrc, size_t len)
{
	unsigned int k;
	size_t i;

	for (k = 0; k < nsrc; k++) {
		for (i = 0; i < len; i++)
			dst[i] ^= src[k][i];
	}
}

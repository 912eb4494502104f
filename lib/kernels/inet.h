/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What every Internet checksum kernel needs at its ends: ones' complement addition and the tail. */
#ifndef SCR_KERNELS_INET_H
#define SCR_KERNELS_INET_H

#include "kernels/scalar.h"

/*
 * Ones' complement addition: a carry out of the top comes back in at the bottom. Modulo 2^64 - 1
 * that loses nothing, and 65535 divides 2^64 - 1, so four 16-bit words can be added at once. The
 * result is 0 only if both are 0.
 */
static inline uint64_t scr_inet_add(uint64_t a, uint64_t b)
{
	a += b;
	return a + (a < b);
}

/* The 0 to 7 bytes at @p as one word, completed with zero bytes: what memory would hold if the data
 * went on with zeros. An odd last byte thus is the first byte of its 16-bit word. */
static inline uint64_t scr_inet_word(const uint8_t *p, size_t len)
{
	uint64_t v = 0;

	memcpy(&v, p, len);
	return v;
}

/* The sum of fewer than a vector's worth of bytes, one word at a time: every kernel's last step. */
static inline uint64_t scr_inet_tail(uint64_t sum, const uint8_t *p, size_t len)
{
	for (; len >= 8; p += 8, len -= 8)
		sum = scr_scalar(scr_inet_add(sum, scr_load64(p)));
	return len ? scr_inet_add(sum, scr_inet_word(p, len)) : sum;
}

#endif

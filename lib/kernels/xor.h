/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What every XOR kernel needs around its loop: the tail, and any number of sources. */
#ifndef SCR_KERNELS_XOR_H
#define SCR_KERNELS_XOR_H

#include "kernels/scalar.h"

/*
 * Up to four sources, by name and with their number @n, a constant wherever it is used. An array
 * would be read anew for each word: for all the compiler knows, a store to dst could change it.
 */
#define SCR_XOR_SOURCES                                                                            \
	const uint8_t *a, const uint8_t *b, const uint8_t *c, const uint8_t *d, unsigned int n

/* The word at @at of all sources and @v. */
SCR_INLINE uint64_t scr_xor_word(uint64_t v, SCR_XOR_SOURCES, size_t at)
{
	v = scr_scalar(v ^ scr_load64(a + at));
	if (n > 1)
		v = scr_scalar(v ^ scr_load64(b + at));
	if (n > 2)
		v = scr_scalar(v ^ scr_load64(c + at));
	if (n > 3)
		v = scr_scalar(v ^ scr_load64(d + at));
	return v;
}

SCR_INLINE uint8_t scr_xor_byte(uint8_t v, SCR_XOR_SOURCES, size_t at)
{
	uint64_t x = v ^ a[at]; /* a word, to be kept scalar like the others */

	if (n > 1)
		x ^= b[at];
	if (n > 2)
		x ^= c[at];
	if (n > 3)
		x ^= d[at];
	return (uint8_t)scr_scalar(x);
}

/* What is left behind the last whole vector: words, then bytes. */
SCR_INLINE void scr_xor_tail(uint8_t *dst, SCR_XOR_SOURCES, size_t at, size_t len)
{
	for (; len - at >= 8; at += 8)
		scr_store64(dst + at, scr_xor_word(scr_load64(dst + at), a, b, c, d, n, at));
	for (; at < len; at++)
		dst[at] = scr_xor_byte(dst[at], a, b, c, d, n, at);
}

/*
 * Defines the kernel @fn over any number of sources from @body(dst, a, b, c, d, N, len) over a
 * constant number of up to four. More sources cost more rounds over dst, which stays in the cache
 * at the lengths that are used.
 */
#define SCR_XOR_KERNEL(fn, target, body)                                                           \
	target static void fn(uint8_t *dst, const uint8_t *const *src, unsigned int nsrc,          \
			      size_t len)                                                          \
	{                                                                                          \
		for (; nsrc >= 4; nsrc -= 4, src += 4)                                             \
			body(dst, src[0], src[1], src[2], src[3], 4, len);                         \
		if (nsrc == 3)                                                                     \
			body(dst, src[0], src[1], src[2], NULL, 3, len);                           \
		else if (nsrc == 2)                                                                \
			body(dst, src[0], src[1], NULL, NULL, 2, len);                             \
		else if (nsrc == 1)                                                                \
			body(dst, src[0], NULL, NULL, NULL, 1, len);                               \
	}

#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What every XOR kernel needs around its loop: the tail, and any number of sources. */
#ifndef SCR_KERNELS_XOR_H
#define SCR_KERNELS_XOR_H

#include "kernels/scalar.h"

#define SCR_INLINE static inline __attribute__((always_inline))

/* The last bytes, fewer than a vector: words, then bytes. */
static inline void scr_xor_tail(uint8_t *dst, const uint8_t *const *src, unsigned int nsrc,
				size_t from, size_t len)
{
	size_t i;
	unsigned int k;

	for (i = from; len - i >= 8; i += 8) {
		uint64_t v = scr_load64(dst + i);

		for (k = 0; k < nsrc; k++)
			v = scr_scalar(v ^ scr_load64(src[k] + i));
		scr_store64(dst + i, v);
	}
	for (; i < len; i++) {
		for (k = 0; k < nsrc; k++)
			dst[i] ^= src[k][i];
	}
}

/*
 * Defines a kernel over any number of sources from one over a fixed number of up to four, which the
 * compiler unrolls: body(dst, src, N, len) with N a constant. More sources cost more rounds over
 * dst, which stays in the cache at the lengths that are used.
 */
#define SCR_XOR_DRIVER(fn, target, body)                                                           \
	target static void fn(uint8_t *dst, const uint8_t *const *src, unsigned int nsrc,          \
			      size_t len)                                                          \
	{                                                                                          \
		for (; nsrc >= 4; nsrc -= 4, src += 4)                                             \
			body(dst, src, 4, len);                                                    \
		if (nsrc == 3)                                                                     \
			body(dst, src, 3, len);                                                    \
		else if (nsrc == 2)                                                                \
			body(dst, src, 2, len);                                                    \
		else if (nsrc == 1)                                                                \
			body(dst, src, 1, len);                                                    \
	}

#endif

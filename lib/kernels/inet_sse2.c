/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Internet checksum, sse2: the sum and the sum of the upper halves.
 *
 * The plain loop adds words and minds carries. Vectors have no carry flag, but the carries can be
 * worked out at the end. Let A be the sum of all 64-bit words modulo 2^64, its carries lost, and B
 * the exact sum of their upper 32-bit halves. A word is u * 2^32 + l, so A is B * 2^32 + L modulo
 * 2^64, where L is the sum of the lower halves, and
 *
 *	L = A - B * 2^32  modulo 2^64.
 *
 * For fewer than 2^32 words neither B nor L reaches 2^64: both are exact. 2^32 is 1 modulo 65535,
 * so L + B is the checksum's sum. Three operations a vector: add, shift, add. Four pairs of
 * accumulators do not wait for each other.
 */
#include <config.h>
#include "kernels/rows.h"

#include "cpu/cpu.h"
#include "kernels/inet.h"
#include "kernels/vec_sse2.h"

#define STEP (4 * (size_t)VEC_BYTES)

/* Words must stay below 2^32, and fewer keep L + B below 2^64: 2^31 bytes are 2^28 words. */
#define MOST ((size_t)1 << 31)

VEC_TARGET static uint64_t sum_and_high_sum(uint64_t sum, const uint8_t *p, size_t len)
{
	VEC a0 = VEC_ZERO(), a1 = a0, a2 = a0, a3 = a0, b0 = a0, b1 = a0, b2 = a0, b3 = a0;
	uint64_t a, b;

	for (; len >= STEP; p += STEP, len -= STEP) {
		VEC x0 = VEC_LOAD(p), x1 = VEC_LOAD(p + VEC_BYTES);
		VEC x2 = VEC_LOAD(p + 2 * VEC_BYTES), x3 = VEC_LOAD(p + 3 * VEC_BYTES);

		a0 = VEC_ADD64(a0, x0);
		a1 = VEC_ADD64(a1, x1);
		a2 = VEC_ADD64(a2, x2);
		a3 = VEC_ADD64(a3, x3);
		b0 = VEC_ADD64(b0, VEC_SHR64_32(x0));
		b1 = VEC_ADD64(b1, VEC_SHR64_32(x1));
		b2 = VEC_ADD64(b2, VEC_SHR64_32(x2));
		b3 = VEC_ADD64(b3, VEC_SHR64_32(x3));
	}
	a = VEC_SUM64(VEC_ADD64(VEC_ADD64(a0, a1), VEC_ADD64(a2, a3)));
	b = VEC_SUM64(VEC_ADD64(VEC_ADD64(b0, b1), VEC_ADD64(b2, b3)));
	return scr_inet_tail(scr_inet_add(sum, a - (b << 32) + b), p, len);
}

VEC_TARGET static uint64_t inet_sse2(uint64_t sum, const uint8_t *p, size_t len)
{
	for (; len > MOST; p += MOST, len -= MOST)
		sum = sum_and_high_sum(sum, p, MOST);
	return sum_and_high_sum(sum, p, len);
}

const struct scr_kernel scr_inet_sse2 = {"sse2", SCR_INET, SCR_CPU_SSE2, {.inet = inet_sse2}};

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Template: Internet checksum by dot products, over a vec_*.h included before. Defines inet_dot().
 *
 * The plain loop adds 16-bit words into something wider. Vector units have an instruction that
 * multiplies 16-bit numbers, adds neighbouring products, and (with VNNI) adds those to 32-bit
 * lanes: a piece of a dot product. With a vector of ones it is just "add pairs of words into wider
 * lanes". But it takes its operands as signed, and our words are not.
 *
 * Flipping the top bit of a word w makes a signed number of it, w - 32768:
 *
 *	w        0x0000  0x7fff  0x8000  0xffff
 *	w^8000   0x8000  0xffff  0x0000  0x7fff     as signed: -32768  -1  0  32767
 *
 * so the sum of the signed numbers is the sum of the words minus 32768 times their number, which is
 * added back at the end. Two operations a vector: flip, and dot product.
 *
 * A lane takes two words a step, so it moves by at most 65536 a step, and eight accumulators are
 * added up before they are widened to 64 bits. 8 * 4096 * 65536 = 2^31 is the farthest that they
 * can go down, and it is just what 32 bits hold; hence at most 4096 steps in a row.
 */
#include "base/compiler.h"
#include "kernels/inet.h"

#define DOT_STEP (8 * (size_t)VEC_BYTES)
#define DOT_RUN (4096 * DOT_STEP)
#define DOT_FLIP ((short)-32768)

VEC_TARGET SCR_INLINE VEC dot_add(VEC acc, VEC x)
{
	return VEC_DOT(acc, VEC_XOR(x, VEC_SET16(DOT_FLIP)), VEC_SET16(1));
}

/* The exact sum of the words of @len bytes, a multiple of VEC_BYTES and at most DOT_RUN. The eight
 * accumulators hide the latency of the instruction; they have names because gcc puts arrays of
 * vectors on the stack. */
VEC_TARGET SCR_INLINE uint64_t dot_run(const uint8_t *p, size_t len)
{
	VEC a0 = VEC_ZERO(), a1 = a0, a2 = a0, a3 = a0, a4 = a0, a5 = a0, a6 = a0, a7 = a0;
	const uint8_t *end = p + len;

	for (; (size_t)(end - p) >= DOT_STEP; p += DOT_STEP) {
		a0 = dot_add(a0, VEC_LOAD(p));
		a1 = dot_add(a1, VEC_LOAD(p + VEC_BYTES));
		a2 = dot_add(a2, VEC_LOAD(p + 2 * VEC_BYTES));
		a3 = dot_add(a3, VEC_LOAD(p + 3 * VEC_BYTES));
		a4 = dot_add(a4, VEC_LOAD(p + 4 * VEC_BYTES));
		a5 = dot_add(a5, VEC_LOAD(p + 5 * VEC_BYTES));
		a6 = dot_add(a6, VEC_LOAD(p + 6 * VEC_BYTES));
		a7 = dot_add(a7, VEC_LOAD(p + 7 * VEC_BYTES));
	}
	a0 = VEC_ADD32(VEC_ADD32(a0, a1), VEC_ADD32(a2, a3));
	a4 = VEC_ADD32(VEC_ADD32(a4, a5), VEC_ADD32(a6, a7));
	for (; p < end; p += VEC_BYTES)
		a0 = dot_add(a0, VEC_LOAD(p));
	return (uint64_t)VEC_SUM32(VEC_ADD32(a0, a4)) + UINT64_C(32768) * (len / 2);
}

VEC_TARGET SCR_UNUSED static uint64_t inet_dot(uint64_t sum, const uint8_t *p, size_t len)
{
	size_t whole;

	for (; len > DOT_RUN; p += DOT_RUN, len -= DOT_RUN)
		sum = scr_inet_add(sum, dot_run(p, DOT_RUN));
	whole = len - len % VEC_BYTES;
	sum = scr_inet_add(sum, dot_run(p, whole));
	return scr_inet_tail(sum, p + whole, len - whole);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Template: XOR with vectors, over the operations of a vec_*.h included before. Defines xor_vec().
 *
 * The loop of xor_scalar.c with wider words. Four vectors a step keep the loads ahead of the
 * stores. Sources are taken in pairs, because three-input logic does a pair for the price of one.
 */
#include "base/compiler.h"
#include "kernels/xor.h"

#define XOR_STEP (4 * (size_t)VEC_BYTES)

VEC_TARGET SCR_INLINE VEC xor_sources(VEC v, SCR_XOR_SOURCES, size_t at)
{
	if (n > 1)
		v = VEC_XOR3(v, VEC_LOAD(a + at), VEC_LOAD(b + at));
	else
		v = VEC_XOR(v, VEC_LOAD(a + at));
	if (n > 3)
		v = VEC_XOR3(v, VEC_LOAD(c + at), VEC_LOAD(d + at));
	else if (n > 2)
		v = VEC_XOR(v, VEC_LOAD(c + at));
	return v;
}

VEC_TARGET SCR_INLINE void xor_step(uint8_t *dst, SCR_XOR_SOURCES, size_t at)
{
	VEC v0 = VEC_LOAD(dst + at), v1 = VEC_LOAD(dst + at + VEC_BYTES);
	VEC v2 = VEC_LOAD(dst + at + 2 * VEC_BYTES), v3 = VEC_LOAD(dst + at + 3 * VEC_BYTES);

	v0 = xor_sources(v0, a, b, c, d, n, at);
	v1 = xor_sources(v1, a, b, c, d, n, at + VEC_BYTES);
	v2 = xor_sources(v2, a, b, c, d, n, at + 2 * VEC_BYTES);
	v3 = xor_sources(v3, a, b, c, d, n, at + 3 * VEC_BYTES);
	VEC_STORE(dst + at, v0);
	VEC_STORE(dst + at + VEC_BYTES, v1);
	VEC_STORE(dst + at + 2 * VEC_BYTES, v2);
	VEC_STORE(dst + at + 3 * VEC_BYTES, v3);
}

#ifdef VEC_LOAD_PART

/* Fewer bytes than a vector: one masked operation. */
VEC_TARGET SCR_INLINE void xor_rest(uint8_t *dst, SCR_XOR_SOURCES, size_t at, size_t len)
{
	VEC v;

	if (at == len)
		return;
	v = VEC_XOR(VEC_LOAD_PART(dst + at, len - at), VEC_LOAD_PART(a + at, len - at));
	if (n > 1)
		v = VEC_XOR(v, VEC_LOAD_PART(b + at, len - at));
	if (n > 2)
		v = VEC_XOR(v, VEC_LOAD_PART(c + at, len - at));
	if (n > 3)
		v = VEC_XOR(v, VEC_LOAD_PART(d + at, len - at));
	VEC_STORE_PART(dst + at, len - at, v);
}

#else
#define xor_rest scr_xor_tail
#endif

/* From @at on: single vectors, then what is left. */
VEC_TARGET SCR_INLINE void xor_end(uint8_t *dst, SCR_XOR_SOURCES, size_t at, size_t len)
{
	for (; len - at >= VEC_BYTES; at += VEC_BYTES)
		VEC_STORE(dst + at, xor_sources(VEC_LOAD(dst + at), a, b, c, d, n, at));
	xor_rest(dst, a, b, c, d, n, at, len);
}

VEC_TARGET SCR_INLINE void xor_body(uint8_t *dst, SCR_XOR_SOURCES, size_t len)
{
	size_t at;

	for (at = 0; len - at >= XOR_STEP; at += XOR_STEP)
		xor_step(dst, a, b, c, d, n, at);
	xor_end(dst, a, b, c, d, n, at, len);
}

SCR_XOR_KERNEL(xor_vec, VEC_TARGET SCR_UNUSED, xor_body)

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Template: CRC-32 by bit matrices (GFNI), on top of crc32_fold.h with 512-bit vectors.
 *
 * Folding (crc32_fold.h) may take a piece of the message out if what it counts is XORed on further
 * down, and nobody says that the piece has to be 16 bytes or its image has to be contiguous. Take a
 * single byte b. D vectors further on it counts b * x^(512 D) mod P, 32 bits, which four bytes can
 * hold; and these four may be chosen far apart: in the same column of the vectors 4, 5, 7 and 8
 * further on, since the 32 powers of x that their bits stand for are linearly independent modulo P.
 * What b adds to each of the four is a linear function of its eight bits: an 8x8 matrix, the same
 * for every byte of the message. An instruction multiplies 64 bytes by a matrix. So with s(n) for
 * vector n of the message after all that is before it has been moved on,
 *
 *	s(n) = message(n) ^ M4 s(n-4) ^ M5 s(n-5) ^ M7 s(n-7) ^ M8 s(n-8)
 *
 * and eight registers hold all that is remembered. Four matrix multiplications for 64 bytes where
 * folding takes two carry-less ones: that is faster on CPUs where a multiplier takes two cycles a
 * vector but two matrix units take one each (AMD Zen 5), and of no use where the multiplier takes
 * one; measuring decides. contrib/gen-crc32-gfni computes the matrices.
 *
 * The moves always reach eight vectors further, so they stop before the last eight of the message:
 * those are XORed with what was moved to them, and folded as usual.
 */
#include "kernels/crc32_gfni_constants.h"

#define GFNI_STEP (8 * (size_t)CRC_V_BYTES)

/* Eight consecutive vectors; the names are n modulo 8. */
struct gfni {
	__m512i s0, s1, s2, s3, s4, s5, s6, s7;
};

#define GFNI_MOVE(s, d) _mm512_gf2p8affine_epi64_epi8(s, _mm512_set1_epi64((long long)(d)), 0)

/* @x and what is moved to it; @s4 is the vector four before it, and so on. The nearest comes in
 * last: it is ready last. */
CRC_TARGET SCR_INLINE __m512i gfni_next(__m512i x, __m512i s4, __m512i s5, __m512i s7, __m512i s8)
{
	x = CRC_XOR3(x, GFNI_MOVE(s8, SCR_CRC32_GFNI_8), GFNI_MOVE(s7, SCR_CRC32_GFNI_7));
	return CRC_XOR3(x, GFNI_MOVE(s5, SCR_CRC32_GFNI_5), GFNI_MOVE(s4, SCR_CRC32_GFNI_4));
}

/* The next four vectors @x, where n is 0 to 3 modulo 8, replace those of @g. */
CRC_TARGET SCR_INLINE struct gfni gfni_low(struct gfni g, __m512i x0, __m512i x1, __m512i x2,
					   __m512i x3)
{
	g.s0 = gfni_next(x0, g.s4, g.s3, g.s1, g.s0);
	g.s1 = gfni_next(x1, g.s5, g.s4, g.s2, g.s1);
	g.s2 = gfni_next(x2, g.s6, g.s5, g.s3, g.s2);
	g.s3 = gfni_next(x3, g.s7, g.s6, g.s4, g.s3);
	return g;
}

/* And the four behind them. */
CRC_TARGET SCR_INLINE struct gfni gfni_high(struct gfni g, __m512i x4, __m512i x5, __m512i x6,
					    __m512i x7)
{
	g.s4 = gfni_next(x4, g.s0, g.s7, g.s5, g.s4);
	g.s5 = gfni_next(x5, g.s1, g.s0, g.s6, g.s5);
	g.s6 = gfni_next(x6, g.s2, g.s1, g.s7, g.s6);
	g.s7 = gfni_next(x7, g.s3, g.s2, g.s0, g.s7);
	return g;
}

CRC_TARGET SCR_INLINE struct gfni gfni_step(struct gfni g, struct gfni x)
{
	g = gfni_low(g, x.s0, x.s1, x.s2, x.s3);
	return gfni_high(g, x.s4, x.s5, x.s6, x.s7);
}

/* The last eight vectors @x: moved to from @g, but not moved on; then folded as crc32_fold.h does.
 * @p is what comes behind them. */
CRC_TARGET SCR_INLINE uint32_t gfni_end(struct gfni g, struct gfni x, const uint8_t *p, size_t len)
{
	__m512i four = CRC_FOLD(CRC_FOLD_FOUR);

	x.s0 = gfni_next(x.s0, g.s4, g.s3, g.s1, g.s0);
	x.s1 = gfni_next(x.s1, g.s5, g.s4, g.s2, g.s1);
	x.s2 = gfni_next(x.s2, g.s6, g.s5, g.s3, g.s2);
	x.s3 = gfni_next(x.s3, g.s7, g.s6, g.s4, g.s3);
	x.s4 = CRC_XOR3(x.s4, GFNI_MOVE(g.s7, SCR_CRC32_GFNI_5), GFNI_MOVE(g.s5, SCR_CRC32_GFNI_7));
	x.s4 = CRC_XOR(x.s4, GFNI_MOVE(g.s4, SCR_CRC32_GFNI_8));
	x.s5 = CRC_XOR3(x.s5, GFNI_MOVE(g.s6, SCR_CRC32_GFNI_7), GFNI_MOVE(g.s5, SCR_CRC32_GFNI_8));
	x.s6 = CRC_XOR3(x.s6, GFNI_MOVE(g.s7, SCR_CRC32_GFNI_7), GFNI_MOVE(g.s6, SCR_CRC32_GFNI_8));
	x.s7 = CRC_XOR(x.s7, GFNI_MOVE(g.s7, SCR_CRC32_GFNI_8));
	return crc_join(crc_fold_on(x.s0, four, x.s4), crc_fold_on(x.s1, four, x.s5),
			crc_fold_on(x.s2, four, x.s6), crc_fold_on(x.s3, four, x.s7), p, len);
}

CRC_TARGET SCR_INLINE struct gfni gfni_load(const uint8_t *p)
{
	return (struct gfni){CRC_LOAD(p),
			     CRC_LOAD(p + CRC_V_BYTES),
			     CRC_LOAD(p + 2 * CRC_V_BYTES),
			     CRC_LOAD(p + 3 * CRC_V_BYTES),
			     CRC_LOAD(p + 4 * CRC_V_BYTES),
			     CRC_LOAD(p + 5 * CRC_V_BYTES),
			     CRC_LOAD(p + 6 * CRC_V_BYTES),
			     CRC_LOAD(p + 7 * CRC_V_BYTES)};
}

/* The state after the first step. */
CRC_TARGET SCR_INLINE struct gfni gfni_start(uint32_t reg, struct gfni x)
{
	__m512i zero = _mm512_setzero_si512();
	struct gfni g = {zero, zero, zero, zero, zero, zero, zero, zero};

	x.s0 = CRC_XOR(x.s0, CRC_START(Q_SET(reg, 0)));
	return gfni_step(g, x);
}
